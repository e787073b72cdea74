//! The scene that is drawn of a finding: the events of its threads in the order of one execution, and the remarks at
//! its end.
//!
//! Findings of `seqz check` and of `seqz explore` have different forms; pictures are made from this one.

use std::collections::HashMap;

use super::lanes;
use super::reasonless::Reasonless;
use crate::findings::Found;
use crate::model::document::{Bug, Op, Role, Site, Thread};
use crate::model::exploration::Failure;
use crate::model::schedule::Action;
use crate::model::words::{self, Places};

/// One execution, ready to be drawn.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// The threads that have events; for `seqz check` the thread under test is the first one.
    pub lanes: Vec<Lane>,
    /// The events, in the order in which they happen.
    pub events: Vec<Event<'a>>,
    /// The remarks at the end.
    pub marks: Vec<Mark<'a>>,
    /// How places are told in sentences.
    pub places: Places,
}

/// A thread of the scene.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The thread's number in a schedule; for `seqz check`, its index in the list of threads.
    pub thread: u32,
    /// The short name: `T`, `T′`, or the number.
    pub tag: String,
    /// The title of the thread.
    pub title: String,
}

/// The number of colours for threads.
const COLOURS: usize = 6;

/// Returns the CSS class of the thread with this lane: its colour is the same in all pictures of a scene.
#[must_use]
pub fn colour(lane: usize) -> String {
    format!("lane{}", lane % COLOURS)
}

/// One event of the scene.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// The index of the thread's lane.
    pub lane: usize,
    /// The action of the event.
    pub action: Action,
    /// The number of the variable, lock or thread that the action is about.
    pub object: Option<u32>,
    /// The short name of the variable or lock.
    pub variable: Option<&'a str>,
    /// The value read or written.
    pub value: Option<&'a str>,
    /// The place of the event.
    pub site: Option<&'a Site>,
    /// For an event that reads a variable: the index of the event that wrote the value, unless the value is the initial
    /// one. For an event that takes a lock: the event that released the lock last. For an event that finds a lock
    /// taken: the event that took the lock.
    pub from: Option<usize>,
    /// For a non-local read and for the write that it sees: the index of the read in the explanation, from 0.
    pub pair: Option<u32>,
    /// Whether the event is that the thread goes on without a reason.
    pub reasonless: bool,
}

impl Event<'_> {
    /// Whether the event reads a variable's value.
    #[must_use]
    pub const fn reads(&self) -> bool {
        use Action::{CompareExchange, FailedUpdate, Read, Update};
        matches!(self.action, Read | Update | FailedUpdate | CompareExchange)
    }

    /// Whether the event writes a variable's value.
    #[must_use]
    pub const fn writes(&self) -> bool {
        matches!(self.action, Action::Write | Action::Update)
    }

    /// Whether the event takes a lock.
    #[must_use]
    pub const fn acquires(&self) -> bool {
        use Action::{Lock, LockShared, TryLock, TryLockShared};
        matches!(self.action, Lock | LockShared | TryLock | TryLockShared)
    }

    /// Whether the event releases a lock.
    #[must_use]
    pub const fn releases(&self) -> bool {
        matches!(self.action, Action::Unlock | Action::UnlockShared)
    }

    /// Whether the event finds a lock taken.
    #[must_use]
    pub const fn finds_taken(&self) -> bool {
        use Action::{TryLockFailed, TryLockSharedFailed};
        matches!(self.action, TryLockFailed | TryLockSharedFailed)
    }
}

/// A remark at the end, after all events.
#[derive(Clone, Debug)]
pub struct Mark<'a> {
    /// The index of the thread's lane.
    pub lane: usize,
    /// The place of the remark.
    pub site: Option<&'a Site>,
    /// The action that the thread is about to do and can't, and the number of the lock or variable, where these are
    /// known.
    pub pending: Option<(Action, Option<u32>)>,
    /// The text of the remark.
    pub remark: String,
}

impl<'a> Scene<'a> {
    /// Returns the scene of a finding. `None` where the program died before it could name its events.
    #[must_use]
    pub fn of(found: &'a Found) -> Option<Self> {
        let scene = match found {
            Found::Bug { threads, bug } => Self::of_bug(bug, threads),
            Found::Failure { failure } => Self::of_failure(failure),
        };
        (!scene.events.is_empty() || !scene.marks.is_empty())
            .then_some(scene)
            .filter(|scene| !scene.lanes.is_empty())
    }

    fn of_bug(bug: &'a Bug, threads: &[Thread]) -> Self {
        if bug.trace.is_empty() {
            return Self {
                lanes: Vec::new(),
                events: Vec::new(),
                marks: Vec::new(),
                places: Places::default(),
            };
        }
        let places = Places::of_bug(bug, threads);
        let lane = |role: Role, tag: &str, what: &str| Lane {
            thread: u32::try_from(role.index()).unwrap_or_default(),
            tag: tag.to_owned(),
            title: format!("{}, {what}", words::thread(role, threads, places)),
        };
        let others = bug.interfering();
        let tags = (1..).map(|number| words::prime(number, others.len()).replace('\'', "′"));
        let interfering = others.iter().zip(tags);
        let lanes: Vec<Lane> = [lane(bug.under_test, "T", "under test")]
            .into_iter()
            .chain(interfering.map(|(&role, tag)| lane(role, &tag, "interfering")))
            .collect();
        let events = bug.trace.iter().map(|step| {
            let lane = lanes::of_party(step.thread, &others);
            Event {
                lane,
                action: action(step.op),
                // A join names the thread that it waits for.
                object: if step.op == Op::Join {
                    (lanes.len() == 2).then(|| lanes[1 - lane].thread)
                } else {
                    step.object
                },
                variable: step.variable.as_deref(),
                value: step.value.as_deref(),
                site: step.site.as_ref(),
                from: None,
                pair: step.pair,
                reasonless: false,
            }
        });
        let mut scene = Self {
            events: events.collect(),
            lanes,
            marks: Vec::new(),
            places,
        };
        scene.pair_up();
        scene.marks = scene.marks_of(bug);
        scene
    }

    /// Returns the remarks on a bug; the bug shows at the end of the thread under test.
    fn marks_of(&self, bug: &'a Bug) -> Vec<Mark<'a>> {
        use crate::model::document::Kind;
        let failure = words::failure(bug.kind).to_owned();
        let pending = |holder: usize| {
            if self.lanes.len() > 2 {
                return (bug.kind == Kind::Deadlock).then_some((Action::Lock, None));
            }
            // The lock that the thread waits for is not recorded, but it is a lock that the other thread holds.
            let held = self.held(holder);
            let only = held.first().copied().filter(|_| held.len() == 1);
            (bug.kind == Kind::Deadlock).then_some((Action::Lock, only))
        };
        let mut marks = Vec::new();
        if bug.other_pending {
            let others = bug.interfering();
            marks.push(Mark {
                lane: bug
                    .other_thread
                    .map_or(1, |other| lanes::of_party(other, &others)),
                site: bug.other_site.as_ref(),
                pending: pending(0).or(Some((Action::Local, None))),
                remark: failure.clone(),
            });
        }
        marks.push(Mark {
            lane: 0,
            site: bug.site.as_ref(),
            pending: pending(1),
            remark: failure,
        });
        marks
    }

    fn of_failure(failure: &'a Failure) -> Self {
        let places = Places::of_failure(failure);
        let reasonless = Reasonless::of(failure.leading(), &failure.threads);
        let leading = || {
            let events = failure.leading().iter();
            events.filter(|event| !reasonless.hides(event))
        };
        let mut numbers: Vec<u32> = leading().map(|event| event.thread).collect();
        numbers.extend(failure.waiting.iter().map(|waiting| waiting.thread));
        numbers.push(failure.thread);
        numbers.sort_unstable();
        numbers.dedup();
        let lane = |thread: u32| numbers.binary_search(&thread).unwrap_or(0);
        let lanes = numbers.iter().map(|&number| Lane {
            thread: number,
            tag: number.to_string(),
            title: format!(
                "thread {}",
                words::numbered_thread(number, &failure.threads, places)
            ),
        });
        let events = leading().map(|event| Event {
            lane: lane(event.thread),
            action: event.action,
            object: Some(event.object),
            variable: event.variable.as_deref(),
            value: None,
            site: event.site.as_ref(),
            from: None,
            pair: None,
            reasonless: reasonless.is_it(event),
        });
        let mut marks: Vec<_> = failure
            .waiting
            .iter()
            .map(|waiting| Mark {
                lane: lane(waiting.thread),
                site: waiting.site.as_ref(),
                pending: Some((waiting.action, Some(waiting.object))),
                remark: match waiting.held_by {
                    Some(holder) => {
                        format!(
                            "waits for ever here: thread {holder} holds {}",
                            words::variable(waiting.variable.as_deref())
                        )
                    }
                    None => "waits for ever here".to_owned(),
                },
            })
            .collect();
        if marks.is_empty() {
            marks.push(Mark {
                lane: lane(failure.thread),
                site: failure.site.as_ref(),
                pending: None,
                remark: words::failure(failure.kind).to_owned(),
            });
        }
        let mut scene = Self {
            events: events.collect(),
            lanes: lanes.collect(),
            marks,
            places,
        };
        scene.pair_up();
        scene
    }

    /// Finds, for each event, the event that it sees; the order of the events determines that.
    fn pair_up(&mut self) {
        let mut written: HashMap<u32, usize> = HashMap::new();
        let mut given_back: HashMap<u32, usize> = HashMap::new();
        let mut taken: HashMap<u32, Vec<usize>> = HashMap::new();
        for at in 0..self.events.len() {
            let event = &self.events[at];
            let Some(object) = event.object.filter(|_| event.action.has_variable()) else {
                continue;
            };
            let from = if event.reads() {
                written.get(&object).copied()
            } else if event.acquires() {
                given_back.get(&object).copied()
            } else if event.finds_taken() {
                taken.get(&object).and_then(|open| open.last().copied())
            } else {
                None
            };
            if event.writes() {
                written.insert(object, at);
            }
            if event.acquires() {
                taken.entry(object).or_default().push(at);
            }
            if event.releases() {
                given_back.insert(object, at);
                let lane = event.lane;
                if let Some(open) = taken.get_mut(&object) {
                    let last = open.iter().rposition(|&at| self.events[at].lane == lane);
                    last.map(|last| open.remove(last));
                }
            }
            self.events[at].from = from;
        }
    }

    /// Returns the locks that a thread holds at the end.
    #[must_use]
    pub fn held(&self, lane: usize) -> Vec<u32> {
        let mut held = Vec::new();
        for event in self.events.iter().filter(|event| event.lane == lane) {
            let Some(object) = event.object else { continue };
            if event.acquires() {
                held.push(object);
            } else if event.releases() {
                let last = held.iter().rposition(|&lock| lock == object);
                last.map(|last| held.remove(last));
            }
        }
        held.sort_unstable();
        held.dedup();
        held
    }
}

const fn action(op: Op) -> Action {
    match op {
        Op::Read => Action::Read,
        Op::Write => Action::Write,
        Op::Update => Action::Update,
        Op::Lock => Action::Lock,
        Op::LockShared => Action::LockShared,
        Op::Unlock => Action::Unlock,
        Op::UnlockShared => Action::UnlockShared,
        Op::TryLockFailed => Action::TryLockFailed,
        Op::Join => Action::Join,
    }
}
