//! Workers: processes that run the transformed program and search it.

pub mod memory;
mod orphan;
mod process;
mod session;
mod socket;
pub(crate) mod stuck;
mod watch;

pub use seqz_runtime::worker::message;

pub use crate::model::standstill::Standstill;
pub use orphan::ends_with_us;
pub use process::{Death, Process};
pub(crate) use session::failed;
pub use session::{Heard, Session, bury};
pub use socket::{Connection, Received};
pub use watch::Watch;
