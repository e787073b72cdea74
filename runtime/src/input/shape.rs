//! What bytes stand for, part by part: the shape of a type's values, and a value of any shape.
//!
//! [`Input::decode`](super::Input::decode) makes a value of the program's own type. What changes inputs knows no such
//! type: it reads the bytes as a [`Value`] of the type's [`Shape`], changes that, and writes it back to the same places.

/// How the values of a type are made of numbers, texts, lists, variants and parts, in the order of their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An integer of this many bytes, little endian.
    Integer {
        /// The number of bytes.
        bytes: usize,
        /// Whether the integer may be less than 0.
        signed: bool,
    },
    /// A floating-point number of this many bytes, little endian.
    Float {
        /// The number of bytes: 4 or 8.
        bytes: usize,
    },
    /// A truth value: the lowest bit of a byte.
    Bool,
    /// A character: four bytes, modulo 0x110000.
    Char,
    /// A text: a byte for the length, and a place for each byte.
    Text {
        /// The most bytes.
        longest: usize,
    },
    /// A list: a byte for the length, and a place for each element.
    List {
        /// The most elements.
        longest: usize,
        /// The shape of an element; `None` where a list is so deep in others that it is empty.
        element: Option<Box<Self>>,
    },
    /// One of several variants: a byte that says which one, unless there is one alone, and a place for the fields of the
    /// largest variant.
    Variants(Vec<Vec<Self>>),
    /// Parts one after the other.
    Parts(Vec<Self>),
}

/// A value of some shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// The bits of an integer, a floating-point number, a truth value or a character.
    Scalar(u128),
    /// The bytes of a text.
    Text(Vec<u8>),
    /// The elements of a list.
    List(Vec<Self>),
    /// The number of the variant, and the variant's fields.
    Variant(usize, Vec<Self>),
    /// The parts.
    Parts(Vec<Self>),
}

impl Shape {
    /// The shape of an `Option` of this.
    #[must_use]
    pub fn optional(self) -> Self {
        Self::Variants(vec![Vec::new(), vec![self]])
    }

    /// The number of bytes that a value takes.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Integer { bytes, .. } | Self::Float { bytes } => *bytes,
            Self::Bool => 1,
            Self::Char => 4,
            Self::Text { longest } => 1 + longest,
            Self::List { longest, element } => {
                1 + element
                    .as_ref()
                    .map_or(0, |element| longest * element.width())
            }
            Self::Variants(variants) => {
                usize::from(variants.len() > 1)
                    + variants.iter().map(|it| all(it)).max().unwrap_or(0)
            }
            Self::Parts(parts) => all(parts),
        }
    }

    /// The parts of a value with their shapes: elements, fields, or what else it is made of.
    pub(crate) fn parts<'a>(&'a self, value: &'a Value) -> Vec<(&'a Self, &'a Value)> {
        match (self, value) {
            (
                Self::List {
                    element: Some(element),
                    ..
                },
                Value::List(elements),
            ) => elements.iter().map(|value| (&**element, value)).collect(),
            (Self::Variants(variants), Value::Variant(which, fields)) => {
                variants[*which].iter().zip(fields).collect()
            }
            (Self::Parts(shapes), Value::Parts(values)) => shapes.iter().zip(values).collect(),
            _ => Vec::new(),
        }
    }

    /// Reads the value at the front of `bytes`; zeros stand for bytes that are missing.
    pub(crate) fn read(&self, bytes: &[u8]) -> Value {
        match self {
            Self::Integer { bytes: width, .. } | Self::Float { bytes: width } => {
                Value::Scalar(number(bytes, *width))
            }
            Self::Bool => Value::Scalar(number(bytes, 1) & 1),
            Self::Char => Value::Scalar(number(bytes, 4) % 0x11_0000),
            Self::Text { longest } => {
                let length = byte(bytes) % (longest + 1);
                let text = (0..length).map(|at| bytes.get(1 + at).copied().unwrap_or(0));
                Value::Text(text.collect())
            }
            Self::List { longest, element } => {
                let Some(element) = element else {
                    return Value::List(Vec::new());
                };
                let length = byte(bytes) % (longest + 1);
                let width = element.width();
                let elements = (0..length).map(|at| element.read(from(bytes, 1 + at * width)));
                Value::List(elements.collect())
            }
            Self::Variants(variants) => {
                let tag = usize::from(variants.len() > 1);
                let which = if tag > 0 {
                    byte(bytes) % variants.len()
                } else {
                    0
                };
                let fields = variants.get(which).map_or(&[][..], Vec::as_slice);
                Value::Variant(which, read_all(fields, from(bytes, tag)))
            }
            Self::Parts(parts) => Value::Parts(read_all(parts, bytes)),
        }
    }

    /// Appends the value's bytes, as many as [`Shape::width`] says; what is unused is 0.
    ///
    /// # Panics
    /// When the value is of another shape.
    pub(crate) fn write(&self, value: &Value, bytes: &mut Vec<u8>) {
        let end = bytes.len() + self.width();
        match (self, value) {
            (
                Self::Integer { .. } | Self::Float { .. } | Self::Bool | Self::Char,
                Value::Scalar(bits),
            ) => bytes.extend(&bits.to_le_bytes()[..self.width()]),
            (Self::Text { longest }, Value::Text(text)) => {
                let length = text.len().min(*longest);
                bytes.push(length as u8);
                bytes.extend(&text[..length]);
            }
            (Self::List { longest, element }, Value::List(elements)) => {
                let length = elements.len().min(*longest);
                bytes.push(length as u8);
                for (element, value) in element.iter().cycle().zip(&elements[..length]) {
                    element.write(value, bytes);
                }
            }
            (Self::Variants(variants), Value::Variant(which, values)) => {
                if variants.len() > 1 {
                    bytes.push(*which as u8);
                }
                let fields = variants.get(*which).map_or(&[][..], Vec::as_slice);
                write_all(fields, values, bytes);
            }
            (Self::Parts(parts), Value::Parts(values)) => write_all(parts, values, bytes),
            (shape, value) => panic!("{value:?} is no value of {shape:?}"),
        }
        bytes.resize(end, 0);
    }
}

/// The number of bytes of several values.
fn all(shapes: &[Shape]) -> usize {
    shapes.iter().map(Shape::width).sum()
}

/// Reads values that stand one after the other.
pub(crate) fn read_all(shapes: &[Shape], bytes: &[u8]) -> Vec<Value> {
    let mut at = 0;
    let values = shapes.iter().map(|shape| {
        let value = shape.read(from(bytes, at));
        at += shape.width();
        value
    });
    values.collect()
}

/// Appends the bytes of values that stand one after the other.
///
/// # Panics
/// When a value is of another shape.
pub(crate) fn write_all(shapes: &[Shape], values: &[Value], bytes: &mut Vec<u8>) {
    for (shape, value) in shapes.iter().zip(values) {
        shape.write(value, bytes);
    }
}

fn from(bytes: &[u8], at: usize) -> &[u8] {
    bytes.get(at..).unwrap_or_default()
}

fn byte(bytes: &[u8]) -> usize {
    bytes.first().copied().unwrap_or(0).into()
}

fn number(bytes: &[u8], width: usize) -> u128 {
    let mut all = [0; 16];
    let here = bytes.len().min(width);
    all[..here].copy_from_slice(&bytes[..here]);
    u128::from_le_bytes(all)
}

#[cfg(test)]
mod tests {
    use super::super::{ByteSource, Input, Random};

    #[derive(Clone, Debug, PartialEq)]
    enum Sign {
        Plain,
        Dashed { by: u8, on: bool },
        Named(Option<String>, [i16; 2]),
    }

    crate::input!(Sign {
        ["Plain" (Self::Plain)]
        ["Dashed" (Self::Dashed) by: u8, on: bool]
        ["Named" (Self::Named) 0: Option<String>, 1: [i16; 2]]
    });

    #[derive(Clone, Debug, PartialEq)]
    struct Tree {
        leaf: char,
        below: Vec<Tree>,
    }

    crate::input!(Tree { ["Tree" (Self) leaf: char, below: Vec<Tree>] });

    /// Random bytes stand for one value, whether the type decodes them or its shape reads and writes them first.
    fn stands_for_the_same<V: Input + PartialEq>(random: &mut Random) {
        for depth in 0..5 {
            assert_eq!(V::shape(depth).width(), V::width(depth));
        }
        let shape = V::shape(0);
        for round in 0..200 {
            // Missing bytes are zeros.
            let length = if round % 10 == 0 {
                round / 10
            } else {
                V::width(0)
            };
            let bytes: Vec<u8> = (0..length)
                .map(|_| random.next().to_le_bytes()[0])
                .collect();
            let mut written = Vec::new();
            shape.write(&shape.read(&bytes), &mut written);
            assert_eq!(written.len(), V::width(0));
            let decoded = V::decode(&mut ByteSource::new(&bytes));
            let again = V::decode(&mut ByteSource::new(&written));
            // A number that is none is not equal to itself.
            assert!(
                decoded == again || decoded != decoded.clone(),
                "{decoded:?} {again:?}"
            );
            assert_eq!(shape.read(&written), shape.read(&bytes));
        }
    }

    #[test]
    fn bytes_stand_for_what_the_type_decodes() {
        let random = &mut Random::new(3);
        stands_for_the_same::<u8>(random);
        stands_for_the_same::<i128>(random);
        stands_for_the_same::<f32>(random);
        stands_for_the_same::<f64>(random);
        stands_for_the_same::<bool>(random);
        stands_for_the_same::<char>(random);
        stands_for_the_same::<()>(random);
        stands_for_the_same::<String>(random);
        stands_for_the_same::<Vec<u16>>(random);
        stands_for_the_same::<Vec<Vec<Option<i8>>>>(random);
        stands_for_the_same::<(i128, char, Option<(u8, String)>)>(random);
        stands_for_the_same::<[Vec<bool>; 3]>(random);
        stands_for_the_same::<Sign>(random);
        stands_for_the_same::<Vec<Sign>>(random);
        stands_for_the_same::<Tree>(random);
    }
}
