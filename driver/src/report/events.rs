//! A schedule of the original program, drawn with a column for each thread.

use std::io::{self, Write};

use super::lanes::{self, Lane, Row};
use super::reasonless::{self, Reasonless};
use crate::model::apart::{self, Uses as _};
use crate::model::document::{Site, Thread};
use crate::model::schedule::{Action, Event};
use crate::model::words::{self, Places};

/// A remark at the end of a schedule.
#[derive(Clone, Debug)]
pub struct Mark<'a> {
    /// The number of the thread.
    pub thread: u32,
    /// The place of the remark.
    pub site: &'a Site,
    /// The text of the remark.
    pub remark: String,
}

/// Draws the events, and after them the marks. `threads` are the threads that exist, by number.
///
/// # Errors
/// Errors of writing to `out`.
pub fn draw(
    out: &mut dyn Write,
    events: &[Event],
    marks: &[Mark<'_>],
    threads: &[Option<Thread>],
    columns: usize,
) -> io::Result<()> {
    let reasonless = Reasonless::of(events, threads);
    let events = || events.iter().filter(|event| !reasonless.hides(event));
    let mut numbers: Vec<u32> = events().map(|event| event.thread).collect();
    numbers.extend(marks.iter().map(|mark| mark.thread));
    numbers.sort_unstable();
    numbers.dedup();
    let lane = |thread: u32| numbers.binary_search(&thread).unwrap_or(0);
    let places = Places::of(
        events()
            .filter_map(|event| event.site.as_ref())
            .chain(marks.iter().map(|mark| mark.site))
            .chain(
                threads
                    .iter()
                    .flatten()
                    .filter_map(|it| it.spawned.as_ref()),
            ),
    );
    let lanes: Vec<_> = numbers
        .iter()
        .map(|&number| Lane {
            tag: number.to_string(),
            heading: words::numbered_thread(number, threads, places),
        })
        .collect();
    let mut rows: Vec<Row<'_>> = Vec::new();
    for event in events() {
        let (lane, site) = (lane(event.thread), event.site.as_ref());
        let remark = takes_one_of_several(event).or_else(|| {
            reasonless
                .is_it(event)
                .then(|| reasonless::GOES_ON.to_owned())
        });
        if remark.is_none() && rows.last().is_some_and(|row| row.takes(lane, site)) {
            continue;
        }
        // A guard releases its lock where the guard goes out of scope; the known place is the one where the lock was
        // taken. A thread ends where its code ends; the known place is the one where the thread was started.
        let elsewhere = matches!(
            event.action,
            Action::Unlock | Action::UnlockShared | Action::Begin | Action::End
        );
        let site = site.filter(|_| !elsewhere);
        rows.push(Row {
            lane,
            site,
            text: site.map_or_else(|| describe(event, places), |site| site.text.clone()),
            remarks: remark.filter(|_| site.is_some()).into_iter().collect(),
            fails: false,
        });
    }
    for mark in marks {
        let lane = lane(mark.thread);
        match rows.last_mut() {
            Some(row) if row.takes(lane, Some(mark.site)) => {
                row.fails = true;
                row.remarks.push(mark.remark.clone());
            }
            _ => rows.push(Row {
                lane,
                site: Some(mark.site),
                text: mark.site.text.clone(),
                remarks: vec![mark.remark.clone()],
                fails: true,
            }),
        }
    }
    lanes::draw(out, &lanes, &rows, columns)
}

/// Says which lock is taken, where the line doesn't: there are several locks of its name.
fn takes_one_of_several(event: &Event) -> Option<String> {
    let name = event.variable.as_deref()?;
    let takes = event.taken().is_some() && apart::is_numbered(name);
    takes.then(|| format!("locks {}", words::variable(Some(name))))
}

/// Describes an event that has no source line.
fn describe(event: &Event, places: Places) -> String {
    let name = words::variable(event.variable.as_deref());
    match event.action {
        Action::Local => "(goes on)".to_owned(),
        Action::Fence => "fence".to_owned(),
        Action::Read => format!("(reads {name})"),
        Action::Write => format!("(writes {name})"),
        Action::Update | Action::CompareExchange => format!("(updates {name})"),
        Action::FailedUpdate => format!("(finds another value in {name})"),
        Action::Lock | Action::TryLock | Action::LockShared | Action::TryLockShared => {
            format!("(locks {name})")
        }
        Action::TryLockFailed | Action::TryLockSharedFailed => format!("(finds {name} locked)"),
        Action::Unlock | Action::UnlockShared => {
            words::unlocks(event.variable.as_deref(), event.site.as_ref(), places)
        }
        Action::Fork => format!("(starts thread {})", event.object),
        Action::Begin => "(begins)".to_owned(),
        Action::End => "(ends)".to_owned(),
        Action::Join => format!("(joins thread {})", event.object),
        Action::Wait => format!("(waits for {name})"),
        Action::Wake => format!("(is notified by {name})"),
        Action::Notify => format!("(notifies {name})"),
    }
}
