//! Smaller inputs that still do what is wanted of them: fewer elements, shorter texts, earlier variants, smaller numbers,
//! and smaller sums of numbers that belong together.
//!
//! Each step is one of a few changes, and is taken only if the inputs have a smaller [`Size`], so that the search ends.

use super::mutation::each;
use crate::input::{Shape, Value};

/// The most numbers for which pairs of numbers are changed together.
const PAIRED: usize = 24;

/// Makes the values smaller as long as they are `wanted`. That is asked of candidates, and stops the search with `None`.
pub(crate) fn shrink(
    shapes: &[Shape],
    values: &[Value],
    wanted: &mut dyn FnMut(&[Value]) -> Option<bool>,
) -> Vec<Value> {
    let mut search = Search {
        shapes,
        best: values.to_vec(),
        wanted,
    };
    // What was found until the search was stopped counts.
    let _ = search.run();
    search.best
}

/// How large inputs are; what comes first counts most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Size {
    /// The number of elements, of bytes of texts, and of variants before those that are chosen.
    elements: usize,
    /// The sum of the numbers without their signs.
    sum: u128,
    /// The number of numbers that are not 0.
    numbers: usize,
    /// The number of digits after the point, and of minus signs.
    signs: usize,
}

impl Size {
    fn of(shapes: &[Shape], values: &[Value]) -> Self {
        let mut size = Self {
            elements: 0,
            sum: 0,
            numbers: 0,
            signs: 0,
        };
        for (shape, value) in shapes.iter().zip(values) {
            size.add(shape, value);
        }
        size
    }

    fn add(&mut self, shape: &Shape, value: &Value) {
        match value {
            Value::Scalar(bits) => {
                let (magnitude, signs) = magnitude(shape, *bits);
                self.numbers += usize::from(magnitude > 0 || signs > 0);
                self.sum = self.sum.saturating_add(magnitude);
                self.signs += signs;
            }
            Value::Text(text) => {
                self.elements += text.len();
                self.sum += text.iter().map(|byte| u128::from(*byte)).sum::<u128>();
            }
            Value::List(elements) => self.elements += elements.len(),
            Value::Variant(which, _) => self.elements += which,
            Value::Parts(_) => {}
        }
        for (shape, value) in shape.parts(value) {
            self.add(shape, value);
        }
    }
}

/// A number without its sign, and how much else there is to be written of it.
fn magnitude(shape: &Shape, bits: u128) -> (u128, usize) {
    match *shape {
        Shape::Integer {
            bytes,
            signed: true,
        } => {
            let value = extended(bits, bytes);
            (value.unsigned_abs(), usize::from(value < 0))
        }
        Shape::Float { bytes } => {
            let value = float(bits, bytes);
            if value.is_finite() {
                (value.abs() as u128, value.to_string().len() - 1)
            } else {
                (u128::MAX, 0)
            }
        }
        _ => (bits, 0),
    }
}

fn extended(bits: u128, bytes: usize) -> i128 {
    let unused = 128 - 8 * bytes as u32;
    (bits << unused).cast_signed() >> unused
}

fn float(bits: u128, bytes: usize) -> f64 {
    if bytes == 4 {
        f32::from_bits(bits as u32).into()
    } else {
        f64::from_bits(bits as u64)
    }
}

fn float_bits(value: f64, bytes: usize) -> u128 {
    if bytes == 4 {
        (value as f32).to_bits().into()
    } else {
        value.to_bits().into()
    }
}

/// The search for smaller inputs.
struct Search<'a> {
    shapes: &'a [Shape],
    best: Vec<Value>,
    wanted: &'a mut dyn FnMut(&[Value]) -> Option<bool>,
}

impl Search<'_> {
    /// Ends where no change makes the inputs smaller.
    fn run(&mut self) -> Option<()> {
        loop {
            let before = self.best.clone();
            self.each_part()?;
            self.pairs()?;
            self.sums()?;
            if self.best == before {
                return Some(());
            }
        }
    }

    /// Takes a candidate if it is smaller and wanted.
    fn take(&mut self, candidate: Vec<Value>) -> Option<bool> {
        let smaller = Size::of(self.shapes, &candidate) < Size::of(self.shapes, &self.best);
        let taken = smaller && (self.wanted)(&candidate)?;
        if taken {
            self.best = candidate;
        }
        Some(taken)
    }

    /// Makes each part smaller by itself, the whole before what is in it.
    fn each_part(&mut self) -> Option<()> {
        let mut at = 0;
        loop {
            let mut counter = at;
            let found = find(self.shapes, &self.best, &mut counter);
            let Some((shape, value)) = found else {
                return Some(());
            };
            let smaller = smaller(shape, value);
            let mut taken = false;
            for new in smaller {
                let mut candidate = self.best.clone();
                put(&mut candidate, &mut at.clone(), &new);
                if self.take(candidate)? {
                    taken = true;
                    break;
                }
            }
            if !taken {
                at += 1;
            }
        }
    }

    /// Changes two numbers together: both by the same difference, or one by what the other loses.
    fn pairs(&mut self) -> Option<()> {
        let count = self.numbers().len();
        if count > PAIRED {
            return Some(());
        }
        for one in 0..count {
            for other in (0..count).filter(|other| *other != one) {
                for up in [false, true] {
                    if self.pair(one, other, up)? {
                        // A number is gone with its element, and the others have moved.
                        return Some(());
                    }
                }
            }
        }
        Some(())
    }

    /// Takes as much as it can from the first number, and adds that to the other one or takes it from there, too. `true`: the
    /// first number was an element, which is gone.
    fn pair(&mut self, one: usize, other: usize, up: bool) -> Option<bool> {
        let mut difference = u128::MAX;
        loop {
            let numbers = self.numbers();
            let ((at, _, bits), (other, bytes, more)) = (numbers[one], numbers[other]);
            difference = difference.min(bits);
            if difference == 0 {
                return Some(false);
            }
            let new = if up {
                more.wrapping_add(difference)
            } else {
                more.wrapping_sub(difference)
            };
            let mut candidate = self.best.clone();
            let new = Value::Scalar(new & (u128::MAX >> (128 - 8 * bytes)));
            put(&mut candidate, &mut other.clone(), &new);
            put(
                &mut candidate,
                &mut at.clone(),
                &Value::Scalar(bits - difference),
            );
            // An element that gives all that it has to another one can go.
            let mut shorter = candidate.clone();
            if bits == difference && remove(&mut shorter, &mut at.clone()) && self.take(shorter)? {
                return Some(true);
            }
            if !self.take(candidate)? {
                difference /= 2;
            }
        }
    }

    /// Divides two numbers and a third one, which is their sum. Where that has overflowed, neither of them gets smaller
    /// with it.
    fn sums(&mut self) -> Option<()> {
        let mut numbers = self.numbers();
        let count = numbers.len();
        if count > PAIRED {
            return Some(());
        }
        for one in 0..count {
            for other in one + 1..count {
                for sum in (0..count).filter(|sum| ![one, other].contains(sum)) {
                    if self.divide([one, other, sum].map(|it| numbers[it]))? {
                        numbers = self.numbers();
                    }
                }
            }
        }
        Some(())
    }

    /// Divides two numbers by a power of two, the largest that will do, if the third one is their sum. `true`: that was done.
    fn divide(&mut self, of: [(usize, usize, u128); 3]) -> Option<bool> {
        let [(one, bytes, a), (other, same, b), (sum, as_well, c)] = of;
        let fits = u128::MAX >> (128 - 8 * bytes);
        if same != bytes || as_well != bytes || a.wrapping_add(b) & fits != c {
            return Some(false);
        }
        for shift in (1..8 * bytes).rev() {
            let (a, b) = (a >> shift, b >> shift);
            let mut candidate = self.best.clone();
            for (mut at, bits) in [(one, a), (other, b), (sum, a + b)] {
                put(&mut candidate, &mut at, &Value::Scalar(bits));
            }
            if self.take(candidate)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The positions of the integers, their numbers of bytes, and their bits.
    fn numbers(&self) -> Vec<(usize, usize, u128)> {
        let mut numbers = Vec::new();
        let mut at = 0;
        loop {
            match find(self.shapes, &self.best, &mut at.clone()) {
                Some((Shape::Integer { bytes, .. }, Value::Scalar(bits))) => {
                    numbers.push((at, *bytes, *bits));
                }
                Some(_) => {}
                None => return numbers,
            }
            at += 1;
        }
    }
}

/// The part at this position, counted through all parts, a whole before its parts.
fn find<'a>(
    shapes: &'a [Shape],
    values: &'a [Value],
    at: &mut usize,
) -> Option<(&'a Shape, &'a Value)> {
    fn inside<'a>(
        (shape, value): (&'a Shape, &'a Value),
        at: &mut usize,
    ) -> Option<(&'a Shape, &'a Value)> {
        if *at == 0 {
            return Some((shape, value));
        }
        *at -= 1;
        shape
            .parts(value)
            .into_iter()
            .find_map(|part| inside(part, at))
    }
    shapes.iter().zip(values).find_map(|part| inside(part, at))
}

/// Puts a value at this position. `true`: it is there.
fn put(values: &mut [Value], at: &mut usize, new: &Value) -> bool {
    for value in values {
        if *at == 0 {
            value.clone_from(new);
            return true;
        }
        *at -= 1;
        let parts = match value {
            Value::List(parts) | Value::Variant(_, parts) | Value::Parts(parts) => parts,
            Value::Scalar(_) | Value::Text(_) => continue,
        };
        if put(parts, at, new) {
            return true;
        }
    }
    false
}

/// Removes the element of a list at this position. `false`: what is there is no element of a list.
fn remove(values: &mut [Value], at: &mut usize) -> bool {
    for value in values {
        if *at == 0 {
            return false;
        }
        *at -= 1;
        match value {
            Value::List(elements) => {
                let mut start = *at;
                for index in 0..elements.len() {
                    if start == 0 {
                        elements.remove(index);
                        return true;
                    }
                    let count = count(&elements[index]);
                    if start < count {
                        break;
                    }
                    start -= count;
                }
                if remove(elements, at) {
                    return true;
                }
            }
            Value::Variant(_, parts) | Value::Parts(parts) => {
                if remove(parts, at) {
                    return true;
                }
            }
            Value::Scalar(_) | Value::Text(_) => {}
        }
    }
    false
}

/// The number of parts of a value, itself included.
fn count(value: &Value) -> usize {
    let mut parts = 0;
    each(value, &mut |_| parts += 1);
    parts
}

/// Values that may be in the place of a value, what is much smaller first.
fn smaller(shape: &Shape, value: &Value) -> Vec<Value> {
    match (shape, value) {
        (Shape::List { .. }, Value::List(elements)) => {
            shorter(elements).into_iter().map(Value::List).collect()
        }
        (Shape::Text { .. }, Value::Text(text)) => {
            let chars: Vec<char> = String::from_utf8_lossy(text).chars().collect();
            let mut all = shorter(&chars);
            for at in 0..chars.len() {
                for simple in ['0', 'A', 'a'] {
                    let mut new = chars.clone();
                    new[at] = simple;
                    all.push(new);
                }
            }
            let text = |chars: Vec<char>| Value::Text(String::from_iter(chars).into_bytes());
            all.into_iter().map(text).collect()
        }
        (Shape::Variants(variants), Value::Variant(which, _)) => (0..*which)
            .map(|earlier| {
                let zeros = variants[earlier].iter().map(|shape| shape.read(&[]));
                Value::Variant(earlier, zeros.collect())
            })
            .collect(),
        (shape, Value::Scalar(bits)) => {
            let all = numbers(shape, *bits).into_iter();
            all.filter(|new| new != bits).map(Value::Scalar).collect()
        }
        _ => Vec::new(),
    }
}

fn numbers(shape: &Shape, bits: u128) -> Vec<u128> {
    match *shape {
        Shape::Integer {
            bytes,
            signed: true,
        } => {
            let value = extended(bits, bytes);
            let near = [value / 2, value - value / 4, value - value.signum()];
            let all = [0, 1, 2, 3, value.wrapping_neg()].into_iter().chain(near);
            let mask = u128::MAX >> (128 - 8 * bytes);
            all.map(|value| value.cast_unsigned() & mask).collect()
        }
        Shape::Float { bytes } => {
            let value = float(bits, bytes);
            let all = [
                0.0,
                1.0,
                value.abs(),
                value.trunc(),
                (value * 2.0).trunc() / 2.0,
                value / 2.0,
            ];
            all.map(|value| float_bits(value, bytes)).to_vec()
        }
        Shape::Char => ['0', 'A', 'a']
            .map(|simple| u32::from(simple).into())
            .to_vec(),
        _ => {
            let near = [bits / 2, bits - bits / 4, bits.saturating_sub(1)];
            [0, 1, 2, 3].into_iter().chain(near).collect()
        }
    }
}

/// Lists without a half, a quarter, …, an element.
fn shorter<T: Clone>(elements: &[T]) -> Vec<Vec<T>> {
    let mut all = Vec::new();
    let mut size = elements.len();
    while size > 0 {
        for at in (0..elements.len()).step_by(size) {
            let end = elements.len().min(at + size);
            all.push([&elements[..at], &elements[end..]].concat());
        }
        size /= 2;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{ByteSource, Input, write_all};

    /// The smallest value that is found from these bytes on, and how many candidates were run.
    fn smallest<V: Input>(bytes: &[u8], wanted: impl Fn(&V) -> bool) -> (V, usize) {
        let shapes = [V::shape(0)];
        let decoded = |values: &[Value]| {
            let mut bytes = Vec::new();
            write_all(&shapes, values, &mut bytes);
            V::decode(&mut ByteSource::new(&bytes))
        };
        let first = [shapes[0].read(bytes)];
        assert!(wanted(&decoded(&first)));
        let mut asked = 0;
        let best = shrink(&shapes, &first, &mut |values| {
            asked += 1;
            Some(wanted(&decoded(values)))
        });
        (decoded(&best), asked)
    }

    #[test]
    fn lists_lose_elements_and_numbers_their_size() {
        let bytes = [
            16, 9, 200, 13, 77, 14, 200, 3, 1, 2, 90, 8, 44, 5, 200, 200, 17,
        ];
        let (list, asked) = smallest::<Vec<u8>>(&bytes, |list| {
            list.iter().map(|it| u32::from(*it)).sum::<u32>() >= 300
        });
        assert_eq!(list.len(), 2);
        assert_eq!(list.iter().map(|it| u32::from(*it)).sum::<u32>(), 300);
        assert!(asked < 2_000, "{asked}");
        // A sum that has to be just so.
        let (list, _) = smallest::<Vec<u8>>(&bytes, |list| {
            list.len() > 3 && list.iter().fold(0_u8, |sum, it| sum.wrapping_add(*it)) == 0x3B
        });
        assert_eq!(list.len(), 4);
        assert_eq!(list.iter().filter(|it| **it != 0).count(), 1, "{list:?}");
    }

    #[test]
    fn numbers_that_belong_together_get_smaller_together() {
        // The second sum is 0, as it has overflowed.
        for (a, b) in [
            (7_654_321_u32, 8_765_432_u32),
            (1_165_718_993, 3_129_248_303),
        ] {
            let bytes: Vec<u8> = [a, b, a.wrapping_add(b)]
                .iter()
                .flat_map(|it| it.to_le_bytes())
                .collect();
            let (found, asked) = smallest::<(u32, u32, u32)>(&bytes, |(a, b, c)| {
                a.wrapping_add(*b) == *c && *a > 1000 && *b > 77
            });
            assert_eq!(found, (1001, 78, 1079));
            assert!(asked < 5_000, "{asked}");
        }
    }

    #[test]
    fn texts_variants_and_signs_are_made_simple() {
        let mut bytes = vec![20];
        bytes.extend("längere Wörter".as_bytes());
        let (text, _) = smallest::<String>(&bytes, |text| text.contains('W') && text.len() > 3);
        assert_eq!(text, "00 W");
        let some = [1, 200, 1, 0, 0];
        let (option, _) = smallest::<Option<u32>>(&some, |_| true);
        assert_eq!(option, None);
        let (number, _) = smallest::<i16>(&(-700_i16).to_le_bytes(), |it| it.abs() > 300);
        assert_eq!(number, 301);
        let (float, _) = smallest::<f32>(&(-81.1875_f32).to_le_bytes(), |it| it.abs() > 3.2);
        assert!(
            float > 3.2 && float < 8.0 && float.fract() * 2.0 % 1.0 == 0.0,
            "{float}"
        );
    }

    #[test]
    fn the_search_stops_when_it_is_told() {
        let shapes = [u32::shape(0)];
        let best = shrink(&shapes, &[Value::Scalar(9)], &mut |_| None);
        assert_eq!(best, [Value::Scalar(9)]);
    }
}
