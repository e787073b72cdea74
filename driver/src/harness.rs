//! A harness: an item of a program that can be checked.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::diagnostic::Diagnostic;
use crate::model::document::{NotFollowed, Site};
use crate::model::lone::Lone;

/// An item of a program that can be checked.
#[derive(Clone, Debug)]
pub struct Harness {
    /// The harness's path in the crate.
    pub name: String,
    /// The kind of the item.
    pub kind: HarnessKind,
    /// The place of the item.
    pub site: Site,
    /// The parameters, which are the program's inputs: name and type of each.
    pub parameters: Vec<(String, String)>,
    /// The places at which the harness starts threads.
    pub spawns: Vec<Spawn>,
    /// Whether the harness is marked `#[ignore]`, so that it is run only by name.
    pub ignored: bool,
    /// What the harness reaches that can be run but not followed.
    pub not_followed: Vec<NotFollowed>,
    /// The functions that the executable imports, and that the harness does not reach.
    pub idle_functions: BTreeSet<String>,
    /// The calls outside of loops that the harness reaches and that may end or fail without a reason.
    pub lone: Vec<Lone>,
    /// Why the harness can't be checked; `None` where it can.
    pub unsupported: Option<Diagnostic>,
}

/// The kind of item that a harness is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HarnessKind {
    /// A `#[test]`.
    Test,
    /// A public function.
    Function,
    /// `main`.
    Main,
}

/// A place where a harness starts a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// The path of the file, as a user would name it.
    pub file: String,
    /// The line of the call.
    pub line: u32,
    /// The name given to the thread's builder.
    pub name: Option<String>,
    /// Whether the thread is a scoped thread.
    pub scoped: bool,
}
