//! An allocator that gives the program's allocations the same addresses whatever the schedule is.
//!
//! Strategies need an object to have the same name in every execution. The runtime can't see where an atomic is made
//! (its constructor is `const`), only where the atomic lies. So inside of executions each thread of the program
//! allocates from a region of its own, front to back, and nothing is given out twice in one execution: then an address
//! is a function of what its thread allocated before, and of nothing else. This is also about the fastest way to
//! allocate.
//!
//! A region is used again in the next execution, from its beginning when everything in it has been freed. Otherwise, as
//! when the program fills a global table at its first use or leaks memory, the next execution allocates behind what is
//! left, and names are offsets from there. When half of a region is used up so, the thread gets another one. So that
//! this depends on the program alone, memory that the runtime keeps over executions comes from the system: see
//! [`super::buffer`] and [`outside`].
//!
//! An execution of the scheduled machine ends like a process: nothing that is left is dropped, and its memory is
//! [given back](Arena::give_back) as a whole, where it is known that nothing refers to it any more.
//!
//! Regions lie side by side in one reservation of address space, so that an address tells its region. A region belongs
//! for ever to the OS thread that took it first, which alone allocates from it and counts what it frees without
//! synchronisation; what other OS threads free is counted apart.
//!
//! Generated workers install this allocator: `#[global_allocator]`. Without it, names are given by order of appearance.
//! Executions of P̂ₖ have no use for names, but allocate from a region all the same, since it is fast.

mod large;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::{null, with_exposed_provenance_mut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::stack::{GUARD, open, reserve};

/// The address space of one region, in bytes. Only the used part costs memory.
const REGION: usize = 64 << 20;

/// The largest allocation, in bytes, from a region. Larger ones come from the system, and are no shared objects that
/// need a name.
const LARGEST: usize = 1 << 20;

/// The most regions at once, over all threads.
const REGIONS: usize = 192;

/// The alignment, in bytes, of an execution's begin in a region that is not empty, so that the alignments of
/// allocations depend on their offsets alone.
const STEP: usize = 256;

/// No region.
const NOWHERE: usize = usize::MAX;

/// A region. All fields but `owner` and `freed_elsewhere` change on the owner's OS thread only.
struct Region {
    /// The name of the OS thread that the region belongs to; 0 before the region is taken.
    owner: AtomicUsize,
    /// The address at which the next allocation may begin.
    next: AtomicUsize,
    end: AtomicUsize,
    /// The number of allocations, less those that the owner has freed.
    live: AtomicUsize,
    /// The number of allocations that other OS threads have freed.
    freed_elsewhere: AtomicUsize,
    /// Whether a thread of a program allocates from this region.
    assigned: AtomicBool,
    /// The number of the thread that allocates from this region.
    thread: AtomicUsize,
}

impl Region {
    const fn unused() -> Self {
        Self {
            owner: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            live: AtomicUsize::new(0),
            freed_elsewhere: AtomicUsize::new(0),
            assigned: AtomicBool::new(false),
            thread: AtomicUsize::new(0),
        }
    }

    /// The address for one more allocation, if there is room.
    #[inline]
    fn next(&self, layout: Layout) -> Option<usize> {
        let address = self
            .next
            .load(Ordering::Relaxed)
            .next_multiple_of(layout.align());
        let end = address.wrapping_add(layout.size());
        if layout.size() > LARGEST || end > self.end.load(Ordering::Relaxed) {
            return None;
        }
        self.next.store(end, Ordering::Relaxed);
        Some(address)
    }

    /// Counts one allocation less.
    #[inline]
    fn free(&self) {
        // The thread that allocates from a region owns it, which is quicker to check.
        let is_in_use = in_use().is_some_and(|region| std::ptr::eq(region, self));
        if is_in_use || self.owner.load(Ordering::Relaxed) == this_os_thread() {
            let live = self.live.load(Ordering::Relaxed);
            self.live.store(live.wrapping_sub(1), Ordering::Relaxed);
        } else {
            self.freed_elsewhere.fetch_add(1, Ordering::Release);
        }
    }

    fn is_empty(&self) -> bool {
        self.live.load(Ordering::Relaxed) == self.freed_elsewhere.load(Ordering::Acquire)
    }

    /// The address at which an execution begins in the region that starts here: behind what earlier executions have
    /// left, if that leaves enough space.
    #[inline]
    fn begin(&self, start: usize) -> Option<usize> {
        if self.is_empty() {
            self.live.store(0, Ordering::Relaxed);
            self.freed_elsewhere.store(0, Ordering::Relaxed);
            self.next.store(start, Ordering::Relaxed);
            return Some(start);
        }
        let next = self.next.load(Ordering::Relaxed).next_multiple_of(STEP);
        if next > start + REGION / 2 {
            return None;
        }
        self.next.store(next, Ordering::Relaxed);
        Some(next)
    }
}

/// The region of threads that have none: always full, so that their allocations come from the system.
static FULL: Region = Region::unused();

static TABLE: [Region; REGIONS] = [const { Region::unused() }; REGIONS];

/// The address at which the first region begins.
static BASE: AtomicUsize = AtomicUsize::new(UNRESERVED);

/// The value of [`BASE`] while there is no region: so far from all addresses that no address seems to be in a region.
const UNRESERVED: usize = 1 << (usize::BITS - 1);

/// The number of regions that have been taken. Locked while a region is taken.
static TAKEN: Mutex<usize> = Mutex::new(0);

thread_local! {
    // Plain data: an allocator must not make its thread-locals allocate.
    static IN_USE: Cell<*const Region> = const { Cell::new(null()) };
    static WATCHER: Cell<Option<Watcher>> = const { Cell::new(None) };
    /// A byte whose address is this OS thread's name.
    static NAME: u8 = const { 0 };
}

/// The region that this OS thread allocates from now.
#[inline]
fn in_use() -> Option<&'static Region> {
    let region = IN_USE.try_with(Cell::get).unwrap_or(null());
    // SAFETY: what is in use is null or a static.
    unsafe { region.as_ref() }
}

#[inline]
fn this_os_thread() -> usize {
    NAME.with(|name| std::ptr::from_ref(name).addr())
}

fn start_of(region: usize) -> usize {
    BASE.load(Ordering::Relaxed) + region * REGION
}

/// The number of the region that an address is in; [`REGIONS`] or more for an address in no region.
#[inline]
fn region_of(address: usize) -> usize {
    address.wrapping_sub(BASE.load(Ordering::Relaxed)) / REGION
}

/// Whether an address is in any region.
#[inline]
pub(crate) fn contains(address: usize) -> bool {
    region_of(address) < REGIONS
}

/// The region of a thread of the program, and where the execution began in it.
#[derive(Clone, Copy, Debug)]
struct Place {
    region: usize,
    begin: usize,
    /// The number of allocations in the region when the execution began.
    live: usize,
    /// Whether the latest execution has used the region, and its memory has not been given back.
    is_used: bool,
}

impl Place {
    const NONE: Self = Self {
        region: NOWHERE,
        begin: 0,
        live: 0,
        is_used: false,
    };

    /// Whether the address has been given out since the execution began.
    fn contains(&self, address: usize) -> bool {
        TABLE.get(self.region).is_some_and(|region| {
            (self.begin..region.next.load(Ordering::Relaxed)).contains(&address)
        })
    }
}

/// The regions of one machine's threads.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    by_thread: Vec<Place>,
}

impl Drop for Arena {
    fn drop(&mut self) {
        for place in &self.by_thread {
            if let Some(region) = TABLE.get(place.region) {
                region.assigned.store(false, Ordering::Release);
            }
        }
    }
}

impl Arena {
    /// Called before an execution: readies the thread's region, or takes a new one for the thread.
    #[inline]
    pub(crate) fn begin_thread(&mut self, thread: usize) {
        if let Some(place) = self.by_thread.get_mut(thread)
            && let Some(region) = TABLE.get(place.region)
            && region.owner.load(Ordering::Relaxed) == this_os_thread()
            && let Some(begin) = region.begin(start_of(place.region))
        {
            place.begin = begin;
            place.live = region.live.load(Ordering::Relaxed);
            place.is_used = true;
        } else {
            self.change_region(thread);
        }
    }

    #[cold]
    fn change_region(&mut self, thread: usize) {
        while self.by_thread.len() <= thread {
            self.by_thread.push(Place::NONE);
        }
        if let Some(region) = TABLE.get(self.by_thread[thread].region) {
            region.assigned.store(false, Ordering::Release);
        }
        self.by_thread[thread] = take_region(thread);
    }

    /// The execution is over, and nothing of it is dropped: gives its memory back, if nothing that outlives the
    /// execution may refer to that memory. `is_let_go` decides that; it gets a predicate that says which addresses are
    /// given back, and is not called where there are none.
    #[inline]
    pub(crate) fn give_back(&mut self, is_let_go: impl FnOnce(&dyn Fn(usize) -> bool) -> bool) {
        let has_left = |place: &Place| {
            let region = TABLE.get(place.region);
            place.is_used
                && region.is_some_and(|region| region.live.load(Ordering::Relaxed) != place.live)
        };
        if self.by_thread.iter().any(has_left) || large::any() {
            self.give_back_what_is_left(is_let_go);
        }
        for place in &mut self.by_thread {
            place.is_used = false;
        }
    }

    #[cold]
    #[inline(never)]
    fn give_back_what_is_left(&self, is_let_go: impl FnOnce(&dyn Fn(usize) -> bool) -> bool) {
        let used = || self.by_thread.iter().filter(|place| place.is_used);
        // Nearly all addresses asked about are in no region, which this test finds at once.
        let is_left = |address| {
            let in_region = contains(address) && used().any(|place| place.contains(address));
            in_region || large::contains(address)
        };
        if !is_let_go(&is_left) {
            large::keep();
            return;
        }
        for place in used() {
            if let Some(region) = TABLE.get(place.region) {
                region.live.store(place.live, Ordering::Relaxed);
                region.next.store(place.begin, Ordering::Relaxed);
            }
        }
        large::free();
    }

    /// From here on the thread's code runs on this OS thread.
    #[inline]
    pub(crate) fn enter(&self, thread: usize) -> Outside {
        let place = self.by_thread.get(thread);
        let region = place.and_then(|place| TABLE.get(place.region));
        Outside(IN_USE.replace(std::ptr::from_ref(region.unwrap_or(&FULL))))
    }

    /// The address as a name: the thread in whose region it is, and the offset in bytes. `None` for an address in no
    /// thread's region.
    #[inline]
    pub(crate) fn locate(&self, address: usize) -> Option<(usize, usize)> {
        let at = region_of(address);
        let thread = TABLE.get(at)?.thread.load(Ordering::Relaxed);
        let place = self.by_thread.get(thread)?;
        // Memory before `begin` was allocated in another execution.
        (place.region == at && address >= place.begin).then(|| (thread, address - place.begin))
    }
}

/// The region that this OS thread allocated from before a switch.
#[must_use]
pub(crate) struct Outside(*const Region);

impl Outside {
    /// Switches back to the region before.
    #[inline]
    pub(crate) fn leave(self) {
        IN_USE.set(self.0);
    }
}

/// Sets whether memory that the program gets from the system, on this OS thread, is noted from here on, so that this
/// memory can be [given back](Arena::give_back).
pub(crate) fn note_large(is_noted: bool) {
    large::IS_NOTED.set(is_noted);
}

/// Whether the program's code runs on this OS thread.
#[inline]
pub(crate) fn is_entered() -> bool {
    in_use().is_some()
}

/// The runtime's own code runs, whose allocations outlive the execution.
#[inline]
pub(crate) fn leave_program() -> Outside {
    Outside(IN_USE.replace(null()))
}

/// Runs code of the runtime whose allocations outlive the execution.
#[inline]
pub(crate) fn outside<R>(run: impl FnOnce() -> R) -> R {
    let before = leave_program();
    let result = run();
    before.leave();
    result
}

/// A region for a thread of a program: an empty one if there is one, or else a new one, or else one with space left.
fn take_region(thread: usize) -> Place {
    let me = this_os_thread();
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let free = |at: &usize| {
        let region = &TABLE[*at];
        region.owner.load(Ordering::Relaxed) == me && !region.assigned.load(Ordering::Acquire)
    };
    let known = *taken;
    let empty = (0..known).find(|at| free(at) && TABLE[*at].is_empty());
    let new = empty.or_else(|| {
        let at = open_region(&mut taken)?;
        TABLE[at].next.store(start_of(at), Ordering::Relaxed);
        Some(at)
    });
    let mut others = (0..known).filter(free);
    let place = match new {
        Some(at) => TABLE[at].begin(start_of(at)).map(|begin| (at, begin)),
        None => others.find_map(|at| Some((at, TABLE[at].begin(start_of(at))?))),
    };
    let Some((at, begin)) = place else {
        return Place::NONE;
    };
    let region = &TABLE[at];
    region.owner.store(me, Ordering::Relaxed);
    region.assigned.store(true, Ordering::Relaxed);
    region.thread.store(thread, Ordering::Relaxed);
    Place {
        region: at,
        begin,
        live: region.live.load(Ordering::Relaxed),
        is_used: true,
    }
}

/// Opens one more region. `None` when all are taken, or the system gives no memory.
fn open_region(taken: &mut usize) -> Option<usize> {
    if BASE.load(Ordering::Relaxed) == UNRESERVED {
        BASE.store(reserve(REGIONS * REGION).ok()?, Ordering::Relaxed);
    }
    let at = *taken;
    let region = TABLE.get(at)?;
    let start = start_of(at);
    let end = start + REGION - GUARD;
    open(start, end - start).ok()?;
    region.end.store(end, Ordering::Relaxed);
    *taken += 1;
    Some(at)
}

/// Who hears of each block of a program's memory that is given out, and of each that is given back: address and length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watcher {
    pub(crate) allocated: fn(usize, usize),
    /// Returns whether the allocator may take the block back: not if it was given back before.
    pub(crate) freed: fn(usize, usize) -> bool,
}

/// Whether there is a watcher on any OS thread.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// Has the program's memory watched, on this OS thread, which is the only one that runs a program.
pub(crate) fn watch(watcher: Option<Watcher>) {
    WATCHER.set(watcher);
    IS_WATCHED.store(watcher.is_some(), Ordering::Relaxed);
}

/// Whether a program's memory is watched.
#[inline]
pub(crate) fn is_watched() -> bool {
    IS_WATCHED.load(Ordering::Relaxed)
}

#[cold]
#[inline(never)]
fn tell_allocated(address: usize, length: usize) {
    if is_entered()
        && let Ok(Some(watcher)) = WATCHER.try_with(Cell::get)
    {
        (watcher.allocated)(address, length);
    }
}

/// Returns whether the block may be taken back.
#[cold]
#[inline(never)]
fn tell_freed(address: usize, length: usize) -> bool {
    match WATCHER.try_with(Cell::get) {
        Ok(Some(watcher)) if is_entered() => (watcher.freed)(address, length),
        _ => true,
    }
}

/// The allocator of generated workers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator;

// SAFETY: memory comes from the system, or from a region: in a region from a part that is given out once, aligned as
// asked. A region is only begun anew when all of its allocations have been freed; otherwise new allocations lie behind
// them.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if let Some(region) = in_use()
            && let Some(address) = region.next(layout)
        {
            let live = region.live.load(Ordering::Relaxed);
            region.live.store(live + 1, Ordering::Relaxed);
            if IS_WATCHED.load(Ordering::Relaxed) {
                tell_allocated(address, layout.size());
            }
            return with_exposed_provenance_mut(address);
        }
        // SAFETY: the caller's promise.
        unsafe { alloc_outside(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if IS_WATCHED.load(Ordering::Relaxed) && !tell_freed(pointer.addr(), layout.size()) {
            return;
        }
        match TABLE.get(region_of(pointer.addr())) {
            Some(region) => region.free(),
            // SAFETY: what is in no region came from the system.
            None => unsafe { dealloc_outside(pointer, layout) },
        }
    }

    /// Memory from the system stays with the system: what the runtime keeps over executions may grow during an
    /// execution.
    ///
    /// An allocation in a region moves even where it is the region's last: whose region it is may depend on the
    /// schedule, and the bytes allocated from a region must not.
    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(region) = TABLE.get(region_of(pointer.addr())) else {
            // SAFETY: what is in no region came from the system.
            return unsafe { realloc_outside(pointer, layout, size) };
        };
        // SAFETY: the caller's promise: the size is not 0, and does not overflow when rounded up to the alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let copied = layout.size().min(size);
        if let Some(here) = in_use()
            && std::ptr::eq(here, region)
            && let Some(address) = region.next(wanted)
        {
            // One allocation for another.
            if IS_WATCHED.load(Ordering::Relaxed) && tell_freed(pointer.addr(), layout.size()) {
                tell_allocated(address, size);
            }
            let new = with_exposed_provenance_mut(address);
            // SAFETY: the two places are apart, and at least as long as what is copied.
            unsafe { pointer.copy_to_nonoverlapping(new, copied) };
            return new;
        }
        // SAFETY: the caller's promise.
        let new = unsafe { self.alloc(wanted) };
        if !new.is_null() {
            // SAFETY: the two places are apart, and at least as long as what is copied.
            unsafe { pointer.copy_to_nonoverlapping(new, copied) };
            if IS_WATCHED.load(Ordering::Relaxed) && !tell_freed(pointer.addr(), layout.size()) {
                return new;
            }
            region.free();
        }
        new
    }
}

// Rare cases are functions of their own, so that the common ones are short enough to be inlined where memory is
// allocated.

/// Allocates where no region has room, since no region is in use, or since it is full.
///
/// # Safety
/// The requirements of [`GlobalAlloc::alloc`].
#[inline(never)]
unsafe fn alloc_outside(layout: Layout) -> *mut u8 {
    // SAFETY: the caller's promise.
    let memory = unsafe { System.alloc(layout) };
    if in_use().is_some() {
        large::note(memory, layout);
        if IS_WATCHED.load(Ordering::Relaxed) {
            tell_allocated(memory.addr(), layout.size());
        }
    }
    memory
}

/// # Safety
/// The requirements of [`GlobalAlloc::dealloc`]; the memory is the system's, and may have been noted.
#[inline(never)]
unsafe fn dealloc_outside(pointer: *mut u8, layout: Layout) {
    if large::any() {
        large::forget(pointer);
    }
    // SAFETY: the caller's promise.
    unsafe { System.dealloc(pointer, layout) };
}

/// # Safety
/// The requirements of [`GlobalAlloc::realloc`]; the memory is the system's.
#[inline(never)]
unsafe fn realloc_outside(pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    if large::any() && large::forget(pointer) {
        // SAFETY: the caller's promise.
        return unsafe { realloc_noted(pointer, layout, size) };
    }
    // SAFETY: the caller's promise.
    unsafe { System.realloc(pointer, layout, size) }
}

/// # Safety
/// The requirements of [`GlobalAlloc::realloc`]; the memory is the system's, and was noted.
#[cold]
#[inline(never)]
unsafe fn realloc_noted(pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    // SAFETY: the caller's promise.
    let new = unsafe { System.realloc(pointer, layout, size) };
    let (memory, size) = if new.is_null() {
        (pointer, layout.size())
    } else {
        (new, size)
    };
    // SAFETY: the caller's promise, or what has been asked before.
    large::note(memory, unsafe {
        Layout::from_size_align_unchecked(size, layout.align())
    });
    new
}
