//! How searches end: with everything tried, or not.

mod support;

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::programs::{HEAD, check_json, lost_update, sees_seven, two_threads};
use support::{command, newest_finding, package, run, seqz};

#[test]
fn whatever_ends_the_worker_is_a_finding_that_names_the_execution() {
    let recursion =
        "fn deep(n: u64) -> u64 { std::hint::black_box(if n == 0 { 0 } else { deep(n - 1) + n }) }";
    let source = [
        recursion,
        &sees_seven("a_exits", "std::process::exit(0);"),
        &sees_seven(
            "b_overflows",
            "let n = std::hint::black_box(1 << 40); deep(n);",
        ),
        &sees_seven("c_hangs", "loop { std::hint::black_box(0); }"),
        &sees_seven("d_aborts", "std::process::abort();"),
        &lost_update(),
    ]
    .concat();
    let (code, report) = check_json(&source, &["--hang-after", "1"]);
    assert_eq!(code, 1);
    let harnesses = report["harnesses"].as_array().unwrap();
    let kinds: Vec<_> = harnesses
        .iter()
        .map(|harness| {
            let bug = &harness["bugs"][0];
            assert_eq!(harness["bugs"].as_array().unwrap().len(), 1, "{harness:#}");
            (bug["kind"].as_str().unwrap(), bug["k"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(
        kinds,
        [
            ("exit", 1),
            ("crash", 1),
            ("hang", 1),
            ("crash", 1),
            ("assertion", 0)
        ]
    );
    assert_eq!(
        harnesses[1]["bugs"][0]["message"],
        "a thread has overflowed its stack"
    );
    for (at, harness) in harnesses[..4].iter().enumerate() {
        assert_eq!(harness["bugs"][0]["non_local_reads"][0]["read"], 0);
        assert_eq!(harness["bugs"][0]["non_local_reads"][0]["write"], 0);
        // The thread that writes has been searched to the end all the same.
        let roles = harness["roles"].as_array().unwrap();
        assert_eq!(roles.len(), 2, "{roles:?}");
        // What the program does itself to end its process is no end of the search.
        let ends_the_worker = matches!(at, 1 | 2);
        let reason = &roles[0]["levels"][1]["reasons"][0];
        assert_eq!(reason == "died", ends_the_worker, "{at}: {roles:?}");
        assert_eq!(roles[1]["levels"][3]["exhausted"], true);
    }
}

#[test]
fn bounds_end_the_claim_of_exhaustion() {
    let source = two_threads(
        "long",
        "for _ in 0..6 { x2.load(SeqCst); }",
        "for i in 0..6 { x3.store(i, SeqCst); }",
        "",
    );
    let reasons = |args: &[&str]| {
        let (code, report) = check_json(&source, args);
        assert_eq!((code, &report["summary"]["exhausted"]), (0, &false.into()));
        report["harnesses"][0]["roles"].to_string()
    };
    assert!(reasons(&["--max-executions", "7"]).contains("execution_limit"));
    assert!(reasons(&["--max-steps", "3"]).contains("step_bound"));
}

/// Programs that are as long as they are, and one that has no end.
fn long_ones() -> String {
    let apart = |object: &str| format!("for i in 0..12_000 {{ {object}.store(i, SeqCst); }}");
    [
        two_threads(
            "a_apart",
            &format!("{} y2.fetch_add(1, SeqCst);", apart("x2")),
            "for _ in 0..11_000 { thread::current().id(); } y3.fetch_add(1, SeqCst);",
            "assert_eq!(y.load(SeqCst), 2);",
        ),
        two_threads(
            "b_alone",
            "",
            "y3.store(1, SeqCst);",
            &format!("{} assert_eq!(y.load(SeqCst), 1);", apart("x")),
        ),
        two_threads(
            "c_locks",
            "let own = Mutex::new(0); for _ in 0..12_000 { *own.lock().unwrap() += 1; } y2.store(2, SeqCst);",
            "x3.store(1, SeqCst);",
            "assert_eq!(x.load(SeqCst) + y.load(SeqCst), 3);",
        ),
        two_threads(
            "d_has_no_end",
            "let mut i = 0_u32; while y2.load(SeqCst) == 0 { i = i.wrapping_add(1); x2.store(i, SeqCst); }",
            "x3.load(SeqCst);",
            "",
        ),
    ]
    .concat()
}

#[test]
fn nobody_has_to_say_how_long_a_program_is() {
    let source = format!("{HEAD}{}", long_ones());
    let dir = package(&source);
    let cut = |harness: &str, args: &[&str]| {
        let all = [args, &["--format", "json", "--harness", harness]].concat();
        let run = seqz(dir.path(), all);
        assert_eq!(run.code, Some(0), "{}", run.shown());
        run.json()
    };
    for harness in ["a_apart", "b_alone", "c_locks"] {
        let report = cut(harness, &["check"]);
        assert_eq!(report["summary"]["exhausted"], true, "{report:#}");
        let report = cut(harness, &["check", "--max-steps", "10000"]);
        assert_eq!(report["summary"]["exhausted"], false, "{report:#}");
        for (strategy, state) in [("odpor", "exhausted"), ("random", "sampled")] {
            let args = ["explore", "--strategy", strategy, "--max-executions", "9"];
            let report = cut(harness, &args);
            let found = &report["harnesses"][0];
            assert_eq!(found["counts"]["truncated"], 0, "{strategy}: {report:#}");
            assert_eq!(found["promise"]["state"], state, "{strategy}: {report:#}");
            let report = cut(harness, &[&args[..], &["--max-steps", "10000"]].concat());
            let cut = &report["harnesses"][0]["counts"]["truncated"];
            assert!(cut.as_u64().unwrap() > 0, "{strategy}: {report:#}");
        }
    }
    let harness = "d_has_no_end";
    let report = cut(harness, &["check", "--k-max", "0"]);
    assert!(report.to_string().contains("step_bound"), "{report:#}");
    let args = ["explore", "--strategy", "random", "--max-executions", "2"];
    let counts = cut(harness, &args)["harnesses"][0]["counts"].clone();
    assert_eq!(counts["truncated"], 2, "{counts:#}");
    // It is no use to run it for longer.
    assert_eq!(counts["events"], 40_000, "{counts:#}");
}

#[test]
fn chance_is_not_searched() {
    let source = two_threads(
        "chance",
        "if x2.load(SeqCst) == 1 { y2.load(SeqCst); }",
        "let mut chance = [0_u8; 4];
         let mut device = std::fs::File::open(\"/dev/urandom\").unwrap();
         std::io::Read::read_exact(&mut device, &mut chance).unwrap();
         for i in 0..u32::from_le_bytes(chance) % 50 { y3.store(i, SeqCst); }
         x3.store(1, SeqCst);",
        "",
    );
    let (code, report) = check_json(&source, &[]);
    assert_eq!(code, 2, "{report:#}");
    assert_eq!(
        report["harnesses"][0]["status"]["state"],
        "nondeterministic"
    );
}

/// A search that takes long: many reads, many writes, and a large k.
fn endless() -> String {
    lost_update()
        + &two_threads(
            "z_endless",
            "for _ in 0..60 { x2.load(SeqCst); }",
            "for i in 0..60 { x3.store(i, SeqCst); }",
            "",
        )
}

#[test]
fn time_is_kept() {
    let (code, report) = check_json(
        &endless(),
        &["--k-max", "9", "--time", "2", "--harness", "z_endless"],
    );
    assert_eq!(code, 0);
    assert_eq!(report["cut"], "time_limit");
    assert_eq!(report["summary"]["exhausted"], false);
    assert!(
        report["harnesses"][0]["roles"]
            .to_string()
            .contains("time_limit")
    );
}

#[test]
fn an_interrupt_ends_with_what_was_found() {
    let dir = package(&format!("{HEAD}{}", endless()));
    // Built, and its findings' place known.
    let built = seqz(
        dir.path(),
        [
            "check",
            "--harness",
            "lost_update",
            "--k-max",
            "0",
            "--format",
            "json",
        ],
    );
    let first = newest_finding(dir.path(), &built.json());
    let interrupt = |args: &[&str], ready: &dyn Fn() -> bool| {
        let _ = fs::remove_file(&first);
        let child = command(dir.path())
            .args(["check", "--k-max", "9", "--format", "json"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let patience = Instant::now() + Duration::from_secs(60);
        while !ready() && Instant::now() < patience {
            thread::sleep(Duration::from_millis(20));
        }
        let signalled = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap();
        assert!(signalled.success());
        let output = child.wait_with_output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report)
    };
    let (code, report) = interrupt(&[], &|| first.exists());
    assert_eq!((code, &report["cut"]), (Some(1), &"interrupted".into()));
    assert_eq!(report["summary"]["bugs"], 1);
    assert_eq!(report["summary"]["exhausted"], false);
    let started = Instant::now();
    let (code, report) = interrupt(&["--harness", "z_endless"], &|| {
        started.elapsed() > Duration::from_secs(2)
    });
    assert_eq!((code, &report["cut"]), (Some(130), &"interrupted".into()));
    assert!(
        report["harnesses"][0]["roles"]
            .to_string()
            .contains("interrupted")
    );
    assert_eq!(report["summary"]["exhausted"], false);
}

/// Waits until it is told to end.
const SLOW_BUILD: &str = r#"
use std::path::Path;
fn main() {
    let dir = env!("CARGO_MANIFEST_DIR");
    std::fs::write(Path::new(dir).join("begun"), "").unwrap();
    for _ in 0..6000 {
        if Path::new(dir).join("end").exists() { return; }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::fs::write(Path::new(dir).join("ended"), "").unwrap();
}
"#;

#[test]
fn an_interrupt_ends_a_build() {
    let dir = support::program(&[
        (
            "Cargo.toml",
            "[package]\nname = \"slowly\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n\n\
             [dependencies]\nslow = { path = \"slow\" }\n",
        ),
        (
            "src/lib.rs",
            "#[test]\nfn slow() { std::thread::spawn(slow::nothing).join().unwrap(); }\n",
        ),
        (
            "slow/Cargo.toml",
            "[package]\nname = \"slow\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        ("slow/build.rs", SLOW_BUILD),
        ("slow/src/lib.rs", "pub fn nothing() {}\n"),
    ]);
    let at = |name: &str| dir.path().join("slow").join(name);
    let mut child = command(dir.path())
        .arg("explore")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !at("begun").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it has ended early");
        thread::sleep(Duration::from_millis(20));
    }
    // To seqz alone: what a terminal sends reaches cargo, too.
    let signalled = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(signalled.success());
    let status = child.wait().unwrap();
    let is_built = at("ended").exists();
    fs::write(at("end"), "").unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(!is_built, "the build went on to its end");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let dir = package(&format!("{HEAD}{}", lost_update()));
    let mut child = command(dir.path())
        .arg("check")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    // What it does is told where that takes a while.
    let is_progress = |line: &&str| line.starts_with("seqz: building ");
    let said: Vec<_> = said.lines().filter(|line| !is_progress(line)).collect();
    assert_eq!(said, [""; 0]);
}

#[test]
fn findings_that_can_not_be_written_do_not_end_the_search() {
    let dir = package(&format!("{HEAD}{}", lost_update()));
    let target = tempfile::tempdir().unwrap();
    fs::write(target.path().join("findings"), "in the way").unwrap();
    let run = run(command(dir.path())
        .args(["check", "--format", "json"])
        .env("SEQZ_TARGET_DIR", target.path()));
    assert_eq!(run.code, Some(1), "{}", run.shown());
    let note = run.json()["harnesses"][0]["notes"][0]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(note.contains("not written"), "{note}");
}
