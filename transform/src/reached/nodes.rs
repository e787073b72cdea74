//! The parts of a crate that can be reached by themselves, and the condition on which each is reached.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, ImplItem, Item, ItemImpl, TraitItem, UseTree, Visibility};

use super::words::{Mentions, plain};
use crate::load::Crate;
use crate::resolve::attributes;
use crate::unsafe_code;

/// A part of the crate.
pub(super) struct Node {
    pub(super) file: usize,
    pub(super) range: Range<usize>,
    /// The range of the body, if the part is a function.
    pub(super) body: Option<Range<usize>>,
    pub(super) gate: Gate,
    /// Whether the part is an import, which is no code of its module.
    pub(super) import: bool,
    pub(super) mentions: Mentions,
    /// The path of the part's module, `a::b`.
    pub(super) module: String,
    /// The innermost module around the part that exists for tests alone: its path and its name.
    pub(super) tests: Option<(String, String)>,
    /// What `unsafe` code in the part does out of sight: offset and description.
    pub(super) hidden: Vec<(usize, String)>,
}

/// The condition on which a part is reached.
pub(super) enum Gate {
    /// One of these names is mentioned.
    Named(Vec<String>),
    /// The name is mentioned, and one of the crate's types that the method belongs to, if there is any.
    Method(String, BTreeSet<String>),
    /// One of the crate's types that the part is about is mentioned; with no such types, the part is always reached.
    About(BTreeSet<String>),
    /// A part in its module, or in a module below, is reached.
    Below,
    /// The same, or the module's name, which is this, is mentioned.
    Within(String),
    /// The part is always reached.
    Always,
}

/// Collects all parts of the crate.
pub(super) fn collect(program: &Crate) -> Vec<Node> {
    let (mut types, mut declared) = (HashSet::new(), HashSet::new());
    for file in &program.files {
        type_names(&file.tree.items, &mut types, &mut declared);
    }
    declared.extend(types.iter().cloned());
    let mut collector = Collector {
        program,
        types,
        declared,
        tests: None,
        nodes: Vec::new(),
    };
    collector.items(0, "", &program.files[0].tree.items);
    for root in &program.roots {
        let file = root.files.start;
        collector.items(file, &root.module, &program.files[file].tree.items);
    }
    collector.nodes
}

/// Collects the names of types and traits, and of modules, functions and macros, including those inside of functions.
fn type_names(items: &[Item], names: &mut HashSet<String>, others: &mut HashSet<String>) {
    struct Types<'n>(&'n mut HashSet<String>, &'n mut HashSet<String>);
    impl<'ast> syn::visit::Visit<'ast> for Types<'_> {
        fn visit_item(&mut self, item: &'ast Item) {
            let ident = match item {
                Item::Struct(item) => Some(&item.ident),
                Item::Enum(item) => Some(&item.ident),
                Item::Union(item) => Some(&item.ident),
                Item::Trait(item) => Some(&item.ident),
                Item::Type(item) => Some(&item.ident),
                _ => None,
            };
            let other = match item {
                Item::Mod(item) => Some(&item.ident),
                Item::Fn(item) => Some(&item.sig.ident),
                Item::Macro(item) => item.ident.as_ref(),
                _ => None,
            };
            self.1.extend(other.map(|ident| plain(&ident.to_string())));
            self.0.extend(ident.map(|ident| plain(&ident.to_string())));
            syn::visit::visit_item(self, item);
        }
    }
    for item in items {
        syn::visit::Visit::visit_item(&mut Types(names, others), item);
    }
}

/// Whether the attribute is `#[cfg(test)]`.
fn is_for_tests(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg")
        && attr
            .parse_args::<syn::Path>()
            .is_ok_and(|path| path.is_ident("test"))
}

struct Collector<'p> {
    program: &'p Crate,
    types: HashSet<String>,
    /// The names of types and traits, and all other names that the crate declares.
    declared: HashSet<String>,
    /// The innermost module for tests alone that is being looked at.
    tests: Option<(String, String)>,
    nodes: Vec<Node>,
}

impl Collector<'_> {
    fn items(&mut self, file: usize, module: &str, items: &[Item]) {
        for item in items {
            if self.program.cfg.off(attributes(item)) {
                continue;
            }
            self.item(file, module, item);
            if let Item::Macro(call) = item
                && let Some((part, items)) = self.program.part(file, call)
            {
                self.items(part, module, items);
            }
        }
    }

    fn item(&mut self, file: usize, module: &str, item: &Item) {
        let one = |ident: &syn::Ident| Gate::Named(vec![plain(&ident.to_string())]);
        let mut body = None;
        let gate = match item {
            Item::Mod(item) => {
                let name = plain(&item.ident.to_string());
                let below = format!("{module}::{name}");
                let around = self.tests.clone();
                if item.attrs.iter().any(is_for_tests) {
                    self.tests = Some((below.clone(), name));
                }
                match &item.content {
                    Some((_, items)) => self.items(file, &below, items),
                    None => {
                        let at = item.span().byte_range().start;
                        if let Some(&child) = self.program.modules.get(&(file, at)) {
                            self.items(child, &below, &self.program.files[child].tree.items);
                        }
                    }
                }
                self.tests = around;
                return;
            }
            Item::Impl(item) => return self.implementation(file, module, item),
            Item::Fn(item) => {
                body = replaceable(&item.sig, &item.block);
                one(&item.sig.ident)
            }
            Item::Const(item) if item.ident == "_" => Gate::Always,
            Item::Const(item) => one(&item.ident),
            Item::Static(item) => one(&item.ident),
            Item::Struct(item) => one(&item.ident),
            Item::Enum(item) => {
                let variants = item.variants.iter().map(|it| plain(&it.ident.to_string()));
                Gate::Named(
                    std::iter::once(plain(&item.ident.to_string()))
                        .chain(variants)
                        .collect(),
                )
            }
            Item::Union(item) => one(&item.ident),
            Item::Type(item) => one(&item.ident),
            Item::TraitAlias(item) => one(&item.ident),
            Item::Trait(item) => {
                let methods = item.items.iter().filter_map(|part| match part {
                    TraitItem::Fn(method) => Some(plain(&method.sig.ident.to_string())),
                    _ => None,
                });
                Gate::Named(
                    std::iter::once(plain(&item.ident.to_string()))
                        .chain(methods)
                        .collect(),
                )
            }
            Item::ForeignMod(item) => {
                let mut names = Vec::new();
                for foreign in &item.items {
                    match foreign {
                        syn::ForeignItem::Fn(item) => {
                            names.push(plain(&item.sig.ident.to_string()))
                        }
                        syn::ForeignItem::Static(item) => {
                            names.push(plain(&item.ident.to_string()))
                        }
                        syn::ForeignItem::Type(item) => names.push(plain(&item.ident.to_string())),
                        _ => {}
                    }
                }
                if names.is_empty() {
                    Gate::Always
                } else {
                    Gate::Named(names)
                }
            }
            Item::Macro(item) => match &item.ident {
                Some(ident) => one(ident),
                // What the file declares is not known: its module stands for its names, unless there may be methods of types
                // from elsewhere in it.
                None if is_include(&item.mac) && self.program.package.build_only_declares() => {
                    Gate::Within(
                        module
                            .rsplit("::")
                            .next()
                            .map(str::to_owned)
                            .unwrap_or_default(),
                    )
                }
                None => declared(item.mac.tokens.clone()),
            },
            Item::Use(item) => self.import(item),
            Item::ExternCrate(item) => {
                let used = item
                    .attrs
                    .iter()
                    .any(|attr| attr.path().is_ident("macro_use"));
                let name = item.rename.as_ref().map_or(&item.ident, |(_, name)| name);
                if used || name == "_" {
                    Gate::Always
                } else {
                    one(name)
                }
            }
            _ => Gate::Always,
        };
        let gate = if called_from_outside(attributes(item)) {
            Gate::Always
        } else {
            gate
        };
        let mut mentions = Mentions::of(item);
        match item {
            Item::Use(item) => {
                let roots = roots_of_use(&item.tree);
                if matches!(gate, Gate::Named(_)) {
                    // The import of each of its names is a part of its own.
                    mentions.names.clear();
                    self.leaves(file, module, &item.tree, &mut Vec::new());
                }
                mentions.roots.extend(roots);
            }
            Item::ExternCrate(item) => {
                mentions.roots.insert(plain(&item.ident.to_string()));
            }
            _ => {}
        }
        self.add(file, module, item, body, gate, mentions);
        if let Some(node) = self.nodes.last_mut() {
            node.import = matches!(item, Item::Use(_) | Item::ExternCrate(_));
            // A macro can be used outside of its module.
            if let Item::Macro(_) = item {
                node.tests = None;
            }
        }
        if let (Item::ForeignMod(item), Some(node)) = (item, self.nodes.last_mut()) {
            for foreign in &item.items {
                let ident = match foreign {
                    syn::ForeignItem::Fn(item) => &item.sig.ident,
                    syn::ForeignItem::Static(item) => &item.ident,
                    _ => continue,
                };
                let what = format!("`{ident}`, which is not written in Rust");
                node.hidden.push((ident.span().byte_range().start, what));
            }
        }
    }

    /// Adds the names that an import from the crate or from std binds, each as a part of its own: a harness that
    /// mentions one of them need not use the others. `path` is the path before the tree.
    fn leaves(&mut self, file: usize, module: &str, tree: &UseTree, path: &mut Vec<String>) {
        let (original, binds, range) = match tree {
            UseTree::Path(it) => {
                path.push(plain(&it.ident.to_string()));
                self.leaves(file, module, &it.tree, path);
                path.pop();
                return;
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.leaves(file, module, tree, path);
                }
                return;
            }
            UseTree::Glob(_) => return,
            UseTree::Name(leaf) => (&leaf.ident, &leaf.ident, leaf.span().byte_range()),
            UseTree::Rename(leaf) => (&leaf.ident, &leaf.rename, leaf.span().byte_range()),
        };
        let of_itself = |name: String| match path.last() {
            // `use a::b::{self}` binds `b`.
            Some(last) if name == "self" => last.clone(),
            _ => name,
        };
        let gate = Gate::Named(vec![of_itself(plain(&binds.to_string()))]);
        let mut mentions = Mentions::default();
        // The names of std's modules mean no item of the crate.
        let of_std = matches!(
            path.first().map(String::as_str),
            Some("std" | "core" | "alloc")
        );
        if !of_std {
            mentions.names.extend(path.iter().cloned());
            mentions
                .names
                .insert(of_itself(plain(&original.to_string())));
        }
        self.nodes.push(Node {
            file,
            range,
            body: None,
            gate,
            import: true,
            mentions,
            module: module.to_owned(),
            tests: self.tests.clone(),
            hidden: Vec::new(),
        });
    }

    fn add<N>(
        &mut self,
        file: usize,
        module: &str,
        node: &N,
        body: Option<Range<usize>>,
        gate: Gate,
        mentions: Mentions,
    ) where
        N: Spanned + ToTokens,
    {
        let mut found = Vec::new();
        unsafe_code::find(node.to_token_stream(), &mut found);
        let hidden = found.into_iter();
        let hidden = hidden.map(|(at, what)| (at, what.to_owned())).collect();
        self.nodes.push(Node {
            file,
            range: node.span().byte_range(),
            body,
            gate,
            import: false,
            mentions,
            module: module.to_owned(),
            tests: self.tests.clone(),
            hidden,
        });
    }

    /// Returns the condition for an import: an import from the crate or from std is reached by its names; an import
    /// from another crate may bring methods of traits, which are called without naming the trait.
    fn import(&self, item: &syn::ItemUse) -> Gate {
        let package = &self.program.package;
        let of_crate = |root: &String| {
            matches!(
                root.as_str(),
                "crate" | "self" | "super" | "std" | "core" | "alloc"
            ) || package.library.as_ref() == Some(root)
                || self.declared.contains(root)
                    && !package.dependencies.names().any(|name| name == **root)
        };
        let mut names = Vec::new();
        if roots_of_use(&item.tree).iter().all(of_crate) && bound(&item.tree, &mut names) {
            Gate::Named(names)
        } else if matches!(item.vis, Visibility::Inherited) {
            Gate::Below
        } else {
            Gate::Always
        }
    }

    fn implementation(&mut self, file: usize, module: &str, item: &ItemImpl) {
        let local = |tokens: TokenStream| -> BTreeSet<String> {
            let mut mentions = Mentions::default();
            mentions.stream(tokens);
            let names = mentions.names.into_iter();
            names.filter(|name| self.types.contains(name)).collect()
        };
        let mut about = local(item.self_ty.to_token_stream());
        if let Some((path, _)) = &item.trait_ {
            if let Some(last) = path.segments.last() {
                about.extend(local(last.arguments.to_token_stream()));
            }
            let mentions = Mentions::of(item);
            // The implementation is one node: code that has the type may call any method, by operators, in destructors,
            // through generic code.
            self.add(file, module, item, None, Gate::About(about), mentions);
            for part in &item.items {
                if let ImplItem::Fn(method) = part {
                    let last = self.nodes.last_mut().map(|node| match &node.gate {
                        Gate::About(about) => about.clone(),
                        _ => BTreeSet::new(),
                    });
                    let gate = Gate::About(last.unwrap_or_default());
                    let body = replaceable(&method.sig, &method.block);
                    let mentions = Mentions::default();
                    // A method is a node of its own, so that it can be found by itself.
                    self.nodes.push(Node {
                        file,
                        range: method.span().byte_range(),
                        body,
                        gate,
                        import: false,
                        mentions,
                        module: module.to_owned(),
                        tests: self.tests.clone(),
                        hidden: Vec::new(),
                    });
                }
            }
            return;
        }
        for part in &item.items {
            if self.program.cfg.off(part_attributes(part)) {
                continue;
            }
            let (name, body) = match part {
                ImplItem::Fn(method) => (
                    Some(&method.sig.ident),
                    replaceable(&method.sig, &method.block),
                ),
                ImplItem::Const(item) => (Some(&item.ident), None),
                ImplItem::Type(item) => (Some(&item.ident), None),
                _ => (None, None),
            };
            let gate = match name {
                _ if called_from_outside(part_attributes(part)) => Gate::Always,
                Some(name) => Gate::Method(plain(&name.to_string()), about.clone()),
                None => Gate::About(about.clone()),
            };
            let mut mentions = Mentions::of(part);
            mentions.stream(item.self_ty.to_token_stream());
            mentions.stream(item.generics.to_token_stream());
            mentions.stream(item.generics.where_clause.to_token_stream());
            self.add(file, module, part, body, gate, mentions);
        }
    }
}

/// Returns the body of a function, if another body could replace it: not where the body decides the type of the result.
fn replaceable(sig: &syn::Signature, body: &syn::Block) -> Option<Range<usize>> {
    let opaque = Mentions::of(&sig.output).names.contains("impl");
    (!opaque).then(|| body.span().byte_range())
}

fn part_attributes(part: &ImplItem) -> &[Attribute] {
    match part {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Fn(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        ImplItem::Macro(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether code outside of the crate's source may call the function.
fn called_from_outside(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let mentions = Mentions::of(attr);
        let names = [
            "no_mangle",
            "export_name",
            "link_section",
            "global_allocator",
            "panic_handler",
        ];
        names.iter().any(|name| mentions.names.contains(*name))
    })
}

/// Whether a call includes a file.
fn is_include(mac: &syn::Macro) -> bool {
    let last = mac.path.segments.last();
    last.is_some_and(|last| last.ident == "include")
}

/// Returns what the arguments of a macro declare, as far as that can be seen.
fn declared(tokens: TokenStream) -> Gate {
    fn look(tokens: TokenStream, names: &mut Vec<String>) {
        let mut declares = false;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    let keyword = matches!(
                        word.as_str(),
                        "static" | "fn" | "struct" | "enum" | "trait" | "const" | "type" | "union"
                    );
                    let passed = matches!(word.as_str(), "ref" | "mut" | "unsafe");
                    if declares && !keyword && !passed {
                        names.push(plain(&word));
                        declares = false;
                    }
                    declares |= keyword;
                }
                TokenTree::Group(group) => look(group.stream(), names),
                _ => declares = false,
            }
        }
    }
    let mut names = Vec::new();
    look(tokens, &mut names);
    if names.is_empty() {
        Gate::Always
    } else {
        Gate::Named(names)
    }
}

/// Returns the first segments of an import.
fn roots_of_use(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Path(path) => vec![plain(&path.ident.to_string())],
        UseTree::Name(leaf) => vec![plain(&leaf.ident.to_string())],
        UseTree::Rename(leaf) => vec![plain(&leaf.ident.to_string())],
        UseTree::Glob(_) => Vec::new(),
        UseTree::Group(group) => group.items.iter().flat_map(roots_of_use).collect(),
    }
}

/// Collects the names that an import binds; returns false if they can't be known.
fn bound(tree: &UseTree, names: &mut Vec<String>) -> bool {
    match tree {
        UseTree::Path(path) => {
            let first = names.len();
            let all = bound(&path.tree, names);
            // `use a::b::{self}` binds `b`.
            for name in names[first..].iter_mut().filter(|name| *name == "self") {
                *name = plain(&path.ident.to_string());
            }
            all
        }
        UseTree::Name(leaf) => {
            names.push(plain(&leaf.ident.to_string()));
            true
        }
        UseTree::Rename(leaf) => {
            names.push(plain(&leaf.rename.to_string()));
            leaf.rename != "_"
        }
        UseTree::Glob(_) => false,
        UseTree::Group(group) => {
            let mut all = true;
            for tree in &group.items {
                all &= bound(tree, names);
            }
            all
        }
    }
}
