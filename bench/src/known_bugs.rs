//! Known concurrency bugs of published crates: whether `seqz explore` finds each in the version that has it, and none in
//! the version that mends it.
//!
//! Each bug is a small package below `bench/known-bugs`: a test in plain Rust, which depends on the affected version of
//! the crate. A lock file for either version pins all that it depends on, versions that were withdrawn included.

mod package;
mod searched;
mod table;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use package::{Bug, Version};
use searched::Searched;

/// How long a harness is searched, unless the command line says otherwise.
const SECONDS: u64 = 20;

/// What is to be done.
struct Options {
    /// The command.
    seqz: PathBuf,
    /// The names of the bugs; all if there are none.
    only: Vec<String>,
    seconds: u64,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        // It is run in other directories.
        let seqz = PathBuf::from(arguments.next()?);
        let mut options = Self {
            seqz: seqz.canonicalize().unwrap_or(seqz),
            only: Vec::new(),
            seconds: SECONDS,
        };
        while let Some(option) = arguments.next() {
            let value = arguments.next()?;
            match option.as_str() {
                "--only" => options.only.extend(value.split(',').map(str::to_owned)),
                "--time" => options.seconds = value.parse().ok()?,
                _ => return None,
            }
        }
        Some(options)
    }
}

/// What was found of a bug.
struct Row {
    bug: Bug,
    affected: Searched,
    fixed: Searched,
}

impl Row {
    /// Whether the bug was found where it is, and nothing where it is not.
    fn is_right(&self) -> bool {
        self.bug.is_found(&self.affected) && self.fixed.is_clean()
    }
}

/// Searches all bugs, or those that are named, and prints what was found. Where no bug is named, the page in `docs` is
/// written, too. `None`: the command line is wrong.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Option<ExitCode> {
    let options = Options::parse(arguments)?;
    Some(match search(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

fn search(options: &Options) -> io::Result<bool> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = root.join("../target/known-bugs");
    let mut rows = Vec::new();
    for bug in Bug::all(&root.join("known-bugs"))? {
        if !options.only.is_empty() && !options.only.contains(&bug.name) {
            continue;
        }
        let searched = |version| -> io::Result<Searched> {
            let dir = bug.write(version, &scratch)?;
            Ok(Searched::of(
                &dir,
                &options.seqz,
                options.seconds,
                &scratch.join("seqz"),
            ))
        };
        let (affected, fixed) = (searched(Version::Affected)?, searched(Version::Fixed)?);
        let row = Row {
            bug,
            affected,
            fixed,
        };
        println!("{}", table::line(&row));
        rows.push(row);
    }
    if options.only.is_empty() {
        let page = root.join("../docs/known-bugs.md");
        let text = fs::read_to_string(&page)?;
        fs::write(page, table::insert(&text, &rows))?;
    }
    println!("{}", table::summary(&rows));
    Ok(rows.iter().all(Row::is_right))
}
