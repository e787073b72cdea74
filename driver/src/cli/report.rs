//! `seqz report`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::Verdict;
use crate::compare::document::Comparison;
use crate::diagnostic::shown;
use crate::error::Error;
use crate::findings::Finding;
use crate::output::Output;
use crate::report::html;

/// Arguments of `seqz report`.
#[derive(Debug, Args)]
#[command(
    about = "Draw a finding or a comparison as a web page",
    long_about = "Draw a finding or a comparison as a web page.\n\n\
        The page is one file that needs no network. Of a finding it shows the interleaving over the original source, with an arrow from each \
        write to the reads of other threads that see it, and for two threads the progress graph, in which the execution \
        is a path around what locks and reads forbid. Of a comparison it shows plots, and tables that can be sorted.",
    after_long_help = "Examples:\n  \
        seqz report target/seqz/findings/queue-0123456789abcdef/1.json\n  \
        seqz report 1.json -o report.html --svg pictures\n  \
        seqz compare --format json > compare.json; seqz report compare.json"
)]
pub struct ReportArgs {
    /// The file of a finding, or what `seqz compare --format json` has printed
    #[arg(value_name = "FILE.json")]
    file: PathBuf,
    /// Where to write the page [default: FILE.html in this directory]
    #[arg(long, short, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Write the pictures to DIR as well, as SVG files
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
}

pub(super) fn run(args: &ReportArgs) -> Result<Verdict, Error> {
    let report = match Comparison::read(&args.file)? {
        Some(comparison) => html::comparison::draw(&comparison),
        None => html::finding::draw(&Finding::read(&args.file)?, &shown(&args.file)),
    };
    let page = args.output.clone().unwrap_or_else(|| {
        let stem = args.file.file_stem().unwrap_or_default();
        Path::new(stem).with_extension("html")
    });
    let mut written = vec![write(&page, &report.html)?];
    if let Some(dir) = &args.svg {
        fs::create_dir_all(dir).map_err(|source| failed(dir, source))?;
        for picture in &report.pictures {
            written.push(write(&dir.join(&picture.name), &picture.svg)?);
        }
    }
    Output::stdout().write(|out| {
        for path in &written {
            writeln!(out, "{}", shown(path))?;
        }
        Ok(())
    })?;
    Ok(Verdict::Clean)
}

fn write(path: &Path, text: &str) -> Result<PathBuf, Error> {
    fs::write(path, text).map_err(|source| failed(path, source))?;
    Ok(path.to_owned())
}

fn failed(path: &Path, source: std::io::Error) -> Error {
    Error::File {
        what: "write",
        path: path.to_owned(),
        source,
    }
}
