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
struct Row<'b> {
    bug: &'b Bug,
    affected: Searched,
    /// `None`: no version mends it.
    fixed: Option<Searched>,
}

impl Row<'_> {
    /// Whether the bug was found where it is, and nothing where it is not.
    fn is_right(&self) -> bool {
        let fixed = self.fixed.as_ref();
        self.bug.is_found(&self.affected) && fixed.is_none_or(|it| self.bug.is_clean(it))
    }
}

/// Searches all bugs, or those that are named, prints what was found, and puts it into the page in `docs`. `None`: the
/// command line is wrong.
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

/// Building the programs well takes longer than the searches. The runtime and the strategies are built once.
const HOW_TO_BUILD: &str = "\
[profile.release]
opt-level = 0
debug = 0

[profile.release.package.seqz-runtime]
opt-level = 1

[profile.release.package.seqz-feasibility]
opt-level = 1

[profile.release.package.seqz-explore]
opt-level = 1
";

fn search(options: &Options) -> io::Result<bool> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = root.join("../target/known-bugs");
    let target = scratch.join("seqz");
    fs::create_dir_all(target.join(".cargo"))?;
    fs::write(target.join(".cargo/config.toml"), HOW_TO_BUILD)?;
    let all = Bug::all(&root.join("known-bugs"))?;
    let page = root.join("../docs/known-bugs.md");
    let mut rows = Vec::new();
    let mut are_right = true;
    for bug in &all {
        if !options.only.is_empty() && !options.only.contains(&bug.name) {
            continue;
        }
        let searched = |version| -> io::Result<Option<Searched>> {
            let dir = bug.write(version, &scratch)?;
            Ok(dir.map(|dir| Searched::of(&dir, &options.seqz, options.seconds, &target)))
        };
        let affected = searched(Version::Affected)?.unwrap_or_default();
        let fixed = searched(Version::Fixed)?;
        let row = Row {
            bug,
            affected,
            fixed,
        };
        are_right &= row.is_right();
        rows.push(table::line(&row));
        println!("{}", rows[rows.len() - 1]);
        // What takes long is kept as far as it has come.
        let text = fs::read_to_string(&page)?;
        fs::write(&page, table::insert(&text, &all, &rows))?;
    }
    println!("{}", table::summary(&rows, rows.len()));
    Ok(are_right)
}
