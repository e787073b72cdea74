//! Shared memory without events: types whose own code declares that threads may share them.

use std::ops::Range;

use syn::visit::{self, Visit};
use syn::{ItemImpl, Path, Type};

use super::{Walker, bytes};
use crate::resolve::{Def, ItemId, ItemKind, Ns, Rib, Tables, name};

/// Types of std that change what they hold through a shared reference, without a lock.
const CELLS: &[&str] = &[
    "Cell",
    "LazyCell",
    "OnceCell",
    "RefCell",
    "SyncUnsafeCell",
    "UnsafeCell",
];

impl Walker<'_> {
    /// `unsafe impl Send for X` and `Sync` are promises about accesses that seqz would have to see.
    pub(super) fn check_promise(&mut self, item: &ItemImpl) {
        let Some((path, _)) = item.trait_.as_ref().filter(|_| item.unsafety.is_some()) else {
            return;
        };
        let promise = path
            .segments
            .last()
            .map(|last| name(&last.ident))
            .unwrap_or_default();
        if item.modifiers.polarity.is_some() || !matches!(promise.as_str(), "Send" | "Sync") {
            return;
        }
        let Type::Path(ty) = &*item.self_ty else {
            return;
        };
        let Some(Def::Item(target)) = self.type_def(&ty.path) else {
            return;
        };
        let parameter = item.generics.type_params().find(|parameter| {
            let bounds = quote::ToTokens::to_token_stream(&parameter.bounds).to_string();
            !bounds.contains("Send") && !bounds.contains("Sync")
        });
        let anything = parameter.map(|parameter| format!("any `{}`", parameter.ident));
        let Some(inside) = unseen(&self.tables, target, true).or(anything) else {
            return;
        };
        let what = format!("`unsafe impl {promise}` for a type with {inside} in it");
        self.unfollowed(bytes(path), what);
    }

    /// Checks for a cell in what a lock protects: writes to the cell need the guard only for reading, and would go
    /// unnoticed.
    pub(super) fn check_protected(
        &mut self,
        range: Range<usize>,
        cell: Option<String>,
        items: &[ItemId],
    ) {
        let inside = || {
            items
                .iter()
                .find_map(|item| unseen(&self.tables, *item, false))
        };
        let Some(inside) = cell.or_else(inside) else {
            return;
        };
        self.unfollowed(range, format!("{inside} in a shared value"));
    }
}

/// Returns the type of std at a path, if the type is a cell.
pub(super) fn cell(path: &[String]) -> Option<String> {
    match path {
        [module, cell] if module == "cell" && CELLS.contains(&cell.as_str()) => {
            Some(format!("a `{cell}`"))
        }
        _ => None,
    }
}

/// Returns what in an item's fields can be changed unseen: a cell, or a value behind a pointer.
fn unseen(tables: &Tables, item: ItemId, pointers: bool) -> Option<String> {
    let ribs = [Rib::Module(tables.items[item].module)];
    let mut found = Unseen {
        tables,
        ribs: &ribs,
        pointers,
        found: None,
        items: vec![item],
    };
    found.item(item);
    found.found
}

struct Unseen<'u> {
    tables: &'u Tables,
    ribs: &'u [Rib],
    /// Whether raw pointers count as well.
    pointers: bool,
    found: Option<String>,
    items: Vec<ItemId>,
}

impl Unseen<'_> {
    fn item(&mut self, item: ItemId) {
        match &self.tables.items[item].kind {
            ItemKind::Struct(item) => self.visit_fields(&item.fields),
            ItemKind::Enum(item) => item
                .variants
                .iter()
                .for_each(|variant| self.visit_variant(variant)),
            ItemKind::Alias(item) => self.visit_type(&item.ty),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Unseen<'_> {
    fn visit_type(&mut self, ty: &'ast Type) {
        if let (Type::Ptr(_), true) = (ty, self.pointers) {
            self.found.get_or_insert_with(|| "a raw pointer".into());
        }
        match ty {
            // A function's type has nothing behind it to share.
            Type::FnPtr(_) => {}
            Type::TraitObject(object) => {
                let bounds = quote::ToTokens::to_token_stream(&object.bounds).to_string();
                if self.pointers && !bounds.contains("Send") && !bounds.contains("Sync") {
                    self.found.get_or_insert_with(|| "a trait object".into());
                }
            }
            ty => visit::visit_type(self, ty),
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|segment| name(&segment.ident))
            .collect();
        match self
            .tables
            .resolve(self.ribs, path.leading_colon.is_some(), &segments, Ns::Type)
        {
            // A `PhantomData` holds nothing.
            _ if segments.last().is_some_and(|last| last == "PhantomData") => return,
            Some(Def::Std(path)) => {
                let pointer = path
                    .last()
                    .filter(|last| matches!(last.as_str(), "Rc" | "NonNull"));
                let pointer = pointer.filter(|_| self.pointers).map(|pointer| {
                    format!("{} `{pointer}`", if pointer == "Rc" { "an" } else { "a" })
                });
                self.found = self.found.take().or(cell(&path)).or(pointer);
            }
            Some(Def::Item(item)) if !self.items.contains(&item) => {
                self.items.push(item);
                let ribs = [Rib::Module(self.tables.items[item].module)];
                let mut inside = Unseen {
                    tables: self.tables,
                    ribs: &ribs,
                    pointers: self.pointers,
                    found: None,
                    items: std::mem::take(&mut self.items),
                };
                inside.item(item);
                self.items = inside.items;
                self.found = self.found.take().or(inside.found);
            }
            _ => {}
        }
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}
