//! The depth to which a source is nested. The parser, the walker and rustc itself recurse that deep, and would run out
//! of stack.

use proc_macro2::{Span, TokenStream, TokenTree};

/// The largest number of brackets inside of each other, and of prefix operators in front of each other.
pub(super) const DEEPEST: usize = 1_000;

/// Returns the place where the tokens are nested deeper than that, if there is one.
pub(super) fn too_deep(tokens: &TokenStream) -> Option<Span> {
    let mut open = vec![tokens.clone().into_iter()];
    let mut prefixes = 0;
    while let Some(tokens) = open.last_mut() {
        let Some(token) = tokens.next() else {
            open.pop();
            prefixes = 0;
            continue;
        };
        match token {
            TokenTree::Group(group) => {
                if open.len() > DEEPEST {
                    return Some(group.span_open());
                }
                prefixes = 0;
                open.push(group.stream().into_iter());
            }
            TokenTree::Punct(punct) if matches!(punct.as_char(), '!' | '-' | '&' | '*') => {
                prefixes += 1;
                if prefixes > DEEPEST {
                    return Some(punct.span());
                }
            }
            _ => prefixes = 0,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_too_deep(text: &str) -> bool {
        too_deep(&text.parse().unwrap()).is_some()
    }

    #[test]
    fn depth_is_that_of_brackets_and_of_prefixes() {
        let nested = |depth| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
        assert!(!is_too_deep(&nested(DEEPEST)));
        assert!(is_too_deep(&nested(DEEPEST + 1)));
        assert!(!is_too_deep(&format!("{}x", "!".repeat(DEEPEST))));
        assert!(is_too_deep(&format!("{}x", "!".repeat(DEEPEST + 1))));
        assert!(!is_too_deep(&"f(!x, -1);".repeat(10 * DEEPEST)));
    }
}
