//! What a thread runs and what it returns, in one place.

use std::cell::Cell;
use std::fmt;
use std::mem::{self, MaybeUninit};
use std::rc::Rc;

use crate::engine::body::{Body, Run};

/// A thread's code, until it runs, and its result, once there is one and until it is taken.
struct Task<F, T> {
    body: Cell<Option<F>>,
    result: Cell<Option<T>>,
}

impl<F: FnOnce() -> T, T> Run for Task<F, T> {
    fn run(&self) {
        if let Some(body) = self.body.take() {
            self.result.set(Some(body()));
        }
    }

    fn discard(&self) {
        drop(self.body.take());
    }
}

trait Take<T> {
    fn take(&self) -> Option<T>;
}

impl<F, T> Take<T> for Task<F, T> {
    fn take(&self) -> Option<T> {
        self.result.take()
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
    // Written right where it is to be: as an argument of `Rc::new` it would be put together elsewhere and copied.
    let mut task = Rc::new(MaybeUninit::uninit());
    match Rc::get_mut(&mut task) {
        Some(place) => place.write(Task {
            body: Cell::new(Some(body)),
            result: Cell::new(None),
        }),
        None => unreachable!("nobody else has it yet"),
    };
    // SAFETY: it has just been written.
    let task = unsafe { task.assume_init() };
    let packet = Packet(Rc::clone(&task) as Rc<dyn Take<T> + 'scope>);
    let body: Rc<dyn Run + 'scope> = task;
    // SAFETY: only the lifetime is changed, and the caller promises not to exceed it: a body that has been dropped has
    // dropped the code.
    let body: Rc<dyn Run + 'static> = unsafe { mem::transmute(body) };
    (Body::new(body), packet)
}
