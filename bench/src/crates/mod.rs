//! What `seqz explore` says of published crates as they are, beside what `cargo test` says of them.
//!
//! The crates are those of `bench/crates.toml`. Each is fetched by cargo, copied, and explored in its own folder. A crate
//! without a concurrent test gets the one in `bench/crates`.

mod explored;
mod limited;
mod list;
mod ordinary;
mod source;
mod table;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use explored::Explored;
use list::Pinned;
use table::Row;

/// What is asked for.
struct Asked {
    only: BTreeSet<String>,
    quick: bool,
    seconds: u64,
    seqz: PathBuf,
    write: bool,
}

/// How long a crate with many tests is searched at most, in seconds, unless more is asked for.
const MOST: u64 = 60;

const USAGE: &str = "\
usage: seqz-bench crates [--only NAME,…] [--quick] [--time SECONDS] [--seqz COMMAND] [--write]
       --quick: the short list that the tests run; --write: put the rows into docs/crates.md
exit code: 0 where all run, 1 where not, 4 where the registry can't be reached";

/// Measures and prints.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let Some(asked) = asked(arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match measure(&asked) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) if error.kind() == io::ErrorKind::NotConnected => {
            eprintln!("{error}");
            ExitCode::from(4)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

fn asked(mut arguments: impl Iterator<Item = String>) -> Option<Asked> {
    let beside = std::env::current_exe().ok()?.with_file_name("seqz");
    let mut asked = Asked {
        only: BTreeSet::new(),
        quick: false,
        seconds: 20,
        seqz: beside,
        write: false,
    };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--only" => {
                let names = arguments.next()?;
                asked.only.extend(names.split(',').map(str::to_owned));
            }
            "--quick" => asked.quick = true,
            "--time" => asked.seconds = arguments.next()?.parse().ok()?,
            "--seqz" => asked.seqz = arguments.next()?.into(),
            "--write" => asked.write = true,
            _ => return None,
        }
    }
    Some(asked)
}

/// The answer is whether all crates that were asked for run.
fn measure(asked: &Asked) -> io::Result<bool> {
    let all = list::read()?;
    if let Some(unknown) = asked
        .only
        .iter()
        .find(|it| !all.iter().any(|known| known.name == **it))
    {
        return Err(io::Error::other(format!("{unknown}: not in the list")));
    }
    let wanted = all
        .iter()
        .filter(|it| asked.only.is_empty() || asked.only.contains(&it.name))
        .filter(|it| !asked.quick || it.quick);
    let folder = folder()?;
    let mut rows = Vec::new();
    for pinned in wanted {
        let row = row(pinned, &folder, asked)?;
        println!("{}", row.for_people());
        rows.push(row);
    }
    let run = rows.iter().filter(|row| row.runs()).count();
    println!("{run} of {} crates run", rows.len());
    if asked.write {
        table::write(&all, &rows, asked.seconds)?;
    }
    Ok(run == rows.len())
}

/// Where the copies and what is built of them are: in the target directory that this command is in.
fn folder() -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2);
    Ok(target.unwrap_or(Path::new(".")).join("crates"))
}

fn row(pinned: &Pinned, folder: &Path, asked: &Asked) -> io::Result<Row> {
    let copy = source::copy(pinned, folder)?;
    let ordinary = ordinary::of(pinned, &copy, folder)?;
    let begun = Instant::now();
    let tests = u64::try_from(ordinary.passed.len()).unwrap_or(u64::MAX);
    let seconds = asked.seconds.max(tests.min(MOST));
    let explored = Explored::of(pinned, &copy, folder, &asked.seqz, seconds)?;
    Ok(Row::new(pinned, &ordinary, &explored, begun.elapsed()))
}
