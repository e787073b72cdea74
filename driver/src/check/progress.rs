//! Progress, drawn on standard error while somebody watches.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::report::document::Role;
use crate::report::layout::{counted, grouped};
use crate::terminal::Terminal;

/// A line that says what is going on. Nothing is drawn where standard error is no terminal.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

/// Where the search of a harness is.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// Which thread is under test.
    pub under_test: Role,
    /// The number of non-local reads.
    pub k: u32,
    /// Executions at this level.
    pub executions: u64,
    /// Bugs of this harness.
    pub bugs: usize,
}

impl Progress {
    /// Starts to draw, if there is a terminal.
    #[must_use]
    pub fn new(terminal: &Terminal) -> Self {
        let bar = if terminal.progress {
            ProgressBar::new_spinner()
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }

    /// Says what is being done.
    pub fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    /// Says how far the search of a harness is.
    pub fn at(&self, harness: &str, position: Position) {
        let Position {
            under_test,
            k,
            executions,
            bugs,
        } = position;
        let found = if bugs == 0 {
            String::new()
        } else {
            format!(", {}", counted(bugs as u64, "bug", "bugs"))
        };
        self.say(format!(
            "{harness}: {} thread under test, k = {k}, {} executions{found}",
            under_test.name(),
            grouped(executions)
        ));
    }

    /// Does something that prints, with the line out of the way.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}
