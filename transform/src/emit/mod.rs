//! The files of the generated crate.

mod build_script;
mod code;
mod literals;
pub(crate) mod manifest;
mod p_hat;
mod profile;
mod properties;
mod results;
mod testers;

use std::path::{Path, PathBuf};

use code::{Part, tokens};
use literals::Literals;
use p_hat::Whole;
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use results::Results;

use crate::edit::Edits;
use crate::error::Error;
use crate::generated::Generated;
use crate::harness::Harness;
use crate::load::{Crate, ExtraRoot, Package, ParsedFile};
use crate::map::SourceMap;
use crate::options::Options;
use crate::resolve::{Def, Ns, ROOT, Tables, name};
use crate::source::Place;
use crate::values::Registered;
use crate::walk::Analysis;

/// Generates all files of the crate for the chosen harnesses.
pub(crate) fn generate(
    program: &Crate,
    analysis: &Analysis,
    chosen: &[&Harness],
    edits: &[Edits],
    values: &Registered,
    options: &Options,
) -> Result<Generated, Error> {
    if let Some(place) = taken(program, &analysis.tables) {
        return Err(Error::unsupported(
            place,
            "`p_hat` in the crate's root",
            "the generated program has that name",
            "give it another name",
        ));
    }
    let roots: Vec<&ExtraRoot> = program
        .roots
        .iter()
        .filter(|root| {
            chosen
                .iter()
                .any(|harness| root.files.contains(&harness.file(analysis)))
        })
        .collect();
    let mut map = SourceMap::default();
    let mut files = Vec::new();
    for (number, file) in program.files.iter().enumerate() {
        if file.source.expanded.is_some() {
            continue;
        }
        if program.root_of(number).is_some()
            && !roots.iter().any(|root| root.files.contains(&number))
        {
            continue;
        }
        let edited = edits[number].apply(file.source.text.as_str());
        let lone = analysis.lone.iter().filter(|lone| lone.file == number);
        map.add(
            &file.source,
            &edited,
            analysis.sites[number].clone(),
            lone.map(|lone| (lone.at, lone.in_macro)),
        );
        files.push((file.source.generated.clone(), edited.text));
    }
    files[0]
        .1
        .push_str(&appendix(program, &analysis.tables, &roots));
    let package = format!("{}-p-hat", program.package.name);
    let library = &program.package.crate_name;
    let registered = |harness: &Harness| {
        let module = analysis.tables.items[harness.item].module;
        values.of(&analysis.tables, module)
    };
    files.extend(p_hat::files(
        chosen,
        options,
        &Whole {
            has_unsafe: program.has_unsafe(),
            reaches_unsafe: program.has_unsafe() || analysis.counting.accesses_memory,
            asks_for_ends: program.names("is_finished"),
            results: Results::of(program, analysis.counting),
        },
        &registered,
    ));
    let script = build_script::text(program)?;
    files.push((PathBuf::from("src/main.rs"), main(&program.package)));
    files.push((
        PathBuf::from("Cargo.toml"),
        manifest::text(
            &program.package,
            &package,
            script.is_some(),
            analysis.counting,
        )?,
    ));
    files.extend(script.map(|text| (PathBuf::from("build.rs"), text)));
    let coercions = if analysis.counting.coerces() {
        COERCIONS
    } else {
        ""
    };
    if !coercions.is_empty() {
        files.push((PathBuf::from(testers::CONFIG), coercions.to_owned()));
    }
    let harnesses = chosen
        .iter()
        .map(|harness| harness.info.name.clone())
        .collect();
    debug_assert!(
        files
            .iter()
            .all(|(path, _)| path.is_relative() && path != Path::new(""))
    );
    Ok(Generated {
        testers: testers::files(
            &package,
            library,
            chosen,
            &program.package.patch,
            options,
            coercions,
            &Literals::of(program),
        )
        .map_err(|error| manifest::unwritten(&program.package, &error))?,
        has_unsafe: program.has_unsafe(),
        may_change: may_change(program),
        serde: program.package.dependencies.has("serde"),
        package,
        files,
        map,
        harnesses,
    })
}

/// The code that lets handles coerce to handles of types without a size: std's own traits for that are unstable, and so
/// only the runtime's crate can use them.
const COERCIONS: &str = "
# `Arc`s whose handles are counted become `Arc<dyn _>` by unstable traits of std.
[env]
RUSTC_BOOTSTRAP = \"seqz_runtime\"
";

/// Returns the text that is added to the crate's root.
fn appendix(program: &Crate, tables: &Tables, roots: &[&ExtraRoot]) -> String {
    let mut text = String::from(if files_end_in_newline(program) {
        "\n"
    } else {
        "\n\n"
    });
    if program.package.edition == "2015" {
        text.push_str("extern crate seqz_runtime;\n");
    }
    if let (Some(library), false) = (&program.package.library, roots.is_empty())
        && !tables.library_is_hidden()
    {
        // Tests and programs know the crate by its name. Where the crate has another item of that name, each use says
        // `crate`.
        text.push_str(&format!("extern crate self as {library};\n"));
    }
    text.push_str(&macros(program, tables, roots));
    for root in roots {
        text.push_str(&format!("pub mod {};\n", root.module));
    }
    text.push_str("pub mod p_hat;\n");
    text
}

/// The crates whose macros the tests and programs have everywhere, which only the root of a crate may ask for.
fn macros(program: &Crate, tables: &Tables, roots: &[&ExtraRoot]) -> String {
    let items = roots
        .iter()
        .flat_map(|root| &program.files[root.files.start].tree.items);
    let mut asked: Vec<String> = Vec::new();
    for item in items {
        let syn::Item::ExternCrate(item) = item else {
            continue;
        };
        let target = name(&item.ident);
        let is_own = tables.library.as_ref() == Some(&target);
        let asks = |attr: &&syn::Attribute| attr.path().is_ident("macro_use");
        let Some(asks) = item.attrs.iter().find(asks).filter(|_| !is_own) else {
            continue;
        };
        if program.cfg.off(&item.attrs) {
            continue;
        }
        // The generated crate has the tests, and is not compiled as one.
        let is_for_tests = |attr: &&syn::Attribute| {
            let predicate = attr.parse_args::<syn::Path>();
            predicate.is_ok_and(|path| path.is_ident("test"))
        };
        let cfgs = item.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
        let cfgs = cfgs.filter(|attr| !is_for_tests(attr));
        let attributes = cfgs.chain([asks]);
        let attributes: Vec<_> = attributes
            .map(|it| it.to_token_stream().to_string())
            .collect();
        let attributes = attributes.join(" ");
        let of = format!("{attributes} extern crate {} as seqz_macros_", item.ident);
        if !asked.contains(&of) {
            asked.push(of);
        }
    }
    let asked = asked.iter().enumerate();
    asked
        .map(|(number, of)| format!("{of}{number};\n"))
        .collect()
}

fn files_end_in_newline(program: &Crate) -> bool {
    program.files[0].source.text.as_str().ends_with('\n')
}

/// Returns the place of an item of the crate that is called `p_hat`.
fn taken(program: &Crate, tables: &Tables) -> Option<Place> {
    let def = tables.in_module(ROOT, "p_hat", Ns::Type)?;
    let source = &program.files[0].source;
    let at = match def {
        Def::Item(item) => tables.items[item].at,
        Def::Module(module) => tables
            .module_by_place
            .iter()
            .find(|(_, id)| **id == module)
            .map(|((_, at), _)| *at)?,
        _ => 0,
    };
    Some(source.place(at..at + if at == 0 { 0 } else { "p_hat".len() }))
}

/// Whether the build depends on more than the generated files and the versions of dependencies: on included files, and
/// on variables of the environment.
fn may_change(program: &Crate) -> bool {
    let includes = |file: &ParsedFile| {
        let text = file.source.text.as_str();
        ["include!", "include_str!", "include_bytes!", "env!"]
            .iter()
            .any(|macro_| text.contains(macro_))
    };
    program.package.build_script.is_some() || program.files.iter().any(includes)
}

/// Returns the text of the program, which sets the variables that cargo sets for the tests of a package, and runs P̂ₖ.
fn main(package: &Package) -> String {
    let library = tokens(&package.crate_name);
    let variables = package
        .environment
        .iter()
        .map(|(name, value)| quote!((#name, #value)));
    let file = format!("/{}", build_script::VARIABLES);
    let built = package
        .build_script
        .is_some()
        .then(|| quote!(, include!(concat!(env!("OUT_DIR"), #file))));
    code::file(
        &["Runs P̂ₖ with the inputs, `rds` and `wrts` that the command line gives."],
        &TokenStream::new(),
        [Part::Items(quote! {
            fn main() -> std::process::ExitCode {
                seqz_runtime::main(#library::p_hat::FUZZED, &[&[#(#variables),*] #built])
            }
        })],
    )
}
