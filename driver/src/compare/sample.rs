//! A comparison to draw.

use crate::model::document::Kind;
use crate::model::sample::site;

/// A comparison in which everything is there once.
pub(crate) fn comparison() -> crate::compare::document::Comparison {
    use crate::compare::document::*;
    use crate::compare::paper::{Cell, Pair, Row, SuiteTable};
    let cell = || Pair {
        ours: Some(Cell {
            k: vec![1],
            ..Cell::default()
        }),
        paper: Some(Cell::default()),
    };
    let limits = Limits {
        seconds: 1.0,
        executions: Some(1),
        memory: 1,
        k_max: 3,
        seed: 1,
        ignore_detached_panics: false,
    };
    let run = Run {
        method: "check:first".into(),
        ended: Ended::Failed,
        why: Some("w".into()),
        executions: Some(1),
        seconds: 0.5,
        memory: Some(1),
        levels: vec![LevelRun {
            k: 0,
            executions: 1,
            failing: 0,
            exhausted: true,
        }],
        found: vec![Found {
            bug: 0,
            k: Some(1),
            executions: Some(1),
            seconds: 0.5,
            count: 1,
            what: None,
        }],
    };
    let program = Compared {
        subject: Subject {
            path: "p".into(),
            harness: "h".into(),
            inputs: vec![("n".into(), "1".into())],
        },
        bugs: vec![Known {
            kind: Kind::Panic,
            message: "m".into(),
            sites: vec![site(1, "x")],
        }],
        runs: vec![run],
    };
    let mut comparison = Comparison::new(limits, vec![program]);
    comparison.suites = vec![SuiteTable {
        suite: "bi".into(),
        title: "t".into(),
        paper: "p".into(),
        totals: vec!["t".into()],
        rows: vec![Row {
            program: "P".into(),
            path: "p".into(),
            method: "check".into(),
            bug: cell(),
            exhaust: cell(),
        }],
    }];
    comparison
}
