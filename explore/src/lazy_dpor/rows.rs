//! Events in a row, run on paper: what can come before an event, and whether locks allow it.

use crate::event::Kind;
use crate::trace::{NOWHERE, Position};

use super::trace::{Section, depends_lazily};
use super::{LazyDpor, Target};

impl LazyDpor {
    /// Those of the events that are needed, or have nothing to do with threads that sleep at `position`.
    pub(super) fn awake(
        &mut self,
        position: Position,
        all: &[Position],
        needed: &[Position],
    ) -> Vec<Position> {
        let asleep = self.stack.node(position).asleep;
        let mut left_out: Vec<Position> = Vec::new();
        let mut awake = Vec::new();
        for &at in all {
            let is_needed = needed.binary_search(&at).is_ok();
            let follows = |&out: &Position| self.trace.happens_before(out, at);
            if !is_needed
                && (asleep.contains(self.trace.event(at).thread) || left_out.iter().any(follows))
            {
                left_out.push(at);
            } else {
                awake.push(at);
            }
        }
        awake
    }

    /// Whether the target can't come before this event, if it is to come before the one at `position`.
    pub(super) fn is_needed(&self, at: Position, position: Position, target: Target) -> bool {
        if self.trace.happens_before(at, target.before) {
            return true;
        }
        self.trace.uses(target.event.object).iter().any(|&used| {
            used >= at
                && used < target.end
                && depends_lazily(self.trace.event(used), &target.event)
                && !self.trace.happens_before(position, used)
                && self.trace.happens_before(at, used)
        })
    }

    /// Those of the events that can follow on the first `position` events, with the target behind them. If what is needed for
    /// the target can't: where the lock was taken that is in the way, and which event it is in the way of; [`NOWHERE`] for
    /// the target.
    pub(super) fn row(
        &self,
        position: Position,
        events: &[Position],
        needed: &[Position],
        target: Target,
    ) -> Result<Vec<Position>, (Position, Position)> {
        let open = self.trace.open_at(position);
        let mut held: Vec<Section> = open.map(|(_, section)| *section).collect();
        let mut row = Vec::new();
        let mut left_out: Vec<Position> = Vec::new();
        let steps = events
            .iter()
            .map(|&at| (at, *self.trace.event(at)))
            .chain([(NOWHERE, target.event)]);
        for (at, event) in steps {
            let is_target = at == NOWHERE;
            let is_needed = is_target || needed.binary_search(&at).is_ok();
            let follows = |&out: &Position| self.trace.happens_before(out, at);
            if !is_target && left_out.iter().any(follows) {
                left_out.push(at);
                continue;
            }
            if event.kind.acquires() {
                let is_shared = matches!(event.kind, Kind::LockShared | Kind::TryLockShared);
                let in_the_way = held
                    .iter()
                    .find(|section| section.lock == event.object && section.excludes(is_shared));
                // An attempt that is the target comes to whatever it comes to.
                let blocks = matches!(event.kind, Kind::Lock | Kind::LockShared);
                if let Some(section) = in_the_way
                    && (blocks || !is_target)
                {
                    if is_needed {
                        return Err((section.taken, at));
                    }
                    left_out.push(at);
                    continue;
                }
                held.push(Section {
                    thread: event.thread,
                    lock: event.object,
                    is_shared,
                    taken: at,
                    given_back: NOWHERE,
                    may_wait: false,
                });
            }
            if matches!(event.kind, Kind::Unlock | Kind::UnlockShared) {
                let given_back = held.iter().rposition(|section| {
                    section.thread == event.thread && section.lock == event.object
                });
                if let Some(given_back) = given_back {
                    held.remove(given_back);
                }
            }
            if !is_target {
                row.push(at);
            }
        }
        Ok(row)
    }
}
