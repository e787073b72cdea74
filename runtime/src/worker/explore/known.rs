//! The failures that a request has met so far.

use std::collections::{HashMap, HashSet};

use crate::scheduled::coupling::couplings;
use crate::scheduled::{Failure, Machine};
use crate::vocabulary::{FailureKind, HeldUp, Place, Role};
use crate::worker::message::ScheduleFinding;

/// The key that tells failures apart.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    kind: FailureKind,
    place: Option<Place>,
    /// The message of a failure that has no place.
    message: String,
    /// The places of the panics that the failure follows from: where one of them is told, the failure is not, and so a
    /// failure beside other causes is another one.
    follows: Vec<Place>,
}

impl Key {
    fn new(kind: FailureKind, place: Option<&Place>, message: &str, follows: &[Place]) -> Self {
        let message = if place.is_none() { message } else { "" };
        Self {
            kind,
            place: place.cloned(),
            message: message.to_owned(),
            follows: follows.to_vec(),
        }
    }

    fn of(failure: &Failure) -> Self {
        let Failure {
            kind,
            place,
            message,
            follows,
            ..
        } = failure;
        Self::new(*kind, place.as_ref(), message, follows)
    }
}

/// A panic of which it is not known whether the harness would have handled it.
struct Bystander {
    key: Key,
    /// The failure as it was met first.
    finding: ScheduleFinding,
    times: u64,
    couplings: Vec<(Role, u32)>,
    /// Whether that is known of all its executions.
    is_counted: bool,
    held_up: Option<HeldUp>,
}

/// Failures that have been sent: one for each kind and place.
#[derive(Default)]
pub(super) struct Known {
    numbers: HashMap<Key, usize>,
    /// Panics of which it is not known whether the harness would have handled them: the first meeting with each, until the
    /// search is over.
    bystanders: Vec<Bystander>,
    /// The places of panics of which an execution has shown what becomes of them: a harness that ended well has handled
    /// them, or nobody joins their threads.
    settled: HashSet<Place>,
    /// The number of executions with each failure, in the order in which the failures were sent.
    pub(super) times: Vec<u64>,
    /// How each failure couples the threads at the least, in the same order.
    couplings: Vec<Vec<(Role, u32)>>,
    /// The failures with an execution of which is not known how it couples the threads, so that the least is not known.
    uncounted: HashSet<usize>,
    /// Who was held up in each execution with a failure, in the same order.
    pub(super) held_up: Vec<Option<HeldUp>>,
    /// Whether a failure has been met without a thread that was held up, since it was last asked.
    is_refuted: bool,
}

impl Known {
    /// Takes in a failure that has been met in an earlier search.
    pub(super) fn recall(&mut self, finding: &ScheduleFinding) {
        let next = self.times.len();
        let ScheduleFinding {
            kind,
            place,
            message,
            follows,
            ..
        } = finding;
        let key = Key::new(*kind, place.as_ref(), message, follows);
        self.numbers.insert(key, next);
        self.times.push(0);
        self.couplings.push(Vec::new());
        // It is not known of the earlier search.
        self.held_up.push(None);
    }

    /// Takes in the places of panics that an execution has settled: that its harness, which ended well, has handled, or whose
    /// threads nobody joins.
    pub(super) fn settle<'a>(&mut self, places: impl Iterator<Item = &'a Place>) {
        for place in places {
            if !self.settled.contains(place) {
                self.settled.insert(place.clone());
            }
        }
    }

    /// Keeps a bystander's failure, which may be handled in another execution.
    pub(super) fn keep(
        &mut self,
        failure: &Failure,
        machine: &Machine<'_>,
        finding: impl FnOnce() -> ScheduleFinding,
    ) {
        let key = Key::of(failure);
        if self.numbers.contains_key(&key) {
            return;
        }
        let at = self.bystanders.iter().position(|known| known.key == key);
        let at = at.unwrap_or_else(|| {
            self.bystanders.push(Bystander {
                key,
                finding: finding(),
                times: 0,
                couplings: Vec::new(),
                is_counted: true,
                held_up: machine.held_up(failure),
            });
            self.bystanders.len() - 1
        });
        let bystander = &mut self.bystanders[at];
        bystander.times += 1;
        match coupled(failure, machine) {
            Some(coupled) => lessen(&mut bystander.couplings, &coupled),
            None => bystander.is_counted = false,
        }
        shorten(&mut bystander.held_up, machine.held_up(failure));
    }

    /// The bystanders' failures that are left at the search's end: those that no execution has settled, and that are not
    /// known otherwise.
    pub(super) fn left(&mut self) -> Vec<ScheduleFinding> {
        let mut left = Vec::new();
        for bystander in std::mem::take(&mut self.bystanders) {
            let Bystander {
                key,
                finding,
                times,
                couplings,
                is_counted,
                held_up,
            } = bystander;
            let is_settled = key
                .place
                .as_ref()
                .is_some_and(|it| self.settled.contains(it));
            if is_settled || self.numbers.contains_key(&key) {
                continue;
            }
            if !is_counted {
                self.uncounted.insert(self.times.len());
            }
            self.numbers.insert(key, self.times.len());
            self.times.push(times);
            self.couplings.push(couplings);
            self.held_up.push(held_up);
            left.push(finding);
        }
        left
    }

    /// Whether this failure has been sent.
    pub(super) fn has(&self, failure: &Failure) -> bool {
        self.numbers.contains_key(&Key::of(failure))
    }

    /// Counts a failure of an execution. Returns its number, how it couples the threads, and whether it is new one.
    pub(super) fn note(
        &mut self,
        failure: &Failure,
        machine: &Machine<'_>,
    ) -> (u32, Vec<(Role, u32)>, bool) {
        let next = self.times.len();
        let key = Key::of(failure);
        let number = *self.numbers.entry(key).or_insert(next);
        let held_up = machine.held_up(failure);
        if number == next {
            self.times.push(0);
            self.couplings.push(Vec::new());
            self.held_up.push(held_up);
        } else if let Some(known) = self.held_up.get_mut(number) {
            self.is_refuted |= known.is_some() && held_up.is_none();
            shorten(known, held_up);
        }
        let coupled = coupled(failure, machine).unwrap_or_else(|| {
            self.uncounted.insert(number);
            Vec::new()
        });
        self.count(number, &coupled);
        let short = u32::try_from(number).unwrap_or(u32::MAX);
        (short, coupled, number == next)
    }

    /// How each failure couples the threads at the least, in the order in which the failures were sent.
    pub(super) fn into_couplings(self) -> Vec<Vec<(Role, u32)>> {
        let mut all = self.couplings;
        for (number, couplings) in all.iter_mut().enumerate() {
            if self.uncounted.contains(&number) {
                couplings.clear();
            }
        }
        all
    }

    /// Who was held up in each execution with a failure, if for some failure that has turned out not to be so.
    pub(super) fn take_refuted(&mut self) -> Option<Vec<Option<HeldUp>>> {
        std::mem::take(&mut self.is_refuted).then(|| self.held_up.clone())
    }

    /// Counts an execution with the failure of this number.
    pub(super) fn count(&mut self, number: usize, coupled: &[(Role, u32)]) {
        let (Some(times), Some(known)) =
            (self.times.get_mut(number), self.couplings.get_mut(number))
        else {
            return;
        };
        *times += 1;
        lessen(known, coupled);
    }
}

/// How a failing execution couples the threads; `None` where that can't be counted, since it is not known of all that they have
/// done whether it changed a value.
fn coupled(failure: &Failure, machine: &Machine<'_>) -> Option<Vec<(Role, u32)>> {
    let couplings = || couplings(machine.trace(), failure, machine.failures());
    let is_known = !machine.has_looks() && !machine.is_weak();
    is_known.then(couplings)
}

/// Takes in how an execution couples the threads: the least counts.
fn lessen(known: &mut Vec<(Role, u32)>, coupled: &[(Role, u32)]) {
    for &(role, k) in coupled {
        match known.iter_mut().find(|(known, _)| *known == role) {
            Some((_, least)) => *least = k.min(*least),
            None => known.push((role, k)),
        }
    }
}

/// Takes in who was held up in another execution with a failure: the one for whom that was shorter.
fn shorten(known: &mut Option<HeldUp>, other: Option<HeldUp>) {
    *known = match (known.take(), other) {
        (Some(known), Some(other)) if known.nanoseconds <= other.nanoseconds => Some(known),
        (Some(_), other) => other,
        (None, _) => None,
    };
}
