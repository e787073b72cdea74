//! What a program can do, by walking its states without any scheduler.

use std::collections::{HashMap, HashSet};

use super::{Machine, Program};

/// Terminal states within a bound on preemptions.
pub(crate) fn terminal_states(program: &Program, bound: Option<u32>) -> HashSet<u64> {
    let mut seen = HashSet::new();
    let mut terminal = HashSet::new();
    let mut open = vec![(Machine::start(program), None, 0)];
    while let Some((machine, last, preemptions)) = open.pop() {
        let enabled = machine.enabled(program);
        if enabled.is_empty() {
            terminal.insert(machine.hash());
        }
        for next in enabled.iter() {
            let preempts = last.is_some_and(|last| last != next && enabled.contains(last));
            let preemptions = match bound {
                Some(_) => preemptions + u32::from(preempts),
                None => 0,
            };
            if bound.is_some_and(|bound| preemptions > bound) {
                continue;
            }
            let mut after = machine;
            after.step(program, usize::from(next));
            let last = bound.is_some().then_some(next);
            if seen.insert((after, last, preemptions)) {
                open.push((after, last, preemptions));
            }
        }
    }
    terminal
}

/// How many schedules there are; `None` for too many states.
pub(crate) fn schedules(program: &Program, states: usize) -> Option<u64> {
    fn count(
        program: &Program,
        machine: Machine,
        known: &mut HashMap<Machine, u64>,
        states: usize,
    ) -> Option<u64> {
        if let Some(&known) = known.get(&machine) {
            return Some(known);
        }
        if known.len() >= states {
            return None;
        }
        let enabled = machine.enabled(program);
        let mut total = u64::from(enabled.is_empty());
        for next in enabled.iter() {
            let mut after = machine;
            after.step(program, usize::from(next));
            total = total.saturating_add(count(program, after, known, states)?);
        }
        known.insert(machine, total);
        Some(total)
    }
    count(
        program,
        Machine::start(program),
        &mut HashMap::new(),
        states,
    )
}
