//! What a program transformed by seqz links: std's concurrency items under the same names, the event log,
//! feasibility, and the engine of the sequential program P̂ₖ.

pub mod feasibility;
pub mod log;
