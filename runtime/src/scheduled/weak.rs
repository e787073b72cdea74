//! Weak memory: a search says for each read of an atomic from which write it reads.
//!
//! The order in which events run follows program order and reads-from, so that whatever happens before an event has run
//! before it. Plain data and what locks protect so hold what they must, without being told. An atomic holds what was
//! written last in that order, which is nothing that the model knows: no read asks for it.
//!
//! What threads learn by events that the memory model of the search does not have is not followed: such an event ends the
//! search, with its place.

use std::sync::atomic::{AtomicBool, Ordering};

use seqz_explore::event::Order;
use seqz_explore::{Kind, Outcome, Pending};

use super::state::{Handle, State, current};
use crate::memory::arena::leave_program;
use crate::vocabulary::Site;

/// Whether the machine that runs asks for the orderings of operations on atomics.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Sets whether the machine that runs asks for orderings.
pub(super) fn ask(asked: bool) {
    ASKED.store(asked, Ordering::Relaxed);
}

/// The next operation on an atomic that the current thread announces has these orderings: where it writes, and where it
/// only reads.
#[inline]
pub(crate) fn announces(success: Ordering, failure: Ordering) {
    if ASKED.load(Ordering::Relaxed) {
        note_orders(success, failure);
    }
}

#[cold]
fn note_orders(success: Ordering, failure: Ordering) {
    if let Some(machine) = current() {
        machine.get().orders = [success.into(), failure.into()];
    }
}

/// The current thread makes a fence.
pub(crate) fn fence(order: Ordering, site: Site) {
    if ASKED.load(Ordering::Relaxed)
        && let Some(machine) = current()
        && !machine.is_ending()
    {
        machine.get().orders = [order.into(); 2];
        machine.turn(Kind::Fence, 0, 0, site);
        machine.did(Kind::Fence, 0, 0, 0, site);
    }
}

/// What this operation is, if the memory model does not have it.
fn unknown(pending: &Pending, is_plain: bool) -> Option<&'static str> {
    let is_atomic = pending.order != Order::Plain;
    match pending.kind {
        Kind::Local | Kind::Fork | Kind::Begin | Kind::End | Kind::Join | Kind::Fence => None,
        Kind::Lock | Kind::Unlock => None,
        Kind::Read | Kind::Write if is_atomic || is_plain => None,
        Kind::Update | Kind::CompareExchange if is_atomic => None,
        Kind::TryLock | Kind::TryLockFailed => Some("an attempt to take a lock"),
        Kind::LockShared | Kind::TryLockShared | Kind::TryLockSharedFailed | Kind::UnlockShared => {
            Some("a lock that is taken shared")
        }
        Kind::Wait | Kind::Wake | Kind::Notify => {
            Some("a condition variable, a channel, a barrier, or a thread that parks")
        }
        Kind::Add | Kind::Take | Kind::Upgrade | Kind::FailedUpdate => {
            Some("a number of handles that the program can tell")
        }
        Kind::Read | Kind::Write | Kind::Update | Kind::CompareExchange => {
            Some("an item of std that is made of atomics")
        }
    }
}

impl Handle {
    /// Announces an operation with its orderings, and returns when it is its turn.
    pub(super) fn turn_weakly(self, pending: Pending, site: Site) {
        let state = self.get();
        let [order, failure] = std::mem::replace(&mut state.orders, [Order::Plain; 2]);
        let pending = Pending {
            order,
            failure,
            ..pending
        };
        if let Some(what) = unknown(&pending, state.plain.contains(&pending.object)) {
            let message = format!("not followed under rc11: {what}");
            self.give_up(&message, site);
        }
        self.announce(pending, site);
    }

    /// Whether the scheduler says what reads of atomics read.
    #[inline]
    pub(crate) fn is_weak(self) -> bool {
        self.get().settings.weak
    }

    /// What the current thread, in its turn, reads of an atomic that holds this.
    pub(crate) fn source(self, held: u64) -> u64 {
        let inside = leave_program();
        self.tell();
        let state = self.get();
        let value = match state.scheduler.filter(|_| !state.ending) {
            // SAFETY: the scheduler outlives the execution, and is called by the machine's own code only.
            Some(scheduler) => unsafe { &mut *scheduler }.source(held),
            None => held,
        };
        inside.leave();
        value
    }

    /// Ends the search under weak memory, which does not follow this.
    #[cold]
    pub(crate) fn refuse_weakly(self, what: &str, site: Site) {
        if self.is_weak() && !self.is_ending() {
            self.give_up(&format!("not followed under rc11: {what}"), site);
        }
    }

    /// Ends the execution if the memory model does not allow the latest event.
    pub(crate) fn end_if_void(self) {
        if self.get().ending {
            return;
        }
        self.flush();
        let state = self.get();
        let scheduler = state.scheduler;
        // SAFETY: as above.
        if scheduler.is_some_and(|scheduler| unsafe { &*scheduler }.is_void()) {
            state.next = None;
            state.outcome = Outcome::Abandoned;
            let thread = state.current;
            self.switch_away(thread);
        }
    }
}

impl State {
    /// Whether what this event read is the latest that there is to read.
    pub(super) fn is_latest(&self, event: usize) -> bool {
        self.scheduler.is_none_or(|scheduler| {
            // SAFETY: the scheduler outlives the execution, and is called by the machine's own code only.
            unsafe { &*scheduler }.is_latest(event)
        })
    }
}
