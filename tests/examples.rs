//! The programs in `examples/`, held against what is known of their bugs.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use seqz::model::document::Role;
use serde_json::Value;
use support::{command, newest_finding, run};

/// One bug, as `expected.toml` and the report both can say it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Known {
    harness: String,
    kind: String,
    file: String,
    line: u64,
    k: u64,
    role: String,
}

fn examples() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples"))
}

fn text<'a>(table: &'a toml::Value, key: &str) -> Option<&'a str> {
    table.get(key).and_then(toml::Value::as_str)
}

fn number(table: &toml::Value, key: &str) -> u64 {
    let number = table
        .get(key)
        .and_then(toml::Value::as_integer)
        .unwrap_or_else(|| panic!("{key} in {table}"));
    number.try_into().unwrap()
}

/// A bug, part of its message, and for a deadlock the other line where a thread waits, if it is another one.
struct Bug {
    known: Known,
    message: Option<String>,
    other: Option<u64>,
}

/// A file's bugs and harnesses, as they are known to be, but for harnesses that `check` refuses.
#[derive(Default)]
struct Expected {
    harnesses: BTreeSet<String>,
    /// `--input` for those that `check` would have to sample.
    told: BTreeSet<String>,
    /// Those in which more than two threads run at once.
    several: BTreeSet<String>,
    /// Whether there are others.
    refused: bool,
    bugs: Vec<Bug>,
}

fn expected() -> BTreeMap<String, Expected> {
    let source = std::fs::read_to_string(examples().join("expected.toml")).unwrap();
    let table: toml::Value = toml::from_str(&source).unwrap();
    let mut files: BTreeMap<String, Expected> = BTreeMap::new();
    for harness in table["harness"].as_array().unwrap() {
        let file = text(harness, "file").unwrap();
        let name = text(harness, "name").unwrap();
        // Threads that wake each other, and very many of them, are for `seqz explore`.
        let threads = harness.get("threads").and_then(toml::Value::as_integer);
        let waits = harness.get("waits").and_then(toml::Value::as_bool);
        let expected = files.entry(file.to_owned()).or_default();
        if threads.is_some_and(|threads| threads > 9) || waits == Some(true) {
            expected.refused = true;
            continue;
        }
        expected.harnesses.insert(name.to_owned());
        if threads.is_some_and(|threads| threads > 2) {
            expected.several.insert(name.to_owned());
        }
        let told = harness.get("told").and_then(toml::Value::as_table);
        let told = told.into_iter().flatten();
        expected
            .told
            .extend(told.map(|(name, value)| match value.as_str() {
                Some(values) => format!("{name}={values}"),
                None => format!("{name}={value}"),
            }));
        let bugs = harness.get("bug").and_then(toml::Value::as_array);
        for bug in bugs.into_iter().flatten() {
            let known = Known {
                harness: name.to_owned(),
                kind: text(bug, "kind").unwrap().to_owned(),
                file: text(bug, "file")
                    .map_or_else(|| file.to_owned(), |inner| format!("{file}/{inner}")),
                line: number(bug, "line"),
                k: number(bug, "k"),
                role: text(bug, "role").unwrap().to_owned(),
            };
            expected.bugs.push(Bug {
                known,
                message: text(bug, "message").map(str::to_owned),
                other: bug.get("other").map(|_| number(bug, "other")),
            });
        }
    }
    files.retain(|_, expected| !expected.harnesses.is_empty());
    files
}

/// The number of the thread that has this role.
fn of_role(role: &str) -> u8 {
    let role: Role = serde_json::from_value(role.into()).unwrap();
    role.0
}

/// What the report says of the same.
fn reported(report: &Value) -> Vec<(Known, String)> {
    let mut bugs = Vec::new();
    for harness in report["harnesses"].as_array().unwrap() {
        for bug in harness["bugs"].as_array().unwrap() {
            let kind = match bug["kind"].as_str().unwrap() {
                "assertion" | "arithmetic" | "index" => "panic",
                "data_race" => "race",
                kind => kind,
            };
            let also = bug["also_found"].as_array().unwrap();
            let also = also.iter().filter(|also| also["k"] == bug["k"]);
            let mut roles: Vec<_> = also.map(|also| &also["under_test"]).collect();
            roles.push(&bug["under_test"]);
            roles.sort_by_key(|role| role.as_str().map(of_role));
            let all = harness["threads"].as_array().unwrap().len();
            let role = match roles.len() {
                2 if all == 2 => "both".to_owned(),
                n if n == all => "all".to_owned(),
                _ => {
                    let roles = roles.iter().filter_map(|role| role.as_str());
                    roles.collect::<Vec<_>>().join(", ")
                }
            };
            let known = Known {
                harness: harness["name"].as_str().unwrap().to_owned(),
                kind: kind.to_owned(),
                file: bug["site"]["file"].as_str().unwrap_or_default().to_owned(),
                line: bug["site"]["line"].as_u64().unwrap_or_default(),
                k: bug["k"].as_u64().unwrap(),
                role,
            };
            bugs.push((known, bug["message"].as_str().unwrap().to_owned()));
        }
    }
    bugs
}

fn hold(file: &str, expected: &Expected) -> Result<(), String> {
    // Without names, all that are there are held.
    let names = expected.harnesses.iter().filter(|_| expected.refused);
    let run = run(command(examples())
        .args([
            "check",
            "--no-explore",
            "--spurious",
            "0",
            "--format",
            "json",
            "--k-max",
            "3",
        ])
        .args(names.flat_map(|name| ["--harness", name]))
        .args(expected.told.iter().flat_map(|told| ["--input", told]))
        .arg(file));
    if run.code == Some(2) || run.code == Some(3) {
        return Err(run.shown());
    }
    let report = run.json();
    let found = reported(&report);
    let mut known: Vec<_> = expected.bugs.iter().map(|bug| bug.known.clone()).collect();
    let mut met: Vec<_> = found.iter().map(|(known, _)| known.clone()).collect();
    known.sort();
    met.sort();
    if known != met {
        return Err(format!("expected {known:#?}\nfound {met:#?}"));
    }
    for Bug { known, message, .. } in &expected.bugs {
        let said = found.iter().any(|(met, said)| {
            met == known && message.as_ref().is_none_or(|part| said.contains(part))
        });
        if !said {
            return Err(format!("nothing says {message:?} among {found:#?}"));
        }
    }
    let names: BTreeSet<_> = report["harnesses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|h| h["name"].as_str().unwrap().to_owned())
        .collect();
    if names != expected.harnesses {
        return Err(format!(
            "expected harnesses {:?}, found {names:?}",
            expected.harnesses
        ));
    }
    let all = report["harnesses"].as_array().unwrap().iter();
    for harness in all {
        for bug in harness["bugs"].as_array().unwrap() {
            if bug["confirmation"]["state"] != "confirmed" {
                return Err(format!("not confirmed: {bug:#}"));
            }
            let executions: u64 = harness["roles"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|role| role["under_test"] == bug["under_test"])
                .flat_map(|role| role["levels"].as_array().unwrap())
                .map(|level| level["executions"].as_u64().unwrap())
                .sum();
            if bug["count"].as_u64().unwrap() > executions {
                return Err(format!("met in more than all executions: {bug:#}"));
            }
        }
        if harness["faults"] != Value::Array(Vec::new()) {
            return Err(format!("faults: {harness:#}"));
        }
    }
    if report["summary"]["exhausted"] != true {
        return Err(format!("not exhausted: {:#}", report["harnesses"]));
    }
    if run.code != Some(i32::from(!expected.bugs.is_empty())) {
        return Err(format!("exit code {:?}", run.code));
    }
    Ok(())
}

/// What `seqz explore` has to find in a harness.
struct Explored {
    file: String,
    harness: String,
    inputs: Vec<String>,
    /// What else is on the command line.
    options: Vec<String>,
    bug: Option<Failure>,
}

/// The failure that a harness has.
struct Failure {
    kind: String,
    /// Where it shows: for a deadlock, where any of its threads waits.
    lines: Vec<u64>,
    message: Option<String>,
}

fn expected_of_explore() -> Vec<Explored> {
    let source = std::fs::read_to_string(examples().join("expected.toml")).unwrap();
    let table: toml::Value = toml::from_str(&source).unwrap();
    let all = table["harness"].as_array().unwrap().iter();
    all.filter_map(|harness| {
        let explore = harness.get("explore")?;
        let inputs = explore.get("inputs").and_then(toml::Value::as_table);
        let bug = explore.get("bug").map(|bug| Failure {
            kind: text(bug, "kind").unwrap().to_owned(),
            lines: ["line", "other"]
                .into_iter()
                .filter(|key| bug.get(key).is_some())
                .map(|key| number(bug, key))
                .collect(),
            message: text(bug, "message").map(str::to_owned),
        });
        let strategy = text(explore, "strategy").unwrap_or("odpor");
        let executions = explore
            .get("executions")
            .map_or(20_000, |_| number(explore, "executions"));
        let options = [
            "--strategy",
            strategy,
            "--max-executions",
            &executions.to_string(),
        ]
        .map(str::to_owned)
        .into_iter();
        let seed = explore.get("seed").map(|_| number(explore, "seed"));
        let seed = seed.map(|seed| ["--seed".to_owned(), seed.to_string()]);
        Some(Explored {
            file: text(harness, "file").unwrap().to_owned(),
            harness: text(harness, "name").unwrap().to_owned(),
            inputs: inputs
                .into_iter()
                .flatten()
                .map(|(name, value)| format!("{name}={value}"))
                .collect(),
            options: options.chain(seed.into_iter().flatten()).collect(),
            bug,
        })
    })
    .collect()
}

/// Explores as far as a test may, and runs again what is found.
fn hold_explored(expected: &Explored) -> Result<(), String> {
    let inputs = expected.inputs.iter().flat_map(|input| ["--input", input]);
    let explored = run(command(examples())
        .args([
            "explore",
            // What is known of them supposes that everything has a reason.
            "--spurious",
            "0",
            "--format",
            "json",
            "--harness",
            &expected.harness,
        ])
        .args(&expected.options)
        .args(inputs)
        .arg(&expected.file));
    if explored.code != Some(i32::from(expected.bug.is_some())) {
        return Err(explored.shown());
    }
    let report = explored.json();
    let failures = report["harnesses"][0]["failures"].as_array().unwrap();
    let Some(Failure {
        kind,
        lines,
        message,
    }) = &expected.bug
    else {
        return Ok(());
    };
    let met = |failure: &Value| {
        let known = match failure["kind"].as_str().unwrap() {
            "assertion" | "arithmetic" | "index" => "panic",
            "data_race" => "race",
            kind => kind,
        };
        let said = failure["message"].as_str().unwrap();
        known == kind
            && lines.iter().any(|line| failure["site"]["line"] == *line)
            && message
                .as_ref()
                .is_none_or(|message| said.contains(message))
    };
    let all_met = !failures.is_empty() && failures.iter().all(met);
    if !all_met || failures.len() > lines.len() {
        return Err(format!(
            "expected {kind} at line {lines:?}, found {failures:#?}"
        ));
    }
    let file = newest_finding(examples(), &report);
    let replayed = run(command(examples()).arg("replay").arg(&file));
    let again = "as it did when it was found\nsame events in 10 of 10 runs";
    if replayed.code != Some(1) || !replayed.stdout.contains(again) {
        return Err(replayed.shown());
    }
    Ok(())
}

/// A program's findings take the place of those of its search before, so there must be one search at a time.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn explore_finds_what_is_known_and_it_is_there_again() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let failures: Vec<_> = expected_of_explore()
        .iter()
        .filter_map(|expected| {
            let why = hold_explored(expected).err()?;
            Some(format!("{} {}: {why}", expected.file, expected.harness))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_known_bug_is_found_and_nothing_else() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let queue = Mutex::new(expected());
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        // One builds while the other one runs.
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some((file, expected)) = queue.lock().unwrap().pop_first() else {
                        return;
                    };
                    if let Err(why) = hold(&file, &expected) {
                        failures.lock().unwrap().push(format!("{file}: {why}"));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{} programs differ\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

/// Runs every schedule of a file's harnesses, if there are few enough, and holds the coupling of the failing ones against
/// what is known. The answer is how many bugs were held.
fn hold_coupling(file: &str, expected: &Expected) -> Result<usize, String> {
    let mut held = 0;
    for Bug { known, other, .. } in &expected.bugs {
        // What a schedule shows of a race is not where it is about to happen; and schedules are classified for two threads.
        if known.kind == "race" || expected.several.contains(&known.harness) {
            continue;
        }
        let explored = run(command(examples())
            .args(["explore", "--strategy", "dfs", "--format", "json"])
            .args(["--max-executions", "60000", "--harness", &known.harness])
            .args(expected.told.iter().flat_map(|told| ["--input", told]))
            .arg(file));
        if !matches!(explored.code, Some(0 | 1)) {
            return Err(explored.shown());
        }
        let report = explored.json();
        let harness = &report["harnesses"][0];
        if harness["promise"]["state"] != "exhausted" {
            continue;
        }
        let failures = harness["failures"].as_array().unwrap().iter();
        let couplings: Vec<(u64, &str)> = failures
            .filter(|failure| {
                let line = &failure["site"]["line"];
                *line == known.line || other.is_some_and(|other| *line == other)
            })
            .flat_map(|failure| failure["couplings"].as_array().unwrap())
            .map(|coupling| {
                let role = coupling["under_test"].as_str().unwrap();
                (coupling["k"].as_u64().unwrap(), role)
            })
            .collect();
        let least = couplings.iter().map(|(k, _)| *k).min();
        let roles: BTreeSet<_> = couplings
            .iter()
            .filter(|(k, _)| Some(*k) == least)
            .map(|(_, role)| *role)
            .collect();
        let role = match roles.len() {
            2 => "both",
            _ => roles.first().copied().unwrap_or("none"),
        };
        // Two threads that wait for each other are under test in either role, and so is a schedule that shows them.
        let of_both = known.kind == "deadlock" && role == "both";
        if least != Some(known.k) || role != known.role && !of_both {
            return Err(format!(
                "{}: k = {} ({}) is known, schedules say {least:?} ({role})",
                known.harness, known.k, known.role
            ));
        }
        held += 1;
    }
    Ok(held)
}

#[test]
fn schedules_classified_by_coupling_say_what_check_says() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut held = 0;
    let mut failures = Vec::new();
    for (file, expected) in expected() {
        match hold_coupling(&file, &expected) {
            Ok(bugs) => held += bugs,
            Err(why) => failures.push(format!("{file}: {why}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    println!("{held} bugs");
    assert!(held >= 20, "only {held} bugs have few enough schedules");
}
