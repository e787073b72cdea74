//! Evaluates `cfg` attributes of a dependency from its tokens alone, to find the code that is compiled.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The target's predicates, by `rustc --print cfg`, and the features that are on: `unix`, `target_os="linux"`,
/// `feature="std"`.
#[derive(Clone, Debug, Default)]
pub struct Cfgs(pub BTreeSet<String>);

impl Cfgs {
    /// Returns whether a predicate holds; `None` if only the build knows.
    pub(super) fn holds(&self, predicate: &[TokenTree]) -> Option<bool> {
        match predicate {
            [TokenTree::Ident(name)] => {
                let name = name.to_string();
                match name.as_str() {
                    "true" | "debug_assertions" => Some(true),
                    "false" | "test" | "doc" | "docsrs" | "doctest" | "miri" | "loom"
                    | "shuttle" | "kani" | "fuzzing" | "proc_macro" | "rustdoc" => Some(false),
                    "unix" | "windows" => Some(self.0.contains(&name)),
                    _ if self.0.contains(&name) => Some(true),
                    _ => None,
                }
            }
            [
                TokenTree::Ident(name),
                TokenTree::Punct(is),
                TokenTree::Literal(value),
            ] if is.as_char() == '=' => {
                let name = name.to_string();
                let known = name == "feature" || name == "panic" || name.starts_with("target_");
                let holds = self.0.contains(&format!("{name}={value}"));
                (known || holds).then_some(holds)
            }
            [TokenTree::Ident(name), TokenTree::Group(parts)] => {
                let parts: Vec<TokenTree> = parts.stream().into_iter().collect();
                let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
                let parts = parts.split(comma).filter(|part| !part.is_empty());
                let values: Vec<_> = parts.map(|part| self.holds(part)).collect();
                match name.to_string().as_str() {
                    "not" => values.first()?.map(|value| !value),
                    "all" if values.contains(&Some(false)) => Some(false),
                    "any" if values.contains(&Some(true)) => Some(true),
                    "all" => (!values.contains(&None)).then_some(true),
                    "any" => (!values.contains(&None)).then_some(false),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether an attribute leaves out the item that it is on; the tokens are those in the attribute's brackets.
    fn leaves_out(&self, attribute: TokenStream) -> bool {
        let tokens: Vec<TokenTree> = attribute.into_iter().collect();
        match &tokens[..] {
            // The build of a dependency is no build of tests.
            [TokenTree::Ident(test)] => test == "test" || test == "bench",
            [TokenTree::Ident(cfg), TokenTree::Group(predicate)] if cfg == "cfg" => {
                let predicate: Vec<_> = predicate.stream().into_iter().collect();
                let end = predicate.len()
                    - usize::from(matches!(predicate.last(), Some(TokenTree::Punct(_))));
                self.holds(&predicate[..end]) == Some(false)
            }
            _ => false,
        }
    }

    /// Returns the tokens without those that certainly aren't compiled.
    pub(super) fn active(&self, tokens: TokenStream) -> TokenStream {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        // `#![cfg(…)]` applies to all of the tokens.
        let mut inner = tokens.windows(3).step_by(3).take_while(|three| {
            matches!(three, [TokenTree::Punct(a), TokenTree::Punct(b), TokenTree::Group(_)] if a.as_char() == '#' && b.as_char() == '!')
        });
        if inner
            .any(|three| matches!(&three[2], TokenTree::Group(it) if self.leaves_out(it.stream())))
        {
            return TokenStream::new();
        }
        let mut kept = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            if let Some(after) = self.branches(&tokens, at, &mut kept) {
                at = after;
            } else if let Some(attribute) = outer_attribute(&tokens, at)
                && self.leaves_out(attribute)
            {
                at = end_of_item(&tokens, at);
            } else {
                kept.push(match &tokens[at] {
                    TokenTree::Group(group) => self.group(group),
                    token => token.clone(),
                });
                at += 1;
            }
        }
        kept.into_iter().collect()
    }

    fn group(&self, group: &proc_macro2::Group) -> TokenTree {
        let mut active = proc_macro2::Group::new(group.delimiter(), self.active(group.stream()));
        active.set_span(group.span());
        TokenTree::Group(active)
    }

    /// Handles `if #[cfg(a)] { … } else if #[cfg(b)] { … } else { … }`, as in `cfg_if!`: keeps the branches that may be
    /// taken.
    fn branches(
        &self,
        tokens: &[TokenTree],
        at: usize,
        kept: &mut Vec<TokenTree>,
    ) -> Option<usize> {
        let word = |at: usize, wanted: &str| matches!(tokens.get(at), Some(TokenTree::Ident(it)) if it == wanted);
        let mut at = at;
        let mut taken = false;
        if !word(at, "if") {
            return None;
        }
        outer_attribute(tokens, at + 1)?;
        loop {
            let attribute = outer_attribute(tokens, at + 1)?;
            let Some(TokenTree::Group(body)) = tokens.get(at + 3) else {
                return None;
            };
            let inner: Vec<TokenTree> = attribute.into_iter().collect();
            let holds = match &inner[..] {
                [TokenTree::Ident(_), TokenTree::Group(predicate)] => {
                    let predicate: Vec<_> = predicate.stream().into_iter().collect();
                    self.holds(&predicate)
                }
                _ => None,
            };
            if !taken && holds != Some(false) {
                kept.extend(self.active(body.stream()));
            }
            taken |= holds == Some(true);
            at += 4;
            if !word(at, "else") {
                return Some(at);
            }
            if word(at + 1, "if") {
                at += 1;
                continue;
            }
            let Some(TokenTree::Group(body)) = tokens.get(at + 1) else {
                return None;
            };
            if !taken {
                kept.extend(self.active(body.stream()));
            }
            return Some(at + 2);
        }
    }
}

/// Returns the tokens in the brackets of an attribute that begins here.
fn outer_attribute(tokens: &[TokenTree], at: usize) -> Option<TokenStream> {
    match (tokens.get(at), tokens.get(at + 1)) {
        (Some(TokenTree::Punct(hash)), Some(TokenTree::Group(group)))
            if hash.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
        {
            Some(group.stream())
        }
        _ => None,
    }
}

/// Returns the index of the end of an item, a field, a statement or an argument whose first attribute begins here.
fn end_of_item(tokens: &[TokenTree], mut at: usize) -> usize {
    while outer_attribute(tokens, at).is_some() {
        at += 2;
    }
    let is = |at: usize, wanted: char| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == wanted);
    let of_expression = |at: usize| matches!(tokens.get(at), Some(TokenTree::Ident(it)) if it == "let" || it == "const" || it == "static" || it == "use");
    let statement = (at..tokens.len().min(at + 3)).any(of_expression);
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Punct(it) if it.as_char() == ';' || it.as_char() == ',' => return at + 1,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !statement => {
                // `else` and `=> { … },` continue the item.
                let goes_on =
                    matches!(tokens.get(at + 1), Some(TokenTree::Ident(it)) if it == "else");
                if !goes_on {
                    return at + 1 + usize::from(is(at + 1, ','));
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn active(text: &str) -> String {
        let cfgs = ["unix", "target_os=\"linux\"", "feature=\"std\""];
        let cfgs = Cfgs(cfgs.map(str::to_owned).into());
        cfgs.active(text.parse().unwrap()).to_string()
    }

    #[test]
    fn what_is_not_compiled_goes() {
        assert_eq!(
            active(
                "#[cfg(windows)] mod a; #[cfg(test)] #[x] fn f() -> u8 { 1 } struct S { #[cfg(not(unix))] a: A, b: B }"
            ),
            "struct S { b : B }"
        );
        assert_eq!(
            active("#[cfg(all(unix, feature = \"std\"))] use a; #[cfg(any(windows, feature = \"no\"))] const X: T = T { a: 1 }; g")
                .replace(' ', ""),
            "#[cfg(all(unix,feature=\"std\"))]usea;g"
        );
        assert_eq!(
            active("#[cfg(special)] b").replace(' ', ""),
            "#[cfg(special)]b"
        );
        assert_eq!(
            active("cfg_if! { if #[cfg(unix)] { a } else if #[cfg(x)] { b } else { c } }"),
            "cfg_if ! { a }"
        );
        assert_eq!(
            active("if #[cfg(x)] { a } else if #[cfg(windows)] { b } else { c } d"),
            "a c d"
        );
    }
}
