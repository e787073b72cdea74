//! What a thread runs and what it returns, in one place.

use std::cell::Cell;
use std::fmt;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::thread::Result;

use super::results::{Shares, Watched, watched};
use crate::ending::Results;
use crate::engine::body::{Body, Run, drop_share};
use crate::engine::{self};
use crate::shared::AtomicCell;
use crate::std::panic;
use crate::vocabulary::Site;

/// A thread's code, until it runs, and its result, once there is one and until it is taken.
struct Task<F, T> {
    body: Cell<Option<F>>,
    result: Cell<Option<Result<T>>>,
    /// What others may see of the thread's end, where that is watched: in most programs nothing.
    seen: Option<Box<Seen>>,
    spawned_at: Site,
}

/// What others may see of a thread's end.
struct Seen {
    shares: Shares,
    /// Whether the code has run, and its result is there. Only where the program [asks for it](crate::watch_ends).
    is_finished: Option<AtomicCell<bool>>,
}

impl Seen {
    /// What others may see of the end of a thread that returns a `T`.
    #[inline]
    fn of<T>(watched: Watched) -> Option<Box<Self>> {
        let is_any = watched.ends || watched.results != Results::Unseen;
        is_any.then(|| Self::new::<T>(watched))
    }

    #[cold]
    #[inline(never)]
    fn new<T>(watched: Watched) -> Box<Self> {
        Box::new(Self {
            shares: Shares::of::<T>(watched.results),
            is_finished: watched.ends.then(|| AtomicCell::new(false)),
        })
    }
}

impl<F: FnOnce() -> T, T> Run for Task<F, T> {
    fn run(&self) {
        let Some(body) = self.body.take() else { return };
        let result = catch_unwind(AssertUnwindSafe(body));
        if let Err(payload) = result {
            if panic::is_of_a_machine(&*payload) {
                resume_unwind(payload);
            }
            self.result.set(Some(Err(payload)));
            has_panicked();
        } else {
            self.result.set(Some(result));
        }
        if self.seen.is_some() {
            self.ends();
        }
    }

    fn discard(&self) {
        drop(self.body.take());
    }
}

/// A panic has reached the top of the current thread.
#[cold]
fn has_panicked() {
    if let Some(machine) = crate::scheduled::current() {
        machine.note_panic();
        return;
    }
    if let Some(handle) = engine::current() {
        engine::threads::panicked(handle);
    }
}

impl<F, T> Task<F, T> {
    /// The code has run: tells the others that may see it.
    #[cold]
    fn ends(&self) {
        let Some(seen) = &self.seen else { return };
        if seen.shares.let_go(self.spawned_at) {
            self.drop_result();
        }
        if let Some(is_finished) = &seen.is_finished {
            // As with std, this comes before the thread's thread-locals are destroyed.
            is_finished.store(true, self.spawned_at);
        }
    }

    /// Drops the result, which the last owner has let go of. As with std, a panic of its destructor ends the process.
    fn drop_result(&self) {
        let result = self.result.take();
        let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(result))) else {
            return;
        };
        if panic::is_of_a_machine(&*payload) {
            resume_unwind(payload);
        }
        super::results::die();
    }
}

trait Take<T> {
    fn take(&self) -> Option<Result<T>>;
    fn let_go(&self, site: Site);
    /// Whether the thread's code has run; `None` where that is not watched.
    fn is_finished(&self, site: Site) -> Option<bool>;
}

impl<F, T> Take<T> for Task<F, T> {
    fn take(&self) -> Option<Result<T>> {
        self.result.take()
    }

    fn let_go(&self, site: Site) {
        let Some(seen) = &self.seen else { return };
        seen.shares.told::<T>(site);
        if seen.shares.let_go(site) {
            self.drop_result();
        }
    }

    fn is_finished(&self, site: Site) -> Option<bool> {
        Some(self.seen.as_ref()?.is_finished.as_ref()?.load(site))
    }
}

/// What a thread returns, for the thread that joins it.
pub(super) struct Packet<'scope, T>(ManuallyDrop<Rc<dyn Take<T> + 'scope>>);

// SAFETY: threads of the program are on one OS thread, so that both owners of the task are. Where a handle outlives its
// execution it is the only one: the engine drops its own before the execution ends.
unsafe impl<T> Send for Packet<'_, T> {}
// SAFETY: both owners of the task are on one OS thread, and a handle that outlives its execution is the only owner.
unsafe impl<T> Sync for Packet<'_, T> {}

impl<T> Packet<'_, T> {
    /// Takes the result, if there is one: what the thread returned, or the payload of the panic that ended it. The
    /// result is given away so, and not let go of.
    pub(super) fn take(self) -> Option<Result<T>> {
        let mut packet = ManuallyDrop::new(self);
        // SAFETY: the packet is not used again, and not dropped.
        let task = unsafe { ManuallyDrop::take(&mut packet.0) };
        task.take()
    }

    /// Whether the thread's code has run.
    pub(super) fn is_finished(&self, site: Site) -> bool {
        let is_finished = self.0.is_finished(site);
        is_finished.unwrap_or_else(|| super::asks_unseen(site))
    }
}

impl<T> Drop for Packet<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.0.let_go(Location::caller());
        // SAFETY: the packet's own share, which is not used again.
        let task = unsafe { ManuallyDrop::take(&mut self.0) };
        drop_share(task);
    }
}

impl<T> fmt::Debug for Packet<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Packet")
    }
}

/// A thread's body for the engine, and its result for the thread that joins it.
///
/// # Safety
/// The body is run or dropped before `'scope` ends.
pub(super) unsafe fn task<'scope, F, T>(body: F, spawned_at: Site) -> (Body, Packet<'scope, T>)
where
    F: FnOnce() -> T + 'scope,
    T: 'scope,
{
    let seen = Seen::of::<T>(watched());
    // Written right where it is to be: as an argument of `Rc::new` it would be put together elsewhere and copied.
    let mut task = Rc::new(MaybeUninit::uninit());
    match Rc::get_mut(&mut task) {
        Some(place) => place.write(Task {
            body: Cell::new(Some(body)),
            result: Cell::new(None),
            seen,
            spawned_at,
        }),
        None => unreachable!("nobody else has it yet"),
    };
    // SAFETY: it has just been written.
    let task = unsafe { task.assume_init() };
    let share: Rc<dyn Take<T> + 'scope> = task.clone();
    let packet = Packet(ManuallyDrop::new(share));
    let body: Rc<dyn Run + 'scope> = task;
    // SAFETY: only the lifetime is changed, and the caller promises not to exceed it: a body that has been dropped has
    // dropped the code.
    let body: Rc<dyn Run + 'static> = unsafe { mem::transmute(body) };
    (Body::new(body), packet)
}
