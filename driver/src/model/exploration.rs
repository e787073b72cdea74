//! What an exploration has to say, as data: docs/json.md.

use serde::{Deserialize, Serialize};

use super::document::{
    Cut, Input, InputDomain, Kind, Met, NotFollowed, Reason, Role, Site, Status, Thread,
};
use super::lone::{Lone, Spurious};
use super::schedule::{Action, Event};

/// The answer of `seqz explore`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exploration {
    /// [`SCHEMA`](super::document::SCHEMA).
    pub schema: u32,
    /// The version of seqz that made it.
    pub seqz: String,
    /// The program, as given on the command line.
    pub path: String,
    /// The strategy.
    pub strategy: String,
    /// Who answered its questions about executions, if it asks any: `order`, `z3` or `all`.
    #[serde(default)]
    pub solver: Option<String>,
    /// `--bound`, if given.
    pub bound: Option<u32>,
    /// Where random choices began, if there were any.
    pub seed: Option<u64>,
    /// Why the whole search ended before it was done, if so.
    pub cut: Option<Cut>,
    /// Every harness that was asked for, in the order of the source.
    pub harnesses: Vec<HarnessExploration>,
    /// The directory in which every failure has a file of its own, if there was any.
    pub findings: Option<String>,
    /// Over all harnesses.
    pub summary: Summary,
}

/// Counts over all harnesses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Failures, each site and kind once.
    pub failures: u32,
    /// Harnesses that were explored.
    pub explored: u32,
    /// Harnesses that could not be explored.
    pub unsupported: u32,
    /// Findings that don't count, as they may come of what is not followed.
    #[serde(default)]
    pub doubtful: u32,
    /// Executions of the program.
    pub executions: u64,
    /// Whether everything that was asked for is exhausted.
    pub exhausted: bool,
    /// Wall clock, building included.
    pub seconds: f64,
    /// The most memory that a worker had resident, in bytes, where the system tells.
    #[serde(default)]
    pub memory: Option<u64>,
}

/// What is known of one harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HarnessExploration {
    /// Its path in the crate.
    pub name: String,
    /// Where it is.
    pub site: Site,
    /// How it went.
    pub status: Status,
    /// How the values of its parameters were chosen.
    pub inputs: Vec<InputDomain>,
    /// Whether not all of them were tried.
    pub sampled_inputs: bool,
    /// What it reaches and seqz does not follow; if there is anything, nothing is exhausted.
    #[serde(default)]
    pub not_followed: Vec<NotFollowed>,
    /// What it reaches outside of loops that may happen without a reason.
    #[serde(default)]
    pub lone: Vec<Lone>,
    /// How often in an execution such things could happen.
    #[serde(default)]
    pub spurious: u32,
    /// Whether they could in loops, too.
    #[serde(default)]
    pub spurious_in_loops: bool,
    /// What can be said of the program now.
    pub promise: Promise,
    /// What was done.
    pub counts: Counts,
    /// What was found.
    pub failures: Vec<Failure>,
    /// Whatever else is worth saying.
    pub notes: Vec<String>,
    /// What was shown, in a sentence.
    #[serde(default)]
    pub verdict: String,
}

/// What can be said of a program once its exploration has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Promise {
    /// Every schedule was executed, up to the order of events that are independent of each other.
    Exhausted,
    /// Every reachable state was seen, though not every schedule: of those that differ in nothing but the order of
    /// critical sections that share nothing, at least one was executed.
    ExhaustedLazily {
        /// Executions were cut: nothing is known of what follows the cut.
        truncated: bool,
    },
    /// Every class of executions in which all threads observe the same was executed, exactly once.
    ExhaustedByValues {
        /// Executions were cut: nothing is known of what follows the cut.
        truncated: bool,
    },
    /// Every schedule within bounds was.
    Bounded {
        /// At most so many preemptions; null: any number.
        preemptions: Option<u32>,
        /// Executions were cut: nothing is known of what follows the cut.
        truncated: bool,
    },
    /// Schedules were left out that are like others which were run: what was not seen may still be there.
    Heuristic,
    /// Schedules were drawn at random.
    Sampled,
    /// The search did not come to its end.
    Unfinished {
        /// Why not.
        reasons: Vec<Reason>,
    },
}

impl Promise {
    /// The promise, unless something that is not followed takes it away. Who promises nothing need not take it back.
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

    /// What is left when both are to be promised.
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
            (Self::Exhausted, Self::Exhausted) => Self::Exhausted,
        }
    }
}

/// What an exploration did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Executions begun.
    pub executions: u64,
    /// Those that ended with a happens-before relation that had been seen; with [`Self::causality`], those of a class that
    /// had been executed.
    pub redundant: u64,
    /// Those that were given up, since nothing new could come of them.
    pub abandoned: u64,
    /// Those that ended with threads that wait for ever.
    pub blocked: u64,
    /// Those that were cut: at `--max-steps`, or before.
    pub truncated: u64,
    /// Of these, those that were cut where threads wait, and it is not known whether for ever.
    #[serde(default)]
    pub undecided: u64,
    /// Those that go on in another one, in which a thread that waits in a loop looks later.
    #[serde(default)]
    pub waiting: u64,
    /// Those that failed.
    pub failing: u64,
    /// Events of all executions.
    pub events: u64,
    /// Distinct happens-before relations of executions that ran to an end.
    pub relations: u64,
    /// Distinct lazy happens-before relations of these, if they were counted.
    pub lazy_relations: Option<u64>,
    /// Of strategies that tell executions apart by what the threads observe.
    #[serde(default)]
    pub causality: Option<Causality>,
    /// Distinct terminal states.
    pub states: u64,
    /// Wall clock.
    pub seconds: f64,
}

/// What a strategy did that tells executions apart by what the threads observe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Causality {
    /// Classes executed: in the executions of one, all threads observe the same.
    pub classes: u64,
    /// Executions of classes that had been executed, made to show a data race that had been predicted.
    pub confirmations: u64,
    /// Beginnings of executions that wait to be executed.
    pub waiting: u64,
    /// Questions asked of the solver.
    pub queries: u64,
    /// Those that it gave up: nothing is known of what they were about.
    pub unknown: u64,
    /// Beginnings that the program did not follow: likewise.
    pub lost: u64,
    /// Executions with an event whose outcome depends on more than values, such as those of barriers and channels: others like
    /// them may be missed.
    pub open: u64,
}

impl Causality {
    /// Adds up.
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
    /// What kind.
    pub kind: Kind,
    /// What the program said, or what is wrong.
    pub message: String,
    /// Where it shows.
    pub site: Option<Site>,
    /// Which thread fails, by number.
    pub thread: u32,
    /// The threads that wait for ever.
    pub waiting: Vec<Waiting>,
    /// The values of the parameters.
    pub inputs: Vec<Input>,
    /// The threads, by number; null where this execution has none of that number.
    pub threads: Vec<Option<Thread>>,
    /// All events of the execution, in order.
    pub schedule: Vec<Event>,
    /// How many of them come before the failure begins, if that is known: those after them do not lead to it.
    #[serde(default)]
    pub fails_after: Option<u64>,
    /// The execution's number in its search, from 1.
    pub execution: u64,
    /// How often in an execution something could happen without a reason.
    #[serde(default)]
    pub spurious: u32,
    /// Whether it could in loops, too.
    #[serde(default = "everywhere")]
    pub spurious_in_loops: bool,
    /// Which sequence the program's random numbers were of: 0 is the usual one.
    #[serde(default)]
    pub random_numbers: u64,
    /// Bytes of stack of each thread.
    pub stack_size: u64,
    /// How many executions fail in this way.
    pub count: u64,
    /// How the threads are coupled in them, for programs of two threads.
    #[serde(default)]
    pub couplings: Vec<Coupling>,
    /// When it was first met, among the executions with all choices of inputs.
    #[serde(default)]
    pub met: Met,
}

impl Failure {
    /// The events that come before the failure. After them the thread may unwind, and others go on.
    #[must_use]
    pub fn leading(&self) -> &[Event] {
        let leading = self
            .fails_after
            .and_then(|events| usize::try_from(events).ok())
            .and_then(|events| self.schedule.get(..events));
        leading.unwrap_or(&self.schedule)
    }

    /// What could happen without a reason.
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

/// How often one thread sees something of the other one, which sees nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coupling {
    /// Which thread sees, as with `seqz check`.
    pub under_test: Role,
    /// How often, in the execution in which it does so least.
    pub k: u32,
}

/// A thread that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its number.
    pub thread: u32,
    /// What it waits to do.
    pub action: Action,
    /// To which lock, variable or thread, by number.
    pub object: u32,
    /// Which thread holds the lock, if it waits for one.
    pub held_by: Option<u32>,
    /// The last notification of what it waits for, if that came before it began to wait, and none after.
    pub missed: Option<Site>,
    /// Which thread went on after the last notification, if there was one while it waited.
    pub instead: Option<u32>,
    /// The lock's or variable's short name, where there is one.
    pub variable: Option<String>,
    /// Where.
    pub site: Option<Site>,
}
