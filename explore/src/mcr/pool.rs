//! Expanding runs on several OS threads while others are executed.
//!
//! Source: Huang (PLDI 2015), section 4.3, MCR-P, which expands several executions at the same time. The pool does so, too,
//! and asks no query about two executions: what two executions have in common is left to the expansion that began first.
//! One thread executes the program and hands the runs over; when the other threads have enough to do, or no seed is left to
//! be executed, it expands runs as well. A thread that finds no run of its own takes part in the expansion of a long run.

use std::collections::VecDeque;
use std::fmt;
use std::hint;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::frontier::Shared;
use super::paths::Paths;
use super::task::{Memory, Task};
use crate::mcm::model::Model;
use crate::mcm::query::Solver;

/// The number of times that a thread without work looks for work before it sleeps: waking a thread takes as long as
/// expanding a run of some hundred events.
const LOOKS: u32 = 10_000;

/// The time that the executing thread sleeps when it waits for expansions of other threads.
const NAP: Duration = Duration::from_micros(100);

/// The number of finished tasks that are kept for their memory.
const SPARE: usize = 8;

/// A run whose expansion has begun.
#[derive(Debug)]
struct Begun {
    task: Arc<Task>,
    /// The number of threads that take part in the expansion.
    inside: usize,
    /// Whether no event of the run is left to be taken.
    taken: bool,
}

#[derive(Debug, Default)]
struct Tasks {
    /// The runs to be expanded, in the order of their execution: no query is needed for what a run has in common with runs
    /// before it.
    waiting: VecDeque<Arc<Task>>,
    begun: Vec<Begun>,
    spare: Vec<(Box<Model>, Paths)>,
}

/// What there is to do, as all threads see it.
#[derive(Debug, Default)]
struct Place {
    tasks: Mutex<Tasks>,
    /// The number of changes so far: a thread that looks for work compares two values.
    changes: AtomicUsize,
    /// The number of tasks that no thread works on.
    waiting: AtomicUsize,
    /// The number of events of all runs whose expansion has not begun.
    held: AtomicUsize,
    /// The number of threads that sleep, or are about to.
    asleep: AtomicUsize,
    /// Is notified when there is work, or when the search is over.
    called: Condvar,
    over: AtomicBool,
    /// Whether a thread has panicked.
    broken: AtomicBool,
}

impl Place {
    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes a sleeping thread, if there is one, since there is new work.
    fn call(&self) {
        // A thread that falls asleep first counts itself in `asleep` and then looks for changes. So either this
        // thread sees the sleeper, or the sleeper sees the change.
        self.changes.fetch_add(1, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) > 0 {
            // A thread that is about to sleep holds the lock until it sleeps.
            drop(self.tasks());
            self.called.notify_one();
        }
    }

    /// Sleeps until there has been a change since `seen`, or the search is over.
    fn sleep(&self, seen: usize) {
        let tasks = self.tasks();
        self.asleep.fetch_add(1, Ordering::SeqCst);
        let idle = |_: &mut Tasks| {
            self.changes.load(Ordering::SeqCst) == seen && !self.over.load(Ordering::Acquire)
        };
        drop(self.called.wait_while(tasks, idle));
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }

    fn changed(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// Returns a task to take part in: one that no thread works on, or else a long one.
    fn take(&self, tasks: &mut Tasks) -> Option<Arc<Task>> {
        let open = |begun: &&mut Begun| !begun.taken;
        let mut begun = tasks.begun.iter_mut().filter(open);
        if let Some(left) = begun.find(|begun| begun.inside == 0) {
            left.inside = 1;
            let task = Arc::clone(&left.task);
            self.waiting.fetch_sub(1, Ordering::Release);
            return Some(task);
        }
        if let Some(task) = tasks.waiting.pop_front() {
            self.waiting.fetch_sub(1, Ordering::Release);
            self.held.fetch_sub(task.events(), Ordering::Relaxed);
            tasks.begun.push(Begun {
                task: Arc::clone(&task),
                inside: 1,
                taken: false,
            });
            return Some(task);
        }
        let mut begun = tasks.begun.iter_mut().filter(open);
        let long = begun.find(|begun| begun.task.is_shared())?;
        long.inside += 1;
        Some(Arc::clone(&long.task))
    }

    /// Takes part in a task, up to `work` or until `stop` returns true, and finishes the task if no other thread works on
    /// it and none of its events is left.
    fn advance(
        &self,
        task: Arc<Task>,
        shared: &Shared,
        solver: &mut impl Solver,
        memory: &mut Memory,
        work: u64,
        stop: impl Fn() -> bool,
    ) {
        task.begin(shared, memory);
        if task.is_shared() {
            self.call();
        }
        let all = task.flip(shared, solver, memory, work, stop);
        let mut tasks = self.tasks();
        let of = |begun: &Begun| Arc::ptr_eq(&begun.task, &task);
        let Some(at) = tasks.begun.iter().position(of) else {
            return;
        };
        let begun = &mut tasks.begun[at];
        begun.inside -= 1;
        begun.taken |= all;
        let (taken, nobody) = (begun.taken, begun.inside == 0);
        if nobody && !taken {
            self.waiting.fetch_add(1, Ordering::Release);
        }
        drop(tasks);
        let ends = nobody && taken;
        if ends {
            task.finish(shared, solver, memory);
            let mut tasks = self.tasks();
            if let Some(at) = tasks.begun.iter().position(of) {
                tasks.begun.remove(at);
            }
            if let Some(task) = Arc::into_inner(task)
                && tasks.spare.len() < SPARE
            {
                tasks.spare.push(task.take_apart(memory));
            }
        }
        self.changed();
    }

    /// The loop of one of the pool's threads: takes tasks until the search is over.
    fn serve(&self, shared: &Shared, solver: &mut impl Solver) {
        let mut memory = Memory::default();
        loop {
            let seen = self.changes.load(Ordering::Acquire);
            let task = self.take(&mut self.tasks());
            if let Some(task) = task {
                let over = || self.over.load(Ordering::Relaxed);
                self.advance(task, shared, solver, &mut memory, u64::MAX, over);
            } else if !self.changes_within(seen, || false) {
                self.sleep(seen);
            }
            if self.over.load(Ordering::Acquire) {
                return;
            }
        }
    }

    /// Looks for a while whether there is a change, or `or` returns true. Returns whether one of them came.
    fn changes_within(&self, seen: usize, or: impl Fn() -> bool) -> bool {
        (0..LOOKS).any(|_| {
            hint::spin_loop();
            self.changes.load(Ordering::Acquire) != seen || or()
        })
    }
}

/// Marks the place as broken if its thread panics.
struct Careful<'a>(&'a Place);

impl Drop for Careful<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
            self.0.changed();
        }
    }
}

/// The runs that are to be expanded, and the threads that expand them.
#[derive(Default)]
pub(crate) struct Pool {
    place: Arc<Place>,
    threads: Vec<JoinHandle<()>>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("threads", &self.threads.len())
            .finish_non_exhaustive()
    }
}

impl Pool {
    /// A pool of `threads` threads, each with a clone of this solver.
    ///
    /// # Errors
    /// When the system has no threads.
    pub(crate) fn new<S: Solver + Clone + Send + 'static>(
        threads: usize,
        shared: &Arc<Shared>,
        solver: &S,
    ) -> std::io::Result<Self> {
        let mut pool = Self::default();
        for _ in 0..threads {
            let (place, shared) = (Arc::clone(&pool.place), Arc::clone(shared));
            let mut solver = solver.clone();
            let thread = thread::Builder::new().spawn(move || {
                let careful = Careful(&place);
                careful.0.serve(&shared, &mut solver);
            });
            pool.threads.push(thread?);
        }
        Ok(pool)
    }

    /// The number of threads of the pool.
    #[must_use]
    pub(crate) const fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Adds a run to be expanded.
    pub(crate) fn push(&self, task: Task) {
        let task = Arc::new(task);
        self.place.waiting.fetch_add(1, Ordering::Release);
        self.place.held.fetch_add(task.events(), Ordering::Relaxed);
        self.place.tasks().waiting.push_back(task);
        self.place.call();
    }

    /// The number of runs that wait to be expanded, those included whose expansion has begun and paused.
    #[must_use]
    pub(crate) fn waiting(&self) -> usize {
        self.place.waiting.load(Ordering::Acquire)
    }

    /// The number of events of all runs whose expansion has not begun.
    #[must_use]
    pub(crate) fn held(&self) -> usize {
        self.place.held.load(Ordering::Relaxed)
    }

    /// Whether no expansion has begun and not ended.
    #[must_use]
    pub(crate) fn is_idle(&self) -> bool {
        self.place.tasks().begun.is_empty()
    }

    /// Whether all runs have been expanded.
    #[must_use]
    pub(crate) fn is_done(&self) -> bool {
        // Under one lock: a run that waits now may have begun a moment later.
        let tasks = self.place.tasks();
        tasks.begun.is_empty() && tasks.waiting.is_empty()
    }

    /// Takes part in an expansion, up to `work` or until `stop` returns true. Returns false if there is no expansion to
    /// take part in.
    pub(crate) fn advance(
        &self,
        shared: &Shared,
        solver: &mut impl Solver,
        memory: &mut Memory,
        work: u64,
        stop: impl Fn() -> bool,
    ) -> bool {
        let task = self.place.take(&mut self.place.tasks());
        let Some(task) = task else { return false };
        self.place.advance(task, shared, solver, memory, work, stop);
        true
    }

    /// Waits until one of the threads has planted seeds or ended a part of an expansion, or for a moment.
    ///
    /// # Panics
    /// When one of the threads has panicked.
    pub(crate) fn wait(&self, shared: &Shared) {
        let broken = self.place.broken.load(Ordering::Acquire);
        assert!(!broken, "an expansion has panicked");
        let seen = self.place.changes.load(Ordering::Acquire);
        if !self.place.changes_within(seen, || shared.waiting() > 0) {
            thread::sleep(NAP);
        }
    }

    /// Returns the model and the paths of a run that is expanded, for their memory.
    #[must_use]
    pub(crate) fn spare(&self) -> (Box<Model>, Paths) {
        self.place.tasks().spare.pop().unwrap_or_default()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.place.over.store(true, Ordering::Release);
        // A thread that falls asleep holds the lock until it sleeps.
        drop(self.place.tasks());
        self.place.called.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has already marked the place as broken.
            let _ = thread.join();
        }
    }
}
