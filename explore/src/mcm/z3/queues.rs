//! Wait queues, as an assignment of notifications to the waiters that they wake.
//!
//! [`State`](super::super::state::State) has a queue of waiters and permits: a notification leaves a permit if there is a
//! waiter without a permit, and a wake takes the first permit behind its waiter. Three facts turn this into a formula:
//! - A permit that is left where every waiter already has a permit is behind all waiters, and changes nothing. So in the
//!   formula every notification of one leaves a permit, and a notification of all leaves a permit per possible taker.
//! - Whether there is a permit for a waiter depends on the number of permits taken among those that cover the waiter. So
//!   all waits of a set were notified iff the waits can be matched to notifications, each after its wait and before its
//!   wake. Taking the first permit leaves most permits to others (the matching of intervals to points), so any matching
//!   will do where a query only asks that there is a permit.
//! - A query asks that **no** permit is left where a wait ends by its time, and where no thread can go on. Then the
//!   matching has to be the queue's own: a waiter that takes a permit leaves no permit between its wait and the taken
//!   permit.

use z3::ast::Bool;

use super::super::model::{Model, Step};
use super::orders::{At, Orders};
use super::term::{Term, all, any};
use crate::event::Kind;

/// A wait and its wake.
#[derive(Clone, Copy, Debug)]
struct Wait {
    wait: At,
    /// The wake, if it has been notified.
    taker: Option<At>,
}

/// What may be in an execution on one object.
#[derive(Debug, Default)]
struct Queue {
    waits: Vec<Wait>,
    /// The notifications, each with whether it notifies all waiters.
    notifications: Vec<(At, bool)>,
    /// Whether the wait takes a permit of the notification: row by row.
    takes: Vec<Bool>,
}

/// All wait queues of a model.
#[derive(Debug)]
pub(super) struct Queues {
    /// Per object: its queue.
    queues: Vec<Queue>,
}

impl Queues {
    /// Finds them.
    pub(super) fn new(model: &Model, orders: &Orders) -> Self {
        let queues = model.cells().iter().enumerate().map(|(object, cell)| {
            let mut queue = Queue::default();
            for &at in &cell.uses {
                let step = model.step(at);
                match step.kind {
                    _ if !orders.may(at) => {}
                    Kind::Wait => queue.waits.push(Wait {
                        wait: at,
                        taker: None,
                    }),
                    Kind::Notify => queue.notifications.push((at, step.left == Step::ALL)),
                    Kind::Wake if step.found == Step::NOTIFIED => {
                        let wait = wait_of(model, at.0, at.1, step.object);
                        let wait = queue
                            .waits
                            .iter_mut()
                            .find(|known| Some(known.wait) == wait);
                        if let Some(wait) = wait {
                            wait.taker = Some(at);
                        }
                    }
                    _ => {}
                }
            }
            let takes =
                |(wait, notification)| Bool::new_const(format!("p{object}.{wait}.{notification}"));
            let count = queue.notifications.len();
            queue.takes = (0..queue.waits.len() * count)
                .map(|at| takes((at / count, at % count)))
                .collect();
            queue
        });
        Self {
            queues: queues.collect(),
        }
    }

    /// What holds of the matching. `greedy`: it is the queue's.
    pub(super) fn rules(
        &self,
        model: &Model,
        orders: &Orders,
        greedy: bool,
        formula: &mut Vec<Term>,
    ) {
        for queue in &self.queues {
            queue.rules(model, orders, greedy, formula);
        }
    }

    /// This wake finds what it found in the trace.
    pub(super) fn finds(&self, model: &Model, orders: &Orders, at: At, step: &Step) -> Term {
        let queue = &self.queues[step.object as usize];
        let wait = wait_of(model, at.0, at.1, step.object);
        if step.found == Step::NOTIFIED {
            let Some(row) = wait.and_then(|wait| queue.row(wait)) else {
                return Term::FALSE;
            };
            return any((0..queue.notifications.len()).map(|of| queue.takes(row, of)));
        }
        if !step.timed {
            return Term::FALSE;
        }
        let Some(wait) = wait else { return Term::TRUE };
        all(queue
            .notifications
            .iter()
            .enumerate()
            .map(|(number, &(notification, of_all))| {
                any([
                    orders.before(model, notification, wait),
                    orders.before(model, at, notification),
                    if of_all {
                        Term::FALSE
                    } else {
                        queue.taken_before(model, orders, number, at)
                    },
                ])
            }))
    }

    /// A permit is left at the end for a wait whose wake would be event `index` of the lane.
    pub(super) fn leaves(
        &self,
        model: &Model,
        orders: &Orders,
        (lane, index): At,
        object: u32,
    ) -> Term {
        let queue = &self.queues[object as usize];
        let Some(wait) = wait_of(model, lane, index, object) else {
            return Term::FALSE;
        };
        any(queue
            .notifications
            .iter()
            .enumerate()
            .map(|(number, &(notification, of_all))| {
                let mut needs = vec![
                    orders.before(model, wait, notification),
                    orders.within(notification),
                ];
                if !of_all {
                    needs.extend((0..queue.waits.len()).map(|row| queue.takes(row, number).not()));
                }
                all(needs)
            }))
    }

    /// None is left. Of a matching that is the queue's.
    pub(super) fn lacks(
        &self,
        model: &Model,
        orders: &Orders,
        (lane, index): At,
        object: u32,
    ) -> Term {
        let queue = &self.queues[object as usize];
        let Some(wait) = wait_of(model, lane, index, object) else {
            return Term::TRUE;
        };
        all(queue
            .notifications
            .iter()
            .enumerate()
            .map(|(number, &(notification, of_all))| {
                let mut ways = vec![
                    orders.before(model, notification, wait),
                    orders.beyond(notification),
                ];
                if !of_all {
                    ways.extend((0..queue.waits.len()).map(|row| queue.takes(row, number)));
                }
                any(ways)
            }))
    }
}

impl Queue {
    fn row(&self, wait: At) -> Option<usize> {
        self.waits.iter().position(|known| known.wait == wait)
    }

    fn takes(&self, row: usize, notification: usize) -> Term {
        if self.waits[row].taker.is_none() {
            return Term::FALSE;
        }
        Term::Open(self.takes[row * self.notifications.len() + notification].clone())
    }

    /// Another wake has taken the notification's permit before this wake.
    fn taken_before(
        &self,
        model: &Model,
        orders: &Orders,
        notification: usize,
        before: At,
    ) -> Term {
        any(self.waits.iter().enumerate().map(|(row, wait)| {
            let Some(taker) = wait.taker.filter(|&taker| taker != before) else {
                return Term::FALSE;
            };
            all([
                self.takes(row, notification),
                orders.before(model, taker, before),
            ])
        }))
    }

    fn rules(&self, model: &Model, orders: &Orders, greedy: bool, formula: &mut Vec<Term>) {
        for (row, &Wait { wait, taker }) in self.waits.iter().enumerate() {
            let Some(taker) = taker else { continue };
            for (number, &(notification, _)) in self.notifications.iter().enumerate() {
                let mut needs = vec![
                    orders.within(taker),
                    orders.before(model, wait, notification),
                    orders.before(model, notification, taker),
                ];
                for (other, &(earlier, of_all)) in self.notifications.iter().enumerate() {
                    if !greedy || other == number {
                        continue;
                    }
                    needs.push(any([
                        orders.before(model, earlier, wait),
                        orders.before(model, notification, earlier),
                        if of_all {
                            Term::FALSE
                        } else {
                            self.taken_before(model, orders, other, taker)
                        },
                    ]));
                }
                let takes = self.takes(row, number);
                formula.push(any([takes.clone().not(), all(needs)]));
                for other in number + 1..self.notifications.len() {
                    formula.push(any([takes.clone().not(), self.takes(row, other).not()]));
                }
            }
        }
        for (number, &(_, of_all)) in self.notifications.iter().enumerate() {
            if of_all {
                continue;
            }
            for row in 0..self.waits.len() {
                for other in row + 1..self.waits.len() {
                    let both = [self.takes(row, number), self.takes(other, number)];
                    formula.push(any(both.map(Term::not)));
                }
            }
        }
    }
}

/// The wait that the wake at `index` of a lane ends: of the lane's waits on that object, the first that no wake
/// before it has ended.
fn wait_of(model: &Model, lane: u32, index: u32, object: u32) -> Option<At> {
    let steps = &model.lane_at(lane).steps[..index as usize];
    let on = |kind: Kind| {
        let is_on = move |step: &Step| step.kind == kind && step.object == object;
        steps
            .iter()
            .enumerate()
            .filter(move |(_, step)| is_on(step))
    };
    let wakes = on(Kind::Wake).count();
    let (at, _) = on(Kind::Wait).nth(wakes)?;
    Some((lane, u32::try_from(at).ok()?))
}
