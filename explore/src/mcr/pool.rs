//! Expanding runs on several OS threads, while one executes the program.
//!
//! Source: Huang (PLDI 2015), section 4.3, MCR-P: what follows from one execution does not depend on others. All share one
//! [`Frontier`](super::frontier::Frontier), so that no class is executed twice however many work on it.

use std::collections::VecDeque;
use std::fmt;
use std::num::NonZero;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::frontier::Shared;
use super::task::Task;
use crate::mcm::model::Model;
use crate::mcm::query::Solver;
use crate::mcm::state::State;

/// How many tasks wait per thread before whoever executes helps.
const WAITING: usize = 4;

/// How long whoever executes waits before it looks for seeds again.
const LOOK: Duration = Duration::from_micros(200);

#[derive(Debug, Default)]
struct Work {
    tasks: VecDeque<Task>,
    /// Models that are not needed any more, for their memory.
    spare: Vec<Model>,
    expanding: usize,
    /// A thread has panicked.
    broken: bool,
    over: bool,
}

#[derive(Debug, Default)]
struct Place {
    work: Mutex<Work>,
    /// There is a task, or it is over.
    called: Condvar,
    /// A task has been done.
    done: Condvar,
}

impl Place {
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads that expand runs.
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

/// Says that a thread has done its task, be it by a panic.
struct Doing<'a> {
    place: &'a Place,
    task: Option<Task>,
}

impl Drop for Doing<'_> {
    fn drop(&mut self) {
        let mut work = self.place.work();
        work.expanding -= 1;
        work.broken |= thread::panicking();
        work.spare.extend(self.task.take().map(Task::into_model));
        self.place.done.notify_all();
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
                while let Some(task) = next(&place) {
                    let mut doing = Doing {
                        place: &place,
                        task: Some(task),
                    };
                    if let Some(task) = &mut doing.task {
                        task.expand(&shared, &mut solver, &mut state);
                    }
                }
            })
        };
        let threads = (0..threads.get()).map(start).collect::<Result<_, _>>()?;
        Ok(Self { place, threads })
    }

    /// Takes a task over. The answer is a model's memory for the next.
    pub fn give(&self, task: Task) -> Model {
        let mut work = self.place.work();
        work.tasks.push_back(task);
        self.place.called.notify_one();
        work.spare.pop().unwrap_or_default()
    }

    /// A task that whoever executes should do: there are too many. `idle`: there is nothing else to do.
    pub fn take(&self, idle: bool) -> Option<Task> {
        let mut work = self.place.work();
        let many = work.tasks.len() > WAITING * self.threads.len();
        if many || idle {
            work.tasks.pop_front()
        } else {
            None
        }
    }

    /// Whether seeds may still be planted.
    ///
    /// # Panics
    /// When a thread has.
    pub fn is_busy(&self) -> bool {
        let work = self.place.work();
        assert!(!work.broken, "an expansion has panicked");
        work.expanding > 0 || !work.tasks.is_empty()
    }

    /// Waits until a task has been done, or for so long that seeds may have been planted.
    pub fn wait(&self) {
        let work = self.place.work();
        let before = work.expanding;
        let _ = self
            .place
            .done
            .wait_timeout_while(work, LOOK, |work| before > 0 && work.expanding >= before);
    }
}

/// The next task, or that it is over.
fn next(place: &Place) -> Option<Task> {
    let mut work = place
        .called
        .wait_while(place.work(), |work| work.tasks.is_empty() && !work.over)
        .unwrap_or_else(PoisonError::into_inner);
    if work.over {
        return None;
    }
    work.expanding += 1;
    work.tasks.pop_front()
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
