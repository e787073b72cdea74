//! Whether what an event costs stays the same in long executions, whatever is counted as its cost.

use seqz_explore::{
    CachedDpor, Dfs, Dpor, Hapset, HbrCache, Icb, IcbDpor, LazyDpor, Mcr, Odpor, Pct, Random,
    RvCausal, Search, Strategy,
};

use super::queue::Queue;
use super::{Long, Shape};

/// Events of short executions and of long ones.
pub(crate) const LENGTHS: [usize; 2] = [1000, 32_000];

/// Whether the cost for an event stays: a quadratic step anywhere would be 32 times as much.
pub(crate) fn is_flat([short, long]: [u64; 2]) -> bool {
    let [few, many] = LENGTHS.map(|events| events as u64);
    long * few <= 3 * short.max(few) * many
}

/// Tells what it costs to run something.
type Cost = fn(&mut dyn FnMut()) -> u64;

fn stays<S: Strategy>(cost: Cost, strategy: impl Fn() -> S, shapes: &[Shape]) {
    for &shape in shapes {
        let costs = LENGTHS.map(|events| {
            cost(&mut || {
                let mut search = Search::new(strategy());
                let mut program = Long::new(shape, 2, events / 2 / shape.events());
                let run = search.run(&mut program, 3);
                run.expect("programs are deterministic");
            })
        });
        assert!(
            is_flat(costs),
            "{}, {shape:?}: {costs:?} for {LENGTHS:?} events",
            std::any::type_name::<S>()
        );
    }
}

/// Of those that reduce, where threads hand things on through a queue, and wait for each other.
pub(crate) fn stays_queueing(cost: Cost) {
    fn stays<S: Strategy>(cost: Cost, strategy: impl Fn() -> S) {
        let costs = LENGTHS.map(|events| {
            cost(&mut || {
                let mut search = Search::new(strategy());
                let mut program = Queue::new(8, events / 8 / Queue::EVENTS * 2);
                let run = search.run(&mut program, 3);
                run.expect("programs are deterministic");
            })
        });
        assert!(
            is_flat(costs),
            "{}: {costs:?} for {LENGTHS:?} events",
            std::any::type_name::<S>()
        );
    }
    stays(cost, Odpor::new);
    stays(cost, Dpor::new);
    stays(cost, CachedDpor::new);
    stays(cost, || IcbDpor::new(None));
    stays(cost, || Hapset::new(1, 1));
    stays(cost, Dfs::new);
    stays(cost, HbrCache::new);
}

const APART: [Shape; 2] = [Shape::Apart, Shape::Private];

/// Of all strategies, where threads hardly ever meet.
pub(crate) fn stays_apart(cost: Cost) {
    stays(cost, Dfs::new, &APART);
    stays(cost, || Random::new(1), &APART);
    stays(cost, || Pct::new(1, 3), &APART);
    stays(cost, || Icb::new(None), &APART);
    stays(cost, || IcbDpor::new(None), &APART);
    stays(cost, Dpor::new, &APART);
    stays(cost, HbrCache::new, &APART);
    stays(cost, CachedDpor::new, &APART);
    stays(cost, Mcr::new, &APART);
    stays(cost, RvCausal::new, &APART);
}

/// Of those that reduce, where all events race.
pub(crate) fn stays_racing(cost: Cost) {
    let racing = [Shape::Racy, Shape::Locked, Shape::Read];
    stays(cost, Odpor::new, &APART);
    stays(cost, Odpor::new, &racing);
    stays(cost, Dpor::new, &racing);
    stays(cost, || IcbDpor::new(None), &[Shape::Racy, Shape::Locked]);
    stays(cost, CachedDpor::new, &[Shape::Locked]);
    stays(
        cost,
        LazyDpor::new,
        &[Shape::Apart, Shape::Private, Shape::Locked],
    );
}
