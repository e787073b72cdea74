//! Replays an interleaving that the engine gives as a proof, on the program itself.

use crate::compile::{Role, compile};
use crate::interpret::{End, Failure, Pairs};
use crate::program::Program;
use crate::state::{State, Step, T, U};

/// Performs one event after the other, the `true` ones being those of T. The answer is the failure that the
/// interleaving ends in and T's non-local reads in it.
pub(crate) fn replay(
    program: &Program,
    role: Role,
    order: &[bool],
) -> Result<(Option<End>, Pairs), String> {
    let lines = compile(program, role);
    let mut state = State::new(&lines);
    let skip = |mut state: State| {
        while state.next_is_unlogged(&lines) {
            match state.step(&lines, T) {
                Step::To(next) => state = *next,
                _ => break,
            }
        }
        state
    };
    for (index, &under_test) in order.iter().enumerate() {
        state = skip(state);
        let line = if under_test { T } else { U };
        let name = ["T", "T'"][line];
        state = match state.step(&lines, line) {
            Step::To(next) => *next,
            Step::Waits => return Err(format!("step {index}: {name} has nothing to do")),
            Step::Fails(failure) => return Err(format!("step {index}: {name} fails: {failure:?}")),
            Step::NotSequential => return Err(format!("step {index}: T' would observe T")),
        };
    }
    state = skip(state);
    let waits = |line| matches!(state.step(&lines, line), Step::Waits);
    let end = match state.step(&lines, T) {
        Step::Fails(failure) => Some(End::Failed(failure)),
        _ if waits(T) && waits(U) && state.wait_for_each_other(&lines) => {
            Some(End::Failed(Failure::Deadlock))
        }
        _ if state.ended(&lines, T) => Some(End::Passed),
        _ => None,
    };
    Ok((end, state.pairs))
}
