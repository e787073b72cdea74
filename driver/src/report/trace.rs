//! The interleaving of a bug, drawn in columns: the thread under test on the left, the interfering threads beside it.

use std::io::{self, Write};

use super::lanes::{self, Lane, Row};
use crate::model::apart::{self, Uses as _};
use crate::model::document::{Bug, Op, Role, Step, Thread};
use crate::model::words::{self, Places};

/// Draws the trace of a bug.
///
/// # Errors
/// Errors of writing to `out`.
pub fn draw(out: &mut dyn Write, bug: &Bug, threads: &[Thread], columns: usize) -> io::Result<()> {
    let under_test = Lane {
        tag: "T".into(),
        heading: format!("{} (T, under test)", bug.under_test.name()),
    };
    let interfering = bug.interfering();
    let tags = (1..).map(|number| words::prime(number, interfering.len()));
    let others = interfering.iter().zip(tags).map(|(role, tag)| Lane {
        heading: format!("{} ({tag}, interfering)", role.name()),
        tag,
    });
    let lanes: Vec<Lane> = [under_test].into_iter().chain(others).collect();
    let places = Places::of_bug(bug, threads);
    lanes::draw(out, &lanes, &rows(bug, &interfering, places), columns)
}

fn rows<'a>(bug: &'a Bug, interfering: &[Role], places: Places) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for step in &bug.trace {
        let lane = lanes::of_party(step.thread, interfering);
        let site = step.site.as_ref();
        let takes_one = takes_one_of_several(step);
        if takes_one.is_some() || rows.last().is_none_or(|row| !row.takes(lane, site)) {
            // A guard releases its lock where the guard goes out of scope; the known place is the one where the lock
            // was taken.
            let gives_back = matches!(step.op, Op::Unlock | Op::UnlockShared);
            let shown = site.filter(|_| !gives_back);
            rows.push(Row {
                lane,
                site: shown,
                text: shown.map_or_else(|| describe(step, places), |s| s.text.clone()),
                remarks: takes_one.into_iter().collect(),
                fails: false,
            });
        }
        if let (Some(row), Some(remark)) = (rows.last_mut(), remark(bug, step, places)) {
            row.remarks.push(remark);
        }
    }
    mark_failure(bug, interfering, &mut rows);
    rows
}

/// Says which lock is taken, where the line doesn't: there are several locks of its name.
fn takes_one_of_several(step: &Step) -> Option<String> {
    let name = step.variable.as_deref()?;
    let takes = step.taken().is_some() && apart::is_numbered(name) && step.pair.is_none();
    takes.then(|| format!("locks {}", words::variable(Some(name))))
}

/// Marks where the bug shows: at the end of the thread under test, on a line that may have no event of its own.
fn mark_failure<'a>(bug: &'a Bug, interfering: &[Role], rows: &mut Vec<Row<'a>>) {
    let failure = words::failure(bug.kind).to_owned();
    if let Some(site) = bug.other_site.as_ref().filter(|_| bug.other_pending) {
        rows.push(Row {
            lane: bug
                .other_thread
                .map_or(1, |other| lanes::of_party(other, interfering)),
            site: Some(site),
            text: site.text.clone(),
            remarks: vec![failure.clone()],
            fails: true,
        });
    }
    let Some(site) = &bug.site else { return };
    match rows.last_mut() {
        Some(row) if row.takes(0, Some(site)) => {
            row.fails = true;
            row.remarks.push(failure);
        }
        _ => rows.push(Row {
            lane: 0,
            site: Some(site),
            text: site.text.clone(),
            remarks: vec![failure],
            fails: true,
        }),
    }
}

/// Returns the remark on an event that is part of the explanation.
fn remark(bug: &Bug, step: &Step, places: Places) -> Option<String> {
    let number = step.pair?;
    let pair = bug.non_local_reads.get(number as usize)?;
    let name = words::variable(pair.variable.as_deref());
    let value = pair
        .value
        .as_ref()
        .map(|v| format!(" = {v}"))
        .unwrap_or_default();
    let number = number + 1;
    Some(if step.thread == bug.under_test {
        let from = pair
            .write_site
            .as_ref()
            .map(|site| format!(" from {}", places.name(site)));
        match step.op {
            Op::TryLockFailed => {
                format!("({number}) finds {name} locked{}", from.unwrap_or_default())
            }
            _ => format!("({number}) reads {name}{value}{}", from.unwrap_or_default()),
        }
    } else {
        match step.op {
            Op::Lock | Op::LockShared => format!("({number}) locks {name}"),
            _ => format!("({number}) writes {name}{value}"),
        }
    })
}

/// Describes an event that has no source line.
fn describe(step: &Step, places: Places) -> String {
    let name = words::variable(step.variable.as_deref());
    match step.op {
        Op::Read => format!("(reads {name})"),
        Op::Write => format!("(writes {name})"),
        Op::Update => format!("(updates {name})"),
        Op::Lock | Op::LockShared => format!("(locks {name})"),
        Op::Unlock | Op::UnlockShared => {
            words::unlocks(step.variable.as_deref(), step.site.as_ref(), places)
        }
        Op::TryLockFailed => format!("(finds {name} locked)"),
        Op::Join => "(joins the other thread)".to_owned(),
    }
}
