//! In P̂ₖ: operations of std that are one step, and access several variables.
//!
//! What such an operation does is a block of a lock of its own, which all operations on the same object take. So no event of
//! the other thread on that object comes in between. The block's beginning and end are no events of the program, and of
//! the events inside, those alone are the program's by which it goes on, or sees the other thread.

use super::Tag;
use crate::engine::{Handle, Line, ValueKind, tau, tau_prime};
use crate::log::LockMode;
use crate::vocabulary::Site;

/// The lock of such an object.
#[derive(Debug)]
pub(crate) struct Block(Tag);

// SAFETY: all threads of an execution run on one OS thread, and executions run one after the other.
unsafe impl Sync for Block {}

impl Block {
    pub(crate) const fn new() -> Self {
        Self(Tag::unused())
    }

    /// Does one operation on the object. Before two threads run side by side, and in an execution that has been ended,
    /// nothing comes in between anyway.
    pub(crate) fn run<R>(&self, handle: Handle, site: Site, operation: impl FnOnce() -> R) -> R {
        let line = handle.get().line;
        if line == Line::Init || handle.get().quiet {
            return operation();
        }
        self.0.renew(handle.get().generation, self);
        let lock = self.0.object(handle, ValueKind::Opaque);
        hidden(handle, || match line {
            Line::Interfering => {
                tau_prime::acquire(handle, lock, LockMode::Exclusive, false, site);
            }
            _ => tau::enter_block(handle, lock, site),
        });
        let result = operation();
        if !handle.get().quiet {
            hidden(handle, || match line {
                Line::Interfering => {
                    tau_prime::release(handle, lock, LockMode::Exclusive, site);
                }
                _ => tau::leave_block(handle, lock, site),
            });
        }
        result
    }
}

/// Makes events that are no events of the program, but for those by which T sees T'.
pub(crate) fn hidden<R>(handle: Handle, events: impl FnOnce() -> R) -> R {
    let before = handle.get().hides_events();
    let result = events();
    handle.get().shows_events(before);
    result
}
