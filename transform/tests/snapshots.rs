//! What the transformation makes of source text, line by line.
//!
//! The inputs are programs that try to confuse it; `cargo insta review` shows what a change does to them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use seqz_transform::{Error, Mode, Options, Program};

fn inputs(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(directory);
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// Paths without the directory that the tests are in.
fn neutral(text: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    text.replace(&format!("{}/", directory.display()), "")
        .replace("tests/inputs/", "inputs/")
}

/// The lines that differ, with their numbers. No line is added or taken away.
fn changed(before: &str, after: &str) -> String {
    let after = after.strip_suffix("\npub mod p_hat;\n").unwrap();
    assert_eq!(before.lines().count(), after.lines().count());
    let mut text = String::new();
    for (number, (old, new)) in before.lines().zip(after.lines()).enumerate() {
        if old != new {
            writeln!(text, "{:>3} - {old}\n    + {new}", number + 1).unwrap();
        }
    }
    text
}

#[test]
fn rewritten_lines() {
    for path in inputs("inputs") {
        let program = Program::load(&path, Mode::Sequential).unwrap();
        let generated = program.transform(&Options::default()).unwrap();
        let (file, text) = &generated.files[0];
        assert_eq!(file, Path::new("src/lib.rs"));
        let changed = changed(program.source(program.root()).unwrap(), text);
        insta::assert_snapshot!(format!("rewritten_{}", stem(&path)), changed);
    }
}

#[test]
fn generated_files() {
    for name in ["inputs", "cfgs"] {
        let path = inputs("inputs")
            .into_iter()
            .find(|path| stem(path) == name)
            .unwrap();
        let program = Program::load(&path, Mode::Sequential).unwrap();
        let generated = program
            .transform(&Options {
                k: 3,
                ..Options::default()
            })
            .unwrap();
        let mut text = String::new();
        for (file, contents) in &generated.files[1..] {
            writeln!(text, "=== {}\n{contents}", file.display()).unwrap();
        }
        insta::assert_snapshot!(format!("generated_{name}"), neutral(&text));
    }
}

#[test]
fn harnesses() {
    let mut text = String::new();
    for path in inputs("inputs").into_iter().chain(inputs("refused")) {
        let program = Program::load(&path, Mode::Sequential).unwrap();
        writeln!(text, "{}", stem(&path)).unwrap();
        for harness in program.harnesses() {
            let ignored = if harness.ignored { ", ignored" } else { "" };
            writeln!(
                text,
                "  {} ({:?}{ignored}, line {})",
                harness.name, harness.kind, harness.place.start.line
            )
            .unwrap();
            for param in &harness.params {
                writeln!(text, "    {}: {}", param.name, param.ty).unwrap();
            }
            for site in &harness.spawn_sites {
                let scoped = if site.scoped { " scoped" } else { "" };
                writeln!(
                    text,
                    "    thread at line {}{scoped} {:?}",
                    site.line, site.name
                )
                .unwrap();
            }
            if let Some(error) = &harness.unsupported {
                writeln!(
                    text,
                    "    can't be run: {error}\n      {}",
                    error.each()[0].help().unwrap()
                )
                .unwrap();
            }
        }
    }
    insta::assert_snapshot!(neutral(&text));
}

#[test]
fn refusals() {
    for path in inputs("refused") {
        let refused = |mode| {
            let program = Program::load(&path, mode).unwrap();
            let error = program.transform(&Options::default()).err();
            error.map_or_else(String::new, |error| described(&error)) + &unfollowed(&program)
        };
        insta::assert_snapshot!(
            format!("refused_{}", stem(&path)),
            refused(Mode::Sequential)
        );
        if stem(&path) == "std_items" {
            // Much of it is run with threads.
            insta::assert_snapshot!("refused_when_scheduled", refused(Mode::Scheduled));
        }
    }
}

/// What can be run but not followed.
fn unfollowed(program: &Program) -> String {
    let mut text = String::new();
    for harness in program.harnesses() {
        for hidden in &harness.unfollowed {
            let place = &hidden.place;
            let line = place
                .source
                .lines()
                .nth(place.start.line as usize - 1)
                .unwrap();
            writeln!(
                text,
                "{}: not followed: {}\n  {line}",
                place.start, hidden.what
            )
            .unwrap();
        }
    }
    text
}

/// Each error with the source it points at.
fn described(error: &Error) -> String {
    let mut text = String::new();
    for error in error.each() {
        let place = error.place().unwrap();
        writeln!(text, "{}-{} `{}`", place.start, place.end, place.text()).unwrap();
        writeln!(text, "  {error}\n  help: {}", error.help().unwrap()).unwrap();
    }
    text
}

#[test]
fn the_same_every_time() {
    for path in inputs("inputs") {
        let generate = || {
            Program::load(&path, Mode::Sequential)
                .unwrap()
                .transform(&Options::default())
                .unwrap()
        };
        let (one, two) = (generate(), generate());
        assert_eq!(one.files, two.files);
        assert_eq!(one.map, two.map);
    }
}

#[test]
fn generated_text_parses() {
    for path in inputs("inputs") {
        let generated = Program::load(&path, Mode::Sequential)
            .unwrap()
            .transform(&Options::default())
            .unwrap();
        for (file, text) in generated
            .files
            .iter()
            .filter(|(file, _)| file.extension().is_some_and(|it| it == "rs"))
        {
            syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
    }
}
