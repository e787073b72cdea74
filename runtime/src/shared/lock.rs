//! Values behind a lock: a mutex and a read-write lock are the same cell, taken in different modes.
//!
//! Taking a guard takes the lock and reads the value; dropping a guard that was borrowed mutably writes the value, then
//! gives the lock back. That the lock has been poisoned is part of the value; the poison flag itself, which can be read
//! and cleared without the lock, is a [`Poison`] beside it.

mod native;
mod poison;
mod scheduled;
mod sequential;

use std::cell::Cell;

use poison::Poison;

use super::unseen::may_change_unseen;
use super::{Initial, Kept, Made, Shadow, Slot, Tag};
use crate::engine::{Line, NONE};
use crate::log::LockMode;
use crate::running::{Running, by_mode, running};
use crate::values::Hashing;
use crate::vocabulary::Site;

/// A protected value.
#[derive(Debug)]
struct Guarded<V> {
    value: Slot<V>,
    /// Whether a thread has panicked under a guard at some time: only then does the flag need to be read.
    was_poisoned: Cell<bool>,
    /// The event of T' that last set the flag before this value was written, if T' did.
    flagged: Cell<u32>,
}

/// A lock of the program under test with the value that it protects.
#[derive(Debug)]
pub(crate) struct LockCell<V> {
    tag: Tag,
    /// G; outside of executions, the current value.
    g: Guarded<V>,
    /// What `g` was at the start of the execution, once `g` has been written.
    initial: Initial<Guarded<V>>,
    /// G', once T' has written.
    g_prime: Made<Guarded<V>>,
    /// The number of shared guards; negative where there is an exclusive guard. Not known on the scheduled machine, which
    /// has holders of its own.
    guards: Cell<i32>,
    /// Of G and of G': what the value was when it was first borrowed mutably under the current exclusive guard.
    borrowed: [Cell<Borrowed>; 2],
    hashing: Cell<Hashing>,
    /// The event of T' that wrote `g_prime`, if T may see that event: the value is kept when `g_prime` is about to be
    /// written again.
    latest: Cell<u32>,
    kept: Kept<Guarded<V>>,
    poison: Poison,
}

/// The index of G in arrays of both copies.
const G: usize = 0;
/// The index of G' in arrays of both copies.
const PRIME: usize = 1;

/// What a value was before it could be changed through a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Borrowed {
    /// The value was not borrowed mutably.
    Not,
    /// The value had this [hash](crate::values::ValueHash), or its type has none.
    With(Option<u64>),
    /// The value was a row of words with room for this number of words, and the words are still there: for the copy of
    /// T' in G, and for G in what G held at the start.
    Row(usize),
}

// SAFETY: see `AtomicCell`. Values are handed out by reference only under a guard, and the engine sees to it that on
// each line guards of one lock exclude each other; each line has its own copy of the value.
unsafe impl<V: Send> Sync for LockCell<V> {}
// SAFETY: the cell owns its values.
unsafe impl<V: Send> Send for LockCell<V> {}

impl<V> LockCell<V> {
    pub(crate) const fn new(value: V) -> Self {
        Self {
            tag: Tag::unused(),
            g: Guarded {
                value: Slot::new(value),
                was_poisoned: Cell::new(false),
                flagged: Cell::new(NONE),
            },
            initial: Initial::none(),
            g_prime: Made::none(),
            guards: Cell::new(0),
            borrowed: [const { Cell::new(Borrowed::Not) }; 2],
            hashing: Cell::new(Hashing::Unknown),
            latest: Cell::new(NONE),
            kept: Kept::none(),
            poison: Poison::new(),
        }
    }

    /// The value, consuming the lock, after `settle`.
    pub(crate) fn into_inner(self) -> V {
        let is_prime = matches!(running(), Running::Sequential(handle) if handle.get().line == Line::Interfering);
        let prime = self.g_prime.into_inner().filter(|_| is_prime);
        prime.unwrap_or(self.g).value.into_inner()
    }
}

impl<V: Shadow> LockCell<V> {
    /// Takes the lock, waiting where it is taken, and reads the value. Returns the poison flag.
    #[inline(never)]
    pub(crate) fn lock(&self, mode: LockMode, site: Site) -> bool {
        by_mode!(lock(self, mode, site))
    }

    /// Takes the lock if that needs no waiting, and reads the value. Returns the poison flag, or `None` if the lock was
    /// not taken.
    pub(crate) fn try_lock(&self, mode: LockMode, site: Site) -> Option<bool> {
        by_mode!(try_lock(self, mode, site))
    }

    /// An exclusive guard is about to become a shared one: the lock is taken in shared mode as well, before the
    /// exclusive guard gives it back.
    pub(crate) fn share(&self, site: Site) {
        by_mode!(share(self, site));
    }

    /// The exclusive guard has given the lock back.
    pub(crate) fn is_shared(&self, site: Site) {
        by_mode!(is_shared(self, site));
    }

    /// Gives the lock back. `written` is the place where the value was last borrowed mutably, if it was; `poisons`
    /// tells that the thread began to panic under the guard.
    pub(crate) fn unlock(&self, mode: LockMode, taken: Site, written: Option<Site>, poisons: bool) {
        by_mode!(unlock(self, mode, (taken, written), poisons));
    }

    /// The current line's copy, for reading.
    pub(crate) fn value(&self) -> *const V {
        match running() {
            Running::Sequential(handle) => self.copy_of_line(handle).value.as_ptr(),
            Running::Scheduled(_) | Running::Nothing => self.g.value.as_ptr(),
        }
    }

    /// The current line's copy, for writing under a guard.
    #[inline]
    pub(crate) fn value_mut(&self, site: Site) -> *mut V {
        by_mode!(for_writing(self, true, site))
    }

    /// The current line's copy, for writing with the write event that [`Self::settle`] has made.
    pub(crate) fn settled_mut(&self, site: Site) -> *mut V {
        by_mode!(for_writing(self, false, site))
    }

    /// An exclusive guard has just been taken. A value that may change without being borrowed mutably is borrowed so now; returns
    /// whether it is.
    #[inline]
    pub(crate) fn borrow_unseen(&self, site: Site) -> bool {
        let borrows = may_change_unseen::<V>() && !matches!(running(), Running::Nothing);
        if borrows {
            self.value_mut(site);
        }
        borrows
    }

    /// A read, and a write if `writes`, through exclusive access to the lock itself. Returns the poison flag.
    pub(crate) fn settle(&mut self, writes: bool, site: Site) -> bool {
        by_mode!(settle(self, writes, site))
    }

    /// Clears the poison flag.
    pub(crate) fn clear_poison(&self, site: Site) {
        by_mode!(clear_poison(self, site));
    }

    /// Reads the poison flag.
    pub(crate) fn is_poisoned(&self, site: Site) -> bool {
        by_mode!(is_poisoned(self, site))
    }

    /// The object's number; 0 where no program runs.
    pub(crate) fn identity(&self) -> u64 {
        crate::scheduled::current().map_or(0, |machine| scheduled::identity(machine, self))
    }

    fn is_free(&self, mode: LockMode) -> bool {
        match mode {
            LockMode::Exclusive => self.guards.get() == 0,
            LockMode::Shared => self.guards.get() >= 0,
        }
    }

    /// Notes that there is one more guard.
    fn occupy(&self, mode: LockMode) {
        self.guards.set(match mode {
            LockMode::Exclusive => -1,
            LockMode::Shared => self.guards.get() + 1,
        });
    }

    /// Notes that there is one guard less.
    fn vacate(&self, mode: LockMode) {
        self.guards.set(match mode {
            LockMode::Exclusive => 0,
            LockMode::Shared => (self.guards.get() - 1).max(0),
        });
    }

    /// What is known of the type's values, with what `ask` learns of it.
    #[inline]
    fn hashing<R>(&self, ask: impl FnOnce(&mut Hashing) -> R) -> R {
        let mut hashing = self.hashing.get();
        let answer = ask(&mut hashing);
        self.hashing.set(hashing);
        answer
    }

    /// Notes that the value of this copy is borrowed mutably, and may have changed when the guard is given back. `is_kept`
    /// says that a copy of the value stays until then: see [`Borrowed::Row`].
    fn borrow_mutably(&self, copy: usize, value: &Slot<V>, is_kept: bool) {
        if self.borrowed[copy].get() == Borrowed::Not {
            // SAFETY: the current thread is about to borrow the value mutably under its guard, and has not yet.
            let value = unsafe { value.get() };
            let room = is_kept.then(|| self.hashing(|it| it.room(value)));
            let borrowed = room.flatten().map_or_else(
                || Borrowed::With(self.hashing(|it| it.hash_of(value))),
                Borrowed::Row,
            );
            self.borrowed[copy].set(borrowed);
        }
    }

    /// Whether the value has been changed under the exclusive guard that is given back; true where that is not known.
    fn has_changed(&self, copy: usize) -> bool {
        let value = match self.g_prime.get() {
            Some(prime) if copy == PRIME => &prime.value,
            _ => &self.g.value,
        };
        // SAFETY: the guard is being given back, and nothing refers to the value any more.
        let value = unsafe { value.get() };
        match self.borrowed[copy].replace(Borrowed::Not) {
            Borrowed::With(Some(before)) => self.hashing(|it| it.hash_of(value)) != Some(before),
            Borrowed::With(None) | Borrowed::Not => true,
            Borrowed::Row(room) => {
                let before = match copy {
                    PRIME => Some(&self.g),
                    _ => self.initial.get(),
                };
                before.is_none_or(|it| {
                    // SAFETY: T has no guard while T' runs, and what was there at the start is not given to the program.
                    let before = unsafe { it.value.get() };
                    !self.hashing(|it| it.is_row_like(value, room, before))
                })
            }
        }
    }
}
