//! What a program can do if a notification chooses the waiter to wake, by walking all states: the oracle for permits.
//!
//! Everything but condition variables is the [`Machine`]'s; these are sets of who waits and who has been notified.

use std::collections::HashSet;

use super::{Machine, Op, Program};

/// Of one condition variable, as sets of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Condition {
    waits: u8,
    notified: u8,
}

/// The waiters that a notification of one thread may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    Any,
    /// The first in the order of threads, to see where it makes a difference.
    First,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    machine: Machine,
    conditions: [Condition; 2],
}

impl State {
    fn is_enabled(&self, program: &Program, thread: usize) -> bool {
        match self.machine.next(program, thread) {
            Some(Op::Wake(c)) => self.conditions[usize::from(c)].notified >> thread & 1 == 1,
            _ => self.machine.is_enabled(program, thread),
        }
    }

    /// All that can come of the thread's next operation.
    fn after(self, program: &Program, thread: usize, whom: Whom) -> Vec<Self> {
        let bit = 1 << thread;
        let mut next = self;
        match self.machine.next(program, thread) {
            Some(Op::Wait(c)) => {
                next.conditions[usize::from(c)].waits |= bit;
                next.machine.pass(program, thread, None);
            }
            Some(Op::Wake(c)) => {
                next.conditions[usize::from(c)].notified &= !bit;
                next.machine.pass(program, thread, None);
            }
            Some(Op::TimedWake(register, c)) => {
                let condition = &mut next.conditions[usize::from(c)];
                let notified = condition.notified & bit != 0;
                condition.notified &= !bit;
                condition.waits &= !bit;
                let result = Some((register, u8::from(notified)));
                next.machine.pass(program, thread, result);
            }
            Some(Op::NotifyAll(c)) => {
                let condition = &mut next.conditions[usize::from(c)];
                condition.notified |= std::mem::take(&mut condition.waits);
                next.machine.pass(program, thread, None);
            }
            Some(Op::NotifyOne(c)) => {
                next.machine.pass(program, thread, None);
                let waits = self.conditions[usize::from(c)].waits;
                if waits == 0 {
                    return vec![next];
                }
                let chosen = (0..8).map(|at| 1 << at).filter(|bit| waits & bit != 0);
                return chosen
                    .take(if whom == Whom::Any { 8 } else { 1 })
                    .map(|chosen| {
                        let mut next = next;
                        let condition = &mut next.conditions[usize::from(c)];
                        condition.waits &= !chosen;
                        condition.notified |= chosen;
                        next
                    })
                    .collect();
            }
            _ => {
                next.machine.step(program, thread);
            }
        }
        vec![next]
    }
}

/// Terminal states, as [`Machine::hash`] tells them.
pub(crate) fn terminal_states(program: &Program, whom: Whom) -> HashSet<u64> {
    let start = State {
        machine: Machine::start(program),
        conditions: [Condition::default(); 2],
    };
    let mut seen = HashSet::from([start]);
    let mut terminal = HashSet::new();
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        let mut is_terminal = true;
        for thread in 0..usize::from(state.machine.count) {
            if !state.is_enabled(program, thread) {
                continue;
            }
            is_terminal = false;
            let after = state.after(program, thread, whom).into_iter();
            open.extend(after.filter(|&next| seen.insert(next)));
        }
        if is_terminal {
            terminal.insert(state.machine.hash());
        }
    }
    terminal
}
