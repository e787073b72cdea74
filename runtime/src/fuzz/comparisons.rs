//! What an execution has compared without success, and inputs that may make the comparison succeed.
//!
//! An input often comes to a comparison as it is, or as part of a sum. Then the other operand, put in the input's place,
//! makes the comparison succeed: a checksum that was computed goes where the checksum was read ("input-to-state
//! correspondence": Aschermann, Schumilo, Blazytko, Gawlik, Holz, REDQUEEN, NDSS 2019).
//!
//! The compiler's coverage instrumentation calls a function for each comparison of integers, and `rustc.sh` of a generated
//! crate has each comparison of bytes be a call. The functions of `hooks.rs` stand before both. Without that script nothing is
//! recorded, and a fuzzer has to do without.

use std::cell::{Cell, RefCell};

use super::literals::one_of;
use super::mutation::truncated;
use crate::input::{Random, Shape, Value, read_all};

/// Two operands that differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Compared {
    /// Two integers of this many bytes.
    Integers(u64, u64, usize),
    /// Two pieces of memory of one length.
    Bytes(Vec<u8>, Vec<u8>),
}

/// The most comparisons of an execution that are kept.
const KEPT: usize = 128;
/// The most bytes of a piece of memory that are kept.
const LONGEST: usize = 32;
/// The number of places in the table of what was met before.
const MET: usize = 512;

/// The comparisons of an execution.
struct Log {
    compared: Vec<Compared>,
    /// For each place, the last comparison met there, as a number that few others share.
    met: [u64; MET],
    /// The number of different comparisons, the forgotten ones, too.
    count: u64,
}

thread_local! {
    /// Whether comparisons of this thread are recorded.
    static RECORDS: Cell<bool> = const { Cell::new(false) };
    static LOG: RefCell<Log> = const {
        RefCell::new(Log { compared: Vec::new(), met: [0; MET], count: 0 })
    };
}

/// Records the comparisons of what runs.
pub(crate) fn record<R>(run: impl FnOnce() -> R) -> R {
    /// Ends the recording, by a panic, too.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            RECORDS.set(false);
        }
    }
    LOG.with_borrow_mut(|log| {
        log.compared.clear();
        log.met.fill(0);
        log.count = 0;
    });
    RECORDS.set(true);
    let _end = End;
    run()
}

/// What was recorded last.
pub(crate) fn recorded() -> Vec<Compared> {
    LOG.with_borrow(|log| log.compared.clone())
}

impl Log {
    fn add(&mut self, hash: u64, compared: impl FnOnce() -> Compared) {
        let hash = hash.max(1);
        let met = &mut self.met[(hash % MET as u64) as usize];
        if std::mem::replace(met, hash) == hash {
            return;
        }
        self.count += 1;
        if self.compared.len() < KEPT {
            self.compared.push(compared());
        } else {
            // Each is as likely to be kept, wherever in the execution it is.
            let at = mixed(hash ^ self.count) % self.count;
            if let Some(old) = self.compared.get_mut(at as usize) {
                *old = compared();
            }
        }
    }
}

const fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    value ^ (value >> 29)
}

/// A comparison of two integers.
#[inline]
pub(crate) fn integers(one: u64, other: u64, bytes: usize) {
    if one != other && RECORDS.get() {
        add_integers(one, other, bytes);
    }
}

#[cold]
fn add_integers(one: u64, other: u64, bytes: usize) {
    let hash = mixed(one ^ mixed(other ^ bytes as u64));
    // Nothing is recorded while the log itself is at work.
    LOG.with(|log| {
        if let Ok(mut log) = log.try_borrow_mut() {
            log.add(hash, || Compared::Integers(one, other, bytes));
        }
    });
}

/// Whether comparisons of this thread are recorded.
#[inline]
pub(crate) fn records() -> bool {
    RECORDS.get()
}

/// A comparison of two pieces of memory, while comparisons are recorded.
#[cold]
pub(crate) fn bytes(one: &[u8], other: &[u8]) {
    if !RECORDS.replace(false) {
        return;
    }
    let cut = |bytes: &[u8]| bytes[..bytes.len().min(LONGEST)].to_vec();
    // What the recording itself compares is not the program's.
    if one != other && !one.is_empty() {
        let both = one.iter().chain(other).take(2 * LONGEST);
        let hash = both.fold(1, |hash, byte| mixed(hash ^ u64::from(*byte)));
        LOG.with(|log| {
            if let Ok(mut log) = log.try_borrow_mut() {
                log.add(hash, || Compared::Bytes(cut(one), cut(other)));
            }
        });
    }
    RECORDS.set(true);
}

/// The changes that may make a comparison succeed: of parts of the values, and of the values' bytes.
pub(super) struct Directed {
    places: Vec<Place>,
    /// How much the likeliest place has to do with the comparison.
    rank: Rank,
}

/// Looks for the places in the inputs that a comparison may be about; `None` where there is none. `bytes` are those that
/// the values are read from.
pub(super) fn directed(
    shapes: &[Shape],
    values: &[Value],
    bytes: &[u8],
    compared: &Compared,
) -> Option<Directed> {
    let mut places = Vec::new();
    for compared in readings(compared) {
        for (at, (shape, value)) in shapes.iter().zip(values).enumerate() {
            let mut path = vec![at];
            collect(shape, value, &compared, &mut path, &mut places);
        }
        // Neighbours are compared together: two small fields as one number.
        contents(bytes, 0, &compared, &mut |rank, change| {
            if let Edit::Replace(_, length, new) = &change
                && new.len() == *length
                && *length > 1
                && rank > Rank::Computed
            {
                let path = Vec::new();
                places.push(Place { path, rank, change });
            }
        });
    }
    let rank = places.iter().map(|place| place.rank).max()?;
    Some(Directed { places, rank })
}

impl Directed {
    /// Makes one of the changes.
    pub(super) fn apply(
        &self,
        shapes: &[Shape],
        values: &mut Vec<Value>,
        bytes: &[u8],
        random: &mut Random,
    ) {
        // Few places have much to do with the comparison, and many little: each rank has its turns.
        let rank = if random.below(2) == 0 {
            self.rank
        } else {
            one_of(&self.places, random).rank
        };
        let of_rank = self.places.iter().filter(|place| place.rank == rank);
        let of_rank: Vec<&Place> = of_rank.collect();
        let place = *one_of(&of_rank, random);
        if let Some((first, rest)) = place.path.split_first() {
            apply(
                &shapes[*first],
                &mut values[*first],
                rest,
                &place.change,
                random,
            );
        } else {
            let mut bytes = bytes.to_vec();
            edit(&mut bytes, &place.change, 0);
            *values = read_all(shapes, &bytes);
        }
    }
}

/// What an optimising compiler may have made of the program's comparison: both sides inverted, or negated.
fn readings(compared: &Compared) -> Vec<Compared> {
    let mut all = vec![compared.clone()];
    if let Compared::Integers(one, other, bytes) = *compared {
        let mask = ones(bytes) as u64;
        let with = |change: fn(u64) -> u64| {
            Compared::Integers(change(one) & mask, change(other) & mask, bytes)
        };
        all.extend([with(|value| !value), with(u64::wrapping_neg)]);
    }
    all
}

/// How much a place has to do with a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The operand may have been computed from what is here.
    Computed,
    /// The operand is here, but is a small number, which many places have.
    Small,
    /// The operand is here.
    Here,
}

impl Rank {
    /// The rank of a place that has this operand.
    const fn of(operand: u64) -> Self {
        if operand < 256 {
            Self::Small
        } else {
            Self::Here
        }
    }
}

/// A part of the inputs that a comparison may be about.
struct Place {
    /// The number of the value, then of the part in it, and so on; empty for all bytes.
    path: Vec<usize>,
    rank: Rank,
    change: Edit,
}

/// The change of a part.
#[derive(Clone)]
enum Edit {
    /// This number.
    Set(u128),
    /// The number with a difference, or a part of the difference, added.
    Add(i128),
    /// The number with these bits changed.
    Flip(u128),
    /// As many elements or bytes.
    Resize(usize),
    /// From this byte on, so many bytes with these bits changed.
    FlipBytes(usize, usize, u64),
    /// These bytes in the place of as many others as there are from this one on.
    Replace(usize, usize, Vec<u8>),
}

/// Notes the places in a value that a comparison may be about.
fn collect(
    shape: &Shape,
    value: &Value,
    compared: &Compared,
    path: &mut Vec<usize>,
    places: &mut Vec<Place>,
) {
    let mut note = |rank, change| {
        places.push(Place {
            path: path.clone(),
            rank,
            change,
        });
    };
    match (shape, value) {
        (Shape::Integer { .. } | Shape::Char, Value::Scalar(bits)) => {
            if let Compared::Integers(one, other, bytes) = *compared {
                for (from, to) in [(one, other), (other, one)] {
                    scalar(shape, *bits, (from, to, bytes), &mut note);
                }
            }
        }
        (Shape::Text { longest }, Value::Text(text)) => {
            contents(text, *longest, compared, &mut note);
        }
        (Shape::List { longest, element }, Value::List(elements)) => {
            if let Some(bytes) = as_bytes(element.as_deref(), elements) {
                contents(&bytes, *longest, compared, &mut note);
            } else {
                lengths(elements.len(), *longest, compared, &mut note);
            }
        }
        (Shape::Parts(shapes), Value::Parts(parts)) => {
            // An array of bytes.
            if let Some(bytes) = as_bytes(shapes.first(), parts)
                && shapes.iter().all(|shape| shape.width() == 1)
            {
                contents(
                    &bytes,
                    bytes.len(),
                    compared,
                    &mut |rank, change| match &change {
                        Edit::Replace(_, length, new) if *length == new.len() => note(rank, change),
                        Edit::FlipBytes(..) => note(rank, change),
                        _ => {}
                    },
                );
            }
        }
        _ => {}
    }
    for (at, (shape, value)) in shape.parts(value).into_iter().enumerate() {
        path.push(at);
        collect(shape, value, compared, path, places);
        path.pop();
    }
}

/// Notes how a number may make a comparison of integers succeed.
fn scalar(
    shape: &Shape,
    bits: u128,
    (from, to, bytes): (u64, u64, usize),
    note: &mut impl FnMut(Rank, Edit),
) {
    let width = shape.width();
    let mask = ones(width.min(bytes));
    // A number is compared as wide as it is, or extended, by zeros or by its sign.
    let signed = matches!(shape, Shape::Integer { signed: true, .. });
    let extend = |value: u64| {
        let negative = signed && bytes < 16 && value >> (8 * bytes - 1) & 1 == 1;
        let high = if negative { !ones(bytes) } else { 0 };
        (u128::from(value) | high) & ones(width)
    };
    let whole = bits == extend(from) || u128::from(from) == bits & ones(bytes);
    if whole && bits & mask == u128::from(from) & mask {
        note(Rank::of(from), Edit::Set(extend(to)));
    }
    let swapped = |value: u64| u128::from(value.swap_bytes() >> (64 - 8 * bytes.clamp(1, 8)));
    if width == bytes && bytes > 1 && swapped(from) == bits {
        note(Rank::of(from), Edit::Set(swapped(to)));
    }
    // `(number / 256) & 255`, `number * 2 + 1`, `a + b`, `a ^ b`: the number moves by what the operand has to move by.
    // A number is not moved by more than it has room for.
    let difference = i128::from(to) - i128::from(from);
    if difference.unsigned_abs() <= ones(width) {
        note(Rank::Computed, Edit::Add(difference));
    }
    if u128::from(from ^ to) <= ones(width) {
        note(Rank::Computed, Edit::Flip(u128::from(from ^ to)));
    }
}

/// Notes how a text or a list of bytes may make a comparison succeed.
fn contents(text: &[u8], longest: usize, compared: &Compared, note: &mut impl FnMut(Rank, Edit)) {
    match compared {
        Compared::Bytes(one, other) => {
            for (from, to) in [(one, other), (other, one)] {
                let mut found = false;
                if from.len() <= text.len() {
                    for at in 0..=text.len() - from.len() {
                        if text[at..].starts_with(from) {
                            found = true;
                            note(Rank::Here, Edit::Replace(at, from.len(), to.clone()));
                        }
                    }
                }
                if !found {
                    note(Rank::Computed, Edit::Replace(0, text.len(), to.clone()));
                }
            }
        }
        &Compared::Integers(one, other, bytes) => {
            for (from, to) in [(one, other), (other, one)] {
                windows(text, (from, to, bytes), note);
                if text.iter().any(u8::is_ascii_digit) {
                    let (digits, new) = (from.to_string(), to.to_string());
                    let mut windows = text.windows(digits.len());
                    if let Some(at) = windows.position(|here| here == digits.as_bytes()) {
                        note(
                            Rank::Here,
                            Edit::Replace(at, digits.len(), new.into_bytes()),
                        );
                    }
                }
            }
            // Part of what the operand is computed from: a checksum that is compared by `^`.
            if bytes > 1 && text.len() >= bytes {
                for at in 0..=text.len() - bytes {
                    note(Rank::Computed, Edit::FlipBytes(at, bytes, one ^ other));
                }
            }
            lengths(text.len(), longest, compared, note);
        }
    }
}

/// Notes where a number is in bytes, in either order of its bytes.
fn windows(text: &[u8], (from, to, bytes): (u64, u64, usize), note: &mut impl FnMut(Rank, Edit)) {
    let (little, big) = (from.to_le_bytes(), from.to_be_bytes());
    for wide in [8, 4, 2, 1] {
        let fits = |value: u64| u128::from(value) <= ones(wide);
        // Zeros are everywhere.
        let nothing = from == 0 && wide > 1;
        if nothing || wide > bytes || !fits(from) || !fits(to) {
            continue;
        }
        for (at, here) in text.windows(wide).enumerate() {
            if *here == little[..wide] {
                note(
                    Rank::of(from),
                    Edit::Replace(at, wide, to.to_le_bytes()[..wide].to_vec()),
                );
            } else if *here == big[8 - wide..] {
                note(
                    Rank::of(from),
                    Edit::Replace(at, wide, to.to_be_bytes()[8 - wide..].to_vec()),
                );
            }
        }
    }
}

/// Notes that a comparison may be about a length.
fn lengths(length: usize, longest: usize, compared: &Compared, note: &mut impl FnMut(Rank, Edit)) {
    if let &Compared::Integers(one, other, 8) = compared {
        for (from, to) in [(one, other), (other, one)] {
            if from == length as u64 && to <= longest as u64 {
                note(Rank::Small, Edit::Resize(to as usize));
            }
        }
    }
}

/// The elements as bytes, if that is what they are.
fn as_bytes(element: Option<&Shape>, elements: &[Value]) -> Option<Vec<u8>> {
    let Some(Shape::Integer { bytes: 1, .. }) = element else {
        return None;
    };
    let byte = |value: &Value| match value {
        Value::Scalar(bits) => Some(*bits as u8),
        _ => None,
    };
    elements.iter().map(byte).collect()
}

fn apply(shape: &Shape, value: &mut Value, path: &[usize], change: &Edit, random: &mut Random) {
    if let Some((first, rest)) = path.split_first() {
        let child = match (shape, value) {
            (
                Shape::List {
                    element: Some(element),
                    ..
                },
                Value::List(elements),
            ) => Some((&**element, &mut elements[*first])),
            (Shape::Variants(variants), Value::Variant(which, fields)) => {
                Some((&variants[*which][*first], &mut fields[*first]))
            }
            (Shape::Parts(shapes), Value::Parts(values)) => {
                Some((&shapes[*first], &mut values[*first]))
            }
            _ => None,
        };
        if let Some((shape, value)) = child {
            apply(shape, value, rest, change, random);
        }
        return;
    }
    match value {
        Value::Scalar(bits) => {
            let new = match change {
                Edit::Set(new) => *new,
                Edit::Flip(flipped) => *bits ^ flipped,
                Edit::Add(difference) => {
                    // A number that counts several times moves the operand by more.
                    let part = [1, 1, 1, -1, 2, 3, 4, 8][(random.next() % 8) as usize];
                    bits.wrapping_add((difference / part) as u128)
                }
                Edit::Resize(_) | Edit::FlipBytes(..) | Edit::Replace(..) => *bits,
            };
            *bits = new & ones(shape.width());
            if *shape == Shape::Char && char::from_u32(*bits as u32).is_none() {
                *bits = 0;
            }
        }
        Value::Text(text) => {
            edit(text, change, b'a');
            if let Shape::Text { longest } = *shape {
                let whole = String::from_utf8_lossy(text).into_owned();
                *text = truncated(whole, longest).into_bytes();
            }
        }
        Value::List(elements) => {
            let Shape::List {
                longest,
                element: Some(element),
            } = shape
            else {
                return;
            };
            if let Some(mut bytes) = as_bytes(Some(&**element), elements) {
                edit(&mut bytes, change, 0);
                *elements = bytes
                    .into_iter()
                    .map(|byte| Value::Scalar(byte.into()))
                    .collect();
            } else if let Edit::Resize(length) = change {
                let new = elements.last().cloned();
                elements.resize(*length, new.unwrap_or_else(|| element.read(&[])));
            }
            elements.truncate(*longest);
        }
        Value::Parts(parts) => {
            let Shape::Parts(shapes) = shape else { return };
            if let Some(mut bytes) = as_bytes(shapes.first(), parts) {
                edit(&mut bytes, change, 0);
                let bytes = bytes.into_iter().map(|byte| Value::Scalar(byte.into()));
                *parts = bytes.collect();
            }
        }
        Value::Variant(..) => {}
    }
}

/// Changes bytes; `new` is what comes to those that are missing.
fn edit(bytes: &mut Vec<u8>, change: &Edit, new: u8) {
    match change {
        Edit::Resize(length) => bytes.resize(*length, new),
        Edit::Replace(at, length, with) => {
            bytes.splice(*at..at + length, with.iter().copied());
        }
        Edit::FlipBytes(at, length, flipped) => {
            for (byte, flipped) in bytes[*at..at + length]
                .iter_mut()
                .zip(flipped.to_le_bytes())
            {
                *byte ^= flipped;
            }
        }
        Edit::Set(_) | Edit::Add(_) | Edit::Flip(_) => {}
    }
}

/// As many bytes of ones.
const fn ones(bytes: usize) -> u128 {
    if bytes >= 16 {
        u128::MAX
    } else {
        (1 << (8 * bytes)) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{ByteSource, Input, write_all};

    /// Changes inputs, beginning with zeros, by what `run` compares, until `run` says that all has succeeded.
    fn is_reached<V: Input>(mut run: impl FnMut(&V) -> bool) -> bool {
        let shapes = [V::shape(0)];
        let random = &mut Random::new(7);
        let mut values = read_all(&shapes, &[]);
        for round in 0..20_000 {
            let mut bytes = Vec::new();
            write_all(&shapes, &values, &mut bytes);
            let value = V::decode(&mut ByteSource::new(&bytes));
            if record(|| run(&value)) {
                return true;
            }
            let all = recorded();
            if all.is_empty() || round % 50 == 49 {
                values = read_all(&shapes, &[]);
            } else {
                let compared = one_of(&all, random);
                if let Some(directed) = directed(&shapes, &values, &bytes, compared) {
                    directed.apply(&shapes, &mut values, &bytes, random);
                }
            }
        }
        false
    }

    /// What the instrumentation makes of `one == other`.
    fn equal(one: u64, other: u64, bytes: usize) -> bool {
        integers(one, other, bytes);
        one == other
    }

    #[test]
    fn operands_are_put_where_the_input_has_them() {
        assert!(is_reached::<u32>(|x| equal((*x).into(), 0xB007_5EED, 4)));
        assert!(is_reached::<(u8, i16)>(|x| equal(
            x.1 as u16 as u64,
            (-300_i16) as u16 as u64,
            2
        )));
        // Extended by its sign.
        assert!(is_reached::<i16>(|x| equal(
            i64::from(*x) as u64,
            -300_i64 as u64,
            8
        )));
        assert!(is_reached::<u32>(|x| equal(
            x.swap_bytes().into(),
            0x1234_5678,
            4
        )));
        assert!(is_reached::<char>(|x| equal(
            u32::from(*x).into(),
            'ß'.into(),
            4
        )));
    }

    #[test]
    fn what_a_compiler_makes_of_comparisons_is_seen_through() {
        let both = |x: &(i16, i16)| u64::from(x.0 as u16) | u64::from(x.1 as u16) << 16;
        let wanted = (-300_i16, 1_200_i16);
        assert!(is_reached::<(i16, i16)>(|x| equal(
            both(x),
            both(&wanted),
            4
        )));
        assert!(is_reached::<u32>(|x| equal((!x).into(), 0x1234_5678, 4)));
        // A checksum and what was read, both in one operand.
        let read = |x: &[u8]| u32::from_le_bytes([x[2], x[3], x[4], x[5]]) ^ 0xDEAD_BEEF;
        assert!(is_reached::<[u8; 8]>(|x| equal(
            read(x).into(),
            0xFFFF_FFFF,
            4
        )));
        assert!(is_reached::<Vec<u8>>(|x| {
            if x.len() < 6 {
                equal(x.len() as u64, 6, 8);
                return false;
            }
            equal(read(x).into(), 0xFFFF_FFFF, 4)
        }));
    }

    #[test]
    fn sums_and_lengths_are_made_to_fit() {
        assert!(is_reached::<(u32, u32)>(|x| {
            equal(x.0.wrapping_add(x.1).into(), 123_456, 4)
        }));
        assert!(is_reached::<u32>(|x| equal(
            (x.wrapping_mul(3)).into(),
            300,
            4
        )));
        assert!(is_reached::<Vec<u16>>(|x| equal(x.len() as u64, 7, 8)));
        assert!(is_reached::<String>(|x| {
            equal(x.len() as u64, 11, 8) && {
                bytes(x.as_bytes(), b"open sesame");
                x == "open sesame"
            }
        }));
    }

    #[test]
    fn a_checksum_goes_where_it_is_read() {
        let sum = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(7_u32, |sum, byte| sum.wrapping_mul(31) ^ u32::from(*byte))
        };
        assert!(is_reached::<Vec<u8>>(|x| {
            if x.len() < 8 {
                return equal(x.len() as u64, 8, 8);
            }
            let read = u32::from_be_bytes([x[0], x[1], x[2], x[3]]);
            equal(sum(&x[4..]).into(), read.into(), 4)
        }));
    }

    #[test]
    fn what_is_compared_again_is_kept_once_and_all_kinds_of_long_executions_are() {
        record(|| {
            for _ in 0..10 {
                equal(1, 2, 4);
            }
        });
        assert_eq!(recorded(), [Compared::Integers(1, 2, 4)]);
        record(|| {
            for n in 0..10_000 {
                equal(n, n + 1, 8);
            }
        });
        let all = recorded();
        assert_eq!(all.len(), KEPT);
        assert!(
            all.iter()
                .any(|it| matches!(it, Compared::Integers(5_000.., ..)))
        );
        // Outside of an execution nothing is.
        equal(3, 4, 8);
        assert!(!recorded().contains(&Compared::Integers(3, 4, 8)));
    }
}
