//! What a worker's search has counted and promises, in the words of the report.

use seqz_runtime::vocabulary;
use seqz_runtime::worker::message::{Doubt, Explored};

use crate::model::document::Reason;
use crate::model::exploration::{Causality, Promise};

/// Translates the counts of a search by classes.
pub(super) fn causality_of(causality: &vocabulary::Causality) -> Causality {
    Causality {
        classes: causality.classes,
        confirmations: causality.confirmations,
        waiting: causality.waiting,
        queries: causality.queries,
        unknown: causality.unknown,
        lost: causality.lost,
        open: causality.open,
    }
}

/// Returns the reasons why a search by classes has not seen all classes. Empty: no other reason is known than that the
/// search was cut.
fn shortfalls(causality: Option<&vocabulary::Causality>) -> Vec<Reason> {
    let Some(causality) = causality else {
        return Vec::new();
    };
    let all = [
        (causality.waiting, Reason::ExecutionLimit),
        (causality.unknown, Reason::SolverUnknown),
        (causality.lost, Reason::NotFollowed),
        (causality.open, Reason::OpenOutcome),
    ];
    let met = all.into_iter().filter(|(count, _)| *count > 0);
    met.map(|(_, reason)| reason).collect()
}

const fn reason_of(doubt: Doubt) -> Reason {
    match doubt {
        Doubt::VirtualTime => Reason::VirtualTime,
        Doubt::PassingTime => Reason::PassingTime,
        Doubt::ScopedDestructor => Reason::ScopedDestructor,
        Doubt::WaitingWriter => Reason::WaitingWriter,
        Doubt::TriedBesideWriter => Reason::TriedBesideWriter,
        Doubt::UsedUnpark => Reason::UsedUnpark,
        Doubt::PartedWays => Reason::NotFollowed,
    }
}

/// Returns what a search promises at its end, given what it has counted.
pub(super) fn promised(promise: vocabulary::Promise, counts: &Explored) -> Promise {
    match promise {
        vocabulary::Promise::Exhausted => Promise::Exhausted,
        vocabulary::Promise::ExhaustedWeakly => Promise::ExhaustedWeakly,
        vocabulary::Promise::ExhaustedLazily { truncated } => {
            Promise::ExhaustedLazily { truncated }
        }
        vocabulary::Promise::ExhaustedByValues { truncated } => {
            Promise::ExhaustedByValues { truncated }
        }
        vocabulary::Promise::Bounded {
            preemptions,
            truncated,
        } => Promise::Bounded {
            preemptions,
            truncated,
        },
        vocabulary::Promise::Heuristic => Promise::Heuristic,
        vocabulary::Promise::Sampled => Promise::Sampled,
        vocabulary::Promise::Unfinished => {
            let mut reasons = shortfalls(counts.causality.as_deref());
            reasons.extend(counts.doubts.iter().map(reason_of));
            if reasons.is_empty() {
                reasons.push(Reason::ExecutionLimit);
            }
            Promise::Unfinished { reasons }
        }
    }
}
