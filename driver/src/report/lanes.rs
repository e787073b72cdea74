//! Draws what threads do: a column for each thread, with the original source lines, in the order of time.

use std::io::{self, Write};

use crate::layout::{counted, fit, pad, width, wrap};
use crate::model::document::{Role, Site};
use crate::style;

/// The width of a thread's column below which the threads share one column, in columns of text.
const NARROW: usize = 28;
/// The number of lines above which a trace is shortened.
const LONG: usize = 48;
/// The number of lines that stay on each side of a line that matters, when a trace is shortened.
const CONTEXT: usize = 2;
/// The number of lines that stay at the end, where the bug shows.
const TAIL: usize = 6;

/// Returns the lane of a party: the thread under test has the first one, and the interfering threads those after it.
pub(super) fn of_party(party: Role, interfering: &[Role]) -> usize {
    let among = interfering.iter().position(|&it| it == party);
    among.map_or(0, |among| among + 1)
}

/// One line of the drawing: consecutive events of one thread on one source line.
pub(super) struct Row<'a> {
    /// The index of the thread's lane.
    pub(super) lane: usize,
    /// The place of the source line, unless it is in no source.
    pub(super) site: Option<&'a Site>,
    /// The text of the line.
    pub(super) text: String,
    /// Remarks that explain the bug.
    pub(super) remarks: Vec<String>,
    /// Whether the bug shows at this line.
    pub(super) fails: bool,
}

impl Row<'_> {
    /// Whether an event of this thread at this place belongs on this line.
    pub(super) fn takes(&self, lane: usize, site: Option<&Site>) -> bool {
        let line = |site: &Site| (site.file.clone(), site.line);
        self.lane == lane && site.is_some() && self.site.map(line) == site.map(line)
    }
}

/// The column of a thread.
pub(super) struct Lane {
    /// The thread's short name, for where there is no room for its heading.
    pub(super) tag: String,
    /// The thread's heading.
    pub(super) heading: String,
}

/// Draws the rows.
pub(super) fn draw(
    out: &mut dyn Write,
    lanes: &[Lane],
    rows: &[Row<'_>],
    columns: usize,
) -> io::Result<()> {
    let label = Label::of(rows);
    let frame = Frame::new(lanes, columns, label.columns);
    frame.head(out)?;
    let mut left_out = 0;
    for (row, kept) in rows.iter().zip(keep(rows)) {
        if !kept {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            frame.gap(out, left_out)?;
            left_out = 0;
        }
        frame.row(out, row, &label)?;
    }
    Ok(())
}

/// Returns which rows of a long trace are shown: marked rows, rows where the threads take turns, the beginning and the
/// end.
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
        if rows[at - 1].lane != rows[at].lane {
            around(&mut with_turns, at - 1, 0);
            around(&mut with_turns, at, 0);
        }
    }
    // A trace whose threads take turns all the time would be shown whole.
    if with_turns.iter().filter(|kept| **kept).count() <= LONG {
        keep = with_turns;
    }
    // A gap of one line would be no shorter than the line.
    for at in 1..keep.len() - 1 {
        if keep[at - 1] && keep[at + 1] {
            keep[at] = true;
        }
    }
    keep
}

/// Formats line numbers, with the file where the trace goes through several files.
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

/// The widths of the drawing's columns.
struct Frame<'a> {
    lanes: &'a [Lane],
    /// Whether each thread has a column of its own.
    apart: bool,
    /// The width of one thread's part, its line numbers included, in columns of text.
    side: usize,
    /// The width of line numbers, in columns of text.
    label: usize,
    /// The width of tags, in columns of text, where the threads share one column.
    tag: usize,
}

const INDENT: &str = "    ";

impl<'a> Frame<'a> {
    fn new(lanes: &'a [Lane], columns: usize, label: usize) -> Self {
        let inner = columns.saturating_sub(INDENT.len()).max(20);
        let n = lanes.len().max(1);
        let side = inner.saturating_sub(3 * (n - 1)) / n;
        let apart = side >= NARROW;
        let tag = match lanes.len() {
            // One mark for each thread, side by side.
            n @ 3.. => 2 * n - 1,
            _ => lanes.iter().map(|lane| width(&lane.tag)).max().unwrap_or(0),
        };
        let side = if apart {
            side
        } else {
            inner - (tag + 1).min(inner - 8)
        };
        Self {
            lanes,
            apart,
            side,
            label,
            tag,
        }
    }

    fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        let dim = style::DIM;
        if !self.apart {
            let tags = self.lanes.iter().map(|lane| width(&lane.tag)).max();
            for lane in self.lanes {
                // A heading may consist of the number alone.
                if lane.heading.starts_with(&lane.tag) {
                    writeln!(out, "{INDENT}{}", lane.heading)?;
                } else {
                    let tag = pad(&lane.tag, tags.unwrap_or(0));
                    writeln!(out, "{INDENT}{tag} is {}", lane.heading)?;
                }
            }
            return Ok(());
        }
        let last = self.lanes.len().saturating_sub(1);
        write!(out, "{INDENT}")?;
        for (at, lane) in self.lanes.iter().enumerate() {
            let heading = fit(&lane.heading, self.side);
            if at == last {
                writeln!(out, "{heading}")?;
            } else {
                write!(out, "{} {dim}│{dim:#} ", pad(&heading, self.side))?;
            }
        }
        let rules = vec!["─".repeat(self.side); self.lanes.len()];
        writeln!(out, "{INDENT}{dim}{}{dim:#}", rules.join("─┼─"))
    }

    fn gap(&self, out: &mut dyn Write, rows: usize) -> io::Result<()> {
        let text = format!("… {} …", counted(rows as u64, "more line", "more lines"));
        let dim = style::DIM;
        if self.apart && self.lanes.len() > 1 {
            let text = fit(&text, self.side);
            writeln!(out, "{INDENT}{dim}{} │{dim:#}", pad(&text, self.side))
        } else {
            writeln!(out, "{INDENT}{dim}{text}{dim:#}")
        }
    }

    fn row(&self, out: &mut dyn Write, row: &Row<'_>, label: &Label) -> io::Result<()> {
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
        self.line(out, &code, marked, row.lane, true)?;
        for remark in &row.remarks {
            for (i, part) in wrap(remark, room.saturating_sub(2)).iter().enumerate() {
                let lead = if i == 0 { "^ " } else { "  " };
                let text = format!("{:1$}  {lead}{part}", "", self.label);
                self.line(out, &text, marked, row.lane, false)?;
            }
        }
        Ok(())
    }

    fn line(
        &self,
        out: &mut dyn Write,
        text: &str,
        style: anstyle::Style,
        lane: usize,
        first: bool,
    ) -> io::Result<()> {
        let dim = style::DIM;
        if !self.apart {
            let tag = pad(&self.tag(lane, first), self.tag);
            return writeln!(out, "{INDENT}{dim}{tag}{dim:#} {style}{text}{style:#}");
        }
        write!(out, "{INDENT}")?;
        for at in 0..lane {
            let next = if at + 1 == lane { " " } else { "" };
            let blank = " ".repeat(self.side + usize::from(at > 0));
            write!(out, "{blank} {dim}│{dim:#}{next}")?;
        }
        if lane + 1 == self.lanes.len() {
            return writeln!(out, "{style}{text}{style:#}");
        }
        write!(out, "{style}{}{style:#} {dim}│", pad(text, self.side))?;
        for _ in lane + 2..self.lanes.len() {
            write!(out, "{} │", " ".repeat(self.side + 1))?;
        }
        writeln!(out, "{dim:#}")
    }

    /// Returns the tag before a line where the threads share one column.
    fn tag(&self, lane: usize, first: bool) -> String {
        match (first, self.lanes.len()) {
            (false, _) => String::new(),
            (true, n @ 3..) => {
                let mark = |at: usize| {
                    if at == lane {
                        self.lanes[at].tag.as_str()
                    } else {
                        "·"
                    }
                };
                (0..n).map(mark).collect::<Vec<_>>().join(" ")
            }
            (true, _) => self
                .lanes
                .get(lane)
                .map_or_else(String::new, |lane| lane.tag.clone()),
        }
    }
}
