//! An event of a long execution costs what one of a short execution does: tests that count [looks](crate::looks) at events,
//! which are the same in each run. That memory doesn't grow either is for `tests/growth.rs`.

#[path = "../tests/long/mod.rs"]
mod long;

use crate::event::{Event, Kind};
use crate::looks;
use crate::trace::{Position, Trace};
use long::flat::{LENGTHS, is_flat, stays_apart, stays_queueing, stays_racing};

/// The cost of a run, in looks at events.
fn cost(run: &mut dyn FnMut()) -> u64 {
    let before = looks::taken();
    run();
    looks::taken() - before
}

#[test]
fn the_cost_of_an_event_does_not_grow() {
    stays_apart(cost);
}

#[test]
fn nor_where_all_events_race() {
    stays_racing(cost);
}

#[test]
fn nor_where_threads_wait_for_each_other() {
    stays_queueing(cost);
}

/// An execution of `events` events, all on one object.
fn trace(events: usize) -> Trace {
    let mut trace = Trace::default();
    for _ in 0..events {
        trace.push(&Event {
            kind: Kind::Write,
            ..Event::default()
        });
    }
    trace
}

#[test]
fn what_is_quadratic_is_told() {
    let once = LENGTHS.map(|events| {
        cost(&mut || {
            let trace = trace(events);
            for position in 0..events as Position {
                std::hint::black_box(trace.event(position));
            }
        })
    });
    assert!(is_flat(once), "{once:?}");
    let looks_back = LENGTHS.map(|events| {
        cost(&mut || {
            let trace = trace(events);
            // Of each eighth event, to save time: a fourth of all that come before.
            for position in (0..events as Position).step_by(8) {
                for before in (0..position).step_by(4) {
                    std::hint::black_box(trace.event(before));
                }
            }
        })
    });
    assert!(!is_flat(looks_back), "{looks_back:?}");
}
