//! The generated crate as data.

mod manifest;
mod p_hat;
mod properties;
mod testers;

use std::path::{Path, PathBuf};

use p_hat::Whole;

use crate::edit::Edits;
use crate::error::Error;
use crate::harness::Harness;
use crate::load::{Crate, ExtraRoot};
use crate::map::SourceMap;
use crate::program::{Generated, Options};
use crate::resolve::{Def, Ns, ROOT, Tables};
use crate::source::Place;
use crate::values::Registered;
use crate::walk::Analysis;

/// All files of the generated crate for the chosen harnesses.
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
        if program.root_of(number).is_some()
            && !roots.iter().any(|root| root.files.contains(&number))
        {
            continue;
        }
        let edited = edits[number].apply(file.source.text.as_str());
        map.add(&file.source, &edited, analysis.sites[number].clone());
        files.push((file.source.generated.clone(), edited.text));
    }
    files[0].1.push_str(&appendix(program, &roots));
    let package = format!("{}-p-hat", program.package.name);
    let library = package.replace('-', "_");
    let registered = |harness: &Harness| {
        let module = analysis.tables.items[harness.item].module;
        values.of(&analysis.tables, module)
    };
    files.extend(p_hat::files(
        chosen,
        options,
        &Whole {
            has_unsafe: program.has_unsafe(),
            asks_for_ends: program.names("is_finished"),
        },
        &registered,
    ));
    files.push((PathBuf::from("src/main.rs"), main(&library)));
    files.push((
        PathBuf::from("Cargo.toml"),
        manifest::text(&program.package, &package)?,
    ));
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
            chosen,
            &manifest::patch(&program.package)?,
            options,
        ),
        has_unsafe: program.has_unsafe(),
        package,
        files,
        map,
        harnesses,
    })
}

/// What is added to the crate's root.
fn appendix(program: &Crate, roots: &[&ExtraRoot]) -> String {
    let mut text = String::from(if files_end_in_newline(program) {
        "\n"
    } else {
        "\n\n"
    });
    if program.package.edition == "2015" {
        text.push_str("extern crate seqz_runtime;\n");
    }
    if let (Some(library), false) = (&program.package.library, roots.is_empty()) {
        // Tests and programs know the crate by its name.
        text.push_str(&format!("extern crate self as {library};\n"));
    }
    for root in roots {
        text.push_str(&format!("pub mod {};\n", root.module));
    }
    text.push_str("pub mod p_hat;\n");
    text
}

fn files_end_in_newline(program: &Crate) -> bool {
    program.files[0].source.text.as_str().ends_with('\n')
}

/// Where the crate has something of its own called `p_hat`.
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

fn main(library: &str) -> String {
    format!(
        "//! Runs P̂ₖ with the inputs, `rds` and `wrts` that the command line gives.\n\
         \n\
         fn main() -> std::process::ExitCode {{\n    \
             seqz_runtime::main({library}::p_hat::FUZZED)\n\
         }}\n"
    )
}
