//! `icb+dpor`: partial-order reduction within a preemption bound, bound by bound, that keeps every trace of each bound.
//!
//! Source: *Bounded Partial-Order Reduction* (Coons, Musuvathi, McKinley, OOPSLA 2013), section 4. Plain DPOR cut off at
//! a bound misses traces: the interleaving that DPOR keeps for a trace may need more preemptions than another interleaving
//! of the trace, which DPOR dropped. So a race adds two backtrack points, not one: before the racing event, and
//! *conservatively* before the block of events of one thread that the racing event is in, where switching to the other
//! thread may be no preemption. The race with the last dependent event of each thread counts, not only with the last of
//! all.
//!
//! Where threads wait, two points are not enough: a thread that runs while another thread holds a lock, and comes to need
//! that lock, gives way again without a preemption, so events without any race are worth running there, too. So while any
//! lock is held, and while a thread can run that would have to wait for another thread's end at its join, every enabled
//! thread is in the backtrack set. In programs in which threads spin or wait for notifications, every enabled thread is in
//! the backtrack set at every point, so that there is no reduction at all. In programs with locks, every point of the block
//! of a race is a backtrack point, not only the block's start; in other programs, besides the two points, those points are
//! at which the other thread becomes enabled. (These rules come from a comparison with `pcb` on a hundred thousand random
//! programs and bounds: with all rules, the two strategies execute the same traces, and on programs with locks they do not
//! without any one of the rules. The comparison is no proof.) There are no sleep sets: the executions that a sleeping
//! thread stands for may have been explored only with more preemptions than the bound leaves.
//!
//! What conservative points cost is mostly that an execution comes to a state that another one has come to: the same
//! happens-before relation, and the same thread running. If that one had as many preemptions left, or more, all that could
//! follow here has followed there, so the execution is given up, as in *Partial-Order Reduction for Context-Bounded State
//! Exploration* (Musuvathi and Qadeer, MSR-TR-2007-12). As in [`CachedDpor`](crate::CachedDpor), the operations that came after the
//! state there count as operations that may come next here, so that their races with this execution's events are not
//! lost. States are not told apart so where threads rest: whose turn it is depends on the order of independent events.
//!
//! Promise: at the end of each bound b, every Mazurkiewicz trace that has an interleaving with at most b preemptions was
//! executed; exhausted once a bound cuts nothing off.

use std::mem::replace;

use crate::divergence::{Difference, Divergence};
use crate::event::{Event, Kind, Thread};
use crate::executor::{Pick, RunEnd, View};
use crate::fair::Turns;
use crate::hash::mix;
use crate::race::{Latest, races, was_let_go_by};
use crate::relation::Relation;
use crate::strategy::{Promise, Stats, Strategy};
use crate::threads::ThreadSet;
use crate::trace::{Position, Trace};
use crate::visits::{Operation, Visits, add as unite};

/// One scheduling point of the current schedule.
#[derive(Clone, Copy, Debug)]
struct Node {
    enabled: ThreadSet,
    backtrack: ThreadSet,
    done: ThreadSet,
    chosen: Thread,
    /// The thread that is preempted if another thread is picked here.
    running: Option<Thread>,
    /// The number of preemptions before this point.
    preemptions: u32,
    /// The number of locks held at this point.
    held: u32,
    weight: f64,
}

impl Node {
    fn spent_with(&self, thread: Thread) -> u32 {
        self.preemptions + u32::from(self.running.is_some_and(|running| running != thread))
    }
}

/// What is known of a scheduling point of the current schedule.
#[derive(Clone, Debug)]
struct Point {
    /// The hash of what tells the state.
    state: u64,
    preemptions: u32,
    /// The numbers of the operations that have come after the point, ascending.
    after: Vec<u32>,
}

/// Iterative context bounding with partial-order reduction.
#[derive(Clone, Debug)]
pub struct IcbDpor {
    nodes: Vec<Node>,
    /// One for each of `nodes`.
    points: Vec<Point>,
    relation: Relation,
    visits: Visits<u32>,
    given_up: u64,
    depth: usize,
    turns: Turns,
    trace: Trace,
    bound: u32,
    last: Option<u32>,
    completed: Option<u32>,
    cut: bool,
    exhausted: bool,
    started: bool,
    explored: f64,
    /// Whether the program has locks.
    locks: bool,
    /// Whether threads wait for a write or a notification.
    spins: bool,
    /// Pairs of threads, of which the first has waited for the end of the second.
    joins: Vec<(Thread, Thread)>,
    /// Whether threads let others go first.
    rests: bool,
    /// Whether one of `locks`, `spins`, `joins` and `rests` has changed since the current bound began: then this bound begins again.
    again: bool,
}

impl IcbDpor {
    /// Bounds 0, 1, 2, … up to `last`, or until a bound cuts nothing off.
    #[must_use]
    pub fn new(last: Option<u32>) -> Self {
        Self::starting_at(0, last)
    }

    /// One bound only.
    #[must_use]
    pub fn at(bound: u32) -> Self {
        Self::starting_at(bound, Some(bound))
    }

    fn starting_at(bound: u32, last: Option<u32>) -> Self {
        Self {
            nodes: Vec::new(),
            points: Vec::new(),
            relation: Relation::default(),
            visits: Visits::default(),
            given_up: 0,
            depth: 0,
            turns: Turns::default(),
            trace: Trace::default(),
            bound,
            last,
            completed: None,
            cut: false,
            exhausted: false,
            started: false,
            explored: 0.0,
            locks: false,
            spins: false,
            joins: Vec::new(),
            rests: false,
            again: false,
        }
    }

    /// The current bound on preemptions.
    #[must_use]
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// The last bound that was completed.
    #[must_use]
    pub fn completed(&self) -> Option<u32> {
        self.completed
    }

    /// The number of executions given up because all that could follow had been explored.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    fn push(&mut self, view: &View<'_>, turn: ThreadSet) -> Pick {
        self.learn(view);
        let chosen = view.preferred(turn);
        // To let others have their turns is no preemption.
        let running = view.running().filter(|&running| turn.contains(running));
        let (preemptions, weight) = self.nodes.last().map_or((0, 1.0), |node| {
            let children = node.backtrack.union(node.done);
            (
                node.spent_with(node.chosen),
                node.weight / f64::from(children.len().max(1)),
            )
        });
        let state = mix(
            self.relation.hash(),
            running.map_or(0, |running| 1 + u64::from(running)),
        );
        if self.is_explored(state, preemptions) {
            self.given_up += 1;
            return Pick::Abandon;
        }
        self.points.push(Point {
            state,
            preemptions,
            after: Vec::new(),
        });
        let held = match (self.nodes.last(), self.trace.len()) {
            (Some(node), length @ 1..) => match self.trace.event(length as Position - 1).kind {
                Kind::Unlock | Kind::UnlockShared => node.held.saturating_sub(1),
                kind => node.held + u32::from(kind.acquires()),
            },
            _ => 0,
        };
        self.nodes.push(Node {
            enabled: view.enabled,
            held,
            backtrack: if held > 0 || self.spins || self.may_come_to_join(view) {
                view.enabled
            } else {
                ThreadSet::only(chosen)
            },
            done: ThreadSet::EMPTY,
            chosen,
            running,
            preemptions,
            weight,
        });
        Pick::Run(chosen)
    }

    /// Whether all that can follow here has followed elsewhere, with as many preemptions left. What has followed there is held
    /// against the events here.
    fn is_explored(&mut self, state: u64, preemptions: u32) -> bool {
        if self.rests || self.again {
            return false;
        }
        let Some(after) = self.visits.find(state, preemptions) else {
            return false;
        };
        let after = after.to_vec();
        for &number in &after {
            self.race_later(self.visits.operation(number));
        }
        if let Some(point) = self.points.last_mut() {
            unite(&mut point.after, &after);
        }
        true
    }

    /// Adds backtrack points for the races of an operation that comes later, after events that are not known.
    fn race_later(&mut self, operation: Operation) {
        let thread = operation.thread;
        self.race(
            Latest {
                thread,
                kind: operation.kind,
                object: operation.object,
                before: self.trace.last(thread),
                end: self.trace.len() as Position,
            },
            true,
        );
        // The block that was running may be that of a racing event that is not known, and so begins here.
        let Some(mut at) = self.nodes.len().checked_sub(1) else {
            return;
        };
        let running = self.nodes[at].chosen;
        if running == thread {
            return;
        }
        add(&mut self.nodes[at], thread);
        while at > 0 && self.nodes[at - 1].chosen == running {
            at -= 1;
            add(&mut self.nodes[at], thread);
        }
    }

    /// An operation comes after the last point of the schedule.
    fn note(&mut self, operation: Operation) {
        let number = self.visits.number(operation);
        if let Some(point) = self.points.last_mut() {
            unite(&mut point.after, &[number]);
        }
    }

    /// The last point of the schedule has been explored to its end.
    fn leave(&mut self) {
        self.nodes.pop();
        let Some(point) = self.points.pop() else {
            return;
        };
        self.visits
            .insert(point.state, point.preemptions, &point.after);
        if let Some(before) = self.points.last_mut() {
            unite(&mut before.after, &point.after);
        }
    }

    /// Learns for what threads wait in this program. A bound that began without knowing begins again.
    fn learn(&mut self, view: &View<'_>) {
        if !view.resting.is_empty() {
            self.again |= !replace(&mut self.rests, true);
        }
        for thread in view.live.iter() {
            let pending = view.of(thread);
            let disabled = !view.enabled.contains(thread);
            match pending.kind {
                Kind::Lock | Kind::LockShared => self.again |= !replace(&mut self.locks, true),
                Kind::Wake => self.again |= !replace(&mut self.spins, true),
                Kind::Read if disabled => self.again |= !replace(&mut self.spins, true),
                Kind::Join if disabled => {
                    let pair = (thread, pending.object as Thread);
                    if !self.joins.contains(&pair) {
                        self.joins.push(pair);
                        self.again = true;
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether a thread that can run now would wait for the end of another, if it came to its join.
    fn may_come_to_join(&self, view: &View<'_>) -> bool {
        self.joins
            .iter()
            .any(|&(joiner, joined)| view.enabled.contains(joiner) && view.live.contains(joined))
    }

    /// The next schedule at this bound.
    fn advance(&mut self) -> bool {
        self.depth = 0;
        self.turns.clear();
        self.relation.clear();
        if std::mem::take(&mut self.again) {
            self.nodes.clear();
            self.points.clear();
            self.visits.clear();
            self.trace.truncate(0);
            self.cut = false;
            self.explored = 0.0;
            return true;
        }
        if !replace(&mut self.started, true) {
            return true;
        }
        while let Some(position) = self.nodes.len().checked_sub(1) {
            self.trace.truncate(position);
            let node = &mut self.nodes[position];
            node.done.insert(node.chosen);
            while let Some(next) = node.backtrack.difference(node.done).first() {
                if node.spent_with(next) <= self.bound {
                    node.chosen = next;
                    return true;
                }
                self.cut = true;
                node.done.insert(next);
            }
            self.leave();
        }
        false
    }

    /// Adds backtrack points for the races of an operation. `is_later`: other events, which are not known, come before it.
    fn race(&mut self, latest: Latest, is_later: bool) {
        let mut seen = ThreadSet::EMPTY;
        for position in races(&self.trace, latest) {
            let other = self.trace.event(position).thread;
            let there = self.nodes[position as usize]
                .enabled
                .contains(latest.thread);
            let is_let_go = !is_later && was_let_go_by(latest, position, there);
            if seen.contains(other) || is_let_go {
                continue;
            }
            seen.insert(other);
            add(&mut self.nodes[position as usize], latest.thread);
            let mut at = position as usize;
            while at > 0 && self.nodes[at - 1].chosen == other {
                let was_waiting = !self.nodes[at - 1].enabled.contains(latest.thread);
                if self.locks || was_waiting {
                    add(&mut self.nodes[at], latest.thread);
                }
                at -= 1;
            }
            add(&mut self.nodes[at], latest.thread);
        }
    }
}

/// Adds the thread, or, if it can't run there, all that can.
fn add(node: &mut Node, thread: Thread) {
    if node.enabled.contains(thread) {
        node.backtrack.insert(thread);
    } else {
        node.backtrack = node.enabled;
    }
}

impl Strategy for IcbDpor {
    fn begin(&mut self) -> bool {
        if self.advance() {
            return true;
        }
        self.completed = Some(self.bound);
        self.exhausted = !self.cut;
        if self.exhausted || self.last.is_some_and(|last| self.bound >= last) {
            return false;
        }
        self.bound += 1;
        self.visits.clear();
        self.cut = false;
        self.explored = 0.0;
        true
    }

    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        let depth = self.depth;
        self.depth += 1;
        let ran = |at: usize| self.nodes[at].chosen;
        let turn = self.turns.among(view.willing(), depth, ran);
        let Some(node) = self.nodes.get(depth) else {
            return Ok(self.push(view, turn));
        };
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
        self.relation.push(event);
        let position = self.depth - 1;
        if position < self.trace.len() {
            return self.trace.verify(position, event);
        }
        let position = self.trace.push(event);
        let latest = Latest {
            thread: event.thread,
            kind: event.kind,
            object: event.object,
            before: self.trace.entry(position).before,
            end: position,
        };
        self.note(Operation::of(event));
        self.race(latest, false);
        Ok(())
    }

    fn blocked(&mut self, view: &View<'_>) {
        for thread in view.live.iter() {
            let pending = view.of(thread);
            self.note(Operation::announced(thread, pending));
            let latest = Latest {
                thread,
                kind: pending.kind,
                object: pending.object,
                before: self.trace.last(thread),
                end: self.trace.len() as Position,
            };
            self.race(latest, false);
        }
    }

    fn cut(&mut self, view: &View<'_>) {
        self.blocked(view);
    }

    fn end(&mut self, _end: &RunEnd) {
        self.explored += self.nodes.last().map_or(1.0, |node| {
            let children = node.backtrack.union(node.done);
            node.weight / f64::from(children.len().max(1))
        });
    }

    /// Of the tree at the current bound; backtrack sets grow, so that early estimates are too low for the whole.
    fn report(&self) -> Stats {
        let promise = match self.completed {
            _ if self.exhausted => Promise::Exhausted,
            None => Promise::Unfinished,
            completed => Promise::Bounded {
                preemptions: completed,
                truncated: false,
            },
        };
        Stats::of_tree(promise, self.explored.min(1.0))
    }
}
