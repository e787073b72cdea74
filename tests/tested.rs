//! `seqz test`: what is chosen for each harness, the forms of the result, and which proofs count again.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::{Run, command, program, run, seqz, settings};
use tempfile::TempDir;

/// The start of each file.
const HEAD: &str = "
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
";

/// A harness in which each of so many threads adds one, so many times; in one step, or in two between which others may come.
fn adds(name: &str, threads: u32, times: u32, in_one: bool) -> String {
    let add = if in_one {
        "counter.fetch_add(1, SeqCst);"
    } else {
        "let seen = counter.load(SeqCst); counter.store(seen + 1, SeqCst);"
    };
    format!(
        "
#[test]
fn {name}() {{
    let counter = Arc::new(AtomicU32::new(0));
    let all: Vec<_> = (0..{threads})
        .map(|_| {{
            let counter = Arc::clone(&counter);
            thread::spawn(move || for _ in 0..{times} {{ {add} }})
        }})
        .collect();
    for one in all {{
        one.join().unwrap();
    }}
    assert_eq!(counter.load(SeqCst), {});
}}
",
        threads * times
    )
}

/// A workspace of four crates with different outcomes.
fn workspace() -> TempDir {
    let manifest = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
    };
    let proved = [HEAD, &adds("adds", 2, 1, true)].concat();
    let bug = [
        HEAD,
        &adds("loses", 2, 1, false),
        &adds("keeps", 2, 1, true),
    ]
    .concat();
    let many = [HEAD, &adds("many", 10, 2, true)].concat();
    let reads_a_file = [
        HEAD,
        "
#[test]
fn reads_a_file() {
    let counter = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&counter);
    let adder = thread::spawn(move || other.fetch_add(1, SeqCst));
    counter.fetch_add(std::fs::read_to_string(\"Cargo.toml\").unwrap().len() as u32, SeqCst);
    adder.join().unwrap();
    assert!(counter.load(SeqCst) > 1);
}
",
    ]
    .concat();
    program(&[
        (
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"proved\", \"buggy\", \"large\", \"files\"]\n",
        ),
        ("proved/Cargo.toml", &manifest("proved")),
        ("proved/src/lib.rs", &proved),
        (
            "proved/tests/races.rs",
            &[HEAD, &adds("bumps", 2, 1, true)].concat(),
        ),
        ("buggy/Cargo.toml", &manifest("buggy")),
        ("buggy/src/lib.rs", &bug),
        ("large/Cargo.toml", &manifest("large")),
        ("large/src/lib.rs", &many),
        ("files/Cargo.toml", &manifest("files")),
        ("files/src/lib.rs", &reads_a_file),
    ])
}

fn test_in(dir: &Path, more: &[&str]) -> Run {
    let args = [
        "test",
        "--workspace",
        "--jobs",
        "1",
        "--time",
        "1",
        "--seed",
        "1",
    ];
    seqz(dir, args.iter().chain(more))
}

/// Each harness by its name, with its outcome and whether it is that of an earlier run.
fn outcomes(report: &Value) -> Vec<(&str, &str, bool)> {
    let harnesses = report["harnesses"].as_array().unwrap().iter();
    let all = harnesses.map(|it| {
        let text = |key: &str| it[key].as_str().unwrap();
        (
            text("name"),
            text("outcome"),
            it["cached"].as_bool().unwrap(),
        )
    });
    all.collect()
}

#[test]
fn a_workspace_of_mixed_outcomes() {
    let dir = workspace();
    let first = test_in(dir.path(), &["--no-fail-fast"]);
    assert_eq!(first.code, Some(1), "{}", first.shown());
    let mut filters = settings(dir.path());
    filters.add_filter(r"\[ *\d+\.\d{3}s\]", "[TIME]");
    filters.add_filter(r"buggy-[0-9a-f]{16}", "buggy-[HASH]");
    filters.add_filter(r"[\d,]+ random schedules", "N random schedules");
    filters.bind(|| insta::assert_snapshot!("tested_workspace", first.shown()));

    // What was proved is not searched again, and the rest is.
    let again = test_in(dir.path(), &["--no-fail-fast", "--format", "json"]);
    assert_eq!(again.code, Some(1), "{}", again.shown());
    let report = again.json();
    assert_eq!(
        outcomes(&report),
        [
            ("buggy::loses", "bug", false),
            ("buggy::keeps", "proved", true),
            ("files::reads_a_file", "proved", false),
            ("large::many", "sampled", false),
            ("proved::adds", "proved", true),
            ("proved::tests_races::bumps", "proved", true),
        ]
    );
    // After a bug, no harness is begun.
    let fast = test_in(dir.path(), &["--no-cache", "--format", "json"]).json();
    let fast = outcomes(&fast);
    assert_eq!(fast[0], ("buggy::loses", "bug", false));
    assert!(fast[1..].iter().all(|it| it.1 == "not_reached"), "{fast:?}");

    // Names, and targets.
    let names = |more: &[&str]| {
        let report = test_in(dir.path(), &[&["--format", "json"], more].concat()).json();
        let names = outcomes(&report).into_iter().map(|it| it.0.to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&["add", "keep"]), ["buggy::keeps", "proved::adds"]);
    assert_eq!(names(&["--test", "races"]), ["proved::tests_races::bumps"]);
    assert_eq!(names(&["--lib", "b"]), ["buggy::loses", "buggy::keeps"]);
    assert_eq!(names(&["--exact", "proved::adds"]), ["proved::adds"]);
    let none = test_in(dir.path(), &["nothing"]);
    assert_eq!(none.code, Some(2), "{}", none.shown());
    // What is not proved is not all well where a proof is asked for.
    let demanding = test_in(dir.path(), &["--require-proof", "many"]);
    assert_eq!(demanding.code, Some(4), "{}", demanding.shown());
    assert_eq!(
        test_in(dir.path(), &["--require-proof", "adds"]).code,
        Some(0)
    );
}

#[test]
fn the_forms_that_machines_read() {
    let dir = workspace();
    let file = dir.path().join("result");
    let result = |form: &str| {
        let file = file.to_str().unwrap();
        let run = test_in(
            dir.path(),
            &["--no-fail-fast", "--format", form, "--output", file],
        );
        assert!(run.stdout.contains("BUG"), "{}", run.shown());
        fs::read_to_string(file).unwrap()
    };

    let junit = result("junit");
    let junit = roxmltree::Document::parse(&junit).unwrap();
    let suites = junit.root_element();
    assert_eq!(suites.tag_name().name(), "testsuites");
    let count = |key: &str| suites.attribute(key).unwrap().parse::<usize>().unwrap();
    let cases = |wanted: &str| {
        let all = junit.descendants().filter(|it| it.has_tag_name("testcase"));
        let of =
            all.filter(|it| wanted.is_empty() || it.children().any(|it| it.has_tag_name(wanted)));
        of.map(|it| it.attribute("name").unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!((count("tests"), cases("").len()), (6, 6));
    assert_eq!(
        (count("failures"), cases("failure")),
        (1, vec!["buggy::loses"])
    );
    assert_eq!((count("errors"), cases("error")), (0, Vec::new()));

    let sarif: Value = serde_json::from_str(&result("sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    assert_eq!(run["results"].as_array().unwrap().len(), 1);
    let found = &run["results"][0];
    let rule = usize::try_from(found["ruleIndex"].as_u64().unwrap()).unwrap();
    let rule = &run["tool"]["driver"]["rules"][rule]["id"];
    assert_eq!(
        (&found["ruleId"], rule),
        (&"assertion".into(), &"assertion".into())
    );
    let place = &found["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "buggy/src/lib.rs");
    let line = fs::read_to_string(dir.path().join("buggy/src/lib.rs")).unwrap();
    let line = line
        .lines()
        .position(|it| it.contains("assert_eq!"))
        .unwrap()
        + 1;
    assert_eq!(place["region"]["startLine"], line);
    let untested = &run["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(untested.as_array().unwrap().len(), 0, "{untested:#}");

    let github = result("github");
    let lines: Vec<_> = github.lines().collect();
    assert_eq!(lines.len(), 2, "{github}");
    assert!(
        lines[0].starts_with(&format!("::error file=buggy/src/lib.rs,line={line},col=")),
        "{github}"
    );
    assert!(
        lines[0].contains("title=seqz%3A buggy%3A%3Aloses::"),
        "{github}"
    );
    assert!(lines[0].contains("%0Aseqz replay "), "{github}");
    assert!(
        lines[1].starts_with("::notice title=seqz::6 harnesses: 1 with a bug"),
        "{github}"
    );

    // A package that can't be read is an error there, and what is not run is skipped for a reason.
    fs::write(dir.path().join("files/src/lib.rs"), "fn broken( {").unwrap();
    let junit = test_in(dir.path(), &["--format", "junit"]).stdout;
    let junit = roxmltree::Document::parse(&junit).unwrap();
    let of = |tag: &'static str, key: &'static str| {
        let all = junit.descendants().filter(move |it| it.has_tag_name(tag));
        all.map(move |it| it.attribute(key).unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let mut suites = of("testsuite", "name");
    suites.sort();
    assert_eq!(suites, ["buggy", "files", "large", "proved"]);
    assert_eq!(of("error", "type"), ["lost"]);
    let why = "the run was over before the harness's turn came";
    let skipped = of("skipped", "message");
    assert!(!skipped.is_empty() && skipped.iter().all(|it| it == why));
}

#[test]
fn what_is_ignored_or_skipped_is_left_out() {
    let dir = workspace();
    let slow = adds("slow", 2, 1, true).replace("#[test]", "#[test]\n#[ignore]");
    let file = dir.path().join("proved/src/lib.rs");
    fs::write(&file, fs::read_to_string(&file).unwrap() + &slow).unwrap();
    let names = |more: &[&str]| {
        let package = ["test", "-p", "proved", "--format", "json"];
        let run = seqz(dir.path(), package.iter().chain(more));
        let report = run.json();
        let mut names: Vec<_> = outcomes(&report).iter().map(|it| it.0.to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&["--skip", "bump"]), ["adds"]);
    assert_eq!(names(&["--ignored"]), ["slow"]);
    let all = [
        "--include-ignored",
        "--exact",
        "--skip",
        "adds",
        "--skip",
        "bump",
    ];
    assert_eq!(names(&all), ["slow", "tests_races::bumps"]);
}

/// Whatever the proof stands on takes the proof with it when it changes, and nothing else does.
#[test]
fn a_proof_is_of_what_it_was_made_of() {
    let lib = [
        HEAD,
        &adds("adds", 2, 1, true),
        "
pub const TEXT: &str = include_str!(\"text.txt\");
pub const BYTES: &[u8] = include_bytes!(\"bytes\");
#[test]
fn uses_all() {
    let text = TEXT.len() + BYTES.len() + usize::from(cfg!(feature = \"more\")) + below::depth();
    let counter = Arc::new(AtomicU32::new(env!(\"AT_BUILD\").len() as u32));
    let other = Arc::clone(&counter);
    let adder = thread::spawn(move || other.fetch_add(text as u32, SeqCst));
    counter.fetch_add(std::env::var(\"AT_RUN_TIME\").map_or(1, |it| it.len() as u32), SeqCst);
    adder.join().unwrap();
    assert!(counter.load(SeqCst) > 0);
}
",
    ]
    .concat();
    let manifest = "[package]\nname = \"cached\"\nedition = \"2024\"\n[workspace]\nmembers = [\"below\"]\n\
                    [dependencies]\nbelow = { path = \"below\" }\n[features]\nmore = []\n";
    let dir = program(&[
        ("Cargo.toml", manifest),
        ("src/lib.rs", &lib),
        ("src/text.txt", "a text"),
        ("src/bytes", "bytes"),
        (
            "build.rs",
            "fn main() { println!(\"cargo:rustc-env=AT_BUILD=abc\"); println!(\"cargo:rerun-if-changed=build.rs\"); }",
        ),
        (
            "below/Cargo.toml",
            "[package]\nname = \"below\"\nedition = \"2024\"\n",
        ),
        ("below/src/lib.rs", "pub fn depth() -> usize { 1 }\n"),
    ]);
    let cached_with = |change: &dyn Fn(&mut Command)| {
        let mut test = command(dir.path());
        test.args(["test", "--format", "json", "--time", "20", "uses_all"]);
        change(&mut test);
        let report = run(&mut test).json();
        let outcomes = outcomes(&report);
        assert_eq!((outcomes.len(), outcomes[0].1), (1, "proved"), "{report:#}");
        outcomes[0].2
    };
    let cached = || cached_with(&|_| {});
    assert!(!cached());
    assert!(cached());
    // Another terminal.
    assert!(cached_with(&|it| {
        it.env("COLUMNS", "80").env("TERM", "other");
    }));
    let files = [
        ("src/text.txt", "another text"),
        ("src/bytes", "more bytes"),
        ("below/src/lib.rs", "pub fn depth() -> usize { 2 }\n"),
        (
            "build.rs",
            "fn main() { println!(\"cargo:rustc-env=AT_BUILD=abcd\"); println!(\"cargo:rerun-if-changed=build.rs\"); }",
        ),
        ("src/lib.rs", &lib.replace("> 0);", "> 1);")),
    ];
    for (file, text) in files {
        fs::write(dir.path().join(file), text).unwrap();
        assert!(!cached(), "{file}");
        assert!(cached(), "{file}");
    }
    type Change<'a> = &'a dyn Fn(&mut Command);
    let options: [(&str, Change<'_>); 4] = [
        ("a feature", &|it| {
            it.args(["--features", "more"]);
        }),
        ("a variable that the program reads", &|it| {
            it.env("AT_RUN_TIME", "12345");
        }),
        ("how often something happens without a reason", &|it| {
            it.args(["--spurious", "2"]);
        }),
        ("the largest k", &|it| {
            it.args(["--k-max", "1"]);
        }),
    ];
    for (what, change) in options {
        assert!(!cached_with(change), "{what}");
        assert!(cached_with(change), "{what}");
    }
    assert!(!cached_with(&|it| {
        it.arg("--no-cache");
    }));
    assert!(cached());
    // A file that is read while the program runs.
    let reads = lib.replace(
        "AT_RUN_TIME\").map_or(1, |it| it.len() as u32)",
        "X\").map_or_else(|_| std::fs::exists(\"x\").unwrap() as u32, |it| it.len() as u32)",
    );
    assert_ne!(reads, lib);
    fs::write(dir.path().join("src/lib.rs"), reads).unwrap();
    assert!(!cached() && !cached());
}

#[test]
fn cargo_finds_the_command() {
    let dir = program(&[
        (
            "Cargo.toml",
            "[package]\nname = \"sample\"\nedition = \"2024\"\n",
        ),
        ("src/lib.rs", &[HEAD, &adds("adds", 2, 1, true)].concat()),
    ]);
    let of_cargo = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-seqz"))
            .args(args)
            .current_dir(dir.path())
            .env("COLUMNS", "100")
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let listed = seqz(dir.path(), ["list"]).stdout;
    assert!(listed.contains("adds"), "{listed}");
    // As cargo calls it, and by itself.
    assert_eq!(of_cargo(&["seqz", "list"]), (Some(0), listed.clone()));
    assert_eq!(of_cargo(&["list"]), (Some(0), listed));
}

/// Each command is completed, and has a page.
#[test]
fn shells_and_man_know_all_commands() {
    let dir = program(&[]);
    let help = seqz(dir.path(), ["-h"]).stdout;
    let commands = help.split("Commands:").nth(1).unwrap();
    let commands = commands.split("\n\n").next().unwrap().lines();
    let commands: Vec<_> = commands
        .filter_map(|it| it.split_whitespace().next())
        .collect();
    assert!(commands.len() > 9, "{help}");
    let completed = seqz(dir.path(), ["completions", "bash"]);
    assert_eq!(completed.code, Some(0), "{}", completed.shown());
    let pages = seqz(dir.path(), ["man", "pages"]);
    assert_eq!(pages.code, Some(0), "{}", pages.shown());
    for command in commands.iter().filter(|it| **it != "help") {
        assert!(
            completed.stdout.contains(&format!("seqz__{command}"))
                || completed
                    .stdout
                    .contains(&format!("seqz__subcmd__{command}")),
            "{command}"
        );
        let page = fs::read_to_string(dir.path().join(format!("pages/seqz-{command}.1")));
        assert!(page.unwrap().contains(".SH OPTIONS"), "{command}");
    }
}
