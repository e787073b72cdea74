//! Starting threads, switching to them, and ending them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seqz_explore::Pending;

use super::coroutine::{self, Yielder};
use super::state::{Handle, State};
use super::threads::{Slot, Stage};
use crate::ending::Destructor;
use crate::ending::Results;
use crate::memory::arena::leave_program;
use crate::memory::stack::GuardedStack;
use crate::vocabulary::Site;

/// The payload of the unwinding that ends a thread with the execution.
pub(crate) struct Ended;

/// What becomes of the threads that are not over when the execution is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtEnd {
    /// They are left where they are, and no code of the program runs any more, as in a process that has ended: what
    /// destructors would do is nothing that the program does. What the threads own is given back with the execution's
    /// memory.
    Forgets,
    /// They are unwound, where the process is not put back, as in tests: then the threads must give back what they own.
    Unwinds,
}

impl AtEnd {
    /// What this process allows.
    pub(super) fn possible() -> Self {
        if crate::process::is_put_back() {
            Self::Forgets
        } else {
            Self::Unwinds
        }
    }
}

/// Creates a thread of this name, spawned at this place, and runs it up to its first announcement.
pub(super) fn start(
    handle: Handle,
    thread: usize,
    (name, spawned_at): (Option<String>, Option<Site>),
    body: Box<dyn FnOnce()>,
) {
    let state = handle.get();
    let inside = leave_program();
    while state.slots.len() <= thread {
        state.slots.push(Slot::absent());
        state.pending.push(Pending::default());
        state.stacks.push((0, 0));
        state.free.push(None);
    }
    state.arena.begin_thread(thread);
    let (parent, child) = (state.current, thread);
    if parent != child {
        let number = |thread| u32::try_from(thread).unwrap_or(0);
        state.clocks.follow(number(child), number(parent));
    }
    let stack = match state.free[thread].take() {
        Some(stack) => stack,
        None => match GuardedStack::new(state.settings.stack) {
            Ok(stack) => stack,
            Err(error) => panic!("no memory for a thread's stack: {error}"),
        },
    };
    state.stacks[thread] = stack.range();
    let slot = &mut state.slots[thread];
    slot.stage = Stage::Starting;
    // The thread may look at its name before its first event.
    slot.name = name;
    slot.spawned_at = spawned_at;
    let coroutine = coroutine::Thread::with_stack(stack, move |yielder, ()| {
        handle.get().slots[thread].yielder = std::ptr::from_ref::<Yielder>(yielder);
        // The payload of a spawned thread's panic is kept for the thread that joins it: only the payload that ends the
        // execution comes here.
        let result = catch_unwind(AssertUnwindSafe(body));
        if thread == 0 {
            handle.harness_ended(result);
        } else if result.is_err_and(|payload| !payload.is::<Ended>()) {
            handle.note_panic();
        }
        handle.destroy_locals(thread);
        handle.ended(thread);
    });
    *state.slots[thread].coroutine.get_mut() = Some(coroutine);
    let creator = std::mem::replace(&mut state.current, thread);
    // The creator may be unwinding. The new thread isn't.
    match state.counter.filter(|counter| counter.is_raised()) {
        Some(counter) => counter.hide(|| resume_inside(handle, thread)),
        None => resume_inside(handle, thread),
    }
    let state = handle.get();
    state.current = creator;
    if state.slots[thread].stage == Stage::Starting {
        state.slots[thread].stage = Stage::Live;
        state.live.insert(u8::try_from(thread).unwrap_or(0));
        state.stale = true;
    }
    inside.leave();
}

/// Lets a thread run until it is another thread's turn.
pub(super) fn resume(handle: Handle, thread: usize) {
    let state = handle.get();
    state.next = None;
    state.current = thread;
    resume_inside(handle, thread);
}

pub(super) fn resume_inside(handle: Handle, thread: usize) {
    let state = handle.get();
    let place = state.slots[thread].coroutine.get();
    // SAFETY: the place is on the heap, and nothing else borrows it: a thread that runs is not resumed, and its slot is
    // only asked for its coroutine when all threads have stopped.
    let Some(coroutine) = (unsafe { &mut *place }) else {
        return;
    };
    let outside = state.arena.enter(thread);
    if state.at_end == AtEnd::Forgets {
        let before = crate::process::enter(u32::try_from(thread).unwrap_or(0));
        coroutine.resume(());
        crate::process::leave(before);
    } else {
        // The process is not put back, so that it does not matter whose code runs.
        coroutine.resume(());
    }
    outside.leave();
    if coroutine.done() {
        // SAFETY: nothing else borrows the place, and `coroutine` is not used any more.
        let stack = unsafe { &mut *place }.take().map(|over| over.into_stack());
        handle.get().free[thread] = stack;
    }
}

/// Ends all threads of the execution.
pub(super) fn end_all(handle: Handle) {
    match handle.get().at_end {
        AtEnd::Forgets => {
            forget_all(handle.get());
            crate::panics::leave_hook();
            crate::locals::leave();
        }
        AtEnd::Unwinds => {
            unwind_all(handle);
            crate::panics::forget_hook();
            crate::locals::clear();
        }
    }
}

fn unwind_all(handle: Handle) {
    handle.get().ending = true;
    for thread in (0..handle.get().slots.len()).rev() {
        if handle.get().slots[thread].coroutine.get_mut().is_some() {
            resume(handle, thread);
        }
    }
}

fn forget_all(state: &mut State) {
    for (slot, free) in state.slots.iter_mut().zip(&mut state.free) {
        let Some(mut coroutine) = slot.coroutine.get_mut().take() else {
            continue;
        };
        if let Some(counter) = state.counter {
            counter.forget(&mut slot.panics);
        }
        // SAFETY: nothing on the stack is used again: no thread of the execution runs any more, the machine's own code
        // on it holds nothing, and all that outlives the execution forgets what the program has given to it.
        unsafe { coroutine.force_reset() };
        *free = Some(coroutine.into_stack());
    }
}

impl Handle {
    /// From here on, the ends of threads are events.
    pub(crate) fn watch_ends(self) {
        self.get().watches_ends = true;
    }

    /// From here on, letting go of a result of these is an event.
    pub(crate) fn watch_results(self, results: Results) {
        self.get().watches_results = results;
    }

    /// The results for which letting go is an event.
    pub(crate) fn watches_results(self) -> Results {
        self.get().watches_results
    }

    /// Whether the ends of threads are events.
    pub(crate) fn watches_ends(self) -> bool {
        self.get().watches_ends
    }

    /// Destroys the current thread's thread-locals, also those that are left if the execution is ended meanwhile.
    fn destroy_locals(self, thread: usize) {
        let number = u32::try_from(thread).unwrap_or(0);
        let before = self.get().steps;
        let destroy = || {
            crate::locals::destroy(number);
            crate::process::run_destructors();
        };
        while let Err(payload) = catch_unwind(AssertUnwindSafe(destroy)) {
            if !payload.is::<Ended>() {
                self.die_of_a(Destructor::ThreadLocal);
            }
        }
        let state = self.get();
        state.slots[thread].destroyed_with_events = state.steps != before;
    }

    /// A scope that ends has waited for this thread. With std it would not have waited for the destructors of the
    /// thread's thread-locals.
    pub(crate) fn scope_waited_for(self, thread: u32) {
        let state = self.get();
        let slot = state.slots.get(thread as usize);
        state.has_left_scope_open |= slot.is_some_and(|slot| slot.destroyed_with_events);
    }

    /// The current thread is over.
    pub(super) fn ended(self, thread: usize) {
        let state = self.get();
        let starting = state.slots[thread].stage == Stage::Starting;
        state.slots[thread].stage = Stage::Ended;
        state.live.remove(u8::try_from(thread).unwrap_or(0));
        state.stale = true;
        if !starting && !state.ending {
            self.decide();
        }
    }
}
