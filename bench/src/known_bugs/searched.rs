//! What `seqz explore` says of a package.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What a search has found.
#[derive(Default)]
pub(super) struct Searched {
    /// The kinds of the failures that count, each once.
    pub(super) kinds: Vec<String>,
    pub(super) executions: u64,
    /// The execution that met the first failure.
    pub(super) first: Option<u64>,
    pub(super) seconds: f64,
    /// What the search promises.
    pub(super) verdict: String,
    /// Why there is nothing of all that.
    pub(super) wrong: Option<String>,
}

impl Searched {
    /// Searches a package for so many seconds.
    pub(super) fn of(dir: &Path, seqz: &Path, seconds: u64, target: &Path) -> Self {
        let said = Command::new(seqz)
            .args(["explore", "--format", "json", "--time"])
            .arg(seconds.to_string())
            .arg("--target-dir")
            .arg(target)
            .current_dir(dir)
            .output();
        let said = match said {
            Ok(said) => said,
            Err(error) => return Self::wrong(&error.to_string()),
        };
        match serde_json::from_slice(&said.stdout) {
            Ok(document) => Self::read(&document),
            Err(_) => {
                let errors = String::from_utf8_lossy(&said.stderr);
                let mut errors = errors.lines().filter(|line| line.starts_with("error"));
                Self::wrong(errors.next().unwrap_or("no answer"))
            }
        }
    }

    fn wrong(why: &str) -> Self {
        Self {
            wrong: Some(why.to_owned()),
            ..Self::default()
        }
    }

    fn read(document: &Value) -> Self {
        let mut all = Self::default();
        for harness in document["harnesses"].as_array().into_iter().flatten() {
            if harness["status"]["state"] != "checked" {
                all.wrong = Some(harness["status"]["reason"].to_string());
            }
            for failure in harness["failures"].as_array().into_iter().flatten() {
                if failure["doubtful"] == true {
                    continue;
                }
                let kind = failure["kind"].as_str().unwrap_or_default().to_owned();
                if !all.kinds.contains(&kind) {
                    all.kinds.push(kind);
                }
                let met = failure["met"]["executions"].as_u64();
                all.first = match (all.first, met) {
                    (Some(first), Some(met)) => Some(first.min(met)),
                    (first, met) => first.or(met),
                };
            }
            all.executions += harness["counts"]["executions"].as_u64().unwrap_or(0);
            all.seconds += harness["counts"]["seconds"].as_f64().unwrap_or(0.0);
            all.verdict = harness["verdict"].as_str().unwrap_or_default().to_owned();
        }
        all
    }

    /// Whether the search took place.
    pub(super) fn took_place(&self) -> bool {
        self.wrong.is_none() && self.executions > 0
    }
}
