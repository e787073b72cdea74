//! The crates that a program depends on: which of them a harness reaches, which are followed, and what the others could
//! share. A crate that is not followed is harmless only if all of its source, and all source of the crates that it
//! depends on, says so (see [`seqz_transform::sharing`]).

mod copies;
mod follow;
mod followed;
mod graph;
mod looked;
mod manifest;
pub(crate) mod sources;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use seqz_transform as transform;
use seqz_transform::sharing::{MADE, Shared};
use seqz_transform::{Inner, Mode};

pub(crate) use copies::Copies;
pub use follow::{Follow, FollowArgs};

use crate::error::Error;
use crate::harness::Harness;
use crate::model::document::{NotFollowed, Site};
use crate::model::lone::{Lone, Reasonless};
use followed::Followed;
use graph::Graph;

/// A dependency that shares something between threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The package's name.
    pub name: String,
    /// The package's version.
    pub version: String,
    /// Why the dependency is not followed; `None` where it is.
    pub why_not: Option<NotFollowed>,
}

/// The dependencies of a program.
pub(crate) struct Dependencies {
    known: Result<Known, (String, String)>,
    followed: Followed,
    reached: BTreeSet<usize>,
}

impl Dependencies {
    /// Finds the dependencies of a program, and makes copies of those that are to be followed. `None` if there are no
    /// dependencies.
    ///
    /// # Errors
    /// When cargo finds something wrong with what the program says of its dependencies.
    pub(crate) fn of(
        program: &transform::Program,
        mode: Mode,
        follow: &Follow,
    ) -> Result<Option<Self>, Error> {
        // The build will report what is wrong with the manifest.
        let Ok(Some(manifest)) = program.dependencies() else {
            return Ok(None);
        };
        let infos = || program.harnesses().iter().chain(program.without_threads());
        if infos().next().is_none() {
            return Ok(None);
        }
        let known = match Known::load(program, &manifest) {
            Ok(known) => known,
            Err(why) => {
                if let (Some(own), Ok(host)) = (program.manifest(), graph::host())
                    && let Some(wrong) = crate::manifest::wrong_dependencies(own, &host)
                {
                    return Err(wrong);
                }
                return Ok(Some(Self {
                    known: Err((manifest, why)),
                    followed: Followed {
                        counting: program.counting(),
                        ..Followed::default()
                    },
                    reached: BTreeSet::new(),
                }));
            }
        };
        let roots: BTreeSet<&String> = infos().flat_map(|info| &info.roots).collect();
        let direct = known.graph.direct().iter();
        let direct = direct.filter(|(name, _)| roots.contains(name));
        let reached = known.below(direct.map(|(_, package)| *package));
        let look = |package| known.shared(package);
        let followed = followed::find(&known.graph, &reached, &look, program, mode, follow);
        Ok(Some(Self {
            known: Ok(known),
            followed,
            reached,
        }))
    }

    /// Returns what the program and all that is followed can notice of handles.
    pub(crate) const fn counting(&self) -> transform::Counting {
        self.followed.counting
    }

    /// Returns the names of those of these functions for which a dependency starts threads.
    pub(crate) fn starting(&self, infos: &[transform::HarnessInfo]) -> BTreeSet<String> {
        let Ok(known) = &self.known else {
            return BTreeSet::new();
        };
        let starts = |info: &&transform::HarnessInfo| {
            let below = known.below(known.direct(info).map(|(_, package)| *package));
            let mut copies = below.iter().filter_map(|it| self.followed.copies.get(it));
            copies.any(|copy| copy.inside.starts_threads())
                && self
                    .inner(known, &below, &info.names)
                    .values()
                    .any(|inner| inner.starts_threads)
        };
        let starting = infos.iter().filter(starts);
        starting.map(|info| info.name.clone()).collect()
    }

    /// Notes with each harness which crates it reaches that are not followed, and what is not followed in the others.
    pub(crate) fn note(&self, infos: &[transform::HarnessInfo], harnesses: &mut [Harness]) {
        let known = match &self.known {
            Ok(known) => known,
            Err((manifest, why)) => {
                for (harness, info) in harnesses.iter_mut().zip(infos) {
                    harness
                        .not_followed
                        .extend(unknown(manifest, info, graph::first_line(why)));
                }
                return;
            }
        };
        for (harness, info) in harnesses.iter_mut().zip(infos) {
            let reached = known.direct(info);
            let below = known.below(reached.clone().map(|(_, package)| *package));
            let inner = self.inner(known, &below, &info.names);
            let mut told = BTreeSet::new();
            for (_, package) in reached {
                let found = known.not_followed(*package, &info.identities, &self.followed, &inner);
                for not_followed in found {
                    if told.insert((not_followed.package.clone(), not_followed.what.clone())) {
                        harness.not_followed.push(not_followed);
                    }
                }
            }
            for inner in inner.values() {
                harness
                    .lone
                    .extend(inner.lone.iter().map(|(what, place)| Lone {
                        what: match what {
                            transform::Reasonless::Wait => Reasonless::Wait,
                            transform::Reasonless::WeakExchange => Reasonless::WeakExchange,
                            transform::Reasonless::Update => Reasonless::Update,
                        },
                        site: Site {
                            file: place.file.display().to_string(),
                            line: place.start.line,
                            column: place.start.col,
                            text: line_of(place).to_owned(),
                        },
                    }));
            }
        }
    }

    /// Returns what a harness that mentions these names, and depends on the packages in `below`, reaches in copies.
    fn inner(
        &self,
        known: &Known,
        below: &BTreeSet<usize>,
        names: &BTreeSet<String>,
    ) -> BTreeMap<usize, Inner> {
        let copies = || {
            let all = self.followed.copies.iter();
            all.filter(|(package, _)| below.contains(package))
        };
        // What the source of other packages mentions is not known, nor what a build script or a procedural macro writes,
        // which may mention anything.
        let writes = |package: &usize| known.graph.packages[*package].source.proc_macro;
        let others = below
            .iter()
            .filter(|it| match self.followed.copies.get(it) {
                Some(copy) => copy.inside.has_made(),
                None => true,
            });
        let others = others.flat_map(|it| {
            let package = &known.graph.packages[*it];
            let own = self.followed.copies.contains_key(it).then_some(*it);
            package.depends_on.iter().copied().chain(own)
        });
        let mut by_others = known.below(others);
        if below.iter().any(writes) {
            by_others.extend(below);
        }
        let mut names = names.clone();
        for (package, copy) in copies() {
            if by_others.contains(package) {
                names.extend(copy.inside.names());
            }
        }
        while copies().fold(false, |more, (_, copy)| {
            copy.inside.reach(&mut names) || more
        }) {}
        copies()
            .map(|(package, copy)| {
                let names = (!by_others.contains(package)).then_some(&names);
                (*package, copy.inside.of(names))
            })
            .collect()
    }

    /// Returns the names of all packages that the program is linked to; `None` where cargo can't tell them.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        self.known.as_ref().ok().map(Known::names)
    }

    /// Returns what cargo says where it can't tell the dependencies.
    pub(crate) fn trouble(&self) -> Option<&str> {
        let trouble = self.known.as_ref().err();
        trouble.map(|(_, why)| why.as_str())
    }

    /// Returns the dependencies that share something between threads, by name.
    pub(crate) fn sharing(&self) -> Vec<Dependency> {
        let Ok(known) = &self.known else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for &package in &self.reached {
            let it = &known.graph.packages[package];
            let why_not = if self.followed.copies.contains_key(&package) {
                None
            } else if let Some(unfit) = self.followed.unfit.get(&package) {
                Some(unfit.clone())
            } else {
                let shared = known.shared(package);
                let first = shared.iter().find(|shared| shared.declares.is_none());
                let Some(first) = first else { continue };
                Some(not_followed(&it.name, first))
            };
            all.push(Dependency {
                name: it.name.clone(),
                version: it.said.version.to_string(),
                why_not,
            });
        }
        all.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        all
    }

    /// Returns the copies that stand for dependencies.
    pub(crate) fn into_copies(self) -> Copies {
        Copies::new(self.followed.copies.into_values().collect())
    }
}

/// Returns the names of all packages that a program is linked to, whether it has harnesses or not; `None` where cargo can't
/// tell them.
pub(crate) fn names(program: &transform::Program) -> Option<Vec<String>> {
    match program.dependencies() {
        Ok(Some(manifest)) => Known::load(program, &manifest).ok().map(|it| it.names()),
        Ok(None) => Some(Vec::new()),
        Err(_) => None,
    }
}

/// Returns the text of the line that a place begins in.
fn line_of(place: &transform::Place) -> &str {
    let line = place.source.lines().nth(place.start.line as usize - 1);
    line.unwrap_or_default().trim()
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
            synchronizes: true,
        })
        .collect()
}

/// What is known of the packages so far.
struct Known {
    graph: Graph,
    looked: RefCell<BTreeMap<usize, Vec<Shared>>>,
}

impl Known {
    /// Loads the packages that a program with a manifest of these dependencies is linked to.
    fn load(program: &transform::Program, manifest: &str) -> Result<Self, String> {
        let lock = program.lock_file();
        let sources = program.manifest().and_then(sources::of_program);
        let graph = Graph::load(manifest, lock.as_deref(), sources.as_deref())?;
        Ok(Self {
            graph,
            looked: RefCell::default(),
        })
    }

    /// Returns the names of all packages that the program is linked to.
    fn names(&self) -> Vec<String> {
        let direct = self.graph.direct().iter();
        let all = self.below(direct.map(|(_, package)| *package));
        let all = all.iter();
        all.map(|it| self.graph.packages[*it].name.clone())
            .collect()
    }

    fn shared(&self, package: usize) -> Vec<Shared> {
        let graph = &self.graph;
        let mut looked = self.looked.borrow_mut();
        let found = looked.entry(package);
        found
            .or_insert_with(|| looked::look(&graph.packages[package], &graph.target))
            .clone()
    }

    /// Returns the direct dependencies that a harness reaches.
    fn direct<'k>(
        &'k self,
        info: &'k transform::HarnessInfo,
    ) -> impl Iterator<Item = &'k (String, usize)> + Clone {
        let direct = self.graph.direct().iter();
        direct.filter(|(name, _)| info.roots.contains(name))
    }

    /// Returns these packages and all that they depend on.
    fn below(&self, packages: impl Iterator<Item = usize>) -> BTreeSet<usize> {
        let mut open: Vec<usize> = packages.collect();
        let mut seen: BTreeSet<usize> = open.iter().copied().collect();
        while let Some(next) = open.pop() {
            let on = &self.graph.packages[next].depends_on;
            open.extend(on.iter().filter(|it| seen.insert(**it)));
        }
        seen
    }

    /// Returns why a package is not followed, by itself or by what it depends on: the nearest reason, and the nearest
    /// reason that distorts; and each kind of code that is not followed in packages that are. An item that only declares
    /// something to be shared is no reason, unless the program mentions the item.
    fn not_followed(
        &self,
        package: usize,
        mentioned: &BTreeSet<String>,
        followed: &Followed,
        inner: &BTreeMap<usize, Inner>,
    ) -> Vec<NotFollowed> {
        let mut found: Vec<NotFollowed> = Vec::new();
        let mut inside: Vec<NotFollowed> = Vec::new();
        let mut seen = BTreeSet::from([package]);
        let mut open = VecDeque::from([package]);
        while let Some(next) = open.pop_front() {
            let name = &self.graph.packages[next].name;
            let copy = followed.copies.get(&next);
            let unfit = followed.unfit.get(&next);
            // What only accesses memory orders nothing, seen or not.
            let synchronizes = self.shared(next).iter().any(|it| !it.only_accesses());
            for (number, shared) in self.shared(next).iter().enumerate() {
                // In a copy, std's items have events; what else there is of them, the copy's analysis says.
                if copy.is_some()
                    && (shared.has_events || !shared.distorts && shared.declares.is_none())
                {
                    continue;
                }
                let is_used = match &shared.declares {
                    Some(declared) if mentioned.contains(declared) => true,
                    Some(_) => continue,
                    None => shared.distorts,
                };
                let first = found.is_empty() || number == 0 && unfit.is_some();
                let distorts = is_used && !found.iter().any(|it| it.distorts);
                if first || distorts {
                    let reason = unfit.filter(|_| first);
                    let reason = reason
                        .cloned()
                        .unwrap_or_else(|| not_followed(name, shared));
                    found.push(NotFollowed {
                        distorts: is_used,
                        synchronizes,
                        ..reason
                    });
                }
            }
            let is_made = self.shared(next).iter().any(|it| it.what == MADE);
            let hidden = inner.get(&next).into_iter().flat_map(|it| &it.unfollowed);
            // What a build script writes may have been found harmless.
            for hidden in hidden.filter(|it| it.what != MADE || is_made) {
                let known =
                    |it: &NotFollowed| it.what == hidden.what && it.package.as_ref() == Some(name);
                if !inside.iter().any(known) {
                    let file = copy.map(|copy| copy.below(&hidden.place.file));
                    inside.push(NotFollowed {
                        package: Some(name.clone()),
                        what: hidden.what.clone(),
                        site: Some(Site {
                            file: file.unwrap_or_default().display().to_string(),
                            line: hidden.place.start.line,
                            column: hidden.place.start.col,
                            text: line_of(&hidden.place).to_owned(),
                        }),
                        distorts: hidden.distorts,
                        synchronizes: hidden.synchronizes,
                    });
                }
            }
            let next = &self.graph.packages[next];
            open.extend(next.depends_on.iter().filter(|it| seen.insert(**it)));
        }
        found.extend(inside);
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
        synchronizes: !shared.only_accesses(),
    }
}
