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
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.0.discard();
    }
}
