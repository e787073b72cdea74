//! What other crates implement: a library's generic code may call it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// What some crates implement for their types, by the words of their source, macros included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Implemented {
    /// The names of traits.
    pub(crate) traits: BTreeSet<String>,
    /// The names of functions in implementations of traits.
    pub(crate) functions: BTreeSet<String>,
    /// Whether there is source that can't be read, or a macro that implements traits with names that it is given.
    pub(crate) any: bool,
}

impl Implemented {
    /// Adds what a file of Rust implements.
    pub fn add_file(&mut self, path: &Path) {
        let text = fs::read_to_string(path).ok();
        match text.and_then(|text| text.parse::<TokenStream>().ok()) {
            Some(tokens) => self.add(tokens),
            None => self.any = true,
        }
    }

    /// Adds what other crates implement.
    pub fn extend(&mut self, other: &Self) {
        self.traits.extend(other.traits.iter().cloned());
        self.functions.extend(other.functions.iter().cloned());
        self.any |= other.any;
    }

    fn add(&mut self, tokens: TokenStream) {
        // The latest word since `impl` that is not in `<…>`, and whether a `for` has come.
        let mut open: Option<Option<String>> = None;
        let mut of_trait = false;
        let mut depth = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(word) if word == "impl" => {
                    (open, of_trait, depth) = (Some(None), false, 0);
                }
                TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
                TokenTree::Punct(punct) if punct.as_char() == '>' => depth -= 1,
                TokenTree::Ident(_) if depth > 0 => {}
                TokenTree::Ident(word) if word == "for" => {
                    of_trait = open.is_some();
                    match open.take() {
                        Some(Some(name)) => drop(self.traits.insert(name)),
                        Some(None) => self.any = true,
                        None => {}
                    }
                }
                TokenTree::Ident(word) => {
                    if let Some(open) = &mut open {
                        *open = Some(plain(&word));
                    }
                }
                TokenTree::Punct(punct) if punct.as_char() == '$' && open.is_some() => {
                    self.any = true;
                }
                TokenTree::Group(group) => {
                    if group.delimiter() == Delimiter::Brace {
                        if std::mem::take(&mut of_trait) {
                            self.functions_in(group.stream());
                        }
                        open = None;
                    }
                    self.add(group.stream());
                }
                _ => {}
            }
        }
    }

    fn functions_in(&mut self, tokens: TokenStream) {
        let mut after_fn = false;
        for token in tokens {
            match token {
                TokenTree::Ident(word) if after_fn => {
                    self.functions.insert(plain(&word));
                    after_fn = false;
                }
                TokenTree::Ident(word) => after_fn = word == "fn",
                // The name may be one that a macro is given.
                TokenTree::Punct(punct) if punct.as_char() == '$' && after_fn => self.any = true,
                _ => {}
            }
        }
    }
}

/// Returns a word without the `r#` of a raw identifier.
fn plain(word: &proc_macro2::Ident) -> String {
    let word = word.to_string();
    word.strip_prefix("r#").unwrap_or(&word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implementations_are_found_in_macros_too() {
        let mut found = Implemented::default();
        found.add(
            "impl<T> a::Wait<T> for S<T> { fn relax() { fn inner() {} } } impl S { fn own() {} }
             macro_rules! m { () => { impl Drop for X { fn drop(&mut self) {} } } }"
                .parse()
                .unwrap(),
        );
        let names = |all: &BTreeSet<String>| all.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(names(&found.traits), "Drop Wait");
        assert_eq!(names(&found.functions), "drop relax");
        assert!(!found.any);
        found.add(
            "macro_rules! m { ($t:path) => { impl $t for X {} } }"
                .parse()
                .unwrap(),
        );
        assert!(found.any);
    }
}
