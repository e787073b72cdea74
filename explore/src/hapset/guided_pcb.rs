//! `hapset+pcb`: a search within a preemption bound, guided by predecessor sets.
//!
//! Source: *Coverage Guided Systematic Concurrency Testing* (Wang, Said, Gupta, ICSE 2011), sections 4.2.1 and 4.3: before
//! the latest event that an operation depends on, all threads are tried whose choice stays within the bound; the event is
//! the latest one that is not ruled out by what has been learned.
//!
//! The bound takes schedules away that the reduction relies on (section 4.3), so that even without guidance this is not
//! all within the bound: it promises nothing.

use crate::divergence::{Difference, Divergence};
use crate::event::{Event, Thread};
use crate::executor::{Pick, RunEnd, View};
use crate::fair::Turns;
use crate::race::{Latest, races};
use crate::strategy::{Promise, Stats, Strategy};
use crate::threads::ThreadSet;
use crate::trace::Trace;

use super::rounds::Rounds;
use super::sets::{PredecessorSets, Statement};
use super::{Lessons, is_good};

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
}

impl Node {
    /// The number of preemptions up to this point, with a pick of this thread.
    fn spent(&self, thread: Thread) -> u32 {
        self.preemptions + u32::from(self.running.is_some_and(|running| running != thread))
    }
}

/// Guided search within a preemption bound.
#[derive(Clone, Debug)]
pub struct GuidedPcb {
    bound: u32,
    nodes: Vec<Node>,
    depth: usize,
    turns: Turns,
    trace: Trace,
    sets: PredecessorSets,
    lessons: Lessons,
    rounds: Rounds,
    started: bool,
    done: bool,
}

impl GuidedPcb {
    /// A search within `bound` preemptions, after `learning_runs` random runs to learn from.
    #[must_use]
    pub fn new(bound: u32, learning_runs: u32, seed: u64) -> Self {
        Self {
            bound,
            nodes: Vec::new(),
            depth: 0,
            turns: Turns::default(),
            trace: Trace::default(),
            sets: PredecessorSets::default(),
            lessons: Lessons::new(learning_runs, seed),
            rounds: Rounds::new(seed),
            started: false,
            done: false,
        }
    }

    fn race(&mut self, latest: Latest, statement: Statement) {
        let trace = &self.trace;
        let mut untested = races(trace, latest).filter(|&position| {
            let earlier = Statement::of(trace.event(position));
            !self.sets.have_seen(statement, earlier)
        });
        if let Some(position) = untested.next() {
            let node = &mut self.nodes[position as usize];
            for thread in node.enabled.iter() {
                if node.spent(thread) <= self.bound {
                    node.backtrack.insert(thread);
                }
            }
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

impl Strategy for GuidedPcb {
    fn begin(&mut self) -> bool {
        self.sets.begin();
        if self.lessons.begin() {
            return true;
        }
        self.depth = 0;
        self.turns.clear();
        if !std::mem::replace(&mut self.started, true) {
            return true;
        }
        while let Some(node) = self.nodes.last_mut() {
            node.done.insert(node.chosen);
            if let Some(next) = node.backtrack.difference(node.done).first() {
                node.chosen = next;
                self.trace.truncate(self.nodes.len() - 1);
                return true;
            }
            self.nodes.pop();
        }
        self.trace.truncate(0);
        self.done = !self.rounds.again(self.sets.len());
        !self.done
    }

    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        if let Some(pick) = self.lessons.pick(view) {
            return Ok(pick);
        }
        let depth = self.depth;
        self.depth += 1;
        let ran = |at: usize| self.nodes[at].chosen;
        let turn = self.turns.among(view.willing(), depth, ran);
        if let Some(node) = self.nodes.get(depth) {
            if node.enabled != view.enabled {
                return Err(Divergence {
                    position: depth,
                    difference: Difference::OtherEnabled,
                });
            }
            return Ok(Pick::Run(node.chosen));
        }
        let mut node = Node {
            enabled: view.enabled,
            backtrack: ThreadSet::EMPTY,
            done: ThreadSet::EMPTY,
            chosen: view.preferred(turn),
            // To let others have their turns is no preemption.
            running: view.running().filter(|&running| turn.contains(running)),
            preemptions: self.nodes.last().map_or(0, |node| node.spent(node.chosen)),
        };
        if !self.rounds.is_first() {
            let within = |&thread: &Thread| node.spent(thread) <= self.bound;
            let threads = view.enabled.iter().filter(within).collect();
            node.chosen = self
                .rounds
                .pick(node.running, threads)
                .unwrap_or(node.chosen);
        }
        node.backtrack.insert(node.chosen);
        self.nodes.push(node);
        Ok(Pick::Run(node.chosen))
    }

    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        self.sets.ran(event);
        if self.lessons.are_under_way() {
            return Ok(());
        }
        let position = self.depth - 1;
        if position < self.trace.len() {
            return self.trace.verify(position, event);
        }
        let position = self.trace.push(event);
        self.race(Latest::ran(&self.trace, position), Statement::of(event));
        Ok(())
    }

    fn blocked(&mut self, view: &View<'_>) {
        if self.lessons.are_under_way() {
            return;
        }
        self.races_of_waiting(view, view.live.difference(view.enabled));
    }

    fn cut(&mut self, view: &View<'_>) {
        if !self.lessons.are_under_way() {
            self.races_of_waiting(view, view.live);
        }
    }

    fn end(&mut self, end: &RunEnd) {
        self.sets.end(is_good(end));
    }

    fn report(&self) -> Stats {
        let promise = if self.done {
            Promise::Heuristic
        } else {
            Promise::Unfinished
        };
        Stats::new(promise)
    }
}
