//! What `seqz explore --strategy mcr` says, shared by threads and going on from checkpoints.

mod support;

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use seqz::check::Subject;
use seqz::check::progress::Progress;
use seqz::explore::{self as exploring, Options};
use seqz::model::document::Role;
use seqz::program::{Choice, Mode, Program, Request};
use seqz::solvers;
use seqz::terminal::Terminal;
use seqz_explore::catalogue;
use seqz_explore::mcm::{Model, OrderSolver, Query, Solver, Verdict};
use seqz_runtime::worker::message::SolverKind;
use serde_json::Value;
use support::programs::HEAD;
use support::{command, package, seqz};

/// Five threads that each read and write once: 541 classes.
const FIVE: &str = "
#[test]
fn five() {
    let x = Arc::new(AtomicU32::new(0));
    let all: Vec<_> = (0..5)
        .map(|_| {
            let x = Arc::clone(&x);
            thread::spawn(move || {
                let seen = x.load(SeqCst);
                x.store(seen + 1, SeqCst);
                assert_ne!(seen, 3, \"three were before\");
            })
        })
        .collect();
    for one in all {
        one.join().unwrap();
    }
}
";

/// The end of it, whatever came between.
fn check_end(report: &Value, failing: u64) {
    let harness = &report["harnesses"][0];
    assert_eq!(harness["promise"]["state"], "exhausted_by_values");
    let counts = &harness["counts"];
    assert_eq!(counts["executions"], 541);
    assert_eq!(counts["causality"]["classes"], 541);
    assert_eq!(counts["redundant"], 0);
    assert_eq!(counts["failing"], failing);
    assert_eq!(harness["failures"].as_array().unwrap().len(), 1);
    assert_eq!(harness["failures"][0]["count"], failing);
}

fn explore(dir: &Path, args: &[&str]) -> Value {
    let base = ["explore", "--strategy", "mcr", "--format", "json"];
    let run = seqz(dir, base.iter().chain(args));
    assert_eq!(run.code, Some(1), "{}", run.shown());
    run.json()
}

#[test]
fn nothing_is_lost_when_a_search_is_killed() {
    let dir = package(&format!("{HEAD}{FIVE}"));
    let dir = dir.path();
    let whole = explore(dir, &[]);
    let failing = whole["harnesses"][0]["counts"]["failing"].as_u64().unwrap();
    check_end(&whole, failing);
    check_end(&explore(dir, &["--jobs", "2"]), failing);

    let file = dir.join("search");
    let _ = fs::remove_file(&file);
    let options = ["--checkpoint", "search"];
    let length = || fs::metadata(&file).map_or(0, |metadata| metadata.len());
    let temporary = dir.join("temporary");
    fs::create_dir_all(&temporary).unwrap();
    let mut before = 0;
    let mut killed = 0;
    // A worker that asks Z3, in the driver, has nobody to answer once that is killed.
    let asking = if cfg!(feature = "z3") { "z3" } else { "order" };
    for (jobs, solver) in [("1", "order"), ("1", asking), ("2", "order")] {
        let mut child = command(dir)
            .args(["explore", "--strategy", "mcr", "--format", "json"])
            .args(options)
            .args(["--jobs", jobs, "--solver", solver])
            .env("TMPDIR", &temporary)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(300);
        while length() < before + 8_000 && child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "the checkpoint does not grow");
            thread::sleep(Duration::from_millis(1));
        }
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        before = length();
    }
    assert!(killed > 0);
    let left = fs::read_dir(&temporary).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(left.is_empty(), "a killed search leaves {left:?}");
    // The worker that is left without its driver ends by itself, and the last thing that it wrote may be torn.
    let torn = fs::OpenOptions::new().write(true).open(&file).unwrap();
    torn.lock().unwrap();
    torn.set_len(length() - 3).unwrap();
    drop(torn);
    check_end(
        &explore(dir, &[&options[..], &["--jobs", "2"]].concat()),
        failing,
    );
    // What is done is done.
    let length_at_end = length();
    let again = explore(dir, &options);
    check_end(&again, failing);
    let notes = |report: &Value| report["harnesses"][0]["notes"].to_string();
    assert!(!notes(&again).contains("lost"), "{again:#}");
    assert!(length() <= length_at_end + 64, "it is said again");

    let refused = |args: &[&str], why: &str| {
        let base = ["explore", "--strategy", "mcr", "--checkpoint", "search"];
        let run = seqz(dir, base.iter().chain(args));
        assert_eq!(run.code, Some(2), "{}", run.shown());
        assert!(run.stderr.contains(why), "{}", run.shown());
    };
    refused(
        &["--max-steps", "50"],
        "its --max-steps is as many as are needed, not 50",
    );
    // Damage in the middle, and in what says whose the file is: what was lost is said, and searched again.
    let written = fs::read(&file).unwrap();
    for (at, kept) in [(written.len() / 2, "are kept"), (40, "begins anew")] {
        let mut damaged = written.clone();
        damaged[at] ^= 0x40;
        fs::write(&file, &damaged).unwrap();
        let mended = explore(dir, &options);
        check_end(&mended, failing);
        let notes = notes(&mended);
        assert!(
            notes.contains("bytes of the checkpoint") && notes.contains(kept),
            "{notes}"
        );
    }
    fs::write(&file, "no checkpoint").unwrap();
    refused(&[], "it is no checkpoint");
    let run = seqz(dir, ["explore", "--checkpoint", "other"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("there are no checkpoints of odpor"));
}

#[test]
fn the_motivating_example_stays_as_small_as_in_the_paper() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut first = None;
    for n in 1..=10 {
        let input = format!("n={n}");
        let report = explore(
            &root,
            &[
                "examples/mcr.rs",
                "--harness",
                "motivating_example",
                "--input",
                &input,
            ],
        );
        let harness = &report["harnesses"][0];
        assert_eq!(harness["promise"]["state"], "exhausted_by_values");
        let executions = harness["counts"]["executions"].as_u64().unwrap();
        let met = harness["failures"][0]["execution"].as_u64().unwrap();
        assert!(met <= 46, "{met} executions to the error");
        assert!(executions <= 50, "{executions} executions to the end");
        assert_eq!(
            *first.get_or_insert((met, executions)),
            (met, executions),
            "it grows with n = {n}"
        );
    }
}

/// Says the opposite of what holds.
struct Liar(OrderSolver);

impl Solver for Liar {
    fn solve(&mut self, model: &Model, query: &Query<'_>) -> Verdict {
        match self.0.solve(model, query) {
            Verdict::Feasible(_) => Verdict::Infeasible,
            other => other,
        }
    }
}

/// With two solvers, each is held against the other: a wrong answer is a fault of seqz, and no result.
#[test]
fn a_wrong_answer_of_a_solver_is_a_fault() {
    let dir = package(&format!("{HEAD}{FIVE}"));
    let path = dir.path().to_owned();
    let program = Program::load(&path, Mode::Scheduled).unwrap();
    let harnesses: Vec<_> = program.harnesses().iter().collect();
    let request = Request {
        k: 0,
        chosen: Choice::ALL,
        role: Role::FIRST,
    };
    let generated = program.transform(&request).unwrap();
    let target_dir = support::target_dir();
    let built = seqz::build::build(
        &program,
        &generated,
        &target_dir,
        seqz::build::Copies::Made,
        &AtomicBool::new(false),
        &|_| {},
    )
    .unwrap();
    let progress = Progress::new(&Terminal::detect());
    let subject = Subject {
        sources: program.sources(),
        generated: &generated,
        built: &built,
    };
    let options = Options {
        solver: solvers::Solver {
            who: SolverKind::Both,
            make: || Some(Box::new(Liar(OrderSolver::default()))),
            ..solvers::Solver::ORDER
        },
        ..Options::new(&path, catalogue::named("mcr").unwrap(), target_dir)
    };
    let error = exploring::run(
        subject,
        &harnesses,
        &options,
        &AtomicBool::new(false),
        &progress,
        |_| Ok(()),
    )
    .unwrap_err();
    assert_eq!(error.code(), 3);
    assert!(error.to_string().contains("differ"), "{error}");
}

/// Two threads that each compare what an update of theirs found, and after that do one thing or another. How it ended is told
/// by the line that panics.
fn compares(name: &str, first: &str, second: &str) -> String {
    let ends: String = (0..12)
        .map(|end| format!("    if end == {end} {{ panic!(\"{end}\"); }}\n"))
        .collect();
    format!(
        "#[test]\nfn {name}() {{\n    let all = Arc::new((AtomicU32::new(1), AtomicU32::new(0)));\n    \
         let (p, q) = (Arc::clone(&all), Arc::clone(&all));\n    \
         let a = thread::spawn(move || {{ let x = &p.0; if {first} {{ p.1.fetch_or(1, SeqCst); }} }});\n    \
         let b = thread::spawn(move || {{ let x = &q.0; if {second} {{ q.1.fetch_or(2, SeqCst); }} }});\n    \
         a.join().unwrap();\n    b.join().unwrap();\n    \
         let end = all.1.load(SeqCst) + 4 * all.0.load(SeqCst).min(2);\n{ends}}}\n"
    )
}

/// What an update found is compared, and the update itself leaves something that depends on it: all outcomes are there, each
/// class once.
#[test]
fn the_results_of_updates_may_be_compared() {
    let updates = [
        "x.swap(2, SeqCst)",
        "x.fetch_sub(1, SeqCst)",
        "x.fetch_add(1, SeqCst)",
        "x.fetch_max(2, SeqCst)",
        "x.fetch_and(2, SeqCst)",
        "x.fetch_xor(1, SeqCst)",
    ];
    let comparisons = ["== 1", "!= 1", "> 1", "< 1", ">= 2", "== 0"];
    let mut source = HEAD.to_owned();
    for (at, update) in updates.iter().enumerate() {
        for (by, comparison) in comparisons.iter().enumerate() {
            let other = updates[(at + by) % updates.len()];
            let second = format!("{other} {}", comparisons[(by + at) % comparisons.len()]);
            let first = format!("{update} {comparison}");
            source.push_str(&compares(&format!("pair_{at}_{by}"), &first, &second));
        }
    }
    let dir = package(&source);
    let outcomes = |strategy: &str| {
        let run = seqz(
            dir.path(),
            ["explore", "--format", "json", "--strategy", strategy],
        );
        let report = run.json();
        let harnesses = report["harnesses"].as_array().unwrap().clone();
        let all: Vec<Vec<String>> = harnesses
            .iter()
            .map(|harness| {
                let state = harness["promise"]["state"].as_str().unwrap();
                assert!(state.starts_with("exhausted"), "{strategy}: {harness:#}");
                let failures = harness["failures"].as_array().unwrap().iter();
                let mut messages: Vec<_> = failures
                    .map(|failure| failure["message"].as_str().unwrap().to_owned())
                    .collect();
                messages.sort();
                messages
            })
            .collect();
        assert_eq!(all.len(), 36, "{strategy}");
        all
    };
    let all = outcomes("dfs");
    assert!(all.iter().any(|ends| ends.len() > 1));
    for strategy in ["odpor", "mcr", "rv-causal"] {
        assert_eq!(outcomes(strategy), all, "{strategy}");
    }
}
