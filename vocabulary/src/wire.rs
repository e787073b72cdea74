//! The encoding of messages: that of `postcard` (variable-length integers, lengths before sequences, variant numbers before
//! variants), written by hand since a generated crate has no dependencies but those of the program under test.

use std::convert::Infallible;
use std::fmt;

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireError;

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are no message")
    }
}

impl std::error::Error for WireError {}

/// Values that can be sent.
pub trait Wire: Sized {
    /// Appends the encoded value.
    fn put(&self, out: &mut Vec<u8>);

    /// Takes a value from the front.
    ///
    /// # Errors
    /// The bytes do not begin with an encoded value.
    fn take(bytes: &mut &[u8]) -> Result<Self, WireError>;

    /// The encoded value.
    #[must_use]
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.put(&mut out);
        out
    }

    /// The value that these bytes are.
    ///
    /// # Errors
    /// The bytes are no encoded value, or there are more of them.
    fn decode(mut bytes: &[u8]) -> Result<Self, WireError> {
        let value = Self::take(&mut bytes)?;
        if bytes.is_empty() {
            Ok(value)
        } else {
            Err(WireError)
        }
    }
}

impl Wire for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        loop {
            let low = u8::try_from(rest & 0x7F).unwrap_or(0);
            rest >>= 7;
            if rest == 0 {
                out.push(low);
                return;
            }
            out.push(low | 0x80);
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = bytes.split_first().ok_or(WireError)?;
            *bytes = rest;
            let part = Self::from(byte & 0x7F);
            if shift == 63 && part > 1 {
                return Err(WireError);
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(WireError)
    }
}

impl Wire for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        u64::from(*self).put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        u64::take(bytes)?.try_into().map_err(|_| WireError)
    }
}

impl Wire for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        let (&byte, rest) = bytes.split_first().ok_or(WireError)?;
        *bytes = rest;
        Ok(byte)
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        let (&byte, rest) = bytes.split_first().ok_or(WireError)?;
        *bytes = rest;
        match byte {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(WireError),
        }
    }
}

impl Wire for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        let length = usize::try_from(u64::take(bytes)?).map_err(|_| WireError)?;
        let (text, rest) = bytes.split_at_checked(length).ok_or(WireError)?;
        *bytes = rest;
        Self::from_utf8(text.to_vec()).map_err(|_| WireError)
    }
}

impl<V: Wire> Wire for Vec<V> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        for value in self {
            value.put(out);
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        let length = u64::take(bytes)?;
        // Every value takes at least one byte, so a length that promises more is a lie, and is not allocated for.
        if length > bytes.len() as u64 {
            return Err(WireError);
        }
        (0..length).map(|_| V::take(bytes)).collect()
    }
}

impl<V: Wire> Wire for Option<V> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        if bool::take(bytes)? {
            V::take(bytes).map(Some)
        } else {
            Ok(None)
        }
    }
}

impl<V: Wire> Wire for Box<V> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        V::take(bytes).map(Self::new)
    }
}

/// No message: where one side has nothing to say.
impl Wire for Infallible {
    fn put(&self, _out: &mut Vec<u8>) {
        match *self {}
    }

    fn take(_bytes: &mut &[u8]) -> Result<Self, WireError> {
        Err(WireError)
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        Ok((A::take(bytes)?, B::take(bytes)?))
    }
}

/// Declares a struct or an enum together with its encoding. A struct is its fields, one after the other; an enum is the
/// number of its variant, from 0 in the order of declaration, and what the variant holds (named fields, or one or two
/// values).
#[macro_export]
macro_rules! message {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident {
            $($(#[$about:meta])* $field_visible:vis $field:ident: $type:ty),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        $visible struct $name {
            $($(#[$about])* $field_visible $field: $type),*
        }

        impl $crate::wire::Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::wire::Wire::put(&self.$field, out);)*
            }

            fn take(bytes: &mut &[u8]) -> Result<Self, $crate::wire::WireError> {
                Ok(Self { $($field: $crate::wire::Wire::take(bytes)?),* })
            }
        }
    };
    (
        $(#[$attribute:meta])*
        $visible:vis enum $name:ident {
            $(
                $(#[$about:meta])*
                $variant:ident
                $({ $($(#[$field_about:meta])* $field:ident: $type:ty),* $(,)? })?
                $(( $first:ty $(, $second:ty)? ))?
            ),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        $visible enum $name {
            $(
                $(#[$about])*
                $variant
                $({ $($(#[$field_about])* $field: $type),* })?
                $(( $first $(, $second)? ))?
            ),*
        }

        impl $crate::wire::Wire for $name {
            #[allow(clippy::redundant_pattern, reason = "the pattern counts the variant's values")]
            fn put(&self, out: &mut Vec<u8>) {
                /// The variants' numbers.
                #[repr(u32)]
                enum Number { $($variant),* }
                match self {
                    $(Self::$variant
                        $({ $($field),* })?
                        $(( first @ $crate::anything!($first)
                            $(, second @ $crate::anything!($second))? ))?
                    => {
                        $crate::wire::Wire::put(&(Number::$variant as u32), out);
                        $($($crate::wire::Wire::put($field, out);)*)?
                        $(
                            <$first as $crate::wire::Wire>::put(first, out);
                            $(<$second as $crate::wire::Wire>::put(second, out);)?
                        )?
                    })*
                }
            }

            fn take(bytes: &mut &[u8]) -> Result<Self, $crate::wire::WireError> {
                /// The variants' numbers.
                #[repr(u32)]
                enum Number { $($variant),* }
                let number = <u32 as $crate::wire::Wire>::take(bytes)?;
                match number {
                    $(_ if number == Number::$variant as u32 => Ok(Self::$variant
                        $({ $($field: $crate::wire::Wire::take(bytes)?),* })?
                        $((
                            <$first as $crate::wire::Wire>::take(bytes)?
                            $(, <$second as $crate::wire::Wire>::take(bytes)?)?
                        ))?
                    ),)*
                    _ => Err($crate::wire::WireError),
                }
            }
        }
    };
}

/// The pattern that any value of a type matches.
#[doc(hidden)]
#[macro_export]
macro_rules! anything {
    ($type:ty) => {
        _
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_as_postcard_writes_them() {
        assert_eq!(0_u64.encode(), [0]);
        assert_eq!(127_u64.encode(), [127]);
        assert_eq!(128_u64.encode(), [128, 1]);
        assert_eq!(
            u64::MAX.encode(),
            [255, 255, 255, 255, 255, 255, 255, 255, 255, 1]
        );
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            assert_eq!(u64::decode(&value.encode()), Ok(value));
        }
    }

    #[test]
    fn broken_bytes_are_refused() {
        assert_eq!(u64::decode(&[0x80; 11]), Err(WireError));
        assert_eq!(String::decode(&[3, b'a']), Err(WireError));
        assert_eq!(
            Vec::<u64>::decode(&[255, 255, 255, 255, 15]),
            Err(WireError)
        );
        assert_eq!(bool::decode(&[2]), Err(WireError));
        assert_eq!(bool::decode(&[1, 1]), Err(WireError));
    }

    #[test]
    fn sequences_come_back() {
        let value = (vec![Some("a".to_owned()), None], vec![(1_u32, true)]);
        assert_eq!(Wire::decode(&value.encode()), Ok(value));
    }

    message! {
        #[derive(Debug, PartialEq, Eq)]
        struct Pair {
            left: u64,
            right: Option<String>,
        }
    }

    message! {
        #[derive(Debug, PartialEq, Eq)]
        enum Choice {
            Nothing,
            One(Pair),
            Two(u32, bool),
            Named { of: Vec<u64> },
        }
    }

    #[test]
    fn what_is_declared_as_a_message_comes_back() {
        let pair = Pair {
            left: 1,
            right: Some("a".to_owned()),
        };
        assert_eq!(pair.encode(), [1, 1, 1, b'a']);
        let choices = [
            (Choice::Nothing, vec![0]),
            (Choice::One(pair), vec![1, 1, 1, 1, b'a']),
            (Choice::Two(5, true), vec![2, 5, 1]),
            (Choice::Named { of: vec![7] }, vec![3, 1, 7]),
        ];
        for (choice, bytes) in choices {
            assert_eq!(choice.encode(), bytes);
            assert_eq!(Wire::decode(&bytes), Ok(choice));
        }
        assert_eq!(Choice::decode(&[4]), Err(WireError));
        assert_eq!(Choice::decode(&[0, 0]), Err(WireError));
    }
}
