//! The variants of a worker's build: what a worker is built with, beside the program.

/// The allocator of a worker's memory. A program can have but one global allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    /// The runtime's allocator, which gives objects the same addresses in every execution.
    Ours,
    /// The allocator of the program, or of a crate that the program depends on.
    Theirs,
}

/// The values shared by threads that can be copied: in the sequential program each thread has its own copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// All values; a program with a value that can't be copied does not compile.
    Made,
    /// Values that are `Clone`. An execution of the sequential program that needs a copy of another value ends;
    /// scheduled mode needs no copies. What is known of copies is known here: whether they are the same values.
    WhereClone,
}

/// A variant of a worker's build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The allocator of the worker's memory.
    pub allocator: Allocator,
    /// The values that the sequential program can copy.
    pub copies: Copies,
    /// Whether AddressSanitizer watches the worker.
    pub sanitized: bool,
}

impl Variant {
    /// The variant that is tried first.
    pub(crate) const fn first(copies: Copies) -> Self {
        Self {
            allocator: Allocator::Ours,
            copies,
            sanitized: false,
        }
    }

    /// The variant of a fuzz target.
    pub(crate) const FUZZED: Self = Self {
        allocator: Allocator::Theirs,
        copies: Copies::Made,
        sanitized: false,
    };

    /// The variant that runs the original program with AddressSanitizer, which has an allocator of its own.
    pub(crate) const SANITIZED: Self = Self {
        sanitized: true,
        ..Self::FUZZED
    };

    /// Returns the variants in which values are copied so, the best first.
    pub(crate) fn fit_for(copies: Copies) -> impl Iterator<Item = Self> {
        let allocators = [Allocator::Ours, Allocator::Theirs];
        allocators.into_iter().map(move |allocator| Self {
            allocator,
            ..Self::first(copies)
        })
    }

    /// Returns the part of a worker's name that states its variant.
    pub(crate) fn note(self) -> String {
        let allocator = match self.allocator {
            Allocator::Ours => "",
            Allocator::Theirs => "-own-allocator",
        };
        let copies = match self.copies {
            Copies::Made => "",
            Copies::WhereClone => "-copied-if-clone",
        };
        format!("{allocator}{copies}")
    }
}
