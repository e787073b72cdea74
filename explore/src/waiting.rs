//! Which threads wait on an object, and which notifications are left for these threads.
//!
//! A condition variable in std lets `notify_one` wake *some* waiter. Choosing the waiter at the notification would be a
//! choice that no scheduler sees. So here the choice is put off: a notification leaves a *permit*, and the first waiter to
//! go on uses the permit up. The choice is then one among the orders of [`Wake`](crate::Kind::Wake) events, which every
//! strategy explores.
//!
//! - [`Queue::wait`] puts the thread at the queue's end.
//! - [`Queue::notify_one`] puts a permit at the queue's end, if the queue has fewer permits than waiters. Otherwise all
//!   waiters are as good as notified, and [`Queue::notify_one`] does nothing.
//! - [`Queue::notify_all`] puts permits at the queue's end until there are as many permits as waiters.
//! - A waiter is *covered* by the permits behind this waiter. [`Queue::wake`] takes the waiter out, with the first permit
//!   that covers the waiter: this waiter was notified. If no permit covers the waiter, the waiter was not notified; only a
//!   wait with a time limit may end so.
//!
//! **Why permits change nothing.** Compare with the machine that chooses: there `notify_one` marks one waiter without mark,
//! if there is one, `notify_all` marks all, a waiter with a mark may go on as notified, and one without a mark that has a
//! time limit may go on as timed out. Let Π be the machine with permits. Claim: in each, a thread can see the same.
//!
//! *Every behaviour of the choosing machine is one of Π.* Let each chosen waiter's `Wake` run right after the notification
//! (the waiter's thread sees the notification later: its next operation, the lock of its mutex, waits for its turn).
//! Then no permit is ever left from before, so a notification that finds a waiter leaves its permits for exactly the chosen
//! waiters, and a waiter that was not chosen finds no permit, and may time out.
//!
//! *Every behaviour of Π is one of the choosing machine.* First an invariant: the permits of a queue can be matched to
//! different waiters, each permit to a waiter that the permit covers. A new permit covers all waiters, and one of these
//! waiters is not matched, since there are more waiters than permits. If waiter w goes on with permit p, the first permit
//! that covers w, and the matching has p ↔ v and w ↔ q with v ≠ w, then q is behind p, since p is the first behind w; so q
//! covers v, as p does, and v ↔ q completes a matching of the permits and waiters that are left. (If w has no q, v has no
//! permit in the new matching.) A waiter that times out is covered by no permit, so this waiter has no permit in the
//! matching. So assign to each permit the waiter that goes on with the permit, and to the permits that are left in the end
//! the waiters of a matching. In the choosing machine, let each notification mark the waiters of its permits. Such a waiter
//! waits at that moment (the waiter is before the permit, and still there), and is marked once. A notification does nothing
//! in one machine iff it does nothing in the other, as the number of waiters without a mark in the one machine equals the
//! number of waiters less the number of permits in the other. A waiter that times out is not marked, since it has none of
//! these permits.
//!
//! It follows that as long as a permit is left, the permit covers some waiter: a deadlock of Π is a deadlock of the
//! choosing machine.
//!
//! *What this module leaves out:* wake-ups without a reason, which std allows. A program that fails only by such a wake-up
//! seems right. Waiters are woken in any order; std does not promise either that no waiter starves.

use crate::event::{Event, Kind, Thread};

/// An entry of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Entry {
    Waiter(Thread),
    Permit,
}

/// The queue of one object, in the order in which its waiters and its permits came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Queue {
    entries: Vec<Entry>,
}

impl Queue {
    /// A queue without waiters and permits.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
        }
    }

    /// Removes all entries, and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The thread begins to wait.
    pub fn wait(&mut self, thread: Thread) {
        self.entries.push(Entry::Waiter(thread));
    }

    /// Notifies one waiter. Returns whether there was a waiter to notify.
    pub fn notify_one(&mut self) -> bool {
        let open = self.open() > 0;
        if open {
            self.entries.push(Entry::Permit);
        }
        open
    }

    /// Notifies all waiters. Returns the number of waiters that had not been notified before.
    pub fn notify_all(&mut self) -> usize {
        let open = self.open();
        self.entries.extend((0..open).map(|_| Entry::Permit));
        open
    }

    /// The number of waiters less the number of permits.
    fn open(&self) -> usize {
        let waiters = self.waiters().count();
        2 * waiters - self.entries.len()
    }

    /// The threads that wait, in the order in which they came.
    pub fn waiters(&self) -> impl Iterator<Item = Thread> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Waiter(thread) => Some(*thread),
            Entry::Permit => None,
        })
    }

    fn place_of(&self, thread: Thread) -> Option<usize> {
        let waiter = Entry::Waiter(thread);
        self.entries.iter().position(|&entry| entry == waiter)
    }

    /// Whether the thread waits, and a permit covers it.
    #[must_use]
    pub fn covers(&self, thread: Thread) -> bool {
        // The last permit covers all that any permit covers.
        let last = self
            .entries
            .iter()
            .rposition(|&entry| entry == Entry::Permit);
        matches!((self.place_of(thread), last), (Some(at), Some(last)) if at < last)
    }

    /// The thread goes on. Returns whether the thread was notified.
    pub fn wake(&mut self, thread: Thread) -> bool {
        let Some(at) = self.place_of(thread) else {
            return false;
        };
        let behind = self.entries[at..]
            .iter()
            .position(|&entry| entry == Entry::Permit);
        if let Some(behind) = behind {
            self.entries.remove(at + behind);
        }
        self.entries.remove(at);
        behind.is_some()
    }

    /// Changes the queue as this event on the object does.
    pub fn follow(&mut self, event: &Event) {
        match event.kind {
            Kind::Wait if event.found == 0 => self.wait(event.thread),
            Kind::Notify if event.left == 0 => {
                self.notify_one();
            }
            Kind::Notify => {
                self.notify_all();
            }
            Kind::Wake => {
                self.wake(event.thread);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Queue;

    #[test]
    fn a_permit_covers_those_that_waited_before() {
        let mut queue = Queue::new();
        assert!(!queue.notify_one(), "nobody waits");
        queue.wait(0);
        queue.wait(1);
        assert!(queue.notify_one());
        queue.wait(2);
        assert!(queue.covers(0) && queue.covers(1) && !queue.covers(2));
        assert!(queue.wake(1));
        assert!(!queue.covers(0), "the permit has been used");
        assert!(!queue.wake(0), "timed out");
        assert_eq!(queue.notify_all(), 1);
        assert!(queue.wake(2));
        assert_eq!(queue, Queue::new());
    }

    #[test]
    fn the_first_permit_that_covers_is_used() {
        let mut queue = Queue::new();
        queue.wait(0);
        assert!(queue.notify_one());
        queue.wait(1);
        assert!(queue.notify_one());
        assert!(!queue.notify_one(), "both are as good as notified");
        assert!(queue.wake(0));
        assert!(queue.covers(1), "the second permit is left");
    }
}
