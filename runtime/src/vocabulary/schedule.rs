//! Schedules as they are written down: the events of an execution in their order.

use super::{Action, Place};

/// An event of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// Whose, by number.
    pub thread: u32,
    /// What it does.
    pub action: Action,
    /// On what, by number.
    pub object: u32,
    /// Where.
    pub place: Option<Place>,
}

/// A thread that waits, or is about to do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its number.
    pub thread: u32,
    /// What it is about to do.
    pub action: Action,
    /// To which object, by number.
    pub object: u32,
    /// Where.
    pub place: Option<Place>,
}

/// Whether a finding is there when its interleaving is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// It is. The schedule, all events of the run in order.
    Confirmed(Vec<Scheduled>),
    /// The program went another way. The events up to there.
    Diverged {
        /// What differs, and where.
        difference: String,
        /// The events up to there.
        schedule: Vec<Scheduled>,
    },
    /// The interleaving was followed to its end, and the bug is not there.
    Absent(Vec<Scheduled>),
    /// This build of the program can't run it.
    NotTried,
}
