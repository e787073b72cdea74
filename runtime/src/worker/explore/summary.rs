//! What is told of a search: how far it has come, and what it promises.

use seqz_explore::{Search, Strategy};

use crate::worker::message::{Causality, Explored, Promise};

/// What a search has come to, where destructors have rushed in some executions.
pub(super) fn counts<S: Strategy>(search: &Search<S>, rushed: u64) -> Explored {
    let counts = search.counts();
    let causality = search.strategy().causality();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let estimate = search.estimate().map(|estimate| estimate.round() as u64);
    Explored {
        executions: counts.executions,
        redundant: causality.map_or(counts.redundant, |causality| causality.redundant),
        abandoned: counts.abandoned,
        blocked: counts.deadlocks,
        truncated: counts.truncated,
        waiting: counts.waiting,
        rushed,
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
