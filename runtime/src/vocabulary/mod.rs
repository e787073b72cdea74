//! The words that all of seqz's parts share, each with one type. Messages between the program's process and the driver,
//! and files of findings, are made of these types.
//!
//! | here | is |
//! |---|---|
//! | [`ids`] | reads of T, writes of T', and which party is T |
//! | [`place`] | places in the source |
//! | [`thread`] | who a thread is |
//! | [`ended`] | what a worker says when it ends itself |
//! | [`failure`] | the kinds of faults |
//! | [`action`] | what an event of a written schedule does |
//! | [`schedule`] | events in the order of an execution, and whether a finding was there when that order was followed |
//! | [`asked`] | what a program asks of the operating system |
//!
//! # Invariant
//! No module in here imports a module outside of `vocabulary`.

pub mod action;
pub mod asked;
pub mod ended;
pub mod failure;
pub mod ids;
pub mod place;
pub mod schedule;
pub mod thread;

pub use action::Action;
pub use asked::Asked;
pub use failure::{BugKind, FailureKind};
pub use ids::{Pair, ReadId, Role, WriteId};
pub use place::{Place, Site};
pub use schedule::{Confirmation, Scheduled, Waiting};
pub use thread::{Lineage, ThreadInfo};
