//! An execution among the classes.

use super::classes::{Classes, Node, Partial, ROOT};
use super::frontier::Shared;
use crate::event::Thread;
use crate::hash::mix;
use crate::mcm::model::Model;

/// The nodes of an execution: per lane and index, what its thread has observed before that event.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    pub(super) nodes: Vec<Vec<Node>>,
    /// Per lane: each of its nodes once, from the top, with how many events it takes to be there.
    pub(super) steps: Vec<(Vec<Node>, Vec<u32>)>,
}

impl Paths {
    /// Enters an execution's nodes.
    pub fn of(model: &Model, shared: &Shared) -> Self {
        let mut paths = Self::default();
        // Most of them are known, and others want to look things up meanwhile.
        let mut known = Some(shared.read());
        let mut new = None;
        for lane in model.lanes() {
            let mut at = ROOT;
            let mut nodes = Vec::with_capacity(lane.steps.len() + 1);
            let (mut path, mut places) = (Vec::new(), Vec::new());
            nodes.push(at);
            for (index, step) in lane.steps.iter().enumerate() {
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
                    path.push(at);
                    places.push(u32::try_from(index + 1).unwrap_or(u32::MAX));
                }
                nodes.push(at);
            }
            if new.take().is_some() {
                known = Some(shared.read());
            }
            paths.nodes.push(nodes);
            paths.steps.push((path, places));
        }
        paths
    }

    /// Before this event.
    #[must_use]
    pub fn before(&self, lane: u32, index: u32) -> Node {
        self.nodes[lane as usize][index as usize]
    }

    /// At a cut.
    #[must_use]
    pub fn at(&self, model: &Model, cut: &[u32]) -> Partial {
        let lanes = model.lanes().iter().zip(&self.nodes).zip(cut);
        lanes
            .map(|((lane, nodes), &at)| (lane.thread, nodes[at as usize]))
            .collect()
    }

    /// Whether it passes through all of these nodes.
    #[must_use]
    pub fn pass(&self, model: &Model, classes: &Classes, nodes: &[(Thread, Node)]) -> bool {
        let path = |thread: Thread| {
            let at = model.lanes().iter().position(|lane| lane.thread == thread);
            at.map_or(&[][..], |at| &self.steps[at].0)
        };
        let mut nodes = nodes.iter();
        nodes.all(|&(thread, node)| classes.is_on(path(thread), node))
    }

    /// The key of the class of executions that end so.
    #[must_use]
    pub fn key(&self, model: &Model, cut: &[u32]) -> u64 {
        let lanes = model.lanes().iter().zip(&self.nodes).zip(cut);
        lanes.fold(0, |key, ((lane, nodes), &at)| {
            let waits = at < lane.len() || lane.waits.is_some();
            let node = u64::from(nodes[at as usize]);
            let place = if waits { 1 + u64::from(at) } else { 0 };
            key.wrapping_add(mix(mix(u64::from(lane.thread), node), place))
        })
    }
}
