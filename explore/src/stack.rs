//! The current schedule of a dynamic partial-order reduction: its scheduling points with backtrack sets and sleep sets.
//!
//! The strategy decides which threads have to be tried at a point. This module has what is the same for all strategies:
//! depth-first order, and sleep sets (Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, 1996,
//! chapter 5). A thread whose alternatives have been explored sleeps until a dependent event wakes the thread.

use crate::divergence::{Difference, Divergence};
use crate::event::{Event, Thread};
use crate::executor::View;
use crate::fair::Turns;
use crate::threads::ThreadSet;

/// The number of scheduling points that a stack has room for from the start.
const SHORT: usize = 32;

/// One scheduling point of the current schedule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    pub(crate) enabled: ThreadSet,
    pub(crate) backtrack: ThreadSet,
    pub(crate) asleep: ThreadSet,
    /// The threads that sleep here, each as the event that the thread did when it was explored.
    sleep: Vec<Event>,
    done: ThreadSet,
    chosen: Thread,
    /// The event of the chosen thread.
    event: Event,
    weight: f64,
}

impl Node {
    /// Makes sure that one of `threads` is tried here, if any of them is enabled: `first` if `first` is one of them.
    pub(crate) fn try_one_of(&mut self, threads: ThreadSet, first: Thread) {
        let threads = threads.intersection(self.enabled);
        let tried = self.backtrack.union(self.asleep);
        if threads.intersection(tried).is_empty() {
            let first = threads.contains(first).then_some(first);
            if let Some(thread) = first.or(threads.first()) {
                self.backtrack.insert(thread);
            }
        }
    }

    /// Makes sure that all threads are tried here.
    pub(crate) fn try_all(&mut self) {
        self.backtrack = self.backtrack.union(self.enabled);
    }

    /// The threads that have been tried or are to be tried here.
    fn children(&self) -> ThreadSet {
        self.backtrack.difference(self.asleep).union(self.done)
    }
}

/// What to do at a scheduling point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Run(Thread),
    /// Every enabled thread sleeps.
    Asleep,
}

/// The current schedule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stack {
    /// The first `length` are the current schedule; the others keep their memory.
    nodes: Vec<Node>,
    length: usize,
    depth: usize,
    turns: Turns,
    /// The number of events of the current schedule that are known.
    known: usize,
    started: bool,
    done: bool,
    explored: f64,
}

impl Stack {
    /// Goes on to the next schedule, which has its first [`Self::known`] events in common with the schedule before. Returns
    /// false if there is no next schedule.
    pub(crate) fn begin(&mut self) -> bool {
        self.depth = 0;
        self.turns.clear();
        if !std::mem::replace(&mut self.started, true) {
            self.nodes.reserve(SHORT);
            return true;
        }
        while self.length > 0 {
            let position = self.length - 1;
            self.known = position;
            let node = &mut self.nodes[position];
            let event = node.event;
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

    /// The number of events of the current schedule that are known.
    pub(crate) fn known(&self) -> usize {
        self.known
    }

    /// The scheduling point before the event at this position.
    pub(crate) fn node(&mut self, position: u32) -> &mut Node {
        &mut self.nodes[position as usize]
    }

    /// Whether the next scheduling point is a new one.
    pub(crate) fn is_at_end(&self) -> bool {
        self.depth >= self.length
    }

    /// The threads that sleep at the last scheduling point.
    pub(crate) fn asleep(&self) -> ThreadSet {
        self.nodes[..self.length]
            .last()
            .map_or(ThreadSet::EMPTY, |node| node.asleep)
    }

    /// Takes back the last scheduling point, at which nothing has run yet: the execution is given up there.
    pub(crate) fn give_up(&mut self) {
        self.length -= 1;
    }

    /// Picks the thread to run. At a new point: of the threads whose turn it is, the thread that ran last, or the lowest.
    #[inline]
    pub(crate) fn pick(&mut self, view: &View<'_>) -> Result<Step, Divergence> {
        let ran = |at: usize| self.nodes[at].chosen;
        let turn = self.turns.among(view.willing(), self.depth, ran);
        self.pick_with(view, |awake| {
            let first = awake.intersection(turn);
            Some(view.preferred(if first.is_empty() { awake } else { first }))
        })
    }

    /// Picks the thread to run. At a new point `choose` picks among the threads that are awake.
    #[inline]
    pub(crate) fn pick_with(
        &mut self,
        view: &View<'_>,
        choose: impl FnOnce(ThreadSet) -> Option<Thread>,
    ) -> Result<Step, Divergence> {
        let depth = self.depth;
        self.depth += 1;
        if depth >= self.length {
            return Ok(self.push(view, choose));
        }
        let node = &self.nodes[depth];
        if node.enabled != view.enabled {
            return Err(Divergence {
                position: depth,
                difference: Difference::OtherEnabled,
            });
        }
        Ok(Step::Run(node.chosen))
    }

    fn push(&mut self, view: &View<'_>, choose: impl FnOnce(ThreadSet) -> Option<Thread>) -> Step {
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
            let awake = |other: &&Event| !other.depends(&parent.event);
            for sleeper in parent.sleep.iter().filter(awake) {
                node.sleep.push(*sleeper);
                node.asleep.insert(sleeper.thread);
            }
            node.weight = parent.weight / f64::from(parent.children().len().max(1));
        }
        let awake = view.enabled.difference(node.asleep);
        if awake.is_empty() {
            return Step::Asleep;
        }
        let Some(chosen) = choose(awake) else {
            return Step::Asleep;
        };
        node.chosen = chosen;
        node.backtrack = ThreadSet::only(chosen);
        node.done = ThreadSet::EMPTY;
        self.length += 1;
        Step::Run(chosen)
    }

    /// Takes the event of the picked thread. Returns whether the event is new, not one that the schedule before had.
    #[inline]
    pub(crate) fn ran(&mut self, event: &Event) -> Result<bool, Divergence> {
        let position = self.depth - 1;
        let node = &mut self.nodes[position];
        if position < self.known {
            Divergence::check(position, &node.event, event)?;
            return Ok(false);
        }
        node.event = *event;
        self.known = position + 1;
        Ok(true)
    }

    /// The execution is over.
    pub(crate) fn end(&mut self) {
        let last = self.length.checked_sub(1).map(|last| &self.nodes[last]);
        self.explored += last.map_or(1.0, |node| {
            node.weight / f64::from(node.children().len().max(1))
        });
    }

    /// Whether there are no more schedules.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// The estimated share of the tree that has been searched, 0 to 1. Backtrack sets grow as a search goes on, so the
    /// number of executions that follows from an early estimate is too low.
    pub(crate) fn explored(&self) -> f64 {
        self.explored.min(1.0)
    }
}
