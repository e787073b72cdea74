//! Reports for people, and the JSON for programs, drawn from the [`model`](crate::model). Only the command line imports
//! this module.

pub mod events;
pub mod explored;
pub mod finding;
pub mod html;
pub mod human;
mod lanes;
mod plot;
pub mod progress;
mod reasonless;
pub mod replayed;
pub mod scene;
pub mod several;
pub mod tested;
pub mod trace;

#[cfg(test)]
mod tests;

use std::io::{self, Write};

use crate::visible::visible_json;
use serde::Serialize;

/// Prints a report as one JSON document.
///
/// # Errors
/// Errors of writing to `out`.
pub fn json(out: &mut dyn Write, report: &impl Serialize) -> io::Result<()> {
    let text = crate::model::lines::text(report)?;
    writeln!(out, "{}", visible_json(&text))
}
