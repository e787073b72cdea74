//! Workers: processes that run the transformed program and search it.

pub mod memory;
mod orphan;
mod process;
mod socket;
pub(crate) mod stuck;
mod watch;

pub use seqz_runtime::worker::message;

pub use crate::model::standstill::Standstill;
pub use orphan::ends_with_us;
pub use process::{Death, Process};
pub use socket::{Connection, Received};
pub use watch::{Heard, Watch, bury, send};
pub(crate) use watch::{failed, out_of_place};
