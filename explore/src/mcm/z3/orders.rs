//! The order variables: an integer for each event, and one for the end of the execution.
//!
//! An event is in the execution iff it comes before the execution's end. So the cut needs no variables of its own. An
//! event outside of the execution is later than all events in the execution, so "comes before" is true by itself between an
//! event in the execution and one outside.
//!
//! A formula only states that one event comes before another, or that an event is in the execution or is not; it never
//! negates such a statement. So events with the same time may be put into any order.

use z3::Model as Found;
use z3::ast::{Ast as _, Int};

use super::super::model::Model;
use super::term::Term;

/// An event: lane and index.
pub(super) type At = (u32, u32);

/// The variables of a model.
#[derive(Debug)]
pub(super) struct Orders {
    /// Per lane: the number of events that are known to be in the execution.
    pub(super) lower: Vec<u32>,
    /// Per lane: the number of events that may be in the execution.
    pub(super) upper: Vec<u32>,
    times: Vec<Vec<Int>>,
    end: Int,
}

impl Orders {
    /// The variables for executions between these cuts.
    pub(super) fn new(lower: Vec<u32>, upper: Vec<u32>) -> Self {
        let mut next = 1_u32;
        let mut variable = || {
            next += 1;
            Int::new_const(next)
        };
        let lane = |&length: &u32| (0..length).map(|_| variable()).collect();
        let times = upper.iter().map(lane).collect();
        Self {
            lower,
            upper,
            times,
            end: Int::new_const(1_u32),
        }
    }

    /// Whether the event may be in the execution.
    pub(super) fn may(&self, at: At) -> bool {
        at.1 < self.upper[at.0 as usize]
    }

    fn time(&self, at: At) -> &Int {
        &self.times[at.0 as usize][at.1 as usize]
    }

    /// The event is in the execution.
    pub(super) fn within(&self, at: At) -> Term {
        if !self.may(at) {
            Term::FALSE
        } else if at.1 < self.lower[at.0 as usize] {
            Term::TRUE
        } else {
            self.reaches(at)
        }
    }

    /// The event is in the execution, as a formula even where the bounds decide it.
    pub(super) fn reaches(&self, at: At) -> Term {
        Term::Open(self.time(at).lt(&self.end))
    }

    /// The event is not in the execution.
    pub(super) fn beyond(&self, at: At) -> Term {
        if !self.may(at) {
            Term::TRUE
        } else if at.1 < self.lower[at.0 as usize] {
            Term::FALSE
        } else {
            self.exceeds(at)
        }
    }

    /// The event is not in the execution, as a formula even where the bounds decide it.
    pub(super) fn exceeds(&self, at: At) -> Term {
        Term::Open(self.end.le(self.time(at)))
    }

    /// The one event comes before the other. The one or the other is in the execution.
    pub(super) fn before(&self, model: &Model, one: At, other: At) -> Term {
        if one.0 == other.0 {
            return Term::Known(one.1 < other.1 && self.may(one));
        }
        if !self.may(one) {
            return Term::FALSE;
        }
        if !self.may(other) {
            return Term::TRUE;
        }
        let width = model.lanes().len();
        let needs = |at: At, of: u32| model.clocks()[model.row(at) * width + of as usize];
        if needs(other, one.0) > one.1 {
            Term::TRUE
        } else if needs(one, other.0) > other.1 {
            Term::FALSE
        } else {
            self.edge(one, other)
        }
    }

    /// The one event comes before the other, as a formula even where must-happen-before decides it.
    pub(super) fn edge(&self, one: At, other: At) -> Term {
        if self.may(one) {
            Term::Open(self.time(one).lt(self.time(other)))
        } else {
            Term::FALSE
        }
    }

    /// The execution that Z3 found: the lane of each event.
    pub(super) fn execution(&self, found: &Found) -> Option<Vec<u32>> {
        let time = |of: &Int| found.eval(of, true)?.simplify().as_i64();
        let end = time(&self.end)?;
        let mut events = Vec::new();
        for ((lane, times), &upper) in self.times.iter().enumerate().zip(&self.upper) {
            for (index, of) in times[..upper as usize].iter().enumerate() {
                let time = time(of)?;
                if time >= end {
                    break;
                }
                events.push((time, index, u32::try_from(lane).ok()?));
            }
        }
        events.sort_unstable();
        Some(events.into_iter().map(|(_, _, lane)| lane).collect())
    }
}
