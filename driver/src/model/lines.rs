//! JSON that can be read and searched by lines: each event of an execution has a line of its own, as there may be a
//! hundred thousand events.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// The keys of the lists of events.
const LISTS: [&[u8]; 2] = [b"schedule", b"trace"];

/// Returns the document as text.
pub(crate) fn text(document: &impl Serialize) -> serde_json::Result<String> {
    let mut text = Vec::new();
    document.serialize(&mut Serializer::with_formatter(&mut text, Lines::default()))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// A formatter that indents as usual, but for lists of events.
#[derive(Default)]
struct Lines {
    outside: PrettyFormatter<'static>,
    /// The key of the value that comes next; empty if it has none.
    key: Vec<u8>,
    in_key: bool,
    /// The number of open brackets, from that of a list of events on; 0 outside of such a list.
    depth: usize,
}

impl Lines {
    /// Called when a value begins: whether the value is one of the lists of events.
    fn is_list(&mut self) -> bool {
        let is_list = LISTS.contains(&self.key.as_slice());
        self.key.clear();
        is_list
    }

    /// Writes what separates a value within an event from the value before.
    fn separate<W: Write + ?Sized>(writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }
}

impl Formatter for Lines {
    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        let is_list = self.is_list();
        if self.depth > 0 {
            self.depth += 1;
            return writer.write_all(b"[");
        }
        self.depth = usize::from(is_list);
        self.outside.begin_array(writer)
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth = self.depth.saturating_sub(1);
        if self.depth > 0 {
            return writer.write_all(b"]");
        }
        self.outside.end_array(writer)
    }

    fn begin_array_value<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if self.depth > 1 {
            return Self::separate(writer, first);
        }
        self.outside.begin_array_value(writer, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.depth > 1 {
            return Ok(());
        }
        self.outside.end_array_value(writer)
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.key.clear();
        if self.depth > 0 {
            self.depth += 1;
            return writer.write_all(b"{");
        }
        self.outside.begin_object(writer)
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.depth > 0 {
            self.depth -= 1;
            return writer.write_all(b"}");
        }
        self.outside.end_object(writer)
    }

    fn begin_object_key<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.in_key = true;
        self.key.clear();
        if self.depth > 0 {
            return Self::separate(writer, first);
        }
        self.outside.begin_object_key(writer, first)
    }

    fn end_object_key<W: Write + ?Sized>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.in_key = false;
        Ok(())
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.outside.begin_object_value(writer)
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.depth > 0 {
            return Ok(());
        }
        self.outside.end_object_value(writer)
    }

    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if self.in_key {
            self.key.extend_from_slice(fragment.as_bytes());
        }
        writer.write_all(fragment.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_events_are_on_lines_of_their_own() {
        let document = json!({
            "name": "schedule",
            "schedule": [
                { "thread": 0, "site": { "line": 1, "text": "\"a\", {b} [c]" }, "of": [1, 2, [], {}] },
                { "thread": 1, "site": null },
                3,
            ],
            "after": [[1], { "schedule": [], "trace": [{}] }],
        });
        let expected = r#"{
  "after": [
    [
      1
    ],
    {
      "schedule": [],
      "trace": [
        {}
      ]
    }
  ],
  "name": "schedule",
  "schedule": [
    {"of": [1, 2, [], {}], "site": {"line": 1, "text": "\"a\", {b} [c]"}, "thread": 0},
    {"site": null, "thread": 1},
    3
  ]
}"#;
        let text = text(&document).unwrap();
        assert_eq!(text, expected);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            document
        );
    }
}
