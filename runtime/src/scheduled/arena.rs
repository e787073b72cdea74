//! An allocator that gives the program's allocations the same addresses whatever the schedule is.
//!
//! Strategies need an object to have the same name in every execution. The runtime can't see where an atomic is made
//! (its constructor is `const`), only where it lies. So inside of executions each thread of the program allocates from a
//! region of its own, front to back, and nothing is given out twice in one execution: then an address is a function of
//! what its thread allocated before, and of nothing else. It is also about the fastest way to allocate.
//!
//! A region is used again in the next execution when everything in it has been freed. Otherwise, as when the program
//! fills a global table at its first use, the thread gets a new region, and names are offsets into it.
//!
//! Generated workers install it: `#[global_allocator]`. Without it, names are given by order of appearance.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use super::coroutine::map_guarded;

/// Address space of one region. Only what is used of it costs memory.
const REGION: usize = 64 << 20;

/// Larger ones come from the system, and are no shared objects that anybody names.
const LARGEST: usize = 1 << 20;

/// How many regions there can be at once, over all threads.
const REGIONS: usize = 192;

#[derive(Clone, Copy)]
struct Region {
    start: usize,
    next: usize,
    /// Allocations that have not been freed.
    live: usize,
    /// Some thread allocates from it.
    assigned: bool,
}

const UNUSED: Region = Region {
    start: 0,
    next: 0,
    live: 0,
    assigned: false,
};

struct Regions {
    list: [Region; REGIONS],
    count: usize,
    lowest: usize,
    highest: usize,
}

thread_local! {
    // Both are plain data: an allocator must not make its thread-locals allocate.
    static REGION_IN_USE: Cell<usize> = const { Cell::new(usize::MAX) };
    static TABLE: Cell<Regions> = const {
        Cell::new(Regions { list: [UNUSED; REGIONS], count: 0, lowest: usize::MAX, highest: 0 })
    };
}

fn table<R>(use_it: impl FnOnce(&mut Regions) -> R) -> R {
    TABLE.with(|table| {
        // SAFETY: the table belongs to this OS thread, and `use_it` neither allocates nor calls this again.
        use_it(unsafe { &mut *table.as_ptr() })
    })
}

/// The regions of one machine's threads.
#[derive(Debug, Default)]
pub(super) struct Arena {
    by_thread: Vec<usize>,
}

impl Drop for Arena {
    fn drop(&mut self) {
        for &at in &self.by_thread {
            table(|table| {
                if let Some(region) = table.list.get_mut(at) {
                    region.assigned = false;
                }
            });
        }
    }
}

impl Arena {
    /// Before an execution: the thread's region is empty again, or a new one.
    pub(super) fn begin_thread(&mut self, thread: usize) {
        while self.by_thread.len() <= thread {
            self.by_thread.push(usize::MAX);
        }
        let region = self.by_thread[thread];
        let reusable = table(|table| match table.list.get_mut(region) {
            Some(region) if region.live == 0 => {
                region.next = region.start;
                true
            }
            _ => false,
        });
        if !reusable {
            table(|table| {
                if let Some(region) = table.list.get_mut(region) {
                    region.assigned = false;
                }
            });
            self.by_thread[thread] = new_region();
        }
    }

    /// From here on the thread's code runs on this OS thread.
    pub(super) fn enter(&self, thread: usize) -> Outside {
        let region = self.by_thread.get(thread).copied().unwrap_or(usize::MAX);
        Outside(REGION_IN_USE.replace(region))
    }

    /// The address as a name: which thread's region it is in, and where. `None` outside of all of them.
    pub(super) fn locate(&self, address: usize) -> Option<(usize, usize)> {
        self.by_thread
            .iter()
            .enumerate()
            .find_map(|(thread, &region)| {
                table(|table| {
                    let region = table.list.get(region)?;
                    let offset = address.checked_sub(region.start)?;
                    (offset < REGION).then_some((thread, offset))
                })
            })
    }
}

/// What was in use before the program's code ran.
#[must_use]
pub(super) struct Outside(usize);

impl Outside {
    /// The runtime's own code runs again.
    pub(super) fn leave(self) {
        REGION_IN_USE.set(self.0);
    }
}

/// Runs code of the runtime whose allocations outlive the execution.
pub(super) fn outside<R>(run: impl FnOnce() -> R) -> R {
    let before = Outside(REGION_IN_USE.replace(usize::MAX));
    let result = run();
    before.leave();
    result
}

fn new_region() -> usize {
    let free = table(|table| {
        let at =
            (0..table.count).find(|&at| table.list[at].live == 0 && !table.list[at].assigned)?;
        let region = &mut table.list[at];
        (region.next, region.assigned) = (region.start, true);
        Some(at)
    });
    if let Some(at) = free {
        return at;
    }
    let Ok((start, _)) = map_guarded(REGION) else {
        return usize::MAX;
    };
    table(|table| {
        let at = table.count;
        let Some(slot) = table.list.get_mut(at) else {
            return usize::MAX;
        };
        let start = start + 64 * 1024;
        *slot = Region {
            start,
            next: start,
            live: 0,
            assigned: true,
        };
        table.count += 1;
        table.lowest = table.lowest.min(start);
        table.highest = table.highest.max(start + REGION);
        at
    })
}

/// The allocator of generated workers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator;

// SAFETY: memory comes from the system, or from a region: there from a part that nothing else is given, aligned as
// asked. A region is only begun anew when all of its allocations have been freed.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let region = REGION_IN_USE.try_with(Cell::get).unwrap_or(usize::MAX);
        if region != usize::MAX && layout.size() <= LARGEST {
            let address = table(|table| {
                let region = table.list.get_mut(region)?;
                let address = region.next.next_multiple_of(layout.align());
                let end = address + layout.size();
                if end > region.start + REGION - 64 * 1024 {
                    return None;
                }
                region.next = end;
                region.live += 1;
                Some(address)
            });
            if let Some(address) = address {
                return std::ptr::with_exposed_provenance_mut(address);
            }
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let address = pointer.addr();
        let ours = TABLE
            .try_with(|_| {
                table(|table| {
                    if address < table.lowest || address >= table.highest {
                        return false;
                    }
                    let count = table.count;
                    let mut regions = table.list[..count].iter_mut();
                    let found = regions
                        .find(|region| address >= region.start && address - region.start < REGION);
                    found.is_some_and(|region| {
                        region.live -= 1;
                        true
                    })
                })
            })
            .unwrap_or(false);
        if !ours {
            // SAFETY: what is in no region came from the system.
            unsafe { System.dealloc(pointer, layout) }
        }
    }
}
