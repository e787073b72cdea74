//! A finding by itself: as the command that found it prints it, and as Markdown.

use std::io::{self, Write};

use super::{explored, human};
use crate::findings::{Finding, Found};
use crate::model::document::{Kind, Site};
use crate::model::words;

/// The columns of text that is no terminal's.
const COLUMNS: usize = 100;

/// Prints the finding for people. `file` is the finding's file.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write(out: &mut dyn Write, finding: &Finding, file: &str, columns: usize) -> io::Result<()> {
    let site = &finding.harness_site;
    writeln!(out, "{} ({}:{})\n", finding.harness, site.file, site.line)?;
    told(out, finding, columns)?;
    writeln!(
        out,
        "`seqz replay {file}` runs it again, `seqz report {file}` draws it."
    )
}

fn told(out: &mut dyn Write, finding: &Finding, columns: usize) -> io::Result<()> {
    match &finding.found {
        Found::Bug { threads, bug } => human::bug(out, "bug", bug, threads, columns),
        Found::Failure { failure } => explored::failure(out, failure, columns),
    }
}

/// The kind, the message and the place of what was found.
fn what(found: &Found) -> (Kind, &str, Option<&Site>) {
    match found {
        Found::Bug { bug, .. } => (bug.kind, &bug.message, bug.site.as_ref()),
        Found::Failure { failure } => (failure.kind, &failure.message, failure.site.as_ref()),
    }
}

/// Prints the finding as Markdown: a heading, where it is, and the story as text in columns.
///
/// # Errors
/// Errors of writing to `out`.
pub fn markdown(out: &mut dyn Write, finding: &Finding, file: &str) -> io::Result<()> {
    let (kind, message, site) = what(&finding.found);
    let (heading, _) = words::heading(kind, message);
    writeln!(out, "### seqz: {}\n", escaped(&heading))?;
    let place = site.map_or_else(String::new, |site| {
        format!(", at {}", code(&format!("{}:{}", site.file, site.line)))
    });
    writeln!(out, "In {}{place}.\n", code(&finding.harness))?;
    let mut text = Vec::new();
    told(&mut text, finding, COLUMNS)?;
    let plain = anstream::adapter::strip_bytes(&text).into_vec();
    let plain = String::from_utf8_lossy(&plain);
    // Longer than any row of backticks in it.
    let fence = "`".repeat(longest(&plain).max(2) + 1);
    writeln!(out, "{fence}text\n{}\n{fence}\n", plain.trim_end())?;
    writeln!(
        out,
        "{} runs it again.",
        code(&format!("seqz replay {file}"))
    )
}

/// The length of the longest row of backticks.
fn longest(text: &str) -> usize {
    let rows = text.split(|letter| letter != '`').map(str::len);
    rows.max().unwrap_or(0)
}

/// Text as code in a line.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest(text) + 1);
    // A backtick at an end would be taken for one of the fence.
    let room = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{room}{text}{room}{fence}")
}

/// Text in which no letter means anything to Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if "\\`*_{}[]<>()#+-.!|&~$@".contains(letter) && !letter.is_alphanumeric() {
            escaped.push('\\');
        }
        escaped.push(if letter == '\n' { ' ' } else { letter });
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_says_is_no_markdown() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(escaped("a < b\n*c* `d` @e"), "a \\< b \\*c\\* \\`d\\` \\@e");
        assert_eq!(longest("x ``` y ` z"), 3);
    }
}
