//! `use` trees and `extern crate`.

use std::ops::Range;

use syn::{ItemExternCrate, ItemUse, UseTree};

use super::{Walker, bytes};
use crate::resolve::{Def, Ns, name};
use crate::support;

impl Walker<'_> {
    pub(super) fn use_item(&mut self, item: &ItemUse) {
        self.use_root(&item.tree, item.leading_colon.is_some());
        self.use_leaves(
            &item.tree,
            item.leading_colon.is_some(),
            &mut Vec::new(),
            &mut Vec::new(),
        );
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

    pub(super) fn extern_crate(&mut self, item: &ItemExternCrate) {
        let target = name(&item.ident);
        if self.tables.library.as_ref() == Some(&target) {
            // The library is this same crate.
            let import = item
                .rename
                .as_ref()
                .map_or_else(String::new, |(_, alias)| format!("use crate as {alias};"));
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
        let Some((_, alias)) = &item.rename else {
            return;
        };
        if !matches!(target.as_str(), "std" | "core" | "alloc") {
            return;
        }
        // `extern crate std as foo;` becomes an import of the runtime's std.
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
