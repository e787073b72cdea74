//! `std::hint`, where a spin loop tells the engine that its thread waits.

pub use ::std::hint::{assert_unchecked, black_box, unreachable_unchecked};

/// Says that the thread waits in a loop.
pub fn spin_loop() {
    crate::std::thread::idle();
}
