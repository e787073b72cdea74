//! Inputs made of others: options, tuples, arrays, vectors, and local structs and enums.

use super::parse::bracketed;
use super::{ByteSource, Input, LONGEST, Random, Shape};

impl<V: Input> Input for Option<V> {
    fn domain() -> Option<u64> {
        V::domain().map(|values| values + 1)
    }

    fn nth(n: u64) -> Self {
        n.checked_sub(1).map(V::nth)
    }

    fn sample(random: &mut Random) -> Self {
        (random.below(4) != 0).then(|| V::sample(random))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "None" {
            return Ok(None);
        }
        match text
            .strip_prefix("Some(")
            .and_then(|text| text.strip_suffix(')'))
        {
            Some(inside) => V::parse(inside).map(Some),
            None => Err(format!("`{text}` is neither `None` nor `Some(…)`")),
        }
    }

    fn width(depth: usize) -> usize {
        1 + V::width(depth)
    }

    fn shape(depth: usize) -> Shape {
        V::shape(depth).optional()
    }

    fn decode(bytes: &mut ByteSource<'_>) -> Self {
        let mut part = bytes.part(Self::width(bytes.depth()));
        bool::decode(&mut part).then(|| V::decode(&mut part))
    }
}

impl<V: Input> Input for Vec<V> {
    fn domain() -> Option<u64> {
        None
    }

    fn nth(_n: u64) -> Self {
        Self::new()
    }

    fn sample(random: &mut Random) -> Self {
        random.list(V::sample)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let list = text.strip_prefix("vec!").unwrap_or(text);
        let parts =
            bracketed(list, '[', ']').ok_or_else(|| format!("`{text}` is no list: write `[…]`"))?;
        parts.iter().map(|part| V::parse(part)).collect()
    }

    fn width(depth: usize) -> usize {
        1 + LONGEST
            .get(depth)
            .map_or(0, |longest| longest * V::width(depth + 1))
    }

    fn shape(depth: usize) -> Shape {
        let longest = LONGEST.get(depth).copied();
        Shape::List {
            longest: longest.unwrap_or(0),
            element: longest.map(|_| Box::new(V::shape(depth + 1))),
        }
    }

    fn decode(bytes: &mut ByteSource<'_>) -> Self {
        let depth = bytes.depth();
        let Some(&longest) = LONGEST.get(depth) else {
            let _ = bytes.part(1);
            return Self::new();
        };
        let (length, mut part) = bytes.list(longest, V::width(depth + 1));
        (0..length).map(|_| V::decode(&mut part)).collect()
    }
}

impl<V: Input, const N: usize> Input for [V; N] {
    fn domain() -> Option<u64> {
        let values = V::domain()?;
        u32::try_from(N)
            .ok()
            .and_then(|n| values.checked_pow(n))
            .filter(|values| *values <= 65_536)
    }

    fn nth(mut n: u64) -> Self {
        let values = V::domain().unwrap_or(1).max(1);
        std::array::from_fn(|_| {
            let value = V::nth(n % values);
            n /= values;
            value
        })
    }

    fn sample(random: &mut Random) -> Self {
        std::array::from_fn(|_| V::sample(random))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let values = Vec::<V>::parse(text)?;
        let length = values.len();
        Self::try_from(values).map_err(|_| format!("`{text}` has {length} elements, not {N}"))
    }

    fn width(depth: usize) -> usize {
        N * V::width(depth)
    }

    fn shape(depth: usize) -> Shape {
        Shape::Parts(vec![V::shape(depth); N])
    }

    fn decode(bytes: &mut ByteSource<'_>) -> Self {
        std::array::from_fn(|_| V::decode(bytes))
    }
}

macro_rules! tuple {
    ($($name:ident $at:tt),*) => {
        impl<$($name: Input),*> Input for ($($name,)*) {
            fn domain() -> Option<u64> {
                let mut values = 1_u64;
                $(values = values.checked_mul($name::domain()?)?;)*
                (values <= 65_536).then_some(values)
            }

            #[allow(unused_assignments)]
            fn nth(n: u64) -> Self {
                let mut n = n;
                ($({
                    let values = $name::domain().unwrap_or(1).max(1);
                    let value = $name::nth(n % values);
                    n /= values;
                    value
                },)*)
            }

            fn sample(random: &mut Random) -> Self {
                ($($name::sample(random),)*)
            }

            fn parse(text: &str) -> Result<Self, String> {
                let parts = bracketed(text, '(', ')').ok_or_else(|| format!("`{text}` is no tuple"))?;
                let count = [$(stringify!($name)),*].len();
                if parts.len() != count {
                    return Err(format!("`{text}` has {} parts, not {count}", parts.len()));
                }
                Ok(($($name::parse(&parts[$at])?,)*))
            }

            fn width(depth: usize) -> usize {
                0 $(+ $name::width(depth))*
            }

            fn shape(depth: usize) -> Shape {
                Shape::Parts(vec![$($name::shape(depth)),*])
            }

            fn decode(bytes: &mut ByteSource<'_>) -> Self {
                ($($name::decode(bytes),)*)
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);

impl Input for () {
    fn domain() -> Option<u64> {
        Some(1)
    }

    fn nth(_n: u64) -> Self {}

    fn sample(_random: &mut Random) -> Self {}

    fn parse(text: &str) -> Result<Self, String> {
        if text.trim() == "()" {
            Ok(())
        } else {
            Err(format!("`{text}` is not `()`"))
        }
    }

    fn width(_depth: usize) -> usize {
        0
    }

    fn shape(_depth: usize) -> Shape {
        Shape::Parts(Vec::new())
    }

    fn decode(_bytes: &mut ByteSource<'_>) -> Self {}
}

/// The fields of a struct or of an enum's variant, written `Name { field: value, … }`, `Name(value, …)` or `Name`.
///
/// # Errors
/// The text is not of that form.
#[doc(hidden)]
pub fn fields(text: &str, name: &str, names: &[&str]) -> Result<Vec<String>, String> {
    let wrong = || format!("`{text}` is no `{name}`");
    let rest = text.trim().strip_prefix(name).ok_or_else(wrong)?.trim();
    let values: Vec<String> = if rest.is_empty() {
        Vec::new()
    } else if let Some(parts) = bracketed(rest, '(', ')') {
        parts
    } else {
        let parts = bracketed(rest, '{', '}').ok_or_else(wrong)?;
        let mut by_name = vec![None; names.len()];
        for part in &parts {
            let (field, value) = part.split_once(':').ok_or_else(wrong)?;
            let at = names.iter().position(|name| *name == field.trim());
            by_name[at.ok_or_else(|| format!("`{name}` has no field `{}`", field.trim()))?] =
                Some(value.trim().to_owned());
        }
        by_name
            .into_iter()
            .collect::<Option<_>>()
            .ok_or_else(wrong)?
    };
    if values.len() == names.len() {
        Ok(values)
    } else {
        Err(wrong())
    }
}

/// Implements [`Input`] for a local enum or struct, given as its variants:
/// `input!(Type { ["Name" (Name) field: Type, …] … })`, the part in parentheses being the constructor's path.
///
/// The fields of tuple variants are numbers.
#[macro_export]
macro_rules! input {
    ($type:ty { $([$text:literal ($($path:tt)*) $($field:tt : $value:ty),* $(,)?])* }) => {
        #[allow(unused_variables, unused_mut, unused_assignments)]
        impl $crate::input::Input for $type {
            fn domain() -> ::core::option::Option<u64> {
                let mut all = 0_u64;
                $({
                    let mut values = 1_u64;
                    $(values = values.checked_mul(<$value as $crate::input::Input>::domain()?)?;)*
                    all = all.checked_add(values)?;
                })*
                (all <= 65_536).then_some(all)
            }

            fn nth(mut n: u64) -> Self {
                $({
                    let mut values = 1_u64;
                    $(values *= <$value as $crate::input::Input>::domain().unwrap_or(1);)*
                    if n < values {
                        return $($path)* { $($field: {
                            let values = <$value as $crate::input::Input>::domain().unwrap_or(1).max(1);
                            let value = <$value as $crate::input::Input>::nth(n % values);
                            n /= values;
                            value
                        }),* };
                    }
                    n -= values;
                })*
                ::core::unreachable!("there is no such value")
            }

            fn sample(random: &mut $crate::input::Random) -> Self {
                let variants = [$($text),*].len() as u64;
                let chosen = random.below(variants);
                let mut variant = 0;
                $(
                    if chosen == variant {
                        return $($path)* { $($field: <$value as $crate::input::Input>::sample(random)),* };
                    }
                    variant += 1;
                )*
                ::core::unreachable!("there is no such variant")
            }

            fn parse(text: &str) -> ::core::result::Result<Self, $crate::input::String> {
                let mut wrong = $crate::input::String::new();
                $(
                    match $crate::input::fields(text, $text, &[$(stringify!($field)),*]) {
                        ::core::result::Result::Ok(values) => {
                            let mut values = values.into_iter();
                            return ::core::result::Result::Ok($($path)* { $(
                                $field: <$value as $crate::input::Input>::parse(&values.next().unwrap_or_default())?
                            ),* });
                        }
                        ::core::result::Result::Err(message) => wrong = message,
                    }
                )*
                ::core::result::Result::Err(wrong)
            }

            fn width(depth: usize) -> usize {
                let variants = [$($text),*].len();
                let mut most = 0;
                $(most = ::core::cmp::Ord::max(
                    most,
                    0 $(+ <$value as $crate::input::Input>::width(depth))*,
                );)*
                most + usize::from(variants > 1)
            }

            fn shape(depth: usize) -> $crate::input::Shape {
                $crate::input::Shape::Variants($crate::input::Vec::from([
                    $($crate::input::Vec::from([
                        $(<$value as $crate::input::Input>::shape(depth)),*
                    ])),*
                ]))
            }

            fn decode(bytes: &mut $crate::input::ByteSource<'_>) -> Self {
                let mut part = bytes.part(<Self as $crate::input::Input>::width(bytes.depth()));
                let bytes = &mut part;
                let variants = [$($text),*].len() as u64;
                let chosen = if variants > 1 { u64::from(bytes.take::<1>()[0]) % variants } else { 0 };
                let mut variant = 0;
                $(
                    if chosen == variant {
                        return $($path)* { $($field: <$value as $crate::input::Input>::decode(bytes)),* };
                    }
                    variant += 1;
                )*
                ::core::unreachable!("there is no such variant")
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::super::{Param, Spec, count, value};
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    enum Shape {
        Dot,
        Box { wide: bool, high: u8 },
        Pair(u8, bool),
    }

    crate::input!(Shape {
        ["Dot" (Self::Dot)]
        ["Box" (Self::Box) wide: bool, high: u8]
        ["Pair" (Self::Pair) 0: u8, 1: bool]
    });

    #[test]
    fn enums_are_counted_read_and_sampled() {
        assert_eq!(Shape::domain(), Some(1 + 512 + 512));
        assert_eq!(Shape::nth(0), Shape::Dot);
        assert_eq!(
            Shape::nth(1),
            Shape::Box {
                wide: false,
                high: 0
            }
        );
        assert_eq!(Shape::nth(1024), Shape::Pair(255, true));
        assert_eq!(
            Shape::parse("Box { high: 3, wide: true }"),
            Ok(Shape::Box {
                wide: true,
                high: 3
            })
        );
        assert_eq!(Shape::parse("Pair(3, false)"), Ok(Shape::Pair(3, false)));
        assert!(Shape::parse("Circle").is_err());
        let mut random = Random::new(1);
        assert!((0..50).any(|_| matches!(Shape::sample(&mut random), Shape::Pair(..))));
    }

    #[test]
    fn lists_and_tuples_are_read() {
        assert_eq!(Vec::<u8>::parse("[1, 2]"), Ok(vec![1, 2]));
        assert_eq!(<(u8, bool)>::parse("(1, true)"), Ok((1, true)));
        assert_eq!(<[u8; 2]>::parse("[1, 2]"), Ok([1, 2]));
        assert!(<[u8; 2]>::parse("[1]").is_err());
        assert_eq!(Option::<u8>::parse("Some(4)"), Ok(Some(4)));
    }

    #[derive(Clone, Debug)]
    struct Tree {
        below: Vec<Tree>,
    }

    crate::input!(Tree { ["Tree" (Self) below: Vec<Tree>] });

    impl Tree {
        fn depth(&self) -> usize {
            1 + self.below.iter().map(Self::depth).max().unwrap_or(0)
        }
    }

    #[test]
    fn a_type_with_lists_of_itself_has_values() {
        assert_eq!(Tree::domain(), None);
        let random = (0..1_000).map(|seed| Tree::sample(&mut Random::new(seed)).depth());
        let depths: std::collections::BTreeSet<_> = random.collect();
        assert_eq!(depths, [1, 2, 3, 4].into());
        assert_eq!(Tree::decode(&mut ByteSource::new(&[1; 200])).depth(), 4);
    }

    #[test]
    fn types_with_few_values_are_run_with_all_of_them() {
        fn default<V: Input>() -> (u64, bool) {
            let param = Param {
                name: "it",
                ty: "V",
            };
            let count =
                count::<V>(&param, &Spec::Default).unwrap_or_else(|error| panic!("{error}"));
            let value = |n| value::<V>(&param, &Spec::Default, n, 7).map(|it| format!("{it:?}"));
            let all: std::collections::BTreeSet<_> = (0..count.values)
                .map(|n| value(n).unwrap_or_else(|error| panic!("{error}")))
                .collect();
            assert!(count.sampled || all.len() as u64 == count.values);
            (count.values, count.sampled)
        }
        assert_eq!(default::<Option<u8>>(), (257, false));
        assert_eq!(default::<(bool, i8)>(), (512, false));
        assert_eq!(default::<[Option<bool>; 6]>(), (729, false));
        assert_eq!(default::<(Option<u8>, Option<bool>)>(), (771, false));
        assert_eq!(default::<u8>(), (256, false));
        assert!(default::<Shape>().1, "there are 1025");
        assert!(default::<(u8, u8)>().1);
        assert!(default::<u16>().1);
    }

    #[test]
    fn every_value_of_a_small_tuple_comes_up() {
        let count = <(bool, Option<bool>)>::domain();
        assert_eq!(count, Some(6));
        let all: std::collections::BTreeSet<_> = (0..6).map(<(bool, Option<bool>)>::nth).collect();
        assert_eq!(all.len(), 6);
    }
}
