//! Which packages of a workspace a command is about, chosen as cargo's own commands do it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use cargo_metadata::{Metadata, Package};
use clap::Args;

use super::{ConfigArgs, FeatureArgs, Verdict};
use crate::error::{Error, Unfit};
use crate::manifest;
use crate::model::tested::Lost;
use crate::program::{Features, Follow, Harness, Mode, Program};
use crate::terminal::Terminal;

/// Where the program is.
#[derive(Clone, Debug, Args)]
pub struct PackageArgs {
    /// A Rust file, a crate, a workspace, or a member of one. A file that belongs to no crate is of edition 2024
    #[arg(default_value = ".")]
    pub(super) path: PathBuf,
    /// Only this package of the workspace; may be given several times [default: as `cargo test` chooses]
    #[arg(long, short, value_name = "NAME")]
    package: Vec<String>,
    /// All packages of the workspace
    #[arg(long, alias = "all")]
    workspace: bool,
    /// All but this package of the workspace; may be given several times
    #[arg(long, value_name = "NAME", requires = "workspace")]
    exclude: Vec<String>,
    #[command(flatten)]
    features: FeatureArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

/// A program that a command is about.
pub(super) struct Member {
    pub(super) program: Program,
    /// The path of the program, as a user would name it.
    pub(super) path: PathBuf,
    /// The prefix of the names of its harnesses, where there are several programs.
    pub(super) name: Option<String>,
}

impl Member {
    /// Returns the name of one of its harnesses among those of all programs.
    pub(super) fn named(&self, harness: &str) -> String {
        named(self.name.as_deref(), harness)
    }
}

/// Returns the name of a harness of this package among those of all packages.
pub(super) fn named(package: Option<&str>, harness: &str) -> String {
    package.map_or_else(|| harness.to_owned(), |it| format!("{it}::{harness}"))
}

/// The programs that a command is about.
pub(super) struct Members {
    pub(super) all: Vec<Rc<Member>>,
    path: PathBuf,
    /// The command's verdict because some programs can't be searched, which has been reported already.
    lost: Cell<Option<Verdict>>,
    /// The programs that can't be searched.
    pub(super) losses: RefCell<Vec<Lost>>,
    /// Whether each target of a package is a program of its own.
    is_split: Cell<bool>,
}

impl PackageArgs {
    /// Loads the programs.
    ///
    /// # Errors
    ///
    /// When no program can be loaded. Where some of several can be loaded, the others are reported at once and left
    /// out.
    pub(super) fn load(
        &self,
        mode: Mode,
        follow: &Follow,
        terminal: &Terminal,
    ) -> Result<Members, Error> {
        let mut paths = self.paths()?;
        let is_one = paths.len() == 1;
        let mut members = Members {
            all: Vec::new(),
            path: self.path.clone(),
            lost: Cell::new(None),
            losses: RefCell::new(Vec::new()),
            is_split: Cell::new(false),
        };
        if is_one {
            let (path, _) = paths.swap_remove(0);
            members.all.push(Rc::new(Member {
                program: Program::load_following(&path, mode, &self.features.chosen(), follow)?,
                path,
                name: None,
            }));
            members.know(follow)?;
            return Ok(members);
        }
        let names: Vec<String> = paths.iter().map(|(_, name)| name.clone()).collect();
        let mut missing: BTreeMap<String, usize> = BTreeMap::new();
        for (path, name) in paths {
            let features = features_of(&name, &names, self.features.chosen());
            match load_without(&path, mode, features, follow, &mut missing) {
                Ok(program) => members.all.push(Rc::new(Member {
                    program,
                    path,
                    name: Some(name.replace('-', "_")),
                })),
                Err(error) => members.lose(&name, &error, terminal),
            }
        }
        // As with cargo, a feature is for the packages that have it.
        match missing.into_iter().find(|(_, lack)| *lack == names.len()) {
            Some((name, _)) => Err(Error::Option {
                message: format!("none of the packages has the feature `{name}`"),
                help: "see `[features]` in their manifests".into(),
            }),
            None => members.know(follow).map(|()| members),
        }
    }

    /// Where these packages of the workspace at a path are, or, without any, those that cargo chooses there.
    ///
    /// # Errors
    /// When there are no such packages.
    pub(super) fn places(path: &Path, package: &[String]) -> Result<Vec<PathBuf>, Error> {
        let chosen = Self {
            path: path.to_owned(),
            package: package.to_vec(),
            workspace: false,
            exclude: Vec::new(),
            features: FeatureArgs::default(),
            config: ConfigArgs::default(),
        };
        let paths = chosen.paths()?.into_iter();
        Ok(paths.map(|(path, _)| path).collect())
    }

    /// The directories of the packages, and their names.
    fn paths(&self) -> Result<Vec<(PathBuf, String)>, Error> {
        let asks = self.workspace || !self.package.is_empty();
        let alone = || Ok(vec![(self.path.clone(), String::new())]);
        let manifest = if self.path.is_dir() {
            self.path.join("Cargo.toml")
        } else {
            self.path.clone()
        };
        let text = match manifest.file_name() {
            Some(name) if name == "Cargo.toml" => fs::read_to_string(&manifest).ok(),
            _ => None,
        };
        let Some(text) = text else {
            if asks {
                return Err(Error::Option {
                    message: "--package and --workspace choose among the packages of a workspace"
                        .into(),
                    help: "give its directory, or that of one of its members".into(),
                });
            }
            return alone();
        };
        if !asks && !text.contains("workspace") {
            return alone();
        }
        let metadata = match manifest::metadata(&manifest) {
            Ok(metadata) => metadata,
            // The loading of the manifest reports what is wrong with it.
            Err(_) if !asks => return alone(),
            Err(error) => return Err(error),
        };
        let is_here = |package: &Package| {
            let here = manifest.canonicalize();
            here.is_ok_and(|here| here == package.manifest_path.as_std_path())
        };
        match self.chosen(&metadata, &manifest)?.as_slice() {
            [one] if is_here(one) => alone(),
            chosen => Ok(chosen
                .iter()
                .map(|package| (directory(package), package.name.to_string()))
                .collect()),
        }
    }

    fn chosen<'m>(
        &self,
        metadata: &'m Metadata,
        manifest: &Path,
    ) -> Result<Vec<&'m Package>, Error> {
        let mut all = metadata.workspace_packages();
        all.sort_by_key(|package| package.name.to_string());
        for name in self.package.iter().chain(&self.exclude) {
            if !all.iter().any(|package| package.name.as_str() == name) {
                let names: Vec<_> = all.iter().map(|package| package.name.as_str()).collect();
                return Err(Error::Option {
                    message: format!("there is no package `{name}` in the workspace"),
                    help: format!("there are: {}", names.join(", ")),
                });
            }
        }
        let is = |names: &[String], package: &Package| {
            names.iter().any(|name| package.name.as_str() == name)
        };
        if self.workspace {
            all.retain(|package| !is(&self.exclude, package));
        } else if !self.package.is_empty() {
            all.retain(|package| is(&self.package, package));
        } else {
            let manifest = manifest.canonicalize().unwrap_or_default();
            let root = metadata.workspace_root.as_std_path().join("Cargo.toml");
            if root.canonicalize().ok().as_deref() == Some(&manifest) {
                let default = metadata.workspace_default_packages();
                all.retain(|package| default.iter().any(|it| it.id == package.id));
            } else {
                all.retain(|package| package.manifest_path.as_std_path() == manifest);
            }
        }
        if all.is_empty() {
            return Err(Error::Option {
                message: "no package of the workspace is left".into(),
                help: "leave an --exclude out".into(),
            });
        }
        Ok(all)
    }
}

/// Returns what a choice of features means for one of several packages: `package/feature` is for that one alone.
fn features_of(package: &str, all: &[String], mut features: Features) -> Features {
    let names = features.list.into_iter().filter_map(|name| {
        let Some((of, feature)) = name.split_once('/') else {
            return Some(name);
        };
        if of == package {
            return Some(feature.to_owned());
        }
        (!all.iter().any(|it| it == of)).then_some(name)
    });
    features.list = names.collect();
    features
}

/// Loads one of several programs with those of the features that its package has, and counts the others.
fn load_without(
    path: &Path,
    mode: Mode,
    mut features: Features,
    follow: &Follow,
    missing: &mut BTreeMap<String, usize>,
) -> Result<Program, Error> {
    loop {
        match Program::load_following(path, mode, &features, follow) {
            Err(Error::NoSuchFeature { name, .. }) if features.list.contains(&name) => {
                features.list.retain(|it| *it != name);
                *missing.entry(name).or_default() += 1;
            }
            loaded => return loaded,
        }
    }
}

/// The directory of a package, as a user would name it.
fn directory(package: &Package) -> PathBuf {
    let manifest = package.manifest_path.as_std_path();
    let dir = manifest.parent().unwrap_or(manifest);
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    match here.ok().and_then(|here| dir.strip_prefix(here).ok()) {
        Some(below) if below.as_os_str().is_empty() => PathBuf::from("."),
        Some(below) => below.to_owned(),
        None => dir.to_owned(),
    }
}

impl Members {
    /// Whether there are several programs, so that trouble with one is no reason to leave the others.
    pub(super) fn are_several(&self) -> bool {
        self.all.len() > 1 || self.lost.get().is_some() || self.is_split.get()
    }

    /// Refuses names of dependencies that none of the programs has.
    fn know(&self, follow: &Follow) -> Result<(), Error> {
        if !follow.names_any() {
            return Ok(());
        }
        let programs = self.all.iter().map(|member| member.program.dependencies());
        let known: Option<Vec<Vec<String>>> = programs.collect();
        // A program that can't be loaded, or whose dependencies cargo can't tell, may have them.
        let (Some(known), None) = (known, self.lost.get()) else {
            return Ok(());
        };
        let mut known = known.concat();
        known.sort();
        known.dedup();
        match follow.unknown(&known).first() {
            Some(name) => Err(Error::NoSuchDependency {
                wanted: (*name).to_owned(),
                known,
            }),
            None => Ok(()),
        }
    }

    /// Reports why one of several programs can't be searched.
    fn lose(&self, program: &str, error: &Error, terminal: &Terminal) {
        error.report(terminal);
        self.losses.borrow_mut().push(Lost {
            program: program.to_owned(),
            reason: error.to_string(),
        });
        let lost = if error.code() == 2 {
            Verdict::Unsupported
        } else {
            Verdict::Failed
        };
        self.lost.set(Some(match self.lost.get() {
            Some(Verdict::Failed) => Verdict::Failed,
            _ => lost,
        }));
    }

    /// Goes on after what could not be built: without copies of dependencies that don't fit, without the program, or, where only the targets of a package don't go together, with each by
    /// itself, in front of the others.
    ///
    /// # Errors
    /// With this one, where there is nothing to go on with.
    pub(super) fn go_on(
        &self,
        failed: &Chosen,
        error: Error,
        queue: &mut VecDeque<Chosen>,
        terminal: &Terminal,
    ) -> Result<(), Error> {
        if let Error::Unfit(unfit) = &error {
            queue.push_front(failed.without(unfit)?);
            return Ok(());
        }
        if let Error::Generated(_) = error {
            let parts = failed.apart()?;
            let is_split = !parts.is_empty();
            self.is_split.set(self.is_split.get() || is_split);
            parts
                .into_iter()
                .rev()
                .for_each(|part| queue.push_front(part));
            if is_split {
                return Ok(());
            }
        }
        if !self.are_several() {
            return Err(error);
        }
        self.lose(failed.member.program.name(), &error, terminal);
        Ok(())
    }

    /// Returns the verdict on the command, given the verdict on the programs that were searched.
    pub(super) fn verdict(&self, verdict: Verdict) -> Verdict {
        match (verdict, self.lost.get()) {
            (Verdict::Clean | Verdict::Open | Verdict::Unsupported, Some(lost)) => lost,
            (verdict, _) => verdict,
        }
    }

    /// The harnesses that are wanted by their names among those of all programs, by program, in the order of the source.
    /// Programs without any are left out.
    pub(super) fn chosen_by(
        &self,
        is_wanted: impl Fn(&str, &Harness) -> bool,
    ) -> Result<Vec<Chosen>, Error> {
        if self.all.iter().all(|it| it.program.harnesses().is_empty()) {
            return Err(Error::NoHarness {
                path: self.path.clone(),
            });
        }
        let chosen = self.all.iter().map(|member| {
            Chosen::of(member, |harness| {
                is_wanted(&member.named(&harness.name), harness)
            })
        });
        Ok(chosen.filter(|it| it.len() > 0).collect())
    }

    /// The harnesses with these names, or all of them, by program, in the order of the source. Programs without any are left out.
    pub(super) fn chosen(&self, names: &[String]) -> Result<Vec<Chosen>, Error> {
        let known: Vec<String> = self
            .all
            .iter()
            .flat_map(|it| it.program.harnesses().iter().map(|h| it.named(&h.name)))
            .collect();
        if known.is_empty() {
            return Err(Error::NoHarness {
                path: self.path.clone(),
            });
        }
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        let wanted = names
            .iter()
            .map(|wanted| super::pick(&known, wanted))
            .collect::<Result<Vec<_>, _>>()?;
        let chosen = self.all.iter().map(|member| {
            let is_wanted = |harness: &Harness| match names {
                [] => !harness.ignored,
                _ => wanted.contains(&member.named(&harness.name).as_str()),
            };
            Chosen::of(member, is_wanted)
        });
        let mut chosen: Vec<Chosen> = chosen.collect();
        if self.are_several() {
            chosen.retain(|it| !it.harnesses.is_empty());
        }
        Ok(chosen)
    }
}

/// The harnesses of one program that are asked for.
pub(super) struct Chosen {
    pub(super) member: Rc<Member>,
    /// The indices of the chosen harnesses in the program.
    harnesses: Vec<usize>,
}

impl Chosen {
    fn of(member: &Rc<Member>, is_wanted: impl Fn(&Harness) -> bool) -> Self {
        let all = member.program.harnesses().iter().enumerate();
        Self {
            harnesses: all
                .filter_map(|(at, harness)| is_wanted(harness).then_some(at))
                .collect(),
            member: Rc::clone(member),
        }
    }

    /// Returns the same harnesses in a program of its own for each target of the package, where there are several targets.
    ///
    /// # Errors
    /// Errors of loading the programs.
    fn apart(&self) -> Result<Vec<Self>, Error> {
        let parts = self.member.program.apart(&self.member.path)?;
        let parts = parts.into_iter().map(|program| self.of_program(program));
        let mut parts: Vec<_> = parts.collect();
        parts.retain(|part| part.len() > 0);
        Ok(parts)
    }

    /// Returns the same harnesses in a program without copies of dependencies that don't fit.
    ///
    /// # Errors
    /// Errors of loading the program.
    fn without(&self, unfit: &[Unfit]) -> Result<Self, Error> {
        let member = &self.member;
        Ok(self.of_program(member.program.without(&member.path, unfit)?))
    }

    /// Returns the same harnesses in another form of the program.
    fn of_program(&self, program: Program) -> Self {
        let names: Vec<_> = self.harnesses().iter().map(|it| it.name.clone()).collect();
        let member = Rc::new(Member {
            program,
            path: self.member.path.clone(),
            name: self.member.name.clone(),
        });
        Self::of(&member, |harness| names.contains(&harness.name))
    }

    /// Returns the chosen harnesses in the order of the source.
    pub(super) fn harnesses(&self) -> Vec<&Harness> {
        let all = self.member.program.harnesses();
        self.harnesses.iter().map(|&at| &all[at]).collect()
    }

    /// Returns the names of the chosen harnesses among those of all programs.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let harnesses = self.harnesses().into_iter();
        harnesses.map(|harness| self.member.named(&harness.name))
    }

    /// Returns the number of chosen harnesses.
    pub(super) fn len(&self) -> usize {
        self.harnesses.len()
    }
}
