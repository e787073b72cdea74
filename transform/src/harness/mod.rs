//! Harnesses: the functions that seqz can call to run the program under test.
//!
//! A harness is a test, a public free function, or the `main` of a program, that starts a thread, itself or through
//! functions of the crate.

mod choose;
mod inputs;
mod reach;

use std::collections::{BTreeSet, HashSet};

pub(crate) use choose::choose;
pub(crate) use inputs::InputImpl;
pub use inputs::Param;
pub(crate) use reach::make_reachable;

use syn::{Attribute, Expr, FnArg, GenericParam, ReturnType, Safety, Type, Visibility};

use crate::error::Error;
use crate::load::Crate;
use crate::reached::{Parts, Reached};
use crate::resolve::{Function, ItemId, ItemKind, ROOT};
use crate::source::Place;
use crate::walk::{self, Analysis, Reasonless, SpawnSite};

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
    /// What it reaches that can be run but not followed.
    pub unfollowed: Vec<Hidden>,
    /// What it reaches outside of loops that may happen without a reason.
    pub lone: Vec<(Reasonless, Place)>,
    /// The first segments of the paths in what it reaches, the names of crates among them.
    pub roots: BTreeSet<String>,
    /// The names in it by which threads of the system are told apart, if a dependency declares them.
    pub identities: BTreeSet<String>,
}

/// Code of the program that can be run but not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// What it is, as in "a `transmute`".
    pub what: String,
    /// Where.
    pub place: Place,
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

/// What `#[should_panic]` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShouldPanic {
    /// What the message is to contain, as it is written.
    pub(crate) with: Option<String>,
}

/// A harness with what is needed to call it.
pub(crate) struct Harness {
    pub(crate) info: HarnessInfo,
    pub(crate) item: ItemId,
    pub(crate) returns: Returns,
    pub(crate) expects: Option<ShouldPanic>,
    /// Arguments of the call, in terms of `inputs`.
    pub(crate) arguments: Vec<String>,
    /// Types of parameters that need an implementation of `Input`.
    pub(crate) inputs: Vec<InputImpl>,
    pub(crate) docs: Vec<String>,
    /// The name that its thread has under the test runner.
    pub(crate) thread: Option<String>,
}

impl Harness {
    /// The file that it is in.
    pub(crate) fn file(&self, analysis: &Analysis) -> usize {
        analysis.tables.items[self.item].file
    }
}

/// Finds all harnesses.
pub(crate) fn find(program: &Crate, analysis: &Analysis, parts: &Parts) -> Vec<Harness> {
    let tables = &analysis.tables;
    let mut found = Vec::new();
    for (item, data) in tables.items.iter().enumerate() {
        let ItemKind::Fn(function) = &data.kind else {
            continue;
        };
        if data.in_block || !asked_for(program, data.file) {
            continue;
        }
        let in_program = if data.module == ROOT {
            program.package.has_main
        } else {
            tables.modules[data.module].is_root
        };
        let root_main = in_program && data.name == "main";
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
        let reached = parts.from(data.file, data.at);
        let parsed = inputs::parameters(tables, program, data, function);
        let unsupported = unsupported(function, kind, &name, &place)
            .or_else(|| refused(analysis, parts, &reached));
        let unfollowed = unfollowed(program, analysis, parts, &reached);
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
        // A test file is a crate of its own there.
        let of_crate = tables.crate_root(data.module) == ROOT;
        let test = if of_crate {
            name.as_str()
        } else {
            name.split_once("::")
                .map_or(name.as_str(), |(_, rest)| rest)
        };
        let thread = (kind == HarnessKind::Test).then(|| test.to_owned());
        found.push(Harness {
            info: HarnessInfo {
                name,
                kind,
                place,
                params,
                spawn_sites,
                ignored,
                unsupported,
                unfollowed,
                lone: lone(program, analysis, parts, &reached),
                roots: reached.roots().clone(),
                identities: reached.identities().clone(),
            },
            item,
            returns,
            expects: function.attrs.iter().find_map(should_panic),
            arguments,
            inputs,
            docs: docs(&function.attrs),
            thread,
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

/// Whether harnesses in a file count: all do, unless the program is a single module of a crate.
fn asked_for(program: &Crate, file: usize) -> bool {
    let Some(only) = program.only else {
        return true;
    };
    // An expansion is in the file of its call.
    let source = &program.files[file].source;
    let path = source
        .expanded
        .as_ref()
        .map_or(&source.path, |call| &call.file);
    *path == program.files[only].source.path
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

/// What stands in the way of running what is reached.
fn refused(analysis: &Analysis, parts: &Parts, reached: &Reached) -> Option<Error> {
    let mut known = HashSet::new();
    let errors = analysis.errors.iter().filter(|refused| {
        let at = refused.error.place().map_or(0, |place| place.bytes.start);
        parts.is_reached(reached, refused.file, at)
            && refused.once.as_ref().is_none_or(|key| known.insert(key))
    });
    Error::from_list(errors.map(|refused| refused.error.clone()).collect())
}

/// What of that which is reached may happen without a reason outside of loops, in order of source.
fn lone(
    program: &Crate,
    analysis: &Analysis,
    parts: &Parts,
    reached: &Reached,
) -> Vec<(Reasonless, Place)> {
    let lone = analysis.lone.iter();
    lone.filter(|it| parts.is_reached(reached, it.file, it.bytes.start))
        .map(|it| {
            (
                it.what,
                program.files[it.file].source.place(it.bytes.clone()),
            )
        })
        .collect()
}

/// What of that which is reached can be run but not followed, in order of source.
fn unfollowed(
    program: &Crate,
    analysis: &Analysis,
    parts: &Parts,
    reached: &Reached,
) -> Vec<Hidden> {
    let noted: Vec<_> = analysis
        .unfollowed
        .iter()
        .filter(|it| parts.is_reached(reached, it.file, it.bytes.start))
        .collect();
    // Files that nobody changes say the same to everybody.
    let changed = noted
        .iter()
        .any(|it| !it.reads && it.what.starts_with("a file"));
    let named_better = |import: &walk::Unfollowed| {
        let mut all = noted.iter();
        import.import && all.any(|it| !it.import && it.what == import.what)
    };
    let told = noted.iter().filter(|it| !it.reads || changed);
    let noted = told.filter(|it| !named_better(it));
    let mut all: Vec<(usize, std::ops::Range<usize>, &str)> = noted
        .map(|it| (it.file, it.bytes.clone(), it.what.as_str()))
        .collect();
    let hidden = parts.hidden();
    let hidden = hidden.filter(|(file, at, _)| parts.is_reached(reached, *file, *at));
    all.extend(hidden.map(|(file, at, what)| (file, at..at + 1, what)));
    all.sort_by_key(|(file, bytes, what)| (*file, bytes.start, *what));
    let mut known = HashSet::new();
    let told = all.into_iter().filter_map(|(file, bytes, what)| {
        let place = program.files[file].source.place(bytes);
        let what = what.to_owned();
        // One of a kind in a line is enough.
        known
            .insert((file, place.start.line, what.clone()))
            .then_some(Hidden { what, place })
    });
    told.collect()
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

/// What an attribute says if it is `should_panic`, `should_panic = "…"` or `should_panic(expected = "…")`.
fn should_panic(attr: &Attribute) -> Option<ShouldPanic> {
    if !attr.path().is_ident("should_panic") {
        return None;
    }
    let mut with = None;
    match &attr.meta {
        syn::Meta::NameValue(pair) => with = literal(&pair.value),
        syn::Meta::List(_) => {
            // What rustc does not accept is for rustc to say.
            let _ = attr.parse_nested_meta(|meta| {
                let value: Expr = meta.value()?.parse()?;
                if meta.path.is_ident("expected") {
                    with = literal(&value);
                }
                Ok(())
            });
        }
        syn::Meta::Path(_) => {}
    }
    Some(ShouldPanic { with })
}

/// The text of a literal, as it is written.
fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => Some(text.token().to_string()),
        _ => None,
    }
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
