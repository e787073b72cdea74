//! What a check has to say: as data, and drawn for people.

pub mod document;
pub mod events;
pub mod exploration;
pub mod explored;
pub mod html;
pub mod human;
mod lanes;
pub mod layout;
pub(crate) mod lines;
pub mod lone;
mod plot;
pub mod progress;
pub mod replayed;
pub mod scene;
pub mod schedule;
pub mod several;
mod status;
pub mod style;
pub mod trace;
pub mod unfollowed;
pub mod verdict;
pub mod words;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use crate::visible::visible_json;
use serde::Serialize;

/// Prints a report as one JSON document.
///
/// # Errors
/// Those of `out`.
pub fn json(out: &mut dyn Write, report: &impl Serialize) -> io::Result<()> {
    let text = lines::text(report)?;
    writeln!(out, "{}", visible_json(&text))
}
