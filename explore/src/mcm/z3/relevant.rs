//! What of a trace a query is about.
//!
//! Source: Huang (PLDI 2015), section 3.3, which has the formula reduced to the events that the property is about, and
//! those that they depend on. Here that is a cut: an execution in which a thread goes further has one within the cut that
//! is an answer, too, since nothing in it is in need of what is left out.

use super::super::model::{Cut, Model, Step};
use super::super::query::{Goal, Query, Sight};
use super::rules::lets_go;
use crate::event::Kind;

/// What is in every answer: the query's lower bound, and what must happen before. `None`: that is too much.
pub(super) fn needed(model: &Model, query: &Query<'_>) -> Option<Cut> {
    let mut cut = query.lower.to_vec();
    for lane in lanes(query.goal).into_iter().flatten() {
        let at = lane as usize;
        cut[at] = cut[at].max(query.upper[at]);
    }
    let width = cut.len();
    for lane in 0..width {
        let Some(last) = cut[lane].checked_sub(1) else {
            continue;
        };
        let row = model.row((u32::try_from(lane).ok()?, last)) * width;
        for (at, need) in model.clocks()[row..row + width].iter().enumerate() {
            cut[at] = cut[at].max(*need);
        }
    }
    let fits = cut.iter().zip(query.upper).all(|(need, may)| need <= may);
    fits.then_some(cut)
}

/// The cut within which there is an answer, if there is one.
pub(super) fn relevant(model: &Model, query: &Query<'_>, needed: &[u32]) -> Cut {
    if query.goal == Goal::Stuck {
        return query.upper.to_vec();
    }
    let mut relevance = Relevance {
        model,
        upper: query.upper,
        cut: needed.to_vec(),
    };
    for lane in lanes(query.goal).into_iter().flatten() {
        relevance.goal(lane, query.goal);
    }
    let mut done = vec![0; needed.len()];
    while let Some(lane) = (0..done.len()).find(|&lane| done[lane] < relevance.cut[lane]) {
        relevance.event((u32::try_from(lane).unwrap_or(u32::MAX), done[lane]));
        done[lane] += 1;
    }
    relevance.cut
}

/// The lanes whose next events a goal is about.
fn lanes(goal: Goal) -> [Option<u32>; 2] {
    match goal {
        Goal::Next(lane, _) => [Some(lane), None],
        Goal::Both(one, other) => [Some(one), Some(other)],
        Goal::Reached | Goal::Stuck => [None, None],
    }
}

struct Relevance<'a> {
    model: &'a Model,
    upper: &'a [u32],
    cut: Cut,
}

impl Relevance<'_> {
    fn add(&mut self, (lane, index): (u32, u32)) {
        let at = lane as usize;
        if index < self.upper[at] {
            self.cut[at] = self.cut[at].max(index + 1);
        }
    }

    fn goal(&mut self, lane: u32, goal: Goal) {
        let model = self.model;
        let of = model.lane_at(lane);
        let index = self.upper[lane as usize];
        let Some(step) = of.steps.get(index as usize).or(of.waits.as_ref()) else {
            return;
        };
        if index == 0
            && let Some(fork) = of.fork
        {
            self.add(fork);
        }
        match goal {
            Goal::Next(_, Sight::Value(view)) => {
                self.writes(step.object, |value| step.view(value) == view);
            }
            Goal::Next(_, Sight::Refused) => self.blocks(step.object),
            Goal::Next(_, Sight::Notified(_)) => self.queue(step.object),
            _ => {}
        }
        self.needs((lane, index), step);
    }

    /// What an event needs beside what it observes.
    fn needs(&mut self, (lane, index): (u32, u32), step: &Step) {
        let model = self.model;
        match step.kind {
            Kind::Wake => self.queue(step.object),
            Kind::Join => {
                let other = model.lane_at(step.object);
                if let Some(last) = other.len().checked_sub(1) {
                    self.add((step.object, last));
                }
                if let Some(fork) = other.fork {
                    self.add(fork);
                }
            }
            _ if step.parked && index > 0 => {
                let read = model.step((lane, index - 1));
                if matches!(read.kind, Kind::Read | Kind::FailedUpdate) {
                    for &at in &model.cells()[read.object as usize].uses {
                        if lets_go(model.step(at).kind) {
                            self.add(at);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn event(&mut self, at: (u32, u32)) {
        let model = self.model;
        let step = model.step(at);
        let width = self.cut.len();
        let row = model.row(at) * width;
        for (other, need) in model.clocks()[row..row + width].iter().enumerate() {
            self.cut[other] = self.cut[other].max((*need).min(self.upper[other]));
        }
        match step.kind {
            Kind::TryLockFailed | Kind::TryLockSharedFailed => self.blocks(step.object),
            _ if step.observes_value() => self.writes(step.object, |value| step.admits(value)),
            _ => {}
        }
        if step.kind.acquires() {
            let blocks = &model.cells()[step.object as usize].blocks;
            let block = blocks
                .iter()
                .find(|block| (block.lane, block.start) == at && block.end != u32::MAX);
            if let Some(block) = block {
                self.add((block.lane, block.end));
            }
        }
        self.needs(at, step);
    }

    fn writes(&mut self, object: u32, fits: impl Fn(u64) -> bool) {
        let model = self.model;
        for &write in &model.cells()[object as usize].writes {
            if fits(model.step(write).left) {
                self.add(write);
            }
        }
    }

    fn blocks(&mut self, object: u32) {
        let model = self.model;
        for block in &model.cells()[object as usize].blocks {
            self.add((block.lane, block.start));
        }
    }

    fn queue(&mut self, object: u32) {
        let model = self.model;
        for &at in &model.cells()[object as usize].uses {
            self.add(at);
        }
    }
}
