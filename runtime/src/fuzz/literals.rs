//! What the program's source writes down: the values that its conditions are likely to ask for.

use crate::input::Random;

/// A literal of the program's source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// The bits of an integer, or the value of a byte.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// A text, a byte string, or a character in UTF-8.
    Text(&'static [u8]),
}

/// The literals by what they can be used for. None of the lists by kind is empty.
#[derive(Clone, Debug)]
pub(crate) struct Literals {
    /// All, in the order of the source.
    pub(crate) all: Vec<Literal>,
    integers: Vec<u128>,
    floats: Vec<f64>,
    texts: Vec<Vec<u8>>,
    chars: Vec<char>,
}

impl Literals {
    pub(crate) fn new(all: &[Literal]) -> Self {
        let mut literals = Self {
            all: all.to_vec(),
            integers: Vec::new(),
            floats: Vec::new(),
            texts: Vec::new(),
            chars: Vec::new(),
        };
        for literal in all {
            match *literal {
                Literal::Integer(value) => {
                    literals.integers.push(value.cast_unsigned());
                    // A number may be looked for in a text.
                    literals.texts.push(value.to_string().into_bytes());
                }
                Literal::Float(value) => literals.floats.push(value),
                Literal::Text(text) => {
                    literals.texts.push(text.to_vec());
                    literals.chars.extend(String::from_utf8_lossy(text).chars());
                }
            }
        }
        if literals.integers.is_empty() {
            literals.integers.push(0);
        }
        if literals.floats.is_empty() {
            literals.floats.push(0.0);
        }
        if literals.texts.is_empty() {
            literals.texts.push(b"a".to_vec());
        }
        if literals.chars.is_empty() {
            literals.chars.push('a');
        }
        literals
    }

    /// An integer of the source, its negative, or one beside it: conditions also say "less than".
    pub(crate) fn integer(&self, random: &mut Random) -> u128 {
        let value = *one_of(&self.integers, random);
        match random.below(8) {
            0 => value.wrapping_add(1),
            1 => value.wrapping_sub(1),
            2 | 3 => value.wrapping_neg(),
            _ => value,
        }
    }

    /// A floating-point number of the source, or an integer of the source as one; or its negative.
    pub(crate) fn float(&self, random: &mut Random) -> f64 {
        let value = if random.below(4) == 0 {
            one_of(&self.integers, random).cast_signed() as f64
        } else {
            *one_of(&self.floats, random)
        };
        if random.below(8) == 0 { -value } else { value }
    }

    /// A text of the source, or an integer of the source in decimal digits.
    pub(crate) fn text(&self, random: &mut Random) -> &[u8] {
        one_of(&self.texts, random).as_slice()
    }

    /// A character of the source's texts.
    pub(crate) fn char(&self, random: &mut Random) -> char {
        *one_of(&self.chars, random)
    }
}

/// An element, each with the same probability.
///
/// # Panics
/// When there is none.
pub(crate) fn one_of<'a, T>(all: &'a [T], random: &mut Random) -> &'a T {
    &all[(random.next() % all.len() as u64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_come_up_as_they_are_and_as_others_use_them() {
        let literals = Literals::new(&[
            Literal::Integer(300),
            Literal::Float(3.25),
            Literal::Text("k3ß".as_bytes()),
        ]);
        let random = &mut Random::new(1);
        let integers: Vec<u128> = (0..200).map(|_| literals.integer(random)).collect();
        for value in [300, 301, 299, 300_u128.wrapping_neg()] {
            assert!(integers.contains(&value));
        }
        assert!((0..100).any(|_| literals.float(random).to_bits() == 3.25_f64.to_bits()));
        assert!((0..100).any(|_| literals.text(random) == b"300"));
        assert!((0..100).any(|_| literals.char(random) == 'ß'));
    }

    #[test]
    fn a_source_without_literals_still_has_values() {
        let literals = Literals::new(&[]);
        let random = &mut Random::new(1);
        literals.integer(random);
        literals.float(random);
        literals.text(random);
        literals.char(random);
    }
}
