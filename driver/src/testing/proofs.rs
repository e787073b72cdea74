//! Proofs of earlier runs. A proof holds of a worker, byte by byte: that has in it the program with all that it includes
//! and is linked to, the compiler, and the part of seqz that searches. What else matters is the harness, the options, the
//! environment, and the seqz that draws the conclusion.
//!
//! A proof that rests on a file which the program reads while it runs is not kept: the file may change.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::build::Built;
use crate::digest::Digest;
use crate::model::tested::{Outcome, Tested};
use crate::output;
use crate::program::Harness;
use crate::testing::Plan;

/// How many proofs are kept.
const KEPT: usize = 10_000;

/// Variables of the environment that change from one terminal to the next, or from one command to the next.
const OF_TERMINALS: [&str; 8] = [
    "_", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "TERM", "WINDOWID",
];

/// The proofs in a target directory.
#[derive(Debug)]
pub struct Proofs {
    dir: PathBuf,
    /// A digest of what all keys have in common.
    common: String,
}

impl Proofs {
    /// Opens those in `target_dir`, for a program with this worker and runs by this plan.
    ///
    /// # Errors
    /// When the worker or seqz can't be read.
    pub fn open(target_dir: &Path, built: &Built, plan: &Plan) -> io::Result<Self> {
        let mut digest = Digest::new();
        digest.add(env!("CARGO_PKG_VERSION").as_bytes());
        let exe = fs::metadata(env::current_exe()?)?;
        digest.add(&exe.len().to_le_bytes());
        let age = exe.modified()?.duration_since(UNIX_EPOCH);
        digest.add(&age.map_or(0, |age| age.as_nanos()).to_le_bytes());
        digest.add(&fs::read(&built.worker)?);
        let mut variables: Vec<_> = env::vars_os()
            .filter(|(name, _)| !OF_TERMINALS.iter().any(|it| name == it))
            .collect();
        variables.sort();
        for (name, value) in variables {
            digest.add(name.as_encoded_bytes());
            digest.add(value.as_encoded_bytes());
        }
        let (check, explore) = (&plan.check, &plan.explore);
        let options = format!(
            "{:?} {} {:?} {} {:?} {}",
            explore.inputs,
            explore.max_inputs,
            explore.spurious,
            explore.ignore_detached_panics,
            explore.max_steps,
            check.k_max
        );
        digest.add(options.as_bytes());
        Ok(Self {
            dir: target_dir.join("proofs"),
            common: digest.finish(),
        })
    }

    /// Returns the proof of this harness, if there is one.
    #[must_use]
    pub fn known(&self, harness: &Harness) -> Option<Tested> {
        // What is not followed is found in the source and not in the worker.
        if !harness.not_followed.is_empty() || harness.unsupported.is_some() {
            return None;
        }
        let text = fs::read(self.file(&harness.name)).ok()?;
        let tested: Tested = serde_json::from_slice(&text).ok()?;
        let is_proof = matches!(tested.outcome, Outcome::Proved { .. });
        (is_proof && tested.name == harness.name).then(|| Tested {
            cached: true,
            site: harness.site.clone(),
            seconds: 0.0,
            ..tested
        })
    }

    /// Keeps what was shown of a harness, if that is a proof. A proof that can't be written is made again by the next run.
    pub fn keep(&self, tested: &Tested) {
        let is_proof = matches!(tested.outcome, Outcome::Proved { .. });
        if !is_proof || tested.reads.is_some() {
            return;
        }
        let Ok(text) = serde_json::to_vec(tested) else {
            return;
        };
        let kept = fs::create_dir_all(&self.dir)
            .and_then(|()| output::replace(&self.file(&tested.name), &text));
        if kept.is_ok() {
            self.forget_old();
        }
    }

    fn file(&self, harness: &str) -> PathBuf {
        let mut digest = Digest::new();
        digest.add(self.common.as_bytes());
        digest.add(harness.as_bytes());
        self.dir.join(format!("{}.json", digest.finish()))
    }

    fn forget_old(&self) {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let all: Vec<_> = entries.map(|entry| entry.path()).collect();
        if all.len() <= KEPT {
            return;
        }
        let age = |path: &PathBuf| fs::metadata(path).and_then(|it| it.modified()).ok();
        let mut all: Vec<_> = all.into_iter().map(|path| (age(&path), path)).collect();
        all.sort();
        // Half of them, so that not each further proof looks at all of them.
        for (_, path) in all.drain(..KEPT / 2) {
            // Another run may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}
