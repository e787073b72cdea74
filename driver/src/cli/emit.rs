//! `seqz replay --emit-test`: a test for the user to keep.

use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnostic::shown;
use crate::error::Error;
use crate::findings::{Finding, Found};
use crate::model::words;
use crate::output::{self, Output, writing};
use crate::portable;
use crate::program::Program;
use crate::replay::Recording;
use crate::visible::visible;

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
    let place = match package {
        Some(package) => package,
        None => program.root(),
    };
    let dir = match copy.parent() {
        Some(dir) if dir != Path::new("") => dir,
        _ => Path::new("."),
    };
    let json = finding.portable(place, dir).map_err(writing(&copy))?;
    output::replace(&copy, json.as_bytes()).map_err(writing(&copy))?;
    let copy = copy.canonicalize().map_err(writing(&copy))?;
    let write = || {
        let root = path(package.unwrap_or(program.root()), package, &test)?;
        let schedule = path(&copy, package, &test)?;
        let text = text(&name, finding, recording, (&root, &schedule));
        output::replace(&test, text.as_bytes()).map_err(writing(&test))
    };
    if let Err(error) = write() {
        // A schedule without its test would be in the way of the next attempt.
        let _ = fs::remove_file(&copy);
        return Err(error);
    }
    Output::stdout().write(|out| {
        writeln!(
            out,
            "{}: a test that runs this schedule with seqz",
            shown(&test)
        )?;
        writeln!(out, "{}: the schedule", shown(&copy))
    })
}

/// A path as the test writes it: from its package where it is in one, else from the package that the test will be in.
fn path(path: &Path, package: Option<&Path>, test: &Path) -> Result<String, Error> {
    let found = |path: &Path| path.canonicalize().map_err(writing(path));
    let within = package.map(found).transpose()?;
    let full = found(path)?;
    let rest = match within
        .as_deref()
        .and_then(|package| full.strip_prefix(package).ok())
    {
        Some(rest) => rest.to_owned(),
        // The test is compiled where it lies: `file!` is no way to that, but the directory of its package is.
        None => {
            let package = package_of(test).ok_or_else(|| Error::Option {
                message: format!(
                    "{} would be in no package, where cargo could run it",
                    shown(test)
                ),
                help: "name a file in the `tests` of a package with -o".into(),
            })?;
            portable::way(&package, &full).map_err(writing(path))?
        }
    };
    Ok(if rest.as_os_str().is_empty() {
        "env!(\"CARGO_MANIFEST_DIR\")".to_owned()
    } else {
        let rest = format!("/{}", rest.display());
        format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), {rest:?})")
    })
}

/// The directory of the package that the file belongs to.
fn package_of(file: &Path) -> Option<PathBuf> {
    let file = std::path::absolute(file).ok()?;
    let mut dirs = file.ancestors().skip(1);
    dirs.find(|dir| dir.join("Cargo.toml").is_file())
        .map(Path::to_owned)
}

fn text(
    name: &str,
    finding: &Finding,
    recording: &Recording,
    (root, schedule): (&str, &str),
) -> String {
    let (what, _) = words::heading(recording.kind, &recording.message);
    // What rustc refuses in a comment must not come out of a program's message.
    let what: String = visible(&what).chars().filter(|c| !c.is_control()).collect();
    let (search, bound) = match &finding.found {
        Found::Bug { bug, .. } => ("check", format!(", \"--k-max\", \"{}\"", bug.k.max(3))),
        Found::Failure { .. } => ("explore", String::new()),
    };
    let inputs: String = recording
        .inputs
        .iter()
        .map(|(name, value)| format!(", \"--input\", {:?}", format!("{name}={value}")))
        .collect();
    let harness = &finding.harness;
    format!(
        r#"//! Written by `seqz replay --emit-test`; yours to keep, and to change.
//!
//! `{harness}` failed under the schedule in the file of findings beside this one:
//! {what}
//!
//! The test runs that schedule again with seqz, which has to be installed, or named by the environment variable `SEQZ`.
//! Where that does not fail, since the program has been changed, the bug may show under another schedule: `seqz {search}`
//! searches for it with the same inputs, and has to search all of it, else it is not known whether the bug is still there.

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
    if matches!(output.status.code(), Some(0 | 2)) {{
        output = seqz(&[
            "{search}", PROGRAM, "--harness", {harness:?}, "--require-exhausted"{bound}{inputs}
        ]);
    }}
    let what = match output.status.code() {{
        Some(0) => return,
        Some(1) => "the bug is there, or another one",
        _ => "it is not known whether the bug is still there",
    }};
    panic!(
        "{{what}}\n{{}}{{}}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}}
"#
    )
}
