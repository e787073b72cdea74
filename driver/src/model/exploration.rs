//! The document of an exploration: docs/json.md.

use serde::{Deserialize, Serialize};

use super::document::{
    Cut, Input, InputDomain, Kind, Met, NotFollowed, Reason, Role, Site, Status, Thread,
};
use super::lone::{Lone, Spurious};
use super::schedule::{Action, Awaited, Event};

/// The document that `seqz explore` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exploration {
    /// [`SCHEMA`](super::document::SCHEMA).
    pub schema: u32,
    /// The version of seqz that made the document.
    pub seqz: String,
    /// The program, as given on the command line.
    pub path: String,
    /// The name of the search strategy.
    pub strategy: String,
    /// The solver that answered the strategy's questions about executions, if the strategy asks any: `order`, `z3` or
    /// `all`.
    #[serde(default)]
    pub solver: Option<String>,
    /// The value of `--bound`, if given.
    pub bound: Option<u32>,
    /// The seed of random choices, if there were any.
    pub seed: Option<u64>,
    /// The reason why the whole search ended before it was done; `None`: it was done.
    pub cut: Option<Cut>,
    /// Every harness that was asked for, in the order of the source.
    pub harnesses: Vec<HarnessExploration>,
    /// The directory in which every failure has a file of its own; `None`: there was no failure.
    pub findings: Option<String>,
    /// Counts over all harnesses.
    pub summary: Summary,
}

/// Counts over all harnesses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Failures; failures of the same site and kind count once.
    pub failures: u32,
    /// Harnesses that were explored.
    pub explored: u32,
    /// Harnesses that could not be explored.
    pub unsupported: u32,
    /// Findings that don't count, as their cause may be what is not followed.
    #[serde(default)]
    pub doubtful: u32,
    /// Executions of the program.
    pub executions: u64,
    /// Whether the search of everything that was asked for is exhausted.
    pub exhausted: bool,
    /// Wall-clock time, building included, in seconds.
    pub seconds: f64,
    /// The part of it until workers were built, with waiting for other processes that build, in seconds.
    #[serde(default)]
    pub building: f64,
    /// The most memory that a worker had resident, in bytes, where the system tells.
    #[serde(default)]
    pub memory: Option<u64>,
}

/// What is known of one harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HarnessExploration {
    /// The harness's path in the crate.
    pub name: String,
    /// The place of the harness.
    pub site: Site,
    /// The status of the exploration.
    pub status: Status,
    /// For each parameter, how its values were chosen.
    pub inputs: Vec<InputDomain>,
    /// Whether only a sample of the inputs was tried.
    pub sampled_inputs: bool,
    /// What the harness reaches and seqz does not follow; if there is anything, nothing is exhausted.
    #[serde(default)]
    pub not_followed: Vec<NotFollowed>,
    /// A file that executions read or look for, the first one: what is shown holds for its content.
    #[serde(default)]
    pub reads: Option<String>,
    /// The calls outside of loops that may end or fail without a reason.
    #[serde(default)]
    pub lone: Vec<Lone>,
    /// How often in an execution a call could end or fail without a reason.
    #[serde(default)]
    pub spurious: u32,
    /// Whether calls in loops could do so, too.
    #[serde(default)]
    pub spurious_in_loops: bool,
    /// The promise at the end of the search.
    pub promise: Promise,
    /// Counts of the search.
    pub counts: Counts,
    /// The failures that were found.
    pub failures: Vec<Failure>,
    /// Further notes, each in words.
    pub notes: Vec<String>,
    /// The verdict: what the search has shown, in a sentence.
    #[serde(default)]
    pub verdict: String,
}

/// The promise that a search makes at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Promise {
    /// Every schedule was executed, up to the order of events that are independent of each other.
    Exhausted,
    /// Every reachable state was seen, though not every schedule was executed: of the schedules that differ in nothing
    /// but the order of critical sections that share nothing, at least one was executed.
    ExhaustedLazily {
        /// Whether executions were cut: what follows the cut is not known.
        truncated: bool,
    },
    /// Every class of executions in which all threads observe the same was executed, exactly once.
    ExhaustedByValues {
        /// Whether executions were cut: what follows the cut is not known.
        truncated: bool,
    },
    /// Every execution that Rust's memory model allows was made.
    ExhaustedWeakly,
    /// Every schedule within the bounds was executed.
    Bounded {
        /// The largest number of preemptions; null: any number.
        preemptions: Option<u32>,
        /// Whether executions were cut: what follows the cut is not known.
        truncated: bool,
    },
    /// Schedules that are like executed ones were left out: a bug may be in those.
    Heuristic,
    /// Schedules were drawn at random.
    Sampled,
    /// The search did not come to its end.
    Unfinished {
        /// The reasons why the search did not come to its end.
        reasons: Vec<Reason>,
    },
}

impl Promise {
    /// Returns the promise, unless something that is not followed takes it away. A promise of nothing stays as it is.
    #[must_use]
    pub fn unless_unfollowed(self, not_followed: &[NotFollowed]) -> Self {
        match self {
            Self::Heuristic | Self::Sampled => self,
            _ if not_followed.is_empty() => self,
            _ => self.and(Self::Unfinished {
                reasons: vec![Reason::Unfollowed],
            }),
        }
    }

    /// Returns the promise that holds when both promises are to hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unfinished { mut reasons }, Self::Unfinished { reasons: more }) => {
                reasons.extend(more);
                reasons.sort_by_key(|reason| Reason::ALL.iter().position(|other| other == reason));
                reasons.dedup();
                Self::Unfinished { reasons }
            }
            (unfinished @ Self::Unfinished { .. }, _)
            | (_, unfinished @ Self::Unfinished { .. }) => unfinished,
            (Self::Sampled, _) | (_, Self::Sampled) => Self::Sampled,
            (Self::Heuristic, _) | (_, Self::Heuristic) => Self::Heuristic,
            (
                Self::Bounded {
                    preemptions,
                    truncated,
                },
                Self::Bounded {
                    preemptions: other,
                    truncated: also,
                },
            ) => Self::Bounded {
                preemptions: match (preemptions, other) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                },
                truncated: truncated || also,
            },
            (bounded @ Self::Bounded { .. }, _) | (_, bounded @ Self::Bounded { .. }) => bounded,
            (
                Self::ExhaustedByValues { truncated },
                Self::ExhaustedByValues { truncated: also },
            ) => Self::ExhaustedByValues {
                truncated: truncated || also,
            },
            (by_values @ Self::ExhaustedByValues { .. }, _)
            | (_, by_values @ Self::ExhaustedByValues { .. }) => by_values,
            (Self::ExhaustedLazily { truncated }, Self::ExhaustedLazily { truncated: also }) => {
                Self::ExhaustedLazily {
                    truncated: truncated || also,
                }
            }
            (lazily @ Self::ExhaustedLazily { .. }, Self::Exhausted)
            | (Self::Exhausted, lazily @ Self::ExhaustedLazily { .. }) => lazily,
            (Self::ExhaustedWeakly, other) | (other, Self::ExhaustedWeakly) => other,
            (Self::Exhausted, Self::Exhausted) => Self::Exhausted,
        }
    }
}

/// The counts of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Executions begun.
    pub executions: u64,
    /// Executions that ended with a happens-before relation that had been seen; with [`Self::causality`], those of a
    /// class that had been executed.
    pub redundant: u64,
    /// Executions that were given up, since they could show nothing new.
    pub abandoned: u64,
    /// Executions that ended with threads that wait for ever.
    pub blocked: u64,
    /// Executions that were cut, at `--max-steps` or before.
    pub truncated: u64,
    /// Executions, among those cut, that were cut where threads wait, when it was not known whether they wait for ever.
    #[serde(default)]
    pub undecided: u64,
    /// Executions that go on in another execution, in which a thread that waits in a loop reads later.
    #[serde(default)]
    pub waiting: u64,
    /// Executions that failed.
    pub failing: u64,
    /// Events of all executions.
    pub events: u64,
    /// Distinct happens-before relations of executions that ran to an end.
    pub relations: u64,
    /// Distinct lazy happens-before relations of executions that ran to an end, if they were counted.
    pub lazy_relations: Option<u64>,
    /// Counts of strategies that tell executions apart by what the threads observe.
    #[serde(default)]
    pub causality: Option<Causality>,
    /// Distinct terminal states.
    pub states: u64,
    /// Wall-clock time of the search, in seconds.
    pub seconds: f64,
}

/// The counts of a strategy that tells executions apart by what the threads observe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Causality {
    /// Classes executed: in all executions of a class, all threads observe the same.
    pub classes: u64,
    /// Executions of classes that had been executed, made to show a predicted data race.
    pub confirmations: u64,
    /// Beginnings of executions (seed interleavings) that are still to be executed.
    pub waiting: u64,
    /// Questions asked of the solver.
    pub queries: u64,
    /// Questions that the solver gave up: what they were about is not known.
    pub unknown: u64,
    /// Beginnings that the program did not follow: what comes after them is not known.
    pub lost: u64,
    /// Executions with an event whose outcome depends on more than values, as at barriers and channels: similar
    /// executions may be missed.
    pub open: u64,
}

impl Causality {
    /// Adds the counts of `other` to these.
    pub const fn add(&mut self, other: &Self) {
        self.classes += other.classes;
        self.confirmations += other.confirmations;
        self.waiting += other.waiting;
        self.queries += other.queries;
        self.unknown += other.unknown;
        self.lost += other.lost;
        self.open += other.open;
    }
}

/// A failure, with the schedule that leads to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind of the failure.
    pub kind: Kind,
    /// What the program said, or else what is wrong.
    pub message: String,
    /// The place at which the failure shows.
    pub site: Option<Site>,
    /// The number of the thread that fails.
    pub thread: u32,
    /// The threads that wait for ever.
    pub waiting: Vec<Waiting>,
    /// The values of the parameters.
    pub inputs: Vec<Input>,
    /// The threads, by number; null where this execution has no thread of that number.
    pub threads: Vec<Option<Thread>>,
    /// All events of the execution, in order.
    pub schedule: Vec<Event>,
    /// Events before the failure begins, if that is known: later events do not lead to the failure.
    #[serde(default)]
    pub fails_after: Option<u64>,
    /// The execution's number in its search, from 1.
    pub execution: u64,
    /// How often in an execution a call could end or fail without a reason.
    #[serde(default)]
    pub spurious: u32,
    /// Whether calls in loops could do so, too.
    #[serde(default = "everywhere")]
    pub spurious_in_loops: bool,
    /// The sequence that the program's random numbers were drawn from: 0 is the usual one.
    #[serde(default)]
    pub random_numbers: u64,
    /// The stack of each thread, in bytes.
    pub stack_size: u64,
    /// Executions that fail in this way.
    pub count: u64,
    /// How the threads are coupled in these executions, for programs of two threads.
    #[serde(default)]
    pub couplings: Vec<Coupling>,
    /// Who was held up while a time passed, if some thread was in each of these executions.
    #[serde(default)]
    pub held_up: Option<HeldUp>,
    /// The path of the file that has this failure as a finding; `None` in that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// When the failure was first met, among the executions with all choices of inputs.
    #[serde(default)]
    pub met: Met,
}

impl Failure {
    /// Returns the events before the failure. After them the thread may unwind, and other threads go on.
    #[must_use]
    pub fn leading(&self) -> &[Event] {
        let leading = self
            .fails_after
            .and_then(|events| usize::try_from(events).ok())
            .and_then(|events| self.schedule.get(..events));
        leading.unwrap_or(&self.schedule)
    }

    /// Returns what could happen without a reason.
    #[must_use]
    pub const fn reasonless(&self) -> Spurious {
        Spurious {
            times: self.spurious,
            in_loops: self.spurious_in_loops,
        }
    }
}

const fn everywhere() -> bool {
    true
}

/// How often one thread reads something new from the other thread, which reads nothing from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coupling {
    /// The thread that reads, as the thread under test of `seqz check`.
    pub under_test: Role,
    /// The number of such reads, in the execution that has the fewest.
    pub k: u32,
}

/// A thread that could go on when a sleep or a time limit of another thread was over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldUp {
    /// The number of the thread.
    pub thread: u32,
    /// Where the thread stands.
    pub site: Option<Site>,
    /// How long the thread is held up.
    pub nanoseconds: u64,
    /// The number of the thread for which the time passes.
    pub by: u32,
    /// Where that thread sleeps or waits.
    pub passing: Option<Site>,
    /// Whether the time is the limit of a wait, and no sleep.
    pub is_limit: bool,
    /// How long the time is, in nanoseconds.
    pub took: u64,
}

/// A thread that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The number of the thread.
    pub thread: u32,
    /// The action that the thread waits for.
    pub action: Action,
    /// The number of the lock, variable or thread that the action is about.
    pub object: u32,
    /// What the thread waits for, if others have to wake it up.
    #[serde(default)]
    pub awaited: Option<Awaited>,
    /// The thread that holds the lock, if the thread waits for a lock.
    pub held_by: Option<u32>,
    /// The last notification of what the thread waits for, if that came before the thread began to wait, and none came
    /// later.
    pub missed: Option<Site>,
    /// The thread that went on after the last notification, if there was one while this thread waited.
    pub instead: Option<u32>,
    /// The short name of the lock or variable, where there is one.
    pub variable: Option<String>,
    /// The place at which the thread waits.
    pub site: Option<Site>,
    /// If that is in a dependency: the last place in the program itself at which the thread did something before.
    #[serde(default)]
    pub after: Option<Site>,
}
