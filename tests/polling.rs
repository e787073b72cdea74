//! Threads that wait in loops, and threads that only seem to.

mod support;

use std::collections::BTreeMap;

use serde_json::Value;
use support::{Package, newest_finding, package, seqz};

fn explore(dir: &Package, args: &[&str]) -> (Option<i32>, Value) {
    let args = ["explore", "--format", "json"].iter().chain(args);
    let run = seqz(dir.path(), args);
    (run.code, run.json())
}

/// By harness: the kinds of its failures with their messages' first lines, and what was promised.
fn found(report: &Value) -> BTreeMap<String, (Vec<String>, String)> {
    let harnesses = report["harnesses"].as_array().unwrap().iter();
    harnesses
        .map(|harness| {
            let failures = harness["failures"].as_array().unwrap().iter();
            let mut failures: Vec<_> = failures
                .map(|failure| {
                    let message = failure["message"].as_str().unwrap();
                    let first = message.lines().next().unwrap_or_default();
                    let kind = failure["kind"].as_str().unwrap();
                    if kind == "livelock" {
                        kind.to_owned()
                    } else {
                        first.to_owned()
                    }
                })
                .collect();
            failures.sort();
            let promise = &harness["promise"];
            let reasons = promise["reasons"].as_array().into_iter().flatten();
            let reasons: Vec<_> = reasons.filter_map(Value::as_str).collect();
            // What else a strategy leaves open of time is not the matter here.
            let passing = reasons.iter().find(|it| **it == "passing_time");
            let reason = passing.or(reasons.first()).copied();
            let promise = match promise["truncated"].as_bool() {
                Some(true) => "cut",
                _ => reason.unwrap_or(promise["state"].as_str().unwrap_or_default()),
            };
            let name = harness["name"].as_str().unwrap();
            (name.to_owned(), (failures, promise.to_owned()))
        })
        .collect()
}

/// What is right of the harnesses of `tests/polling/program.rs`.
fn right(harness: &str) -> &'static [&'static str] {
    match harness {
        "counts_and_loses_an_update_after_that" => {
            &["assertion `left == right` failed: lost after the loop"]
        }
        "counts_until_it_gives_up" => &["timed out"],
        "counts_in_what_it_was_lent"
        | "counts_in_a_cell"
        | "counts_in_a_function_that_is_passed_on"
        | "counts_where_it_parses" => &["ten tries"],
        "counts_by_backing_off" => &["backed off too often"],
        "counts_by_spinning_longer_each_time" => &["spun too long"],
        "polls_a_lock_between_two_writes" => &["assertion `left == right` failed: already two"],
        "polls_through_methods" => &["assertion `left == right` failed: ready too early"],
        "polls_two_places" => &[],
        "polls_whether_a_lock_is_poisoned" => &["assertion `left == right` failed", "on purpose"],
        _ if harness.starts_with("polls_") => &["assertion `left == right` failed"],
        _ if harness.starts_with("waits_for_ever") => &["livelock"],
        _ => &[],
    }
}

const PROGRAM: &str = include_str!("polling/program.rs");

#[test]
fn loops_that_wait_end_and_those_that_count_are_run() {
    let dir = package(PROGRAM);
    let strategies = [
        ("odpor", "exhausted"),
        ("dpor", "exhausted"),
        ("lazy-dpor", "exhausted_lazily"),
        ("hbr-cache", "exhausted"),
        ("mcr", "exhausted_by_values"),
        ("pct", "sampled"),
    ];
    for (strategy, promise) in strategies {
        let args = [
            "--strategy",
            strategy,
            "--max-steps",
            "300",
            "--max-executions",
            "3000",
        ];
        let (code, report) = explore(&dir, &args);
        assert_eq!(code, Some(1), "{strategy}: {report:#}");
        let all = found(&report);
        assert_eq!(all.len(), 40, "{strategy}");
        for (name, (failures, promised)) in &all {
            // Who else has a lock for a while is nothing of the values.
            let open = ["mcr", "lazy-dpor"].contains(&strategy) && name.contains("waiting_with");
            if promise == "sampled" || name == "writes_while_it_polls" || open {
                let right: Vec<_> = right(name).iter().map(|it| (*it).to_owned()).collect();
                assert!(
                    failures.is_empty() || *failures == right,
                    "{strategy}: {name}: {failures:?}"
                );
                continue;
            }
            // Who looks at a clock twice sees how long the others take.
            let promise = if name.ends_with("after_it_has_looked_at_a_clock") {
                "passing_time"
            } else {
                promise
            };
            assert_eq!(failures, right(name), "{strategy}: {name}");
            assert_eq!(promised, promise, "{strategy}: {name}");
        }
        let (_, promised) = &all["writes_while_it_polls"];
        assert!(
            ["cut", "sampled", "execution_limit", "step_bound"].contains(&promised.as_str()),
            "{strategy}: {promised}"
        );
    }
}

#[test]
fn what_handles_tell_may_be_waited_for() {
    let dir = package(include_str!("polling/handles.rs"));
    for (strategy, promise) in [
        ("odpor", "exhausted"),
        ("dpor", "exhausted"),
        ("dfs", "exhausted"),
        ("surw", "sampled"),
    ] {
        let args = ["--strategy", strategy, "--max-steps", "300"];
        let (code, report) = explore(&dir, &args);
        assert_eq!(code, Some(1), "{strategy}: {report:#}");
        let all = found(&report);
        assert_eq!(all.len(), 13, "{strategy}");
        for (name, (failures, promised)) in &all {
            if name == "both_try_for_ever" {
                assert!(failures.is_empty(), "{strategy}: {failures:?}");
                assert!(
                    promised == "cut" || promise == "sampled",
                    "{strategy}: {promised}"
                );
                continue;
            }
            assert_eq!(failures, right(name), "{strategy}: {name}");
            assert_eq!(promised, promise, "{strategy}: {name}");
        }
    }
}

#[test]
fn a_search_over_values_waits_for_what_is_taken_back() {
    let dir = package(include_str!("polling/taken_back.rs"));
    for (strategy, promise) in [
        ("mcr", "exhausted_by_values"),
        ("rv-causal", "exhausted_by_values"),
        ("lazy-dpor", "exhausted_lazily"),
        ("odpor", "exhausted"),
    ] {
        let (_, report) = explore(&dir, &["--strategy", strategy, "--max-steps", "300"]);
        let all = found(&report);
        assert_eq!(all.len(), 4, "{strategy}");
        for (name, (failures, promised)) in &all {
            assert_eq!(failures, right(name), "{strategy}: {name}");
            // Whether somebody notices a turn is no function of what its thread observes: then nothing is promised.
            let may_be_noticed = name == "polls_while_another_thread_uses_it";
            let is_open = may_be_noticed && promise == "exhausted_by_values";
            assert!(
                promised == promise || is_open && promised == "not_followed",
                "{strategy}: {name}: {promised}"
            );
        }
    }
}

#[test]
fn time_passes_where_all_wait() {
    let dir = package(include_str!("polling/deadlines.rs"));
    let strategies = [
        "odpor",
        "dfs",
        "hbr-cache",
        "icb+dpor",
        "mcr",
        "random",
        "icb",
    ];
    for strategy in strategies {
        let args = ["--strategy", strategy, "--max-executions", "2000"];
        let (code, report) = explore(&dir, &args);
        assert_eq!(code, Some(1), "{strategy}: {report:#}");
        let all = found(&report);
        assert_eq!(all.len(), 10, "{strategy}");
        for (name, (failures, promised)) in &all {
            let right: &[&str] = match name.as_str() {
                _ if name.starts_with("polls_") => &["assertion `left == right` failed"],
                _ if name.starts_with("too_late_") => &["timed out"],
                _ => &[],
            };
            assert_eq!(failures, right, "{strategy}: {name}");
            // Others may be late, and that was not tried.
            let expected = if strategy == "random" {
                "sampled"
            } else {
                "passing_time"
            };
            assert_eq!(promised, expected, "{strategy}: {name}");
        }
    }
}

#[test]
fn what_comes_after_a_time_is_run() {
    let dir = package(include_str!("polling/times.rs"));
    for strategy in [
        "odpor",
        "dfs",
        "lazy-dpor",
        "hbr-cache",
        "mcr",
        "icb",
        "pct",
        "hapset",
    ] {
        let args = ["--strategy", strategy, "--max-executions", "30"];
        let (code, report) = explore(&dir, &args);
        assert_eq!(code, Some(1), "{strategy}: {report:#}");
        let all = found(&report);
        assert_eq!(all.len(), 13, "{strategy}");
        for (name, (failures, promised)) in &all {
            let right: &[&str] = match name.as_str() {
                _ if name.starts_with("over_for_an_inner") => &["over"],
                _ if name.starts_with("over_") => &["assertion `left == right` failed: over"],
                _ if name.starts_with("waits_for_ever_") => &["livelock"],
                _ => &[],
            };
            assert_eq!(failures, right, "{strategy}: {name}");
            if !name.starts_with("waits_for_ever_") {
                let open = ["passing_time", "sampled"];
                assert!(
                    open.contains(&promised.as_str()),
                    "{strategy}: {name}: {promised}"
                );
            }
        }
    }
}

/// What is right of a harness of `tests/polling/limits.rs`: a message, and whether it fails each time, or where others are late.
fn right_of_limit(harness: &str) -> (&'static str, bool) {
    match harness {
        _ if harness.starts_with("one_round_") => ("one round", true),
        "sleeps_take_their_time" => ("it slept too short", true),
        "nobody_else_ends_it" => ("timed out", true),
        "late_while_it_counts" => ("a fast machine", false),
        _ if harness.starts_with("late_") => ("late", false),
        _ => ("", false),
    }
}

#[test]
fn sleeps_in_loops_take_their_time_and_others_may_be_late() {
    let dir = package(include_str!("polling/limits.rs"));
    for strategy in ["odpor", "dpor", "dfs", "mcr", "lazy-dpor", "icb", "pct"] {
        let args = ["--strategy", strategy, "--max-executions", "1500"];
        let (code, report) = explore(&dir, &args);
        assert_eq!(code, Some(1), "{strategy}: {report:#}");
        let all = found(&report);
        assert_eq!(all.len(), 19, "{strategy}");
        for (name, (failures, promised)) in &all {
            let (message, always) = right_of_limit(name);
            let is_found = failures == &[message];
            assert!(
                is_found || failures.is_empty() && !always,
                "{strategy}: {name}: {failures:?}"
            );
            let beside = [
                "fine_to_do_nothing_for_a_while",
                "fine_once_the_other_one_has_had_its_turn",
            ];
            if beside.contains(&name.as_str()) && strategy != "pct" {
                assert_eq!(promised, "passing_time", "{strategy}: {name}");
            } else if name.starts_with("late_") || name.starts_with("longer_") {
                let open = ["passing_time", "sampled", "execution_limit"];
                assert!(
                    is_found || open.contains(&promised.as_str()),
                    "{strategy}: {name}: {promised}"
                );
            } else {
                assert_ne!(promised, "passing_time", "{strategy}: {name}");
            }
            assert_ne!(promised, "cut", "{strategy}: {name}");
        }
    }
}

#[test]
fn the_sequential_program_waits_for_a_time_too() {
    let dir = package(include_str!("polling/deadlines.rs"));
    for (harness, code) in [
        // The other one may be late, which is not tried.
        ("in_time_by_what_has_elapsed", 4),
        ("in_time_by_a_deadline", 4),
        ("in_time_by_the_date", 4),
        ("in_time_by_what_is_left", 4),
        ("polls_until_a_deadline", 1),
        ("polls_a_lock_until_a_deadline", 1),
        // Nothing is found, and nothing promised.
        ("too_late_for_nobody", 4),
        ("too_late_for_who_waits_for_the_end", 1),
        ("too_late_for_both", 4),
    ] {
        let args = [
            "check",
            "--no-explore",
            "--require-exhausted",
            "--harness",
            harness,
        ];
        let run = seqz(dir.path(), args);
        assert_eq!(run.code, Some(code), "{harness}: {}", run.shown());
    }
}

#[test]
fn who_goes_round_for_ever_keeps_nobody_from_anything() {
    let dir = package(include_str!("polling/endless.rs"));
    for (strategy, promise) in [
        ("odpor", "exhausted"),
        ("dfs", "exhausted"),
        ("dpor", "exhausted"),
        ("mcr", "exhausted_by_values"),
        ("icb", "exhausted"),
        ("random", "sampled"),
    ] {
        let args = ["--strategy", strategy, "--max-executions", "200"];
        let (_, report) = explore(&dir, &args);
        let all = found(&report);
        assert_eq!(all.len(), 5, "{strategy}");
        for (name, (failures, promised)) in &all {
            let right: &[&str] = match name.as_str() {
                "may_fail_beside_it" => &["assertion `left == right` failed: it was first"],
                _ if name.starts_with("waits_for_ever") => &["livelock"],
                _ => &[],
            };
            assert_eq!(failures, right, "{strategy}: {name}");
            assert_eq!(promised, promise, "{strategy}: {name}");
        }
    }
    // That a thread waits for ever for one that goes round is found by the exploration that follows.
    let report = seqz(dir.path(), ["check", "--format", "json"]).json();
    for harness in report["harnesses"].as_array().unwrap() {
        let has_bug = harness["bugs"].as_array().is_some_and(|it| !it.is_empty());
        assert_eq!(
            has_bug,
            harness["name"] == "may_fail_beside_it",
            "{harness:#}"
        );
    }
}

/// Each fails in every execution: the limit is over long before the other thread has slept.
const LATE: &str = r#"
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(5);

/// Sets the flag much later, and looks meanwhile what has become of that.
fn sets_late(wait: impl FnOnce(&AtomicBool)) {
    let flag = Arc::new(AtomicBool::new(false));
    let same = flag.clone();
    let setter = thread::spawn(move || {
        thread::sleep(10 * LIMIT);
        same.store(true, SeqCst);
    });
    wait(&flag);
    assert!(flag.load(SeqCst), "too late");
    setter.join().unwrap();
}

#[test]
fn with_sleeps() {
    sets_late(|flag| {
        let end = Instant::now() + LIMIT;
        while !flag.load(SeqCst) && Instant::now() < end {
            thread::sleep(LIMIT / 5);
        }
    });
}

#[test]
fn with_turns_for_others() {
    sets_late(|flag| {
        let end = Instant::now() + LIMIT;
        while !flag.load(SeqCst) && Instant::now() < end {
            thread::yield_now();
        }
    });
}

#[test]
fn with_the_time_that_has_passed() {
    sets_late(|flag| {
        let start = Instant::now();
        loop {
            if flag.load(SeqCst) || start.elapsed() > LIMIT {
                break;
            }
            thread::sleep(LIMIT / 5);
        }
    });
}
"#;

#[test]
fn a_time_limit_is_over_while_another_thread_sleeps() {
    let dir = package(LATE);
    for strategy in [
        "odpor",
        "dfs",
        "icb",
        "hbr-cache",
        "lazy-dpor",
        "mcr",
        "random",
    ] {
        let (code, report) = explore(&dir, &["--strategy", strategy]);
        assert_eq!(code, Some(1), "{strategy}: {report:#}");
        let found = found(&report);
        assert_eq!(found.len(), 3);
        for (name, (failures, promise)) in found {
            assert_eq!(failures, ["too late"], "{strategy}: {name}");
            let is_open = ["passing_time", "sampled"].contains(&promise.as_str());
            assert!(is_open, "{strategy}: {name}: {promise}");
        }
        let file = newest_finding(dir.path(), &report);
        let again = seqz(dir.path(), ["replay".as_ref(), file.as_os_str()]);
        let is_same = again.stdout.contains("as it did when it was found");
        assert!(is_same, "{strategy}: {}", again.shown());
    }
    // What a check does not come to, the exploration after it does.
    let run = seqz(dir.path(), ["check", "--format", "json"]);
    assert_eq!(run.code, Some(1), "{}", run.shown());
}
