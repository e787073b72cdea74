//! Bit rows: sets of columns or steps, 64 to a word.

/// "None" among indices.
pub(super) const NONE: u32 = u32::MAX;

/// Logs are indexed by `u32`, since the step bound of a run is far below 2³².
pub(super) fn index(at: usize) -> u32 {
    debug_assert!(at < NONE as usize);
    at as u32
}

/// Evaluates an expression with the width of a row, in words, as a constant for the usual widths.
macro_rules! by_width {
    ($width:expr, |$constant:ident| $call:expr) => {
        match $width {
            1 => {
                let $constant = 1;
                $call
            }
            2 => {
                let $constant = 2;
                $call
            }
            $constant => $call,
        }
    };
}
pub(super) use by_width;

/// The bits `first..=last` that fall into word `word` of a row. None if `first > last`.
#[inline]
pub(super) fn span(first: usize, last: usize, word: usize) -> u64 {
    from(first, word) & up_to(last, word)
}

#[inline]
fn from(first: usize, word: usize) -> u64 {
    match first.checked_sub(word * 64) {
        None => u64::MAX,
        Some(bit) if bit < 64 => u64::MAX << bit,
        Some(_) => 0,
    }
}

/// The bits up to `last` in word `word` of a row.
#[inline]
pub(super) fn up_to(last: usize, word: usize) -> u64 {
    match last.checked_sub(word * 64) {
        None => 0,
        Some(bit) if bit < 64 => u64::MAX >> (63 - bit),
        Some(_) => u64::MAX,
    }
}

/// The bits below `end` in word `word` of a row.
#[inline]
pub(super) fn below(end: usize, word: usize) -> u64 {
    !from(end, word)
}

/// The first bit of a row that is set, from `start` on.
#[inline]
pub(super) fn first(row: &[u64], start: u32) -> Option<u32> {
    let start = start as usize;
    let mut word = start / 64;
    let mut rest = row.get(word)? & from(start, word);
    while rest == 0 {
        word += 1;
        rest = *row.get(word)?;
    }
    Some(index(word * 64) + rest.trailing_zeros())
}

/// The number of set bits below `end`.
#[inline]
pub(super) fn count_below(row: &[u64], end: u32) -> u32 {
    let end = end as usize;
    row.iter()
        .take(end / 64 + 1)
        .enumerate()
        .map(|(word, bits)| (bits & below(end, word)).count_ones())
        .sum()
}

/// Whether a bit is set.
#[inline]
pub(super) fn holds(row: &[u64], bit: usize) -> bool {
    row[bit / 64] >> (bit % 64) & 1 == 1
}

/// Lets T' go on: adds to `reached` the columns that steps in `may` lead to from `reached`, in one word of a row. Step
/// j leads from column j to column j + 1; `carry` is whether column 0 is reached from the word before.
///
/// In the sum may + (reached ∧ may) a carry starts at each reached column that may be left, and runs through the steps
/// on its right up to the first one that may not be taken, where it comes to rest. Further reached columns on its way
/// change nothing. So the bits that a carry comes into are the columns that T' gets to, and they are
/// may ⊕ (reached ∧ may) ⊕ the sum.
#[inline]
pub(super) fn flood(reached: u64, may: u64, carry: &mut bool) -> u64 {
    let leaving = reached & may;
    let (sum, over) = may.overflowing_add(leaving);
    let (sum, over_again) = sum.overflowing_add(u64::from(*carry));
    *carry = over | over_again;
    reached | (sum ^ may ^ leaving)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SplitMix64.
    fn next(state: &mut u64) -> u64 {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn slow_flood(reached: &[u64], may: &[u64]) -> Vec<u64> {
        let mut out = reached.to_vec();
        for bit in 0..reached.len() * 64 - 1 {
            if holds(&out, bit) && holds(may, bit) {
                out[(bit + 1) / 64] |= 1 << ((bit + 1) % 64);
            }
        }
        out
    }

    #[test]
    fn flood_agrees_with_one_bit_at_a_time() {
        let mut state = 1;
        for round in 0..20_000 {
            let words = 1 + round % 4;
            let dense = round % 3;
            let mut row = || -> Vec<u64> {
                (0..words)
                    .map(|_| match dense {
                        0 => next(&mut state),
                        1 => next(&mut state) | next(&mut state) | next(&mut state),
                        _ => next(&mut state) & next(&mut state) & next(&mut state),
                    })
                    .collect()
            };
            let (reached, may) = (row(), row());
            let mut carry = false;
            let fast: Vec<u64> = reached
                .iter()
                .zip(&may)
                .map(|(&reached, &may)| flood(reached, may, &mut carry))
                .collect();
            assert_eq!(fast, slow_flood(&reached, &may), "{reached:x?} {may:x?}");
        }
    }

    #[test]
    fn masks_agree_with_one_bit_at_a_time() {
        for first in 0..140 {
            for last in 0..140 {
                for bit in 0..192 {
                    let (word, at) = (bit / 64, bit % 64);
                    let get = |mask: u64| mask >> at & 1 == 1;
                    assert_eq!(get(span(first, last, word)), first <= bit && bit <= last);
                    assert_eq!(get(up_to(last, word)), bit <= last);
                    assert_eq!(get(below(first, word)), bit < first);
                }
            }
        }
    }

    #[test]
    fn searches_agree_with_one_bit_at_a_time() {
        let mut state = 2;
        for _ in 0..200 {
            let row: Vec<u64> = (0..3)
                .map(|_| next(&mut state) & next(&mut state))
                .collect();
            for start in 0..192 {
                let set = |bit: &usize| holds(&row, *bit);
                assert_eq!(
                    super::first(&row, start as u32),
                    (start..192).find(set).map(index)
                );
                assert_eq!(
                    count_below(&row, start as u32),
                    index((0..start).filter(set).count())
                );
            }
        }
    }
}
