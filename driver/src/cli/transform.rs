//! `seqz transform`.

use std::fs;
use std::path::{Path, PathBuf};

use super::{TransformArgs, Verdict};
use crate::diagnostic::shown;
use crate::embed;
use crate::error::Error;
use crate::output::{Output, writing};
use crate::program::{Generated, Mode, Program, Request};
use crate::report::style;

pub(super) fn run(args: &TransformArgs) -> Result<Verdict, Error> {
    let program = Program::load(&args.path, Mode::Sequential)?;
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
    let force = if args.force {
        Force::Always
    } else {
        Force::Never
    };
    write(&dir, &generated, force)?;
    // With several harnesses, each has a file of its own, and this one leads to them.
    let readable = ["src/p_hat.rs", "src/p_hat/mod.rs"];
    let readable = readable
        .into_iter()
        .find(|path| dir.join(path).is_file())
        .unwrap_or("src");
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
        writeln!(out, "{dim}read{dim:#}  {}", shown(&dir.join(readable)))?;
        writeln!(
            out,
            "{dim}run{dim:#}   cd {} && cargo run --release -- --help",
            shown(&dir)
        )?;
        writeln!(
            out,
            "{dim}fuzz{dim:#}  cd {} && cargo +nightly fuzz run p_hat -s none",
            shown(&dir)
        )
    })?;
    Ok(Verdict::Clean)
}

/// Writes the crate to `dir`, with the runtime inside. What is there already is written over only if seqz has written it,
/// or `force` says so; and only what seqz has written is removed.
pub(super) fn write(dir: &Path, generated: &Generated, force: Force) -> Result<(), Error> {
    fs::create_dir_all(dir).map_err(writing(dir))?;
    let mut entries = fs::read_dir(dir).map_err(|source| Error::File {
        what: "read",
        path: dir.to_owned(),
        source,
    })?;
    let empty = entries.next().is_none();
    let ours = fs::read_to_string(dir.join("Cargo.toml")).is_ok_and(|text| text.starts_with(MARK))
        && dir.join("source-map.json").is_file();
    let refused = match force {
        _ if empty => None,
        Force::Never => Some("name another directory with -o, or say --force to write over it"),
        Force::Ours if !ours => Some("name an empty directory, or one that seqz has written"),
        Force::Ours | Force::Always => None,
    };
    if let Some(help) = refused {
        return Err(Error::Option {
            message: format!("{} is not empty", shown(dir)),
            help: help.into(),
        });
    }
    let files = generated
        .files()
        .map(|(path, text)| (path.to_owned(), text));
    let runtime = dir.join("runtime");
    embed::write(dir, files).map_err(writing(dir))?;
    crate::fuzz::write_testers(dir, generated)?;
    embed::write(&runtime, embed::runtime()).map_err(writing(&runtime))?;
    if ours {
        let kept: Vec<_> = generated.files().map(|(path, _)| path.to_owned()).collect();
        embed::clean(dir, &kept).map_err(writing(dir))?;
        let kept: Vec<_> = embed::runtime().map(|(path, _)| path).collect();
        embed::clean(&runtime, &kept).map_err(writing(&runtime))?;
    }
    Ok(())
}

/// How a generated manifest begins.
const MARK: &str = "# Written by seqz";

/// What may be written over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    /// Nothing.
    Never,
    /// What seqz has written.
    Ours,
    /// Anything.
    Always,
}
