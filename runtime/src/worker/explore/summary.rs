//! What is told of a search: how far it has come, and what it promises.

use seqz_explore::{Search, Strategy};

use crate::scheduled::Machine;
use crate::worker::message::{Causality, Explored, Promise};

/// Whether there were executions of which a search knows less than it would have to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Doubts {
    /// Time was left open.
    pub(super) timed: bool,
    /// Time may pass elsewhere than was tried.
    pub(super) hurried: bool,
    /// How many executions were cut since a thread had slept for longer than others are held up.
    pub(super) outslept: u64,
    /// A scope waited for destructors that may come after its end.
    pub(super) scoped: bool,
    /// A reader might wait for ever behind a writer, in another order.
    pub(super) behind_writers: bool,
    /// How many were cut where threads wait, and it is not known whether for ever. What a search promises takes that into
    /// account already.
    pub(super) undecided: u64,
}

impl Doubts {
    /// One more execution.
    pub(super) const fn note(&mut self, of: Self) {
        self.timed |= of.timed;
        self.hurried |= of.hurried;
        self.outslept += of.outslept;
        self.scoped |= of.scoped;
        self.behind_writers |= of.behind_writers;
        self.undecided += of.undecided;
    }

    /// Whether a search may promise what it believes.
    pub(super) fn leave_promise(self) -> bool {
        Self {
            undecided: 0,
            ..self
        } == Self::default()
    }

    /// Of the latest execution of a search by this strategy.
    pub(super) fn of(machine: &Machine<'_>, strategy: &str) -> Self {
        let by_values = matches!(strategy, "mcr" | "rv-causal" | "lazy-dpor");
        Self {
            timed: machine.leaves_time_open(),
            hurried: machine.hurries_time() || machine.is_outslept(),
            outslept: u64::from(machine.is_outslept()),
            scoped: machine.leaves_scope_open(),
            behind_writers: by_values && machine.may_leave_out_behind_writers(),
            undecided: u64::from(machine.is_undecided()),
        }
    }
}

/// What a search has come to.
pub(super) fn counts<S: Strategy>(search: &Search<S>, doubts: Doubts) -> Explored {
    let counts = search.counts();
    let causality = search.strategy().causality();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let estimate = search.estimate().map(|estimate| estimate.round() as u64);
    Explored {
        executions: counts.executions,
        redundant: causality.map_or(counts.redundant, |causality| causality.redundant),
        abandoned: counts.abandoned,
        blocked: counts.deadlocks,
        // These are cut for another reason than that they are long.
        truncated: counts.truncated.saturating_sub(doubts.outslept),
        waiting: counts.waiting,
        timed: doubts.timed,
        hurried: doubts.hurried,
        scoped: doubts.scoped,
        behind_writers: doubts.behind_writers,
        undecided: u32::try_from(doubts.undecided).unwrap_or(u32::MAX),
        failing: counts.failures,
        events: counts.events,
        relations: counts.relations,
        lazy_relations: counts.lazy_relations,
        states: counts.states,
        estimate,
        causality: causality.map(|causality| {
            Box::new(Causality {
                classes: causality.classes,
                redundant: causality.redundant,
                confirmations: causality.confirmations,
                waiting: causality.waiting,
                queries: causality.queries,
                unknown: causality.unknown,
                lost: causality.lost,
                open: causality.open,
            })
        }),
    }
}

/// What it promises.
pub(super) fn promise(promise: seqz_explore::Promise) -> Promise {
    match promise {
        seqz_explore::Promise::Exhausted => Promise::Exhausted,
        seqz_explore::Promise::ExhaustedLazily { truncated } => {
            Promise::ExhaustedLazily { truncated }
        }
        seqz_explore::Promise::ExhaustedByValues { truncated } => {
            Promise::ExhaustedByValues { truncated }
        }
        seqz_explore::Promise::Bounded {
            preemptions,
            truncated,
        } => Promise::Bounded {
            preemptions,
            truncated,
        },
        seqz_explore::Promise::Sampled => Promise::Sampled,
        seqz_explore::Promise::Heuristic => Promise::Heuristic,
        seqz_explore::Promise::Unfinished => Promise::Unfinished,
    }
}

/// What is left of a promise when the bound on executions cut the search.
pub(super) fn unfinished(of: seqz_explore::Promise) -> Promise {
    match of {
        seqz_explore::Promise::Sampled => Promise::Sampled,
        _ => Promise::Unfinished,
    }
}
