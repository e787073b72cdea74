//! Macro calls that stand for items: the items in a call are read like the items around it.

use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Item, ItemMacro, LitStr, parse_quote_spanned};

use super::expand::Rules;
use super::modules::{Directory, Reader};
use super::{parse_file, parse_text};
use crate::error::Error;
use crate::source::SourceFile;

/// The largest number of expansions: a macro may call itself for ever where its definition isn't quite understood.
const MOST: usize = 4_000;

/// A macro of the crate with its name.
pub(super) struct Known {
    name: String,
    rules: Option<Rules>,
}

impl Reader<'_> {
    /// Adds a definition, which later code can call.
    pub(super) fn define(&mut self, item: &ItemMacro) {
        if let Some(ident) = &item.ident {
            let rules = Rules::of(item.mac.tokens.clone());
            self.macros.push(Known {
                name: ident.to_string(),
                rules,
            });
        }
    }

    /// Reads what a call stands for. Returns the items that are written in the call itself, to be read in its place;
    /// the rest of the call's tokens stay with the call.
    pub(super) fn call(
        &mut self,
        number: usize,
        item: &mut ItemMacro,
        dir: &Directory,
    ) -> Result<Vec<Item>, Error> {
        let Some(last) = item.mac.path.segments.last() else {
            return Ok(Vec::new());
        };
        let name = last.ident.to_string();
        // The latest macro in textual scope; a macro that is called by a path, or from another crate, is looked for
        // among all macros.
        let known = self.macros.iter().rev().find(|known| known.name == name);
        if let Some(known) = known {
            let expanded = known
                .rules
                .as_ref()
                .and_then(|rules| rules.expand(&item.mac.tokens));
            if let Some(tokens) = expanded
                && self.parts.len() < MOST
            {
                self.expansion(number, item, tokens, dir)?;
            }
            return Ok(Vec::new());
        }
        match name.as_str() {
            "include" => {
                if let Ok(path) = syn::parse2::<LitStr>(item.mac.tokens.clone()) {
                    self.included(number, item, &path, dir)?;
                }
                Ok(Vec::new())
            }
            // These macros of std hold no items.
            "thread_local" | "compile_error" | "concat" | "global_asm" => Ok(Vec::new()),
            _ => Ok(self.taken(item)),
        }
    }

    /// Reads an expansion as a file of its own, which is never written.
    fn expansion(
        &mut self,
        number: usize,
        item: &ItemMacro,
        tokens: TokenStream,
        dir: &Directory,
    ) -> Result<(), Error> {
        let source = &self.files[number].source;
        let range = syn::spanned::Spanned::span(item).byte_range();
        let place = source.place(range.clone());
        let parsed = parse_text(source.path.clone(), "".into(), &tokens.to_string());
        let Ok(mut file) = parsed else {
            return Ok(());
        };
        file.source = SourceFile {
            expanded: Some(Box::new(place)),
            ..file.source
        };
        self.part(number, range.start, file, dir)
    }

    /// Reads an `include!` of a file by its name.
    fn included(
        &mut self,
        number: usize,
        item: &ItemMacro,
        path: &LitStr,
        dir: &Directory,
    ) -> Result<(), Error> {
        let source = &self.files[number].source;
        if source.expanded.is_some() {
            return Ok(());
        }
        let from = source.path.parent().unwrap_or(Path::new(""));
        let target = from.join(path.value());
        if !target.is_file() || self.open.contains(&target) {
            return Ok(());
        }
        let generated = self.generated(&super::modules::normal(&target));
        let here = source
            .generated
            .parent()
            .unwrap_or(Path::new(""))
            .to_owned();
        let Ok(file) = parse_file(&target, generated.clone(), self.tests, &self.package.name)
        else {
            // The file is an expression, or something else that is no list of items.
            return Ok(());
        };
        self.paths.insert(
            (number, path.span().byte_range().start),
            super::modules::relative(&here, &generated),
        );
        let at = syn::spanned::Spanned::span(item).byte_range().start;
        self.open.insert(target.clone());
        let read = self.part(number, at, file, dir);
        self.open.remove(&target);
        read
    }

    fn part(
        &mut self,
        number: usize,
        at: usize,
        file: super::ParsedFile,
        dir: &Directory,
    ) -> Result<(), Error> {
        let part = self.files.len();
        self.files.push(file);
        self.parts.insert((number, at), part);
        self.items_of(part, dir)
    }

    /// Returns the items that a macro of another crate is given. What the macro does with them can't be seen: mostly,
    /// it compiles them or doesn't.
    fn taken(&self, item: &mut ItemMacro) -> Vec<Item> {
        if let Some(mut items) = items(item.mac.tokens.clone()) {
            item.mac.tokens = TokenStream::new();
            items.iter_mut().for_each(unsure);
            return items;
        }
        let mut all = Vec::new();
        let mut rest = TokenStream::new();
        let mut conditions: Vec<Attribute> = Vec::new();
        for token in item.mac.tokens.clone() {
            if let TokenTree::Group(group) = &token {
                if let Some(condition) = condition(group) {
                    conditions = vec![condition];
                } else if group.delimiter() == Delimiter::Brace
                    && let Some(mut found) = items(group.stream())
                {
                    // As in `if #[cfg(…)] { … }`: a branch whose predicate is false is not compiled.
                    if !self.cfg.off(&std::mem::take(&mut conditions)) {
                        found.iter_mut().for_each(unsure);
                        all.extend(found);
                        continue;
                    }
                }
            }
            rest.extend([token]);
        }
        if !all.is_empty() {
            item.mac.tokens = rest;
        }
        all
    }
}

/// Returns the items, if the tokens are items and nothing else.
fn items(tokens: TokenStream) -> Option<Vec<Item>> {
    let parse = |input: ParseStream<'_>| {
        let mut items: Vec<Item> = Vec::new();
        while !input.is_empty() {
            items.push(input.parse()?);
        }
        Ok(items)
    };
    let items = parse.parse2(tokens).ok()?;
    let understood = !items.iter().any(|item| matches!(item, Item::Verbatim(_)));
    (understood && !items.is_empty()).then_some(items)
}

/// Returns the `[cfg(…)]` of an attribute.
fn condition(group: &proc_macro2::Group) -> Option<Attribute> {
    let stream = group.stream();
    let first = stream.clone().into_iter().next()?;
    let is_cfg = matches!(&first, TokenTree::Ident(word) if word == "cfg");
    if group.delimiter() != Delimiter::Bracket || !is_cfg {
        return None;
    }
    let parse = |input: ParseStream<'_>| Attribute::parse_outer(input);
    let attrs = parse.parse2(quote_attribute(stream)).ok()?;
    attrs.into_iter().next()
}

fn quote_attribute(inside: TokenStream) -> TokenStream {
    let group = proc_macro2::Group::new(Delimiter::Bracket, inside);
    let hash = proc_macro2::Punct::new('#', proc_macro2::Spacing::Alone);
    [TokenTree::from(hash), TokenTree::from(group)]
        .into_iter()
        .collect()
}

/// Notes that only rustc knows whether an item is compiled.
fn unsure(item: &mut Item) {
    // The attribute has the item's span, so the item begins where it did.
    let span = syn::spanned::Spanned::span(item);
    let attr: Attribute = parse_quote_spanned!(span=> #[cfg(seqz_unsure)]);
    let attrs = match item {
        Item::Const(item) => &mut item.attrs,
        Item::Enum(item) => &mut item.attrs,
        Item::ExternCrate(item) => &mut item.attrs,
        Item::Fn(item) => &mut item.attrs,
        Item::ForeignMod(item) => &mut item.attrs,
        Item::Impl(item) => &mut item.attrs,
        Item::Macro(item) => &mut item.attrs,
        Item::Mod(item) => &mut item.attrs,
        Item::Static(item) => &mut item.attrs,
        Item::Struct(item) => &mut item.attrs,
        Item::Trait(item) => &mut item.attrs,
        Item::Type(item) => &mut item.attrs,
        Item::Union(item) => &mut item.attrs,
        Item::Use(item) => &mut item.attrs,
        _ => return,
    };
    attrs.push(attr);
}
