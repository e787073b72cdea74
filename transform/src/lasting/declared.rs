//! Values that a crate's source makes without a call: constants, unit structs, variants; and which of these values end
//! quietly, that is, without running code of the program.
//!
//! Only names are known: a name of several things is quiet if all of the things are, and a name that a macro may have
//! declared is not quiet.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{
    Field, Fields, GenericArgument, Generics, ItemEnum, ItemStruct, PathArguments, ReturnType,
    Signature, Type, UseTree,
};

use super::names;
use crate::resolve::name;

/// The declarations in a crate.
#[derive(Debug, Default)]
pub(super) struct Declared<'p> {
    /// For each name of a type of the crate, the types that the types with this name consist of.
    types: HashMap<String, Vec<&'p Type>>,
    /// For each name of a constant, the types of the constants with this name.
    constants: HashMap<String, Vec<&'p Type>>,
    /// For each name of a struct or a variant, the types that it makes values of.
    makers: HashMap<String, Vec<String>>,
    /// Names of structs and variants that are called, since they have fields in parentheses.
    tuples: HashSet<String>,
    /// For each name of a static, the types of the statics with this name. A static is a place, which doesn't end.
    statics: HashMap<String, Vec<&'p Type>>,
    /// For each name of a field, the types of the fields with this name.
    fields: HashMap<String, Vec<&'p Type>>,
    /// For each name of a struct, the types of the fields of the structs with this name, by the names of the fields.
    fields_of: HashMap<String, HashMap<String, Vec<&'p Type>>>,
    /// Whether the crate depends on other crates, whose types have fields, too.
    pub(super) depends: bool,
    /// Whether a macro may declare fields.
    declares: bool,
    /// The names of types that stand for others.
    aliases: HashSet<String>,
    /// The names that are imported from other crates.
    imported: HashSet<String>,
    /// Whether all names of some module of another crate are imported.
    imports_all: bool,
    /// The names of types with a destructor of their own.
    dropping: HashSet<String>,
    /// The names of generic parameters, which may stand for any type.
    parameters: HashSet<String>,
    /// Names that imports rename, and names that macros may declare.
    unseen: HashSet<String>,
    /// Whether a macro makes up such names.
    made_up: bool,
}

impl<'p> Declared<'p> {
    pub(super) fn add_struct(&mut self, item: &'p ItemStruct) {
        let of = name(&item.ident);
        self.add_maker(&of, &of, &item.fields);
        self.add_fields(item.fields.iter());
        let fields = self.fields_of.entry(of).or_default();
        for field in &item.fields {
            if let Some(ident) = &field.ident {
                fields.entry(name(ident)).or_default().push(&field.ty);
            }
        }
    }

    pub(super) fn add_fields(&mut self, fields: impl Iterator<Item = &'p Field>) {
        for field in fields {
            if let Some(ident) = &field.ident {
                self.fields.entry(name(ident)).or_default().push(&field.ty);
            }
        }
    }

    pub(super) fn add_enum(&mut self, item: &'p ItemEnum) {
        let of = name(&item.ident);
        self.types.entry(of.clone()).or_default();
        for variant in &item.variants {
            self.add_maker(&name(&variant.ident), &of, &variant.fields);
        }
    }

    fn add_maker(&mut self, maker: &str, of: &str, fields: &'p Fields) {
        let parts = self.types.entry(of.to_owned()).or_default();
        parts.extend(fields.iter().map(|field| &field.ty));
        let makes = self.makers.entry(maker.to_owned()).or_default();
        makes.push(of.to_owned());
        if matches!(fields, Fields::Unnamed(_)) {
            self.tuples.insert(maker.to_owned());
        }
    }

    pub(super) fn add_alias(&mut self, alias: &syn::Ident, of: &'p Type) {
        let alias = name(alias);
        self.aliases.insert(alias.clone());
        self.types.entry(alias).or_default().push(of);
    }

    /// Notes the names that an import from another crate brings. Those of `std` are known where all of a module are imported.
    pub(super) fn add_import(&mut self, tree: &UseTree, of_std: bool) {
        match tree {
            UseTree::Path(path) => self.add_import(&path.tree, of_std),
            UseTree::Group(group) => {
                let trees = group.items.iter();
                trees.for_each(|tree| self.add_import(tree, of_std));
            }
            UseTree::Name(import) => drop(self.imported.insert(name(&import.ident))),
            UseTree::Glob(_) => self.imports_all |= !of_std,
            UseTree::Rename(_) => {}
        }
    }

    pub(super) fn add_constant(&mut self, constant: &syn::Ident, of: &'p Type) {
        self.constants.entry(name(constant)).or_default().push(of);
    }

    pub(super) fn add_static(&mut self, place: &syn::Ident, of: &'p Type) {
        self.statics.entry(name(place)).or_default().push(of);
    }

    pub(super) fn add_destructor(&mut self, of: &Type) {
        match of {
            Type::Path(of) => {
                let last = of.path.segments.last();
                self.dropping.extend(last.map(|last| name(&last.ident)));
            }
            _ => self.made_up = true,
        }
    }

    pub(super) fn add_parameters(&mut self, generics: &Generics) {
        let types = generics.type_params().map(|it| name(&it.ident));
        self.parameters.extend(types);
    }

    /// Notes that this name stands for something whose declaration isn't looked at.
    pub(super) fn add_unseen(&mut self, of: &syn::Ident) {
        self.unseen.insert(name(of));
    }

    /// Looks for declarations in a macro: in its definition, or in the arguments of a call.
    pub(super) fn read_macro(&mut self, tokens: TokenStream) {
        let mut declares = false;
        let mut variants = false;
        let mut imports = false;
        let mut after_star = false;
        for token in tokens {
            let of_pointer = std::mem::take(&mut after_star);
            let named = std::mem::take(&mut declares);
            match token {
                TokenTree::Ident(ident) if named => {
                    // As in `const fn f`, `static ref X`.
                    declares = ident == "ref" || ident == "mut";
                    self.unseen.insert(name(&ident));
                }
                TokenTree::Ident(ident) => {
                    variants |= ident == "enum";
                    self.declares |= ident == "struct" || ident == "union";
                    imports |= ident == "use";
                    declares = ["struct", "enum", "union", "static", "type"]
                        .iter()
                        .any(|word| ident == word)
                        || ident == "const" && !of_pointer
                        || ident == "as" && imports;
                }
                TokenTree::Punct(punct) => {
                    self.made_up |= named && punct.as_char() == '$';
                    imports &= punct.as_char() != ';';
                    after_star = punct.as_char() == '*';
                }
                TokenTree::Group(group) => {
                    if std::mem::take(&mut variants) && group.delimiter() == Delimiter::Brace {
                        self.read_variants(group.stream());
                    }
                    self.read_macro(group.stream());
                }
                TokenTree::Literal(_) => {}
            }
        }
    }

    fn read_variants(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => drop(self.unseen.insert(name(&ident))),
                TokenTree::Punct(punct) => self.made_up |= punct.as_char() == '$',
                _ => {}
            }
        }
    }

    /// Whether nothing in the crate has this name but what was looked at.
    fn is_seen(&self, name: &str) -> bool {
        !self.made_up && !self.unseen.contains(name)
    }

    /// Whether this name means std's item, where it is known as the name of an item of std.
    pub(super) fn is_of_std(&self, name: &str) -> bool {
        self.is_seen(name)
            && !self.types.contains_key(name)
            && !self.makers.contains_key(name)
            && !self.constants.contains_key(name)
            && !self.statics.contains_key(name)
            && !self.parameters.contains(name)
    }

    /// Whether a type of the crate has this name.
    pub(super) fn is_type(&self, name: &str) -> bool {
        self.is_seen(name) && self.types.contains_key(name)
    }

    /// Whether values of this type are objects of std that threads share, or std's pointers to such an object: none of
    /// their methods is the crate's, but for methods of its traits.
    pub(super) fn is_object(&self, of: &Type) -> bool {
        match of {
            Type::Reference(of) => self.is_object(&of.elem),
            Type::Paren(of) => self.is_object(&of.elem),
            Type::Group(of) => self.is_object(&of.elem),
            Type::Path(of) if of.qself.is_none() => {
                let Some(last) = of.path.segments.last() else {
                    return false;
                };
                let only = name(&last.ident);
                if !self.is_of_std(&only) {
                    return false;
                }
                match &last.arguments {
                    PathArguments::AngleBracketed(given)
                        if names::POINTERS.contains(&only.as_str()) =>
                    {
                        matches!(given.args.first(), Some(GenericArgument::Type(of)) if self.is_object(of))
                    }
                    _ => names::OBJECTS.contains(&only.as_str()),
                }
            }
            _ => false,
        }
    }

    /// Whether all statics with this name are such objects.
    pub(super) fn is_static_object(&self, place: &str) -> bool {
        let types = self.statics.get(place);
        let hidden = self.constants.contains_key(place) || !self.is_seen(place);
        types.is_some_and(|all| !hidden && all.iter().all(|of| self.is_object(of)))
    }

    /// Whether all fields with this name are such objects.
    pub(super) fn is_field_object(&self, field: &str) -> bool {
        let types = self.fields.get(field);
        let all_are = types.is_some_and(|all| all.iter().all(|of| self.is_object(of)));
        all_are && !self.depends && !self.declares
    }

    /// Returns the name of the crate's types that have this name, if all of them have been looked at.
    pub(super) fn type_named(&self, of: &str) -> Option<&str> {
        let (of, _) = self.types.get_key_value(of)?;
        let is_one =
            self.is_seen(of) && !self.parameters.contains(of) && !self.aliases.contains(of);
        is_one.then_some(of.as_str())
    }

    /// Returns the types of the fields with this name, of the crate's structs with this name.
    pub(super) fn field_of(&self, of: &str, field: &str) -> Option<&[&'p Type]> {
        let types = self.fields_of.get(self.type_named(of)?)?.get(field)?;
        Some(types)
    }

    /// Returns the name of the crate's type that this type is, or that std's pointers of this type lead to.
    pub(super) fn own_type(&self, of: &Type) -> Option<&str> {
        match of {
            Type::Reference(of) => self.own_type(&of.elem),
            Type::Paren(of) => self.own_type(&of.elem),
            Type::Group(of) => self.own_type(&of.elem),
            Type::Path(of) if of.qself.is_none() => {
                let last = of.path.segments.last()?;
                let only = name(&last.ident);
                match &last.arguments {
                    PathArguments::AngleBracketed(given)
                        if names::POINTERS.contains(&only.as_str()) && self.is_of_std(&only) =>
                    {
                        match given.args.first() {
                            Some(GenericArgument::Type(of)) => self.own_type(of),
                            _ => None,
                        }
                    }
                    // The type of another crate may have the name, too.
                    _ if of.path.segments.len() == 1
                        && !self.imports_all
                        && !self.imported.contains(&only)
                        && !is_name_in_std(&only) =>
                    {
                        self.type_named(&only)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether no type with this name has a destructor of its own.
    pub(super) fn has_no_destructor(&self, of: &str) -> bool {
        let aliased = self
            .dropping
            .iter()
            .any(|dropping| !self.makers.values().flatten().any(|it| it == dropping));
        !aliased && !self.dropping.contains(of)
    }

    /// Returns the types of the values that this name makes, if everything with the name makes values.
    fn made_by(&self, name: &str) -> Option<&[String]> {
        let others = self.constants.contains_key(name) || self.statics.contains_key(name);
        if others || !self.is_seen(name) {
            return None;
        }
        self.makers.get(name).map(Vec::as_slice)
    }

    /// Whether calls of this name make a value of a type of the crate, and nothing else.
    pub(super) fn is_constructor(&self, name: &str) -> bool {
        self.made_by(name).is_some() && self.tuples.contains(name)
    }

    /// Whether a value that is made by this struct or variant ends quietly, if its parts do.
    pub(super) fn makes_quietly(&self, maker: &str) -> bool {
        let made = self.made_by(maker);
        made.is_some_and(|of| of.iter().all(|of| self.has_no_destructor(of)))
    }

    /// Whether the value that this name stands for ends quietly, whichever item of the crate the name means. `None`: no
    /// item of the crate is known to have the name.
    pub(super) fn ends_quietly(&self, name: &str) -> Option<bool> {
        if !self.is_seen(name) {
            return Some(false);
        }
        let constants = self.constants.get(name);
        let makers = self.makers.get(name);
        if constants.is_none() && makers.is_none() {
            return self.statics.contains_key(name).then_some(true);
        }
        let mut constants = constants.into_iter().flatten();
        let mut makers = makers.into_iter().flatten();
        Some(makers.all(|of| self.has_no_destructor(of)) && constants.all(|of| self.is_quiet(of)))
    }

    /// Whether, by the type of this function's result, the result has no destructor of the crate.
    pub(super) fn gives_quietly(&self, signature: &Signature) -> bool {
        match &signature.output {
            ReturnType::Default => true,
            ReturnType::Type(_, of) => self.is_quiet(of),
        }
    }

    fn is_quiet(&self, of: &Type) -> bool {
        self.is_quiet_within(of, &mut HashSet::new())
    }

    /// Types that are being looked at, in `within`, add nothing new.
    fn is_quiet_within(&self, of: &Type, within: &mut HashSet<String>) -> bool {
        match of {
            Type::Reference(_) | Type::Ptr(_) | Type::Never(_) => true,
            Type::Tuple(of) => of.elems.iter().all(|of| self.is_quiet_within(of, within)),
            Type::Array(of) => self.is_quiet_within(&of.elem, within),
            Type::Paren(of) => self.is_quiet_within(&of.elem, within),
            Type::Group(of) => self.is_quiet_within(&of.elem, within),
            Type::Path(of) if of.qself.is_none() => {
                let of_other = of.path.segments.first().is_none_or(|first| {
                    let first = name(&first.ident);
                    first == "Self" || self.parameters.contains(&first)
                });
                let last = of.path.segments.last();
                let Some(last) = last.filter(|_| !of_other) else {
                    return false;
                };
                let only = name(&last.ident);
                if !self.is_seen(&only) || self.parameters.contains(&only) {
                    return false;
                }
                let mut of_arguments = || match &last.arguments {
                    PathArguments::AngleBracketed(given) => {
                        given.args.iter().all(|argument| match argument {
                            GenericArgument::Type(of) => self.is_quiet_within(of, within),
                            _ => true,
                        })
                    }
                    _ => false,
                };
                if let Some(parts) = self.types.get(&only) {
                    let is_generic = !matches!(last.arguments, PathArguments::None);
                    if !self.has_no_destructor(&only) || is_generic && !of_arguments() {
                        return false;
                    }
                    return !within.insert(only)
                        || parts.iter().all(|of| self.is_quiet_within(of, within));
                }
                names::QUIET.contains(&only.as_str())
                    || super::turn::is_number(&only)
                    || names::AROUND.contains(&only.as_str()) && of_arguments()
            }
            _ => false,
        }
    }
}

/// Whether a type of std has this name, among those that are known here.
fn is_name_in_std(name: &str) -> bool {
    let lists = [
        names::OBJECTS,
        names::POINTERS,
        names::CELLS,
        names::QUIET,
        names::AROUND,
    ];
    lists.iter().any(|list| list.contains(&name))
}
