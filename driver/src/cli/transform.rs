//! `seqz transform`.

use std::fs;
use std::path::{Path, PathBuf};

use super::{TransformArgs, Verdict};
use crate::diagnostic::shown;
use crate::embed;
use crate::error::Error;
use crate::output::{Output, writing};
use crate::program::{Generated, Program, Request};
use crate::report::style;

pub(super) fn run(args: &TransformArgs) -> Result<Verdict, Error> {
    let program = Program::load(&args.path)?;
    let harnesses = program.harnesses();
    let names: Vec<_> = harnesses.iter().map(|h| h.name.as_str()).collect();
    let harness = args
        .harness
        .as_deref()
        .map(|wanted| super::pick(&names, wanted))
        .transpose()?;
    let role = super::role::of_option(args.thread_under_test.as_deref(), harnesses, harness)?;
    let generated = program.transform(&Request {
        k: args.k,
        harness: harness.map(str::to_owned),
        role,
    })?;
    let dir = match &args.output {
        Some(dir) => dir.clone(),
        None => PathBuf::from(format!("{}-p-hat", program.name())),
    };
    write(&dir, &generated, args.force)?;
    Output::stdout().write(|out| {
        let (bold, dim) = (style::BOLD, style::DIM);
        writeln!(
            out,
            "{bold}{}{bold:#}: P̂ₖ for k = {}, {} thread under test",
            shown(&dir),
            args.k,
            role.name()
        )?;
        for harness in generated.harnesses() {
            writeln!(out, "  {harness}")?;
        }
        writeln!(
            out,
            "{dim}read{dim:#}  {}",
            shown(&dir.join("src/p_hat.rs"))
        )?;
        writeln!(
            out,
            "{dim}run{dim:#}   cd {} && cargo run --release -- --help",
            shown(&dir)
        )
    })?;
    Ok(Verdict::Clean)
}

/// Writes the crate to `dir`, with the runtime inside.
pub(super) fn write(dir: &Path, generated: &Generated, force: bool) -> Result<(), Error> {
    claim(dir, force)?;
    let files = generated
        .files()
        .map(|(path, text)| (path.to_owned(), text));
    embed::write(dir, files).map_err(writing(dir))?;
    embed::write(&dir.join("runtime"), embed::runtime()).map_err(writing(dir))
}

/// Makes sure that nothing of the user's is written over.
fn claim(dir: &Path, force: bool) -> Result<(), Error> {
    fs::create_dir_all(dir).map_err(writing(dir))?;
    let mut entries = fs::read_dir(dir).map_err(|source| Error::File {
        what: "read",
        path: dir.to_owned(),
        source,
    })?;
    if entries.next().is_some() && !force {
        return Err(Error::Option {
            message: format!("{} is not empty", shown(dir)),
            help: "name another directory with -o, or say --force to write over it".into(),
        });
    }
    Ok(())
}
