//! What a project gives in `seqz.toml`, and what `seqz init` writes.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{SEQZ, command, package, program, run, seqz, settings, target_dir};

const LOST: &str = "
use std::sync::{Arc, atomic::{AtomicU32, Ordering::SeqCst}};
#[test]
fn lost_update() {
    let x = Arc::new(AtomicU32::new(0));
    let y = Arc::clone(&x);
    let other = std::thread::spawn(move || { let v = y.load(SeqCst); y.store(v + 1, SeqCst); });
    let v = x.load(SeqCst);
    x.store(v + 1, SeqCst);
    other.join().unwrap();
    assert_eq!(x.load(SeqCst), 2);
}
#[test]
fn harmless() {
    let other = std::thread::spawn(|| ());
    other.join().unwrap();
}
";

/// The largest k of the levels that `seqz check` reports, and the names of its harnesses.
fn checked(dir: &Path, args: &[&str]) -> (u64, Vec<String>, String) {
    let checked = seqz(dir, ["check", "--format", "json"].iter().chain(args));
    let report = checked.json();
    let all = report["harnesses"].as_array().unwrap();
    let names = all.iter().map(|it| it["name"].as_str().unwrap().to_owned());
    (
        report["k_max"].as_u64().unwrap(),
        names.collect(),
        checked.stderr,
    )
}

#[test]
fn the_command_line_has_the_last_word() {
    let dir = package(LOST);
    let file = dir.path().join("seqz.toml");
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    fs::write(&file, "k-max = 1\n[check]\nharness = [\"lost_update\"]\n").unwrap();
    let (k, harnesses, said) = checked(dir.path(), &[]);
    assert_eq!((k, harnesses), (1, names(&["lost_update"])));
    assert!(
        said.contains("seqz.toml gives --harness=lost_update --k-max=1"),
        "{said}"
    );
    // One of them is given, the other one is not.
    let (k, harnesses, _) = checked(dir.path(), &["--harness", "harmless"]);
    assert_eq!((k, harnesses), (1, names(&["harmless"])));
    let (k, harnesses, said) = checked(dir.path(), &["--no-config"]);
    assert_eq!((k, harnesses), (3, names(&["lost_update", "harmless"])));
    assert!(!said.contains("seqz.toml"), "{said}");
    // Another command's own table is nothing to this one, and its own table is more than what is for all.
    fs::write(
        &file,
        "k-max = 1\nstrategy = \"dfs\"\n[check]\nk-max = 2\n[explore]\nharness = \"harmless\"\n",
    )
    .unwrap();
    let (k, harnesses, _) = checked(dir.path(), &[]);
    assert_eq!((k, harnesses), (2, names(&["lost_update", "harmless"])));
    let explored = seqz(dir.path(), ["explore", "--format", "json"]).json();
    assert_eq!(explored["harnesses"].as_array().unwrap().len(), 1);
    assert_eq!(explored["strategy"], "dfs");
    fs::remove_file(file).unwrap();
}

#[test]
fn a_filter_is_no_program_and_a_choice_takes_the_place_of_another() {
    let dir = package(LOST);
    let file = dir.path().join("seqz.toml");
    fs::write(&file, "[test]\ntime = 3\nlib = true\n").unwrap();
    let tested = seqz(dir.path(), ["test", "harmless"]);
    assert_eq!(tested.code, Some(0), "{}", tested.shown());
    let said = "seqz.toml gives --lib --time=3";
    assert!(tested.stderr.contains(said), "{}", tested.shown());
    // What is asked for takes the place of the library.
    let tested = seqz(dir.path(), ["test", ".", "--test", "none"]);
    assert!(!tested.stderr.contains("--lib"), "{}", tested.shown());
    assert_eq!(tested.code, Some(2), "{}", tested.shown());
    fs::remove_file(file).unwrap();
}

#[test]
fn a_member_has_what_its_workspace_gives() {
    let package = "[package]\nname = \"member\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let dir = program(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"member\"]\n[workspace.metadata.seqz]\nk-max = 0\n",
        ),
        ("member/Cargo.toml", package),
        ("member/src/lib.rs", LOST),
    ]);
    let member = dir.path().join("member");
    let args = ["--no-explore"];
    assert_eq!(checked(&member, &args).0, 0);
    // The nearest one counts, alone.
    let own = format!("{package}[package.metadata.seqz.check]\nk-max = 1\n");
    fs::write(member.join("Cargo.toml"), own).unwrap();
    let (k, _, said) = checked(&member, &args);
    assert_eq!(k, 1);
    assert!(said.contains("Cargo.toml gives --k-max=1"), "{said}");
    fs::write(member.join("seqz.toml"), "").unwrap();
    assert_eq!(checked(&member, &args).0, 3);
    // What lies above the workspace is another project's.
    fs::write(member.join("seqz.toml"), "k-max = 2\n").unwrap();
    fs::write(member.join("Cargo.toml"), format!("{package}[workspace]\n")).unwrap();
    fs::create_dir(member.join("tests")).unwrap();
    assert_eq!(checked(&member, &args).0, 2);
}

#[test]
fn what_no_command_takes_is_shown_with_its_line() {
    let dir = package(LOST);
    let mut said = String::new();
    for text in [
        "k_max = 1\n",
        "k-max = \"many\"\n",
        "k-max = [1]\n",
        "harness = [[\"a\"]]\n",
        "no-explore = 1\n",
        "[check]\nstrategy = \"dfs\"\n",
        "[explore]\nstrategy = \"fastest\"\n",
        "[checks]\nk-max = 1\n",
        "exclude = [\"a\"]\n",
        "k-max = \n",
    ] {
        fs::write(dir.path().join("seqz.toml"), text).unwrap();
        let refused = seqz(dir.path(), ["check"]);
        assert_eq!(refused.code, Some(2), "{text}: {}", refused.shown());
        said.push_str(&refused.stderr);
        // A slip in it does not keep anybody from help.
        assert_eq!(seqz(dir.path(), ["check", "--help"]).code, Some(0));
    }
    fs::remove_file(dir.path().join("seqz.toml")).unwrap();
    settings(dir.path()).bind(|| insta::assert_snapshot!("seqz_toml", said));
}

/// The steps of the workflow that run `cargo seqz`.
fn steps(workflow: &str) -> Vec<String> {
    let lines = workflow.lines().map(str::trim);
    let steps = lines.filter_map(|line| line.strip_prefix("run: cargo seqz"));
    steps.map(|rest| format!("cargo seqz{rest}")).collect()
}

#[test]
fn what_init_writes_does_what_it_says() {
    let dir = package(LOST);
    for file in ["seqz.toml", ".github/workflows/seqz.yml"] {
        let _ = fs::remove_file(dir.path().join(file));
    }
    let wrote = seqz(dir.path(), ["init"]);
    assert_eq!(wrote.code, Some(0), "{}", wrote.shown());
    settings(dir.path()).bind(|| insta::assert_snapshot!("init", wrote.shown()));
    let again = seqz(dir.path(), ["init"]);
    assert!(again.stdout.contains("stays as it is"), "{}", again.shown());

    // Each option in it is one, also those that are commented out.
    let file = dir.path().join("seqz.toml");
    let text = fs::read_to_string(&file).unwrap();
    let on = text.lines().map(|line| match line.strip_prefix("# ") {
        Some(rest) if rest.starts_with('[') || rest.contains(" = ") => rest,
        _ => line,
    });
    let on: Vec<_> = on
        .filter(|line| !line.starts_with("not-followed") && !line.starts_with("input"))
        .collect();
    assert!(on.len() > 10 && on.contains(&"[explore]"), "{on:?}");
    fs::write(&file, on.join("\n")).unwrap();
    let listed = seqz(dir.path(), ["list"]);
    assert_eq!(listed.code, Some(0), "{}", listed.shown());
    fs::write(&file, text).unwrap();

    // The steps of the workflow, as a runner would take them.
    let workflow = fs::read_to_string(dir.path().join(".github/workflows/seqz.yml")).unwrap();
    let steps = steps(&workflow);
    assert_eq!(steps.len(), 2, "{workflow}");
    let bin = Path::new(SEQZ).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    for step in steps {
        let mut shell = Command::new("sh");
        shell
            .args(["-ec", &step])
            .env("PATH", &path)
            .envs(
                command(dir.path())
                    .get_envs()
                    .filter_map(|(k, v)| Some((k, v?))),
            )
            .env("SEQZ_TARGET_DIR", target_dir())
            .current_dir(dir.path());
        let ran = run(&mut shell);
        assert_eq!(ran.code, Some(1), "{}", ran.shown());
        assert!(
            ran.stdout.contains("::error file=src/lib.rs,line=11"),
            "{}",
            ran.shown()
        );
    }
}

/// Runs a step of a job in a shell.
fn step(dir: &Path, step: &str, environment: &[(&str, &str)]) -> support::Run {
    let bin = Path::new(SEQZ).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    let settings = command(dir);
    let settings = settings.get_envs().filter_map(|(k, v)| Some((k, v?)));
    shell.args(["-ec", step]).envs(settings);
    shell
        .env("PATH", &path)
        .env("SEQZ_TARGET_DIR", target_dir());
    shell.env_remove("SLURM_TMPDIR");
    shell.envs(environment.iter().copied()).current_dir(dir);
    run(&mut shell)
}

#[test]
fn the_jobs_that_init_writes_search_in_pieces() {
    let dir = package(LOST);
    let dir = dir.path();
    let (matrix, slurm) = (".github/workflows/seqz-pieces.yml", "seqz.sbatch");
    for file in ["seqz.toml", matrix, slurm] {
        let _ = fs::remove_file(dir.join(file));
    }
    let wrote = seqz(dir, ["init", "--no-ci", "--matrix", "--slurm"]);
    assert_eq!(wrote.code, Some(0), "{}", wrote.shown());

    let workflow = fs::read_to_string(dir.join(matrix)).unwrap();
    let steps = steps(&workflow);
    let [search, merge] = steps.as_slice() else {
        panic!("{workflow}")
    };
    let numbers = workflow.split_once("piece: [").unwrap().1;
    let numbers: Vec<_> = numbers.split(']').next().unwrap().split(", ").collect();
    let pieces = numbers.len().to_string();
    assert!(workflow.contains(&format!("PIECES: {pieces}\n")));
    for number in &numbers {
        let ran = step(dir, search, &[("PIECE", *number), ("PIECES", &pieces)]);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
    }
    let merged = step(dir, merge, &[]);
    assert_eq!(merged.code, Some(1), "{}", merged.shown());
    assert!(merged.stdout.contains("All of 4 pieces are here."));
    assert!(merged.stdout.contains("one failure found"));

    let script = fs::read_to_string(dir.join(slurm)).unwrap();
    for number in ["1", "3"] {
        let of_slurm = [
            ("SLURM_ARRAY_TASK_ID", number),
            ("SLURM_ARRAY_TASK_COUNT", "3"),
            ("SLURM_CPUS_PER_TASK", "2"),
        ];
        let ran = step(dir, "bash seqz.sbatch", &of_slurm);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
    }
    let merge = script.split_once("--wrap '").unwrap().1;
    let merge = merge.split('\'').next().unwrap();
    let merged = step(dir, merge, &[]);
    assert!(
        merged
            .stdout
            .contains("2 of 3 pieces are here; missing: 2."),
        "{}",
        merged.shown()
    );
}
