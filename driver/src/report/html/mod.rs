//! Reports as pages: one HTML file that needs nothing else, no network and no script to be read.
//!
//! All text goes through maud's escaping; the text of a program is shown and never interpreted. A content security
//! policy in the page forbids all loading besides.

pub(crate) mod comparison;
pub(crate) mod finding;
mod lanes;
pub(crate) mod text;

#[cfg(test)]
mod tests;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::findings::Finding;
use text::clean;

/// A picture that is also written to a file of its own.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The file's name.
    pub name: String,
    /// The content of the file.
    pub svg: String,
}

/// A page, and the pictures in it.
#[derive(Clone, Debug)]
pub struct Report {
    /// The HTML of the page.
    pub html: String,
    /// The pictures of the page.
    pub pictures: Vec<Picture>,
}

const STYLE: &str = concat!(
    include_str!("colors.css"),
    include_str!("../progress/graph.css"),
    include_str!("page.css"),
    include_str!("lanes.css"),
    include_str!("../plot/plot.css"),
    include_str!("table.css"),
);

/// Draws the page of a finding that was read from `file`.
#[must_use]
pub fn of_finding(finding: &Finding, file: &str) -> Report {
    finding::draw(finding, file)
}

/// Whether the content is a page that [`page`] has made, or a picture from one: such a file has a mark near its
/// beginning.
pub fn is_ours(content: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&content[..content.len().min(1000)]);
    start.contains("<meta name=\"generator\" content=\"seqz ")
        || start.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"")
}

/// Returns a whole page around this content. The script runs where scripts are allowed; the page must not depend on it.
fn page(title: &str, content: &Markup, script: Option<&str>) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
                meta name="generator" content=(concat!("seqz ", env!("CARGO_PKG_VERSION")));
                title { (clean(title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (content)
                @if let Some(script) = script { script { (PreEscaped(script)) } }
            }
        }
    }
    .into_string()
}
