//! What a thread runs and what it returns, in one place.

use std::cell::UnsafeCell;
use std::fmt;
use std::mem;
use std::rc::Rc;

use crate::engine::body::{Body, Run};

/// A thread's code, then its result.
enum Stage<F, T> {
    Body(F),
    /// The result, once there is one and until it is taken.
    Result(Option<T>),
}

struct Task<F, T>(UnsafeCell<Stage<F, T>>);

impl<F, T> Task<F, T> {
    fn replace(&self, stage: Stage<F, T>) -> Stage<F, T> {
        // SAFETY: nobody else accesses the stage at this moment: no reference to it leaves a method, all threads of the
        // program are on one OS thread, and what is replaced is dropped by the caller.
        mem::replace(unsafe { &mut *self.0.get() }, stage)
    }
}

impl<F: FnOnce() -> T, T> Run for Task<F, T> {
    fn run(&self) {
        if let Stage::Body(body) = self.replace(Stage::Result(None)) {
            let result = body();
            drop(self.replace(Stage::Result(Some(result))));
        }
    }

    fn discard(&self) {
        // SAFETY: as above; the reference ends with this statement.
        if matches!(unsafe { &*self.0.get() }, Stage::Body(_)) {
            drop(self.replace(Stage::Result(None)));
        }
    }
}

trait Take<T> {
    fn take(&self) -> Option<T>;
}

impl<F, T> Take<T> for Task<F, T> {
    fn take(&self) -> Option<T> {
        // SAFETY: as above.
        match unsafe { &mut *self.0.get() } {
            Stage::Body(_) => None,
            Stage::Result(result) => result.take(),
        }
    }
}

/// What a thread returns, for who joins it.
pub(super) struct Packet<'scope, T>(Rc<dyn Take<T> + 'scope>);

// SAFETY: threads of the program are on one OS thread, so that both owners of the task are. Where a handle outlives its
// execution it is the only one: the engine drops its own before the execution ends.
unsafe impl<T> Send for Packet<'_, T> {}
// SAFETY: see above.
unsafe impl<T> Sync for Packet<'_, T> {}

impl<T> Packet<'_, T> {
    /// Takes the result, if there is one.
    pub(super) fn take(&self) -> Option<T> {
        self.0.take()
    }
}

impl<T> fmt::Debug for Packet<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Packet")
    }
}

/// A thread's body for the engine, and its result for who joins it.
///
/// # Safety
/// The body is run or dropped before `'scope` ends.
pub(super) unsafe fn task<'scope, F, T>(body: F) -> (Body, Packet<'scope, T>)
where
    F: FnOnce() -> T + 'scope,
    T: 'scope,
{
    let task = Rc::new(Task(UnsafeCell::new(Stage::Body(body))));
    let packet = Packet(Rc::clone(&task) as Rc<dyn Take<T> + 'scope>);
    let body: Rc<dyn Run + 'scope> = task;
    // SAFETY: only the lifetime is changed, and the caller promises not to exceed it: a body that has been dropped has
    // dropped the code.
    let body: Rc<dyn Run + 'static> = unsafe { mem::transmute(body) };
    (Body::new(body), packet)
}
