//! Prints the report for people. What explains a bug comes first; the schedule follows.

use std::io::{self, Write};

use super::{events, trace};
use crate::layout::{counted, fit, grouped, in_words, wrap};
use crate::model::document::{
    Bug, Cut, HarnessReport, Kind, NotFollowed, Report, Site, Status, Thread,
};
use crate::model::schedule::Confirmation;
use crate::model::unfollowed;
use crate::model::verdict;
use crate::model::words;
use crate::style;

/// How much is printed of a harness without findings that is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// One line.
    Line,
    /// A table of how far each k was searched.
    Table,
}

/// Prints the bugs found in one harness, and how far the harness was searched.
///
/// # Errors
/// Errors of writing to `out`.
pub fn harness(
    out: &mut dyn Write,
    report: &HarnessReport,
    detail: Detail,
    columns: usize,
) -> io::Result<()> {
    let (bold, dim, good) = (style::BOLD, style::DIM, style::GOOD);
    if detail == Detail::Line && is_clean(report) {
        let levels = report.roles.iter().flat_map(|role| &role.levels);
        let executions = levels.map(|level| level.executions).sum();
        return writeln!(
            out,
            "{bold}{}{bold:#}  {dim}{}{dim:#}  {good}{}{good:#}, {}",
            report.name,
            words::place(report),
            verdict::of_harness(report).head,
            counted(executions, "execution", "executions")
        );
    }
    writeln!(
        out,
        "{bold}{}{bold:#}  {dim}{}{dim:#}",
        report.name,
        words::place(report)
    )?;
    status(out, &report.status, "checked", columns)?;
    for bug_report in &report.bugs {
        writeln!(out)?;
        let what = if unfollowed::distort(&report.not_followed) {
            "doubtful bug"
        } else {
            "bug"
        };
        bug(out, what, bug_report, &report.threads, columns)?;
    }
    if !report.bugs.is_empty() && unfollowed::distort(&report.not_followed) {
        let doubt = unfollowed::doubt(&report.not_followed);
        paragraph(out, "  ", &doubt, columns)?;
    }
    for fault_report in &report.faults {
        writeln!(out)?;
        fault(out, fault_report, report, columns)?;
    }
    not_followed(out, &report.not_followed, columns)?;
    for note in &report.notes {
        paragraph(out, "  note: ", note, columns)?;
    }
    let alone = matches!(report.status, Status::NoInterference { .. });
    if !report.roles.is_empty() && !alone {
        if !report.bugs.is_empty() || !report.faults.is_empty() {
            writeln!(out)?;
        }
        levels(out, report, columns)?;
    }
    writeln!(out)
}

/// Prints that the claim of a check doesn't hold, since an exploration has found a failure with so few reads `k` of what the
/// other thread wrote.
///
/// # Errors
/// Errors of writing to `out`.
pub fn withdrawn(out: &mut dyn Write, k: u32, columns: usize) -> io::Result<()> {
    let error = style::ERROR;
    writeln!(out, "  {error}fault of seqz{error:#}")?;
    paragraph(out, "  ", &verdict::withdrawn(k), columns)?;
    writeln!(out)
}

/// Whether the search is complete and found nothing, and there is nothing else to be said.
#[must_use]
pub fn is_clean(report: &HarnessReport) -> bool {
    report.status == Status::Checked
        && report.bugs.is_empty()
        && report.faults.is_empty()
        && report.notes.is_empty()
        && verdict::of_harness(report).exhausted
}

/// Prints what a harness reaches and seqz does not follow.
pub(crate) fn not_followed(
    out: &mut dyn Write,
    all: &[NotFollowed],
    columns: usize,
) -> io::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    paragraph(out, "  ", &unfollowed::sentence(all), columns)
}

/// Prints the status that stands in the way of a search. `searched` is the word for what can't be done.
pub(super) fn status(
    out: &mut dyn Write,
    status: &Status,
    searched: &str,
    columns: usize,
) -> io::Result<()> {
    match status {
        Status::Unsupported { reason, help, site } => {
            let what = format!("can't be {searched}");
            complaint(out, &what, reason, site.as_ref(), columns)?;
            if let Some(help) = help {
                paragraph(out, "  help: ", help, columns)?;
            }
        }
        Status::Nondeterministic { reason, site } => {
            complaint(out, "is not deterministic", reason, site.as_ref(), columns)?;
            let help = "seqz tries all choices by running the program again and again: everything but the choices has to \
                        stay the same; take time, random numbers and addresses out, or make them parameters of the harness";
            paragraph(out, "  help: ", help, columns)?;
        }
        Status::Blocked { reason } => {
            let what = format!("can't be {searched} to the end");
            complaint(out, &what, reason, None, columns)?;
        }
        Status::NoneEnded { reason } => {
            let what = format!("can't be {searched}");
            complaint(out, &what, reason, None, columns)?;
        }
        Status::Failed { reason } => complaint(out, "the search broke off", reason, None, columns)?,
        Status::NoInterference { reason } => paragraph(out, "  ", reason, columns)?,
        Status::NotReached => writeln!(out, "  not searched: the search was over before")?,
        Status::Checked => {}
    }
    Ok(())
}

fn complaint(
    out: &mut dyn Write,
    what: &str,
    reason: &str,
    site: Option<&Site>,
    columns: usize,
) -> io::Result<()> {
    let error = style::ERROR;
    writeln!(out, "  {error}{what}{error:#}")?;
    paragraph(out, "  ", reason, columns)?;
    if let Some(site) = site {
        source_line(out, site, columns)?;
    }
    Ok(())
}

pub(super) fn source_line(out: &mut dyn Write, site: &Site, columns: usize) -> io::Result<()> {
    let dim = style::DIM;
    writeln!(
        out,
        "  {dim}-->{dim:#} {}:{}:{}",
        site.file, site.line, site.column
    )?;
    if site.text.is_empty() {
        return Ok(());
    }
    let text = fit(&site.text, columns.saturating_sub(10).max(20));
    writeln!(out, "  {dim}{:>4} |{dim:#} {text}", site.line)
}

/// Prints `text` below `lead`, over several lines if need be.
pub(crate) fn paragraph(
    out: &mut dyn Write,
    lead: &str,
    text: &str,
    columns: usize,
) -> io::Result<()> {
    let indent = " ".repeat(lead.len());
    for (i, line) in wrap(text, columns.saturating_sub(lead.len()).max(20))
        .iter()
        .enumerate()
    {
        writeln!(out, "{}{line}", if i == 0 { lead } else { &indent })?;
    }
    Ok(())
}

/// Prints the heading of a bug, in the program's words.
pub(super) fn title(
    out: &mut dyn Write,
    what: &str,
    kind: Kind,
    message: &str,
    columns: usize,
) -> io::Result<()> {
    let error = style::ERROR;
    let (heading, rest) = words::heading(kind, message);
    let lead = format!("  {what}: ");
    let indent = " ".repeat(lead.len());
    for (i, line) in wrap(&heading, columns.saturating_sub(lead.len()).max(20))
        .iter()
        .enumerate()
    {
        let lead = if i == 0 { &lead } else { &indent };
        let (blank, lead) = lead.split_at(2);
        writeln!(out, "{blank}{error}{lead}{line}{error:#}")?;
    }
    for line in rest {
        paragraph(out, &indent, line, columns)?;
    }
    Ok(())
}

/// Prints a bug, which is called `what`, of a harness with these threads.
///
/// # Errors
/// Errors of writing to `out`.
pub fn bug(
    out: &mut dyn Write,
    what: &str,
    bug: &Bug,
    threads: &[Thread],
    columns: usize,
) -> io::Result<()> {
    let (bold, mark, dim) = (style::BOLD, style::MARK, style::DIM);
    title(out, what, bug.kind, &bug.message, columns)?;
    if let Some(site) = &bug.site {
        source_line(out, site, columns)?;
    }
    if let Some(site) = &bug.other_site {
        writeln!(out, "  {}", words::other_site(bug))?;
        source_line(out, site, columns)?;
    }
    writeln!(out)?;
    paragraph(
        out,
        "  ",
        &format!("{}.", sentence(&words::reads_needed(bug))),
        columns,
    )?;
    let places = words::Places::of_bug(bug, threads);
    for (i, read) in bug.non_local_reads.iter().enumerate() {
        let text = words::non_local_read(bug, read, places);
        let lead = format!("    {}. ", i + 1);
        let indent = " ".repeat(lead.len());
        for (n, line) in wrap(&text, columns.saturating_sub(lead.len()).max(20))
            .iter()
            .enumerate()
        {
            writeln!(
                out,
                "{}{mark}{line}{mark:#}",
                if n == 0 { &lead } else { &indent }
            )?;
        }
    }
    if bug.k > 0 {
        paragraph(out, "  ", words::OTHER_READS, columns)?;
    }
    let thread = words::under_test(bug, threads);
    paragraph(out, "  Under test: ", &format!("{thread}."), columns)?;
    if let Confirmation::Confirmed { .. } = bug.confirmation {
        let good = style::GOOD;
        // What is run alone has no interleaving of its own.
        let how = match bug.run_alone {
            Some(_) => "seen on the original program too, in a schedule drawn at random",
            None => "replayed on the original program",
        };
        writeln!(out, "  {good}Confirmed{good:#}: {how}.")?;
    }
    if let Some(inputs) = words::inputs(&bug.inputs) {
        paragraph(out, "  Inputs: ", &inputs, columns)?;
    }
    if let Some(command) = &bug.run_alone {
        // The command stays in one piece, to be copied.
        writeln!(out, "  To run it alone:\n    {dim}{command}{dim:#}")?;
    } else if !bug.non_local_reads.is_empty() {
        let list = |id: fn(&crate::model::document::NonLocalRead) -> u32| {
            let ids: Vec<_> = bug
                .non_local_reads
                .iter()
                .map(|read| id(read).to_string())
                .collect();
            ids.join(", ")
        };
        let (rds, wrts) = (list(|read| read.read), list(|read| read.write));
        writeln!(out, "  {dim}rds = [{rds}], wrts = [{wrts}]{dim:#}")?;
    }
    if !bug.trace.is_empty() {
        writeln!(out, "\n  {bold}One interleaving that shows it:{bold:#}\n")?;
        trace::draw(out, bug, threads, columns)?;
    }
    if bug.count > 1 {
        writeln!(
            out,
            "\n  {dim}{} at this place with this thread under test.{dim:#}",
            counted(bug.count, "execution fails", "executions fail")
        )?;
    }
    for also in &bug.also_found {
        writeln!(
            out,
            "  {dim}Also found with the {} thread under test, at k = {} ({}).{dim:#}",
            also.under_test.name(),
            also.k,
            counted(also.count, "execution", "executions")
        )?;
    }
    file(out, bug.finding.as_deref())
}

/// Prints which file has a finding; the path stays in one piece, to be copied.
pub(super) fn file(out: &mut dyn Write, file: Option<&str>) -> io::Result<()> {
    let dim = style::DIM;
    match file {
        Some(file) => writeln!(out, "  {dim}In the file {file}{dim:#}"),
        None => Ok(()),
    }
}

/// Prints a finding that the original program refutes, with what both programs do.
fn fault(out: &mut dyn Write, bug: &Bug, report: &HarnessReport, columns: usize) -> io::Result<()> {
    let (error, bold) = (style::ERROR, style::BOLD);
    let (heading, _) = words::heading(bug.kind, &bug.message);
    writeln!(out, "  {error}fault of seqz{error:#}")?;
    let what = match &bug.confirmation {
        Confirmation::Diverged { difference, .. } => {
            format!("the original program goes another way: {difference}")
        }
        _ => "the original program does not show it".to_owned(),
    };
    let text = format!(
        "The sequential program has a bug (“{heading}”), but {what}. This is no bug of the program that was checked, and it \
         is not counted as one; please report it, with the program."
    );
    paragraph(out, "  ", &text, columns)?;
    if let Some(site) = &bug.site {
        source_line(out, site, columns)?;
    }
    let thread = words::under_test(bug, &report.threads);
    paragraph(out, "  Under test: ", &format!("{thread}."), columns)?;
    if let Some(inputs) = words::inputs(&bug.inputs) {
        paragraph(out, "  Inputs: ", &inputs, columns)?;
    }
    writeln!(out, "\n  {bold}What the sequential program does:{bold:#}\n")?;
    trace::draw(out, bug, &report.threads, columns)?;
    writeln!(out, "\n  {bold}What the original program does:{bold:#}\n")?;
    events::draw(out, bug.confirmation.schedule(), &[], &[], columns)
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

/// The width of the numbers in the table of what was searched, before the verdict.
const BEFORE_VERDICT: usize = 53;

/// Prints the table of what was searched.
fn levels(out: &mut dyn Write, report: &HarnessReport, columns: usize) -> io::Result<()> {
    let (dim, good, error) = (style::DIM, style::GOOD, style::ERROR);
    writeln!(
        out,
        "  {dim}{:<10} {:>2} {:>12} {:>12} {:>9}{dim:#}",
        "under test", "k", "executions", "infeasible", "failing"
    )?;
    let mut above = String::new();
    for role in &report.roles {
        for level in &role.levels {
            let failing = if level.failing > 0 {
                error
            } else {
                style::NONE
            };
            write!(
                out,
                "  {:<10} {:>2} {:>12} {:>12} {failing}{:>9}{failing:#}  ",
                role.under_test.name(),
                level.k,
                grouped(level.executions),
                grouped(level.infeasible),
                grouped(level.failing)
            )?;
            let verdict = verdict::of_level(level, &report.not_followed);
            let style = if verdict.exhausted { good } else { style::NONE };
            // A long reason goes on below its beginning.
            let width = columns.saturating_sub(BEFORE_VERDICT).max(20);
            let sentence = verdict.sentence();
            let is_said = !verdict.exhausted && sentence == above;
            let told = if is_said { AS_ABOVE } else { &sentence };
            for (i, line) in wrap(told, width).iter().enumerate() {
                if i > 0 {
                    write!(out, "{:BEFORE_VERDICT$}", "")?;
                }
                writeln!(out, "{style}{line}{style:#}")?;
            }
            above = sentence;
        }
    }
    Ok(())
}

/// What is said of a level instead of the reasons that the level above has, too.
const AS_ABOVE: &str = "not exhausted: as above";

/// Prints why the search ended before it was done, if it did.
pub(super) fn cut_short(out: &mut dyn Write, cut: Option<Cut>) -> io::Result<()> {
    match cut {
        Some(Cut::Interrupted) => writeln!(out, "Interrupted: the search was cut short."),
        Some(Cut::TimeLimit) => writeln!(
            out,
            "The time given with --time is over: the search was cut short."
        ),
        None => Ok(()),
    }
}

/// Says how long a search took; a build that took longer than a moment is told apart from it.
pub(super) fn time(all: f64, building: f64) -> String {
    if building < 0.5 {
        return format!("{all:.2} s");
    }
    format!(
        "{:.2} s (and {building:.2} s of building)",
        (all - building).max(0.0)
    )
}

/// Prints the number of findings that don't count.
pub(super) fn doubtful(out: &mut dyn Write, number: u32) -> io::Result<()> {
    if number == 0 {
        return Ok(());
    }
    let findings = counted(number.into(), "finding", "findings");
    writeln!(
        out,
        "{findings} may come of what is not followed, and does not count: see above."
    )
}

/// Prints the last lines of the report.
///
/// # Errors
/// Errors of writing to `out`.
pub fn closing(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let summary = &report.summary;
    cut_short(out, report.cut)?;
    let (verdict, style) = match summary.bugs + summary.failures {
        0 if summary.checked == 0 && report.explored.is_none() => {
            ("nothing was checked".to_owned(), style::BOLD)
        }
        0 if summary.doubtful > 0 => ("no bug is sure".to_owned(), style::BOLD),
        0 => ("no bug found".to_owned(), style::GOOD),
        1 => ("one bug found".to_owned(), style::ERROR),
        n => (format!("{} bugs found", in_words(n as usize)), style::ERROR),
    };
    write!(
        out,
        "{style}{verdict}{style:#}: {} checked, {}, {}",
        counted(u64::from(summary.checked), "harness", "harnesses"),
        counted(summary.executions, "execution", "executions"),
        time(summary.seconds, summary.building)
    )?;
    if summary.unsupported > 0 {
        let n = u64::from(summary.unsupported);
        write!(
            out,
            "; {} can't be checked",
            counted(n, "harness", "harnesses")
        )?;
    }
    writeln!(out)?;
    doubtful(out, summary.doubtful)?;
    if summary.faults > 0 {
        let error = style::ERROR;
        let n = counted(summary.faults.into(), "finding", "findings");
        writeln!(
            out,
            "{error}{n} could not be confirmed on the original program: a fault of seqz, see above.{error:#}"
        )?;
    }
    if let Some(dir) = &report.findings {
        writeln!(
            out,
            "Each bug is also in a file of its own, in {dir}; `seqz replay FILE` runs it again, `seqz report FILE` draws it."
        )?;
    }
    if summary.checked > 0 {
        let rest = verdict::of_check(report).rest;
        writeln!(out, "{}.", sentence(&rest))?;
        if let Some(beyond) = verdict::beyond(report) {
            writeln!(out, "{beyond}.")?;
        }
    }
    if let Some(instead) = verdict::instead(report) {
        writeln!(out, "{instead}.")?;
    }
    Ok(())
}
