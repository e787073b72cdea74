//! Turns: no thread runs alone for ever while others could run.
//!
//! A schedule that prefers one thread as long as that thread can run never ends in a program in which this thread looks
//! again and again for an event of another thread: the executor's bound cuts every execution, and the search would
//! explore only the orders of the last events before the cut. So a thread that has run for a [`TURN`] lets the other
//! threads run for one turn each. Executions shorter than a turn do not change.
//!
//! The turns are a function of the events so far and of the enabled threads, so a strategy that repeats the beginning of
//! an execution comes to the same turns. The strategies' promises hold under any such rule: a strategy is free to choose
//! which thread it prefers where nothing has been decided.

use crate::event::{Event, Thread};
use crate::executor::{Pick, Scheduler, View};
use crate::threads::ThreadSet;

/// The length of a turn, in events of one thread.
const TURN: u32 = 128;

/// Which threads have had their turn.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    /// The length of a turn, in events of one thread: see [`TURN`].
    turn: u32,
    /// How many events of the execution have been counted.
    counted: usize,
    /// Per thread: its events since all threads began a new turn.
    used: Vec<u32>,
    /// Threads that have had their turn.
    spent: ThreadSet,
}

impl Default for Turns {
    fn default() -> Self {
        Self::of(TURN)
    }
}

impl Turns {
    /// Turns of `turn` events each.
    pub(crate) const fn of(turn: u32) -> Self {
        Self {
            turn,
            counted: 0,
            used: Vec::new(),
            spent: ThreadSet::EMPTY,
        }
    }

    /// Starts over for a new execution.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.counted > 0 {
            self.counted = 0;
            self.renew();
        }
    }

    /// Begins a new turn for all threads.
    fn renew(&mut self) {
        self.used.fill(0);
        self.spent = ThreadSet::EMPTY;
    }

    /// Whether a thread may have had a turn after this number of events.
    #[inline]
    pub(crate) const fn are_counted(&self, events: usize) -> bool {
        events >= self.turn as usize
    }

    /// Returns the threads among `enabled` whose turn it is after `events` events; `ran` gives the thread of each event. To
    /// be called once at every scheduling point.
    ///
    /// In an execution with fewer events than a turn has, no thread has had a turn, and nothing is counted.
    #[inline]
    pub(crate) fn among(
        &mut self,
        enabled: ThreadSet,
        events: usize,
        ran: impl Fn(usize) -> Thread,
    ) -> ThreadSet {
        if !self.are_counted(events) {
            return enabled;
        }
        self.among_those_left(enabled, events, ran)
    }

    #[cold]
    fn among_those_left(
        &mut self,
        enabled: ThreadSet,
        events: usize,
        ran: impl Fn(usize) -> Thread,
    ) -> ThreadSet {
        for at in self.counted..events {
            self.count(ran(at));
        }
        self.counted = events;
        let left = enabled.difference(self.spent);
        if left.is_empty() {
            self.renew();
            enabled
        } else {
            left
        }
    }

    fn count(&mut self, thread: Thread) {
        let at = usize::from(thread);
        if at >= self.used.len() {
            self.used.resize(at + 1, 0);
        }
        self.used[at] += 1;
        if self.used[at] == self.turn {
            self.spent.insert(thread);
        }
    }
}

/// Runs one execution in turns. It shows the number of events after which a program ends, if the program ends when every
/// thread has its turns.
#[derive(Clone, Debug, Default)]
pub struct Fair {
    turns: Turns,
    ran: Vec<Thread>,
}

impl Fair {
    /// The number of events of the execution.
    #[must_use]
    pub fn events(&self) -> usize {
        self.ran.len()
    }
}

impl Scheduler for Fair {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        let ran = |at: usize| self.ran[at];
        let turn = self.turns.among(view.willing(), self.ran.len(), ran);
        Pick::Run(view.preferred(turn))
    }

    fn ran(&mut self, event: &Event) {
        self.ran.push(event.thread);
    }

    fn blocked(&mut self, _view: &View<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::{TURN, Turns};
    use crate::threads::ThreadSet;

    #[test]
    fn every_thread_has_its_turn() {
        let mut turns = Turns::default();
        let both: ThreadSet = (0..2).collect();
        let mut ran = Vec::new();
        for _ in 0..3 * TURN {
            let among = turns.among(both, ran.len(), |at| ran[at]);
            ran.push(among.first().unwrap_or_default());
        }
        let turn = TURN as usize;
        assert!(ran[..turn].iter().all(|&thread| thread == 0));
        assert!(ran[turn..2 * turn].iter().all(|&thread| thread == 1));
        assert!(ran[2 * turn..].iter().all(|&thread| thread == 0));
    }

    #[test]
    fn a_thread_that_can_not_run_keeps_its_turn() {
        let mut turns = Turns::default();
        for events in 0..5 * TURN as usize {
            let among = turns.among(ThreadSet::only(0), events, |_| 0);
            assert_eq!(among, ThreadSet::only(0));
        }
        let both: ThreadSet = (0..2).collect();
        let events = 5 * TURN as usize;
        turns.among(ThreadSet::only(0), events, |_| 0);
        assert!(turns.among(both, events, |_| 0).contains(1));
    }
}
