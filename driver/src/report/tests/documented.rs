//! docs/json.md and the document are the same thing.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::model::document::*;
use crate::model::sample;
use crate::model::schedule::{Action, Confirmation};

const DOCS: &str = include_str!("../../../../docs/json.md");

/// The fields that the tables under a command's heading name.
fn documented(command: &str) -> BTreeSet<String> {
    let section = DOCS
        .split("\n## ")
        .find(|section| section.starts_with(&format!("`{command}`")))
        .unwrap();
    section
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned()))
        .filter(|field| !field.starts_with("site."))
        .collect()
}

/// The fields of a value; a site counts as one.
fn fields(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) if !is_site(value) => {
            for (name, value) in object {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                if !value.is_object() || is_site(value) {
                    found.insert(path.clone());
                }
                fields(value, &path, found);
            }
        }
        Value::Array(list) => {
            for value in list {
                fields(value, &format!("{path}[]"), found);
            }
        }
        _ => {}
    }
}

fn is_site(value: &Value) -> bool {
    value.get("column").is_some()
}

/// A document that has every field.
fn full() -> Report {
    let mut report = sample::report();
    let some = Some(sample::site(1, "x"));
    let mut fault = sample::bug();
    fault.confirmation = Confirmation::Diverged {
        difference: "d".into(),
        schedule: Vec::new(),
    };
    fault.other_thread = Some(Role(2));
    // One that may be a bug's too, so that both are documented.
    report.harnesses[0].bugs.push(fault);
    report.harnesses.push(HarnessReport {
        status: Status::Unsupported {
            reason: "r".into(),
            help: Some("h".into()),
            site: some,
        },
        not_followed: vec![sample::not_followed()],
        reads: None,
        lone: vec![sample::lone()],
        ..sample::harness()
    });
    report
}

#[test]
fn every_field_is_documented_and_every_documented_field_is_there() {
    let mut found = BTreeSet::new();
    fields(&serde_json::to_value(full()).unwrap(), "", &mut found);
    assert_eq!(found, documented("seqz check"));
    let mut found = BTreeSet::new();
    let all = serde_json::to_value(sample::exploration()).unwrap();
    fields(&all, "", &mut found);
    assert_eq!(found, documented("seqz explore"));
}

#[test]
fn every_field_of_a_test_run_is_documented() {
    let mut found = BTreeSet::new();
    let run = crate::report::tested::tests::run();
    fields(&json(&run), "", &mut found);
    assert_eq!(found, documented("seqz test"));
    let tested = DOCS.split("`seqz test`").last().unwrap();
    for tested_as in run.harnesses {
        let outcome = json(tested_as.outcome)["outcome"].to_string();
        assert!(tested.contains(&outcome.replace('"', "`")), "{outcome}");
    }
}

#[test]
fn every_field_of_a_comparison_is_documented() {
    let mut found = BTreeSet::new();
    fields(&json(crate::compare::sample::comparison()), "", &mut found);
    // The four cells of a row have the same fields.
    let cells = ["bug.paper", "exhaust.ours", "exhaust.paper"];
    found.retain(|field| {
        let of = |cell: &&str| field.starts_with(&format!("suites[].rows[].{cell}."));
        !cells.iter().any(of)
    });
    let mut told = documented("seqz compare");
    for cell in [
        "suites[].rows[].bug.ours",
        "suites[].rows[].bug.paper",
        "suites[].rows[].exhaust.ours",
        "suites[].rows[].exhaust.paper",
    ] {
        assert!(told.remove(cell), "{cell}");
    }
    assert_eq!(found, told);
    for ended in crate::compare::document::Ended::ALL {
        let name = json(ended);
        let name = name.as_str().unwrap();
        assert!(DOCS.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn a_site_has_the_documented_fields() {
    let site = serde_json::to_value(sample::site(1, "x")).unwrap();
    let real: BTreeSet<_> = site
        .as_object()
        .unwrap()
        .keys()
        .map(|name| format!("site.{name}"))
        .collect();
    let named: BTreeSet<_> = DOCS
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned()))
        .filter(|field| field.starts_with("site."))
        .collect();
    assert_eq!(real, named);
}

/// The name that a value has in JSON.
fn json(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[test]
fn every_value_is_documented() {
    let row = |field: &str| {
        let start = format!("| `{field}` ");
        DOCS.lines()
            .find(|line| line.starts_with(&start))
            .unwrap_or_default()
            .to_owned()
    };
    let values = |values: &[Value], field: &str| {
        for value in values {
            let name = format!("`{}`", value.as_str().unwrap());
            assert!(
                row(field).contains(&name),
                "{name} is not in the row of {field}"
            );
        }
    };
    values(&Kind::ALL.map(json), "harnesses[].bugs[].kind");
    values(&Op::ALL.map(json), "harnesses[].bugs[].trace[].op");
    values(
        &Reason::ALL.map(json),
        "harnesses[].roles[].levels[].reasons",
    );
    values(
        &Action::ALL.map(json),
        "harnesses[].bugs[].confirmation.schedule[].action",
    );
    values(&[Cut::Interrupted, Cut::TimeLimit].map(json), "cut");
}

#[test]
fn a_document_is_read_back_as_it_was() {
    let report = full();
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
}
