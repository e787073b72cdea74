//! `seqz show`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Verdict;
use crate::diagnostic::shown;
use crate::error::Error;
use crate::findings::Finding;
use crate::output::Output;
use crate::report::finding;
use crate::terminal::Terminal;

/// Arguments of `seqz show`.
#[derive(Debug, Args)]
#[command(
    about = "Tell a finding in the terminal, or as text for a pull request",
    long_about = "Tell a finding in the terminal, or as text for a pull request.\n\n\
        What fails and why, and an execution that leads there, with a column for each thread: what `seqz check` and `seqz \
        explore` print when they find it. Nothing is built or run.",
    after_long_help = "Examples:\n  \
        seqz show target/seqz/findings/queue-0123456789abcdef/1.json\n  \
        seqz show 1.json --format markdown | gh pr comment --body-file -"
)]
pub(super) struct ShowArgs {
    /// The file of a finding
    #[arg(value_name = "FINDING.json")]
    file: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Form::Human)]
    format: Form,
}

/// How a finding is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people, in the terminal
    Human,
    /// Markdown, for a pull request or an issue
    Markdown,
}

pub(super) fn run(args: &ShowArgs, terminal: &Terminal) -> Result<Verdict, Error> {
    let found = Finding::read(&args.file)?;
    let file = shown(&args.file);
    Output::stdout().write(|out| match args.format {
        Form::Human => finding::write(out, &found, &file, terminal.width),
        Form::Markdown => finding::markdown(out, &found, &file),
    })?;
    Ok(Verdict::Clean)
}
