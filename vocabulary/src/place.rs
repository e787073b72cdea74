//! Places in the source of a program.

use crate::message;
use std::fmt;
use std::panic::Location;

/// A place in the source of the transformed program.
pub type Site = &'static Location<'static>;

message! {
    /// A place in the source, owned: panics name places that need not be a [`Site`].
    #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct Place {
        /// The file's path, as rustc was given it.
        pub file: String,
        /// The line, from 1.
        pub line: u32,
        /// The column in characters, from 1.
        pub column: u32,
    }
}

impl From<Site> for Place {
    fn from(site: Site) -> Self {
        Self {
            file: site.file().to_owned(),
            line: site.line(),
            column: site.column(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
