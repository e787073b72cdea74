//! The second oracle: whole programs as people write them, compiled, and run by all strategies and by `check`, against an
//! interpreter of their own that walks all interleavings.
//!
//! A program's test panics, with a number of its own, for what it has seen in the end; so what strategies say of failures
//! also says which outcomes they have come to. A strategy that says "exhausted" must have found each failure and each
//! deadlock of the interpreter's, and none may find another one.
//!
//! `SEQZ_WHOLE_PROGRAMS` says how many there are, `SEQZ_WHOLE_SEED` which, `SEQZ_WHOLE_METHOD` who
//! runs them: all whose command has that in it, all at all if it is empty.
//!
//! Not in the programs: what std lets happen without a reason (`--spurious 0`), clocks, threads that start threads, loops
//! that look under a lock, locks that are read twice by one thread. `check` is held to finding nothing that isn't there, not to finding all.

#[path = "whole_programs/generate.rs"]
mod generate;
#[path = "whole_programs/judge.rs"]
mod judge;
#[path = "whole_programs/machine.rs"]
mod machine;
#[path = "whole_programs/ops.rs"]
mod ops;
#[path = "whole_programs/program.rs"]
mod program;
#[path = "whole_programs/render.rs"]
mod render;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write as _;
use std::time::Instant;

use generate::generate;
use judge::{DID_NOT_PANIC, Right};
use program::Program;
use serde::Deserialize;
use support::{Package, package, seqz};

/// Searches are cut after so many executions, and then nothing is promised.
const EXECUTIONS: &str = "1000";

/// A way to run the programs.
struct Method {
    /// The command, and how it is to search.
    args: &'static [&'static str],
    /// Of how many programs in a hundred it must be able to promise something.
    at_least: usize,
}

const fn explore(args: &'static [&'static str], at_least: usize) -> Method {
    Method { args, at_least }
}

/// All that there are, with [`MORE_METHODS`].
const METHODS: &[Method] = &[
    explore(&["explore", "--strategy", "odpor"], 60),
    explore(&["explore", "--strategy", "dpor"], 60),
    explore(&["explore", "--strategy", "dfs"], 30),
    explore(&["explore", "--strategy", "lazy-hbr+dpor"], 60),
    explore(&["explore", "--strategy", "lazy-dpor"], 60),
    explore(&["explore", "--strategy", "mcr"], 60),
    explore(&["explore", "--strategy", "random", "--seed", "7"], 0),
    explore(&["check", "--no-explore"], 0),
];

/// Those that are run where `SEQZ_WHOLE_METHOD` asks for them.
const MORE_METHODS: &[Method] = &[
    explore(&["explore", "--strategy", "icb"], 20),
    explore(&["explore", "--strategy", "icb+dpor"], 30),
    explore(&["explore", "--strategy", "hbr-cache"], 50),
    explore(&["explore", "--strategy", "lazy-hbr"], 50),
    explore(&["explore", "--strategy", "hbr-cache+dpor"], 60),
    explore(&["explore", "--strategy", "rv-causal", "--time", "20"], 0),
    explore(&["explore", "--strategy", "pct", "--seed", "7"], 0),
    explore(&["explore", "--strategy", "surw", "--seed", "7"], 0),
    explore(&["explore", "--strategy", "pos", "--seed", "7"], 0),
    explore(&["explore", "--strategy", "pcb"], 0),
    explore(&["explore", "--strategy", "hapset", "--seed", "7"], 0),
    explore(&["explore", "--strategy", "hapset+pcb", "--seed", "7"], 0),
];

#[derive(Deserialize)]
struct Report {
    harnesses: Vec<Harness>,
}

#[derive(Deserialize)]
struct Harness {
    name: String,
    status: Status,
    promise: Option<Promise>,
    #[serde(default)]
    failures: Vec<Failure>,
    #[serde(default)]
    bugs: Vec<Failure>,
}

#[derive(Deserialize)]
struct Status {
    state: String,
}

#[derive(Deserialize)]
struct Promise {
    state: String,
    #[serde(default)]
    truncated: bool,
}

#[derive(Deserialize)]
struct Failure {
    kind: String,
    message: String,
}

impl Failure {
    /// As the interpreter calls it.
    fn text(&self) -> String {
        let first = self.message.lines().next().unwrap_or_default();
        let text = if first.contains("PoisonError") {
            "poison"
        } else if first.starts_with("unknown outcome") {
            "unknown outcome"
        } else if first.contains(DID_NOT_PANIC) {
            DID_NOT_PANIC
        } else {
            first
        };
        match self.kind.as_str() {
            "deadlock" | "livelock" => self.kind.clone(),
            "detached_panic" => format!("detached: {text}"),
            _ => text.to_owned(),
        }
    }
}

fn number(name: &str, default: usize) -> usize {
    env::var(name).map_or(default, |it| it.parse().expect("a number"))
}

/// What is wrong with what was said of the programs.
fn differences(dir: &Package, programs: &[(Program, Right)], method: &Method) -> String {
    let shown = method.args.join(" ");
    let executions = if method.at_least == 0 {
        "100"
    } else {
        EXECUTIONS
    };
    let bounds = [
        "--max-executions",
        executions,
        "--max-steps",
        "150",
        "--format",
        "json",
    ];
    // What std lets happen without a reason is nothing of the interpreter's.
    let args = method
        .args
        .iter()
        .chain(&bounds)
        .chain(&["--spurious", "0"]);
    let begun = Instant::now();
    let run = seqz(dir.path(), args);
    let report: Report = match serde_json::from_str(&run.stdout) {
        Ok(report) => report,
        Err(error) => {
            let said = run.shown();
            let said: Vec<_> = said.lines().take(20).collect();
            return format!("{shown}: {error}: {}\n", said.join("\n"));
        }
    };
    let all: BTreeMap<_, _> = report
        .harnesses
        .iter()
        .map(|harness| (harness.name.clone(), harness))
        .collect();
    let mut out = String::new();
    let mut promised = 0;
    for (program, right) in programs {
        let name = render::name(program);
        let Some(harness) = all.get(&name) else {
            let _ = writeln!(out, "{name} by {shown}: not there");
            continue;
        };
        let of_check = harness.bugs.iter();
        let found: BTreeSet<_> = harness
            .failures
            .iter()
            .chain(of_check)
            .map(Failure::text)
            .collect();
        let exhausted = harness
            .promise
            .as_ref()
            .is_some_and(|it| it.state.starts_with("exhausted") && !it.truncated);
        let wrong: Vec<_> = found
            .iter()
            .filter(|it| !right.must.contains(*it) && !right.may.contains(*it))
            .collect();
        let missed: Vec<_> = right.must.difference(&found).collect();
        promised += usize::from(exhausted);
        let refused = !matches!(harness.status.state.as_str(), "checked" | "unsupported");
        if !wrong.is_empty() || (exhausted && !missed.is_empty()) || refused {
            let _ = writeln!(
                out,
                "{name} by {shown}: {}, exhausted: {exhausted}, not there: {wrong:?}, missed: {missed:?}",
                harness.status.state
            );
        }
    }
    eprintln!(
        "{shown}: {promised} of {} exhausted, {:.1} s",
        programs.len(),
        begun.elapsed().as_secs_f64()
    );
    if promised * 100 < method.at_least * programs.len() {
        let _ = writeln!(out, "{shown}: only {promised} exhausted");
    }
    eprint!("{out}");
    out
}

#[test]
fn all_strategies_say_of_whole_programs_what_is_right() {
    let count = number("SEQZ_WHOLE_PROGRAMS", 60);
    let seed = number("SEQZ_WHOLE_SEED", 1) as u64;
    let programs: Vec<_> = (0..count).map(|number| generate(seed, number)).collect();
    let source: String = programs.iter().map(|(it, _)| render::render(it)).collect();
    let dir = package(&format!("{}{source}", render::HEAD));
    eprintln!("{}", dir.path().display());
    let (only, more) = match env::var("SEQZ_WHOLE_METHOD") {
        Ok(only) => (only, MORE_METHODS),
        Err(_) => (String::new(), &[][..]),
    };
    let methods = METHODS.iter().chain(more);
    let methods = methods.filter(|it| it.args.join(" ").contains(&only));
    let out: String = methods.map(|it| differences(&dir, &programs, it)).collect();
    assert!(out.is_empty(), "{}\n{out}", dir.path().display());
}
