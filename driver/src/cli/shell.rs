//! `seqz completions` and `seqz man`: what shells and `man` know of the command, made of the same table as its help.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Cli, Verdict};
use crate::error::Error;
use crate::output::{Output, writing};

/// Arguments of `seqz completions`.
#[derive(Debug, Args)]
#[command(
    about = "Print what a shell needs to complete seqz's commands and options",
    after_long_help = "Examples:\n  \
        seqz completions bash > ~/.local/share/bash-completion/completions/seqz\n  \
        seqz completions fish > ~/.config/fish/completions/seqz.fish\n  \
        seqz completions zsh > \"${fpath[1]}/_seqz\""
)]
pub(super) struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Arguments of `seqz man`.
#[derive(Debug, Args)]
#[command(
    about = "Write man pages, one for each command",
    after_long_help = "Examples:\n  seqz man ~/.local/share/man/man1 && man seqz-check"
)]
pub(super) struct ManArgs {
    /// The directory for the pages
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(super) fn completions(args: &CompletionsArgs) -> Result<Verdict, Error> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "seqz", &mut text);
    Output::stdout().write(|out| out.write_all(&text))?;
    Ok(Verdict::Clean)
}

pub(super) fn man(args: &ManArgs) -> Result<Verdict, Error> {
    std::fs::create_dir_all(&args.dir)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &args.dir))
        .map_err(writing(&args.dir))?;
    Ok(Verdict::Clean)
}
