//! The transformation, run over all source of many packages: it must come to its end, and what it writes must parse.
//!
//! Each package is looked at by a process of its own, so that one that overflows its stack is one finding, and the next package
//! is looked at all the same.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use seqz_transform::{Library, LibrarySource, Mode};

use crate::clock::Clock;

/// Longer than this no package may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// The stack that the driver has.
const STACK: usize = 256 << 20;

/// What was seen of a package's files, as its process tells it in one line.
#[derive(Default)]
struct Seen {
    files: usize,
    lines: usize,
    /// Files that can't be read as a crate's root, for example since they have no module files beside them.
    unread: usize,
    nanos: u128,
}

/// Looks at the packages in these directories, or in cargo's registry, and prints what went wrong, and how fast it was.
pub(crate) fn run(directories: &[String]) -> ExitCode {
    let mut packages: Vec<PathBuf> = directories.iter().map(PathBuf::from).collect();
    if packages.is_empty() {
        packages = registry();
    }
    packages.sort();
    let Ok(program) = env::current_exe() else {
        return ExitCode::FAILURE;
    };
    let (mut all, mut failed) = (Seen::default(), 0);
    let mut slowest = Vec::new();
    for package in &packages {
        match of_process(&program, package) {
            Ok(seen) => {
                if seen.lines > 200 {
                    slowest.push((seen.nanos / seen.lines as u128, package.clone()));
                }
                all.files += seen.files;
                all.lines += seen.lines;
                all.unread += seen.unread;
                all.nanos += seen.nanos;
            }
            Err(why) => {
                failed += 1;
                println!("{}: {why}", package.display());
            }
        }
    }
    slowest.sort_unstable();
    for (nanos, package) in slowest.iter().rev().take(12) {
        println!("{nanos} ns a line: {}", package.display());
    }
    let seconds = Duration::from_nanos(u64::try_from(all.nanos).unwrap_or(u64::MAX)).as_secs_f64();
    println!(
        "{} packages, {} files, {} lines in {seconds:.1} s: {:.0} lines/s; {} files can't be read alone; {failed} packages failed",
        packages.len(),
        all.files,
        all.lines,
        all.lines as f64 / seconds,
        all.unread,
    );
    ExitCode::from(u8::from(failed > 0))
}

/// The packages whose source cargo has fetched.
fn registry() -> Vec<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let sources = home.into_iter().map(|home| home.join("registry/src"));
    let entries = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten();
    let registries = sources.flat_map(entries).map(|entry| entry.path());
    registries
        .flat_map(entries)
        .map(|entry| entry.path())
        .collect()
}

fn of_process(program: &Path, package: &Path) -> Result<Seen, String> {
    let mut child = Command::new(program)
        .args(["sweep-one".as_ref(), package.as_os_str()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let began = Instant::now();
    while child
        .try_wait()
        .map_err(|error| error.to_string())?
        .is_none()
    {
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("not done after {PATIENCE:?}"));
        }
        thread::sleep(Duration::from_millis(5));
    }
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    let told = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<&str> = told.lines().collect();
    let last = lines.pop().unwrap_or_default();
    let mut numbers = last.split(' ').map(str::parse::<u128>);
    let mut number = || numbers.next().and_then(Result::ok);
    let seen = (|| {
        Some(Seen {
            files: usize::try_from(number()?).ok()?,
            lines: usize::try_from(number()?).ok()?,
            unread: usize::try_from(number()?).ok()?,
            nanos: number()?,
        })
    })();
    match seen {
        Some(seen) if lines.is_empty() && output.status.success() => Ok(seen),
        Some(_) => Err(lines.join("\n  ")),
        None => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let errors: Vec<&str> = errors.lines().take(6).collect();
            Err(format!("{}: {told}{}", output.status, errors.join("\n  ")))
        }
    }
}

/// Looks at one package: prints what went wrong, a line each, and then the numbers.
pub(crate) fn one(package: &Path) -> ExitCode {
    let mut files = Vec::new();
    rust_files(package, &mut files);
    let mut seen = Seen::default();
    for file in &files {
        let Ok(text) = fs::read_to_string(file) else {
            continue;
        };
        seen.files += 1;
        for mode in [Mode::Followed, Mode::Sequential] {
            // As the driver does: the parser's memory of places goes with the thread.
            let looked = thread::scope(|scope| {
                let builder = thread::Builder::new().stack_size(STACK);
                let thread = builder.spawn_scoped(scope, || looked(package, file, &text, mode));
                thread.expect("there is room for a stack").join()
            });
            match looked {
                Ok(Ok((lines, took))) => {
                    seen.lines += lines;
                    seen.nanos += took.as_nanos();
                }
                Ok(Err(None)) => seen.unread += 1,
                Ok(Err(Some(why))) => println!("{}: {why}", file.display()),
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().map(String::as_str);
                    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                    println!("{}: panicked: {}", file.display(), text.unwrap_or("?"));
                }
            }
        }
    }
    println!(
        "{} {} {} {}",
        seen.files, seen.lines, seen.unread, seen.nanos
    );
    ExitCode::SUCCESS
}

/// Transforms a file with its modules. Returns its lines and the time, or why what was written is wrong; `None` where the file
/// isn't one that can be read alone.
fn looked(
    package: &Path,
    file: &Path,
    text: &str,
    mode: Mode,
) -> Result<(usize, Duration), Option<String>> {
    let began = Clock::start();
    let name = "swept".to_owned();
    let source = LibrarySource {
        name: name.clone(),
        crate_name: name.clone(),
        dir: package.to_owned(),
        root: file.to_owned(),
        edition: edition(package),
        features: BTreeSet::new(),
        dependencies: BTreeSet::new(),
        build_script: None,
        implemented: seqz_transform::Implemented::default(),
        shown: PathBuf::from(name),
    };
    let library = Library::load(&source, mode).map_err(|_| None)?;
    let done = library.instrument(library.counting());
    let took = began.elapsed();
    let is_of_today = syn::parse_file(text).is_ok();
    for (path, written) in done.files.iter().filter(|_| is_of_today) {
        if let Err(error) = syn::parse_file(written) {
            let place = error.span().start();
            return Err(Some(format!(
                "what was written for {} does not parse: {error} ({}:{})",
                path.display(),
                place.line,
                place.column,
            )));
        }
    }
    if let [(_, written)] = &done.files[..]
        && written != text
        && !written.contains("seqz_runtime")
        && !["test", "#!["].iter().any(|changed| text.contains(changed))
    {
        let mut lines = written.lines().zip(text.lines());
        let changed = lines.find(|(new, old)| new != old);
        let changed = changed.map_or("the end", |(new, _)| new.trim());
        return Err(Some(format!(
            "changed, though nothing of it is the runtime's: {changed}"
        )));
    }
    if file.ends_with("src/lib.rs") && env::var_os("SEQZ_SWEEP_REFUSED").is_some() {
        for refused in &done.refused {
            eprintln!("refused in {mode:?}: {refused}");
        }
    }
    let lines = done
        .files
        .iter()
        .map(|(_, text)| text.lines().count())
        .sum();
    Ok((lines, took))
}

fn edition(package: &Path) -> String {
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap_or_default();
    let line = manifest.lines().find(|line| line.starts_with("edition"));
    let value = line.and_then(|line| line.split('"').nth(1));
    value.unwrap_or("2015").to_owned()
}

fn rust_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}
