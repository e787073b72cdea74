//! Ending an execution early.

use std::ptr::NonNull;

use super::frame::Frame;
use super::{Engine, Handle, Line};
use crate::memory::outside;
use crate::vocabulary::{Place, Site};

/// Why an execution, or the run of T' inside it, ended before its program did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abort {
    /// The log has no feasible interleaving.
    Infeasible,
    /// The feasibility check could not decide: [`Engine`] holds a [`Reason`].
    Unknown,
    /// `rds` or `wrts` name a read or a write that does not fit: another object, or none.
    Mispaired,
    /// `assume` was told something false.
    Assumed,
    /// The step bound was passed.
    StepBound,
    /// The thread repeats reads whose values can no longer change without another thread.
    Waiting,
    /// The thread waits for ever, for T', which never ends.
    Stuck,
    /// A bug ended the thread, and is in the ledger.
    Bug,
    /// The program ended its process.
    Left,
    /// The program does what P̂ₖ cannot express: [`Engine`] holds a [`Reason`].
    Unsupported,
}

/// What a report tells of an [`Abort`].
#[derive(Clone, Debug)]
pub(crate) struct Reason {
    pub(crate) message: String,
    pub(crate) site: Option<Site>,
}

/// The payload of the unwinding that ends an execution. The engine holds the reason.
pub(crate) struct Unwind;

/// How an execution, or T' in it, is left before its program is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// The execution is left where it is, and no code of the program runs any more, as in a process that has ended.
    /// Used where what the execution holds is given back with its memory.
    Forgets,
    /// The execution is unwound, so that it gives back what it holds. Where a destructor fails on the way, or can't
    /// come to its end, the rest is forgotten, since none of this unwinding is the program's doing.
    Unwinds,
    /// The execution is unwound, and every destructor has to come to its end, since nothing can be forgotten here.
    #[default]
    OnlyUnwinds,
}

/// The most events that destructors may make while a thread is unwound.
pub(super) const LEFT: u32 = 10_000;

/// Ends the current line's run with `reason`: see [`unwind`]. Or lets the execution run on, where running on is cheaper
/// than unwinding, and can do no harm.
#[cold]
pub(crate) fn abort(handle: Handle, reason: Abort) {
    let engine = handle.get();
    if engine.abort.is_none() {
        engine.abort = Some(reason);
    }
    engine.quiet = true;
    if engine.abort == Some(Abort::Infeasible) && engine.run_on > 0 {
        return;
    }
    unwind(handle);
}

/// Leaves the current line. Returns where the thread is unwinding already and goes on with that.
pub(crate) fn unwind(handle: Handle) {
    let engine = handle.get();
    match engine.leaves {
        Leaves::Forgets => leave(handle),
        Leaves::Unwinds if engine.is_over => leave(handle),
        Leaves::Unwinds | Leaves::OnlyUnwinds if !std::thread::panicking() => {
            std::panic::resume_unwind(Box::new(Unwind));
        }
        // A destructor is running, or what a destructor waits for.
        Leaves::Unwinds if engine.left == 0 => leave(handle),
        Leaves::Unwinds => engine.left -= 1,
        Leaves::OnlyUnwinds => {}
    }
}

/// Whether a panic of the program would now end the process: the execution has been ended, and its thread is unwinding
/// already. Such an end of the process is not the program's doing.
pub(super) fn would_die(engine: &Engine) -> bool {
    let has_ended = engine.quiet && (engine.is_over || engine.abort.is_some());
    let counter = engine.counter.filter(|_| has_ended && engine.can_be_left());
    counter.is_some_and(|counter| counter.number() > 1)
}

/// Leaves the current line where it is. If T' was ended, leaves T' alone, and T has its turn.
#[cold]
pub(super) fn leave(handle: Handle) -> ! {
    let engine = handle.get();
    if !engine.is_over && engine.line == Line::Interfering && !ends_all(engine) {
        if let Some(frame) = engine.frames.interfering {
            // SAFETY: the call goes on, since its end takes the frame away. What has come onto the stack since belongs
            // to T'.
            unsafe { Frame::leave(frame) }
        }
        super::threads::run_after_interfering(handle);
    }
    let Some(frame) = handle.get().frames.whole else {
        unreachable!("an execution is left within");
    };
    // SAFETY: the call goes on, since its end takes the frame away. No code of the execution runs any more.
    unsafe { Frame::leave(frame) }
}

/// Whether the end of T' ends T, too.
pub(super) const fn ends_all(engine: &Engine) -> bool {
    matches!(engine.abort, Some(Abort::Unsupported | Abort::Unknown))
}

/// Calls that can be left.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frames {
    /// The call that runs the whole execution.
    pub(super) whole: Option<NonNull<Frame>>,
    /// The call that runs T', while T' runs.
    pub(super) interfering: Option<NonNull<Frame>>,
}

impl Engine {
    /// Notes why the execution is ended, unless a reason is there already.
    pub(super) fn explain(&mut self, message: String, site: Option<Site>) {
        if self.abort.is_none() {
            // The message is read after the execution's memory has been given back.
            let message = outside(|| message.as_str().to_owned());
            self.reason = Some(Reason { message, site });
        }
    }
}

/// Ends the whole execution: the feasibility check could not decide, for this reason.
#[cold]
pub(crate) fn unknown(handle: Handle, why: String) {
    handle.get().explain(why, None);
    abort(handle, Abort::Unknown);
}

/// An event, or something else that needs other threads, of an execution that has been ended. Returns where the
/// execution runs on.
#[cold]
pub(crate) fn after_end(handle: Handle) {
    let engine = handle.get();
    if engine.abort.is_none() {
        return; // Quiet for another reason.
    }
    if engine.abort == Some(Abort::Infeasible) && engine.run_on > 0 {
        engine.run_on -= 1;
    } else {
        unwind(handle);
    }
}

/// Ends the whole execution: the program does something that P̂ₖ cannot express.
#[cold]
pub(crate) fn unsupported(handle: Handle, message: String, site: Option<Site>) {
    handle.get().explain(message, site);
    abort(handle, Abort::Unsupported);
}

/// Hears of a panic of the program that runs on this OS thread.
pub(super) fn hear(message: String, place: Place) {
    let Some(handle) = super::current() else {
        return;
    };
    if let Some(of) = handle.get().copying {
        super::copying::panics(handle, of, &message);
        return;
    }
    if handle.get().counts.is_uncertain() && handle.get().leaves == Leaves::Forgets {
        super::counts::is_noticed(handle);
    }
    if would_die(handle.get()) {
        drop((message, place));
        leave(handle);
    }
    super::with_panics(handle, |panics, thread, events| {
        panics.raise(thread, &message, Some(place), events);
    });
}
