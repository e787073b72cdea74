//! The public interface: a loaded program, and what is generated from it.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use crate::bounds::{self, Asked};
use crate::counting::Counting;
use crate::edit::Edits;
use crate::emit;
use crate::error::Error;
use crate::generated::Generated;
use crate::harness::{self, Harness, HarnessInfo};
use crate::load::{Crate, Features, ParsedFile, Part};
use crate::options::{Mode, Options};
use crate::reached::Parts;
use crate::shared;
use crate::values;
use crate::walk::{Analysis, analyze};

/// A loaded crate.
pub struct Program {
    program: Crate,
    analysis: Analysis,
    parts: Parts,
    mode: Mode,
    harnesses: Vec<Harness>,
    infos: Vec<HarnessInfo>,
    /// Those that are harnesses only if a dependency starts threads for them.
    others: Vec<Harness>,
    other_infos: Vec<HarnessInfo>,
}

impl Program {
    /// Loads a `.rs` file, a crate's directory, or a `Cargo.toml`, with all module files.
    ///
    /// # Errors
    /// When the input can't be read or parsed. Code that can't be run in this mode is an error of
    /// [`Program::transform`] only.
    pub fn load(path: &Path, mode: Mode) -> Result<Self, Error> {
        Self::load_part(path, mode, &Part::Whole, &Features::default())
    }

    /// Loads these targets of the package with these features, as [`Program::load`] loads the usual ones.
    ///
    /// # Errors
    /// The errors of [`Program::load`], and where there is no such feature.
    pub fn load_part(
        path: &Path,
        mode: Mode,
        part: &Part,
        features: &Features,
    ) -> Result<Self, Error> {
        let program = Crate::load(path, part, features)?;
        let counting = Counting::of(&program);
        Ok(Self::of(program, mode, counting))
    }

    fn of(program: Crate, mode: Mode, counting: Counting) -> Self {
        let analysis = analyze(&program, mode, counting);
        let parts = Parts::of(&program);
        let found = harness::find(&program, &analysis, &parts);
        let (harnesses, mut others): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|harness| !harness.info.spawn_sites.is_empty());
        // In sequential mode dependencies are built as they are, with threads that no one can run one after the other.
        if mode == Mode::Sequential {
            others.clear();
        }
        Program {
            program,
            analysis,
            parts,
            mode,
            infos: infos(&harnesses),
            other_infos: infos(&others),
            harnesses,
            others,
        }
    }

    /// Returns the tests and `main`s that start no threads themselves. What they call in dependencies may.
    pub fn without_threads(&self) -> &[HarnessInfo] {
        &self.other_infos
    }

    /// Counts the tests and `main`s of these names as harnesses, though they start no threads themselves.
    #[must_use]
    pub fn with(mut self, names: &BTreeSet<String>) -> Self {
        let (more, others) = self
            .others
            .into_iter()
            .partition(|harness| names.contains(&harness.info.name));
        self.others = others;
        self.harnesses.extend::<Vec<_>>(more);
        self.harnesses
            .sort_by_key(|harness| harness.at(&self.analysis));
        self.infos = infos(&self.harnesses);
        self.other_infos = infos(&self.others);
        self
    }

    /// Returns what the program can notice of handles.
    pub fn counting(&self) -> Counting {
        self.analysis.counting
    }

    /// Returns the program as a part of a larger one, in which this can be noticed of handles.
    #[must_use]
    pub fn counted(self, counting: Counting) -> Self {
        if counting == self.analysis.counting {
            return self;
        }
        Self::of(self.program, self.mode, counting)
    }

    /// Returns the targets in the program, each of which can be loaded without the others.
    pub fn parts(&self) -> Vec<Part> {
        let targets = self.program.roots.iter();
        let targets = targets.map(|root| Part::Target(root.module.clone()));
        [Part::Library].into_iter().chain(targets).collect()
    }

    /// Returns the package's name, or the file's.
    pub fn name(&self) -> &str {
        &self.program.package.name
    }

    /// Returns the edition, as a manifest writes it.
    pub fn edition(&self) -> &str {
        &self.program.package.edition
    }

    /// Returns the path of the manifest; `None` for a lone file.
    pub fn manifest(&self) -> Option<&Path> {
        self.program.package.manifest.as_deref()
    }

    /// Returns the path that a `Cargo.lock` of the package has: beside the manifest of its workspace. One further above belongs
    /// to others. `None` for a lone file.
    pub fn lock_path(&self) -> Option<PathBuf> {
        let dir = self.program.package.called_in.as_ref()?;
        Some(dir.join("Cargo.lock"))
    }

    /// Returns the path of the package's `Cargo.lock`, if there is one.
    pub fn lock_file(&self) -> Option<PathBuf> {
        self.lock_path().filter(|path| path.is_file())
    }

    /// Returns a manifest of a crate that depends on what the program depends on, and is empty; `None` if the program
    /// has no dependencies.
    ///
    /// # Errors
    /// When the dependencies can't be written.
    pub fn dependencies(&self) -> Result<Option<String>, Error> {
        emit::manifest::of_dependencies(&self.program.package)
    }

    /// Whether the program depends on serde.
    pub fn has_serde(&self) -> bool {
        self.program.package.dependencies.has("serde")
    }

    /// Returns the path of the crate's root file.
    pub fn root(&self) -> &Path {
        &self.program.files[0].source.path
    }

    /// Returns the paths of all source files of the crate, the root first.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let written = |file: &&ParsedFile| file.source.expanded.is_none();
        let files = self.program.files.iter().filter(written);
        files.map(|file| file.source.path.as_path())
    }

    /// Returns the text of a source file.
    pub fn source(&self, file: &Path) -> Option<&str> {
        let file = self
            .program
            .files
            .iter()
            .find(|known| known.source.path == file)?;
        Some(file.source.text.as_str())
    }

    /// Returns all harnesses in the order of the source, including those that can't be run.
    pub fn harnesses(&self) -> &[HarnessInfo] {
        &self.infos
    }

    /// Generates the crate.
    ///
    /// # Errors
    /// When the program has code that can't be run faithfully, or no harness, or not the harness that was asked for.
    pub fn transform(&self, options: &Options) -> Result<Generated, Error> {
        let chosen = harness::choose(
            &self.program,
            &self.analysis,
            &self.harnesses,
            &options.chosen,
        )?;
        let mut edits = self.analysis.edits.clone();
        self.leave_out(&chosen, &mut edits)?;
        let derived = shared::derive_traits(&self.program, &self.analysis, &chosen, &mut edits);
        bounds::add(
            &self.program,
            &self.analysis.tables,
            Asked::Copied,
            &mut edits,
        )?;
        harness::make_reachable(&self.program, &self.analysis, &chosen, &mut edits);
        let values = values::add(&self.program, &self.analysis, &derived, &mut edits);
        emit::generate(
            &self.program,
            &self.analysis,
            &chosen,
            &edits,
            &values,
            options,
        )
    }

    /// Puts a panic in the place of functions that can't be run and that the chosen harnesses don't reach.
    fn leave_out(&self, chosen: &[&Harness], edits: &mut [Edits]) -> Result<(), Error> {
        let needed = |file: usize| match self.program.root_of(file) {
            None => true,
            Some(root) => {
                let mut files = chosen.iter().map(|harness| harness.file(&self.analysis));
                files.any(|file| root.files.contains(&file))
            }
        };
        let mut elsewhere = Vec::new();
        let mut told = HashSet::new();
        for refused in self.analysis.errors.iter().filter(|it| needed(it.file)) {
            let at = refused.error.place().map_or(0, |place| place.bytes.start);
            match self.parts.body(refused.file, at) {
                Some(body) => {
                    let what = refused.error.to_string();
                    edits[refused.file]
                        .replace(body, format!("{{ ::core::panic!({:?}, {what:?}) }}", "{}"));
                }
                // Types and imports stay, and the sequential program has no such types.
                // An item is told once, where it is met first.
                None if self.mode == Mode::Sequential && told.insert(refused.error.to_string()) => {
                    elsewhere.push(refused.error.clone());
                }
                None => {}
            }
        }
        Error::from_list(elsewhere).map_or(Ok(()), Err)
    }
}

fn infos(harnesses: &[Harness]) -> Vec<HarnessInfo> {
    let infos = harnesses.iter().map(|harness| harness.info.clone());
    infos.collect()
}
