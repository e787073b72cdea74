//! How programs are built, and what is written where.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use support::programs::{HEAD, lost_update, sees_seven, two_threads};
use support::{MANIFEST, Package, command, package, program, run, seqz, settings, target_dir};

#[test]
fn an_unchanged_program_is_not_built_again() {
    let lib = format!("{HEAD}{}", lost_update());
    let dir = program(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &lib)]);
    let checked = seqz(dir.path(), ["check", "--format", "json"]);
    assert_eq!(checked.code, Some(1), "{}", checked.shown());
    let finding = support::newest_finding(dir.path(), &checked.json());
    // Another worker, in which calls are followed. It does not take the place of the first one.
    let follow = ["explore", "--strategy", "hapset", "--call-depth", "1"];
    assert_eq!(seqz(dir.path(), follow).code, Some(1));
    // No cargo, no building.
    for args in [&["check"][..], &follow] {
        let again = run(command(dir.path()).args(args).env("CARGO", "/nonexistent"));
        assert_eq!(again.code, Some(1), "{}", again.shown());
    }
    // Nor from elsewhere, where the program has another name, nor for what was found.
    let whole = dir.path().canonicalize().unwrap();
    for (from, args) in [
        ("src", &["check", ".."][..]),
        ("src", &["explore", "lib.rs"]),
        ("src", &["check", whole.to_str().unwrap()]),
        (".", &["replay", finding.to_str().unwrap()]),
        ("src", &["replay", finding.to_str().unwrap()]),
    ] {
        let from = dir.path().join(from);
        let again = run(command(&from).args(args).env("CARGO", "/nonexistent"));
        assert_eq!(again.code, Some(1), "{args:?} {}", again.shown());
    }

    let source = fs::read_to_string(dir.path().join("src/lib.rs")).unwrap();
    fs::write(
        dir.path().join("src/lib.rs"),
        source.replace("seen + 1", "seen + 2"),
    )
    .unwrap();
    let changed = run(command(dir.path())
        .arg("check")
        .env("CARGO", "/nonexistent"));
    assert_eq!(changed.code, Some(3), "{}", changed.shown());
}

#[test]
fn programs_of_the_same_name_are_kept_apart() {
    let write = |value: u32| {
        let writes = two_threads(
            "sees",
            "assert_ne!(x2.load(SeqCst), 7);",
            &format!("x3.store({value}, SeqCst);"),
            "",
        );
        package(&format!("{HEAD}{writes}"))
    };
    let (buggy, clean) = (write(7), write(8));
    for _ in 0..2 {
        assert_eq!(seqz(buggy.path(), ["check"]).code, Some(1));
        assert_eq!(seqz(clean.path(), ["check"]).code, Some(0));
    }
    // Written first and built last.
    let (clean, buggy) = (write(9), write(7));
    assert_eq!(seqz(buggy.path(), ["check"]).code, Some(1));
    assert_eq!(seqz(clean.path(), ["check"]).code, Some(0));
}

#[test]
fn many_at_once_do_not_disturb_each_other() {
    let dirs: Vec<_> = (0..4)
        .map(|i| {
            package(&format!(
                "{HEAD}{}",
                sees_seven("sees", &format!("panic!(\"number {i}\");"))
            ))
        })
        .collect();
    let runs: Vec<_> = thread::scope(|scope| {
        let start = |dir: &Package| {
            let dir = dir.path().to_owned();
            scope.spawn(move || seqz(&dir, ["check", "--format", "json"]))
        };
        let running: Vec<_> = dirs.iter().chain(&dirs).map(start).collect();
        running.into_iter().map(|run| run.join().unwrap()).collect()
    });
    for (i, run) in runs.iter().enumerate() {
        assert_eq!(
            run.json()["harnesses"][0]["bugs"][0]["message"],
            format!("number {}", i % 4)
        );
    }
}

#[test]
fn a_program_may_have_an_allocator_of_its_own() {
    let source = sees_seven("sees", "panic!(\"seven\");");
    let own = "#[global_allocator]\nstatic OWN: std::alloc::System = std::alloc::System;\n";
    let dir = package(&format!("{HEAD}{own}{source}"));
    for _ in 0..2 {
        let checked = seqz(dir.path(), ["check", "--format", "json"]);
        let report = checked.json();
        let bug = &report["harnesses"][0]["bugs"][0];
        assert_eq!((checked.code, &bug["message"]), (Some(1), &"seven".into()));
        assert_eq!(bug["confirmation"]["state"], "confirmed");
    }
}

#[test]
fn the_transformed_crate_stands_by_itself() {
    let dir = package(&format!(
        "{HEAD}{}",
        sees_seven("sees", "panic!(\"seven\");")
    ));
    let out = dir.path().join("out");
    // Of an earlier run.
    let _ = fs::remove_dir_all(&out);
    let written = seqz(dir.path(), ["transform", "--k", "1", "-o", "out"]);
    assert_eq!(written.code, Some(0), "{}", written.shown());
    settings(dir.path()).bind(|| insta::assert_snapshot!("transform", written.shown()));
    let cargo = |args: &[&str]| {
        Command::new("cargo")
            .args(args)
            .current_dir(&out)
            .env("CARGO_TARGET_DIR", target_dir().join("of-generated-crates"))
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
            .output()
            .unwrap()
    };
    let built = cargo(&["build", "--offline"]);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let failing = cargo(&["run", "--offline", "-q", "--", "--rds", "0", "--wrts", "0"]);
    assert_eq!(failing.status.code(), Some(1), "{failing:?}");
    assert!(
        String::from_utf8_lossy(&failing.stdout).contains("seven"),
        "{failing:?}"
    );
    let passing = cargo(&["run", "--offline", "-q", "--", "--under-test", "second"]);
    assert_eq!(passing.status.code(), Some(0), "{passing:?}");
    // It is not written over unless that is asked for.
    assert_eq!(
        seqz(dir.path(), ["transform", "--k", "1", "-o", "out"]).code,
        Some(2)
    );
}

/// The binary of the transformed crate tells by its exit code why a choice is no execution.
#[test]
fn a_choice_that_is_no_execution_is_told_from_one_without_a_bug() {
    let dir = program(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            &format!(
                "{HEAD}{}",
                two_threads(
                    "reads",
                    "let _ = (x2.load(SeqCst), x2.load(SeqCst));",
                    "y3.store(1, SeqCst); x3.store(1, SeqCst); x3.store(2, SeqCst);",
                    "",
                )
            ),
        ),
    ]);
    let written = seqz(dir.path(), ["transform", "--k", "2", "-o", "out"]);
    assert_eq!(written.code, Some(0), "{}", written.shown());
    let code = |rds: &str, wrts: &str| {
        let output = Command::new("cargo")
            .args(["run", "--offline", "-q", "--"])
            .args(["--rds", rds, "--wrts", wrts])
            .current_dir(dir.path().join("out"))
            .env("CARGO_TARGET_DIR", target_dir().join("of-generated-crates"))
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    for (rds, wrts, expected, words) in [
        ("0,1", "1,2", 0, "no bug"),
        ("0,1", "2,1", 3, "infeasible"),
        ("0", "0", 4, "mispaired"),
        ("0", "9", 4, "mispaired"),
        ("9", "1", 5, "no such read"),
    ] {
        let (code, said) = code(rds, wrts);
        assert_eq!(code, Some(expected), "{rds} {wrts}: {said}");
        assert!(said.contains(words), "{rds} {wrts}: {said}");
    }
}

#[test]
fn dependencies_come_along_and_their_changes_are_seen() {
    let member = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
    };
    let lib = format!(
        "{HEAD}{}",
        sees_seven("sees", "assert_ne!(helper::answer(), 42);")
    );
    let dir = program(&[
        (
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"app\", \"helper\"]\n",
        ),
        (
            "app/Cargo.toml",
            &member("app", "[dependencies]\nhelper = { path = \"../helper\" }\n"),
        ),
        ("app/src/lib.rs", &lib),
        ("helper/Cargo.toml", &member("helper", "")),
        ("helper/src/lib.rs", "pub fn answer() -> u32 { 42 }\n"),
    ]);
    let checked = seqz(dir.path(), ["check", "app"]);
    assert_eq!(checked.code, Some(1), "{}", checked.shown());
    fs::write(
        dir.path().join("helper/src/lib.rs"),
        "pub fn answer() -> u32 { 43 }\n",
    )
    .unwrap();
    let checked = seqz(dir.path(), ["check", "app"]);
    assert_eq!(checked.code, Some(0), "{}", checked.shown());
    // A workspace without a package of its own stands for all of them.
    let whole = seqz(dir.path(), ["check", "--format", "json"]);
    assert_eq!(whole.code, Some(0), "{}", whole.shown());
    assert_eq!(whole.json()["harnesses"][0]["name"], "app::sees");
    // Without a directory that is named, what is built goes where the workspace's builds go.
    let checked = run(command(dir.path())
        .args(["check", "app"])
        .env_remove("SEQZ_TARGET_DIR")
        .env_remove("CARGO_TARGET_DIR"));
    assert_eq!(checked.code, Some(0), "{}", checked.shown());
    assert!(dir.path().join("target/seqz/programs").is_dir());
}

/// The names of what a listing or a report is about.
#[test]
fn a_manifest_beside_the_user_is_a_path_as_any() {
    let dir = program(&[
        ("Cargo.toml", MANIFEST),
        (
            "build.rs",
            "fn main() { println!(\"cargo:rustc-env=WORD={}\", std::fs::read_to_string(\"word\").unwrap()); }\n",
        ),
        ("word", "one"),
        (
            "src/lib.rs",
            "#[test]\nfn word() {\n    let length = std::thread::spawn(|| env!(\"WORD\").len());\n    \
             assert_eq!(length.join().unwrap(), 4);\n}\n",
        ),
    ]);
    for command in ["explore", "check"] {
        for path in ["Cargo.toml", "./Cargo.toml", "."] {
            let run = seqz(dir.path(), [command, path]);
            assert_eq!(run.code, Some(1), "{command} {path}: {}", run.shown());
            assert!(run.stdout.contains("src/lib.rs:4"), "{}", run.shown());
            assert!(!run.stdout.contains("./src"), "{}", run.shown());
        }
    }
}

fn names(run: &support::Run) -> Vec<String> {
    let json = run.json();
    let harnesses = json["harnesses"].as_array().expect("harnesses");
    harnesses
        .iter()
        .map(|it| it["name"].as_str().expect("a name").to_owned())
        .collect()
}

/// A workspace of `fails`, `holds`, and `quiet`, which has no harness; `root` is its manifest.
fn workspace(root: &str) -> tempfile::TempDir {
    let member = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
    };
    let own = if root.contains("[package]") {
        "src/lib.rs"
    } else {
        "notes"
    };
    program(&[
        ("Cargo.toml", root),
        (own, &format!("{HEAD}{}", sees_seven("own", ""))),
        ("in/fails/Cargo.toml", &member("fails")),
        (
            "in/fails/src/lib.rs",
            &format!(
                "{HEAD}{}{}",
                lost_update(),
                sees_seven("same", "panic!(\"seven\");")
            ),
        ),
        ("in/holds/Cargo.toml", &member("holds")),
        (
            "in/holds/src/lib.rs",
            &format!("{HEAD}{}", sees_seven("same", "")),
        ),
        ("in/quiet-one/Cargo.toml", &member("quiet-one")),
        ("in/quiet-one/src/lib.rs", "pub fn nothing() {}\n"),
    ])
}

const MEMBERS: &str = "[workspace]\nresolver = \"3\"\nmembers = [\"in/*\"]\n";

#[test]
fn packages_are_chosen_as_cargo_does_it() {
    let of_all = ["fails::lost_update", "fails::same", "holds::same"];
    let default = format!("{MEMBERS}default-members = [\"in/holds\"]\n");
    let with_own =
        format!("{MEMBERS}\n[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    let with_both =
        format!("{default}\n[package]\nname = \"own\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    for (root, asked) in [
        (
            MEMBERS,
            &[
                (&[][..], &of_all[..]),
                (&["Cargo.toml"], &of_all),
                (&["-p", "holds"], &["same"]),
                (&["--package", "holds", "-p", "fails"], &of_all),
                (&["--workspace", "--exclude", "fails"], &["holds::same"]),
                (&["in/holds"], &["same"]),
                (&["in/holds", "-p", "fails"], &["lost_update", "same"]),
                (&["in/holds", "--workspace"], &of_all),
                (&["in/fails/src/lib.rs"], &["lost_update", "same"]),
            ][..],
        ),
        (&default, &[(&[], &["same"]), (&["--workspace"], &of_all)]),
        (
            &with_own,
            &[
                (&[], &["own"]),
                (&["-p", "holds"], &["same"]),
                (
                    &["--workspace", "--exclude", "fails"],
                    &["holds::same", "own::own"],
                ),
            ],
        ),
        (&with_both, &[(&[], &["same"])]),
    ] {
        let dir = workspace(root);
        for (args, expected) in asked {
            let run = seqz(dir.path(), ["list", "--format", "json"].iter().chain(*args));
            assert_eq!(run.code, Some(0), "{args:?} {}", run.shown());
            assert_eq!(names(&run), *expected, "{args:?} {root}");
        }
    }
    let dir = workspace(MEMBERS);
    for (args, said) in [
        (
            &["list", "-p", "nobody"][..],
            "there are: fails, holds, quiet-one",
        ),
        (&["list", "-p", "quiet-one"], "no harness"),
        (
            &["list", "in/fails/src/lib.rs", "-p", "holds"],
            "give its directory",
        ),
        (
            &["explore", "--harness", "same"],
            "fails::same, holds::same",
        ),
        (&["explore", "--keep", "kept"], "choose one with --package"),
    ] {
        let run = seqz(dir.path(), args);
        assert_eq!(run.code, Some(2), "{args:?} {}", run.shown());
        assert!(run.stderr.contains(said), "{args:?} {}", run.shown());
    }
}

#[test]
fn all_packages_of_a_workspace_are_searched() {
    let dir = workspace(MEMBERS);
    for command in ["check", "explore"] {
        let run = seqz(dir.path(), [command, "--format", "json"]);
        assert_eq!(run.code, Some(1), "{}", run.shown());
        assert_eq!(
            names(&run),
            ["fails::lost_update", "fails::same", "holds::same"],
            "{command}"
        );
        let run = seqz(dir.path(), [command, "--harness", "holds::same"]);
        assert_eq!(run.code, Some(0), "{}", run.shown());
    }
    // Trouble with one is none of the others.
    fs::write(dir.path().join("in/fails/src/lib.rs"), "fn broken( {\n").unwrap();
    let run = seqz(dir.path(), ["check"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    assert!(
        run.stderr.contains("in/fails/src/lib.rs"),
        "{}",
        run.shown()
    );
    assert!(run.stdout.contains("holds::same"), "{}", run.shown());
    let run = seqz(dir.path(), ["check", "--workspace", "--exclude", "fails"]);
    assert_eq!(run.code, Some(0), "{}", run.shown());
    assert!(
        run.stdout.contains("was run for those, too: exhausted"),
        "{}",
        run.shown()
    );
}

#[test]
fn one_package_of_a_workspace_is_transformed_and_compared() {
    let dir = workspace(MEMBERS);
    let run = seqz(dir.path(), ["transform", "--k", "1"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    for said in ["in/fails, in/holds", "-p NAME"] {
        assert!(run.stderr.contains(said), "{}", run.shown());
    }
    let args = ["transform", "--k", "1", "-p", "holds", "-o", "out"];
    let run = seqz(dir.path(), args);
    assert_eq!(run.code, Some(0), "{}", run.shown());
    assert!(dir.path().join("out/src/p_hat.rs").is_file());
    let args = ["compare", "-p", "holds", "--methods", "check:first,odpor"];
    let run = seqz(dir.path(), args.iter().chain(&["--format", "json"]));
    assert_eq!(run.code, Some(0), "{}", run.shown());
    assert!(run.stdout.contains("in/holds") && !run.stdout.contains("in/fails"));
}

#[test]
fn an_ignored_harness_is_searched_beside_others_where_it_is_named() {
    let ignored = harness("slow", "").replace("#[test]", "#[test]\n#[ignore]");
    let lib =
        format!("{}{ignored}{ignored}", harness("quick", "")).replacen("fn slow", "fn slower", 1);
    let dir = program(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &lib)]);
    let named = |of: &[&str]| {
        let named = of.iter().flat_map(|it| ["--harness", it]);
        let args: Vec<_> = ["explore", "--format", "json"]
            .into_iter()
            .chain(named)
            .collect();
        let run = seqz(dir.path(), args);
        assert_eq!(run.code, Some(0), "{}", run.shown());
        names(&run)
    };
    assert_eq!(named(&[]), ["quick"]);
    assert_eq!(named(&["slow"]), ["slow"]);
    assert_eq!(named(&["quick", "slow"]), ["quick", "slow"]);
    assert_eq!(named(&["slower", "slow"]), ["slower", "slow"]);
}

/// A harness of this name that starts a thread, and does this then.
fn harness(name: &str, then: &str) -> String {
    format!("#[test]\nfn {name}() {{ std::thread::spawn(|| ()).join().unwrap(); {then} }}\n")
}

#[test]
fn targets_that_do_not_go_together_are_searched_one_by_one() {
    // Each is the only one of its kind in its crate, and can be told from others there by what it is no more.
    let adds = |times: u32| {
        format!(
            "struct By(u32);\nimpl From<u32> for By {{ fn from(n: u32) -> Self {{ By(n) }} }}\n\
             impl Takes<By> for u32 {{ fn take(&mut self, by: By) {{ *self += {times} * by.0 }} }}\n"
        )
    };
    let taken = |sum: &str, more: &str| {
        format!("let mut n = 1_u32; n.take(2.into()); assert!(n == {sum} && {more});")
    };
    let twice = "#[macro_export] macro_rules! twice { () => { 2 } }\n";
    let lib = format!(
        "pub trait Takes<By> {{ fn take(&mut self, by: By); }}\npub const TESTED: bool = cfg!(test);\n\
         #[cfg(test)]\nmod tests {{\nuse super::*;\n{}{}}}\n",
        adds(1),
        harness("inside", &taken("3", "TESTED"))
    );
    let target = |times, more: &str, sum: &str, what: &str| {
        let harness = harness("outside", &taken(sum, what));
        format!("use sample::*;\n{}{more}{harness}", adds(times))
    };
    let dir = program(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", &lib),
        ("tests/one.rs", &target(3, "", "7", "!TESTED")),
        (
            "tests/two.rs",
            &target(
                4,
                twice,
                "9",
                "twice!() == 2 && env!(\"CARGO_BIN_EXE_sample\").ends_with(\"sample\")",
            ),
        ),
        ("src/main.rs", "fn main() {}\n"),
        ("tests/wrong.rs", &target(5, twice, "10 + twice!()", "true")),
    ]);
    let all = [
        "tests::inside",
        "tests_one::outside",
        "tests_two::outside",
        "tests_wrong::outside",
    ];
    let run = seqz(dir.path(), ["explore", "--format", "json"]);
    assert_eq!(run.code, Some(1), "{}", run.shown());
    assert_eq!(names(&run), all);
    let report = run.json();
    for harness in report["harnesses"].as_array().unwrap() {
        let failing = harness["name"] == "tests_wrong::outside";
        let failures = harness["failures"].as_array().unwrap();
        assert_eq!(failures.len(), usize::from(failing), "{harness:#}");
    }
    let finding = support::newest_finding(dir.path(), &report);
    let finding = finding.to_str().unwrap();
    let run = seqz(dir.path(), ["replay", finding]);
    assert_eq!(run.code, Some(1), "{}", run.shown());
    let run = seqz(dir.path(), ["check", "--harness", "tests_one::outside"]);
    assert_eq!(run.code, Some(0), "{}", run.shown());
    // What does not compile as it is is the user's to mend.
    fs::write(
        dir.path().join("tests/two.rs"),
        target(4, "", "9", "missing()"),
    )
    .unwrap();
    let run = seqz(dir.path(), ["check"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    assert!(run.stderr.contains("tests/two.rs"), "{}", run.shown());
}

#[test]
fn dependencies_that_are_not_there_are_to_be_fetched() {
    let lib = format!("{HEAD}{}", lost_update());
    let manifest = format!("{MANIFEST}\n[dependencies]\nno-such-crate-of-seqz = \"1\"\n");
    let dir = program(&[("Cargo.toml", &manifest), ("src/lib.rs", &lib)]);
    let checked = seqz(dir.path(), ["check"]);
    assert_eq!(checked.code, Some(2), "{}", checked.shown());
    assert!(
        checked.stderr.contains("cargo fetch"),
        "{}",
        checked.shown()
    );
}

#[test]
fn a_lone_file_is_built_in_a_cache_directory() {
    let lib = format!("{HEAD}{}", lost_update());
    let dir = program(&[("race.rs", &lib)]);
    let checked = run(command(dir.path())
        .args(["check", "race.rs", "--k-max", "0"])
        .env_remove("SEQZ_TARGET_DIR")
        .env("XDG_CACHE_HOME", dir.path().join("cache")));
    assert_eq!(checked.code, Some(1), "{}", checked.shown());
    assert!(dir.path().join("cache/seqz/programs").is_dir());
    let nowhere = run(command(dir.path())
        .args(["check", "race.rs"])
        .env_remove("SEQZ_TARGET_DIR")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("HOME")
        // Else rustup finds no toolchain.
        .envs(
            std::env::var_os("HOME").map(|home| ("RUSTUP_HOME", Path::new(&home).join(".rustup"))),
        ));
    assert_eq!(nowhere.code, Some(2), "{}", nowhere.shown());
    let in_the_way = seqz(
        dir.path(),
        ["check", "race.rs", "--target-dir", "race.rs/x"],
    );
    assert_eq!(in_the_way.code, Some(2), "{}", in_the_way.shown());
    let help = "name another directory to build in with --target-dir";
    assert!(in_the_way.stderr.contains(help), "{}", in_the_way.shown());
}

/// Features are chosen as with cargo, in the source as in the build.
#[test]
fn features_are_those_of_the_command_line() {
    let race = |name: &str| {
        format!(
            "#[test]\nfn {name}() {{\n    std::thread::scope(|s| {{ s.spawn(|| ()); }});\n    \
             assert_eq!(env!(\"FEATURES\").contains(\"MORE\"), cfg!(feature = \"more\"));\n}}\n"
        )
    };
    let lib = format!(
        "{}#[cfg(feature = \"broken\")]\n#[test]\nfn broken() {{ std::thread::scope(|s| {{ s.spawn(|| ()); }}); panic!(\"built so\") }}\n\
         #[cfg(feature = \"more\")]\n{}#[cfg(feature = \"usual\")]\n{}",
        race("always"),
        race("more"),
        race("usual")
    );
    let manifest = format!(
        "{MANIFEST}[features]\ndefault = [\"usual\"]\nusual = []\nmore = []\nbroken = []\n"
    );
    let script = "fn main() {\n    let more = std::env::var(\"CARGO_FEATURE_MORE\").map_or(\"\", |_| \"MORE\");\n    \
                  println!(\"cargo:rustc-env=FEATURES={more}\");\n}\n";
    let dir = program(&[
        ("Cargo.toml", &manifest),
        ("build.rs", script),
        ("src/lib.rs", &lib),
    ]);
    for (options, expected) in [
        (&[][..], &["always", "usual"][..]),
        (&["--features", "more"], &["always", "more", "usual"]),
        (&["--all-features"], &["always", "broken", "more", "usual"]),
        (&["--no-default-features"], &["always"]),
        (
            &["--no-default-features", "-F", "more"],
            &["always", "more"],
        ),
    ] {
        for command in ["list", "explore"] {
            let run = seqz(
                dir.path(),
                [&[command, "--format", "json"], options].concat(),
            );
            let fails = command == "explore" && expected.contains(&"broken");
            assert_eq!(run.code, Some(fails.into()), "{options:?}: {}", run.shown());
            let report = run.json();
            let harnesses = report["harnesses"].as_array().unwrap();
            let names: Vec<_> = harnesses
                .iter()
                .map(|it| it["name"].as_str().unwrap())
                .collect();
            assert_eq!(names, expected, "{options:?}");
        }
    }
    // A finding is run again with the features that it was found with.
    for (command, found) in [("explore", "failures"), ("check", "bugs")] {
        let options = ["--no-default-features", "-F", "broken", "--format", "json"];
        let report = seqz(dir.path(), [command].iter().chain(&options)).json();
        let harnesses = report["harnesses"].as_array().unwrap();
        let broken = harnesses.iter().find(|it| it["name"] == "broken").unwrap();
        let finding = broken[found][0]["finding"].as_str().unwrap();
        let again = seqz(dir.path(), ["replay", finding]);
        assert_eq!(again.code, Some(1), "{}", again.shown());
        assert!(again.stdout.contains("built so"), "{}", again.shown());
        // Another choice is taken as it is given.
        let without = seqz(dir.path(), ["replay", finding, "--no-default-features"]);
        assert_eq!(without.code, Some(2), "{}", without.shown());
    }
    let run = seqz(dir.path(), ["check", "--features", "mroe"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    assert!(run.stderr.contains("no feature `mroe`"), "{}", run.shown());
    assert!(
        run.stderr.contains("there are: broken, more, usual"),
        "{}",
        run.shown()
    );
}

/// In a workspace a feature is for the packages that have it.
#[test]
fn features_of_a_workspace_are_for_those_that_have_them() {
    let test = "#[test]\n#[cfg(feature = \"more\")]\nfn more() { std::thread::scope(|s| { s.spawn(|| ()); }); }\n\
                #[test]\nfn always() { std::thread::scope(|s| { s.spawn(|| ()); }); }\n";
    let package = |name: &str, more: &str| {
        format!("[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
    };
    let has = "[features]\nmore = []\n";
    let dir = program(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"*\"]\nresolver = \"2\"\n",
        ),
        ("one/Cargo.toml", &package("one", has)),
        ("one/src/lib.rs", test),
        ("two/Cargo.toml", &package("two", has)),
        ("two/src/lib.rs", test),
        ("lacks/Cargo.toml", &package("lacks", "")),
        ("lacks/src/lib.rs", test),
    ]);
    let listed = |features: &str| {
        let run = seqz(
            dir.path(),
            ["list", "--format", "json", "--features", features],
        );
        assert_eq!(run.code, Some(0), "{features}: {}", run.shown());
        let report = run.json();
        let names = report["harnesses"].as_array().unwrap().iter();
        let names = names.map(|it| it["name"].as_str().unwrap().to_owned());
        names.filter(|it| it.ends_with("more")).collect::<Vec<_>>()
    };
    assert_eq!(listed("more"), ["one::more", "two::more"]);
    assert_eq!(listed("two/more"), ["two::more"]);
    let run = seqz(dir.path(), ["list", "--features", "mroe"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    assert!(
        run.stderr.contains("none of the packages"),
        "{}",
        run.shown()
    );
}

/// A path to a test beside the library asks for its harnesses, without those of the library that is compiled with it.
#[test]
fn a_path_to_a_test_asks_for_its_harnesses() {
    let test = |name: &str| {
        format!("#[test]\nfn {name}() {{ std::thread::scope(|s| {{ s.spawn(|| ()); }}); }}\n")
    };
    let own = format!("mod more;\n{}", test("own"));
    let dir = program(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            &format!("pub mod inner;\n{}", test("of_library")),
        ),
        ("src/inner.rs", &test("of_module")),
        ("tests/beside.rs", &own),
        ("tests/more/mod.rs", &test("of_its_module")),
        ("tests/other.rs", &test("of_other")),
    ]);
    for (path, expected) in [
        (
            "tests/beside.rs",
            &["tests_beside::own", "tests_beside::more::of_its_module"][..],
        ),
        ("src/inner.rs", &["inner::of_module"]),
        ("src/lib.rs", &["of_library", "inner::of_module"]),
    ] {
        let run = seqz(dir.path(), ["list", path, "--format", "json"]);
        let report = run.json();
        let harnesses = report["harnesses"].as_array().unwrap();
        let names: Vec<_> = harnesses
            .iter()
            .map(|it| it["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, expected, "{path}");
    }
}
