//! Which events have to come before an event in every execution with that event, as vector clocks: per event, the number
//! of events of each thread.
//!
//! There are three of them:
//! - *must-happen-before* (Huang, PLDI 2015, section 3.2): program order, fork and join;
//! - *needs*: must-happen-before, and for an event whose observed value is not the initial one and has only one write,
//!   that write and its needs; for an event that receives a message, the sending of the message and its needs. Such a
//!   write or sending comes before the event in the trace, too, so one pass in the trace's order finds all of them;
//! - *happens-before*, of the trace and not of all executions: must-happen-before, and the event that the observed value
//!   came from, and all earlier events on a wait queue. A set of events closed under happens-before is an execution in
//!   the order of the trace, provided that each block of a lock is over before the next block.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::model::{Cell, Lane, Step};
use crate::distinct::Identity;
use crate::event::{Class, Kind};

/// Which event sends which message.
pub(super) type Sent = HashMap<u64, (u32, u32), BuildHasherDefault<Identity>>;

/// Writes that are looked at for what an event can see that only compares the value.
const SCAN: usize = 64;

/// The clocks of all events, lane by lane.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    width: usize,
    /// Per lane: the row of its first event.
    rows: Vec<u32>,
    must: Vec<u32>,
    needs: Vec<u32>,
    happened: Vec<u32>,
    /// Per object: the last event that changed it so far.
    latest: Vec<Option<(u32, u32)>>,
    /// Per object: the last event that took it.
    taken: Vec<Option<(u32, u32)>>,
    /// What the writes of all objects leave, with their numbers; per object sorted.
    left: Vec<(u64, u32)>,
    /// Per object: where its part of `left` begins.
    parts: Vec<usize>,
}

impl Clocks {
    /// Computes them.
    pub(super) fn compute(
        &mut self,
        lanes: &[Lane],
        cells: &[Cell],
        order: &[(u32, u32)],
        sent: &Sent,
    ) {
        self.width = lanes.len();
        self.rows.clear();
        let mut rows = 0;
        for lane in lanes {
            self.rows.push(rows);
            rows += lane.len();
        }
        let length = self.width * rows as usize;
        for clocks in [&mut self.must, &mut self.needs, &mut self.happened] {
            clocks.clear();
            clocks.resize(length, 0);
        }
        self.sort(lanes, cells);
        for latest in [&mut self.latest, &mut self.taken] {
            latest.clear();
            latest.resize(cells.len(), None);
        }
        for &at in order {
            let step = lanes[at.0 as usize].steps[at.1 as usize];
            follow(&self.rows, &mut self.must, self.width, lanes, at, &step);
            follow(&self.rows, &mut self.needs, self.width, lanes, at, &step);
            follow(&self.rows, &mut self.happened, self.width, lanes, at, &step);
            self.happen(at, &step);
            let message = (step.attempts() && !sent.is_empty())
                .then(|| sent.get(&step.found).copied())
                .flatten();
            let source = self
                .source(lanes, cells, at, &step)
                .or(message)
                .filter(|&(lane, index)| lanes[lane as usize].steps[index as usize].at < step.at);
            if let Some(source) = source {
                let (row, from) = (self.row(at), self.row(source));
                join(&mut self.needs, self.width, row, from, source);
            }
        }
    }

    fn sort(&mut self, lanes: &[Lane], cells: &[Cell]) {
        self.left.clear();
        self.parts.clear();
        for cell in cells {
            let start = self.left.len();
            self.parts.push(start);
            for (number, &(lane, index)) in cell.writes.iter().enumerate() {
                let left = lanes[lane as usize].steps[index as usize].left;
                self.left
                    .push((left, u32::try_from(number).unwrap_or(u32::MAX)));
            }
            self.left[start..].sort_unstable();
        }
        self.parts.push(self.left.len());
    }

    /// The only write that an event can have what it observes from.
    fn source(
        &self,
        lanes: &[Lane],
        cells: &[Cell],
        at: (u32, u32),
        step: &Step,
    ) -> Option<(u32, u32)> {
        if !step.observes_value() {
            return None;
        }
        let cell = &cells[step.object as usize];
        if step.admits(cell.initial) {
            return None;
        }
        if step.test.is_some() {
            if cell.writes.len() > SCAN {
                return None;
            }
            let mut fitting = cell.writes.iter().filter(|&&write| {
                write != at && step.admits(lanes[write.0 as usize].steps[write.1 as usize].left)
            });
            let only = fitting.next().copied();
            return only.filter(|_| fitting.next().is_none());
        }
        let object = step.object as usize;
        let left = &self.left[self.parts[object]..self.parts[object + 1]];
        let first = left.partition_point(|&(left, _)| left < step.found);
        let fits = |number: usize| {
            left.get(number)
                .is_some_and(|&(left, _)| left == step.found)
        };
        let only = fits(first) && !fits(first + 1);
        only.then(|| cell.writes[left[first].1 as usize])
            .filter(|&write| write != at)
    }

    /// The row of an event.
    #[inline]
    pub(super) fn row(&self, (lane, index): (u32, u32)) -> usize {
        (self.rows[lane as usize] + index) as usize
    }

    /// Must-happen-before.
    #[inline]
    pub(super) fn must(&self) -> &[u32] {
        &self.must
    }

    /// Adds what happened before an event because of its object.
    fn happen(&mut self, at: (u32, u32), step: &Step) {
        if step.kind.class() == Class::None {
            return;
        }
        let object = step.object as usize;
        let looks = match step.kind {
            Kind::Write | Kind::Unlock | Kind::UnlockShared => false,
            Kind::Lock
            | Kind::LockShared
            | Kind::TryLock
            | Kind::TryLockShared
            | Kind::Read
            | Kind::FailedUpdate
            | Kind::CompareExchange
            | Kind::Update => true,
            // That the lock was held is not a matter of values.
            Kind::TryLockFailed | Kind::TryLockSharedFailed => {
                if let Some(held) = self.taken[object] {
                    let (row, from) = (self.row(at), self.row(held));
                    join(&mut self.happened, self.width, row, from, held);
                }
                false
            }
            _ => true,
        };
        if let Some(latest) = self.latest[object].filter(|_| looks) {
            let (row, from) = (self.row(at), self.row(latest));
            join(&mut self.happened, self.width, row, from, latest);
        }
        if step.leaves_value() || matches!(step.kind, Kind::Wait | Kind::Notify | Kind::Wake) {
            self.latest[object] = Some(at);
        }
        if step.kind.acquires() {
            self.taken[object] = Some(at);
        }
    }

    /// Happens-before.
    #[inline]
    pub(super) fn happened(&self) -> &[u32] {
        &self.happened
    }

    /// Needs.
    #[inline]
    pub(super) fn needs(&self) -> &[u32] {
        &self.needs
    }
}

/// The clock of an event, from those before it.
fn follow(
    rows: &[u32],
    clocks: &mut [u32],
    width: usize,
    lanes: &[Lane],
    (lane, index): (u32, u32),
    step: &Step,
) {
    let row = (rows[lane as usize] + index) as usize;
    let start = row * width;
    if index > 0 {
        clocks.copy_within(start - width..start, start);
    } else if let Some((parent, fork)) = lanes[lane as usize].fork {
        let from = (rows[parent as usize] + fork) as usize;
        join(clocks, width, row, from, (parent, fork));
    }
    if step.kind == Kind::Join
        && let Some(last) = lanes[step.object as usize].len().checked_sub(1)
    {
        let from = (rows[step.object as usize] + last) as usize;
        join(clocks, width, row, from, (step.object, last));
    }
    clocks[start + lane as usize] = index;
}

/// Adds an event, and what comes before it, to what comes before the event of another row.
fn join(clocks: &mut [u32], width: usize, row: usize, from: usize, (lane, index): (u32, u32)) {
    for at in 0..width {
        let before = clocks[from * width + at];
        let clock = &mut clocks[row * width + at];
        *clock = (*clock).max(before);
    }
    let clock = &mut clocks[row * width + lane as usize];
    *clock = (*clock).max(index + 1);
}
