//! `std::cell`, without what two threads could share.

pub use ::std::cell::{
    BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut,
};
