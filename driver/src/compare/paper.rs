//! A paper's table, with its figures beside those of seqz.

use serde::{Deserialize, Serialize};

use super::document::{Compared, Comparison, Ended, Run, Subject};
use super::suite::{Benchmark, Figure, Goal, Suite, name};

/// A table of a paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteTable {
    /// The suite's key.
    pub suite: String,
    /// The title of the suite.
    pub title: String,
    /// The paper from which the figures are.
    pub paper: String,
    /// What the paper says of all its programs together.
    #[serde(default)]
    pub totals: Vec<String>,
    /// A row for each program and method.
    pub rows: Vec<Row>,
}

/// One program with one method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The program's name in the paper.
    pub program: String,
    /// The path of the program in the suite.
    pub path: String,
    /// The method.
    pub method: String,
    /// Figures up to the first execution that meets the bug.
    pub bug: Pair,
    /// Figures up to the end of the search, on the program without its bug.
    pub exhaust: Pair,
}

/// The figures of seqz and of the paper.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The figure of seqz; null if the program was not run.
    pub ours: Option<Cell>,
    /// The figure of the paper; null if the paper has none.
    pub paper: Option<Cell>,
}

/// What was measured in one cell of the table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// `bug` or `exhausted` if the goal was reached; `missed` if the search ended without the bug; `fails` if there is
    /// a bug where there should be none; else why the run was cut.
    pub ended: String,
    /// Of `check`: for each bug, the smallest number k of non-local reads; for the end of the search, the largest k.
    pub k: Vec<u32>,
    /// Executions until the goal was reached.
    pub executions: Option<u64>,
    /// Time until the goal was reached, in seconds.
    pub seconds: Option<f64>,
}

impl SuiteTable {
    /// Puts the results of a comparison beside the figures of the suite.
    #[must_use]
    pub fn new(suite: &Suite, comparison: &Comparison) -> Self {
        let mut rows = Vec::new();
        for benchmark in &suite.programs {
            let ours = |subject: &Subject| {
                let mut all = comparison.programs.iter();
                all.find(|program| program.subject == *subject)
            };
            let (program, twin) = (ours(&benchmark.subject), ours(&benchmark.twin));
            rows.extend(methods(benchmark, program).into_iter().map(|method| {
                let cell = |program: Option<&Compared>, goal| {
                    let runs = program.map(|program| runs(program, &method));
                    runs.and_then(|runs| cell(&runs, goal, comparison.limits.k_max))
                };
                Row {
                    program: benchmark.name.clone(),
                    path: benchmark.subject.path.clone(),
                    bug: Pair {
                        ours: cell(program, Goal::Bug),
                        paper: figure(benchmark, &method, Goal::Bug),
                    },
                    exhaust: Pair {
                        ours: cell(twin, Goal::Exhaust),
                        paper: figure(benchmark, &method, Goal::Exhaust),
                    },
                    method,
                }
            }));
        }
        Self {
            suite: suite.key.clone(),
            title: suite.title.clone(),
            paper: suite.paper.clone(),
            totals: suite.totals.clone(),
            rows,
        }
    }
}

/// Returns the methods that the paper has measured, then those of the runs. The two runs of `check` are one method.
fn methods(benchmark: &Benchmark, program: Option<&Compared>) -> Vec<String> {
    let mut methods: Vec<String> = Vec::new();
    let figures = benchmark.figures.iter();
    let papers = figures.map(|figure| name(&figure.method, figure.bound));
    let ours = program.into_iter().flat_map(|program| &program.runs);
    let ours = ours.map(|run| match run.method.strip_prefix("check:") {
        Some(_) => "check".to_owned(),
        None => run.method.clone(),
    });
    for method in papers.chain(ours) {
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    methods
}

fn runs<'a>(program: &'a Compared, method: &str) -> Vec<&'a Run> {
    let is = |run: &&Run| {
        run.method == method || (method == "check" && run.method.starts_with("check:"))
    };
    program.runs.iter().filter(is).collect()
}

/// Returns the result of all these runs together.
fn cell(runs: &[&Run], goal: Goal, k_max: u32) -> Option<Cell> {
    let first = runs.first()?;
    let check = first.method.starts_with("check:");
    let found = runs.iter().flat_map(|run| &run.found);
    // A failure of the fixed program says more than how the search ends.
    if goal == Goal::Bug || found.clone().next().is_some() {
        let earliest = found.clone().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
        if let Some(earliest) = earliest {
            let mut bugs: Vec<usize> = found.clone().map(|found| found.bug).collect();
            bugs.sort_unstable();
            bugs.dedup();
            let least = |bug: &usize| {
                let same = found.clone().filter(|found| found.bug == *bug);
                same.filter_map(|found| found.k).min()
            };
            let mut k: Vec<u32> = bugs.iter().filter_map(least).collect();
            k.sort_unstable();
            return Some(Cell {
                ended: if goal == Goal::Bug { "bug" } else { "fails" }.into(),
                k,
                executions: earliest.executions,
                seconds: Some(earliest.seconds),
            });
        }
    }
    // Of two runs, the one that came less far says what is known.
    let ended = runs
        .iter()
        .map(|run| run.ended)
        .max_by_key(|ended| Ended::ALL.iter().position(|other| other == ended))?;
    let over = matches!(
        ended,
        Ended::Exhausted | Ended::Bounded | Ended::Sampled | Ended::Heuristic
    );
    let ended = match (goal, ended) {
        (Goal::Bug, _) if over => "missed",
        (_, Ended::Timeout) => "timeout",
        (_, ended) => ended.word(),
    };
    let executions = runs.iter().map(|run| run.executions).sum::<Option<u64>>();
    Some(Cell {
        ended: ended.into(),
        k: if check && goal == Goal::Exhaust {
            vec![k_max]
        } else {
            Vec::new()
        },
        executions: executions.filter(|_| over || ended == "timeout" || ended == "executions"),
        seconds: Some(runs.iter().map(|run| run.seconds).sum()),
    })
}

/// Returns the figure of the paper.
fn figure(benchmark: &Benchmark, method: &str, goal: Goal) -> Option<Cell> {
    let is = |figure: &&Figure| figure.goal == goal && name(&figure.method, figure.bound) == method;
    let figures: Vec<_> = benchmark.figures.iter().filter(is).collect();
    let first = figures.first()?;
    let by_k = figures
        .iter()
        .filter_map(|figure| Some((figure.k?, figure.bugs?)));
    let bugs = by_k.flat_map(|(k, bugs)| std::iter::repeat_n(k, bugs as usize));
    let k: Vec<u32> = bugs
        .chain(figures.iter().filter_map(|figure| figure.k_max))
        .collect();
    let reached = match goal {
        Goal::Bug if first.k.is_some() && k.is_empty() => "missed",
        Goal::Bug => "bug",
        Goal::Exhaust => "exhausted",
    };
    Some(Cell {
        ended: first.ended.clone().unwrap_or_else(|| reached.into()),
        k,
        executions: first.executions,
        seconds: first.seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::super::document::{Found, Limits};
    use super::*;

    const TABLE: &str = r#"
        [suite.s]
        title = "t"
        paper = "p"
        methods = ["icb", "dfs", "check"]
        [[program]]
        suite = "s"
        name = "P"
        file = "p.rs"
        harness = "h"
        inputs = { n = 1 }
        figures = [
            { table = 1, goal = "bug", method = "icb", bound = 2, executions = 9, ended = "bug" },
            { table = 1, goal = "exhaust", method = "dfs", seconds = 900, ended = "timeout" },
            { table = 1, goal = "bug", method = "check", k = 1, bugs = 0 },
            { table = 1, goal = "bug", method = "check", k = 2, bugs = 2 },
            { table = 1, goal = "exhaust", method = "check", k_max = 3, seconds = 5 },
        ]
        [[program]]
        suite = "other"
        name = "Q"
        file = "q.rs"
        harness = "h"
        [suite.other]
        title = "t"
        paper = "p"
        methods = []
    "#;

    fn run(method: &str, ended: Ended, found: &[(usize, u32, f64)]) -> Run {
        let found = found.iter().map(|&(bug, k, seconds)| Found {
            bug,
            k: Some(k),
            executions: Some(7),
            seconds,
            count: 1,
            what: None,
        });
        Run {
            method: method.into(),
            ended,
            why: None,
            executions: Some(10),
            seconds: 0.5,
            memory: None,
            levels: Vec::new(),
            found: found.collect(),
        }
    }

    fn table(runs: [Vec<Run>; 2]) -> Vec<Row> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("suites.toml"), TABLE).unwrap();
        let read = |key: &str| Suite::read(dir.path(), &[key.to_owned()]);
        assert_eq!(read("all").unwrap().len(), 2);
        assert!(read("x").is_err());
        let suite = read("s").unwrap().remove(0);
        let known = ["dfs", "icb"].map(String::from);
        let methods: Vec<_> = suite
            .known_methods(&known)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(methods, ["dfs", "check:first", "check:second", "icb:2"]);
        let [program] = suite.programs.as_slice() else {
            panic!("one program")
        };
        assert_eq!(program.subject.inputs, [("n".to_owned(), "1".to_owned())]);
        let subjects = [program.subject.clone(), program.twin.clone()];
        let compared = subjects
            .into_iter()
            .zip(runs)
            .map(|(subject, runs)| Compared {
                subject,
                bugs: Vec::new(),
                runs,
            });
        let limits = Limits {
            seconds: 1.0,
            executions: None,
            memory: 1,
            k_max: 3,
            seed: 1,
            ignore_detached_panics: false,
        };
        SuiteTable::new(&suite, &Comparison::new(limits, compared.collect())).rows
    }

    #[test]
    fn ours_stands_beside_the_paper_s() {
        let rows = table([
            vec![
                run("check:first", Ended::Exhausted, &[(0, 3, 0.2), (1, 2, 0.3)]),
                run("check:second", Ended::Exhausted, &[(0, 2, 0.4)]),
                run("icb:2", Ended::Bounded, &[]),
            ],
            vec![
                run("check:first", Ended::Exhausted, &[]),
                run("check:second", Ended::Timeout, &[]),
                run("dfs", Ended::Exhausted, &[]),
                run("icb:2", Ended::Bounded, &[(0, 0, 0.1)]),
            ],
        ]);
        let row = |method: &str| rows.iter().find(|row| row.method == method).unwrap();
        assert_eq!(rows.len(), 3);
        let check = row("check");
        let ours = check.bug.ours.as_ref().unwrap();
        assert_eq!(
            (ours.ended.as_str(), ours.k.as_slice()),
            ("bug", &[2, 2][..])
        );
        assert_eq!(ours.seconds, Some(0.2));
        assert_eq!(check.bug.paper.as_ref().unwrap().k, [2, 2]);
        let ours = check.exhaust.ours.as_ref().unwrap();
        assert_eq!(ours.ended, "timeout", "one of the two was cut");
        assert_eq!((ours.executions, ours.seconds), (Some(20), Some(1.0)));
        assert_eq!(check.exhaust.paper.as_ref().unwrap().k, [3]);
        assert_eq!(row("icb:2").bug.ours.as_ref().unwrap().ended, "missed");
        assert_eq!(row("icb:2").exhaust.ours.as_ref().unwrap().ended, "fails");
        assert_eq!(row("dfs").exhaust.paper.as_ref().unwrap().ended, "timeout");
        assert_eq!(row("dfs").bug, Pair::default());
    }
}
