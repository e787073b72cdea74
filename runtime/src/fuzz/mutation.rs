//! Changes of inputs as what they are: a number, a text, a list, a variant, wherever it is in other values.
//!
//! A fuzzer of bytes seldom makes a text of two given words or the one variant of an enum with two given fields. Here each
//! change is one of a part of a value: another number near by or one that the program's source has, a word put into a text,
//! an element more, another variant.

use super::literals::{Literal, Literals, one_of};
use crate::input::{Random, Shape, Value};

/// Changes one part of one of the values, or a few parts. There may be no values.
pub(crate) fn mutate(
    shapes: &[Shape],
    values: &mut [Value],
    others: &[Value],
    literals: &Literals,
    random: &mut Random,
) {
    if values.is_empty() {
        return;
    }
    if random.below(16) == 0 {
        let change = &mut Change {
            literals,
            random,
            given: &[],
        };
        let mut all: Vec<_> = shapes.iter().zip(values).collect();
        change.side_by_side(&mut all);
        return;
    }
    loop {
        let at = below(random, values.len());
        let other = others.get(at).cloned();
        // Values of one input are worth trying in another one.
        let given: Vec<Value> = values.iter().chain(&other).cloned().collect();
        let change = &mut Change {
            literals,
            random,
            given: &given,
        };
        change.part(&shapes[at], &mut values[at]);
        if random.below(5) < 3 {
            return;
        }
    }
}

/// What changes are made of.
struct Change<'a> {
    literals: &'a Literals,
    random: &'a mut Random,
    /// Values from which parts may be taken.
    given: &'a [Value],
}

impl Change<'_> {
    /// Changes this value or, more often, a part of it.
    fn part(&mut self, shape: &Shape, value: &mut Value) {
        let has_parts = matches!(value, Value::Parts(_) | Value::Variant(..) | Value::List(_));
        if has_parts && self.random.below(8) == 0 {
            self.side_by_side(&mut [(shape, value)]);
            return;
        }
        match (shape, value) {
            (Shape::Parts(shapes), Value::Parts(values)) if !values.is_empty() => {
                let at = below(self.random, values.len());
                self.part(&shapes[at], &mut values[at]);
            }
            (Shape::Variants(variants), Value::Variant(which, values)) => {
                let alone = variants.len() < 2;
                if values.is_empty() || !alone && self.random.below(4) == 0 {
                    if !alone {
                        let others = variants.len() - 1;
                        *which = (*which + 1 + below(self.random, others)) % variants.len();
                        *values = self.fresh_all(&variants[*which]);
                    }
                } else {
                    let at = below(self.random, values.len());
                    self.part(&variants[*which][at], &mut values[at]);
                }
            }
            (Shape::List { longest, element }, Value::List(elements)) => {
                let Some(element) = element else { return };
                if elements.is_empty() || self.random.below(3) == 0 {
                    self.list(*longest, element, elements);
                } else {
                    let at = below(self.random, elements.len());
                    self.part(element, &mut elements[at]);
                }
            }
            (Shape::Text { longest }, Value::Text(text)) => {
                let mut chars = String::from_utf8_lossy(text).into_owned();
                self.text(&mut chars);
                *text = truncated(chars, *longest).into_bytes();
            }
            (shape, Value::Scalar(bits)) => *bits = self.scalar(shape, *bits),
            _ => {}
        }
    }

    /// Gives the parts of values literals that stand side by side in the source: `it == Point { x: 3, y: -5 }`.
    fn side_by_side(&mut self, values: &mut [(&Shape, &mut Value)]) {
        let all = &self.literals.all;
        if all.is_empty() {
            return;
        }
        let from = below(self.random, all.len());
        let mut rest = all[from..].iter().copied();
        for (shape, value) in values {
            fill(shape, value, &mut rest);
        }
    }

    fn scalar(&mut self, shape: &Shape, bits: u128) -> u128 {
        match *shape {
            Shape::Integer { bytes, .. } => self.integer(bits, bytes),
            Shape::Float { bytes: 4 } => {
                let value = f32::from_bits(bits as u32);
                let value = match self.random.below(8) {
                    0 => f32::from_bits(bits as u32 ^ 1 << self.random.below(32)),
                    1 => f32::from_bits((bits as u32).wrapping_add(1)),
                    _ => self.float(value.into()) as f32,
                };
                value.to_bits().into()
            }
            Shape::Float { .. } => {
                let value = f64::from_bits(bits as u64);
                let value = match self.random.below(8) {
                    0 => f64::from_bits(bits as u64 ^ 1 << self.random.below(64)),
                    1 => f64::from_bits((bits as u64).wrapping_add(1)),
                    _ => self.float(value),
                };
                value.to_bits().into()
            }
            Shape::Bool => bits ^ 1,
            _ => u32::from(self.char(char::from_u32(bits as u32))).into(),
        }
    }

    fn integer(&mut self, bits: u128, bytes: usize) -> u128 {
        let width = 8 * bytes as u64;
        let changed = match self.random.below(12) {
            0..=3 => self.literals.integer(self.random),
            4 => bits.wrapping_add(1 + u128::from(self.random.below(16))),
            5 => bits.wrapping_sub(1 + u128::from(self.random.below(16))),
            6 => bits ^ 1 << self.random.below(width),
            7 => {
                let all = u128::from(self.random.next()) << 64 | u128::from(self.random.next());
                all >> self.random.below(128)
            }
            8 => [
                0,
                1,
                u128::MAX,
                u128::MAX << (width - 1),
                (1 << (width - 1)) - 1,
            ][below(self.random, 5)],
            9 => {
                let shift = 8 * self.random.below(bytes as u64);
                bits & !(0xFF << shift) | u128::from(self.random.below(256)) << shift
            }
            10 => self.given_scalar().unwrap_or(bits),
            _ => {
                // What a condition computes from the number, the other way round.
                let one = if self.random.below(2) == 0 {
                    bits
                } else {
                    self.literals.integer(self.random)
                };
                let other = self.literals.integer(self.random);
                match self.random.below(6) {
                    0 => one.wrapping_add(other),
                    1 => one.wrapping_sub(other),
                    2 => one.wrapping_mul(other),
                    3 => one.checked_div(other).unwrap_or(one),
                    4 => one ^ other,
                    _ => one << self.random.below(width),
                }
            }
        };
        changed & (u128::MAX >> (128 - width))
    }

    fn float(&mut self, value: f64) -> f64 {
        match self.random.below(8) {
            0..=3 => self.literals.float(self.random),
            4 => value + (self.random.below(17) as f64 - 8.0),
            5 => [
                0.0,
                1.0,
                -value,
                value * 2.0,
                value / 2.0,
                f64::INFINITY,
                f64::NAN,
            ][below(self.random, 7)],
            6 => (self.random.below(2_001) as f64 - 1_000.0) / 8.0,
            _ => {
                let (one, other) = (
                    self.literals.float(self.random),
                    self.literals.float(self.random),
                );
                [one + other, one - other, one * other, one / other][below(self.random, 4)]
            }
        }
    }

    fn char(&mut self, now: Option<char>) -> char {
        let now = now.unwrap_or('a');
        match self.random.below(8) {
            0..=2 => self.literals.char(self.random),
            3 => char::from(b' ' + below(self.random, 95) as u8),
            4 => char::from_u32(u32::from(now) + 1).unwrap_or(now),
            5 => char::from_u32(u32::from(now).wrapping_sub(1)).unwrap_or(now),
            6 if now.is_ascii_alphabetic() => (now as u8 ^ 0x20).into(),
            _ => char::from_u32(self.random.below(0x11_0000) as u32).unwrap_or(now),
        }
    }

    fn text(&mut self, text: &mut String) {
        let at = self.boundary(text);
        let word = String::from_utf8_lossy(self.literals.text(self.random)).into_owned();
        match self.random.below(12) {
            0..=2 => *text = word,
            3 => text.insert_str(0, &word),
            4 => text.push_str(&word),
            5 => text.insert_str(at, &word),
            6 => {
                let end = text.len().min(at + word.len());
                let end = (end..=text.len()).find(|end| text.is_char_boundary(*end));
                text.replace_range(at..end.unwrap_or(text.len()), &word);
            }
            7 => text.truncate(at),
            8 => {
                let other = self.boundary(text);
                text.replace_range(at.min(other)..at.max(other), "");
            }
            9 => {
                if let Some(given) = self.given_text() {
                    text.insert_str(at, &given);
                }
            }
            10 => {
                let new = self.char(None);
                text.insert(at, new);
            }
            _ => {
                if let Some(now) = text[at..].chars().next() {
                    let new = self.char(Some(now));
                    text.replace_range(at..at + now.len_utf8(), new.encode_utf8(&mut [0; 4]));
                }
            }
        }
    }

    /// A place between two characters, at an end perhaps.
    fn boundary(&mut self, text: &str) -> usize {
        let places: Vec<usize> = (0..=text.len())
            .filter(|at| text.is_char_boundary(*at))
            .collect();
        *one_of(&places, self.random)
    }

    fn list(&mut self, longest: usize, element: &Shape, elements: &mut Vec<Value>) {
        let length = elements.len();
        let at = below(self.random, length + 1);
        match self.random.below(8) {
            // Few bytes are a text, or a number, for a program that reads them so.
            0 | 1
                if *element
                    == (Shape::Integer {
                        bytes: 1,
                        signed: false,
                    }) =>
            {
                let literal = if self.random.below(2) == 0 {
                    self.literals.text(self.random).to_vec()
                } else {
                    let value = self.literals.integer(self.random);
                    let bytes = 1 << self.random.below(4);
                    let mut bytes = value.to_le_bytes()[..bytes].to_vec();
                    if self.random.below(2) == 0 {
                        bytes.reverse();
                    }
                    bytes
                };
                let over = if self.random.below(2) == 0 {
                    literal.len().min(length - at.min(length))
                } else {
                    0
                };
                let new = literal.into_iter().map(|byte| Value::Scalar(byte.into()));
                elements.splice(at..at + over, new);
            }
            0..=2 => {
                let new = self.fresh(element);
                elements.insert(at, new);
            }
            3 if length > 0 => {
                let copy = one_of(elements, self.random).clone();
                elements.insert(at, copy);
            }
            4 if length > 0 => {
                elements.remove(at % length);
            }
            5 if length > 0 => {
                let other = below(self.random, length);
                elements.swap(at % length, other);
            }
            6 => elements.truncate(at),
            _ => {
                // As long as some number of the source: conditions ask for lengths.
                let wanted = self.literals.integer(self.random).min(longest as u128) as usize;
                while elements.len() < wanted {
                    let new = self.fresh(element);
                    elements.push(new);
                }
                elements.truncate(wanted);
            }
        }
        elements.truncate(longest);
    }

    fn fresh_all(&mut self, shapes: &[Shape]) -> Vec<Value> {
        shapes.iter().map(|shape| self.fresh(shape)).collect()
    }

    /// A new value of this shape.
    fn fresh(&mut self, shape: &Shape) -> Value {
        let mut value = match shape {
            Shape::Parts(parts) => return Value::Parts(self.fresh_all(parts)),
            Shape::Variants(variants) => {
                let which = below(self.random, variants.len());
                return Value::Variant(which, self.fresh_all(&variants[which]));
            }
            Shape::List { .. } => Value::List(Vec::new()),
            Shape::Text { .. } => Value::Text(Vec::new()),
            _ => Value::Scalar(0),
        };
        if self.random.below(4) != 0 {
            self.part(shape, &mut value);
        }
        value
    }

    /// One of the numbers that there are.
    fn given_scalar(&mut self) -> Option<u128> {
        let mut all = Vec::new();
        for value in self.given {
            each(value, &mut |part| {
                if let Value::Scalar(bits) = part {
                    all.push(*bits);
                }
            });
        }
        (!all.is_empty()).then(|| *one_of(&all, self.random))
    }

    /// One of the texts that there are.
    fn given_text(&mut self) -> Option<String> {
        let mut all = Vec::new();
        for value in self.given {
            each(value, &mut |part| {
                if let Value::Text(text) = part {
                    all.push(String::from_utf8_lossy(text).into_owned());
                }
            });
        }
        (!all.is_empty()).then(|| one_of(&all, self.random).clone())
    }
}

/// Gives each part the next literal of its kind, as far as there is one.
fn fill(shape: &Shape, value: &mut Value, rest: &mut impl Iterator<Item = Literal>) {
    match (shape, value) {
        (Shape::Parts(shapes), Value::Parts(values)) => fill_all(shapes, values, rest),
        (Shape::Variants(variants), Value::Variant(which, values)) => {
            fill_all(&variants[*which], values, rest);
        }
        (
            Shape::List {
                element: Some(element),
                ..
            },
            Value::List(values),
        ) => {
            for value in values {
                fill(element, value, rest);
            }
        }
        (Shape::Text { longest }, Value::Text(text)) => {
            let next = rest.find_map(|literal| match literal {
                Literal::Text(text) => Some(text),
                _ => None,
            });
            if let Some(next) = next {
                let next = String::from_utf8_lossy(next).into_owned();
                *text = truncated(next, *longest).into_bytes();
            }
        }
        (Shape::Bool, _) => {}
        (shape, Value::Scalar(bits)) => {
            let next = rest.find_map(|literal| match (shape, literal) {
                (Shape::Integer { bytes, .. }, Literal::Integer(value)) => {
                    Some(value.cast_unsigned() & (u128::MAX >> (128 - 8 * bytes)))
                }
                (Shape::Float { bytes: 4 }, Literal::Float(value)) => {
                    Some((value as f32).to_bits().into())
                }
                (Shape::Float { .. }, Literal::Float(value)) => Some(value.to_bits().into()),
                (Shape::Char, Literal::Text(text)) => {
                    let first = String::from_utf8_lossy(text).chars().next();
                    first.map(|first| u32::from(first).into())
                }
                _ => None,
            });
            if let Some(next) = next {
                *bits = next;
            }
        }
        _ => {}
    }
}

fn fill_all(shapes: &[Shape], values: &mut [Value], rest: &mut impl Iterator<Item = Literal>) {
    for (shape, value) in shapes.iter().zip(values) {
        fill(shape, value, rest);
    }
}

/// Shows each part of a value, the value itself first.
pub(super) fn each<'a>(value: &'a Value, see: &mut dyn FnMut(&'a Value)) {
    see(value);
    match value {
        Value::List(parts) | Value::Variant(_, parts) | Value::Parts(parts) => {
            for part in parts {
                each(part, see);
            }
        }
        Value::Scalar(_) | Value::Text(_) => {}
    }
}

/// As much of a text as fits into so many bytes.
pub(super) fn truncated(mut text: String, longest: usize) -> String {
    while text.len() > longest {
        text.pop();
    }
    text
}

fn below(random: &mut Random, bound: usize) -> usize {
    (random.next() % bound as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::super::literals::Literal;
    use super::*;
    use crate::input::{Input, read_all, write_all};

    #[derive(Clone, Debug, PartialEq)]
    enum Shaped {
        Dot,
        Line {
            from: (i16, i16),
            to: Option<(i16, i16)>,
        },
        Named(Vec<(i16, i16)>, Option<Option<u32>>),
    }

    crate::input!(Shaped {
        ["Dot" (Self::Dot)]
        ["Line" (Self::Line) from: (i16, i16), to: Option<(i16, i16)>]
        ["Named" (Self::Named) 0: Vec<(i16, i16)>, 1: Option<Option<u32>>]
    });

    /// Whether chains of changes, each kept if it gets `near` what is wanted, come to where `near` says 0.
    fn is_reached<V: Input>(literals: &[Literal], near: impl Fn(&V) -> u32) -> bool {
        let literals = Literals::new(literals);
        let shapes = [V::shape(0)];
        let random = &mut Random::new(11);
        let mut best = read_all(&shapes, &[]);
        let decoded = |values: &[Value]| {
            let mut bytes = Vec::new();
            write_all(&shapes, values, &mut bytes);
            V::decode(&mut crate::input::ByteSource::new(&bytes))
        };
        let mut distance = near(&decoded(&best));
        for _ in 0..200_000 {
            let mut next = best.clone();
            mutate(&shapes, &mut next, &best, &literals, random);
            let now = near(&decoded(&next));
            if now <= distance {
                (best, distance) = (next, now);
            }
            if distance == 0 {
                return true;
            }
        }
        false
    }

    #[test]
    fn words_numbers_and_variants_of_the_source_are_reached() {
        let words = [
            Literal::Text(b"SUDO root"),
            Literal::Text(b"k3y:"),
            Literal::Integer(7),
        ];
        assert!(is_reached::<(String, String)>(&words, |(a, b)| {
            u32::from(!a.starts_with("SUDO root")) + u32::from(!b.starts_with("k3y:"))
        }));
        let numbers = [3, -300, 1_200, 70_000].map(Literal::Integer);
        assert!(is_reached::<Shaped>(&numbers, |it| match it {
            Shaped::Dot => 9,
            Shaped::Line { .. } => 8,
            Shaped::Named(list, name) => {
                u32::from(list.len() != 3)
                    // Both at once.
                    + u32::from(list.get(1) != Some(&(-300, 1_200)))
                    + u32::from(*name != Some(Some(70_000)))
            }
        }));
        let mixed = [Literal::Float(3.25), Literal::Text("ß".as_bytes())];
        assert!(is_reached::<(f32, f64, char)>(&mixed, |it| {
            u32::from(it.0.to_bits() != 3.25_f32.to_bits())
                + u32::from(it.1.to_bits() != (-3.25_f64).to_bits())
                + u32::from(it.2 != 'ß')
        }));
        let wide = [Literal::Integer(-170_000_000_000_000_000_000_000_000_001)];
        assert!(is_reached::<i128>(&wide, |it| {
            u32::from(*it != -170_000_000_000_000_000_000_000_000_001)
        }));
    }

    #[test]
    fn what_is_changed_is_still_of_its_shape() {
        let literals = Literals::new(&[Literal::Text("längere Wörter für Texte".as_bytes())]);
        let shapes = [
            Vec::<Option<String>>::shape(0),
            Shaped::shape(0),
            <[Vec<u8>; 2]>::shape(0),
            <(bool, char, ())>::shape(0),
        ];
        let random = &mut Random::new(5);
        let mut values = read_all(&shapes, &[]);
        for _ in 0..20_000 {
            mutate(&shapes, &mut values, &[], &literals, random);
            let mut bytes = Vec::new();
            write_all(&shapes, &values, &mut bytes);
            assert_eq!(read_all(&shapes, &bytes), values);
        }
    }

    #[test]
    fn without_parameters_nothing_is_changed() {
        mutate(&[], &mut [], &[], &Literals::new(&[]), &mut Random::new(1));
    }
}
