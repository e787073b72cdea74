//! The messages between the driver and a worker. The driver uses these types, too.
//!
//! A message is a frame: its length in bytes as a little-endian `u32`, then the bytes, in the encoding of
//! [`wire`](mod@crate::vocabulary::wire). All places are those of the generated source. An empty frame from the worker is a
//! sign of life.
//!
//! A connection has one conversation. The driver begins with a [`Request`]. What the worker then says is a [`Reply`]: what
//! any worker may say, or what belongs to this [`Conversation`] alone. Where the worker asks something, it waits for the
//! conversation's [`Answer`](Conversation::Answer). The worker stops when the connection is closed.

mod check;
mod explore;
mod fuzzing;
mod replay;

use std::fmt;

use crate::vocabulary::{Asked, Place, Wire, WireError, message};

pub use check::{Answer, CheckReply, CheckRequest, Executing, Finding};
pub use explore::{Doubt, Doubts, ExploreReply, ExploreRequest, Explored, ScheduleFinding};
pub use fuzzing::{
    ByteChoice, DecodeReply, DecodeRequest, SeedRequest, Seeds, SimplifyReply, SimplifyRequest,
};
pub use replay::{ReplayRequest, Replayed};

/// A request, with what the two sides say after it.
pub trait Conversation: Wire + Into<Request> + fmt::Debug {
    /// What the worker says.
    type Reply: Wire + fmt::Debug;
    /// What the driver says where the worker asks something; `Infallible` where the worker asks nothing.
    type Answer: Wire + fmt::Debug;

    /// The harness's name.
    fn harness(&self) -> &str;
}

message! {
    /// The solver that decides feasibility, and answers queries about maximal causal models.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SolverKind {
        /// The worker's progress grid, the worker's order solver.
        Grid,
        /// The driver, asked with [`CheckReply::Check`] and [`ExploreReply::Solve`].
        Driver,
        /// The worker's progress grid and order solver; the driver is asked as well.
        Both,
    }
}

message! {
    /// The first message, from the driver to the worker.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Request {
        /// Search P̂ₖ.
        Check(CheckRequest),
        /// Explore schedules of the original program.
        Explore(ExploreRequest),
        /// Follow a schedule of the original program.
        Replay(ReplayRequest),
        /// Run the choice that bytes stand for.
        Decode(DecodeRequest),
        /// Make bytes for a fuzzer to begin with.
        Seeds(SeedRequest),
        /// Find simpler bytes that meet the same bugs.
        Simplify(SimplifyRequest),
    }
}

/// From the worker to the driver: what any worker may say, or what belongs to a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<R> {
    /// What belongs to the conversation.
    Own(R),
    /// What an execution may leave behind for the next one, in words. Sent when the search has begun, if there is anything.
    LeftBehind(Vec<String>),
    /// What an execution has asked of the operating system; each kind once, before what is said next.
    Asked(Vec<Asked>),
    /// The worker ends here, and has not done what it was asked to do.
    Stopped(Stopped),
}

message! {
    /// Why a worker can't go on.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Stopped {
        /// The request can't be served, for this reason: there is no such harness, for one.
        Refused(String),
        /// A value given for an input does not fit.
        BadInput {
            /// The parameter's name.
            param: String,
            /// A sentence on what is wrong with the value.
            message: String,
        },
        /// The harness does what can't be expressed.
        Unsupported {
            /// A sentence on what the harness does.
            message: String,
            /// The place at which the harness does that.
            place: Option<Place>,
        },
        /// The harness does not do the same thing twice with the same inputs and choices.
        Nondeterministic {
            /// The inputs.
            inputs: Vec<(String, String)>,
        },
    }
}

impl<R: Wire> Wire for Reply<R> {
    fn put(&self, out: &mut Vec<u8>) {
        let number: u32 = match self {
            Self::Own(_) => 0,
            Self::LeftBehind(_) => 1,
            Self::Asked(_) => 2,
            Self::Stopped(_) => 3,
        };
        number.put(out);
        match self {
            Self::Own(reply) => reply.put(out),
            Self::LeftBehind(what) => what.put(out),
            Self::Asked(what) => what.put(out),
            Self::Stopped(why) => why.put(out),
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        Ok(match u32::take(bytes)? {
            0 => Self::Own(Wire::take(bytes)?),
            1 => Self::LeftBehind(Wire::take(bytes)?),
            2 => Self::Asked(Wire::take(bytes)?),
            3 => Self::Stopped(Wire::take(bytes)?),
            _ => return Err(WireError),
        })
    }
}

macro_rules! requests {
    ($($variant:ident($type:ident)),* $(,)?) => {
        $(impl From<$type> for Request {
            fn from(request: $type) -> Self {
                Self::$variant(request)
            }
        })*

        impl Request {
            /// The harness's name.
            #[must_use]
            pub fn harness(&self) -> &str {
                match self {
                    $(Self::$variant(request) => request.harness(),)*
                }
            }
        }
    };
}

requests!(
    Check(CheckRequest),
    Explore(ExploreRequest),
    Replay(ReplayRequest),
    Decode(DecodeRequest),
    Seeds(SeedRequest),
    Simplify(SimplifyRequest),
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Level;
    use crate::feasibility::Step;
    use crate::finding::{Event, SiteMark, Value, ValueKind};
    use crate::log::{LockMode, Op, TEvent};
    use crate::vocabulary::{BugKind, Confirmation, ReadId, Role, ThreadInfo, WriteId};

    #[test]
    fn messages_come_back() {
        let place = Place {
            file: "src/lib.rs".to_owned(),
            line: 3,
            column: 9,
        };
        let event = Event {
            op: Op::Acquire(2, LockMode::Shared),
            source: Some(1),
            place: place.clone(),
            value: Some(Value {
                kind: ValueKind::Signed,
                bits: u64::MAX,
            }),
            thread: Some(1),
            site: SiteMark::default(),
        };
        let thread = ThreadInfo {
            name: Some("a".to_owned()),
            spawned_at: None,
        };
        let replies = [
            Reply::Own(CheckReply::Started {
                inputs: 3,
                sampled: true,
            }),
            Reply::Own(CheckReply::Level {
                role: Role::SECOND,
                k: 2,
                level: Level {
                    executions: 7,
                    skipped: 1,
                    ..Level::default()
                },
            }),
            Reply::Own(CheckReply::Finding(Box::new(Finding {
                kind: BugKind::DataRace,
                message: "m".to_owned(),
                place: place.clone(),
                other_place: Some(place.clone()),
                follows: vec![place],
                role: Role::FIRST,
                pairs: vec![(ReadId(1), WriteId(2))],
                inputs: vec![("n".to_owned(), "1".to_owned())],
                threads: vec![thread.clone(), thread],
                under_test: vec![event.clone()],
                interfering: vec![event],
                lines: vec![(Role::SECOND, 1)],
                interleaving: vec![Step::UnderTest(0), Step::Interfering(0)],
                confirmation: Confirmation::Confirmed(Vec::new()),
                execution: 4,
            }))),
            Reply::Own(CheckReply::Check {
                under_test: vec![TEvent::non_local(Op::Read(1), 4)],
                interfering: vec![Op::Join],
                by_grid: true,
            }),
            Reply::Own(CheckReply::Done),
            Reply::LeftBehind(vec!["a file".to_owned()]),
            Reply::Asked(vec![Asked::File("a".to_owned()), Asked::Ids]),
            Reply::Stopped(Stopped::BadInput {
                param: "n".to_owned(),
                message: "m".to_owned(),
            }),
        ];
        for reply in replies {
            assert_eq!(Reply::decode(&reply.encode()), Ok(reply));
        }
        let answer = Answer::Unknown("time-out".to_owned());
        assert_eq!(Answer::decode(&answer.encode()), Ok(answer));
        let request = Request::from(SeedRequest {
            harness: "h".to_owned(),
            role: Role::FIRST,
            k: 2,
            limit: 3,
            seed: 4,
        });
        assert_eq!(request.harness(), "h");
        assert_eq!(Request::decode(&request.encode()), Ok(request));
    }
}
