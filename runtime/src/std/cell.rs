//! `std::cell`, as it is but for `UnsafeCell`, which two threads could share: the transformation says that it is not
//! followed, and its owner's accesses are told of.

pub use ::std::cell::{
    BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut,
};

/// [`std::cell::UnsafeCell`].
pub type UnsafeCell<T> = crate::raw::cell::UnsafeCell<T, true>;
