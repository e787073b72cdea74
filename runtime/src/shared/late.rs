//! A value that is put there some time after its place has been made, once in an execution.

use std::cell::UnsafeCell;

use super::Lasts;
use crate::scheduled::events::current;

/// What is there, and since which execution.
struct State<T> {
    /// The latest execution that has come here; 0 before the first.
    generation: u32,
    /// What makes the value has been taken out of beside it.
    taken: bool,
    value: Option<T>,
}

/// The place of such a value. Who may come to it is for its owner to say, who has a [`Once`](crate::std::sync::Once).
pub(crate) struct Late<T>(UnsafeCell<State<T>>);

impl<T> Late<T> {
    pub(crate) const fn empty() -> Self {
        Self(UnsafeCell::new(State {
            generation: 0,
            taken: false,
            value: None,
        }))
    }

    pub(crate) const fn with(value: T) -> Self {
        Self(UnsafeCell::new(State {
            generation: 0,
            taken: false,
            value: Some(value),
        }))
    }

    /// The state as it is in this execution: what earlier ones have left in a static is given up.
    #[allow(clippy::mut_from_ref)]
    fn state(&self) -> &mut State<T> {
        // SAFETY: all threads of an execution run on one OS thread, and no reference to the state outlives a method here or
        // spans a call of the program's code. References to the value are the callers' affair.
        let state = unsafe { &mut *self.0.get() };
        if let Some(machine) = current()
            && state.generation != machine.generation()
        {
            let is_old = state.generation != 0;
            let lasts = Lasts::of(state.generation);
            if !is_old {
                crate::process::object(self);
            }
            state.generation = machine.generation();
            if is_old {
                state.taken = false;
                let old = state.value.take();
                lasts.give_up(old);
            }
        }
        // SAFETY: as above; the reference made before is not used any more.
        unsafe { &mut *self.0.get() }
    }

    /// The value.
    ///
    /// # Safety
    /// It has been put there, and nobody puts another one there as long as the reference is used.
    pub(crate) unsafe fn get(&self) -> &T {
        match &self.state().value {
            Some(value) => value,
            None => unreachable!("the initialization is over"),
        }
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        match &mut self.state().value {
            Some(value) => value,
            None => unreachable!("the initialization is over"),
        }
    }

    /// Puts the value there.
    ///
    /// # Safety
    /// Nobody has a reference to the one before.
    pub(crate) unsafe fn put(&self, value: T) {
        let old = self.state().value.replace(value);
        drop(old);
    }

    pub(crate) fn take(&mut self) -> Option<T> {
        self.state().value.take()
    }

    pub(crate) fn note_taken(&self) {
        self.state().taken = true;
    }

    pub(crate) const fn is_taken(&self) -> bool {
        // SAFETY: see `state`.
        unsafe { (*self.0.get()).taken }
    }
}
