//! Decides whether a log of two threads has a feasible interleaving, and finds one.
//!
//! Source: *Bounded-Interference Sequentialization for Testing Concurrent Programs* (Razavi, Farzan, Holzer), section
//! 4.2: PO ∧ LV ∧ RW. The input is a [`Log`]; three parts decide or check it:
//! - [`Grid`], the progress grid: exact, incremental over the events of T, and what the engine of P̂ₖ runs on
//!   ([`ProgressGrid`] puts it behind [`Feasibility`]);
//! - [`Many`], the same with any number of interfering threads, at the price of one axis for each;
//! - `Z3`, with the cargo feature `z3`: timestamps and difference logic, the reference that the grid is compared with;
//! - [`validate()`], which replays an [`Interleaving`] over the log and says at which step the replay fails.
//!
//! [`log`] says what is logged. This crate does no I/O and knows nothing of programs: a log is two lists of events.
//!
//! # Example
//!
//! ```
//! use seqz_feasibility::log::{Log, Op, TEvent};
//! use seqz_feasibility::{Feasibility, ProgressGrid, Verdict, validate};
//!
//! // T' writes x (0) and then y (1). T reads y as T' has written it, and then x as T' has written it.
//! let under_test = [TEvent::non_local(Op::Read(1), 1), TEvent::non_local(Op::Read(0), 0)];
//! let mut log = Log { under_test: &under_test, interfering: &[Op::Write(0), Op::Write(1)] };
//! let mut grid = ProgressGrid::new();
//! let Verdict::Feasible(interleaving) = grid.check(&log) else { panic!("there is an interleaving") };
//! assert_eq!(interleaving.0.len(), 4);
//! assert!(validate(&log, &interleaving).is_ok());
//!
//! // With y as T' has written it, x is not as it was in the beginning.
//! let under_test = [TEvent::non_local(Op::Read(1), 1), TEvent::local(Op::Read(0))];
//! log.under_test = &under_test;
//! assert_eq!(grid.check(&log), Verdict::Infeasible);
//! ```
//!
//! # Where this differs from the paper
//! - **T's own earlier write.** RW₂ as printed asks of a non-local read of x that the paired write w' come before the
//!   injected write and T' next write to x after the block. That lets T's own latest write to x fall between w' and the
//!   read, which then sees T's value. So T's latest write to x before the read must come before w'. Example:
//!   `T: R(y)←v W(x) R(x)←w` and `T': W(x)=w W(y)=v`. T has read y before it writes x, so both writes of T' are done by
//!   then, and T's second read sees T's own write. No interleaving exists, yet RW₂ as printed holds of the only order
//!   there is.
//! - **Injected writes.** Injected writes open x-live blocks of T and are no writes of P, so they break no x-live block
//!   of T'.
//! - **How far T' goes.** The paper cuts T' at the first lock-free point after the paired writes. Any prefix of T' may
//!   be what has happened when T is at its last event, and sometimes only an earlier one works: with `T: W(y) R(x)←w`
//!   and `T': A(l) W(x)=w W(x) R(y) L(l)`, the read has to come before the second write to x, and so T's write to y
//!   before T' reads y. T' has to be cut before that read, while T' still holds l.
//!
//! # Which prefixes of T' matter
//! Let c₀ be one past the last paired event (all of T' if T joins it). Take an interleaving in which T' goes as far as
//! c′ and let c₀ ≤ c < c′. Leaving the events of T' from c on out of this interleaving makes no read of T see anything
//! else (the paired writes stay, and no other write of T' is seen), and no read of T' that stays. Only a lock that T'
//! holds at c and gives back before c′ stands in the way. So if T' holds no lock at c, all later prefixes are needless;
//! and a prefix longer than c₀ whose last event is no release is needless too. What is left is c₀ and the places right
//! after a release, up to the first place with no lock held: one or two prefixes in most logs.

#![forbid(unsafe_code)]

mod bits;
mod grid;
mod interference;
mod lane;
pub mod log;
mod many;
mod path;
mod progress;
mod runs;
mod track;
mod validate;
mod witness;
#[cfg(feature = "z3")]
mod z3;

pub use grid::{Grid, Reader};
pub use interference::Interference;
pub use many::Many;
pub use progress::ProgressGrid;
pub use validate::validate;
#[cfg(feature = "z3")]
pub use z3::{Z3, Z3Incremental};

use crate::log::Log;
use seqz_vocabulary::message;

/// What is known about a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The log is feasible. Holds an interleaving.
    Feasible(Interleaving),
    /// The log has no interleaving.
    Infeasible,
    /// The engine could not decide. Holds the reason. Never to be taken for [`Verdict::Infeasible`].
    Unknown(String),
}

message! {
    /// One event of an interleaving.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Step {
        /// The event of T with this index in [`Log::under_test`].
        UnderTest(u32),
        /// The event of T' with this index in [`Log::interfering`].
        Interfering(u32),
    }
}

/// A global order of all events of T and of a prefix of T'.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interleaving(pub Vec<Step>);

impl Interleaving {
    /// The number of events of T' in the interleaving.
    #[must_use]
    pub fn cut(&self) -> usize {
        self.0
            .iter()
            .filter(|step| matches!(step, Step::Interfering(_)))
            .count()
    }
}

/// An engine that decides feasibility.
pub trait Feasibility {
    /// Decides one log. Engines keep memory between calls and nothing else.
    fn check(&mut self, log: &Log<'_>) -> Verdict;
}
