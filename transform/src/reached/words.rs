//! The names that a piece of source mentions.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

/// The names that a piece of source mentions.
#[derive(Debug, Default)]
pub(super) struct Mentions {
    /// Every identifier, including those in macros and in format strings.
    pub(super) names: BTreeSet<String>,
    /// The first segments of the paths.
    pub(super) roots: BTreeSet<String>,
}

impl Mentions {
    pub(super) fn of(tokens: &impl ToTokens) -> Self {
        let mut found = Self::default();
        found.stream(tokens.to_token_stream());
        found
    }

    pub(super) fn stream(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let colons = |at: usize| {
            let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == ':');
            colon(at) && colon(at + 1)
        };
        let mut of_std = false;
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(ident) => {
                    let written = ident.to_string();
                    let ident = plain(&written);
                    // Whether `::name` continues a path that has begun; a path may begin with `::`, too.
                    let goes_on = at >= 3
                        && colons(at - 2)
                        && match &tokens[at - 3] {
                            TokenTree::Ident(before) => !is_keyword(&before.to_string()),
                            TokenTree::Punct(before) => before.as_char() == '>',
                            TokenTree::Group(_) | TokenTree::Literal(_) => false,
                        };
                    let root = colons(at + 1) && !goes_on;
                    if root && !is_keyword(&written) {
                        self.roots.insert(ident.clone());
                    }
                    // The name of a module of std means no item of the crate.
                    of_std = of_std && goes_on
                        || root && matches!(ident.as_str(), "std" | "core" | "alloc");
                    if !(of_std && colons(at + 1)) {
                        self.names.insert(ident);
                    }
                }
                TokenTree::Group(group) => self.stream(group.stream()),
                TokenTree::Literal(literal) => self.format_string(&literal.to_string()),
                TokenTree::Punct(_) => {}
            }
        }
    }

    /// `"{name}"` names a variable or a static.
    fn format_string(&mut self, literal: &str) {
        if !literal.contains('"') {
            return;
        }
        for part in literal.split('{').skip(1) {
            let name: String = part
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            if !name.is_empty() {
                self.names.insert(name);
            }
        }
    }
}

/// Returns an identifier without `r#`.
pub(super) fn plain(ident: &str) -> String {
    ident.strip_prefix("r#").unwrap_or(ident).to_owned()
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "as" | "break"
            | "dyn"
            | "else"
            | "for"
            | "if"
            | "impl"
            | "in"
            | "let"
            | "match"
            | "mut"
            | "pub"
            | "return"
            | "use"
            | "where"
            | "while"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_roots() {
        let tokens: TokenStream = "::pl::Mutex; a::b::<c::D>(e) r#fn::g; println!(\"{COUNT:?} {}\", m!(h::i)); return ::j::k"
            .parse()
            .unwrap();
        let found = Mentions::of(&tokens);
        let roots: Vec<_> = found.roots.iter().map(String::as_str).collect();
        assert_eq!(roots, ["a", "c", "fn", "h", "j", "pl"]);
        let of_std = Mentions::of(&"std::cell::Cell; x::std::y".parse::<TokenStream>().unwrap());
        let names: Vec<_> = of_std.names.iter().map(String::as_str).collect();
        assert_eq!(names, ["Cell", "std", "x", "y"]);
        for name in ["Mutex", "b", "D", "e", "COUNT", "i", "k"] {
            assert!(found.names.contains(name), "{name}");
        }
    }
}
