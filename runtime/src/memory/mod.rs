//! Raw memory: the lowest layer of the runtime.
//!
//! | here | is |
//! |---|---|
//! | [`arena`] | the allocator that makes addresses, and with them the names of objects, independent of the schedule |
//! | [`stack`] | address space from the system, and the stacks of coroutines in it |
//! | [`access`] | what a program does to memory, as it is told of |
//! | [`buffer`] | vectors whose memory is kept from execution to execution |
//!
//! # Invariant
//! No module in here knows of executions, threads under a scheduler, or events: what a module has to know of higher
//! modules is a parameter.

mod access;
pub mod arena;
mod buffer;
pub(crate) mod stack;

pub(crate) use access::Access;
pub(crate) use arena::outside;
pub(crate) use buffer::{Buffer, reserve};
