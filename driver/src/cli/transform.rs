//! `seqz transform`.

use std::path::PathBuf;

use super::packages::PackageArgs;
use super::{TransformArgs, Verdict};
use crate::check::search::shell_word;
use crate::destination::{self, Force};
use crate::diagnostic::shown;
use crate::error::Error;
use crate::output::Output;
use crate::program::{Choice, Mode, Program, Request};
use crate::style;

pub(super) fn run(args: &TransformArgs) -> Result<Verdict, Error> {
    let program = Program::load_with(&place(args)?, Mode::Sequential, &args.features.chosen())?;
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
        chosen: harness.map_or(Choice::ALL, |harness| Choice::One(harness.to_owned())),
        role,
    })?;
    let dir = match &args.output {
        Some(dir) => dir.clone(),
        None => PathBuf::from(format!("{}-p-hat", program.name())),
    };
    let force = if args.force {
        Force::Written
    } else {
        Force::Never
    };
    destination::write(&dir, &program, &generated, force)?;
    // The user of `seqz transform` on a whole program has to hear which harnesses are not in the crate, and why.
    let left_out: Vec<_> = harnesses
        .iter()
        .filter(|h| harness.is_none_or(|wanted| wanted == h.name))
        .filter(|h| !generated.harnesses().contains(&h.name))
        .map(|h| {
            let why = h.unsupported.as_ref().map(|why| why.message.as_str());
            (h.name.as_str(), why.unwrap_or("it can't be transformed"))
        })
        .collect();
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
        for (name, why) in &left_out {
            writeln!(out, "  {name} is left out: {why}")?;
        }
        writeln!(out, "{dim}read{dim:#}  {}", shown(&dir.join(readable)))?;
        let cd = shell_word(&shown(&dir));
        writeln!(
            out,
            "{dim}run{dim:#}   cd {cd} && cargo run --release -- --help"
        )?;
        writeln!(
            out,
            "{dim}fuzz{dim:#}  cd {cd} && cargo +nightly fuzz run p_hat -s none"
        )
    })?;
    Ok(Verdict::Clean)
}

/// Returns the path of the one package that is to be transformed.
fn place(args: &TransformArgs) -> Result<PathBuf, Error> {
    let mut places = PackageArgs::places(&args.path, args.package.as_slice())?;
    match places.len() {
        1 => Ok(places.swap_remove(0)),
        _ => {
            let names: Vec<_> = places.iter().map(|place| shown(place)).collect();
            Err(Error::Option {
                message: format!(
                    "what is written is the crate of one package, and there are several: {}",
                    names.join(", ")
                ),
                help: "choose one with -p NAME, or by its directory".into(),
            })
        }
    }
}
