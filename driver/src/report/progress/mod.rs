//! The progress graph of two threads: an execution as a path through the plane of (events done by the first thread,
//! events done by the second thread), and the obstacles to other paths.
//!
//! Source: E. W. Dijkstra's progress graphs, with which `seqz_feasibility::Grid` decides, too. Each constraint is
//! drawn by itself, in the words of section 4.2 of *Bounded-Interference Sequentialization for Testing Concurrent
//! Programs*: a path has the same locks and the same reads as the execution exactly when it keeps clear of all
//! [`Obstacle`]s.
//!
//! At place (x, y), the first thread (drawn to the right) has done x events, and the second thread (drawn upwards) y.
//! Step i of a thread leads from place i to place i + 1, so the step is drawn as the line between the two places.

mod draw;
mod plane;
#[cfg(test)]
mod tests;

pub use draw::{figure, in_words, svg};
pub use plane::{Bar, Corner, Obstacle, Plane, Rectangle, Why};

use std::collections::HashMap;

use super::scene::Scene;
use crate::model::schedule::Action;
use plane::{Act, Step};
use seqz_runtime::log::LockMode;

/// The largest number of events of a thread that is drawn.
const MOST: usize = 200;
/// The number of events from which on events that constrain nothing are left out.
const MANY: usize = 40;

/// A progress graph, with the events of the scene that its lines stand for.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The indices of the lanes of the scene: to the right, and upwards.
    pub lanes: [usize; 2],
    /// The obstacles and the path.
    pub plane: Plane,
    /// For each thread, its steps as indices of events of the scene.
    pub events: [Vec<usize>; 2],
    /// For each thread, the index of the mark that names what the thread is about to do and can't.
    pub pending: [Option<usize>; 2],
    /// Whether events that constrain nothing were left out.
    pub reduced: bool,
}

/// The reason why an execution has no progress graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoGraph {
    /// More than two threads run side by side, and a plane has two axes.
    #[error("more than two threads run side by side: a progress graph has two axes")]
    Threads,
    /// Both threads are joined, and others run side by side after that.
    #[error(
        "threads run side by side again after others were joined: a progress graph shows two threads"
    )]
    Rounds,
    /// Only one thread has events that another thread could see.
    #[error("only one thread does anything that another one could see")]
    OneThread,
    /// The execution has notifications, which are no reads, writes or locks.
    #[error("threads wait to be notified, which a progress graph does not show")]
    Waits,
    /// A picture of this many events would be unreadable.
    #[error("the threads have too many events for a picture")]
    TooLong,
}

impl Graph {
    /// Returns the progress graph of an execution.
    ///
    /// # Errors
    /// The reason why the execution has no progress graph.
    pub fn of(scene: &Scene<'_>) -> Result<Self, NoGraph> {
        let lanes = two_lanes(scene)?;
        let is_pending = |mark: &super::scene::Mark<'_>| mark.pending.is_some();
        let pending = lanes.map(|lane| {
            let mut marks = scene.marks.iter();
            marks.position(|mark| mark.lane == lane && is_pending(mark))
        });
        let mut kept = vec![true; scene.events.len()];
        let count = |kept: &[bool], lane: usize| {
            let events = scene.events.iter().zip(kept);
            events.filter(|(e, kept)| e.lane == lane && **kept).count()
        };
        let reduced = lanes.iter().any(|&lane| count(&kept, lane) > MANY);
        if reduced {
            // For each object, which of the two threads use it.
            let mut users: HashMap<Option<u32>, [bool; 2]> = HashMap::new();
            for event in scene.events.iter().filter(|it| it.action.has_variable()) {
                if let Some(axis) = lanes.iter().position(|&lane| lane == event.lane) {
                    users.entry(event.object).or_default()[axis] = true;
                }
            }
            for (at, event) in scene.events.iter().enumerate() {
                let users = users.get(&event.object).copied().unwrap_or_default();
                let by_another = [0, 1]
                    .into_iter()
                    .any(|axis| users[axis] && lanes[axis] != event.lane);
                kept[at] = event.pair.is_some() || !event.action.has_variable() || by_another;
            }
        }
        let mut steps = [Vec::new(), Vec::new()];
        let mut events = [Vec::new(), Vec::new()];
        let mut order = Vec::new();
        let mut joined = [false; 2];
        for (at, event) in scene.events.iter().enumerate() {
            let Some(axis) = lanes.iter().position(|&lane| lane == event.lane) else {
                continue;
            };
            let other = scene.lanes[lanes[1 - axis]].thread;
            let Some(act) = act(event.action, event.object == Some(other))? else {
                continue;
            };
            if joined[axis] {
                return Err(NoGraph::Rounds);
            }
            joined[1 - axis] |= act == Act::Join;
            if !kept[at] {
                continue;
            }
            order.push(axis);
            events[axis].push(at);
            steps[axis].push(Step {
                act,
                object: event.object.unwrap_or(u32::MAX),
            });
        }
        if steps.iter().any(|steps| steps.len() > MOST) {
            return Err(NoGraph::TooLong);
        }
        if (0..2).any(|axis| steps[axis].is_empty() && pending[axis].is_none()) {
            return Err(NoGraph::OneThread);
        }
        for axis in 0..2 {
            let mark = pending[axis].and_then(|mark| scene.marks[mark].pending);
            let Some((action, object)) = mark else {
                continue;
            };
            let other = scene.lanes[lanes[1 - axis]].thread;
            let act = act(action, object == Some(other))?.filter(|_| object.is_some());
            steps[axis].push(Step {
                act: act.unwrap_or(Act::Other),
                object: object.unwrap_or(u32::MAX),
            });
        }
        Ok(Self {
            lanes,
            plane: Plane::new(steps, order),
            events,
            pending,
            reduced,
        })
    }
}

/// Returns the lanes of the two threads that run side by side.
fn two_lanes(scene: &Scene<'_>) -> Result<[usize; 2], NoGraph> {
    match scene.lanes.len() {
        0 | 1 => Err(NoGraph::OneThread),
        2 => Ok([0, 1]),
        3 => {
            // The harness itself may have no part in the interleaving: it starts the two threads, and waits for them.
            let harness = scene.lanes.iter().position(|lane| lane.thread == 0);
            let harness = harness.ok_or(NoGraph::Threads)?;
            let (mut forks, mut joins) = (0, 0);
            for event in scene.events.iter().filter(|event| event.lane == harness) {
                match event.action {
                    Action::Fork => forks += 1,
                    Action::Join => joins += 1,
                    action if action.has_variable() && forks > 0 && joins < 2 => {
                        return Err(NoGraph::Threads);
                    }
                    _ => {}
                }
            }
            let others: Vec<_> = (0..3).filter(|&lane| lane != harness).collect();
            // A thread that one of the two starts has seen all events before its start.
            let mut nested = scene.events.iter();
            if forks != 2 || nested.any(|e| e.action == Action::Fork && e.lane != harness) {
                return Err(NoGraph::Threads);
            }
            Ok([others[0], others[1]])
        }
        _ => Err(NoGraph::Threads),
    }
}

/// Returns what an event is in the plane; `None` for an event that no other thread sees.
const fn act(action: Action, of_the_other: bool) -> Result<Option<Act>, NoGraph> {
    Ok(Some(match action {
        Action::Read | Action::FailedUpdate | Action::CompareExchange => Act::Read,
        Action::Write => Act::Write,
        Action::Update => Act::Update,
        Action::Lock | Action::TryLock => Act::Acquire(LockMode::Exclusive),
        Action::LockShared | Action::TryLockShared => Act::Acquire(LockMode::Shared),
        Action::Unlock => Act::Release(LockMode::Exclusive),
        Action::UnlockShared => Act::Release(LockMode::Shared),
        Action::TryLockFailed => Act::FindTaken(LockMode::Exclusive),
        Action::TryLockSharedFailed => Act::FindTaken(LockMode::Shared),
        Action::Fork if of_the_other => Act::Start,
        Action::Join if of_the_other => Act::Join,
        Action::Local
        | Action::Fence
        | Action::Begin
        | Action::End
        | Action::Fork
        | Action::Join => {
            return Ok(None);
        }
        Action::Wait | Action::Wake | Action::Notify => return Err(NoGraph::Waits),
    }))
}
