//! The runtime's source, carried inside the binary, and how it is written out.

mod manifests;

pub(crate) use manifests::OF_THE_SCHEDULER;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The runtime's Rust files, sorted by path: the path below the runtime's directory, and the content.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/runtime_files.rs"));

/// The crates of seqz that the runtime always stands on, each in a directory of its own. Their manifests are not among
/// these files; this module writes them.
static GROUND: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/ground_files.rs"));

/// The packages that the scheduler is built with: the strategies and the crates from the registry, each in a directory
/// of its own. The manifest of the strategies is not among these files; this module writes it.
static VENDORED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/vendored_files.rs"));

/// libFuzzer's bindings, libFuzzer, and the crates that they need, each in a directory of its own.
static FUZZER: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/fuzzer_files.rs"));

/// Which crates that a program depends on the runtime knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knows {
    /// No crate.
    None,
    /// `serde`: its traits are implemented for the runtime's types, as they are for std's.
    Serde,
}

impl Knows {
    /// Returns the directory, below another one, in which a runtime with this knowledge is written.
    #[must_use]
    pub const fn directory(self) -> &'static str {
        match self {
            Self::None => "runtime",
            Self::Serde => "serde/runtime",
        }
    }

    fn manifest(self, scheduler: bool) -> String {
        manifests::runtime(self == Self::Serde, scheduler)
    }
}

/// The directory, below the runtime's, of the packages that the runtime depends on.
const VENDOR: &str = "vendor";

/// Returns all files of the runtime's package as the package goes with a transformed program: the path below the
/// package's directory, and the content. The package depends on no crate that the program does not depend on, but on
/// those of seqz that come with it.
pub fn runtime(knows: Knows) -> impl Iterator<Item = (PathBuf, String)> {
    let manifest = (PathBuf::from("Cargo.toml"), knows.manifest(false));
    let own = FILES
        .iter()
        .map(|(path, text)| (PathBuf::from(path), (*text).to_owned()));
    std::iter::once(manifest)
        .chain(own)
        .chain(manifests::GROUND.map(vendored_manifest))
        .chain(vendored(GROUND))
}

fn vendored_manifest((package, manifest): (&str, &str)) -> (PathBuf, String) {
    let path = Path::new(VENDOR).join(package).join("Cargo.toml");
    (path, manifest.to_owned())
}

fn vendored(files: &'static [(&str, &str)]) -> impl Iterator<Item = (PathBuf, String)> {
    let files = files.iter();
    files.map(|(path, text)| (Path::new(VENDOR).join(path), (*text).to_owned()))
}

/// Returns all files of the runtime's package as workers link it, with the scheduler.
pub fn worker_runtime(knows: Knows) -> impl Iterator<Item = (PathBuf, String)> {
    let own = runtime(knows).map(move |(path, text)| {
        let text = if path == Path::new("Cargo.toml") {
            knows.manifest(true)
        } else {
            text
        };
        (path, text)
    });
    own.chain([vendored_manifest(manifests::STRATEGIES)])
        .chain(vendored(VENDORED))
}

/// Returns the names of the packages that a worker links beside the program.
pub fn packages() -> impl Iterator<Item = &'static str> {
    let ground = manifests::GROUND.into_iter().map(|(package, _)| package);
    ground.chain(["seqz-runtime"]).chain(OF_THE_SCHEDULER)
}

/// Returns a digest that tells one [`worker_runtime`] from another: of the files that the binary carries, and of those
/// that this module writes.
pub fn worker_runtime_in_short() -> Vec<String> {
    let manifests = manifests::GROUND.into_iter().chain([manifests::STRATEGIES]);
    [
        env!("SEQZ_RUNTIME_DIGEST").to_owned(),
        Knows::None.manifest(true),
    ]
    .into_iter()
    .chain(manifests.map(|(_, manifest)| manifest.to_owned()))
    .collect()
}

/// Returns all files that fuzz targets link, as packages beside each other.
pub fn fuzzer() -> impl Iterator<Item = (PathBuf, &'static str)> {
    let files = FUZZER.iter();
    files.map(|(path, text)| (PathBuf::from(path), *text))
}

/// Makes `dir` hold these files.
///
/// A file whose content is already right is not touched, so that cargo sees nothing to rebuild.
///
/// # Errors
/// Errors of the file system, with the path.
pub fn write<'a>(
    dir: &Path,
    files: impl IntoIterator<Item = (PathBuf, &'a str)>,
) -> io::Result<()> {
    for (relative, text) in files {
        let path = dir.join(&relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|e| at(parent, &e))?;
        }
        if !fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
            fs::write(&path, text).map_err(|e| at(&path, &e))?;
        }
    }
    Ok(())
}

/// Removes the Rust files in `src` of `dir`, and of the packages in `kept`, that are not in `kept` themselves: a file
/// from an earlier writing might be taken for a module or a binary. To be called only for directories that hold nothing
/// but files that seqz writes.
///
/// # Errors
/// Errors of the file system, with the path.
pub fn clean(dir: &Path, kept: &[PathBuf]) -> io::Result<()> {
    let source = |path: &PathBuf| {
        path.ends_with("Cargo.toml")
            .then(|| path.with_file_name("src"))
    };
    let mut sources: BTreeSet<_> = kept.iter().filter_map(source).collect();
    sources.insert("src".into());
    let kept: Vec<_> = kept.iter().map(|path| dir.join(path)).collect();
    for source in sources {
        remove_others(&dir.join(source), &kept)?;
    }
    Ok(())
}

fn remove_others(dir: &Path, kept: &[PathBuf]) -> io::Result<()> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(at(dir, &e)),
    };
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            remove_others(&path, kept)?;
        } else if path.extension().is_some_and(|e| e == "rs") && !kept.contains(&path) {
            fs::remove_file(&path).map_err(|e| at(&path, &e))?;
        }
    }
    Ok(())
}

/// Returns the error with the path in front, which `io::Error` by itself leaves out.
pub(crate) fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn carries_the_runtime() {
        let paths: Vec<_> = runtime(Knows::None).map(|(path, _)| path).collect();
        assert!(paths.contains(&PathBuf::from("Cargo.toml")));
        assert!(paths.contains(&PathBuf::from("src/lib.rs")));
        for (package, _) in manifests::GROUND {
            let manifest = Path::new(VENDOR).join(package).join("Cargo.toml");
            assert!(paths.contains(&manifest), "{package}");
            let root = manifest.with_file_name("src").join("lib.rs");
            assert!(paths.contains(&root), "{package}");
        }
        let packages = [
            "seqz-vocabulary",
            "seqz-feasibility",
            "seqz-explore",
            "corosensei",
            "cfg-if",
            "scopeguard",
        ];
        for package in packages {
            let manifest = Path::new(VENDOR).join(package).join("Cargo.toml");
            let files: Vec<_> = worker_runtime(Knows::None).map(|(path, _)| path).collect();
            assert!(files.contains(&manifest), "{package}");
            assert!(
                files.contains(&manifest.with_file_name("src").join("lib.rs")),
                "{package}"
            );
        }
        let paths: Vec<_> = fuzzer().map(|(path, _)| path).collect();
        for file in [
            "libfuzzer-sys/libfuzzer/FuzzerLoop.cpp",
            "libfuzzer-sys/build.rs",
            "arbitrary/src/lib.rs",
            "cc/Cargo.toml",
            "shlex/LICENSE-MIT",
        ] {
            assert!(paths.contains(&PathBuf::from(file)), "{file}");
        }
        let mut sorted = FILES.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, FILES);
    }

    #[test]
    fn writes_only_what_changed_and_removes_what_is_gone() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let old = SystemTime::now() - Duration::from_secs(3600);
        write(
            dir.path(),
            [("src/a.rs".into(), "a"), ("src/m/b.rs".into(), "b")],
        )?;
        let a = dir.path().join("src/a.rs");
        fs::File::options()
            .write(true)
            .open(&a)?
            .set_modified(old)?;
        let stamp = fs::metadata(&a)?.modified()?;
        write(
            dir.path(),
            [("src/a.rs".into(), "a"), ("src/c.rs".into(), "c")],
        )?;
        clean(dir.path(), &["src/a.rs".into(), "src/c.rs".into()])?;
        assert_eq!(fs::metadata(&a)?.modified()?, stamp);
        assert!(!dir.path().join("src/m/b.rs").exists());
        assert_eq!(fs::read_to_string(dir.path().join("src/c.rs"))?, "c");
        Ok(())
    }
}
