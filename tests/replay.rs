//! Findings, run again.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::programs::{HEAD, lost_update};
use support::{MANIFEST, Package, command, newest_finding, package, program, seqz, settings};

/// The file of the program's first finding.
fn found(dir: &Package, by: &str) -> String {
    let run = seqz(dir.path(), [by, "--format", "json"]);
    assert_eq!(run.code, Some(1), "{}", run.shown());
    newest_finding(dir.path(), &run.json())
        .to_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_schedule_gives_the_same_events_a_thousand_times() {
    let dir = package(&format!("{HEAD}{}", lost_update()));
    for by in ["check", "explore"] {
        let file = found(&dir, by);
        let run = seqz(dir.path(), ["replay", &file, "--times", "1000"]);
        assert_eq!(run.code, Some(1), "{}", run.shown());
        assert!(
            run.stdout.contains("same events in 1000 of 1,000 runs"),
            "{}",
            run.shown()
        );
        settings(dir.path()).bind(|| {
            insta::assert_snapshot!(format!("replay_of_{by}"), run.shown());
        });
    }
}

/// Where the program is not any more where it was, the option that names it is told.
#[test]
fn a_finding_of_a_program_that_was_moved_asks_for_it() {
    let manifest = MANIFEST;
    let lib = format!("{HEAD}{}", lost_update());
    let dir = program(&[("there/Cargo.toml", manifest), ("there/src/lib.rs", &lib)]);
    let run = seqz(dir.path(), ["check", "there", "--format", "json"]);
    let finding = newest_finding(dir.path(), &run.json());
    let finding = finding.to_str().unwrap();
    fs::rename(dir.path().join("there"), dir.path().join("here")).unwrap();
    let lost = seqz(dir.path(), ["replay", finding]);
    assert_eq!(lost.code, Some(2), "{}", lost.shown());
    let help = "name it with --program PATH";
    assert!(lost.stderr.contains(help), "{}", lost.shown());
    let named = seqz(dir.path(), ["replay", finding, "--program", "here"]);
    assert_eq!(named.code, Some(1), "{}", named.shown());
}

#[test]
fn races_and_deadlocks_are_there_again() {
    let race = "
static mut HITS: u32 = 0;
#[test]
fn races() {
    let a = thread::spawn(|| unsafe { HITS += 1 });
    unsafe { HITS += 2 };
    a.join().unwrap();
}
";
    let deadlock = "
#[test]
fn deadlock() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let other = Arc::clone(&locks);
    let a = thread::spawn(move || {
        let _one = other.0.lock().unwrap();
        let _two = other.1.lock().unwrap();
    });
    let two = locks.1.lock().unwrap();
    drop(locks.0.lock().unwrap());
    drop(two);
    a.join().unwrap();
}
";
    for source in [race, deadlock] {
        let dir = package(&format!("{HEAD}{source}"));
        let run = seqz(dir.path(), ["replay", &found(&dir, "check")]);
        assert_eq!(run.code, Some(1), "{}", run.shown());
        assert!(
            run.stdout.contains("as it did when it was found"),
            "{}",
            run.shown()
        );
    }
}

#[test]
fn findings_of_long_executions_are_followed_to_their_end() {
    // The long part comes before two threads run, while they do, or after that.
    let long = |object: &str| format!("for i in 0..21_000 {{ {object}.store(i, SeqCst); }}");
    let program = |before: &str, beside: &str, after: &str| {
        format!(
            "{HEAD}
#[test]
fn long() {{
    let own = Arc::new(AtomicU32::new(0));
    let n = Arc::new(AtomicU32::new(0));
    {before}
    let (own2, n2) = (Arc::clone(&own), Arc::clone(&n));
    let a = thread::spawn(move || {{
        {beside}
        let seen = n2.load(SeqCst);
        n2.store(seen + 1, SeqCst);
        drop(own2);
    }});
    let seen = n.load(SeqCst);
    n.store(seen + 1, SeqCst);
    a.join().unwrap();
    {after}
    assert_eq!(n.load(SeqCst), 2);
}}
"
        )
    };
    let programs = [
        (program(&long("own"), "", ""), &["check", "explore"][..]),
        (program("", &long("own2"), ""), &["check"]),
        (program("", "", &long("own")), &["check"]),
    ];
    for (source, ways) in programs {
        let dir = package(&source);
        for by in ways {
            let run = seqz(dir.path(), [by, "--format", "json"]);
            let report = run.json();
            let state = &report["harnesses"][0]["bugs"][0]["confirmation"]["state"];
            assert!(*by == "explore" || state == "confirmed", "{}", run.shown());
            let file = newest_finding(dir.path(), &report);
            let file = file.to_str().unwrap();
            let run = seqz(dir.path(), ["replay", file, "--times", "2"]);
            assert_eq!(run.code, Some(1), "{by}");
            assert!(run.stdout.contains("as it did when it was found"), "{by}");
        }
    }
}

/// Replays the lost update after an edit of the source.
fn after(edit: impl Fn(&str) -> String) -> (Package, support::Run) {
    let source = format!("{HEAD}{}", lost_update());
    let dir = package(&source);
    let lib = dir.path().join("src/lib.rs");
    fs::write(&lib, &source).unwrap();
    let file = found(&dir, "explore");
    fs::write(&lib, edit(&source)).unwrap();
    let run = seqz(dir.path(), ["replay", &file]);
    (dir, run)
}

#[test]
fn an_edited_program_parts_ways_with_the_schedule_at_a_place() {
    let (dir, run) = after(|source| {
        source.replace(
            "let seen = x2.load(SeqCst); x2.store(seen + 1, SeqCst);",
            "x2.fetch_add(1, SeqCst);",
        )
    });
    settings(dir.path()).bind(|| insta::assert_snapshot!("replay_diverges", run.shown()));
}

#[test]
fn what_does_not_fail_any_more_is_told_with_code_0() {
    let (_dir, run) =
        after(|source| source.replace("assert_eq!(x.load(SeqCst), 2)", "x.load(SeqCst)"));
    assert_eq!(run.code, Some(0), "{}", run.shown());
    assert!(run.stdout.contains("it does not fail"), "{}", run.shown());
}

#[test]
fn an_emitted_test_fails_until_the_bug_is_mended() {
    let buggy = format!("{HEAD}{}", lost_update());
    let dir = program(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &buggy)]);
    for by in ["check", "explore"] {
        fs::write(dir.path().join("src/lib.rs"), &buggy).unwrap();
        let found = seqz(dir.path(), [by, "--format", "json"]).json();
        let file = newest_finding(dir.path(), &found);
        let file = file.to_str().unwrap();
        let out = format!("tests/{by}.rs");
        let emitted = seqz(dir.path(), ["replay", "--emit-test", file, "-o", &out]);
        assert_eq!(emitted.code, Some(0), "{}", emitted.shown());
        let again = seqz(dir.path(), ["replay", "--emit-test", file, "-o", &out]);
        assert_eq!(again.code, Some(2), "{}", again.shown());
        let test = || {
            let output = command(dir.path());
            let mut cargo = Command::new("cargo");
            cargo
                .args(["test", "--offline", "--test", by])
                .current_dir(dir.path())
                .env_remove("CARGO_TARGET_DIR")
                .env("SEQZ", support::SEQZ);
            for (name, value) in output.get_envs() {
                cargo.env(name, value.unwrap_or_default());
            }
            cargo.output().unwrap()
        };
        let failing = test();
        assert!(!failing.status.success());
        let said = String::from_utf8_lossy(&failing.stdout).into_owned();
        assert!(said.contains("as it did when it was found"), "{said}");
        let mended = ["x2", "x3"].iter().fold(buggy.clone(), |source, x| {
            let racy = format!("let seen = {x}.load(SeqCst); {x}.store(seen + 1, SeqCst);");
            source.replace(&racy, &format!("{x}.fetch_add(1, SeqCst);"))
        });
        fs::write(dir.path().join("src/lib.rs"), mended).unwrap();
        let passing = test();
        assert!(
            passing.status.success(),
            "{}",
            String::from_utf8_lossy(&passing.stdout)
        );
    }
}

#[test]
fn files_that_are_no_findings_are_refused() {
    let dir = package(&format!("{HEAD}{}", lost_update()));
    let file = found(&dir, "explore");
    let mut finding: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let refused = |text: &str| {
        let path = dir.path().join("finding.json");
        fs::write(&path, text).unwrap();
        let run = seqz(dir.path(), ["replay", "finding.json"]);
        assert_eq!(run.code, Some(2), "{}", run.shown());
        assert!(run.stdout.is_empty(), "{}", run.shown());
    };
    refused("no JSON");
    refused("{}");
    finding["schema"] = 99.into();
    refused(&finding.to_string());
    finding["schema"] = 1.into();
    finding["harness"] = "nobody".into();
    refused(&finding.to_string());
    assert!(!Path::new("nothing.json").exists());
    assert_eq!(seqz(dir.path(), ["replay", "nothing.json"]).code, Some(2));
}

/// A search of another harness, of nothing, or of the mended program leaves findings where they are, and a finding that is met
/// again keeps its number.
#[test]
fn findings_stay_until_the_user_removes_them() {
    let dir = tempfile::tempdir().unwrap();
    let lib = |assertion: &str| {
        format!(
            "use std::sync::atomic::{{AtomicU32, Ordering::SeqCst}};\nstatic N: AtomicU32 = AtomicU32::new(0);\n\
             fn two() {{\n    let t = std::thread::spawn(|| {{ let n = N.load(SeqCst); N.store(n + 1, SeqCst); }});\n    \
             let n = N.load(SeqCst); N.store(n + 1, SeqCst);\n    t.join().unwrap();\n}}\n\
             #[test] fn first() {{ two(); assert_eq!(N.load(SeqCst), 2, \"first\"); }}\n\
             #[test] fn second() {{ two(); {assertion} }}\n"
        )
    };
    let broken = lib("assert_eq!(N.load(SeqCst), 2, \"second\");");
    std::fs::create_dir(dir.path().join("src")).unwrap();
    std::fs::write(
        dir.path().join("Cargo.toml"),
        "[package]\nname = \"kept\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    )
    .unwrap();
    let write = |text: &str| std::fs::write(dir.path().join("src/lib.rs"), text).unwrap();
    let files = |at: &str| {
        let mut names: Vec<_> = std::fs::read_dir(at)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".json"))
            .collect();
        names.sort();
        names
    };
    let harness_of = |at: &str, name: &str| {
        let text = std::fs::read_to_string(std::path::Path::new(at).join(name)).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value["harness"].as_str().unwrap().to_owned()
    };
    let check = |words: &[&str]| {
        let mut all = vec!["check", "--format", "json"];
        all.extend(words);
        support::seqz(dir.path(), all)
    };
    write(&broken);
    let run = check(&["--harness", "second"]);
    assert_eq!(run.code, Some(1), "{}", run.shown());
    let at = run.json()["findings"].as_str().unwrap().to_owned();
    assert_eq!(files(&at), ["1.json"]);
    check(&["--harness", "first", "--k-max", "0"]);
    assert_eq!(files(&at), ["1.json", "2.json"]);
    assert_eq!(harness_of(&at, "1.json"), "second");
    check(&[]);
    assert_eq!(files(&at), ["1.json", "2.json"], "the same two again");
    assert_eq!(harness_of(&at, "2.json"), "first");
    write(&lib("let _ = N.load(SeqCst);"));
    check(&["--harness", "second"]);
    assert_eq!(files(&at), ["1.json", "2.json"], "mended, but not removed");
    std::fs::remove_file(std::path::Path::new(&at).join("1.json")).unwrap();
    check(&[]);
    assert_eq!(files(&at), ["2.json"]);
}

/// The emitted test searches with the finding's inputs, says that it does not know where the search is not complete, compiles
/// whatever the message is, and holds no path of this machine.
#[test]
fn an_emitted_test_keeps_the_inputs_and_is_not_green_by_chance() {
    let lib = |condition: &str, more: &str| {
        format!(
            "use std::sync::Arc;\nuse std::sync::atomic::{{AtomicU32, Ordering::SeqCst}};\n\
             pub fn magic(token: u32, name: String) {{\n    let n = Arc::new(AtomicU32::new(0));\n    let m = n.clone();\n    \
             let t = std::thread::spawn(move || {{ m.store(1, SeqCst); m.store(2, SeqCst); }});\n    {more}\n    \
             if token == 0xDEAD_BEEF && name == \"a,b\" {{ assert!({condition}, \"odd \\\"*/ \\u{{202e}}\\n{{}} name\", 1); }}\n    \
             t.join().unwrap();\n}}\n"
        )
    };
    let dir = program(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", &lib("n.load(SeqCst) != 1", "")),
    ]);
    let input = ["--input", "token=3735928559", "--input", "name=\"a,b\""];
    let found = seqz(
        dir.path(),
        ["check", "--format", "json"].iter().chain(&input),
    );
    assert_eq!(found.code, Some(1), "{}", found.shown());
    let file = newest_finding(dir.path(), &found.json());
    let emitted = seqz(
        dir.path(),
        ["replay", "--emit-test", file.to_str().unwrap()],
    );
    assert_eq!(emitted.code, Some(0), "{}", emitted.shown());
    let here = dir.path().canonicalize().unwrap();
    for name in ["tests/seqz_magic.rs", "tests/seqz_magic.json"] {
        let text = fs::read_to_string(dir.path().join(name)).unwrap();
        assert!(!text.contains(here.to_str().unwrap()), "{name}: {text}");
        assert!(!text.contains('\u{202e}'), "{name}: {text}");
    }
    let test = |source: &str| {
        fs::write(dir.path().join("src/lib.rs"), source).unwrap();
        let mut cargo = Command::new("cargo");
        cargo
            .args(["test", "--offline", "--test", "seqz_magic"])
            .current_dir(dir.path())
            .env_remove("CARGO_TARGET_DIR")
            .env("SEQZ", support::SEQZ);
        for (name, value) in command(dir.path()).get_envs() {
            cargo.env(name, value.unwrap_or_default());
        }
        let output = cargo.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), said)
    };
    // Other events in front: the schedule does not fit any more, and the bug is found by a search.
    let before = "n.fetch_add(0, SeqCst); n.load(SeqCst);";
    let (passed, said) = test(&lib("n.load(SeqCst) != 1", before));
    assert!(!passed && said.contains("the bug is there"), "{said}");
    let (passed, said) = test(&lib("n.load(SeqCst) < 3", before));
    assert!(passed, "{said}");
    // A search that can't come to its end.
    let long = "let own = AtomicU32::new(0); for i in 0..1_100_000 { own.store(i, SeqCst); }";
    let (passed, said) = test(&lib("n.load(SeqCst) < 3", long));
    assert!(!passed && said.contains("not known"), "{said}");
    // And from anywhere.
    let elsewhere = tempfile::tempdir().unwrap();
    let replayed = seqz(
        elsewhere.path(),
        [
            "replay",
            dir.path().join("tests/seqz_magic.json").to_str().unwrap(),
        ],
    );
    assert_eq!(replayed.code, Some(2), "{}", replayed.shown());
}

/// What a check confirms is followed as it was confirmed: loops that sleep until a time have come to that time.
#[test]
fn loops_that_sleep_until_a_time_come_to_it_again() {
    let loops = [
        (
            "looks_last",
            "while !f.load(SeqCst) { if Instant::now() > end { panic!(\"late\") } thread::sleep(MS); }",
        ),
        (
            "looks_first",
            "while Instant::now() < end { if f.load(SeqCst) { return; } thread::sleep(MS); } panic!(\"late\");",
        ),
        (
            "gives_way",
            "let mut ok = false; while Instant::now() < end && !ok { ok = f.load(SeqCst); thread::yield_now(); } assert!(ok);",
        ),
        (
            "locks",
            "while !*m.lock().unwrap() { assert!(Instant::now() < end); thread::sleep(MS); }",
        ),
    ];
    let others = [
        (
            "stores",
            "thread::sleep(MS * 50); f.store(true, SeqCst); *m.lock().unwrap() = true;",
        ),
        ("sleeps", "thread::sleep(MS);"),
    ];
    let mut harnesses = Vec::new();
    for (name, polls) in loops {
        for (beside, other) in others {
            harnesses.push(format!(
                "#[test] fn {name}_while_another_{beside}() {{
    let (f, m) = (AtomicBool::new(false), Mutex::new(false));
    let end = Instant::now() + MS * 2;
    thread::scope(|s| {{
        s.spawn(|| {{ {other} }});
        {polls}
    }});
}}
"
            ));
        }
    }
    let dir = package(&format!(
        "{HEAD}use std::time::{{Duration, Instant}};\n\
         const MS: Duration = Duration::from_millis(1);\n{}",
        harnesses.concat()
    ));
    let run = seqz(dir.path(), ["check", "--no-explore", "--format", "json"]);
    let report = run.json();
    let mut followed = 0;
    for harness in report["harnesses"].as_array().unwrap() {
        for bug in harness["bugs"].as_array().unwrap() {
            assert_eq!(bug["confirmation"]["state"], "confirmed", "{bug}");
            let file = dir.path().join(bug["finding"].as_str().unwrap());
            let file = file.to_str().unwrap();
            let run = seqz(dir.path(), ["replay", file, "--times", "2"]);
            let there = run.stdout.contains("as it did when it was found");
            assert!(
                run.code == Some(1) && there,
                "{}{}",
                harness["name"],
                run.shown()
            );
            assert!(
                run.stdout.contains("same events in 2 of 2 runs"),
                "{}",
                run.shown()
            );
            followed += 1;
        }
    }
    assert!(
        followed >= harnesses.len(),
        "{followed} of {}",
        harnesses.len()
    );
}

/// A failure that is not the first of its execution, or whose execution fails in other ways as well, is known again by its own.
#[test]
fn each_failure_of_one_execution_is_there_again() {
    let both_threads = "
#[test]
fn both_threads() {
    let x = Arc::new(AtomicU32::new(0));
    let (one, two) = (x.clone(), x.clone());
    let a = thread::spawn(move || assert!(one.fetch_add(1, SeqCst) > 5, \"in a\"));
    let b = thread::spawn(move || assert!(two.fetch_add(1, SeqCst) > 5, \"in b\"));
    assert!(a.join().is_ok() & b.join().is_ok(), \"in the test\");
}
";
    let detached_beside_it = "
#[test]
fn detached_beside_it() {
    let x = Arc::new(AtomicU32::new(0));
    let other = x.clone();
    drop(thread::spawn(move || { other.store(1, SeqCst); panic!(\"nobody hears\"); }));
    assert_eq!(x.load(SeqCst), 0, \"too late\");
}
";
    let waits_for_ever = "
#[test]
fn waits_for_ever() {
    let m = Arc::new((Mutex::new(()), Mutex::new(())));
    let (n, o) = (m.clone(), m.clone());
    let t = thread::spawn(move || { let _one = o.1.lock().unwrap(); let _two = o.0.lock().unwrap(); });
    drop(thread::spawn(|| panic!(\"nobody hears\")));
    let _one = n.0.lock().unwrap();
    let _two = n.1.lock().unwrap();
    drop((_one, _two));
    t.join().unwrap();
}
";
    let race_beside_it = "
static mut HITS: u32 = 0;
#[test]
fn race_beside_it() {
    let a = thread::spawn(|| unsafe { HITS += 1 });
    drop(thread::spawn(|| panic!(\"nobody hears\")));
    unsafe { HITS += 2 };
    a.join().unwrap();
}
";
    let mut beside = 0;
    for (source, at_least) in [
        (both_threads, 1),
        (detached_beside_it, 2),
        (waits_for_ever, 2),
        (race_beside_it, 2),
    ] {
        let dir = package(&format!("{HEAD}{source}"));
        for by in ["explore", "check"] {
            let run = seqz(dir.path(), [by, "--format", "json", "--time", "20"]);
            let report = run.json();
            let findings = dir
                .path()
                .join(report["findings"].as_str().unwrap_or("none"));
            let files: Vec<_> = fs::read_dir(&findings)
                .map(|files| files.map(|file| file.unwrap().path()).collect())
                .unwrap_or_default();
            assert!(by == "check" || files.len() >= at_least, "{}", run.shown());
            for file in files {
                let run = seqz(
                    dir.path(),
                    ["replay", file.to_str().unwrap(), "--times", "2"],
                );
                let there = run.stdout.contains("as it did when it was found");
                assert!(run.code == Some(1) && there, "{source}{}", run.shown());
                assert!(
                    run.stdout.contains("same events in 2 of 2 runs"),
                    "{}",
                    run.shown()
                );
                beside += usize::from(run.stdout.contains("Beside it"));
            }
        }
    }
    assert!(beside >= 3, "{beside} failures stand beside others");
}
