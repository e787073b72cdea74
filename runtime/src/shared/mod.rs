//! The two copies, G and G', inside every shared object.
//!
//! Source: section 4.1: T and T' each have their own copy of the shared variables. Before the two run side by side there
//! is G alone. T' makes its copy of a value when it first writes it, and T, which runs after T', goes on with G.
//!
//! An object belongs to one execution: an object carries the execution's number, and an object that meets a new
//! execution (a static) starts afresh with its initial value.

mod atomic;
mod block;
mod copies;
mod guard;
mod initial;
mod late;
mod lock;
pub(crate) mod parking;
mod plain;
mod room;
mod slot;
mod spot;
mod unseen;

pub(crate) use atomic::{AtomicCell, Bits};
pub(crate) use block::{Block, hidden};
pub use copies::{Copied, Shadow};
pub(crate) use copies::{copy_if_clone, copy_of, is_static};
pub(crate) use guard::Exclusive;
pub(crate) use initial::Initial;
pub(crate) use late::Late;
pub(crate) use lock::LockCell;
pub(crate) use plain::PlainCell;
use slot::{Kept, Made, Slot};
pub(crate) use spot::Spot;

use std::cell::Cell;

use crate::alone::Generation;
use crate::engine::{Handle, NONE, ValueKind};
use crate::log::Object;
use crate::scheduled;

/// The execution to which an object's state belongs, and the object's number in it.
#[derive(Debug)]
pub(crate) struct Tag {
    generation: Cell<u32>,
    object: Cell<Object>,
}

/// What becomes of an object's copy of T', where a round of P̂ₖ or the run of another interfering thread may have begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prime {
    /// It is the current thread's.
    Stays,
    /// It is an interfering thread's that has run before. What T may see of it is kept.
    OfAnother,
    /// Both threads of the round begin with it.
    Lasts,
    /// Both threads of the round begin with the copy of T.
    IsOver,
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
    /// The tag of an object that has been in no execution.
    pub(crate) const fn unused() -> Self {
        Self {
            generation: Cell::new(0),
            object: Cell::new(NONE),
        }
    }

    /// What becomes of the values of the object's latest execution, when the next one begins.
    pub(crate) const fn lasts(&self) -> Lasts {
        Lasts::of(self.generation.get())
    }

    /// Joins the execution with this number. Returns whether the object, which lies in `cell`, was in another execution
    /// before.
    #[inline]
    fn renew<C>(&self, generation: u32, cell: &C) -> bool {
        let before = self.generation.get();
        let new = before != generation;
        if new {
            if before == 0 {
                crate::process::object(cell);
            }
            self.generation.set(generation);
            self.object.set(NONE);
        }
        new
    }

    /// The object's number in P̂ₖ, given at its first event.
    #[inline]
    fn object(&self, handle: Handle, kind: ValueKind) -> Object {
        if self.object.get() == NONE {
            self.object.set(handle.get().new_object(kind));
        }
        self.object.get()
    }

    /// Whether P̂ₖ may have begun another round since the object's latest event, or the run of another interfering thread: see
    /// [`Self::begin_round`].
    #[inline]
    fn is_of_earlier_round(&self, handle: Handle) -> bool {
        handle.get().is_of_earlier_round(self.object.get())
    }

    /// Gives the object its number in this round of P̂ₖ, or finds out whether another interfering thread runs now. Returns what
    /// becomes of the copy of T'.
    fn begin_round(&self, handle: Handle) -> Prime {
        if handle.get().is_of_several() {
            return if handle.get().takes_over(self.object.get()) {
                Prime::OfAnother
            } else {
                Prime::Stays
            };
        }
        let (object, of_t_prime) = handle.get().renumber(self.object.get());
        self.object.set(object);
        if of_t_prime {
            Prime::Lasts
        } else {
            Prime::IsOver
        }
    }

    /// The object's name on the scheduled machine, `cell` being the object's place in memory.
    #[inline]
    fn name<C>(&self, machine: scheduled::Handle, cell: *const C) -> Object {
        if self.object.get() == NONE {
            self.object.set(machine.new_object(cell.addr()));
        } else if crate::memory::arena::is_watched() {
            // It may have been moved since.
            machine.is_at(self.object.get(), cell.addr());
        }
        self.object.get()
    }

    /// Called where a thread with exclusive access changes the object without an event: later events are those of a new
    /// object.
    const fn forget(&mut self) {
        *self.object.get_mut() = NONE;
    }
}

impl Handle {
    /// Gives up a copy of one of the program's values, to which no reference is left. In the program this copy does not
    /// exist, and is not dropped.
    pub(crate) fn give_up<V>(self, value: V) {
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
    let outside = crate::process::is_static(cell).then(crate::memory::arena::leave_program);
    let made = make();
    if let Some(outside) = outside {
        outside.leave();
    }
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
