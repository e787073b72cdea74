//! What `seqz explore` says of a crate.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::limited;
use super::list::Pinned;

/// How long building may take beside the search.
const BUILDING: u64 = 900;

/// The answer.
pub(super) struct Explored {
    pub(super) harnesses: Vec<Harness>,
    /// Why there is no document.
    pub(super) wrong: Option<String>,
}

/// What is said of a harness.
pub(super) struct Harness {
    pub(super) name: String,
    pub(super) state: String,
    /// What goes with the state, if anything does.
    pub(super) reason: String,
    pub(super) executions: u64,
    pub(super) verdict: String,
    /// The failures, all of which count unless the harness is doubtful.
    pub(super) failures: Vec<Failure>,
    /// Whether it reaches code under which seqz believes no failure, and says so.
    pub(super) is_doubtful: bool,
}

/// What is said of a failure.
pub(super) struct Failure {
    pub(super) kind: String,
    pub(super) message: String,
    /// Where a time passes while another thread is held up, if it was met only so.
    pub(super) held_up: Option<String>,
}

impl Explored {
    /// Runs `seqz explore` in the folder of a crate.
    pub(super) fn of(
        pinned: &Pinned,
        copy: &Path,
        folder: &Path,
        seqz: &Path,
        seconds: u64,
    ) -> io::Result<Self> {
        let mut command = Command::new(seqz);
        command
            .args(["explore", "--format", "json", "--time"])
            .arg(seconds.to_string())
            .args(["--features", &pinned.features.join(",")])
            .arg("--target-dir")
            .arg(folder.join("seqz"))
            .current_dir(copy);
        let limit = Duration::from_secs(BUILDING + 2 * seconds);
        let said = limited::run(command, &folder.join("said").join(&pinned.name), limit)?;
        let Ok(document) = serde_json::from_str::<Value>(&said.out) else {
            let mut errors = said.errors.lines().filter(|it| it.starts_with("error"));
            let code = said.status.and_then(|it| it.code());
            let what = errors.next().unwrap_or("no answer");
            let wrong = match code {
                Some(code) => format!("{what} (exit {code})"),
                None => format!("not built in {BUILDING} s"),
            };
            return Ok(Self {
                harnesses: Vec::new(),
                wrong: Some(wrong),
            });
        };
        let harnesses = document["harnesses"].as_array().into_iter().flatten();
        Ok(Self {
            harnesses: harnesses.map(harness).collect(),
            wrong: None,
        })
    }
}

fn harness(said: &Value) -> Harness {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let failures = said["failures"].as_array().into_iter().flatten();
    let mut not_followed = said["not_followed"].as_array().into_iter().flatten();
    Harness {
        is_doubtful: not_followed.any(|it| it["distorts"] == true),
        name: text(&said["name"]),
        state: text(&said["status"]["state"]),
        reason: text(&said["status"]["reason"]),
        executions: said["counts"]["executions"].as_u64().unwrap_or(0),
        verdict: text(&said["verdict"]),
        failures: failures
            .map(|it| Failure {
                kind: text(&it["kind"]),
                message: text(&it["message"]),
                held_up: held_up(&it["held_up"]),
            })
            .collect(),
    }
}

/// Returns where a time passes while a thread is held up: `src/pool.rs:12 (100 ms)`.
fn held_up(said: &Value) -> Option<String> {
    let took = said["took"].as_u64()? / 1_000_000;
    let site = &said["passing"];
    let place = match (site["file"].as_str(), site["line"].as_u64()) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => "a place that is not known".to_owned(),
    };
    Some(format!("{place} ({took} ms)"))
}
