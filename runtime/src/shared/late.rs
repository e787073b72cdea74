//! A value that is put into its place some time after the place has been made, once in an execution.

use std::cell::Cell;

use super::{Lasts, Made};
use crate::scheduled::current;

/// Said where a value is asked for that has not been put there.
const IS_OVER: &str = "the initialization is over";

/// The place of a value that is put there later. The place's owner decides who may access the value, by a
/// [`Once`](crate::std::sync::Once).
pub(crate) struct Late<T> {
    /// The number of the latest execution that has used this place; 0 before the first one.
    generation: Cell<u32>,
    /// Whether the function that makes the value, which is kept beside this place, has been taken.
    taken: Cell<bool>,
    value: Made<T>,
}

impl<T> Late<T> {
    pub(crate) const fn empty() -> Self {
        Self::of(Made::none())
    }

    pub(crate) const fn with(value: T) -> Self {
        Self::of(Made::already(value))
    }

    const fn of(value: Made<T>) -> Self {
        Self {
            generation: Cell::new(0),
            taken: Cell::new(false),
            value,
        }
    }

    /// Joins this execution: what earlier executions have left in a static is given up.
    fn renew(&self) {
        let Some(machine) = current() else { return };
        let before = self.generation.replace(machine.generation());
        if before == machine.generation() {
            return;
        }
        if before == 0 {
            crate::process::object(self);
            return;
        }
        self.taken.set(false);
        // SAFETY: references to the value end with the execution that made it.
        if let Some(old) = unsafe { self.value.take() } {
            Lasts::of(before).give_up(old);
        }
    }

    /// The value, which has been put there.
    pub(crate) fn get(&self) -> &T {
        self.renew();
        self.value.get().expect(IS_OVER)
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.renew();
        self.value.get_mut().expect(IS_OVER)
    }

    /// Puts the value there. A value that is there already is what an initialization has left that panicked: it is dropped.
    ///
    /// # Safety
    /// No reference to the previous value is used any more.
    pub(crate) unsafe fn put(&self, value: T) {
        self.renew();
        // SAFETY: the caller's promise.
        let old = unsafe { self.value.take() };
        self.value.make(value);
        drop(old);
    }

    pub(crate) fn take(&mut self) -> Option<T> {
        self.renew();
        // SAFETY: the place is exclusively borrowed.
        unsafe { self.value.take() }
    }

    pub(crate) fn note_taken(&self) {
        self.renew();
        self.taken.set(true);
    }

    pub(crate) const fn is_taken(&self) -> bool {
        self.taken.get()
    }
}
