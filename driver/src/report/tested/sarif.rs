//! SARIF 2.1.0 (OASIS), which code scanning services read: a result for each failure, a notification for each harness that
//! could not be tested.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::model::document::{Kind, Site};
use crate::model::tested::{Outcome, TestRun, Tested};
use crate::model::words;

/// Prints the run.
///
/// # Errors
/// Errors of writing to `out`.
pub fn sarif(out: &mut dyn Write, run: &TestRun) -> io::Result<()> {
    let bugs = run.harnesses.iter();
    let bugs: Vec<&Tested> = bugs.filter(|it| it.outcome == Outcome::Bug).collect();
    let kinds = Kind::ALL.iter();
    let kinds: Vec<Kind> = kinds
        .filter(|kind| {
            bugs.iter()
                .any(|it| it.found.iter().any(|found| found.kind == **kind))
        })
        .copied()
        .collect();
    let rules: Vec<Value> = kinds
        .iter()
        .map(|kind| {
            json!({
                "id": kind.key(),
                "shortDescription": { "text": words::heading(*kind, "").0 },
                "defaultConfiguration": { "level": "error" },
            })
        })
        .collect();
    let results = bugs.iter().flat_map(|tested| {
        let kinds = &kinds;
        tested.found.iter().map(move |found| {
            let site = found.site.as_ref().unwrap_or(&tested.site);
            let rule = kinds.iter().position(|kind| *kind == found.kind);
            json!({
                "ruleId": found.kind.key(),
                "ruleIndex": rule,
                "level": "error",
                "message": {
                    "text": format!("{}: {}\n{}", tested.name, found.shown(), found.message),
                },
                "locations": [location(site, Some(&tested.name))],
                "relatedLocations": [location(&tested.site, None)],
                // So that a service knows the failure again when lines move.
                "partialFingerprints": {
                    "seqzFailure/v1": format!("{}/{}/{}", tested.name, found.kind.key(), site.text),
                },
                "properties": { "method": found.method, "k": found.k, "finding": found.finding },
            })
        })
    });
    let results: Vec<Value> = results.collect();
    let untested = run.harnesses.iter().filter_map(|tested| {
        let (level, text) = match &tested.outcome {
            Outcome::Unsupported { reason } => ("warning", reason.clone()),
            Outcome::Failed { reason } => ("error", reason.clone()),
            Outcome::Doubtful => ("warning", tested.doubt()),
            Outcome::NotReached => ("note", "the run was over before its turn came".to_owned()),
            _ => return None,
        };
        Some(json!({
            "level": level,
            "message": { "text": format!("{}: {text}", tested.name) },
            "locations": [location(&tested.site, Some(&tested.name))],
        }))
    });
    let untested: Vec<Value> = untested.collect();
    let failed = run
        .harnesses
        .iter()
        .any(|it| matches!(it.outcome, Outcome::Failed { .. }));
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "seqz",
                    "version": run.seqz,
                    "rules": rules,
                },
            },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": !failed && run.cut.is_none(),
                "toolExecutionNotifications": untested,
            }],
            "results": results,
            "properties": { "tally": run.tally() },
        }],
    });
    crate::report::json(out, &document)
}

/// A place, in a harness if it is one of a failure.
fn location(site: &Site, harness: Option<&str>) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&site.file) },
            "region": {
                "startLine": site.line.max(1),
                "startColumn": site.column.max(1),
                "snippet": { "text": site.text },
            },
        },
    });
    if let Some(harness) = harness {
        location["logicalLocations"] =
            json!([{ "fullyQualifiedName": harness, "kind": "function" }]);
    }
    location
}

/// A path as a relative reference of RFC 3986.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
