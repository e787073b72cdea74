//! Programs as people write them, each of a kind that is easily judged wrongly; the kinds are the files of `tests/ordinary`.
//! What is right of a harness is in its name, and an assertion that says "never" holds in all executions. What has to be said
//! of it besides is in a line above it: who refuses it and with which words, or what of it is not followed.

mod support;

use serde_json::Value;
use support::{package, seqz};

/// A kind of programs.
struct Kind {
    name: &'static str,
    source: &'static str,
}

macro_rules! kinds {
    ($($name:literal)*) => {
        [$(Kind { name: $name, source: include_str!(concat!("ordinary/", $name, ".rs")) }),*]
    };
}

/// What executions of a harness come to.
#[derive(Debug)]
enum Right {
    Passes,
    /// So many different failures of the test.
    Fails(usize),
    Deadlocks,
    /// In so many places.
    Livelocks(usize),
    /// Whatever is found, nothing is promised.
    IsNamed,
}

/// What has to be said of it.
#[derive(Debug)]
enum Said<'s> {
    /// By `check` alone: why it is not for it.
    NotForCheck(&'s str),
    /// By all: why it is refused.
    Refused(&'s str),
    /// By all: what they do not follow, or have not tried.
    NotFollowed(&'s str),
    /// By those that run schedules: what they have not tried.
    Open(&'s str),
    /// By `check` alone: what it can't know.
    Doubtful(&'s str),
}

#[derive(Debug)]
struct Harness<'s> {
    kind: &'s str,
    name: String,
    right: Right,
    said: Option<Said<'s>>,
}

fn right(name: &str) -> Right {
    let number = if name.contains("s_twice_") { 2 } else { 1 };
    match name.split('_').next().unwrap() {
        "passes" => Right::Passes,
        "fails" => Right::Fails(number),
        "deadlocks" => Right::Deadlocks,
        "livelocks" => Right::Livelocks(number),
        "named" => Right::IsNamed,
        _ => panic!("{name} says nothing"),
    }
}

/// The harnesses of a kind.
fn harnesses(kind: &Kind) -> Vec<Harness<'static>> {
    let mut said = None;
    let mut is_test = false;
    let mut all = Vec::new();
    for line in kind.source.lines() {
        let note = line.strip_prefix("// ").and_then(|it| it.split_once(": "));
        match note {
            Some(("not for `check`", why)) => said = Some(Said::NotForCheck(why)),
            Some(("refused", why)) => said = Some(Said::Refused(why)),
            Some(("not followed" | "not tried", what)) => said = Some(Said::NotFollowed(what)),
            Some(("open", what)) => said = Some(Said::Open(what)),
            Some(("doubtful for `check`", what)) => said = Some(Said::Doubtful(what)),
            _ => {}
        }
        is_test |= line == "#[test]";
        if is_test && let Some(rest) = line.strip_prefix("fn ") {
            is_test = false;
            let (name, _) = rest.split_once('(').unwrap();
            all.push(Harness {
                kind: kind.name,
                name: format!("{}::{name}", kind.name),
                right: right(name),
                said: said.take(),
            });
        }
    }
    all
}

/// Why a search over values may leave something open in a harness of this kind: it is said, and nobody promises it.
fn open_by_values(kind: &str) -> &'static [&'static str] {
    match kind {
        "readers" => &["behind a writer that waits"],
        "clocks" => &["what a thread sees of time"],
        "counts" => &["did not follow schedules"],
        "spins" => &["cut where threads wait"],
        "helpers" | "waiting" => &["cut where threads wait", "did not follow schedules"],
        _ => &[],
    }
}

fn judge(way: &[&str], harness: &Harness<'_>, report: &Value) {
    let is_check = way[0] == "check";
    let state = report["status"]["state"].as_str().unwrap();
    let verdict = report["verdict"].as_str().unwrap_or_default();
    let refusal = match harness.said {
        Some(Said::NotForCheck(why)) if is_check => Some(why),
        Some(Said::Refused(why)) => Some(why),
        _ => None,
    };
    let found = &report[if is_check { "bugs" } else { "failures" }];
    let found = found.as_array().map_or(&[][..], Vec::as_slice);
    if let Some(why) = refusal {
        assert_eq!(state, "unsupported");
        let reason = report["status"]["reason"].as_str().unwrap();
        assert!(reason.contains(why), "{reason}");
        assert!(!verdict.contains("exhausted: ") || verdict.contains("not exhausted"));
        assert!(found.is_empty());
        return;
    }
    // Without anything that two threads do side by side there is one order.
    assert!(
        state == "checked" || state == "no_interference" && matches!(harness.right, Right::Passes)
    );
    let message = |failure: &Value| failure["message"].as_str().unwrap_or_default().to_owned();
    let never = found.iter().map(message).find(|it| it.contains("never"));
    assert_eq!(never, None);
    let are = |kinds: &[&str], number: usize| {
        found.len() == number
            && found
                .iter()
                .all(|it| kinds.contains(&it["kind"].as_str().unwrap()))
    };
    let is_doubtful = is_check && matches!(harness.said, Some(Said::Doubtful(_)));
    assert!(match harness.right {
        // What comes of another value is not found.
        Right::Fails(_) if is_doubtful => are(&["assertion"], found.len()),
        Right::Passes => found.is_empty(),
        Right::Fails(number) => are(&["assertion", "panic", "result"], number),
        Right::Deadlocks => are(&["deadlock"], 1),
        // The exploration that follows finds these.
        Right::Livelocks(_) if is_check => found.is_empty(),
        Right::Livelocks(number) => are(&["livelock"], number),
        Right::IsNamed => true,
    });
    let open = match harness.said {
        Some(Said::NotFollowed(what)) => Some(what),
        Some(Said::Open(what)) if !is_check => Some(what),
        Some(Said::Doubtful(what)) if is_check => Some(what),
        _ => None,
    };
    if let Some(what) = open {
        assert!(verdict.contains("not exhausted") && verdict.contains(what));
        return;
    }
    let is_whole = verdict.contains("exhausted: ") && !verdict.contains("not exhausted");
    let open = open_by_values(harness.kind).iter();
    let is_open = way.contains(&"mcr") && open.clone().any(|why| verdict.contains(why));
    let may_livelock = is_check && matches!(harness.right, Right::Livelocks(_));
    assert!(is_whole || is_open || may_livelock && verdict.contains("where threads wait"));
    // What threads that see each other come to is beyond every k; here only one of them sees what the other does.
    assert!(!may_livelock || !is_whole || harness.kind != "deserted");
    for bug in found.iter().filter(|_| is_check) {
        assert_eq!(bug["confirmation"]["state"], "confirmed");
        // At most both threads see the other's lock, and nothing that it has written there.
        assert!(harness.kind != "unchanged" || bug["k"].as_u64().unwrap() <= 2);
    }
}

/// Judges the programs of these kinds, in one crate.
fn are_judged_rightly(kinds: &[Kind]) {
    let modules = kinds
        .iter()
        .map(|kind| format!("pub mod {} {{\n{}\n}}\n", kind.name, kind.source));
    let dir = package(&modules.collect::<String>());
    let all: Vec<_> = kinds.iter().flat_map(harnesses).collect();
    let ways: [&[&str]; 3] = [
        &["explore"],
        &["explore", "--strategy", "mcr"],
        &["check", "--no-explore"],
    ];
    for way in ways {
        let run = seqz(dir.path(), way.iter().chain(&["--format", "json"]));
        let report = run.json();
        let reports = report["harnesses"].as_array().unwrap();
        assert_eq!(reports.len(), all.len());
        let mut wrong = Vec::new();
        for harness in &all {
            let of = reports.iter().find(|it| it["name"] == *harness.name);
            let of = of.unwrap_or_else(|| panic!("{} is missing", harness.name));
            if std::panic::catch_unwind(|| judge(way, harness, of)).is_err() {
                let found = [&of["bugs"], &of["failures"], &of["status"]["reason"]];
                wrong.push(format!("{harness:?}: {} {found:?}", of["verdict"]));
            }
        }
        assert!(wrong.is_empty(), "{way:?}: {wrong:#?}");
    }
    // `check` goes on with schedules, where it has found nothing.
    for harness in &all {
        let Right::Livelocks(number) = harness.right else {
            continue;
        };
        if !matches!(harness.said, Some(Said::NotForCheck(_))) {
            let args = ["check", "--format", "json", "--harness", &harness.name];
            let run = seqz(dir.path(), args);
            assert_eq!(run.code, Some(1), "{}", run.shown());
            let found = run.json()["explored"]["harnesses"][0]["failures"].take();
            let found = found.as_array().unwrap();
            assert_eq!(found.len(), number, "{harness:?}: {found:#?}");
            assert!(
                found.iter().all(|it| it["kind"] == "livelock"),
                "{harness:?}"
            );
        }
    }
}

#[test]
fn plain_ones() {
    are_judged_rightly(&kinds!("anew" "bounded" "clocks" "readers" "unchanged"));
}

#[test]
fn those_with_panics_and_destructors() {
    are_judged_rightly(&kinds!("locals" "panics" "poison"));
}

#[test]
fn those_with_destructors_of_values() {
    are_judged_rightly(&kinds!("tokens"));
}

#[test]
fn those_that_wait() {
    are_judged_rightly(&kinds!("waiting"));
}

#[test]
fn those_that_wait_for_what_they_are_given() {
    are_judged_rightly(&kinds!("helpers"));
}

#[test]
fn those_that_are_left_waiting() {
    are_judged_rightly(&kinds!("deserted"));
}

#[test]
fn those_that_own_what_they_share_or_forget_it() {
    are_judged_rightly(&kinds!("forgotten" "owners"));
}

#[test]
fn those_whose_results_nobody_takes() {
    are_judged_rightly(&kinds!("results"));
}

#[test]
fn those_whose_values_are_more_than_they_show() {
    are_judged_rightly(&kinds!("addresses" "cells" "clones" "looks"));
}

#[test]
fn those_that_spin() {
    are_judged_rightly(&kinds!("spins"));
}

#[test]
fn those_with_handles_and_pointers() {
    are_judged_rightly(&kinds!("counts" "hidden"));
}
