//! Several executions for one call of a fuzzer.
//!
//! libFuzzer takes longer between two calls of a target than an execution of a small program takes. So where there are
//! no inputs, a string may be a sequence of up to [`ROUNDS`] strings, each as wide as one execution's choices:
//! *rounds*, which are executed one after the other as if each were all. Where there are inputs, a call is one
//! execution: what the execution covers and compares leads the fuzzer to the next input.
//!
//! libFuzzer changes a byte or a few at a time; so that each round is new, [`mutate`] makes a sequence out of a string.

use crate::engine::NO_MORE;
use crate::harness::AnyHarness;
use crate::input::Random;

/// The most executions of a call, where there are no inputs.
pub const ROUNDS: usize = 16;

/// The number of events of a call's executions after which no further execution begins. Each call shows libFuzzer's
/// watch that all is well, and the time between calls matters little beside long executions.
pub(crate) const EVENTS: usize = 1_024;

/// The number of bytes that the choices and the inputs of a harness take, with some more for long gaps.
pub(crate) fn width(harness: &dyn AnyHarness, k: usize) -> usize {
    width_without_inputs(k) + harness.widths().iter().sum::<usize>()
}

/// The number of bytes that an execution takes where there are no inputs.
#[must_use]
pub const fn width_without_inputs(k: usize) -> usize {
    if k > 0 { 2 * k + EXTENSION } else { 0 }
}

/// The number of bytes for numbers that need more than one byte.
const EXTENSION: usize = 4;

/// The most rounds of a string for this harness.
pub(crate) fn most(harness: &dyn AnyHarness) -> usize {
    if harness.params().is_empty() {
        ROUNDS
    } else {
        1
    }
}

/// The rounds of a string, each of `width` bytes, at most `most` of them: at least one.
pub fn rounds(bytes: &[u8], width: usize, most: usize) -> impl Iterator<Item = &[u8]> {
    let width = if most > 1 { width.max(1) } else { usize::MAX };
    let count = bytes.len().div_ceil(width).clamp(1, most);
    (0..count).map(move |round| {
        let from = round.saturating_mul(width);
        let to = from.saturating_add(width).min(bytes.len());
        &bytes[from..to]
    })
}

/// Makes a new sequence of rounds out of the first `size` bytes of `data`, of at most `most` bytes, for `k` non-local
/// reads. Returns the sequence's length.
pub(crate) fn mutate(
    data: &mut [u8],
    (size, most): (usize, usize),
    (width, k): (usize, usize),
    seed: u32,
) -> usize {
    let mut random = Random::new(u64::from(seed));
    let old = data[..size].to_vec();
    let parents: Vec<&[u8]> = rounds(&old, width, ROUNDS).collect();
    let width = width.max(1);
    if parents.len() > 1 && random.below(8) == 0 {
        // If half of them cover what all do, libFuzzer keeps that half instead.
        let half = parents.len().div_ceil(2);
        let from = if random.below(2) == 0 {
            0
        } else {
            parents.len() - half
        };
        let kept = &old[from * width..((from + half) * width).min(old.len())];
        data[..kept.len()].copy_from_slice(kept);
        return kept.len();
    }
    let count = (most / width).min(ROUNDS);
    for round in data[..count * width].chunks_exact_mut(width) {
        descend(round, &parents, k, &mut random);
    }
    count * width
}

/// Fills a round with what its parents have, each choice with its gap and pick from one of them, but for a byte or two.
pub(crate) fn descend(round: &mut [u8], parents: &[&[u8]], k: usize, random: &mut Random) {
    let first = parents[below(random, parents.len())];
    let other = parents[below(random, parents.len())];
    for (at, byte) in round.iter_mut().enumerate() {
        // Missing choices are none.
        let missing = if at < 2 * k && at % 2 == 0 {
            NO_MORE
        } else {
            0
        };
        let from = if at < 2 && k > 1 { other } else { first };
        *byte = from.get(at).copied().unwrap_or(missing);
    }
    if k == 0 {
        return;
    }
    for _ in 0..=below(random, 2) {
        let at = match below(random, 16) {
            0 => below(random, round.len()),
            _ => below(random, 2 * k),
        };
        let is_gap = at < 2 * k && at % 2 == 0;
        let [any, few, bit, ..] = random.next().to_le_bytes();
        round[at] = match below(random, 4) {
            // Few opportunities, and one of the latest writes.
            0 | 1 => few & 7,
            2 if is_gap => round[at] ^ 1 << (bit & 7),
            _ => any,
        };
    }
}

fn below(random: &mut Random, bound: usize) -> usize {
    // Bounds are small.
    (random.next() % bound as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_one_round_or_several() {
        let all = |bytes: &'static [u8], width, most| -> Vec<&[u8]> {
            rounds(bytes, width, most).collect()
        };
        assert_eq!(all(&[], 2, 16), [[0_u8; 0].as_slice()]);
        assert_eq!(all(&[1, 2], 2, 16), [&[1, 2]]);
        assert_eq!(all(&[1, 2, 3], 2, 16), [[1, 2].as_slice(), &[3]]);
        // What is too much is left out.
        assert_eq!(all(&[1, 2, 3, 4, 5], 2, 2), [&[1, 2], &[3, 4]]);
        // One has all bytes.
        assert_eq!(all(&[1, 2, 3], 2, 1), [&[1, 2, 3]]);
        assert_eq!(all(&[1, 2], 0, 16), [&[1], &[2]]);
    }

    #[test]
    fn a_sequence_is_full_of_descendants_of_the_string() {
        let (k, width) = (2, 8);
        let parent = [3, 1, 4, 1, 0, 0, 0, 0];
        let mut kept = 0;
        for seed in 0..1_000 {
            let mut data = [9; 130];
            data[..8].copy_from_slice(&parent);
            let length = mutate(&mut data, (8, 130), (width, k), seed);
            assert_eq!(length, 128);
            for round in rounds(&data[..length], width, ROUNDS) {
                let changed = round.iter().zip(&parent).filter(|(a, b)| a != b).count();
                assert!(changed <= 2, "{round:?}");
                kept += usize::from(changed == 0);
            }
            // One seed always makes one sequence.
            let mut again = [9; 130];
            again[..8].copy_from_slice(&parent);
            mutate(&mut again, (8, 130), (width, k), seed);
            assert_eq!(data, again);
        }
        assert!(kept < 16_000 / 2, "{kept} are not new");
    }

    #[test]
    fn a_sequence_is_halved_now_and_then() {
        let old: Vec<u8> = (0..128).collect();
        let halves = (0..1_000).filter(|&seed| {
            let mut data = old.clone();
            let length = mutate(&mut data, (128, 128), (8, 2), seed);
            length == 64 && (data[..64] == old[..64] || data[..64] == old[64..])
        });
        assert!((50..250).contains(&halves.count()));
    }

    #[test]
    fn without_choices_there_are_as_many_rounds() {
        assert_eq!(mutate(&mut [0; 16], (0, 16), (0, 0), 1), 16);
    }
}
