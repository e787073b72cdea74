//! The public face: a loaded program, and what is generated from it.

use std::path::Path;

use crate::bounds;
use crate::edit::Edits;
use crate::emit;
use crate::error::Error;
use crate::generated::Generated;
use crate::harness::{self, Harness, HarnessInfo};
use crate::load::{Crate, ParsedFile, Part};
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
}

impl Program {
    /// Loads a `.rs` file, a crate's directory, or a `Cargo.toml`, with all module files.
    ///
    /// # Errors
    /// The input can't be read or parsed. What can't be run in this mode is an error of [`Program::transform`] only.
    pub fn load(path: &Path, mode: Mode) -> Result<Self, Error> {
        Self::load_part(path, mode, &Part::Whole)
    }

    /// The same, of some of the package's targets.
    ///
    /// # Errors
    /// As [`Program::load`].
    pub fn load_part(path: &Path, mode: Mode, part: &Part) -> Result<Self, Error> {
        let program = Crate::load(path, part)?;
        let analysis = analyze(&program, mode);
        let parts = Parts::of(&program);
        let harnesses = harness::find(&program, &analysis, &parts);
        let infos = harnesses
            .iter()
            .map(|harness| harness.info.clone())
            .collect();
        Ok(Program {
            program,
            analysis,
            parts,
            mode,
            harnesses,
            infos,
        })
    }

    /// The targets that are in it, each of which can be loaded without the others.
    pub fn parts(&self) -> Vec<Part> {
        let targets = self.program.roots.iter();
        let targets = targets.map(|root| Part::Target(root.module.clone()));
        [Part::Library].into_iter().chain(targets).collect()
    }

    /// The package's name, or the file's.
    pub fn name(&self) -> &str {
        &self.program.package.name
    }

    /// The edition, as in a manifest.
    pub fn edition(&self) -> &str {
        &self.program.package.edition
    }

    /// The manifest, unless the program is a lone file.
    pub fn manifest(&self) -> Option<&Path> {
        self.program.package.manifest.as_deref()
    }

    /// A manifest of a crate that depends on what the program depends on, and nothing else; `None` if that is nothing.
    ///
    /// # Errors
    /// Its dependencies can't be written down.
    pub fn dependencies(&self) -> Result<Option<String>, Error> {
        emit::manifest::of_dependencies(&self.program.package)
    }

    /// Whether it depends on serde.
    pub fn has_serde(&self) -> bool {
        self.program.package.dependencies.has("serde")
    }

    /// The crate's root file.
    pub fn root(&self) -> &Path {
        &self.program.files[0].source.path
    }

    /// All source files of the crate, the root first.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let written = |file: &&ParsedFile| file.source.expanded.is_none();
        let files = self.program.files.iter().filter(written);
        files.map(|file| file.source.path.as_path())
    }

    /// The text of a source file.
    pub fn source(&self, file: &Path) -> Option<&str> {
        let file = self
            .program
            .files
            .iter()
            .find(|known| known.source.path == file)?;
        Some(file.source.text.as_str())
    }

    /// All harnesses, in order of source, those that can't be run among them.
    pub fn harnesses(&self) -> &[HarnessInfo] {
        &self.infos
    }

    /// Generates the crate.
    ///
    /// # Errors
    /// The program has code that can't be run faithfully, or no harness, or not the one asked for.
    pub fn transform(&self, options: &Options) -> Result<Generated, Error> {
        let chosen = harness::choose(
            &self.program,
            &self.analysis,
            &self.harnesses,
            &options.chosen,
        )?;
        let mut edits = self.analysis.edits.clone();
        self.leave_out(&chosen, &mut edits)?;
        shared::derive_traits(&self.program, &self.analysis, &chosen, &mut edits);
        bounds::add(&self.program, &self.analysis.tables, &mut edits)?;
        harness::make_reachable(&self.program, &self.analysis, &chosen, &mut edits);
        let values = values::add(&self.program, &self.analysis, &mut edits);
        emit::generate(
            &self.program,
            &self.analysis,
            &chosen,
            &edits,
            &values,
            options,
        )
    }

    /// Puts a panic in the place of functions that can't be run, which the chosen harnesses don't reach.
    fn leave_out(&self, chosen: &[&Harness], edits: &mut [Edits]) -> Result<(), Error> {
        let needed = |file: usize| match self.program.root_of(file) {
            None => true,
            Some(root) => {
                let mut files = chosen.iter().map(|harness| harness.file(&self.analysis));
                files.any(|file| root.files.contains(&file))
            }
        };
        let mut elsewhere = Vec::new();
        for refused in self.analysis.errors.iter().filter(|it| needed(it.file)) {
            let at = refused.error.place().map_or(0, |place| place.bytes.start);
            match self.parts.body(refused.file, at) {
                Some(body) => {
                    let what = refused.error.to_string();
                    edits[refused.file]
                        .replace(body, format!("{{ ::core::panic!({:?}, {what:?}) }}", "{}"));
                }
                // Types and imports stay, and the sequential program has no such types.
                None if self.mode == Mode::Sequential => elsewhere.push(refused.error.clone()),
                None => {}
            }
        }
        Error::from_list(elsewhere).map_or(Ok(()), Err)
    }
}
