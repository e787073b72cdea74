//! Inputs that are one value: numbers, `bool`, `char`, texts.

use super::{ByteSource, Input, Random, Shape};

macro_rules! integer {
    ($($type:ident $small:expr;)*) => {$(
        #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss, clippy::cast_lossless)]
        impl Input for $type {
            fn domain() -> Option<u64> {
                $small
            }

            fn nth(n: u64) -> Self {
                // The plain order is that of the bits; starting at the least value keeps it for signed types.
                Self::MIN.wrapping_add(n as Self)
            }

            fn sample(random: &mut Random) -> Self {
                const EDGES: [$type; 5] = [0, 1, 2, $type::MAX, $type::MIN];
                match random.below(4) {
                    0 => EDGES[random.below(EDGES.len() as u64) as usize],
                    1 => (random.next() % 128) as Self,
                    2 => (random.next() % 65_536) as Self,
                    _ => random.next() as Self,
                }
            }

            fn simple(n: u64) -> Option<Self> {
                // Where a number is a count, few are enough for most bugs, and run quickly.
                const LEAST: $type = if $type::MIN == 0 { 5 } else { $type::MIN };
                const SIMPLE: [$type; 7] = [0, 1, 2, 3, 4, $type::MAX, LEAST];
                SIMPLE.get(usize::try_from(n).ok()?).copied()
            }

            fn parse(text: &str) -> Result<Self, String> {
                let plain = text.trim().replace('_', "");
                let plain = plain.strip_suffix(stringify!($type)).unwrap_or(&plain);
                let (negative, digits) = match plain.strip_prefix('-') {
                    Some(digits) => (true, digits),
                    None => (false, plain),
                };
                let radix = |prefix: &str, radix: u32| {
                    let digits = digits.strip_prefix(prefix)?;
                    let signed = if negative { format!("-{digits}") } else { digits.to_owned() };
                    Some(Self::from_str_radix(&signed, radix))
                };
                let parsed = radix("0x", 16).or_else(|| radix("0b", 2)).or_else(|| radix("0o", 8));
                parsed
                    .unwrap_or_else(|| plain.parse())
                    .map_err(|error| format!("`{text}` is no {}: {error}", stringify!($type)))
            }

            fn width(_depth: usize) -> usize {
                size_of::<Self>()
            }

            fn shape(_depth: usize) -> Shape {
                Shape::Integer {
                    bytes: size_of::<Self>(),
                    signed: Self::MIN != 0,
                }
            }

            fn decode(bytes: &mut ByteSource<'_>) -> Self {
                Self::from_le_bytes(bytes.take())
            }

            fn distance(low: &Self, high: &Self) -> Result<u64, String> {
                let distance = high.checked_sub(*low).filter(|distance| *distance >= 0 as Self);
                match distance {
                    Some(distance) => Ok(u64::try_from(distance).unwrap_or(u64::MAX)),
                    None if high > low => Ok(high.abs_diff(*low) as u64),
                    None => Err("the range is empty".to_owned()),
                }
            }

            fn forward(&self, steps: u64) -> Self {
                self.wrapping_add(steps as Self)
            }
        }
    )*};
}

#[allow(unused_comparisons)]
mod integers {
    use super::{ByteSource, Input, Random, Shape};

    integer! {
        u8 Some(256);
        i8 Some(256);
        u16 Some(65_536);
        i16 Some(65_536);
        u32 None;
        i32 None;
        u64 None;
        i64 None;
        u128 None;
        i128 None;
        usize None;
        isize None;
    }
}

impl Input for bool {
    fn domain() -> Option<u64> {
        Some(2)
    }

    fn nth(n: u64) -> Self {
        n == 1
    }

    fn sample(random: &mut Random) -> Self {
        random.below(2) == 1
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.trim()
            .parse()
            .map_err(|_| format!("`{text}` is neither `true` nor `false`"))
    }

    fn width(_depth: usize) -> usize {
        1
    }

    fn shape(_depth: usize) -> Shape {
        Shape::Bool
    }

    fn decode(bytes: &mut ByteSource<'_>) -> Self {
        bytes.take::<1>()[0] & 1 == 1
    }
}

impl Input for char {
    fn domain() -> Option<u64> {
        None
    }

    fn nth(n: u64) -> Self {
        u32::try_from(n)
            .ok()
            .and_then(Self::from_u32)
            .unwrap_or(Self::REPLACEMENT_CHARACTER)
    }

    fn sample(random: &mut Random) -> Self {
        match random.below(3) {
            0 => Self::from(b' ' + u8::try_from(random.below(95)).unwrap_or(0)),
            1 => {
                ['\0', '\n', 'ß', '語', '\u{10FFFF}'][usize::try_from(random.below(5)).unwrap_or(0)]
            }
            _ => Self::nth(random.below(0x11_0000)),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let inside = text
            .strip_prefix('\'')
            .and_then(|text| text.strip_suffix('\''))
            .unwrap_or(text);
        let plain = unescape(inside)?;
        let mut chars = plain.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) => Ok(c),
            _ => Err(format!("`{text}` is no single character")),
        }
    }

    fn width(_depth: usize) -> usize {
        4
    }

    fn shape(_depth: usize) -> Shape {
        Shape::Char
    }

    fn decode(bytes: &mut ByteSource<'_>) -> Self {
        let bits = u32::from_le_bytes(bytes.take()) % 0x11_0000;
        Self::from_u32(bits).unwrap_or(Self::REPLACEMENT_CHARACTER)
    }

    fn distance(low: &Self, high: &Self) -> Result<u64, String> {
        u64::from(u32::from(*high))
            .checked_sub(u64::from(u32::from(*low)))
            .ok_or_else(|| "the range is empty".to_owned())
    }

    fn forward(&self, steps: u64) -> Self {
        Self::nth(u64::from(u32::from(*self)) + steps)
    }
}

macro_rules! float {
    ($($type:ident $bits:ident;)*) => {$(
        impl Input for $type {
            fn domain() -> Option<u64> {
                None
            }

            #[allow(clippy::cast_possible_truncation)]
            fn nth(n: u64) -> Self {
                Self::from_bits(n as $bits)
            }

            #[allow(clippy::cast_precision_loss)]
            fn sample(random: &mut Random) -> Self {
                const EDGES: [$type; 8] = [
                    0.0, -0.0, 1.0, -1.0, $type::MAX, $type::MIN_POSITIVE, $type::INFINITY, $type::NAN,
                ];
                match random.below(3) {
                    0 => EDGES[usize::try_from(random.below(8)).unwrap_or(0)],
                    1 => (random.below(2_001) as Self - 1_000.0) / 8.0,
                    _ => Self::nth(random.next()),
                }
            }

            fn parse(text: &str) -> Result<Self, String> {
                let plain = text.trim().replace('_', "");
                let plain = plain.strip_suffix(stringify!($type)).unwrap_or(&plain);
                plain.parse().map_err(|error| format!("`{text}` is no {}: {error}", stringify!($type)))
            }

            fn width(_depth: usize) -> usize {
                size_of::<Self>()
            }

            fn shape(_depth: usize) -> Shape {
                Shape::Float {
                    bytes: size_of::<Self>(),
                }
            }

            fn decode(bytes: &mut ByteSource<'_>) -> Self {
                Self::from_le_bytes(bytes.take())
            }
        }
    )*};
}

float! {
    f32 u32;
    f64 u64;
}

impl Input for String {
    fn domain() -> Option<u64> {
        None
    }

    fn nth(_n: u64) -> Self {
        Self::new()
    }

    fn sample(random: &mut Random) -> Self {
        (0..random.below(9)).map(|_| char::sample(random)).collect()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
        {
            Some(inside) => unescape(inside),
            None => Ok(text.to_owned()),
        }
    }

    fn width(_depth: usize) -> usize {
        1 + LONGEST_TEXT
    }

    fn shape(_depth: usize) -> Shape {
        Shape::Text {
            longest: LONGEST_TEXT,
        }
    }

    fn decode(bytes: &mut ByteSource<'_>) -> Self {
        let (length, mut part) = bytes.list(LONGEST_TEXT, 1);
        let mut raw = [0; LONGEST_TEXT];
        raw.fill_with(|| part.take::<1>()[0]);
        Self::from_utf8_lossy(&raw[..length]).into_owned()
    }
}

/// The most bytes of a decoded text.
const LONGEST_TEXT: usize = 32;

/// Undoes Rust's escapes.
fn unescape(text: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        plain.push(match chars.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('0') => '\0',
            Some(c @ ('\\' | '\'' | '"')) => c,
            Some('u') => {
                let rest: String = chars
                    .by_ref()
                    .take_while(|c| *c != '}')
                    .filter(|c| *c != '{')
                    .collect();
                let code = u32::from_str_radix(&rest, 16).ok().and_then(char::from_u32);
                code.ok_or_else(|| format!("`\\u{{{rest}}}` is no character"))?
            }
            other => {
                return Err(format!(
                    "unknown escape `\\{}`",
                    other.map(String::from).unwrap_or_default()
                ));
            }
        });
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_in_rust() {
        assert_eq!(u8::parse("0xff"), Ok(255));
        assert_eq!(i32::parse("-1_000"), Ok(-1000));
        assert_eq!(u32::parse("7u32"), Ok(7));
        assert_eq!(i8::parse("-0b11"), Ok(-3));
        assert!(u8::parse("256").is_err());
        assert_eq!(f64::parse("1_0.5f64"), Ok(10.5));
    }

    #[test]
    fn all_values_of_small_types_are_counted_through() {
        let all: std::collections::BTreeSet<i8> = (0..256).map(i8::nth).collect();
        assert_eq!(all.len(), 256);
        assert_eq!((bool::nth(0), bool::nth(1)), (false, true));
    }

    #[test]
    fn ranges_count_across_zero() {
        assert_eq!(i8::distance(&-128, &127), Ok(255));
        assert_eq!((-128_i8).forward(255), 127);
        assert!(u8::distance(&3, &2).is_err());
    }

    #[test]
    fn texts_may_be_quoted_and_escaped() {
        assert_eq!(String::parse(r#""a\n\u{e9}""#).as_deref(), Ok("a\né"));
        assert_eq!(String::parse("plain").as_deref(), Ok("plain"));
        assert_eq!(char::parse("'x'"), Ok('x'));
        assert!(char::parse("xy").is_err());
    }
}
