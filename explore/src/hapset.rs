//! `hapset` and `hapset+pcb`: searches that leave out orders of two statements which have been seen in that order before.
//!
//! Source: *Coverage Guided Systematic Concurrency Testing* (Wang, Said, Gupta, ICSE 2011): predecessor sets that are
//! aware of history in section 3.3, learning in section 3.5 and algorithm 1, guidance in section 4.3 and algorithm 3,
//! continuous learning in section 4.4 and algorithm 4. What is kept is in [`sets`].
//!
//! A reduction reverses each race of an event with an earlier event. With guidance the reduction reverses a race only if
//! the statement of the later event has never been seen right before the statement of the earlier event: if it has, the
//! other order counts as tested. A statement is a place in the program with the calls that led there, for any thread that
//! runs it, so that what is learned of two threads holds for all threads; this makes the search small where there are many
//! threads or loops. **The guidance is not safe**: the same order of two statements may have another effect at another
//! time.
//!
//! The guided search is that of [`Dpor`](crate::Dpor), or the search of [`guided_pcb`] within a preemption bound. When the
//! search has nothing left to try, it begins once more, with other picks: see [`rounds`].
//!
//! Differences from the paper: sets are learned from runs that end, without a failure; one that fails is forgotten, as it
//! was no good run. With `dpor` there are sleep sets, which the paper's reduction does not have. Rounds are ours.
//!
//! Promise: heuristic. If the guidance has left nothing out: the promise of the guided search.

pub mod guided_pcb;
mod rounds;
pub mod sets;

use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Outcome, Pick, RunEnd, View};
use crate::race::{Latest, Window, races, was_let_go_by};
use crate::random_numbers::RandomNumbers;
use crate::stack::{Stack, Step};
use crate::strategy::{Promise, Stats, Strategy};
use crate::threads::ThreadSet;
use crate::trace::Trace;

use rounds::Rounds;
use sets::{PredecessorSets, Statement};

/// Runs with random schedules, from which sets are learned before a search begins.
#[derive(Clone, Debug)]
pub(crate) struct Lessons {
    left: u32,
    numbers: RandomNumbers,
    under_way: bool,
}

impl Lessons {
    pub(crate) fn new(runs: u32, seed: u64) -> Self {
        Self {
            left: runs,
            numbers: RandomNumbers::new(seed),
            under_way: false,
        }
    }

    /// Whether the next execution is a learning run.
    pub(crate) fn begin(&mut self) -> bool {
        self.under_way = self.left > 0;
        self.left = self.left.saturating_sub(1);
        self.under_way
    }

    /// Picks the thread to run, if the execution is a learning run.
    pub(crate) fn pick(&mut self, view: &View<'_>) -> Option<Pick> {
        if !self.under_way {
            return None;
        }
        let n = self.numbers.below(u64::from(view.enabled.len()));
        view.enabled.nth(n as u32).map(Pick::Run)
    }

    pub(crate) fn are_under_way(&self) -> bool {
        self.under_way
    }
}

/// Whether what an execution shows is good: it came to an end, and nothing failed.
pub(crate) fn is_good(end: &RunEnd) -> bool {
    end.failures.is_empty() && matches!(end.outcome, Outcome::Completed | Outcome::Abandoned)
}

/// Dynamic partial-order reduction, guided by predecessor sets.
#[derive(Clone, Debug)]
pub struct Hapset {
    stack: Stack,
    trace: Trace,
    sets: PredecessorSets,
    lessons: Lessons,
    rounds: Rounds,
    /// The number of races that plain reduction would have reversed, and that the guidance left out.
    left_out: u64,
}

impl Hapset {
    /// A search that learns from `learning_runs` random runs before it begins.
    #[must_use]
    pub fn new(learning_runs: u32, seed: u64) -> Self {
        Self {
            stack: Stack::default(),
            trace: Trace::default(),
            sets: PredecessorSets::default(),
            lessons: Lessons::new(learning_runs, seed),
            rounds: Rounds::new(seed),
            left_out: 0,
        }
    }

    /// The same search without the rounds after the first one, which is what the paper describes.
    #[must_use]
    pub fn in_one_round(mut self) -> Self {
        self.rounds.only_one();
        self
    }

    /// What has been learned.
    #[must_use]
    pub fn sets(&self) -> &PredecessorSets {
        &self.sets
    }

    fn race(&mut self, latest: Latest, statement: Statement) {
        let mut is_done = false;
        let mut window = None;
        for position in races(&self.trace, latest) {
            let window = window.get_or_insert_with(|| Window::new(&self.trace, latest));
            let node = self.stack.node(position);
            let there = node.enabled.contains(latest.thread);
            if was_let_go_by(latest, position, there) || !window.is_immediate(position) {
                continue;
            }
            let earlier = Statement::of(self.trace.event(position));
            // Only the race with the latest event is reversed.
            if is_done || self.sets.have_seen(statement, earlier) {
                self.left_out += 1;
                continue;
            }
            node.try_one_of(window.starting(position), latest.thread);
            is_done = true;
        }
    }

    fn races_of_waiting(&mut self, view: &View<'_>, waiting: ThreadSet) {
        for thread in waiting.iter() {
            let pending = view.of(thread);
            let latest = Latest::waiting(&self.trace, thread, pending);
            self.race(latest, Statement::announced(pending));
        }
    }
}

impl Strategy for Hapset {
    fn begin(&mut self) -> bool {
        self.sets.begin();
        if self.lessons.begin() {
            return true;
        }
        let mut more = self.stack.begin();
        if !more && self.left_out > 0 && self.rounds.again(self.sets.len()) {
            self.stack = Stack::default();
            more = self.stack.begin();
        }
        self.trace.truncate(self.stack.known());
        more
    }

    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        if let Some(pick) = self.lessons.pick(view) {
            return Ok(pick);
        }
        let step = if self.rounds.is_first() {
            self.stack.pick(view)
        } else {
            let rounds = &mut self.rounds;
            self.stack
                .pick_with(view, |awake| rounds.pick(view.running(), awake))
        };
        match step? {
            Step::Run(thread) => Ok(Pick::Run(thread)),
            Step::Asleep => {
                self.races_of_waiting(view, view.live.difference(view.enabled));
                Ok(Pick::Abandon)
            }
        }
    }

    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        self.sets.ran(event);
        if !self.lessons.are_under_way() && self.stack.ran(event)? {
            let position = self.trace.push(event);
            self.race(Latest::ran(&self.trace, position), Statement::of(event));
        }
        Ok(())
    }

    fn blocked(&mut self, view: &View<'_>) {
        if !self.lessons.are_under_way() {
            self.races_of_waiting(view, view.live.difference(view.enabled));
        }
    }

    fn cut(&mut self, view: &View<'_>) {
        if !self.lessons.are_under_way() {
            self.races_of_waiting(view, view.live);
        }
    }

    fn end(&mut self, end: &RunEnd) {
        self.sets.end(is_good(end));
        if !self.lessons.are_under_way() {
            self.stack.end();
        }
    }

    fn report(&self) -> Stats {
        let promise = match (self.stack.is_done(), self.left_out) {
            (false, _) => Promise::Unfinished,
            (true, 0) => Promise::Exhausted,
            (true, _) => Promise::Heuristic,
        };
        Stats {
            explored: self.rounds.is_first().then(|| self.stack.explored()),
            ..Stats::new(promise)
        }
    }
}
