//! An event of a long execution costs what one of a short execution does.

mod long;

use std::fs;
use std::time::{Duration, Instant};

use long::{Long, Shape};
use seqz_explore::{
    CachedDpor, Dfs, Dpor, HbrCache, IcbDpor, LazyDpor, Mcr, Odpor, Random, RvCausal, Search,
    Strategy,
};

/// For how long processors have worked for this thread, in nanoseconds; nothing where the system doesn't tell. What other
/// programs take is not in it.
fn worked() -> Option<f64> {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok()
}

/// How long is measured, in nanoseconds: what the system tells moves in steps of milliseconds.
const LONG: f64 = 5e7;

/// Nanoseconds an event.
fn cost<S: Strategy>(shape: Shape, events: usize, strategy: impl Fn() -> S) -> Option<f64> {
    let start = worked()?;
    let began = Instant::now();
    let mut all = 0;
    while worked()? - start < LONG {
        if began.elapsed() > Duration::from_secs(10) {
            return None;
        }
        let mut search = Search::new(strategy());
        let mut program = Long::new(shape, 2, events / 2 / shape.events());
        let run = search.run(&mut program, 2);
        run.expect("programs are deterministic");
        all += search.counts().events;
    }
    Some((worked()? - start) / all as f64)
}

/// So often it is measured before the cost is said to grow: what else the machine does may slow some measurements down, but
/// makes no quadratic step cheap.
const ATTEMPTS: usize = 8;

/// A quadratic step anywhere would be 50 times as much.
fn stays<S: Strategy>(strategy: impl Fn() -> S, shapes: &[Shape]) {
    for &shape in shapes {
        let mut measured = Vec::new();
        let is_flat = (0..ATTEMPTS).any(|_| {
            let (short, long) = (cost(shape, 1000, &strategy), cost(shape, 50_000, &strategy));
            // Where the system doesn't tell there is nothing to hold it against.
            let (Some(short), Some(long)) = (short, long) else {
                return true;
            };
            measured.push((short, long));
            long < 10.0 * short
        });
        assert!(
            is_flat,
            "{}, {shape:?}: nanoseconds an event of short executions and of long ones: {measured:.0?}",
            strategy().name()
        );
    }
}

const APART: [Shape; 2] = [Shape::Apart, Shape::Private];

#[test]
fn the_cost_of_an_event_does_not_grow() {
    stays(Dfs::new, &APART);
    stays(|| Random::new(1), &APART);
    stays(|| IcbDpor::new(None), &APART);
    stays(Dpor::new, &APART);
    stays(HbrCache::new, &APART);
    stays(CachedDpor::new, &APART);
    stays(Mcr::new, &APART);
    stays(RvCausal::new, &APART);
}

#[test]
fn nor_where_all_events_race() {
    let all = [
        Shape::Apart,
        Shape::Private,
        Shape::Racy,
        Shape::Locked,
        Shape::Read,
    ];
    stays(Odpor::new, &all);
    stays(Dpor::new, &[Shape::Racy, Shape::Read, Shape::Locked]);
    stays(CachedDpor::new, &[Shape::Locked]);
    stays(
        LazyDpor::new,
        &[Shape::Apart, Shape::Private, Shape::Locked],
    );
}
