//! Searches whose workers are killed, and searches that are interrupted.

use super::*;

fn start(dir: &Package, args: &[&str]) -> Child {
    command(dir.path())
        .args(["explore", "--format", "json", "--strategy", "dfs"])
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The workers that a process runs. Each child is listed with the thread that started it.
fn workers(of: &Child) -> Vec<u32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{}/task", of.id())) else {
        return Vec::new();
    };
    let children = tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    children
        .flat_map(|text| {
            let numbers = text.split_whitespace().map(str::parse);
            numbers.filter_map(Result::ok).collect::<Vec<u32>>()
        })
        // Not a compiler that is asked for its version.
        .filter(|process| {
            let program = fs::read_link(format!("/proc/{process}/exe"));
            program.is_ok_and(|program| {
                program
                    .parent()
                    .is_some_and(|dir| dir.starts_with(target_dir().join("workers")))
            })
        })
        .collect()
}

/// For how long a process has been on a processor, in ticks of the system, of which a second has a hundred.
fn worked(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The second field is a name, which may hold anything.
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let times = fields.split(' ').skip(11).take(2);
    times.filter_map(|time| time.parse::<u64>().ok()).sum()
}

fn kill(signal: &str, process: u32) {
    let killed = Command::new("kill")
        .args([signal, &process.to_string()])
        .stderr(Stdio::null())
        .status();
    // It may be over by now.
    drop(killed);
}

fn finish(child: Child) -> (Option<i32>, Value) {
    let output = child.wait_with_output().unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), report)
}

#[test]
fn killing_workers_loses_nothing_and_changes_no_count() {
    kill_workers(&long(), &["--max-executions", "150000"]);
}

#[test]
fn killing_one_of_several_workers_changes_no_count() {
    kill_workers(&times(5, 4), &["--jobs", "2"]);
}

/// Compares a search with one whose workers are killed.
fn kill_workers(source: &str, args: &[&str]) {
    let dir = package(&format!("{HEAD}{source}"));
    let (code, undisturbed) = finish(start(&dir, args));
    assert_eq!(code, Some(1));
    let child = start(&dir, args);
    // Each when it has worked for a moment, so that it has begun to search, and the search is not over before.
    let mut killed = Vec::new();
    let patience = Instant::now() + Duration::from_secs(60);
    while killed.len() < 3 && Instant::now() < patience {
        thread::sleep(Duration::from_millis(5));
        let alive = workers(&child).into_iter();
        if let Some(worker) = alive.rev().find(|worker| !killed.contains(worker)) {
            if worked(worker) < 4 {
                continue;
            }
            kill("-9", worker);
            killed.push(worker);
        }
    }
    assert_eq!(killed.len(), 3);
    let (code, report) = finish(child);
    assert_eq!(code, Some(1));
    let harness = |report: &Value| {
        let mut harness = report["harnesses"][0].clone();
        forget_when(&mut harness);
        harness
    };
    let (one, other) = (harness(&undisturbed), harness(&report));
    assert_eq!(one["status"], other["status"], "{:#}", other["notes"]);
    assert_eq!(one["promise"], other["promise"], "{:#}", other["notes"]);
    assert_eq!(one["failures"], other["failures"]);
    for count in ["executions", "failing", "events", "relations", "states"] {
        assert_eq!(one["counts"][count], other["counts"][count], "{count}");
    }
    assert!(
        other["notes"][0].as_str().unwrap().contains("died"),
        "{other:#}"
    );
}

#[test]
fn an_interrupt_ends_with_what_was_found() {
    let dir = package(&format!("{HEAD}{}", long()));
    // Built, and its findings' place known.
    let (_, built) = finish(start(&dir, &["--max-executions", "3000"]));
    let first = newest_finding(dir.path(), &built);
    fs::remove_file(&first).unwrap();
    let child = start(&dir, &[]);
    let patience = Instant::now() + Duration::from_secs(60);
    while !first.exists() && Instant::now() < patience {
        thread::sleep(Duration::from_millis(20));
    }
    kill("-INT", child.id());
    let (code, report) = finish(child);
    assert_eq!((code, &report["cut"]), (Some(1), &"interrupted".into()));
    assert_eq!(report["summary"]["failures"], 1);
    assert_eq!(
        report["harnesses"][0]["promise"]["reasons"][0],
        "interrupted"
    );
}
