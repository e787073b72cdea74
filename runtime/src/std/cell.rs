//! `std::cell`, as it is: of `UnsafeCell`, which two threads could share, the transformation says that it is not followed.

pub use ::std::cell::{
    BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut, UnsafeCell,
};
