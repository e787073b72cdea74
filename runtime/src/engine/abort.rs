//! Ending an execution early.

use super::{Engine, Handle, Site};

/// Why an execution, or the run of T' inside it, ended before its program did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abort {
    /// The log has no feasible interleaving.
    Infeasible,
    /// The feasibility check could not tell: there is a [`Reason`].
    Unknown,
    /// `rds` or `wrts` name a read or a write that does not fit: another object, or none.
    Mispaired,
    /// `assume` was told something false.
    Assumed,
    /// The step bound was passed.
    StepBound,
    /// The thread repeats reads that cannot change any more by itself.
    Waiting,
    /// The thread waits for ever: for T', which never ends.
    Stuck,
    /// A bug ended the thread, and has been noted.
    Bug,
    /// The program ended its process.
    Left,
    /// The program does what P̂ₖ cannot express: there is a [`Reason`].
    Unsupported,
}

/// What there is to say of it.
#[derive(Clone, Debug)]
pub(crate) struct Reason {
    pub(crate) message: String,
    pub(crate) site: Option<Site>,
}

/// The payload of the unwinding that ends an execution. The reason is in the engine.
pub(crate) struct Unwind;

/// Ends the current line's run with `reason`: by unwinding, or silently where it unwinds already, or where letting it run
/// on is cheaper and can do no harm.
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
    unwind();
}

impl Engine {
    /// Says why the execution is ended, unless it has been already.
    fn explain(&mut self, message: String, site: Option<Site>) {
        if self.abort.is_none() {
            self.reason = Some(Reason { message, site });
        }
    }
}

/// Ends the whole execution: the feasibility check could not tell, for this reason.
#[cold]
pub(crate) fn unknown(handle: Handle, why: String) {
    handle.get().explain(why, None);
    abort(handle, Abort::Unknown);
}

/// Goes on unwinding, or begins to, unless the thread unwinds already.
pub(crate) fn unwind() {
    if !std::thread::panicking() {
        std::panic::resume_unwind(Box::new(Unwind));
    }
}

/// An event, or something else that needs other threads, of an execution that has been ended. Comes back where the
/// execution goes on all the same.
#[cold]
pub(crate) fn after_end(handle: Handle) {
    let engine = handle.get();
    if engine.abort.is_none() {
        return; // Quiet for another reason.
    }
    if engine.abort == Some(Abort::Infeasible) && engine.run_on > 0 {
        engine.run_on -= 1;
    } else {
        unwind();
    }
}

/// Ends the whole execution: the program does something that P̂ₖ cannot express.
#[cold]
pub(crate) fn unsupported(handle: Handle, message: String, site: Option<Site>) {
    handle.get().explain(message, site);
    abort(handle, Abort::Unsupported);
}
