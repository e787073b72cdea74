//! Values that threads share: P̂ₖ keeps a copy for each thread, so their types have to be `Clone`.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use syn::visit::Visit;
use syn::{Attribute, Fields, GenericArgument, PathArguments, Type};

use crate::edit::Edits;
use crate::harness::Harness;
use crate::load::Crate;
use crate::resolve::{Def, ItemId, ItemKind, Ns, Rib, Tables, name};
use crate::traits::implements;
use crate::walk::Analysis;

/// Derives `Clone` for the crate's types that are part of shared values, where that is certain to work, and the traits
/// that the types of inputs need. Returns the types that `Clone` was derived for.
pub(crate) fn derive_traits(
    program: &Crate,
    analysis: &Analysis,
    chosen: &[&Harness],
    edits: &mut [Edits],
) -> BTreeSet<ItemId> {
    let tables = &analysis.tables;
    let mut wanted: BTreeMap<ItemId, BTreeSet<&'static str>> = BTreeMap::new();
    let cloned = clonable(program, analysis);
    for &item in &cloned {
        wanted.entry(item).or_default().insert("Clone");
    }
    let mut implemented = HashSet::new();
    for input in chosen.iter().flat_map(|harness| &harness.inputs) {
        wanted.entry(input.item).or_default().extend(&input.derives);
        if implemented.insert(input.item) {
            let (file, end) = (tables.items[input.item].file, end_of(tables, input.item));
            edits[file].after(end, format!(" {}", input.text), end - 1);
        }
    }
    for (item, traits) in wanted.into_iter().filter(|(_, traits)| !traits.is_empty()) {
        let path = |name: &str| match name {
            "Clone" => "::std::clone::Clone",
            _ => "::std::fmt::Debug",
        };
        let list: Vec<&str> = traits.into_iter().map(path).collect();
        edits[tables.items[item].file].before(
            start_of(tables, item),
            format!("#[derive({})] ", list.join(", ")),
        );
    }
    cloned
}

/// Returns the crate's types that are part of shared values, aren't `Clone`, and can be.
fn clonable(program: &Crate, analysis: &Analysis) -> BTreeSet<ItemId> {
    let tables = &analysis.tables;
    let needed = needed(tables, analysis);
    let mut possible: BTreeSet<ItemId> = needed
        .into_iter()
        .filter(|item| match &tables.items[*item].kind {
            ItemKind::Struct(data) => !implements(tables, *item, &data.attrs, "Clone"),
            ItemKind::Enum(data) => !implements(tables, *item, &data.attrs, "Clone"),
            _ => false,
        })
        .collect();
    // Finds the largest set of types whose fields are all clonable if the types in the set are.
    loop {
        let check = Check {
            tables,
            assumed: &possible,
        };
        let kept: BTreeSet<ItemId> = possible
            .iter()
            .copied()
            .filter(|item| check.item(*item))
            .collect();
        if kept.len() == possible.len() {
            break;
        }
        possible = kept;
    }
    // The text of a type that a false `cfg` leaves out can't be edited.
    possible.retain(|item| tables.items[*item].file < program.files.len());
    possible
}

/// Returns the types in shared values, with the types of their fields.
pub(crate) fn needed(tables: &Tables, analysis: &Analysis) -> BTreeSet<ItemId> {
    let holders = lock_holders(tables);
    let uses = analysis
        .shared
        .iter()
        .filter(|part| part.owner.is_none_or(|owner| holders.contains(&owner)));
    let mut needed: BTreeSet<ItemId> = uses.flat_map(|part| part.items.iter().copied()).collect();
    let mut open: Vec<ItemId> = needed.iter().copied().collect();
    while let Some(item) = open.pop() {
        for mentioned in mentioned(tables, item).0 {
            if needed.insert(mentioned) {
                open.push(mentioned);
            }
        }
    }
    needed
}

/// Returns the crate's types that have a lock in them, directly or in types of the crate that they are made of.
pub(crate) fn lock_holders(tables: &Tables) -> HashSet<ItemId> {
    let mentions: Vec<(ItemId, (Vec<ItemId>, bool))> = (0..tables.items.len())
        .map(|item| (item, mentioned(tables, item)))
        .collect();
    let mut holders: HashSet<ItemId> = mentions
        .iter()
        .filter(|(_, (_, lock))| *lock)
        .map(|(item, _)| *item)
        .collect();
    loop {
        let before = holders.len();
        for (item, (parts, _)) in &mentions {
            if parts.iter().any(|part| holders.contains(part)) {
                holders.insert(*item);
            }
        }
        if holders.len() == before {
            return holders;
        }
    }
}

/// Returns the crate's types that an item's definition mentions, and whether the definition mentions a lock.
fn mentioned(tables: &Tables, item: ItemId) -> (Vec<ItemId>, bool) {
    struct Mentioned<'t> {
        tables: &'t Tables,
        ribs: [Rib; 1],
        items: Vec<ItemId>,
        lock: bool,
    }
    impl<'ast> Visit<'ast> for Mentioned<'_> {
        fn visit_path(&mut self, path: &'ast syn::Path) {
            let segments: Vec<String> = path
                .segments
                .iter()
                .map(|segment| name(&segment.ident))
                .collect();
            match self.tables.resolve(
                &self.ribs,
                path.leading_colon.is_some(),
                &segments,
                Ns::Type,
            ) {
                Some(Def::Item(item)) => self.items.push(item),
                Some(Def::Std(path)) => {
                    self.lock |= matches!(path.last().map(String::as_str), Some("Mutex" | "RwLock"))
                }
                _ => {}
            }
            syn::visit::visit_path(self, path);
        }
        fn visit_attribute(&mut self, _: &'ast Attribute) {}
    }
    let data = &tables.items[item];
    let mut found = Mentioned {
        tables,
        ribs: [Rib::Module(data.module)],
        items: Vec::new(),
        lock: false,
    };
    match &data.kind {
        ItemKind::Struct(item) => found.visit_item_struct(item),
        ItemKind::Enum(item) => found.visit_item_enum(item),
        ItemKind::Alias(alias) => found.visit_type(&alias.ty),
        _ => {}
    }
    (found.items, found.lock)
}

/// Checks whether types are certainly `Clone` if some of the crate's types are.
struct Check<'c> {
    tables: &'c Tables,
    assumed: &'c BTreeSet<ItemId>,
}

/// Generic types of std that are `Clone` if their arguments are.
const CONTAINERS: &[&str] = &[
    "Option",
    "Result",
    "Vec",
    "VecDeque",
    "Box",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "HashMap",
    "HashSet",
    "LinkedList",
    "RefCell",
    "OnceCell",
    "Wrapping",
    "Saturating",
    "Reverse",
    "Range",
    "RangeInclusive",
    "NonZero",
    "Cow",
    "Poll",
    "Bound",
    "ControlFlow",
    "Pin",
    "IntoIter",
];

/// Types of std that are `Clone` whatever their arguments are.
const ALWAYS: &[&str] = &["Arc", "Rc", "Weak", "PhantomData", "NonNull"];

/// Types of std without arguments that are `Clone`.
const PLAIN: &[&str] = &[
    "String",
    "PathBuf",
    "OsString",
    "CString",
    "Duration",
    "Instant",
    "SystemTime",
    "Ordering",
    "ThreadId",
    "Thread",
    "Layout",
    "TypeId",
    "IpAddr",
    "Ipv4Addr",
    "Ipv6Addr",
    "SocketAddr",
    "NonZeroU8",
    "NonZeroU16",
    "NonZeroU32",
    "NonZeroU64",
    "NonZeroUsize",
    "NonZeroI32",
    "NonZeroI64",
    "ExitStatus",
    "bool",
    "char",
    "str",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "f32",
    "f64",
];

impl Check<'_> {
    fn item(&self, item: ItemId) -> bool {
        let data = &self.tables.items[item];
        let (generics, fields): (&syn::Generics, Vec<&Fields>) = match &data.kind {
            ItemKind::Struct(item) => (&item.generics, vec![&item.fields]),
            ItemKind::Enum(item) => (
                &item.generics,
                item.variants
                    .iter()
                    .map(|variant| &variant.fields)
                    .collect(),
            ),
            _ => return false,
        };
        let params: HashSet<String> = generics
            .type_params()
            .map(|param| name(&param.ident))
            .collect();
        let ribs = [Rib::Module(data.module), Rib::Generics(params)];
        fields
            .into_iter()
            .flatten()
            .all(|field| self.ty(&ribs, &field.ty))
    }

    fn ty(&self, ribs: &[Rib], ty: &Type) -> bool {
        match ty {
            Type::Array(array) => self.ty(ribs, &array.elem),
            Type::FnPtr(_) | Type::Never(_) | Type::Ptr(_) => true,
            Type::Group(inner) => self.ty(ribs, &inner.elem),
            Type::Paren(inner) => self.ty(ribs, &inner.elem),
            Type::Slice(inner) => self.ty(ribs, &inner.elem),
            Type::Reference(reference) => reference.mutability.is_none(),
            Type::Tuple(tuple) => tuple.elems.iter().all(|ty| self.ty(ribs, ty)),
            Type::Path(path) if path.qself.is_none() => self.path(ribs, &path.path),
            _ => false,
        }
    }

    fn path(&self, ribs: &[Rib], path: &syn::Path) -> bool {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|segment| name(&segment.ident))
            .collect();
        let Some(last) = segments.last() else {
            return false;
        };
        let arguments = || {
            let last = path.segments.last().map(|segment| &segment.arguments);
            match last {
                Some(PathArguments::AngleBracketed(list)) => {
                    list.args.iter().all(|arg| match arg {
                        GenericArgument::Type(ty) => self.ty(ribs, ty),
                        GenericArgument::Lifetime(_) | GenericArgument::Const(_) => true,
                        _ => false,
                    })
                }
                Some(PathArguments::Parenthesized(_)) => false,
                _ => true,
            }
        };
        match self
            .tables
            .resolve(ribs, path.leading_colon.is_some(), &segments, Ns::Type)
        {
            // This is a parameter; the derive asks for `Clone` of it.
            Some(Def::Local) => segments.len() == 1,
            Some(Def::Item(item)) => self.local(item) && arguments(),
            None | Some(Def::Std(_)) => {
                ALWAYS.contains(&last.as_str())
                    || PLAIN.contains(&last.as_str())
                    || CONTAINERS.contains(&last.as_str()) && arguments()
            }
            _ => false,
        }
    }

    fn local(&self, item: ItemId) -> bool {
        let data = &self.tables.items[item];
        match &data.kind {
            ItemKind::Struct(data) => {
                self.assumed.contains(&item) || implements(self.tables, item, &data.attrs, "Clone")
            }
            ItemKind::Enum(data) => {
                self.assumed.contains(&item) || implements(self.tables, item, &data.attrs, "Clone")
            }
            ItemKind::Alias(alias) => self.ty(&[Rib::Module(data.module)], &alias.ty),
            _ => false,
        }
    }
}

/// Returns the offset at which attributes of an item can be inserted.
fn start_of(tables: &Tables, item: ItemId) -> usize {
    let start = |vis: &syn::Visibility, keyword: proc_macro2::Span| match vis {
        syn::Visibility::Inherited => keyword.byte_range().start,
        vis => syn::spanned::Spanned::span(vis).byte_range().start,
    };
    match &tables.items[item].kind {
        ItemKind::Struct(item) => start(&item.vis, item.struct_token.span),
        ItemKind::Enum(item) => start(&item.vis, item.enum_token.span),
        _ => tables.items[item].at,
    }
}

pub(crate) fn end_of(tables: &Tables, item: ItemId) -> usize {
    match &tables.items[item].kind {
        ItemKind::Struct(item) => syn::spanned::Spanned::span(&**item).byte_range().end,
        ItemKind::Enum(item) => item.brace_token.span.close().byte_range().end,
        _ => tables.items[item].at,
    }
}
