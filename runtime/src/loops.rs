//! Loops that wait: marks on loops whose turns leave nothing behind.
//!
//! A thread that waits for another one by looking again and again (`while !flag.load(o) {}`, `lock` and look, `try_recv`, with
//! `sleep` or without) has as many executions as there are numbers, of which all but a few are the same with turns put in
//! that saw nothing. But that a thread has read the same value a hundred times doesn't tell that it waits: it may
//! count, and do something else after the hundredth time. So the transformation decides from the source which loops
//! *qualify*: all that one of their turns does is forgotten at its end, but for events (see `seqz_transform`,
//! `walk::loops`). It makes of `while c { … }`
//!
//! ```text
//! { let mut waits = Loop::new(); loop { waits.turn(); if c { … } else { break } } }
//! ```
//!
//! and at each [`Loop::turn`] the runtime looks at the events of the turn that is over. It was **idle** if it made an event,
//! and no event of it changed anything: then the thread stands where it stood before the turn, and so does everything that
//! others can see. What that means is another matter in each mode: see `scheduled::loops` and
//! [`engine::spin`](crate::engine).
//!
//! Where only some branches of a turn leave something behind, such a branch says so at its beginning ([`Loop::lasts`]):
//! what follows is the beginning of another run of the loop, and a turn that takes no such branch is judged as ever.
//!
//! What a loop calls may be a closure that it is given (`while !ready() {}`). Then each of those that may be given says when
//! it is run whether it leaves something behind ([`lasts`]), and a turn in which one has said so is no turn to judge.
//!
//! A loop without marks is run as it is written.

use std::marker::PhantomData;
use std::panic::Location;

use crate::engine::{self, Turns};
use crate::scheduled::{self, Handle, Since};

/// One run of a loop that waits, by one thread.
#[derive(Debug)]
pub struct Loop {
    scheduled: Option<Since>,
    sequential: Turns,
    /// Keeps the run on its thread.
    _of_this_thread: PhantomData<*const ()>,
}

impl Loop {
    /// A run of the loop, which is about to begin.
    #[allow(clippy::new_without_default)] // A run that begins is no default value.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self {
            scheduled: scheduled::current().map(Handle::begin_loop),
            sequential: Turns::default(),
            _of_this_thread: PhantomData,
        }
    }

    /// A turn begins; the one before it, if there is one, is over.
    #[inline]
    #[track_caller]
    pub fn turn(&mut self) {
        let site = Location::caller();
        if let Some(since) = &mut self.scheduled {
            if let Some(machine) = scheduled::current() {
                machine.turn_of_loop(since, site);
            }
            return;
        }
        if let Some(engine) = engine::current() {
            engine::turn(engine, &mut self.sequential);
        }
    }

    /// What this turn does from here on lasts beyond it: with the next turn another run of the loop begins.
    #[inline]
    pub fn lasts(&mut self) {
        // The old run ends before the new one begins, so that neither is inside of the other.
        if self.scheduled.is_some()
            && let Some(machine) = scheduled::current()
        {
            machine.end_loop();
            self.scheduled = Some(machine.begin_loop());
        }
        self.sequential = Turns::default();
    }
}

/// What this thread does from here on lasts beyond the turns of all loops that it is in.
#[inline]
pub fn lasts() {
    if let Some(machine) = scheduled::current() {
        return machine.lasts();
    }
    if let Some(engine) = engine::current() {
        engine::lasts(engine);
    }
}

impl Drop for Loop {
    #[inline]
    fn drop(&mut self) {
        if self.scheduled.is_some()
            && let Some(machine) = scheduled::current()
        {
            machine.end_loop();
        }
    }
}
