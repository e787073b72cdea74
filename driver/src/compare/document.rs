//! A comparison as data: docs/json.md.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::job::Job;
use super::paper::SuiteTable;
use crate::diagnostic::shown;
use crate::error::Error;
use crate::model::document::{Kind, SCHEMA, Site};

/// The document that `seqz compare` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of seqz that made the document.
    pub seqz: String,
    /// The limits of each run.
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

    /// Reads a file that `seqz compare --format json` has printed. `None`: the file holds something else.
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

/// The limits of a run. A run within other limits is another run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Time of searching, in seconds.
    pub seconds: f64,
    /// Executions; `None`: not limited.
    pub executions: Option<u64>,
    /// Resident memory of a process, in bytes.
    pub memory: u64,
    /// The largest number k of non-local reads, for `check`.
    pub k_max: u32,
    /// The seed of random choices.
    pub seed: u64,
    /// Whether panics of threads that no thread joins are left out of the failures.
    #[serde(default)]
    pub ignore_detached_panics: bool,
}

/// A harness of a program, with its inputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Subject {
    /// The program, as given on the command line.
    pub path: String,
    /// The harness's path in the crate.
    pub harness: String,
    /// Values for the harness's parameters: pairs of a name and values as written.
    pub inputs: Vec<(String, String)>,
}

/// What was found out about a harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The harness.
    #[serde(flatten)]
    pub subject: Subject,
    /// The bugs that any method has found.
    pub bugs: Vec<Known>,
    /// One run for each method.
    pub runs: Vec<Run>,
}

/// A bug of a harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The kind of the bug.
    pub kind: Kind,
    /// What the program said, or else what is wrong.
    pub message: String,
    /// The places of the bug: of a deadlock, all places at which threads wait.
    pub sites: Vec<Site>,
}

/// One method's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The method's name.
    pub method: String,
    /// How the run ended.
    pub ended: Ended,
    /// The reason why the run could not be made, or broke off.
    pub why: Option<String>,
    /// Executions that the run made.
    pub executions: Option<u64>,
    /// Time of the search, in seconds.
    pub seconds: f64,
    /// The most memory that a worker had resident, in bytes.
    pub memory: Option<u64>,
    /// What `check` did for k = 0, 1, 2, …; empty for other methods.
    pub levels: Vec<LevelRun>,
    /// The bugs that the run found.
    pub found: Vec<Found>,
}

impl Run {
    /// Returns a run that could not be made, for this reason.
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

    /// Returns the bug that the run met first.
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
    /// All of the search space was searched; with `check`, for every k up to the largest.
    Exhausted,
    /// All of the search space within the bounds was searched.
    Bounded,
    /// Schedules or inputs were drawn at random.
    Sampled,
    /// The method does not claim to have seen all that matters.
    Heuristic,
    /// The run came to its limit of executions.
    Executions,
    /// The time of the run was over.
    Timeout,
    /// The run took too much memory.
    Memory,
    /// The program ended its process, or hung.
    Died,
    /// The program reaches something that seqz can run but not follow.
    NotFollowed,
    /// The method can't run this program.
    Unsupported,
    /// The run broke off.
    Failed,
}

impl Ended {
    /// All ways in which a run may end.
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

    /// Returns the name used in documents, one word.
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
    /// The number k of non-local reads.
    pub k: u32,
    /// Executions of the sequential program.
    pub executions: u64,
    /// Executions in which a bug showed.
    pub failing: u64,
    /// Whether all choices of this k were tried.
    pub exhausted: bool,
}

/// A bug that a run found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The bug, as an index into `bugs`.
    pub bug: usize,
    /// For `check`: the smallest number k of non-local reads with which the bug was found.
    pub k: Option<u32>,
    /// Executions up to the one that first met the bug, that one included.
    pub executions: Option<u64>,
    /// Time from the start of the search until the bug was first met, in seconds.
    pub seconds: f64,
    /// Executions that met the bug.
    pub count: u64,
    /// The bug itself; moved to `bugs` once all runs have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<Known>,
}
