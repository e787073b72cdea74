//! Finds where a variable is declared, and counts how often the variable is mentioned there.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The place of a variable's declaration.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Declared {
    /// The variable is declared before the loop.
    Around,
    /// The variable is declared in the loop.
    Within,
}

/// Returns the innermost block with a `let` of this variable that contains the loop; else, the loop itself, if it
/// contains a `let` of the variable. The variable must be of a type with at least as many bits as the default type of a
/// number.
pub(super) fn scope(
    tokens: &TokenStream,
    looped: &Range<usize>,
    variable: &str,
) -> Option<(TokenStream, Declared, Option<u64>)> {
    let mut around = Vec::new();
    let mut block = tokens.clone();
    loop {
        let inner = block.clone().into_iter().find_map(|token| match token {
            TokenTree::Group(group) => {
                let range = group.span().byte_range();
                let has_it = range.start <= looped.start && looped.end <= range.end;
                has_it.then(|| (group.delimiter(), group.stream()))
            }
            _ => None,
        });
        let Some((delimiter, inner)) = inner else {
            break;
        };
        if delimiter == Delimiter::Brace {
            around.push(inner.clone());
        }
        block = inner;
    }
    let before = |token: &TokenTree| token.span().byte_range().end <= looped.start;
    for block in around.iter().rev() {
        let here: Vec<_> = block.clone().into_iter().take_while(before).collect();
        match declaration(&here, variable) {
            Some(Some((at, first))) => {
                // The text before the declaration is about another variable.
                let scope = block.clone().into_iter().skip(at).collect();
                return Some((scope, Declared::Around, first));
            }
            Some(None) => return None,
            None => {}
        }
    }
    let inside = |token: &TokenTree| {
        let range = token.span().byte_range();
        looped.start <= range.start && range.end <= looped.end
    };
    let looped: TokenStream = block.into_iter().filter(inside).collect();
    Some((looped, Declared::Within, None))
}

/// Finds the `let` of the variable among the tokens: its index, and the number that the variable is made as, if that is
/// a number. `Some(None)`: the variable may be of a small type, or there are several.
fn declaration(tokens: &[TokenTree], variable: &str) -> Option<Option<(usize, Option<u64>)>> {
    let is =
        |at: usize, word: &str| matches!(tokens.get(at), Some(TokenTree::Ident(it)) if it == word);
    let is_type = |at: usize| {
        [
            "u32", "u64", "u128", "usize", "i32", "i64", "i128", "isize", "Duration", "f64",
        ]
        .iter()
        .any(|of| is(at, of))
    };
    let mut found = None;
    for start in 0..tokens.len() {
        if !is(start, "let") {
            continue;
        }
        let at = start + 1 + usize::from(is(start + 1, "mut"));
        if !is(at, variable) {
            continue;
        }
        let colon = matches!(tokens.get(at + 1), Some(TokenTree::Punct(it)) if it.as_char() == ':');
        // A literal may state its type, too.
        let small = |token: &TokenTree| {
            let text = token.to_string();
            ["u8", "i8", "u16", "i16"]
                .iter()
                .any(|it| text.ends_with(it))
        };
        let until =
            |token: &&TokenTree| !matches!(token, TokenTree::Punct(it) if it.as_char() == ';');
        let made: Vec<_> = tokens[at + 1..].iter().take_while(until).collect();
        let is_large = !made.iter().any(|it| small(it)) && (!colon || is_type(at + 2));
        let first = match made.as_slice() {
            [.., TokenTree::Punct(is), TokenTree::Literal(first)] if is.as_char() == '=' => {
                let text = first.to_string().replace('_', "");
                let end = text
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(text.len());
                text[..end].parse().ok()
            }
            _ => None,
        };
        let is_only = found.is_none();
        found = Some((is_only && is_large).then_some((start, first)));
    }
    found
}

/// Counts the mentions of a variable, macros included. A string that contains the name counts: it may be a format.
pub(super) fn mentions(tokens: &TokenStream, variable: &str) -> usize {
    let tokens = tokens.clone().into_iter();
    tokens
        .map(|token| match token {
            TokenTree::Ident(ident) => usize::from(ident == variable),
            TokenTree::Group(group) => mentions(&group.stream(), variable),
            TokenTree::Literal(literal) => {
                usize::from(literal.to_string().contains(&format!("{{{variable}")))
            }
            TokenTree::Punct(_) => 0,
        })
        .sum()
}
