//! What a worker is built with, beside the program.

/// Who allocates a worker's memory. A program can have but one global allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    /// The runtime, which gives objects the same addresses in every execution.
    Ours,
    /// The program, or a crate that it depends on.
    Theirs,
}

/// Which of the values that threads share can be copied: in the sequential program each thread has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// All, or the program does not compile.
    Made,
    /// Those that are `Clone`. An execution of the sequential program that needs a copy of another ends; the scheduled machine
    /// needs none.
    WhereClone,
}

/// What a worker is built with, beside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Who allocates its memory.
    pub allocator: Allocator,
    /// What the sequential program can have copies of.
    pub copies: Copies,
}

impl Variant {
    /// The one that can do most, which is tried first.
    pub(crate) const FIRST: Self = Self {
        allocator: Allocator::Ours,
        copies: Copies::Made,
    };

    /// What a fuzz target is built with.
    pub(crate) const FUZZED: Self = Self {
        allocator: Allocator::Theirs,
        copies: Copies::Made,
    };

    /// All that will do for whoever asks for `copies`, the best first.
    pub(crate) fn fit_for(copies: Copies) -> impl Iterator<Item = Self> {
        let made = [Copies::Made, Copies::WhereClone];
        made.into_iter()
            .filter(move |made| copies == Copies::WhereClone || *made == Copies::Made)
            .flat_map(|copies| {
                [Allocator::Ours, Allocator::Theirs].map(|allocator| Self { allocator, copies })
            })
    }

    /// What the name of a worker has to say of it.
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
