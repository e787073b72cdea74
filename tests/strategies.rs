//! The catalogue of strategies: what the README says of them, and what the command line offers, is what is in it.

mod support;

use std::fs;
use std::path::Path;

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
