//! Which crates a harness reaches, and what they could share: a crate is harmless only if all of its source, and all
//! source of the crates that it depends on, says so (see [`seqz_transform::sharing`]).

mod graph;
mod looked;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use seqz_transform as transform;
use seqz_transform::sharing::Shared;

use crate::error::Error;
use crate::harness::Harness;
use crate::manifest;
use crate::model::document::{NotFollowed, Site};
use graph::Graph;

/// Notes with each harness which crates it reaches that are not followed.
///
/// # Errors
/// When cargo finds something wrong with what the program says of its dependencies.
pub(crate) fn note(program: &transform::Program, harnesses: &mut [Harness]) -> Result<(), Error> {
    let manifest = match program.dependencies() {
        Ok(None) => return Ok(()),
        Ok(Some(manifest)) => manifest,
        // The build will report what is wrong with the manifest.
        Err(_) => return Ok(()),
    };
    let infos = program.harnesses();
    if infos.is_empty() {
        return Ok(());
    }
    let lock = program.manifest().and_then(lock_file);
    let graph = match Graph::load(&manifest, lock.as_deref()) {
        Ok(graph) => graph,
        Err(why) => {
            if let (Some(own), Ok(host)) = (program.manifest(), graph::host())
                && let Some(wrong) = manifest::wrong_dependencies(own, &host)
            {
                return Err(wrong);
            }
            for (harness, info) in harnesses.iter_mut().zip(infos) {
                harness.not_followed.extend(unknown(&manifest, info, &why));
            }
            return Ok(());
        }
    };
    let mut known = Known {
        graph,
        looked: BTreeMap::new(),
    };
    for (harness, info) in harnesses.iter_mut().zip(infos) {
        let direct: Vec<_> = known.graph.direct().to_vec();
        let reached = direct.iter().filter(|(name, _)| info.roots.contains(name));
        let mut told = BTreeSet::new();
        for (_, package) in reached {
            for not_followed in known.not_followed(*package, &info.identities) {
                if told.insert((not_followed.package.clone(), not_followed.what.clone())) {
                    harness.not_followed.push(not_followed);
                }
            }
        }
    }
    Ok(())
}

/// What is reported of the crates that a harness may reach where cargo can't tell which crates these are.
fn unknown(manifest: &str, info: &transform::HarnessInfo, why: &str) -> Vec<NotFollowed> {
    let table: toml::Table = manifest.parse().unwrap_or_default();
    let names = table
        .get("dependencies")
        .and_then(toml::Value::as_table)
        .map(|all| all.keys().cloned().collect::<Vec<_>>());
    let reached = names.into_iter().flatten();
    reached
        .filter(|name| info.roots.contains(&name.replace('-', "_")))
        .map(|name| NotFollowed {
            package: Some(name),
            what: format!("its source can't be looked at: {why}"),
            site: None,
            distorts: false,
        })
        .collect()
}

/// What is known of the packages so far.
struct Known {
    graph: Graph,
    looked: BTreeMap<usize, Vec<Shared>>,
}

impl Known {
    fn shared(&mut self, package: usize) -> &[Shared] {
        let graph = &self.graph;
        let found = self.looked.entry(package);
        found.or_insert_with(|| looked::look(&graph.packages[package], &graph.target))
    }

    /// Returns why a package is not followed, by itself or by what it depends on: the nearest reason, and the nearest
    /// reason that distorts. An item that only declares something to be shared is no reason, unless the program
    /// mentions the item.
    fn not_followed(&mut self, package: usize, mentioned: &BTreeSet<String>) -> Vec<NotFollowed> {
        let mut found: Vec<NotFollowed> = Vec::new();
        let mut seen = BTreeSet::from([package]);
        let mut open = VecDeque::from([package]);
        while let Some(next) = open.pop_front() {
            let name = self.graph.packages[next].name.clone();
            for shared in self.shared(next) {
                let is_used = match &shared.declares {
                    Some(declared) if mentioned.contains(declared) => true,
                    Some(_) => continue,
                    None => shared.distorts,
                };
                let first = found.is_empty();
                let distorts = is_used && !found.iter().any(|it| it.distorts);
                if first || distorts {
                    found.push(NotFollowed {
                        distorts: is_used,
                        ..not_followed(&name, shared)
                    });
                }
            }
            let next = &self.graph.packages[next];
            open.extend(next.depends_on.iter().filter(|it| seen.insert(**it)));
        }
        found
    }
}

fn not_followed(package: &str, shared: &Shared) -> NotFollowed {
    NotFollowed {
        package: Some(package.to_owned()),
        what: shared.what.clone(),
        site: Some(Site {
            file: shared.file.clone(),
            line: shared.line,
            column: 1,
            text: shared.text.clone(),
        }),
        distorts: shared.distorts,
    }
}

/// Returns the `Cargo.lock` that goes with a manifest.
pub(crate) fn lock_file(manifest: &Path) -> Option<PathBuf> {
    let manifest = manifest.canonicalize().ok()?;
    let mut dirs = manifest.ancestors().skip(1);
    dirs.find_map(|dir| Some(dir.join("Cargo.lock")).filter(|lock| lock.is_file()))
}
