//! `std` as a transformed program sees it: everything that std has, with the concurrency items replaced.
//!
//! Items that the machines cannot run, as `UnsafeCell`, are missing here on purpose. Condition variables, barriers,
//! one-time initialization, channels and parking are there on the scheduled machine only.

pub use ::std::*;

pub mod any;
pub mod cell;
pub mod hint;
pub mod panic;
pub mod process;
pub mod sync;
pub mod thread;
mod values;

pub use crate::{dbg, eprint, eprintln, print, println, thread_local};
