//! The text of a program and of the dependencies that are followed, as far as reports show lines of it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seqz_transform::Features;

use crate::dependencies::Copies as Followed;
use crate::diagnostic::shown;

/// The sources of a loaded program. They stay as they were when the program was loaded, and threads may share them.
#[derive(Debug)]
pub struct Sources {
    /// The program's own files, by their paths as a user would name them.
    files: HashMap<PathBuf, String>,
    manifest: Option<PathBuf>,
    followed: Arc<Followed>,
    features: Features,
}

impl Sources {
    pub(crate) fn new<'a>(
        files: impl Iterator<Item = (&'a Path, &'a str)>,
        manifest: Option<&Path>,
        followed: Arc<Followed>,
        features: Features,
    ) -> Self {
        Self {
            files: files
                .map(|(path, text)| (path.to_owned(), text.to_owned()))
                .collect(),
            manifest: manifest.map(Path::to_owned),
            followed,
            features,
        }
    }

    /// Returns which features of the package are on.
    #[must_use]
    pub const fn features(&self) -> &Features {
        &self.features
    }

    /// Returns the directory of the program's manifest, unless that is the working directory or the program is a lone file.
    #[must_use]
    pub fn dir(&self) -> Option<&Path> {
        let dir = self.manifest.as_deref().and_then(Path::parent);
        dir.filter(|dir| !dir.as_os_str().is_empty())
    }

    /// Returns the names of the dependencies that are followed.
    #[must_use]
    pub fn followed_names(&self) -> Vec<String> {
        let all = self.followed.all().iter();
        let mut names: Vec<_> = all.map(|copy| copy.name.clone()).collect();
        names.dedup();
        names
    }

    /// Returns the text of a file of the program or of a dependency.
    #[must_use]
    pub fn text(&self, file: &Path) -> Option<String> {
        let own = self.files.get(file).cloned();
        own.or_else(|| self.followed.text(file))
            .or_else(|| fs::read_to_string(file).ok())
    }

    /// Whether a file, by the name that is shown for it, belongs to the program itself.
    #[must_use]
    pub fn has_file(&self, shown_as: &str) -> bool {
        self.files.keys().any(|file| shown(file) == shown_as)
    }
}
