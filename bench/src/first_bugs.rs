//! How long `seqz fuzz` takes to the first bug of each example, and whether it stays quiet about the fixed twins.
//!
//! The examples are put into two packages, each of which is built once: one for those with `unsafe` code, which
//! AddressSanitizer watches.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::str::FromStr;

use serde_json::Value;

/// How many runs there are, each with an empty corpus and a seed of its own, unless the environment says otherwise.
const SEEDS: (&str, u64) = ("SEQZ_SEEDS", 10);
/// How many seconds each example has in a run, and each twin.
const SECONDS: (&str, usize) = ("SEQZ_SECONDS", 20);

fn setting<T: FromStr>((name, default): (&str, T)) -> T {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}
/// How many non-local reads.
const K: u64 = 2;

/// A harness whose bug is to be found.
struct Example {
    /// What it is called here: the file without its ending.
    name: String,
    /// Which of the packages it is in, [`Example::harness`] being the name there.
    package: PathBuf,
    harness: String,
    twin: String,
    /// The smallest k of its bugs.
    k: u64,
}

/// What a run has found of a harness.
#[derive(Default)]
struct Found {
    seconds: Vec<f64>,
    executions: Vec<u64>,
    confirmed: usize,
    k: Option<u64>,
}

/// Measures and prints: all examples with a bug at k ≤ 2 that `check` knows how to run, or those that are named.
pub(crate) fn run(command: &Path, names: &[String]) -> ExitCode {
    let dir = std::env::temp_dir().join(format!("seqz-bench-{}", std::process::id()));
    let result = measure(command, names, &dir);
    let _ = fs::remove_dir_all(dir);
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The answer is whether all bugs were found and no twin has one.
fn measure(command: &Path, names: &[String], dir: &Path) -> io::Result<bool> {
    let (seeds, seconds) = (setting(SEEDS), setting(SECONDS));
    let examples = examples(names, dir)?;
    let mut by_package: BTreeMap<&Path, Vec<&Example>> = BTreeMap::new();
    for example in &examples {
        by_package
            .entry(&example.package)
            .or_default()
            .push(example);
    }
    let fuzz = |package: &Path, harnesses: &[&str], seconds: usize, more: &[&str]| {
        let mut fuzz = Command::new(command);
        fuzz.args(["fuzz", "--format", "json", "--k", "2", "--time"])
            .arg((seconds * harnesses.len()).to_string())
            .args(more)
            .arg("--target-dir")
            .arg(dir.join("target"));
        for harness in harnesses {
            fuzz.args(["--harness", harness]);
        }
        let output = fuzz.arg(package).output()?;
        serde_json::from_slice::<Value>(&output.stdout).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            io::Error::other(format!("{}: {said}", package.display()))
        })
    };
    let mut found: BTreeMap<&str, Found> = BTreeMap::new();
    let mut loud = Vec::new();
    for (package, of_package) in &by_package {
        let harnesses: Vec<_> = of_package.iter().map(|example| &*example.harness).collect();
        for seed in 1..=seeds {
            forget(&dir.join("target"));
            let seed = seed.to_string();
            let report = fuzz(
                package,
                &harnesses,
                seconds,
                &["--until-bug", "--seed", &seed],
            )?;
            for (example, report) in of_package.iter().zip(reports(&report)) {
                found.entry(&example.name).or_default().add(report);
            }
        }
        let twins: Vec<_> = of_package.iter().map(|example| &*example.twin).collect();
        let report = fuzz(package, &twins, seconds, &["--seed", "1"])?;
        for report in reports(&report) {
            let quiet = report["bugs"].as_array().is_some_and(Vec::is_empty)
                && report["roles"]
                    .as_array()
                    .is_some_and(|roles| !roles.is_empty());
            if !quiet {
                loud.push(report["name"].to_string());
            }
        }
    }
    print(&examples, &found, seeds);
    println!(
        "\n{} fixed twins, {seconds} s each: {}",
        examples.len(),
        if loud.is_empty() {
            "nothing found".to_owned()
        } else {
            format!("something about {}", loud.join(", "))
        }
    );
    let all = |example: &Example| {
        found
            .get(&*example.name)
            .is_some_and(|found| found.confirmed as u64 == seeds)
    };
    Ok(loud.is_empty() && examples.iter().all(all))
}

fn print(examples: &[Example], found: &BTreeMap<&str, Found>, seeds: u64) {
    println!(
        "Time and executions to the first bug, median of {seeds} seeds, each with an empty corpus; building not counted.\n"
    );
    println!(
        "{:<42} {:>3} {:>9} {:>12} {:>8} {:>10}",
        "program", "k", "seconds", "executions", "found", "confirmed"
    );
    for example in examples {
        let Some(found) = found.get(&*example.name) else {
            continue;
        };
        let shown = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
        println!(
            "{:<42} {:>3} {:>9} {:>12} {:>8} {:>10}",
            example.name,
            found.k.unwrap_or(example.k),
            shown(median(&found.seconds).map(|seconds| format!("{seconds:.2}"))),
            shown(median(&found.executions).map(|executions| executions.to_string())),
            format!("{}/{seeds}", found.seconds.len()),
            found.confirmed,
        );
    }
}

impl Found {
    fn add(&mut self, report: &Value) {
        let Some(bug) = report["bugs"].as_array().and_then(|bugs| bugs.first()) else {
            return;
        };
        self.seconds
            .push(bug["met"]["seconds"].as_f64().unwrap_or(f64::NAN));
        self.executions
            .push(bug["met"]["executions"].as_u64().unwrap_or(0));
        self.confirmed += usize::from(bug["confirmation"]["state"] == "confirmed");
        let k = bug["k"].as_u64();
        self.k = self.k.min(k).or(k);
    }
}

fn median<T: PartialOrd + Copy>(all: &[T]) -> Option<T> {
    let mut all = all.to_vec();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    all.get(all.len() / 2).copied()
}

fn reports(report: &Value) -> impl Iterator<Item = &Value> {
    report["harnesses"].as_array().into_iter().flatten()
}

/// Removes the corpora: what an earlier run has learned would make it easy.
fn forget(target: &Path) {
    for program in fs::read_dir(target.join("fuzz"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let _ = fs::remove_dir_all(program.path().join("corpus"));
    }
}

/// Makes the packages.
fn examples(names: &[String], dir: &Path) -> io::Result<Vec<Example>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let table: toml::Value = toml::from_str(&fs::read_to_string(root.join("expected.toml"))?)
        .map_err(io::Error::other)?;
    let mut lib: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut all = Vec::new();
    for harness in table["harness"].as_array().into_iter().flatten() {
        let (Some(file), Some(function)) = (harness["file"].as_str(), harness["name"].as_str())
        else {
            continue;
        };
        let bugs = harness.get("bug").and_then(toml::Value::as_array);
        let ks = bugs
            .into_iter()
            .flatten()
            .filter_map(|bug| bug.get("k")?.as_integer());
        let Some(k) = ks
            .min()
            .and_then(|k| u64::try_from(k).ok())
            .filter(|&k| k <= K)
        else {
            continue;
        };
        let name = file.trim_end_matches(".rs");
        if file.starts_with("fixed/")
            || !names.is_empty() && !names.iter().any(|wanted| wanted == name)
        {
            continue;
        }
        let shown = format!("{name} {function}");
        if !file.ends_with(".rs") {
            // A crate by itself, whose twin is another one.
            eprintln!("{shown}: a crate, left out");
            continue;
        }
        let texts = [file.to_owned(), format!("fixed/{file}")]
            .map(|file| fs::read_to_string(root.join(file)));
        let [text, fixed] = texts;
        let (text, fixed) = (text?, fixed?);
        let unsafe_code = [&text, &fixed].iter().any(|text| text.contains("unsafe "));
        let package = dir.join(if unsafe_code {
            "unsafe_examples"
        } else {
            "safe_examples"
        });
        fs::create_dir_all(package.join("src"))?;
        fs::write(package.join(format!("src/{name}.rs")), text)?;
        fs::write(package.join(format!("src/fixed_{name}.rs")), fixed)?;
        let lib = lib.entry(package.clone()).or_default();
        if !lib.contains(&format!("mod {name};")) {
            lib.push_str(&format!("pub mod {name};\npub mod fixed_{name};\n"));
        }
        all.push(Example {
            name: shown,
            package,
            harness: format!("{name}::{function}"),
            twin: format!("fixed_{name}::{function}"),
            k,
        });
    }
    for (package, lib) in lib {
        let name = package
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        fs::write(package.join("src/lib.rs"), lib)?;
        fs::write(
            package.join("Cargo.toml"),
            format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n"
            ),
        )?;
    }
    Ok(all)
}
