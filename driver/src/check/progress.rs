//! Progress on standard error: a line that is redrawn on a terminal, and a new line now and then where standard error
//! is a file or a pipe.

use std::io::Write as _;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::layout::{counted, grouped};
use crate::model::document::Role;
use crate::terminal::Terminal;

/// How a line of progress begins where nothing is drawn.
pub const MARK: &str = "seqz: ";

/// The time after which the first line is written where nothing is drawn; a shorter search needs none.
const FIRST: Duration = Duration::from_secs(5);

/// The time between two further lines.
const NEXT: Duration = Duration::from_secs(30);

/// Says what is going on.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// Writes lines where nothing is drawn.
    lines: Option<Lines>,
}

/// The thread that writes lines.
#[derive(Debug)]
struct Lines {
    message: Arc<Mutex<String>>,
    /// Dropped to end the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    fn new() -> Self {
        let message = Arc::new(Mutex::new(String::new()));
        let (end, ended) = mpsc::channel();
        let said = Arc::clone(&message);
        let began = Instant::now();
        let thread = thread::spawn(move || {
            let mut pause = FIRST;
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                pause = NEXT;
                let text = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if !text.is_empty() {
                    // Without standard error there is no place to report the failure.
                    let _ = writeln!(
                        std::io::stderr(),
                        "{MARK}{text} ({} s)",
                        began.elapsed().as_secs()
                    );
                }
            }
        });
        Self {
            message,
            end: Some(end),
            thread: Some(thread),
        }
    }

    fn say(&self, what: String) {
        *self.message.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // The thread panics only where standard error is broken.
            let _ = thread.join();
        }
    }
}

/// The position of the search in a harness.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// Which thread is under test.
    pub under_test: Role,
    /// The number k of non-local reads of the level that is being searched.
    pub k: u32,
    /// Executions made at this level.
    pub executions: u64,
    /// Bugs found in this harness.
    pub bugs: usize,
}

impl Progress {
    /// Starts to draw if standard error is a terminal, else to write lines.
    #[must_use]
    pub fn new(terminal: &Terminal) -> Self {
        if !terminal.progress {
            return Self {
                bar: ProgressBar::hidden(),
                lines: Some(Lines::new()),
            };
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar, lines: None }
    }

    /// Shows what is being done.
    pub fn say(&self, what: impl Into<String>) {
        match &self.lines {
            Some(lines) => lines.say(what.into()),
            None => self.bar.set_message(what.into()),
        }
    }

    /// Shows how far the search of a harness is.
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

    /// Runs `print` while the line of progress is out of the way.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Removes the line, or ends the thread that writes lines.
    pub fn finish(&self) {
        if let Some(lines) = &self.lines {
            lines.say(String::new());
        }
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}
