//! Turns: no thread runs alone for ever while others could run.
//!
//! A schedule that prefers one thread as long as that can run never gets to the end of a program in which this thread looks,
//! again and again, for what another one is to do: the executor's bound cuts every execution, and nothing but the orders
//! of what comes last before the cut would be explored, one after another. So a thread that has run for a [`TURN`] lets the
//! others run for one each. Where executions are shorter than that, nothing changes.
//!
//! Whose turn it is is a function of what has run, and of who could run, so that a strategy that repeats the beginning of an
//! execution comes to the same. Any such rule will do for the strategies' promises: which thread is preferred where
//! nothing has been decided is up to them.

use crate::event::Thread;
use crate::threads::ThreadSet;

/// How many events of a thread are a turn.
const TURN: u32 = 128;

/// Who has had a turn.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    /// See [`TURN`].
    turn: u32,
    /// Per thread: events since all have begun a new turn.
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
    /// Turns of so many events.
    pub(crate) const fn of(turn: u32) -> Self {
        Self {
            turn,
            used: Vec::new(),
            spent: ThreadSet::EMPTY,
        }
    }

    /// An execution begins.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.used.fill(0);
        self.spent = ThreadSet::EMPTY;
    }

    /// Those of the threads that can run whose turn it is. Asked at every scheduling point, once.
    #[inline]
    pub(crate) fn among(&mut self, enabled: ThreadSet) -> ThreadSet {
        let left = enabled.difference(self.spent);
        if left.is_empty() {
            self.clear();
            enabled
        } else {
            left
        }
    }

    /// The thread runs.
    #[inline]
    pub(crate) fn ran(&mut self, thread: Thread) {
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
            let thread = turns.among(both).first().unwrap_or_default();
            turns.ran(thread);
            ran.push(thread);
        }
        let turn = TURN as usize;
        assert!(ran[..turn].iter().all(|&thread| thread == 0));
        assert!(ran[turn..2 * turn].iter().all(|&thread| thread == 1));
        assert!(ran[2 * turn..].iter().all(|&thread| thread == 0));
    }

    #[test]
    fn a_thread_that_can_not_run_keeps_its_turn() {
        let mut turns = Turns::default();
        for _ in 0..5 * TURN {
            assert_eq!(turns.among(ThreadSet::only(0)), ThreadSet::only(0));
            turns.ran(0);
        }
        let both: ThreadSet = (0..2).collect();
        turns.among(ThreadSet::only(0));
        assert!(turns.among(both).contains(1));
    }
}
