//! `examples/suites.toml`, held against the programs that it names and against what it says of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::Value;

fn examples() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples"))
}

fn read(file: &str) -> Value {
    let source = std::fs::read_to_string(examples().join(file)).unwrap();
    toml::from_str(&source).unwrap()
}

fn text<'a>(table: &'a Value, key: &str) -> &'a str {
    let text = table.get(key).and_then(Value::as_str);
    text.unwrap_or_else(|| panic!("{key} in {table}"))
}

/// Every harness that is known, and whether it is known to be clean.
fn known() -> BTreeMap<(String, String), bool> {
    let expected = read("expected.toml");
    let all = expected["harness"].as_array().unwrap().iter();
    all.map(|harness| {
        let file = text(harness, "file").to_owned();
        let bugs = harness.get("bug").is_some()
            || harness
                .get("explore")
                .is_some_and(|explore| explore.get("bug").is_some());
        ((file, text(harness, "name").to_owned()), !bugs)
    })
    .collect()
}

#[test]
fn every_program_has_a_known_bug_and_a_clean_twin() {
    let known = known();
    let suites = read("suites.toml");
    let mut met = BTreeSet::new();
    for program in suites["program"].as_array().unwrap() {
        let (file, harness) = (text(program, "file"), text(program, "harness"));
        let of = |file: String| known.get(&(file, harness.to_owned())).copied();
        assert_eq!(of(file.to_owned()), Some(false), "{file} {harness}");
        let twin = format!("fixed/{file}");
        assert_eq!(of(twin.clone()), Some(true), "{twin} {harness}");
        let suite = text(program, "suite");
        assert!(suites["suite"].get(suite).is_some(), "{suite}");
        let name = text(program, "name");
        assert!(met.insert((suite, name)), "{name} is twice in {suite}");
    }
    let with_programs: BTreeSet<_> = met.iter().map(|(suite, _)| *suite).collect();
    let all = suites["suite"].as_table().unwrap();
    assert_eq!(with_programs, all.keys().map(String::as_str).collect());
}

#[test]
fn every_figure_says_what_it_is() {
    const KEYS: &[&str] = &[
        "table",
        "file",
        "goal",
        "method",
        "bound",
        "k",
        "bugs",
        "k_max",
        "executions",
        "seconds",
        "ended",
        "races",
        "nulls",
    ];
    let suites = read("suites.toml");
    let mut figures = 0;
    for program in suites["program"].as_array().unwrap() {
        let methods = suites["suite"][text(program, "suite")]["methods"].as_array();
        for figure in program
            .get("figures")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let table = figure.as_table().unwrap();
            assert!(
                table.keys().all(|key| KEYS.contains(&key.as_str())),
                "{figure}"
            );
            let number = table.get("table").and_then(Value::as_integer);
            assert!(
                number.is_some_and(|table| table > 0) != table.contains_key("file"),
                "{figure}"
            );
            assert!(
                matches!(text(figure, "goal"), "bug" | "exhaust"),
                "{figure}"
            );
            assert!(methods.unwrap().contains(&table["method"]), "{figure}");
            if let Some(ended) = figure.get("ended") {
                let ends = ["bug", "exhausted", "missed", "timeout", "memory"];
                assert!(ends.contains(&ended.as_str().unwrap()), "{figure}");
            }
            let measured = ["ended", "bugs", "seconds"];
            assert!(
                measured.iter().any(|key| table.contains_key(*key)),
                "{figure}"
            );
            figures += 1;
        }
    }
    assert!(figures >= 200, "only {figures} figures");
}
