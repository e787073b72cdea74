//! A comparison as data: docs/json.md.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::job::Job;
use super::paper::SuiteTable;
use crate::diagnostic::shown;
use crate::error::Error;
use crate::model::document::{Kind, SCHEMA, Site};

/// The answer of `seqz compare`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of seqz that made it.
    pub seqz: String,
    /// What each run was allowed to take.
    pub limits: Limits,
    /// Every harness that was asked for.
    pub programs: Vec<Compared>,
    /// The papers' tables, with `--suite`.
    pub suites: Vec<SuiteTable>,
}

impl Comparison {
    /// A comparison without a paper.
    #[must_use]
    pub fn new(limits: Limits, programs: Vec<Compared>) -> Self {
        Self {
            schema: SCHEMA,
            seqz: env!("CARGO_PKG_VERSION").into(),
            limits,
            programs,
            suites: Vec::new(),
        }
    }

    /// Reads a file that `seqz compare --format json` has printed. `None`: it holds something else.
    ///
    /// # Errors
    /// When it can't be read, or was printed by another version.
    pub fn read(path: &Path) -> Result<Option<Self>, Error> {
        let text = fs::read(path).map_err(|source| Error::File {
            what: "read",
            path: path.to_owned(),
            source,
        })?;
        let value: serde_json::Value = match serde_json::from_slice(&text) {
            Ok(value) => value,
            Err(_) => return Ok(None),
        };
        if value.get("programs").is_none() || value.get("limits").is_none() {
            return Ok(None);
        }
        let unknown = |why: String| Error::Option {
            message: format!("{} is no comparison: {why}", shown(path)),
            help: "comparisons are what `seqz compare --format json` prints, see docs/json.md"
                .into(),
        };
        if value["schema"] != SCHEMA {
            return Err(unknown(format!("it does not have \"schema\": {SCHEMA}")));
        }
        let comparison: Self = serde_json::from_value(value).map_err(|e| unknown(e.to_string()))?;
        let outside = |program: &Compared| {
            let found = program.runs.iter().flat_map(|run| &run.found);
            found
                .map(|found| found.bug)
                .any(|bug| bug >= program.bugs.len())
        };
        if comparison.programs.iter().any(outside) {
            return Err(unknown("a bug that was found is not among `bugs`".into()));
        }
        Ok(Some(comparison))
    }
}

/// What each run may take. Runs within other limits are other runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Seconds of searching.
    pub seconds: f64,
    /// Executions, if there is a limit on them.
    pub executions: Option<u64>,
    /// Bytes that a process may have resident.
    pub memory: u64,
    /// The largest number of non-local reads, for `check`.
    pub k_max: u32,
    /// Where random choices begin.
    pub seed: u64,
    /// Panics of threads that nobody joins are no failures.
    #[serde(default)]
    pub ignore_detached_panics: bool,
}

/// A harness.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Subject {
    /// The program, as given on the command line.
    pub path: String,
    /// The harness's path in the crate.
    pub harness: String,
    /// Values for its parameters: name and values.
    pub inputs: Vec<(String, String)>,
}

/// What was found out about a harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Which one.
    #[serde(flatten)]
    pub subject: Subject,
    /// The bugs that any method has found.
    pub bugs: Vec<Known>,
    /// What each method did.
    pub runs: Vec<Run>,
}

/// A bug of a harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// What kind.
    pub kind: Kind,
    /// What the program said, or what is wrong.
    pub message: String,
    /// Where it shows: of a deadlock, all places at which threads wait.
    pub sites: Vec<Site>,
}

/// One method's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The method.
    pub method: String,
    /// How it ended.
    pub ended: Ended,
    /// If it could not be run, or broke off: why.
    pub why: Option<String>,
    /// How many executions it made.
    pub executions: Option<u64>,
    /// How long it searched.
    pub seconds: f64,
    /// The most memory that a worker had resident, in bytes.
    pub memory: Option<u64>,
    /// For `check`: what was done for k = 0, 1, 2, …
    pub levels: Vec<LevelRun>,
    /// What it found.
    pub found: Vec<Found>,
}

impl Run {
    /// A run that could not be made.
    #[must_use]
    pub fn failed(job: &Job, why: String) -> Self {
        Self {
            method: job.method.to_string(),
            ended: Ended::Failed,
            why: Some(why),
            executions: None,
            seconds: 0.0,
            memory: None,
            levels: Vec::new(),
            found: Vec::new(),
        }
    }

    /// The bug that was met first.
    #[must_use]
    pub fn first(&self) -> Option<&Found> {
        let order = |a: &&Found, b: &&Found| a.seconds.total_cmp(&b.seconds);
        self.found.iter().min_by(order)
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// All was searched; with `check`, for every k up to the largest.
    Exhausted,
    /// All within bounds was.
    Bounded,
    /// Schedules or inputs were drawn at random.
    Sampled,
    /// The method does not claim to have seen all that matters.
    Heuristic,
    /// It came to its limit of executions.
    Executions,
    /// Its time was over.
    Timeout,
    /// It took too much memory.
    Memory,
    /// The program ended or hung its process.
    Died,
    /// The program reaches something that seqz can run but not follow.
    NotFollowed,
    /// The method can't do this program.
    Unsupported,
    /// It broke off.
    Failed,
}

impl Ended {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Exhausted,
        Self::Bounded,
        Self::Sampled,
        Self::Heuristic,
        Self::Executions,
        Self::Timeout,
        Self::Memory,
        Self::Died,
        Self::NotFollowed,
        Self::Unsupported,
        Self::Failed,
    ];

    /// In a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::Bounded => "bounded",
            Self::Sampled => "sampled",
            Self::Heuristic => "heuristic",
            Self::Executions => "executions",
            Self::Timeout => "time-out",
            Self::Memory => "memory",
            Self::Died => "died",
            Self::NotFollowed => "not followed",
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
        }
    }
}

/// One k of a run of `check`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelRun {
    /// The number of non-local reads.
    pub k: u32,
    /// Executions of the sequential program.
    pub executions: u64,
    /// Those in which a bug showed.
    pub failing: u64,
    /// Whether all choices were tried.
    pub exhausted: bool,
}

/// A bug that a run found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Which one: an index into `bugs`.
    pub bug: usize,
    /// For `check`: the smallest number of non-local reads.
    pub k: Option<u32>,
    /// After how many executions, that one included.
    pub executions: Option<u64>,
    /// After how many seconds.
    pub seconds: f64,
    /// In how many executions.
    pub count: u64,
    /// What it is; moved to `bugs` once all runs are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<Known>,
}
