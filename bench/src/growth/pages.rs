//! The same for pages: what `report` takes for an event of a failure.

use std::path::PathBuf;

use seqz::findings::{Finding, Found};
use seqz::model::document::{Kind, Met, SCHEMA, Site};
use seqz::model::exploration::Failure;
use seqz::model::schedule::{Action, Event};
use seqz::report::html;
use seqz_runtime::vocabulary::Scheduled;

/// A failure at the end of this schedule.
pub(super) fn finding(schedule: &[Scheduled]) -> Finding {
    let harness_site = Site {
        file: "src/lib.rs".into(),
        line: 1,
        column: 1,
        text: "fn harness() {".into(),
    };
    let threads = schedule.iter().map(|event| event.thread).max();
    let schedule: Vec<_> = schedule.iter().map(event).collect();
    Finding {
        schema: SCHEMA,
        seqz: env!("CARGO_PKG_VERSION").into(),
        path: "src/lib.rs".into(),
        program: PathBuf::new(),
        harness: "harness".into(),
        harness_site,
        followed: Vec::new(),
        features: Vec::new(),
        found: Found::Failure {
            failure: Box::new(Failure {
                kind: Kind::Panic,
                message: "it fails".into(),
                site: schedule.last().and_then(|event| event.site.clone()),
                thread: schedule.last().map_or(0, |event| event.thread),
                waiting: Vec::new(),
                inputs: Vec::new(),
                threads: vec![None; threads.unwrap_or(0) as usize + 1],
                schedule,
                fails_after: None,
                execution: 1,
                spurious: 0,
                spurious_in_loops: false,
                random_numbers: 0,
                stack_size: 0,
                count: 1,
                couplings: Vec::new(),
                held_up: None,
                finding: None,
                met: Met::default(),
            }),
        },
    }
}

fn event(event: &Scheduled) -> Event {
    let action = Action::from(event.action);
    let place = event.place.as_ref();
    Event {
        thread: event.thread,
        action,
        object: event.object,
        variable: action.has_variable().then(|| format!("x{}", event.object)),
        site: place.map(|place| Site {
            file: place.file.to_string(),
            line: place.line,
            column: place.column,
            text: "round(&own, &shared, n);".into(),
        }),
        saw: None,
    }
}

/// Draws the page; how long it is.
pub(super) fn draw(finding: &Finding) -> usize {
    html::of_finding(finding, "1.json").html.len()
}
