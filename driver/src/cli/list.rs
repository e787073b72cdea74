//! `seqz list`.

use std::io::Write;

use serde::Serialize;

use super::{Format, ListArgs, Verdict};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::model::document::{NotFollowed, SCHEMA};
use crate::output::Output;
use crate::program::{Dependency, Follow, Harness, HarnessKind, Mode};
use crate::report;
use crate::style;
use crate::terminal::Terminal;

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Listing<'a> {
    schema: u32,
    seqz: &'static str,
    path: String,
    harnesses: Vec<Entry<'a>>,
    /// The dependencies that harnesses reach and that share something between threads.
    dependencies: Vec<Depends<'a>>,
}

#[derive(Debug, Serialize)]
struct Depends<'a> {
    name: &'a str,
    version: &'a str,
    /// Whether `check` and `explore` follow the dependency.
    followed: bool,
    /// Why not.
    not_followed: Option<&'a NotFollowed>,
}

#[derive(Debug, Serialize)]
struct Entry<'a> {
    name: String,
    kind: HarnessKind,
    file: String,
    line: u32,
    parameters: Vec<Parameter<'a>>,
    threads: Vec<Spawn<'a>>,
    /// Whether the harness is marked `#[ignore]`, so that seqz checks it only by name.
    ignored: bool,
    /// What the harness reaches that can be run but not followed.
    not_followed: &'a [NotFollowed],
    /// The reason why the harness can't be checked; `None` where it can.
    unsupported: Option<String>,
}

#[derive(Debug, Serialize)]
struct Parameter<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    ty: &'a str,
}

#[derive(Debug, Serialize)]
struct Spawn<'a> {
    file: &'a str,
    line: u32,
    name: Option<&'a str>,
    scoped: bool,
}

pub(super) fn run(args: &ListArgs, terminal: &Terminal) -> Result<Verdict, Error> {
    let follow = Follow::named(&args.follow);
    let members = args.packages.load(Mode::Scheduled, &follow, terminal)?;
    let harnesses: Vec<_> = members
        .all
        .iter()
        .flat_map(|it| {
            it.program
                .harnesses()
                .iter()
                .map(|h| (it.named(&h.name), h))
        })
        .collect();
    let mut dependencies: Vec<&Dependency> = Vec::new();
    for dependency in members.all.iter().flat_map(|it| it.program.sharing()) {
        if !dependencies.contains(&dependency) {
            dependencies.push(dependency);
        }
    }
    let mut out = Output::stdout();
    match args.format {
        Format::Json => out.write(|out| {
            let listing = Listing {
                schema: SCHEMA,
                seqz: env!("CARGO_PKG_VERSION"),
                path: args.packages.path.display().to_string(),
                harnesses: harnesses.iter().map(|(name, it)| entry(name, it)).collect(),
                dependencies: dependencies
                    .iter()
                    .map(|it| Depends {
                        name: &it.name,
                        version: &it.version,
                        followed: it.why_not.is_none(),
                        not_followed: it.why_not.as_ref(),
                    })
                    .collect(),
            };
            report::json(out, &listing)?;
            writeln!(out)
        })?,
        Format::Human => out.write(|out| {
            let mut told = Vec::new();
            for (name, harness) in &harnesses {
                human(out, name, harness, terminal.width)?;
                if let Some(why) = &harness.unsupported {
                    refusal(out, why, &mut told, terminal.width)?;
                }
            }
            of_dependencies(out, &dependencies, terminal.width)
        })?,
    }
    if harnesses.is_empty() {
        return Err(Error::NoHarness {
            path: args.packages.path.clone(),
        });
    }
    let trouble = members.all.iter().filter_map(|it| it.program.trouble());
    let trouble = trouble.inspect(|it| it.report(terminal)).count();
    let can_not_be_run = trouble > 0 || harnesses.iter().all(|(_, it)| it.unsupported.is_some());
    Ok(members.verdict(if can_not_be_run {
        Verdict::Unsupported
    } else {
        Verdict::Clean
    }))
}

fn entry<'a>(name: &str, harness: &'a Harness) -> Entry<'a> {
    Entry {
        name: name.to_owned(),
        kind: harness.kind,
        file: harness.site.file.clone(),
        line: harness.site.line,
        parameters: harness
            .parameters
            .iter()
            .map(|(name, ty)| Parameter { name, ty })
            .collect(),
        threads: harness
            .spawns
            .iter()
            .map(|spawn| Spawn {
                file: &spawn.file,
                line: spawn.line,
                name: spawn.name.as_deref(),
                scoped: spawn.scoped,
            })
            .collect(),
        ignored: harness.ignored,
        not_followed: &harness.not_followed,
        unsupported: harness.unsupported.as_ref().map(|why| why.message.clone()),
    }
}

/// Says which dependencies are followed, and why the others are not.
fn of_dependencies(out: &mut dyn Write, all: &[&Dependency], width: usize) -> std::io::Result<()> {
    let (followed, others): (Vec<&Dependency>, Vec<&Dependency>) =
        all.iter().partition(|it| it.why_not.is_none());
    if !followed.is_empty() {
        let names = followed
            .iter()
            .map(|it| format!("{} {}", it.name, it.version));
        let names: Vec<_> = names.collect();
        let said = format!("followed: {}", names.join(", "));
        report::human::paragraph(out, "", &said, width)?;
    }
    for it in others {
        let why = it.why_not.as_ref().map(NotFollowed::phrase);
        let said = format!("not followed: {}", why.unwrap_or_default());
        report::human::paragraph(out, "", &said, width)?;
    }
    Ok(())
}

fn human(out: &mut dyn Write, name: &str, harness: &Harness, width: usize) -> std::io::Result<()> {
    let (bold, dim) = (style::BOLD, style::DIM);
    let kind = match harness.kind {
        HarnessKind::Test => "test",
        HarnessKind::Function => "function",
        HarnessKind::Main => "main",
    };
    let site = &harness.site;
    writeln!(
        out,
        "{bold}{}{bold:#}  {dim}{kind}, {}:{}{dim:#}",
        name, site.file, site.line
    )?;
    if !harness.parameters.is_empty() {
        let parameters: Vec<_> = harness
            .parameters
            .iter()
            .map(|(name, ty)| format!("{name}: {ty}"))
            .collect();
        writeln!(out, "  inputs   {}", parameters.join(", "))?;
    }
    let started = |spawn: &crate::program::Spawn| {
        let name = spawn
            .name
            .as_ref()
            .map(|name| format!("`{name}` "))
            .unwrap_or_default();
        let scoped = if spawn.scoped { ", scoped" } else { "" };
        let at = if spawn.file == site.file {
            format!("line {}", spawn.line)
        } else {
            format!("{}:{}", spawn.file, spawn.line)
        };
        format!("{name}started at {at}{scoped}")
    };
    for (i, spawn) in harness.spawns.iter().enumerate() {
        let lead = if i == 0 { "threads" } else { "" };
        writeln!(out, "  {lead:<7}  {}", started(spawn))?;
    }
    // The two threads that run side by side are known only when the program runs; these are the usual cases.
    match harness.spawns.as_slice() {
        [_] => writeln!(
            out,
            "  roles    first: the thread that runs the harness; second: the one it starts"
        )?,
        [a, b] => writeln!(
            out,
            "  roles    first: {}; second: {}",
            started(a),
            started(b)
        )?,
        _ => {}
    }
    if harness.ignored {
        writeln!(
            out,
            "  ignored  marked #[ignore]: checked only when named with --harness"
        )?;
    }
    report::human::not_followed(out, &harness.not_followed, width)
}

/// Prints why a harness can't be checked: in full where no other harness has the same reason before it.
fn refusal(
    out: &mut dyn Write,
    why: &Diagnostic,
    told: &mut Vec<String>,
    width: usize,
) -> std::io::Result<()> {
    let text = why.render(width);
    if told.contains(&text) {
        let error = style::ERROR;
        return writeln!(out, "{error}error{error:#}: {}: see above", why.message);
    }
    writeln!(out, "{text}")?;
    told.push(text);
    Ok(())
}
