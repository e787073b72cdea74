//! Waiting to be notified.
//!
//! What waits in the way of a condition variable is an object with a [queue](seqz_explore::waiting): threads enter it, go
//! on once they are notified, and notify others. Each of the three is an event. A condition variable's `wait` enters the
//! queue first and gives its mutex back then: since that is a step of its own, others may run in between, but as they
//! don't have the mutex, nothing that the mutex protects has changed. In std the two are one step, and no thread can
//! tell.

use seqz_explore::hash::mix;
use seqz_explore::waiting::Queue;
use seqz_explore::{Kind, Object, Transition};

use super::state::Handle;
use crate::vocabulary::ended::UNWINDS;
use crate::vocabulary::{Awaited, Site};

/// The result of an attempt at something that may have to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// The thread has to wait: it enters the object's queue.
    Waits,
    /// The attempt is done; the thread sees this value, which is not 0.
    Done(u64),
    /// The attempt is done without a change; the thread sees this value, which is not 0.
    Looked(u64),
    /// The attempt is done, the thread sees this value, and all threads that wait on the object may try again.
    DoneForAll(u64),
}

/// The number of times that threads may go on without a notification while an execution is being ended: see
/// [`Handle::wake`].
const ENDED_WAITS: u32 = 10_000;

impl Handle {
    /// The current thread enters the object's queue.
    pub(crate) fn wait(self, object: Object, site: Site) {
        self.wait_as(object, 0, site);
    }

    /// Does what [`Self::wait`] does, as an event that P̂ₖ doesn't log.
    pub(crate) fn wait_unlogged(self, object: Object, site: Site) {
        self.wait_as(object, super::OF_COUNT, site);
    }

    fn wait_as(self, object: Object, announced: u64, site: Site) {
        self.turn(Kind::Wait, object, announced, site);
        if !self.is_ending() {
            let thread = self.get().current_name();
            self.queue(object, |queue| queue.wait(thread));
        }
        self.did(Kind::Wait, object, 0, 0, site);
    }

    /// Waits until the current thread has been notified, or, if `timed`, perhaps no longer. Returns whether it was
    /// notified.
    ///
    /// When the execution is being ended, a destructor may wait here for a notification that no thread will give. It
    /// goes on as if it had been notified, as std allows; but a destructor that waits again and again can't be ended.
    pub(crate) fn wake(self, object: Object, awaited: Awaited, timed: bool, site: Site) -> bool {
        if !self.is_ending() {
            let state = self.get();
            state.slots[state.current].awaited = awaited;
        }
        self.turn(Kind::Wake, object, u64::from(timed), site);
        if self.is_ending() {
            let state = self.get();
            state.ended_waits += 1;
            if state.ended_waits > ENDED_WAITS {
                give_up_waiting(NOTIFICATION);
            }
            return false;
        }
        let thread = self.get().current_name();
        let notified = self.queue(object, |queue| queue.wake(thread));
        self.did(Kind::Wake, object, u64::from(notified), 0, site);
        notified
    }

    /// Attempts something in one step, which is this transition. Returns what the thread sees, or `None` if it has
    /// entered the queue and has to [`wake`](Self::wake).
    pub(crate) fn attempt(
        self,
        object: Object,
        site: Site,
        transition: Transition,
        attempt: impl FnOnce() -> Attempt,
    ) -> Option<u64> {
        self.turn(Kind::Wait, object, 0, site);
        let attempt = attempt();
        if self.is_ending() {
            return match attempt {
                Attempt::Waits => None,
                Attempt::Done(found) | Attempt::Looked(found) | Attempt::DoneForAll(found) => {
                    Some(found)
                }
            };
        }
        let seen = match attempt {
            Attempt::Waits => {
                let thread = self.get().current_name();
                self.queue(object, |queue| queue.wait(thread));
                self.did(Kind::Wait, object, 0, 0, site);
                None
            }
            Attempt::Done(found) => {
                self.did(Kind::Wait, object, found, 0, site);
                Some(found)
            }
            Attempt::Looked(found) => {
                self.did(Kind::Wait, object, found, found, site);
                Some(found)
            }
            Attempt::DoneForAll(found) => {
                self.queue(object, Queue::notify_all);
                self.did(Kind::Notify, object, found, 1, site);
                Some(found)
            }
        };
        self.note_transition(transition);
        seen
    }

    /// Makes a change in one step that lets all threads that wait on the object try again. `change` returns the transition, and
    /// what its thread sees of it: 0 if nothing.
    pub(crate) fn change_for_all(
        self,
        object: Object,
        site: Site,
        change: impl FnOnce() -> (Transition, u64),
    ) {
        self.turn(Kind::Notify, object, 0, site);
        let (transition, outcome) = change();
        let seen = if self.tells_values() { outcome } else { 0 };
        self.queue(object, Queue::notify_all);
        self.did(Kind::Notify, object, seen, 1, site);
        self.note_transition(transition);
    }

    /// A number for a message that differs from those of all other messages of an execution, and from 0, 1, 2, …. It is
    /// a function of what its sender has seen, and so the message is, too.
    pub(crate) fn new_message(self) -> u64 {
        let state = self.get();
        let slot = &mut state.slots[state.current];
        slot.messages += 1;
        let number = u64::from(slot.messages) << 32 | state.current as u64;
        mix(self.fresh(), number) | 1 << 63
    }

    /// Notifies one of the threads that wait on the object, or `all` of them.
    pub(crate) fn notify(self, object: Object, all: bool, site: Site) {
        self.notify_as(object, all, 0, site);
    }

    fn notify_as(self, object: Object, all: bool, announced: u64, site: Site) {
        self.turn(Kind::Notify, object, announced, site);
        self.queue(object, |queue| {
            if all {
                queue.notify_all();
            } else {
                queue.notify_one();
            }
        });
        self.did(Kind::Notify, object, 0, u64::from(all), site);
    }

    /// Notifies all threads that wait for something to be over, as an event that P̂ₖ doesn't log.
    pub(crate) fn announce_over(self, object: Object, site: Site) {
        self.notify_as(object, true, super::OF_COUNT, site);
    }

    /// Changes the object's queue, and with that perhaps which threads can run.
    pub(crate) fn queue<R>(self, object: Object, change: impl FnOnce(&mut Queue) -> R) -> R {
        crate::memory::outside(|| {
            let state = self.get();
            state.stale = true;
            change(state.objects.queue(object))
        })
    }
}

/// What a destructor waits for in vain, for the message that ends the process.
const NOTIFICATION: &str = "for a notification by another thread";

/// Ends the process: the execution is being ended, and no thread does what a destructor waits for. That is no failure
/// of the program; the driver, which reads the message, is told that nothing can be known of what follows.
fn give_up_waiting(what: &str) -> ! {
    eprintln!("{UNWINDS}{what}");
    std::process::abort();
}
