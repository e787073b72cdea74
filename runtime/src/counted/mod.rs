//! `Arc` and `Weak` of a program that can notice the number of handles.
//!
//! Most programs can't: they never read counts, and dropping a shared value has no effect. Such programs keep std's
//! `Arc`, which makes no events. A program that asks for counts, upgrades a `Weak`, or shares values whose destructors
//! other threads can notice gets the types of this module instead, by the `transform` crate. These types are std's own
//! handles, with an event before each change of a count and each look at one.
//!
//! # Events
//! An allocation has one object, its *count*: the number of strong handles. Weak handles are part of the object only
//! where events carry values, above the lowest 32 bits.
//! - A new strong or weak handle, and the end of a handle that no thread can notice, is a [`Kind::Add`]: such events
//!   commute.
//! - The end of a strong handle of a value with a destructor is a [`Kind::Take`]: of two of these, the second one may be the
//!   last. If it is, the destructor runs on its thread, right after the event.
//! - `strong_count`, `weak_count` and `get_mut` read. `try_unwrap`, `into_inner` and `make_mut` update, whether
//!   they succeed or not, except that a `try_unwrap` that fails is a failed compare-exchange.
//! - `upgrade` is a [`Kind::Upgrade`]: such events commute. One that fails is a failed compare-exchange. In a loop that waits,
//!   it updates.
//!
//! # In the sequential program
//! P̂ₖ keeps one count for the handles of T and T', and T' has run to its end before T begins. So counts are only
//! believed where they are the same in each interleaving: see [`counts`](crate::engine::counts).
//!
//! [`Kind::Add`]: crate::vocabulary::Kind::Add
//! [`Kind::Take`]: crate::vocabulary::Kind::Take
//! [`Kind::Upgrade`]: crate::vocabulary::Kind::Upgrade

mod arc;
#[cfg(feature = "coercions")]
mod coercions;
mod convert;
pub(crate) mod count;
#[cfg(feature = "serde")]
mod serialized;
mod traits;
#[cfg(feature = "coercions")]
mod wake;
mod weak;

pub use arc::Arc;
pub use weak::Weak;

/// Makes `std`, `core` and `alloc` as the transformed program sees them, with handles of one kind.
macro_rules! facades {
    ($kind:ident: $observed:literal) => {
        /// `std`, with counted handles.
        pub mod std {
            pub use crate::std::*;

            /// `std::sync`, with counted handles.
            pub mod sync {
                pub use crate::std::sync::*;

                /// `std::sync::Arc`, counted.
                #[cfg(not(feature = "std_handles"))]
                pub type Arc<T> = crate::counted::Arc<T, $observed>;
                /// `std::sync::Weak`, counted.
                #[cfg(not(feature = "std_handles"))]
                pub type Weak<T> = crate::counted::Weak<T, $observed>;
            }

            /// `std::task`, with counted handles.
            pub mod task {
                pub use crate::std::task::*;

                #[cfg(all(feature = "coercions", not(feature = "std_handles")))]
                pub use crate::counted::wake::$kind::Wake;
            }
        }

        pub use crate::core;

        /// `alloc`, with counted handles.
        pub mod alloc {
            pub use crate::alloc::*;

            pub use super::std::{sync, task};
        }
    };
}

/// For a program that can't tell where the destructor of a shared value runs.
pub mod handles {
    facades!(handles: false);
    crate::constant_cells::constant_cells!(crate::counted::handles);
}

/// For a program that can tell where the destructor of a shared value runs.
pub mod destructors {
    facades!(destructors: true);
    crate::constant_cells::constant_cells!(crate::counted::destructors);
}
