//! What `seqz explore` says of programs, and how it goes on when workers die.

#[path = "explore/drawn.rs"]
mod drawn;
#[path = "explore/killed.rs"]
mod killed;
#[path = "explore/readers.rs"]
mod readers;
#[path = "explore/reasonless.rs"]
mod reasonless;
mod support;

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use seqz_explore::catalogue::{Ends, Entry, STRATEGIES};
use serde_json::Value;
use support::programs::{HEAD, lost_update, two_threads};
use support::{Package, command, newest_finding, package, seqz, settings, target_dir};

fn explore(source: &str, args: &[&str]) -> (Package, support::Run) {
    let dir = package(&format!("{HEAD}{source}"));
    let run = seqz(dir.path(), ["explore"].iter().chain(args));
    (dir, run)
}

fn explore_json(source: &str, args: &[&str]) -> (i32, Value) {
    let args: Vec<_> = ["--format", "json"].iter().chain(args).copied().collect();
    let (_dir, run) = explore(source, &args);
    (run.code.unwrap_or(-1), run.json())
}

macro_rules! snapshot {
    ($name:literal, $explored:expr) => {{
        let (dir, run) = $explored;
        settings(dir.path()).bind(|| insta::assert_snapshot!($name, run.shown()));
    }};
}

const DEADLOCK: &str = "
#[test]
fn three_forks() {
    let forks: Arc<Vec<_>> = Arc::new((0..3).map(|_| Mutex::new(())).collect());
    let eat = |seat: usize| {
        let forks = Arc::clone(&forks);
        move || {
            let _left = forks[seat].lock().unwrap();
            let _right = forks[(seat + 1) % 3].lock().unwrap();
        }
    };
    let all: Vec<_> = (0..3).map(|seat| thread::spawn(eat(seat))).collect();
    for one in all {
        one.join().unwrap();
    }
}
";

#[test]
fn failures_are_drawn_over_all_threads() {
    snapshot!("explore_lost_update", explore(&lost_update(), &[]));
    snapshot!("explore_deadlock", explore(DEADLOCK, &[]));
}

const LOST_NOTIFICATION: &str = "
use std::sync::Condvar;

#[test]
fn a_gate_that_opens_too_early() {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let walker = {
        let gate = Arc::clone(&gate);
        thread::Builder::new().name(\"walker\".into()).spawn(move || {
            let (open, opened) = &*gate;
            if !*open.lock().unwrap() {
                let open = open.lock().unwrap();
                drop(opened.wait(open).unwrap());
            }
        })
    };
    let (open, opened) = &*gate;
    *open.lock().unwrap() = true;
    opened.notify_one();
    walker.unwrap().join().unwrap();
}
";

#[test]
fn lost_notifications_are_told_where_they_were_given() {
    snapshot!("explore_lost_notification", explore(LOST_NOTIFICATION, &[]));
}

/// The strategies that see all of a program if they are told nothing.
fn unbounded() -> impl Iterator<Item = &'static Entry> {
    STRATEGIES.iter().filter(|entry| {
        let is_bounded = entry.bound.is_some_and(|bound| bound.default.is_some());
        !is_bounded && !matches!(entry.ends, Ends::Bounded | Ends::Heuristic | Ends::Sampled)
    })
}

#[test]
fn what_is_exhausted_has_no_failure() {
    let source = two_threads(
        "clean",
        "x2.fetch_add(1, SeqCst);",
        "x3.fetch_add(1, SeqCst);",
        "assert_eq!(x.load(SeqCst), 2);",
    );
    for entry in unbounded() {
        if entry.ends == Ends::ExhaustedByValues {
            // It executes classes, which may have several relations each.
            continue;
        }
        let (code, report) = explore_json(&source, &["--strategy", entry.name]);
        assert_eq!((code, &report["summary"]["exhausted"]), (0, &true.into()));
        assert_eq!(report["harnesses"][0]["counts"]["relations"], 2);
    }
}

#[test]
fn each_strategy_says_what_it_can_promise() {
    let promise = |args: &[&str]| {
        let (code, report) = explore_json(&lost_update(), args);
        assert_eq!(code, 1, "{args:?}");
        let harness = &report["harnesses"][0];
        assert_eq!(harness["failures"].as_array().unwrap().len(), 1, "{args:?}");
        harness["promise"].clone()
    };
    for entry in unbounded() {
        let expected = match entry.ends {
            Ends::ExhaustedLazily => "exhausted_lazily",
            Ends::ExhaustedByValues => "exhausted_by_values",
            _ => "exhausted",
        };
        let promise = promise(&["--strategy", entry.name]);
        assert_eq!(promise["state"], expected, "{entry:?}");
        assert_ne!(promise["truncated"], true, "{entry:?}");
    }
    let bounded = promise(&["--strategy", "pcb", "--bound", "1"]);
    assert_eq!(
        (&bounded["state"], &bounded["preemptions"]),
        (&"bounded".into(), &1.into())
    );
    let guided = ["--strategy", "hapset+pcb", "--learning-runs", "3"];
    assert_eq!(promise(&guided)["state"], "heuristic");
    for entry in STRATEGIES.iter().filter(|it| it.ends == Ends::Sampled) {
        let args = ["--strategy", entry.name, "--seed", "1", "--jobs", "2"];
        assert_eq!(promise(&args)["state"], "sampled");
    }
    let (code, report) = explore_json(DEADLOCK, &["--max-executions", "1"]);
    assert_eq!(code, 0);
    assert_eq!(
        report["harnesses"][0]["promise"]["reasons"][0],
        "execution_limit"
    );
}

#[test]
fn z3_answers_the_same() {
    let search = |solver: &str| {
        let args = ["--strategy", "mcr", "--solver", solver];
        if !cfg!(feature = "z3") && solver != "order" {
            let (_dir, run) = explore(&lost_update(), &args);
            assert_eq!(run.code, Some(2), "{}", run.shown());
            assert!(run.stderr.contains("--features z3"), "{}", run.shown());
            return None;
        }
        let (code, report) = explore_json(&lost_update(), &args);
        assert_eq!(code, 1);
        assert_eq!(report["solver"], solver);
        let harness = &report["harnesses"][0];
        let failures = harness["failures"].as_array().unwrap().len();
        Some((
            failures,
            harness["counts"]["executions"].clone(),
            harness["promise"].clone(),
        ))
    };
    let order = search("order");
    assert!(order.is_some());
    for solver in ["z3", "all"] {
        let other = search(solver);
        assert!(other.is_none() || other == order, "{other:?} {order:?}");
    }
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let (_dir, run) = explore(&lost_update(), &["--strategy", "dfs", "--bound", "1"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    let (_dir, run) = explore(&lost_update(), &["--call-depth", "2"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    let (_dir, run) = explore(&lost_update(), &["--solver", "order"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    let own = "#[global_allocator]\nstatic OWN: std::alloc::System = std::alloc::System;\n";
    let (_dir, run) = explore(&format!("{own}{}", lost_update()), &[]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    assert!(run.stderr.contains("global_allocator"), "{}", run.shown());
}

/// Ends the process where a read sees another thread's write.
fn ends(name: &str, how: &str) -> String {
    two_threads(
        name,
        &format!("if x2.load(SeqCst) == 7 {{ {how} }}"),
        "x3.store(7, SeqCst);",
        "",
    )
}

#[test]
fn whatever_ends_a_worker_is_a_finding_with_its_schedule() {
    let deep =
        "fn deep(n: u64) -> u64 { std::hint::black_box(if n == 0 { 0 } else { deep(n - 1) + n }) }";
    let source = [
        deep,
        &ends("a_exits", "std::process::exit(0);"),
        &ends(
            "b_overflows",
            "let n = std::hint::black_box(1 << 40); deep(n);",
        ),
        &ends("c_hangs", "loop { std::hint::black_box(0); }"),
        &ends("d_aborts", "std::process::abort();"),
        &lost_update(),
    ]
    .concat();
    let (dir, run) = explore(&source, &["--format", "json", "--hang-after", "1"]);
    let report = run.json();
    assert_eq!(run.code, Some(1));
    let harnesses = report["harnesses"].as_array().unwrap();
    let kinds: Vec<_> = harnesses
        .iter()
        .map(|harness| {
            let failures = harness["failures"].as_array().unwrap();
            assert_eq!(failures.len(), 1, "{harness:#}");
            failures[0]["kind"].as_str().unwrap()
        })
        .collect();
    assert_eq!(kinds, ["exit", "crash", "hang", "crash", "assertion"]);
    let findings = report["findings"].as_str().unwrap();
    for (number, harness) in harnesses[..4].iter().enumerate() {
        // What the program does itself to end its process ends no worker, and has a place.
        let ends_the_worker = matches!(number, 1 | 2);
        assert_eq!(
            harness["promise"]["reasons"][0] == "died",
            ends_the_worker,
            "{harness:#}"
        );
        let failure = &harness["failures"][0];
        if ends_the_worker {
            let last = failure["schedule"].as_array().unwrap().last();
            assert_eq!(last.unwrap()["action"], "read");
        } else {
            assert!(failure["site"]["line"].is_number(), "{failure:#}");
        }
        let file = format!("{findings}/{}.json", number + 1);
        let replayed = seqz(dir.path(), ["replay", &file, "--hang-after", "0.1"]);
        assert_eq!(replayed.code, Some(1), "{}", replayed.shown());
        assert!(
            replayed.stdout.contains("as it did when it was found"),
            "{}",
            replayed.shown()
        );
    }
}

#[test]
fn a_worker_that_says_nonsense_spoils_its_own_harness_alone() {
    // The program writes into whatever sockets its process has.
    let nonsense = ends(
        "a_nonsense",
        "for fd in std::fs::read_dir(\"/proc/self/fd\").unwrap().flatten() {
             let target = std::fs::read_link(fd.path()).unwrap_or_default();
             if target.to_string_lossy().starts_with(\"socket\") {
                 let fd = fd.file_name().to_str().unwrap().parse().unwrap();
                 let socket = unsafe { <std::fs::File as std::os::fd::FromRawFd>::from_raw_fd(fd) };
                 let _ = std::io::Write::write_all(&mut &socket, &[255; 64]);
                 std::mem::forget(socket);
             }
         }",
    );
    let (code, report) = explore_json(&format!("{nonsense}{}", lost_update()), &[]);
    assert_eq!(code, 1, "{report:#}");
    assert_eq!(report["harnesses"][0]["status"]["state"], "failed");
    assert_eq!(report["harnesses"][1]["failures"][0]["kind"], "assertion");
    assert_eq!(report["summary"]["exhausted"], false);
}

#[test]
fn findings_that_can_not_be_written_do_not_end_the_search() {
    let dir = package(&format!("{HEAD}{}", lost_update()));
    let target = tempfile::tempdir().unwrap();
    fs::write(target.path().join("findings"), "in the way").unwrap();
    let run = support::run(
        command(dir.path())
            .args(["explore", "--format", "json"])
            .env("SEQZ_TARGET_DIR", target.path()),
    );
    assert_eq!(run.code, Some(1), "{}", run.shown());
    let note = run.json()["harnesses"][0]["notes"][0].to_string();
    assert!(note.contains("not written"), "{note}");
}

/// Many schedules, and a failure in some of them.
fn long() -> String {
    times(7, 7)
}

/// The same, with this many rounds of the two threads.
fn times(writer: u32, reader: u32) -> String {
    two_threads(
        "long",
        &format!("for i in 0..{writer} {{ y2.store(i, SeqCst); x2.fetch_add(1, SeqCst); }}"),
        &format!("for _ in 0..{reader} {{ y3.load(SeqCst); x3.fetch_add(1, SeqCst); }}"),
        &format!("assert_ne!(y.load(SeqCst), {});", writer - 1),
    )
}

/// What one worker and several say of a program, but for how long it took and with how much memory, and what they write to
/// files.
fn with_jobs(source: &str, args: &[&str], jobs: &str) -> (Value, Vec<Value>) {
    let args = [args, &["--jobs", jobs, "--format", "json"]].concat();
    let began = SystemTime::now();
    let (dir, run) = explore(source, &args);
    let mut report = run.json();
    report["summary"]["seconds"] = 0.into();
    report["summary"]["building"] = 0.into();
    report["summary"]["memory"] = 0.into();
    let findings = report["findings"].take();
    let findings = dir
        .path()
        .join(findings.as_str().expect("there are failures"));
    for harness in report["harnesses"].as_array_mut().unwrap() {
        harness["counts"]["seconds"] = 0.into();
        forget_when(harness);
    }
    // Those of earlier searches stay.
    let written = |number: u32| {
        let file = findings.join(format!("{number}.json"));
        let modified = fs::metadata(&file).ok()?.modified().ok()?;
        let text = fs::read(file).ok()?;
        let mut finding: Value = serde_json::from_slice(&text).unwrap();
        finding["failure"]["met"] = Value::Null;
        Some((modified >= began, finding["failure"].take()))
    };
    let failures: Vec<_> = (1..)
        .map_while(written)
        .filter_map(|(is_new, failure)| is_new.then_some(failure))
        .collect();
    assert_eq!(failures.len(), report["summary"]["failures"]);
    (report, failures)
}

/// When a failure was met is not the same twice.
fn forget_when(harness: &mut Value) {
    for failure in harness["failures"].as_array_mut().unwrap() {
        failure["met"] = Value::Null;
        failure["finding"] = Value::Null;
    }
}

#[test]
fn the_number_of_workers_changes_nothing_but_the_time() {
    let small = two_threads(
        "small",
        "for i in 0..3 { y2.store(i, SeqCst); x2.fetch_add(1, SeqCst); }",
        "for i in 0..3 { if y3.load(SeqCst) == 2 { panic!(\"{i}\"); } x3.fetch_add(1, SeqCst); }",
        "assert_ne!(y.load(SeqCst), 2, \"y\"); assert_ne!(x.load(SeqCst), 5);",
    );
    let inputs = "
pub fn n_times(n: u8) {
    let x = Arc::new(AtomicU32::new(0));
    let add = |x: &Arc<AtomicU32>| {
        let x = Arc::clone(x);
        move || for _ in 0..n { let old = x.load(SeqCst); x.store(old + 1, SeqCst); }
    };
    let all: Vec<_> = (0..3).map(|_| thread::spawn(add(&x))).collect();
    for one in all {
        one.join().unwrap();
    }
    assert_eq!(x.load(SeqCst), 3 * u32::from(n));
}
";
    let dies = two_threads(
        "dies",
        "y2.store(1, SeqCst);",
        "if y3.load(SeqCst) == 1 { std::process::abort(); }",
        "",
    );
    let cases: [(&str, &[&str]); 5] = [
        (&small, &["--strategy", "dfs"]),
        (&small, &[]),
        (inputs, &["--input", "n=1..=2"]),
        (DEADLOCK, &[]),
        (&dies, &[]),
    ];
    for (source, args) in cases {
        let one = with_jobs(source, args, "1");
        let several = with_jobs(source, args, "3");
        assert_eq!(one.0, several.0, "{args:?}: {source}");
        assert_eq!(one.1, several.1, "{args:?}: {source}");
    }
}

#[test]
fn the_time_that_harnesses_leave_is_for_those_that_were_cut() {
    let all = |n: &str| format!("for i in 0..{n} {{ x2.store(i, SeqCst); y2.load(SeqCst); }}");
    let other = |n: &str| format!("for i in 0..{n} {{ y3.store(i, SeqCst); x3.load(SeqCst); }}");
    let mut source = two_threads("endless", &all("20"), &other("20"), "");
    for name in ["one", "two", "three"] {
        source += &two_threads(name, &all("1"), &other("1"), "");
    }
    for jobs in ["1", "2"] {
        let args = ["--strategy", "dfs", "--time", "4", "--jobs", jobs];
        let (code, report) = explore_json(&source, &args);
        assert_eq!((code, &report["cut"]), (0, &"time_limit".into()));
        let harnesses = report["harnesses"].as_array().unwrap();
        let states: Vec<_> = harnesses.iter().map(|it| &it["promise"]["state"]).collect();
        assert_eq!(
            states,
            ["unfinished", "exhausted", "exhausted", "exhausted"],
            "{report:#}"
        );
        // Its own part was a quarter, with two workers a half.
        assert!(
            report["summary"]["seconds"].as_f64().unwrap() > 3.0,
            "{report:#}"
        );
    }
}

#[test]
fn samples_of_inputs_begin_with_the_simplest() {
    let source = "
pub fn both(many: u64, more: usize) {
    let n = Arc::new(AtomicU32::new(0));
    let m = Arc::clone(&n);
    let t = thread::spawn(move || m.store(1, SeqCst));
    assert!(n.load(SeqCst) == 0 || (many, more) != (3, 2), \"met\");
    t.join().unwrap();
}
";
    let (code, report) = explore_json(source, &["--seed", "7", "--max-inputs", "40"]);
    assert_eq!(code, 1, "{report:#}");
    let harness = &report["harnesses"][0];
    assert_eq!(
        harness["notes"][0],
        "inputs are a sample of 40 choices, out of more, with seed 7"
    );
    assert_eq!(harness["failures"][0]["inputs"][1]["value"], "2");
}

#[test]
fn ten_thousand_failures_of_one_place_are_one_with_a_count() {
    let source = "
        #[test]
        fn always() {
            let other = std::thread::spawn(|| assert!(std::thread::current().name().is_some(), \"nameless\"));
            other.join().unwrap();
        }";
    let args = ["--strategy", "random", "--max-executions", "10000"];
    let (code, report) = explore_json(source, &[&args[..], &["--keep-going"]].concat());
    assert_eq!(code, 1);
    let failures = report["harnesses"][0]["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{failures:#?}");
    assert_eq!(failures[0]["count"], 10_000);
    for (strategy, jobs) in [
        ("random", "1"),
        ("random", "3"),
        ("pct", "1"),
        ("pos", "1"),
        ("surw", "2"),
    ] {
        let args = [
            "--strategy",
            strategy,
            "--jobs",
            jobs,
            "--max-executions",
            "1000000",
        ];
        let (code, report) = explore_json(source, &args);
        let harness = &report["harnesses"][0];
        let made = harness["counts"]["executions"].as_u64().unwrap();
        assert_eq!(
            (code, &harness["promise"]["state"]),
            (1, &"sampled".into()),
            "{harness:#}"
        );
        assert!(
            jobs != "1" && made < 1_000_000 || made == 1,
            "{strategy}: {harness:#}"
        );
        assert!(
            harness["notes"].to_string().contains("--keep-going"),
            "{harness:#}"
        );
    }
}

#[test]
fn harnesses_without_a_failure_take_a_line() {
    let source = "
#[test]
fn counts() {
    let n = Arc::new(AtomicU32::new(0));
    let m = n.clone();
    let t = thread::spawn(move || m.fetch_add(1, SeqCst));
    n.fetch_add(1, SeqCst);
    t.join().unwrap();
}
#[test]
fn alone() { thread::spawn(|| ()).join().unwrap(); }
#[test]
fn follows_not() { thread::spawn(|| std::fs::write(\"/tmp/seqz-none/none\", \"\")).join().unwrap().unwrap_err(); }
";
    let (dir, run) = explore(source, &[]);
    let of = |text: &str, name: &str| -> Vec<String> {
        let blocks = text.lines().skip_while(|line| !line.starts_with(name));
        let next = |line: &&str| line.starts_with(name) || line.starts_with(' ');
        blocks.take_while(next).map(str::to_owned).collect()
    };
    assert_eq!(run.code, Some(0), "{}", run.shown());
    for name in ["counts", "alone"] {
        let said = of(&run.stdout, name);
        assert_eq!(said.len(), 1, "{}", run.shown());
        assert!(said[0].contains("odpor: exhausted, "), "{}", run.shown());
    }
    let doubtful = of(&run.stdout, "follows_not").join(" ");
    assert!(doubtful.contains("not exhausted"), "{}", run.shown());
    let run = seqz(dir.path(), ["explore", "--verbose"]);
    let said = of(&run.stdout, "counts").join(" ");
    assert!(
        said.contains("every schedule was run") && said.contains("events"),
        "{}",
        run.shown()
    );
}

/// Four calls of one function that reads: what lies between the first two matters, and the others come last.
const CALLS: &str = r#"
static X: AtomicU32 = AtomicU32::new(0);
const LIMIT: u32 = twice(4);
const TABLE: [u8; twice(2) as usize] = [0; twice(2) as usize];

const fn twice(n: u32) -> u32 {
    n * 2
}

struct Reader<'a>(&'a AtomicU32);

// Constants, which call others' functions that are called like those of `Reader`.
const NINE: u32 = 3u32.pow(2);
static NINES: [AtomicU32; 2usize.pow(1)] = [const { AtomicU32::new(3u32.pow(2)) }; 2usize.pow(1)];

#[allow(dead_code)]
enum Size {
    Small = 2isize.pow(1),
    Large = NINE as isize,
}

#[allow(dead_code)]
struct Sized<const N: usize>;

impl Sized<{ 2usize.pow(2) }> {
    #[allow(dead_code)]
    const NAME: &'static str = str::trim_ascii(" four ");
}

impl<'a> Reader<'a> {
    fn new(cell: &'a AtomicU32) -> Self {
        assert_eq!(NINES.len(), 2);
        Self(cell)
    }

    #[allow(dead_code)]
    fn pow(&self, n: u32) -> u32 {
        self.get().pow(n)
    }

    #[allow(dead_code)]
    fn trim_ascii(&self) {}

    fn cell(&self) -> &'a AtomicU32 {
        self.0
    }

    fn get(&self) -> u32 {
        self.cell().load(SeqCst)
    }

    fn checked(&self) -> Result<u32, String> {
        let value = self.get();
        if value < LIMIT { Ok(value) } else { give_up() }
    }
}

fn give_up() -> ! {
    panic!("there are {} entries", TABLE.len())
}

fn all<'a, T: Copy>(values: &'a mut Vec<T>, value: T) -> &'a mut T {
    values.push(value);
    last(values)
}

fn last<T>(values: &mut Vec<T>) -> &mut T {
    values.last_mut().unwrap()
}

#[test]
fn reads_once() -> Result<(), String> {
    let writer = thread::spawn(|| X.store(1, SeqCst));
    let reader = Reader::new(&X);
    let (first, second) = (reader.checked()?, reader.checked()?);
    let read = |reader: &Reader| -> u32 { reader.get() };
    let mut values = vec![];
    *all(&mut values, first) += read(&reader);
    *all(&mut values, second) += read(&reader);
    writer.join().unwrap();
    assert_eq!(first, second, "the value has changed");
    Ok(())
}
"#;

#[test]
fn hapset_tells_calls_of_one_function_apart() {
    let explored = |args: &[&str]| {
        let (code, report) = explore_json(CALLS, args);
        assert_eq!(code, 1);
        let harness = &report["harnesses"][0];
        let executions = harness["counts"]["executions"].as_u64().unwrap();
        (executions, harness["promise"]["state"].clone())
    };
    let deep = explored(&["--strategy", "hapset", "--seed", "1"]);
    // All reads are one statement then, and it is soon seen on both sides of the write: less is turned round. What is picked
    // at random in later rounds comes to the failure all the same.
    let flat = ["--strategy", "hapset", "--call-depth", "0", "--seed", "1"];
    let flat = explored(&flat);
    assert!(flat.0 < deep.0, "{flat:?} {deep:?}");
    assert_eq!((flat.1, deep.1), ("heuristic".into(), "heuristic".into()));
}

/// Two locks behind one wrapper, taken in both orders: all of it shows on the wrapper's one line.
const WRAPPED: &str = "
struct Lock(Mutex<u32>);

impl Lock {
    fn take(&self) -> std::sync::MutexGuard<'_, u32> {
        self.0.lock().unwrap()
    }
}

#[test]
fn both_ways() {
    let locks = Arc::new((Lock(Mutex::new(1)), Lock(Mutex::new(2))));
    let other = Arc::clone(&locks);
    let thread = thread::spawn(move || {
        let _a = other.0.take();
        let _b = other.1.take();
    });
    let _b = locks.1.take();
    let _a = locks.0.take();
    drop((_a, _b));
    thread.join().unwrap();
}
";

#[test]
fn locks_of_one_name_are_told_apart() {
    let dir = package(&format!("{HEAD}{WRAPPED}"));
    for command in ["explore", "check"] {
        let run = seqz(dir.path(), [command]);
        assert_eq!(run.code, Some(1), "{}", run.shown());
        for number in [1, 2] {
            let taken = format!("({number})`");
            assert!(
                run.stdout
                    .lines()
                    .any(|line| line.contains("^ locks `") && line.contains(&taken)),
                "{number}: {}",
                run.shown()
            );
        }
        let json = seqz(dir.path(), [command, "--format", "json"]).json();
        let of = if command == "check" {
            "bugs"
        } else {
            "failures"
        };
        let finding = json["harnesses"][0][of][0]["finding"].as_str().unwrap();
        assert!(
            run.stdout.contains(&format!("In the file {finding}")),
            "{}",
            run.shown()
        );
        let drawn = seqz(dir.path(), ["report", finding, "-o", "report.html"]);
        assert_eq!(drawn.code, Some(0), "{}", drawn.shown());
        let page = fs::read_to_string(dir.path().join("report.html")).unwrap();
        assert!(page.contains("(1)") && page.contains("(2)"), "{page}");
        let replayed = seqz(dir.path(), ["replay", finding]);
        assert_eq!(replayed.code, Some(1), "{}", replayed.shown());
        assert!(replayed.stdout.contains("(2)`"), "{}", replayed.shown());
    }
}
