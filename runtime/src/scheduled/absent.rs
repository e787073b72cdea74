//! Scheduled mode where the runtime is built without the scheduler: no machine runs, so that there is no value of
//! [`Handle`], and nothing of this is ever called.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::ending::{Destructor, Leaving, Results};
use crate::judge::Panics;
use crate::log::LockMode;
use crate::memory::Access;
use crate::vocabulary::{Awaited, Event, Kind, Object, Pending, Site, Test, Transition};

/// There is no value of this.
#[derive(Clone, Copy, Debug)]
enum Never {}

/// A machine that runs a program: there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle(Never);

/// No machine runs.
#[inline(always)]
pub(crate) const fn current() -> Option<Handle> {
    None
}

/// The value of an event of a count.
pub(crate) const OF_COUNT: u64 = u64::MAX;

/// What a machine knows of a loop.
#[derive(Debug)]
pub(crate) struct Since;

/// With what a machine ends a thread.
pub(crate) struct Ended;

/// The result of an attempt on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    Waits,
    Done(u64),
    Looked(u64),
    DoneForAll(u64),
}

/// What others can tell of a wait on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    Unnoticed,
    Perhaps,
}

/// Values are not asked for.
#[inline]
pub(crate) const fn is_asked() -> bool {
    false
}

/// Orderings are not noted.
#[inline]
pub(crate) const fn ordered(_order: Ordering) {}

/// Fences are not noted.
#[inline]
pub(crate) const fn fenced(_order: Ordering) {}

/// Orderings mean nothing.
#[inline]
pub(crate) const fn announces(_success: Ordering, _failure: Ordering) {}

/// Fences mean nothing.
#[inline]
pub(crate) const fn fence(_order: Ordering, _site: Site) {}

/// The interleavings of findings, which are not followed here.
pub(crate) mod witness {
    use crate::finding::{Answer, Bug};
    use crate::vocabulary::Confirmation;

    /// Nothing is confirmed.
    pub(crate) const fn confirm(_bug: &Bug, _program: &dyn Fn()) -> Confirmation {
        Confirmation::NotTried
    }

    /// What may be a bug is reported as one.
    pub(crate) const fn judge(bug: &Bug, _program: &dyn Fn()) -> Option<Answer> {
        Some(Answer::failure(bug.kind))
    }
}

macro_rules! never {
    ($(fn $name:ident($($argument:ident: $of:ty),*) $(-> $result:ty)?;)*) => {
        impl Handle {
            /// Gives `then` the panics of the execution.
            pub(crate) fn with_panics<R>(self, _: impl FnOnce(&mut Panics, u32, usize) -> R) -> R {
                match self.0 {}
            }

            /// Calls `make`, whose allocations outlive the execution.
            pub(crate) fn outside<R>(self, _: impl FnOnce() -> R) -> R {
                match self.0 {}
            }

            /// Drops what an item of std keeps for the threads that use it.
            pub(crate) fn drop_of_std(self, _: impl FnOnce()) {
                match self.0 {}
            }

            /// Notes that a value is written later.
            ///
            /// # Safety
            /// As of the machine.
            pub(crate) unsafe fn writes_late(
                self,
                _: Object,
                _: *const (),
                _: unsafe fn(*const ()) -> Option<u64>,
                _: Site,
            ) {
                match self.0 {}
            }

            $(
                #[allow(missing_docs)]
                pub(crate) fn $name(self $(, _: $of)*) $(-> $result)? {
                    match self.0 {}
                }
            )*
        }
    };
}

never! {
    fn announce_over(object: Object, site: Site);
    fn attempt(object: Object, site: Site, transition: Transition, try_it: impl FnOnce() -> Attempt) -> Option<u64>;
    fn begin_loop() -> Since;
    fn change_for_all(object: Object, site: Site, change: impl FnOnce() -> (Transition, u64));
    fn clear_poison(lock: Object, site: Site);
    fn count_object(address: usize) -> Object;
    fn did(kind: Kind, object: Object, found: u64, left: u64, site: Site);
    fn die_of_a(destructor: Destructor);
    fn end_loop();
    fn enter_call(site: Site) -> usize;
    fn forget_count(address: usize);
    fn fork(name: Option<String>, site: Site, body: Box<dyn FnOnce()>) -> u32;
    fn found(object: Object, contents: impl FnOnce() -> Option<u64>) -> u64;
    fn fresh() -> u64;
    fn generation() -> u32;
    fn give_up_soon(message: &str, site: Site);
    fn give_way(site: Site);
    fn hands_itself_out();
    fn happens_without_reason(site: Site) -> bool;
    fn is_at(object: Object, address: usize);
    fn is_ending() -> bool;
    fn is_in_loop() -> bool;
    fn is_main();
    fn is_poisoned(lock: Object, site: Site) -> bool;
    fn is_static(address: usize) -> bool;
    fn join(thread: u32, site: Site);
    fn lasts();
    fn leave(how: Leaving, site: Site);
    fn leave_call(depth: usize);
    fn lock(object: Object, mode: LockMode, site: Site, contents: impl FnOnce() -> Option<u64>);
    fn new_message() -> u64;
    fn new_object(address: usize) -> Object;
    fn note_access(address: usize, length: usize, access: Access, site: Site);
    fn note_panic();
    fn note_test(test: impl FnOnce(&Event, &Pending, Site) -> Option<Test>);
    fn note_transition(transition: Transition);
    fn noted() -> usize;
    fn noted_after_event(noted: usize);
    fn notify(object: Object, all: bool, site: Site);
    fn park(timed: bool, site: Site) -> bool;
    fn end_if_void();
    fn is_weak() -> bool;
    fn refuse_weakly(what: &str, site: Site);
    fn pause(site: Site);
    fn source(held: u64) -> u64;
    fn place_of(address: usize) -> u64;
    fn place_of_object(object: Object) -> u64;
    fn plain(object: Object);
    fn poison(lock: Object, site: Site);
    fn scope_waited_for(thread: u32);
    fn run_out(limit: Duration, site: Site);
    fn share(object: Object, site: Site);
    fn note_look();
    fn sleep(duration: Duration, site: Site);
    fn stays_poisoned(lock: Object);
    fn tells_values() -> bool;
    fn thread() -> u32;
    fn thread_name(thread: u32) -> Option<String>;
    fn try_lock(object: Object, mode: LockMode, site: Site, contents: impl FnOnce() -> Option<u64>) -> bool;
    fn turn(kind: Kind, object: Object, expected: u64, site: Site);
    fn turn_of_loop(since: &mut Since, site: Site);
    fn unlock(object: Object, mode: LockMode, written: bool, site: Site, contents: impl FnOnce() -> Option<u64>);
    fn unpark(thread: u32, site: Site);
    fn wait(object: Object, site: Site);
    fn wait_unlogged(object: Object, site: Site);
    fn wake(object: Object, awaited: Awaited, timed: bool, site: Site) -> bool;
    fn was_parked_inside(how: Waited, site: Site);
    fn was_poisoned(lock: Object) -> bool;
    fn watch_ends();
    fn watch_raw_memory();
    fn watch_results(results: Results);
    fn watches_ends() -> bool;
    fn watches_results() -> Results;
}
