//! The code of a thread of the program under test.

use std::mem::ManuallyDrop;
use std::rc::Rc;

/// The code of a thread, which runs once or not at all.
pub(crate) trait Run {
    fn run(&self);
    /// Drops the code, if it has not run.
    fn discard(&self);
}

/// The engine's share of a thread's code.
pub(crate) struct Body(Rc<dyn Run>);

impl Body {
    pub(crate) fn new(code: Rc<dyn Run>) -> Self {
        Self(code)
    }

    /// Runs the thread.
    pub(crate) fn run(self) {
        let body = ManuallyDrop::new(self);
        // SAFETY: the body is not used again, and not dropped. There is no code left in it to discard, once it runs.
        let code = unsafe { std::ptr::read(&raw const body.0) };
        code.run();
        drop_share(code);
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.0.discard();
    }
}

/// Drops the share in a thread's code and result that the thread has, or its handle.
pub(crate) fn drop_share<T: ?Sized>(share: Rc<T>) {
    match crate::scheduled::current() {
        Some(machine) => machine.drop_of_std(|| drop(share)),
        None => drop(share),
    }
}
