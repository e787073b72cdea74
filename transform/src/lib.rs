//! Rust source in, sequentializable Rust source out.
//!
//! [`Program::load`] reads a crate, finds its harnesses (tests and functions that start threads), and looks for what
//! can't be run. [`Program::transform`] gives the generated crate as data: the user's files with std's concurrency
//! items replaced by the runtime's, the sequential program P̂ₖ that calls them, and a [`SourceMap`] that leads from
//! every generated position back to the user's source.
//!
//! The generated files are the user's text with edits, not printed trees: see the `edit` module for why.
//!
//! # Example
//!
//! ```
//! use seqz_transform::{Mode, Options, Program};
//!
//! # let directory = std::env::temp_dir().join(format!("seqz-transform-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory)?;
//! let file = directory.join("counter.rs");
//! std::fs::write(
//!     &file,
//!     "use std::sync::Mutex;
//!
//! #[test]
//! fn counts() {
//!     let count = Mutex::new(0);
//!     std::thread::scope(|scope| {
//!         scope.spawn(|| *count.lock().unwrap() += 1);
//!         scope.spawn(|| *count.lock().unwrap() += 1);
//!     });
//! }
//! ",
//! )?;
//! let program = Program::load(&file, Mode::Sequential)?;
//! assert_eq!(program.harnesses()[0].name, "counts");
//! assert_eq!(program.harnesses()[0].spawn_sites.len(), 2);
//!
//! let generated = program.transform(&Options::default())?;
//! let (path, text) = &generated.files[0];
//! assert_eq!(path.to_str(), Some("src/lib.rs"));
//! assert!(text.contains("use ::seqz_runtime::std::sync::Mutex;"));
//! // Each place leads back to where the user wrote it.
//! let origin = generated.map.lookup(path, 5, 5).expect("the user's line");
//! assert_eq!((origin.file, origin.line), (file, 5));
//! # std::fs::remove_dir_all(&directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod bounds;
pub mod catalogue;
mod cfg;
mod constant_cells;
mod counting;
mod edit;
mod emit;
mod error;
mod extent;
mod foreign;
mod generated;
mod harness;
mod lasting;
mod library;
mod load;
mod map;
mod noted;
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

pub use counting::Counting;
pub use error::Error;
pub use generated::Generated;
pub use harness::{HarnessInfo, HarnessKind, INPUT_TYPES, InputType, Param};
pub use library::{Inner, Inside, Instrumented, Library};
pub use load::{Features, Implemented, LibrarySource, Part};
pub use map::{Origin, SourceMap};
pub use noted::Hidden;
pub use options::{Choice, Mode, Options, Role};
pub use program::Program;
pub use source::{Place, Position};
pub use walk::{Reasonless, SpawnSite};
