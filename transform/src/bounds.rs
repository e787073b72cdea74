//! `Copied` for type parameters whose values threads share.
//!
//! A `Mutex<T>` of the runtime can be locked only if `T` can be copied, where copies are made. Generic code over such a
//! lock has to say so: each type parameter that is part of what a lock protects, directly or through the crate's own
//! types and traits, gets the bound. A caller's type that can't be copied is then an error of rustc at the call. The
//! bound is a trait of the runtime that asks for `Clone` where copies are made, and for nothing where no copies are
//! made: one text serves both cases.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use syn::visit::{self, Visit};
use syn::{
    Attribute, GenericArgument, GenericParam, Generics, Item, ItemImpl, ItemMod, Path,
    PathArguments, Signature, TypeParam, TypeParamBound,
};

use crate::edit::Edits;
use crate::error::Error;
use crate::load::Crate;
use crate::resolve::{Def, ItemId, ItemKind, ModId, Ns, ROOT, Rib, Tables, name};
use crate::traits::derives;

const COPIED: &str = "::seqz_runtime::Copied";

/// For each item, the positions of some of its type parameters.
type Positions = HashMap<ItemId, BTreeSet<usize>>;

/// For each item, which of its type parameters are shared.
#[derive(Default)]
struct Shared {
    /// Parameters whose values are part of what a lock protects.
    part: Positions,
    /// Parameters whose values are all that a lock protects; a lock of the runtime needs their size.
    whole: Positions,
}

/// What is asked of type parameters whose values threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// That their values can be copied, and that they have a size where they are all that a lock protects.
    Copied,
    /// Only that they have a size there: the values are not copied.
    Sized,
}

/// Adds the bounds to the whole crate.
///
/// # Errors
/// A lock protects a value whose type has no size.
pub(crate) fn add(
    program: &Crate,
    tables: &Tables,
    asked: Asked,
    edits: &mut [Edits],
) -> Result<(), Error> {
    let shared = shared_parameters(tables);
    let bounded = bounded_definitions(tables, &shared);
    let mut adder = Adder {
        program,
        tables,
        shared: &shared,
        bounded: &bounded,
        asked,
        module: ROOT,
        file: 0,
        edits,
        errors: Vec::new(),
    };
    program.files[0]
        .tree
        .items
        .iter()
        .for_each(|item| adder.visit_item(item));
    for (root, module) in program.roots.iter().zip(&tables.extra_roots) {
        (adder.file, adder.module) = (root.files.start, *module);
        let items = &program.files[adder.file].tree.items;
        items.iter().for_each(|item| adder.visit_item(item));
    }
    Error::from_list(adder.errors).map_or(Ok(()), Err)
}

/// Returns the parameters of the crate's types and traits that are part of what a lock protects, as a fixed point.
fn shared_parameters(tables: &Tables) -> Shared {
    let mut shared = Shared::default();
    loop {
        let mut changed = false;
        for (item, data) in tables.items.iter().enumerate() {
            let mut scan = Scan::new(tables, &shared, data.module);
            let generics = match &data.kind {
                ItemKind::Struct(item) => {
                    scan.visit_fields(&item.fields);
                    &item.generics
                }
                ItemKind::Enum(item) => {
                    item.variants
                        .iter()
                        .for_each(|variant| scan.visit_variant(variant));
                    &item.generics
                }
                ItemKind::Alias(item) => {
                    scan.visit_type(&item.ty);
                    &item.generics
                }
                ItemKind::Trait(item) => {
                    item.items
                        .iter()
                        .for_each(|part| scan.visit_trait_item(part));
                    &item.generics
                }
                _ => continue,
            };
            let (part, whole) = (scan.found, scan.whole);
            for (found, known) in [(part, &mut shared.part), (whole, &mut shared.whole)] {
                let positions = generics.type_params().enumerate();
                let positions: BTreeSet<usize> = positions
                    .filter(|(_, param)| found.contains(&name(&param.ident)))
                    .map(|(position, _)| position)
                    .collect();
                if !positions.is_empty() && known.get(&item) != Some(&positions) {
                    known.insert(item, positions);
                    changed = true;
                }
            }
        }
        if !changed {
            return shared;
        }
    }
}

/// Returns the definitions that need bounds themselves: where a guard's type has bounds, where `Drop` must agree with
/// the definition, where a derived `Debug` looks into locks, and the definitions that are made of such ones.
fn bounded_definitions(tables: &Tables, shared: &Shared) -> HashSet<ItemId> {
    let dropped = tables
        .trait_impls
        .iter()
        .filter(|(_, name)| name == "Drop")
        .map(|(item, _)| *item);
    let mut bounded: HashSet<ItemId> = dropped
        .filter(|item| shared.part.contains_key(item))
        .collect();
    let shown = |item: &ItemId| match &tables.items[*item].kind {
        ItemKind::Struct(item) => derives(&item.attrs, "Debug"),
        ItemKind::Enum(item) => derives(&item.attrs, "Debug"),
        _ => false,
    };
    bounded.extend(shared.part.keys().copied().filter(shown));
    loop {
        let before = bounded.len();
        for &item in shared.part.keys() {
            let mut scan = Scan::new(tables, shared, tables.items[item].module);
            match &tables.items[item].kind {
                ItemKind::Struct(item) => scan.visit_item_struct(item),
                ItemKind::Enum(item) => scan.visit_item_enum(item),
                ItemKind::Alias(item) => scan.visit_item_type(item),
                _ => continue,
            }
            if scan.guards || scan.types.iter().any(|ty| bounded.contains(ty)) {
                bounded.insert(item);
            }
        }
        if bounded.len() == before {
            return bounded;
        }
    }
}

/// Finds the type parameters in shared positions of a piece of code.
struct Scan<'s> {
    tables: &'s Tables,
    shared: &'s Shared,
    module: ModId,
    /// The names of parameters, and of projections of parameters as written without spaces, like `T::Item`.
    found: HashSet<String>,
    /// The names of parameters that are all of what a lock protects.
    whole: HashSet<String>,
    /// The places of types of locks' values that have no size.
    without_size: Vec<Range<usize>>,
    /// Whether a guard's type is named; the runtime's guards have the bound themselves.
    guards: bool,
    /// The crate's types with shared arguments that are named.
    types: HashSet<ItemId>,
}

impl<'s> Scan<'s> {
    fn new(tables: &'s Tables, shared: &'s Shared, module: ModId) -> Self {
        Scan {
            tables,
            shared,
            module,
            found: HashSet::new(),
            whole: HashSet::new(),
            without_size: Vec::new(),
            guards: false,
            types: HashSet::new(),
        }
    }

    fn segment(&mut self, path: &Path, last: usize) {
        let PathArguments::AngleBracketed(arguments) = &path.segments[last].arguments else {
            return;
        };
        let segments: Vec<String> = path
            .segments
            .iter()
            .take(last + 1)
            .map(|segment| name(&segment.ident))
            .collect();
        let types: Vec<&syn::Type> = arguments
            .args
            .iter()
            .filter_map(|argument| {
                if let GenericArgument::Type(ty) = argument {
                    Some(ty)
                } else {
                    None
                }
            })
            .collect();
        let ribs = [Rib::Module(self.module)];
        match self
            .tables
            .resolve(&ribs, path.leading_colon.is_some(), &segments, Ns::Type)
        {
            Some(Def::Std(path)) => match path.last().map(String::as_str) {
                Some("Mutex" | "RwLock") => types.iter().for_each(|ty| {
                    self.shared_type(ty);
                    self.whole_type(ty);
                }),
                Some("MutexGuard" | "RwLockReadGuard" | "RwLockWriteGuard") => {
                    self.guards = true;
                    types.iter().for_each(|ty| {
                        self.shared_type(ty);
                        self.whole_type(ty);
                    });
                }
                _ => {}
            },
            Some(Def::Item(item)) => {
                let all = self.shared;
                let Some(positions) = all.part.get(&item) else {
                    return;
                };
                self.types.insert(item);
                let whole = all.whole.get(&item);
                for (position, ty) in types.iter().enumerate() {
                    if positions.contains(&position) {
                        self.shared_type(ty);
                    }
                    if whole.is_some_and(|whole| whole.contains(&position)) {
                        self.whole_type(ty);
                    }
                }
            }
            _ => {}
        }
    }

    /// Visits a type whose values are all that a lock protects.
    fn whole_type(&mut self, ty: &syn::Type) {
        let has_no_size = match ty {
            syn::Type::Path(path) => match path.path.get_ident() {
                Some(ident) => {
                    self.whole.insert(name(ident));
                    ident == "str"
                }
                None => false,
            },
            syn::Type::Paren(inner) => return self.whole_type(&inner.elem),
            ty => matches!(ty, syn::Type::TraitObject(_) | syn::Type::Slice(_)),
        };
        if has_no_size {
            let span = syn::spanned::Spanned::span(ty).byte_range();
            self.without_size.push(span);
        }
    }

    /// Visits a type whose values are shared: so are those of the parameters in the type.
    fn shared_type(&mut self, ty: &syn::Type) {
        struct Names<'n>(&'n mut HashSet<String>);
        impl<'ast> Visit<'ast> for Names<'_> {
            fn visit_path(&mut self, path: &'ast Path) {
                // The value behind an `Arc` or `Rc` is shared, not copied.
                if path
                    .segments
                    .last()
                    .is_some_and(|last| last.ident == "Arc" || last.ident == "Rc")
                {
                    return;
                }
                let segments: Vec<String> = path
                    .segments
                    .iter()
                    .map(|segment| name(&segment.ident))
                    .collect();
                self.0.insert(segments.join("::"));
                visit::visit_path(self, path);
            }
        }
        Names(&mut self.found).visit_type(ty);
    }
}

impl<'ast> Visit<'ast> for Scan<'_> {
    fn visit_path(&mut self, path: &'ast Path) {
        // A `PhantomData` holds no lock, and what it names stays std's.
        if path
            .segments
            .last()
            .is_some_and(|it| it.ident == "PhantomData")
        {
            return;
        }
        (0..path.segments.len()).for_each(|last| self.segment(path, last));
        visit::visit_path(self, path);
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    // Inner items have parameters of their own.
    fn visit_item(&mut self, _: &'ast Item) {}
}

/// Walks the crate and adds bounds item by item.
struct Adder<'a> {
    program: &'a Crate,
    tables: &'a Tables,
    shared: &'a Shared,
    bounded: &'a HashSet<ItemId>,
    asked: Asked,
    module: ModId,
    file: usize,
    edits: &'a mut [Edits],
    errors: Vec<Error>,
}

impl Adder<'_> {
    /// Refuses a type without a size behind a lock.
    fn refuse_without_size(&mut self, item: &Item) {
        let found = self.scan(|scan| visit::visit_item(scan, item)).without_size;
        let source = &self.program.files[self.file].source;
        for range in found {
            let place = source.place(range);
            let what = format!("a lock of `{}`", place.text());
            self.errors.push(Error::unsupported(
                place,
                what,
                "it has no size, and the locks that take the place of std's keep their value beside others",
                "have the lock protect a `Box` of it",
            ));
        }
    }

    /// Removes `?Sized` from these parameters: since no type without a size is behind a lock, no parameter needs it.
    fn give_size(&mut self, generics: &Generics, whole: &HashSet<String>) {
        let of_params = generics.type_params();
        let of_params = of_params.filter(|param| whole.contains(&name(&param.ident)));
        let mut bounds: Vec<&TypeParamBound> = of_params.flat_map(|it| &it.bounds).collect();
        let clauses = generics.where_clause.iter().flat_map(|it| &it.predicates);
        for clause in clauses {
            if let syn::WherePredicate::Type(clause) = clause
                && let syn::Type::Path(path) = &clause.bounded_ty
                && path
                    .path
                    .get_ident()
                    .is_some_and(|it| whole.contains(&name(it)))
            {
                bounds.extend(&clause.bounds);
            }
        }
        for bound in bounds {
            let at = syn::spanned::Spanned::span(bound).byte_range();
            let source = &self.program.files[self.file].source.text;
            if source.as_str().get(at.start..at.start + 1) == Some("?") {
                self.edits[self.file].replace(at.start..at.start + 1, "");
            }
        }
    }

    /// Adds bounds to the parameters in `generics` that `scan` finds shared.
    ///
    /// `where_at` is the offset at which a where clause would be inserted.
    fn bound(&mut self, generics: &Generics, where_at: usize, scan: impl FnOnce(&mut Scan<'_>)) {
        if generics.params.is_empty() {
            return;
        }
        let scanned = self.scan(scan);
        let (mut found, whole) = (scanned.found, scanned.whole);
        self.give_size(generics, &whole);
        if self.asked == Asked::Sized {
            return;
        }
        let mut projected = BTreeSet::new();
        for param in &generics.params {
            if let GenericParam::Type(param) = param {
                let ident = name(&param.ident);
                if found.remove(&ident) && !is_clone(&param.bounds) {
                    self.bound_param(param);
                }
                let of_param = format!("{ident}::");
                projected.extend(
                    found
                        .iter()
                        .filter(|path| path.starts_with(&of_param))
                        .cloned(),
                );
            }
        }
        if projected.is_empty() {
            return;
        }
        let predicates: Vec<String> = projected
            .iter()
            .map(|path| format!("{path}: {COPIED}"))
            .collect();
        let predicates = predicates.join(", ");
        let edits = &mut self.edits[self.file];
        match &generics.where_clause {
            Some(clause) => {
                let at = clause.where_token.span.byte_range();
                edits.after(at.end, format!(" {predicates},"), at.start);
            }
            None => {
                let origin = generics
                    .lt_token
                    .map_or(where_at, |token| token.span.byte_range().start);
                edits.after(where_at, format!(" where {predicates}"), origin);
            }
        }
    }

    fn scan(&self, scan: impl FnOnce(&mut Scan<'_>)) -> Scan<'_> {
        let mut scanner = Scan::new(self.tables, self.shared, self.module);
        scan(&mut scanner);
        scanner
    }

    fn bound_param(&mut self, param: &TypeParam) {
        let ident = param.ident.span().byte_range();
        let edits = &mut self.edits[self.file];
        match (param.colon_token, param.bounds.last()) {
            (Some(_), Some(last)) => {
                let end = syn::spanned::Spanned::span(last).byte_range().end;
                let plus = if param.bounds.trailing_punct() {
                    " "
                } else {
                    " + "
                };
                if param.bounds.trailing_punct() {
                    let colon = param
                        .colon_token
                        .map_or(ident.end, |colon| colon.span.byte_range().end);
                    edits.after(colon, format!(" {COPIED} +"), ident.start);
                } else {
                    edits.after(end, format!("{plus}{COPIED}"), ident.start);
                }
            }
            (Some(colon), None) => edits.after(
                colon.span.byte_range().end,
                format!(" {COPIED}"),
                ident.start,
            ),
            (None, _) => edits.after(ident.end, format!(": {COPIED}"), ident.start),
        }
    }

    fn signature(&mut self, sig: &Signature, body: Option<&syn::Block>, free: bool) {
        let parameters_end = sig.paren_token.span.close().byte_range().end;
        let where_at = match &sig.output {
            syn::ReturnType::Default => parameters_end,
            output => syn::spanned::Spanned::span(output).byte_range().end,
        };
        self.bound(&sig.generics, where_at, |scan| {
            scan.visit_signature(sig);
            // A method of a trait can't ask for more than the trait's declaration.
            if let (Some(body), true) = (body, free) {
                scan.visit_block(body);
            }
        });
        if let Some(body) = body {
            self.visit_block(body);
        }
    }

    fn definition(&mut self, ident: &syn::Ident, generics: &Generics, item: &Item) {
        let Some(&id) = self
            .tables
            .by_place
            .get(&(self.file, ident.span().byte_range().start))
        else {
            return;
        };
        let inside = |scan: &mut Scan<'_>| match item {
            Item::Struct(item) => scan.visit_item_struct(item),
            Item::Enum(item) => scan.visit_item_enum(item),
            _ => {}
        };
        if self.bounded.contains(&id) {
            let where_at = generics
                .gt_token
                .map_or(0, |token| token.span.byte_range().end);
            self.bound(generics, where_at, inside);
        } else {
            let whole = self.scan(inside).whole;
            self.give_size(generics, &whole);
        }
    }
}

impl<'ast> Visit<'ast> for Adder<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if self.program.cfg.off(crate::resolve::attributes(item)) {
            return;
        }
        if !matches!(item, Item::Mod(_)) {
            self.refuse_without_size(item);
        }
        match item {
            Item::Struct(data) => self.definition(&data.ident, &data.generics, item),
            Item::Enum(data) => self.definition(&data.ident, &data.generics, item),
            Item::Fn(item) => self.signature(&item.sig, Some(&item.block), true),
            Item::Trait(item) => {
                let where_at = item.brace_token.span.open().byte_range().start;
                self.bound(&item.generics, where_at, |scan| {
                    item.items
                        .iter()
                        .for_each(|part| scan.visit_trait_item(part))
                });
                let found = self
                    .scan(|scan| {
                        item.items
                            .iter()
                            .for_each(|part| scan.visit_trait_item(part))
                    })
                    .found;
                for part in &item.items {
                    match part {
                        syn::TraitItem::Fn(method) => {
                            self.signature(&method.sig, method.default.as_ref(), false)
                        }
                        syn::TraitItem::Type(ty)
                            if found.contains(&format!("Self::{}", name(&ty.ident))) =>
                        {
                            self.associated(ty);
                        }
                        _ => {}
                    }
                }
            }
            item => visit::visit_item(self, item),
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let at = item.ident.span().byte_range().start;
        let Some(&module) = self.tables.module_by_place.get(&(self.file, at)) else {
            return;
        };
        let outer = (self.file, self.module);
        self.module = module;
        let program = self.program;
        let start = syn::spanned::Spanned::span(item).byte_range().start;
        match (&item.content, program.modules.get(&(self.file, start))) {
            (Some((_, items)), _) => items.iter().for_each(|item| self.visit_item(item)),
            (None, Some(&file)) => {
                self.file = file;
                program.files[file]
                    .tree
                    .items
                    .iter()
                    .for_each(|item| self.visit_item(item));
            }
            (None, None) => {}
        }
        (self.file, self.module) = outer;
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let where_at = syn::spanned::Spanned::span(&*item.self_ty).byte_range().end;
        self.bound(&item.generics, where_at, |scan| {
            visit::visit_item_impl(scan, item)
        });
        for part in &item.items {
            if let syn::ImplItem::Fn(method) = part {
                self.signature(&method.sig, Some(&method.block), item.trait_.is_none());
            }
        }
    }
}

impl Adder<'_> {
    /// Adds the bound to an associated type.
    fn associated(&mut self, ty: &syn::TraitItemType) {
        if is_clone(&ty.bounds) {
            return;
        }
        let ident = ty.ident.span().byte_range();
        let edits = &mut self.edits[self.file];
        match (&ty.colon_token, ty.bounds.last()) {
            (Some(_), Some(last)) => {
                let end = syn::spanned::Spanned::span(last).byte_range().end;
                edits.after(end, format!(" + {COPIED}"), ident.start);
            }
            _ => edits.after(ident.end, format!(": {COPIED}"), ident.start),
        }
    }
}

fn is_clone<'b>(bounds: impl IntoIterator<Item = &'b TypeParamBound>) -> bool {
    bounds.into_iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => bound
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Clone" || last.ident == "Copy"),
        _ => false,
    })
}
