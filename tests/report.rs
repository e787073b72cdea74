//! `seqz report`, on findings as they are made.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::programs::{HEAD, lost_update};
use support::{newest_finding, package, program, seqz};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The picture in the book is what its command draws.
#[test]
fn the_picture_of_bluetooth_is_up_to_date() {
    let run = seqz(
        &repository(),
        ["check", "examples/bluetooth.rs", "--format", "json"],
    );
    assert_eq!(run.code, Some(1), "{}", run.shown());
    let finding = newest_finding(&repository(), &run.json());
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("report.html");
    let args = [Path::new("report"), &finding, Path::new("--svg")];
    let run = seqz(
        &repository(),
        args.into_iter().chain([dir.path(), Path::new("-o"), &page]),
    );
    assert_eq!(run.code, Some(0), "{}", run.shown());
    let drawn = fs::read_to_string(dir.path().join("progress.svg")).unwrap();
    let kept = repository().join("docs/bluetooth-progress.svg");
    if std::env::var_os("SEQZ_UPDATE").is_some() {
        fs::write(&kept, &drawn).unwrap();
    }
    assert!(
        drawn == fs::read_to_string(&kept).unwrap(),
        "draw docs/bluetooth-progress.svg again: SEQZ_UPDATE=1 cargo test -p seqz --test report"
    );
    let page = fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("stop_during_a_request"));
}

#[test]
fn every_finding_can_be_drawn() {
    let dir = package(&format!("{HEAD}{}", lost_update()));
    for by in ["check", "explore"] {
        let run = seqz(dir.path(), [by, "--format", "json"]);
        let finding = newest_finding(dir.path(), &run.json());
        let page = finding.with_extension("html");
        let page = page.file_name().unwrap().to_str().unwrap();
        let run = seqz(dir.path(), [Path::new("report"), &finding]);
        assert_eq!(run.code, Some(0), "{}", run.shown());
        assert_eq!(run.stdout.trim(), page);
        let page = fs::read_to_string(dir.path().join(page)).unwrap();
        assert!(page.contains("class=\"progress\""), "{by}");
        // A thread has the colour here that it has in the schedule, where the harness may be another one.
        let first = if by == "check" { 0 } else { 1 };
        for lane in [first, first + 1] {
            for class in ["head", "axis", "steps"] {
                let class = format!("class=\"{class} lane{lane}\"");
                assert!(page.contains(&class), "{by}: {class}");
            }
        }
    }
}

#[test]
fn every_finding_can_be_told() {
    let dir = package(&format!("{HEAD}{}", lost_update()));
    for by in ["check", "explore"] {
        let run = seqz(dir.path(), [by, "--format", "json"]);
        let finding = newest_finding(dir.path(), &run.json());
        let told = seqz(dir.path(), [Path::new("show"), &finding]);
        assert_eq!(told.code, Some(0), "{}", told.shown());
        // It is what the command prints that finds it.
        let found = seqz(dir.path(), [by]).stdout;
        let story: Vec<_> = told.stdout.lines().skip(2).collect();
        let story = story[..story.len() - 1].join("\n");
        assert!(found.contains(story.trim()), "{found}\n\n{story}");
        let args = [Path::new("show"), &finding, Path::new("--format=markdown")];
        let markdown = seqz(dir.path(), args).stdout;
        assert!(markdown.starts_with("### seqz: "), "{markdown}");
        let text = markdown.split("```").nth(1).unwrap();
        assert!(text.contains(story.trim()), "{markdown}");
    }
}

#[test]
fn what_is_no_finding_is_refused() {
    let dir = program(&[("no.json", "{}"), ("text.json", "fn main() {}")]);
    for (file, said) in [
        ("no.json", "does not have"),
        ("text.json", "text.json"),
        ("missing.json", "cannot read"),
    ] {
        let run = seqz(dir.path(), ["report", file]);
        assert_eq!(run.code, Some(2), "{}", run.shown());
        assert!(run.stderr.contains(said), "{}", run.shown());
        let written = Path::new(file).with_extension("html");
        assert!(!dir.path().join(written).exists());
    }
}
