//! Workers: processes that run the transformed program and search it.

pub mod message;
mod process;
mod socket;

pub use process::{Death, Process};
pub use socket::{Connection, Received};
