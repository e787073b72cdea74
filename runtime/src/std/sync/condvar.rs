//! `std::sync::Condvar`.
//!
//! In P̂ₖ it is two variables, one for the waits of T and one for those of T'. A thread that begins to wait writes its own, and
//! a thread that notifies writes the other one's; to go on, the thread that waits has to read what the other thread has
//! written since. As a thread sees its own writes until it sees another's, a notification that comes before the wait is
//! lost, as it is with std's. That the other thread waits, too, is nothing to it.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use super::MutexGuard;
use crate::engine::{self, tau, waiting::For};
use crate::running::{Running, running};
use crate::scheduled::Handle;
use crate::shared::{AtomicCell, Shadow, Spot};
use crate::vocabulary::{Awaited, Site};

const OUTSIDE: &str = "`Condvar::wait` of a transformed program runs under `seqz` only";

/// `std::sync::Condvar`.
///
/// `notify_one` wakes any of the threads that wait, and all choices are explored. There are wake-ups without a
/// notification where the machine is set to allow them. Time does not pass: a wait with a time limit may end at any
/// moment, as if the other threads were slow.
///
/// As with std's on Linux, one condition variable may go with several mutexes.
pub struct Condvar {
    spot: Spot,
    /// In P̂ₖ: the number of the latest wait of T, or notification of the threads that are not T', and the same of T'.
    latest: [AtomicCell<u64>; 2],
}

impl UnwindSafe for Condvar {}
impl RefUnwindSafe for Condvar {}

impl Condvar {
    /// See `std::sync::Condvar::new`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            spot: Spot::new(),
            latest: [AtomicCell::new(0), AtomicCell::new(0)],
        }
    }

    /// A number for this object, as a part of a value.
    pub(crate) fn identity(&self) -> u64 {
        self.spot.identity()
    }

    /// Waits, with a time limit or without, after which the thread's clock has moved on. Returns the guard, and whether
    /// the thread was notified.
    fn pause<'a, T: Shadow>(
        &self,
        guard: MutexGuard<'a, T>,
        limit: Option<Duration>,
        site: Site,
    ) -> (LockResult<MutexGuard<'a, T>>, bool) {
        match running() {
            Running::Scheduled(machine) => self.pause_on(machine, guard, limit, site),
            Running::Sequential(handle) => self.pause_in(handle, guard, limit, site),
            Running::Nothing => crate::running::refuse(OUTSIDE, site),
        }
    }

    fn pause_on<'a, T: Shadow>(
        &self,
        machine: Handle,
        guard: MutexGuard<'a, T>,
        limit: Option<Duration>,
        site: Site,
    ) -> (LockResult<MutexGuard<'a, T>>, bool) {
        if machine.happens_without_reason(site) {
            // Other threads may run before this one has the mutex again: that is as if it had been woken later.
            return (guard.without(site, || ()), true);
        }
        let object = self.spot.of(machine);
        machine.wait(object, site);
        let mut notified = false;
        let guard = guard.without(site, || {
            notified = machine.wake(object, Awaited::Notification, limit.is_some(), site);
            if let Some(limit) = limit.filter(|_| !notified) {
                machine.run_out(limit, site);
            }
        });
        (guard, notified)
    }

    /// Waits in P̂ₖ.
    fn pause_in<'a, T: Shadow>(
        &self,
        handle: engine::Handle,
        guard: MutexGuard<'a, T>,
        limit: Option<Duration>,
        site: Site,
    ) -> (LockResult<MutexGuard<'a, T>>, bool) {
        // Whether the thread is T or T' is known where it makes an event.
        tau::enter(handle, site);
        let mine = handle.get().event_number();
        let is_prime = handle.get().line.is_prime();
        let latest = &self.latest[usize::from(is_prime)];
        let unchanged = handle.get().progress_made();
        latest.store(mine, site);
        let entered = handle.get().progress_made().wrapping_sub(unchanged);
        let mut notified = false;
        let guard = guard.without(site, || {
            loop {
                // A destructor of an execution that has been ended goes on as if it had been notified, as std allows.
                notified = latest.load(site) != mine || handle.get().quiet;
                match limit {
                    _ if notified => break,
                    Some(limit) => {
                        // That the thread has waited is seen by no thread, and is over: its next wait is a new one.
                        handle.get().takes_back_progress(entered);
                        engine::limit_passed(handle, limit);
                        break;
                    }
                    None => latest.wait_in_p_hat(handle, For::Notification, site),
                }
            }
        });
        (guard, notified)
    }

    fn notify(&self, all: bool, site: Site) {
        match running() {
            Running::Scheduled(machine) => machine.notify(self.spot.of(machine), all, site),
            Running::Sequential(handle) => {
                tau::enter(handle, site);
                let number = handle.get().event_number();
                let wakes_prime = !handle.get().line.is_prime();
                self.latest[usize::from(wakes_prime)].store(number, site);
            }
            Running::Nothing => {}
        }
    }

    /// See `std::sync::Condvar::wait`.
    ///
    /// # Errors
    /// A thread panicked while it held the mutex.
    #[track_caller]
    pub fn wait<'a, T: Shadow>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.pause(guard, None, Location::caller()).0
    }

    /// See `std::sync::Condvar::wait_while`.
    ///
    /// # Errors
    /// A thread panicked while it held the mutex.
    #[track_caller]
    pub fn wait_while<'a, T: Shadow, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        let site = Location::caller();
        while condition(&mut guard) {
            guard = self.pause(guard, None, site).0?;
        }
        Ok(guard)
    }

    /// See `std::sync::Condvar::wait_timeout`.
    ///
    /// # Errors
    /// A thread panicked while it held the mutex.
    #[track_caller]
    pub fn wait_timeout<'a, T: Shadow>(
        &self,
        guard: MutexGuard<'a, T>,
        duration: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, notified) = self.pause(guard, Some(duration), Location::caller());
        let result = WaitTimeoutResult(!notified);
        match guard {
            Ok(guard) => Ok((guard, result)),
            Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), result))),
        }
    }

    /// See `std::sync::Condvar::wait_timeout_ms`.
    ///
    /// # Errors
    /// A thread panicked while it held the mutex.
    #[track_caller]
    pub fn wait_timeout_ms<'a, T: Shadow>(
        &self,
        guard: MutexGuard<'a, T>,
        milliseconds: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let duration = Duration::from_millis(u64::from(milliseconds));
        match self.wait_timeout(guard, duration) {
            Ok((guard, result)) => Ok((guard, !result.timed_out())),
            Err(poisoned) => {
                let (guard, result) = poisoned.into_inner();
                Err(PoisonError::new((guard, !result.timed_out())))
            }
        }
    }

    /// See `std::sync::Condvar::wait_timeout_while`.
    ///
    /// The time may be up between two looks at the condition. From the look that sees it so, it stays up.
    ///
    /// # Errors
    /// A thread panicked while it held the mutex.
    #[track_caller]
    pub fn wait_timeout_while<'a, T: Shadow, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        duration: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let site = Location::caller();
        let mut timed_out = false;
        loop {
            if !condition(&mut guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            if timed_out {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            let (next, notified) = self.pause(guard, Some(duration), site);
            timed_out = !notified;
            guard = match next {
                Ok(guard) => guard,
                Err(poisoned) => {
                    let result = WaitTimeoutResult(timed_out);
                    return Err(PoisonError::new((poisoned.into_inner(), result)));
                }
            };
        }
    }

    /// See `std::sync::Condvar::notify_one`.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(false, Location::caller());
    }

    /// See `std::sync::Condvar::notify_all`.
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify(true, Location::caller());
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

/// `std::sync::WaitTimeoutResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// See `std::sync::WaitTimeoutResult::timed_out`.
    #[must_use]
    pub const fn timed_out(&self) -> bool {
        self.0
    }
}
