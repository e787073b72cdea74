//! The options of a transformation.

/// The party of the harness that is the thread under test; parties are numbered by creation, the main thread first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Role(pub u8);

impl Role {
    /// The first party is T.
    pub const FIRST: Self = Self(0);
    /// The second party is T.
    pub const SECOND: Self = Self(1);
}

/// The way in which the generated program is going to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// It runs as the sequential program P̂ₖ.
    #[default]
    Sequential,
    /// It runs with its threads, under a scheduler. More of std can be run in this way.
    Scheduled,
    /// It runs with its threads, under a scheduler, and the calls that threads are in are followed.
    Followed,
}

/// What is to be generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The number k of non-local reads.
    pub k: u32,
    /// The harnesses of the generated program.
    pub chosen: Choice,
    /// The party that is T.
    pub role: Role,
}

/// The choice of a generated program's harnesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The harness of this name.
    One(String),
    /// All harnesses that can be run and are not ignored, and the ignored harnesses of these names.
    AllWith(Vec<String>),
}

impl Choice {
    /// All harnesses that can be run and are not ignored.
    pub const ALL: Self = Self::AllWith(Vec::new());
}

impl Default for Options {
    fn default() -> Self {
        Options {
            k: 2,
            chosen: Choice::ALL,
            role: Role::FIRST,
        }
    }
}
