//! Accesses of a program's `unsafe` code, as they are told of.

/// What the program is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    /// It makes a reference to a place that nobody may change while the reference lives, but for what is in locks.
    Borrow,
    /// It makes a reference to a place that others may change all the same: only that the place lives is sure.
    Use,
}
