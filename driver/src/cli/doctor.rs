//! `seqz doctor`.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{DoctorArgs, Verdict};
use crate::error::Error;
use crate::fuzz::Tools;
use crate::model::document::NotFollowed;
use crate::output::Output;
use crate::program::{Dependency, Follow, Harness, Mode};
use crate::report;
use crate::style;
use crate::terminal::Terminal;

pub(super) fn run(args: &DoctorArgs, terminal: &Terminal) -> Result<Verdict, Error> {
    let mut out = Output::stdout();
    out.write(|out| tools(out, terminal.width))?;
    let follow = Follow::named(&args.follow);
    let members = args.packages.load(Mode::Scheduled, &follow, terminal)?;
    let programs = members.all.iter().map(|it| &it.program);
    let all: Vec<&Harness> = programs.clone().flat_map(|it| it.harnesses()).collect();
    let mut dependencies: Vec<&Dependency> = Vec::new();
    for dependency in programs.flat_map(|it| it.sharing()) {
        if !dependencies.contains(&dependency) {
            dependencies.push(dependency);
        }
    }
    out.write(|out| {
        of_harnesses(out, &all, terminal.width)?;
        of_dependencies(out, &dependencies, terminal.width)
    })?;
    Ok(members.verdict(Verdict::Clean))
}

/// A line of the answer: what it is about, and what there is.
fn line(out: &mut dyn Write, what: &str, said: &str, width: usize) -> io::Result<()> {
    report::human::paragraph(out, &format!("{what:<13} "), said, width)
}

/// Says which tools and caches there are.
fn tools(out: &mut dyn Write, width: usize) -> io::Result<()> {
    let bold = style::BOLD;
    writeln!(out, "{bold}seqz {}{bold:#}", env!("CARGO_PKG_VERSION"))?;
    for tool in ["cargo", "rustc"] {
        let found = version(tool);
        let said = found.unwrap_or_else(|| "not found: install Rust 1.95 or later".into());
        line(out, tool, &said, width)?;
    }
    let z3 = if cfg!(feature = "z3") {
        "linked: --solver z3 and --solver all can ask it"
    } else {
        "not linked, and not needed: --solver z3 needs a seqz that is built with `--features z3`"
    };
    line(out, "Z3", z3, width)?;
    let fuzz = match Tools::find() {
        Ok(tools) => tools.versions().to_owned(),
        Err(Error::Option { message, help }) => format!("`seqz fuzz` can't run: {message}; {help}"),
        Err(error) => error.to_string(),
    };
    line(out, "fuzzing", &fuzz, width)?;
    let kept = cache().map_or_else(
        || "nowhere: neither XDG_CACHE_HOME nor HOME is set".to_owned(),
        |dir| format!("{} in {}", size(bytes_below(&dir)), dir.display()),
    );
    line(out, "cache", &kept, width)
}

/// Says how far searches of the program's harnesses can come.
fn of_harnesses(out: &mut dyn Write, all: &[&Harness], width: usize) -> io::Result<()> {
    let refused = all.iter().filter(|it| it.unsupported.is_some()).count();
    let runs = || all.iter().filter(|it| it.unsupported.is_none());
    let followed = || runs().filter(|it| it.not_followed.is_empty());
    let to_the_end = followed().count();
    let said = format!(
        "{}: {to_the_end} can be searched to the end, {} can be searched but not to the end, {refused} can't be run",
        harnesses(all.len()),
        all.len() - refused - to_the_end,
    );
    line(out, "harnesses", &said, width)?;
    // Whether a type is small enough for all of its values is known when the program is built.
    let with_inputs = followed().filter(|it| !it.parameters.is_empty()).count();
    if with_inputs > 0 {
        let said = format!(
            "{}: a search comes to the end for the inputs that it tries, which are all values of small types, and a sample of others",
            harnesses(with_inputs),
        );
        line(out, "with inputs", &said, width)?;
    }
    let mut ways: BTreeMap<String, usize> = BTreeMap::new();
    for harness in runs() {
        for what in &harness.not_followed {
            *ways.entry(what.phrase()).or_default() += 1;
        }
    }
    for (what, count) in most(ways) {
        line(
            out,
            "not followed",
            &format!("{what} ({})", harnesses(count)),
            width,
        )?;
    }
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for why in all.iter().filter_map(|it| it.unsupported.as_ref()) {
        *reasons.entry(why.message.clone()).or_default() += 1;
    }
    for (why, count) in most(reasons) {
        line(
            out,
            "can't be run",
            &format!("{why} ({})", harnesses(count)),
            width,
        )?;
    }
    Ok(())
}

/// Says which dependencies are followed, and why the others are not.
fn of_dependencies(out: &mut dyn Write, all: &[&Dependency], width: usize) -> io::Result<()> {
    for it in all {
        let said = match it.why_not.as_ref().map(NotFollowed::phrase) {
            None => format!("{} {}: followed", it.name, it.version),
            Some(why) => format!("{} {}: not followed: {why}", it.name, it.version),
        };
        line(out, "dependency", &said, width)?;
    }
    Ok(())
}

fn harnesses(count: usize) -> String {
    format!("{count} harness{}", if count == 1 { "" } else { "es" })
}

/// The largest counts first.
fn most(counts: BTreeMap<String, usize>) -> Vec<(String, usize)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// The first line of what a tool says of its version.
fn version(tool: &str) -> Option<String> {
    let output = Command::new(tool).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next()?.to_owned();
    output.status.success().then_some(first)
}

/// Where seqz keeps what it has compiled and looked through.
fn cache() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    let cache = set("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")))?;
    Some(cache.join("seqz"))
}

fn bytes_below(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(it) if it.is_dir() => bytes_below(&entry.path()),
        Ok(it) => it.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

fn size(bytes: u64) -> String {
    match bytes {
        0 => "nothing".to_owned(),
        _ if bytes < 1 << 20 => format!("{} KiB", bytes.div_ceil(1 << 10)),
        _ => format!("{} MiB", bytes >> 20),
    }
}
