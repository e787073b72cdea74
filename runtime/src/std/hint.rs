//! `std::hint`. The source shows which loops wait, see [`crate::loops`]. In any other loop, `spin_loop` says as
//! `yield_now` does that another thread is to go on.

pub use ::std::hint::{assert_unchecked, black_box, unreachable_unchecked};

/// See `std::hint::spin_loop`.
#[inline]
#[track_caller]
pub fn spin_loop() {
    crate::std::thread::yield_now();
}
