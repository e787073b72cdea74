//! `mem::transmute`, as a transformed program calls it: what the program knows as types of std are types of the runtime, and
//! some have another size.

use std::mem::{ManuallyDrop, transmute_copy};
use std::panic::Location;

use crate::running::refuse;

/// The message for a conversion that can't be made.
const OTHER_SIZE: &str =
    "a `transmute` to or from a type that shares memory, and has another size under seqz";

/// Takes the value for one of another type, as [`std::mem::transmute`] does. Where only the types of the runtime differ in size
/// the harness can't be run.
///
/// # Safety
/// As for [`std::mem::transmute`].
#[track_caller]
pub unsafe fn transmute<From, To>(from: From) -> To {
    if size_of::<From>() != size_of::<To>() {
        refuse(OTHER_SIZE, Location::caller());
    }
    let from = ManuallyDrop::new(from);
    // SAFETY: the sizes are the same, and the caller vouches for the rest; `from` is not used any more.
    unsafe { transmute_copy(&*from) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_that_are_the_same_are_no_matter() {
        // SAFETY: all bits mean something in both types.
        let bits: u32 = unsafe { super::transmute(1.0_f32) };
        assert_eq!(bits, 1.0_f32.to_bits());
        // SAFETY: all bits mean something in both types.
        let bytes: [u8; 4] = unsafe { super::transmute(0x0102_0304_u32.to_be()) };
        assert_eq!(bytes, [1, 2, 3, 4]);
        let other = std::panic::catch_unwind(|| {
            // SAFETY: it is not made.
            unsafe { super::transmute::<u32, u64>(1) }
        });
        assert!(other.is_err());
    }
}
