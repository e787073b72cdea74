//! Waiting to be notified.
//!
//! What waits in the way of a condition variable is an object with a [queue](seqz_explore::waiting): threads enter it, go
//! on once they are notified, and notify others. Each of the three is an event. A condition variable's `wait` enters the
//! queue first and gives its mutex back then: since that is a step of its own, others may run in between, but as they don't
//! have the mutex, nothing that the mutex protects has changed. In std the two are one step, and nobody can tell.

use seqz_explore::hash::mix;
use seqz_explore::waiting::Queue;
use seqz_explore::{Kind, Object, Transition};

use super::state::Handle;
use crate::vocabulary::Site;
use crate::vocabulary::ended::UNWINDS;

/// What comes of an attempt at something that may have to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// It has to wait: the thread enters the object's queue.
    Waits,
    /// It is done, and this, which is not 0, is what the thread sees.
    Done(u64),
    /// The same, and nothing has changed.
    Looked(u64),
    /// It is done, the thread sees this, and all who wait may try again.
    DoneForAll(u64),
}

/// How often threads may go on without a notification while an execution is being ended: see [`Handle::wake`].
const ENDED_WAITS: u32 = 10_000;

impl Handle {
    /// Enters the object's queue.
    pub(crate) fn wait(self, object: Object, site: Site) {
        self.turn(Kind::Wait, object, 0, site);
        if !self.is_ending() {
            let thread = self.get().current_name();
            self.queue(object, |queue| queue.wait(thread));
        }
        self.did(Kind::Wait, object, 0, 0, site);
    }

    /// Waits until the current thread has been notified, or, if it waits with a time limit, perhaps no longer. Whether it
    /// was notified.
    ///
    /// When the execution is being ended, a destructor may come here that nobody will notify. It goes on as if it had been,
    /// as std allows; but if it asks again and again, there is no way to end it.
    pub(crate) fn wake(self, object: Object, timed: bool, site: Site) -> bool {
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

    /// Attempts something in one step, which is this transition. What the thread sees, or nothing if it has entered the queue and has to
    /// [`wake`](Self::wake).
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

    /// Does something in one step that lets all who wait on the object try again.
    pub(crate) fn change_for_all(
        self,
        object: Object,
        site: Site,
        change: impl FnOnce() -> Transition,
    ) {
        self.turn(Kind::Notify, object, 0, site);
        let transition = change();
        self.queue(object, Queue::notify_all);
        self.did(Kind::Notify, object, 0, 1, site);
        self.note_transition(transition);
    }

    /// Tells a message from all others that an execution may have, and from 0, 1, 2, …: it is a function of what its
    /// sender has seen, and with that so is the message.
    pub(crate) fn new_message(self) -> u64 {
        let state = self.get();
        let slot = &mut state.slots[state.current];
        slot.messages += 1;
        let number = u64::from(slot.messages) << 32 | state.current as u64;
        mix(self.fresh(), number) | 1 << 63
    }

    /// Notifies one of those that wait, or all of them.
    pub(crate) fn notify(self, object: Object, all: bool, site: Site) {
        self.turn(Kind::Notify, object, 0, site);
        self.queue(object, |queue| {
            if all {
                queue.notify_all();
            } else {
                queue.notify_one();
            }
        });
        self.did(Kind::Notify, object, 0, u64::from(all), site);
    }

    /// Changes who waits on the object, and with that perhaps who can run.
    pub(crate) fn queue<R>(self, object: Object, change: impl FnOnce(&mut Queue) -> R) -> R {
        crate::memory::outside(|| {
            let state = self.get();
            state.stale = true;
            change(state.objects.queue(object))
        })
    }
}

/// What nobody sends any more.
const NOTIFICATION: &str = "for a notification by another thread";

/// The execution is ended, and nobody does what a destructor waits for. It is no failure of the program; whoever listens is
/// told that nothing can be known of what follows.
fn give_up_waiting(what: &str) -> ! {
    eprintln!("{UNWINDS}{what}");
    std::process::abort();
}
