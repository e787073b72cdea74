//! Finds the dependencies that can be followed, and makes their copies.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use seqz_transform as transform;
use seqz_transform::sharing::Shared;
use seqz_transform::{Counting, Implemented, Instrumented, Library, LibrarySource, Mode};

use super::copies::Copy;
use super::follow::Follow;
use super::graph::{Graph, Package};
use crate::model::document::{NotFollowed, Site};

/// The stack on which a package is looked at: its source is walked as deep as it is nested.
const STACK: usize = 256 << 20;

/// Packages that the runtime itself may depend on.
const OF_THE_RUNTIME: &[&str] = &["serde", "serde_core"];

/// What there is of the dependencies of a program.
#[derive(Default)]
pub(super) struct Followed {
    /// The copies, by the indices of the packages.
    pub(super) copies: BTreeMap<usize, Copy>,
    /// Why packages are not followed that were to be, by their indices.
    pub(super) unfit: BTreeMap<usize, NotFollowed>,
    /// What all parts of the program can notice of handles.
    pub(super) counting: Counting,
}

/// Makes copies of the packages among `reached` that share anything, as far as that can be.
pub(super) fn find(
    graph: &Graph,
    reached: &BTreeSet<usize>,
    shared: &dyn Fn(usize) -> Vec<Shared>,
    program: &transform::Program,
    mode: Mode,
    follow: &Follow,
) -> Followed {
    let mut found = Followed {
        counting: program.counting(),
        ..Followed::default()
    };
    if !follow.is_asked() {
        return found;
    }
    let is_user = |package: &usize| {
        let library = graph.packages[*package].library();
        library.is_some_and(|library| follow.follows_user(&library.name))
    };
    let users = (0..graph.packages.len()).filter(is_user);
    let reached: &BTreeSet<usize> = &reached.iter().copied().chain(users).collect();
    let mut wanted = BTreeSet::new();
    for &package in reached {
        let known = &graph.packages[package];
        let is_ours =
            OF_THE_RUNTIME.contains(&known.name.as_str()) || known.name.starts_with("seqz");
        if is_ours || known.library().is_none() {
            continue;
        }
        if !is_user(&package) && !shared(package).iter().any(|it| it.has_events) {
            continue;
        }
        if follow.wants(&known.name) {
            wanted.insert(package);
        }
    }
    above_by_path(graph, reached, &mut wanted);
    let mut sources: BTreeMap<usize, LibrarySource> = wanted
        .into_iter()
        .filter_map(|package| Some((package, source(graph, package)?)))
        .collect();
    let files: Vec<&Path> = program.files().collect();
    let noted = alone(|| {
        note_implemented(graph, reached, &files, &mut sources);
        Ok(())
    });
    debug_assert!(noted.is_ok());
    let mut fit = Vec::new();
    for (&package, source) in &sources {
        match alone(|| Library::load(source, mode).map(|library| library.counting())) {
            Ok(counting) => {
                found.counting = found.counting.and(counting);
                fit.push(package);
            }
            Err(error) => {
                let why = refused(&graph.packages[package], source, &error);
                found.unfit.insert(package, why);
            }
        }
    }
    for package in fit {
        let (known, source) = (&graph.packages[package], &sources[&package]);
        let counting = found.counting;
        let done = alone(|| Library::load(source, mode).map(|it| it.instrument(counting)));
        match made(known, source, done) {
            Ok(mut copy) => match follow.unfit(&copy.directory) {
                Some(why) => {
                    let site = why.site.as_ref().map(|(file, line, text)| Site {
                        file: file.clone(),
                        line: *line,
                        column: 1,
                        text: text.clone(),
                    });
                    found.unfit.insert(package, unfit(known, &why.why, site));
                }
                None => {
                    // All that is built with it, whether a harness reaches it or not.
                    let users = 0..graph.packages.len();
                    let users = users.filter(|user| is_above(graph, *user, package));
                    let names = users.filter_map(|user| graph.packages[user].library());
                    copy.users = names.map(|it| it.name.replace('-', "_")).collect();
                    found.copies.insert(package, copy);
                }
            },
            Err(why) => drop(found.unfit.insert(package, why)),
        }
    }
    found
}

/// Runs `inside` on a thread of its own: the parser's memory of places is freed with the thread.
fn alone<R: Send>(
    inside: impl FnOnce() -> Result<R, transform::Error> + Send,
) -> Result<R, transform::Error> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK);
        match builder.spawn_scoped(scope, inside).map(|it| it.join()) {
            Ok(Ok(done)) => done,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            // There is no room for a stack.
            Err(error) => Err(transform::Error::Read {
                path: PathBuf::from("the source"),
                cause: Arc::new(error),
            }),
        }
    })
}

fn made(
    package: &Package,
    source: &LibrarySource,
    done: Result<Instrumented, transform::Error>,
) -> Result<Copy, NotFollowed> {
    let done = done.map_err(|error| refused(package, source, &error))?;
    if let Some(first) = done.refused.first() {
        return Err(refused(package, source, first));
    }
    Copy::of(package, source.clone(), done).ok_or_else(|| {
        let why = "it comes from where cargo can't be led to a copy";
        unfit(package, why, None)
    })
}

/// Adds the packages through which cargo would come to a package that it knows by its path: the manifests of such
/// packages name the path.
fn above_by_path(graph: &Graph, reached: &BTreeSet<usize>, wanted: &mut BTreeSet<usize>) {
    let by_path = |package: usize| graph.packages[package].said.source.is_none();
    loop {
        let more: Vec<usize> = reached
            .iter()
            .copied()
            .filter(|&package| {
                let on = graph.packages[package].depends_on.iter();
                let mut on = on.filter(|it| by_path(**it) && wanted.contains(*it));
                by_path(package) && !wanted.contains(&package) && on.next().is_some()
            })
            .collect();
        if more.is_empty() {
            return;
        }
        wanted.extend(more);
    }
}

/// Notes with each library what the crates implement that depend on it. `files` are those of the program.
fn note_implemented(
    graph: &Graph,
    reached: &BTreeSet<usize>,
    files: &[&Path],
    sources: &mut BTreeMap<usize, LibrarySource>,
) {
    let mut own = Implemented::default();
    files.iter().for_each(|file| own.add_file(file));
    let mut known: BTreeMap<usize, Implemented> = BTreeMap::new();
    for (package, source) in sources {
        let mut implemented = own.clone();
        let users = reached.iter().copied();
        for user in users.filter(|user| is_above(graph, *user, *package)) {
            let of_user = known.entry(user).or_insert_with(|| {
                let mut found = Implemented::default();
                let root = graph.packages[user].source.root.parent();
                add_files(root.unwrap_or(Path::new("")), &mut found);
                found
            });
            implemented.extend(of_user);
        }
        source.implemented = implemented;
    }
}

/// Whether a package depends on another one.
fn is_above(graph: &Graph, user: usize, package: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = graph.packages[user].depends_on.clone();
    while let Some(next) = open.pop() {
        if next == package {
            return true;
        }
        if seen.insert(next) {
            open.extend(&graph.packages[next].depends_on);
        }
    }
    false
}

fn add_files(dir: &Path, found: &mut Implemented) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            add_files(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.add_file(&path);
        }
    }
}

fn source(graph: &Graph, package: usize) -> Option<LibrarySource> {
    let package = &graph.packages[package];
    let library = package.library()?;
    let names = package.said.dependencies.iter();
    let names = names.map(|it| it.rename.as_ref().unwrap_or(&it.name).replace('-', "_"));
    let shown = match &package.said.source {
        Some(_) => PathBuf::from(format!("{}-{}", package.name, package.said.version)),
        None => package.source.dir.clone(),
    };
    Some(LibrarySource {
        name: package.name.clone(),
        crate_name: library.name.replace('-', "_"),
        dir: package.source.dir.clone(),
        root: package.source.root.clone(),
        edition: library.edition.as_str().to_owned(),
        features: package.features.iter().cloned().collect(),
        dependencies: names.collect(),
        build_script: package.source.build_script.clone(),
        implemented: Implemented::default(),
        shown,
    })
}

fn unfit(package: &Package, why: &str, site: Option<Site>) -> NotFollowed {
    NotFollowed {
        package: Some(package.name.clone()),
        what: format!("built as it is: {why}"),
        site,
        distorts: false,
        synchronizes: true,
    }
}

/// Why the source of a package can't be followed.
fn refused(package: &Package, source: &LibrarySource, error: &transform::Error) -> NotFollowed {
    let first = error.each().first().unwrap_or(error);
    let why = match first {
        transform::Error::Unsupported { what, reason, .. } => format!("{what}: {reason}"),
        other => other.to_string(),
    };
    let site = first.place().map(|place| Site {
        file: place
            .file
            .strip_prefix(&source.shown)
            .unwrap_or(&place.file)
            .display()
            .to_string(),
        line: place.start.line,
        column: place.start.col,
        text: place.text().lines().next().unwrap_or_default().to_owned(),
    });
    unfit(package, &why, site)
}
