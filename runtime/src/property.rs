//! P̂ₖ as a property of byte strings: what property testers and plain tests run.

use std::fmt;
use std::path::Path;

use crate::engine::Ending;
use crate::fuzz::{Generated, Target};
use crate::vocabulary::Role;

/// The property that no choice makes this harness fail while this thread is under test.
pub struct Property {
    target: Target,
    counts: Counts,
}

/// The counts of executions and their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of byte strings.
    pub strings: u64,
    /// The number of strings whose choice no interleaving has, or an assumption discards.
    pub infeasible: u64,
    /// The number of strings whose executions were cut, since they wait for ever or pass the step bound.
    pub cut: u64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            strings,
            infeasible,
            cut,
        } = self;
        write!(
            f,
            "{strings} byte strings, {infeasible} of them infeasible, {cut} cut off"
        )
    }
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Property")
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl Property {
    /// The property of one harness of a crate. `SEQZ_K` in the environment overrides the number of non-local reads.
    ///
    /// # Panics
    /// Where there is no such harness, and where the environment's value is no number.
    #[must_use]
    pub fn new(generated: Generated, harness: &str, under_test: Role) -> Self {
        Self {
            target: Target::of(generated, harness, under_test),
            counts: Counts::default(),
        }
    }

    /// The number of bytes that can matter, except for gaps and picks that need more than one byte.
    #[must_use]
    pub const fn longest(&self) -> usize {
        self.target.width()
    }

    /// The counts of the executions so far.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Runs P̂ₖ for each round of the bytes up to the first bug.
    ///
    /// # Errors
    /// What happens, in words, if it is a bug, or if the program does what P̂ₖ cannot express.
    pub fn holds(&mut self, bytes: &[u8]) -> Result<(), String> {
        let outcome = self.target.run(bytes);
        self.counts.strings += 1;
        match outcome.ending {
            _ if outcome.is_bug() => return Err(outcome.to_string()),
            Ending::Unsupported { .. } | Ending::Unknown(_) => return Err(outcome.to_string()),
            Ending::Infeasible | Ending::Mispaired | Ending::NoSuchRead | Ending::Assumed => {
                self.counts.infeasible += 1
            }
            Ending::StepBound | Ending::Waiting | Ending::Stuck => self.counts.cut += 1,
            Ending::Passed | Ending::Bug => {}
        }
        Ok(())
    }

    /// The command that runs a file of such bytes alone, in the crate's directory.
    #[must_use]
    pub fn alone(&self, file: &Path) -> String {
        let (harness, role, k) = self.target.what();
        let role = crate::fuzz::name(role);
        let file = file.display();
        format!(
            "cargo run --release -- --harness {harness} --under-test {role} --k {k} --bytes {file}"
        )
    }
}
