//! Runs a strategy over an executor and keeps counts of the executions.

use std::fmt;

use crate::distinct::Distinct;
use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Executor, Outcome, Pick, RunEnd, Scheduler, View};
use crate::parts::Standing;
use crate::relation::Relation;
use crate::strategy::{Promise, Strategy};

/// Counts of a search. For one part of a search: of the executions that belong to this part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Executions begun, of every kind.
    pub executions: u64,
    /// Executions that ran to an end with a happens-before relation that had been seen before.
    pub redundant: u64,
    /// Executions that the strategy gave up, since they would have shown nothing new: every enabled thread was asleep, or
    /// a cache knew the state.
    pub abandoned: u64,
    /// Executions that ended in a deadlock.
    pub deadlocks: u64,
    /// Executions cut by the executor's bound.
    pub truncated: u64,
    /// Executions that go on in another execution, in which a thread that waits in a loop looks later: see
    /// [`Outcome::Waiting`].
    pub waiting: u64,
    /// Executions with at least one failure.
    pub failures: u64,
    /// Events, summed over all executions.
    pub events: u64,
    /// Distinct happens-before relations of executions that ran to an end.
    pub relations: u64,
    /// Distinct *lazy* happens-before relations of executions that ran to an end; `None` if they are not counted.
    pub lazy_relations: Option<u64>,
    /// Distinct terminal states.
    pub states: u64,
}

/// One execution of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How the execution ended.
    pub end: RunEnd,
    /// The hash of the execution's happens-before relation.
    pub relation: u64,
    /// Whether the execution ran to an end with a happens-before relation that had not been seen before.
    pub new_relation: bool,
    /// Whether the execution ran to an end with a terminal state that had not been seen before.
    pub new_state: bool,
    /// Where the execution stands in the whole search. An execution that belongs to another part is not counted.
    pub standing: Standing,
}

/// The number of hashes that a search keeps for each count of distinct relations or states.
const HASHES_KEPT: usize = 1 << 24;

/// Is told when a strategy computes, which may take long.
pub trait Watcher {
    /// The strategy begins to compute between two executions, or at the end of one. `events`: the number of events of all
    /// executions so far.
    fn begins(&mut self, events: u64);

    /// The strategy begins to compute within an execution, about the latest event. `events`: the number of events of all
    /// executions so far.
    fn sees(&mut self, events: u64);

    /// The strategy has ended its computation.
    fn ends(&mut self);
}

/// The watcher, if there is one.
#[derive(Default)]
struct Watch(Option<Box<dyn Watcher>>);

impl Watch {
    fn during<R>(&mut self, events: u64, thought: impl FnOnce() -> R) -> R {
        if let Some(watcher) = &mut self.0 {
            watcher.begins(events);
        }
        let result = thought();
        if let Some(watcher) = &mut self.0 {
            watcher.ends();
        }
        result
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "watched"
        } else {
            "unwatched"
        })
    }
}

/// A strategy at work.
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
/// use seqz_explore::{Odpor, Promise, Search};
///
/// // `TwoStores` runs two threads, each of which stores to the same object once.
/// let mut search = Search::new(Odpor::new());
/// let run = search.step(&mut TwoStores)?.expect("there is a first execution");
/// assert!(run.new_relation);
/// assert_eq!(search.promise(), Promise::Unfinished);
///
/// // Up to 100 more. The other order of the stores is the only one that is left.
/// assert_eq!(search.run(&mut TwoStores, 100)?, 1);
/// assert_eq!(search.promise(), Promise::Exhausted);
/// # Ok::<(), seqz_explore::Divergence>(())
/// ```
#[derive(Debug)]
pub struct Search<S> {
    strategy: S,
    counts: Counts,
    /// The number of executions, those included that belong to other parts of the search.
    begun: u64,
    relation: Relation,
    relations: Distinct,
    /// The lazy relation of the current execution, and the hashes of the lazy relations at executions' ends. `None` if
    /// lazy relations are not counted.
    lazy: Option<(Relation, Distinct)>,
    states: Distinct,
    over: bool,
    watch: Watch,
}

impl<S: Strategy> Search<S> {
    /// A search by this strategy, before the first execution.
    #[must_use]
    pub fn new(strategy: S) -> Self {
        Self {
            strategy,
            counts: Counts::default(),
            begun: 0,
            relation: Relation::default(),
            relations: Distinct::new(HASHES_KEPT),
            lazy: None,
            states: Distinct::new(HASHES_KEPT),
            over: false,
            watch: Watch::default(),
        }
    }

    /// Has the search tell `watcher` when its strategy computes.
    #[must_use]
    pub fn watched_by(mut self, watcher: Box<dyn Watcher>) -> Self {
        self.watch = Watch(Some(watcher));
        self
    }

    /// Has the search count distinct lazy happens-before relations, too.
    #[must_use]
    pub fn counting_lazy_relations(mut self) -> Self {
        self.lazy = Some((Relation::lazy(), Distinct::new(HASHES_KEPT)));
        self.counts.lazy_relations = Some(0);
        self
    }

    /// Runs the next execution. Returns `None` if the search is over.
    ///
    /// # Errors
    /// When the program does not do the same under the same schedule.
    pub fn step<E: Executor>(&mut self, executor: &mut E) -> Result<Option<Run>, Divergence> {
        let before = self.counts.events;
        if self.over || !self.watch.during(before, || self.strategy.begin()) {
            self.over = true;
            return Ok(None);
        }
        self.relation.clear();
        if let Some((relation, _)) = &mut self.lazy {
            relation.clear();
        }
        let mut watched = Watched {
            strategy: &mut self.strategy,
            relation: &mut self.relation,
            lazy: self.lazy.as_mut().map(|(relation, _)| relation),
            watch: &mut self.watch,
            before,
            events: 0,
            divergence: None,
        };
        let end = executor.run(&mut watched);
        let (events, divergence) = (watched.events, watched.divergence);
        self.begun += 1;
        if let Some(divergence) = divergence {
            self.over = true;
            self.counts.executions += 1;
            self.counts.events += events;
            return Err(divergence);
        }
        self.watch.during(before + events, || {
            self.strategy.learned(&executor.learned());
            self.strategy.end(&end);
        });
        let own = self.strategy.relation();
        let relation = own.unwrap_or_else(|| self.relation.hash());
        let mut run = Run {
            end,
            relation,
            new_relation: false,
            new_state: false,
            standing: self.strategy.standing(),
        };
        if !run.standing.own {
            return Ok(Some(run));
        }
        self.count(&mut run, events);
        Ok(Some(run))
    }

    /// Goes on after a [`Divergence`], where the strategy can leave out what the execution would have led to. Returns
    /// whether it can. The search promises nothing then.
    pub fn go_on(&mut self) -> bool {
        self.over = !self.strategy.diverged();
        !self.over
    }

    /// Counts an execution made by an earlier search, from which this search goes on.
    pub fn recall(&mut self, end: &RunEnd, relation: u64, events: u64) {
        self.begun += 1;
        let mut run = Run {
            end: end.clone(),
            relation,
            new_relation: false,
            new_state: false,
            standing: Standing::WHOLE,
        };
        self.count(&mut run, events);
    }

    fn count(&mut self, run: &mut Run, events: u64) {
        let (outcome, state, relation) = (run.end.outcome, run.end.state, run.relation);
        self.counts.executions += 1;
        self.counts.events += events;
        match outcome {
            Outcome::Abandoned => self.counts.abandoned += 1,
            Outcome::Truncated => self.counts.truncated += 1,
            Outcome::Waiting => self.counts.waiting += 1,
            Outcome::Completed | Outcome::Blocked => {
                run.new_relation = self.relations.insert(relation);
                run.new_state = self.states.insert(state);
                if let Some((relation, seen)) = &mut self.lazy {
                    seen.insert(relation.hash());
                    self.counts.lazy_relations = Some(seen.len());
                }
                self.counts.redundant += u64::from(!run.new_relation);
                self.counts.deadlocks += u64::from(outcome == Outcome::Blocked);
            }
        }
        let repeats = outcome == Outcome::Abandoned && run.standing.fails_again;
        let counted = !repeats && !run.end.failures.is_empty();
        self.counts.failures += u64::from(counted);
        self.counts.relations = self.relations.len();
        self.counts.states = self.states.len();
    }

    /// Runs up to `executions` more executions. Returns the number of executions that it ran.
    ///
    /// # Errors
    /// When the program does not do the same under the same schedule.
    pub fn run<E: Executor>(
        &mut self,
        executor: &mut E,
        executions: u64,
    ) -> Result<u64, Divergence> {
        for done in 0..executions {
            if self.step(executor)?.is_none() {
                return Ok(done);
            }
        }
        Ok(executions)
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The number of executions so far, those included that belong to other parts of the search.
    #[must_use]
    pub fn begun(&self) -> u64 {
        self.begun
    }

    /// Whether [`Counts::relations`], [`Counts::lazy_relations`] and [`Counts::states`] are exact, not only lower bounds.
    #[must_use]
    pub fn counts_are_exact(&self) -> bool {
        let lazy_is_exact = self.lazy.as_ref().is_none_or(|(_, seen)| seen.is_exact());
        self.relations.is_exact() && lazy_is_exact && self.states.is_exact()
    }

    /// The hashes of the happens-before relations seen, in no particular order.
    pub fn relations(&self) -> impl Iterator<Item = u64> {
        self.relations.iter()
    }

    /// The hashes of the lazy happens-before relations seen, in no particular order. Empty if these are not counted.
    pub fn lazy_relations(&self) -> impl Iterator<Item = u64> {
        self.lazy.iter().flat_map(|(_, seen)| seen.iter())
    }

    /// The hashes of the terminal states seen, in no particular order.
    pub fn states(&self) -> impl Iterator<Item = u64> {
        self.states.iter()
    }

    /// Returns the strategy's promise, weakened if executions were cut.
    #[must_use]
    pub fn promise(&self) -> Promise {
        let truncated = self.counts.truncated > 0;
        match self.strategy.report().promise {
            Promise::Exhausted if truncated => Promise::Bounded {
                preemptions: None,
                truncated,
            },
            Promise::Bounded { preemptions, .. } => Promise::Bounded {
                preemptions,
                truncated,
            },
            Promise::ExhaustedLazily { .. } => Promise::ExhaustedLazily { truncated },
            Promise::ExhaustedWeakly if truncated => Promise::Unfinished,
            Promise::ExhaustedByValues { .. } => Promise::ExhaustedByValues { truncated },
            promise => promise,
        }
    }

    /// An estimate of the number of executions of the whole search. `None`: not a search of a tree, or no estimate yet.
    #[must_use]
    pub fn estimate(&self) -> Option<f64> {
        let explored = self.strategy.report().explored?;
        (explored > 0.0).then(|| self.counts.executions as f64 / explored)
    }

    /// The strategy.
    #[must_use]
    pub fn strategy(&self) -> &S {
        &self.strategy
    }
}

/// A search by some strategy, over one type of executor. Within an execution the strategy's calls are as cheap as in a
/// search whose strategy is a type parameter; only the calls of this trait, a few for each execution, are dynamic.
pub trait AnySearch<E> {
    /// See [`Search::step`].
    ///
    /// # Errors
    /// When the program does not do the same under the same schedule.
    fn step(&mut self, executor: &mut E) -> Result<Option<Run>, Divergence>;

    /// See [`Search::go_on`].
    fn go_on(&mut self) -> bool;

    /// See [`Search::recall`].
    fn recall(&mut self, end: &RunEnd, relation: u64, events: u64);

    /// See [`Search::counts`].
    fn counts(&self) -> Counts;

    /// See [`Search::begun`].
    fn begun(&self) -> u64;

    /// See [`Search::promise`].
    fn promise(&self) -> Promise;

    /// See [`Search::estimate`].
    fn estimate(&self) -> Option<f64>;

    /// See [`Search::relations`].
    fn relations(&self) -> Vec<u64>;

    /// See [`Search::states`].
    fn states(&self) -> Vec<u64>;

    /// The strategy.
    fn strategy(&self) -> &dyn Strategy;
}

impl<S: Strategy, E: Executor> AnySearch<E> for Search<S> {
    fn step(&mut self, executor: &mut E) -> Result<Option<Run>, Divergence> {
        self.step(executor)
    }

    fn go_on(&mut self) -> bool {
        self.go_on()
    }

    fn recall(&mut self, end: &RunEnd, relation: u64, events: u64) {
        self.recall(end, relation, events);
    }

    fn counts(&self) -> Counts {
        self.counts()
    }

    fn begun(&self) -> u64 {
        self.begun()
    }

    fn promise(&self) -> Promise {
        self.promise()
    }

    fn estimate(&self) -> Option<f64> {
        self.estimate()
    }

    fn relations(&self) -> Vec<u64> {
        self.relations().collect()
    }

    fn states(&self) -> Vec<u64> {
        self.states().collect()
    }

    fn strategy(&self) -> &dyn Strategy {
        self.strategy()
    }
}

/// The scheduler that the executor sees: hands each call on to the strategy, counts the events and tells the watcher.
struct Watched<'a, S> {
    strategy: &'a mut S,
    relation: &'a mut Relation,
    lazy: Option<&'a mut Relation>,
    watch: &'a mut Watch,
    /// The number of events of all earlier executions.
    before: u64,
    events: u64,
    divergence: Option<Divergence>,
}

impl<S: Strategy> Scheduler for Watched<'_, S> {
    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Pick {
        if self.divergence.is_some() {
            return Pick::Abandon;
        }
        self.strategy.pick(view).unwrap_or_else(|divergence| {
            self.divergence = Some(divergence);
            Pick::Abandon
        })
    }

    #[inline]
    fn source(&mut self, held: u64) -> u64 {
        if self.divergence.is_some() {
            return held;
        }
        self.strategy.source(held)
    }

    fn is_latest(&self, event: usize) -> bool {
        self.strategy.is_latest(event)
    }

    fn saw(&self, event: usize) -> Option<u32> {
        self.strategy.saw(event)
    }

    fn race(&self) -> Option<[usize; 2]> {
        self.strategy.race()
    }

    #[inline]
    fn is_void(&self) -> bool {
        self.divergence.is_some() || self.strategy.is_void()
    }

    #[inline]
    fn ran(&mut self, event: &Event) {
        self.events += 1;
        self.relation.push(event);
        if let Some(lazy) = &mut self.lazy {
            lazy.push(event);
        }
        if let Some(watcher) = &mut self.watch.0 {
            watcher.sees(self.before + self.events);
        }
        if self.divergence.is_none()
            && let Err(divergence) = self.strategy.ran(event)
        {
            self.divergence = Some(divergence);
        }
        if let Some(watcher) = &mut self.watch.0 {
            watcher.ends();
        }
    }

    fn blocked(&mut self, view: &View<'_>) {
        if self.divergence.is_none() {
            let events = self.before + self.events;
            self.watch.during(events, || self.strategy.blocked(view));
        }
    }

    fn cut(&mut self, view: &View<'_>) {
        if self.divergence.is_none() {
            let events = self.before + self.events;
            self.watch.during(events, || self.strategy.cut(view));
        }
    }
}
