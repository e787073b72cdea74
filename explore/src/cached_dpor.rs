//! `hbr-cache+dpor` and `lazy-hbr+dpor`: dynamic partial-order reduction that does not explore a state twice, as far as a
//! happens-before relation tells states.
//!
//! Source: *The Lazy Happens-Before Relation* (Thomson and Donaldson), section 3, for the caches; the paper has them over
//! plain depth-first search. Over a reduction a cache alone is not sound: the events after the state would have shown
//! races with the events before the state in *this* execution, and have shown races only with the events before it in the
//! *earlier* execution. The remedy is that of *Efficient Stateful Dynamic Partial Order Reduction* (Yang, Chen,
//! Gopalakrishnan, Kirby, SPIN 2008): for each state the search keeps all operations that come after the state, and where
//! an execution is given up, these operations count as operations that may come next. The details are seqz's own:
//! 1. **Races.** Each operation that is kept is held against the events here that its thread does not know of yet. Before
//!    one that races with it, a thread is tried that all reversals can start with: one of which the first event that does
//!    not come after the race has nothing before it. If no thread has gone on since, nothing is known of how the reversal
//!    starts, and all threads are tried.
//! 2. **Sleep.** What begins with a thread that slept when the state was explored was left out then. So such a thread must
//!    sleep here, too; else the state is explored again.
//! 3. **Plain data.** A data race is no state: a lock may order two accesses in one of two executions that have the same
//!    lazy relation. What has touched plain data is not given up.
//!
//! Why nothing is lost. By 1 and 2, for each execution E an equivalent one is run to its end, or up to where it is given
//! up: that is the argument for source sets (see [`Dpor`](crate::Dpor)), in which the events of E that are not run any
//! more are among those that were kept. What is given up goes on from a state that has been explored before, with the same
//! events; again as far as it is not given up, and so on to an execution that is run to its end. It has the lazy relation
//! of E.
//!
//! `hbr-cache+dpor` never gives up anything. With sleep sets, two executions have no equivalent prefixes: of two that part
//! at a state, the later one sleeps on what the earlier one did there until something happens that depends on it. So it is
//! [`Dpor`](crate::Dpor) with a proof; tests hold it to that.
//!
//! Promise: `hbr-cache+dpor`: exhausted. `lazy-hbr+dpor`: exhausted lazily.

use crate::divergence::Divergence;
use crate::dpor::turn_round;
use crate::event::{Event, Object};
use crate::executor::{Learned, Pick, RunEnd, View};
use crate::race::{Latest, Window, races};
use crate::relation::Relation;
use crate::stack::{Stack, Step};
use crate::strategy::{Promise, Stats, Strategy};
use crate::threads::ThreadSet;
use crate::trace::Trace;

use crate::visits::{Operation, Visits, add};

/// What is known of a scheduling point of the current schedule.
#[derive(Clone, Debug, Default)]
struct Point {
    relation: u64,
    asleep: ThreadSet,
    /// The numbers of the operations that have come after the point.
    after: Vec<u32>,
}

/// Dynamic partial-order reduction with a cache of happens-before relations.
#[derive(Clone, Debug)]
pub struct CachedDpor {
    stack: Stack,
    trace: Trace,
    relation: Relation,
    visits: Visits<ThreadSet>,
    /// One point for each event of the current schedule.
    points: Vec<Point>,
    plain: Vec<Object>,
    is_lazy: bool,
    given_up: u64,
}

impl CachedDpor {
    /// `hbr-cache+dpor`.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Relation::default(), false)
    }

    /// `lazy-hbr+dpor`.
    #[must_use]
    pub fn lazy() -> Self {
        Self::with(Relation::lazy(), true)
    }

    fn with(relation: Relation, is_lazy: bool) -> Self {
        Self {
            stack: Stack::default(),
            trace: Trace::default(),
            relation,
            visits: Visits::default(),
            points: Vec::new(),
            plain: Vec::new(),
            is_lazy,
            given_up: 0,
        }
    }

    /// The number of executions that were given up because the cache knew the state.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Adds backtrack points for the races of an operation, as [`Dpor`](crate::Dpor) does.
    fn race(&mut self, latest: Latest) {
        turn_round(&self.trace, &mut self.stack, latest);
    }

    /// Reverses the races of an operation that comes later, after events that are not known.
    fn race_later(&mut self, operation: Operation) {
        let latest = Latest {
            thread: operation.thread,
            kind: operation.kind,
            object: operation.object,
            before: self.trace.last(operation.thread),
            end: self.trace.len() as u32,
        };
        let mut window = None;
        for position in races(&self.trace, latest) {
            let window = window.get_or_insert_with(|| Window::new(&self.trace, latest));
            if !window.is_immediate(position) {
                continue;
            }
            let first = window.going_on(position);
            let node = self.stack.node(position);
            if first.is_empty() {
                node.try_all();
            } else {
                node.try_one_of(first, latest.thread);
            }
        }
    }

    fn races_of_waiting(&mut self, view: &View<'_>, waiting: ThreadSet) {
        for thread in waiting.iter() {
            let pending = view.of(thread);
            self.race(Latest::waiting(&self.trace, thread, pending));
            self.note(Operation::announced(thread, pending));
        }
    }

    /// An operation comes after the last point of the schedule.
    fn note(&mut self, operation: Operation) {
        let number = self.visits.number(operation);
        if let Some(point) = self.points.last_mut() {
            add(&mut point.after, &[number]);
        }
    }

    /// The points after the first `length` have been explored to their ends.
    fn leave(&mut self, length: usize) {
        while self.points.len() > length {
            let Some(point) = self.points.pop() else {
                return;
            };
            self.visits
                .insert(point.relation, point.asleep, &point.after);
            if let Some(before) = self.points.last_mut() {
                add(&mut before.after, &point.after);
            }
        }
    }

    /// Gives the execution up if its state has been explored.
    fn is_explored(&mut self, relation: u64, asleep: ThreadSet) -> bool {
        let mut plain = self.plain.iter();
        if plain.any(|&object| !self.trace.uses(object).is_empty()) {
            return false;
        }
        let Some(after) = self.visits.find(relation, asleep) else {
            return false;
        };
        let after = after.to_vec();
        for &number in &after {
            self.race_later(self.visits.operation(number));
        }
        if let Some(point) = self.points.last_mut() {
            add(&mut point.after, &after);
        }
        true
    }
}

impl Default for CachedDpor {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for CachedDpor {
    fn begin(&mut self) -> bool {
        let more = self.stack.begin();
        let known = self.stack.known();
        self.relation.clear();
        self.trace.truncate(known);
        // The point at which the next schedule parts from this one goes on.
        self.leave(known + usize::from(more));
        more
    }

    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        let is_new = self.stack.is_at_end();
        match self.stack.pick(view)? {
            Step::Run(thread) if !is_new => Ok(Pick::Run(thread)),
            Step::Run(thread) => {
                let asleep = self.stack.asleep();
                let relation = self.relation.hash();
                if self.is_explored(relation, asleep) {
                    self.stack.give_up();
                    self.given_up += 1;
                    return Ok(Pick::Abandon);
                }
                self.points.push(Point {
                    relation,
                    asleep,
                    after: Vec::new(),
                });
                Ok(Pick::Run(thread))
            }
            Step::Asleep => {
                self.races_of_waiting(view, view.live.difference(view.enabled));
                Ok(Pick::Abandon)
            }
        }
    }

    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        self.relation.push(event);
        if self.stack.ran(event)? {
            let position = self.trace.push(event);
            self.note(Operation::of(event));
            self.race(Latest::ran(&self.trace, position));
        }
        Ok(())
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.races_of_waiting(view, view.live.difference(view.enabled));
    }

    fn cut(&mut self, view: &View<'_>) {
        self.races_of_waiting(view, view.live);
    }

    fn learned(&mut self, learned: &Learned<'_>) {
        for &object in learned.plain {
            if !self.plain.contains(&object) {
                self.plain.push(object);
            }
        }
    }

    fn end(&mut self, _end: &RunEnd) {
        self.stack.end();
    }

    fn report(&self) -> Stats {
        let promise = match (self.stack.is_done(), self.is_lazy) {
            (false, _) => Promise::Unfinished,
            (true, false) => Promise::Exhausted,
            (true, true) => Promise::ExhaustedLazily { truncated: false },
        };
        Stats::of_tree(promise, self.stack.explored())
    }
}
