//! A harness with its inputs, as machines run it.

use std::fmt;

/// A harness with its inputs chosen.
pub struct Bound {
    /// The inputs: name, and value as text.
    pub inputs: Vec<(&'static str, String)>,
    /// Runs the harness once.
    pub program: Box<dyn Fn()>,
    /// Whether the program is free of `unsafe` code, so that running it in states that no interleaving reaches does no
    /// harm.
    pub safe: bool,
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound")
            .field("inputs", &self.inputs)
            .finish_non_exhaustive()
    }
}
