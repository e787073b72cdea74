//! The end of an execution: which of the panics in it are bugs.
//!
//! A panic of T or T' ends its thread, and what comes of it is for the harness to say: see [`judge`](crate::judge). So
//! panics are noted where they reach the top of a thread, and looked at when the execution is over. If the harness came to
//! its end, that decides. If the execution was ended before (no interleaving has these reads, T waits for ever), the
//! original program decides: it is run in the order in which the panic is reached, and then on to an end.

use std::any::Any;
use std::collections::{HashMap, HashSet};

use super::ledger::Key;
use super::{Abort, Engine, Handle, Line, abort, bug};
use crate::ending::Verdict;
use crate::ending::{Destructor, Leaving};
use crate::finding::Answer;
use crate::judge::{Counted, End, Extent, Panics};
use crate::memory::{Buffer, outside};
use crate::vocabulary::{BugKind, Place, Site};

/// So many times the original program is asked about one place, with the answer that nothing has failed, before it is not
/// asked again.
const ASKED: u32 = 64;

/// The place of what has none.
pub(super) const NO_PLACE: Place = Place {
    file: String::new(),
    line: 0,
    column: 0,
};

/// How things are where something may go wrong. For a panic that is where it begins: while its thread unwinds the other
/// one may run, and the thread goes on on that one's line.
#[derive(Clone, Copy, Debug)]
struct Moment {
    line: Line,
    /// How many events the line's log had.
    events: usize,
    /// T may well have run alone so far.
    alone: bool,
    /// How many non-local reads had been performed.
    done: usize,
    /// T holds locks from before it spawned T', which so may not come this far by itself.
    unsure: bool,
}

impl Moment {
    /// Now.
    fn of(engine: &Engine) -> Self {
        Self {
            line: engine.line,
            events: match engine.line {
                Line::Interfering => engine.interfering.len(),
                Line::Init | Line::UnderTest => engine.under_test().len(),
            },
            alone: engine.alone(),
            done: engine.done,
            unsure: !engine.opening.is_empty(),
        }
    }
}

/// What may be a bug.
#[derive(Clone, Debug)]
struct Noted {
    /// Which panic, by its number among all; none for a result of the harness.
    panic: Option<usize>,
    thread: u32,
    at: Moment,
}

/// A deadlock that can be reached.
#[derive(Debug)]
struct Suspect {
    key: Key,
    /// Interleavings that reach it.
    ways: Vec<super::Bug>,
    /// Whether it is one of T.
    of_t: bool,
}

/// A bug that may be none.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) key: Key,
    pub(super) bug: super::Bug,
    /// In the search of what it was found.
    pub(super) label: usize,
}

/// What is known of how executions end.
#[derive(Debug, Default)]
pub(super) struct Endings {
    /// Of each it is known at which of the moments it began.
    pub(super) panics: Panics,
    moments: Buffer<Moment>,
    noted: Buffer<Noted>,
    suspects: Vec<Suspect>,
    /// What the harness's result says, if it is a failure.
    verdict: Option<String>,
    /// The harness is a program's `main`.
    is_main: bool,
    /// How the harness ended, if the execution came to its end.
    end: Option<End>,
    /// How often the original program has said of a panic or a deadlock that nothing fails by it.
    dismissed: HashMap<Key, u32>,
    /// Panics that a harness has handled that then ended well.
    handled: HashSet<Place>,
    /// Bugs that may be nothing if the harness handles them elsewhere, until the search is over.
    pub(super) kept: Option<Vec<Kept>>,
    /// What is searched now.
    pub(super) label: usize,
}

impl Endings {
    /// Before the next execution.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.panics.begin();
        self.moments.clear();
        self.noted.clear();
        self.verdict = None;
        if !self.suspects.is_empty() {
            self.suspects.clear();
        }
        self.is_main = false;
        self.end = None;
    }

    /// Whether there is anything to look at when the execution is over.
    #[inline]
    pub(super) fn has_something(&self) -> bool {
        !self.noted.is_empty() || !self.suspects.is_empty()
    }

    /// A deadlock can be reached. The harness may end without those that wait, and then the process ends, and they with it.
    pub(super) fn suspect(&mut self, key: &Key, ways: &[super::Bug], of_t: bool) {
        if !self.suspects.iter().any(|known| known.key == *key) {
            outside(|| {
                self.suspects.push(Suspect {
                    key: key.clone(),
                    ways: ways.to_vec(),
                    of_t,
                });
            });
        }
    }

    fn is_often_dismissed(&self, key: &Key) -> bool {
        self.dismissed.get(key).is_some_and(|asked| *asked >= ASKED)
    }

    fn dismiss(&mut self, key: Key) {
        outside(|| *self.dismissed.entry(key.clone()).or_default() += 1);
    }

    /// All that has been found is forgotten.
    pub(super) fn forget(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.clear();
        }
    }

    /// What has been kept and is a bug after all: nobody has handled it.
    pub(super) fn take_kept(&mut self) -> Vec<Kept> {
        let mut kept = self.kept.as_mut().map(std::mem::take).unwrap_or_default();
        kept.retain(|kept| !self.handled.contains(&kept.key.place));
        kept
    }
}

/// Keeps how things are now. The answer is the moment's number.
fn keep_moment(engine: &mut Engine) -> usize {
    let moment = Moment::of(engine);
    engine.endings.moments.push(moment);
    engine.endings.moments.len() - 1
}

/// The panics of the execution, with the current thread and what says when something happens to them.
pub(crate) fn with_panics<R>(handle: Handle, then: impl FnOnce(&mut Panics, u32, usize) -> R) -> R {
    let engine = handle.get();
    let moment = keep_moment(engine);
    then(&mut engine.endings.panics, engine.threads.current, moment)
}

/// A panic has reached the top of this thread, or was under way in it when the execution was left.
pub(super) fn note_panic(engine: &mut Engine, thread: u32) {
    let now = keep_moment(engine);
    let panic = engine.endings.panics.reach_the_top(thread, now);
    let began = engine.endings.panics.over()[panic].raised.at;
    let at = engine.endings.moments[began];
    note(engine, thread, Some(panic), at);
}

fn note(engine: &mut Engine, thread: u32, panic: Option<usize>, at: Moment) {
    engine.endings.noted.push(Noted { panic, thread, at });
}

/// The harness has returned, or been unwound with this.
pub(super) fn harness_ended(engine: &mut Engine, how: Result<(), &(dyn Any + Send)>) {
    engine.endings.end = Some(match how {
        Ok(()) => End::Passed,
        Err(payload) => match payload.downcast_ref::<Verdict>() {
            Some(Verdict(message)) => {
                engine.endings.verdict = Some(outside(|| message.as_str().to_owned()));
                let now = Moment::of(engine);
                note(engine, 0, None, now);
                End::Failed
            }
            None => {
                note_panic(engine, 0);
                End::Panicked
            }
        },
    });
}

/// The harness is a program's `main`.
pub(crate) fn is_main(handle: Handle) {
    handle.get().endings.is_main = true;
}

/// The current thread ends the process.
pub(crate) fn leave(handle: Handle, how: Leaving, site: Site) {
    let engine = handle.get();
    if engine.quiet {
        abort::after_end(handle);
        // Where the execution runs on, there is nothing to run on to.
        abort::unwind(handle);
        return;
    }
    let kind = match how {
        Leaving::Exit(0) if engine.endings.is_main => None,
        Leaving::Exit(_) => Some(BugKind::Exit),
        Leaving::Abort => Some(BugKind::Abort),
    };
    if let Some(kind) = kind {
        bug::leaves(handle, kind, how.message(), site.into());
    }
    abort(handle, Abort::Left);
    abort::unwind(handle);
}

/// Such a destructor has panicked on this thread: std aborts the process.
#[cold]
pub(crate) fn die_of_a(handle: Handle, destructor: Destructor, thread: u32) {
    let raised = handle.get().endings.panics.take(thread);
    let message = destructor.message(&raised.message);
    bug::leaves(
        handle,
        BugKind::Abort,
        message,
        raised.place.unwrap_or(NO_PLACE),
    );
    abort(handle, Abort::Left);
}

/// The execution is over, and nothing of it runs any more: the bugs among its panics are noted.
#[cold]
pub(super) fn conclude(engine: &mut Engine, program: &dyn Fn()) {
    for Suspect { key, ways, of_t } in outside(|| std::mem::take(&mut engine.endings.suspects)) {
        if engine.ledger.meet(&key, of_t) {
            continue;
        }
        let often = engine.endings.is_often_dismissed(&key);
        let mut ways = ways.iter().filter(|_| !often);
        match ways.find(|bug| ask(bug, program).is_some()) {
            Some(bug) => engine.ledger.add(&key, bug, of_t),
            None => {
                engine.endings.dismiss(key);
                if engine.ending == Some(Abort::Bug) {
                    engine.ending = Some(Abort::Stuck);
                }
            }
        }
    }
    // Nothing ended the execution before its harness, and what ran after that.
    let decided = engine.endings.end.filter(|_| engine.ending.is_none());
    let own = engine
        .endings
        .panics
        .over()
        .iter()
        .any(|over| over.thread == 0);
    let end = engine
        .endings
        .end
        .unwrap_or(if own { End::Panicked } else { End::Open });
    if decided == Some(End::Passed) {
        for place in engine.endings.panics.handled() {
            if !engine.endings.handled.contains(place) {
                engine.endings.handled.insert(place.clone());
            }
        }
    }
    let mut counted = engine.endings.panics.judge(end, Extent::Whole);
    counted.retain(|counted| !(counted.detached && engine.limits.ignore_detached_panics));
    let mut found: Vec<(Noted, Option<Counted>)> = engine
        .endings
        .noted
        .iter()
        .filter_map(|noted| {
            let Some(panic) = noted.panic else {
                return decided.is_some().then(|| (noted.clone(), None));
            };
            let counted = counted.iter().find(|counted| counted.panic == panic)?;
            Some((noted.clone(), Some(counted.clone())))
        })
        .collect();
    // The log is cut back to where each was: the latest comes first.
    found.sort_by_key(|(noted, _)| std::cmp::Reverse(noted.at.events));
    for (noted, counted) in found {
        look_at(engine, &noted, counted, decided.is_some(), program);
    }
    let failed = decided.is_some_and(|end| end != End::Passed);
    if failed && engine.ledger.first_met().is_none() {
        engine.ending = Some(Abort::Infeasible);
    }
}

/// Reports what was noted, if it is a bug.
fn look_at(
    engine: &mut Engine,
    noted: &Noted,
    counted: Option<Counted>,
    decided: bool,
    program: &dyn Fn(),
) {
    let of_t = noted.at.line != Line::Interfering;
    if !of_t && noted.at.unsure {
        // Where T' is the thread under test, feasibility decides.
        return;
    }
    let (message, place) = match noted.panic {
        Some(panic) => {
            let raised = &engine.endings.panics.over()[panic].raised;
            (raised.message.clone(), raised.place.clone())
        }
        None => (engine.endings.verdict.clone().unwrap_or_default(), None),
    };
    let kind = match &counted {
        None => BugKind::Result,
        Some(counted) if counted.detached => BugKind::Detached,
        Some(_) => BugKind::Panic,
    };
    let role = if of_t {
        engine.role
    } else {
        engine.role.other()
    };
    let key = Key {
        kind,
        place: place.unwrap_or(NO_PLACE),
        other_place: None,
        said: if kind == BugKind::Result {
            message.clone()
        } else {
            String::new()
        },
        follows: counted
            .as_ref()
            .map(|it| it.follows.clone())
            .unwrap_or_default(),
        role,
    };
    if !decided && engine.endings.is_often_dismissed(&key) {
        return;
    }
    let is_known = engine.ledger.knows(&key);
    if of_t {
        engine.truncate_under_test(noted.at.events);
        if !noted.at.alone && !matches!(super::tau::feasible(engine), super::tau::Answer::Yes) {
            return;
        }
    }
    if is_known {
        engine.ledger.meet(&key, of_t);
        return;
    }
    let draft = bug::Draft {
        kind,
        message,
        place: key.place.clone(),
        follows: key.follows.clone(),
        thread: noted.thread,
        done: noted.at.done,
    };
    let bug = if of_t {
        bug::of_t(engine, draft, noted.at.alone)
    } else {
        Some(bug::of_t_prime(engine, draft, noted.at.events))
    };
    let Some(mut bug) = bug else { return };
    let mut bystander = counted.is_some_and(|counted| counted.bystander);
    let mut key = key;
    if !decided {
        match ask(&bug, program) {
            Some(answer) => {
                (bug.kind, key.kind) = (answer.kind, answer.kind);
                key.follows.clone_from(&answer.follows);
                (bystander, bug.follows) = (answer.bystander, answer.follows);
            }
            None => {
                engine.endings.dismiss(key);
                return;
            }
        }
        let ignored = bug.kind == BugKind::Detached && engine.limits.ignore_detached_panics;
        if ignored || engine.ledger.meet(&key, of_t) {
            return;
        }
    }
    match &mut engine.endings.kept {
        Some(kept) if bystander => {
            if !kept.iter().any(|known| known.key == key) {
                let label = engine.endings.label;
                outside(|| kept.push(Kept { key, bug, label }));
            }
        }
        _ => engine.ledger.add(&key, &bug, of_t),
    }
}

/// What the original program makes of a panic; nothing if it makes nothing of it.
#[cfg(feature = "scheduler")]
fn ask(bug: &super::Bug, program: &dyn Fn()) -> Option<Answer> {
    crate::scheduled::witness::judge(bug, program)
}

/// This build has no scheduler, and so nobody to ask: what may be a bug is told.
#[cfg(not(feature = "scheduler"))]
const fn ask(bug: &super::Bug, _program: &dyn Fn()) -> Option<Answer> {
    Some(Answer::failure(bug.kind))
}
