//! Changes to a source text, kept as edits of byte ranges.
//!
//! The transformation never prints a syntax tree: it copies the user's text and changes single tokens in it. So
//! comments and layout survive, rustc's own messages keep the user's lines, and the origin of each generated character
//! is known exactly instead of being reconstructed.

use std::ops::Range;

/// The order of several insertions at one offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    /// The text closes what ends here: the innermost first.
    After,
    /// The text opens what starts here: the outermost first.
    Before,
    /// The text replaces the bytes that start here.
    Replace,
}

#[derive(Clone, Debug)]
struct Edit {
    range: Range<usize>,
    side: Side,
    text: String,
    /// The original offset that the new text stands for.
    origin: usize,
}

/// The name of the runtime's crate.
const RUNTIME: &str = "seqz_runtime";

/// The edits of one file. Edits of a syntax node must be recorded before those of its children.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edits(Vec<Edit>);

impl Edits {
    /// The number of edits so far.
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Inserts `text` before the token that starts at `at`.
    pub(crate) fn before(&mut self, at: usize, text: impl Into<String>) {
        self.0.push(Edit {
            range: at..at,
            side: Side::Before,
            text: text.into(),
            origin: at,
        });
    }

    /// Keeps a place before the token that starts at `at`, for a text that [`Edits::fill`] may put there when the children of the
    /// node have been visited.
    pub(crate) fn reserve(&mut self, at: usize) -> usize {
        self.before(at, "");
        self.0.len() - 1
    }

    /// Inserts `text` at the place that was reserved by this number.
    pub(crate) fn fill(&mut self, reserved: usize, text: &str) {
        self.0[reserved].text.push_str(text);
    }

    /// Inserts `text` after the token that ends at `at`; the text stands for the token at `origin`.
    pub(crate) fn after(&mut self, at: usize, text: impl Into<String>, origin: usize) {
        self.0.push(Edit {
            range: at..at,
            side: Side::After,
            text: text.into(),
            origin,
        });
    }

    /// Replaces the bytes of `range` by `text`.
    pub(crate) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        let origin = range.start;
        self.0.push(Edit {
            range,
            side: Side::Replace,
            text: text.into(),
            origin,
        });
    }

    /// Does what [`Edits::replace`] does; the new text stands for the token at `origin`.
    pub(crate) fn replace_as(
        &mut self,
        range: Range<usize>,
        text: impl Into<String>,
        origin: usize,
    ) {
        self.0.push(Edit {
            range,
            side: Side::Replace,
            text: text.into(),
            origin,
        });
    }

    /// Has the edits inside of a macro's definition name the runtime by the macro's crate: a crate that calls the macro may
    /// not know the runtime.
    pub(crate) fn lead_through_crate(&mut self, source: &str, definition: &Range<usize>) {
        let is_inside = |edit: &&mut Edit| {
            definition.start <= edit.range.start && edit.range.end <= definition.end
        };
        for edit in self.0.iter_mut().filter(is_inside) {
            if edit.text.starts_with(RUNTIME) {
                // The `::` before it is the user's.
                let before = source[..edit.range.start].trim_end();
                let Some(before) = before.strip_suffix("::") else {
                    continue;
                };
                edit.range.start = before.len();
                edit.side = Side::Replace;
                edit.text.insert_str(0, "$crate::");
            } else {
                let by_path = format!("::{RUNTIME}");
                edit.text = edit.text.replace(&by_path, &format!("$crate{by_path}"));
            }
        }
    }

    /// Returns the edited text, with the pieces that it was made of.
    pub(crate) fn apply(&self, source: &str) -> Edited {
        let mut order: Vec<(usize, &Edit)> = self.0.iter().enumerate().collect();
        order.sort_by_key(|(number, edit)| {
            let number = *number as isize;
            let nesting = if edit.side == Side::After {
                -number
            } else {
                number
            };
            (edit.range.start, edit.side, nesting)
        });
        let mut edited = Edited {
            text: String::with_capacity(source.len() + source.len() / 8),
            pieces: Vec::new(),
        };
        let mut done = 0;
        for (_, edit) in order {
            // A replaced range swallows the edits inside of it.
            if edit.range.start < done {
                continue;
            }
            edited.copy(source, done..edit.range.start);
            edited.insert(&edit.text, edit.origin);
            done = edit.range.end;
        }
        edited.copy(source, done..source.len());
        edited
    }
}

/// A stretch of generated text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The piece's bytes in the generated text.
    pub(crate) generated: Range<usize>,
    /// The original offset of the piece's first byte.
    pub(crate) origin: usize,
    /// Whether the piece was copied byte for byte; otherwise it is new text that as a whole stands for the token at
    /// `origin`.
    pub(crate) copied: bool,
}

/// An edited text with its pieces, in order and without gaps.
#[derive(Clone, Debug)]
pub(crate) struct Edited {
    pub(crate) text: String,
    pub(crate) pieces: Vec<Piece>,
}

impl Edited {
    fn copy(&mut self, source: &str, range: Range<usize>) {
        if !range.is_empty() {
            let origin = range.start;
            self.piece(&source[range], origin, true);
        }
    }

    fn insert(&mut self, text: &str, origin: usize) {
        if !text.is_empty() {
            self.piece(text, origin, false);
        }
    }

    fn piece(&mut self, text: &str, origin: usize, copied: bool) {
        let start = self.text.len();
        self.text.push_str(text);
        self.pieces.push(Piece {
            generated: start..self.text.len(),
            origin,
            copied,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_edits_compose() {
        // For `X = Y` with statics, the outer edit is recorded first.
        let source = "X = Y";
        let mut edits = Edits::default();
        edits.replace(1..4, ".set(");
        edits.after(5, ")", 0);
        edits.after(5, ".get()", 4);
        let edited = edits.apply(source);
        assert_eq!(edited.text, "X.set(Y.get())");
        let origins: Vec<_> = edited
            .pieces
            .iter()
            .map(|piece| (piece.origin, piece.copied))
            .collect();
        assert_eq!(
            origins,
            [(0, true), (1, false), (4, true), (4, false), (0, false)]
        );
    }

    #[test]
    fn outer_openings_come_first_and_replaced_ranges_swallow() {
        let mut edits = Edits::default();
        edits.before(0, "{ ");
        edits.before(0, "(");
        edits.after(3, " }", 0);
        edits.after(3, ")", 0);
        assert_eq!(edits.apply("abc").text, "{ (abc) }");
        edits.replace(1..3, "");
        edits.replace(2..3, "no");
        assert_eq!(edits.apply("abc").text, "{ (a) }");
    }
}
