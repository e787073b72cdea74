//! The functions of a crate, and the functions that are called without being named.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{
    Generics, Ident, ImplItemConst, ImplItemFn, ImplItemType, ItemConst, ItemEnum, ItemFn,
    ItemImpl, ItemStatic, ItemStruct, ItemTrait, ItemType, ItemUse, Macro, Signature,
    StaticMutability, TraitItemConst, TraitItemFn, Type, UseRename, UseTree,
};

use super::Function;
use super::declared::Declared;
use super::implied::{Implementations, Implied};
use super::names;
use crate::load::Crate;
use crate::resolve::name;

/// What a crate's source says of its functions.
#[derive(Debug, Default)]
pub(super) struct Functions<'p> {
    pub(super) by_name: HashMap<String, Vec<Function<'p>>>,
    pub(super) implied: Implementations<'p>,
    pub(super) declared: Declared<'p>,
    /// The names of the crate's `static mut`s: each read and each write of a `static mut` is an event.
    pub(super) statics: HashSet<String>,
    pub(super) words: Words,
    /// The names of the crate's own traits, whose functions are named where they are called.
    traits: HashSet<String>,
    /// The trait of the implementation that is looked at.
    of_trait: Option<String>,
    /// The type whose implementation is looked at, if the implementation is of no trait.
    owner: Option<&'p Ident>,
}

/// What the words of a crate say, macros included.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The number of functions of each name.
    functions: HashMap<String, usize>,
    /// Whether a macro makes up names of functions, or a file can't be read.
    made_up: bool,
    /// Whether the crate names a cell of `std::cell`.
    pub(super) has_cells: bool,
    /// Whether a macro makes variables with names that it is given.
    pub(super) makes_variables: bool,
    /// Whether the crate names a type of a dependency that makes atomics of any values.
    pub(super) has_generic_atomics: bool,
    /// The names of macros that the crate defines, or imports by name.
    pub(super) macros: HashSet<String>,
}

/// The kind of place at which a `use` stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Import {
    None,
    Begins,
    OfStd,
    Elsewhere,
}

impl Words {
    /// Returns the number of functions with this name. `None`: the number is not known.
    pub(super) fn functions_named(&self, name: &str) -> Option<usize> {
        (!self.made_up).then(|| self.functions.get(name).copied().unwrap_or(0))
    }

    fn read(&mut self, tokens: TokenStream) {
        let mut after_fn = false;
        let mut after_macro = 0;
        // Whether the visit is between a `let` and its `=`.
        let mut in_let = false;
        let mut import = Import::None;
        // The function whose body or end is still to come.
        let mut open: Option<String> = None;
        for token in tokens {
            let is_name = std::mem::replace(&mut after_fn, false);
            match token {
                TokenTree::Ident(ident) if is_name => open = Some(name(&ident)),
                TokenTree::Ident(ident) => {
                    after_fn = ident == "fn";
                    in_let |= ident == "let";
                    if import == Import::Elsewhere || after_macro == 2 {
                        self.macros.insert(name(&ident));
                    }
                    import = match import {
                        _ if ident == "use" => Import::Begins,
                        Import::Begins if ident == "std" || ident == "core" => Import::OfStd,
                        Import::Begins => Import::Elsewhere,
                        import => import,
                    };
                    after_macro = i32::from(ident == "macro_rules");
                    self.has_generic_atomics |= ident == "Atomic";
                    self.has_cells |= names::CELLS.iter().any(|cell| ident == cell);
                }
                TokenTree::Group(group) => {
                    self.makes_variables |= in_let && has_dollar(group.stream());
                    // `fn(…)` is a type.
                    self.made_up |= is_name && group.delimiter() != Delimiter::Parenthesis;
                    if group.delimiter() == Delimiter::Brace
                        && let Some(name) = open.take()
                    {
                        *self.functions.entry(name).or_default() += 1;
                    }
                    match import {
                        Import::None => self.read(group.stream()),
                        Import::OfStd => {}
                        Import::Begins | Import::Elsewhere => self.import(group.stream()),
                    }
                }
                TokenTree::Punct(punct) => {
                    self.made_up |= is_name;
                    self.makes_variables |= in_let && punct.as_char() == '$';
                    in_let &= !matches!(punct.as_char(), '=' | ';');
                    if punct.as_char() == ';' {
                        open = None;
                        import = Import::None;
                    }
                    after_macro += i32::from(after_macro == 1 && punct.as_char() == '!');
                }
                TokenTree::Literal(_) => {}
            }
        }
    }

    fn import(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    self.has_generic_atomics |= ident == "Atomic";
                    self.macros.insert(name(&ident));
                }
                TokenTree::Group(group) => self.import(group.stream()),
                _ => {}
            }
        }
    }
}

/// Collects the names of functions that traits declare.
struct OfTraits(HashSet<String>);

impl<'ast> Visit<'ast> for OfTraits {
    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.0.insert(name(&item.sig.ident));
        visit::visit_trait_item_fn(self, item);
    }
}

impl<'p> Functions<'p> {
    pub(super) fn of(program: &'p Crate) -> Self {
        let mut functions = Self::default();
        functions.declared.depends = program.package.depends();
        for file in &program.files {
            Traits(&mut functions.traits).visit_file(&file.tree);
        }
        for file in &program.files {
            functions.visit_file(&file.tree);
            match file.source.text.as_str().parse() {
                Ok(tokens) => functions.words.read(tokens),
                Err(_) => functions.words.made_up = true,
            }
        }
        functions.add_implemented(program);
        functions
    }

    /// Adds what other crates implement: of std's traits, and of the crate's own.
    fn add_implemented(&mut self, program: &'p Crate) {
        let implemented = &program.implemented;
        self.implied.any_unseen |= implemented.any;
        let traits = implemented.traits.iter();
        let traits = traits.map(|of| Implied::of_trait(of));
        self.implied.unseen.extend(traits);
        let mut declared = OfTraits(HashSet::new());
        for file in &program.files {
            declared.visit_file(&file.tree);
        }
        for name in declared.0 {
            if implemented.any || implemented.functions.contains(&name) {
                *self.words.functions.entry(name).or_default() += 1;
            }
        }
    }

    /// Whether macros may have functions with this name.
    pub(super) fn has_unseen(&self, name: &str) -> bool {
        let seen = self.by_name.get(name).map_or(0, Vec::len);
        self.words
            .functions_named(name)
            .is_some_and(|all| all > seen)
    }

    fn add(&mut self, signature: &'p Signature, body: &'p syn::Block) {
        let function = Function {
            signature,
            body,
            owner: self.owner,
        };
        let name = name(&signature.ident);
        self.by_name.entry(name).or_default().push(function);
        if let Some(of) = &self.of_trait {
            let kind = Implied::of_trait(of);
            self.implied.seen.entry(kind).or_default().push(function);
        }
    }
}

/// Whether a macro's parameter is among these tokens.
fn has_dollar(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Punct(punct) => punct.as_char() == '$',
        TokenTree::Group(group) => has_dollar(group.stream()),
        _ => false,
    })
}

/// Finds the names of traits.
struct Traits<'t>(&'t mut HashSet<String>);

impl<'ast> Visit<'ast> for Traits<'_> {
    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.0.insert(name(&item.ident));
        visit::visit_item_trait(self, item);
    }
}

impl<'p> Visit<'p> for Functions<'p> {
    fn visit_item_fn(&mut self, item: &'p ItemFn) {
        let of_trait = self.of_trait.take();
        let owner = self.owner.take();
        self.add(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
        self.of_trait = of_trait;
        self.owner = owner;
    }

    fn visit_item_impl(&mut self, item: &'p ItemImpl) {
        let of = item.trait_.as_ref();
        let last = of.and_then(|(path, _)| path.segments.last());
        let of = last
            .map(|last| name(&last.ident))
            .filter(|of| !(self.traits.contains(of) && Implied::of_trait(of).is_of_any()));
        if last.is_some_and(|last| last.ident == "Drop") {
            self.declared.add_destructor(&item.self_ty);
        }
        let outer = std::mem::replace(&mut self.of_trait, of);
        let inherent = match &*item.self_ty {
            Type::Path(of) if item.trait_.is_none() => of.path.segments.last(),
            _ => None,
        };
        let owner = std::mem::replace(&mut self.owner, inherent.map(|last| &last.ident));
        visit::visit_item_impl(self, item);
        self.of_trait = outer;
        self.owner = owner;
    }

    fn visit_item_static(&mut self, item: &'p ItemStatic) {
        if matches!(item.mutability, StaticMutability::Mut(_)) {
            self.statics.insert(name(&item.ident));
        }
        self.declared.add_static(&item.ident, &item.ty);
        visit::visit_item_static(self, item);
    }

    fn visit_item_struct(&mut self, item: &'p ItemStruct) {
        self.declared.add_struct(item);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'p ItemEnum) {
        self.declared.add_enum(item);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_union(&mut self, item: &'p syn::ItemUnion) {
        self.declared.add_unseen(&item.ident);
        self.declared.add_fields(item.fields.named.iter());
        visit::visit_item_union(self, item);
    }

    fn visit_item_type(&mut self, item: &'p ItemType) {
        self.declared.add_alias(&item.ident, &item.ty);
        visit::visit_item_type(self, item);
    }

    fn visit_impl_item_type(&mut self, item: &'p ImplItemType) {
        self.declared.add_alias(&item.ident, &item.ty);
        visit::visit_impl_item_type(self, item);
    }

    fn visit_item_const(&mut self, item: &'p ItemConst) {
        self.declared.add_constant(&item.ident, &item.ty);
        visit::visit_item_const(self, item);
    }

    fn visit_impl_item_const(&mut self, item: &'p ImplItemConst) {
        self.declared.add_constant(&item.ident, &item.ty);
        visit::visit_impl_item_const(self, item);
    }

    fn visit_trait_item_const(&mut self, item: &'p TraitItemConst) {
        self.declared.add_constant(&item.ident, &item.ty);
        visit::visit_trait_item_const(self, item);
    }

    fn visit_item_use(&mut self, item: &'p ItemUse) {
        let root = match &item.tree {
            UseTree::Path(path) => name(&path.ident),
            _ => String::new(),
        };
        if !matches!(root.as_str(), "crate" | "self" | "super") {
            let of_std = matches!(root.as_str(), "std" | "core");
            self.declared.add_import(&item.tree, of_std);
        }
        visit::visit_item_use(self, item);
    }

    fn visit_use_rename(&mut self, import: &'p UseRename) {
        self.declared.add_unseen(&import.rename);
    }

    fn visit_generics(&mut self, generics: &'p Generics) {
        self.declared.add_parameters(generics);
        visit::visit_generics(self, generics);
    }

    fn visit_impl_item_fn(&mut self, item: &'p ImplItemFn) {
        self.add(&item.sig, &item.block);
        let of_trait = self.of_trait.take();
        visit::visit_impl_item_fn(self, item);
        self.of_trait = of_trait;
    }

    fn visit_trait_item_fn(&mut self, item: &'p TraitItemFn) {
        self.owner = None;
        if let Some(body) = &item.default {
            self.add(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_macro(&mut self, mac: &'p Macro) {
        self.implied.read_macro(mac.tokens.clone());
        self.declared.read_macro(mac.tokens.clone());
    }
}
