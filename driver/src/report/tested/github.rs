//! Workflow commands of GitHub Actions, which it shows beside the lines of a pull request: an error for each failure, a
//! warning for each harness that can't be searched, a notice of how all of them stand.

use std::io::{self, Write};

use crate::model::document::Site;
use crate::model::tested::{Outcome, TestRun};

/// Prints the run.
///
/// # Errors
/// Errors of writing to `out`.
pub fn github(out: &mut dyn Write, run: &TestRun) -> io::Result<()> {
    for tested in &run.harnesses {
        let name = &tested.name;
        match &tested.outcome {
            Outcome::Bug => {
                for found in &tested.found {
                    let site = found.site.as_ref().unwrap_or(&tested.site);
                    command(out, "error", site, &format!("seqz: {name}"), &found.told())?;
                }
            }
            Outcome::Doubtful => {
                let message = tested.doubt();
                command(
                    out,
                    "warning",
                    &tested.site,
                    &format!("seqz: {name}"),
                    &message,
                )?;
            }
            Outcome::Unsupported { reason } | Outcome::Failed { reason } => {
                let title = format!("seqz: {name} was not tested");
                command(out, "warning", &tested.site, &title, reason)?;
            }
            Outcome::Proved { .. }
            | Outcome::NoBug { .. }
            | Outcome::Sampled { .. }
            | Outcome::Open { .. }
            | Outcome::NotReached => {}
        }
    }
    writeln!(out, "::notice title=seqz::{}", escaped(&run.tally(), false))
}

fn command(
    out: &mut dyn Write,
    level: &str,
    site: &Site,
    title: &str,
    message: &str,
) -> io::Result<()> {
    writeln!(
        out,
        "::{level} file={},line={},col={},title={}::{}",
        escaped(&site.file, true),
        site.line,
        site.column,
        escaped(title, true),
        escaped(message, false)
    )
}

/// The text as a command's message, or as one of its properties.
fn escaped(text: &str, is_property: bool) -> String {
    let text = text
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    if is_property {
        text.replace(':', "%3A").replace(',', "%2C")
    } else {
        text
    }
}
