//! Harnesses: the functions that seqz can call to run the program under test.
//!
//! A harness is a test, a public free function, or the `main` of a program, that starts a thread, itself or through
//! functions of the crate.

mod inputs;

use std::collections::{BTreeMap, HashSet};

pub(crate) use inputs::InputImpl;
pub use inputs::Param;

use syn::{Attribute, FnArg, GenericParam, ReturnType, Safety, Type, Visibility};

use crate::edit::Edits;
use crate::error::Error;
use crate::load::Crate;
use crate::resolve::{Function, ItemId, ItemKind, ROOT};
use crate::source::Place;
use crate::walk::{Analysis, SpawnSite};

/// What kind of function a harness is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HarnessKind {
    /// A `#[test]`.
    Test,
    /// A public function.
    PubFn,
    /// The program's `main`.
    Main,
}

/// A harness as the user sees it.
#[derive(Clone, Debug)]
pub struct HarnessInfo {
    /// Its path in the crate, `module::function`.
    pub name: String,
    /// What kind of function it is.
    pub kind: HarnessKind,
    /// Its name in the source.
    pub place: Place,
    /// Its parameters, which are inputs of the program.
    pub params: Vec<Param>,
    /// Where it starts threads, in order of source, also in functions that it calls.
    pub spawn_sites: Vec<SpawnSite>,
    /// The test is marked `#[ignore]`: it is run only when asked for by name.
    pub ignored: bool,
    /// Why it can't be run.
    pub unsupported: Option<Error>,
}

/// What a harness's result means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    /// Nothing to look at.
    Nothing,
    /// `Err` is a failure.
    Result,
    /// Any result; a test or a program reports it through `Termination`.
    Other,
}

/// A harness with what is needed to call it.
pub(crate) struct Harness {
    pub(crate) info: HarnessInfo,
    pub(crate) item: ItemId,
    pub(crate) returns: Returns,
    /// Arguments of the call, in terms of `inputs`.
    pub(crate) arguments: Vec<String>,
    /// Types of parameters that need an implementation of `Input`.
    pub(crate) inputs: Vec<InputImpl>,
    pub(crate) docs: Vec<String>,
}

/// Finds all harnesses.
pub(crate) fn find(program: &Crate, analysis: &Analysis) -> Vec<Harness> {
    let tables = &analysis.tables;
    let mut found = Vec::new();
    for (item, data) in tables.items.iter().enumerate() {
        let ItemKind::Fn(function) = &data.kind else {
            continue;
        };
        if data.in_block {
            continue;
        }
        let root_main = data.module == ROOT && data.name == "main" && program.package.has_main;
        let Some(kind) = kind_of(function, root_main) else {
            continue;
        };
        let spawn_sites = spawns(analysis, item);
        if spawn_sites.is_empty() {
            continue;
        }
        let module = tables.module_path(data.module);
        let name = if module.is_empty() {
            data.name.clone()
        } else {
            format!("{module}::{}", data.name)
        };
        let source = &program.files[data.file].source;
        let ident = function.sig.ident.span().byte_range();
        let place = source.place(ident.clone());
        let parsed = inputs::parameters(tables, program, data, function);
        let unsupported = unsupported(function, kind, &name, &place);
        let (params, unsupported) = match (parsed.as_ref(), unsupported) {
            (_, Some(error)) => (Vec::new(), Some(error)),
            (Err(error), None) => (Vec::new(), Some(error.clone())),
            (Ok(parsed), None) => (parsed.params.clone(), None),
        };
        let (arguments, inputs) = parsed
            .map(|parsed| (parsed.arguments, parsed.impls))
            .unwrap_or_default();
        let ignored = has(&function.attrs, "ignore");
        let returns = returns(&function.sig.output, kind);
        found.push(Harness {
            info: HarnessInfo {
                name,
                kind,
                place,
                params,
                spawn_sites,
                ignored,
                unsupported,
            },
            item,
            returns,
            arguments,
            inputs,
            docs: docs(&function.attrs),
        });
    }
    found.sort_by_key(|harness| {
        (
            tables.items[harness.item].file,
            tables.items[harness.item].at,
        )
    });
    found
}

fn kind_of(function: &Function, root_main: bool) -> Option<HarnessKind> {
    if function.attrs.iter().any(is_test) {
        Some(HarnessKind::Test)
    } else if root_main {
        Some(HarnessKind::Main)
    } else if matches!(function.vis, Visibility::Public(_)) {
        Some(HarnessKind::PubFn)
    } else {
        None
    }
}

/// `#[test]`, and what frameworks make of it: `#[tokio::test]`, `#[rstest]`.
fn is_test(attr: &Attribute) -> bool {
    attr.path()
        .segments
        .last()
        .is_some_and(|last| last.ident == "test" || last.ident == "rstest")
}

fn has(attrs: &[Attribute], name: &str) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident(name))
}

/// All places where a function starts threads, directly or through what it calls.
fn spawns(analysis: &Analysis, item: ItemId) -> Vec<SpawnSite> {
    let mut seen = HashSet::from([item]);
    let mut open = vec![item];
    let mut sites = Vec::new();
    while let Some(function) = open.pop() {
        let Some(facts) = analysis.facts.get(&function) else {
            continue;
        };
        sites.extend(facts.spawns.iter().cloned());
        open.extend(facts.calls.iter().filter(|called| seen.insert(**called)));
    }
    sites.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    sites
}

fn unsupported(function: &Function, kind: HarnessKind, name: &str, place: &Place) -> Option<Error> {
    let sig = &function.sig;
    let test = function.attrs.iter().find(|attr| is_test(attr));
    let impl_trait = |input: &FnArg| matches!(input, FnArg::Typed(input) if matches!(*input.ty, Type::ImplTrait(_)));
    let generic = sig
        .generics
        .params
        .iter()
        .any(|param| !matches!(param, GenericParam::Lifetime(_)));
    let (reason, help) = if sig.asyncness.is_some() {
        (
            "it is async, and seqz has no executor",
            "test the shared state from two `std::thread`s",
        )
    } else if test.is_some_and(|test| !test.path().is_ident("test")) {
        (
            "its test attribute is a macro whose code can't be seen",
            "write a plain `#[test]`",
        )
    } else if has(&function.attrs, "should_panic") {
        (
            "it passes only if it panics, so a panic is no bug of it",
            "write a test that asserts what should hold",
        )
    } else if generic || sig.inputs.iter().any(impl_trait) {
        (
            "it is generic, and no type is known to run it with",
            "write a `#[test]` that calls it with concrete types",
        )
    } else if matches!(sig.safety, Safety::Unsafe(_)) {
        (
            "it is unsafe, and what its caller must ensure isn't known",
            "write a `#[test]` that calls it as it has to be",
        )
    } else if kind == HarnessKind::Test && !sig.inputs.is_empty() {
        ("a `#[test]` has no parameters", "make it a `pub fn`")
    } else {
        return None;
    };
    Some(Error::unsupported(
        place.clone(),
        format!("harness `{name}`"),
        reason,
        help,
    ))
}

fn returns(output: &ReturnType, kind: HarnessKind) -> Returns {
    let ReturnType::Type(_, ty) = output else {
        return Returns::Nothing;
    };
    if kind == HarnessKind::PubFn || matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty()) {
        return Returns::Nothing;
    }
    match &**ty {
        Type::Path(path)
            if path
                .path
                .segments
                .last()
                .is_some_and(|last| last.ident == "Result") =>
        {
            Returns::Result
        }
        Type::Never(_) => Returns::Nothing,
        _ => Returns::Other,
    }
}

/// The lines of the doc comment.
fn docs(attrs: &[Attribute]) -> Vec<String> {
    let line = |attr: &Attribute| match &attr.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    attrs.iter().filter_map(line).collect()
}

/// The harnesses to generate: the one asked for, else all that can be run and aren't ignored.
pub(crate) fn choose<'h>(
    program: &Crate,
    harnesses: &'h [Harness],
    wanted: Option<&str>,
) -> Result<Vec<&'h Harness>, Error> {
    let path = program.files[0].source.path.clone();
    if harnesses.is_empty() {
        let looked_for = "looked for a `#[test]`, a `pub fn` or a `main` that starts a thread with `std::thread::spawn`, \
                          `thread::Builder` or `thread::scope`, itself or through functions of the crate"
            .to_string();
        return Err(Error::NoHarness { path, looked_for });
    }
    if let Some(wanted) = wanted {
        return by_name(harnesses, wanted).map(|harness| vec![harness]);
    }
    let usable: Vec<&Harness> = harnesses
        .iter()
        .filter(|harness| harness.info.unsupported.is_none() && !harness.info.ignored)
        .collect();
    if usable.is_empty() {
        let errors = harnesses
            .iter()
            .filter_map(|harness| harness.info.unsupported.clone())
            .collect();
        return Err(
            Error::from_list(errors).unwrap_or_else(|| Error::NoHarness {
                path,
                looked_for: "all harnesses are marked `#[ignore]`; name one with `--harness`"
                    .into(),
            }),
        );
    }
    Ok(usable)
}

fn by_name<'h>(harnesses: &'h [Harness], wanted: &str) -> Result<&'h Harness, Error> {
    let exact = harnesses.iter().find(|harness| harness.info.name == wanted);
    // The last part of the path will do where it is unambiguous.
    let tail = || {
        let suffix = format!("::{wanted}");
        let mut matching = harnesses
            .iter()
            .filter(|harness| harness.info.name.ends_with(&suffix));
        matching.next().filter(|_| matching.next().is_none())
    };
    let Some(harness) = exact.or_else(tail) else {
        let known: Vec<String> = harnesses
            .iter()
            .map(|harness| harness.info.name.clone())
            .collect();
        return Err(Error::UnknownHarness {
            name: wanted.into(),
            suggestions: suggestions(&known, wanted),
            known,
        });
    };
    match &harness.info.unsupported {
        Some(error) => Err(error.clone()),
        None => Ok(harness),
    }
}

/// Names within a few letters of the wanted one, or that contain it.
fn suggestions(known: &[String], wanted: &str) -> Vec<String> {
    let last = |name: &str| name.rsplit("::").next().unwrap_or(name).to_string();
    let mut near: Vec<(usize, &String)> = known
        .iter()
        .map(|name| {
            let distance = distance(name, wanted).min(distance(&last(name), &last(wanted)));
            (if name.contains(wanted) { 0 } else { distance }, name)
        })
        .filter(|(distance, _)| *distance <= wanted.len() / 3 + 1)
        .collect();
    near.sort();
    near.into_iter()
        .take(3)
        .map(|(_, name)| name.clone())
        .collect()
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

/// Lets the module of P̂ₖ see the harnesses: itself and the modules around it become visible in the crate.
pub(crate) fn make_reachable(
    program: &Crate,
    analysis: &Analysis,
    chosen: &[&Harness],
    edits: &mut [Edits],
) {
    let mut done: BTreeMap<(usize, usize), ()> = BTreeMap::new();
    let tables = &analysis.tables;
    for harness in chosen {
        for &item in
            std::iter::once(&harness.item).chain(harness.inputs.iter().map(|input| &input.item))
        {
            let data = &tables.items[item];
            if done.insert((data.file, data.at), ()).is_none() {
                widen(program, data.file, data.at, edits);
            }
            let mut module = data.module;
            while module != ROOT {
                let declared = tables
                    .module_by_place
                    .iter()
                    .find(|(_, id)| **id == module)
                    .map(|(place, _)| *place);
                if let Some((file, at)) = declared
                    && done.insert((file, at), ()).is_none()
                {
                    widen(program, file, at, edits);
                }
                module = tables.modules[module].parent.unwrap_or(ROOT);
            }
        }
    }
}

/// Makes the item whose name stands at `at` visible in the crate.
fn widen(program: &Crate, file: usize, at: usize, edits: &mut [Edits]) {
    struct Find<'f> {
        at: usize,
        edits: &'f mut Edits,
    }
    impl Find<'_> {
        fn item(&mut self, vis: &Visibility, ident: &syn::Ident, keyword: usize) {
            if ident.span().byte_range().start != self.at {
                return;
            }
            match vis {
                Visibility::Public(_) => {}
                Visibility::Restricted(vis) => {
                    let range = vis.pub_token.span.byte_range().start
                        ..vis.paren_token.span.close().byte_range().end;
                    self.edits.replace(range, "pub(crate)");
                }
                Visibility::Inherited => self.edits.before(keyword, "pub(crate) "),
            }
        }
    }
    impl<'ast> syn::visit::Visit<'ast> for Find<'_> {
        fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
            let start = syn::spanned::Spanned::span(&item.sig).byte_range().start;
            self.item(&item.vis, &item.sig.ident, start);
        }
        fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
            let keyword = item
                .unsafety
                .map_or(item.mod_token.span, |token| token.span);
            self.item(&item.vis, &item.ident, keyword.byte_range().start);
            syn::visit::visit_item_mod(self, item);
        }
        fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
            self.item(
                &item.vis,
                &item.ident,
                item.struct_token.span.byte_range().start,
            );
        }
        fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
            self.item(
                &item.vis,
                &item.ident,
                item.enum_token.span.byte_range().start,
            );
        }
    }
    let mut find = Find {
        at,
        edits: &mut edits[file],
    };
    syn::visit::Visit::visit_file(&mut find, &program.files[file].tree);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested() {
        let known = [
            "tests::increments".to_string(),
            "tests::transfer".to_string(),
            "main".to_string(),
        ];
        assert_eq!(suggestions(&known, "incremnts"), ["tests::increments"]);
        assert_eq!(suggestions(&known, "transfer_it"), ["tests::transfer"]);
        assert!(suggestions(&known, "something").is_empty());
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
