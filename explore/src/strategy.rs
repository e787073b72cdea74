//! What every search strategy offers.

pub use seqz_vocabulary::{Causality, Promise};

use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Learned, Pick, RunEnd, View};
use crate::parts::Standing;

/// What a strategy reports of its search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// The promise of the search at this moment. For one part of a search, the promise covers that part only.
    pub promise: Promise,
    /// For searches of a tree: the share of the tree that has been searched, 0 to 1, estimated as Knuth does (*Estimating
    /// the efficiency of backtrack programs*, 1975): every node's children weigh the same. The executions so far divided
    /// by this share estimate the number of executions in all. `None`: not a search of a tree.
    pub explored: Option<f64>,
    /// The counts of a strategy that tells executions apart by what the threads observe; `None` for other strategies.
    pub causality: Option<Causality>,
    /// For one part of a search that is over: the number of [turns](Standing::turn) of the whole search, on which all
    /// parts must agree.
    pub turns: u64,
}

impl Stats {
    /// The report of a search that walks no tree and has no parts.
    #[must_use]
    pub const fn new(promise: Promise) -> Self {
        Self {
            promise,
            explored: None,
            causality: None,
            turns: 0,
        }
    }

    /// The report of a search of a tree, of which the share `explored` has been searched.
    #[must_use]
    pub const fn of_tree(promise: Promise, explored: f64) -> Self {
        Self {
            explored: Some(explored),
            ..Self::new(promise)
        }
    }
}

/// A search strategy: picks threads through one execution after the other, until no execution is left.
///
/// Order of calls: [`Self::begin`]; if [`Self::begin`] returned true, any number of [`Self::pick`] followed by
/// [`Self::ran`], perhaps one [`Self::blocked`] or [`Self::cut`], then [`Self::learned`] and [`Self::end`]; then again from
/// the start. [`Self::report`] holds what only some strategies know of their search.
///
/// ```
/// # use seqz_explore::threads::ThreadSet;
/// # use seqz_explore::{Event, Executor, Kind, Outcome, Pending, Pick, RunEnd, Scheduler, View};
/// # struct TwoStores;
/// # impl Executor for TwoStores {
/// #     fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
/// #         let end = |outcome| RunEnd { outcome, state: 0, failures: Vec::new() };
/// #         let pending = [Pending { kind: Kind::Write, ..Pending::default() }; 2];
/// #         let mut live = ThreadSet::only(0).union(ThreadSet::only(1));
/// #         let mut last = None;
/// #         while !live.is_empty() {
/// #             let resting = ThreadSet::EMPTY;
/// #             let Pick::Run(thread) = scheduler.pick(&View { pending: &pending, live, enabled: live, last, resting })
/// #             else {
/// #                 return end(Outcome::Abandoned);
/// #             };
/// #             scheduler.ran(&Event { thread, kind: Kind::Write, ..Event::default() });
/// #             last = Some(thread);
/// #             live.remove(thread);
/// #         }
/// #         end(Outcome::Completed)
/// #     }
/// # }
/// use seqz_explore::{Divergence, Promise, Search, Stats, Strategy};
///
/// /// One execution, in which no thread is preempted.
/// #[derive(Default)]
/// struct Once {
///     begun: bool,
/// }
///
/// impl Strategy for Once {
///     fn begin(&mut self) -> bool {
///         !std::mem::replace(&mut self.begun, true)
///     }
///     fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
///         Ok(Pick::Run(view.unpreempted()))
///     }
///     fn ran(&mut self, _event: &Event) -> Result<(), Divergence> {
///         Ok(())
///     }
///     fn end(&mut self, _end: &RunEnd) {}
///     fn report(&self) -> Stats {
///         // There are schedules without preemption that begin with another thread.
///         Stats::new(Promise::Heuristic)
///     }
/// }
///
/// // `TwoStores` runs two threads, each of which stores to the same object once.
/// let mut search = Search::new(Once::default());
/// assert_eq!(search.run(&mut TwoStores, 100)?, 1);
/// assert_eq!(search.counts().relations, 1);
/// # Ok::<(), Divergence>(())
/// ```
pub trait Strategy {
    /// Gets ready for the next execution. Returns false if the search is over.
    fn begin(&mut self) -> bool;

    /// Picks the thread to run.
    ///
    /// # Errors
    /// When the execution differs from an earlier one with the same picks.
    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence>;

    /// The picked operation is about to read an object that holds `held`. Returns what it reads: under weak memory the value
    /// of the write that the strategy has chosen.
    fn source(&mut self, held: u64) -> u64 {
        held
    }

    /// Whether the latest event has made an execution of which the memory model says that there is none. The executor
    /// ends it at once, before the thread goes on.
    fn is_void(&self) -> bool {
        false
    }

    /// Whether what this event of the execution read, by its number, is the latest that there is to read.
    fn is_latest(&self, _event: usize) -> bool {
        true
    }

    /// Of an event that reads, by its number: the number of the event that wrote what it reads, from 1; 0 for what the object
    /// began with. `None`: what was written last.
    fn saw(&self, _event: usize) -> Option<u32> {
        None
    }

    /// The numbers of two events of the execution that race, of a strategy that knows which happens before which.
    fn race(&self) -> Option<[usize; 2]> {
        None
    }

    /// A hash of the execution that is over, of a strategy that tells executions apart by something else than their
    /// happens-before relations.
    fn relation(&self) -> Option<u64> {
        None
    }

    /// Takes the event of the picked operation.
    ///
    /// # Errors
    /// When the execution differs from an earlier one with the same picks.
    fn ran(&mut self, event: &Event) -> Result<(), Divergence>;

    /// The execution ends with threads that wait forever. Strategies that reverse the order of lock acquisitions need this
    /// call.
    fn blocked(&mut self, _view: &View<'_>) {}

    /// The executor's bound cuts the execution: every enabled thread would go on, and every other live thread might be
    /// enabled later. Strategies that reverse the order of operations need this call: announced operations count, too.
    fn cut(&mut self, _view: &View<'_>) {}

    /// Takes what the executor knows of the execution that is over: see [`Executor::learned`](crate::Executor::learned).
    /// Called before [`Self::end`].
    fn learned(&mut self, _learned: &Learned<'_>) {}

    /// The execution is over.
    fn end(&mut self, end: &RunEnd);

    /// The execution has gone another way than it must, and was given up there. Returns whether the strategy can go on with
    /// other executions. From then on it promises nothing.
    fn diverged(&mut self) -> bool {
        false
    }

    /// Returns where the execution that is over stands in the whole search.
    fn standing(&self) -> Standing {
        Standing::WHOLE
    }

    /// Reports on the search at this moment.
    fn report(&self) -> Stats;
}
