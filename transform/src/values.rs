//! Hashes of the values that threads share, for searches that look at them: `seqz_runtime::values`.
//!
//! The crate's types that are part of shared values get an implementation of `ValueHash` next to their definition,
//! which goes through their fields. A field of a type without an implementation makes the value opaque, which rustc
//! finds out. Each module gets a function that registers its types, and the types that it names as shared values; the
//! function of the crate's root calls those of the modules in it, and is called by the code that starts the program.
//! Types of a block are registered where the block begins.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use syn::{Attribute, Fields, GenericParam, Generics, Item};

use crate::edit::Edits;
use crate::load::Crate;
use crate::resolve::{ItemData, ItemId, ItemKind, ModId, ROOT, Tables};
use crate::shared::{end_of, needed};
use crate::traits::derives;
use crate::walk::Analysis;

/// The name of the registering function of each module.
const REGISTER: &str = "seqz_values";

const VALUES: &str = "::seqz_runtime::values";

/// What an implementation may do that its type's fields lead to.
const ALLOWED: &str =
    "#[allow(deprecated, unreachable_patterns, unused_imports, unused_variables)]";

/// The modules whose functions register the types of a whole crate: its root, and the further roots.
#[derive(Debug, Default)]
pub(crate) struct Registered(BTreeSet<ModId>);

impl Registered {
    /// Returns the functions that a harness in this module needs.
    pub(crate) fn of(&self, tables: &Tables, module: ModId) -> Vec<String> {
        let root = tables.crate_root(module);
        let needed = self.0.iter().filter(|&&at| at == ROOT || at == root);
        needed
            .map(|&at| match at {
                ROOT => format!("crate::{REGISTER}"),
                at => format!("crate::{}::{REGISTER}", tables.modules[at].name),
            })
            .collect()
    }
}

/// Adds the implementations and the registrations. `Clone` is being derived for the types `derived`.
pub(crate) fn add(
    program: &Crate,
    analysis: &Analysis,
    derived: &BTreeSet<ItemId>,
    edits: &mut [Edits],
) -> Registered {
    let tables = &analysis.tables;
    let mut of_module: BTreeMap<ModId, Vec<String>> = BTreeMap::new();
    let needed = needed(tables, analysis);
    for item in 0..tables.items.len() {
        let data = &tables.items[item];
        // The text of an item that a false `cfg` leaves out can't be edited.
        if data.file >= program.files.len() || program.files[data.file].source.expanded.is_some() {
            continue;
        }
        let Some(definition) = Definition::of(program, data) else {
            continue;
        };
        // A shared value may be of a type that is named elsewhere only, or nowhere.
        let is_cloned_by_parts = derived.contains(&item) || derives(definition.attrs, "Clone");
        let end = end_of(tables, item);
        let is_destroyed = tables.trait_impls.contains(&(item, "Drop".to_owned()));
        if is_destroyed {
            edits[data.file].after(end, format!(" {}", definition.destroyed()), end - 1);
        } else if is_cloned_by_parts {
            edits[data.file].after(end, format!(" {}", definition.cloned_by_parts()), end - 1);
        }
        if !needed.contains(&item) {
            continue;
        }
        edits[data.file].after(end, format!(" {}", definition.implementation()), end - 1);
        let name = definition.name;
        if !definition.generics.params.is_empty() {
            continue;
        }
        if !data.in_block {
            let text = format!("seqz_to.add_local::<{name}>();");
            of_module.entry(data.module).or_default().push(text);
        } else if let Some(&open) = analysis.blocks.get(&item) {
            let text = format!(" {VALUES}::local::<{name}>();");
            edits[data.file].after(open, text, open - 1);
        }
    }
    for named in &analysis.named {
        let text = format!("{VALUES}::Type::<{}>::new().seqz_add(seqz_to);", named.text);
        of_module.entry(named.module).or_default().push(text);
    }
    let mut ends = Ends {
        program,
        tables,
        found: BTreeMap::new(),
    };
    ends.of_items(ROOT, 0, &program.files[0].tree.items, None);
    for (root, module) in program.roots.iter().zip(&tables.extra_roots) {
        let file = root.files.start;
        ends.of_items(*module, file, &program.files[file].tree.items, None);
    }
    let reached = reached(tables, of_module.keys().copied(), &ends.found);
    for &module in &reached {
        let Some(&(file, end)) = ends.found.get(&module) else {
            continue;
        };
        let mut body = of_module.remove(&module).unwrap_or_default();
        for &child in &reached {
            let below = &tables.modules[child];
            if below.parent == Some(module) && !below.is_root {
                body.push(format!("{}::{REGISTER}(seqz_to);", raw(&below.name)));
            }
        }
        let text = format!(
            " #[doc(hidden)] #[allow(deprecated, unused_imports)] pub(crate) fn {REGISTER}(seqz_to: &mut {VALUES}::Registry<'_>) \
             {{ use {VALUES}::Unregistered as _; {} }}",
            body.join(" ")
        );
        edits[file].after(end, text, end.saturating_sub(1));
    }
    let is_root = |module: &ModId| tables.modules[*module].is_root;
    Registered(reached.into_iter().filter(is_root).collect())
}

/// Returns the modules that have something to register, with the modules around them. A module without an end at which
/// text could be inserted is left out.
fn reached(
    tables: &Tables,
    modules: impl Iterator<Item = ModId>,
    ends: &BTreeMap<ModId, (usize, usize)>,
) -> BTreeSet<ModId> {
    let mut reached = BTreeSet::new();
    for module in modules {
        let mut path = vec![module];
        while let Some(&last) = path.last()
            && !tables.modules[last].is_root
            && let Some(parent) = tables.modules[last].parent
        {
            path.push(parent);
        }
        if path.iter().all(|module| ends.contains_key(module)) {
            reached.extend(path);
        }
    }
    reached
}

/// Finds where the text of each module ends: its file, and the offset.
struct Ends<'e> {
    program: &'e Crate,
    tables: &'e Tables,
    found: BTreeMap<ModId, (usize, usize)>,
}

impl Ends<'_> {
    fn of_items(&mut self, module: ModId, file: usize, items: &[Item], close: Option<usize>) {
        let last = items
            .last()
            .map(|last| syn::spanned::Spanned::span(last).byte_range().end);
        if let Some(end) = last.or(close) {
            self.found.insert(module, (file, end));
        }
        for item in items {
            let Item::Mod(item) = item else { continue };
            // A module of which only rustc knows whether it exists can't be relied on.
            if self.program.cfg.active(&item.attrs) != Some(true) {
                continue;
            }
            let at = item.ident.span().byte_range().start;
            let Some(&child) = self.tables.module_by_place.get(&(file, at)) else {
                continue;
            };
            let start = syn::spanned::Spanned::span(item).byte_range().start;
            match (&item.content, self.program.modules.get(&(file, start))) {
                (Some((brace, items)), _) => {
                    let close = brace.span.close().byte_range().start;
                    self.of_items(child, file, items, Some(close));
                }
                (None, Some(&file)) => {
                    let program = self.program;
                    self.of_items(child, file, &program.files[file].tree.items, None);
                }
                (None, None) => {}
            }
        }
    }
}

/// A struct or an enum whose fields can be visited.
struct Definition<'d> {
    program: &'d Crate,
    file: usize,
    name: String,
    attrs: &'d [Attribute],
    generics: &'d Generics,
    /// For each variant, its name and its fields; a struct has one variant without a name.
    variants: Vec<(Option<String>, &'d Fields)>,
    is_enum: bool,
}

impl<'d> Definition<'d> {
    fn of(program: &'d Crate, data: &'d ItemData) -> Option<Self> {
        let (attrs, ident, generics, variants, is_enum) = match &data.kind {
            ItemKind::Struct(item) => {
                let fields = vec![(None, &item.fields)];
                (&item.attrs, &item.ident, &item.generics, fields, false)
            }
            ItemKind::Enum(item) => {
                let on = item
                    .variants
                    .iter()
                    .filter(|variant| !program.cfg.off(&variant.attrs));
                let variants = on
                    .map(|variant| (Some(variant.ident.to_string()), &variant.fields))
                    .collect();
                (&item.attrs, &item.ident, &item.generics, variants, true)
            }
            _ => return None,
        };
        if program.cfg.active(attrs) != Some(true) {
            return None;
        }
        // A packed struct has no references to its fields.
        let packed = attrs.iter().any(|attr| {
            attr.path().is_ident("repr")
                && attr
                    .parse_nested_meta(|meta| {
                        if meta.path.is_ident("packed") {
                            return Err(meta.error("packed"));
                        }
                        if meta.input.peek(syn::token::Paren) {
                            meta.input.parse::<proc_macro2::Group>()?;
                        }
                        Ok(())
                    })
                    .is_err()
        });
        // In the text of a macro, a name means what the macro makes of it.
        let in_macro = match &data.kind {
            ItemKind::Struct(item) => has_dollar(program, data.file, &**item),
            ItemKind::Enum(item) => has_dollar(program, data.file, &**item),
            _ => true,
        };
        (!packed && !in_macro).then(|| Self {
            program,
            file: data.file,
            name: ident.to_string(),
            attrs,
            generics,
            variants,
            is_enum,
        })
    }

    /// Returns the text of a node, on one line.
    fn text(&self, node: &impl syn::spanned::Spanned) -> String {
        let range = node.span().byte_range();
        let text = &self.program.files[self.file].source.text.as_str()[range];
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns an implementation of `ValueHash`.
    fn implementation(&self) -> String {
        let head = self.head("ValueHash", true);
        format!(
            "{ALLOWED} {head} \
             {{ fn value_hash(&self, seqz_to: &mut {VALUES}::ValueHasher) {{ use {VALUES}::Opaque as _; {} }} \
             fn keep_room(&mut self, seqz_like: &Self) {{ use {VALUES}::Roomless as _; {} }} }}",
            self.body(),
            self.pairs(
                |copy, like| format!("{VALUES}::Roomy({copy}, {like}).seqz_keep(); "),
                "",
                "{}"
            )
        )
    }

    /// Returns an implementation of `ClonedByParts`, for a type that derives `Clone`.
    fn cloned_by_parts(&self) -> String {
        let head = self.head("ClonedByParts", false);
        let visit = |how: &str| {
            let visit = |clone: &str, like: &str| {
                format!(".and({VALUES}::clones::{how}_part({clone}, {like}))")
            };
            let same = format!("{VALUES}::Sameness::Same");
            match self.pairs(visit, &same, &same) {
                code if code.is_empty() => same,
                code => code,
            }
        };
        let same = format!("-> {VALUES}::Sameness");
        format!(
            "{ALLOWED} {head} {{ fn complete_parts(&mut self, seqz_like: &Self) {same} {{ {} }} \
             fn compare_parts(&self, seqz_like: &Self) {same} {{ {} }} }}",
            visit("complete"),
            visit("compare"),
        )
    }

    /// Returns an implementation of `ClonedByParts` for a type that implements `Drop`.
    fn destroyed(&self) -> String {
        let head = self.head("ClonedByParts", false);
        let says = format!("-> {VALUES}::Sameness {{ {VALUES}::Sameness::Destroys }}");
        format!(
            "{ALLOWED} {head} {{ fn complete_parts(&mut self, _: &Self) {says} fn compare_parts(&self, _: &Self) {says} }}"
        )
    }

    /// Returns the head of an implementation of a trait of the values; where `is_bounded`, the type's parameters have the trait, too.
    fn head(&self, of: &str, is_bounded: bool) -> String {
        let (mut params, mut arguments, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        for param in &self.generics.params {
            match param {
                GenericParam::Lifetime(param) => {
                    let lifetime = self.text(&param.lifetime);
                    let bound: Vec<String> =
                        param.bounds.iter().map(|bound| self.text(bound)).collect();
                    params.push(bounded(&lifetime, &bound));
                    arguments.push(lifetime);
                }
                GenericParam::Type(param) => {
                    let name = param.ident.to_string();
                    // What has no size has no copies, and is not looked into.
                    let bounds_of = param.bounds.iter().map(|bound| self.text(bound));
                    let bound: Vec<String> = bounds_of.filter(|it| !it.starts_with('?')).collect();
                    if is_bounded {
                        bounds.push(format!("{name}: {VALUES}::{of}"));
                    }
                    params.push(bounded(&name, &bound));
                    arguments.push(name);
                }
                GenericParam::Const(param) => {
                    let name = param.ident.to_string();
                    params.push(format!("const {name}: {}", self.text(&param.ty)));
                    arguments.push(name);
                }
            }
        }
        if let Some(clause) = &self.generics.where_clause {
            let predicates = clause.predicates.iter();
            let predicates = predicates.map(|predicate| self.text(predicate));
            bounds.extend(predicates.filter(|it| !it.contains("?Sized")));
        }
        let angle = |list: &[String]| match list {
            [] => String::new(),
            list => format!("<{}>", list.join(", ")),
        };
        let bounds = if bounds.is_empty() {
            String::new()
        } else {
            format!(" where {}", bounds.join(", "))
        };
        format!(
            "impl{} {VALUES}::{of} for {}{}{bounds}",
            angle(&params),
            self.name,
            angle(&arguments),
        )
    }

    /// Returns the code that visits the fields of the value's variant.
    fn body(&self) -> String {
        if self.variants.is_empty() {
            return "match *self {}".to_owned();
        }
        let mut arms = String::new();
        for (number, (name, fields)) in self.variants.iter().enumerate() {
            let (mut pattern, mut feeds) = (String::new(), String::new());
            if self.is_enum {
                let _ = write!(feeds, "seqz_to.word({number}); ");
            }
            for (at, member) in self.members(fields).enumerate() {
                let _ = write!(pattern, "{member}: seqz_{at}, ");
                let _ = write!(feeds, "{VALUES}::Part(seqz_{at}).seqz_feed(seqz_to); ");
            }
            let name = variant(name.as_deref());
            let _ = write!(arms, "Self{name} {{ {pattern}}} => {{ {feeds}}} ");
        }
        format!("match self {{ {arms}}}")
    }

    /// Returns the code that visits the fields of a copy and of the value that it is of: `first`, then what `visit` returns for each
    /// field; `other` where the variants differ, or have no fields. Empty where no variant has fields.
    fn pairs(&self, visit: impl Fn(&str, &str) -> String, first: &str, other: &str) -> String {
        let mut arms = String::new();
        for (name, fields) in &self.variants {
            let (mut copy, mut like, mut visits) = (String::new(), String::new(), String::new());
            for (at, member) in self.members(fields).enumerate() {
                let _ = write!(copy, "{member}: seqz_{at}, ");
                let _ = write!(like, "{member}: seqz_like_{at}, ");
                visits.push_str(&visit(&format!("seqz_{at}"), &format!("seqz_like_{at}")));
            }
            if !visits.is_empty() {
                let name = variant(name.as_deref());
                let _ = write!(
                    arms,
                    "(Self{name} {{ {copy}}}, Self{name} {{ {like}}}) => {{ {first}{visits}}} "
                );
            }
        }
        match (arms.is_empty(), self.is_enum) {
            (true, _) => String::new(),
            (false, true) => format!("match (self, seqz_like) {{ {arms}_ => {other} }}"),
            (false, false) => format!("match (self, seqz_like) {{ {arms}}}"),
        }
    }

    /// Returns the names of the fields that there are.
    fn members(&self, fields: &Fields) -> impl Iterator<Item = String> {
        let on = fields
            .iter()
            .filter(|field| !self.program.cfg.off(&field.attrs));
        on.enumerate().map(|(at, field)| {
            field
                .ident
                .as_ref()
                .map_or_else(|| at.to_string(), ToString::to_string)
        })
    }
}

/// Returns what follows `Self` in the path of a variant; a struct has one without a name.
fn variant(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("::{name}"))
}

/// Whether a macro fills in parts of a definition's text.
fn has_dollar(program: &Crate, file: usize, item: &impl syn::spanned::Spanned) -> bool {
    let text = program.files[file].source.text.as_str();
    let range = item.span().byte_range();
    text.get(range).is_none_or(|text| text.contains('$'))
}

/// Returns a parameter with its bounds.
fn bounded(name: &str, bounds: &[String]) -> String {
    if bounds.is_empty() {
        name.to_owned()
    } else {
        format!("{name}: {}", bounds.join(" + "))
    }
}

/// Returns a name as it is written in code, where the name may be a keyword.
fn raw(name: &str) -> String {
    if syn::parse_str::<syn::Ident>(name).is_ok() {
        name.to_string()
    } else {
        format!("r#{name}")
    }
}
