//! Each execution begins like a new process: what an execution leaves behind is no cause of failures, time is virtual, and
//! neither random numbers nor addresses make one execution of a schedule different from another.

mod support;

use std::collections::BTreeMap;

use serde_json::Value;
use support::{package, program, seqz};

const HELPER: &str = include_str!("fresh/helper.rs");
const MANIFEST: &str =
    "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n
[dependencies]\nhelper = { path = \"helper\" }\n";
const HELPER_MANIFEST: &str =
    "[package]\nname = \"helper\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";

/// A crate of these tests, beside a dependency.
fn with_helper(tests: &str) -> tempfile::TempDir {
    program(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", tests),
        ("helper/Cargo.toml", HELPER_MANIFEST),
        ("helper/src/lib.rs", HELPER),
    ])
}

/// The messages of what was found, by harness.
fn found(report: &Value, kind: &str) -> BTreeMap<String, Vec<String>> {
    let harnesses = report["harnesses"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = harnesses.iter().map(|harness| {
        let bugs = harness[kind].as_array().into_iter().flatten();
        let messages = bugs.map(|bug| text(&bug["message"])).collect();
        (text(&harness["name"]), messages)
    });
    all.filter(|(_, messages): &(_, Vec<_>)| !messages.is_empty())
        .collect()
}

fn expect(dir: &tempfile::TempDir, args: &[&str], kind: &str, expected: &[(&str, &str)]) {
    let all = args.iter().copied().chain(["--format", "json"]);
    let report = seqz(dir.path(), all).json();
    let expected: BTreeMap<_, _> = expected
        .iter()
        .map(|(harness, message)| ((*harness).to_owned(), vec![(*message).to_owned()]))
        .collect();
    assert_eq!(found(&report, kind), expected, "{args:?}: {report:#}");
}

#[test]
fn nothing_outlives_an_execution() {
    let dir = with_helper(include_str!("fresh/state.rs"));
    let late = [(
        "a_failure_of_the_first_execution",
        "seen by whoever comes late",
    )];
    for strategy in ["odpor", "dfs", "mcr", "lazy-dpor", "hbr-cache"] {
        expect(
            &dir,
            &["explore", "--strategy", strategy],
            "failures",
            &late,
        );
    }
    expect(&dir, &["explore", "--jobs", "2"], "failures", &late);
    expect(&dir, &["check"], "bugs", &late);
}

#[test]
fn time_and_chance_are_the_same_in_each_execution() {
    let dir = with_helper(include_str!("fresh/time.rs"));
    let short = [("a_sleep_orders_nothing", "the sleep was too short")];
    for strategy in ["odpor", "dpor", "mcr", "pct"] {
        let args = [
            "explore",
            "--strategy",
            strategy,
            "--max-executions",
            "2000",
            // Here a time limit is the only thing that ends a wait.
            "--spurious",
            "0",
        ];
        expect(&dir, &args, "failures", &short);
    }
    expect(&dir, &["check"], "bugs", &short);
}

/// `setitimer` has a state that nobody puts back.
const TIMER: &str = "
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

unsafe extern \"C\" {
    fn setitimer(which: i32, new: *const [i64; 4], old: *mut [i64; 4]) -> i32;
}

static N: AtomicU32 = AtomicU32::new(0);

#[test]
fn starts_a_timer() {
    let other = std::thread::spawn(|| N.fetch_add(1, SeqCst));
    N.fetch_add(1, SeqCst);
    other.join().unwrap();
    unsafe { setitimer(1, &[0, 0, 1000, 0], std::ptr::null_mut()) };
}

#[test]
fn starts_none() {
    let other = std::thread::spawn(|| N.fetch_add(1, SeqCst));
    N.fetch_add(1, SeqCst);
    other.join().unwrap();
}
";

#[test]
fn what_cannot_be_put_back_is_named() {
    let dir = program(&[("timer.rs", TIMER)]);
    for command in ["explore", "check"] {
        let report = seqz(dir.path(), [command, "timer.rs", "--format", "json"]).json();
        let harnesses = report["harnesses"].as_array().unwrap();
        let of = |name: &str| harnesses.iter().find(|it| it["name"] == name).unwrap();
        let named = of("starts_a_timer")["not_followed"].to_string();
        assert!(
            named.contains("state of the C function `setitimer`"),
            "{report:#}"
        );
        let is_exhausted = |name: &str| {
            let verdict = of(name)["verdict"].as_str().unwrap();
            verdict.starts_with("exhausted")
        };
        assert!(!is_exhausted("starts_a_timer"), "{report:#}");
        // Who can't come to the function has nothing to do with it.
        assert!(is_exhausted("starts_none"), "{report:#}");
    }
}

/// A test that takes the date for a seed is right on some days alone.
#[test]
fn other_dates_are_tried_at_the_end() {
    let dir = package(
        "
use std::sync::{Arc, Mutex, atomic::{AtomicU32, Ordering::SeqCst}};
use std::time::{SystemTime, UNIX_EPOCH};
use std::thread;

#[test]
fn is_a_seed() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    let jobs = 1 + (seed / 7) % 4;
    let a = Arc::new(AtomicU32::new(0));
    let b = a.clone();
    let t = thread::spawn(move || for _ in 0..jobs {
        if jobs > 2 { let v = b.load(SeqCst); b.store(v + 1, SeqCst) } else { b.fetch_add(1, SeqCst); }
    });
    for _ in 0..jobs { a.fetch_add(1, SeqCst); }
    t.join().unwrap();
    assert_eq!(a.load(SeqCst), 2 * jobs);
}

#[test]
fn is_written_down() {
    let last = Arc::new(Mutex::new(UNIX_EPOCH));
    let other = last.clone();
    let now = SystemTime::now();
    let t = thread::spawn(move || *other.lock().unwrap() = now);
    *last.lock().unwrap() = now;
    t.join().unwrap();
    assert!(*last.lock().unwrap() > UNIX_EPOCH);
}
",
    );
    for command in ["explore", "check"] {
        let args = [command, "--format", "json"];
        let args = args
            .into_iter()
            .chain((command == "check").then_some("--no-explore"));
        let report = seqz(dir.path(), args).json();
        let verdict = |at: usize| report["harnesses"][at]["verdict"].as_str().unwrap();
        assert_eq!(report["harnesses"][0]["name"], "is_a_seed");
        assert!(
            verdict(0).contains("or the date"),
            "{command}: {}",
            verdict(0)
        );
        assert!(
            verdict(1).starts_with("exhausted"),
            "{command}: {}",
            verdict(1)
        );
    }
}
