//! The catalogue of strategies: what the README says of them, and what the command line offers, is what is in it.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use seqz::solvers::{CAUSALITY, FEASIBILITY};
use seqz_explore::catalogue::{DEFAULT, STRATEGIES};
use support::{package, seqz};

/// The table of the README.
fn table() -> String {
    let rows = STRATEGIES.iter().map(|entry| {
        let bound = entry.bound.map_or_else(String::new, |bound| {
            let default = bound
                .default
                .map_or("any number".to_owned(), |it| it.to_string());
            format!("{}: {default}", bound.of)
        });
        let default = if entry.name == DEFAULT {
            ", the default"
        } else {
            ""
        };
        let (name, about, ends) = (entry.name, entry.about, entry.ends.words());
        format!("| `{name}`{default} | {about} | {bound} | {ends} |\n")
    });
    let head = "| strategy | tries | `--bound` | promises at its end |\n|---|---|---|---|\n";
    head.chars()
        .chain(rows.flat_map(|row| row.chars().collect::<Vec<_>>()))
        .collect()
}

#[test]
fn the_readme_has_the_table_of_strategies() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let text = fs::read_to_string(&file).unwrap();
    let begin = "cargo test -p seqz --test strategies -->\n";
    let (before, rest) = text.split_once(begin).expect("the table has a beginning");
    let (kept, after) = rest
        .split_once("<!-- end of the table -->")
        .expect("the table has an end");
    if std::env::var_os("SEQZ_UPDATE").is_some() {
        let text = [before, begin, &table(), "<!-- end of the table -->", after].concat();
        fs::write(&file, text).unwrap();
        return;
    }
    assert_eq!(
        kept,
        table(),
        "make it again: SEQZ_UPDATE=1 cargo test -p seqz --test strategies"
    );
}

#[test]
fn the_command_line_has_them_all() {
    let dir = package("");
    let help = seqz(dir.path(), ["explore", "--help"]).stdout;
    let (_, values) = help.split_once("--strategy <STRATEGY>").unwrap();
    let (values, _) = values.split_once(&format!("[default: {DEFAULT}]")).unwrap();
    let offered = values
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "));
    let offered: Vec<_> = offered
        .filter_map(|line| Some(line.split_once(':')?.0))
        .collect();
    let names: Vec<_> = STRATEGIES.iter().map(|entry| entry.name).collect();
    assert_eq!(offered, names);
    let run = seqz(dir.path(), ["explore", "--strategy", "odpr"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    assert!(run.stderr.contains("odpr"), "{}", run.shown());
}

/// The Rust blocks of the walk in docs/adding.md, in order.
fn blocks() -> Vec<String> {
    let page = fs::read_to_string(root().join("docs/adding.md")).unwrap();
    let (_, walk) = page.split_once("## Add a strategy").unwrap();
    let (walk, _) = walk.split_once("\n## ").unwrap();
    let blocks = walk.split("   ```rust\n").skip(1);
    blocks
        .map(|block| {
            let (block, _) = block.split_once("   ```\n").unwrap();
            let lines = block.lines();
            lines
                .map(|line| format!("{}\n", line.get(3..).unwrap_or_default()))
                .collect()
        })
        .collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}

#[test]
fn a_strategy_is_added_by_the_walk() {
    let [strategy, module, row] = &blocks()[..] else {
        panic!("the walk has three blocks");
    };
    let dir = tempfile::tempdir().unwrap();
    let explore = dir.path().join("explore");
    copy(&root().join("explore"), &explore);
    copy(&root().join("vocabulary"), &dir.path().join("vocabulary"));
    fs::copy(root().join("Cargo.lock"), dir.path().join("Cargo.lock")).unwrap();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut manifest: toml::Table = manifest.parse().unwrap();
    let workspace = manifest["workspace"].as_table_mut().unwrap();
    workspace.insert("members".into(), vec!["vocabulary", "explore"].into());
    workspace.remove("default-members");
    let profiles = manifest["profile"].as_table_mut().unwrap();
    for (_, profile) in profiles.iter_mut() {
        profile.as_table_mut().unwrap().remove("package");
    }
    fs::write(dir.path().join("Cargo.toml"), manifest.to_string()).unwrap();

    fs::write(explore.join("src/lowest.rs"), strategy).unwrap();
    let edit = |file: &str, edited: &dyn Fn(&str) -> String| {
        let file = explore.join(file);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, edited(&text)).unwrap();
    };
    edit("src/lib.rs", &|text| format!("{text}{module}"));
    edit("src/catalogue.rs", &|text| {
        let (rows, rest) = text.rsplit_once("];").unwrap();
        format!("{rows}{row}];{rest}")
    });

    let test = |name: &str| {
        let run = Command::new(env!("CARGO"))
            .args(["test", "--offline", "--quiet", "--test", "catalogue", name])
            .current_dir(&explore)
            .env(
                "CARGO_TARGET_DIR",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("walk"),
            )
            .output()
            .unwrap();
        let said = [run.stdout, run.stderr].concat();
        (
            run.status.success(),
            String::from_utf8_lossy(&said).into_owned(),
        )
    };
    let (passes, said) = test("");
    assert!(passes, "{said}");
    // The tests look at the new row: with a wrong one they fail.
    edit("src/catalogue.rs", &|text| {
        let (before, row) = text.split_once("name: \"lowest\"").unwrap();
        let row = row.replacen("Ends::Heuristic", "Ends::Exhausted", 1);
        format!("{before}name: \"lowest\"{row}")
    });
    let (passes, said) = test("each_strategy_ends_as_its_row_says");
    assert!(!passes && said.contains("lowest"), "{said}");
}

#[test]
fn solvers_are_offered_as_they_are_in_the_table() {
    let dir = package("");
    let offered = |command: &str| {
        let help = seqz(dir.path(), [command, "--help"]).stdout;
        let (_, values) = help.split_once("--solver <SOLVER>").unwrap();
        let (_, values) = values.split_once("Possible values:").unwrap();
        let values = values.lines().skip(1).map(str::trim);
        let values = values.map_while(|line| line.strip_prefix("- "));
        let values = values.map(|line| line.split_once(':').unwrap().0.to_owned());
        values.collect::<Vec<_>>()
    };
    let names = FEASIBILITY.iter().map(|solver| solver.name);
    assert_eq!(offered("check"), names.collect::<Vec<_>>());
    let names = CAUSALITY.iter().map(|solver| solver.name);
    assert_eq!(offered("explore"), names.collect::<Vec<_>>());
}
