//! Source text and positions in it.
//!
//! Two notations are in use: byte offsets, for syn's spans and the edits, and line and column, for rustc's
//! [`std::panic::Location`] and for people. Lines and columns are counted from 1, and a column is a character, as rustc
//! counts them.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A line and a column, both counted from 1; columns are characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub col: u32,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.col)
    }
}

/// A text with an index of its lines.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    text: Arc<str>,
    line_starts: Vec<usize>,
}

impl Text {
    /// Makes the index of `text`.
    pub(crate) fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Text { text, line_starts }
    }

    /// Returns the text itself.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the text, shared.
    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// Returns the position of the byte at `offset`.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let line = self.line_starts.partition_point(|start| *start <= offset) - 1;
        let col = self.text[self.line_starts[line]..offset].chars().count() + 1;
        Position {
            line: line as u32 + 1,
            col: col as u32,
        }
    }

    /// Returns the byte offset of a position, if the text has the position.
    #[cfg(test)]
    pub(crate) fn offset(&self, position: Position) -> Option<usize> {
        let start = *self
            .line_starts
            .get((position.line as usize).checked_sub(1)?)?;
        let end = self
            .line_starts
            .get(position.line as usize)
            .copied()
            .unwrap_or(self.text.len());
        let line = &self.text[start..end];
        let skip = (position.col as usize).checked_sub(1)?;
        let within = line
            .char_indices()
            .map(|(at, _)| at)
            .chain([line.len()])
            .nth(skip)?;
        Some(start + within)
    }
}

/// One file of the user's crate.
#[derive(Clone, Debug)]
pub(crate) struct SourceFile {
    /// The path of the file, as the user would name it.
    pub(crate) path: PathBuf,
    /// The path of the transformed file, relative to the generated crate.
    pub(crate) generated: PathBuf,
    /// The text, without a byte order mark.
    pub(crate) text: Text,
    /// The place of the macro call, if the file is an expansion. Such a file is not written, and all of its text is at
    /// this one place.
    pub(crate) expanded: Option<Box<Place>>,
}

impl SourceFile {
    /// Returns the place of a byte range of this file.
    pub(crate) fn place(&self, bytes: Range<usize>) -> Place {
        if let Some(place) = &self.expanded {
            return (**place).clone();
        }
        Place {
            file: self.path.clone(),
            source: self.text.shared(),
            start: self.text.position(bytes.start),
            end: self.text.position(bytes.end),
            bytes,
        }
    }
}

/// A stretch of source text that an error or a harness refers to.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// The path of the user's file.
    pub file: PathBuf,
    /// The whole text of the file.
    pub source: Arc<str>,
    /// The position at which the stretch starts.
    pub start: Position,
    /// The position just after the stretch.
    pub end: Position,
    /// The stretch as byte offsets into `source`.
    pub bytes: Range<usize>,
}

impl Place {
    /// Returns the text at this place.
    pub fn text(&self) -> &str {
        &self.source[self.bytes.clone()]
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.start)
    }
}

/// Returns the path as shown to the user: relative to the working directory where the path is below it.
pub(crate) fn shown(path: &Path) -> PathBuf {
    let below = std::env::current_dir()
        .ok()
        .and_then(|dir| path.strip_prefix(dir).ok().map(Path::to_path_buf));
    below
        .filter(|path| !path.as_os_str().is_empty())
        .unwrap_or_else(|| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters() {
        let text = Text::new("a\n/* é日本 */ x.m();\r\nlast");
        let at = text.as_str().find("m()").unwrap();
        let position = Position { line: 2, col: 13 };
        assert_eq!(text.position(at), position);
        assert_eq!(text.offset(position), Some(at));
        assert_eq!(
            text.position(text.as_str().len()),
            Position { line: 3, col: 5 }
        );
        assert_eq!(
            text.offset(Position { line: 3, col: 5 }),
            Some(text.as_str().len())
        );
        assert_eq!(text.offset(Position { line: 4, col: 1 }), None);
        assert_eq!(text.offset(Position { line: 0, col: 1 }), None);
    }
}
