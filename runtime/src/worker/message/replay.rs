//! The conversation of a replay: following a schedule of the original program.

use std::convert::Infallible;

use super::{Conversation, ScheduleFinding};
use crate::vocabulary::message;
use crate::vocabulary::{Place, Scheduled, Waiting};

message! {
    /// A schedule to follow.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ReplayRequest {
        /// The harness's name.
        pub harness: String,
        /// The value of each parameter, by name.
        pub inputs: Vec<(String, String)>,
        /// The events of the schedule, in order.
        pub schedule: Vec<Scheduled>,
        /// Whether loops that wait were run as they are written when the schedule was written down, as where a finding of
        /// the sequential program is confirmed: then no turn of theirs is an event, and each takes its time.
        pub loops_as_written: bool,
        /// The number of times to follow the schedule.
        pub times: u32,
        /// The number of times in an execution that something may happen without a reason.
        pub spurious: u32,
        /// The only places where something may happen without a reason; `None` is any place.
        pub spurious_at: Option<Vec<Place>>,
        /// The size of each thread's stack, in bytes.
        pub stack: u64,
        /// Whether not all that the harness's threads share is followed.
        pub unfollowed: bool,
        /// Whether accesses of `unsafe` code to memory are checked.
        pub checks_memory: bool,
        /// The number of the sequence that the program's random numbers are of: 0 is the usual one.
        pub random: u64,
    }
}

message! {
    /// How a replay went.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Replayed {
        /// The schedule was followed to its end.
        Followed {
            /// All failures, those that decide first.
            failures: Vec<ScheduleFinding>,
            /// The panics that the harness may have been about to handle, when a failure kept it from that.
            bystanders: Vec<ScheduleFinding>,
            /// The number of runs that gave the same events.
            same: u32,
            /// The operations that the threads were about to do at the schedule's end.
            next: Vec<Waiting>,
        },
        /// The program and the schedule part ways.
        Diverged {
            /// The index of the event in the schedule at which they part.
            at: u32,
            /// A sentence on what differs.
            difference: String,
            /// The program's place then.
            place: Option<Place>,
            /// The program's events up to there.
            schedule: Vec<Scheduled>,
        },
    }
}

impl Conversation for ReplayRequest {
    type Reply = Replayed;
    type Answer = Infallible;

    fn harness(&self) -> &str {
        &self.harness
    }
}
