//! `seqz init`: what a project needs to have seqz run in it, explained in the files themselves.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::{Verdict, defaults};
use crate::diagnostic::shown;
use crate::error::Error;
use crate::output::{self, Output, writing};

/// Arguments of `seqz init`.
#[derive(Debug, Args)]
#[command(
    about = "Write a seqz.toml, and a workflow that runs seqz for each change",
    long_about = "Write a seqz.toml, and a workflow that runs seqz for each change.\n\n\
        seqz.toml gives the options that seqz is to be run with in this project, wherever the command line gives none. The \
        workflow is one for GitHub: it tests all harnesses of the workspace in each change, for longer each night, and keeps \
        the bugs that it finds. Both say in comments what can be changed. With --matrix or --slurm it writes how to search in pieces as well, on several \
        machines. Files that are there are left as they are.",
    after_long_help = "Examples:\n  seqz init\n  seqz init --no-ci\n  seqz init --no-ci --slurm\n  seqz init ../queue --force"
)]
pub(super) struct InitArgs {
    /// The directory of the project: that of the repository
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Write no workflow
    #[arg(long)]
    no_ci: bool,
    /// Write a workflow as well that searches in pieces, on several machines of GitHub at once
    #[arg(long)]
    matrix: bool,
    /// Write a script as well that searches in pieces, as an array of Slurm jobs
    #[arg(long)]
    slurm: bool,
    /// Write over files that are there
    #[arg(long)]
    force: bool,
}

/// The workflow's path in a repository.
const WORKFLOW: &str = ".github/workflows/seqz.yml";

/// The path of the workflow that searches in pieces.
const MATRIX: &str = ".github/workflows/seqz-pieces.yml";

/// The name of the script for Slurm.
const SLURM: &str = "seqz.sbatch";

pub(super) fn run(args: &InitArgs) -> Result<Verdict, Error> {
    if !args.path.is_dir() {
        return Err(Error::Option {
            message: format!("{} is no directory", shown(&args.path)),
            help: "give the directory of your repository".into(),
        });
    }
    let mut files = vec![(defaults::FILE, include_str!("init/seqz.toml"))];
    if !args.no_ci {
        files.push((WORKFLOW, include_str!("init/workflow.yml")));
    }
    if args.matrix {
        files.push((MATRIX, include_str!("init/matrix.yml")));
    }
    if args.slurm {
        files.push((SLURM, include_str!("init/slurm.sh")));
    }
    let mut said = Vec::new();
    for (name, text) in files {
        let file = args.path.join(name);
        let is_there = file.symlink_metadata().is_ok();
        if is_there && !args.force {
            said.push(format!(
                "{} is there already, and stays as it is; --force writes over it",
                shown(&file)
            ));
            continue;
        }
        if let Some(dir) = file.parent() {
            fs::create_dir_all(dir).map_err(writing(dir))?;
        }
        output::replace(&file, text.as_bytes()).map_err(writing(&file))?;
        said.push(format!("{} is written", shown(&file)));
    }
    said.push("`seqz test` tests all harnesses with what seqz.toml says".into());
    Output::stdout().write(|out| said.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    Ok(Verdict::Clean)
}
