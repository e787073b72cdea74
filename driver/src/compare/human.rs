//! Prints a comparison for people.

use std::io::{self, Write};

use super::document::{Compared, Comparison, Ended, Run};
use super::paper::{Cell, SuiteTable};
use crate::layout::{counted, fit, grouped, pad, width};
use crate::model::words;
use crate::style;

/// Prints all tables.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write(out: &mut dyn Write, comparison: &Comparison, columns: usize) -> io::Result<()> {
    for suite in &comparison.suites {
        paper(out, suite)?;
    }
    if comparison.suites.is_empty() {
        for program in &comparison.programs {
            table(out, program, columns)?;
        }
    }
    closing(out, comparison)
}

fn table(out: &mut dyn Write, program: &Compared, columns: usize) -> io::Result<()> {
    let subject = &program.subject;
    let (bold, dim, error) = (style::BOLD, style::DIM, style::ERROR);
    let inputs: Vec<_> = subject
        .inputs
        .iter()
        .map(|(n, v)| format!("{n} = {v}"))
        .collect();
    let with = if inputs.is_empty() {
        String::new()
    } else {
        format!(" with {}", inputs.join(", "))
    };
    writeln!(
        out,
        "{bold}{}{bold:#}  {dim}{}{with}{dim:#}",
        fit(&subject.harness, columns),
        subject.path
    )?;
    for (at, bug) in program.bugs.iter().enumerate() {
        let (heading, _) = words::heading(bug.kind, &bug.message);
        let line = bug
            .sites
            .first()
            .map_or_else(String::new, |site| format!(", line {}", site.line));
        let text = fit(
            &format!("{}: {heading}{line}", at + 1),
            columns.saturating_sub(2),
        );
        writeln!(out, "  {error}{text}{error:#}")?;
    }
    let head = [
        "method",
        "bugs",
        "k",
        "executions",
        "time",
        "executions",
        "time",
        "ended",
        "memory",
    ];
    let groups = ["", "", "", "to the first bug", "", "of all", "", "", ""];
    let mut rows = vec![
        groups.map(String::from).to_vec(),
        head.map(String::from).to_vec(),
    ];
    rows.extend(program.runs.iter().map(row));
    aligned(out, &rows, &[1, 2, 3, 4, 5, 6, 8])?;
    let mut told: Vec<&str> = Vec::new();
    for run in &program.runs {
        if let Some(why) = run.why.as_deref().filter(|why| !told.contains(why)) {
            told.push(why);
            writeln!(
                out,
                "  {dim}{}{dim:#}",
                fit(&format!("{}: {why}", run.method), columns.saturating_sub(2))
            )?;
        }
    }
    writeln!(out)
}

fn row(run: &Run) -> Vec<String> {
    let none = || "–".to_owned();
    let mut bugs: Vec<_> = run.found.iter().map(|found| found.bug + 1).collect();
    bugs.sort_unstable();
    let bugs: Vec<_> = bugs.iter().map(usize::to_string).collect();
    let first = run.first();
    let k = run.found.iter().filter_map(|found| found.k).min();
    let ran = !matches!(run.ended, Ended::Unsupported | Ended::Failed);
    vec![
        run.method.clone(),
        if bugs.is_empty() {
            none()
        } else {
            bugs.join(" ")
        },
        k.map_or_else(none, |k| k.to_string()),
        first
            .and_then(|found| found.executions)
            .map_or_else(none, grouped),
        first.map_or_else(none, |found| seconds(found.seconds)),
        run.executions.filter(|_| ran).map_or_else(none, grouped),
        if ran { seconds(run.seconds) } else { none() },
        run.ended.word().into(),
        run.memory.filter(|_| ran).map_or_else(none, memory),
    ]
}

fn paper(out: &mut dyn Write, suite: &SuiteTable) -> io::Result<()> {
    let bold = style::BOLD;
    writeln!(out, "{bold}{}{bold:#}", suite.title)?;
    writeln!(out, "{}", suite.paper)?;
    writeln!(out)?;
    let groups = [
        "",
        "",
        "to the bug: executions · time",
        "",
        "to the end, without the bug",
        "",
    ];
    let head = ["program", "method", "seqz", "paper", "seqz", "paper"];
    let mut rows = vec![
        groups.map(String::from).to_vec(),
        head.map(String::from).to_vec(),
    ];
    let mut last = "";
    for row in &suite.rows {
        let name = if row.program == last {
            ""
        } else {
            &row.program
        };
        last = &row.program;
        rows.push(vec![
            name.into(),
            row.method.clone(),
            cell(row.bug.ours.as_ref()),
            cell(row.bug.paper.as_ref()),
            cell(row.exhaust.ours.as_ref()),
            cell(row.exhaust.paper.as_ref()),
        ]);
    }
    aligned(out, &rows, &[])?;
    for total in &suite.totals {
        writeln!(out, "Paper: {total}")?;
    }
    writeln!(out)
}

/// Returns one cell of a paper's table: how the run ended, its executions, its time.
#[must_use]
pub fn cell(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else {
        return "–".into();
    };
    let mut parts = Vec::new();
    let reached = matches!(cell.ended.as_str(), "bug" | "exhausted");
    if matches!(cell.ended.as_str(), "unsupported" | "failed") {
        return cell.ended.clone();
    }
    let k: Vec<_> = cell.k.iter().map(u32::to_string).collect();
    match (cell.ended.as_str(), k.is_empty()) {
        ("bug" | "fails", false) => parts.push(format!("k = {}", k.join(", "))),
        (_, false) => parts.push(format!("k ≤ {}", k.join(", "))),
        _ => {}
    }
    if !reached {
        parts.insert(0, cell.ended.clone());
    }
    parts.extend(cell.executions.map(grouped));
    parts.extend(cell.seconds.map(seconds));
    if parts.is_empty() {
        parts.push(if cell.ended == "bug" {
            "found".into()
        } else {
            cell.ended.clone()
        });
    }
    parts.join(" · ")
}

fn closing(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    let limits = &comparison.limits;
    let runs = comparison.programs.iter().flat_map(|program| &program.runs);
    let executions = limits.executions.map_or_else(String::new, |n| {
        format!(", {}", counted(n, "execution", "executions"))
    });
    writeln!(
        out,
        "{} of {}, each within {} s of search{executions} and {}; k ≤ {}, seed {}.",
        counted(runs.count() as u64, "run", "runs"),
        counted(comparison.programs.len() as u64, "harness", "harnesses"),
        limits.seconds,
        memory(limits.memory),
        limits.k_max,
        limits.seed,
    )
}

/// Prints rows, of which the first two are the head; `right` are the columns of numbers.
fn aligned(out: &mut dyn Write, rows: &[Vec<String>], right: &[usize]) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    // A heading above a group may be as wide as all columns of the group.
    let widths: Vec<_> = (0..columns)
        .map(|at| {
            rows.iter()
                .skip(1)
                .filter_map(|row| row.get(at))
                .map(|text| width(text))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let dim = style::DIM;
    for (number, row) in rows.iter().enumerate() {
        let mut line = String::new();
        let mut at = 0;
        let mut end = 0;
        for (column, text) in row.iter().enumerate() {
            let blank = widths[column].saturating_sub(width(text));
            let lead = if number > 0 && right.contains(&column) {
                blank
            } else {
                0
            };
            if !text.is_empty() {
                line.push_str(&" ".repeat((at + lead).saturating_sub(end)));
                end = end.max(at + lead);
                line.push_str(text);
                end += width(text);
            }
            at += widths[column] + 2;
        }
        let style = if number < 2 { dim } else { style::NONE };
        writeln!(out, "  {style}{}{style:#}", pad(line.trim_end(), 0))?;
    }
    Ok(())
}

/// Formats a time in few characters.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    if seconds < 0.001 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 0.1 {
        format!("{:.1} ms", seconds * 1e3)
    } else if seconds < 10.0 {
        format!("{seconds:.2} s")
    } else {
        format!("{seconds:.0} s")
    }
}

/// Formats a number of bytes in few characters.
#[must_use]
pub fn memory(bytes: u64) -> String {
    #[allow(clippy::cast_precision_loss, reason = "it is rounded anyway")]
    let megabytes = bytes as f64 / f64::from(1 << 20);
    if megabytes < 10.0 {
        format!("{megabytes:.1} MB")
    } else {
        format!("{megabytes:.0} MB")
    }
}
