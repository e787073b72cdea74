//! `std::hint`, where a spin loop has nothing to say: which loops wait shows in the source, see [`crate::loops`].

pub use ::std::hint::{assert_unchecked, black_box, unreachable_unchecked};

/// See `std::hint::spin_loop`.
pub const fn spin_loop() {}
