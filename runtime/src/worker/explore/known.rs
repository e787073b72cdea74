//! The failures that a request has met so far.

use std::collections::HashMap;

use crate::engine::Place;
use crate::ids::Role;
use crate::scheduled::coupling::couplings;
use crate::scheduled::{Failure, Machine};
use crate::worker::message::{FailureKind, ScheduleFinding};

/// Failures that have been sent: one for each kind and place.
#[derive(Default)]
pub(super) struct Known {
    numbers: HashMap<(FailureKind, Option<Place>), usize>,
    /// How many executions had each of them, in the order in which they were sent.
    pub(super) times: Vec<u64>,
    /// How each of them couples the threads at the least.
    pub(super) couplings: Vec<Vec<(Role, u32)>>,
}

impl Known {
    /// Takes in a failure that has been met in an earlier search.
    pub(super) fn recall(&mut self, finding: &ScheduleFinding) {
        let next = self.times.len();
        self.numbers
            .insert((finding.kind, finding.place.clone()), next);
        self.times.push(0);
        self.couplings.push(Vec::new());
    }

    /// Counts the first failure of an execution; the answer is its number, how it couples the threads, and whether it is a
    /// new one.
    pub(super) fn note(
        &mut self,
        failure: &Failure,
        machine: &Machine<'_>,
    ) -> (u32, Vec<(Role, u32)>, bool) {
        let next = self.times.len();
        let key = (failure.kind, failure.place.clone());
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.times.push(0);
            self.couplings.push(Vec::new());
        }
        let coupled = couplings(machine.trace(), failure, machine.failures());
        self.count(number, &coupled);
        let short = u32::try_from(number).unwrap_or(u32::MAX);
        (short, coupled, number == next)
    }

    /// Counts an execution with the failure of this number.
    pub(super) fn count(&mut self, number: usize, coupled: &[(Role, u32)]) {
        let (Some(times), Some(known)) =
            (self.times.get_mut(number), self.couplings.get_mut(number))
        else {
            return;
        };
        *times += 1;
        for &(role, k) in coupled {
            match known.iter_mut().find(|(known, _)| *known == role) {
                Some((_, least)) => *least = k.min(*least),
                None => known.push((role, k)),
            }
        }
    }
}
