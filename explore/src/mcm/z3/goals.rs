//! What a query asks for at the end of an execution.

use super::super::model::Step;
use super::super::query::{Goal, Sight};
use super::orders::At;
use super::rules::{Encoding, Place};
use super::term::{Term, all, any};
use crate::event::Kind;

impl Encoding<'_> {
    /// The goal is reached.
    pub(super) fn goal(&self, goal: Goal, formula: &mut Vec<Term>) {
        match goal {
            Goal::Reached => {}
            Goal::Next(lane, sight) => {
                let at = self.arrives(lane, formula);
                let step = self.next_or_wait(at);
                formula.push(step.map_or(Term::FALSE, |step| self.sees(at, step, sight)));
            }
            Goal::Both(one, other) => {
                for lane in [one, other] {
                    let at = self.arrives(lane, formula);
                    let step = self.next_or_wait(at);
                    formula.push(step.map_or(Term::FALSE, |step| self.goes(at, step)));
                }
            }
            Goal::Stuck => {
                for (lane, &upper) in self.orders.upper.iter().enumerate() {
                    let number = u32::try_from(lane).unwrap_or(u32::MAX);
                    for index in self.orders.lower[lane]..=upper {
                        formula.push(self.stops((number, index)));
                    }
                }
            }
        }
    }

    /// The lane comes to its upper bound; the event after that.
    fn arrives(&self, lane: u32, formula: &mut Vec<Term>) -> At {
        let index = self.orders.upper[lane as usize];
        if let Some(last) = index.checked_sub(1) {
            formula.push(self.orders.within((lane, last)));
        }
        (lane, index)
    }

    fn next_or_wait(&self, (lane, index): At) -> Option<&Step> {
        let lane = self.model.lane_at(lane);
        lane.steps.get(index as usize).or(lane.waits.as_ref())
    }

    /// If the lane stands before this event at the end, it can't go on.
    fn stops(&self, (lane, index): At) -> Term {
        let Some(step) = self.next_or_wait((lane, index)) else {
            return Term::TRUE;
        };
        let elsewhere = index
            .checked_sub(1)
            .map(|last| self.orders.beyond((lane, last)));
        any([
            elsewhere.unwrap_or(Term::FALSE),
            self.orders.within((lane, index)),
            self.waits((lane, index), step),
        ])
    }

    /// The event can be next, and would observe this.
    fn sees(&self, at: At, step: &Step, sight: Sight) -> Term {
        let shared = matches!(step.kind, Kind::TryLockShared | Kind::TryLockSharedFailed);
        let model = self.model;
        let queues = self.queues;
        match sight {
            Sight::Value(view) => all([
                self.goes(at, step),
                if step.tries() {
                    self.is_free(step.object, shared)
                } else {
                    Term::TRUE
                },
                self.has(step.object, |value| step.view(value) == view, Place::End),
            ]),
            Sight::Refused => all([
                self.goes(at, step),
                self.is_held(step.object, shared, Place::End),
            ]),
            Sight::Notified(true) => all([
                self.goes(at, step),
                queues.leaves(model, self.orders, at, step.object),
            ]),
            Sight::Notified(false) => queues.lacks(model, self.orders, at, step.object),
            // Models with such attempts are not asked about.
            Sight::Outcome(_) => Term::FALSE,
        }
    }

    /// The lane stands before this event at the end, and can go on.
    fn goes(&self, at: At, step: &Step) -> Term {
        let orders = self.orders;
        let mut needs = Vec::new();
        if at.1 == 0
            && let Some(fork) = self.model.lane_at(at.0).fork
        {
            needs.push(orders.within(fork));
        }
        needs.push(match step.kind {
            Kind::Lock => self.is_free(step.object, false),
            Kind::LockShared => self.is_free(step.object, true),
            Kind::Join => self.end_of(step.object).map_or(Term::FALSE, |end| {
                end.map_or(Term::TRUE, |end| orders.within(end))
            }),
            Kind::Wake if step.timed => Term::TRUE,
            Kind::Wake => self.queues.leaves(self.model, orders, at, step.object),
            _ if step.parked => self.is_changed(at, Place::End),
            _ => Term::TRUE,
        });
        all(needs)
    }

    /// It can't.
    fn waits(&self, at: At, step: &Step) -> Term {
        let orders = self.orders;
        let mut ways = Vec::new();
        if at.1 == 0
            && let Some(fork) = self.model.lane_at(at.0).fork
        {
            ways.push(orders.beyond(fork));
        }
        ways.push(match step.kind {
            Kind::Lock => self.is_held(step.object, false, Place::End),
            Kind::LockShared => self.is_held(step.object, true, Place::End),
            Kind::Join => self.end_of(step.object).map_or(Term::TRUE, |end| {
                end.map_or(Term::FALSE, |end| orders.beyond(end))
            }),
            Kind::Wake if step.timed => Term::FALSE,
            Kind::Wake => self.queues.lacks(self.model, orders, at, step.object),
            _ if step.parked => self.is_unchanged(at),
            _ => Term::FALSE,
        });
        any(ways)
    }

    /// The event with which a lane has ended, if there is one to wait for. `None`: it does not end.
    fn end_of(&self, lane: u32) -> Option<Option<At>> {
        let of = self.model.lane_at(lane);
        of.ended.then(|| {
            of.len()
                .checked_sub(1)
                .map_or(of.fork, |last| Some((lane, last)))
        })
    }
}
