//! The program under test, as the transformation describes it to the driver.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use crate::harness::{Harness, HarnessKind, Spawn};
use seqz_runtime::vocabulary;
use seqz_transform as transform;
pub use seqz_transform::{Features, Mode, Part};
use toml::Value;

use crate::dependencies::{Copies as Followed, Dependencies};
pub use crate::dependencies::{Dependency, Follow, FollowArgs};
use crate::diagnostic::{Diagnostic, Place, line_span, shown};
use crate::embed::{self, Knows};
use crate::error::{Error, Unfit};
use crate::generated_manifest;
use crate::manifest;
use crate::model::document::{NotFollowed, Role, Site};
use crate::model::lone::{Lone, Reasonless};
use crate::sources::Sources;
use crate::variant::{Allocator, Copies, Variant};

/// A loaded program.
pub struct Program {
    inner: transform::Program,
    harnesses: Vec<Harness>,
    mode: Mode,
    part: Part,
    follow: Follow,
    /// The copies of the dependencies that are followed.
    followed: Arc<Followed>,
    sources: Sources,
    sharing: Vec<Dependency>,
    /// What cargo says where it can't tell the dependencies.
    trouble: Option<String>,
    /// The names of all dependencies, if they have been looked at; `None` inside where cargo can't tell them.
    dependencies: Option<Option<Vec<String>>>,
}

/// What is to be generated.
#[derive(Clone, Debug)]
pub struct Request {
    /// The number k of non-local reads of the emitted `p_hat`.
    pub k: u32,
    /// The harnesses of the generated crate.
    pub chosen: Choice,
    /// The thread under test in the emitted `p_hat`.
    pub role: Role,
}

pub use transform::Choice;

/// A generated crate.
#[derive(Debug)]
pub struct Generated {
    inner: transform::Generated,
    files: Vec<(PathBuf, String)>,
    followed: Arc<Followed>,
}

/// The place in the user's source that generated code comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The path of the user's file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The short name of the variable that is accessed there.
    pub name: Option<String>,
}

impl Program {
    /// Loads the program at `path`, to be run in this mode.
    ///
    /// # Errors
    /// When it can't be read, or isn't Rust.
    pub fn load(path: &Path, mode: Mode) -> Result<Self, Error> {
        Self::load_with(path, mode, &Features::default())
    }

    /// Loads the program with these features of its package.
    ///
    /// # Errors
    /// When it can't be read, isn't Rust, or has no such feature.
    pub fn load_with(path: &Path, mode: Mode, features: &Features) -> Result<Self, Error> {
        Self::load_following(path, mode, features, &Follow::NOTHING)
    }

    /// Loads the program with these features of its package, to be run in this mode with these dependencies followed.
    ///
    /// # Errors
    /// The errors of [`Program::load_with`].
    pub fn load_following(
        path: &Path,
        mode: Mode,
        features: &Features,
        follow: &Follow,
    ) -> Result<Self, Error> {
        Self::load_part(path, mode, Part::Whole, features, follow.clone())
    }

    /// Loads the program once more, without copies of dependencies that turned out not to fit.
    ///
    /// # Errors
    /// The errors of [`Program::load`].
    pub fn without(&self, path: &Path, unfit: &[Unfit]) -> Result<Self, Error> {
        let follow = self.follow.clone().without(unfit);
        Self::load_part(path, self.mode, self.part.clone(), self.features(), follow)
    }

    /// Returns which features of the package are on.
    #[must_use]
    pub const fn features(&self) -> &Features {
        self.sources.features()
    }

    /// Loads the program once more for each target of its package, where there are several; each of the results has the
    /// harnesses of its target.
    ///
    /// # Errors
    /// The errors of [`Program::load`].
    pub fn apart(&self, path: &Path) -> Result<Vec<Self>, Error> {
        let parts = self.inner.parts();
        if self.part != Part::Whole || parts.len() < 2 {
            return Ok(Vec::new());
        }
        let load = |part: Part| {
            Self::load_part(path, self.mode, part, self.features(), self.follow.clone())
        };
        parts.into_iter().map(load).collect()
    }

    fn load_part(
        path: &Path,
        mode: Mode,
        part: Part,
        features: &Features,
        follow: Follow,
    ) -> Result<Self, Error> {
        let inner = transform::Program::load_part(path, mode, &part, features);
        // What cargo refuses, seqz may understand in another way: cargo is the one to ask.
        match &inner {
            Ok(inner) => {
                let manifest = inner.manifest().map(Path::to_owned);
                if let Some(manifest) = manifest.or_else(|| manifest::unreadable_above(path)) {
                    manifest::accepted(&manifest)?;
                }
            }
            Err(transform::Error::Manifest { path, .. }) => {
                manifest::accepted(path)?;
            }
            Err(_) => {}
        }
        let mut inner = inner?;
        let dependencies = Dependencies::of(&inner, mode, &follow)?;
        if let Some(dependencies) = &dependencies {
            inner = inner.counted(dependencies.counting());
            let starting = dependencies.starting(inner.without_threads());
            inner = inner.with(&starting);
        }
        let mut harnesses: Vec<_> = inner.harnesses().iter().map(harness).collect();
        if let Some(dependencies) = &dependencies {
            dependencies.note(inner.harnesses(), &mut harnesses);
        }
        if let Part::Target(module) = &part {
            let prefix = format!("{module}::");
            harnesses.retain(|harness| harness.name.starts_with(&prefix));
        }
        let sharing = dependencies.as_ref().map(Dependencies::sharing);
        let names = dependencies.as_ref().map(Dependencies::names);
        let trouble = dependencies.as_ref().and_then(Dependencies::trouble);
        let trouble = trouble.map(str::to_owned);
        let followed = dependencies.map(Dependencies::into_copies);
        let followed = Arc::new(followed.unwrap_or_default());
        let files = inner
            .files()
            .filter_map(|file| Some((file, inner.source(file)?)));
        let sources = Sources::new(
            files,
            inner.manifest(),
            Arc::clone(&followed),
            features.clone(),
        );
        Ok(Self {
            sources,
            inner,
            harnesses,
            mode,
            part,
            follow,
            followed,
            sharing: sharing.unwrap_or_default(),
            trouble,
            dependencies: names,
        })
    }

    /// Returns the names of all packages that the program is linked to; `None` where they are not known.
    #[must_use]
    pub fn dependencies(&self) -> Option<Vec<String>> {
        let looked = self.dependencies.clone();
        looked.unwrap_or_else(|| crate::dependencies::names(&self.inner))
    }

    /// Returns an error with what cargo says where it can't tell the dependencies: it can't build the program either.
    #[must_use]
    pub fn trouble(&self) -> Option<Error> {
        let said = self.trouble.as_deref()?;
        let mut told = Diagnostic::error("cargo can't tell what the program depends on").note(said);
        if said.contains("offline") {
            told = told.help(
                "seqz asks offline: run `cargo fetch` in the program's directory once, so that its dependencies are there",
            );
        }
        Some(Error::Program(vec![told]))
    }

    /// Returns the dependencies that share something between threads, by name.
    #[must_use]
    pub fn sharing(&self) -> &[Dependency] {
        &self.sharing
    }

    /// Returns the program's text, as reports show it.
    #[must_use]
    pub const fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Returns the copies of the dependencies that are followed.
    #[must_use]
    pub(crate) fn followed(&self) -> &Followed {
        &self.followed
    }

    /// Returns the harnesses of the program, in the order of the source.
    #[must_use]
    pub fn harnesses(&self) -> &[Harness] {
        &self.harnesses
    }

    /// Returns the package's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.inner.name()
    }

    /// Returns a name that no other program has: the package's name, and a digest of the package's path.
    #[must_use]
    pub fn unique_name(&self) -> String {
        let root = self.root();
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        // FNV-1a: a few programs in one directory need no better digest.
        let hash = root
            .as_os_str()
            .as_encoded_bytes()
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
        // A program whose calls are marked is another program.
        let mark = match self.mode {
            Mode::Followed => "-calls",
            Mode::Sequential | Mode::Scheduled => "",
        };
        let part = match &self.part {
            Part::Whole => String::new(),
            Part::Library => "-library".to_owned(),
            Part::Target(module) => format!("-{module}"),
        };
        // And so is one whose dependencies are built otherwise.
        let followed = if self.followed.is_empty() {
            ""
        } else {
            "-followed"
        };
        format!("{}{part}{mark}{followed}-{hash:016x}", self.name())
    }

    /// Returns the path of the program's manifest, unless the program is a lone file.
    #[must_use]
    pub fn manifest(&self) -> Option<&Path> {
        self.inner.manifest()
    }

    /// Returns which crates the runtime has to know.
    #[must_use]
    pub fn knows(&self) -> Knows {
        knows(self.inner.has_serde())
    }

    /// Returns the path of the `Cargo.lock` that goes with the manifest, if there is one.
    #[must_use]
    pub fn lock_file(&self) -> Option<PathBuf> {
        self.inner.lock_file()
    }

    /// Returns the path that a `Cargo.lock` has that goes with the manifest; `None` for a lone file.
    #[must_use]
    pub(crate) fn lock_path(&self) -> Option<PathBuf> {
        self.inner.lock_path()
    }

    /// Returns the path of the crate's root file.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.inner.root()
    }

    /// Returns the paths of the source files that have been read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.inner.files()
    }

    /// Returns the edition, as a manifest writes it.
    #[must_use]
    pub fn edition(&self) -> &str {
        self.inner.edition()
    }

    /// Generates the crate.
    ///
    /// # Errors
    /// When the program has code that can't be transformed.
    pub fn transform(&self, request: &Request) -> Result<Generated, Error> {
        let inner = self.inner.transform(&transform::Options {
            k: request.k,
            chosen: request.chosen.clone(),
            role: transform::Role(request.role.0),
        })?;
        let map = serde_json::to_string(&inner.map)
            .map_err(|e| Error::Worker(format!("the source map can't be written: {e}")))?;
        let mut files = inner.files.clone();
        files.push((PathBuf::from(SOURCE_MAP), map));
        Ok(Generated {
            inner,
            files,
            followed: Arc::clone(&self.followed),
        })
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("root", &self.root())
            .finish_non_exhaustive()
    }
}

/// Whether a file is the manifest of the generated crate.
fn is_manifest(path: &Path) -> bool {
    path == Path::new("Cargo.toml")
}

/// The name of the file that maps places in the generated files to places in the user's.
pub(crate) const SOURCE_MAP: &str = "source-map.json";

/// The part of cargo's configuration that lets the runtime, and no other crate, use unstable features of Rust.
const UNSTABLE: &str = r#"
# Values that threads share are copied if they are `Clone`, which takes an unstable feature of Rust to find out.
[env]
RUSTC_BOOTSTRAP = "seqz_runtime"
"#;

/// The part of a worker's `main.rs` that installs the runtime's allocator, and the functions that stand before the
/// system's.
const ALLOCATOR: &str = "
#[global_allocator]
static ALLOCATOR: seqz_runtime::memory::arena::Allocator = seqz_runtime::memory::arena::Allocator;

seqz_runtime::stand_before_the_system!();
";

impl Generated {
    /// Returns the files: the path below the crate's directory, and the content.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files
            .iter()
            .map(|(path, text)| (path.as_path(), text.as_str()))
    }

    /// Whether the program has `unsafe` code.
    #[must_use]
    pub const fn has_unsafe(&self) -> bool {
        self.inner.has_unsafe
    }

    /// Returns further files, for users who run the crate: see [`transform::Generated::testers`].
    pub fn testers(&self) -> impl Iterator<Item = (&Path, &str)> {
        let testers = self.inner.testers.iter();
        testers.map(|(path, text)| (path.as_path(), text.as_str()))
    }

    /// Returns the package's name.
    #[must_use]
    pub fn package(&self) -> &str {
        &self.inner.package
    }

    /// Returns the same files for a build beside other programs: with the runtime in `runtime`, and with `name` as the
    /// name of the package.
    ///
    /// cargo tells packages at the roots of their workspaces apart by their names alone: of two programs with one name
    /// in one target directory, cargo would take the second for the first.
    ///
    /// The names of objects must not depend on the schedule, so the runtime allocates, unless the program does.
    #[must_use]
    pub fn files_for_building(
        &self,
        name: &str,
        runtime: &Path,
        variant: Variant,
    ) -> Vec<(PathBuf, String)> {
        let mut files = self.files.clone();
        let mut coerces = false;
        let copied_if_clone = variant.copies == Copies::WhereClone;
        let manifests = files.iter_mut().filter(|(path, _)| is_manifest(path));
        for (_, text) in manifests {
            *text = generated_manifest::edited(text, |manifest| {
                generated_manifest::rename(manifest, name);
                generated_manifest::as_the_runtime(manifest, &embed::OF_THE_SCHEDULER);
                let Some(entry) = generated_manifest::runtime(manifest) else {
                    return;
                };
                generated_manifest::set_path(entry, runtime);
                // The only feature that a generated crate asks for by itself is the one of coercions.
                coerces = entry.contains_key("features");
                // A runtime that uses what is unstable is compiled with both features: one runtime serves all such programs.
                let features = [
                    ("coercions", coerces || copied_if_clone),
                    ("copied_if_clone", copied_if_clone),
                    ("sanitized", variant.sanitized),
                ];
                let features = features
                    .into_iter()
                    .filter(|(_, wanted)| *wanted)
                    .map(|(feature, _)| Value::from(feature));
                entry.insert("features".into(), Value::Array(features.collect()));
            });
        }
        if copied_if_clone && !coerces {
            files.push((PathBuf::from(".cargo/config.toml"), UNSTABLE.to_owned()));
        }
        let mains = files
            .iter_mut()
            .filter(|(path, _)| path == Path::new("src/main.rs"));
        for (_, main) in mains.filter(|_| variant.allocator == Allocator::Ours) {
            main.push_str(ALLOCATOR);
        }
        files
    }

    /// Returns the files of [`Self::files_for_building`] with the dependencies that are followed led to their copies below
    /// `followed`.
    #[must_use]
    pub(crate) fn files_following(
        &self,
        name: &str,
        runtime: &Path,
        variant: Variant,
        followed: &Path,
    ) -> Vec<(PathBuf, String)> {
        let mut files = self.files_for_building(name, runtime, variant);
        if !self.followed.is_empty() {
            for (_, text) in files.iter_mut().filter(|(path, _)| is_manifest(path)) {
                *text = self.followed.lead(text, followed);
            }
        }
        files
    }

    /// Returns which crates the runtime has to know.
    #[must_use]
    pub const fn knows(&self) -> Knows {
        knows(self.inner.serde)
    }

    /// Whether the program may change while its files and the versions of its dependencies stay the same: it depends on
    /// crates by their paths, or includes files that are no source files.
    #[must_use]
    pub fn may_change(&self) -> bool {
        self.inner.may_change || self.has_path_dependencies()
    }

    fn has_path_dependencies(&self) -> bool {
        let mut manifests = self.files.iter().filter(|(path, _)| is_manifest(path));
        manifests.any(|(_, text)| generated_manifest::has_path_dependencies(text))
    }

    /// Returns the origin of a place in a generated file.
    #[must_use]
    pub fn lookup(&self, file: &Path, line: u32, column: u32) -> Option<Origin> {
        let origin = match self.followed.find(file) {
            Some(_) => self.followed.lookup(file, line, column)?,
            None if self.is_of_another(file) => return None,
            None => self.inner.map.lookup(file, line, column)?,
        };
        Some(Origin {
            file: origin.file,
            line: origin.line,
            column: origin.col,
            name: origin.name,
        })
    }

    /// Whether a file that is called like one of the generated crate is another one: that of a dependency that is compiled where
    /// it is.
    fn is_of_another(&self, file: &Path) -> bool {
        let called_so = |(own, _): &&(PathBuf, String)| file.ends_with(own);
        let mut own = self.files.iter().filter(called_so).peekable();
        // Within the crate that is built, paths are relative; what can't be looked at any more is taken for what it was.
        file.is_absolute()
            && own.peek().is_some()
            && fs::read_to_string(file)
                .is_ok_and(|text| !own.any(|(_, own)| text.starts_with(own.as_str())))
    }

    /// Returns the places at which the runtime sees the calls outside of loops that may end or fail without a reason.
    #[must_use]
    pub fn lone(&self) -> Vec<vocabulary::Place> {
        let map = &self.inner.map;
        let in_macros = map.has_lone_in_macros() || self.followed.has_lone_in_macros();
        let macros = map.macros().filter(|_| in_macros);
        let own = map.lone().chain(macros);
        let own = own.map(|(file, line, column)| (file.to_owned(), line, column));
        own.chain(self.followed.lone(in_macros))
            .map(|(file, line, column)| vocabulary::Place {
                file: file.display().to_string(),
                line,
                column,
            })
            .collect()
    }

    /// Returns the names of the harnesses in the crate.
    #[must_use]
    pub fn harnesses(&self) -> &[String] {
        &self.inner.harnesses
    }
}

/// Converts a place in the user's source.
fn site(place: &transform::Place) -> Site {
    let text = place.source[line_span(&place.source, place.start.line, 1)].trim();
    Site {
        file: shown(&place.file),
        line: place.start.line,
        column: place.start.col,
        text: text.to_owned(),
    }
}

fn hidden(hidden: &transform::Hidden) -> NotFollowed {
    NotFollowed {
        package: None,
        what: hidden.what.clone(),
        site: Some(site(&hidden.place)),
        distorts: hidden.distorts,
        synchronizes: hidden.synchronizes,
    }
}

const fn knows(serde: bool) -> Knows {
    if serde { Knows::Serde } else { Knows::None }
}

fn harness(info: &transform::HarnessInfo) -> Harness {
    Harness {
        name: info.name.clone(),
        kind: match info.kind {
            transform::HarnessKind::Test => HarnessKind::Test,
            transform::HarnessKind::PubFn => HarnessKind::Function,
            transform::HarnessKind::Main => HarnessKind::Main,
        },
        site: site(&info.place),
        parameters: info
            .params
            .iter()
            .map(|param| (param.name.clone(), param.ty.clone()))
            .collect(),
        spawns: info
            .spawn_sites
            .iter()
            .map(|site| Spawn {
                file: shown(&site.file),
                line: site.line,
                name: site.name.clone(),
                scoped: site.scoped,
            })
            .collect(),
        ignored: info.ignored,
        not_followed: info.unfollowed.iter().map(hidden).collect(),
        idle_functions: info.idle_functions.clone(),
        lone: info
            .lone
            .iter()
            .map(|(what, place)| Lone {
                what: match what {
                    transform::Reasonless::Wait => Reasonless::Wait,
                    transform::Reasonless::WeakExchange => Reasonless::WeakExchange,
                    transform::Reasonless::Update => Reasonless::Update,
                },
                site: site(place),
            })
            .collect(),
        unsupported: info.unsupported.as_ref().map(|error| {
            let mut all = diagnostics(error);
            all.swap_remove(0)
        }),
    }
}

/// Returns the messages of an error; there is at least one.
fn diagnostics(error: &transform::Error) -> Vec<Diagnostic> {
    if let transform::Error::Several(errors) = error
        && !errors.is_empty()
    {
        return errors.iter().flat_map(diagnostics).collect();
    }
    // The text at the place is not repeated above the place.
    let (message, label) = match error {
        transform::Error::Unsupported { what, reason, .. } => {
            (format!("{what} is not supported"), Some(reason.clone()))
        }
        transform::Error::Syntax { message, .. } => {
            ("syntax error".to_owned(), Some(message.clone()))
        }
        other => (other.to_string(), other.label()),
    };
    let mut diagnostic = Diagnostic::error(message);
    if let Some(place) = error.place() {
        diagnostic = diagnostic.at(Place {
            file: place.file.clone(),
            source: place.source.to_string(),
            span: place.bytes.clone(),
            label,
            secondary: Vec::new(),
        });
    }
    match error.help() {
        Some(help) => vec![diagnostic.help(help)],
        None => vec![diagnostic],
    }
}

impl From<transform::Error> for Error {
    fn from(error: transform::Error) -> Self {
        if let transform::Error::NoSuchFeature { name, known } = error {
            return Self::NoSuchFeature { name, known };
        }
        Self::Program(diagnostics(&error))
    }
}
