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
        /// Under weak memory, of an event that reads: the number of the event of the schedule that wrote what it reads, from
        /// 1; 0 for what the object began with. `None`: what was written last.
        pub saw: Option<u32>,
    }
}

/// The name of the thread that stands for what happens without a reason, and is none of the program's.
pub const REASONLESS: &str = "what happens without a reason";

message! {
    /// What a thread waits for in a wait queue.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Awaited {
        /// To be notified, on a condition variable.
        #[default]
        Notification,
        /// To be unparked.
        Unpark,
        /// Other threads at a barrier.
        Arrival,
        /// The end of an initialization.
        Initialization,
        /// A message.
        Message,
        /// Room for a message, or a receiver.
        Room,
        /// The handle of a scoped thread, at the scope's end.
        Handle,
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
        /// What the thread waits for, if it is about to leave a wait queue.
        pub awaited: Awaited,
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
