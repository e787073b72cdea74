//! What `unsafe` code does with memory is checked in each execution of `explore`: accesses that nothing orders, memory
//! that is used after its end, memory that is given back twice.

mod support;

use serde_json::Value;
use support::{package, seqz};

const PROGRAMS: &str = include_str!("raw/programs.rs");
const SPIN: &str = include_str!("raw/spin.rs");

/// The kind of the failures that a harness has, as its name says.
fn wanted(name: &str) -> Option<&'static str> {
    match name.split('_').next()? {
        "races" => Some("data_race"),
        "used" => Some("use_after_free"),
        "freed" => Some("invalid_free"),
        "passes" => None,
        other => panic!("{other}"),
    }
}

/// The lines of a program on which a failure is, or what its threads did before.
fn lines(failure: &Value) -> Vec<u64> {
    let waiting = failure["waiting"].as_array().unwrap();
    let sites = waiting.iter().map(|it| &it["site"]);
    sites.filter_map(|site| site["line"].as_u64()).collect()
}

fn judged(program: &str, strategy: &str) {
    let tests = program.matches("#[test]").count();
    let program = package(program);
    let args = ["explore", "--strategy", strategy, "--format", "json"];
    let run = seqz(program.path(), args);
    let document = run.json();
    let harnesses = document["harnesses"].as_array().unwrap();
    assert_eq!(harnesses.len(), tests, "{}", run.shown());
    for harness in harnesses {
        let name = harness["name"].as_str().unwrap();
        assert_eq!(harness["status"]["state"], "checked", "{harness:#}");
        let failures = harness["failures"].as_array().unwrap();
        let kinds: Vec<&str> = failures
            .iter()
            .map(|failure| failure["kind"].as_str().unwrap())
            .collect();
        match wanted(name) {
            None => assert!(kinds.is_empty(), "{name}: {failures:#?}"),
            Some(wanted) => {
                assert!(kinds.contains(&wanted), "{name}: {kinds:?}");
                // What happens after a fault may be anything, but a fault has two sides.
                for failure in failures.iter().filter(|it| it["kind"] == wanted) {
                    assert!(lines(failure).len() >= 2, "{name}: {failure:#}");
                }
            }
        }
    }
}

#[test]
fn each_fault_is_found_and_no_other() {
    judged(PROGRAMS, "odpor");
}

#[test]
fn guards_that_lead_to_memory_are_no_races_by_themselves() {
    judged(SPIN, "odpor");
    judged(SPIN, "dfs");
}
