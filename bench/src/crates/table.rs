//! The table of crates: a row each, on the terminal and in `docs/crates.md`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::explored::{Explored, Failure, Harness};
use super::list::Pinned;
use super::ordinary::Ordinary;

/// The states of harnesses that were run.
const RUN: [&str; 2] = ["checked", NONE_ENDED];
/// The state of a harness of which no execution came to its end in the time.
const NONE_ENDED: &str = "none_ended";
/// The kind of failures that a test has under `cargo test`, too, where they fail no test: panics of threads that nobody joins.
const AS_ORDINARY: &str = "detached_panic";
/// The kinds of failures that a program makes of what it sees, and may make of a time that was too short.
const OF_THE_TEST: [&str; 2] = ["assertion", "panic"];
/// How much of a reason is shown.
const SHOWN: usize = 160;

/// What there is to say of a crate.
pub(super) struct Row {
    name: String,
    version: String,
    added: bool,
    tests: usize,
    exhausted: usize,
    executions: u64,
    /// What stands in the way, most important first.
    obstacles: Vec<String>,
    /// The tests that may truly fail, each with the time for which a thread has to be held up, if that is so.
    may_fail: Vec<String>,
    /// The number of tests of which no execution came to its end.
    unended: usize,
    /// The number of tests whose failures seqz itself doubts.
    doubtful: usize,
    promise: String,
    seconds: u64,
}

impl Row {
    pub(super) fn new(
        pinned: &Pinned,
        ordinary: &Ordinary,
        explored: &Explored,
        took: Duration,
    ) -> Self {
        let harnesses = &explored.harnesses;
        let mut obstacles: Vec<String> = explored.wrong.iter().cloned().collect();
        obstacles.extend(
            ordinary
                .wrong
                .iter()
                .map(|it| format!("`cargo test`: {it}")),
        );
        let mut may_fail = Vec::new();
        for harness in harnesses {
            match judged(harness, pinned, ordinary) {
                Judged::Stands => {}
                Judged::MayFail(what) => may_fail.push(what),
                Judged::Obstacle(what) => obstacles.push(what),
            }
        }
        if harnesses.is_empty() && obstacles.is_empty() {
            obstacles.push("no harness".into());
        }
        let counted = |is: &dyn Fn(&Harness) -> bool| harnesses.iter().filter(|it| is(it)).count();
        Self {
            name: pinned.name.clone(),
            version: pinned.version.clone(),
            added: pinned.test.is_some(),
            tests: harnesses.len(),
            exhausted: counted(&|it| it.verdict.starts_with("exhausted")),
            executions: harnesses.iter().map(|it| it.executions).sum(),
            obstacles,
            may_fail,
            unended: counted(&|it| it.state == NONE_ENDED),
            doubtful: counted(&|it| it.is_doubtful && !it.failures.is_empty()),
            promise: promise(harnesses),
            seconds: took.as_secs(),
        }
    }

    /// Whether each test was run, and none fails that `cargo test` passes.
    pub(super) fn runs(&self) -> bool {
        self.obstacles.is_empty()
    }

    /// Returns the row as lines for a terminal.
    pub(super) fn for_people(&self) -> String {
        let outcome = if self.runs() { "runs" } else { "does not run" };
        let mut text = format!(
            "{} {}: {outcome}, {} tests, {} exhausted, {} executions, {} s: {}",
            self.name,
            self.version,
            self.tests,
            self.exhausted,
            self.executions,
            self.seconds,
            self.promise
        );
        for what in self
            .obstacles
            .iter()
            .chain(&self.may_fail)
            .chain(&self.notes())
        {
            text.push_str("\n    ");
            text.push_str(what);
        }
        text
    }

    /// Returns what else there is to say of the outcome.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.unended > 0 {
            notes.push(format!("{} not to their ends in the time", self.unended));
        }
        if self.doubtful > 0 {
            notes.push(format!("failures of {} doubtful, says seqz", self.doubtful));
        }
        notes
    }

    fn for_page(&self) -> String {
        let told = |what: &[String]| match what.split_first()? {
            (first, []) => Some(first.clone()),
            (first, more) => Some(format!("{first}; and {} more", more.len())),
        };
        let outcome = match told(&self.obstacles) {
            Some(obstacles) => obstacles,
            None => {
                let runs = [vec!["runs".to_owned()], self.notes()].concat();
                let all = runs.into_iter().chain(told(&self.may_fail));
                all.collect::<Vec<_>>().join("; ")
            }
        };
        let cells = [
            self.name.clone(),
            self.version.clone(),
            format!("{}{}", self.tests, if self.added { " ¹" } else { "" }),
            short(&outcome),
            self.executions.to_string(),
            self.promise.clone(),
            format!("{} s", self.seconds),
        ];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        format!("| {} |", cells.join(" | "))
    }
}

/// What a harness says of a crate.
enum Judged {
    /// It was run, and does not fail where `cargo test` passes it.
    Stands,
    /// It may truly fail, though `cargo test` passes it.
    MayFail(String),
    /// It does not count as run.
    Obstacle(String),
}

fn judged(harness: &Harness, pinned: &Pinned, ordinary: &Ordinary) -> Judged {
    let name = &harness.name;
    // A function that is no test, or a test of which cargo says nothing, is none that passes.
    let Some(passes) = ordinary.passed.get(name).copied() else {
        return Judged::Stands;
    };
    if !RUN.contains(&harness.state.as_str()) {
        return Judged::Obstacle(format!("`{name}`: {}: {}", harness.state, harness.reason));
    }
    if harness.is_doubtful || !passes {
        return Judged::Stands;
    }
    let failures = harness.failures.iter();
    let mut by_a_time = None;
    for failure in failures.filter(|it| it.kind != AS_ORDINARY) {
        let is_of_the_test = OF_THE_TEST.contains(&&*failure.kind);
        match &failure.held_up {
            Some(place) if is_of_the_test => by_a_time = by_a_time.or(Some(place)),
            _ if pinned.may_fail.contains(name) => {
                return Judged::MayFail(format!("`{name}` may truly fail"));
            }
            _ => {
                let Failure { kind, message, .. } = failure;
                let what = format!("`{name}` passes, but is said to fail: {kind}: {message}");
                return Judged::Obstacle(short(&what));
            }
        }
    }
    match by_a_time {
        Some(place) => Judged::MayFail(format!("`{name}` fails by a time: {place}")),
        None => Judged::Stands,
    }
}

/// Returns what is promised of a crate's harnesses, and the reason that most have for less.
fn promise(harnesses: &[Harness]) -> String {
    let exhausted = harnesses
        .iter()
        .filter(|it| it.verdict.starts_with("exhausted"));
    let exhausted = exhausted.count();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let others = harnesses
        .iter()
        .filter(|it| !it.verdict.starts_with("exhausted"));
    for harness in others {
        *counts.entry(&harness.verdict).or_default() += 1;
    }
    let most = counts.iter().max_by_key(|(_, count)| **count);
    match most {
        None if exhausted == 0 => String::new(),
        None => "all exhausted".to_owned(),
        Some((verdict, count)) => short(&format!("{exhausted} exhausted; {count} {verdict}")),
    }
}

fn short(text: &str) -> String {
    let text = text.lines().next().unwrap_or_default();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

const HEAD: &str = "\
# Published crates

Each of these crates was fetched as it is published, and `seqz explore` was run in its own folder, with nothing said but
`--time`: SECONDS seconds, or one for each test where that is more, up to a minute. Beside it, `cargo test` was run.

- A crate *runs* if each of its tests builds and is run, and none fails that passes under `cargo test`, unless the failure is
  truly possible.
- A test that *fails by a time* expects that a sleep or a time limit is long enough: seqz met its failures, panics all, only where
  it holds another thread up for as long as the line says, which a busy machine may do.
- A test is *not to its end* if its first execution was still running when its share of the time was over.
- A failure is *doubtful* where a dependency that is not followed distorts what the program does: seqz says so, and counts none.
- That a thread panics that nobody joins is a failure under seqz alone, and doesn't count here.
- ¹: the crate has no test with threads, and got one, in [`bench/crates`](../bench/crates).

A crate of the [list](../bench/crates.toml) that has no row has not been measured. The command that makes the table:

    cargo build --workspace --features seqz-bench/peers && CARGO_PROFILE_RELEASE_OPT_LEVEL=0 target/debug/seqz-bench crates --time SECONDS --write

| crate | version | tests | outcome | executions | promise | time |
|---|---|---|---|---|---|---|
";

/// Puts rows into the page, which keeps those of the other crates of the list.
pub(super) fn write(all: &[Pinned], rows: &[Row], seconds: u64) -> io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/crates.md");
    let old = fs::read_to_string(&path).unwrap_or_default();
    let mut text = HEAD.replace("SECONDS", &seconds.to_string());
    for pinned in all {
        let begin = format!("| {} |", pinned.name);
        let row = rows.iter().find(|row| row.name == pinned.name);
        let row = row.map(Row::for_page);
        let kept = || old.lines().find(|line| line.starts_with(&begin));
        if let Some(line) = row.or_else(|| kept().map(str::to_owned)) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    fs::write(path, text)
}
