//! The seam between strategies and programs: an [`Executor`] runs the program once, asking a [`Scheduler`] at every
//! scheduling point.
//!
//! Every live thread has announced its next operation before the scheduler is asked. The executor runs the picked
//! thread's operation and the thread-local code that follows the operation, up to the thread's next announcement, tells
//! the scheduler what the operation did, and asks again. A dispatch that costs more than the operation itself would
//! decide the speed of a search, so both traits are generic, and their calls carry borrowed data only.
//!
//! An executor has to meet these conditions for the strategies' promises to be true:
//! - *Determinism*: the same picks give the same announcements and events. Strategies notice most breaches, and end
//!   the search with a [`Divergence`](crate::divergence::Divergence).
//! - *Stable names*: see [`Thread`] and [`Object`].
//! - *To the end*: an execution goes on until no thread is enabled. A thread that fails (panics) ends; the others go on.
//!   An execution that is cut short must end with [`Outcome::Truncated`], which takes away the search's promise.
//! - *Enabledness*: two sorts of operations may wait. The first are those of kinds that wait, such as
//!   [`Kind::Lock`](crate::event::Kind::Lock), each for the condition that its kind's doc names
//!   ([`Kind::Wake`](crate::event::Kind::Wake) for a permit in the object's [queue](crate::waiting)). The second are
//!   **parked** reads: a parked read repeats a read of the same object by the same thread, and is enabled again by the
//!   first event that modifies the object after the earlier read. A thread that announces a
//!   [`Kind::Join`](crate::event::Kind::Join) of *itself* goes no further, since a thread can't wait for its own end.
//!
//! # Loops that wait
//! A program with a thread that looks at shared objects again and again, until the objects have the wanted values, has
//! infinitely many executions. All but a few of these executions differ from others only in additional turns of the loop
//! that saw nothing new. An executor that knows that a turn of such a loop was *idle* (nothing that the thread did in the
//! turn outlives the turn) does one of two things:
//! - For strategies that leave executions out by reasoning about which events are dependent, and for strategies that run
//!   every schedule, the thread **goes no further** after an idle turn. This rule loses nothing: removing all idle turns
//!   from an execution leaves an execution of the same threads with the same results and without idle turns. The rule
//!   asks nothing of the strategy either, since the place where the thread stops is a function of the events before. If
//!   such a thread is left at the end of an execution, and an object that the thread has looked at has changed since, the
//!   execution is no deadlock: it goes on in another execution, in which the thread looked later
//!   ([`Outcome::Waiting`]).
//! - For strategies that draw schedules, or count preemptions, the thread is not enabled until an object that the thread
//!   has looked at has changed.

use seqz_vocabulary::message;

use crate::event::{Event, Object, Pending, Thread};
use crate::observation::Test;
use crate::threads::ThreadSet;
use crate::transition::Transition;

/// What a scheduler sees at a scheduling point.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The next operation of each live thread, indexed by thread. The entries of other threads mean nothing.
    pub pending: &'a [Pending],
    /// The threads that exist and have not ended.
    pub live: ThreadSet,
    /// The live threads that can run now. Not empty when [`Scheduler::pick`] is called.
    pub enabled: ThreadSet,
    /// The thread that ran last, if any. To run another thread while `last` is enabled is a preemption.
    pub last: Option<Thread>,
    /// The threads that let other threads go first: such a thread sleeps or yields again and again, and does nothing else.
    /// Resting threads can run; which threads rest is a function of the events so far.
    pub resting: ThreadSet,
}

impl View<'_> {
    /// Returns the operation that a live thread has announced.
    #[inline]
    #[must_use]
    pub fn of(&self, thread: Thread) -> &Pending {
        &self.pending[usize::from(thread)]
    }

    /// Returns the thread that ran last, if this thread is enabled.
    #[inline]
    #[must_use]
    pub fn running(&self) -> Option<Thread> {
        self.last.filter(|&last| self.enabled.contains(last))
    }

    /// Returns the enabled threads that are not [resting](Self::resting), or all enabled threads if all of them rest.
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

    /// Returns the thread to prefer among `among`, which must not be empty: the thread that ran last, else the lowest.
    #[inline]
    pub(crate) fn preferred(&self, among: ThreadSet) -> Thread {
        let running = self.running().filter(|&last| among.contains(last));
        running.or_else(|| among.first()).unwrap_or_default()
    }

    /// Returns the thread that a scheduler without preemptions picks: the last thread if it is enabled, else the lowest.
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

/// What a scheduler decides at a scheduling point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Run this thread's operation.
    Run(Thread),
    /// Give the execution up: its continuations would show nothing new.
    Abandon,
}

/// Decides which thread runs at each scheduling point.
pub trait Scheduler {
    /// Picks the thread to run. Called at every scheduling point at which at least one thread is enabled.
    fn pick(&mut self, view: &View<'_>) -> Pick;

    /// The picked operation is about to read an object that holds `held`. Returns what it reads: under weak memory perhaps
    /// an older value. Called by executors that can give a read another value than the object holds.
    fn source(&mut self, held: u64) -> u64 {
        held
    }

    /// Takes the event of the picked operation, which has run.
    fn ran(&mut self, event: &Event);

    /// Whether what this event of the execution read, by its number, is the latest that there is to read.
    fn is_latest(&self, _event: usize) -> bool {
        true
    }

    /// Of an event that reads, by its number: the number of the event that wrote what it reads, from 1; 0 for what the object
    /// began with. `None`: what was written last.
    fn saw(&self, _event: usize) -> Option<u32> {
        None
    }

    /// The numbers of two events of the execution that race under weak memory.
    fn race(&self) -> Option<[usize; 2]> {
        None
    }

    /// Whether the execution has to end at once, since the memory model does not allow what the latest event has made of
    /// it. Asked after each event of a [`source`](Self::source).
    fn is_void(&self) -> bool {
        false
    }

    /// No thread is enabled, but some threads are live: these threads wait for each other, or for a write that never
    /// comes. `view` is as for [`Self::pick`], with no enabled thread. Called at most once, as the last call of the
    /// execution.
    fn blocked(&mut self, view: &View<'_>);

    /// The executor's bound cuts the execution here. `view` is as for [`Self::pick`]: its enabled threads would have gone
    /// on, but here the set of enabled threads may be empty. Called at most once, as the last call of the execution, by
    /// executors that can tell.
    fn cut(&mut self, _view: &View<'_>) {}
}

impl<S: Scheduler + ?Sized> Scheduler for &mut S {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        (**self).pick(view)
    }

    fn source(&mut self, held: u64) -> u64 {
        (**self).source(held)
    }

    fn ran(&mut self, event: &Event) {
        (**self).ran(event);
    }

    fn is_void(&self) -> bool {
        (**self).is_void()
    }

    fn is_latest(&self, event: usize) -> bool {
        (**self).is_latest(event)
    }

    fn saw(&self, event: usize) -> Option<u32> {
        (**self).saw(event)
    }

    fn race(&self) -> Option<[usize; 2]> {
        (**self).race()
    }

    fn blocked(&mut self, view: &View<'_>) {
        (**self).blocked(view);
    }

    fn cut(&mut self, view: &View<'_>) {
        (**self).cut(view);
    }
}

message! {
    /// How an execution came to its end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Outcome {
        /// All threads have ended.
        Completed,
        /// Live threads are left, and none of them is enabled: a deadlock, a lost wake-up.
        Blocked,
        /// Threads are left that wait in loops, and an object that one of them has looked at has changed since: the execution
        /// goes on in another execution, in which the thread looks later. The execution is neither an end of the program nor
        /// cut.
        Waiting,
        /// The executor's bound on steps or time cut the execution.
        Truncated,
        /// The scheduler gave the execution up.
        Abandoned,
    }
}

message! {
    /// What is known of an execution that has ended.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RunEnd {
        /// How the execution ended.
        pub outcome: Outcome,
        /// Hash of the terminal state: shared values, what each thread has seen, which thread waits where. 0 from executors
        /// that can't tell.
        pub state: u64,
        /// One hash per failure (a panic, an assertion, a deadlock), in the order of the failures. The executor keeps the
        /// details. Empty, without an allocation, for an execution without a failure.
        pub failures: Vec<u64>,
    }
}

/// What an executor knows of an execution beside the events. A position is the number of an event in the execution, from
/// 0; positions ascend.
#[derive(Clone, Copy, Debug, Default)]
pub struct Learned<'a> {
    /// Per read from which the thread learned less than the value: the read's position, and what the thread learned.
    pub tests: &'a [(usize, Test)],
    /// Per event on an object that is more than a value, a lock or a queue: its position, and what it did to the object.
    pub transitions: &'a [(usize, Transition)],
    /// The objects that are plain data: other events must order the accesses to plain data.
    pub plain: &'a [Object],
    /// Idle turns of loops that waited, after which their threads went on all the same: while the turn held a lock, another
    /// thread failed to take it, so that the turn can't be taken away. Per turn: the position of the thread's first event
    /// after the turn, and the position of the first event of the turn.
    pub refusing: &'a [(usize, usize)],
    /// The threads that went no further after an idle turn in which they took a lock that another thread has failed to take at some
    /// time: the thread, and the position of the first event of the turn. Had the other one failed during the turn, the thread
    /// would have gone on, with the same event that the turn began with.
    pub stopped: &'a [(Thread, usize)],
}

/// Runs the program.
pub trait Executor {
    /// Runs the program once from its start, under this scheduler.
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd;

    /// Returns what the executor knows of the latest execution beside the events.
    fn learned(&self) -> Learned<'_> {
        Learned::default()
    }
}
