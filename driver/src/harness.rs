//! A harness: something of a program that can be checked.

use serde::Serialize;

use crate::diagnostic::Diagnostic;
use crate::model::document::{NotFollowed, Site};
use crate::model::lone::Lone;

/// Something that can be checked.
#[derive(Clone, Debug)]
pub struct Harness {
    /// Its path in the crate.
    pub name: String,
    /// What kind of item it is.
    pub kind: HarnessKind,
    /// Where it is.
    pub site: Site,
    /// Names and types of its parameters, the program's inputs.
    pub parameters: Vec<(String, String)>,
    /// Where it starts threads.
    pub spawns: Vec<Spawn>,
    /// Whether it is marked `#[ignore]`, so that it is to be run only when it is named.
    pub ignored: bool,
    /// What it reaches that can be run but not followed.
    pub not_followed: Vec<NotFollowed>,
    /// What it reaches outside of loops that may happen without a reason.
    pub lone: Vec<Lone>,
    /// Why it can't be checked, if so.
    pub unsupported: Option<Diagnostic>,
}

/// What kind of item a harness is.
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
    /// Its line.
    pub line: u32,
    /// The name given to the thread's builder.
    pub name: Option<String>,
    /// Whether it is a scoped thread.
    pub scoped: bool,
}
