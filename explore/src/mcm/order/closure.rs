//! What every answer to a query has in it: the needed events, and which of them must come before which.
//!
//! Starts from the query's lower bounds and what each event needs whatever is asked (see
//! [`clocks`](super::super::clocks)), and applies until nothing changes:
//! - what must come before a needed event is needed;
//! - a needed event that observes a value needs a write of such a value before it, or the initial one, with no other
//!   write in between; where only one is left that can be it, that write is needed and comes before it, and every other
//!   needed write comes before that write or after the event as soon as one of the two is known;
//! - of two needed blocks of a lock, all of the one comes before all of the other, as soon as a part of each is
//!   known to.
//!
//! Vector clocks hold the order: an event's clock says how many events of each thread must come before it. They stand
//! for the rows of the closure's bit matrix, of which each thread's part is a run of ones.

use super::super::model::{Model, Step};
use super::super::query::{Goal, Query, Sight};
use crate::event::Class;

/// Whether the needs of a query can be met at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// No contradiction has been found.
    Consistent,
    /// The needs contradict each other: there is no answer.
    Contradiction,
}

/// What stands against an answer.
#[derive(Clone, Copy, Debug)]
struct Contradiction;

/// An event: lane and index. The goal's event is one past its thread's bound.
type At = (u32, u32);

/// The needs of a query: see the module.
#[derive(Clone, Debug, Default)]
pub struct Closure {
    lower: Vec<u32>,
    lanes: usize,
    /// The clocks of all events, lane by lane: see [`Model::row`].
    clocks: Vec<u32>,
    /// The objects that the goal looks at.
    goal: [Option<u32>; 2],
    refusal: bool,
    /// The clock of the event that is being ordered before others.
    merged: Vec<u32>,
}

impl Closure {
    /// The needed events of each thread.
    #[inline]
    #[must_use]
    pub fn lower(&self) -> &[u32] {
        &self.lower
    }

    /// Whether the goal looks at the object.
    #[inline]
    #[must_use]
    pub fn is_goal(&self, object: u32) -> bool {
        self.goal.contains(&Some(object))
    }

    /// Whether the goal looks at whether this lock is held.
    #[inline]
    #[must_use]
    pub fn wants_refusal(&self, object: u32) -> bool {
        self.refusal && self.is_goal(object)
    }

    /// Whether all that must come before an event has been.
    #[inline]
    #[must_use]
    pub fn allows(&self, model: &Model, at: At, cut: &[u32]) -> bool {
        at.1 >= self.lower[at.0 as usize]
            || self
                .clock(model, at)
                .iter()
                .zip(cut)
                .all(|(need, at)| need <= at)
    }

    fn clock(&self, model: &Model, at: At) -> &[u32] {
        let start = model.row(at) * self.lanes;
        &self.clocks[start..start + self.lanes]
    }

    /// Whether one needed event is known to come before another.
    fn is_before(&self, model: &Model, one: At, other: At) -> bool {
        self.clock(model, other)[one.0 as usize] > one.1
    }

    /// Computes what the query needs.
    pub fn close(&mut self, model: &Model, query: &Query<'_>) -> Need {
        self.lanes = model.lanes().len();
        self.lower.clear();
        self.lower.extend_from_slice(query.lower);
        self.clocks.clear();
        self.clocks.extend_from_slice(model.needs());
        let target = match query.goal {
            Goal::Next(lane, sight) => Some((lane, sight)),
            Goal::Reached | Goal::Both(..) | Goal::Stuck => None,
        };
        let step = target.and_then(|(lane, _)| target_step(model, query, lane));
        let object = |step: Step| Some(step.object).filter(|_| step.kind.class() != Class::None);
        self.goal = match query.goal {
            Goal::Reached | Goal::Stuck => [None, None],
            Goal::Next(..) => [step.and_then(object), None],
            Goal::Both(one, other) => {
                [one, other].map(|lane| target_step(model, query, lane).and_then(object))
            }
        };
        self.refusal = matches!(target, Some((_, Sight::Refused)));
        let goal = match (target, step) {
            (Some((lane, Sight::Value(view))), Some(step)) => {
                Some((lane, query.upper[lane as usize], step, view))
            }
            _ => None,
        };
        match self.saturate(model, query, goal) {
            Ok(()) => Need::Consistent,
            Err(Contradiction) => Need::Contradiction,
        }
    }

    fn saturate(
        &mut self,
        model: &Model,
        query: &Query<'_>,
        goal: Option<(u32, u32, Step, u64)>,
    ) -> Result<(), Contradiction> {
        loop {
            self.spread(model, query)?;
            let mut changed = false;
            if let Some((lane, index, step, view)) = goal {
                changed |= self.feed_goal(model, query, (lane, index), &step, view)?;
            }
            for lane in 0..u32::try_from(self.lanes).unwrap_or(u32::MAX) {
                for &index in model.lane_at(lane).readers() {
                    if index >= self.lower[lane as usize] {
                        break;
                    }
                    changed |= self.feed(model, query, (lane, index))?;
                }
            }
            if !changed {
                changed = self.exclude(model, query)?;
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// Needs what must come before what is needed. The clocks are closed, and grow along a lane, so the last needed
    /// event of each lane tells.
    fn spread(&mut self, model: &Model, query: &Query<'_>) -> Result<(), Contradiction> {
        loop {
            let mut changed = false;
            for lane in 0..self.lanes {
                let Some(last) = self.lower[lane].checked_sub(1) else {
                    continue;
                };
                let number = u32::try_from(lane).unwrap_or(u32::MAX);
                let row = model.row((number, last)) * self.lanes;
                let clock = &self.clocks[row..row + self.lanes];
                for (other, (&need, lower)) in clock.iter().zip(&mut self.lower).enumerate() {
                    if other != lane && need > *lower {
                        if need > query.upper[other] {
                            return Err(Contradiction);
                        }
                        *lower = need;
                        changed = true;
                    }
                }
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// One event must come before another. Keeps the clocks closed: what comes before the one comes before all that the
    /// other comes before, which is a last part of each lane.
    fn order(
        &mut self,
        model: &Model,
        query: &Query<'_>,
        one: At,
        other: At,
    ) -> Result<bool, Contradiction> {
        if one.0 == other.0 {
            return if one.1 < other.1 {
                Ok(false)
            } else {
                Err(Contradiction)
            };
        }
        if self.is_before(model, other, one) {
            return Err(Contradiction);
        }
        if self.is_before(model, one, other) {
            return Ok(false);
        }
        let row = model.row(one) * self.lanes;
        self.merged.clear();
        self.merged
            .extend_from_slice(&self.clocks[row..row + self.lanes]);
        self.merged[one.0 as usize] = one.1 + 1;
        for lane in 0..self.lanes {
            let number = u32::try_from(lane).unwrap_or(u32::MAX);
            let end = query.upper[lane];
            let first = if number == other.0 {
                other.1
            } else {
                self.first_after(model, number, end, other)
            };
            for index in first..end {
                if self.merged[lane] > index {
                    // It would have to come before itself: it is in no answer, and nothing after it.
                    if index < self.lower[lane] {
                        return Err(Contradiction);
                    }
                    break;
                }
                let row = model.row((number, index)) * self.lanes;
                let clock = &mut self.clocks[row..row + self.lanes];
                let mut more = false;
                for (at, (clock, &merged)) in clock.iter_mut().zip(&self.merged).enumerate() {
                    if at != lane && merged > *clock {
                        *clock = merged;
                        more = true;
                    }
                }
                if !more {
                    break;
                }
            }
        }
        Ok(true)
    }

    /// The first event of a lane that an event is known to come before.
    fn first_after(&self, model: &Model, lane: u32, end: u32, event: At) -> u32 {
        let (mut low, mut high) = (0, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.is_before(model, event, (lane, middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    fn need(&mut self, query: &Query<'_>, at: At) -> Result<bool, Contradiction> {
        if at.1 >= query.upper[at.0 as usize] {
            return Err(Contradiction);
        }
        let lower = &mut self.lower[at.0 as usize];
        let changed = *lower <= at.1;
        *lower = (*lower).max(at.1 + 1);
        Ok(changed)
    }

    /// Looks at where a needed event can have its value from.
    fn feed(&mut self, model: &Model, query: &Query<'_>, at: At) -> Result<bool, Contradiction> {
        let step = *model.step(at);
        let cell = &model.cells()[step.object as usize];
        let is_needed = |closure: &Self, write: At| write.1 < closure.lower[write.0 as usize];
        let mut only = None;
        let mut count = 0;
        let mut others_before = false;
        for &write in &cell.writes {
            if write == at || !is_needed(self, write) || step.admits(model.step(write).left) {
                continue;
            }
            others_before |= self.is_before(model, write, at);
        }
        let initial = step.admits(cell.initial) && !others_before;
        count += u32::from(initial);
        for &write in &cell.writes {
            if write == at
                || write.1 >= query.upper[write.0 as usize]
                || !step.admits(model.step(write).left)
                || (write.0 == at.0 && write.1 > at.1)
                || (is_needed(self, write) && self.is_before(model, at, write))
            {
                continue;
            }
            let overwritten = others_before
                && is_needed(self, write)
                && cell.writes.iter().any(|&other| {
                    other != at
                        && is_needed(self, other)
                        && !step.admits(model.step(other).left)
                        && self.is_before(model, other, at)
                        && self.is_before(model, write, other)
                });
            if !overwritten {
                count += 1;
                only = Some(write);
                if count > 1 {
                    return Ok(false);
                }
            }
        }
        if count == 0 {
            return Err(Contradiction);
        }
        let mut changed = false;
        match only {
            Some(write) => {
                changed |= self.need(query, write)?;
                changed |= self.order(model, query, write, at)?;
                for &other in &cell.writes {
                    if other == at
                        || other == write
                        || !is_needed(self, other)
                        || step.admits(model.step(other).left)
                    {
                        continue;
                    }
                    if self.is_before(model, other, at) {
                        changed |= self.order(model, query, other, write)?;
                    } else if self.is_before(model, write, other) {
                        changed |= self.order(model, query, at, other)?;
                    }
                }
            }
            None => {
                for &other in &cell.writes {
                    if other != at && is_needed(self, other) && !step.admits(model.step(other).left)
                    {
                        changed |= self.order(model, query, at, other)?;
                    }
                }
            }
        }
        Ok(changed)
    }

    /// Does what [`Self::feed`] does for the goal's event, before which all needed events come.
    fn feed_goal(
        &mut self,
        model: &Model,
        query: &Query<'_>,
        at: At,
        step: &Step,
        view: u64,
    ) -> Result<bool, Contradiction> {
        let cell = &model.cells()[step.object as usize];
        let fits = |write: At| step.view(model.step(write).left) == view;
        let is_needed = |closure: &Self, write: At| write.1 < closure.lower[write.0 as usize];
        let initial = step.view(cell.initial) == view
            && !cell
                .writes
                .iter()
                .any(|&write| write != at && is_needed(self, write) && !fits(write));
        let mut only = None;
        let mut count = u32::from(initial);
        for &write in &cell.writes {
            if write == at || write.1 >= query.upper[write.0 as usize] || !fits(write) {
                continue;
            }
            let overwritten = is_needed(self, write)
                && cell.writes.iter().any(|&other| {
                    is_needed(self, other) && !fits(other) && self.is_before(model, write, other)
                });
            if !overwritten {
                count += 1;
                only = Some(write);
                if count > 1 {
                    return Ok(false);
                }
            }
        }
        if count == 0 {
            return Err(Contradiction);
        }
        let mut changed = false;
        if let Some(write) = only {
            changed |= self.need(query, write)?;
            for &other in &cell.writes {
                if other != write && is_needed(self, other) && !fits(other) {
                    changed |= self.order(model, query, other, write)?;
                }
            }
        }
        Ok(changed)
    }

    /// Orders the needed blocks of each lock.
    fn exclude(&mut self, model: &Model, query: &Query<'_>) -> Result<bool, Contradiction> {
        let mut changed = false;
        for cell in model.cells() {
            for (number, one) in cell.blocks.iter().enumerate() {
                if one.start >= self.lower[one.lane as usize] {
                    continue;
                }
                for other in &cell.blocks[number + 1..] {
                    if other.start >= self.lower[other.lane as usize]
                        || one.lane == other.lane
                        || (one.shared && other.shared)
                    {
                        continue;
                    }
                    for (first, second) in [(one, other), (other, one)] {
                        let closed = first.end < query.upper[first.lane as usize];
                        let end_needed = first.end < self.lower[first.lane as usize];
                        let starts_before_end = second.end < self.lower[second.lane as usize]
                            && self.is_before(
                                model,
                                (first.lane, first.start),
                                (second.lane, second.end),
                            );
                        let starts_before = self.is_before(
                            model,
                            (first.lane, first.start),
                            (second.lane, second.start),
                        );
                        let second_is_last = second.end >= query.upper[second.lane as usize];
                        if starts_before_end || starts_before || second_is_last {
                            if !closed {
                                return Err(Contradiction);
                            }
                            if !end_needed {
                                changed |= self.need(query, (first.lane, first.end))?;
                            }
                            changed |= self.order(
                                model,
                                query,
                                (first.lane, first.end),
                                (second.lane, second.start),
                            )?;
                        }
                    }
                }
            }
        }
        Ok(changed)
    }
}

/// The event that the goal is about.
fn target_step(model: &Model, query: &Query<'_>, lane: u32) -> Option<Step> {
    let of = model.lane_at(lane);
    let index = query.upper[lane as usize] as usize;
    of.steps.get(index).or(of.waits.as_ref()).copied()
}
