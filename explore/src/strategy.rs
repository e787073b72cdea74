//! What every search strategy offers.

use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Learned, Pick, RunEnd, View};
use crate::parts::Standing;

/// What can be said of the program once a strategy has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Every Mazurkiewicz trace was executed at least once, so every reachable terminal state and failure was seen.
    Exhausted,
    /// Every reachable terminal state, failure and deadlock was seen, but not every Mazurkiewicz trace was executed: of
    /// those with one lazy happens-before relation, which differ in the order of critical sections that share nothing, at
    /// least one was.
    ExhaustedLazily {
        /// Executions were cut by the executor's step bound: nothing is known of what follows the cut.
        truncated: bool,
    },
    /// Every class of executions in which all threads observe the same, and the same ones wait forever, was executed. Every
    /// failure and every deadlock is that of a class.
    ExhaustedByValues {
        /// Executions were cut by the executor's step bound: nothing is known of what follows the cut.
        truncated: bool,
    },
    /// All that can be reached within bounds was seen.
    Bounded {
        /// Every Mazurkiewicz trace that has an interleaving with at most so many preemptions. `None`: any number.
        preemptions: Option<u32>,
        /// Executions were cut by the executor's step bound: nothing is known of what follows the cut.
        truncated: bool,
    },
    /// Schedules were drawn at random: what was not seen may still exist.
    Sampled,
    /// Schedules were left out that are like others which were seen: what was not seen may still exist.
    Heuristic,
    /// The search has not come to its end.
    Unfinished,
}

/// Counts of a strategy that tells executions apart by what the threads observe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causality {
    /// Classes executed.
    pub classes: u64,
    /// Executions of a class that had been executed before.
    pub redundant: u64,
    /// Executions that were only to show a race that had been predicted, and were of a class that had been executed.
    pub confirmations: u64,
    /// Seeds that wait to be executed; some of them may be covered by then.
    pub waiting: u64,
    /// Questions asked of the solver.
    pub queries: u64,
    /// Those that it gave up. If there is one, nothing is promised.
    pub unknown: u64,
    /// Seeds that the program did not follow. Likewise.
    pub lost: u64,
    /// Executions with an event whose outcome depends on more than values. Likewise.
    pub open: u64,
}

/// What a strategy says of its search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// What can be said of the program, at this moment. Of one part of a search: of what belongs to it.
    pub promise: Promise,
    /// For searches of a tree: the part of it that lies behind, 0 to 1, estimated as Knuth does (*Estimating the
    /// efficiency of backtrack programs*, 1975): every node's children weigh the same. Executions so far divided by
    /// it estimate how many there will be in all. `None`: not a search of a tree.
    pub explored: Option<f64>,
    /// For strategies that tell executions apart by what the threads observe: their counts.
    pub causality: Option<Causality>,
    /// For one part of a search that is over: the number of turns of the whole, which all parts must agree on.
    pub turns: u64,
}

impl Stats {
    /// Of a search that is no tree, and has no parts.
    #[must_use]
    pub const fn new(promise: Promise) -> Self {
        Self {
            promise,
            explored: None,
            causality: None,
            turns: 0,
        }
    }

    /// Of a search of a tree of which this part lies behind.
    #[must_use]
    pub const fn of_tree(promise: Promise, explored: f64) -> Self {
        Self {
            explored: Some(explored),
            ..Self::new(promise)
        }
    }
}

/// A search strategy: picks threads through one execution after the other, until there are no more.
///
/// Order of calls: [`Self::begin`]; if it said yes, any number of [`Self::pick`] followed by [`Self::ran`], perhaps one
/// [`Self::blocked`] or [`Self::cut`], then [`Self::learned`] and [`Self::end`]; then again from the start. What only some
/// strategies have to say of their search is in [`Self::report`].
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
    /// Gets ready for the next execution. False: the search is over.
    fn begin(&mut self) -> bool;

    /// Whom to run.
    ///
    /// # Errors
    /// When the execution differs from an earlier one with the same picks.
    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence>;

    /// What the picked operation did.
    ///
    /// # Errors
    /// When the execution differs from an earlier one with the same picks.
    fn ran(&mut self, event: &Event) -> Result<(), Divergence>;

    /// Threads are left that wait forever. Of interest to strategies that turn round the order of lock acquisitions.
    fn blocked(&mut self, _view: &View<'_>) {}

    /// The executor's bound cuts the execution: all live threads would go on, those that are not enabled some day perhaps. Of
    /// interest to strategies that turn round the order of operations: those that are announced count, too.
    fn cut(&mut self, _view: &View<'_>) {}

    /// What the executor knows of the execution that is over: see [`Executor::learned`](crate::Executor::learned).
    /// Called before [`Self::end`].
    fn learned(&mut self, _learned: &Learned<'_>) {}

    /// The execution is over.
    fn end(&mut self, end: &RunEnd);

    /// Where the execution that is over stands in the whole search.
    fn standing(&self) -> Standing {
        Standing::WHOLE
    }

    /// What there is to say of the search, at this moment.
    fn report(&self) -> Stats;
}
