//! Executions that end with threads that wait forever, predicted from executions that don't.
//!
//! Both papers on maximal causality leave this open (Luo, Huang and Roșu, *Systematic Concurrency Testing with Maximal
//! Causality*, section 4.4.2): no read has to return another value for two threads to wait for each other.
//!
//! An execution that ends with waiting threads is a cut of a maximal causal model at which no thread can go on. Every such
//! cut is a cut of the model of some executed class, since the executed classes cover all prefixes of all executions (see
//! [`expand`](super::expand)). Each such cut has at least one of these **cores** in it, and for each core of a model, all
//! cuts with the core are enumerated:
//! - threads in a circle, each at a lock that the next one holds;
//! - a thread in a wait queue, or parked before a read that repeats, or after an idle turn of a loop;
//! - a thread at a lock that another thread has ended with;
//! - a thread that waits forever in the execution itself.
//!
//! A thread at a lock that the thread itself holds waits in every execution in which the thread comes there, and needs no
//! prediction.

use super::schedule::Schedule;
use crate::event::Kind;
use crate::mcm::model::{Cut, Model, Step};
use crate::mcm::query::{Goal, Query, Solver, Verdict, cut_of};

/// The number of circles of one model that are looked at. If there are more, one query counts as given up.
const CIRCLES: usize = 4096;

/// The events before which the threads of a core wait: lanes and indices.
pub(crate) type Core = Vec<(u32, u32)>;

/// An execution that ends with waiting threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// Per lane: the number of events that it does.
    pub cut: Cut,
    /// The thread of each event of the execution, in order.
    pub schedule: Schedule,
}

/// A thread's attempt to take a lock, with the locks that the thread holds meanwhile.
struct Attempt {
    lane: u32,
    index: u32,
    object: u32,
    shared: bool,
    held: Vec<(u32, bool)>,
}

impl Attempt {
    /// Whether `other` holds what this one waits for.
    fn waits_for(&self, other: &Self) -> bool {
        other
            .held
            .iter()
            .any(|&(object, shared)| object == self.object && !(shared && self.shared))
    }

    /// Whether both can be where they are at once.
    fn can_be_beside(&self, other: &Self) -> bool {
        !self.held.iter().any(|&(object, shared)| {
            other
                .held
                .iter()
                .any(|&(held, also)| held == object && !(shared && also))
        })
    }
}

/// The cores of a model. False: there are more.
pub(crate) fn cores(model: &Model, cores: &mut Vec<Core>) -> bool {
    cores.clear();
    let mut attempts = Vec::new();
    let mut kept = Vec::new();
    for (at, lane) in model.lanes().iter().enumerate() {
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        let mut held: Vec<(u32, bool)> = Vec::new();
        for (index, step) in lane.steps.iter().chain(lane.waits.as_ref()).enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let happened = index < lane.len();
            match step.kind {
                Kind::Lock | Kind::LockShared if !held.is_empty() => {
                    attempts.push(Attempt {
                        lane: number,
                        index,
                        object: step.object,
                        shared: step.kind == Kind::LockShared,
                        held: held.clone(),
                    });
                }
                _ if happened && step.refused_since != Step::ALWAYS => {
                    cores.push(vec![(number, index)]);
                }
                Kind::Wake if happened && !step.timed && step.found == Step::NOTIFIED => {
                    cores.push(vec![(number, index)]);
                }
                Kind::Read | Kind::FailedUpdate | Kind::Update if happened && step.parked => {
                    cores.push(vec![(number, index)])
                }
                _ => {}
            }
            if !happened {
                continue;
            }
            match step.kind {
                Kind::Lock | Kind::TryLock => held.push((step.object, false)),
                Kind::LockShared | Kind::TryLockShared => held.push((step.object, true)),
                Kind::Unlock | Kind::UnlockShared => {
                    let lock = (step.object, step.kind == Kind::UnlockShared);
                    if let Some(at) = held.iter().position(|&held| held == lock) {
                        held.remove(at);
                    }
                }
                _ => {}
            }
        }
        if lane.waits.is_some() {
            cores.push(vec![(number, lane.len())]);
        }
        if lane.ended {
            kept.extend(held.into_iter().map(|(object, _)| (number, object)));
        }
    }
    for (holder, object) in kept {
        for &(lane, index) in &model.cells()[object as usize].uses {
            let step = model.step((lane, index));
            if lane != holder && matches!(step.kind, Kind::Lock | Kind::LockShared) {
                cores.push(vec![(lane, index)]);
            }
        }
    }
    let mut circle = Vec::new();
    (0..attempts.len()).all(|start| {
        circle.clear();
        circle.push(start);
        close(&attempts, &mut circle, cores)
    })
}

/// Finds all circles that begin with these attempts and in which the first has the lowest lane.
fn close(attempts: &[Attempt], circle: &mut Vec<usize>, cores: &mut Vec<Core>) -> bool {
    let first = &attempts[circle[0]];
    let last = &attempts[circle[circle.len() - 1]];
    if circle.len() > 1 && last.waits_for(first) {
        if cores.len() >= CIRCLES {
            return false;
        }
        let members = circle.iter().map(|&at| &attempts[at]);
        cores.push(members.map(|one| (one.lane, one.index)).collect());
        // A larger circle through all of these would have this one in it.
        return true;
    }
    for (at, next) in attempts.iter().enumerate() {
        let fits = next.lane > first.lane
            && last.waits_for(next)
            && circle.iter().all(|&other| {
                attempts[other].lane != next.lane && attempts[other].can_be_beside(next)
            });
        if fits {
            circle.push(at);
            let complete = close(attempts, circle, cores);
            circle.pop();
            if !complete {
                return false;
            }
        }
    }
    true
}

/// Finds all executions of the model that end with this core and in which no thread can go on. Returns the number of
/// queries that were given up.
pub(crate) fn endings<S: Solver>(
    model: &Model,
    core: &Core,
    solver: &mut S,
    mut found: impl FnMut(Ending),
) -> u64 {
    let mut lower = vec![0; model.lanes().len()];
    let mut upper = model.whole();
    for &(lane, index) in core {
        upper[lane as usize] = index;
    }
    model.close(&mut upper);
    for &(lane, index) in core {
        if upper[lane as usize] < index {
            return 0;
        }
        lower[lane as usize] = index;
    }
    let mut unknown = 0;
    let mut open = vec![(lower, upper)];
    while let Some((lower, upper)) = open.pop() {
        let query = Query {
            lower: &lower,
            upper: &upper,
            goal: Goal::Stuck,
        };
        match solver.solve(model, &query) {
            Verdict::Infeasible => {}
            Verdict::Unknown => unknown += 1,
            Verdict::Feasible(witness) => {
                let cut = cut_of(model, &witness);
                // All others differ from this one in a first lane, in one direction.
                let (mut least, mut most) = (lower, upper);
                for at in 0..cut.len() {
                    if least[at] < cut[at] {
                        let mut upper = most.clone();
                        upper[at] = cut[at] - 1;
                        open.push((least.clone(), upper));
                    }
                    if cut[at] < most[at] {
                        let mut lower = least.clone();
                        lower[at] = cut[at] + 1;
                        open.push((lower, most.clone()));
                    }
                    least[at] = cut[at];
                    most[at] = cut[at];
                }
                let schedule = witness.iter().map(|&lane| model.lane_at(lane).thread);
                found(Ending {
                    schedule: schedule.collect(),
                    cut,
                });
            }
        }
    }
    unknown
}
