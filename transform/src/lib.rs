//! Rust source in, sequentializable Rust source out.
//!
//! [`Program::load`] reads a crate, finds its harnesses (tests and functions that start threads), and looks for what
//! can't be run. [`Program::transform`] gives the generated crate as data: the user's files with std's concurrency
//! items replaced by the runtime's, the sequential program P̂ₖ that calls them, and a [`SourceMap`] that leads from
//! every generated position back to the user's source.
//!
//! The generated files are the user's text with edits, not printed trees: see the `edit` module for why.

#![forbid(unsafe_code)]

mod bounds;
pub mod catalogue;
mod cfg;
mod counting;
mod edit;
mod emit;
mod error;
mod generated;
mod harness;
mod lasting;
mod load;
mod map;
mod options;
mod program;
mod reached;
mod resolve;
mod shared;
pub mod sharing;
mod source;
mod support;
mod traits;
mod unsafe_code;
mod values;
mod walk;

pub use error::Error;
pub use generated::Generated;
pub use harness::{HarnessInfo, HarnessKind, Hidden, Param};
pub use load::Part;
pub use map::{Origin, SourceMap};
pub use options::{Choice, Mode, Options, Role};
pub use program::Program;
pub use source::{Place, Position};
pub use walk::{Reasonless, SpawnSite};
