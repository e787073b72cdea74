//! An event of a long execution takes as much memory as one of a short execution: counted are the bytes that are asked for, which
//! are the same in each run. What is looked at is counted in the crate's own tests.

mod long;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use long::flat::{LENGTHS, is_flat, stays_apart, stays_queueing, stays_racing};

thread_local! {
    static ASKED_FOR: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, which counts.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: usize) {
    // While a thread ends, its count may be gone already: nothing is counted then.
    let _ = ASKED_FOR.try_with(|asked| asked.set(asked.get() + bytes as u64));
}

// SAFETY: every call is handed on, with its arguments, to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` comes from `System`, with this layout, since every allocation is handed on to it.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: `pointer` comes from `System`, with this layout; the caller keeps the contract for `size`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The bytes that a run asks the allocator for.
fn cost(run: &mut dyn FnMut()) -> u64 {
    let before = ASKED_FOR.get();
    run();
    ASKED_FOR.get() - before
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

#[test]
fn what_is_quadratic_is_told() {
    let once = LENGTHS.map(|events| {
        cost(&mut || {
            let mut kept = Vec::new();
            for event in 0..events {
                kept.push(event);
            }
        })
    });
    assert!(is_flat(once), "{once:?}");
    let copies = LENGTHS.map(|events| {
        cost(&mut || {
            let mut kept = Vec::new();
            for event in 0..events / 8 {
                kept.push(event);
                std::hint::black_box(kept.clone());
            }
        })
    });
    assert!(!is_flat(copies), "{copies:?}");
}
