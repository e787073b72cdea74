//! Rust files that seqz writes itself: made as tokens, printed by `prettyplease`, with a blank line between items.
//!
//! `prettyplease` prints what stands inside of a macro token by token. Therefore a macro that holds items or a closure
//! is a [`Part`] of its own, whose inside is printed as the code that it is.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::Item;

/// A part of a file.
pub(super) enum Part {
    /// Items.
    Items(TokenStream),
    /// A macro, by its path, around items: `path! { … }`.
    Around(&'static str, TokenStream),
    /// A macro, by its path, that is called with an expression: `path!(…);`.
    Call(&'static str, TokenStream),
}

/// How far the inside of a macro is moved to the right.
const INDENT: &str = "    ";

/// Returns the text of a file.
///
/// `docs` are the lines of the file's documentation, and `attributes` are what follows them (`#![no_main]`).
///
/// # Panics
///
/// If the tokens are no Rust: seqz has made them.
pub(super) fn file(
    docs: &[impl AsRef<str>],
    attributes: &TokenStream,
    parts: impl IntoIterator<Item = Part>,
) -> String {
    let mut blocks = Vec::new();
    let head: String = docs
        .iter()
        .map(|line| doc_line("//!", line.as_ref()))
        .collect();
    blocks.extend((!head.is_empty()).then_some(head));
    if !attributes.is_empty() {
        blocks.push(format!("{}\n", printed(attributes.clone()).trim_end()));
    }
    for part in parts {
        match part {
            Part::Items(items) => blocks.extend(items_of(items)),
            Part::Around(path, inside) => {
                let inside = items_of(inside).join("\n");
                blocks.push(format!("{path}! {{\n{}}}\n", indented(&inside)));
            }
            Part::Call(path, argument) => {
                blocks.push(format!("{path}!({});\n", expression(&argument)));
            }
        }
    }
    blocks.join("\n")
}

/// Returns the tokens of an attribute for each line of a documentation.
pub(super) fn docs(lines: &[impl AsRef<str>]) -> TokenStream {
    let lines = lines.iter().map(|line| match line.as_ref() {
        "" => String::new(),
        line => format!(" {line}"),
    });
    quote!(#(#[doc = #lines])*)
}

/// Returns a number as it is written by hand, without its type.
pub(super) fn number(number: usize) -> Literal {
    Literal::usize_unsuffixed(number)
}

/// Returns the tokens of a text.
///
/// # Panics
///
/// If the text has no tokens: seqz took it from the user's program, which has been parsed.
pub(super) fn tokens(text: &str) -> TokenStream {
    match text.parse() {
        Ok(tokens) => tokens,
        Err(error) => panic!("{text:?} is not made of tokens: {error}"),
    }
}

fn doc_line(mark: &str, line: &str) -> String {
    match line {
        "" => format!("{mark}\n"),
        line => format!("{mark} {line}\n"),
    }
}

/// Returns each item's text; imports that follow each other are one text.
fn items_of(items: TokenStream) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut after_import = false;
    for item in parsed(items).items {
        let import = matches!(item, Item::Use(_));
        let text = prettyplease::unparse(&syn::File {
            shebang: None,
            frontmatter: None,
            attrs: Vec::new(),
            items: vec![item],
        });
        match texts.last_mut() {
            Some(last) if import && after_import => last.push_str(&text),
            _ => texts.push(text),
        }
        after_import = import;
    }
    texts
}

/// Returns the text of an expression, as it stands at the beginning of a line.
fn expression(tokens: &TokenStream) -> String {
    let text = printed(quote!(fn f() { #tokens }));
    let inside: Vec<&str> = text.lines().collect();
    inside
        .get(1..inside.len() - 1)
        .unwrap_or_default()
        .iter()
        .map(|line| line.strip_prefix(INDENT).unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n")
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| match line {
            "" => "\n".to_owned(),
            line => format!("{INDENT}{line}\n"),
        })
        .collect()
}

fn printed(tokens: TokenStream) -> String {
    prettyplease::unparse(&parsed(tokens))
}

fn parsed(tokens: TokenStream) -> syn::File {
    let shown = tokens.to_string();
    match syn::parse2(tokens) {
        Ok(file) => file,
        Err(error) => panic!("seqz has written what is no Rust ({error}): {shown}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_reads_as_written_by_hand() {
        let text = file(
            &["A file.", "", "With two paragraphs."],
            &quote!(#![no_main]),
            [
                Part::Items(quote! {
                    use std::fmt;
                    use std::env;
                    /// How many.
                    pub const K: usize = 2;
                }),
                Part::Around(
                    "inputs",
                    quote! {
                        /// Inputs.
                        pub struct Inputs { a: Vec<(u8, bool)>, b: u8 }
                    },
                ),
                Part::Call("target", quote!(|bytes: &[u8]| -> Corpus { run(bytes) })),
            ],
        );
        assert_eq!(
            text,
            "\
//! A file.
//!
//! With two paragraphs.

#![no_main]

use std::fmt;
use std::env;

/// How many.
pub const K: usize = 2;

inputs! {
    /// Inputs.
    pub struct Inputs {
        a: Vec<(u8, bool)>,
        b: u8,
    }
}

target!(|bytes: &[u8]| -> Corpus { run(bytes) });
"
        );
    }
}
