//! All states that a program can reach, one step after the other, with no idea of waiting.
//!
//! Loops make circles among the states, of which there are only so many.

use std::collections::{BTreeSet, HashMap};

use super::program::{ATOMICS, LOCKS, Op, Program};

/// Of a lock that could not be taken.
pub(crate) const REFUSED: u8 = 99;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Thread {
    at: usize,
    /// How far it is in its operation.
    step: u8,
    noted: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    threads: Vec<Thread>,
    atomics: [u8; ATOMICS],
    /// The value, and who holds it.
    locks: [(u8, Option<usize>); LOCKS],
}

/// What can become of a program.
#[derive(Debug, Default)]
pub(crate) struct Behaviours {
    /// What the threads have noted, and what is left, at the ends.
    pub(crate) outcomes: BTreeSet<String>,
    /// There is a state from which no end can be reached.
    pub(crate) is_stuck: bool,
}

/// The text of an outcome.
pub(crate) fn outcome(noted: &[Vec<u8>], atomics: &[u8], locks: &[u8]) -> String {
    format!("{noted:?} {atomics:?} {locks:?}")
}

/// Tries everything. `None`: there are too many states.
pub(crate) fn interpret(program: &Program) -> Option<Behaviours> {
    let start = State {
        threads: vec![Thread::default(); program.len()],
        atomics: [0; ATOMICS],
        locks: [(0, None); LOCKS],
    };
    let mut numbers = HashMap::from([(start.clone(), 0)]);
    let mut states = vec![start];
    let mut before: Vec<Vec<usize>> = vec![Vec::new()];
    let mut ends = Vec::new();
    let mut found = Behaviours::default();
    let mut at = 0;
    while at < states.len() {
        if states.len() > 200_000 {
            return None;
        }
        let state = states[at].clone();
        let over = |thread: usize| state.threads[thread].at == program[thread].len();
        if (0..program.len()).all(over) {
            ends.push(at);
            let noted: Vec<_> = state.threads.iter().map(|it| it.noted.clone()).collect();
            let locks = state.locks.map(|(value, _)| value);
            found
                .outcomes
                .insert(outcome(&noted, &state.atomics, &locks));
        }
        for thread in 0..program.len() {
            if over(thread) {
                continue;
            }
            let mut next = state.clone();
            if !step(&mut next, thread, program[thread][state.threads[thread].at]) {
                continue;
            }
            let number = *numbers.entry(next.clone()).or_insert(states.len());
            if number == states.len() {
                states.push(next);
                before.push(Vec::new());
            }
            before[number].push(at);
        }
        at += 1;
    }
    let mut leads = vec![false; states.len()];
    let mut open = ends;
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut leads[at], true) {
            open.extend(&before[at]);
        }
    }
    found.is_stuck = leads.contains(&false);
    Some(found)
}

/// One event. False: it has to wait.
fn step(state: &mut State, me: usize, op: Op) -> bool {
    let at = state.threads[me].step;
    let take = |state: &mut State, lock: usize| {
        let free = state.locks[lock].1.is_none();
        if free {
            state.locks[lock].1 = Some(me);
        }
        free
    };
    let give = |state: &mut State, lock: usize| state.locks[lock].1 = None;
    // Where the thread is then: `None` at the next operation.
    let next = match (op, at) {
        (Op::Store(a, v), _) => {
            state.atomics[a] = v;
            None
        }
        (Op::Add(a, v), _) => {
            let old = state.atomics[a];
            state.atomics[a] = old.wrapping_add(v);
            state.threads[me].noted.push(old);
            None
        }
        (Op::Load(a), _) => {
            let value = state.atomics[a];
            state.threads[me].noted.push(value);
            None
        }
        (Op::Put(m, v), 0) => {
            if !take(state, m) {
                return false;
            }
            state.locks[m].0 = v;
            Some(1)
        }
        (Op::Look(m), 0) => {
            if !take(state, m) {
                return false;
            }
            let value = state.locks[m].0;
            state.threads[me].noted.push(value);
            Some(1)
        }
        (Op::Put(m, _) | Op::Look(m), _) => {
            give(state, m);
            None
        }
        (Op::Try(m), 0) => {
            let taken = take(state, m);
            let value = if taken { state.locks[m].0 } else { REFUSED };
            state.threads[me].noted.push(value);
            taken.then_some(1)
        }
        (Op::Try(m), _) => {
            give(state, m);
            None
        }
        (Op::WaitFor(a, v), _) => (state.atomics[a] != v).then_some(0),
        (Op::WaitForMore(a, v), _) => (state.atomics[a] <= v).then_some(0),
        (Op::WaitForBoth(v), 0) => Some(u8::from(state.atomics[0] == v)),
        (Op::WaitForBoth(v), _) => (state.atomics[1] != v).then_some(0),
        (Op::Exchange(a, v, w), _) => {
            if state.atomics[a] == v {
                state.atomics[a] = w;
                None
            } else {
                Some(0)
            }
        }
        (Op::Swap(a, v), _) => {
            let old = std::mem::replace(&mut state.atomics[a], v);
            (old == v).then_some(0)
        }
        (Op::WaitLocked(m, v), 0) => {
            if !take(state, m) {
                return false;
            }
            Some(if state.locks[m].0 == v { 1 } else { 2 })
        }
        (Op::WaitLocked(m, _) | Op::WaitTrying(m, _), at) if at > 0 => {
            give(state, m);
            (at == 2).then_some(0)
        }
        (Op::WaitTrying(m, v), _) => {
            if !take(state, m) {
                Some(0)
            } else if state.locks[m].0 == v {
                Some(1)
            } else {
                Some(2)
            }
        }
        (Op::PutTrying(m, v), 0) => {
            if take(state, m) {
                state.locks[m].0 = state.locks[m].0.wrapping_add(v);
                Some(1)
            } else {
                Some(0)
            }
        }
        (Op::PutTrying(m, _), _) => {
            give(state, m);
            None
        }
        (Op::WaitStoring(a, v, _), 0) => (state.atomics[a] != v).then_some(1),
        (Op::WaitStoring(a, _, w), _) => {
            state.atomics[1 - a] = w;
            Some(0)
        }
        (Op::Nested(m), 0) => {
            if !take(state, m) {
                return false;
            }
            Some(1)
        }
        (Op::Nested(m), 1) => {
            if !take(state, 1 - m) {
                return false;
            }
            Some(2)
        }
        (Op::Nested(m), 2) => {
            give(state, 1 - m);
            Some(3)
        }
        (Op::Nested(m), _) => {
            give(state, m);
            None
        }
        (Op::WaitHolding(m, ..), 0) => {
            if !take(state, m) {
                return false;
            }
            Some(1)
        }
        (Op::WaitHolding(_, a, v), 1) => Some(if state.atomics[a] == v { 2 } else { 1 }),
        (Op::WaitHolding(m, ..), _) => {
            give(state, m);
            None
        }
        (Op::WaitLocked(..), _) => unreachable!(),
    };
    let thread = &mut state.threads[me];
    match next {
        Some(step) => thread.step = step,
        None => {
            thread.at += 1;
            thread.step = 0;
        }
    }
    true
}
