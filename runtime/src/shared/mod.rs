//! The two copies, G and G', inside every shared object.
//!
//! Source: section 4.1: T and T' each have their own copy of the shared variables. Before the two run side by side there
//! is G alone. T' makes its copy of a value when it first writes it, and T, which runs after T', goes on with G.
//!
//! An object belongs to one execution: an object carries the execution's number, and an object that meets a new
//! execution (a static) starts afresh with its initial value.

mod atomic;
mod copies;
mod guard;
mod initial;
#[cfg(feature = "scheduler")]
mod late;
mod lock;
mod plain;
mod room;
#[cfg(feature = "scheduler")]
mod spot;
mod unseen;

pub(crate) use atomic::{AtomicCell, Bits};
pub use copies::{Copied, Shadow};
pub(crate) use copies::{copy_if_clone, copy_of, is_static};
pub(crate) use guard::Exclusive;
pub(crate) use initial::Initial;
#[cfg(feature = "scheduler")]
pub(crate) use late::Late;
pub(crate) use lock::LockCell;
pub(crate) use plain::PlainCell;
#[cfg(feature = "scheduler")]
pub(crate) use spot::{Spot, machine, machine_unless_ending};

use crate::alone::Generation;
use crate::engine::{Handle, NONE, ValueKind};
use crate::log::Object;

/// The execution to which an object's state belongs, and the object's number in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    generation: u32,
    object: Object,
}

/// What becomes of a value that an execution has left in a static.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lasts {
    /// The value is there until it is dropped.
    UntilDropped,
    /// The value's memory has been given back with all of the execution's.
    Gone,
}

impl Lasts {
    /// What becomes of the values of the execution with this number.
    pub(crate) const fn of(generation: u32) -> Self {
        if Generation::is_given_back(generation) {
            Self::Gone
        } else {
            Self::UntilDropped
        }
    }

    /// Gives up a value to which no reference is left.
    pub(crate) fn give_up<V>(self, value: V) {
        match self {
            Self::UntilDropped => drop(value),
            Self::Gone => std::mem::forget(value),
        }
    }

    /// Gives up values to which no references are left. The list of the values outlives the execution.
    pub(crate) fn give_up_all<V>(self, values: &mut Vec<V>) {
        match self {
            Self::UntilDropped => values.clear(),
            Self::Gone => values.drain(..).for_each(std::mem::forget),
        }
    }
}

impl Tag {
    /// What becomes of the values of the object's latest execution, when the next one begins.
    pub(crate) const fn lasts(self) -> Lasts {
        Lasts::of(self.generation)
    }

    pub(crate) const UNUSED: Self = Self {
        generation: 0,
        object: NONE,
    };

    /// Joins the current execution. Returns whether the object, which lies in `cell`, was in another execution before.
    #[inline]
    fn renew<C>(&mut self, handle: Handle, cell: &C) -> bool {
        self.renew_to(handle.get().generation, cell)
    }

    /// Joins the execution with this number. Returns whether the object was in another execution before.
    #[inline]
    fn renew_to<C>(&mut self, generation: u32, cell: &C) -> bool {
        let new = self.generation != generation;
        if new {
            #[cfg(feature = "scheduler")]
            if self.generation == 0 {
                crate::process::object(cell);
            }
            // Without the scheduler, the process is not put back to how it was.
            #[cfg(not(feature = "scheduler"))]
            let _ = cell;
            *self = Self {
                generation,
                object: NONE,
            };
        }
        new
    }

    /// The object's number, given at its first event.
    #[inline]
    fn object(&mut self, handle: Handle, kind: ValueKind) -> Object {
        if self.object == NONE {
            self.object = handle.get().new_object(kind);
        }
        self.object
    }
}

#[cfg(feature = "scheduler")]
impl Tag {
    /// The object's name on the scheduled machine, `cell` being the object's place in memory.
    #[inline]
    fn scheduled_object<C>(
        &mut self,
        machine: crate::scheduled::events::Handle,
        cell: *const C,
    ) -> Object {
        if self.object == NONE {
            self.object = machine.new_object(cell.addr());
        }
        self.object
    }

    /// Called where a thread with exclusive access changes the object without an event: later events are those of a new
    /// object.
    const fn forget(&mut self) {
        self.object = NONE;
    }
}

impl Handle {
    /// Gives up a copy of one of the program's values, to which no reference is left. In the program this copy does not
    /// exist, and is not dropped.
    fn give_up<V>(self, value: V) {
        if Generation::is_given_back(self.get().generation) {
            std::mem::forget(value);
        } else {
            quietly(self, || drop(value));
        }
    }
}

/// Makes what an object in `cell` holds when another execution begins. For a static, the value is not made in this
/// execution's memory.
#[inline(always)]
fn lasting<C, R>(cell: &C, make: impl FnOnce() -> R) -> R {
    #[cfg(feature = "scheduler")]
    let outside = crate::process::is_static(cell).then(crate::memory::arena::leave_program);
    let made = make();
    #[cfg(feature = "scheduler")]
    if let Some(outside) = outside {
        outside.leave();
    }
    let _ = cell;
    made
}

/// Does something with copies without that being an event of the program.
fn quietly<R>(handle: Handle, make: impl FnOnce() -> R) -> R {
    struct Restore(Handle, bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            self.0.get().quiet = self.1;
        }
    }
    let before = std::mem::replace(&mut handle.get().quiet, true);
    let _restore = Restore(handle, before);
    make()
}
