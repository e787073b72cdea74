//! Readers of locks that no writer meets: the order of these readers is not searched.
//!
//! Two shared acquires of a lock commute, but strategies keep their order (see
//! [`Class::Acquire`](crate::event::Class::Acquire)), since an exclusive acquire that waits for both holders needs it. If
//! no thread takes the lock exclusively while others may hold it shared, no acquire needs the order, and a shared acquire
//! is no more than a local step of its thread. So the strategy is told the event as [`Kind::Local`].
//!
//! A reader and a writer of one lock **meet** if neither comes before the other by forks and joins alone, or if one of them
//! has the lock when the other one comes for it. Two searches follow the first execution, one that is told of readers and
//! one that is not: both make the same choices by default. If no reader and writer meet in the first execution, and there
//! are readers, the second search goes on. If a reader and a writer meet in a later execution, the execution is given up,
//! and the search begins anew, with readers.
//!
//! If no reader and writer meet in any execution that the search makes, none meet in any execution at all. Compare with the
//! program in which readers take no locks. Up to the first meeting, each execution of that program is an execution of the
//! real program, and a meeting is a property of a whole trace. So as long as there is no meeting, the search makes the
//! executions that it would make of that program, and it would come to each of that program's traces.

use crate::divergence::Divergence;
use crate::event::{Event, Kind, Object, Pending, Thread};
use crate::executor::{Learned, Pick, RunEnd, View};
use crate::parts::Standing;
use crate::strategy::{Stats, Strategy};

/// A strategy that does not search the order of readers that no writer meets.
#[derive(Clone, Debug)]
pub struct Readers<S> {
    /// The search that goes on.
    strategy: S,
    /// The search before its first execution, to begin anew.
    fresh: S,
    stage: Stage<S>,
    meetings: Meetings,
    /// The threads' announced operations, as they are told to a search without readers.
    pending: Vec<Pending>,
}

/// What is known of readers and writers that meet.
#[derive(Clone, Debug)]
enum Stage<S> {
    /// Nothing is known before the first execution's end. Holds the search that is not told of readers, as long as its
    /// picks are the other search's.
    First(Option<S>),
    /// The search is told of readers.
    Told,
    /// The search is not told of readers.
    Untold,
    /// The search was not told of readers, but a reader and a writer have met in this execution.
    Met,
}

impl<S: Strategy + Clone> Readers<S> {
    /// Wraps this strategy.
    pub fn new(strategy: S) -> Self {
        Self {
            fresh: strategy.clone(),
            stage: Stage::First(Some(strategy.clone())),
            strategy,
            meetings: Meetings::default(),
            pending: Vec::new(),
        }
    }

    /// Wraps this strategy, and always searches the order of all readers: for one part of a search, since a part does not
    /// know of meetings in other parts.
    pub fn told(strategy: S) -> Self {
        Self {
            stage: Stage::Told,
            ..Self::new(strategy)
        }
    }

    /// Follows the operations that have to wait.
    #[inline]
    fn watch(&mut self, view: &View<'_>) {
        for thread in view.live.difference(view.enabled).iter() {
            self.meetings.wait(view.of(thread));
        }
        self.look();
    }

    /// The execution is over, with these operations announced.
    fn left(&mut self, view: &View<'_>) {
        if matches!(self.stage, Stage::Told) {
            return;
        }
        self.watch(view);
        for thread in view.live.iter() {
            let Pending { kind, object, .. } = *view.of(thread);
            self.meetings.follow(thread, kind, object);
        }
        self.look();
    }

    /// Gives the execution up if a reader and a writer have met that the search was not told of.
    fn look(&mut self) {
        if self.meetings.met && matches!(self.stage, Stage::Untold) {
            self.stage = Stage::Met;
        }
    }

    /// Calls `about` for each search that follows the execution, with the view that this search is told.
    fn tell(&mut self, view: &View<'_>, about: impl Fn(&mut S, &View<'_>)) {
        match &mut self.stage {
            Stage::First(other) => {
                about(&mut self.strategy, view);
                if let Some(other) = other {
                    about(other, &untold(view, &mut self.pending));
                }
            }
            Stage::Told => about(&mut self.strategy, view),
            Stage::Untold => about(&mut self.strategy, &untold(view, &mut self.pending)),
            Stage::Met => {}
        }
    }
}

/// Returns the kind of operation that a search without readers is told.
const fn quiet(kind: Kind) -> Kind {
    match kind {
        Kind::LockShared | Kind::TryLockShared | Kind::UnlockShared => Kind::Local,
        kind => kind,
    }
}

/// Returns the view that a search without readers is told.
fn untold<'a>(view: &View<'_>, pending: &'a mut Vec<Pending>) -> View<'a> {
    pending.clear();
    pending.extend(view.pending.iter().map(|pending| Pending {
        kind: quiet(pending.kind),
        ..*pending
    }));
    View {
        pending,
        live: view.live,
        enabled: view.enabled,
        last: view.last,
        resting: view.resting,
    }
}

impl<S: Strategy + Clone> Strategy for Readers<S> {
    fn begin(&mut self) -> bool {
        if let Stage::First(Some(other)) = &mut self.stage {
            other.begin();
        }
        self.meetings.clear();
        self.strategy.begin()
    }

    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        if !matches!(self.stage, Stage::Told) {
            self.watch(view);
        }
        match &mut self.stage {
            Stage::Told => self.strategy.pick(view),
            Stage::Untold => self.strategy.pick(&untold(view, &mut self.pending)),
            Stage::Met => Ok(Pick::Abandon),
            Stage::First(other) => {
                let pick = self.strategy.pick(view)?;
                if let Some(searches) = other
                    && searches.pick(&untold(view, &mut self.pending)) != Ok(pick)
                {
                    *other = None;
                }
                Ok(pick)
            }
        }
    }

    #[inline]
    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        if matches!(self.stage, Stage::Told) {
            return self.strategy.ran(event);
        }
        self.meetings.follow(event.thread, event.kind, event.object);
        self.look();
        let quiet = Event {
            kind: quiet(event.kind),
            ..*event
        };
        match &mut self.stage {
            Stage::First(other) => {
                if other.as_mut().is_some_and(|it| it.ran(&quiet).is_err()) {
                    *other = None;
                }
                self.strategy.ran(event)
            }
            Stage::Untold => self.strategy.ran(&quiet),
            Stage::Told | Stage::Met => Ok(()),
        }
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.left(view);
        self.tell(view, S::blocked);
    }

    fn cut(&mut self, view: &View<'_>) {
        self.left(view);
        self.tell(view, S::cut);
    }

    fn learned(&mut self, learned: &Learned<'_>) {
        if let Stage::First(Some(other)) = &mut self.stage {
            other.learned(learned);
        }
        self.strategy.learned(learned);
    }

    fn end(&mut self, end: &RunEnd) {
        if matches!(self.stage, Stage::Met) {
            self.strategy = self.fresh.clone();
            self.stage = Stage::Told;
            return;
        }
        self.strategy.end(end);
        if let Stage::First(other) = &mut self.stage {
            let other = other.take();
            let other = other.filter(|_| !self.meetings.met && self.meetings.has_readers());
            self.stage = match other {
                None => Stage::Told,
                Some(mut other) => {
                    other.end(end);
                    self.strategy = other;
                    Stage::Untold
                }
            };
        }
    }

    fn diverged(&mut self) -> bool {
        if let Stage::First(_) = self.stage {
            self.stage = Stage::Told;
        }
        self.strategy.diverged()
    }

    fn standing(&self) -> Standing {
        self.strategy.standing()
    }

    fn report(&self) -> Stats {
        self.strategy.report()
    }
}

/// The uses of each lock, and the order of threads' events by forks and joins.
#[derive(Clone, Debug, Default)]
struct Meetings {
    threads: Vec<Progress>,
    locks: Vec<Lock>,
    met: bool,
}

/// How far a thread has come.
#[derive(Clone, Debug, Default)]
struct Progress {
    events: u32,
    /// Per thread: the number of its events that come before.
    known: Vec<u32>,
}

/// One lock.
#[derive(Clone, Debug, Default)]
struct Lock {
    object: Object,
    /// The number of shared holders.
    shared: u32,
    /// Whether a thread holds the lock exclusively.
    exclusive: bool,
    /// Per thread: the number of its last event as a reader of the lock, from 1; 0 if there is none.
    readers: Vec<u32>,
    /// Per thread: the number of its last event as a writer of the lock, from 1; 0 if there is none.
    writers: Vec<u32>,
}

impl Lock {
    /// Follows an event. Returns whether a reader comes while a writer holds the lock, or a writer while a reader does.
    fn follow(&mut self, kind: Kind) -> bool {
        let before = (self.shared > 0, self.exclusive);
        match kind {
            Kind::Lock | Kind::TryLock => self.exclusive = true,
            Kind::Unlock => self.exclusive = false,
            Kind::LockShared | Kind::TryLockShared => self.shared += 1,
            Kind::UnlockShared => self.shared = self.shared.saturating_sub(1),
            _ => {}
        }
        if reads(kind) { before.1 } else { before.0 }
    }
}

impl Meetings {
    fn clear(&mut self) {
        if !self.threads.is_empty() {
            self.threads.clear();
            self.locks.clear();
        }
        self.met = false;
    }

    /// Takes what a thread has done, or waits to do.
    #[inline]
    fn follow(&mut self, thread: Thread, kind: Kind, object: Object) {
        let named = matches!(kind, Kind::Fork | Kind::Join);
        if named || is_of_lock(kind) {
            self.take(usize::from(thread), kind, object);
        }
    }

    fn take(&mut self, thread: usize, kind: Kind, object: Object) {
        let named = matches!(kind, Kind::Fork | Kind::Join);
        let other = if named { object as usize } else { thread };
        let count = self.threads.len().max(thread + 1).max(other + 1);
        self.threads.resize_with(count, Progress::default);
        self.threads[thread].events += 1;
        if !named {
            self.meet(thread, kind, object);
        } else if other != thread {
            let (from, to) = match kind {
                Kind::Fork => (thread, other),
                _ => (other, thread),
            };
            let Progress { events, known } = self.threads[from].clone();
            let to = &mut self.threads[to].known;
            to.resize(to.len().max(known.len()).max(from + 1), 0);
            for (own, known) in to.iter_mut().zip(known) {
                *own = (*own).max(known);
            }
            to[from] = to[from].max(events);
        }
    }

    fn meet(&mut self, thread: usize, kind: Kind, object: Object) {
        let Self {
            threads,
            locks,
            met,
        } = self;
        let at = locks.iter().position(|lock| lock.object == object);
        let at = at.unwrap_or_else(|| {
            locks.push(Lock {
                object,
                ..Lock::default()
            });
            locks.len() - 1
        });
        *met |= locks[at].follow(kind);
        let Lock {
            readers, writers, ..
        } = &mut locks[at];
        let (own, others) = if reads(kind) {
            (readers, writers)
        } else {
            (writers, readers)
        };
        own.resize(own.len().max(thread + 1), 0);
        let Progress { events, known } = &threads[thread];
        own[thread] = *events;
        *met |= others
            .iter()
            .enumerate()
            .any(|(other, &last)| other != thread && last > known.get(other).copied().unwrap_or(0));
    }

    /// Takes what a thread has announced and can't do.
    fn wait(&mut self, pending: &Pending) {
        self.met |= match pending.kind {
            Kind::LockShared => true,
            Kind::Lock => {
                let mut locks = self.locks.iter();
                locks.any(|lock| lock.object == pending.object && lock.shared > 0)
            }
            _ => false,
        };
    }

    /// Whether two threads have read one lock.
    fn has_readers(&self) -> bool {
        let several = |lock: &Lock| lock.readers.iter().filter(|&&last| last > 0).count() > 1;
        self.locks.iter().any(several)
    }
}

/// Whether an operation of this kind is one of a lock.
const fn is_of_lock(kind: Kind) -> bool {
    kind.acquires()
        || matches!(
            kind,
            Kind::Unlock | Kind::UnlockShared | Kind::TryLockFailed | Kind::TryLockSharedFailed
        )
}

/// Whether it is one of a reader.
const fn reads(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::LockShared | Kind::TryLockShared | Kind::UnlockShared | Kind::TryLockSharedFailed
    )
}
