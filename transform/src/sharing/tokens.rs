//! Functions to navigate in a list of tokens.

use proc_macro2::{Delimiter, Span, TokenTree};

/// Whether `impl` begins an item here, not a type.
pub(super) fn is_item(tokens: &[TokenTree], at: usize) -> bool {
    match at.checked_sub(1).map(|before| &tokens[before]) {
        None => true,
        Some(TokenTree::Ident(before)) => before == "unsafe" || before == "default",
        Some(TokenTree::Group(group)) => {
            matches!(group.delimiter(), Delimiter::Brace | Delimiter::Bracket)
        }
        Some(TokenTree::Punct(before)) => before.as_char() == ';',
        Some(TokenTree::Literal(_)) => false,
    }
}

pub(super) fn line_of(span: Span) -> u32 {
    u32::try_from(span.start().line).unwrap_or(1).max(1)
}

pub(super) fn word(tokens: &[TokenTree], at: usize) -> Option<String> {
    match tokens.get(at) {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    }
}

pub(super) fn is_word(tokens: &[TokenTree], at: usize, wanted: &str) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Ident(word)) if word == wanted)
}

pub(super) fn is_punct(tokens: &[TokenTree], at: usize, wanted: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// Returns the index of the next such character.
pub(super) fn until(tokens: &[TokenTree], at: usize, wanted: char) -> usize {
    (at..tokens.len())
        .find(|at| is_punct(tokens, *at, wanted))
        .unwrap_or(tokens.len())
}

/// Returns the index of the next block in braces.
pub(super) fn body(tokens: &[TokenTree], at: usize) -> usize {
    let brace = |at: &usize| matches!(&tokens[*at], TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    (at..tokens.len()).find(brace).unwrap_or(tokens.len())
}

/// Returns the index of the end of an item that has no rule of its own.
pub(super) fn end_of_item(tokens: &[TokenTree], at: usize) -> usize {
    for (number, token) in tokens.iter().enumerate().skip(at) {
        match token {
            TokenTree::Punct(it) if it.as_char() == ';' => return number + 1,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return number + 1,
            // As in `pub mod m { … }`; but `-> impl Trait` is part of a function.
            TokenTree::Ident(word) if number > at => match word.to_string().as_str() {
                "use" | "mod" | "macro_rules" => return number,
                "impl" if is_item(tokens, number) => return number,
                _ => {}
            },
            _ => {}
        }
    }
    tokens.len()
}

/// Collects the words of an import in order.
pub(super) fn flatten(tree: &[TokenTree], words: &mut Vec<(String, Span)>) {
    for token in tree {
        match token {
            TokenTree::Ident(word) => words.push((word.to_string(), word.span())),
            TokenTree::Punct(star) if star.as_char() == '*' => {
                words.push(("*".into(), star.span()))
            }
            TokenTree::Group(group) => {
                let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                flatten(&inside, words);
            }
            _ => {}
        }
    }
}
