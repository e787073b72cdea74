//! The generated crate as data.

mod manifest;
mod p_hat;

use std::path::{Path, PathBuf};

use crate::edit::Edits;
use crate::error::Error;
use crate::harness::Harness;
use crate::load::Crate;
use crate::map::SourceMap;
use crate::program::{Generated, Options};
use crate::resolve::{Ns, ROOT};
use crate::walk::Analysis;

/// All files of the generated crate for the chosen harnesses.
pub(crate) fn generate(
    program: &Crate,
    analysis: &Analysis,
    chosen: &[&Harness],
    edits: &[Edits],
    options: &Options,
) -> Result<Generated, Error> {
    if analysis.tables.in_module(ROOT, "p_hat", Ns::Type).is_some() {
        return Err(Error::unsupported(
            program.files[0].source.place(0..0),
            "a module or type called `p_hat` in the crate's root",
            "the generated program has that name",
            "give it another name",
        ));
    }
    let mut map = SourceMap::default();
    let mut files = Vec::new();
    for (number, file) in program.files.iter().enumerate() {
        let edited = edits[number].apply(file.source.text.as_str());
        map.add(&file.source, &edited, analysis.sites[number].clone());
        files.push((file.source.generated.clone(), edited.text));
    }
    let root = &mut files[0].1;
    if !root.ends_with('\n') {
        root.push('\n');
    }
    root.push_str("\npub mod p_hat;\n");
    let package = format!("{}-p-hat", program.package.name);
    let library = package.replace('-', "_");
    files.extend(p_hat::files(program, chosen, options));
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
        package,
        files,
        map,
        harnesses,
    })
}

fn main(library: &str) -> String {
    format!(
        "//! Runs P̂ₖ with the inputs, `rds` and `wrts` that the command line gives.\n\
         \n\
         fn main() -> std::process::ExitCode {{\n    \
             seqz_runtime::main({library}::p_hat::HARNESSES)\n\
         }}\n"
    )
}
