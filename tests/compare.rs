//! `seqz compare`: the suites of the papers, and what a comparison goes through.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::programs::{HEAD, lost_update};
use support::{Run, command, package, run, seqz};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Executions of a run: more than most bugs of the suites need.
const LIMIT: u64 = 100;
/// For the others: the next one where the one before was too few.
const MORE: [u64; 4] = [100, 600, 3_000, 20_000];
/// What took the paper more than this may take us more, too.
const MOST_OF_A_PAPER: u64 = 600;

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key]
        .as_array()
        .unwrap_or_else(|| panic!("{key} in {value:#}"))
}

fn compare_suites(results: &Path, more: &[&str]) -> Run {
    let limit = LIMIT.to_string();
    run(command(&repository())
        .args([
            "compare",
            "examples",
            "--suite",
            "all",
            "--max-executions",
            &limit,
        ])
        // Less than what makes a worker that only thinks seem to hang.
        .args(["--time", "3", "--jobs", "4", "--results"])
        .arg(results)
        .args(more))
}

/// The kinds and lines that are known of each harness, by its file and name.
fn known() -> BTreeMap<(String, String), BTreeSet<(String, u64)>> {
    let source = fs::read_to_string(repository().join("examples/expected.toml")).unwrap();
    let table: toml::Value = toml::from_str(&source).unwrap();
    let mut known: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for harness in table["harness"].as_array().unwrap() {
        let text = |table: &toml::Value, key: &str| table[key].as_str().unwrap().to_owned();
        let bugs = harness.get("bug").and_then(toml::Value::as_array);
        let explored = harness
            .get("explore")
            .and_then(|explore| explore.get("bug"));
        let lines = bugs.into_iter().flatten().chain(explored).map(|bug| {
            let line = bug["line"].as_integer().unwrap();
            (text(bug, "kind"), u64::try_from(line).unwrap())
        });
        let all = known.entry((
            format!("examples/{}", text(harness, "file")),
            text(harness, "name"),
        ));
        all.or_default().extend(lines);
    }
    known
}

/// What a bug of the document is, as `expected.toml` says it.
fn kind(bug: &Value) -> &str {
    match bug["kind"].as_str().unwrap() {
        "assertion" | "arithmetic" | "index" => "panic",
        "data_race" => "race",
        "livelock" => "deadlock",
        other => other,
    }
}

/// Whether a bug is one of those that are known.
fn is_known(bug: &Value, known: &BTreeSet<(String, u64)>) -> bool {
    list(bug, "sites").iter().any(|site| {
        let line = site["line"].as_u64().unwrap();
        known.contains(&(kind(bug).to_owned(), line))
    })
}

#[test]
fn the_papers_tables_hold() {
    let dir = tempfile::tempdir().unwrap();
    let results = dir.path().join("results.jsonl");
    let compared = compare_suites(&results, &["--format", "json"]);
    assert_eq!(compared.code, Some(1), "{}", compared.stderr);
    let compared = compared.json();
    let known = known();
    let mut wrong = Vec::new();
    for program in list(&compared, "programs") {
        let (path, harness) = (
            program["path"].as_str().unwrap(),
            program["harness"].as_str().unwrap(),
        );
        let fixed = path.starts_with("examples/fixed/");
        let expected = known
            .get(&(path.to_owned(), harness.to_owned()))
            .cloned()
            .unwrap_or_default();
        for run in list(program, "runs") {
            let method = run["method"].as_str().unwrap();
            if run["ended"] == "failed" {
                wrong.push(format!("{path} {harness} {method}: {}", run["why"]));
            }
            for found in list(run, "found") {
                let bug =
                    &program["bugs"][usize::try_from(found["bug"].as_u64().unwrap()).unwrap()];
                if fixed || !is_known(bug, &expected) {
                    wrong.push(format!(
                        "{path} {harness} {method} finds what is not known: {bug:#}"
                    ));
                }
            }
        }
    }
    let (mut held, mut cut) = (0, 0);
    let mut again = Vec::new();
    for suite in list(&compared, "suites") {
        for row in list(suite, "rows") {
            let (ours, paper) = (&row["bug"]["ours"], &row["bug"]["paper"]);
            let text = |value: &'_ Value| value.as_str().unwrap().to_owned();
            let names = [&suite["suite"], &row["program"], &row["method"]];
            let what = names.map(text).join(" ");
            if paper["ended"] != "bug" || ours.is_null() {
                continue;
            }
            if ours["ended"] == "bug" {
                held += 1;
                if ours["k"] != paper["k"] && row["method"] == "check" {
                    wrong.push(format!("{what}: another k than in the paper"));
                }
            } else if ours["ended"] != "executions" && ours["ended"] != "timeout" {
                wrong.push(format!("{what}: {}", ours["ended"]));
            } else {
                again.push((row, harness_of(&suite["suite"], row), what));
            }
        }
    }
    let again = Mutex::new(again);
    let work = || {
        let mut came = Vec::new();
        loop {
            let next = again.lock().unwrap().pop();
            let Some((row, harness, what)) = next else {
                return came;
            };
            let paper = row["bug"]["paper"]["executions"].as_u64();
            let is_long = paper.is_some_and(|executions| executions > MOST_OF_A_PAPER);
            let most = if is_long { MOST_OF_A_PAPER } else { u64::MAX };
            came.push((
                found_with_more(&compared, row, &harness, most),
                is_long,
                what,
            ));
        }
    };
    let came = thread::scope(|scope| {
        let both = [scope.spawn(work), scope.spawn(work)];
        both.map(|it| it.join().unwrap()).concat()
    });
    for (found, is_long, what) in came {
        match (found, is_long) {
            (true, _) => held += 1,
            (false, true) => cut += 1,
            (false, false) => wrong.push(format!("{what}: not found in {MORE:?} executions")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!(
        "{held} bugs of the papers' tables found by the papers' methods, {cut} beyond the limit"
    );
    assert!(held >= 80, "only {held} figures were held");

    // What is in the results file is not run again, and the tables come out of it.
    let lines = fs::read_to_string(&results).unwrap().lines().count();
    let again = compare_suites(&results, &[]);
    assert_eq!(again.code, Some(1), "{}", again.shown());
    assert_eq!(fs::read_to_string(&results).unwrap().lines().count(), lines);
    for suite in list(&compared, "suites") {
        assert!(
            again.stdout.contains(suite["title"].as_str().unwrap()),
            "{}",
            again.stdout
        );
    }
}

/// Which of its file's harnesses a row of a suite's table is about.
fn harness_of(suite: &Value, row: &Value) -> String {
    let source = fs::read_to_string(repository().join("examples/suites.toml")).unwrap();
    let suites: toml::Value = toml::from_str(&source).unwrap();
    let is =
        |program: &&toml::Value, key: &str, value: &Value| program[key].as_str() == value.as_str();
    let mut programs = suites["program"].as_array().unwrap().iter();
    let program = programs.find(|it| is(it, "suite", suite) && is(it, "name", &row["program"]));
    program.unwrap()["harness"].as_str().unwrap().to_owned()
}

/// Runs one cell of a paper's table again, with more executions until the bug is found.
fn found_with_more(compared: &Value, row: &Value, harness: &str, most: u64) -> bool {
    let (path, name) = (
        row["path"].as_str().unwrap(),
        row["method"].as_str().unwrap(),
    );
    let mut programs = list(compared, "programs").iter();
    let program = programs.find(|program| {
        program["path"] == row["path"]
            && program["harness"] == harness
            && list(program, "runs")
                .iter()
                .any(|run| run["method"] == name)
    });
    let program = program.unwrap();
    let inputs = list(program, "inputs").iter().flat_map(|input| {
        let [name, values] = [0, 1].map(|at| input[at].as_str().unwrap());
        ["--input".to_owned(), format!("{name}={values}")]
    });
    let inputs: Vec<_> = inputs.collect();
    let mut more = MORE.iter().filter(|executions| **executions <= most);
    more.any(|executions| {
        let executions = executions.to_string();
        let again = run(command(&repository())
            .args(["compare", path, "--methods", name])
            .args(["--max-executions", &executions])
            .args(["--time", "120", "--format", "json"])
            .args(["--harness", harness])
            .args(&inputs));
        again.code == Some(1)
    })
}

/// A program with a bug and one without.
fn two() -> support::Package {
    package(&format!(
        "{HEAD}{}
#[test]
fn harmless() {{
    let shared = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&shared);
    let adder = thread::spawn(move || other.fetch_add(1, SeqCst));
    shared.fetch_add(1, SeqCst);
    adder.join().unwrap();
    assert_eq!(shared.load(SeqCst), 2);
}}
",
        lost_update()
    ))
}

#[test]
fn methods_agree_on_a_bug_and_say_what_it_took() {
    let dir = two();
    let args = [
        "compare",
        "--methods",
        "check,dfs,icb:1,odpor,random",
        "--max-executions",
        "500",
    ];
    let compared = seqz(
        dir.path(),
        args.into_iter().chain(["--jobs", "2", "--format", "json"]),
    );
    assert_eq!(compared.code, Some(1), "{}", compared.shown());
    let compared = compared.json();
    let programs = list(&compared, "programs");
    assert_eq!(programs.len(), 2);
    for program in programs {
        let runs = list(program, "runs");
        let methods: Vec<_> = runs
            .iter()
            .map(|run| run["method"].as_str().unwrap())
            .collect();
        assert_eq!(
            methods,
            [
                "check:first",
                "check:second",
                "dfs",
                "icb:1",
                "odpor",
                "random"
            ]
        );
        let buggy = program["harness"] == "lost_update";
        assert_eq!(
            list(program, "bugs").len(),
            usize::from(buggy),
            "{program:#}"
        );
        for run in runs {
            let method = run["method"].as_str().unwrap();
            let ended: &[&str] = match method {
                // One preemption may be all that there is to do.
                "icb:1" => &["bounded", "exhausted"],
                "random" => &["sampled"],
                _ => &["exhausted"],
            };
            assert!(
                ended.contains(&run["ended"].as_str().unwrap()),
                "{program:#}"
            );
            assert_eq!(list(run, "found").len(), usize::from(buggy), "{program:#}");
            assert!(
                run["memory"].as_u64().is_some_and(|bytes| bytes > 1 << 20),
                "{run:#}"
            );
            for found in list(run, "found") {
                let executions = found["executions"].as_u64().unwrap();
                assert!(executions > 0 && executions <= run["executions"].as_u64().unwrap());
                assert!(
                    found["seconds"].as_f64() <= run["seconds"].as_f64(),
                    "{run:#}"
                );
                assert_eq!(found["k"].is_u64(), method.starts_with("check"), "{run:#}");
            }
        }
    }
    let csv = seqz(dir.path(), args.into_iter().chain(["--format", "csv"]));
    let rows: Vec<Vec<_>> = csv
        .stdout
        .lines()
        .map(|row| row.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 1 + 2 * 6, "{}", csv.stdout);
    assert!(
        rows.iter().all(|row| row.len() == rows[0].len()),
        "{}",
        csv.stdout
    );
    fs::write(dir.path().join("compare.json"), compared.to_string()).unwrap();
    let report = seqz(dir.path(), ["report", "compare.json"]);
    assert_eq!(report.code, Some(0), "{}", report.shown());
    let page = fs::read_to_string(dir.path().join("compare.html")).unwrap();
    assert!(page.contains("sortable") && page.contains("icb:1"));
}

#[test]
fn a_comparison_that_is_killed_goes_on_from_what_it_had() {
    let dir = two();
    let results = dir.path().join("results.jsonl");
    let _ = fs::remove_file(&results);
    let args = [
        "compare",
        "--methods",
        "check,dfs,random,pct",
        "--time",
        "2",
        "--results",
        "results.jsonl",
    ];
    let mut first = command(dir.path());
    let mut first = first
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = || fs::read_to_string(&results).unwrap_or_default();
    // The runtime may have to be built first.
    let until = Instant::now() + Duration::from_secs(900);
    while lines().lines().count() < 4 && Instant::now() < until {
        thread::sleep(Duration::from_millis(5));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let before = lines();
    let whole = before.rfind('\n').unwrap() + 1;
    assert!(
        (4..8).contains(&before[..whole].lines().count()),
        "{before}"
    );

    let again = seqz(dir.path(), args);
    assert_eq!(again.code, Some(1), "{}", again.shown());
    let after = lines();
    assert!(after.starts_with(&before[..whole]), "nothing is run again");
    // Two harnesses, with `check` for two threads.
    assert_eq!(after.lines().count(), 2 * 5, "{after}");
}

#[test]
fn a_run_that_takes_too_much_memory_is_ended_and_keeps_what_it_found() {
    let dir = package(&format!(
        "{HEAD}
#[test]
fn large() {{
    let shared = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&shared);
    let adder = thread::spawn(move || {{
        for _ in 0..20 {{
            other.fetch_add(1, SeqCst);
        }}
    }});
    for _ in 0..20 {{
        shared.fetch_add(1, SeqCst);
    }}
    let sum = shared.load(SeqCst);
    adder.join().unwrap();
    assert!(sum != 20 && sum != 40, \"one of them is through before the other one begins\");
    let large = vec![1_u8; 300 << 20];
    assert_eq!(large.iter().step_by(4096).filter(|byte| **byte == 0).count(), 0);
}}
"
    ));
    let compared = seqz(
        dir.path(),
        [
            "compare",
            "--methods",
            "dfs",
            "--max-memory",
            "60",
            "--time",
            "60",
            "--format",
            "json",
        ],
    );
    let compared = compared.json();
    let run = &compared["programs"][0]["runs"][0];
    assert_eq!(run["ended"], "memory", "{compared:#}");
    assert_eq!(list(run, "found").len(), 1, "{compared:#}");
    assert!(
        run["memory"].as_u64().is_some_and(|bytes| bytes > 60 << 20),
        "{run:#}"
    );
}

#[test]
fn what_is_asked_for_must_be_there() {
    let dir = two();
    for (args, said) in [
        (
            &["compare", "--methods", "dfz"][..],
            "there is no method `dfz`",
        ),
        (
            &["compare", "--methods", "icb:x"],
            "there is no method `icb:x`",
        ),
        (&["compare", "--harness", "nothing"], "there is no harness"),
        (&["compare", "--input", "n=1"], "no harness has a parameter"),
        (&["compare", "--suite", "bi"], "suites.toml"),
        (&["compare", "nowhere"], "nowhere"),
    ] {
        let run = seqz(dir.path(), args);
        assert_eq!(run.code, Some(2), "{args:?} {}", run.shown());
        assert!(run.stderr.contains(said), "{args:?} {}", run.shown());
    }
}
