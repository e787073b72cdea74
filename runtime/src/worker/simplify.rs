//! Simpler inputs for a bug that a fuzzer has found.

use std::collections::BTreeSet;
use std::io;

use super::connection::Connection;
use super::fuzzing::{ENOUGH_EVENTS, events};
use super::message::{ByteChoice, SimplifyReply, SimplifyRequest};
use crate::engine::{Limits, Machine, Solver};
use crate::fuzz::inputs::{inputs, with_inputs};
use crate::fuzz::key;
use crate::fuzz::shrink::shrink;
use crate::harness::AnyHarness;
use crate::input::{Shape, Value, read_all};
use crate::p_hat::run_bytes;

/// Sends each simpler string as it is found: the next one may end the process.
pub(super) fn serve(
    mut connection: Connection<SimplifyRequest>,
    harness: &dyn AnyHarness,
    request: &SimplifyRequest,
) -> io::Result<()> {
    let &ByteChoice {
        role,
        k,
        ref bytes,
        executions,
        ignore_detached_panics,
        ..
    } = &request.choice;
    let k = k as usize;
    let limits = Limits {
        run_on: 0,
        ignore_detached_panics,
        ..Limits::default()
    };
    let mut machine = Machine::new(limits, Solver::Grid);
    let mut met = |bytes: &[u8]| -> (BTreeSet<String>, u64) {
        machine.forget_bugs();
        run_bytes(&mut machine, harness, role, k, bytes);
        let met = machine.bugs().iter().map(|(bug, _)| key(bug)).collect();
        (met, events(&machine))
    };
    let (wanted, mut spent) = met(bytes);
    let mut sent = Ok(());
    let mut left = if wanted.is_empty() { 0 } else { executions };
    let mut asked = |candidate: &[u8]| {
        left = left.checked_sub(1).filter(|_| spent < ENOUGH_EVENTS)?;
        let (found, events) = met(candidate);
        spent += events;
        let same = found == wanted;
        if same {
            sent = connection.send(SimplifyReply::Simpler(candidate.to_vec()));
        }
        sent.is_ok().then_some(same)
    };
    // First the inputs as what they are, then what is left of the bytes.
    let shapes = harness.shapes();
    let width: usize = shapes.iter().map(Shape::width).sum();
    let written = |values: &[Value]| with_inputs(bytes, k, &shapes, values);
    let values = read_all(&shapes, inputs(bytes, k));
    let best = shrink(&shapes, &values, &mut |values| asked(&written(values)));
    simplify(&written(&best), 2 * k + width, &mut asked);
    sent?;
    connection.send(SimplifyReply::Done)
}

/// Makes the bytes from `from` on smaller as long as they are `wanted`. That is asked of candidates, and stops the search with
/// `None`.
///
/// Zeros in the place of halves, quarters, … of the bytes come first, and then each byte by itself: a list is shorter, and a
/// number smaller.
fn simplify(bytes: &[u8], from: usize, wanted: &mut dyn FnMut(&[u8]) -> Option<bool>) -> Vec<u8> {
    let mut best = bytes.to_vec();
    let mut simpler = || -> Option<()> {
        loop {
            let before = best.clone();
            let mut size = best.len().saturating_sub(from);
            while size > 0 {
                let mut at = from;
                while at < best.len() {
                    let end = best.len().min(at + size);
                    if best[at..end].iter().any(|byte| *byte != 0) {
                        let mut candidate = best.clone();
                        candidate[at..end].fill(0);
                        if wanted(&candidate)? {
                            best = candidate;
                        }
                    }
                    at = end;
                }
                size /= 2;
            }
            for at in from..best.len() {
                while let Some(byte) = smaller(&best, at, wanted)? {
                    best[at] = byte;
                }
            }
            if best == before {
                return Some(());
            }
        }
    };
    // What was found until the search was stopped counts.
    let _ = simpler();
    best
}

/// A smaller byte for this place: a small one, or one that is near.
fn smaller(
    best: &[u8],
    at: usize,
    wanted: &mut dyn FnMut(&[u8]) -> Option<bool>,
) -> Option<Option<u8>> {
    let now = best[at];
    let near = [now / 2, now - now / 4, now.saturating_sub(1)];
    for byte in (1..8).chain(near).filter(|byte| *byte < now) {
        let mut candidate = best.to_vec();
        candidate[at] = byte;
        if wanted(&candidate)? {
            return Some(Some(byte));
        }
    }
    Some(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_becomes_zero_and_what_does_as_small_as_can_be() {
        let bytes = [9, 9, 200, 1, 77, 5, 13, 0, 255];
        let mut asked = 0;
        let best = simplify(&bytes, 2, &mut |bytes| {
            asked += 1;
            Some(bytes[2] >= 130 && bytes[5] % 2 == 1 && bytes[8] > 0)
        });
        assert_eq!(best, [9, 9, 130, 0, 0, 1, 0, 0, 1]);
        assert!(asked < 500, "{asked}");
    }

    #[test]
    fn it_stops_when_it_is_told() {
        let mut left = 4;
        let best = simplify(&[8; 8], 0, &mut |bytes| {
            left -= 1;
            (left > 0).then_some(bytes[0] == 8)
        });
        assert_eq!(best, [8, 8, 8, 8, 0, 0, 0, 0]);
        assert_eq!(simplify(&[1, 2], 2, &mut |_| Some(true)), [1, 2]);
        assert!(simplify(&[], 4, &mut |_| Some(true)).is_empty());
    }
}
