//! `std::hint`. Which loops wait shows in the source, see [`crate::loops`]; a thread that is in another one says with `spin_loop`
//! as with `yield_now` that somebody else is to go on.

pub use ::std::hint::{assert_unchecked, black_box, unreachable_unchecked};

/// See `std::hint::spin_loop`.
#[inline]
#[track_caller]
pub fn spin_loop() {
    crate::std::thread::yield_now();
}
