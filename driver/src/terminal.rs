//! The terminal: its width, and whether it can show progress.

use std::io::{IsTerminal, stderr, stdout};

/// The terminal that output goes to. Whether output is coloured is decided by the stream itself, in `anstream` (a
/// terminal, `NO_COLOR`).
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// The width of a line of output, in columns.
    pub width: usize,
    /// Whether standard error is a terminal, so that progress may be drawn there.
    pub progress: bool,
}

/// The width for a file or a pipe, in columns. It is wide enough for two columns of source text.
const DEFAULT_WIDTH: usize = 100;

impl Terminal {
    /// Reads the properties of the process's standard streams and `COLUMNS`.
    #[must_use]
    pub fn detect() -> Self {
        let measured = if stdout().is_terminal() {
            terminal_size::terminal_size_of(stdout()).map(|(width, _)| usize::from(width.0))
        } else {
            None
        };
        let width = measured
            .or_else(|| std::env::var("COLUMNS").ok()?.parse().ok())
            .filter(|width| *width > 0)
            .unwrap_or(DEFAULT_WIDTH);
        Self {
            width,
            progress: stderr().is_terminal(),
        }
    }
}
