//! The tests and programs of a package beside its library.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// A crate of the package that uses its library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The name of the module that the target becomes.
    pub(crate) module: String,
    pub(crate) root: PathBuf,
    /// The name of the program; `None` if the target is no program.
    pub(crate) program: Option<String>,
}

/// The targets of a package that are loaded.
///
/// They share one generated crate as long as that compiles: two targets may each have an item that can be there but
/// once, such as implementations of one trait for one type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// The library, its tests, and the other targets.
    #[default]
    Whole,
    /// The library and its tests.
    Library,
    /// The target that becomes this module, and the library without its tests.
    Target(String),
}

impl Part {
    pub(super) fn has(&self, target: &Target) -> bool {
        match self {
            Part::Whole => true,
            Part::Library => false,
            Part::Target(module) => *module == target.module,
        }
    }
}

/// The directories in which cargo looks for targets of a kind, and the names of their modules.
struct Kind {
    section: &'static str,
    auto: &'static str,
    directory: &'static str,
    prefix: &'static str,
}

const TESTS: Kind = Kind {
    section: "test",
    auto: "autotests",
    directory: "tests",
    prefix: "tests",
};
const PROGRAMS: Kind = Kind {
    section: "bin",
    auto: "autobins",
    directory: "src/bin",
    prefix: "bin",
};
const EXAMPLES: Kind = Kind {
    section: "example",
    auto: "autoexamples",
    directory: "examples",
    prefix: "example",
};

/// Returns the tests and programs, as cargo finds them.
pub(super) fn discover(dir: &Path, manifest: &Table, package: &str) -> Vec<Target> {
    let mut targets = of_kind(dir, manifest, &TESTS);
    let main = dir.join("src/main.rs");
    if main.is_file() {
        targets.push(Target {
            module: "bin_main".into(),
            root: main,
            program: Some(package.to_string()),
        });
    }
    targets.extend(of_kind(dir, manifest, &PROGRAMS));
    let mut seen = std::collections::HashSet::new();
    targets.retain(|target| seen.insert(target.root.clone()));
    targets
}

/// Returns the examples, which count only when asked for.
pub(super) fn examples(dir: &Path) -> Vec<Target> {
    of_kind(dir, &Table::new(), &EXAMPLES)
}

fn of_kind(dir: &Path, manifest: &Table, kind: &Kind) -> Vec<Target> {
    let mut targets = Vec::new();
    let listed = manifest
        .get(kind.section)
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    for target in listed {
        let name = target
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let path = target
            .get("path")
            .and_then(Value::as_str)
            .map(|path| dir.join(path));
        let root = path.unwrap_or_else(|| dir.join(kind.directory).join(format!("{name}.rs")));
        if root.is_file() {
            targets.push(named(kind, name, root));
        }
    }
    let package = manifest.get("package");
    if package
        .and_then(|package| package.get(kind.auto))
        .and_then(Value::as_bool)
        == Some(false)
    {
        return targets;
    }
    let mut found: Vec<PathBuf> = fs::read_dir(dir.join(kind.directory))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    found.sort();
    for path in found {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let nested = path.join("main.rs");
        if path.extension().is_some_and(|extension| extension == "rs") {
            targets.push(named(kind, &name, path));
        } else if nested.is_file() {
            targets.push(named(kind, &name, nested));
        }
    }
    targets
}

fn named(kind: &Kind, name: &str, root: PathBuf) -> Target {
    let program = (kind.prefix == PROGRAMS.prefix).then(|| name.to_string());
    let name: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    Target {
        module: format!("{}_{name}", kind.prefix),
        root,
        program,
    }
}
