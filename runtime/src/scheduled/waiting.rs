//! Waiting to be notified.
//!
//! What waits in the way of a condition variable is an object with a [queue](seqz_explore::waiting): threads enter it, go
//! on once they are notified, and notify others. Each of the three is an event. A condition variable's `wait` enters the
//! queue first and gives its mutex back then: since that is a step of its own, others may run in between, but as they don't
//! have the mutex, nothing that the mutex protects has changed. In std the two are one step, and nobody can tell.

use seqz_explore::waiting::Queue;
use seqz_explore::{Kind, Object};

use super::state::Handle;
use crate::engine::Site;

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
                give_up_waiting();
            }
            return false;
        }
        let thread = self.get().current_name();
        let notified = self.queue(object, |queue| queue.wake(thread));
        if !notified && !timed {
            give_up_waiting();
        }
        self.did(Kind::Wake, object, u64::from(notified), 0, site);
        notified
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
        super::arena::outside(|| {
            let state = self.get();
            state.stale = true;
            change(state.objects.queue(object))
        })
    }
}

/// Threads can't be switched while one unwinds: std counts panics per OS thread.
fn give_up_waiting() -> ! {
    eprintln!(
        "a destructor waits, while its thread is unwound, for a notification by another thread"
    );
    std::process::abort();
}
