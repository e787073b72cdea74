//! Parking, and who else parks a thread.
//!
//! That a thread has been unparked is kept for the next time that it parks, once. But std parks threads, too: those that wait for a
//! message, or for room for one, and those that wait for a scope's threads. Whoever is unparked before or while it waits so
//! has it used up, and parks for ever later. Nobody can tell that from being late but by parking, so:
//!
//! - who waits for a channel, and has asked for its own handle before, has all used up that has come until it goes on
//!   ([`Transition::UseUp`]). That it is not used up is what happens where it comes later, and needs not wait;
//! - wherever both may happen though it waits (a scope's end; a channel without room, whose other end can tell; a time limit),
//!   it is used up where things [happen without a reason](super::spurious) and this does, and else it isn't;
//! - who has not asked for its own handle has nothing used up.
//!
//! In the latter two cases, if such a thread parks later, in an execution in which it is unparked, that is noted, and nothing is
//! promised.

use seqz_explore::{Kind, Transition};

use super::state::Handle;
use super::waiting::Attempt;
use crate::vocabulary::Site;

/// What is known of a thread that may be unparked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unparks {
    /// It has asked for its own handle, and may have given it to others.
    has_handle: bool,
    /// Somebody has unparked it.
    any: bool,
    /// It has waited where that may have been used up, and has not.
    left: bool,
}

/// Where a thread has waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// Where nobody could tell whether it did, or came later.
    Unnoticed,
    /// Where somebody could, or where it may not have been parked.
    Perhaps,
}

impl Handle {
    /// The current thread asks for its own handle.
    pub(crate) fn hands_itself_out(self) {
        let thread = self.thread() as usize;
        self.get().slots[thread].unparks.has_handle = true;
    }

    /// The current thread goes on where std may have parked it for something else than being unparked.
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

    /// Parks the current thread until it is unparked, with a time limit or without. Whether that came before the time was over.
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
        let is_unparked = unparked.is_some() || self.wake(object, timed, site);
        let state = self.get();
        let Unparks { any, left, .. } = state.slots[slot].unparks;
        state.has_left_unparks_open |= any && left && !timed;
        is_unparked
    }

    /// Unparks a thread: the one that is parked goes on, and one that is not won't be the next time. To do so twice is
    /// as good as once.
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
