//! The interleaving, drawn in two columns over the original source lines: the thread under test on the left, the
//! interfering thread on the right.

use std::io::{self, Write};

use super::document::{Bug, Op, Role, Site, Step};
use super::layout::{counted, fit, pad, width, wrap};
use super::style;

/// Below this many columns two of them are too narrow to read: the threads take turns in one.
const NARROW: usize = 72;
/// A trace of more lines than this is shortened.
const LONG: usize = 48;
/// Lines that stay on each side of what matters, when a trace is shortened.
const CONTEXT: usize = 2;
/// Lines that stay at the end, where the bug shows.
const TAIL: usize = 6;

/// One line of the drawing: events of one thread on one source line, one after the other.
struct Row<'a> {
    thread: Role,
    site: Option<&'a Site>,
    text: String,
    remarks: Vec<String>,
    fails: bool,
}

/// Draws the trace of a bug.
///
/// # Errors
/// Those of `out`.
pub fn draw(out: &mut dyn Write, bug: &Bug, columns: usize) -> io::Result<()> {
    let rows = rows(bug);
    let label = Label::of(&rows);
    let keep = keep(&rows);
    let frame = Frame::new(columns, label.columns);
    frame.head(out, bug.under_test)?;
    let mut left_out = 0;
    for (row, kept) in rows.iter().zip(&keep) {
        if !kept {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            frame.gap(out, left_out)?;
            left_out = 0;
        }
        frame.row(out, row, &label, row.thread == bug.under_test)?;
    }
    Ok(())
}

fn rows(bug: &Bug) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for step in &bug.trace {
        let site = step.site.as_ref();
        let same_line = |row: &&mut Row<'_>| {
            row.thread == step.thread
                && row.site.map(|s| (&s.file, s.line)) == site.map(|s| (&s.file, s.line))
                && site.is_some()
        };
        if rows
            .last_mut()
            .as_mut()
            .filter(|row| same_line(row))
            .is_none()
        {
            rows.push(Row {
                thread: step.thread,
                site,
                text: site.map_or_else(|| describe(step), |s| s.text.clone()),
                remarks: Vec::new(),
                fails: false,
            });
        }
        if let (Some(row), Some(remark)) = (rows.last_mut(), remark(bug, step)) {
            row.remarks.push(remark);
        }
    }
    mark_failure(bug, &mut rows);
    rows
}

/// The bug shows at the end of the thread under test, on a line that may have no event of its own.
fn mark_failure<'a>(bug: &'a Bug, rows: &mut Vec<Row<'a>>) {
    if let Some(site) = bug.other_site.as_ref().filter(|_| bug.other_pending) {
        rows.push(Row {
            thread: bug.under_test.other(),
            site: Some(site),
            text: site.text.clone(),
            remarks: vec![super::words::failure(bug.kind).to_owned()],
            fails: true,
        });
    }
    let Some(site) = &bug.site else { return };
    match rows.last_mut() {
        Some(row)
            if row.thread == bug.under_test
                && row
                    .site
                    .is_some_and(|s| s.file == site.file && s.line == site.line) =>
        {
            row.fails = true;
        }
        _ => rows.push(Row {
            thread: bug.under_test,
            site: Some(site),
            text: site.text.clone(),
            remarks: Vec::new(),
            fails: true,
        }),
    }
    if let Some(row) = rows.last_mut() {
        row.remarks.push(super::words::failure(bug.kind).to_owned());
    }
}

/// What a row says of an event that is part of the explanation.
fn remark(bug: &Bug, step: &Step) -> Option<String> {
    let number = step.pair?;
    let pair = bug.non_local_reads.get(number as usize)?;
    let name = super::words::variable(pair.variable.as_deref());
    let value = pair
        .value
        .as_ref()
        .map(|v| format!(" = {v}"))
        .unwrap_or_default();
    let number = number + 1;
    Some(if step.thread == bug.under_test {
        let from = pair
            .write_site
            .as_ref()
            .map(|s| format!(" from line {}", s.line));
        match step.op {
            Op::TryLockFailed => {
                format!("({number}) finds {name} locked{}", from.unwrap_or_default())
            }
            _ => format!("({number}) reads {name}{value}{}", from.unwrap_or_default()),
        }
    } else {
        match step.op {
            Op::Lock | Op::LockShared => format!("({number}) locks {name}"),
            _ => format!("({number}) writes {name}{value}"),
        }
    })
}

/// Said in place of a source line where there is none.
fn describe(step: &Step) -> String {
    let name = super::words::variable(step.variable.as_deref());
    match step.op {
        Op::Read => format!("(reads {name})"),
        Op::Write => format!("(writes {name})"),
        Op::Update => format!("(updates {name})"),
        Op::Lock | Op::LockShared => format!("(locks {name})"),
        Op::Unlock | Op::UnlockShared => format!("(unlocks {name})"),
        Op::TryLockFailed => format!("(finds {name} locked)"),
        Op::Join => "(joins the other thread)".to_owned(),
    }
}

/// Which rows of a long trace are shown: what is marked, where the threads take turns, the beginning and the end.
fn keep(rows: &[Row<'_>]) -> Vec<bool> {
    if rows.len() <= LONG {
        return vec![true; rows.len()];
    }
    let around = |keep: &mut [bool], at: usize, context: usize| {
        let end = (at + context + 1).min(keep.len());
        keep[at.saturating_sub(context)..end].fill(true);
    };
    let mut keep = vec![false; rows.len()];
    keep[..CONTEXT].fill(true);
    keep[rows.len() - TAIL..].fill(true);
    for (at, row) in rows.iter().enumerate() {
        if !row.remarks.is_empty() || row.fails {
            around(&mut keep, at, CONTEXT);
        }
    }
    let mut with_turns = keep.clone();
    for at in 1..rows.len() {
        if rows[at - 1].thread != rows[at].thread {
            around(&mut with_turns, at - 1, 0);
            around(&mut with_turns, at, 0);
        }
    }
    // Two threads that take turns all the time would be shown whole.
    if with_turns.iter().filter(|kept| **kept).count() <= LONG {
        keep = with_turns;
    }
    // A gap of one line is no shorter than the line.
    for at in 1..keep.len() - 1 {
        if keep[at - 1] && keep[at + 1] {
            keep[at] = true;
        }
    }
    keep
}

/// Line numbers, with the file where the trace goes through several.
struct Label {
    with_file: bool,
    columns: usize,
}

impl Label {
    fn of(rows: &[Row<'_>]) -> Self {
        let mut files = rows
            .iter()
            .filter_map(|row| row.site)
            .map(|site| site.file.as_str());
        let first = files.next();
        let with_file = files.any(|file| Some(file) != first);
        let mut label = Self {
            with_file,
            columns: 0,
        };
        label.columns = rows
            .iter()
            .map(|row| width(&label.text(row)))
            .max()
            .unwrap_or(0);
        label
    }

    fn text(&self, row: &Row<'_>) -> String {
        match row.site {
            None => String::new(),
            Some(site) if self.with_file => {
                let name = site.file.rsplit('/').next().unwrap_or(&site.file);
                format!("{}:{}", fit(name, 16), site.line)
            }
            Some(site) => site.line.to_string(),
        }
    }
}

/// The columns of the drawing.
struct Frame {
    two: bool,
    /// Columns of one thread's part, its line numbers included.
    side: usize,
    /// Columns of line numbers.
    label: usize,
}

const INDENT: &str = "    ";

impl Frame {
    fn new(columns: usize, label: usize) -> Self {
        let inner = columns.saturating_sub(INDENT.len()).max(20);
        let two = columns >= NARROW;
        let side = if two { (inner - 3) / 2 } else { inner - 3 };
        Self { two, side, label }
    }

    fn head(&self, out: &mut dyn Write, under_test: Role) -> io::Result<()> {
        let left = format!("{} (T, under test)", under_test.name());
        let right = format!("{} (T', interfering)", under_test.other().name());
        let dim = style::DIM;
        if self.two {
            let rule = "─".repeat(self.side);
            writeln!(
                out,
                "{INDENT}{} {dim}│{dim:#} {right}",
                pad(&left, self.side)
            )?;
            writeln!(out, "{INDENT}{dim}{rule}─┼─{rule}{dim:#}")
        } else {
            writeln!(out, "{INDENT}T  is {left}\n{INDENT}T' is {right}")
        }
    }

    fn gap(&self, out: &mut dyn Write, rows: usize) -> io::Result<()> {
        let text = format!("… {} …", counted(rows as u64, "more line", "more lines"));
        let dim = style::DIM;
        if self.two {
            let text = fit(&text, self.side);
            writeln!(out, "{INDENT}{dim}{} │{dim:#}", pad(&text, self.side))
        } else {
            writeln!(out, "{INDENT}{dim}{text}{dim:#}")
        }
    }

    fn row(&self, out: &mut dyn Write, row: &Row<'_>, label: &Label, left: bool) -> io::Result<()> {
        let number = label.text(row);
        let blank = self.label - width(&number);
        let room = self.side.saturating_sub(self.label + 2).max(8);
        let text = fit(&row.text, room);
        let code = format!("{:blank$}{number}  {text}", "");
        let marked = if row.fails {
            style::ERROR
        } else if row.remarks.is_empty() {
            style::NONE
        } else {
            style::MARK
        };
        self.line(out, &code, marked, left, true)?;
        for remark in &row.remarks {
            for (i, part) in wrap(remark, room.saturating_sub(2)).iter().enumerate() {
                let lead = if i == 0 { "^ " } else { "  " };
                let text = format!("{:1$}  {lead}{part}", "", self.label);
                self.line(out, &text, marked, left, false)?;
            }
        }
        Ok(())
    }

    fn line(
        &self,
        out: &mut dyn Write,
        text: &str,
        style: anstyle::Style,
        left: bool,
        first: bool,
    ) -> io::Result<()> {
        let dim = style::DIM;
        if !self.two {
            let thread = match (left, first) {
                (_, false) => "  ",
                (true, true) => "T ",
                (false, true) => "T'",
            };
            return writeln!(out, "{INDENT}{dim}{thread}{dim:#} {style}{text}{style:#}");
        }
        if left {
            let text = pad(text, self.side);
            writeln!(out, "{INDENT}{style}{text}{style:#} {dim}│{dim:#}")
        } else {
            let blank = " ".repeat(self.side);
            writeln!(out, "{INDENT}{blank} {dim}│{dim:#} {style}{text}{style:#}")
        }
    }
}
