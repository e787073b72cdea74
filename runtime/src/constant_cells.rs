//! std of a crate in which a constant function looks into an `UnsafeCell` through a `&mut`: see
//! [`raw::cell`](crate::raw::cell).

/// Makes `std`, `core` and `alloc` as such a crate sees them, of those of other crates in `$from`.
macro_rules! constant_cells {
    ($($from:ident)::+) => {
        /// For a crate in which a constant function looks into a cell.
        pub mod with_constant_cells {
            /// `std`, with cells that constant functions can look into.
            pub mod std {
                pub use $($from)::+::std::*;

                /// `std::cell`, with cells that constant functions can look into.
                pub mod cell {
                    pub use $($from)::+::std::cell::*;

                    /// [`std::cell::UnsafeCell`].
                    pub type UnsafeCell<T> = crate::raw::cell::UnsafeCell<T, false>;
                }
            }

            /// `core`, with cells that constant functions can look into.
            pub mod core {
                pub use $($from)::+::core::*;

                pub use super::std::cell;
            }

            pub use $($from)::+::alloc;
        }
    };
}

pub(crate) use constant_cells;
