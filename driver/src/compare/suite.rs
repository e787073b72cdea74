//! The table of benchmark programs and of the papers' figures: `suites.toml`, whose form is told at its top.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::document::Subject;
use super::method::Method;
use crate::diagnostic::shown;
use crate::error::Error;

/// The file's name.
const FILE: &str = "suites.toml";
/// Where the fixed twins are, beside the programs.
const FIXED: &str = "fixed";

/// All suites.
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

/// What a paper has measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Figure {
    /// Up to the bug, or to the end of the search.
    pub goal: Goal,
    /// How, by our name.
    pub method: String,
    /// The method's bound.
    pub bound: Option<u32>,
    /// Of `check`: how many bugs need this number of non-local reads.
    pub k: Option<u32>,
    /// See `k`.
    pub bugs: Option<u32>,
    /// Of `check`: for all k up to this one.
    pub k_max: Option<u32>,
    /// Executions.
    pub executions: Option<u64>,
    /// Seconds.
    pub seconds: Option<f64>,
    /// Whether the goal was reached.
    pub ended: Option<String>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Up to the known bug.
    Bug,
    /// Up to the end of the search, on the fixed program.
    Exhaust,
}

/// One suite.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Its key.
    pub key: String,
    /// What it is.
    pub title: String,
    /// Where the figures are from.
    pub paper: String,
    /// The methods that the paper measured.
    pub methods: Vec<String>,
    /// What the paper says of all its programs together.
    pub totals: Vec<String>,
    /// The programs.
    pub programs: Vec<Benchmark>,
}

/// A program of a suite.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// Its name in the paper.
    pub name: String,
    /// Our program.
    pub subject: Subject,
    /// The same without its bug.
    pub twin: Subject,
    /// What the paper measured.
    pub figures: Vec<Figure>,
}

impl Suite {
    /// Reads suites of the table in this directory, or all of them if that is asked for by the name `all`.
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

    /// The methods of the paper, with the bounds that it used; those that there are none of here are left out.
    #[must_use]
    pub fn known_methods(&self, strategies: &[String]) -> Vec<Method> {
        let figures = self.programs.iter().flat_map(|program| &program.figures);
        let measured = figures.map(|figure| name(&figure.method, figure.bound));
        // A method that was only measured within bounds is run within them.
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

/// A method with its bound.
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
