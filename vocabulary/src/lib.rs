//! The words that all of seqz's parts share, each with one type. Messages between the program's process and the driver,
//! and files of findings, are made of these types.
//!
//! | here | is |
//! |---|---|
//! | [`ids`] | reads of T, writes of T', and which party is T |
//! | [`place`] | places in the source |
//! | [`thread`] | who a thread is |
//! | [`ended`] | what a worker says when it ends itself |
//! | [`failure`] | the kinds of faults |
//! | [`kind`] | what operations are, and when the order of two of them can matter |
//! | [`event`] | what threads announce and do |
//! | [`transition`] | what events do to barriers, channels and the like |
//! | [`observation`] | what a thread sees of a value that it reads |
//! | [`order`] | the orderings of atomic operations and fences |
//! | [`hash`] | mixing of words |
//! | [`schedule`] | events in the order of an execution, and whether a finding was there when that order was followed |
//! | [`promise`] | what a search of schedules says of the program, and counts of the searches that go by values |
//! | [`asked`] | what a program asks of the operating system |
//! | [`wire`] | how messages of these words are encoded |
//!
//! # Example
//!
//! A finding of the sequential program, as the parts of seqz pass it on: the choice that leads to it, and what came of
//! following its interleaving on the original program.
//!
//! ```
//! use seqz_vocabulary::{Confirmation, Kind, Pair, Place, ReadId, Role, Scheduled, WriteId};
//!
//! // T is the thread that was created second. Its read number 1 sees write number 3 of T'.
//! let under_test = Role::SECOND;
//! let (read, write): Pair = (ReadId(1), WriteId(3));
//! assert_eq!(format!("{read}={write}"), "r1=w3");
//! assert_eq!(under_test.name(), "second");
//!
//! let place = Place { file: "src/lib.rs".into(), line: 7, column: 13 };
//! let event = Scheduled { thread: 1, action: Kind::Read, object: 0, place: Some(place), saw: None };
//! let Confirmation::Confirmed(schedule) = Confirmation::Confirmed(vec![event]) else { unreachable!() };
//! assert_eq!(schedule[0].place.as_ref().unwrap().to_string(), "src/lib.rs:7:13");
//! ```

#![forbid(unsafe_code)]

pub mod asked;
pub mod ended;
pub mod event;
pub mod failure;
pub mod hash;
pub mod ids;
pub mod kind;
pub mod observation;
pub mod order;
pub mod place;
pub mod promise;
pub mod schedule;
pub mod thread;
pub mod transition;
pub mod wire;

pub use asked::{Asked, state_of};
pub use event::{Event, Object, Pending, Thread};
pub use failure::{BugKind, FailureKind};
pub use ids::{Pair, ReadId, Role, WriteId};
pub use kind::{Class, Kind};
pub use observation::{Comparison, Integer, Test};
pub use order::Order;
pub use place::{Place, Site};
pub use promise::{Causality, Promise};
pub use schedule::{Awaited, Confirmation, HeldUp, REASONLESS, Scheduled, Waiting};
pub use thread::{Lineage, ThreadInfo};
pub use transition::Transition;
pub use wire::{Wire, WireError};
