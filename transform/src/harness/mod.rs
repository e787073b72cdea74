//! Harnesses: the functions that seqz can call to run the program under test.
//!
//! A harness is a test, a public free function, or the `main` of a program, that starts a thread, itself or through
//! functions of the crate. Tests and `main`s that start none are found, too: a dependency may start threads for them.

mod choose;
mod inputs;
mod reach;

use std::collections::{BTreeSet, HashSet};

pub(crate) use choose::choose;
pub(crate) use inputs::InputImpl;
pub use inputs::{INPUT_TYPES, InputType, Param};
pub(crate) use reach::make_reachable;

use syn::{Attribute, Expr, FnArg, GenericParam, ReturnType, Safety, Type, Visibility};

use crate::error::Error;
use crate::foreign::Foreign;
use crate::load::Crate;
use crate::noted::{self, Hidden, Noted};
use crate::reached::{Parts, Reached};
use crate::resolve::{Function, ItemId, ItemKind, ROOT};
use crate::source::Place;
use crate::walk::{Analysis, Reasonless, SpawnSite};

/// The kind of function that a harness is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HarnessKind {
    /// A `#[test]`.
    Test,
    /// A public function.
    PubFn,
    /// The program's `main`.
    Main,
}

/// A harness as users see it.
#[derive(Clone, Debug)]
pub struct HarnessInfo {
    /// The harness's path in the crate, `module::function`.
    pub name: String,
    /// What kind of function it is.
    pub kind: HarnessKind,
    /// The place of the harness's name in the source.
    pub place: Place,
    /// The parameters, which are the program's inputs.
    pub params: Vec<Param>,
    /// The places where the harness, or a function that it calls, starts threads, in the order of the source.
    pub spawn_sites: Vec<SpawnSite>,
    /// Whether the test is marked `#[ignore]`, so that it is run only by name.
    pub ignored: bool,
    /// The reason why the harness can't be run; `None` where it can.
    pub unsupported: Option<Error>,
    /// Code that the harness reaches and that can be run but not followed.
    pub unfollowed: Vec<Hidden>,
    /// The calls outside of loops that the harness reaches and that may end or fail without a reason.
    pub lone: Vec<(Reasonless, Place)>,
    /// The first segments of the paths in what the harness reaches; names of crates are among them.
    pub roots: BTreeSet<String>,
    /// The names in what the harness reaches by which threads of the system are told apart, if a dependency declares
    /// the names.
    pub identities: BTreeSet<String>,
    /// All names in what the harness reaches.
    pub names: BTreeSet<String>,
    /// The functions that are not written in Rust, that the crate declares, and that only what the harness does not
    /// reach can call: by their names among the executable's imports.
    pub idle_functions: BTreeSet<String>,
}

/// The meaning of a harness's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    /// The result has no meaning.
    Nothing,
    /// The result is a `Result`, whose `Err` is a failure.
    Result,
    /// The result is of another type; a test or a program reports it through `Termination`.
    Other,
}

/// The contents of `#[should_panic]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShouldPanic {
    /// The text that the panic's message has to contain, as it is written in the source.
    pub(crate) with: Option<String>,
}

/// A harness with what is needed to call it.
pub(crate) struct Harness {
    pub(crate) info: HarnessInfo,
    pub(crate) item: ItemId,
    pub(crate) returns: Returns,
    pub(crate) expects: Option<ShouldPanic>,
    /// The arguments of the call, as expressions on `inputs`.
    pub(crate) arguments: Vec<String>,
    /// The parameters' types that need an implementation of `Input`.
    pub(crate) inputs: Vec<InputImpl>,
    pub(crate) docs: Vec<String>,
    /// The name that the harness's thread has under the test runner.
    pub(crate) thread: Option<String>,
}

impl Harness {
    /// Returns the index of the file that has the harness.
    pub(crate) fn file(&self, analysis: &Analysis) -> usize {
        analysis.tables.items[self.item].file
    }

    /// Returns where the harness is: the index of the file, and the offset in it.
    pub(crate) fn at(&self, analysis: &Analysis) -> (usize, usize) {
        let item = &analysis.tables.items[self.item];
        (item.file, item.at)
    }
}

/// Finds all harnesses, and the tests and `main`s that start no threads themselves.
pub(crate) fn find(program: &Crate, analysis: &Analysis, parts: &Parts) -> Vec<Harness> {
    let foreign = Foreign::of(program);
    let tables = &analysis.tables;
    let noted = Noted::all(program, analysis, parts);
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
        if spawn_sites.is_empty() && kind == HarnessKind::PubFn {
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
        let noted = noted
            .iter()
            .filter(|it| parts.is_reached(&reached, it.file, it.at));
        let unfollowed = noted::told(noted);
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
        // A test file is a crate of its own under cargo.
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
                names: reached.names().clone(),
                idle_functions: foreign.unused(reached.names()),
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
    found.sort_by_key(|harness| harness.at(analysis));
    found
}

/// Whether harnesses in a file count: those of all files do, unless the program is a single module of a crate.
fn asked_for(program: &Crate, file: usize) -> bool {
    let Some(only) = program.only else {
        return true;
    };
    if let Some(root) = program.root_of(only)
        && root.files.start == only
    {
        return root.files.contains(&file);
    }
    // An expansion belongs to the file of its call.
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

/// Returns the error of the code that is reached and can't be run.
fn refused(analysis: &Analysis, parts: &Parts, reached: &Reached) -> Option<Error> {
    let mut known = HashSet::new();
    let errors = analysis.errors.iter().filter(|refused| {
        let at = refused.error.place().map_or(0, |place| place.bytes.start);
        parts.is_reached(reached, refused.file, at)
            && refused.once.as_ref().is_none_or(|key| known.insert(key))
    });
    Error::from_list(errors.map(|refused| refused.error.clone()).collect())
}

/// Returns the reached calls outside of loops that may end or fail without a reason, in the order of the source.
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

/// Whether the attribute is `#[test]`, or one of frameworks': `#[tokio::test]`, `#[rstest]`.
fn is_test(attr: &Attribute) -> bool {
    attr.path()
        .segments
        .last()
        .is_some_and(|last| last.ident == "test" || last.ident == "rstest")
}

fn has(attrs: &[Attribute], name: &str) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident(name))
}

/// Reads the attribute if it is `should_panic`, `should_panic = "…"` or `should_panic(expected = "…")`.
fn should_panic(attr: &Attribute) -> Option<ShouldPanic> {
    if !attr.path().is_ident("should_panic") {
        return None;
    }
    let mut with = None;
    match &attr.meta {
        syn::Meta::NameValue(pair) => with = literal(&pair.value),
        syn::Meta::List(_) => {
            // rustc reports what it does not accept.
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

/// Returns the text of a literal, as it is written in the source.
fn literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) => Some(text.token().to_string()),
        _ => None,
    }
}

/// Returns all places where a function starts threads, directly or through functions that it calls.
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

/// Returns the lines of the doc comment.
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
