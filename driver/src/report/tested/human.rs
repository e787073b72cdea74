//! One line a harness, and what the lines mean.

use std::io::{self, Write};

use anstyle::Style;

use crate::layout::{fit, width, wrap};
use crate::model::tested::{Outcome, TestRun, Tested};
use crate::style;

/// The columns of the word for an outcome.
const WORD: usize = 10;

/// The colour of an outcome.
const fn colour(outcome: &Outcome) -> Style {
    match outcome {
        Outcome::Proved { .. } => style::GOOD,
        Outcome::Bug | Outcome::Failed { .. } => style::ERROR,
        Outcome::NoBug { .. } | Outcome::Sampled { .. } | Outcome::Open { .. } => style::NONE,
        Outcome::Doubtful | Outcome::Unsupported { .. } => style::MARK,
        Outcome::NotReached => style::DIM,
    }
}

/// Prints the line of a harness that is the `number`th of `all` to be done.
///
/// # Errors
/// Errors of writing to `out`.
pub fn line(
    out: &mut dyn Write,
    tested: &Tested,
    number: usize,
    all: usize,
    columns: usize,
) -> io::Result<()> {
    let (bold, dim) = (style::BOLD, style::DIM);
    let colour = colour(&tested.outcome);
    let word = tested.outcome.word();
    let digits = all.to_string().len();
    let time = format!("[{:>8.3}s] ({number:>digits$}/{all})", tested.seconds);
    let shown = tested.shown();
    let shown = shown.trim_end_matches(['.', ' ']);
    let taken = WORD + 2 + width(&time) + width(&tested.name) + 2;
    // At least a few words are shown, whatever the name's length.
    let shown = fit(shown, columns.saturating_sub(taken).max(24));
    writeln!(
        out,
        "{colour}{word:>WORD$}{colour:#} {dim}{time}{dim:#} {bold}{}{bold:#}  {shown}",
        tested.name
    )
}

/// Prints the tally, what the outcomes mean, and what to do about those that are no proof.
///
/// # Errors
/// Errors of writing to `out`.
pub fn closing(out: &mut dyn Write, run: &TestRun, columns: usize) -> io::Result<()> {
    let (bold, dim) = (style::BOLD, style::DIM);
    let unproved: Vec<_> = run
        .harnesses
        .iter()
        .filter_map(|it| Some((it, it.unproved()?)))
        .collect();
    if !unproved.is_empty() {
        writeln!(out, "\nwhat stands in the way of a proof:")?;
        for (harness, why) in unproved {
            writeln!(out, "  {bold}{}{bold:#}", harness.name)?;
            for line in wrap(why, columns.saturating_sub(4)) {
                writeln!(out, "    {line}")?;
            }
        }
    }
    writeln!(
        out,
        "\n{bold}{}{bold:#}  {dim}[{:.3}s]{dim:#}",
        run.tally(),
        run.seconds
    )?;
    for meaning in run.meanings() {
        for (at, line) in wrap(meaning, columns.saturating_sub(4))
            .into_iter()
            .enumerate()
        {
            let indent = if at == 0 { "  " } else { "    " };
            writeln!(out, "{dim}{indent}{line}{dim:#}")?;
        }
    }
    Ok(())
}
