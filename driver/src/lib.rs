//! The `seqz` command as a library: the command line, building and running workers, and reports.
//!
//! Data flows one way: a [`program`] is loaded and transformed, [`build`] makes a worker of it, [`worker`] talks to
//! that process, [`check`] drives it through the search and gathers what it says, and [`report`] draws that.
//!
//! # Example
//!
//! What there is to check in a program:
//!
//! ```
//! use seqz::program::{Mode, Program};
//!
//! let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/bluetooth.rs");
//! let program = Program::load(example.as_ref(), Mode::Sequential)?;
//! let harness = &program.harnesses()[0];
//! assert_eq!(harness.name, "stop_during_a_request");
//! assert_eq!(harness.spawns.len(), 2);
//! assert!(harness.unsupported.is_none());
//! # Ok::<(), seqz::Error>(())
//! ```

pub mod build;
pub mod check;
pub mod cli;
pub mod compare;
pub mod compiled;
mod dependencies;
pub mod destination;
pub mod diagnostic;
mod digest;
pub mod embed;
mod error;
pub mod explore;
pub mod findings;
pub mod fuzz;
mod generated_manifest;
mod harness;
pub mod layout;
pub mod lock;
mod manifest;
pub mod model;
mod original;
pub mod output;
pub mod piece;
mod portable;
pub mod program;
pub mod replay;
pub mod report;
pub mod results;
mod rustc;
mod said;
pub mod solvers;
pub mod sources;
pub mod style;
pub mod terminal;
pub mod testing;
pub mod variant;
pub mod visible;
pub mod worker;

pub use error::Error;
