//! `use` trees and `extern crate`.

use std::ops::Range;

use syn::{ItemExternCrate, ItemUse, UseTree};

use super::{Walker, bytes};
use crate::resolve::{Def, Ns, ROOT, Rib, current_module, name};
use crate::support;

impl Walker<'_> {
    pub(super) fn use_item(&mut self, item: &ItemUse) {
        let leading = item.leading_colon.is_some();
        if !self.use_through_modules(&item.tree, leading) {
            self.use_root(&item.tree, leading);
        }
        self.use_leaves(
            &item.tree,
            item.leading_colon.is_some(),
            &mut Vec::new(),
            &mut Vec::new(),
        );
    }

    /// As [`Walker::through_modules`], for the part of a tree in front of its branches.
    fn use_through_modules(&mut self, tree: &UseTree, leading: bool) -> bool {
        let (mut segments, mut spans) = (Vec::new(), Vec::new());
        let mut at = tree;
        loop {
            let (ident, next) = match at {
                UseTree::Path(path) => (&path.ident, Some(&*path.tree)),
                UseTree::Name(leaf) => (&leaf.ident, None),
                UseTree::Rename(leaf) => (&leaf.ident, None),
                UseTree::Glob(_) | UseTree::Group(_) => break,
            };
            segments.push(name(ident));
            spans.push(bytes(ident));
            let Some(next) = next else { break };
            at = next;
        }
        let Some(first) = segments.first() else {
            return false;
        };
        let relative = matches!(first.as_str(), "crate" | "self" | "super");
        let from_root = leading || self.tables.edition_2015 && !relative;
        self.through_modules(from_root, &segments, &spans)
    }

    /// Rewrites the roots of a tree; a group at the top has several roots.
    fn use_root(&mut self, tree: &UseTree, leading: bool) {
        let (ident, wanted) = match tree {
            UseTree::Path(path) => (&path.ident, reaches(&path.tree)),
            UseTree::Name(leaf) => (&leaf.ident, true),
            UseTree::Rename(leaf) => (&leaf.ident, true),
            UseTree::Group(group) => {
                group
                    .items
                    .iter()
                    .for_each(|tree| self.use_root(tree, leading));
                return;
            }
            UseTree::Glob(_) => return,
        };
        let written = name(ident);
        if written == "crate" && !leading {
            return self.crate_keyword(bytes(ident));
        }
        if self.moved_root(&written, bytes(ident)) {
            return;
        }
        if let Some(crate_) = self.tables.root_crate(&self.ribs, leading, &written, true) {
            self.rewrite_root(leading, &written, &crate_, bytes(ident), wanted);
            if let (UseTree::Name(_), Def::Module(_)) = (tree, &crate_)
                && self.tables.library_is_hidden()
            {
                // `use crate;` says no name.
                let end = bytes(ident).end;
                self.edits()
                    .after(end, format!(" as {written}"), bytes(ident).start);
            }
        }
    }

    /// Checks every leaf for items that can't be run.
    fn use_leaves(
        &mut self,
        tree: &UseTree,
        leading: bool,
        prefix: &mut Vec<String>,
        spans: &mut Vec<Range<usize>>,
    ) {
        let ident = match tree {
            UseTree::Path(path) => &path.ident,
            UseTree::Name(leaf) => &leaf.ident,
            UseTree::Rename(leaf) => &leaf.ident,
            UseTree::Group(group) => {
                group
                    .items
                    .iter()
                    .for_each(|tree| self.use_leaves(tree, leading, prefix, spans));
                return;
            }
            UseTree::Glob(_) => {
                // This is a glob of a refused module, or of a crate.
                self.check_import(leading, prefix, spans);
                return;
            }
        };
        let is_self = ident == "self" && !prefix.is_empty();
        if !is_self {
            prefix.push(name(ident));
            spans.push(bytes(ident));
        }
        match tree {
            UseTree::Path(path) => self.use_leaves(&path.tree, leading, prefix, spans),
            _ => self.check_import(leading, prefix, spans),
        }
        if !is_self {
            prefix.pop();
            spans.pop();
        }
    }

    fn check_import(&mut self, leading: bool, path: &[String], spans: &[Range<usize>]) {
        if path.is_empty() {
            return;
        }
        self.importing = true;
        if self.tables.edition_2015 && !matches!(path[0].as_str(), "crate" | "self" | "super") {
            self.check(true, path, spans, Ns::Type);
        } else {
            self.check(leading, path, spans, Ns::Type);
        }
        self.importing = false;
    }

    /// Whether an item that is visited is one of the root of what was a crate.
    fn is_in_root(&self) -> bool {
        let module = current_module(&self.ribs);
        self.tables.crate_root(module) == module
            && !self
                .ribs
                .iter()
                .rev()
                .take_while(|rib| !matches!(rib, Rib::Module(_)))
                .any(|rib| matches!(rib, Rib::Block(_)))
    }

    pub(super) fn extern_crate(&mut self, item: &ItemExternCrate) {
        self.cfg_attributes(&item.attrs);
        let target = name(&item.ident);
        if self.tables.library.as_ref() == Some(&target) {
            // The library is this same crate. Modules may reach it through the item: `super::library::Type`.
            let alias = item.rename.as_ref().map_or(&item.ident, |(_, alias)| alias);
            let import = format!("use crate as {alias};");
            let range = bytes(&item.extern_token).start..bytes(&item.semi_token).end;
            self.edits().replace(range, import);
            for attr in item
                .attrs
                .iter()
                .filter(|attr| attr.path().is_ident("macro_use"))
            {
                self.edits().replace(bytes(attr), "");
            }
            return;
        }
        self.refuse_crate(&target, bytes(&item.ident));
        if self.tables.crate_root(current_module(&self.ribs)) != ROOT {
            // Only a crate's root may ask for macros: the generated crate's asks for those of all roots.
            for attr in item
                .attrs
                .iter()
                .filter(|attr| attr.path().is_ident("macro_use"))
            {
                self.edits().replace(bytes(attr), "");
            }
        }
        let is_of_std = |name: &str| matches!(name, "std" | "core" | "alloc");
        if !is_of_std(&target) {
            return;
        }
        let alias = match &item.rename {
            // `extern crate core as std;` makes `std::` known in all modules, which an import does not. Paths that begin
            // with such a name are led to the runtime one by one.
            Some((_, alias))
                if is_of_std(&name(alias))
                    && self.is_in_root()
                    && matches!(item.vis, syn::Visibility::Inherited) =>
            {
                return;
            }
            Some((_, alias)) => alias,
            // In the root, the item makes the crate known everywhere, by its own name.
            None if self.is_in_root() => return,
            None => &item.ident,
        };
        // `extern crate std as foo;` becomes an import of the runtime's std, and so does a crate that a module declares.
        let range = bytes(&item.extern_token).start..bytes(&item.semi_token).end;
        let import = format!("use ::{}::{target} as {alias};", self.counting.root());
        self.edits().replace(range, import);
        for attr in item
            .attrs
            .iter()
            .filter(|attr| attr.path().is_ident("macro_use"))
        {
            self.edits().replace(bytes(attr), "");
        }
    }
}

/// Whether a tree below std leads to an item of which the runtime has its own version.
fn reaches(tree: &UseTree) -> bool {
    match tree {
        UseTree::Path(path) => support::overridden(&name(&path.ident)),
        UseTree::Name(leaf) => leaf.ident == "self" || support::overridden(&name(&leaf.ident)),
        UseTree::Rename(leaf) => leaf.ident == "self" || support::overridden(&name(&leaf.ident)),
        UseTree::Glob(_) => true,
        UseTree::Group(group) => group.items.iter().any(reaches),
    }
}
