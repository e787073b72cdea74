//! `dpor`: dynamic partial-order reduction with sleep sets.
//!
//! Source: *Dynamic Partial-Order Reduction for Model Checking Software* (Flanagan and Godefroid, POPL 2005), section 3
//! for the algorithm, 4.1 for clock vectors; sleep sets are those of Godefroid 1996, chapter 5. Each node of the current
//! schedule has a backtrack set. When an operation races with an earlier event, a thread that leads to their reversal is
//! added to the backtrack set before that event. A thread whose alternatives have been explored sleeps until a
//! dependent event wakes it; an execution in which all enabled threads sleep is given up.
//!
//! Which thread is added differs from the 2005 paper: with sleep sets, the one that it adds may sleep there, while what has
//! to be explored starts with another, and traces are lost (three readers and a writer are enough). So the thread is
//! taken from the reversal's *source set*: one whose next event is minimal in happens-before among those that the
//! reversal consists of (*Optimal Dynamic Partial Order Reduction*, Abdulla, Aronis, Jonsson, Sagonas, POPL 2014,
//! section 4).
//!
//! Promise: exhausted: every Mazurkiewicz trace is executed at least once. With sleep sets none is executed to its end
//! twice; what is lost is lost in executions that are given up.

use crate::event::{Event, Thread};
use crate::executor::{Pick, RunEnd, View};
use crate::race::{Latest, is_immediate, races, starting, was_let_go_by};
use crate::search::{Difference, Divergence};
use crate::strategy::{Promise, Strategy};
use crate::threads::ThreadSet;
use crate::trace::{Position, Trace};

/// One scheduling point of the current schedule.
#[derive(Clone, Debug, Default)]
struct Node {
    enabled: ThreadSet,
    backtrack: ThreadSet,
    done: ThreadSet,
    chosen: Thread,
    /// Threads that sleep here, each by the event that it did when it was explored.
    sleep: Vec<Event>,
    asleep: ThreadSet,
    weight: f64,
}

/// Dynamic partial-order reduction.
#[derive(Clone, Debug, Default)]
pub struct Dpor {
    /// The first `length` are the current schedule; the others keep their memory.
    nodes: Vec<Node>,
    length: usize,
    depth: usize,
    trace: Trace,
    started: bool,
    done: bool,
    explored: f64,
}

impl Dpor {
    /// From the start.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn push(&mut self, view: &View<'_>) -> Pick {
        if self.length == self.nodes.len() {
            self.nodes.push(Node::default());
        }
        let (before, rest) = self.nodes.split_at_mut(self.length);
        let node = &mut rest[0];
        node.enabled = view.enabled;
        node.sleep.clear();
        node.asleep = ThreadSet::EMPTY;
        node.weight = 1.0;
        if let Some(parent) = before.last() {
            let event = self.trace.event(self.length as Position - 1);
            for sleeper in parent.sleep.iter().filter(|other| !other.depends(event)) {
                node.sleep.push(*sleeper);
                node.asleep.insert(sleeper.thread);
            }
            let children = parent
                .backtrack
                .difference(parent.asleep)
                .union(parent.done);
            node.weight = parent.weight / f64::from(children.len().max(1));
        }
        let awake = view.enabled.difference(node.asleep);
        let Some(lowest) = awake.first() else {
            self.races_of_waiting(view);
            return Pick::Abandon;
        };
        let chosen = view
            .running()
            .filter(|&t| awake.contains(t))
            .unwrap_or(lowest);
        node.chosen = chosen;
        node.backtrack = ThreadSet::only(chosen);
        node.done = ThreadSet::EMPTY;
        self.length += 1;
        Pick::Run(chosen)
    }

    /// Makes sure that each race of this operation is turned round: some thread that can start a reversal is in the
    /// backtrack set before the racing event, or asleep there.
    fn race(&mut self, latest: Latest) {
        for position in races(&self.trace, latest) {
            let node = &mut self.nodes[position as usize];
            let there = node.enabled.contains(latest.thread);
            if was_let_go_by(latest, position, there)
                || !is_immediate(&self.trace, latest, position)
            {
                continue;
            }
            // An exclusive lock may have to wait there for shared holders that come after the racing event; then there is
            // no reversal to explore.
            let starting = starting(&self.trace, latest, position).intersection(node.enabled);
            if starting
                .intersection(node.backtrack.union(node.asleep))
                .is_empty()
            {
                let own = starting.contains(latest.thread).then_some(latest.thread);
                if let Some(thread) = own.or(starting.first()) {
                    node.backtrack.insert(thread);
                }
            }
        }
    }

    fn races_of_waiting(&mut self, view: &View<'_>) {
        for thread in view.live.difference(view.enabled).iter() {
            let pending = view.of(thread);
            self.race(Latest {
                thread,
                kind: pending.kind,
                object: pending.object,
                before: self.trace.last(thread),
                end: self.trace.len() as Position,
            });
        }
    }
}

impl Strategy for Dpor {
    fn name(&self) -> &'static str {
        "dpor"
    }

    fn begin(&mut self) -> bool {
        self.depth = 0;
        if !std::mem::replace(&mut self.started, true) {
            return true;
        }
        while self.length > 0 {
            let position = self.length - 1;
            let node = &mut self.nodes[position];
            let event = *self.trace.event(position as Position);
            self.trace.truncate(position);
            node.done.insert(event.thread);
            if !node.asleep.contains(event.thread) {
                node.asleep.insert(event.thread);
                node.sleep.push(event);
            }
            if let Some(next) = node.backtrack.difference(node.asleep).first() {
                node.chosen = next;
                return true;
            }
            self.length -= 1;
        }
        self.done = true;
        false
    }

    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        let depth = self.depth;
        self.depth += 1;
        if depth >= self.length {
            return Ok(self.push(view));
        }
        let node = &self.nodes[depth];
        if node.enabled != view.enabled {
            return Err(Divergence {
                position: depth,
                difference: Difference::OtherEnabled,
            });
        }
        Ok(Pick::Run(node.chosen))
    }

    #[inline]
    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        let position = self.depth - 1;
        if position < self.trace.len() {
            return self.trace.verify(position, event);
        }
        let position = self.trace.push(event);
        self.race(Latest {
            thread: event.thread,
            kind: event.kind,
            object: event.object,
            before: self.trace.entry(position).before,
            end: position,
        });
        Ok(())
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.races_of_waiting(view);
    }

    fn end(&mut self, _end: &RunEnd) {
        let last = self.length.checked_sub(1).map(|last| &self.nodes[last]);
        self.explored += last.map_or(1.0, |node| {
            let children = node.backtrack.difference(node.asleep).union(node.done);
            node.weight / f64::from(children.len().max(1))
        });
    }

    fn promise(&self) -> Promise {
        if self.done {
            Promise::Exhausted
        } else {
            Promise::Unfinished
        }
    }

    /// Backtrack sets grow as a search goes on, so that early estimates are too low for the whole.
    fn explored(&self) -> Option<f64> {
        Some(self.explored.min(1.0))
    }
}
