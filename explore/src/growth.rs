//! An event of a long execution costs what one of a short execution does: tests that count [looks](crate::looks) at events,
//! which are the same in each run. That memory doesn't grow either is for `tests/growth.rs`.

#[path = "../tests/long/mod.rs"]
mod long;

use crate::event::{Event, Kind};
use crate::trace::{Position, Trace};
use crate::{
    CachedDpor, Dfs, Dpor, HbrCache, Icb, IcbDpor, LazyDpor, Mcr, Odpor, Pct, Random, RvCausal,
    Search, Strategy, looks,
};
use long::{Long, Shape};

/// What this costs.
fn cost(run: impl FnOnce()) -> u64 {
    let before = looks::taken();
    run();
    looks::taken() - before
}

/// Events of short executions and of long ones.
const LENGTHS: [usize; 2] = [1000, 32_000];

/// Whether the cost for an event stays: a quadratic step anywhere would be 32 times as much.
fn is_flat([short, long]: [u64; 2]) -> bool {
    let [few, many] = LENGTHS.map(|events| events as u64);
    long * few <= 3 * short.max(few) * many
}

fn stays<S: Strategy>(strategy: impl Fn() -> S, shapes: &[Shape]) {
    for &shape in shapes {
        let costs = LENGTHS.map(|events| {
            cost(|| {
                let mut search = Search::new(strategy());
                let mut program = Long::new(shape, 2, events / 2 / shape.events());
                let run = search.run(&mut program, 3);
                run.expect("programs are deterministic");
            })
        });
        assert!(
            is_flat(costs),
            "{}, {shape:?}: {costs:?} for {LENGTHS:?} events",
            strategy().name()
        );
    }
}

const APART: [Shape; 2] = [Shape::Apart, Shape::Private];

#[test]
fn the_cost_of_an_event_does_not_grow() {
    stays(Dfs::new, &APART);
    stays(|| Random::new(1), &APART);
    stays(|| Pct::new(1, 3), &APART);
    stays(|| Icb::new(None), &APART);
    stays(|| IcbDpor::new(None), &APART);
    stays(Dpor::new, &APART);
    stays(HbrCache::new, &APART);
    stays(CachedDpor::new, &APART);
    stays(Mcr::new, &APART);
    stays(RvCausal::new, &APART);
}

#[test]
fn nor_where_all_events_race() {
    let racing = [Shape::Racy, Shape::Locked, Shape::Read];
    stays(Odpor::new, &APART);
    stays(Odpor::new, &racing);
    stays(Dpor::new, &racing);
    stays(|| IcbDpor::new(None), &[Shape::Racy, Shape::Locked]);
    stays(CachedDpor::new, &[Shape::Locked]);
    stays(
        LazyDpor::new,
        &[Shape::Apart, Shape::Private, Shape::Locked],
    );
}

/// An execution of so many events, all on one object.
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
        cost(|| {
            let trace = trace(events);
            for position in 0..events as Position {
                std::hint::black_box(trace.event(position));
            }
        })
    });
    assert!(is_flat(once), "{once:?}");
    let looks_back = LENGTHS.map(|events| {
        cost(|| {
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
