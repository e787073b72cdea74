//! The literals of a program's source, from which a fuzzer makes inputs.
//!
//! This module looks at tokens, not trees, so that it sees code in macros as well.

use std::collections::HashSet;

use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::Lit;

use super::code::{Part, file};
use crate::load::Crate;

/// The most literals. A source with more has tables, of which one entry is like another.
const MOST: usize = 2_000;

/// Macros whose arguments are a message, with the number of arguments before it.
const MESSAGES: &[(&str, usize)] = &[
    ("assert", 1),
    ("assert_eq", 2),
    ("assert_ne", 2),
    ("debug_assert", 1),
    ("debug_assert_eq", 2),
    ("debug_assert_ne", 2),
    ("eprint", 0),
    ("eprintln", 0),
    ("panic", 0),
    ("print", 0),
    ("println", 0),
    ("todo", 0),
    ("unimplemented", 0),
    ("unreachable", 0),
];

/// A literal.
#[derive(Clone, Debug, PartialEq)]
enum Written {
    /// The bits, of a negative number, too.
    Integer(i128),
    Float(f64),
    Text(Vec<u8>),
}

/// What conditions are likely to ask for, in the order of the source: a condition of several parts has its literals side
/// by side.
#[derive(Default)]
pub(super) struct Literals {
    all: Vec<Written>,
    /// The literals, as text, with the literal before each: what comes again is left out.
    known: HashSet<(String, String)>,
    /// The literal before, as text.
    last: String,
}

impl Literals {
    /// Returns the literals of a crate, but for those of attributes and of messages.
    pub(super) fn of(program: &Crate) -> Self {
        let mut literals = Self::default();
        for file in &program.files {
            literals.collect(file.tree.to_token_stream());
        }
        literals
    }

    fn collect(&mut self, tokens: TokenStream) {
        let mut message = None;
        let mut before = [None, None];
        for token in tokens {
            match &token {
                TokenTree::Group(group) => {
                    let attribute = group.delimiter() == Delimiter::Bracket
                        && matches!(&before, [_, Some(TokenTree::Punct(it))] if it.as_char() == '#')
                        || matches!(&before, [Some(TokenTree::Punct(hash)), Some(TokenTree::Punct(bang))]
                            if hash.as_char() == '#' && bang.as_char() == '!');
                    match message.take() {
                        _ if attribute => {}
                        Some(arguments) => self.collect(first(arguments, group.stream())),
                        None => self.collect(group.stream()),
                    }
                }
                TokenTree::Literal(literal) => {
                    // A minus after a value subtracts.
                    let negative = matches!(&before, [left, Some(TokenTree::Punct(minus))]
                        if minus.as_char() == '-' && !is_value(left.as_ref()));
                    self.add(Lit::new(literal.clone()), negative);
                }
                TokenTree::Punct(bang) if bang.as_char() == '!' => {
                    message = match &before {
                        [_, Some(TokenTree::Ident(name))] => {
                            let known = MESSAGES.iter().find(|(macro_, _)| name == macro_);
                            known.map(|(_, arguments)| *arguments)
                        }
                        _ => None,
                    };
                }
                _ => message = None,
            }
            before = [before[1].take(), Some(token)];
        }
    }

    fn add(&mut self, literal: Lit, negative: bool) {
        let float = |value: f64| {
            let value = if negative { -value } else { value };
            value.is_finite().then_some(Written::Float(value))
        };
        let written = match literal {
            Lit::Int(value) if value.suffix().starts_with('f') => {
                value.base10_digits().parse().ok().and_then(float)
            }
            Lit::Int(value) => value.base10_parse::<u128>().ok().map(|value| {
                let bits = value.cast_signed();
                Written::Integer(if negative { bits.wrapping_neg() } else { bits })
            }),
            Lit::Byte(value) => Some(Written::Integer(value.value().into())),
            Lit::Float(value) => value.base10_parse().ok().and_then(float),
            Lit::Char(value) => Some(Written::Text(value.value().to_string().into_bytes())),
            Lit::Str(value) => Some(Written::Text(value.value().into_bytes())),
            Lit::ByteStr(value) => Some(Written::Text(value.value())),
            _ => None,
        };
        let Some(written) = written else { return };
        let now = format!("{written:?}");
        let before = std::mem::replace(&mut self.last, now.clone());
        if written != Written::Text(Vec::new())
            && self.all.len() < MOST
            && self.known.insert((before, now))
        {
            self.all.push(written);
        }
    }

    /// Returns the file that lists them.
    pub(super) fn text(&self) -> String {
        let literals = self.all.iter().map(|written| match written {
            Written::Integer(value) => {
                let value = Literal::i128_unsuffixed(*value);
                quote!(Literal::Integer(#value))
            }
            Written::Float(value) => {
                let value = Literal::f64_unsuffixed(*value);
                quote!(Literal::Float(#value))
            }
            Written::Text(text) => {
                let text = Literal::byte_string(text);
                quote!(Literal::Text(#text))
            }
        });
        file(
            &["What the program's source writes down, from which the fuzzer makes inputs."],
            &TokenStream::new(),
            [Part::Items(quote! {
                use seqz_runtime::fuzz::Literal;

                pub const LITERALS: &[Literal] = &[
                    #(#literals,)*
                ];
            })],
        )
    }
}

/// Whether a token ends a value.
fn is_value(token: Option<&TokenTree>) -> bool {
    match token {
        Some(TokenTree::Ident(word)) => word != "return" && word != "in" && word != "if",
        Some(TokenTree::Literal(_) | TokenTree::Group(_)) => true,
        Some(TokenTree::Punct(_)) | None => false,
    }
}

/// Returns the tokens of so many arguments.
fn first(arguments: usize, tokens: TokenStream) -> TokenStream {
    let mut left = arguments;
    let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
    tokens
        .into_iter()
        .take_while(|token| {
            left -= usize::from(left > 0 && comma(token));
            left > 0
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str) -> Literals {
        let mut literals = Literals::default();
        literals.collect(source.parse().unwrap());
        literals
    }

    #[test]
    fn literals_are_found_where_conditions_are() {
        let found = of(r#"
            #[doc = "no word of the program"]
            fn main() {
                if x == 0xFF_u8 || y > 3.25f32 || name.starts_with("SUDO") { f(b"raw", 'ß', b'a', 1f64) }
                assert!(z != 7, "message {}", 8);
                assert_eq!(z, 9, "message");
                panic!("message");
                if !"word".is_empty() {}
                matches!(x, 300..=400);
                Point { x: -300, y: n - 1, z: -0.5 }
            }
        "#);
        let integer = Written::Integer;
        let text = |text: &str| Written::Text(text.into());
        assert_eq!(
            found.all,
            [
                integer(255),
                Written::Float(3.25),
                text("SUDO"),
                text("raw"),
                text("ß"),
                integer(97),
                Written::Float(1.0),
                integer(7),
                integer(9),
                text("word"),
                integer(300),
                integer(400),
                integer(-300),
                integer(1),
                Written::Float(-0.5),
            ]
        );
    }

    #[test]
    fn what_comes_again_beside_the_same_is_left_out() {
        let found = of("f(1, 2); f(1, 2); f(1, 2, 3)");
        assert_eq!(found.all, [1, 2, 1, 3].map(Written::Integer));
    }

    #[test]
    fn the_file_is_rust() {
        let text =
            of(r#"f(340282366920938463463374607431768211455, 1e300, "a\"\n\0\u{e9}")"#).text();
        assert!(syn::parse_file(&text).is_ok(), "{text}");
    }
}
