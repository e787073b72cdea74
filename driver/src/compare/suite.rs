//! The table of benchmark programs and of the papers' figures: `suites.toml`, whose format is described at its top.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::document::Subject;
use super::method::Method;
use crate::diagnostic::shown;
use crate::error::Error;

/// The name of the table's file.
const FILE: &str = "suites.toml";
/// The directory of the fixed twins, beside the programs.
const FIXED: &str = "fixed";

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
pub struct Suites {
    suite: BTreeMap<String, Head>,
    #[serde(default)]
    program: Vec<Program>,
}

#[derive(Clone, Debug, Deserialize)]
struct Head {
    title: String,
    paper: String,
    methods: Vec<String>,
    #[serde(default)]
    totals: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Program {
    suite: String,
    name: String,
    file: String,
    harness: String,
    #[serde(default)]
    inputs: BTreeMap<String, toml::Value>,
    #[serde(default)]
    figures: Vec<Figure>,
}

/// A figure that a paper has measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Figure {
    /// The goal up to which was measured.
    pub goal: Goal,
    /// The method, by its name in seqz.
    pub method: String,
    /// The method's bound.
    pub bound: Option<u32>,
    /// Of `check`: the number k of non-local reads that `bugs` need.
    pub k: Option<u32>,
    /// Of `check`: the number of bugs that need `k` non-local reads.
    pub bugs: Option<u32>,
    /// Of `check`: the largest k that was searched.
    pub k_max: Option<u32>,
    /// Executions up to the goal.
    pub executions: Option<u64>,
    /// Time up to the goal, in seconds.
    pub seconds: Option<f64>,
    /// How the run ended; `None`: with the goal.
    pub ended: Option<String>,
}

/// The goal of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// The known bug.
    Bug,
    /// The end of the search, on the fixed program.
    Exhaust,
}

/// One suite.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The suite's key in the file.
    pub key: String,
    /// The title of the suite.
    pub title: String,
    /// The paper from which the figures are.
    pub paper: String,
    /// The methods that the paper measured.
    pub methods: Vec<String>,
    /// What the paper says of all its programs together.
    pub totals: Vec<String>,
    /// The programs of the suite.
    pub programs: Vec<Benchmark>,
}

/// A program of a suite.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// The program's name in the paper.
    pub name: String,
    /// The program, with its bug.
    pub subject: Subject,
    /// The fixed program, without the bug.
    pub twin: Subject,
    /// The figures of the paper.
    pub figures: Vec<Figure>,
}

impl Suite {
    /// Reads these suites from the table in `dir`; the key `all` stands for all suites.
    ///
    /// # Errors
    /// When there is no such table, or no such suite in it.
    pub fn read(dir: &Path, keys: &[String]) -> Result<Vec<Self>, Error> {
        let path = dir.join(FILE);
        let text = fs::read_to_string(&path).map_err(|source| Error::File {
            what: "read",
            path: path.clone(),
            source,
        })?;
        let suites: Suites = toml::from_str(&text).map_err(|e| Error::Option {
            message: format!("{} is no table of suites: {}", shown(&path), e.message()),
            help: "its form is told at the top of seqz's examples/suites.toml".into(),
        })?;
        let all: Vec<String> = suites.suite.keys().cloned().collect();
        let keys = if keys == ["all"] { &all } else { keys };
        let one = |key: &String| {
            let Some(head) = suites.suite.get(key) else {
                return Err(Error::Option {
                    message: format!("there is no suite `{key}` in {}", shown(&path)),
                    help: format!("there are: {}, or `all`", all.join(", ")),
                });
            };
            let programs = suites.program.iter();
            let programs = programs.filter(|program| program.suite == *key);
            Ok(Self {
                key: key.clone(),
                title: head.title.clone(),
                paper: head.paper.clone(),
                methods: head.methods.clone(),
                totals: head.totals.clone(),
                programs: programs.map(|program| program.benchmark(dir)).collect(),
            })
        };
        keys.iter().map(one).collect()
    }

    /// Returns the methods of the paper, with the bounds that the paper used; methods that seqz does not have are left
    /// out.
    #[must_use]
    pub fn known_methods(&self, strategies: &[String]) -> Vec<Method> {
        let figures = self.programs.iter().flat_map(|program| &program.figures);
        let measured = figures.map(|figure| name(&figure.method, figure.bound));
        // A method that the paper only measured within bounds is run within these bounds.
        let bounded: Vec<String> = measured.collect();
        let plain = self.methods.iter().filter(|method| {
            !bounded
                .iter()
                .any(|name| name.starts_with(&format!("{method}:")))
        });
        let mut methods: Vec<Method> = Vec::new();
        for name in plain.chain(&bounded) {
            for method in Method::parse(name, strategies).unwrap_or_default() {
                if !methods.contains(&method) {
                    methods.push(method);
                }
            }
        }
        methods
    }
}

/// Returns the name of a method with its bound.
pub(super) fn name(method: &str, bound: Option<u32>) -> String {
    bound.map_or_else(|| method.to_owned(), |bound| format!("{method}:{bound}"))
}

impl Program {
    fn benchmark(&self, dir: &Path) -> Benchmark {
        let inputs: Vec<_> = self
            .inputs
            .iter()
            .map(|(name, value)| {
                let value = match value {
                    toml::Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                (name.clone(), value)
            })
            .collect();
        let subject = |file: PathBuf| Subject {
            path: file.display().to_string(),
            harness: self.harness.clone(),
            inputs: inputs.clone(),
        };
        Benchmark {
            name: self.name.clone(),
            subject: subject(dir.join(&self.file)),
            twin: subject(dir.join(FIXED).join(&self.file)),
            figures: self.figures.clone(),
        }
    }
}
