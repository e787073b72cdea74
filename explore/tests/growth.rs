//! An event of a long execution takes as much memory as one of a short execution: counted are the bytes that are asked for, which
//! are the same in each run. What is looked at is counted in the crate's own tests.

mod long;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use long::{Long, Shape};
use seqz_explore::{
    CachedDpor, Dfs, Dpor, HbrCache, Icb, IcbDpor, LazyDpor, Mcr, Odpor, Pct, Random, RvCausal,
    Search, Strategy,
};

thread_local! {
    static ASKED_FOR: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, which counts.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: usize) {
    // While a thread ends, there is nobody to count for.
    let _ = ASKED_FOR.try_with(|asked| asked.set(asked.get() + bytes as u64));
}

// SAFETY: all is handed on to the system's allocator, as it comes.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// What this costs.
fn cost(run: impl FnOnce()) -> u64 {
    let before = ASKED_FOR.get();
    run();
    ASKED_FOR.get() - before
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

#[test]
fn what_is_quadratic_is_told() {
    let once = LENGTHS.map(|events| {
        cost(|| {
            let mut kept = Vec::new();
            for event in 0..events {
                kept.push(event);
            }
        })
    });
    assert!(is_flat(once), "{once:?}");
    let copies = LENGTHS.map(|events| {
        cost(|| {
            let mut kept = Vec::new();
            for event in 0..events / 8 {
                kept.push(event);
                std::hint::black_box(kept.clone());
            }
        })
    });
    assert!(!is_flat(copies), "{copies:?}");
}
