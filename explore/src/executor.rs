//! The seam between strategies and programs: an [`Executor`] runs the program once, asking a [`Scheduler`] at every
//! scheduling point.
//!
//! Every live thread has announced its next operation before the scheduler is asked. The executor runs the picked
//! thread's operation and whatever thread-local code follows it, up to the thread's next announcement, tells the
//! scheduler what the operation did, and asks again. A dispatch that costs more than the operation itself would
//! decide the speed of a search, so all of it is generic; both traits' calls carry borrowed data only.
//!
//! What an executor has to hold to, for the strategies' promises to be true:
//! - *Determinism*: the same picks give the same announcements and events. Strategies notice most breaches, and end
//!   the search with a [`Divergence`](crate::divergence::Divergence).
//! - *Stable names*: see [`Thread`] and [`Object`].
//! - *To the end*: an execution goes on until no thread is enabled. A thread that fails (panics) ends; the others go on.
//!   An execution that is cut short must say [`Outcome::Truncated`], and takes the search's promise down with it.
//! - *Enabledness*: only [`Kind::Lock`](crate::event::Kind::Lock) and its like may wait, each for what its kind says
//!   ([`Kind::Wake`](crate::event::Kind::Wake) for what the object's [queue](crate::waiting) says), and a **parked**
//!   read: one that repeats a read of the same object by the same thread, and is enabled again by the first event that
//!   modifies the object after it. A thread that announces a [`Kind::Join`](crate::event::Kind::Join) of *itself* goes no
//!   further: its own end is the one thing that it can't wait for.
//!
//! # Loops that wait
//! A thread that looks at shared objects again and again until they are as it wants has infinitely many executions, of
//! which all but a few are the same with turns put in that saw nothing. An executor that knows that a turn of such a loop
//! has been *idle* (nothing that the thread did in it outlives it) does one of two things:
//! - For strategies that leave executions out by reasoning about which events are dependent, and for those that run
//!   everything, the thread **goes no further** after an idle turn. That loses nothing: from any execution all idle turns
//!   can be taken away, and what is left is an execution of the same threads with the same results in which nobody makes
//!   one. And it asks nothing of the strategy, since where the thread stops is a function of what came before. An execution
//!   at whose end such a thread is left, while what it has looked at has changed, is no deadlock, but goes on in another
//!   one, in which the thread looked later: [`Outcome::Waiting`].
//! - For strategies that draw schedules, or count preemptions, the thread is not enabled until something that it has looked
//!   at has changed.

use crate::event::{Event, Object, Pending, Thread};
use crate::observation::Test;
use crate::threads::ThreadSet;
use crate::transition::Transition;

/// What a scheduler sees at a scheduling point.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The next operation of each live thread, indexed by thread. Entries of other threads mean nothing.
    pub pending: &'a [Pending],
    /// Threads that exist and have not ended.
    pub live: ThreadSet,
    /// Those of them that can run now; not empty.
    pub enabled: ThreadSet,
    /// The thread that ran last, if any: switching away from it while it is enabled is a preemption.
    pub last: Option<Thread>,
    /// Threads that let the others go first: they sleep or yield again and again, and do nothing else. They can run, and who
    /// they are is a function of what has run.
    pub resting: ThreadSet,
}

impl View<'_> {
    /// What a live thread has announced.
    #[inline]
    #[must_use]
    pub fn of(&self, thread: Thread) -> &Pending {
        &self.pending[usize::from(thread)]
    }

    /// The last thread, if it is enabled.
    #[inline]
    #[must_use]
    pub fn running(&self) -> Option<Thread> {
        self.last.filter(|&last| self.enabled.contains(last))
    }

    /// Those of the threads that can run which don't let others go first, or all of them if all do.
    #[inline]
    #[must_use]
    pub fn willing(&self) -> ThreadSet {
        let willing = self.enabled.difference(self.resting);
        if willing.is_empty() {
            self.enabled
        } else {
            willing
        }
    }

    /// Whom to prefer among these threads, of which there has to be one: the last thread, else the lowest.
    #[inline]
    pub(crate) fn preferred(&self, among: ThreadSet) -> Thread {
        let running = self.running().filter(|&last| among.contains(last));
        running.or_else(|| among.first()).unwrap_or_default()
    }

    /// Whom a scheduler picks that doesn't preempt: the last thread if it is enabled, else the lowest.
    ///
    /// # Panics
    /// When no thread is enabled: the executor must not ask then.
    #[inline]
    #[must_use]
    pub fn unpreempted(&self) -> Thread {
        self.running()
            .or_else(|| self.enabled.first())
            .expect("an executor asks only while a thread is enabled")
    }
}

/// A scheduler's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Run this thread's operation.
    Run(Thread),
    /// Give the execution up: nothing new can come of it.
    Abandon,
}

/// Decides what runs.
pub trait Scheduler {
    /// Whom to run. Asked whenever at least one thread is enabled.
    fn pick(&mut self, view: &View<'_>) -> Pick;

    /// The picked operation ran, and this is what it did.
    fn ran(&mut self, event: &Event);

    /// No thread is enabled, but some are live: they wait for each other, or for a write that never comes. `view` is
    /// as for [`Self::pick`], with nothing enabled. Called at most once, as the last call of the execution.
    fn blocked(&mut self, view: &View<'_>);

    /// The executor's bound cuts the execution here. `view` is as for [`Self::pick`]: what it tells that can run would have
    /// gone on, and nothing may be enabled. Called at most once, as the last call of the execution, by executors that can
    /// tell.
    fn cut(&mut self, _view: &View<'_>) {}
}

impl<S: Scheduler + ?Sized> Scheduler for &mut S {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        (**self).pick(view)
    }

    fn ran(&mut self, event: &Event) {
        (**self).ran(event);
    }

    fn blocked(&mut self, view: &View<'_>) {
        (**self).blocked(view);
    }

    fn cut(&mut self, view: &View<'_>) {
        (**self).cut(view);
    }
}

/// How an execution came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All threads have ended.
    Completed,
    /// Threads are left, and none is enabled: a deadlock, a lost wake-up.
    Blocked,
    /// Threads are left that wait in loops, and what they have looked at has changed since: the execution goes on in another
    /// one, in which they look later. It is neither an end of the program nor cut.
    Waiting,
    /// The executor's bound on steps or time cut it.
    Truncated,
    /// The scheduler gave it up.
    Abandoned,
}

/// What is known of an execution that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// How it ended.
    pub outcome: Outcome,
    /// Hash of the terminal state: shared values, what each thread has seen, who waits where. Executors that can't
    /// tell leave it 0.
    pub state: u64,
    /// Hashes of all that failed (a panic, an assertion, a deadlock), in order. Details are the executor's to keep. An
    /// execution without a failure allocates nothing for it.
    pub failures: Vec<u64>,
}

/// What there is to know of an execution beside its events. Positions are those among the events, ascending.
#[derive(Clone, Copy, Debug, Default)]
pub struct Learned<'a> {
    /// The reads of which the thread learned less than the value, and what it learned.
    pub tests: &'a [(usize, Test)],
    /// What was done to objects that are more than a value, a lock or a queue.
    pub transitions: &'a [(usize, Transition)],
    /// The objects that are plain data: accesses to them must be ordered by something else.
    pub plain: &'a [Object],
}

/// Runs the program.
pub trait Executor {
    /// Runs it once from its start, under this scheduler.
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd;

    /// What there is to know of the latest execution beside its events.
    fn learned(&self) -> Learned<'_> {
        Learned::default()
    }
}
