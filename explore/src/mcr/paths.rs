//! An execution among the classes.

use super::classes::{Node, Partial, ROOT};
use super::frontier::Frontier;
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
    pub fn of(model: &Model, frontier: &mut Frontier) -> Self {
        let mut paths = Self::default();
        for lane in model.lanes() {
            let mut at = ROOT;
            let mut nodes = Vec::with_capacity(lane.steps.len() + 1);
            let (mut path, mut places) = (Vec::new(), Vec::new());
            nodes.push(at);
            for (index, step) in lane.steps.iter().enumerate() {
                if step.observes() {
                    at = frontier.child(lane.thread, at, step.observation());
                    path.push(at);
                    places.push(u32::try_from(index + 1).unwrap_or(u32::MAX));
                }
                nodes.push(at);
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
