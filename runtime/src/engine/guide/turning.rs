//! Chooses which decision to turn.

use super::{Decision, Order};
use crate::engine::{Engine, NONE, Paired};
use crate::log::{Op, TEvent};

/// The number of latest decisions among which one to turn is looked for.
const LOOKED_AT: usize = 32;
/// The effort for one turn: the number of events of T that are checked again, and [`TRY`] for each trial.
const EFFORT: usize = 512;
/// The effort that a trial costs beside its events.
const TRY: usize = 32;

impl Engine {
    /// After an execution that no interleaving has: turns one of the execution's decisions for the next execution.
    /// Returns whether there is a decision to turn.
    #[inline(never)]
    pub(in crate::engine) fn turn_around(&mut self) -> bool {
        let events = self.under_test().len();
        // With several interfering threads, trials would cost too much.
        if self.bytes.k() == 0 || self.is_of_several() || !self.guide.goes_on(events) {
            return false;
        }
        self.guide.log.clear();
        self.guide.log.extend_from_slice(self.grid.events());
        self.guide.agreed = events;
        let turned = self.turn_one_around(events);
        self.go_to(events);
        turned
    }

    fn turn_one_around(&mut self, events: usize) -> bool {
        let Some(&last) = self.guide.log.last() else {
            return false;
        };
        self.guide.left = EFFORT;
        let found = self.with_one_change().or_else(|| {
            self.guide.left = EFFORT;
            self.any_change(last.op == Op::Join)
        });
        let Some((decision, order)) = found else {
            return false;
        };
        if let Order::Take(writes) = order
            && self.guide.can_learn(decision)
        {
            let last = self.last_allowed(decision);
            self.guide
                .learn(decision, writes, (last, events), &self.pairs);
        }
        self.guide.count(events);
        self.guide.turn(decision, order);
        true
    }

    /// The last decision from this one on at which T may see a write that T has not seen.
    fn last_allowed(&mut self, first: usize) -> usize {
        for index in (first + 1..self.guide.decisions.len()).rev() {
            let decision = self.guide.decisions[index];
            let event = self.guide.log.get(decision.at as usize);
            let Some(Op::Read(x) | Op::Update(x)) = event.map(|event| event.op) else {
                return index;
            };
            self.go_to(decision.at as usize);
            if let Some(foreign) = self.grid.foreign(x) {
                let latest = self.grid.latest_seen(foreign, x, NONE);
                if latest.is_some_and(|event| decision.seen == NONE || event > decision.seen) {
                    return index;
                }
                continue;
            }
            let mut reader = self.grid.reader(x);
            let mut next = self.objects[x as usize].last_write;
            while let Some(&Paired { event, previous }) = self.writes.get(next as usize)
                && event != decision.seen
            {
                // Asked as for a read, which requires less: an update may turn out to be a read.
                if reader.could_see(event, false) {
                    return index;
                }
                next = previous;
            }
        }
        first
    }

    /// Has the grid hold the first `at` events of T.
    fn go_to(&mut self, at: usize) {
        self.grid.truncate(at.min(self.guide.agreed));
        for before in self.grid.events().len()..at {
            self.grid.push(self.guide.log[before]);
        }
        self.guide.agreed = at;
    }

    /// The decisions, the latest first, with the number of choices made before each.
    fn latest_decisions(&self) -> Vec<(usize, Decision, usize)> {
        let mut taken = 0;
        let mut all = Vec::with_capacity(self.guide.decisions.len());
        for (index, &decision) in self.guide.decisions.iter().enumerate() {
            all.push((index, decision, taken));
            taken += usize::from(decision.taken);
        }
        let free = |(_, decision, _): &(usize, Decision, usize)| {
            !self.guide.ordered(decision.read) && (decision.at as usize) < self.guide.log.len()
        };
        let mut latest: Vec<_> = all.into_iter().rev().filter(free).collect();
        latest.truncate(LOOKED_AT);
        latest
    }

    /// The latest decision after whose turn T could do all else that T did.
    fn with_one_change(&mut self) -> Option<(usize, Order)> {
        let full = self.pairs.len() == self.bytes.k();
        for (index, decision, _) in self.latest_decisions() {
            let event = self.guide.log[decision.at as usize];
            let (Op::Read(_) | Op::Update(_)) = event.op else {
                // A lock that is taken instead has to be given back later, so one change is not enough.
                continue;
            };
            if decision.taken && self.would_do(decision, TEvent::local(event.op), true) {
                return Some((index, Order::Pass));
            }
            if decision.taken || !full {
                let writes = self.writes_with(decision, |engine, event| {
                    engine.would_do(decision, event, true)
                });
                if !writes.is_empty() {
                    return Some((index, Order::Take(self.guide.lists.add(&writes))));
                }
            }
        }
        None
    }

    /// The latest decision that can be turned at all.
    fn any_change(&mut self, at_join: bool) -> Option<(usize, Order)> {
        let k = self.bytes.k();
        for (index, decision, before) in self.latest_decisions() {
            let event = self.guide.log[decision.at as usize];
            let possible = |engine: &mut Self, event: TEvent| {
                engine.would_do(decision, event, false)
                    && (!at_join || engine.grid.lets_other_end())
            };
            if decision.taken {
                let local = match event.op {
                    Op::TryFail(lock, mode) => Op::Acquire(lock, mode),
                    op => op,
                };
                if possible(self, TEvent::local(local)) {
                    return Some((index, Order::Pass));
                }
            }
            if before < k {
                let writes = self.writes_with(decision, possible);
                if !writes.is_empty() {
                    return Some((index, Order::Take(self.guide.lists.add(&writes))));
                }
            }
        }
        None
    }

    /// Whether T could do `event` instead of what T did at this decision; with `rest`, and all that T did later, too.
    /// Leaves the grid at the last event tried.
    fn would_do(&mut self, decision: Decision, event: TEvent, rest: bool) -> bool {
        let at = decision.at as usize;
        let later = if rest { &self.guide.log[at + 1..] } else { &[] };
        let Some(left) = self.guide.left.checked_sub(TRY + later.len()) else {
            return false;
        };
        self.guide.left = left;
        self.go_to(at);
        self.grid.push(event);
        if rest {
            if !self.grid.feasible() {
                return false;
            }
            for &later in &self.guide.log[at + 1..] {
                self.grid.push(later);
            }
        }
        self.grid.feasible()
    }

    /// The writes that the read could see instead of what it saw.
    fn writes_with(
        &mut self,
        decision: Decision,
        mut possible: impl FnMut(&mut Self, TEvent) -> bool,
    ) -> Vec<u32> {
        let op = self.guide.log[decision.at as usize].op;
        let mut next = match op {
            Op::Read(x) | Op::Update(x) => self.objects[x as usize].last_write,
            Op::Acquire(lock, _) => self.objects[lock as usize].last_acquire,
            _ => NONE,
        };
        let mut all = Vec::new();
        while next != NONE {
            let Paired { event, previous } = self.writes[next as usize];
            if event == decision.seen {
                break;
            }
            let fits = match (op, self.interfering[event as usize]) {
                (Op::Acquire(lock, mode), Op::Acquire(_, other)) => {
                    other.excludes(mode).then_some(Op::TryFail(lock, mode))
                }
                _ => Some(op),
            };
            // The write that the read saw led to this end, so that write is not tried again.
            if let Some(op) = fits
                && self.guide.log[decision.at as usize].source != Some(event)
                && possible(self, TEvent::non_local(op, event))
            {
                all.push(next);
            }
            next = previous;
        }
        all
    }
}
