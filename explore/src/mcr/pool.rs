//! Asking what follows from one run on several OS threads.
//!
//! Source: Huang (PLDI 2015), section 4.3, MCR-P, which expands several executions at the same time. Here the events of one are
//! shared out, and the next one is executed when all that follows from it is known: what two executions that
//! are expanded at the same time have in common would be asked twice.

use std::fmt;
use std::hint;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use super::expand::Effort;
use super::frontier::Shared;
use super::task::Subject;
use crate::mcm::query::Solver;
use crate::mcm::state::State;

/// How often a thread that has nothing to do looks for something before it sleeps: to be woken takes as long as what there
/// is to do about a run of some hundred events.
const LOOKS: u32 = 10_000;

#[derive(Debug, Default)]
struct Work {
    /// The run that is being expanded, if others may take part.
    subject: Option<Arc<Subject>>,
    /// How many do.
    busy: usize,
    /// How many sleep.
    asleep: usize,
    /// What they did.
    effort: Effort,
    /// One has panicked.
    broken: bool,
    over: bool,
}

#[derive(Debug, Default)]
struct Place {
    work: Mutex<Work>,
    /// How many runs there have been.
    runs: AtomicUsize,
    /// How many threads are busy.
    busy: AtomicUsize,
    /// Nobody needs to go on.
    stop: AtomicBool,
    /// There is a run, or it is over.
    called: Condvar,
    /// A thread is not busy any more.
    done: Condvar,
}

impl Place {
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run that is none of those before. `None`: it is over.
    fn next(&self, last: &mut usize) -> Option<Arc<Subject>> {
        loop {
            let waits = |last: usize| self.runs.load(Ordering::Acquire) == last;
            let looks = (0..LOOKS).take_while(|_| {
                hint::spin_loop();
                waits(*last)
            });
            looks.for_each(drop);
            let mut work = self.work();
            work.asleep += 1;
            let idle = |work: &mut Work| waits(*last) && !work.over;
            let work = self.called.wait_while(work, idle);
            let mut work = work.unwrap_or_else(PoisonError::into_inner);
            work.asleep -= 1;
            if work.over {
                return None;
            }
            *last = self.runs.load(Ordering::Acquire);
            // It may have ended meanwhile.
            if let Some(subject) = work.subject.clone() {
                work.busy += 1;
                self.busy.store(work.busy, Ordering::Release);
                return Some(subject);
            }
        }
    }
}

/// Says that a thread has done its part, be it by a panic.
struct Doing<'a> {
    place: &'a Place,
    subject: Option<Arc<Subject>>,
    effort: Effort,
}

impl Drop for Doing<'_> {
    fn drop(&mut self) {
        // First of all: whoever waits takes the run apart.
        drop(self.subject.take());
        let mut work = self.place.work();
        work.busy -= 1;
        work.effort.add(self.effort);
        work.broken |= thread::panicking();
        self.place.busy.store(work.busy, Ordering::Release);
        self.place.done.notify_all();
    }
}

/// Threads that take part in expansions.
pub struct Pool {
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
    /// So many threads, each with a solver like this one.
    pub fn new<S: Solver + Clone + Send + 'static>(
        threads: NonZero<usize>,
        shared: &Arc<Shared>,
        solver: &S,
    ) -> std::io::Result<Self> {
        let place = Arc::new(Place::default());
        let start = |_| {
            let (place, shared, mut solver) = (place.clone(), shared.clone(), solver.clone());
            thread::Builder::new().spawn(move || {
                let mut state = State::default();
                let mut last = 0;
                while let Some(subject) = place.next(&mut last) {
                    let mut doing = Doing {
                        place: &place,
                        subject: Some(subject),
                        effort: Effort::default(),
                    };
                    if let Some(subject) = &doing.subject {
                        let stop = &place.stop;
                        doing.effort = subject
                            .flip(&shared, &mut solver, &mut state, u64::MAX, stop)
                            .0;
                    }
                }
            })
        };
        let threads = (0..threads.get()).map(start).collect::<Result<_, _>>()?;
        Ok(Self { place, threads })
    }

    /// Has all threads take part in this, until that is [ended](Helping::end).
    #[must_use]
    pub fn share(&self, subject: Arc<Subject>) -> Helping<'_> {
        let mut work = self.place.work();
        self.place.stop.store(false, Ordering::Relaxed);
        work.subject = Some(subject);
        // While the lock is held: who falls asleep looks for it then.
        self.place.runs.fetch_add(1, Ordering::Release);
        if work.asleep > 0 {
            self.place.called.notify_all();
        }
        Helping(&self.place)
    }
}

/// The time in which threads take part in something.
#[derive(Debug)]
pub struct Helping<'p>(&'p Place);

impl Helping<'_> {
    /// Waits until all are through with the event that each is at. What they did.
    ///
    /// # Panics
    /// When one has.
    #[must_use]
    pub fn end(self) -> Effort {
        let place = self.0;
        place.stop.store(true, Ordering::Relaxed);
        place.work().subject = None;
        let waits = || place.busy.load(Ordering::Acquire) > 0;
        let looks = (0..LOOKS).take_while(|_| {
            hint::spin_loop();
            waits()
        });
        looks.for_each(drop);
        let work = place.done.wait_while(place.work(), |work| work.busy > 0);
        let mut work = work.unwrap_or_else(PoisonError::into_inner);
        assert!(!work.broken, "an expansion has panicked");
        std::mem::take(&mut work.effort)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.place.work().over = true;
        self.place.called.notify_all();
        for thread in self.threads.drain(..) {
            // One that has panicked has been heard of.
            let _ = thread.join();
        }
    }
}
