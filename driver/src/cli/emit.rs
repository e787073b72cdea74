//! `seqz replay --emit-test`: a test for the user to keep.

use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnostic::shown;
use crate::error::Error;
use crate::findings::{Finding, Found};
use crate::output::{Output, writing};
use crate::program::Program;
use crate::replay::Recording;
use crate::report::words;

/// Writes the test to `file`, or else into the crate's `tests`, and the finding beside it: the next search removes the
/// one that was given.
pub(super) fn run(
    finding: &Finding,
    recording: &Recording,
    program: &Program,
    file: Option<&Path>,
) -> Result<(), Error> {
    let manifest = program.manifest().map(Path::canonicalize).transpose();
    let package = manifest.ok().flatten();
    let package = package.as_deref().and_then(Path::parent);
    let name = format!(
        "seqz_{}",
        finding.harness.replace("::", "_").replace("r#", "")
    );
    let test = match (file, package) {
        (Some(file), _) => file.to_owned(),
        (None, Some(package)) => package.join("tests").join(format!("{name}.rs")),
        (None, None) => {
            return Err(Error::Option {
                message: "the program is a lone file, which has no directory of tests".into(),
                help: "name the test's file with -o".into(),
            });
        }
    };
    let copy = test.with_extension("json");
    if let Some(taken) = [&test, &copy].into_iter().find(|path| path.exists()) {
        return Err(Error::Option {
            message: format!("{} is there already", shown(taken)),
            help: "name another file with -o, or remove it".into(),
        });
    }
    if let Some(dir) = test.parent() {
        fs::create_dir_all(dir).map_err(writing(dir))?;
    }
    let json = serde_json::to_string_pretty(finding)
        .map_err(|e| Error::Worker(format!("the finding can't be written: {e}")))?;
    fs::write(&copy, json + "\n").map_err(writing(&copy))?;
    let copy = copy.canonicalize().map_err(writing(&copy))?;
    let text = text(&name, finding, recording, program, package, &copy);
    fs::write(&test, text).map_err(writing(&test))?;
    Output::stdout().write(|out| {
        writeln!(
            out,
            "{}: a test that runs this schedule with seqz",
            shown(&test)
        )?;
        writeln!(out, "{}: the schedule", shown(&copy))
    })
}

/// A path as the test writes it: from its package, so that it is found wherever that is checked out.
fn path(path: &Path, package: Option<&Path>) -> String {
    match package.and_then(|package| path.strip_prefix(package).ok()) {
        Some(rest) if rest == Path::new("") => "env!(\"CARGO_MANIFEST_DIR\")".to_owned(),
        Some(rest) => {
            let rest = format!("/{}", rest.display());
            format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), {rest:?})")
        }
        None => format!("{:?}", path.display().to_string()),
    }
}

fn text(
    name: &str,
    finding: &Finding,
    recording: &Recording,
    program: &Program,
    package: Option<&Path>,
    copy: &Path,
) -> String {
    let (what, _) = words::heading(recording.kind, &recording.message);
    let what: String = what.chars().filter(|c| !c.is_control()).collect();
    let root: PathBuf = match package {
        Some(package) => package.to_owned(),
        None => program
            .root()
            .canonicalize()
            .unwrap_or_else(|_| program.root().to_owned()),
    };
    let (root, schedule) = (path(&root, package), path(copy, package));
    let search = match finding.found {
        Found::Bug { .. } => "check",
        Found::Failure { .. } => "explore",
    };
    let harness = &finding.harness;
    format!(
        r#"//! Written by `seqz replay --emit-test`; yours to keep, and to change.
//!
//! `{harness}` failed under the schedule in the file of findings beside this one:
//! {what}
//!
//! The test runs that schedule again with seqz, which has to be installed, or named by the environment variable `SEQZ`.
//! Where the program has been changed so much that it can't be run in this order any more, `seqz {search}` searches it
//! again.

use std::process::{{Command, Output}};

const PROGRAM: &str = {root};
const SCHEDULE: &str = {schedule};

fn seqz(arguments: &[&str]) -> Output {{
    let seqz = std::env::var_os("SEQZ").unwrap_or_else(|| "seqz".into());
    let run = Command::new(&seqz).args(arguments).output();
    run.unwrap_or_else(|error| panic!("cannot run {{}}: {{error}}", seqz.display()))
}}

#[test]
fn {name}() {{
    let mut output = seqz(&["replay", SCHEDULE, "--program", PROGRAM]);
    if output.status.code() == Some(2) {{
        output = seqz(&["{search}", PROGRAM, "--harness", {harness:?}]);
    }}
    assert!(
        output.status.success(),
        "{{}}{{}}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}}
"#
    )
}
