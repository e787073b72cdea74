//! Schedules as they are written down: the events of an execution in their order.

use crate::kind::Kind;
use crate::message;
use crate::place::Place;

message! {
    /// An event of a schedule.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Scheduled {
        /// The number of the thread whose event this is.
        pub thread: u32,
        /// What the event does, as [`Kind::plain`] says it: schedules are not about what commutes.
        pub action: Kind,
        /// The number of the object that the event is about.
        pub object: u32,
        /// The event's place in the source; `None` where it is not known.
        pub place: Option<Place>,
    }
}

message! {
    /// A thread that waits, or is about to do something.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Waiting {
        /// The thread's number.
        pub thread: u32,
        /// What the thread is about to do.
        pub action: Kind,
        /// The number of the object that the thread is about to act on.
        pub object: u32,
        /// The event's place in the source; `None` where it is not known.
        pub place: Option<Place>,
    }
}

message! {
    /// A thread that could go on when a sleep or a time limit of another thread was over.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HeldUp {
        /// The number of the thread.
        pub thread: u32,
        /// Where the thread stands.
        pub place: Option<Place>,
        /// How long the thread is held up.
        pub nanoseconds: u64,
        /// The number of the thread for which the time passes.
        pub by: u32,
        /// Where that thread sleeps or waits.
        pub passing: Place,
        /// Whether the time is the limit of a wait, and no sleep.
        pub is_limit: bool,
        /// How long the time is.
        pub took: u64,
    }
}

message! {
    /// Whether a finding is there when its interleaving is followed.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Confirmation {
        /// The finding is there. Holds the schedule: all events of the run in order.
        Confirmed(Vec<Scheduled>),
        /// The program went another way than the interleaving.
        Diverged {
            /// In what the program differs from the interleaving, and at which place.
            difference: String,
            /// The events up to the difference, in order.
            schedule: Vec<Scheduled>,
        },
        /// The interleaving was followed to its end, and the bug is not there. Holds all events of the run in order.
        Absent(Vec<Scheduled>),
        /// Not tried: this build of the program can't run interleavings.
        NotTried,
    }
}
