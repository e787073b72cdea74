//! `seqz check` on real programs.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{MANIFEST, Package, Run, command, package, program, run, seqz, settings, target_dir};

const HEAD: &str = "
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
";

/// A test function of two threads, `a` and `b`, over `x` and `y`.
fn two_threads(name: &str, a: &str, b: &str, after: &str) -> String {
    format!(
        "
#[test]
fn {name}() {{
    let x = Arc::new(AtomicU32::new(0));
    let y = Arc::new(AtomicU32::new(0));
    let (x2, y2) = (Arc::clone(&x), Arc::clone(&y));
    let a = thread::spawn(move || {{
        let _ = (&x2, &y2);
        {a}
    }});
    let (x3, y3) = (Arc::clone(&x), Arc::clone(&y));
    let b = thread::spawn(move || {{
        let _ = (&x3, &y3);
        {b}
    }});
    a.join().unwrap();
    b.join().unwrap();
    {after}
}}
"
    )
}

fn lost_update() -> String {
    let add = |x: &str| format!("let seen = {x}.load(SeqCst); {x}.store(seen + 1, SeqCst);");
    two_threads(
        "lost_update",
        &add("x2"),
        &add("x3"),
        "assert_eq!(x.load(SeqCst), 2);",
    )
}

/// Reads 7 only if the other thread has written it.
fn sees_seven(name: &str, then: &str) -> String {
    two_threads(
        name,
        &format!("if x2.load(SeqCst) == 7 {{ {then} }}"),
        "x3.store(7, SeqCst);",
        "",
    )
}

fn check(source: &str, args: &[&str]) -> (Package, Run) {
    let dir = package(&format!("{HEAD}{source}"));
    let run = seqz(dir.path(), ["check"].iter().chain(args));
    (dir, run)
}

fn check_json(source: &str, args: &[&str]) -> (i32, Value) {
    let args: Vec<_> = ["--format", "json"].iter().chain(args).copied().collect();
    let (_dir, run) = check(source, &args);
    (run.code.unwrap_or(-1), run.json())
}

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
fn whatever_ends_the_worker_is_a_finding_that_names_the_execution() {
    let recursion =
        "fn deep(n: u64) -> u64 { std::hint::black_box(if n == 0 { 0 } else { deep(n - 1) + n }) }";
    let source = [
        recursion,
        &sees_seven("a_exits", "std::process::exit(0);"),
        &sees_seven(
            "b_overflows",
            "let n = std::hint::black_box(1 << 40); deep(n);",
        ),
        &sees_seven("c_hangs", "loop { std::hint::black_box(0); }"),
        &sees_seven("d_aborts", "std::process::abort();"),
        &lost_update(),
    ]
    .concat();
    let (code, report) = check_json(&source, &["--hang-after", "1"]);
    assert_eq!(code, 1);
    let harnesses = report["harnesses"].as_array().unwrap();
    let kinds: Vec<_> = harnesses
        .iter()
        .map(|harness| {
            let bug = &harness["bugs"][0];
            assert_eq!(harness["bugs"].as_array().unwrap().len(), 1, "{harness:#}");
            (bug["kind"].as_str().unwrap(), bug["k"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(
        kinds,
        [
            ("exit", 1),
            ("crash", 1),
            ("hang", 1),
            ("crash", 1),
            ("assertion", 0)
        ]
    );
    assert_eq!(
        harnesses[1]["bugs"][0]["message"],
        "a thread has overflowed its stack"
    );
    for harness in &harnesses[..4] {
        assert_eq!(harness["bugs"][0]["non_local_reads"][0]["read"], 0);
        assert_eq!(harness["bugs"][0]["non_local_reads"][0]["write"], 0);
        // The thread that writes has been searched to the end all the same.
        let roles = harness["roles"].as_array().unwrap();
        assert_eq!(roles.len(), 2, "{roles:?}");
        assert_eq!(roles[0]["levels"][1]["reasons"][0], "died");
        assert_eq!(roles[1]["levels"][3]["exhausted"], true);
    }
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

    let dir = report["findings"].as_str().unwrap();
    let finding: Value =
        serde_json::from_str(&fs::read_to_string(Path::new(dir).join("1.json")).unwrap()).unwrap();
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

#[test]
fn bounds_end_the_claim_of_exhaustion() {
    let source = two_threads(
        "long",
        "for _ in 0..6 { x2.load(SeqCst); }",
        "for i in 0..6 { x3.store(i, SeqCst); }",
        "",
    );
    let reasons = |args: &[&str]| {
        let (code, report) = check_json(&source, args);
        assert_eq!((code, &report["summary"]["exhausted"]), (0, &false.into()));
        report["harnesses"][0]["roles"].to_string()
    };
    assert!(reasons(&["--max-executions", "7"]).contains("execution_limit"));
    assert!(reasons(&["--max-steps", "3"]).contains("step_bound"));
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
fn more_than_two_threads_are_refused_and_the_rest_is_checked() {
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
";
    let clean = two_threads("two", "x2.store(1, SeqCst);", "x3.store(2, SeqCst);", "");
    snapshot!(
        "check_three_threads",
        check(&format!("{source}{clean}"), &["--k-max", "1"])
    );
}

#[test]
fn chance_is_not_searched() {
    let source = two_threads(
        "chance",
        "if x2.load(SeqCst) == 1 { y2.load(SeqCst); }",
        "let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
         for i in 0..now.subsec_nanos() / 100 % 50 { y3.store(i, SeqCst); }
         x3.store(1, SeqCst);",
        "",
    );
    let (code, report) = check_json(&source, &[]);
    assert_eq!(code, 2, "{report:#}");
    assert_eq!(
        report["harnesses"][0]["status"]["state"],
        "nondeterministic"
    );
}

#[test]
fn values_that_can_not_be_copied_are_named() {
    let source = "
struct Connection(u32);

#[test]
fn shares() {
    let c = Arc::new(Mutex::new(Box::new(|| 1) as Box<dyn Fn() -> u32 + Send>));
    let d = Arc::new(Mutex::new(Connection(1)));
    let (c2, d2) = (Arc::clone(&c), Arc::clone(&d));
    let a = thread::spawn(move || (c2.lock().unwrap()() + d2.lock().unwrap().0));
    c.lock().unwrap()();
    a.join().unwrap();
}
";
    snapshot!("check_not_clone", check(source, &[]));
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

#[test]
fn code_that_can_not_be_run_is_shown() {
    let source = "
use std::sync::Condvar;
static READY: Condvar = Condvar::new();
";
    snapshot!(
        "check_condvar",
        check(&format!("{source}{}", lost_update()), &[])
    );
}

/// A search that takes long: many reads, many writes, and a large k.
fn endless() -> String {
    lost_update()
        + &two_threads(
            "z_endless",
            "for _ in 0..60 { x2.load(SeqCst); }",
            "for i in 0..60 { x3.store(i, SeqCst); }",
            "",
        )
}

#[test]
fn time_is_kept() {
    let (code, report) = check_json(
        &endless(),
        &["--k-max", "9", "--time", "2", "--harness", "z_endless"],
    );
    assert_eq!(code, 0);
    assert_eq!(report["cut"], "time_limit");
    assert_eq!(report["summary"]["exhausted"], false);
    assert!(
        report["harnesses"][0]["roles"]
            .to_string()
            .contains("time_limit")
    );
}

#[test]
fn an_interrupt_ends_with_what_was_found() {
    let dir = package(&format!("{HEAD}{}", endless()));
    // Built, and its findings' place known.
    let built = seqz(
        dir.path(),
        [
            "check",
            "--harness",
            "lost_update",
            "--k-max",
            "0",
            "--format",
            "json",
        ],
    );
    let first = Path::new(built.json()["findings"].as_str().unwrap()).join("1.json");
    let interrupt = |args: &[&str], ready: &dyn Fn() -> bool| {
        // The search removes what earlier ones found.
        let _ = fs::remove_file(&first);
        let child = command(dir.path())
            .args(["check", "--k-max", "9", "--format", "json"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let patience = Instant::now() + Duration::from_secs(60);
        while !ready() && Instant::now() < patience {
            thread::sleep(Duration::from_millis(20));
        }
        let signalled = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap();
        assert!(signalled.success());
        let output = child.wait_with_output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report)
    };
    let (code, report) = interrupt(&[], &|| first.exists());
    assert_eq!((code, &report["cut"]), (Some(1), &"interrupted".into()));
    assert_eq!(report["summary"]["bugs"], 1);
    assert_eq!(report["summary"]["exhausted"], false);
    let started = Instant::now();
    let (code, report) = interrupt(&["--harness", "z_endless"], &|| {
        started.elapsed() > Duration::from_secs(2)
    });
    assert_eq!((code, &report["cut"]), (Some(130), &"interrupted".into()));
    assert!(
        report["harnesses"][0]["roles"]
            .to_string()
            .contains("interrupted")
    );
    assert_eq!(report["summary"]["exhausted"], false);
}

#[test]
fn an_unchanged_program_is_not_built_again() {
    let lib = format!("{HEAD}{}", lost_update());
    let dir = program(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &lib)]);
    assert_eq!(seqz(dir.path(), ["check"]).code, Some(1));
    // No cargo, no building.
    let started = Instant::now();
    let again = run(command(dir.path())
        .arg("check")
        .env("CARGO", "/nonexistent"));
    assert_eq!(again.code, Some(1), "{}", again.shown());
    assert!(started.elapsed() < Duration::from_secs(5));

    let source = fs::read_to_string(dir.path().join("src/lib.rs")).unwrap();
    fs::write(
        dir.path().join("src/lib.rs"),
        source.replace("seen + 1", "seen + 2"),
    )
    .unwrap();
    let changed = run(command(dir.path())
        .arg("check")
        .env("CARGO", "/nonexistent"));
    assert_eq!(changed.code, Some(3), "{}", changed.shown());
}

#[test]
fn programs_of_the_same_name_are_kept_apart() {
    let write = |value: u32| {
        let writes = two_threads(
            "sees",
            "assert_ne!(x2.load(SeqCst), 7);",
            &format!("x3.store({value}, SeqCst);"),
            "",
        );
        package(&format!("{HEAD}{writes}"))
    };
    let (buggy, clean) = (write(7), write(8));
    for _ in 0..2 {
        assert_eq!(seqz(buggy.path(), ["check"]).code, Some(1));
        assert_eq!(seqz(clean.path(), ["check"]).code, Some(0));
    }
    // Written first and built last.
    let (clean, buggy) = (write(9), write(7));
    assert_eq!(seqz(buggy.path(), ["check"]).code, Some(1));
    assert_eq!(seqz(clean.path(), ["check"]).code, Some(0));
}

#[test]
fn many_at_once_do_not_disturb_each_other() {
    let dirs: Vec<_> = (0..4)
        .map(|i| {
            package(&format!(
                "{HEAD}{}",
                sees_seven("sees", &format!("panic!(\"number {i}\");"))
            ))
        })
        .collect();
    let runs: Vec<_> = thread::scope(|scope| {
        let start = |dir: &Package| {
            let dir = dir.path().to_owned();
            scope.spawn(move || seqz(&dir, ["check", "--format", "json"]))
        };
        let running: Vec<_> = dirs.iter().chain(&dirs).map(start).collect();
        running.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for (i, run) in runs.iter().enumerate() {
        assert_eq!(
            run.json()["harnesses"][0]["bugs"][0]["message"],
            format!("number {}", i % 4)
        );
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let dir = package(&format!("{HEAD}{}", lost_update()));
    let mut child = command(dir.path())
        .arg("check")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn findings_that_can_not_be_written_do_not_end_the_search() {
    let dir = package(&format!("{HEAD}{}", lost_update()));
    let target = tempfile::tempdir().unwrap();
    fs::write(target.path().join("findings"), "in the way").unwrap();
    let run = run(command(dir.path())
        .args(["check", "--format", "json"])
        .env("SEQZ_TARGET_DIR", target.path()));
    assert_eq!(run.code, Some(1), "{}", run.shown());
    let note = run.json()["harnesses"][0]["notes"][0]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(note.contains("not written"), "{note}");
}

#[test]
fn the_transformed_crate_stands_by_itself() {
    let dir = package(&format!(
        "{HEAD}{}",
        sees_seven("sees", "panic!(\"seven\");")
    ));
    let out = dir.path().join("out");
    // Of an earlier run.
    let _ = fs::remove_dir_all(&out);
    let written = seqz(dir.path(), ["transform", "--k", "1", "-o", "out"]);
    assert_eq!(written.code, Some(0), "{}", written.shown());
    settings(dir.path()).bind(|| insta::assert_snapshot!("transform", written.shown()));
    let cargo = |args: &[&str]| {
        Command::new("cargo")
            .args(args)
            .current_dir(&out)
            .env("CARGO_TARGET_DIR", target_dir().join("transformed"))
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
            .output()
            .unwrap()
    };
    let built = cargo(&["build", "--offline"]);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let failing = cargo(&["run", "--offline", "-q", "--", "--rds", "0", "--wrts", "0"]);
    assert_eq!(failing.status.code(), Some(1), "{failing:?}");
    assert!(
        String::from_utf8_lossy(&failing.stdout).contains("seven"),
        "{failing:?}"
    );
    let passing = cargo(&["run", "--offline", "-q", "--", "--under-test", "second"]);
    assert_eq!(passing.status.code(), Some(0), "{passing:?}");
    // It is not written over unless that is asked for.
    assert_eq!(
        seqz(dir.path(), ["transform", "--k", "1", "-o", "out"]).code,
        Some(2)
    );
}

#[test]
fn dependencies_come_along_and_their_changes_are_seen() {
    let member = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
    };
    let lib = format!(
        "{HEAD}{}",
        sees_seven("sees", "assert_ne!(helper::answer(), 42);")
    );
    let dir = program(&[
        (
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"app\", \"helper\"]\n",
        ),
        (
            "app/Cargo.toml",
            &member("app", "[dependencies]\nhelper = { path = \"../helper\" }\n"),
        ),
        ("app/src/lib.rs", &lib),
        ("helper/Cargo.toml", &member("helper", "")),
        ("helper/src/lib.rs", "pub fn answer() -> u32 { 42 }\n"),
    ]);
    let checked = seqz(dir.path(), ["check", "app"]);
    assert_eq!(checked.code, Some(1), "{}", checked.shown());
    fs::write(
        dir.path().join("helper/src/lib.rs"),
        "pub fn answer() -> u32 { 43 }\n",
    )
    .unwrap();
    let checked = seqz(dir.path(), ["check", "app"]);
    assert_eq!(checked.code, Some(0), "{}", checked.shown());
    // A workspace without a package of its own can't be checked as a whole.
    let whole = seqz(dir.path(), ["check"]);
    assert_eq!(whole.code, Some(2), "{}", whole.shown());
    // Without a directory that is named, what is built goes where the workspace's builds go.
    let checked = run(command(dir.path())
        .args(["check", "app"])
        .env_remove("SEQZ_TARGET_DIR"));
    assert_eq!(checked.code, Some(0), "{}", checked.shown());
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| dir.path().join("target"), Into::into);
    assert!(target.join("seqz/programs").is_dir());
}

#[test]
fn dependencies_that_are_not_there_are_to_be_fetched() {
    let lib = format!("{HEAD}{}", lost_update());
    let manifest = format!("{MANIFEST}\n[dependencies]\nno-such-crate-of-seqz = \"1\"\n");
    let dir = program(&[("Cargo.toml", &manifest), ("src/lib.rs", &lib)]);
    let checked = seqz(dir.path(), ["check"]);
    assert_eq!(checked.code, Some(2), "{}", checked.shown());
    assert!(
        checked.stderr.contains("cargo fetch"),
        "{}",
        checked.shown()
    );
}

#[test]
fn a_lone_file_is_built_in_a_cache_directory() {
    let lib = format!("{HEAD}{}", lost_update());
    let dir = program(&[("race.rs", &lib)]);
    let checked = run(command(dir.path())
        .args(["check", "race.rs", "--k-max", "0"])
        .env_remove("SEQZ_TARGET_DIR")
        .env("XDG_CACHE_HOME", dir.path().join("cache")));
    assert_eq!(checked.code, Some(1), "{}", checked.shown());
    assert!(dir.path().join("cache/seqz/programs").is_dir());
    let nowhere = run(command(dir.path())
        .args(["check", "race.rs"])
        .env_remove("SEQZ_TARGET_DIR")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("HOME")
        // Else rustup finds no toolchain.
        .envs(
            std::env::var_os("HOME").map(|home| ("RUSTUP_HOME", Path::new(&home).join(".rustup"))),
        ));
    assert_eq!(nowhere.code, Some(2), "{}", nowhere.shown());
    let in_the_way = seqz(
        dir.path(),
        ["check", "race.rs", "--target-dir", "race.rs/x"],
    );
    assert_eq!(in_the_way.code, Some(2), "{}", in_the_way.shown());
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
            .map(|harness| harness["bugs"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(bugs("z3"), bugs("grid"));
    assert_eq!(bugs("all"), bugs("grid"));
}
