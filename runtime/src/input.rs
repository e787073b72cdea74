//! The inputs of the program under test: the harness's parameters.

mod compound;
mod parse;
mod scalar;
mod shape;

use std::fmt;
/// Names that [`inputs!`](crate::inputs) writes, independent of what they mean in the program.
#[doc(hidden)]
pub use std::{format, string::String, vec::Vec};

#[doc(hidden)]
pub use compound::fields;
pub use parse::split_list;
pub use shape::Shape;
pub(crate) use shape::{Value, read_all, write_all};

/// A parameter of a harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// The parameter's name.
    pub name: &'static str,
    /// The parameter's type, as written.
    pub ty: &'static str,
}

/// Which values of a parameter to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spec {
    /// All values where the type has few, a sample otherwise.
    Default,
    /// All values from the first to the second: `LOW..HIGH` or `LOW..=HIGH`.
    Range {
        /// The text of the lower end.
        low: String,
        /// The text of the upper end.
        high: String,
        /// Whether the upper end is one of the values.
        inclusive: bool,
    },
    /// The listed values, as text.
    List(Vec<String>),
}

impl Spec {
    /// Reads `LOW..HIGH`, `LOW..=HIGH`, or `VALUE,VALUE,…`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let quoted = text.starts_with(['"', '[', '(']);
        match text.split_once("..") {
            Some((low, high)) if !quoted && !low.is_empty() && !high.is_empty() => {
                let inclusive = high.starts_with('=');
                let high = high.trim_start_matches('=').trim().to_owned();
                Self::Range {
                    low: low.trim().to_owned(),
                    high,
                    inclusive,
                }
            }
            _ => Self::List(split_list(text)),
        }
    }
}

/// An input that can't be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The parameter's name.
    pub param: String,
    /// What is wrong with the parameter's spec.
    pub message: String,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "input `{}`: {}", self.param, self.message)
    }
}

impl std::error::Error for InputError {}

/// Random numbers that are the same in every build: a counter put through a mixing function (`SplitMix64`).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    /// The number of lists around the value that is being made.
    depth: usize,
}

/// The most elements of a random list: by itself, in a list, and in a list of lists. A list still deeper is empty, so
/// that values of types that hold lists of themselves come to an end.
const LONGEST_RANDOM: [u64; 3] = [5, 3, 2];

impl Random {
    /// A separate stream of numbers for each seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            state: seed,
            depth: 0,
        }
    }

    /// A list of what `element` makes.
    fn list<V>(&mut self, element: impl Fn(&mut Self) -> V) -> Vec<V> {
        let Some(longest) = LONGEST_RANDOM.get(self.depth) else {
            return Vec::new();
        };
        let length = self.below(longest + 1);
        self.depth += 1;
        let list = (0..length).map(|_| element(self)).collect();
        self.depth -= 1;
        list
    }

    /// 64 random bits.
    pub const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub const fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Bytes of a fuzzer's input, taken from the front. When they are used up, zeros follow.
///
/// Every parameter has its place: each value takes up as many bytes as the largest of its type, so that no byte changes
/// what other parameters' bytes stand for.
#[derive(Clone, Debug)]
pub struct ByteSource<'a> {
    bytes: &'a [u8],
    /// The number of lists around the value that is being decoded.
    depth: usize,
}

/// The most elements of a list: by itself, in a list, and in a list of lists. A list still deeper is empty.
const LONGEST: [usize; 3] = [16, 8, 4];

impl<'a> ByteSource<'a> {
    /// A source of all of these bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, depth: 0 }
    }

    /// The next `N` bytes.
    pub fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let here = self.bytes.len().min(N);
        taken[..here].copy_from_slice(&self.front(N)[..here]);
        taken
    }

    fn front(&mut self, length: usize) -> &'a [u8] {
        let (front, rest) = self.bytes.split_at(self.bytes.len().min(length));
        self.bytes = rest;
        front
    }

    /// The next `width` bytes as a source, all of them taken, even if not all are used.
    #[must_use]
    pub fn part(&mut self, width: usize) -> Self {
        Self {
            bytes: self.front(width),
            depth: self.depth,
        }
    }

    /// The next bytes as a list of at most `longest` elements of `width` bytes each: the number of elements, and their
    /// bytes.
    fn list(&mut self, longest: usize, width: usize) -> (usize, Self) {
        let mut part = self.part(1 + longest * width);
        let length = usize::from(part.take::<1>()[0]) % (longest + 1);
        part.depth += 1;
        (length, part)
    }

    /// The number of lists around the value that comes next.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// The bytes that are left.
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.bytes
    }
}

/// A type that a harness's parameter can have.
pub trait Input: Clone + fmt::Debug + 'static {
    /// The number of values of the type, where that is a small number.
    fn domain() -> Option<u64>;

    /// The `n`-th value, `n` being below the domain's size.
    fn nth(n: u64) -> Self;

    /// A random value; edge cases more often than by chance.
    fn sample(random: &mut Random) -> Self;

    /// Value number `n` of those that each sample begins with, the simplest first; `None` past the last one.
    fn simple(_n: u64) -> Option<Self> {
        None
    }

    /// The value that `text` stands for, written as in Rust.
    ///
    /// # Errors
    /// What is wrong with the text.
    fn parse(text: &str) -> Result<Self, String>;

    /// The number of bytes that [`Input::decode`] takes for a value inside of `depth` lists.
    fn width(depth: usize) -> usize;

    /// What the bytes of a value inside of `depth` lists stand for, part by part.
    fn shape(depth: usize) -> Shape;

    /// The value that the next [`Input::width`] bytes stand for.
    fn decode(bytes: &mut ByteSource<'_>) -> Self;

    /// The number of values from `low` to `high`, for types whose values are in a row.
    ///
    /// # Errors
    /// What is wrong with the range.
    fn distance(_low: &Self, _high: &Self) -> Result<u64, String> {
        Err("a range needs a number or a character; give a list instead".to_owned())
    }

    /// The value `steps` after `self`.
    #[must_use]
    fn forward(&self, _steps: u64) -> Self {
        self.clone()
    }
}

/// The most values of a parameter without a [`Spec`] that are all run.
const SMALL_DOMAIN: u64 = 1_000;

/// The number of values that are sampled for a parameter that has more than [`SMALL_DOMAIN`].
const SAMPLES: u64 = 64;

/// The values of one parameter, as numbers from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The number of values.
    pub values: u64,
    /// Whether the values are a sample of more.
    pub sampled: bool,
}

/// The number of values that `spec` has for a parameter of type `V`.
///
/// # Errors
/// The spec does not fit the type.
pub fn count<V: Input>(param: &Param, spec: &Spec) -> Result<Count, InputError> {
    let wrong = |message: String| InputError {
        param: param.name.to_owned(),
        message,
    };
    match spec {
        Spec::Default => Ok(match V::domain() {
            Some(values) if values <= SMALL_DOMAIN => Count {
                values,
                sampled: false,
            },
            _ => Count {
                values: SAMPLES,
                sampled: true,
            },
        }),
        Spec::List(texts) => {
            for text in texts {
                V::parse(text).map_err(wrong)?;
            }
            Ok(Count {
                values: texts.len() as u64,
                sampled: false,
            })
        }
        Spec::Range {
            low,
            high,
            inclusive,
        } => {
            let low = V::parse(low).map_err(wrong)?;
            let high = V::parse(high).map_err(wrong)?;
            let distance = V::distance(&low, &high).map_err(wrong)?;
            let values = if *inclusive {
                distance.saturating_add(1)
            } else {
                distance
            };
            if values == 0 {
                return Err(wrong("the range is empty".to_owned()));
            }
            Ok(Count {
                values,
                sampled: false,
            })
        }
    }
}

/// Value number `n` of `spec`.
///
/// # Errors
/// The spec does not fit the type.
pub fn value<V: Input>(param: &Param, spec: &Spec, n: u64, seed: u64) -> Result<V, InputError> {
    let wrong = |message: String| InputError {
        param: param.name.to_owned(),
        message,
    };
    match spec {
        Spec::Default => Ok(match V::domain() {
            Some(values) if values <= SMALL_DOMAIN => V::nth(n),
            _ => V::simple(n).unwrap_or_else(|| {
                V::sample(&mut Random::new(
                    seed.wrapping_add(n.wrapping_mul(0x1000_0001)),
                ))
            }),
        }),
        Spec::List(texts) => match texts.get(usize::try_from(n).unwrap_or(usize::MAX)) {
            Some(text) => V::parse(text).map_err(wrong),
            None => Err(wrong("the list is empty".to_owned())),
        },
        Spec::Range { low, .. } => Ok(V::parse(low).map_err(wrong)?.forward(n)),
    }
}

/// All parameters of a harness together. [`crate::inputs!`] writes the implementations.
pub trait Inputs: Clone + fmt::Debug + 'static {
    /// The parameters in order.
    const PARAMS: &'static [Param];

    /// The number of values of each parameter.
    ///
    /// # Errors
    /// A spec does not fit its parameter.
    fn counts(specs: &[Spec]) -> Result<Vec<Count>, InputError>;

    /// The inputs with these value numbers.
    ///
    /// # Errors
    /// A spec does not fit its parameter.
    fn build(specs: &[Spec], numbers: &[u64], seed: u64) -> Result<Self, InputError>;

    /// The number of bytes that each parameter takes.
    fn widths() -> Vec<usize>;

    /// What the bytes of each parameter stand for.
    fn shapes() -> Vec<Shape>;

    /// The inputs that these bytes stand for.
    fn decode(bytes: &mut ByteSource<'_>) -> Self;

    /// The values as text, with their names.
    fn describe(&self) -> Vec<(&'static str, String)>;
}

/// Defines the inputs of a harness: a struct with a field per parameter.
#[macro_export]
macro_rules! inputs {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($field:ident : $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            $(
                #[doc = concat!("The harness's parameter `", stringify!($field), "`.")]
                pub $field: $type,
            )*
        }

        #[allow(unused_variables, unused_mut, unused_assignments)]
        impl $crate::input::Inputs for $name {
            const PARAMS: &'static [$crate::input::Param] = &[
                $($crate::input::Param { name: stringify!($field), ty: stringify!($type) }),*
            ];

            fn counts(
                specs: &[$crate::input::Spec],
            ) -> ::core::result::Result<$crate::input::Vec<$crate::input::Count>, $crate::input::InputError> {
                let mut counts = $crate::input::Vec::new();
                $({
                    let at = counts.len();
                    counts.push($crate::input::count::<$type>(&Self::PARAMS[at], &specs[at])?);
                })*
                ::core::result::Result::Ok(counts)
            }

            fn build(
                specs: &[$crate::input::Spec],
                numbers: &[u64],
                seed: u64,
            ) -> ::core::result::Result<Self, $crate::input::InputError> {
                let mut at = 0;
                $(
                    let $field = $crate::input::value::<$type>(
                        &Self::PARAMS[at],
                        &specs[at],
                        numbers[at],
                        seed.wrapping_add(at as u64),
                    )?;
                    at += 1;
                )*
                ::core::result::Result::Ok(Self { $($field),* })
            }

            fn widths() -> $crate::input::Vec<usize> {
                let mut widths = $crate::input::Vec::new();
                $(widths.push(<$type as $crate::input::Input>::width(0));)*
                widths
            }

            fn shapes() -> $crate::input::Vec<$crate::input::Shape> {
                $crate::input::Vec::from([$(<$type as $crate::input::Input>::shape(0)),*])
            }

            fn decode(bytes: &mut $crate::input::ByteSource<'_>) -> Self {
                $(let $field = <$type as $crate::input::Input>::decode(bytes);)*
                Self { $($field),* }
            }

            fn describe(&self) -> $crate::input::Vec<(&'static str, $crate::input::String)> {
                let mut values = $crate::input::Vec::new();
                $(values.push((stringify!($field), $crate::input::format!("{:?}", self.$field)));)*
                values
            }
        }
    };
}
