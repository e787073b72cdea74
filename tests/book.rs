//! The book: every console block in it is what seqz prints, its table of contents names the pages that are there, and the
//! pictures are those that seqz draws.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use support::{Run, command, run, target_dir};

/// What stands in the book for the name that seqz gives a program by where it lies.
const NAME: &str = "tickets-0123456789abcdef";

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book")
}

fn updating() -> bool {
    std::env::var_os("SEQZ_UPDATE").is_some()
}

/// The pages that the table of contents names, in its order.
fn contents() -> Vec<PathBuf> {
    let summary = fs::read_to_string(book().join("src/SUMMARY.md")).unwrap();
    summary
        .split("](")
        .skip(1)
        .map(|rest| book().join("src").join(rest.split(')').next().unwrap()))
        .collect()
}

#[test]
fn the_table_of_contents_names_all_pages() {
    let named: BTreeSet<_> = contents().into_iter().collect();
    let there: BTreeSet<_> = fs::read_dir(book().join("src"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension().is_some_and(|it| it == "md") && !path.ends_with("SUMMARY.md")
        })
        .collect();
    assert_eq!(named, there);
    assert!(book().join("book.toml").exists());
}

/// The programs of the book in a place of their own, beside which seqz builds them.
struct Programs {
    dir: PathBuf,
    target: PathBuf,
}

impl Programs {
    /// As on a new machine, but for what was compiled.
    fn new() -> Self {
        let target = target_dir().join("book");
        let dir = target.join("tickets");
        for old in ["tickets", "findings", "proofs"] {
            let old = target.join(old);
            if old.exists() {
                fs::remove_dir_all(old).unwrap();
            }
        }
        fs::create_dir_all(dir.join("src")).unwrap();
        let from = book().join("programs");
        fs::copy(from.join("Cargo.toml"), dir.join("Cargo.toml")).unwrap();
        for file in fs::read_dir(from.join("src")).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), dir.join("src").join(file.file_name())).unwrap();
        }
        Self { dir, target }
    }

    /// The name that the programs have in the target directory.
    fn name(&self) -> Option<String> {
        let mut findings = fs::read_dir(self.target.join("findings")).ok()?;
        let entry = findings.next()?.ok()?;
        Some(entry.file_name().to_str()?.to_owned())
    }

    fn run(&self, line: &str) -> Run {
        let mut line = line.to_owned();
        if let Some(name) = self.name() {
            line = line.replace(NAME, &name);
        }
        let target = self.target.display().to_string();
        let line = line.replace("target/seqz", &target);
        let words = line.split_whitespace().skip(1);
        run(command(&self.dir)
            .env("SEQZ_TARGET_DIR", &self.target)
            .args(words))
    }

    /// What is printed, without what differs from machine to machine and from run to run.
    fn shown(&self, text: &str) -> String {
        let mut text = text.replace(&self.target.display().to_string(), "target/seqz");
        if let Some(name) = self.name() {
            text = text.replace(&name, NAME);
        }
        text.lines()
            .map(|line| steady(line).trim_end().to_owned() + "\n")
            .collect()
    }
}

/// A line with the same times and counts of drawn schedules on all machines.
fn steady(line: &str) -> String {
    let mut line = line.to_owned();
    // " (and 3.20 s of building)" is there only where something was built.
    if let Some((before, rest)) = line.split_once(" (and ")
        && let Some((_, after)) = rest.split_once(" s of building)")
    {
        line = format!("{before}{after}");
    }
    let words = line.split(' ').collect::<Vec<_>>();
    let mut shown: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = words
            .get(at + 1)
            .map_or("", |next| next.trim_end_matches(['.', ',', ';']));
        let number = word.trim_start_matches(['[', '(']);
        let opening = &word[..word.len() - number.len()];
        let is = |text: &str| {
            !text.is_empty()
                && text
                    .chars()
                    .all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        };
        let word = match number.split_once("s]") {
            Some((seconds, after)) if is(seconds) => format!("{opening}0.100s]{after}"),
            _ if is(number) && number.contains('.') && next == "s" => format!("{opening}0.10"),
            _ if is(number) && next == "random" => "100,000".to_owned(),
            _ => (*word).to_owned(),
        };
        shown.push(word);
    }
    shown.join(" ")
}

#[test]
fn times_are_the_same_on_all_machines() {
    for (printed, shown) in [
        ("7 executions, 0.41 s", "7 executions, 0.10 s"),
        (
            "10 executions, 0.19 s (and 12.22 s of building)",
            "10 executions, 0.10 s",
        ),
        (
            "2 proved (2 cached)  [0.576s]",
            "2 proved (2 cached)  [0.100s]",
        ),
        (
            "SAMPLED [   1.024s] (1/1) x  70,901 random schedules",
            "SAMPLED [   0.100s] (1/1) x  100,000 random schedules",
        ),
        ("159 events; 0.00 s", "159 events; 0.10 s"),
        ("k = 2, 10 executions.", "k = 2, 10 executions."),
    ] {
        assert_eq!(steady(printed), shown);
    }
}

/// The lines that a comment of a page names: `<!-- lines 3 to 5 of src/desk.rs -->`.
fn lines_of(comment: &str) -> Option<String> {
    let named = comment.strip_prefix("<!-- lines ")?.strip_suffix(" -->")?;
    let (lines, file) = named.split_once(" of ")?;
    let (first, last) = lines.split_once(" to ")?;
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    let text = fs::read_to_string(book().join("programs").join(file)).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let lines = &lines[first - 1..last];
    let indent = lines
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()?;
    let dedented = lines
        .iter()
        .map(|line| line.get(indent..).unwrap_or_default().to_owned() + "\n");
    Some(dedented.collect())
}

/// A page with its console blocks, and the pieces of programs in it, made anew.
fn made_anew(page: &str, programs: &Programs) -> String {
    let mut made = String::new();
    let mut in_block = false;
    let mut piece = None;
    let mut in_piece = false;
    let mut code = None;
    for line in page.lines() {
        if line.starts_with("<!-- lines ") {
            piece = Some(lines_of(line).unwrap_or_else(|| panic!("not understood: {line}")));
        }
        if line.starts_with("```") {
            in_block = line == "```console";
            in_piece = line.starts_with("```rust") && piece.is_some();
            if in_piece {
                made += &format!("{line}\n{}", piece.take().unwrap_or_default());
                continue;
            }
        } else if in_piece {
            continue;
        } else if in_block {
            let Some(typed) = line.strip_prefix("$ ") else {
                continue;
            };
            made += &format!("{line}\n");
            if typed == "echo $?" {
                made += &format!("{}\n", code.expect("something has run before"));
            } else {
                assert!(typed.starts_with("seqz "), "not a command of seqz: {line}");
                let run = programs.run(typed);
                // Progress is on the other stream, which has what went wrong, too.
                assert!(
                    matches!(run.code, Some(0 | 1 | 4)),
                    "{line}\n{}",
                    run.shown()
                );
                made += &programs.shown(&run.stdout);
                code = run.code;
            }
            continue;
        }
        made += &format!("{line}\n");
    }
    made
}

#[test]
fn consoles_show_what_is_printed() {
    let programs = Programs::new();
    let mut blocks = 0;
    let mut others = Vec::new();
    for page in contents() {
        let text = fs::read_to_string(&page).unwrap();
        blocks += text.matches("```console\n").count();
        let made = made_anew(&text, &programs);
        if made == text {
            continue;
        }
        if updating() {
            fs::write(&page, made).unwrap();
            continue;
        }
        let kept = text.lines().zip(made.lines());
        let differs = kept.into_iter().find(|(kept, made)| kept != made);
        others.push(format!("{}: {differs:?}", page.display()));
    }
    let drawn = fs::read_to_string(programs.dir.join("progress.svg")).unwrap();
    let kept = book().join("src/desk-progress.svg");
    if updating() {
        fs::write(&kept, &drawn).unwrap();
    }
    if drawn != fs::read_to_string(&kept).unwrap() {
        others.push("desk-progress.svg".to_owned());
    }
    assert!(blocks >= 10, "only {blocks} blocks were found");
    assert!(
        others.is_empty(),
        "{}\nmake them again: SEQZ_UPDATE=1 cargo test -p seqz --test book",
        others.join("\n")
    );
}
