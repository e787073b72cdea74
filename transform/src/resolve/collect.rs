//! Fills the tables: collects what every module and block declares.

use std::collections::HashMap;
use std::rc::Rc;

use syn::ext::IdentExt;
use syn::{FnArg, Ident, ImplItem, Item, ItemImpl, ReceiverKind, Stmt, TraitItem, Type, UseTree};

use super::{
    Def, Function, Import, ItemData, ItemId, ItemKind, ModId, Module, Names, Ns, ROOT, Receiver,
    Tables,
};
use crate::load::Crate;

/// Returns the tables of a whole crate.
pub(crate) fn collect(program: &Crate) -> Tables {
    let dependencies = program.package.dependencies.names().collect();
    let mut tables = Tables::new(dependencies, program.package.edition == "2015");
    if !program.roots.is_empty() {
        tables.library.clone_from(&program.package.library);
    }
    let mut collector = Collector {
        program,
        tables: &mut tables,
    };
    collector.items(0, ROOT, &program.files[0].tree.items, false);
    for root in &program.roots {
        let module = collector.tables.modules.len();
        collector.tables.modules.push(Module {
            name: root.module.clone(),
            parent: Some(ROOT),
            is_root: true,
            names: Names::default(),
        });
        collector.tables.extra_roots.push(module);
        let file = root.files.start;
        collector.items(file, module, &program.files[file].tree.items, false);
    }
    // Types must be known before the implementations that belong to them.
    collector.impls(0, ROOT, &program.files[0].tree.items);
    for (root, module) in program
        .roots
        .iter()
        .zip(collector.tables.extra_roots.clone())
    {
        let file = root.files.start;
        collector.impls(file, module, &program.files[file].tree.items);
    }
    tables.settle();
    tables
}

/// Declares the items of a block, in a module.
pub(crate) fn declare_block(
    tables: &mut Tables,
    program: &Crate,
    file: usize,
    module: ModId,
    stmts: &[Stmt],
) -> Names {
    let mut names = Names::default();
    let mut collector = Collector { program, tables };
    for stmt in stmts {
        if let Stmt::Item(item) = stmt {
            collector.item(file, module, item, true, &mut names);
        }
    }
    names
}

/// Declares the methods of an impl inside a block.
pub(crate) fn declare_impl(tables: &mut Tables, file: usize, module: ModId, item: &ItemImpl) {
    for part in &item.items {
        if let ImplItem::Fn(method) = part {
            let receiver = receiver(&method.sig);
            add_method(tables, file, module, None, &method.sig.ident, receiver);
        }
    }
}

struct Collector<'a> {
    program: &'a Crate,
    tables: &'a mut Tables,
}

impl Collector<'_> {
    fn items(&mut self, file: usize, module: ModId, items: &[Item], in_block: bool) {
        let mut names = std::mem::take(&mut self.tables.modules[module].names);
        for item in items {
            self.item(file, module, item, in_block, &mut names);
        }
        self.tables.modules[module].names = names;
    }

    fn impls(&mut self, file: usize, module: ModId, items: &[Item]) {
        for item in items {
            match item {
                Item::Impl(item) if !self.program.cfg.off(&item.attrs) => {
                    let owner = self.owner(module, &item.self_ty);
                    if let (Some(owner), Some((path, _))) = (owner, &item.trait_)
                        && let Some(last) = path.segments.last()
                    {
                        self.tables.trait_impls.insert((owner, name(&last.ident)));
                    }
                    for part in &item.items {
                        if let ImplItem::Fn(method) = part {
                            add_method(
                                self.tables,
                                file,
                                module,
                                owner,
                                &method.sig.ident,
                                receiver(&method.sig),
                            );
                        }
                    }
                }
                Item::Trait(item) if !self.program.cfg.off(&item.attrs) => {
                    for part in &item.items {
                        if let TraitItem::Fn(method) = part {
                            add_method(
                                self.tables,
                                file,
                                module,
                                None,
                                &method.sig.ident,
                                receiver(&method.sig),
                            );
                        }
                    }
                }
                Item::Macro(item) => {
                    if let Some((part, items)) = self.program.part(file, item) {
                        self.impls(part, module, items);
                    }
                }
                Item::Mod(item) => {
                    let at = item.ident.span().byte_range().start;
                    let Some(&child) = self.tables.module_by_place.get(&(file, at)) else {
                        continue;
                    };
                    if let Some((file, items)) = Self::module_items(self.program, file, item) {
                        self.impls(file, child, items);
                    }
                }
                _ => {}
            }
        }
    }

    fn owner(&self, module: ModId, ty: &Type) -> Option<ItemId> {
        let Type::Path(ty) = ty else { return None };
        let segments: Vec<String> = ty
            .path
            .segments
            .iter()
            .map(|segment| name(&segment.ident))
            .collect();
        match self
            .tables
            .resolve(&[super::Rib::Module(module)], false, &segments, Ns::Type)?
        {
            Def::Item(item) => Some(item),
            _ => None,
        }
    }

    fn module_items<'i>(
        program: &'i Crate,
        file: usize,
        item: &'i syn::ItemMod,
    ) -> Option<(usize, &'i [Item])> {
        match &item.content {
            Some((_, items)) => Some((file, items)),
            None => {
                let at = syn::spanned::Spanned::span(item).byte_range().start;
                let child = *program.modules.get(&(file, at))?;
                Some((child, &program.files[child].tree.items))
            }
        }
    }

    fn item(&mut self, file: usize, module: ModId, item: &Item, in_block: bool, names: &mut Names) {
        if self.program.cfg.off(attributes(item)) {
            return;
        }
        let mut add = |ident: &Ident, kind: ItemKind, spaces: &[Ns]| {
            let at = ident.span().byte_range().start;
            let data = ItemData {
                kind,
                name: name(ident),
                module,
                file,
                at,
                in_block,
            };
            let id = add_item(self.tables, data);
            for ns in spaces {
                names.items.insert((*ns, name(ident)), Def::Item(id));
            }
        };
        match item {
            Item::Fn(item) => {
                let (attrs, vis, sig) = (item.attrs.clone(), item.vis.clone(), item.sig.clone());
                add(
                    &item.sig.ident,
                    ItemKind::Fn(Rc::new(Function { attrs, vis, sig })),
                    &[Ns::Value],
                )
            }
            Item::Static(item) => {
                let mutable = matches!(item.mutability, syn::StaticMutability::Mut(_));
                let kind = if mutable {
                    ItemKind::StaticMut(Rc::new((*item.ty).clone()))
                } else {
                    ItemKind::Value
                };
                add(&item.ident, kind, &[Ns::Value]);
            }
            Item::Const(item) if item.ident != "_" => {
                let kind = ItemKind::Const(Rc::new(item.clone()));
                add(&item.ident, kind, &[Ns::Value])
            }
            Item::Struct(item) => {
                let both = [Ns::Type, Ns::Value];
                let spaces = if matches!(item.fields, syn::Fields::Named(_)) {
                    &both[..1]
                } else {
                    &both[..]
                };
                add(&item.ident, ItemKind::Struct(Rc::new(item.clone())), spaces);
            }
            Item::Enum(item) => add(
                &item.ident,
                ItemKind::Enum(Rc::new(item.clone())),
                &[Ns::Type],
            ),
            Item::Union(item) => add(&item.ident, ItemKind::Other, &[Ns::Type]),
            Item::Trait(item) => add(
                &item.ident,
                ItemKind::Trait(Rc::new(item.clone())),
                &[Ns::Type],
            ),
            Item::TraitAlias(item) => add(&item.ident, ItemKind::Other, &[Ns::Type]),
            Item::Type(item) => add(
                &item.ident,
                ItemKind::Alias(Rc::new(item.clone())),
                &[Ns::Type],
            ),
            Item::ForeignMod(item) => {
                for foreign in &item.items {
                    match foreign {
                        syn::ForeignItem::Fn(item) => {
                            add(&item.sig.ident, ItemKind::Other, &[Ns::Value])
                        }
                        syn::ForeignItem::Static(item) => {
                            add(&item.ident, ItemKind::Other, &[Ns::Value])
                        }
                        _ => {}
                    }
                }
            }
            Item::Macro(item) => {
                if let Some(ident) = &item.ident {
                    let exported = item
                        .attrs
                        .iter()
                        .any(|attr| attr.path().is_ident("macro_export"));
                    // Textual scope is handled by the walker; only exported macros have a path.
                    add(ident, ItemKind::Macro, &[]);
                    if exported {
                        let id = self.tables.items.len() - 1;
                        let root = &mut self.tables.modules[ROOT].names;
                        let target = if module == ROOT && !in_block {
                            names
                        } else {
                            root
                        };
                        target.items.insert((Ns::Macro, name(ident)), Def::Item(id));
                    }
                } else if let Some((part, items)) = self.program.part(file, item) {
                    for item in items {
                        self.item(part, module, item, in_block, names);
                    }
                }
            }
            Item::Mod(item) => {
                let child = self.tables.modules.len();
                self.tables.modules.push(Module {
                    name: name(&item.ident),
                    parent: Some(module),
                    is_root: false,
                    names: Names::default(),
                });
                let at = item.ident.span().byte_range().start;
                self.tables.module_by_place.insert((file, at), child);
                names
                    .items
                    .insert((Ns::Type, name(&item.ident)), Def::Module(child));
                if let Some((file, items)) = Self::module_items(self.program, file, item) {
                    self.items(file, child, items, in_block);
                }
            }
            Item::Use(item) => use_tree(
                names,
                item.leading_colon.is_some(),
                &mut Vec::new(),
                &item.tree,
            ),
            Item::ExternCrate(item) => self.extern_crate(module, item, in_block, names),
            _ => {}
        }
    }

    fn extern_crate(
        &mut self,
        module: ModId,
        item: &syn::ItemExternCrate,
        in_block: bool,
        names: &mut Names,
    ) {
        let target = name(&item.ident);
        let bound = item
            .rename
            .as_ref()
            .map_or_else(|| target.clone(), |(_, alias)| name(alias));
        if bound == "_" {
            return;
        }
        if target == "self" || self.tables.library.as_ref() == Some(&target) {
            names.items.insert((Ns::Type, bound), Def::Module(ROOT));
            return;
        }
        // In the root, the item also adds to the crates that every module sees.
        if module == ROOT && !in_block {
            self.tables
                .crate_aliases
                .insert(bound.clone(), vec![target.clone()]);
        }
        let import = Import {
            segments: vec![target],
            leading: true,
        };
        names.imports.entry(bound).or_default().push(import);
    }
}

fn add_item(tables: &mut Tables, data: ItemData) -> ItemId {
    let id = tables.items.len();
    tables.by_place.insert((data.file, data.at), id);
    tables.items.push(data);
    id
}

fn add_method(
    tables: &mut Tables,
    file: usize,
    module: ModId,
    owner: Option<ItemId>,
    ident: &Ident,
    receiver: Receiver,
) {
    let at = ident.span().byte_range().start;
    let kind = ItemKind::Method(owner, receiver);
    let id = add_item(
        tables,
        ItemData {
            kind,
            name: name(ident),
            module,
            file,
            at,
            in_block: false,
        },
    );
    tables.methods.entry(name(ident)).or_default().push(id);
}

fn receiver(signature: &syn::Signature) -> Receiver {
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) => match &receiver.kind {
            ReceiverKind::Reference(_, _, None) => Receiver::Shared,
            ReceiverKind::Reference(_, _, Some(_)) => Receiver::Mutable,
            ReceiverKind::Value => Receiver::Value,
            _ => Receiver::Other,
        },
        _ => Receiver::Other,
    }
}

/// Returns an identifier without `r#`.
pub(crate) fn name(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// Returns the names of a path's segments.
pub(crate) fn segment_names(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|it| name(&it.ident)).collect()
}

/// Returns the path that a type consists of.
pub(crate) fn path_of(ty: &Type) -> Option<(bool, Vec<String>)> {
    match ty {
        Type::Path(ty) if ty.qself.is_none() => Some((
            ty.path.leading_colon.is_some(),
            ty.path
                .segments
                .iter()
                .map(|segment| name(&segment.ident))
                .collect(),
        )),
        Type::Paren(ty) => path_of(&ty.elem),
        _ => None,
    }
}

fn use_tree(names: &mut Names, leading: bool, prefix: &mut Vec<String>, tree: &UseTree) {
    let import = |prefix: &[String], last: String| {
        let mut segments = prefix.to_vec();
        if last != "self" {
            segments.push(last);
        }
        Import { segments, leading }
    };
    match tree {
        UseTree::Path(path) => {
            prefix.push(name(&path.ident));
            use_tree(names, leading, prefix, &path.tree);
            prefix.pop();
        }
        UseTree::Name(leaf) => {
            let last = name(&leaf.ident);
            let bound = if last == "self" {
                prefix.last().cloned()
            } else {
                Some(last.clone())
            };
            if let Some(bound) = bound {
                let import = import(prefix, last);
                names.imports.entry(bound).or_default().push(import);
            }
        }
        UseTree::Rename(leaf) if leaf.rename == "_" => {}
        UseTree::Rename(leaf) => {
            let import = import(prefix, name(&leaf.ident));
            let bound = name(&leaf.rename);
            names.imports.entry(bound).or_default().push(import);
        }
        UseTree::Glob(_) => names.globs.push(Import {
            segments: prefix.clone(),
            leading,
        }),
        UseTree::Group(group) => {
            for tree in &group.items {
                use_tree(names, leading, prefix, tree);
            }
        }
    }
}

/// Returns the attributes of any item.
pub(crate) fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns the names that a pattern binds.
pub(crate) fn bound_names(pattern: &syn::Pat) -> HashMap<String, usize> {
    struct Bound(HashMap<String, usize>);
    impl<'ast> syn::visit::Visit<'ast> for Bound {
        fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
            self.0.insert(
                name(&pattern.ident),
                pattern.ident.span().byte_range().start,
            );
            if let Some((_, inner)) = &pattern.subpat {
                self.visit_pat(inner);
            }
        }
        // Names bound in a guard or a constant of the pattern are not the pattern's.
        fn visit_expr(&mut self, _: &'ast syn::Expr) {}
    }
    let mut bound = Bound(HashMap::new());
    syn::visit::Visit::visit_pat(&mut bound, pattern);
    bound.0
}
