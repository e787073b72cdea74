//! Where executables are not read: nothing of a process is put back, and all programs are told so.

use crate::alone::Generation;

/// Nothing is remembered.
pub(crate) const fn install(_alone: &mut Generation) {}

/// What a program may have changed, in words.
pub(crate) fn left_behind(_alone: &mut Generation) -> Vec<String> {
    vec!["state of the process".to_owned()]
}

/// Nothing is put back.
#[inline]
pub(crate) const fn restore(_alone: &mut Generation) {}

/// What a program asks of the system is not seen.
pub(crate) mod asked {
    use crate::vocabulary::Asked;

    /// Notes nothing.
    pub(crate) fn note(_asked: Asked) {}

    /// It may be anything.
    pub(crate) const fn may_order() -> bool {
        true
    }

    /// There is never anything to tell.
    pub(crate) const fn take() -> Vec<Asked> {
        Vec::new()
    }
}

/// The numbers of threads are not looked after.
pub(crate) mod thread_ids {
    /// Notes nothing.
    pub(crate) const fn started_by(_thread: u32) {}

    /// Notes nothing.
    pub(crate) const fn told() {}
}

/// Random numbers are the system's.
pub(crate) mod random {
    /// It can't be known whether random numbers decide anything.
    pub(crate) fn decide<R: PartialEq>(_run: impl FnMut() -> R) -> bool {
        false
    }
}

/// Whether executions are followed by putting everything back.
pub(crate) const fn is_put_back() -> bool {
    false
}

/// It is not known whether anything refers to an execution's memory.
pub(crate) fn is_let_go(_is_such: impl Fn(usize) -> bool) -> bool {
    false
}

/// No object is known to be a static.
#[inline]
pub(crate) const fn is_static<C>(_object: &C) -> bool {
    false
}

/// It isn't known where statics are.
pub(crate) const fn knows_statics() -> bool {
    false
}

/// Nothing is left alone.
#[inline]
pub(crate) const fn object<C>(_object: &C) {}

/// All threads have the same thread-locals.
#[inline]
pub(crate) const fn enter(_thread: u32) -> Option<u32> {
    None
}

/// All threads have the same thread-locals.
#[inline]
pub(crate) const fn leave(_before: Option<u32>) {}

/// Runs nothing: destructors of thread-locals run when the OS thread ends.
pub(crate) const fn run_destructors() {}
