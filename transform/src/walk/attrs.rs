//! Attributes: tests become ordinary functions, and lints can't make the build of the generated crate fail.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Meta};

use super::{Walker, bytes};

/// Crate attributes that would change the kind of the crate.
const DROPPED: &[&str] = &[
    "no_std",
    "no_core",
    "no_main",
    "crate_type",
    "crate_name",
    "windows_subsystem",
    "test",
    "should_panic",
    "ignore",
];

impl Walker<'_> {
    pub(super) fn attribute(&mut self, attr: &Attribute) {
        let Some(name) = attr.path().get_ident().map(ToString::to_string) else {
            return;
        };
        let range = bytes(attr);
        match (name.as_str(), &attr.meta) {
            ("cfg", Meta::List(list)) if is_just_test(&list.tokens) => {
                self.edits().replace(range, "")
            }
            ("cfg", Meta::List(list)) => self.enable_test(list.tokens.clone()),
            ("cfg_attr", Meta::List(list)) => self.cfg_attr(list.tokens.clone()),
            ("path", Meta::NameValue(pair)) => {
                let value = bytes(&pair.value);
                if let Some(path) = self.program.paths.get(&(self.file, value.start)) {
                    self.edits().replace(value, format!("{path:?}"));
                }
            }
            // A warning about the rewritten text is no reason to refuse the build.
            ("deny" | "forbid", _) => {
                let name = bytes(attr.path());
                self.edits().replace(name, "allow");
            }
            (name, _) if DROPPED.contains(&name) && !self.program.package.is_dependency => {
                self.edits().replace(range, "");
            }
            // As in `#[doc = include_str!("…")]`.
            (_, Meta::NameValue(pair)) => self.tokens(pair.value.to_token_stream()),
            _ => {}
        }
    }

    /// Edits the `cfg`s of an item that is left out: the generated crate has to leave the item out as well.
    pub(super) fn cfg_attributes(&mut self, attrs: &[Attribute]) {
        attrs
            .iter()
            .filter(|attr| attr.path().is_ident("cfg"))
            .for_each(|attr| self.attribute(attr));
    }

    /// Makes `test` hold in a predicate.
    pub(super) fn enable_test(&mut self, predicate: TokenStream) {
        for token in predicate {
            match token {
                TokenTree::Ident(ident) if ident == "test" => {
                    let range = ident.span().byte_range();
                    self.edits().replace(range, "all()");
                }
                TokenTree::Group(group) => self.enable_test(group.stream()),
                _ => {}
            }
        }
    }

    fn cfg_attr(&mut self, tokens: TokenStream) {
        let mut parts = tokens.into_iter();
        let is_comma =
            |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
        let predicate = parts
            .by_ref()
            .take_while(|token| !is_comma(token))
            .collect();
        self.enable_test(predicate);
        let parts: Vec<TokenTree> = parts.collect();
        self.tokens(parts.iter().cloned().collect());
        let mut first = true;
        for token in parts {
            if let (TokenTree::Ident(ident), true) = (&token, first) {
                let range = ident.span().byte_range();
                match ident.to_string().as_str() {
                    "deny" | "forbid" => self.edits().replace(range, "allow"),
                    "no_std" | "no_main" if !self.program.package.is_dependency => {
                        self.edits().replace(range, "allow()");
                    }
                    _ => {}
                }
            }
            first = is_comma(&token);
        }
    }
}

fn is_just_test(predicate: &TokenStream) -> bool {
    let mut tokens = predicate.clone().into_iter();
    matches!((tokens.next(), tokens.next()), (Some(TokenTree::Ident(ident)), None) if ident == "test")
}
