//! The tree of schedules, searched depth first without any reduction, within a bound on preemptions or without one.
//!
//! The stack holds the current schedule with what is still to try at each of its points: memory is linear in the
//! length of an execution.

use crate::divergence::{Difference, Divergence};
use crate::event::Thread;
use crate::executor::{Pick, View};
use crate::fair::Turns;
use crate::parts::{Part, Standing, Units};
use crate::threads::ThreadSet;

/// One scheduling point of the current schedule.
#[derive(Clone, Copy, Debug)]
struct Node {
    enabled: ThreadSet,
    todo: ThreadSet,
    chosen: Thread,
    /// The thread that is preempted if another thread is picked here.
    running: Option<Thread>,
    /// The number of preemptions before this point.
    preemptions: u32,
    /// The node's share of the whole tree, 0 to 1, if all children of a node weigh the same.
    weight: f64,
}

impl Node {
    /// The number of preemptions up to this point, the choice at this point included.
    fn spent(&self) -> u32 {
        self.preemptions + u32::from(self.running.is_some_and(|running| running != self.chosen))
    }
}

/// The number of units into which a divided search is divided. There are hundreds of units at least, and a part makes at
/// most one execution in vain for each unit that belongs to another part.
const UNITS: u32 = 1024;

/// A depth-first walk.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    depth: usize,
    turns_of: Turns,
    bound: Option<u32>,
    /// Whether the bound ever cut a schedule off.
    cut: bool,
    started: bool,
    done: bool,
    explored: f64,
    units: Units,
    /// The depth of the node whose children are units, if the current schedule has got there.
    border: Option<usize>,
    /// Whether the execution was given up since all continuations belong to other parts.
    foreign: bool,
    standing: Standing,
}

impl Tree {
    pub(crate) fn new(bound: Option<u32>) -> Self {
        Self::part(bound, Part::WHOLE)
    }

    pub(crate) fn part(bound: Option<u32>, part: Part) -> Self {
        Self {
            nodes: Vec::new(),
            depth: 0,
            turns_of: Turns::default(),
            bound,
            cut: false,
            started: false,
            done: false,
            explored: 0.0,
            units: Units::new(part, UNITS),
            border: None,
            foreign: false,
            standing: Standing::WHOLE,
        }
    }

    /// Goes on to the next schedule. Returns false if there is none.
    pub(crate) fn advance(&mut self) -> bool {
        self.depth = 0;
        self.turns_of.clear();
        self.foreign = false;
        if !std::mem::replace(&mut self.started, true) {
            return true;
        }
        while let Some(depth) = self.nodes.len().checked_sub(1) {
            let is_border = self.border == Some(depth);
            let node = &mut self.nodes[depth];
            while let Some(next) = node.todo.first() {
                node.todo.remove(next);
                if !is_border || self.units.meet() {
                    node.chosen = next;
                    return true;
                }
            }
            self.nodes.pop();
            if is_border {
                self.border = None;
            }
        }
        self.done = true;
        false
    }

    /// Whether the next pick repeats one of the execution before.
    #[inline]
    pub(crate) fn is_repeating(&self) -> bool {
        self.depth < self.nodes.len()
    }

    #[inline]
    pub(crate) fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        let depth = self.depth;
        self.depth += 1;
        let ran = |at: usize| self.nodes[at].chosen;
        let turn = self.turns_of.among(view.willing(), depth, ran);
        if let Some(node) = self.nodes.get(depth) {
            if node.enabled != view.enabled {
                return Err(Divergence {
                    position: depth,
                    difference: Difference::OtherEnabled,
                });
            }
            return Ok(Pick::Run(node.chosen));
        }
        Ok(self.push(view, turn))
    }

    /// A scheduling point that is new.
    fn push(&mut self, view: &View<'_>, turn: ThreadSet) -> Pick {
        let depth = self.nodes.len();
        let (preemptions, above) = self
            .nodes
            .last()
            .map_or((0, 1.0), |node| (node.spent(), node.weight));
        let mut chosen = view.preferred(turn);
        // To let others have their turns is no preemption.
        let running = view.running().filter(|&running| turn.contains(running));
        let mut todo = view.enabled;
        if running.is_some() && self.bound.is_some_and(|bound| preemptions >= bound) {
            self.cut |= todo != ThreadSet::only(chosen);
            todo = ThreadSet::only(chosen);
        }
        let weight = above / f64::from(todo.len());
        todo.remove(chosen);
        if self.units.is_top(above) && !self.units.is_top(weight) {
            while !self.units.meet() {
                let Some(next) = todo.first() else {
                    self.foreign = true;
                    return Pick::Abandon;
                };
                todo.remove(next);
                chosen = next;
            }
            self.border = Some(depth);
        }
        self.nodes.push(Node {
            enabled: view.enabled,
            todo,
            chosen,
            running,
            preemptions,
            weight,
        });
        Pick::Run(chosen)
    }

    /// The execution is over.
    pub(crate) fn end(&mut self) {
        let weight = self.nodes.last().map_or(1.0, |node| node.weight);
        self.standing = if self.foreign {
            Standing {
                own: false,
                turn: self.units.turns(),
                ..Standing::WHOLE
            }
        } else if self.units.is_top(weight) {
            self.units.outside()
        } else {
            self.units.within()
        };
        if self.standing.own {
            self.explored += weight;
        }
    }

    /// Where the execution that is over stands.
    pub(crate) fn standing(&self) -> Standing {
        self.standing
    }

    /// Turns of the parts so far.
    pub(crate) fn turns(&self) -> u64 {
        self.units.turns()
    }

    /// Preemptions of the execution that is over.
    pub(crate) fn preemptions(&self) -> u32 {
        self.nodes.last().map_or(0, Node::spent)
    }

    /// Whether all of it has been walked.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Whether the bound cut something off.
    pub(crate) fn was_cut(&self) -> bool {
        self.cut
    }

    /// The estimated share of the tree that has been walked, 0 to 1.
    pub(crate) fn explored(&self) -> f64 {
        self.explored
    }
}
