//! Where the program asks for its own places in the source: the transformed text has the user's lines, but columns of
//! its own, and the file of a lone crate has another name.
//!
//! `column!` and `file!` are written as what they stand for. What a `Location` tells at run time is rustc's, so a program
//! that asks it for a column may see another one than it would without seqz.

use syn::{ExprMethodCall, Macro};

use super::{Walker, bytes};
use crate::resolve::name;

impl Walker<'_> {
    /// Writes `column!()` as the number that it stands for.
    pub(super) fn column_macro(&mut self, mac: &Macro) {
        let range = bytes(&mac.path).start..mac.delimiter.span().close().byte_range().end;
        if self.in_macro || self.opaque > 0 {
            // In a macro's text it is the column of the macro's call; an argument may be put anywhere.
            return self.unfollowed(range, "the column that `column!` tells in a macro");
        }
        let column = self.place(range.clone()).start.col;
        self.edits().replace(range, format!("{column}u32"));
    }

    /// Writes `file!()` as the name that it stands for, where another macro can't have wanted the call itself.
    pub(super) fn file_macro(&mut self, mac: &Macro) {
        let range = bytes(&mac.path).start..mac.delimiter.span().close().byte_range().end;
        // In a macro's text it is the file of the macro's call.
        let is_sure = self.opaque == 0 && (!self.in_macro || self.program.files.len() == 1);
        if let Some(file) = self.told_file().filter(|_| is_sure) {
            self.edits().replace(range, format!("{file:?}"));
        }
    }

    /// Returns the name of the current file as rustc is told it.
    fn told_file(&self) -> Option<String> {
        let package = &self.program.package;
        let source = &self.program.files[self.file].source;
        if package.is_dependency || source.expanded.is_some() {
            return None;
        }
        let Some(dir) = &package.called_in else {
            return Some(source.path.display().to_string());
        };
        let dir = std::path::absolute(dir).ok()?.canonicalize().ok()?;
        let path = source.path.canonicalize().ok()?;
        Some(path.strip_prefix(dir).ok()?.display().to_string())
    }

    /// Notes that a `Location` is asked for what it does not tell as without seqz. `own` says whether the crate has
    /// methods of the name.
    pub(super) fn note_told(&mut self, expr: &ExprMethodCall, own: bool) {
        let method = name(&expr.method);
        let tells_another = match method.as_str() {
            "column" => true,
            "file" => self.program.package.called_in.is_none(),
            _ => false,
        };
        let may_be_one = || self.program.names("Location") || self.program.names("location");
        if tells_another && expr.args.is_empty() && !own && may_be_one() {
            let what = format!("the {method} that a `Location` tells");
            self.unfollowed(bytes(&expr.method), what);
        }
    }
}
