//! `seqz merge`.

use std::path::PathBuf;

use clap::Args;
use seqz_explore::catalogue;
use serde::Serialize;

use super::{Format, Verdict, check, explore, packages};
use crate::error::Error;
use crate::model::document::{HarnessReport, Report, Status};
use crate::model::exploration::{Exploration, HarnessExploration};
use crate::model::pieces::Pieces;
use crate::model::verdict::of_check;
use crate::output::Output;
use crate::report::human::Detail;
use crate::report::{self, explored, human, several};
use crate::results::{self, Results, Together};
use crate::terminal::Terminal;

/// Arguments of `seqz merge`.
#[derive(Debug, Args)]
#[command(
    about = "Put the pieces of a search together, which were searched apart",
    long_about = "Put the pieces of a search together, which were searched apart.\n\n\
        `seqz check` and `seqz explore` search one piece of N with `--partition I/N --output FILE.json`, on machines that know \
        nothing of each other. The pieces are disjoint, and together they are the whole search. Merged, they are one report, \
        which promises what one run would have: if all pieces are there, and each was searched to its end. Pieces of \
        different programs, options or versions of seqz are refused.",
    after_long_help = "Examples:\n  \
        seqz explore --partition 1/2 --output 1.json\n  \
        seqz explore --partition 2/2 --output 2.json\n  \
        seqz merge 1.json 2.json\n  \
        seqz merge pieces/*.json --format json --require-exhausted"
)]
pub(super) struct MergeArgs {
    /// The files that the pieces were written to, in any order
    #[arg(value_name = "FILE.json", required = true)]
    files: Vec<PathBuf>,
    /// Exit with 4 where no bug was found and not everything was searched
    #[arg(long)]
    require_exhausted: bool,
    /// Show what was searched, and how far, also of harnesses in which nothing was found and all is exhausted
    #[arg(long)]
    verbose: bool,
    /// How to print the answer
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// The document of pieces that were put together.
#[derive(Serialize)]
struct Document<'a, D> {
    #[serde(flatten)]
    document: &'a D,
    pieces: &'a Pieces,
}

pub(super) fn run(args: &MergeArgs, terminal: &Terminal) -> Result<Verdict, Error> {
    let read = args.files.iter().map(|file| {
        let results = Results::read(file)?;
        Ok((file.clone(), results))
    });
    let read: Vec<_> = read.collect::<Result<_, Error>>()?;
    let merged = results::merge(&read)?;
    let mut out = Output::stdout();
    let is_short = !merged.pieces.missing.is_empty() || !merged.pieces.ended.is_empty();
    let shown = Shown {
        detail: if args.verbose {
            Detail::Table
        } else {
            Detail::Line
        },
        format: args.format,
        width: terminal.width,
        pieces: &merged.pieces,
    };
    let (verdict, exhausted) = if merged.command == "check" {
        let reports = merged.programs.into_iter().filter_map(check_of).collect();
        let Some(mut report) = several::checked(&merged.path, reports) else {
            return nothing(&mut out, &shown);
        };
        report.summary.exhausted &= !is_short;
        shown.check(&mut out, &report)?;
        (check::verdict(&report), of_check(&report).exhausted)
    } else {
        let reports = merged.programs.into_iter().filter_map(|program| {
            let name = program.name;
            program
                .explored
                .map(|report| named(name.as_deref(), report))
        });
        let Some(mut report) = several::explored(&merged.path, reports.collect()) else {
            return nothing(&mut out, &shown);
        };
        report.summary.exhausted &= !is_short;
        shown.exploration(&mut out, &report)?;
        (explore::verdict(&report), report.summary.exhausted)
    };
    let exhausted = !args.require_exhausted || exhausted && !is_short;
    Ok(verdict.demanding(exhausted))
}

/// Says that the pieces have not come to anything.
fn nothing(out: &mut Output, shown: &Shown<'_>) -> Result<Verdict, Error> {
    out.write(|out| {
        for line in shown.pieces.words() {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "No piece has begun to search.")
    })?;
    Ok(Verdict::Failed)
}

fn named(package: Option<&str>, mut report: Exploration) -> Exploration {
    for harness in &mut report.harnesses {
        harness.name = packages::named(package, &harness.name);
    }
    report
}

fn check_of(program: Together) -> Option<Report> {
    let mut report = program.checked?;
    if let Some(explored) = program.explored {
        check::went_on(&mut report, explored);
    }
    let package = program.name.as_deref();
    report.explored = report.explored.map(|explored| named(package, explored));
    for harness in &mut report.harnesses {
        harness.name = packages::named(package, &harness.name);
    }
    Some(report)
}

struct Shown<'a> {
    detail: Detail,
    format: Format,
    width: usize,
    pieces: &'a Pieces,
}

impl Shown<'_> {
    fn check(&self, out: &mut Output, report: &Report) -> Result<(), Error> {
        if self.format == Format::Json {
            return self.json(out, report);
        }
        let explored = || report.explored.iter().flat_map(|it| &it.harnesses);
        let shows = |harness: &HarnessExploration, checked: &HarnessReport| {
            !harness.failures.is_empty() || harness.status != Status::Checked || checked.is_beyond()
        };
        out.write(|out| {
            for checked in &report.harnesses {
                human::harness(out, checked, self.detail, self.width)?;
                let explored = explored().find(|it| it.name == checked.name);
                if let Some(harness) = explored.filter(|it| shows(it, checked)) {
                    explored::harness(out, harness, catalogue::DEFAULT, self.detail, self.width)?;
                }
            }
            human::closing(out, report)?;
            self.which(out)
        })
    }

    fn exploration(&self, out: &mut Output, report: &Exploration) -> Result<(), Error> {
        if self.format == Format::Json {
            return self.json(out, report);
        }
        out.write(|out| {
            for harness in &report.harnesses {
                explored::harness(out, harness, &report.strategy, self.detail, self.width)?;
            }
            explored::closing(out, report)?;
            self.which(out)
        })
    }

    fn which(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        for line in self.pieces.words() {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    fn json(&self, out: &mut Output, document: &impl Serialize) -> Result<(), Error> {
        let document = Document {
            document,
            pieces: self.pieces,
        };
        out.write(|out| report::json(out, &document))
    }
}
