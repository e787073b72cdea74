//! The end of an execution: which of the panics in it are bugs.
//!
//! A panic of T or T' ends its thread, and the harness decides whether the panic is a failure: see
//! [`judge`](crate::judge). So panics are noted where they reach the top of a thread, and judged when the execution is
//! over. If the harness came to its end, that end decides. If the execution was ended before (no interleaving has these
//! reads, T waits for ever), the original program decides: the program is run in the order in which the panic is
//! reached, and then on to its end.

use std::any::Any;
use std::collections::{HashMap, HashSet};

use super::ledger::Key;
use super::{Abort, Engine, Handle, Line, abort, bug};
use crate::ending::Verdict;
use crate::ending::{Destructor, Leaving};
use crate::judge::{Counted, End, Extent, Panics};
use crate::memory::{Buffer, outside};
use crate::scheduled::witness;
use crate::vocabulary::{BugKind, Confirmation, Place, Site};

/// The number of times that the original program may show no failure at one place before that place is not tried again.
const ASKED: u32 = 64;

/// The place of a bug that has none.
pub(super) const NO_PLACE: Place = Place {
    file: String::new(),
    line: 0,
    column: 0,
};

/// The state of the execution where a bug may be. For a panic, that is the state at the panic's begin: while its thread
/// unwinds, the other thread may run, and the unwinding thread continues on that thread's line.
#[derive(Clone, Copy, Debug)]
struct Moment {
    line: Line,
    /// The number of events in the line's log.
    events: usize,
    /// The number of the interfering thread that runs, among several.
    interfering: usize,
    /// Whether T may have run alone so far.
    alone: bool,
    /// The number of non-local reads performed.
    done: usize,
    /// Whether T' may not come this far by itself: T holds locks from before T spawned T', or has run in a round before.
    unsure: bool,
}

impl Moment {
    /// The state of the execution now.
    fn of(engine: &Engine) -> Self {
        Self {
            line: engine.line,
            events: match engine.line {
                Line::Interfering => engine.interfering.len(),
                Line::Init | Line::UnderTest => engine.under_test().len(),
            },
            interfering: engine.several.current(),
            alone: engine.alone(),
            done: engine.done,
            unsure: !engine.opening.is_empty() || engine.rounds.over() > 0,
        }
    }
}

/// A panic or a result that may be a bug.
#[derive(Clone, Debug)]
struct Noted {
    /// The panic's number among all panics of the execution; `None` for a result of the harness.
    panic: Option<usize>,
    thread: u32,
    at: Moment,
}

/// A deadlock that can be reached.
#[derive(Debug)]
struct Suspect {
    key: Key,
    /// Interleavings that reach the deadlock.
    ways: Vec<super::Bug>,
    /// Whether the deadlock is a bug of T.
    of_t: bool,
}

/// A bug that may turn out to be handled by the harness.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) key: Key,
    pub(super) bug: super::Bug,
    /// What was being searched when the bug was found: see [`Endings::label`].
    pub(super) label: usize,
}

/// What is known of how executions end.
#[derive(Debug, Default)]
pub(super) struct Endings {
    /// The panics of the execution. Each one's `at` is the number of the moment at which the panic began.
    pub(super) panics: Panics,
    moments: Buffer<Moment>,
    noted: Buffer<Noted>,
    suspects: Vec<Suspect>,
    /// What is wrong with the harness's result, if that is a failure.
    verdict: Option<String>,
    /// Whether the harness is a program's `main`.
    is_main: bool,
    /// How the harness ended, if the execution came to its end.
    end: Option<End>,
    /// The number of times that the original program has shown no failure by a panic or a deadlock.
    dismissed: HashMap<Key, u32>,
    /// The places of panics that a harness has handled before it ended well.
    handled: HashSet<Place>,
    /// Bugs that count only if the harness handles them in no other execution, kept until the search is over.
    pub(super) kept: Option<Vec<Kept>>,
    /// The caller's number for what is being searched now.
    pub(super) label: usize,
}

impl Endings {
    /// Makes ready for the next execution.
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

    /// Whether there is anything to judge when the execution is over.
    #[inline]
    pub(super) fn has_something(&self) -> bool {
        !self.noted.is_empty() || !self.suspects.is_empty()
    }

    /// Notes that a deadlock can be reached. The harness may end without the threads that wait, and then the process
    /// ends with these threads in it.
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

    /// Forgets all that has been found.
    pub(super) fn forget(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.clear();
        }
    }

    /// Takes what has been kept and is a bug after all, since no harness has handled it.
    pub(super) fn take_kept(&mut self) -> Vec<Kept> {
        let mut kept = self.kept.as_mut().map(std::mem::take).unwrap_or_default();
        kept.retain(|kept| !self.handled.contains(&kept.key.place));
        kept
    }
}

/// Keeps the state of the execution as it is now. Returns the moment's number.
fn keep_moment(engine: &mut Engine) -> usize {
    let moment = Moment::of(engine);
    engine.endings.moments.push(moment);
    engine.endings.moments.len() - 1
}

/// Gives `then` the panics of the execution, the current thread, and the number of the moment.
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

/// The harness has returned, or has been unwound with this payload.
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

/// Whether the harness is a program's `main`.
pub(crate) fn is_main(handle: Handle) {
    handle.get().endings.is_main = true;
}

/// The current thread ends the process.
pub(crate) fn leave(handle: Handle, how: Leaving, site: Site) {
    let engine = handle.get();
    if engine.quiet {
        abort::after_end(handle);
        // An execution that would run on has nothing left to run.
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

/// A destructor that must not panic has panicked on this thread, so that std aborts the process.
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

/// Notes the bugs among the execution's panics. The execution is over, and no code of it runs any more.
#[cold]
pub(super) fn conclude(engine: &mut Engine, program: &dyn Fn()) {
    for Suspect { key, ways, of_t } in outside(|| std::mem::take(&mut engine.endings.suspects)) {
        if engine.ledger.meet(&key, of_t) {
            continue;
        }
        let often = engine.endings.is_often_dismissed(&key);
        let mut ways = ways.iter().filter(|_| !often);
        match ways.find(|bug| witness::judge(bug, program).is_some()) {
            Some(bug) => engine.ledger.add(&key, bug, of_t),
            None => {
                engine.endings.dismiss(key);
                if engine.ending == Some(Abort::Bug) {
                    engine.ending = Some(Abort::Stuck);
                }
            }
        }
    }
    // The harness's end decides only if nothing ended the execution before the harness, and the code that ran after it,
    // came to the end.
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
    // The log is cut back to the events before each panic, so the latest panic comes first.
    found.sort_by_key(|(noted, _)| std::cmp::Reverse(noted.at.events));
    let is_detached = |counted: &Counted| counted.detached;
    let has_detached = found
        .iter()
        .any(|(_, counted)| counted.as_ref().is_some_and(is_detached));
    let whole = (has_detached && decided.is_some()).then(|| bug::Whole::of(engine));
    for (noted, counted) in found {
        let known = match (decided, &counted) {
            (None, _) => Known::Nothing,
            (Some(_), Some(counted)) if counted.detached => Known::LetGo(whole.as_ref()),
            (Some(_), _) => Known::Failure,
        };
        look_at(engine, &noted, counted, &known, program);
    }
    let failed = decided.is_some_and(|end| end != End::Passed);
    if failed && engine.ledger.first_met().is_none() {
        engine.ending = Some(Abort::Infeasible);
    }
}

/// What the execution's end has shown of a noted panic or result.
enum Known<'a> {
    /// Nothing: the execution was ended before.
    Nothing,
    /// That it is a failure.
    Failure,
    /// That no thread joins the panicked thread, as both threads end so. Whether the thread that would have joined it
    /// comes so far beside the panic depends on the order: a lock may have been left taken.
    LetGo(Option<&'a bug::Whole>),
}

/// The bug of a panicked thread that is let go, in an order in which it is let go on the original program; `None` if no
/// order that is tried shows that.
fn let_go(
    engine: &mut Engine,
    bug: &super::Bug,
    whole: Option<&bug::Whole>,
    of_t: bool,
    program: &dyn Fn(),
) -> Option<super::Bug> {
    // Where the original program does something else than P̂ₖ, that is told.
    let is_taken = |bug: &super::Bug| {
        matches!(
            witness::confirm(bug, program),
            Confirmation::Confirmed(_) | Confirmation::Diverged { .. }
        )
    };
    if is_taken(bug) {
        return Some(bug.clone());
    }
    let beside_all = of_t
        .then(|| bug::beside_all_of_t_prime(engine, bug))
        .flatten();
    let whole = whole.map(|whole| whole.orders_of(bug, of_t));
    let mut ways = beside_all.into_iter().chain(whole.into_iter().flatten());
    ways.find(|bug| matches!(witness::confirm(bug, program), Confirmation::Confirmed(_)))
}

/// Reports a noted panic or result, if it is a bug.
fn look_at(
    engine: &mut Engine,
    noted: &Noted,
    counted: Option<Counted>,
    known: &Known<'_>,
    program: &dyn Fn(),
) {
    let of_t = noted.at.line != Line::Interfering;
    if !of_t && noted.at.unsure {
        // Where T' is the thread under test, feasibility decides; but T' of a later round may know what T has read.
        engine.interfering_fails_later |= engine.rounds.over() > 0;
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
        engine.interfering_role(noted.at.interfering)
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
    if !matches!(known, Known::Failure) && engine.endings.is_often_dismissed(&key) {
        return;
    }
    let is_known = engine.ledger.knows(&key);
    if of_t {
        engine.go_back_to(noted.at.events);
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
        Some(bug::of_t_prime(
            engine,
            draft,
            noted.at.interfering,
            noted.at.events,
        ))
    };
    let Some(mut bug) = bug else { return };
    let mut bystander = counted.is_some_and(|counted| counted.bystander);
    let mut key = key;
    let shown = match known {
        Known::LetGo(whole) => let_go(engine, &bug, *whole, of_t, program),
        Known::Nothing | Known::Failure => None,
    };
    let is_shown = shown.is_some();
    if let Some(shown) = shown {
        bug = shown;
    }
    if !is_shown && !matches!(known, Known::Failure) {
        match witness::judge(&bug, program) {
            Some(answer) => {
                (bug.kind, key.kind) = (answer.kind, answer.kind);
                key.follows.clone_from(&answer.follows);
                (bystander, bug.follows) = (answer.bystander, answer.follows);
            }
            None => {
                // As in an exploration, the harness has handled it once that it has been seen to.
                if key.kind == BugKind::Panic && key.place != NO_PLACE {
                    let place = key.place.clone();
                    outside(|| engine.endings.handled.insert(place));
                }
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
