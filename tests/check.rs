//! What `seqz check` says of programs.

mod support;

use std::fs;

use serde_json::Value;
use support::programs::{HEAD, check, check_json, lost_update, sees_seven, two_threads};
use support::{newest_finding, package, seqz, settings};

macro_rules! snapshot {
    ($name:literal, $checked:expr) => {{
        let (dir, run) = $checked;
        settings(dir.path()).bind(|| insta::assert_snapshot!($name, run.shown()));
    }};
}

#[test]
fn a_bug_is_reported_with_code_1() {
    snapshot!("check_lost_update", check(&lost_update(), &[]));
}

#[test]
fn a_program_without_bug_is_exhausted_with_code_0() {
    let source = two_threads(
        "clean",
        "x2.fetch_add(1, SeqCst);",
        "x3.fetch_add(1, SeqCst);",
        "assert_eq!(x.load(SeqCst), 2);",
    );
    snapshot!("check_clean", check(&source, &[]));
    let (_, run) = check(&source, &["--verbose"]);
    let levels = run.stdout.matches("  exhausted\n").count();
    assert_eq!(levels, 8, "{}", run.shown());
    let (_, run) = check(&source, &["--max-executions", "1"]);
    assert!(run.stdout.contains("--max-executions"), "{}", run.shown());
}

#[test]
fn deadlocks_and_crashes_are_told_in_words() {
    let deadlock = "
#[test]
fn deadlock() {
    let a = Arc::new(Mutex::new(0));
    let b = Arc::new(Mutex::new(0));
    let (a2, b2) = (Arc::clone(&a), Arc::clone(&b));
    let other = thread::spawn(move || {
        let _b = b2.lock().unwrap();
        let _a = a2.lock().unwrap();
    });
    let held = a.lock().unwrap();
    drop(b.lock().unwrap());
    drop(held);
    other.join().unwrap();
}
";
    snapshot!("check_deadlock", check(deadlock, &["--k-max", "1"]));
    snapshot!(
        "check_abort",
        check(
            &sees_seven("aborts", "std::process::abort();"),
            &["--k-max", "1"]
        )
    );
}

#[test]
fn json_has_the_explanation_and_the_trace() {
    let source = sees_seven("sees", "panic!(\"seven\");");
    let (code, report) = check_json(&source, &[]);
    assert_eq!(code, 1);
    assert_eq!(report["summary"]["bugs"], 1);
    assert_eq!(report["summary"]["exhausted"], true);
    let bug = &report["harnesses"][0]["bugs"][0];
    assert_eq!(
        (&bug["kind"], &bug["message"], &bug["k"]),
        (&"panic".into(), &"seven".into(), &1.into())
    );
    let read = &bug["non_local_reads"][0];
    assert_eq!(
        (&read["variable"], &read["value"]),
        (&"x2".into(), &"7".into())
    );
    let step = |at: &str| &bug["trace"][read[at].as_u64().unwrap() as usize];
    assert_eq!(
        (&step("read_step")["op"], &step("read_step")["thread"]),
        (&"read".into(), &"first".into())
    );
    assert_eq!(
        (&step("write_step")["op"], &step("write_step")["thread"]),
        (&"write".into(), &"second".into())
    );
    assert_eq!(step("read_step")["site"]["file"], "src/lib.rs");

    let file = newest_finding(std::path::Path::new(""), &report);
    let finding: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(finding["bug"]["trace"], bug["trace"]);
    assert_eq!(finding["harness"], "sees");
}

#[test]
fn options_narrow_the_search() {
    let source = lost_update() + &sees_seven("sees", "panic!();");
    let (_, report) = check_json(
        &source,
        &[
            "--harness",
            "sees",
            "--thread-under-test",
            "b",
            "--k-max",
            "1",
        ],
    );
    let harnesses = report["harnesses"].as_array().unwrap();
    assert_eq!(harnesses.len(), 1);
    assert_eq!(report["summary"]["bugs"], 0);
    let roles = harnesses[0]["roles"].as_array().unwrap();
    assert_eq!(roles.len(), 1);
    assert_eq!(roles[0]["under_test"], "second");
    assert_eq!(roles[0]["levels"].as_array().unwrap().len(), 2);
}

const INPUT: &str = "
pub fn wants_42(n: u64) {
    let x = Arc::new(AtomicU32::new(0));
    let x2 = Arc::clone(&x);
    let a = thread::spawn(move || x2.store(1, SeqCst));
    if n == 42 {
        assert_eq!(x.load(SeqCst), 0);
    }
    a.join().unwrap();
}
";

#[test]
fn inputs_are_given_or_sampled() {
    let (code, report) = check_json(INPUT, &["--input", "n=40..=43"]);
    assert_eq!(code, 1);
    assert_eq!(
        report["harnesses"][0]["bugs"][0]["inputs"][0]["value"],
        "42"
    );
    assert_eq!(report["harnesses"][0]["inputs"][0]["given"], "40..=43");
    assert_eq!(report["summary"]["exhausted"], true);

    let (code, report) = check_json(INPUT, &["--input", "n=1,2,3"]);
    assert_eq!((code, &report["seed"]), (0, &Value::Null));

    let (_, report) = check_json(INPUT, &["--max-inputs", "5", "--seed", "9"]);
    assert_eq!(report["seed"], 9);
    assert_eq!(report["summary"]["exhausted"], false);
    assert_eq!(
        report["harnesses"][0]["roles"][0]["levels"][0]["reasons"][0],
        "sampled_inputs"
    );
    assert!(
        report["harnesses"][0]["notes"][0]
            .as_str()
            .unwrap()
            .contains("seed 9")
    );

    snapshot!("bad_input", check(INPUT, &["--input", "n=many"]));
}

/// There is one order of all events, but how long they take is open.
#[test]
fn one_order_of_events_is_not_all_where_the_clock_is_looked_at() {
    let source = "
use std::time::{Duration, Instant, SystemTime};
const MS: Duration = Duration::from_millis(1);
#[test]
fn waits_for_a_sleeper() {
    let began = Instant::now();
    thread::spawn(|| thread::sleep(MS * 20)).join().unwrap();
    assert!(began.elapsed() < MS * 21);
}
#[test]
fn waits_for_a_date() {
    let began = SystemTime::now();
    let n = Arc::new(Mutex::new(0));
    let m = n.clone();
    thread::spawn(move || { thread::sleep(MS * 20); *m.lock().unwrap() += 1; }).join().unwrap();
    let late = began.elapsed().unwrap() > MS * 25;
    assert!(!late && *n.lock().unwrap() == 1);
}
#[test]
fn waits_for_a_time() {
    let t = thread::spawn(|| { thread::sleep(MS * 20); Instant::now() });
    let then = t.join().unwrap();
    assert!(then.elapsed() < MS);
}
#[test]
fn waits_in_a_scope() {
    let began = Instant::now();
    thread::scope(|s| { s.spawn(|| thread::sleep(MS)); });
    assert!(began.elapsed() < MS * 2);
}
#[test]
fn looks_once() {
    let began = Instant::now();
    thread::spawn(move || drop(began)).join().unwrap();
}
#[test]
fn looks_alone() {
    let began = Instant::now();
    assert!(began.elapsed() < MS);
    thread::spawn(|| thread::sleep(MS)).join().unwrap();
}
";
    let (_, report) = check_json(source, &["--no-explore"]);
    for harness in report["harnesses"].as_array().unwrap() {
        let name = harness["name"].as_str().unwrap();
        let state = harness["status"]["state"].as_str().unwrap();
        let verdict = harness["verdict"].as_str().unwrap();
        if name.starts_with("waits") {
            assert_eq!(state, "checked", "{name}");
            assert!(
                verdict.starts_with("not exhausted: the program looks at the clock"),
                "{harness}"
            );
        } else {
            assert_eq!(state, "no_interference", "{name}");
            assert!(verdict.starts_with("exhausted"), "{harness}");
        }
    }
}

#[test]
fn threads_that_do_not_meet_have_no_interference() {
    let source = "
#[test]
fn one_after_the_other() {
    let x = Arc::new(AtomicU32::new(0));
    for _ in 0..2 {
        let x = Arc::clone(&x);
        thread::spawn(move || x.fetch_add(1, SeqCst)).join().unwrap();
    }
    assert_eq!(x.load(SeqCst), 2);
}
";
    snapshot!("check_no_interference", check(source, &[]));
}

#[test]
fn each_of_several_threads_is_under_test() {
    let source = "
#[test]
fn three() {
    let x = Arc::new(AtomicU32::new(0));
    let spawn = || {
        let x = Arc::clone(&x);
        thread::spawn(move || x.fetch_add(1, SeqCst))
    };
    let (a, b, c) = (spawn(), spawn(), spawn());
    for thread in [a, b, c] {
        thread.join().unwrap();
    }
}

#[test]
fn the_third_sees_both() {
    let x = Arc::new(AtomicU32::new(0));
    let stores = |n| {
        let x = Arc::clone(&x);
        move || x.store(n, SeqCst)
    };
    let a = thread::spawn(stores(1));
    let b = thread::spawn(stores(2));
    let y = Arc::clone(&x);
    let c = thread::spawn(move || assert_ne!((y.load(SeqCst), y.load(SeqCst)), (2, 1)));
    for thread in [a, b] {
        thread.join().unwrap();
    }
    c.join().unwrap();
}
";
    let clean = two_threads("two", "x2.store(1, SeqCst);", "x3.store(2, SeqCst);", "");
    snapshot!(
        "check_three_threads",
        check(&format!("{source}{clean}"), &["--k-max", "2"])
    );
}

/// The thread that runs the harness is one of those that run side by side, or it is not: a run tells.
#[test]
fn one_of_several_threads_is_under_test_by_its_name() {
    let source = "
fn adds(x: &Arc<AtomicU32>) -> impl FnOnce() + Send + 'static {
    let x = Arc::clone(x);
    move || { x.fetch_add(1, SeqCst); }
}
#[test]
fn main_beside() {
    let x = Arc::new(AtomicU32::new(0));
    let one = thread::spawn(adds(&x));
    let other = thread::spawn(adds(&x));
    x.fetch_add(1, SeqCst);
    one.join().unwrap();
    other.join().unwrap();
}
#[test]
fn main_before() {
    let x = Arc::new(AtomicU32::new(0));
    let one = thread::spawn(adds(&x));
    let other = thread::spawn(adds(&x));
    let last = thread::Builder::new().name(\"last\".into()).spawn(adds(&x)).unwrap();
    one.join().unwrap();
    other.join().unwrap();
    last.join().unwrap();
}
#[test]
fn of_one_name() {
    let x = Arc::new(AtomicU32::new(0));
    let all = [
        thread::Builder::new().name(\"same\".into()).spawn(adds(&x)).unwrap(),
        thread::Builder::new().name(\"another\".into()).spawn(adds(&x)).unwrap(),
        thread::Builder::new().name(\"same\".into()).spawn(adds(&x)).unwrap(),
    ];
    for it in all { it.join().unwrap(); }
}
#[test]
fn main_before_two() {
    let x = Arc::new(AtomicU32::new(0));
    let one = thread::spawn(adds(&x));
    let other = thread::spawn(adds(&x));
    one.join().unwrap();
    other.join().unwrap();
}
";
    let dir = package(&format!("{HEAD}{source}"));
    let of = |harness: &str, name: &str| {
        let args = ["check", "--no-explore", "--format", "json"];
        let args = args
            .into_iter()
            .chain(["--harness", harness, "--thread-under-test", name]);
        let report = seqz(dir.path(), args).json();
        let harness = &report["harnesses"][0];
        match harness["roles"].as_array().unwrap().as_slice() {
            [] => harness["status"]["reason"].as_str().unwrap().to_owned(),
            [role] => role["under_test"].as_str().unwrap().to_owned(),
            several => panic!("{several:?}"),
        }
    };
    assert_eq!(of("main_beside", "main"), "first");
    assert_eq!(of("main_beside", "one"), "second");
    assert_eq!(of("main_beside", "other"), "third");
    assert_eq!(of("main_before", "last"), "third");
    assert_eq!(of("main_before_two", "one"), "first");
    assert_eq!(of("main_before_two", "other"), "second");
    // All of one name are under test in turn.
    let report = seqz(
        dir.path(),
        [
            "check",
            "--no-explore",
            "--format",
            "json",
            "--harness",
            "of_one_name",
            "--thread-under-test",
            "same",
        ],
    );
    let roles = report.json()["harnesses"][0]["roles"].take();
    let roles: Vec<_> = roles
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["under_test"].clone())
        .collect();
    assert_eq!(roles, ["first", "third"]);
    for harness in ["main_before", "main_before_two"] {
        let said = of(harness, "main");
        assert!(
            said.contains("no thread `main` runs beside others"),
            "{said}"
        );
        assert!(said.contains("there are one, other"), "{said}");
    }
}

/// Values that no thread can have a copy of, each in harnesses of its own.
const NOT_CLONE: &str = "
struct Job {
    number: u32,
    work: Box<dyn Fn() -> u32 + Send + Sync>,
}

fn job(number: u32) -> Job {
    Job { number, work: Box::new(move || number) }
}

struct Pool<T> {
    items: Mutex<Vec<T>>,
}

impl<T> Pool<T> {
    fn put(&self, item: T) {
        self.items.lock().unwrap().push(item);
    }
}

static JOBS: Mutex<Vec<Job>> = Mutex::new(Vec::new());

#[test]
fn uses_none() {
    let x = Arc::new(AtomicU32::new(0));
    let y = Arc::clone(&x);
    let other = thread::spawn(move || y.fetch_add(1, SeqCst));
    x.fetch_add(1, SeqCst);
    other.join().unwrap();
}

#[test]
fn pools_numbers() {
    let p = Arc::new(Pool { items: Mutex::default() });
    let q = Arc::clone(&p);
    let other = thread::spawn(move || q.put(1));
    p.put(2);
    other.join().unwrap();
    assert_eq!(p.items.lock().unwrap()[0], 2, \"the other one was first\");
}

#[test]
fn pools_jobs() {
    let p = Arc::new(Pool { items: Mutex::default() });
    let q = Arc::clone(&p);
    let other = thread::spawn(move || q.put(job(1)));
    p.put(job(2));
    other.join().unwrap();
}

#[test]
fn changes_a_job() {
    let c = Arc::new(std::sync::RwLock::new(job(1)));
    let d = Arc::clone(&c);
    let other = thread::spawn(move || d.write().unwrap().number += 1);
    let _ = c.read().unwrap().number;
    other.join().unwrap();
}

#[test]
fn changes_one_again_in_a_destructor() {
    struct Closes(Arc<Mutex<Job>>);
    impl Drop for Closes {
        fn drop(&mut self) {
            self.0.lock().unwrap().number = 0;
        }
    }
    let c = Arc::new(Mutex::new(job(1)));
    let d = Closes(Arc::clone(&c));
    let other = thread::spawn(move || d.0.lock().unwrap().number += 1);
    let _ = c.lock().unwrap().number;
    other.join().unwrap();
}

#[test]
fn gives_up_a_receiver() {
    let c = Arc::new(Mutex::new(None::<std::sync::mpsc::Receiver<u32>>));
    let d = Arc::clone(&c);
    let other = thread::spawn(move || *d.lock().unwrap() = None);
    let _ = c.lock().unwrap().is_none();
    other.join().unwrap();
}

#[test]
fn only_the_thread_under_test_changes_it() {
    let c = Arc::new(Mutex::new(job(1)));
    let d = Arc::clone(&c);
    let other = thread::spawn(move || d.lock().unwrap().number);
    c.lock().unwrap().number = 2;
    assert_eq!(other.join().unwrap(), 2, \"the other one was first\");
}

#[test]
fn fills_a_static_before() {
    JOBS.lock().unwrap().push(job(1));
    let x = Arc::new(AtomicU32::new(0));
    let y = Arc::clone(&x);
    let other = thread::spawn(move || y.fetch_add((JOBS.lock().unwrap()[0].work)(), SeqCst));
    x.fetch_add(1, SeqCst);
    other.join().unwrap();
    assert_eq!(JOBS.lock().unwrap().drain(..).len(), 1);
    assert_eq!(x.load(SeqCst), 2);
}
";

#[test]
fn harnesses_that_need_copies_of_what_has_none_are_named() {
    let checked = check(NOT_CLONE, &["--k-max", "1", "--no-explore"]);
    snapshot!("check_not_clone", checked);
}

#[test]
fn programs_that_do_not_compile_are_told_by_rustc() {
    let source = two_threads(
        "broken",
        "let n: u32 = \"text\"; x2.store(n, SeqCst);",
        "",
        "",
    );
    snapshot!("check_does_not_compile", check(&source, &[]));
}

/// What only a scheduler can run, each in a harness of its own.
const WAITING: &str = "
use std::sync::{Barrier, Condvar, LazyLock, OnceLock, mpsc};

static NAME: OnceLock<u32> = OnceLock::new();
static TABLE: LazyLock<Vec<u32>> = LazyLock::new(|| vec![1]);

struct Bell(Condvar);

impl Drop for Bell {
    fn drop(&mut self) {
        self.0.notify_all();
    }
}

fn with_a_thread(run: impl FnOnce() + Send + 'static) {
    thread::spawn(run).join().unwrap();
}

#[test]
fn barrier() {
    with_a_thread(|| drop(Barrier::new(1).wait()));
}

#[test]
fn channel_while_a_bell_hangs() {
    with_a_thread(|| {
        let _bell = Bell(Condvar::new());
        drop(mpsc::channel::<u32>());
    });
}

#[test]
fn condvar() {
    with_a_thread(|| drop(Bell(Condvar::new())));
}

#[test]
fn lazy_lock() {
    with_a_thread(|| assert_eq!(TABLE.len(), 1));
}

#[test]
fn once_lock() {
    with_a_thread(|| assert_eq!(NAME.get(), None));
}

#[test]
fn park() {
    with_a_thread(thread::park);
}

#[test]
fn unpark() {
    with_a_thread(|| thread::current().unpark());
}
";

#[test]
fn threads_wait() {
    let source = format!("{WAITING}{}", lost_update());
    snapshot!("check_waiting", check(&source, &["--k-max", "0"]));
    let dir = package(&format!("{HEAD}{source}"));
    let run = seqz(
        dir.path(),
        ["transform", "--k", "1", "-o", "out", "--force"],
    );
    assert_eq!(run.code, Some(0), "{}", run.shown());
}

/// Code without an event in the sequential program, which only some harnesses reach.
const REFUSED: &str = "
use std::sync::mpsc::sync_channel;

#[test]
fn without_room() {
    let (sender, receiver) = sync_channel(0);
    let thread = thread::spawn(move || sender.try_send(1).is_ok());
    let received = receiver.recv().is_ok();
    assert_eq!(thread.join().unwrap(), received);
}
";

#[test]
fn code_that_can_not_be_run_is_shown_where_it_is_met() {
    let source = format!("{REFUSED}{}", lost_update());
    snapshot!(
        "check_refused_at_run_time",
        check(&source, &["--k-max", "0"])
    );
}

#[cfg(feature = "z3")]
#[test]
fn z3_says_the_same() {
    let source = lost_update() + &sees_seven("sees", "panic!(\"seven\");");
    let bugs = |solver: &str| {
        let (code, report) = check_json(&source, &["--solver", solver]);
        assert_eq!((code, &report["solver"]), (1, &solver.into()));
        report["harnesses"]
            .as_array()
            .unwrap()
            .iter()
            .map(|harness| {
                let mut bugs = harness["bugs"].clone();
                for bug in bugs.as_array_mut().unwrap() {
                    // When it was met is a matter of time.
                    bug.as_object_mut().unwrap().remove("met");
                }
                bugs
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(bugs("z3"), bugs("grid"));
    assert_eq!(bugs("all"), bugs("grid"));
}

/// Two threads that fail where each has seen what the other one wrote.
fn seen_by_both(name: &str, a: &str, b: &str) -> String {
    let a = format!("x2.store(1, SeqCst); {a}");
    let b = format!("y3.store(1, SeqCst); {b}");
    let after = "assert!(x.load(SeqCst) < 2 || y.load(SeqCst) < 2, \"both have seen\");";
    two_threads(name, &a, &b, after)
}

#[test]
fn what_no_k_covers_is_explored() {
    let source = seen_by_both(
        "by_loads",
        "if y2.load(SeqCst) == 1 { x2.store(2, SeqCst); }",
        "if x3.load(SeqCst) == 1 { y3.store(2, SeqCst); }",
    ) + &seen_by_both(
        "by_exchange",
        "if y2.compare_exchange(1, 1, SeqCst, SeqCst).is_ok() { x2.store(2, SeqCst); }",
        "if x3.compare_exchange(1, 1, SeqCst, SeqCst).is_ok() { y3.store(2, SeqCst); }",
    ) + &seen_by_both(
        "by_adding_nothing",
        "let y = y2.fetch_add(0, SeqCst); x2.fetch_add(y, SeqCst);",
        "let x = x3.fetch_add(0, SeqCst); y3.fetch_add(x, SeqCst);",
    ) + "
#[test]
fn by_locks() {
    let pair = Arc::new((Mutex::new(0), Mutex::new(0)));
    let pair2 = Arc::clone(&pair);
    let other = thread::spawn(move || {
        *pair2.0.lock().unwrap() = 1;
        *pair2.1.lock().unwrap() == 1
    });
    *pair.1.lock().unwrap() = 1;
    let seen = *pair.0.lock().unwrap() == 1;
    assert!(!(other.join().unwrap() && seen), \"both have seen\");
}
";
    let (code, report) = check_json(&source, &[]);
    assert_eq!(
        (
            code,
            &report["summary"]["bugs"],
            &report["summary"]["failures"]
        ),
        (1, &0.into(), &4.into()),
        "{report:#}"
    );
    assert_eq!(report["summary"]["exhausted"], true);
    for harness in report["explored"]["harnesses"].as_array().unwrap() {
        assert_eq!(harness["failures"][0]["message"], "both have seen");
    }
    let file = newest_finding(std::path::Path::new(""), &report);
    let finding: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(finding["failure"]["message"], "both have seen");

    let (_, run) = check(&source, &["--no-explore"]);
    let told = "No k covers a bug in which both threads see what the other one wrote: `seqz explore` finds those.";
    assert!(run.stdout.contains(told), "{}", run.shown());
    assert_eq!(run.code, Some(0));

    let (_, run) = check(&source, &["--harness", "by_loads"]);
    assert!(run.stdout.contains("one bug found"), "{}", run.shown());
    assert!(run.stdout.contains("both have seen"), "{}", run.shown());
}

#[test]
fn one_order_of_everything_was_run_only_where_it_came_to_its_end() {
    const ALONE: &str = "
#[test]
fn by_a_flag() {
    let goes_on = Arc::new(AtomicBool::new(true));
    let seen = goes_on.clone();
    let other = thread::spawn(move || {
        while seen.load(SeqCst) {
            thread::yield_now();
        }
    });
    other.join().unwrap();
    goes_on.store(false, SeqCst);
}

#[test]
fn by_a_lock() {
    let goes_on = Arc::new(Mutex::new(true));
    let seen = goes_on.clone();
    let other = thread::spawn(move || while *seen.lock().unwrap() {});
    other.join().unwrap();
    *goes_on.lock().unwrap() = false;
}

#[test]
fn by_nothing() {
    let other = thread::spawn(|| {
        loop {
            thread::yield_now();
        }
    });
    other.join().unwrap();
}
";
    let (_, report) = check_json(ALONE, &["--no-explore"]);
    assert_eq!(report["summary"]["exhausted"], false, "{report:#}");
    for harness in report["harnesses"].as_array().unwrap() {
        assert_eq!(harness["status"]["state"], "checked", "{harness:#}");
        let verdict = harness["verdict"].as_str().unwrap();
        assert!(verdict.starts_with("not exhausted"), "{verdict}");
    }
    let (code, report) = check_json(ALONE, &["--time", "60"]);
    assert_eq!(code, 1);
    for harness in report["explored"]["harnesses"].as_array().unwrap() {
        assert_eq!(harness["failures"][0]["kind"], "livelock", "{harness:#}");
    }
}

#[test]
fn an_exploration_that_ends_with_its_time_says_so() {
    let many = |x: &str| format!("for _ in 0..40 {{ {x}.fetch_add(1, SeqCst); }}");
    let source = two_threads(
        "long",
        &many("x2"),
        &many("x3"),
        "assert_eq!(x.load(SeqCst), 80);",
    );
    let args = ["--k-max", "0", "--time", "2"];
    let (_, run) = check(&source, &args);
    assert_eq!(run.code, Some(0), "{}", run.shown());
    assert!(
        run.stdout
            .contains("All choices of inputs, reads and writes were tried for k ≤ 0.")
    );
    let last = run.stdout.lines().last().unwrap();
    assert!(last.contains("not exhausted, in "), "{}", run.shown());
    assert!(!last.contains("every "), "{}", run.shown());
}

#[test]
fn a_thread_that_may_wait_for_ever_takes_the_promise() {
    const WAITS: &str = "
use std::sync::atomic::AtomicUsize;

struct Spin(AtomicBool);
impl Spin {
    fn lock(&self) {
        while self.0.compare_exchange(false, true, SeqCst, SeqCst).is_err() {
            std::hint::spin_loop();
        }
    }
    fn unlock(&self) {
        self.0.store(false, SeqCst);
    }
}

fn beside(one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
    thread::scope(|scope| {
        scope.spawn(one);
        scope.spawn(other);
    });
}

#[test]
fn waits_for_a_lock_that_is_kept() {
    let spin = Spin(AtomicBool::new(false));
    beside(|| spin.lock(), || { spin.lock(); spin.unlock(); });
}

#[test]
fn waits_for_a_flag_that_it_sets_back() {
    let flag = AtomicBool::new(false);
    beside(
        || { flag.store(false, SeqCst); while !flag.load(SeqCst) {} },
        || flag.store(true, SeqCst),
    );
}

#[test]
fn waits_for_what_nobody_does() {
    let flag = AtomicU32::new(0);
    beside(|| while flag.load(SeqCst) < 3 {}, || { flag.store(1, SeqCst); flag.store(2, SeqCst); });
}

#[test]
fn waits_with_a_lock_for_what_nobody_does() {
    let done = Mutex::new(0);
    beside(|| while *done.lock().unwrap() != 2 {}, || *done.lock().unwrap() += 1);
}

#[test]
fn ends_with_a_lock_that_is_given_back() {
    let spin = Spin(AtomicBool::new(false));
    let locked = || { spin.lock(); spin.unlock(); };
    beside(locked, locked);
}

#[test]
fn ends_when_a_flag_is_set() {
    let (data, flag) = (AtomicU32::new(0), AtomicBool::new(false));
    beside(
        || { while !flag.load(SeqCst) {} assert_eq!(data.load(SeqCst), 1); },
        || { data.store(1, SeqCst); flag.store(true, SeqCst); },
    );
}

#[test]
fn ends_when_it_has_its_turn() {
    let (next, serving) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let turn = || {
        let mine = next.fetch_add(1, SeqCst);
        while serving.load(SeqCst) != mine {}
        serving.store(mine + 1, SeqCst);
    };
    beside(turn, turn);
}

#[test]
fn ends_when_a_lock_shows_it() {
    let done = Mutex::new(false);
    beside(|| while !*done.lock().unwrap() {}, || *done.lock().unwrap() = true);
}
";
    let (_, report) = check_json(WAITS, &["--no-explore"]);
    for harness in report["harnesses"].as_array().unwrap() {
        assert_eq!(harness["bugs"].as_array().unwrap().len(), 0, "{harness:#}");
        let verdict = harness["verdict"].as_str().unwrap();
        let promises = verdict.starts_with("exhausted");
        let ends = harness["name"].as_str().unwrap().starts_with("ends");
        assert_eq!(promises, ends, "{harness:#}");
        assert!(ends || verdict.contains("where threads wait"), "{verdict}");
    }
    let (code, report) = check_json(WAITS, &["--time", "60"]);
    assert_eq!(code, 1);
    for harness in report["explored"]["harnesses"].as_array().unwrap() {
        let livelock = harness["failures"][0]["kind"] == "livelock";
        let waits = harness["name"].as_str().unwrap().starts_with("waits");
        assert_eq!(livelock, waits, "{harness:#}");
    }
}

/// Four reads that see what the other thread wrote, one after the other.
const FOUR_READS: &str = "
#[test]
fn four_steps() {
    let x = Arc::new(AtomicU32::new(0));
    let y = Arc::clone(&x);
    let other = thread::spawn(move || (1..=4).for_each(|step| y.store(step, SeqCst)));
    let seen: Vec<u32> = (0..4).map(|_| x.load(SeqCst)).collect();
    assert_ne!(seen, [1, 2, 3, 4]);
    other.join().unwrap();
}
";

/// Where a larger k covers what an exploration has found, that is said, and not that none does.
#[test]
fn the_k_that_reaches_a_bug_is_named() {
    let dir = package(&format!("{HEAD}{FOUR_READS}"));
    let run = seqz(dir.path(), ["check"]);
    assert_eq!(run.code, Some(1), "{}", run.shown());
    assert!(
        run.stdout.contains("`--k-max 4` reaches it"),
        "{}",
        run.shown()
    );
    assert!(!run.stdout.contains("No k covers"), "{}", run.shown());
    let run = seqz(dir.path(), ["check", "--k-max", "4", "--format", "json"]);
    assert_eq!(
        run.json()["harnesses"][0]["bugs"][0]["k"],
        4,
        "{}",
        run.shown()
    );
}

/// A harness that no k reaches is explored in what is left of the time, and its bugs count.
#[test]
fn what_can_not_be_checked_is_explored() {
    let three = |name: &str, last: &str| {
        format!(
            "
#[test]
fn {name}() {{
    let x = Arc::new(AtomicU32::new(0));
    let barrier = Arc::new(std::sync::Barrier::new(3));
    let all = [1, 2, 3].map(|n| {{
        let (x, barrier) = (Arc::clone(&x), Arc::clone(&barrier));
        thread::spawn(move || {{ barrier.wait(); x.fetch_max(n, SeqCst) }})
    }});
    {last}
    for thread in all {{ thread.join().unwrap(); }}
}}
"
        )
    };
    let clean = three("clean", "");
    let fails = three("fails", "assert_ne!(x.load(SeqCst), 3);");
    let dir = package(&format!("{HEAD}{clean}{fails}"));
    let run = seqz(dir.path(), ["check", "--harness", "clean"]);
    assert_eq!(run.code, Some(0), "{}", run.shown());
    let said = "The harness that can't be checked was explored instead, in ";
    assert!(run.stdout.contains(said), "{}", run.shown());
    assert!(
        run.stdout.contains("executions: exhausted."),
        "{}",
        run.shown()
    );
    let run = seqz(dir.path(), ["check"]);
    assert_eq!(run.code, Some(1), "{}", run.shown());
    let said = "The two harnesses that can't be checked were explored instead, in ";
    assert!(run.stdout.contains(said), "{}", run.shown());
    assert!(
        run.stdout.contains("one with findings, see above."),
        "{}",
        run.shown()
    );
    let run = seqz(dir.path(), ["check", "--no-explore"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    let said = "The two harnesses that can't be checked were not searched: see above.";
    assert!(run.stdout.contains(said), "{}", run.shown());
}

/// The second round fails if the first one was interfered with, and it itself is, too.
#[test]
fn other_threads_run_side_by_side_once_both_are_joined() {
    const ROUNDS: &str = "
#[test]
fn rounds() {
    static X: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];
    let both = |one: fn(), other: fn()| {
        let threads = [thread::spawn(one), thread::spawn(other)];
        for thread in threads {
            thread.join().unwrap();
        }
    };
    both(
        || if X[0].load(SeqCst) == 1 && X[1].load(SeqCst) == 0 { X[2].store(1, SeqCst) },
        || {
            X[0].store(1, SeqCst);
            X[1].store(1, SeqCst);
        },
    );
    both(
        || assert!(X[2].load(SeqCst) == 0 || X[0].load(SeqCst) != 2, \"both at once\"),
        || X[0].store(2, SeqCst),
    );
}
";
    let (dir, run) = check(ROUNDS, &["--format", "json"]);
    let report = run.json();
    let harness = &report["harnesses"][0];
    let bug = &harness["bugs"][0];
    assert_eq!(
        (&bug["k"], &bug["under_test"], &bug["confirmation"]["state"]),
        (&2.into(), &"first".into(), &"confirmed".into()),
        "{report:#}"
    );
    assert_eq!(harness["bugs"].as_array().unwrap().len(), 1);
    assert_eq!(report["summary"]["exhausted"], true);

    let finding = newest_finding(dir.path(), &report);
    let page = dir.path().join("report.html");
    let args = [
        "report".as_ref(),
        finding.as_path(),
        "-o".as_ref(),
        page.as_path(),
    ];
    assert_eq!(seqz(dir.path(), args).code, Some(0));
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("threads run side by side again after others were joined"));
    assert!(page.contains("the first one of each two threads that run side by side"));
}

/// What grows out of an execution that was cut is not tried, whatever its k.
#[test]
fn a_level_above_one_that_is_cut_is_not_exhausted() {
    let source = "
#[test]
fn cut() {
    let x = Arc::new(AtomicU32::new(0));
    let (y, z) = (Arc::clone(&x), AtomicU32::new(0));
    let one = thread::spawn(move || y.store(1, SeqCst));
    let other = thread::spawn(move || {
        for _ in 0..50 { z.load(SeqCst); }
        assert_eq!(x.load(SeqCst), 0, \"after the cut\");
    });
    one.join().unwrap();
    other.join().unwrap();
}
#[test]
fn behind_another() {
    let x = Arc::new(AtomicU32::new(0));
    let y = Arc::clone(&x);
    let first = thread::spawn(|| {});
    let second = thread::spawn(move || { first.join().unwrap(); y.store(1, SeqCst); });
    let third = thread::spawn(move || { while x.load(SeqCst) == 0 {} panic!(\"boom\"); });
    second.join().unwrap();
    third.join().unwrap();
}
";
    let dir = package(&format!("{HEAD}{source}"));
    for (harness, more, under_test) in [
        ("cut", &["--max-steps", "20"][..], "second"),
        ("behind_another", &[], "third"),
    ] {
        let args = [
            "check",
            "--no-explore",
            "--format",
            "json",
            "--harness",
            harness,
        ];
        let report = seqz(dir.path(), args.iter().chain(more)).json();
        let roles = report["harnesses"][0]["roles"].as_array().unwrap();
        let role = roles.iter().find(|it| it["under_test"] == under_test);
        let levels = role.unwrap()["levels"].as_array().unwrap();
        assert_eq!(levels.len(), 4);
        assert!(
            levels.iter().all(|it| it["exhausted"] == false),
            "{levels:#?}"
        );
    }
    let whole = seqz(dir.path(), ["check", "--no-explore", "--harness", "cut"]);
    assert_eq!(whole.code, Some(1), "{}", whole.shown());
}

/// A panic that the harness handles is none of its failures, also where another thread fails beside it.
#[test]
fn a_panic_that_is_handled_beside_others_is_no_bug() {
    let source = "
#[test]
fn one_is_handled() {
    let x = Arc::new(AtomicU32::new(0));
    let adds = || { let x = Arc::clone(&x); move || x.fetch_add(1, SeqCst) };
    let (a, b, c) = (adds(), adds(), adds());
    let one = thread::spawn(move || assert_eq!(a(), 0, \"counts\"));
    let handled = thread::spawn(move || assert_eq!(b(), 0, \"is handled\"));
    let last = thread::spawn(move || { c(); });
    one.join().unwrap();
    let _ = handled.join();
    last.join().unwrap();
}
";
    let dir = package(&format!("{HEAD}{source}"));
    for (command, found) in [("check", "bugs"), ("explore", "failures")] {
        let run = seqz(dir.path(), [command, "--format", "json"]);
        let report = run.json();
        let found = report["harnesses"][0][found].as_array().unwrap();
        assert_eq!(found.len(), 1, "{command}: {found:#?}");
        let message = found[0]["message"].as_str().unwrap();
        assert!(message.contains("counts"), "{message}");
    }
}
