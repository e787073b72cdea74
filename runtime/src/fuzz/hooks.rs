//! Functions before those that the compiler's coverage instrumentation calls for comparisons, and before C's comparisons of
//! memory: they note what is compared, and go on to the function that they stand before.
//!
//! The linker puts them there (`--wrap`), told so by `rustc.sh` of a generated crate, which also has the runtime compiled
//! with `--cfg seqz_comparisons`. The last thing that each does is the call of the other function with the same arguments,
//! which an optimising compiler makes a jump: the fuzzer takes the address that it returns to for the comparison's place.
//! Where it is a call, the fuzzer learns less, and nothing is wrong.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

use super::comparisons;

macro_rules! integers {
    ($($name:ident $type:ty, $wrap:literal, $real:literal;)*) => {$(
        mod $name {
            unsafe extern "C" {
                #[link_name = $real]
                pub(super) fn real(one: $type, other: $type);
            }
        }

        #[unsafe(export_name = $wrap)]
        extern "C" fn $name(one: $type, other: $type) {
            comparisons::integers(one.into(), other.into(), size_of::<$type>());
            // SAFETY: the linker gives this name to the function that the instrumentation has called; it takes any numbers.
            unsafe { $name::real(one, other) }
        }
    )*};
}

integers! {
    cmp1 u8, "__wrap___sanitizer_cov_trace_cmp1", "__real___sanitizer_cov_trace_cmp1";
    cmp2 u16, "__wrap___sanitizer_cov_trace_cmp2", "__real___sanitizer_cov_trace_cmp2";
    cmp4 u32, "__wrap___sanitizer_cov_trace_cmp4", "__real___sanitizer_cov_trace_cmp4";
    cmp8 u64, "__wrap___sanitizer_cov_trace_cmp8", "__real___sanitizer_cov_trace_cmp8";
    const_cmp1 u8, "__wrap___sanitizer_cov_trace_const_cmp1", "__real___sanitizer_cov_trace_const_cmp1";
    const_cmp2 u16, "__wrap___sanitizer_cov_trace_const_cmp2", "__real___sanitizer_cov_trace_const_cmp2";
    const_cmp4 u32, "__wrap___sanitizer_cov_trace_const_cmp4", "__real___sanitizer_cov_trace_const_cmp4";
    const_cmp8 u64, "__wrap___sanitizer_cov_trace_const_cmp8", "__real___sanitizer_cov_trace_const_cmp8";
}

macro_rules! memory {
    ($($name:ident, $wrap:literal, $real:literal;)*) => {$(
        mod $name {
            use super::{c_int, c_void};
            unsafe extern "C" {
                #[link_name = $real]
                pub(super) fn real(one: *const c_void, other: *const c_void, length: usize) -> c_int;
            }
        }

        #[unsafe(export_name = $wrap)]
        unsafe extern "C" fn $name(one: *const c_void, other: *const c_void, length: usize) -> c_int {
            if comparisons::records() && length > 0 {
                // SAFETY: the caller gives two pieces of memory of this length, which may be read, as C demands.
                let [one, other] =
                    [one, other].map(|piece| unsafe { std::slice::from_raw_parts(piece.cast(), length) });
                comparisons::bytes(one, other);
            }
            // SAFETY: the arguments are the caller's, and the linker gives this name to the function that was called.
            unsafe { $name::real(one, other, length) }
        }
    )*};
}

memory! {
    memory, "__wrap_memcmp", "__real_memcmp";
    bytes, "__wrap_bcmp", "__real_bcmp";
}
