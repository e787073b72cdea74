//! A harness with its inputs, which machines run.

use std::fmt;

/// A harness with its inputs chosen.
pub struct Bound {
    /// The inputs as text, with their names.
    pub inputs: Vec<(&'static str, String)>,
    /// Runs the harness once.
    pub program: Box<dyn Fn()>,
    /// Whether the program is free of `unsafe` code, so that it can do no harm in states that no interleaving reaches.
    pub safe: bool,
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound")
            .field("inputs", &self.inputs)
            .finish_non_exhaustive()
    }
}
