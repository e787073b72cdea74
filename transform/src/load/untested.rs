//! A library as the package's other targets use it: compiled without its tests.
//!
//! Each `cfg` of tests is made false, and test functions are replaced by blanks of the same length, so that no place
//! moves.

use std::ops::Range;
use std::str::FromStr as _;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A predicate as long as `test`, which no build of tests sets.
const NEVER: &str = "miri";

/// Returns the text of a file without tests. A text that can't be read stays as it is; the parser will report it.
pub(super) fn without_tests(text: &str) -> String {
    let mut untested = text.to_owned();
    let Ok(tokens) = TokenStream::from_str(text) else {
        return untested;
    };
    let mut found = Found::default();
    found.look(tokens);
    for word in found.words {
        untested.replace_range(word, NEVER);
    }
    for item in found.items {
        // The number of lines and bytes stays the same.
        let blank = untested[item.clone()].chars();
        let blank = blank.flat_map(|c| {
            let spaces = if c == '\n' { "\n" } else { " " };
            spaces.repeat(c.len_utf8()).chars().collect::<Vec<_>>()
        });
        let blank: String = blank.collect();
        untested.replace_range(item, &blank);
    }
    untested
}

/// The parts of a text that are about tests.
#[derive(Default)]
struct Found {
    /// The ranges of `test` in predicates.
    words: Vec<Range<usize>>,
    /// The ranges of test functions, with their attributes.
    items: Vec<Range<usize>>,
}

impl Found {
    fn look(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        // The offset at which the attributes before a token begin, and whether one of them is that of a test.
        let mut attributes: Option<(usize, bool)> = None;
        let mut after_cfg = false;
        while let Some(token) = tokens.next() {
            let is_cfg = std::mem::take(&mut after_cfg);
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let start = punct.span().byte_range().start;
                    if let Some(TokenTree::Punct(_)) = tokens.peek() {
                        tokens.next();
                    }
                    if let Some(TokenTree::Group(group)) = tokens.peek()
                        && group.delimiter() == Delimiter::Bracket
                    {
                        let is_test = self.attribute(group.stream());
                        tokens.next();
                        let (first, was_test) = attributes.unwrap_or((start, false));
                        attributes = Some((first, was_test || is_test));
                    }
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == '!' => after_cfg = is_cfg,
                TokenTree::Punct(_) => {}
                TokenTree::Ident(ident) => after_cfg = ident == "cfg",
                TokenTree::Group(group) if is_cfg => self.predicate(group.stream()),
                TokenTree::Group(group) => {
                    if group.delimiter() == Delimiter::Brace
                        && let Some((start, true)) = attributes.take()
                    {
                        self.items.push(start..group.span().byte_range().end);
                    } else {
                        self.look(group.stream());
                    }
                    if group.delimiter() != Delimiter::Brace {
                        continue;
                    }
                    attributes = None;
                    continue;
                }
                TokenTree::Literal(_) => {}
            }
            // The head of a test function goes on to its body.
            attributes = attributes.filter(|(_, is_test)| *is_test);
        }
    }

    /// Looks into an attribute; returns whether the attribute makes a function a test.
    fn attribute(&mut self, tokens: TokenStream) -> bool {
        let mut tokens = tokens.into_iter();
        let mut last = String::new();
        for token in tokens.by_ref() {
            match token {
                TokenTree::Ident(ident) => last = ident.to_string(),
                TokenTree::Punct(punct) if punct.as_char() == ':' => {}
                TokenTree::Group(group) => {
                    match last.as_str() {
                        "cfg" => self.predicate(group.stream()),
                        "cfg_attr" => {
                            let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
                            let mut inner = group.stream().into_iter();
                            let predicate = inner.by_ref().take_while(|token| !is_comma(token));
                            self.predicate(predicate.collect());
                        }
                        _ => {}
                    }
                    break;
                }
                _ => return false,
            }
        }
        last == "test"
    }

    fn predicate(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if ident == "test" => {
                    self.words.push(ident.span().byte_range());
                }
                TokenTree::Group(group) => self.predicate(group.stream()),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_left_out_in_place() {
        for (text, wanted) in [
            ("#[cfg(test)] mod t {}", "#[cfg(miri)] mod t {}"),
            (
                "#![cfg_attr(not(any(test, unix)), no_std)] const A: bool = cfg!(test);",
                "#![cfg_attr(not(any(miri, unix)), no_std)] const A: bool = cfg!(miri);",
            ),
            (
                "fn test() { test() } #[cfg_attr(x, test)] struct S;",
                "fn test() { test() } #[cfg_attr(x, test)] struct S;",
            ),
            (
                "#[inline] fn f() {} /// é\n#[should_panic(expected = \"x\")] #[test]\nfn g() -> Result<(), ()> { h() } fn i() {}",
                "#[inline] fn f() {}       \n                                       \n                                 fn i() {}",
            ),
            (
                "mod m { #[a::test(flavor)] async fn g() {} #[derive(Clone)] struct S { a: u8 } }",
                "mod m {                                    #[derive(Clone)] struct S { a: u8 } }",
            ),
            (
                "#[cfg(feature = \"test\")] fn f() {}",
                "#[cfg(feature = \"test\")] fn f() {}",
            ),
        ] {
            assert_eq!(without_tests(text), wanted);
        }
    }
}
