//! What every search strategy offers.

use crate::event::Event;
use crate::executor::{Learned, Pick, RunEnd, View};
use crate::parts::Standing;
use crate::search::Divergence;

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

/// A search strategy: picks threads through one execution after the other, until there are no more.
///
/// Order of calls: [`Self::begin`]; if it said yes, any number of [`Self::pick`] followed by [`Self::ran`], perhaps one
/// [`Self::blocked`] or [`Self::cut`], and [`Self::end`]; then again from the start.
pub trait Strategy {
    /// The name that the command line and reports use.
    fn name(&self) -> &'static str;

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

    /// What can be said, at this moment. Of one part of a search: of what belongs to it.
    fn promise(&self) -> Promise;

    /// Whether what fails in an execution that is given up fails in another one, too, that is run to its end. If not, it
    /// counts.
    fn repeats_what_it_abandons(&self) -> bool {
        true
    }

    /// For searches of a tree: the part of it that lies behind, 0 to 1, estimated as Knuth does (*Estimating the
    /// efficiency of backtrack programs*, 1975): every node's children weigh the same. Executions so far divided by
    /// it estimate how many there will be in all. `None`: not a search of a tree.
    fn explored(&self) -> Option<f64> {
        None
    }

    /// For strategies that tell executions apart by what the threads observe: their counts.
    fn causality(&self) -> Option<Causality> {
        None
    }

    /// For one part of a search: where the execution that is over stands in the whole.
    fn standing(&self) -> Standing {
        Standing::WHOLE
    }

    /// For one part of a search that is over: the number of turns of the whole, which all parts must agree on.
    fn turns(&self) -> u64 {
        0
    }
}
