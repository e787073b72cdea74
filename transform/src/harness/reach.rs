//! Makes harnesses accessible to the module of P̂ₖ.

use std::collections::HashSet;

use syn::Visibility;

use super::Harness;
use crate::edit::Edits;
use crate::load::Crate;
use crate::resolve::ROOT;
use crate::walk::Analysis;

/// Makes the harnesses, and the modules around them, visible in the whole crate.
pub(crate) fn make_reachable(
    program: &Crate,
    analysis: &Analysis,
    chosen: &[&Harness],
    edits: &mut [Edits],
) {
    let mut done: HashSet<(usize, usize)> = HashSet::new();
    let tables = &analysis.tables;
    for harness in chosen {
        for &item in
            std::iter::once(&harness.item).chain(harness.inputs.iter().map(|input| &input.item))
        {
            let data = &tables.items[item];
            if done.insert((data.file, data.at)) {
                widen(program, data.file, data.at, edits);
            }
            let mut module = data.module;
            while module != ROOT {
                let declared = tables
                    .module_by_place
                    .iter()
                    .find(|(_, id)| **id == module)
                    .map(|(place, _)| *place);
                if let Some((file, at)) = declared
                    && done.insert((file, at))
                {
                    widen(program, file, at, edits);
                }
                module = tables.modules[module].parent.unwrap_or(ROOT);
            }
        }
    }
}

/// Makes the item whose name is at `at` visible in the whole crate.
fn widen(program: &Crate, file: usize, at: usize, edits: &mut [Edits]) {
    struct Find<'f> {
        at: usize,
        edits: &'f mut Edits,
    }
    impl Find<'_> {
        fn item(&mut self, vis: &Visibility, ident: &syn::Ident, keyword: usize) {
            if ident.span().byte_range().start != self.at {
                return;
            }
            match vis {
                Visibility::Public(_) => {}
                Visibility::Restricted(vis) => {
                    let range = vis.pub_token.span.byte_range().start
                        ..vis.paren_token.span.close().byte_range().end;
                    self.edits.replace(range, "pub(crate)");
                }
                Visibility::Inherited => self.edits.before(keyword, "pub(crate) "),
            }
        }
    }
    impl<'ast> syn::visit::Visit<'ast> for Find<'_> {
        fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
            let start = syn::spanned::Spanned::span(&item.sig).byte_range().start;
            self.item(&item.vis, &item.sig.ident, start);
        }
        fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
            let keyword = item
                .unsafety
                .map_or(item.mod_token.span, |token| token.span);
            self.item(&item.vis, &item.ident, keyword.byte_range().start);
            syn::visit::visit_item_mod(self, item);
        }
        fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
            self.item(
                &item.vis,
                &item.ident,
                item.struct_token.span.byte_range().start,
            );
        }
        fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
            self.item(
                &item.vis,
                &item.ident,
                item.enum_token.span.byte_range().start,
            );
        }
    }
    let mut find = Find {
        at,
        edits: &mut edits[file],
    };
    syn::visit::Visit::visit_file(&mut find, &program.files[file].tree);
}
