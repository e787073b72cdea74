//! Readers of locks whom no writer meets: their order is not searched.
//!
//! That two threads take a lock shared commutes, but strategies keep the order of it (see
//! [`Class::Acquire`](crate::event::Class::Acquire)), since an exclusive lock that waits for both needs it. Where nobody
//! takes the lock for himself while others may have it shared, nothing does, and taking it shared is no more than a step of
//! the thread's own. So that is what it is told as: as [`Kind::Local`].
//!
//! A reader and a writer of one lock **meet** if neither comes before the other by forks and joins alone, or if one of them has
//! the lock when the other one comes for it. The first execution is told to two searches, one that hears of readers and
//! one that does not: both do by default what the other one does. If nobody meets there, and there are readers, the second
//! one goes on. Should somebody meet in a later execution, that is given up, and the search begins anew, with readers.
//!
//! If nobody meets in any execution that is made, nobody does in any at all. Compare with the program in which readers take no
//! locks. Up to where the first two meet, each of its executions is one of the program's own, and whether two meet is the same
//! for all executions of one trace. So as long as nobody has met, the search does what it would do of that program, and it
//! would come to each of its traces.

use crate::divergence::Divergence;
use crate::event::{Event, Kind, Object, Pending, Thread};
use crate::executor::{Learned, Pick, RunEnd, View};
use crate::parts::Standing;
use crate::strategy::{Stats, Strategy};

/// A strategy that does not search the order of readers whom no writer meets.
#[derive(Clone, Debug)]
pub struct Readers<S> {
    /// The search that goes on.
    strategy: S,
    /// As it was at first.
    fresh: S,
    stage: Stage<S>,
    meetings: Meetings,
    /// What threads have announced, as it is told.
    pending: Vec<Pending>,
}

/// What is known.
#[derive(Clone, Debug)]
enum Stage<S> {
    /// Nothing: this is the search that does not hear of readers, if it does what the other one does.
    First(Option<S>),
    /// The search hears of readers.
    Told,
    /// It does not.
    Untold,
    /// It did not, but somebody has met in this execution.
    Met,
}

impl<S: Strategy + Clone> Readers<S> {
    /// The same search.
    pub fn new(strategy: S) -> Self {
        Self {
            fresh: strategy.clone(),
            stage: Stage::First(Some(strategy.clone())),
            strategy,
            meetings: Meetings::default(),
            pending: Vec::new(),
        }
    }

    /// The same search, in which the order of all readers counts: for one part of a search, since no part knows whom others
    /// have met.
    pub fn told(strategy: S) -> Self {
        Self {
            stage: Stage::Told,
            ..Self::new(strategy)
        }
    }

    /// Looks at who has to wait.
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

    /// Whether somebody has met changes what is told.
    fn look(&mut self) {
        if self.meetings.met && matches!(self.stage, Stage::Untold) {
            self.stage = Stage::Met;
        }
    }

    /// Tells the searches that are told anything: `about` with the view that each of them has.
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

/// What is told of an operation to those who don't hear of readers.
const fn quiet(kind: Kind) -> Kind {
    match kind {
        Kind::LockShared | Kind::TryLockShared | Kind::UnlockShared => Kind::Local,
        kind => kind,
    }
}

/// The same of a view.
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

    fn standing(&self) -> Standing {
        self.strategy.standing()
    }

    fn report(&self) -> Stats {
        self.strategy.report()
    }
}

/// Who has had which lock, and comes before whom by forks and joins.
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
    /// How many events of each thread come before.
    known: Vec<u32>,
}

/// One lock.
#[derive(Clone, Debug, Default)]
struct Lock {
    object: Object,
    /// How many have it shared.
    shared: u32,
    /// Whether somebody has it for himself.
    exclusive: bool,
    /// Per thread: its last event that has to do with reading; 0 if it has none.
    readers: Vec<u32>,
    /// The same of writing.
    writers: Vec<u32>,
}

impl Lock {
    /// Follows an event, and tells whether somebody who reads is in the way of somebody who writes, or the other way round.
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
