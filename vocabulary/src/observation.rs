//! What a thread sees of a value that it reads.
//!
//! Mostly that is the value. But where all that the thread does with it is to compare it with a constant, it sees one of
//! two things, and where it drops the value it sees nothing: whatever else had been there, the thread would have gone on
//! in the same way. An executor that can tell such reads says so with a [`Test`] for each; a read without one is
//! observed in full. A search over the values that threads observe then has fewer of them to go through.

use crate::hash::mix;

/// How a value is compared with a constant: `value OP constant`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// Whether it holds for two values in this order.
    #[inline]
    #[must_use]
    pub const fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Integer {
    /// The number of bits, at most 64.
    pub bits: u8,
    /// Whether the type has negative values.
    pub signed: bool,
}

impl Integer {
    /// The number that these bits are, whatever is above them.
    #[inline]
    #[must_use]
    pub const fn number(self, bits: u64) -> i128 {
        let above = 64 - (self.bits as u32);
        if above >= 64 {
            return 0;
        }
        if self.signed {
            (((bits << above).cast_signed()) >> above) as i128
        } else {
            ((bits << above) >> above) as i128
        }
    }
}

/// What a thread does with a value that it has read, where that is less than to know it.
///
/// For a [`Kind::Read`](crate::Kind::Read), an [`Kind::Update`](crate::Kind::Update) and a
/// [`Kind::FailedUpdate`](crate::Kind::FailedUpdate) it is about [`Event::found`](crate::Event::found). What an update
/// *leaves* still depends on all of what it found, and whether a compare-exchange writes on whether it found the value that
/// it expects: a test tells what the *thread* can know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// The value is dropped.
    Unobserved,
    /// The value is compared with a constant, and then dropped.
    Compared {
        /// The comparison operator.
        op: Comparison,
        /// The constant that the value is compared with.
        constant: i128,
        /// The type of the value and of the constant.
        integer: Integer,
    },
    /// It is told whether the value is this one, and all that the event does otherwise depends on the value.
    ///
    /// For updates which *leave* the same wherever they find it, as the end of the last handle does of a count: then what
    /// else is known of the value is nothing to the thread, and elsewhere it may know all of it.
    ThisOrAll {
        /// The value that the thread tells from all others.
        constant: i128,
        /// The type of the constant.
        integer: Integer,
    },
}

impl Test {
    /// What the thread sees of this value: it can't tell values apart of which it sees the same.
    #[inline]
    #[must_use]
    pub fn observe(&self, value: u64) -> u64 {
        match *self {
            Self::Unobserved => 0,
            Self::Compared {
                op,
                constant,
                integer,
            } => u64::from(op.holds(integer.number(value).cmp(&constant))),
            Self::ThisOrAll { constant, integer } => {
                if integer.number(value) == constant {
                    0
                } else {
                    mix(value, 1)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(op: Comparison, constant: i128, bits: u8, signed: bool) -> Test {
        Test::Compared {
            op,
            constant,
            integer: Integer { bits, signed },
        }
    }

    #[test]
    fn comparisons_are_those_of_the_type() {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        let values = [-128_i128, -1, 0, 1, 2, 127, 128, 255];
        for (bits, signed, low, high) in [(8, true, -128, 127), (8, false, 0, 255)] {
            for a in values {
                for b in values {
                    if !(low..=high).contains(&a) || !(low..=high).contains(&b) {
                        continue;
                    }
                    // Bits above those of the type don't matter, whichever way they were filled.
                    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                    for raw in [a as u64, (a as u64) & 0xff, (a as u64) | !0xff] {
                        for (op, holds) in [
                            (Equal, a == b),
                            (NotEqual, a != b),
                            (Less, a < b),
                            (LessOrEqual, a <= b),
                            (Greater, a > b),
                            (GreaterOrEqual, a >= b),
                        ] {
                            let test = compared(op, b, bits, signed);
                            assert_eq!(test.observe(raw), u64::from(holds), "{a} {op:?} {b}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_widest_types_keep_all_their_bits() {
        let unsigned = compared(Comparison::Greater, i128::from(i64::MAX), 64, false);
        assert_eq!(unsigned.observe(u64::MAX), 1);
        let signed = compared(Comparison::Less, 0, 64, true);
        assert_eq!(signed.observe(u64::MAX), 1);
        assert_eq!(signed.observe(u64::MAX >> 1), 0);
    }

    #[test]
    fn one_value_is_told_from_the_others_and_those_from_each_other() {
        let integer = Integer {
            bits: 32,
            signed: false,
        };
        let test = Test::ThisOrAll {
            constant: 1,
            integer,
        };
        let seen = [1, 1 << 32 | 1, 0, 2, 1 << 32, 1 << 32 | 2].map(|value| test.observe(value));
        assert_eq!(seen[0], seen[1], "what is above does not count");
        for (at, one) in seen.iter().enumerate().skip(1) {
            assert!(!seen[at + 1..].contains(one), "{at}");
        }
    }

    #[test]
    fn of_a_dropped_value_nothing_is_seen() {
        assert_eq!(Test::Unobserved.observe(7), Test::Unobserved.observe(8));
    }
}
