//! Messages that point at source text.

use crate::visible::visible;
use std::ops::Range;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// The severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The work can't go on.
    Error,
    /// The work goes on without this part.
    Warning,
}

/// A message about a place in a source file.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The severity of the message.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The place in the source, if it is known.
    pub place: Option<Place>,
    /// The remarks below the message, each on its own.
    pub remarks: Vec<Remark>,
}

/// A remark to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// A note: background of the message.
    Note(String),
    /// Advice: what to do instead.
    Help(String),
}

/// A place in a file, with the file's text.
#[derive(Clone, Debug)]
pub struct Place {
    /// The path of the file, as the user would name it.
    pub file: PathBuf,
    /// The whole text of the file.
    pub source: String,
    /// The range of bytes that the message is about.
    pub span: Range<usize>,
    /// The text to print right at the place.
    pub label: Option<String>,
    /// Other places in the same file, each as a range of bytes with a text to print there.
    pub secondary: Vec<(Range<usize>, String)>,
}

impl Diagnostic {
    /// Returns an error without a place.
    #[must_use]
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            place: None,
            remarks: Vec::new(),
        }
    }

    /// Returns this message at a place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Returns this message with a note.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.remarks.push(Remark::Note(text.into()));
        self
    }

    /// Returns this message with advice.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.remarks.push(Remark::Help(text.into()));
        self
    }

    /// Returns the message as text with ANSI styles, in `width` columns; the stream that the text is written to drops
    /// the styles where they don't belong.
    #[must_use]
    pub fn render(&self, width: usize) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(self.message.as_str());
        let path = self.place.as_ref().map(|place| shown(&place.file));
        let mut group = match (&self.place, &path) {
            (Some(place), Some(path)) => {
                let mut primary = AnnotationKind::Primary.span(clamp(&place.source, &place.span));
                if let Some(label) = &place.label {
                    primary = primary.label(label.as_str());
                }
                let secondary = place.secondary.iter().map(|(span, label)| {
                    AnnotationKind::Context
                        .span(clamp(&place.source, span))
                        .label(label.as_str())
                });
                let snippet = Snippet::source(place.source.as_str())
                    .path(path.as_str())
                    .annotation(primary)
                    .annotations(secondary);
                title.element(snippet)
            }
            _ => Group::with_title(title),
        };
        for remark in &self.remarks {
            group = match remark {
                Remark::Note(text) => group.element(Level::NOTE.message(text.as_str())),
                Remark::Help(text) => group.element(Level::HELP.message(text.as_str())),
            };
        }
        let text = Renderer::styled().term_width(width).render(&[group]);
        visible(&text).into_owned()
    }
}

/// Returns a path as a user would write it: relative to the working directory where the path is below it.
#[must_use]
pub fn shown(path: &Path) -> String {
    let relative = std::env::current_dir()
        .ok()
        .and_then(|cwd| path.strip_prefix(cwd).ok().map(Path::to_path_buf));
    let path = relative.as_deref().unwrap_or(path);
    let path = path.strip_prefix(".").unwrap_or(path);
    if path.as_os_str().is_empty() {
        return ".".into();
    }
    path.display().to_string()
}

/// Returns the range of bytes of line `line`, from column `column` on (both from 1, columns in characters, as in
/// compilers' messages), up to `end` or the line's end.
#[must_use]
pub fn line_span(source: &str, line: u32, column: u32) -> Range<usize> {
    let mut start = 0;
    for _ in 1..line {
        match source[start..].find('\n') {
            Some(at) => start += at + 1,
            None => break,
        }
    }
    let text = source[start..].split('\n').next().unwrap_or_default();
    let text = text.trim_end();
    let skipped = text
        .char_indices()
        .nth(column.saturating_sub(1) as usize)
        .map_or(text.len(), |(at, _)| at);
    start + skipped..start + text.len()
}

/// Returns the line and the column, both from 1, of a byte; the inverse of [`line_span`].
#[must_use]
pub fn position(source: &str, at: usize) -> (u32, u32) {
    let before = &source[..clamp(source, &(0..at)).end];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line as u32, before[start..].chars().count() as u32 + 1)
}

/// Limits a span to the text. Spans come from other programs, too: one that doesn't fit the text must not make seqz
/// panic.
fn clamp(source: &str, span: &Range<usize>) -> Range<usize> {
    let boundary = |mut at: usize| {
        at = at.min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(span.start);
    start..boundary(span.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(diagnostic: &Diagnostic) -> String {
        anstream::adapter::strip_str(&diagnostic.render(80)).to_string()
    }

    #[test]
    fn points_at_the_place() {
        let source = "fn main() {\n    let ü = Condvar::new();\n}\n".to_owned();
        let span = line_span(&source, 2, 13);
        assert_eq!(&source[span.clone()], "Condvar::new();");
        assert_eq!(position(&source, span.start), (2, 13));
        let text = plain(
            &Diagnostic::error("`Condvar` is not supported")
                .at(Place {
                    file: "src/lib.rs".into(),
                    source,
                    span,
                    label: Some("here".into()),
                    secondary: Vec::new(),
                })
                .help("use a `Mutex`"),
        );
        insta::assert_snapshot!(text, @r"
        error: `Condvar` is not supported
         --> src/lib.rs:2:13
          |
        2 |     let ü = Condvar::new();
          |             ^^^^^^^^^^^^^^^ here
          |
          = help: use a `Mutex`
        ");
    }

    #[test]
    fn survives_spans_that_do_not_fit() {
        let diagnostic = Diagnostic::error("x").at(Place {
            file: "a.rs".into(),
            source: "ü".into(),
            span: 1..900,
            label: None,
            secondary: vec![(Range { start: 5, end: 3 }, "y".into())],
        });
        assert!(plain(&diagnostic).contains("a.rs"));
        assert_eq!(line_span("a\nb", 7, 1), 2..3);
        assert_eq!(line_span("", 1, 1), 0..0);
    }
}
