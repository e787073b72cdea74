//! Parking, and std's own waits that park a thread, too.
//!
//! That a thread has been unparked is kept, as its *token*, for the next time that the thread parks, once. But std
//! parks threads, too: those that wait for a message, or for room for one, and those that wait for a scope's threads. A
//! thread that is unparked before or during such a wait may have its token used up by it, and parks for ever later. A
//! program can tell this from an unpark that comes late by parking only, so:
//!
//! - a thread that waits for a channel, and has asked for its own handle before, has its token used up if that has come
//!   until the thread goes on ([`Transition::UseUp`]). The other outcome, that the token is left, is the one of an
//!   unpark that comes later, and needs no event of its own;
//! - where both outcomes are possible although the thread waits (a scope's end; a channel without room, whose other end
//!   can tell; a time limit), the token is used up where things [happen without a reason](super::spurious) and this
//!   does, and else it is left;
//! - a thread that has not asked for its own handle has nothing used up.
//!
//! In the latter two cases, if such a thread parks later, in an execution in which it is unparked, that is noted, and
//! nothing is promised.

use seqz_explore::{Kind, Transition};

use super::state::Handle;
use super::waiting::Attempt;
use crate::vocabulary::{Awaited, Site};

/// What is known of a thread that may be unparked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unparks {
    /// Whether the thread has asked for its own handle, and may have given it to others.
    has_handle: bool,
    /// Whether some thread has unparked it.
    any: bool,
    /// Whether it has waited where its token may have been used up, and has not been.
    left: bool,
}

/// What others can tell of a wait in which std may have parked the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// No thread could tell whether the thread waited, or came later.
    Unnoticed,
    /// Another thread could tell, or the thread may not have been parked.
    Perhaps,
}

impl Handle {
    /// The current thread asks for its own handle.
    pub(crate) fn hands_itself_out(self) {
        let thread = self.thread() as usize;
        self.get().slots[thread].unparks.has_handle = true;
    }

    /// The current thread goes on after a wait in which std may have parked it for something else than to be unparked.
    pub(crate) fn was_parked_inside(self, waited: Waited, site: Site) {
        let thread = self.thread();
        let unparks = &mut self.get().slots[thread as usize].unparks;
        let is_known = unparks.has_handle;
        unparks.left |= waited == Waited::Perhaps || !is_known;
        if !is_known || waited == Waited::Perhaps && !self.goes_without_reason(site) {
            return;
        }
        let object = self.get().objects.parking(thread);
        self.attempt(object, site, Transition::UseUp, || {
            self.get().slots[thread as usize].is_unparked = false;
            Attempt::Done(1)
        });
    }

    /// Parks the current thread until it is unparked, with a time limit or without. Returns whether the thread was
    /// unparked before the time was over.
    pub(crate) fn park(self, timed: bool, site: Site) -> bool {
        if self.happens_without_reason(site) {
            return true;
        }
        let thread = self.thread();
        let object = self.get().objects.parking(thread);
        let slot = thread as usize;
        let unparked = self.attempt(object, site, Transition::Park, || {
            if std::mem::take(&mut self.get().slots[slot].is_unparked) {
                Attempt::Done(1)
            } else {
                Attempt::Waits
            }
        });
        let is_unparked = unparked.is_some() || self.wake(object, Awaited::Unpark, timed, site);
        let state = self.get();
        let Unparks { any, left, .. } = state.slots[slot].unparks;
        state.has_left_unparks_open |= any && left && !timed;
        is_unparked
    }

    /// Unparks a thread: a parked thread goes on, and a thread that is not parked will not wait the next time that it
    /// parks. Two unparks do no more than one.
    pub(crate) fn unpark(self, thread: u32, site: Site) {
        let object = self.get().objects.parking(thread);
        self.turn(Kind::Notify, object, 0, site);
        let is_parked = self.queue(object, |queue| {
            queue.notify_one();
            queue.waiters().next().is_some()
        });
        if let Some(slot) = self.get().slots.get_mut(thread as usize) {
            slot.is_unparked |= !is_parked;
            slot.unparks.any = true;
        }
        self.did(Kind::Notify, object, 0, 0, site);
        self.note_transition(Transition::Unpark);
    }
}
