//! Counts of the handles of shared values, and who drops the last one: all outcomes are seen, by all strategies.

mod support;

use std::collections::BTreeMap;

use serde_json::Value;
use support::{package, seqz};

/// Tests that fail in one outcome, and tests that hold in each.
const PROGRAM: &str = include_str!("handles/program.rs");

/// What `explore` or `check` says of each harness: how it came to its end, and whether it fails.
fn outcomes(report: &Value, failures: &str) -> BTreeMap<String, (String, bool)> {
    let harnesses = report["harnesses"].as_array().unwrap();
    let outcome = |harness: &Value| {
        let state = harness["promise"]["state"].as_str();
        let state = state.or_else(|| harness["status"]["state"].as_str());
        let fails = harness[failures]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        (state.unwrap_or_default().to_owned(), fails)
    };
    harnesses
        .iter()
        .map(|harness| {
            (
                harness["name"].as_str().unwrap().to_owned(),
                outcome(harness),
            )
        })
        .collect()
}

/// By name: a harness that can fail is called so.
fn can_fail(name: &str) -> bool {
    name.starts_with("may_")
}

#[test]
fn all_outcomes_are_seen_by_all_strategies() {
    let dir = package(PROGRAM);
    for (strategy, promise) in [
        ("odpor", "exhausted"),
        ("dpor", "exhausted"),
        ("dfs", "exhausted"),
        ("icb+dpor", "exhausted"),
        ("hbr-cache", "exhausted"),
        ("lazy-dpor", "exhausted_lazily"),
        ("lazy-hbr", "exhausted_lazily"),
        ("mcr", "exhausted_by_values"),
        ("rv-causal", "exhausted_by_values"),
    ] {
        let args = ["explore", "--format", "json", "--strategy", strategy];
        let run = seqz(dir.path(), args);
        let seen = outcomes(&run.json(), "failures");
        assert_eq!(seen.len(), PROGRAM.matches("#[test]").count(), "{strategy}");
        for (name, (state, fails)) in seen {
            assert_eq!(fails, can_fail(&name), "{strategy}: {name}");
            assert_eq!(state, promise, "{strategy}: {name}");
        }
    }
}

#[test]
fn the_sequential_program_answers_what_is_certain() {
    let dir = package(PROGRAM);
    let run = seqz(dir.path(), ["check", "--format", "json"]);
    let report = run.json();
    for harness in report["harnesses"].as_array().unwrap() {
        let name = harness["name"].as_str().unwrap();
        let state = harness["status"]["state"].as_str().unwrap();
        let has_bug = harness["bugs"]
            .as_array()
            .is_some_and(|bugs| !bugs.is_empty());
        // What depends on the interleaving is not answered, and nothing is promised of it; a bug may be found before.
        let is_answered = name.contains("certain");
        assert!(
            state == "checked" && (is_answered || has_bug)
                || state == "unsupported" && !is_answered,
            "{name}: {harness:#}"
        );
        // Also where it is the end of a handle, which has no place of its own.
        let place = &harness["status"]["site"]["file"];
        assert!(
            has_bug || (place == "src/lib.rs") == (state == "unsupported"),
            "{name}: {harness:#}"
        );
        assert!(!has_bug || can_fail(name), "{name}: {harness:#}");
    }
}
