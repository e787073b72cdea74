//! What a program transformed by seqz links: std's concurrency items under the same names, the event log,
//! feasibility, and the engine of the sequential program P̂ₖ.
//!
//! Read [`log`] for what is logged, [`feasibility`] for when a log is one of a real execution, and [`engine`] for how P̂ₖ
//! runs. [`std`](mod@crate::std) is what a transformed program sees in the place of `std`.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use seqz_runtime::check::{Bounds, Search, machine};
//! use seqz_runtime::engine::Solver;
//! use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
//! use seqz_runtime::std::thread;
//! use seqz_runtime::{Bound, Role};
//!
//! // A harness as the transformation leaves it: std's names, but of the runtime. An update is lost where both threads load
//! // before one of them stores.
//! let harness = Bound {
//!     inputs: Vec::new(),
//!     program: Box::new(|| {
//!         let count = Arc::new(AtomicU32::new(0));
//!         let add = |count: Arc<AtomicU32>| move || count.store(count.load(SeqCst) + 1, SeqCst);
//!         let threads = [thread::spawn(add(Arc::clone(&count))), thread::spawn(add(Arc::clone(&count)))];
//!         threads.into_iter().for_each(|thread| thread.join().unwrap());
//!         assert_eq!(count.load(SeqCst), 2, "an update is lost");
//!     }),
//!     safe: true,
//! };
//!
//! // All choices of k non-local reads and of the writes that they see, for k = 0, 1, 2, …
//! let bounds = Bounds::default();
//! let mut machine = machine(&bounds, Solver::Grid);
//! let mut search = Search::new(&harness, Role::FIRST, bounds);
//! while !search.finished() {
//!     search.next_level(&mut machine, &mut |_, _| true)?;
//! }
//! let (bug, _) = &machine.bugs()[0];
//! assert!(bug.message.contains("an update is lost"));
//! # Ok::<(), seqz_runtime::check::Trouble>(())
//! ```
//!
//! [`p_hat()`] runs one choice, for testers that choose by themselves.

#![cfg_attr(
    feature = "coercions",
    feature(
        coerce_unsized,
        dispatch_from_dyn,
        legacy_receiver_trait,
        pin_coerce_unsized_trait,
        unsize
    )
)]
#![cfg_attr(
    feature = "copied_if_clone",
    feature(specialization),
    allow(incomplete_features)
)]
// The scheduled machine alone calls some of what is common to both modes.
#![cfg_attr(not(feature = "scheduler"), allow(dead_code))]

extern crate alloc as alloc_crate;

pub mod addresses;
mod alone;
mod bound;
pub mod calls;
pub mod cell;
pub mod check;
#[cfg(feature = "scheduler")]
mod clock;
#[cfg(not(feature = "scheduler"))]
#[path = "clock/absent.rs"]
mod clock;
mod constant_cells;
pub mod counted;
mod ending;
pub mod engine;
mod executable;
mod finding;
pub mod fuzz;
mod harness;
pub mod input;
mod judge;
mod left_out;
mod locals;
pub mod loops;
#[cfg(feature = "scheduler")]
pub mod memory;
#[cfg(not(feature = "scheduler"))]
#[path = "memory/absent.rs"]
pub mod memory;
pub mod observe;
mod overflow;
mod p_hat;
mod pairs;
mod panics;
pub mod print;
#[cfg(all(feature = "scheduler", target_os = "linux"))]
pub mod process;
#[cfg(not(all(feature = "scheduler", target_os = "linux")))]
#[path = "process/absent.rs"]
pub mod process;
mod property;
pub mod raw;
mod rounds;
mod running;
#[cfg(feature = "scheduler")]
pub mod scheduled;
#[cfg(not(feature = "scheduler"))]
#[path = "scheduled/absent.rs"]
pub mod scheduled;
mod shared;
pub mod std;
#[cfg(all(feature = "scheduler", target_os = "linux"))]
pub mod system;
#[cfg(not(all(feature = "scheduler", target_os = "linux")))]
#[path = "system/absent.rs"]
pub mod system;
mod transmute;
pub mod values;
pub mod worker;

pub use self::std::thread::{name_harness_thread, watch_ends, watch_results};
pub use bound::Bound;
pub use ending::Results;
pub use harness::{AnyHarness, Harness, Register, Run, is_main, returned, returned_result};
pub use left_out::left_out;
pub use p_hat::{Outcome, p_hat, p_hat_from_bytes};
pub use pairs::Pairs;
pub use property::{Counts, Property};
pub use seqz_feasibility as feasibility;
pub use seqz_feasibility::log;
pub use seqz_vocabulary as vocabulary;
pub use shared::{Copied, Shadow};
pub use transmute::transmute;
pub use vocabulary::{Pair, ReadId, Role, WriteId};
pub use worker::main;

/// `core` as a transformed program sees it.
pub mod core {
    pub use ::core::*;

    pub use crate::std::{any, cell, hint};

    /// `core::sync`.
    pub mod sync {
        pub use crate::std::sync::atomic;
    }
}

/// `alloc` as a transformed program sees it.
pub mod alloc {
    pub use crate::alloc_crate::*;
}

constant_cells::constant_cells!(crate);

/// Discards the execution unless `condition` holds: all that the threads do after this call, they do only if it holds.
///
/// On the thread under test the execution ends here and counts as none. The interfering thread waits here for ever, as it
/// would for a condition that never comes true. Outside of executions this does nothing.
pub fn assume(condition: bool) {
    if let Some(handle) = engine::current() {
        engine::assume(handle, condition);
    }
}
