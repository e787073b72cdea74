//! What a report tells of a bug.

use std::fmt;

use crate::feasibility::Step;
use crate::log::Op;
use crate::vocabulary::{BugKind, Lineage, Pair, Place, Role, Site, ThreadInfo};
use crate::vocabulary::{Wire, WireError, message};

/// The end of the message of a deadlock in which the holder of a lock is over: its other place is where the lock was
/// taken, and nobody waits there.
pub const WITHOUT_GIVING_BACK: &str = "ended without giving back";

message! {
    /// How the bits of a value are to be read.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ValueKind {
        /// `bool`.
        Bool,
        /// An unsigned integer.
        Unsigned,
        /// A signed integer, sign-extended to 64 bits.
        Signed,
        /// A pointer.
        Pointer,
        /// A value that is not kept as bits: what a lock protects, or a `static mut`.
        Opaque,
    }
}

message! {
    /// A value of an atomic.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Value {
        /// How to read `bits`.
        pub kind: ValueKind,
        /// The value, extended to 64 bits.
        pub bits: u64,
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ValueKind::Bool => write!(f, "{}", self.bits != 0),
            ValueKind::Unsigned => write!(f, "{}", self.bits),
            ValueKind::Signed => write!(f, "{}", self.bits.cast_signed()),
            ValueKind::Pointer => write!(f, "{:#x}", self.bits),
            ValueKind::Opaque => f.write_str("…"),
        }
    }
}

/// An event of the log, with what a report tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What the event does.
    pub op: Op,
    /// For a non-local read: the index of the paired event of T'.
    pub source: Option<u32>,
    /// The event's place in the source.
    pub place: Place,
    /// The value read or written, for an event of an atomic.
    pub value: Option<Value>,
    /// The number, in the order of creation, of the thread whose event it is. `None` for an event that only says how
    /// the two logs are tied together, and is not an event of the program.
    pub thread: Option<u32>,
    /// The place as the running program has it; absent from events that were read from a message or a file.
    pub(crate) site: SiteMark,
}

/// The mark of the place is not sent.
impl Wire for Event {
    fn put(&self, out: &mut Vec<u8>) {
        self.op.put(out);
        self.source.put(out);
        self.place.put(out);
        self.value.put(out);
        self.thread.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        Ok(Self {
            op: Wire::take(bytes)?,
            source: Wire::take(bytes)?,
            place: Wire::take(bytes)?,
            value: Wire::take(bytes)?,
            thread: Wire::take(bytes)?,
            site: SiteMark::default(),
        })
    }
}

/// A place as the running program has it. Compares equal to any other mark: events are compared by [`Event::place`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SiteMark(pub Option<Site>);

impl PartialEq for SiteMark {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for SiteMark {}

/// A bug with its proof.
#[derive(Clone, Debug)]
pub struct Bug {
    /// The kind of fault.
    pub kind: BugKind,
    /// The panic's message, or what is wrong.
    pub message: String,
    /// The place of the bug: the panic's, or that of the lock operation or access that T is about to do.
    pub place: Place,
    /// For deadlocks and races: the place of what T' is about to do.
    pub other_place: Option<Place>,
    /// For a panic that may only follow from other threads' panics: the places of those panics. Where one of them is
    /// reported, this bug tells nothing new.
    pub follows: Vec<Place>,
    /// Which party is T in this execution.
    pub role: Role,
    /// The non-local reads, in order: `rds` and `wrts`. Their number is k.
    pub pairs: Vec<Pair>,
    /// The threads that run side by side, in the order of their creation; none if the bug needs no second thread.
    pub threads: Vec<ThreadInfo>,
    /// The events of T up to the bug.
    pub under_test: Vec<Event>,
    /// The events of T'. The interleaving says how far T' comes. Where several threads interfere, the events of one stand
    /// behind those of the other.
    pub interfering: Vec<Event>,
    /// Which parties interfere, in the order of their events, each with its number of events.
    pub lines: Vec<(Role, u32)>,
    /// An order of both threads' events in which the bug happens.
    pub interleaving: Vec<Step>,
    /// The number, in the order of creation, of the thread that has the bug.
    pub thread: u32,
    /// The number of events that came before two threads ran side by side.
    pub init_events: u32,
    /// How the threads 1, 2, … came to be, in this order.
    pub lineage: Vec<Lineage>,
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            BugKind::Panic => "panic",
            BugKind::Deadlock => "deadlock",
            BugKind::DataRace => "data race",
            BugKind::Detached => "panic of a detached thread",
            BugKind::Result => "result",
            BugKind::Exit => "exit",
            BugKind::Abort => "abort",
        };
        writeln!(
            f,
            "bug: {kind} at {} with k = {}: {}",
            self.place,
            self.pairs.len(),
            self.message
        )?;
        if let Some(other) = &self.other_place {
            writeln!(f, "the other place is {other}")?;
        }
        // The index in the log of T' of each write that is seen, with the pair that names the write.
        let sources = self.under_test.iter().filter_map(|event| event.source);
        let seen: Vec<(u32, &Pair)> = sources.zip(&self.pairs).collect();
        let mut pairs = self.pairs.iter();
        for step in &self.interleaving {
            let (name, event) = match step {
                Step::UnderTest(at) => ("T ", self.under_test.get(*at as usize)),
                Step::Interfering(at) => ("T'", self.interfering.get(*at as usize)),
            };
            let Some(event) = event else { continue };
            write!(f, "  {name} {}", event.op)?;
            if let Some(value) = event.value {
                write!(f, " = {value}")?;
            }
            match step {
                Step::UnderTest(_) if event.source.is_some() => {
                    if let Some((read, write)) = pairs.next() {
                        write!(f, "  ({read} sees {write})")?;
                    }
                }
                Step::UnderTest(_) => {}
                Step::Interfering(at) => {
                    if let Some((_, (_, write))) = seen.iter().find(|(source, _)| source == at) {
                        write!(f, "  ({write})")?;
                    }
                }
            }
            writeln!(f, "  at {}", event.place)?;
        }
        Ok(())
    }
}

/// What a panic or a deadlock of P̂ₖ is in the original program.
pub(crate) struct Answer {
    pub(crate) kind: BugKind,
    /// Whether the failure is that of a [bystander](crate::judge::Counted::bystander).
    pub(crate) bystander: bool,
    /// The places of panics that this failure may follow from: see [`crate::judge::Counted::follows`].
    pub(crate) follows: Vec<Place>,
}

impl Answer {
    /// A failure of this kind that follows from no other panic.
    pub(crate) const fn failure(kind: BugKind) -> Self {
        Self {
            kind,
            bystander: false,
            follows: Vec::new(),
        }
    }
}
