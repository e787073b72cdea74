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
    /// Write over a file that seqz has not written
    #[arg(long)]
    force: bool,
    /// Write the pictures to DIR as well, as SVG files
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
}

pub(super) fn run(args: &ReportArgs) -> Result<Verdict, Error> {
    if args.file.is_dir() {
        return Err(is_directory(&args.file));
    }
    let report = match Comparison::read(&args.file)? {
        Some(comparison) => html::comparison::draw(&comparison),
        None => html::finding::draw(&Finding::read(&args.file)?, &shown(&args.file)),
    };
    let page = args.output.clone().unwrap_or_else(|| {
        let stem = args.file.file_stem().unwrap_or_default();
        Path::new(stem).with_extension("html")
    });
    let mut files = vec![(page, report.html.as_str())];
    if let Some(dir) = &args.svg {
        fs::create_dir_all(dir).map_err(|source| failed(dir, source))?;
        let pictures = report.pictures.iter();
        files.extend(pictures.map(|picture| (dir.join(&picture.name), picture.svg.as_str())));
    }
    // All are looked at before the first is written.
    let foreign = files.iter().find(|(path, _)| !args.force && !ours(path));
    if let Some((path, _)) = foreign {
        return Err(Error::Option {
            message: format!(
                "{} is there already, and seqz has not written it",
                shown(path)
            ),
            help: "name another file with -o, or say --force to write over it".into(),
        });
    }
    for (path, text) in &files {
        write(path, text)?;
    }
    Output::stdout().write(|out| {
        for (path, _) in &files {
            writeln!(out, "{}", shown(path))?;
        }
        Ok(())
    })?;
    Ok(Verdict::Clean)
}

/// The error of a directory that is given in the place of a finding's file.
fn is_directory(dir: &Path) -> Error {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let files = entries.map(|entry| dir.join(entry.file_name()));
    let mut files: Vec<_> = files
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .map(|file| shown(&file))
        .collect();
    files.sort();
    let whole = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    Error::Option {
        message: format!(
            "{} is a directory, and not the file of a finding",
            shown(&whole)
        ),
        help: match files.as_slice() {
            [] => "a search names the files that it writes, as in target/seqz/findings/…/1.json"
                .into(),
            [only] => format!("it has one such file in it: {only}"),
            [first, .., last] => {
                format!("it has {} such files in it, {first} to {last}", files.len())
            }
        },
    }
}

/// Whether nothing is lost where the file is written over: it isn't there, is empty, or is a page or a picture of seqz's.
fn ours(path: &Path) -> bool {
    if path == Path::new("/dev/stdout") {
        return true;
    }
    match fs::read(path) {
        Ok(content) => content.is_empty() || html::is_ours(&content),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// The file appears whole or not at all, unless it is a device or a pipe.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    let written = if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        fs::write(path, text)
    } else {
        crate::output::replace(path, text.as_bytes())
    };
    written.map_err(|source| failed(path, source))
}

fn failed(path: &Path, source: std::io::Error) -> Error {
    Error::File {
        what: "write",
        path: path.to_owned(),
        source,
    }
}
