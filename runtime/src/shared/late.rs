//! A value that is put into its place some time after the place has been made, once in an execution.

use std::cell::UnsafeCell;

use super::Lasts;
use crate::scheduled::events::current;

/// The value, and the execution that put it there.
struct State<T> {
    /// The number of the latest execution that has used this place; 0 before the first one.
    generation: u32,
    /// Whether the function that makes the value, which is kept beside this place, has been taken.
    taken: bool,
    value: Option<T>,
}

/// The place of a value that is put there later. The place's owner decides who may access the value, by a
/// [`Once`](crate::std::sync::Once).
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

    /// The state as it is in this execution: what earlier executions have left in a static is given up.
    #[allow(clippy::mut_from_ref)]
    fn state(&self) -> &mut State<T> {
        // SAFETY: all threads of an execution run on one OS thread, and no reference to the state outlives a method
        // here or spans a call of the program's code. The callers answer for references to the value.
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
        // SAFETY: all threads of an execution run on one OS thread, and the reference made before is not used any more.
        unsafe { &mut *self.0.get() }
    }

    /// The value.
    ///
    /// # Safety
    /// The value has been put there, and no other value is put there as long as the reference is used.
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
    /// No reference to the previous value is used any more.
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
        // SAFETY: all threads of an execution run on one OS thread, and no reference to the state is alive here.
        unsafe { (*self.0.get()).taken }
    }
}
