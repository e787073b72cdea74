//! Poison flags of locks: see [`shared::lock`](crate::shared).
//!
//! A flag is an object of its own: setting and clearing it are writes, and asking for it is a read. It is set by a thread that
//! unwinds, right before it gives the lock back.

use seqz_explore::{Kind, Object};

use super::state::Handle;
use crate::vocabulary::Site;

impl Handle {
    /// Poisons a lock that the current thread, which unwinds, is about to give back.
    #[cold]
    pub(crate) fn poison(self, lock: Object, site: Site) {
        let state = self.get();
        if state.ending {
            return;
        }
        state.objects.holders(lock).was_poisoned = true;
        state.has_poisoned = true;
        self.set_poison(lock, true, site);
    }

    /// Marks as poisoned a lock that was poisoned as another object, and is this object from here on.
    #[cold]
    pub(crate) fn stays_poisoned(self, lock: Object) {
        let state = self.get();
        state.has_poisoned = true;
        let holders = state.objects.holders(lock);
        holders.poisoned = true;
        holders.was_poisoned = true;
    }

    /// Whether a thread that held the lock has poisoned it. Only for the thread that holds the lock.
    #[inline]
    pub(crate) fn was_poisoned(self, lock: Object) -> bool {
        let state = self.get();
        state.has_poisoned && state.objects.holders(lock).was_poisoned
    }

    /// Reads the flag.
    #[cold]
    pub(crate) fn is_poisoned(self, lock: Object, site: Site) -> bool {
        let flag = self.get().objects.poison(lock);
        if self.is_weak() {
            // The thread holds the lock, and with it sees what the holders before it have done.
            return self.get().objects.holders(lock).poisoned;
        }
        self.turn(Kind::Read, flag, 0, site);
        let set = self.get().objects.holders(lock).poisoned;
        self.did(Kind::Read, flag, u64::from(set), u64::from(set), site);
        set
    }

    /// Clears the flag.
    #[cold]
    pub(crate) fn clear_poison(self, lock: Object, site: Site) {
        self.set_poison(lock, false, site);
    }

    fn set_poison(self, lock: Object, set: bool, site: Site) {
        let flag = self.get().objects.poison(lock);
        self.turn(Kind::Write, flag, 0, site);
        let holders = self.get().objects.holders(lock);
        let before = std::mem::replace(&mut holders.poisoned, set);
        self.did(Kind::Write, flag, u64::from(before), u64::from(set), site);
    }
}
