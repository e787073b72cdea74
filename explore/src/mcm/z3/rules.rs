//! The rules that every execution of a model keeps.
//!
//! Source: Huang (PLDI 2015), section 3.2: must-happen-before, mutual exclusion, data validity. The paper does not have
//! initial values, reads by which a thread learns less than the value, attempts to take locks, wait queues, and reads that
//! wait for a change.

use super::super::model::{Block, Cell, Model, Step};
use super::orders::{At, Orders};
use super::queues::Queues;
use super::term::{Term, all, any};
use crate::event::Kind;

/// The moment of an execution that a formula is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The moment right before this event, which is in the execution.
    Before(At),
    /// The end of the execution.
    End,
}

/// A model, its variables and its queues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encoding<'a> {
    pub(super) model: &'a Model,
    pub(super) orders: &'a Orders,
    pub(super) queues: &'a Queues,
}

impl Encoding<'_> {
    /// Adds all rules to the formula.
    pub(super) fn rules(&self, greedy: bool, formula: &mut Vec<Term>) {
        for (lane, of) in self.model.lanes().iter().enumerate() {
            let lane = u32::try_from(lane).unwrap_or(u32::MAX);
            let count = self.orders.upper[lane as usize];
            for index in 0..count {
                let at = (lane, index);
                if index > 0 {
                    formula.push(self.orders.edge((lane, index - 1), at));
                } else if let Some(fork) = of.fork {
                    self.follows(fork, at, formula);
                }
                let step = self.model.step(at);
                if step.kind == Kind::Join {
                    self.joins(at, step, formula);
                }
                let keeps = all([self.observes(at, step), self.is_released(at, step)]);
                formula.push(any([self.orders.beyond(at), keeps]));
            }
        }
        self.exclusion(formula);
        self.queues.rules(self.model, self.orders, greedy, formula);
    }

    /// An event that can't do without another one comes after it.
    fn follows(&self, one: At, other: At, formula: &mut Vec<Term>) {
        formula.push(match self.orders.edge(one, other) {
            Term::Known(_) => self.orders.beyond(other),
            edge => edge,
        });
    }

    fn joins(&self, at: At, step: &Step, formula: &mut Vec<Term>) {
        let other = self.model.lane_at(step.object);
        if !other.ended {
            formula.push(self.orders.beyond(at));
        } else if let Some(last) = other.len().checked_sub(1) {
            self.follows((step.object, last), at, formula);
        } else if let Some(fork) = other.fork {
            self.follows(fork, at, formula);
        }
    }

    /// Mutual exclusion.
    fn exclusion(&self, formula: &mut Vec<Term>) {
        let orders = self.orders;
        for cell in self.model.cells() {
            for (number, one) in cell.blocks.iter().enumerate() {
                for other in &cell.blocks[number + 1..] {
                    let (first, second) = ((one.lane, one.start), (other.lane, other.start));
                    if one.lane == other.lane
                        || (one.shared && other.shared)
                        || !orders.may(first)
                        || !orders.may(second)
                    {
                        continue;
                    }
                    formula.push(any([
                        orders.beyond(first),
                        orders.beyond(second),
                        self.is_over(one, second),
                        self.is_over(other, first),
                    ]));
                }
            }
        }
    }

    fn is_over(&self, block: &Block, before: At) -> Term {
        if block.end == u32::MAX {
            return Term::FALSE;
        }
        self.orders
            .before(self.model, (block.lane, block.end), before)
    }

    /// The event observes what it observed in the trace.
    fn observes(&self, at: At, step: &Step) -> Term {
        match step.kind {
            Kind::TryLockFailed => self.is_held(step.object, false, Place::Before(at)),
            Kind::TryLockSharedFailed => self.is_held(step.object, true, Place::Before(at)),
            Kind::Wake => self.queues.finds(self.model, self.orders, at, step),
            _ if step.observes_value() => {
                self.has(step.object, |value| step.admits(value), Place::Before(at))
            }
            _ => Term::TRUE,
        }
    }

    /// A read that waits for a change has seen one.
    fn is_released(&self, at: At, step: &Step) -> Term {
        if matches!(
            step.kind,
            Kind::Lock | Kind::LockShared | Kind::Join | Kind::Wake
        ) || !step.parked
        {
            return Term::TRUE;
        }
        self.is_changed(at, Place::Before(at))
    }

    /// The object that the event before this one read has been changed since, if it was a read.
    pub(super) fn is_changed(&self, (lane, index): At, place: Place) -> Term {
        let Some((read, cell)) = self.watched((lane, index)) else {
            return Term::TRUE;
        };
        any(self.changes(cell).map(|write| {
            all([
                self.orders.before(self.model, read, write),
                self.is_past(write, place),
            ])
        }))
    }

    /// It has not been changed.
    pub(super) fn is_unchanged(&self, (lane, index): At) -> Term {
        let Some((read, cell)) = self.watched((lane, index)) else {
            return Term::FALSE;
        };
        all(self.changes(cell).map(|write| {
            any([
                self.orders.before(self.model, write, read),
                self.orders.beyond(write),
            ])
        }))
    }

    /// All that lets a read go which waits for a change, be it that the value stays what it was.
    fn changes(&self, cell: &Cell) -> impl Iterator<Item = At> {
        let lets_go = |&at: &At| lets_go(self.model.step(at).kind);
        cell.uses.iter().copied().filter(lets_go)
    }

    fn watched(&self, (lane, index): At) -> Option<(At, &Cell)> {
        let read = (lane, index.checked_sub(1)?);
        let step = self.model.step(read);
        matches!(step.kind, Kind::Read | Kind::FailedUpdate)
            .then(|| (read, &self.model.cells()[step.object as usize]))
    }

    /// The event has been by then.
    fn is_past(&self, event: At, place: Place) -> Term {
        match place {
            Place::Before(at) => self.orders.before(self.model, event, at),
            Place::End => self.orders.within(event),
        }
    }

    /// It has not been.
    fn is_to_come(&self, event: At, place: Place) -> Term {
        match place {
            Place::Before(at) => self.orders.before(self.model, at, event),
            Place::End => self.orders.beyond(event),
        }
    }

    /// The object has a value that fits.
    pub(super) fn has(&self, object: u32, fits: impl Fn(u64) -> bool, place: Place) -> Term {
        let cell = &self.model.cells()[object as usize];
        let is_itself = |write: At| matches!(place, Place::Before(at) if at == write);
        let writes = || {
            let may = |&&write: &&At| self.orders.may(write) && !is_itself(write);
            cell.writes.iter().filter(may).copied()
        };
        let left = |write: At| self.model.step(write).left;
        let others = || writes().filter(|&write| !fits(left(write)));
        let mut ways = Vec::new();
        if fits(cell.initial) {
            ways.push(all(others().map(|other| self.is_to_come(other, place))));
        }
        for write in writes().filter(|&write| fits(left(write))) {
            let past = self.is_past(write, place);
            if matches!(past, Term::Known(false)) {
                continue;
            }
            let last = all(others().map(|other| {
                any([
                    self.orders.before(self.model, other, write),
                    self.is_to_come(other, place),
                ])
            }));
            ways.push(all([past, last]));
        }
        any(ways)
    }

    /// A thread holds the lock, so that the lock can't be taken at once. `shared`: only exclusive holders count.
    pub(super) fn is_held(&self, object: u32, shared: bool, place: Place) -> Term {
        any(self.blocks(object, shared).map(|block| {
            let open = if block.end == u32::MAX {
                Term::TRUE
            } else {
                self.is_to_come((block.lane, block.end), place)
            };
            all([self.is_past((block.lane, block.start), place), open])
        }))
    }

    /// No thread holds the lock at the end. `shared`: only exclusive holders count.
    pub(super) fn is_free(&self, object: u32, shared: bool) -> Term {
        all(self.blocks(object, shared).map(|block| {
            let over = if block.end == u32::MAX {
                Term::FALSE
            } else {
                self.orders.within((block.lane, block.end))
            };
            any([self.orders.beyond((block.lane, block.start)), over])
        }))
    }

    fn blocks(&self, object: u32, shared: bool) -> impl Iterator<Item = &Block> {
        let blocks = self.model.cells()[object as usize].blocks.iter();
        blocks.filter(move |block| !(shared && block.shared))
    }
}

/// Whether reads that wait for a change may go on after an event of this kind.
pub(super) const fn lets_go(kind: Kind) -> bool {
    matches!(kind, Kind::Write | Kind::Update | Kind::Unlock)
}
