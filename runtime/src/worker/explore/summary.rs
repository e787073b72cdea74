//! The summary of a search: its counts so far, and what it promises.

use seqz_explore::AnySearch;
use seqz_explore::catalogue::{Entry, Trait};

use crate::scheduled::Machine;
use crate::vocabulary::Promise;
use crate::vocabulary::message;
use crate::worker::message::{Doubt, Doubts, Explored};

message! {
    /// The reasons why a search knows less about its executions than its promise needs.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) struct Shortfall {
        pub(super) doubts: Doubts,
        /// The number of executions that were cut since a thread had slept for longer than others are held up.
        pub(super) outslept: u64,
        /// The number of executions that were cut where threads wait, and it is not known whether for ever. A search's
        /// promise takes these into account already.
        pub(super) undecided: u64,
    }
}

impl Shortfall {
    /// What is noted of an execution that has gone another way than it had to.
    pub(super) const PARTED_WAYS: Self = Self {
        doubts: Doubts::of(Doubt::PartedWays),
        outslept: 0,
        undecided: 0,
    };

    /// Adds what was noted of another execution.
    pub(super) const fn note(&mut self, of: Self) {
        self.doubts.add(of.doubts);
        self.outslept += of.outslept;
        self.undecided += of.undecided;
    }

    /// Whether a search may promise what it believes.
    pub(super) const fn leaves_promise(self) -> bool {
        self.doubts.is_empty() && self.outslept == 0
    }

    /// Whether time may pass at other moments than the search has tried.
    pub(super) const fn leaves_time(self) -> bool {
        self.doubts.contains(Doubt::PassingTime)
    }

    /// What is noted of the latest execution of a search by this strategy.
    pub(super) fn of(machine: &Machine<'_>, strategy: &Entry) -> Self {
        let all = [
            (Doubt::VirtualTime, machine.leaves_time_open()),
            (
                Doubt::PassingTime,
                machine.hurries_time() || machine.is_outslept(),
            ),
            (Doubt::ScopedDestructor, machine.leaves_scope_open()),
            (
                Doubt::WaitingWriter,
                strategy.has(Trait::LeavesOutBehindWriters)
                    && machine.may_leave_out_behind_writers(),
            ),
            (Doubt::TriedBesideWriter, machine.leaves_tries_open()),
            (Doubt::UsedUnpark, machine.leaves_unparks_open()),
        ];
        let met = all.into_iter().filter(|(_, is_met)| *is_met);
        Self {
            doubts: met.map(|(doubt, _)| doubt).collect(),
            outslept: u64::from(machine.is_outslept()),
            undecided: u64::from(machine.is_undecided()),
        }
    }
}

/// The counts of a search.
pub(super) fn counts<E>(search: &dyn AnySearch<E>, shortfall: Shortfall) -> Explored {
    let counts = search.counts();
    let causality = search.strategy().report().causality;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let estimate = search.estimate().map(|estimate| estimate.round() as u64);
    Explored {
        executions: counts.executions,
        redundant: causality.map_or(counts.redundant, |causality| causality.redundant),
        abandoned: counts.abandoned,
        blocked: counts.deadlocks,
        // Executions with a thread that outsleeps others are not cut for their length.
        truncated: counts.truncated.saturating_sub(shortfall.outslept),
        waiting: counts.waiting,
        doubts: shortfall.doubts,
        undecided: u32::try_from(shortfall.undecided).unwrap_or(u32::MAX),
        failing: counts.failures,
        events: counts.events,
        relations: counts.relations,
        lazy_relations: counts.lazy_relations,
        states: counts.states,
        estimate,
        causality: causality.map(Box::new),
    }
}

/// What is left of a promise when the bound on executions cut the search.
pub(super) fn unfinished(of: Promise) -> Promise {
    match of {
        Promise::Sampled => Promise::Sampled,
        _ => Promise::Unfinished,
    }
}
