//! The scopes of names: the ribs that come and go with functions, blocks, closures and patterns.

use std::collections::HashSet;

use syn::visit::{self, Visit};
use syn::{Block, FnArg, GenericParam, Generics, Item, ItemImpl, ItemMod, Pat, Signature, Stmt};

use super::{Walker, bytes};
use crate::resolve::{
    Def, ItemId, ItemKind, Ns, Rib, bound_names, current_module, declare_block, declare_impl, name,
};

impl Walker<'_> {
    /// Runs `inside` with one more rib.
    pub(super) fn with_rib(&mut self, rib: Rib, inside: impl FnOnce(&mut Self)) {
        self.ribs.push(rib);
        inside(self);
        self.ribs.pop();
    }

    pub(super) fn with_variables(&mut self, inside: impl FnOnce(&mut Self)) {
        self.with_rib(Rib::Variables(HashSet::new()), inside);
    }

    pub(super) fn with_generics(&mut self, generics: &Generics, inside: impl FnOnce(&mut Self)) {
        let names = generics.params.iter().filter_map(|param| match param {
            GenericParam::Type(param) => Some(name(&param.ident)),
            GenericParam::Const(param) => Some(name(&param.ident)),
            GenericParam::Lifetime(_) => None,
        });
        self.with_rib(Rib::Generics(names.collect()), inside);
    }

    /// Adds the variables that a pattern binds.
    pub(super) fn bind(&mut self, pattern: &Pat) {
        for bound in bound_names(pattern).into_keys() {
            // A constant, a static or a unit struct in a pattern is not a new variable.
            let existing =
                self.tables
                    .resolve(&self.ribs, false, std::slice::from_ref(&bound), Ns::Value);
            let constant = matches!(existing, Some(Def::Item(item)) if !matches!(self.tables.items[item].kind, ItemKind::Fn(_)));
            if constant {
                continue;
            }
            self.guards.remove(&bound);
            self.scopes.remove(&bound);
            self.builders.remove(&bound);
            self.objects.insert(bound.clone(), false);
            let variables = self.ribs.iter_mut().rev().find_map(|rib| match rib {
                Rib::Variables(names) => Some(names),
                _ => None,
            });
            if let Some(names) = variables {
                names.insert(bound);
            }
        }
    }

    pub(super) fn resolve(&self, leading: bool, segments: &[String], ns: Ns) -> Option<Def> {
        self.tables.resolve(&self.ribs, leading, segments, ns)
    }

    /// Returns the item whose name is at `at`.
    pub(super) fn item_at(&self, ident: &syn::Ident) -> Option<ItemId> {
        self.tables
            .by_place
            .get(&(self.file, bytes(ident).start))
            .copied()
    }

    pub(super) fn function(&mut self, sig: &Signature, body: Option<&Block>) {
        let item = self.item_at(&sig.ident);
        self.functions.extend(item);
        let outer = self.constant;
        let is_unsafe = matches!(sig.safety, syn::Safety::Unsafe(_));
        let in_unsafe = std::mem::replace(&mut self.in_unsafe, is_unsafe);
        let around = std::mem::take(&mut self.loops);
        let objects = std::mem::take(&mut self.objects);
        let known = body.map(|body| self.lasting.callables(body));
        let callables = std::mem::replace(&mut self.callables, known.unwrap_or_default());
        let known = body.map(|body| self.lasting.pacers(body));
        let pacers = std::mem::replace(&mut self.pacers, known.unwrap_or_default());
        if let Some(body) = body {
            self.tell_of_function(sig, body);
        }
        // A function inside of a constant is no constant.
        self.constant = usize::from(sig.constness.is_some() || self.in_macro);
        self.with_generics(&sig.generics, |walker| {
            walker.with_variables(|walker| {
                walker.visit_generics(&sig.generics);
                for input in &sig.inputs {
                    walker.visit_fn_arg(input);
                    if let FnArg::Typed(input) = input {
                        walker.bind(&input.pat);
                        let object = walker.object_parameter(input);
                        walker.objects.extend(object.map(|name| (name, true)));
                        walker.note_starter(&input.pat, &input.ty);
                    }
                }
                walker.visit_return_type(&sig.output);
                if let Some(body) = body {
                    walker.visit_block(body);
                }
            });
        });
        self.constant = outer;
        self.in_unsafe = in_unsafe;
        self.loops = around;
        self.objects = objects;
        self.callables = callables;
        self.pacers = pacers;
        if item.is_some() {
            self.functions.pop();
        }
    }

    pub(super) fn block(&mut self, block: &Block) {
        let module = current_module(&self.ribs);
        let known = self.tables.items.len();
        let names = declare_block(
            &mut self.tables,
            self.program,
            self.file,
            module,
            &block.stmts,
        );
        self.note_block(block, known);
        for stmt in &block.stmts {
            if let Stmt::Item(Item::Impl(item)) = stmt {
                declare_impl(&mut self.tables, self.file, module, item);
            }
        }
        self.note_last(block);
        let macros = self.macros.len();
        self.with_rib(Rib::Block(names), |walker| {
            walker.with_variables(|walker| {
                block.stmts.iter().for_each(|stmt| walker.visit_stmt(stmt))
            });
        });
        self.macros.truncate(macros);
    }

    /// Notes the offset at which a block begins whose items are those from `first` on.
    fn note_block(&mut self, block: &Block, first: usize) {
        if self.tables.items.len() == first {
            return;
        }
        let open = block.brace_token.span.open().byte_range();
        let source = self.program.files[self.file].source.text.as_str();
        let inside = source.get(open.clone()) == Some("{");
        if inside && !source[open.end..].trim_start().starts_with("#!") {
            let items = first..self.tables.items.len();
            self.blocks.extend(items.map(|item| (item, open.end)));
        }
    }

    pub(super) fn module(&mut self, item: &ItemMod) {
        item.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        self.visit_visibility(&item.vis);
        let Some(&module) = self
            .tables
            .module_by_place
            .get(&(self.file, bytes(&item.ident).start))
        else {
            return;
        };
        let outer = self.file;
        let macro_use = item
            .attrs
            .iter()
            .any(|attr| attr.path().is_ident("macro_use"));
        let macros = self.macros.len();
        let program = self.program;
        match &item.content {
            Some((_, items)) => self.with_rib(Rib::Module(module), |walker| {
                items.iter().for_each(|item| walker.visit_item(item));
            }),
            None => {
                let Some(&file) = program.modules.get(&(outer, bytes(item).start)) else {
                    return;
                };
                self.file = file;
                let tree = &program.files[file].tree;
                self.with_rib(Rib::Module(module), |walker| {
                    tree.attrs
                        .iter()
                        .for_each(|attr| walker.visit_attribute(attr));
                    tree.items.iter().for_each(|item| walker.visit_item(item));
                });
                self.file = outer;
            }
        }
        if !macro_use {
            self.macros.truncate(macros);
        }
    }

    pub(super) fn implementation(&mut self, item: &ItemImpl) {
        self.with_generics(&item.generics, |walker| {
            walker.check_promise(item);
            visit::visit_item_impl(walker, item)
        });
    }
}
