//! The nodes of an execution in the trees of the classes.

use super::classes::{Classes, Node, Partial, ROOT};
use super::frontier::Shared;
use crate::event::Thread;
use crate::hash::mix;
use crate::mcm::model::Model;

/// The nodes of an execution.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Lane by lane: per event the node of all that its thread has observed before it, and then the node after all events.
    nodes: Vec<Node>,
    /// Lane by lane: each of the lane's nodes once, from the top.
    steps: Vec<Node>,
    /// Per entry of `steps`: the number of the lane's events before the node is reached.
    places: Vec<u32>,
    /// Per lane: the indices in `nodes` and in `steps` at which the lane begins; then the indices at which the last lane
    /// ends.
    starts: Vec<(usize, usize)>,
}

impl Paths {
    /// Enters an execution's nodes, and keeps the memory.
    pub fn enter(&mut self, model: &Model, shared: &Shared) {
        let paths = self;
        paths.nodes.clear();
        paths.steps.clear();
        paths.places.clear();
        paths.starts.clear();
        // Most of them are known, and others want to look things up meanwhile.
        let mut known = Some(shared.read());
        let mut new = None;
        for lane in model.lanes() {
            paths.starts.push((paths.nodes.len(), paths.steps.len()));
            let mut at = ROOT;
            paths.nodes.push(at);
            for (index, step) in (1..).zip(&lane.steps) {
                if step.observes() {
                    let observation = step.observation();
                    let child = known.as_ref().and_then(|frontier| {
                        let classes = &frontier.classes;
                        classes.known_child(lane.thread, at, observation)
                    });
                    at = child.unwrap_or_else(|| {
                        known = None;
                        let frontier = new.get_or_insert_with(|| shared.write());
                        frontier.child(lane.thread, at, observation)
                    });
                    paths.steps.push(at);
                    paths.places.push(index);
                }
                paths.nodes.push(at);
            }
            if new.take().is_some() {
                known = Some(shared.read());
            }
        }
        paths.starts.push((paths.nodes.len(), paths.steps.len()));
    }

    /// The node before this event.
    #[must_use]
    pub fn before(&self, lane: u32, index: u32) -> Node {
        self.nodes[self.starts[lane as usize].0 + index as usize]
    }

    /// Each node of a lane once, from the top, and how many events it takes to be there.
    #[must_use]
    pub fn steps(&self, lane: usize) -> (&[Node], &[u32]) {
        let steps = self.starts[lane].1..self.starts[lane + 1].1;
        (&self.steps[steps.clone()], &self.places[steps])
    }

    /// The nodes at a cut.
    #[must_use]
    pub fn at(&self, model: &Model, cut: &[u32]) -> Partial {
        let lanes = (0..).zip(model.lanes()).zip(cut);
        lanes
            .map(|((at, lane), &index)| (lane.thread, self.before(at, index)))
            .collect()
    }

    /// Whether it passes through all of these nodes.
    #[must_use]
    pub fn pass(&self, model: &Model, classes: &Classes, nodes: &[(Thread, Node)]) -> bool {
        let path = |thread: Thread| {
            let at = model.lanes().iter().position(|lane| lane.thread == thread);
            at.map_or(&[][..], |at| self.steps(at).0)
        };
        let mut nodes = nodes.iter();
        nodes.all(|&(thread, node)| classes.is_on(path(thread), node))
    }

    /// Returns the key of the class of executions that end at this cut. A thread that no thread has started by then is no
    /// part of the key: the model of a predicted execution has this thread from the execution that it was predicted from,
    /// but the model of the same execution, once run, does not.
    #[must_use]
    pub fn key(&self, model: &Model, cut: &[u32]) -> u64 {
        let lanes = (0..).zip(model.lanes()).zip(cut);
        let begun = lanes.filter(|((_, lane), _)| {
            lane.fork
                .is_none_or(|(parent, fork)| cut[parent as usize] > fork)
        });
        begun.fold(0, |key, ((number, lane), &at)| {
            let waits = at < lane.len() || lane.waits.is_some();
            let node = u64::from(self.before(number, at));
            let place = if waits { 1 + u64::from(at) } else { 0 };
            key.wrapping_add(mix(mix(u64::from(lane.thread), node), place))
        })
    }
}
