//! What is told of a bug.

use std::fmt;

use crate::feasibility::Step;
use crate::log::Op;
use crate::vocabulary::{BugKind, Lineage, Pair, Place, Role, Site, ThreadInfo};

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

/// A value of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// How to read `bits`.
    pub kind: ValueKind,
    /// The value, extended to 64 bits.
    pub bits: u64,
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

/// An event of the log, with what a report needs of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What it does.
    pub op: Op,
    /// For a non-local read: the index of the paired event of T'.
    pub source: Option<u32>,
    /// Where in the source.
    pub place: Place,
    /// The value read or written, where it is an atomic's.
    pub value: Option<Value>,
    /// Whose event it is, by order of creation. `None`: an event that only says how the two logs are tied together, and is
    /// none of the program's own.
    pub thread: Option<u32>,
    /// The place as the running program has it; absent from events that come from elsewhere.
    pub(crate) site: SiteMark,
}

/// A place as the running program has it: compares equal to any other, since [`Event::place`] says the same.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SiteMark(
    #[cfg_attr(not(feature = "scheduler"), allow(dead_code))] pub Option<Site>,
);

impl PartialEq for SiteMark {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for SiteMark {}

/// A bug with its proof.
#[derive(Clone, Debug)]
pub struct Bug {
    /// What kind of fault it is.
    pub kind: BugKind,
    /// What the program said, or what is wrong.
    pub message: String,
    /// Where it happens: the panic's place; the lock or the access that T is about to do.
    pub place: Place,
    /// For deadlocks and races: what T' is about to do.
    pub other_place: Option<Place>,
    /// For a panic that may only follow from others': the places of those. Where one of them is told, this says nothing more.
    pub follows: Vec<Place>,
    /// Which party is T here.
    pub role: Role,
    /// The non-local reads, in order: `rds` and `wrts`. Their number is k.
    pub pairs: Vec<Pair>,
    /// T and T', unless the bug needs no second thread.
    pub threads: Option<(ThreadInfo, ThreadInfo)>,
    /// The events of T up to the bug.
    pub under_test: Vec<Event>,
    /// The events of T'; the interleaving says how far it comes.
    pub interfering: Vec<Event>,
    /// An order of both in which the bug happens.
    pub interleaving: Vec<Step>,
    /// Whose bug it is, by order of creation.
    pub thread: u32,
    /// How many events of the harness came before two threads ran side by side.
    pub init_events: u32,
    /// How the threads 1, 2, … came to be.
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
        // Where the writes that are seen are in the log of T', and which of the pairs that is.
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

/// What a panic or a deadlock comes to in the original program.
pub(crate) struct Answer {
    pub(crate) kind: BugKind,
    /// It is a [bystander](crate::judge::Counted::bystander)'s.
    pub(crate) bystander: bool,
    /// See [`crate::judge::Counted::follows`].
    pub(crate) follows: Vec<Place>,
}

impl Answer {
    /// It is a failure of this kind by itself.
    pub(crate) const fn failure(kind: BugKind) -> Self {
        Self {
            kind,
            bystander: false,
            follows: Vec::new(),
        }
    }
}
