//! The non-local reads of an outcome.

use crate::vocabulary::{Pair, ReadId, WriteId};
use std::fmt;
use std::ops::Deref;

/// The greatest number of pairs that need no memory of their own: an outcome is made for each execution.
const FEW: usize = 2;

/// Non-local reads, in their order, as a slice of [`Pair`]s.
#[derive(Clone)]
pub struct Pairs(Repr);

#[derive(Clone)]
enum Repr {
    Few([Pair; FEW], u8),
    Many(Box<[Pair]>),
}

impl From<&[Pair]> for Pairs {
    #[inline]
    fn from(pairs: &[Pair]) -> Self {
        const NONE: Pair = (ReadId(0), WriteId(0));
        Self(match *pairs {
            [] => Repr::Few([NONE; FEW], 0),
            [one] => Repr::Few([one, NONE], 1),
            [one, other] => Repr::Few([one, other], 2),
            _ => Repr::Many(pairs.into()),
        })
    }
}

impl Deref for Pairs {
    type Target = [Pair];

    fn deref(&self) -> &[Pair] {
        match &self.0 {
            Repr::Few(pairs, count) => &pairs[..usize::from(*count)],
            Repr::Many(pairs) => pairs,
        }
    }
}

impl<'a> IntoIterator for &'a Pairs {
    type Item = &'a Pair;
    type IntoIter = std::slice::Iter<'a, Pair>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_what_they_were_made_of() {
        let all: Vec<Pair> = (0..5).map(|at| (ReadId(at), WriteId(9 - at))).collect();
        for count in 0..=all.len() {
            assert_eq!(*Pairs::from(&all[..count]), all[..count]);
        }
    }
}
