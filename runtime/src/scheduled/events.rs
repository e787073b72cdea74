//! The functions of the machine that shared objects and threads call.

use std::time::Duration;

use seqz_explore::{Event, Kind, Object, Pending};

use super::haste::Passing;
use super::machine::Traced;
use super::running::start;
pub(crate) use super::state::{Handle, current};
use crate::log::LockMode;
use crate::vocabulary::{Place, Site};

/// The value with which a read of a count, or an update of a count, is announced, and other events that P̂ₖ doesn't log.
/// A compare-exchange is announced with
/// the value that it expects.
pub(crate) const OF_COUNT: u64 = u64::MAX;

/// An address that every [`Site`] of the program is near to: the number of a site is its distance from here.
static ORIGIN: u8 = 0;

pub(super) fn origin() -> usize {
    (&raw const ORIGIN).addr()
}

pub(super) fn site_number(site: Site) -> u32 {
    // Places are constants of one binary, all within four gigabytes.
    #[allow(clippy::cast_possible_truncation)]
    let distance = std::ptr::from_ref(site)
        .expose_provenance()
        .wrapping_sub((&raw const ORIGIN).addr()) as u32;
    distance
}

/// The place of an announced operation; `None` if nothing has been announced yet.
pub(crate) fn place(pending: &Pending) -> Option<Place> {
    site_of(pending.site).map(Place::from)
}

/// The place that a number was made of; `None` for 0, which stands for no place.
pub(super) fn site_of(number: u32) -> Option<Site> {
    if number == 0 {
        return None;
    }
    let distance = number.cast_signed() as isize;
    let address = (&raw const ORIGIN).addr().wrapping_add_signed(distance);
    let site = std::ptr::with_exposed_provenance::<std::panic::Location<'static>>(address);
    // SAFETY: events and announced operations have their numbers from `site_number`, so this is the place that the
    // number was made of.
    Some(unsafe { &*site })
}

impl Handle {
    /// The number of the current execution.
    #[inline]
    pub(crate) fn generation(self) -> u32 {
        self.get().generation
    }

    /// The current thread sleeps.
    pub(crate) fn sleep(self, duration: Duration, site: Site) {
        self.pass(duration, Passing::Sleep, site);
    }

    /// A time limit of the current thread has run out.
    pub(crate) fn run_out(self, limit: Duration, site: Site) {
        self.pass(limit, Passing::Limit, site);
    }

    fn pass(self, duration: Duration, passing: Passing, site: Site) {
        let thread = self.thread();
        crate::memory::outside(|| {
            let state = self.get();
            state.clocks.pass(thread, duration);
            state.note_move_of_clock(thread);
            state.note_passing(thread, duration, passing, site);
        });
    }

    /// The current thread's number.
    pub(crate) fn thread(self) -> u32 {
        u32::try_from(self.get().current).unwrap_or(0)
    }

    /// Whether the execution is being ended.
    pub(crate) fn is_ending(self) -> bool {
        self.get().ending
    }

    /// Whether this is the address of a static.
    pub(crate) fn is_static(self, address: usize) -> bool {
        let state = self.get();
        super::objects::is_static(address, &state.arena, &state.stacks)
    }

    /// Calls `make`, whose allocations outlive the execution.
    pub(crate) fn outside<R>(self, make: impl FnOnce() -> R) -> R {
        crate::memory::outside(make)
    }

    /// The name of a thread.
    pub(crate) fn thread_name(self, thread: u32) -> Option<String> {
        self.get().slots.get(thread as usize)?.name.clone()
    }

    /// The object of a value at this address that has had no event in this execution.
    pub(crate) fn new_object(self, address: usize) -> Object {
        let state = self.get();
        state.objects.new_name(address, &state.arena, &state.stacks)
    }

    /// The object that is the count of the allocation at this address.
    pub(crate) fn count_object(self, address: usize) -> Object {
        if let Some(object) = self.get().objects.count(address) {
            return object;
        }
        let object = self.new_object(address);
        self.get().objects.set_count(address, object);
        object
    }

    /// The allocation at this address is a new one: forgets the count of the one before.
    pub(crate) fn forget_count(self, address: usize) {
        self.get().objects.forget_count(address);
    }

    /// A number for the object's place that is the same in all searches.
    pub(crate) fn place_of_object(self, object: Object) -> u64 {
        self.get().objects.place(object as usize)
    }

    /// A number for this address that does not depend on the schedule.
    pub(crate) fn place_of(self, address: usize) -> u64 {
        let state = self.get();
        super::objects::place(address, &state.arena, &state.stacks)
    }

    /// Notes that this object is plain data.
    pub(crate) fn plain(self, object: Object) {
        let state = self.get();
        if !state.plain.contains(&object) {
            crate::memory::outside(|| self.get().plain.push(object));
        }
    }

    /// Announces this operation of the current thread, and returns when it is the thread's turn.
    #[inline]
    pub(crate) fn turn(self, kind: Kind, object: Object, expected: u64, site: Site) {
        let pending = Pending {
            kind,
            object,
            expected,
            site: site_number(site),
            context: self.context(),
            ..Pending::default()
        };
        if self.get().ending {
            self.stay_ended();
        } else if self.get().settings.weak {
            self.turn_weakly(pending, site);
        } else {
            self.announce(pending, site);
        }
    }

    /// Notes the event that the current thread has made in its turn.
    #[inline]
    pub(crate) fn did(self, kind: Kind, object: Object, found: u64, left: u64, site: Site) {
        let state = self.get();
        if state.ending {
            return;
        }
        if state.untold {
            self.flush();
        }
        let state = self.get();
        let thread = u8::try_from(state.current).unwrap_or(0);
        let event = Event {
            thread,
            kind,
            object,
            found,
            left,
            site: site_number(site),
            context: self.context(),
            order: state.pending[state.current].order,
        };
        if state.trace.len() == state.trace.capacity() {
            crate::memory::outside(|| state.trace.reserve(64));
        }
        state.trace.push(Traced {
            event,
            site: Some(site),
        });
        state.untold = true;
        state.clocks.event(u32::from(thread), kind, object);
        if !state.haste.is_quiet() {
            state.note_haste(thread, kind);
        }
        if state.settings.values {
            self.note_values();
        }
    }

    /// Waits for a lock and takes it. `contents` returns the hash of the protected value, see [`Self::found`].
    pub(crate) fn lock(
        self,
        object: Object,
        mode: LockMode,
        site: Site,
        contents: impl FnOnce() -> Option<u64>,
    ) {
        let kind = match mode {
            LockMode::Exclusive => Kind::Lock,
            LockMode::Shared => Kind::LockShared,
        };
        self.turn(kind, object, 0, site);
        // When the execution is being ended, the other holder only has destructors left to run.
        self.take(object, mode);
        let found = self.found(object, contents);
        self.did(kind, object, found, found, site);
        self.pause(site);
    }

    /// Takes a lock if that needs no waiting. `contents` returns the hash of the protected value, see [`Self::found`].
    pub(crate) fn try_lock(
        self,
        object: Object,
        mode: LockMode,
        site: Site,
        contents: impl FnOnce() -> Option<u64>,
    ) -> bool {
        let (kind, failed) = match mode {
            LockMode::Exclusive => (Kind::TryLock, Kind::TryLockFailed),
            LockMode::Shared => (Kind::TryLockShared, Kind::TryLockSharedFailed),
        };
        self.turn(kind, object, 0, site);
        let free = self.may_take(object, mode);
        if free {
            self.take(object, mode);
            let found = self.found(object, contents);
            self.did(kind, object, found, found, site);
        } else {
            self.did(failed, object, 0, 0, site);
        }
        self.pause(site);
        free
    }

    /// The current thread, which holds a lock exclusively, takes it shared as well, and is going to give back its
    /// exclusive hold. No other thread can tell before that.
    pub(crate) fn share(self, object: Object, site: Site) {
        if self.tells_values() {
            // What the lock protects may have been changed, and no event has told of that.
            let message =
                "a write guard becomes a read guard, which a search over values doesn't follow";
            self.give_up_soon(message, site);
        }
        self.turn(Kind::TryLockShared, object, 0, site);
        self.take(object, LockMode::Shared);
        self.did(Kind::TryLockShared, object, 0, 0, site);
    }

    /// Gives a lock back.
    ///
    /// `written` says that the protected value may have changed; `contents` returns the hash of the value now.
    pub(crate) fn unlock(
        self,
        object: Object,
        mode: LockMode,
        written: bool,
        site: Site,
        contents: impl FnOnce() -> Option<u64>,
    ) {
        let kind = match mode {
            LockMode::Exclusive => Kind::Unlock,
            LockMode::Shared => Kind::UnlockShared,
        };
        self.turn(kind, object, 0, site);
        let state = self.get();
        state.stale = true;
        let holders = state.objects.holders(object);
        match mode {
            LockMode::Exclusive => holders.exclusive = 0,
            LockMode::Shared => holders.shared = holders.shared.saturating_sub(1),
        }
        let (found, left) = self.given_back(object, mode, written, contents);
        self.did(kind, object, found, left, site);
        self.pause(site);
    }

    /// A guard is about to be given back whose thread has only looked at the value, as far as is known, and may have changed it.
    pub(crate) fn note_look(self) {
        self.get().has_looks = true;
    }

    /// The hashes of the value that a lock protects: when the lock was taken, and now.
    fn given_back(
        self,
        object: Object,
        mode: LockMode,
        written: bool,
        contents: impl FnOnce() -> Option<u64>,
    ) -> (u64, u64) {
        match mode {
            LockMode::Exclusive => self.change(object, written, contents),
            LockMode::Shared => {
                let found = self.found(object, contents);
                (found, found)
            }
        }
    }

    fn may_take(self, object: Object, mode: LockMode) -> bool {
        let holders = *self.get().objects.holders(object);
        match mode {
            LockMode::Exclusive => holders.is_free(),
            LockMode::Shared => holders.exclusive == 0,
        }
    }

    fn take(self, object: Object, mode: LockMode) {
        let state = self.get();
        state.stale = true;
        let me = u16::try_from(state.current + 1).unwrap_or(u16::MAX);
        let holders = state.objects.holders(object);
        match mode {
            LockMode::Exclusive => holders.exclusive = me,
            LockMode::Shared => {
                state.has_shared_holders |= holders.shared > 0;
                holders.shared += 1;
            }
        }
    }

    /// Creates a thread.
    pub(crate) fn fork(self, name: Option<String>, site: Site, body: Box<dyn FnOnce()>) -> u32 {
        let state = self.get();
        if state.ending {
            return u32::MAX;
        }
        let creator = state.current;
        let before = state.slots[creator].children;
        let creator_number = u32::try_from(creator).unwrap_or(0);
        crate::process::thread_ids::started_by(creator_number);
        let thread = crate::memory::outside(|| self.get().names.of(creator_number, before));
        self.get().slots[creator].children += 1;
        if thread as usize >= seqz_explore::threads::MAX_THREADS {
            self.give_up("the program has more than 128 threads", site);
        }
        self.turn(Kind::Fork, thread, 0, site);
        self.note_fork(thread as usize);
        // The fork comes before all that the new thread does.
        self.did(Kind::Fork, thread, 0, 0, site);
        start(self, thread as usize, (name, Some(site)), body);
        thread
    }

    /// Waits for a thread to end.
    pub(crate) fn join(self, thread: u32, site: Site) {
        self.turn(Kind::Join, thread, 0, site);
        self.did(Kind::Join, thread, 0, 0, site);
    }
}
