use super::*;
use crate::model::document::{Kind, SCHEMA, Site};
use crate::model::tested::{Found, Lost, Outcome, TestRun, Tested, Tried};

fn tested(name: &str, outcome: Outcome) -> Tested {
    Tested {
        name: name.into(),
        package: if name == "bug" { "queue" } else { "stack" }.into(),
        site: Site {
            file: "src/a b.rs".into(),
            line: 3,
            column: 1,
            text: format!("fn {name}() {{"),
        },
        outcome,
        cached: false,
        reads: None,
        found: Vec::new(),
        tried: vec![Tried {
            method: "odpor".into(),
            executions: 7,
            verdict: "not exhausted: --time is over".into(),
            seconds: 0.5,
        }],
        seconds: 0.5,
    }
}

/// One harness of each outcome, with a message that means something in each form.
pub(in crate::report) fn run() -> TestRun {
    let reason = || "more than\none line".to_owned();
    let mut bug = tested("bug", Outcome::Bug);
    bug.found.push(Found {
        method: "check".into(),
        kind: Kind::Panic,
        message: "100% <of> \"it\", & more:\n\u{1}second line]]>".into(),
        site: Some(bug.site.clone()),
        k: Some(2),
        finding: Some("findings/1.json".into()),
    });
    let mut doubtful = tested("doubtful", Outcome::Doubtful);
    doubtful.found.clone_from(&bug.found);
    TestRun {
        schema: SCHEMA,
        seqz: "1.2.3".into(),
        path: ".".into(),
        seed: 1,
        cut: None,
        harnesses: vec![
            tested("proved", Outcome::Proved { executions: 1 }),
            tested("no_bug", Outcome::NoBug { k: 3, schedules: 0 }),
            tested(
                "nor_sampled",
                Outcome::NoBug {
                    k: 3,
                    schedules: 10,
                },
            ),
            tested("sampled", Outcome::Sampled { schedules: 1234 }),
            tested("open", Outcome::Open { executions: 7 }),
            bug,
            doubtful,
            tested("refused", Outcome::Unsupported { reason: reason() }),
            tested("failed", Outcome::Failed { reason: reason() }),
            tested("not_run", Outcome::NotReached),
        ],
        lost: vec![Lost {
            program: "broken".into(),
            reason: "expected `;`\nsrc/lib.rs:3".into(),
        }],
        seconds: 5.0,
        building: 1.0,
    }
}

fn text(print: impl Fn(&mut dyn std::io::Write, &TestRun) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    print(&mut out, &run()).unwrap();
    let plain = anstream::adapter::strip_bytes(&out).into_vec();
    String::from_utf8(plain).unwrap()
}

#[test]
fn for_people() {
    insta::assert_snapshot!(text(|out, run| {
        let all = run.harnesses.len();
        for (at, tested) in run.harnesses.iter().enumerate() {
            line(out, tested, at + 1, all, 100)?;
        }
        closing(out, run, 100)
    }));
}

#[test]
fn as_junit() {
    let text = text(junit);
    let document = roxmltree::Document::parse(&text).unwrap();
    let count = |name: &str| {
        document
            .descendants()
            .filter(|it| it.has_tag_name(name))
            .count()
    };
    let root = document.root_element();
    for (key, element, n) in [
        ("tests", "testcase", 11),
        ("failures", "failure", 1),
        ("errors", "error", 4),
        ("skipped", "skipped", 1),
    ] {
        assert_eq!(count(element), n, "{element}");
        if key != "skipped" {
            assert_eq!(root.attribute(key), Some(n.to_string().as_str()), "{key}");
        }
    }
    let failure = document
        .descendants()
        .find(|it| it.has_tag_name("failure"))
        .unwrap();
    let said = failure.text().unwrap();
    assert!(said.contains("100% <of> \"it\", & more:\n"), "{said}");
    assert!(said.contains("seqz replay findings/1.json"), "{said}");
    insta::assert_snapshot!(text);
}

#[test]
fn as_annotations() {
    insta::assert_snapshot!(text(github));
}

#[test]
fn as_sarif() {
    let text = text(sarif);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let of_run = &document["runs"][0];
    // What the standard asks of these objects (sections 3.13, 3.14, 3.19, 3.27).
    assert_eq!(document["version"], "2.1.0");
    assert_eq!(of_run["tool"]["driver"]["name"], "seqz");
    for result in of_run["results"].as_array().unwrap() {
        assert!(result["message"]["text"].is_string());
        assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
    }
    assert_eq!(of_run["invocations"][0]["executionSuccessful"], false);
    let uri = &of_run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(uri["uri"], "src/a%20b.rs");
    insta::assert_snapshot!(text);
}
