//! Sizes and alignments of types of which the runtime has its own version: the runtime's types have other sizes than
//! std's.
//!
//! In a program without `unsafe` code, a size is only a number, so std's own type is measured in the place of the
//! runtime's. With `unsafe` code, memory may be reserved by that size for a value of the runtime's type: there the
//! runtime's type is measured, and so are the program's own types that contain such a type. Both cases are named as not
//! followed.

use std::collections::HashSet;
use std::ops::Range;

use syn::visit::{self, Visit};
use syn::{Path, PathArguments, Type, TypePath};

use super::{Walker, bytes};
use crate::resolve::{Def, ItemId, ItemKind, Ns, Rib, Tables, name};
use crate::support;

/// Whether a path leads to a function that measures its type argument.
fn measures(def: Option<&Def>, segments: &[String]) -> bool {
    let is_one = |name: &str| matches!(name, "size_of" | "align_of" | "min_align_of");
    match def {
        Some(Def::Std(path)) => match path.as_slice() {
            [module, function] => module == "mem" && is_one(function),
            _ => false,
        },
        // These functions are in the prelude.
        None => matches!(segments, [only] if is_one(only)),
        _ => false,
    }
}

/// Whether the runtime's version of a type of std has a size of its own.
fn is_followed(path: &[String]) -> bool {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["sync", "atomic", "Ordering"] => false,
        [module, .., _] => matches!(*module, "sync" | "thread"),
        _ => false,
    }
}

impl Walker<'_> {
    /// Handles the type that a path's function measures; returns whether there is one.
    pub(super) fn measured(&mut self, path: &Path, segments: &[String], def: Option<&Def>) -> bool {
        if !measures(def, segments) {
            return false;
        }
        let Some(PathArguments::AngleBracketed(arguments)) =
            path.segments.last().map(|last| &last.arguments)
        else {
            return false;
        };
        let mut found = Measured {
            walker: self,
            of_std: Vec::new(),
            own: None,
        };
        found.visit_angle_bracketed_generic_arguments(arguments);
        let Measured { of_std, own, .. } = found;
        let beside_unsafe = self
            .has_unsafe
            .then(|| of_std.first().map(|(_, to)| to.clone()))
            .flatten();
        if let Some(of) = own.or(beside_unsafe) {
            let of = of.trim_start_matches(':');
            self.unfollowed(
                bytes(path),
                format!("the size of `{of}`, which is another one here"),
            );
            return false;
        }
        if of_std.is_empty() {
            return false;
        }
        for (range, to) in of_std {
            self.edits().replace(range, to);
        }
        true
    }
}

/// What a measured type contains.
struct Measured<'w, 'p> {
    walker: &'w Walker<'p>,
    /// The places where types of std are named, and the names there.
    of_std: Vec<(Range<usize>, String)>,
    /// A type of the program that contains such a type.
    own: Option<String>,
}

impl<'ast> Visit<'ast> for Measured<'_, '_> {
    fn visit_type(&mut self, ty: &'ast Type) {
        if !is_pointer(ty) {
            visit::visit_type(self, ty);
        }
    }

    fn visit_type_path(&mut self, ty: &'ast TypePath) {
        match self.walker.type_def(&ty.path) {
            Some(Def::Std(path)) if path.len() > 1 && support::overridden(&path[0]) => {
                let (Some(first), Some(last)) = (ty.path.segments.first(), ty.path.segments.last())
                else {
                    return;
                };
                let leading = ty.path.leading_colon.is_some();
                let start = self.walker.start_of(&bytes(&first.ident), leading);
                let range = start..bytes(&last.ident).end;
                self.of_std
                    .push((range, format!("::std::{}", path.join("::"))));
            }
            Some(Def::Item(item)) => {
                let tables = &self.walker.tables;
                if holds_followed(tables, item, &mut HashSet::new()) {
                    let path = ty.path.segments.iter();
                    let path: Vec<_> = path.map(|segment| name(&segment.ident)).collect();
                    self.own.get_or_insert_with(|| path.join("::"));
                }
            }
            _ => {}
        }
        visit::visit_type_path(self, ty);
    }
}

/// Whether a type of the program contains, not behind a pointer, a type whose size differs here.
fn holds_followed(tables: &Tables, item: ItemId, seen: &mut HashSet<ItemId>) -> bool {
    if !seen.insert(item) {
        return false;
    }
    let mut parts = Parts {
        tables,
        ribs: [Rib::Module(tables.items[item].module)],
        seen,
        found: false,
    };
    match &tables.items[item].kind {
        ItemKind::Struct(item) => parts.visit_fields(&item.fields),
        ItemKind::Enum(item) => item
            .variants
            .iter()
            .for_each(|variant| parts.visit_fields(&variant.fields)),
        ItemKind::Alias(item) => parts.visit_type(&item.ty),
        _ => {}
    }
    parts.found
}

/// Whether the type is a pointer: the value behind it has no part in the size.
fn is_pointer(ty: &Type) -> bool {
    match ty {
        Type::Reference(_) | Type::Ptr(_) | Type::FnPtr(_) => true,
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let handles = ["Arc", "Box", "Rc", "Vec", "Weak"];
            handles.iter().any(|handle| last.ident == handle)
        }),
        _ => false,
    }
}

struct Parts<'t> {
    tables: &'t Tables,
    ribs: [Rib; 1],
    seen: &'t mut HashSet<ItemId>,
    found: bool,
}

impl<'ast> Visit<'ast> for Parts<'_> {
    fn visit_type(&mut self, ty: &'ast Type) {
        if !is_pointer(ty) {
            visit::visit_type(self, ty);
        }
    }

    fn visit_type_path(&mut self, ty: &'ast TypePath) {
        let path = &ty.path;
        let segments: Vec<String> = path.segments.iter().map(|it| name(&it.ident)).collect();
        let leading = path.leading_colon.is_some();
        match self
            .tables
            .resolve(&self.ribs, leading, &segments, Ns::Type)
        {
            Some(Def::Std(path)) => self.found |= is_followed(&path),
            Some(Def::Item(item)) => self.found |= holds_followed(self.tables, item, self.seen),
            _ => {}
        }
        visit::visit_type_path(self, ty);
    }
}
