//! Where an event of a maximal causal model can have what it observes from, as far as a look at the writes tells.

use std::collections::{HashMap, HashSet};

use super::model::{Cell, Cut, FEW, Model, Step};
use crate::transition::Transition;

impl Model {
    /// Returns per lane the number of its events that do not need event `index` of `lane`: the events that an execution
    /// without that event can have.
    #[must_use]
    pub fn without(&self, (lane, index): (u32, u32)) -> Cut {
        let mut cut = self.whole();
        let width = cut.len();
        cut[lane as usize] = index;
        for (other, length) in cut.iter_mut().enumerate() {
            let other = u32::try_from(other).unwrap_or(u32::MAX);
            if other == lane || *length == 0 {
                continue;
            }
            let first = self.row((other, 0));
            let rows = &self.needs()[first * width..(first + *length as usize) * width];
            let (mut low, mut high) = (0, *length);
            while low < high {
                let middle = low + (high - low) / 2;
                if rows[middle as usize * width + lane as usize] > index {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            *length = low;
        }
        cut
    }

    /// Returns the possible outcomes of the attempt at this place, within these bounds, each outcome once; `None` if there may
    /// be too many to list.
    ///
    /// Messages of one sender are received in their order. So the attempt can receive the sender's first message that no
    /// event receives within the bounds, or an earlier message that another thread receives, since that receive may come
    /// later.
    #[must_use]
    pub fn outcomes(
        &self,
        (lane, index): (u32, u32),
        step: &Step,
        upper: &[u32],
    ) -> Option<Vec<u64>> {
        let Some(transition) = self.transition(step) else {
            return Some(Vec::new());
        };
        let mut outcomes = transition.outcomes();
        match transition {
            Transition::Receive { .. } => {}
            Transition::DropReceiver { observes: true } => {
                return self.left_behind((lane, index), step, upper);
            }
            _ => return Some(outcomes),
        }
        let cell = &self.cells()[step.object as usize];
        let is_in = |at: (u32, u32)| at.1 < upper[at.0 as usize];
        let received: HashMap<u64, (u32, u32)> = (cell.uses.iter())
            .filter(|&&at| is_in(at) && at != (lane, index) && self.step(at).attempts())
            .map(|&at| (self.step(at).found, at))
            .collect();
        let mut full = vec![false; upper.len()];
        let mut sends: Vec<(u32, u32)> = cell.uses.clone();
        sends.sort_unstable();
        for at in sends {
            let send = self.step(at);
            let message = self.transition(send).and_then(|of| of.message(send.found));
            let Some(name) = message else { continue };
            if !is_in(at) || full[at.0 as usize] || outcomes.contains(&name) {
                continue;
            }
            match received.get(&name) {
                Some(by) if by.0 == lane => {}
                Some(_) => outcomes.push(name),
                None => {
                    outcomes.push(name);
                    full[at.0 as usize] = true;
                }
            }
        }
        Some(outcomes)
    }

    /// The messages that may be left when the receiver is dropped at this place: of each sender the first few that have not been
    /// received, and these in any order of the senders.
    fn left_behind(
        &self,
        (lane, index): (u32, u32),
        step: &Step,
        upper: &[u32],
    ) -> Option<Vec<u64>> {
        let cell = &self.cells()[step.object as usize];
        let received: HashSet<u64> = (cell.uses.iter())
            .map(|&at| self.step(at))
            .filter(|step| matches!(self.transition(step), Some(Transition::Receive { .. })))
            .map(|step| step.found)
            .collect();
        let mut needed = vec![0; upper.len()];
        self.raise(&mut needed, lane, index);
        let mut sends = cell.uses.clone();
        sends.sort_unstable();
        // Per sender: the messages, and how many of them are sent before in any case.
        let mut senders: Vec<(u32, Vec<u64>, usize)> = Vec::new();
        for at in sends {
            let send = self.step(at);
            let message = self.transition(send).and_then(|of| of.message(send.found));
            let Some(name) = message.filter(|name| !received.contains(name)) else {
                continue;
            };
            if at.1 >= upper[at.0 as usize] {
                continue;
            }
            if senders.last().is_none_or(|sender| sender.0 != at.0) {
                senders.push((at.0, Vec::new(), 0));
            }
            if let Some((of, messages, least)) = senders.last_mut() {
                messages.push(name);
                *least += usize::from(at.1 < needed[*of as usize]);
            }
        }
        let mut found = Vec::new();
        let mut taken = vec![0; senders.len()];
        list_left(&senders, &mut taken, &mut Vec::new(), &mut found).then_some(found)
    }

    /// Returns what an event at this place could see of its object's values, within these bounds: each view once, in the
    /// order of the trace. Some of these views may be [impossible](Self::may_see).
    #[must_use]
    pub fn views(&self, at: (u32, u32), step: &Step, upper: &[u32]) -> Vec<u64> {
        let cell = &self.cells()[step.object as usize];
        if !cell.by_lane.is_empty() {
            return self.late_views(cell, at, step, upper);
        }
        let is_in = |write: &&(u32, u32)| write.1 < upper[write.0 as usize] && **write != at;
        let left = cell.writes.iter().filter(is_in);
        let left = left.map(|&write| self.step(write).left);
        distinct(step, std::iter::once(cell.initial).chain(left))
    }

    /// Does what [`Self::views`] does, for an object with many writes. Of a lane's writes that come before the event in
    /// every order, the event can see only the last one, and if there is such a write, not the initial value.
    fn late_views(&self, cell: &Cell, at: (u32, u32), step: &Step, upper: &[u32]) -> Vec<u64> {
        let mut lower = vec![0; upper.len()];
        self.raise(&mut lower, at.0, at.1);
        let mut writes: Vec<(u32, u64)> = Vec::new();
        let mut is_initial = true;
        let mut rest = cell.by_lane.as_slice();
        while let Some(&(lane, _)) = rest.first() {
            let of = &rest[..rest.partition_point(|write| write.0 == lane)];
            rest = &rest[of.len()..];
            let before =
                |bounds: &[u32]| of.partition_point(|write| write.1 < bounds[lane as usize]);
            let (over, end) = (before(&lower), before(upper));
            is_initial &= over == 0;
            let others = of[over.saturating_sub(1)..end.max(over)].iter();
            writes.extend(others.filter(|&&write| write != at).map(|&write| {
                let write = self.step(write);
                (write.at, write.left)
            }));
        }
        writes.sort_unstable();
        let initial = is_initial.then_some(cell.initial);
        let left = writes.into_iter().map(|(_, left)| left);
        distinct(step, initial.into_iter().chain(left))
    }

    /// Whether an event of this place could see this after an execution that has `lower` in it, and within these bounds:
    /// false where each write of it is over by then, for all that is needed.
    #[must_use]
    pub fn may_see(
        &self,
        at: (u32, u32),
        step: &Step,
        view: u64,
        lower: &[u32],
        upper: &[u32],
    ) -> bool {
        let cell = &self.cells()[step.object as usize];
        let fits = |write: (u32, u32)| step.view(self.step(write).left) == view;
        let is_in = |write: (u32, u32), cut: &[u32]| write.1 < cut[write.0 as usize];
        let others = || {
            let other = |&&write: &&(u32, u32)| write != at && is_in(write, lower) && !fits(write);
            cell.writes.iter().filter(other)
        };
        (step.view(cell.initial) == view && others().next().is_none())
            || cell.writes.iter().any(|&write| {
                write != at
                    && is_in(write, upper)
                    && fits(write)
                    && !(is_in(write, lower)
                        && others().any(|&other| self.needs_first(write, other)))
            })
    }

    /// Whether an event is needed by another one.
    #[must_use]
    pub fn needs_first(&self, one: (u32, u32), other: (u32, u32)) -> bool {
        self.needs()[self.row(other) * self.lanes().len() + one.0 as usize] > one.1
    }

    /// Adds the first `count` events of a lane to a cut, and the events that these events need.
    pub fn raise(&self, cut: &mut [u32], lane: u32, count: u32) {
        if let Some(last) = count.checked_sub(1) {
            let row = self.row((lane, last)) * cut.len();
            let before = &self.needs()[row..row + cut.len()];
            for (at, &before) in cut.iter_mut().zip(before) {
                *at = (*at).max(before);
            }
        }
        let at = &mut cut[lane as usize];
        *at = (*at).max(count);
    }
}

/// The number of orders of messages that are listed for a receiver's end.
const ORDERS: usize = 1 << 10;

/// Lists the orders that begin with `left`, which has so many messages of each sender. Returns false if there are too many.
fn list_left(
    senders: &[(u32, Vec<u64>, usize)],
    taken: &mut [usize],
    left: &mut Vec<u64>,
    found: &mut Vec<u64>,
) -> bool {
    let mut of = senders.iter().zip(&*taken);
    if of.all(|((_, _, least), taken)| taken >= least) {
        found.push(Transition::left_behind(left.iter().copied()));
    }
    found.len() <= ORDERS
        && senders.iter().enumerate().all(|(at, (_, messages, _))| {
            let Some(&next) = messages.get(taken[at]) else {
                return true;
            };
            taken[at] += 1;
            left.push(next);
            let complete = list_left(senders, taken, left, found);
            left.pop();
            taken[at] -= 1;
            complete
        })
}

/// Whether a cut contains all events of another cut.
#[must_use]
pub fn is_within(one: &[u32], other: &[u32]) -> bool {
    one.iter().zip(other).all(|(one, other)| one <= other)
}

/// Returns what a step could see of these values, each view once.
fn distinct(step: &Step, values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut views = Vec::new();
    // Where there are many, most of them may be different.
    let mut many: HashSet<u64> = HashSet::new();
    for value in values {
        let view = step.view(value);
        let is_new = if views.len() < FEW {
            !views.contains(&view)
        } else {
            if many.is_empty() {
                many.extend(&views);
            }
            many.insert(view)
        };
        if is_new {
            views.push(view);
        }
    }
    views
}
