//! Prints the result of a replay for people.

use std::io::{self, Write};

use super::events;
use super::explored;
use super::human::{paragraph, source_line};
use crate::findings::Finding;
use crate::layout::counted;
use crate::model::words;
use crate::replay::{Ended, Recording};
use crate::style;

/// Prints the result.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write(
    out: &mut dyn Write,
    finding: &Finding,
    recording: &Recording,
    ended: &Ended,
    times: u32,
    columns: usize,
) -> io::Result<()> {
    let (bold, dim, error, good) = (style::BOLD, style::DIM, style::ERROR, style::GOOD);
    let site = &finding.harness_site;
    writeln!(
        out,
        "{bold}{}{bold:#}  {dim}{}:{}{dim:#}\n",
        finding.harness, site.file, site.line
    )?;
    let events = counted(recording.schedule.len() as u64, "event", "events");
    match ended {
        Ended::Fails {
            failure,
            others,
            same,
        } => {
            explored::failure(out, failure, columns)?;
            if !others.is_empty() {
                writeln!(out, "  Beside it, in the same execution:")?;
            }
            for other in others {
                let (what, _) = words::heading(other.kind, &other.message);
                paragraph(out, "    ", &what, columns)?;
                if let Some(site) = &other.site {
                    source_line(out, site, columns)?;
                }
            }
            if !others.is_empty() {
                writeln!(out)?;
            }
            if recording.is(failure) {
                writeln!(out, "{error}it fails{error:#}, as it did when it was found")?;
            } else {
                let (was, _) = words::heading(recording.kind, &recording.message);
                writeln!(
                    out,
                    "{error}it fails{error:#}, and in another way than when it was found:"
                )?;
                paragraph(out, "  ", &was, columns)?;
            }
            // A program that dies is run once only.
            if *same > 0 {
                determinism(out, *same, times)?;
            }
            Ok(())
        }
        Ended::Passes { same } => {
            writeln!(
                out,
                "{good}it does not fail{good:#}: the schedule, {events}, was run to its end"
            )?;
            determinism(out, *same, times)
        }
        Ended::Parts {
            at,
            difference,
            site,
            schedule,
        } => {
            writeln!(
                out,
                "{error}the program and the schedule part ways{error:#} at event {} of {}",
                at + 1,
                recording.schedule.len()
            )?;
            paragraph(out, "  ", difference, columns)?;
            if let Some(site) = site {
                writeln!(out, "  The program is here now:")?;
                source_line(out, site, columns)?;
            }
            let expected = recording.schedule.get(*at as usize);
            if let Some(site) = expected.and_then(|event| event.site.as_ref()) {
                writeln!(
                    out,
                    "  In the schedule it is here, in the text as it was then:"
                )?;
                source_line(out, site, columns)?;
            }
            if !schedule.is_empty() {
                writeln!(out, "\n  {bold}Up to there:{bold:#}\n")?;
                events::draw(out, schedule, &[], &recording.threads, columns)?;
                writeln!(out)?;
            }
            writeln!(
                out,
                "So it is not known whether the bug is still there: `seqz check` and `seqz explore` search for it."
            )
        }
        Ended::Interrupted => writeln!(out, "interrupted"),
    }
}

fn determinism(out: &mut dyn Write, same: u32, times: u32) -> io::Result<()> {
    writeln!(
        out,
        "same events in {same} of {}",
        counted(times.into(), "run", "runs")
    )?;
    if same < times {
        let help = "the program does not do the same under the same schedule: something but the schedule, as time or \
                    random numbers, has a say in it";
        writeln!(out, "{help}")?;
    }
    Ok(())
}
