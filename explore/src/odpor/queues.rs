//! Who waits on an object after a prefix of an execution, without a look at all of the object's events.

use crate::event::Object;
use crate::trace::{Position, Trace};
use crate::waiting::Queue;

/// The number of an object's uses from one known state of the queue to the next.
const APART: usize = 32;

/// The wait queues of an execution that are used often, each as it was from time to time.
#[derive(Clone, Debug, Default)]
pub(super) struct Queues {
    of: Vec<(Object, Vec<Queue>)>,
}

impl Queues {
    /// Those of this execution.
    pub(super) fn look_at(&mut self, trace: &Trace) {
        self.of.clear();
        for (object, uses) in trace.objects() {
            let waits = |&first: &Position| trace.event(first).kind.is_waiting();
            if uses.len() < APART || !uses.first().is_some_and(waits) {
                continue;
            }
            let mut queue = Queue::new();
            let mut known = Vec::with_capacity(uses.len() / APART);
            for (n, &position) in uses.iter().enumerate() {
                queue.follow(trace.event(position));
                if (n + 1) % APART == 0 {
                    known.push(queue.clone());
                }
            }
            self.of.push((object, known));
        }
    }

    /// A state of the object's queue after no more than this number of its uses, and the number of uses that this is
    /// after.
    pub(super) fn before(&self, object: Object, uses: usize) -> (Queue, usize) {
        let of = self.of.iter().find(|(known, _)| *known == object);
        let known = of.and_then(|(_, known)| {
            let nth = (uses / APART).min(known.len());
            Some((known.get(nth.checked_sub(1)?)?.clone(), nth * APART))
        });
        known.unwrap_or_default()
    }
}
