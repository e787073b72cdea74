//! A value that is put into its place some time after the place has been made, once in an execution.

use std::cell::Cell;

use super::{Lasts, Made};
use crate::engine::{Line, refuse_beside_several};
use crate::running::{Running, running};

/// Said where a value is asked for that has not been put there.
const IS_OVER: &str = "the initialization is over";

/// The place of a value that is put there later. The place's owner decides who may access the value, by a
/// [`Once`](crate::std::sync::Once), and tells which value is meant by the number that the `Once` gives it.
///
/// In P̂ₖ both T and T' may put a value there, each into a place of its own. A thread that sees what the other one has
/// made has that very value, and no copy: nothing changes a value that is there but its own cells.
pub(crate) struct Late<T> {
    /// The number of the latest execution that has used this place; 0 before the first one.
    generation: Cell<u32>,
    /// Whether the function that makes the value, which is kept beside this place, has been taken.
    taken: Cell<bool>,
    value: Made<T>,
    /// What T' has made.
    prime: Made<T>,
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
            prime: Made::none(),
        }
    }

    /// Joins this execution: what earlier executions have left in a static is given up.
    fn renew(&self) {
        let generation = match running() {
            Running::Scheduled(machine) => machine.generation(),
            Running::Sequential(handle) => handle.get().generation,
            Running::Nothing => return,
        };
        let before = self.generation.replace(generation);
        if before == generation {
            return;
        }
        if before == 0 {
            crate::process::object(self);
            return;
        }
        self.taken.set(false);
        for place in [&self.value, &self.prime] {
            // SAFETY: references to the value end with the execution that made it.
            if let Some(old) = unsafe { place.take() } {
                Lasts::of(before).give_up(old);
            }
        }
    }

    /// The place of the value with this number.
    fn place(&self, number: u64) -> &Made<T> {
        let is_prime = matches!(running(), Running::Sequential(_)) && Line::of(number).is_prime();
        if is_prime { &self.prime } else { &self.value }
    }

    /// The value with this number, which has been put there.
    pub(crate) fn get(&self, number: u64) -> &T {
        self.renew();
        self.place(number).get().expect(IS_OVER)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> &mut T {
        self.renew();
        let place = std::ptr::from_ref(self.place(number));
        let is_prime = std::ptr::eq(place, &raw const self.prime);
        let place = if is_prime {
            &mut self.prime
        } else {
            &mut self.value
        };
        place.get_mut().expect(IS_OVER)
    }

    /// Puts the value there. A value that is there already is what an initialization has left that panicked: it is dropped.
    ///
    /// # Safety
    /// No reference to the previous value is used any more.
    pub(crate) unsafe fn put(&self, value: T) {
        self.renew();
        if let Running::Sequential(handle) = running()
            && handle.get().is_of_several()
            && handle.get().line == Line::Interfering
            && self.prime.get().is_some()
        {
            let what = "a value that is made once is made by two threads, each by itself";
            refuse_beside_several(handle, what, None);
        }
        let place = match running() {
            Running::Sequential(handle) if handle.get().line == Line::Interfering => &self.prime,
            _ => &self.value,
        };
        // SAFETY: the caller's promise.
        let old = unsafe { place.take() };
        place.make(value);
        drop(old);
    }

    /// Takes the value with this number, if there is one.
    pub(crate) fn take(&mut self, number: Option<u64>) -> Option<T> {
        self.renew();
        // SAFETY: the place is exclusively borrowed.
        unsafe { self.place(number?).take() }
    }

    /// The function that makes the value is taken. Returns whether it had been taken before, by the other thread of P̂ₖ.
    pub(crate) fn note_taken(&self) -> bool {
        self.renew();
        self.taken.replace(true)
    }

    pub(crate) const fn is_taken(&self) -> bool {
        self.taken.get()
    }
}
