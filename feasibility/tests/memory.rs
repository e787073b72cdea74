//! An event of T takes no new memory: the program's own memory is where it is allocated, and a grid outlives executions.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use seqz_feasibility::Grid;
use seqz_feasibility::log::LockMode::{Exclusive, Shared};
use seqz_feasibility::log::{Op, TEvent};

thread_local! {
    /// The allocations of this thread, and the times that memory has grown.
    static TAKEN: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

/// The system's allocator, and counts.
struct Counting;

// SAFETY: all is left to the system's allocator. Counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (new, grown) = TAKEN.get();
        TAKEN.set((new + 1, grown));
        // SAFETY: as asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as asked for.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (new, grown) = TAKEN.get();
        TAKEN.set((new, grown + 1));
        // SAFETY: as asked for.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocations and the growths while T does these events, right after T' has done these.
fn taken(grid: &mut Grid, interfering: &[Op], under_test: &[TEvent]) -> (u32, u32) {
    grid.begin(interfering);
    let before = TAKEN.get();
    for &event in under_test {
        grid.push(event);
        let _ = grid.reader(1).sees_by_path(0, false);
    }
    let after = TAKEN.get();
    (after.0 - before.0, after.1 - before.1)
}

#[test]
fn events_take_no_new_memory() {
    // T holds ever more locks, and reads what T' has written.
    let under_test: Vec<_> = (0..200)
        .flat_map(|lock| {
            let mode = if lock % 2 == 0 { Exclusive } else { Shared };
            let read = TEvent::non_local(Op::Read(1), 0);
            let writes = TEvent::local(Op::Update(2));
            [TEvent::local(Op::Acquire(3 + lock, mode)), read, writes]
        })
        .collect();
    let short = [Op::Write(1), Op::Write(2), Op::Read(2)];
    let middle = vec![Op::Write(1); 100];
    let long = vec![Op::Write(1); 1000];
    for make in [Grid::new, Grid::in_runs, Grid::in_bits] {
        for interfering in [&short[..], &middle, &long] {
            let mut grid = make();
            let (new, grown) = taken(&mut grid, interfering, &under_test);
            assert_eq!(new, 0, "{} events of T'", interfering.len());
            assert!(grown > 0, "nothing was counted");
            // What has grown once is kept.
            assert_eq!(taken(&mut grid, interfering, &under_test), (0, 0));
        }
    }
}
