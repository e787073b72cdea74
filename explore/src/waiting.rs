//! Who waits on an object, and which notifications are left for them.
//!
//! A condition variable in std lets `notify_one` wake *some* waiter. Choosing it at the notification would be a choice that
//! no scheduler sees. So here it is put off: a notification leaves a *permit*, and whoever of the waiters goes on first
//! uses it up. The choice is then one among the orders of [`Wake`](crate::Kind::Wake) events, which every strategy explores.
//!
//! - [`Queue::wait`] puts the thread at the queue's end.
//! - [`Queue::notify_one`] puts a permit at the queue's end, if fewer permits than waiters are in it. Otherwise all who wait
//!   are as good as notified, and it does nothing.
//! - [`Queue::notify_all`] puts permits there until there are as many as waiters.
//! - A waiter is *covered* by the permits behind it. [`Queue::wake`] takes the waiter out, with the first permit that covers
//!   it; it was notified. If none does, it was not, and only a wait with a time limit may end so.
//!
//! **Why that is the same.** Compare with the machine that chooses: there `notify_one` marks one waiter that has no mark,
//! if there is one, `notify_all` marks all, a waiter with a mark may go on as notified, and one without a mark that has a
//! time limit may go on as timed out. Let Π be the machine with permits. Claim: in each, a thread can see the same.
//!
//! *Whatever the choosing machine does, Π does.* Let each chosen waiter's `Wake` run right after the notification (its
//! thread sees that later: what comes next is the lock of its mutex, which waits for its turn). Then there is never a permit
//! left from before, so a notification that finds a waiter leaves its permits for just those that were chosen, and a
//! waiter that was not chosen finds none, and may time out.
//!
//! *Whatever Π does, the choosing machine does.* First an invariant: the permits of a queue can be matched to different
//! waiters that they cover. A new permit covers all waiters, and one of them is not matched, since there are more
//! waiters than permits. If waiter w goes on with permit p, the first that covers it, and the matching has p ↔ v and
//! w ↔ q with v ≠ w, then q is behind p, since p is the first behind w; so q covers v, as p does, and v ↔ q is a
//! matching of what is left. (If w has no q, v is left over.) A waiter that times out is covered by no permit, so it has
//! none in the matching. So: give to each notification's permit the waiter that goes on with it, and to those that are left
//! in the end the waiters of a matching. In the choosing machine let each notification mark these. They wait at that
//! moment (they are before the permit, and still there), are marked once, and a notification does nothing in one machine
//! just if it does in the other, as the numbers of waiters without a mark, and of waiters less permits, are the same. One
//! that times out is not marked, since it has none of these permits.
//!
//! It follows that as long as a permit is left, some waiter is covered by one: a deadlock of Π is one of the choosing machine.
//!
//! *What isn't here:* wake-ups without a reason, which std allows. A program that goes wrong only by one of those seems
//! right. Waiters are woken in any order; that no waiter starves is not promised by std either.

use crate::event::{Event, Kind, Thread};

/// What is in a queue.
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
    /// Nobody waits, and nothing is left.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
        }
    }

    /// Forgets all, keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The thread begins to wait.
    pub fn wait(&mut self, thread: Thread) {
        self.entries.push(Entry::Waiter(thread));
    }

    /// Notifies one waiter. Whether there was one to notify.
    pub fn notify_one(&mut self) -> bool {
        let open = self.open() > 0;
        if open {
            self.entries.push(Entry::Permit);
        }
        open
    }

    /// Notifies all waiters. How many had not been.
    pub fn notify_all(&mut self) -> usize {
        let open = self.open();
        self.entries.extend((0..open).map(|_| Entry::Permit));
        open
    }

    /// How many waiters there are more than permits.
    fn open(&self) -> usize {
        let waiters = self.waiters().count();
        2 * waiters - self.entries.len()
    }

    /// Who waits.
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

    /// The thread goes on. Whether it was notified.
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

    /// Follows an event on the object.
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
