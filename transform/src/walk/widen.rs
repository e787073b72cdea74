//! Visibility in macros: items that a macro makes can't be made visible at their places, as other items are, so modules
//! and tests in the text of macros are visible in the whole crate from the start.

use proc_macro2::{TokenStream, TokenTree};

use super::Walker;

const VISIBLE: &str = "pub(crate) ";

impl Walker<'_> {
    /// Makes the modules and tests in the tokens of a macro's rule, or of a call, visible.
    pub(super) fn widen(&mut self, tokens: TokenStream) {
        // No harness of the program is in a library that it depends on.
        if self.program.package.is_dependency {
            return;
        }
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut tested = false;
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => {
                    tested |= at > 0 && is_hash(&tokens[at - 1]) && is_test(group.stream());
                    self.widen(group.stream());
                }
                TokenTree::Ident(word) if word == "mod" || word == "fn" => {
                    let is_item = matches!(tokens.get(at + 1), Some(TokenTree::Ident(_)))
                        || matches!(tokens.get(at + 1), Some(TokenTree::Punct(dollar)) if dollar.as_char() == '$');
                    let wanted = word == "mod" || std::mem::take(&mut tested);
                    if wanted && is_item && stands_alone(&tokens[..at]) {
                        let start = word.span().byte_range().start;
                        self.edits().before(start, VISIBLE);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether an item that begins after these tokens has neither a visibility nor a word before its keyword.
fn stands_alone(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Punct(dollar), TokenTree::Ident(_)] if dollar.as_char() == '$' => false,
        [.., TokenTree::Ident(_)] => false,
        [.., TokenTree::Ident(word), TokenTree::Group(_)] => word != "pub",
        _ => true,
    }
}

fn is_hash(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '#')
}

fn is_test(attribute: TokenStream) -> bool {
    matches!(attribute.into_iter().next(), Some(TokenTree::Ident(word)) if word == "test")
}
