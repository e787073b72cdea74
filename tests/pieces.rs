//! Searches in pieces: what the pieces say together is what one run says.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use support::{Package, Run, package, seqz};

/// Ten harnesses: some with a bug, in none, one or several of the pieces, and some that are right.
const TEN: &str = "
use std::sync::atomic::{AtomicU32, AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

fn both(one: impl FnOnce() + Send + 'static, other: impl FnOnce() + Send + 'static) {
    let (one, other) = (thread::spawn(one), thread::spawn(other));
    one.join().unwrap();
    other.join().unwrap();
}

fn add(x: &AtomicU32) {
    let seen = x.load(SeqCst);
    x.store(seen + 1, SeqCst);
}

#[test]
fn lost_update() {
    let x = Arc::new(AtomicU32::new(0));
    let y = Arc::clone(&x);
    let z = Arc::clone(&x);
    both(move || add(&y), move || add(&z));
    assert_eq!(x.load(SeqCst), 2);
}

#[test]
fn whole_updates() {
    let x = Arc::new(AtomicU32::new(0));
    let y = Arc::clone(&x);
    let z = Arc::clone(&x);
    let add = |x: &AtomicU32| for _ in 0..3 { x.fetch_add(1, SeqCst); };
    both(move || add(&y), move || add(&z));
    assert_eq!(x.load(SeqCst), 6);
}

#[test]
fn three_updates() {
    let x = Arc::new(AtomicU32::new(0));
    let all: Vec<_> = (0..3).map(|_| { let x = Arc::clone(&x); thread::spawn(move || add(&x)) }).collect();
    all.into_iter().for_each(|it| it.join().unwrap());
    assert!(x.load(SeqCst) > 1, \"all but one are lost\");
}

#[test]
fn two_forks() {
    let one = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = Arc::clone(&one);
    both(
        move || { let _a = one.0.lock().unwrap(); let _b = one.1.lock().unwrap(); },
        move || { let _b = other.1.lock().unwrap(); let _a = other.0.lock().unwrap(); },
    );
}

#[test]
fn two_failures() {
    let one = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let other = Arc::clone(&one);
    both(
        move || {
            assert_eq!(one[0].load(SeqCst), 0, \"seen early\");
            one[1].store(1, SeqCst);
            assert_eq!(one[0].load(SeqCst), 0, \"seen late\");
        },
        move || { other[0].store(other[1].load(SeqCst) + 1, SeqCst); },
    );
}

#[test]
fn handshake() {
    let one = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&one);
    both(
        move || { *one.0.lock().unwrap() = true; one.1.notify_one(); },
        move || {
            let mut ready = other.0.lock().unwrap();
            while !*ready { ready = other.1.wait(ready).unwrap(); }
        },
    );
}

#[test]
fn flags() {
    let one = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    let other = Arc::clone(&one);
    let inside = Arc::new(AtomicU32::new(0));
    let also = Arc::clone(&inside);
    let enter = |mine: &AtomicBool, theirs: &AtomicBool, inside: &AtomicU32| {
        mine.store(true, SeqCst);
        if !theirs.load(SeqCst) {
            assert_eq!(inside.fetch_add(1, SeqCst), 0);
            inside.fetch_sub(1, SeqCst);
        }
        mine.store(false, SeqCst);
    };
    both(move || enter(&one[0], &one[1], &inside), move || enter(&other[1], &other[0], &also));
}

pub fn amounts(first: u8, second: bool) {
    let x = Arc::new(AtomicU32::new(0));
    let (y, z) = (Arc::clone(&x), Arc::clone(&x));
    both(
        move || { y.store(u32::from(first), SeqCst); },
        move || { if second { assert_ne!(z.load(SeqCst), 2, \"two\"); } },
    );
}

#[test]
fn many_steps() {
    let one = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let other = Arc::clone(&one);
    both(
        move || (0..4).for_each(|it| { one[it % 2].store(it as u32, SeqCst); one[1].load(SeqCst); }),
        move || (0..4).for_each(|it| { other[0].load(SeqCst); other[it % 2].store(9, SeqCst); }),
    );
}

#[test]
fn alone() {
    thread::spawn(|| ()).join().unwrap();
}
";

fn ten() -> Package {
    package(TEN)
}

const INPUTS: [&str; 4] = ["--input", "first=0..40", "--input", "second=false,true"];

fn search(dir: &Path, command: &[&str], more: &[&str]) -> Run {
    let json = ["--format", "json"];
    seqz(dir, command.iter().chain(&INPUTS).chain(&json).chain(more))
}

/// Searches this piece; returns its file.
fn piece(dir: &Path, command: &[&str], index: u32, count: u32, jobs: Option<&str>) -> PathBuf {
    let file = dir.join(format!("{}-{index}-of-{count}.json", command[0]));
    let partition = format!("{index}/{count}");
    let name = file.display().to_string();
    let mut more = vec!["--partition", &partition, "--output", &name];
    more.extend(jobs.iter().flat_map(|jobs| ["--jobs", jobs]));
    let run = search(dir, command, &more);
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.stderr);
    let said = run.json();
    if count > 1 {
        assert_eq!(
            said["summary"]["exhausted"], false,
            "piece {partition} promises"
        );
    }
    file
}

fn merge(dir: &Path, files: &[PathBuf], more: &[&str]) -> Run {
    let files = files.iter().map(|it| it.display().to_string());
    let all = ["merge".to_owned()].into_iter().chain(files);
    seqz(dir, all.chain(more.iter().map(ToString::to_string)))
}

fn merged(dir: &Path, files: &[PathBuf]) -> Value {
    let run = merge(dir, files, &["--format", "json"]);
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.stderr);
    run.json()
}

/// What an exploration says that does not depend on who made it.
fn explored(report: &Value) -> Vec<Value> {
    let harnesses = report["harnesses"].as_array().unwrap().iter();
    let said = harnesses.map(|harness| {
        let mut counts = harness["counts"].clone();
        counts["seconds"] = Value::Null;
        let failures = harness["failures"].as_array().unwrap().iter();
        let failures = failures.map(|it| {
            serde_json::json!([
                it["kind"],
                it["message"],
                it["site"],
                it["count"],
                it["execution"],
                it["schedule"],
                it["couplings"],
                it["inputs"],
            ])
        });
        serde_json::json!([
            harness["name"],
            harness["status"],
            harness["promise"],
            counts,
            harness["verdict"],
            failures.collect::<Vec<_>>(),
        ])
    });
    said.collect()
}

/// The same of a check.
fn checked(report: &Value) -> Vec<Value> {
    let harnesses = report["harnesses"].as_array().unwrap().iter();
    let said = harnesses.map(|harness| {
        let bugs = harness["bugs"].as_array().unwrap().iter();
        let bugs = bugs.map(|it| {
            let of_bug = [
                &it["kind"],
                &it["site"],
                &it["k"],
                &it["under_test"],
                &it["count"],
                &it["also_found"],
            ];
            serde_json::json!(of_bug).to_string()
        });
        let bugs: BTreeSet<_> = bugs.collect();
        serde_json::json!([
            harness["name"],
            harness["status"],
            harness["roles"],
            harness["verdict"],
            bugs
        ])
    });
    let mut said: Vec<_> = said.collect();
    if report["explored"].is_object() {
        said.extend(explored(&report["explored"]));
    }
    said
}

/// The numbers from 1 to `count` in an order that looks like none.
fn shuffled(count: u32) -> Vec<u32> {
    let step = [7, 5, 3, 1]
        .into_iter()
        .find(|step| !count.is_multiple_of(*step) || *step == 1)
        .unwrap();
    (0..count)
        .map(|at| (at * step + count / 2) % count + 1)
        .collect()
}

/// Compares pieces with one run.
fn compare(command: &[&str], said: fn(&Value) -> Vec<Value>, counts: &[u32]) {
    let package = ten();
    let dir = package.path();
    let whole = search(dir, command, &[]).json();
    for &count in counts {
        let of_index = |index| {
            // Pieces need not have as many workers.
            let jobs = if index % 3 == 0 { "2" } else { "1" };
            let has_jobs = count > 1 && command[0] == "explore";
            piece(dir, command, index, count, has_jobs.then_some(jobs))
        };
        let files: Vec<_> = shuffled(count).into_iter().map(of_index).collect();
        let together = merged(dir, &files);
        for (one, other) in said(&whole).iter().zip(&said(&together)) {
            assert_eq!(one, other, "{count} pieces by {command:?}");
        }
        assert_eq!(said(&whole).len(), said(&together).len());
        for of_all in ["exhausted", "failures", "executions"] {
            assert_eq!(whole["summary"][of_all], together["summary"][of_all]);
        }
        assert_eq!(together["pieces"]["missing"], serde_json::json!([]));
        assert_eq!(together["pieces"]["ended"], serde_json::json!([]));
        if count > 1 {
            // Without one of them, nothing is promised, and it says which one.
            let short = merged(dir, &files[1..]);
            let missing = serde_json::json!([shuffled(count)[0]]);
            assert_eq!(short["summary"]["exhausted"], false);
            assert_eq!(short["pieces"]["missing"], missing);
            let all = short["harnesses"].as_array().unwrap().iter();
            for harness in all.filter(|it| it["status"]["state"] == "checked") {
                let verdict = harness["verdict"].as_str().unwrap();
                assert!(verdict.contains("other pieces of the search"), "{verdict}");
            }
        }
    }
}

#[test]
fn pieces_of_an_exploration_are_the_whole_of_it() {
    compare(&["explore", "--strategy", "odpor"], explored, &[1, 2, 5]);
    compare(&["explore", "--strategy", "dfs"], explored, &[16]);
}

#[test]
fn pieces_of_a_check_are_the_whole_of_it() {
    compare(&["check", "--time", "120"], checked, &[1, 5]);
    compare(&["check", "--no-explore"], checked, &[16]);
}

#[test]
fn a_piece_that_is_killed_promises_nothing() {
    let package = ten();
    let dir = package.path();
    let command = ["explore", "--strategy", "dfs"];
    let first = piece(dir, &command, 1, 2, None);
    let file = dir.join("killed.json");
    // Of an earlier run of this test.
    let _ = fs::remove_file(&file);
    let mut killed = support::command(dir);
    killed.args(command).args(INPUTS);
    killed.args(["--partition", "2/2", "--output"]).arg(&file);
    killed.stdout(Stdio::null()).stderr(Stdio::null());
    let mut killed = killed.spawn().unwrap();
    let has_begun = || fs::read_to_string(&file).is_ok_and(|text| text.contains("\"units\""));
    while !has_begun() {
        assert!(killed.try_wait().unwrap().is_none(), "it ended by itself");
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let together = merged(dir, &[first.clone(), file]);
    assert_eq!(together["pieces"]["ended"], serde_json::json!([2]));
    assert_eq!(together["summary"]["exhausted"], false);
    let all = together["harnesses"].as_array().unwrap().iter();
    let ended = all.filter(|it| it["verdict"].to_string().contains("before it was done"));
    assert!(ended.count() > 0);

    // The other files are none that could be put together with the first one.
    let dfs = fs::read_to_string(&first).unwrap();
    let refused = |text: &str, why: &str| {
        let other = dir.join("other.json");
        fs::write(&other, text).unwrap();
        let run = merge(dir, &[first.clone(), other], &[]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(why), "{}", run.stderr);
    };
    refused(&dfs, "are both piece 1/2");
    let second = dfs.replacen("\"1/2\"", "\"2/2\"", 1);
    refused(
        &second.replacen("\"dfs\"", "\"odpor\"", 1),
        "strategy is `dfs` in the first, and `odpor` in the second",
    );
    refused(
        &second.replacen("\"2/2\"", "\"2/3\"", 1),
        "2 pieces, and 3 pieces",
    );
    let digest = second.find("\"digest\":\"").unwrap() + 10;
    let other_program = format!("{}0{}", &second[..digest], &second[digest..]);
    refused(
        &other_program,
        "the program, what it depends on, or the compiler is not the same",
    );
    let version = format!("\"seqz\":\"{}\"", env!("CARGO_PKG_VERSION"));
    refused(
        &second.replacen(&version, "\"seqz\":\"0.0.1\"", 1),
        "was written by seqz 0.0.1",
    );
    refused(
        &second[..second.len() / 2],
        "has no results of a piece of a search",
    );
    refused(
        &second.replacen("\"current\":\"", "\"current\":\"zz", 1),
        "is damaged",
    );
}

#[test]
fn pieces_of_a_sample_draw_as_many_schedules() {
    let package = ten();
    let dir = package.path();
    let command = [
        "explore",
        "--strategy",
        "random",
        "--keep-going",
        "--max-executions",
        "100",
        "--harness",
        "lost_update",
        "--harness",
        "many_steps",
    ];
    let run = |more: &[&str]| seqz(dir, command.iter().chain(&["--format", "json"]).chain(more));
    let files: Vec<_> = (1..=3)
        .map(|index| {
            let file = dir.join(format!("{index}.json"));
            let (partition, name) = (format!("{index}/3"), file.display().to_string());
            let said = run(&["--partition", &partition, "--output", &name]).json();
            assert!(said["summary"]["executions"].as_u64().unwrap() < 70);
            file
        })
        .collect();
    let together = merged(dir, &files);
    assert_eq!(together["summary"]["executions"], 200);
    assert_eq!(together["seed"], 0);
    assert_eq!(together["harnesses"][1]["promise"]["state"], "sampled");
    let none = run(&[
        "--strategy",
        "mcr",
        "--partition",
        "1/2",
        "--output",
        "x.json",
    ]);
    assert_eq!(none.code, Some(2));
}
