//! What is to be generated.

/// Which party of the harness is the thread under test; parties are numbered by creation, the main thread first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The first party is T.
    #[default]
    First,
    /// The second party is T.
    Second,
}

/// How the generated program is going to be run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// As the sequential program P̂ₖ.
    #[default]
    Sequential,
    /// With its threads, under a scheduler. More of std can be run so.
    Scheduled,
    /// The same, and the calls that threads are in are followed.
    Followed,
}

/// What to generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The number of non-local reads.
    pub k: u32,
    /// The harnesses that are to be there.
    pub chosen: Choice,
    /// Which party is T.
    pub role: Role,
}

/// Which harnesses a generated program has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This one.
    One(String),
    /// All that can be run and are not ignored, and these, which are.
    AllWith(Vec<String>),
}

impl Choice {
    /// All that can be run and are not ignored.
    pub const ALL: Self = Self::AllWith(Vec::new());
}

impl Default for Options {
    fn default() -> Self {
        Options {
            k: 2,
            chosen: Choice::ALL,
            role: Role::First,
        }
    }
}
