//! Reads a program: the crate that a path belongs to, its root file and all module files.

mod calls;
mod dependencies;
mod editions;
mod environment;
mod expand;
mod features;
mod implemented;
mod libraries;
mod manifest;
mod models;
mod modules;
mod nesting;
mod targets;
mod untested;
mod workspace;

use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

pub use features::Features;
pub use implemented::Implemented;
pub use libraries::LibrarySource;
pub(crate) use manifest::Package;
pub(crate) use modules::ModuleFiles;
pub use targets::Part;

use proc_macro2::{TokenStream, TokenTree};

use crate::cfg::{self, Cfg};
use crate::error::Error;
use crate::source::{SourceFile, Text, shown};
use models::Modelled;

/// A parsed file.
pub(crate) struct ParsedFile {
    pub(crate) source: SourceFile,
    pub(crate) tree: syn::File,
    /// The latest edition that the file can be of; `None`: the latest of all.
    pub(crate) edition: Option<&'static str>,
}

/// A crate as read from disk.
pub(crate) struct Crate {
    pub(crate) package: Package,
    pub(crate) cfg: Cfg,
    /// The files of the crate; the first is the root.
    pub(crate) files: Vec<ParsedFile>,
    /// The index of the file that was asked for, where it is a module of the crate: only its harnesses count. Where it is the
    /// root of a test or program beside the library, those of the root's modules count, too.
    pub(crate) only: Option<usize>,
    pub(crate) modules: ModuleFiles,
    /// Files whose items stand for a macro call, by the calling file and the call's offset: files that `include!`
    /// includes, and expansions of calls of the crate's own macros.
    pub(crate) parts: ModuleFiles,
    /// Tests and programs of the package, each of which is a module of the generated crate.
    pub(crate) roots: Vec<ExtraRoot>,
    /// New values of `#[path]` for modules that moved, by file and offset of the old value.
    pub(crate) paths: HashMap<(usize, usize), String>,
    /// What the crates implement that depend on the crate.
    pub(crate) implemented: Implemented,
}

/// A test or a program that uses the crate: the root of another crate, which becomes a module.
#[derive(Clone, Debug)]
pub(crate) struct ExtraRoot {
    /// The name of the module.
    pub(crate) module: String,
    /// The indices of its files; the first is its root.
    pub(crate) files: Range<usize>,
}

impl Crate {
    /// Whether the crate has `unsafe` code, macros included.
    pub(crate) fn has_unsafe(&self) -> bool {
        self.names("unsafe")
    }

    /// Whether the crate contains this word, macros included.
    pub(crate) fn names(&self, word: &str) -> bool {
        let mut files = self.files.iter();
        files.any(|file| {
            let tokens = file.source.text.as_str().parse();
            tokens.map_or(true, |tokens| has(tokens, word))
        })
    }

    /// Loads the crate at `path`: a Rust file, a directory with a `Cargo.toml`, or a `Cargo.toml`.
    pub(crate) fn load(path: &Path, part: &Part, features: &Features) -> Result<Self, Error> {
        match Self::around(path, part, features) {
            Some(program) => Ok(program),
            None => Self::load_alone(path, part, features),
        }
    }

    /// Loads the crate that a file is a module of; such a file can't be compiled by itself.
    fn around(path: &Path, part: &Part, features: &Features) -> Option<Self> {
        if path.extension().is_none_or(|end| end != "rs") || !path.is_file() {
            return None;
        }
        if Package::of_file(path).ok()?.manifest.is_some() {
            return None;
        }
        let file = path.canonicalize().ok()?;
        let mut above = file.ancestors().skip(1);
        let dir = above.find(|dir| dir.join("Cargo.toml").is_file())?;
        let program = Self::load_alone(&shown(dir), part, features).ok()?;
        let is_it = |known: &ParsedFile| {
            let path = known.source.path.canonicalize();
            known.source.expanded.is_none() && path.is_ok_and(|path| path == file)
        };
        let only = program.files.iter().position(is_it)?;
        Some(Crate {
            only: Some(only),
            ..program
        })
    }

    fn load_alone(path: &Path, part: &Part, features: &Features) -> Result<Self, Error> {
        let metadata = fs::metadata(path).map_err(|cause| Error::read(path, cause))?;
        let is_manifest = path.file_name().is_some_and(|name| name == "Cargo.toml");
        let mut package = if metadata.is_dir() {
            Package::read(&path.join("Cargo.toml"))?
        } else if is_manifest {
            Package::read(&in_its_directory(path))?
        } else {
            Package::of_file(path)?
        };
        package
            .dependencies
            .choose(features)
            .map_err(|(name, known)| Error::NoSuchFeature { name, known })?;
        let dir = package.root.parent().unwrap_or(Path::new(""));
        let cfg = Cfg {
            features: package.dependencies.features_on(),
            closed: package.build_script.is_none() && !cfg::set_by_flags(dir),
        };
        let mut reader = modules::Reader::new(&package, &cfg);
        reader.read_all(part)?;
        let parts = reader.finish();
        // A test or program that is asked for by its path is compiled with the library, whose own harnesses don't count.
        let is_asked_for = |root: &ExtraRoot| {
            let found = parts.files[root.files.start].source.path.canonicalize();
            found.is_ok_and(|found| path.canonicalize().is_ok_and(|path| path == found))
        };
        let asked_for = parts.roots.iter().find(|root| is_asked_for(root));
        let only = asked_for.map(|root| root.files.start);
        // A library may have no code while its tests have.
        let has_code = |file: &ParsedFile| !file.tree.items.is_empty();
        if *part == Part::Whole && !parts.files.iter().any(has_code) {
            return Err(Error::Empty {
                path: parts.files[0].source.path.clone(),
            });
        }
        // Only the text of a lone file tells its edition.
        if let (None, Some(edition)) = (&package.manifest, parts.files[0].edition) {
            package.edition = edition.into();
        }
        Ok(Crate {
            package,
            cfg,
            files: parts.files,
            only,
            modules: parts.modules,
            parts: parts.parts,
            roots: parts.roots,
            paths: parts.paths,
            implemented: Implemented::default(),
        })
    }

    /// Makes a crate of one file, given as text.
    #[cfg(test)]
    pub(crate) fn of_text(text: &str) -> Self {
        let file = parse_text("text.rs".into(), "src/lib.rs".into(), text).unwrap();
        Crate {
            package: Package::of_text(),
            cfg: Cfg::default(),
            files: vec![file],
            only: None,
            modules: ModuleFiles::new(),
            parts: ModuleFiles::new(),
            roots: Vec::new(),
            paths: HashMap::new(),
            implemented: Implemented::default(),
        }
    }

    /// Returns the items that a macro call stands for, as far as they are known, and the index of their file.
    pub(crate) fn part(&self, file: usize, call: &syn::ItemMacro) -> Option<(usize, &[syn::Item])> {
        let at = syn::spanned::Spanned::span(call).byte_range().start;
        let part = *self.parts.get(&(file, at))?;
        Some((part, &self.files[part].tree.items))
    }

    /// Returns the root that a file belongs to; `None` for the crate's own root.
    pub(crate) fn root_of(&self, file: usize) -> Option<&ExtraRoot> {
        self.roots.iter().find(|root| root.files.contains(&file))
    }
}

/// Whether a file is compiled with its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tests {
    Compiled,
    LeftOut,
}

/// What a model is called in messages that name its places.
const MODEL: &str = "model-of-seqz.rs";

/// Reads and parses one file of a package, or its model.
pub(crate) fn parse_file(
    path: &Path,
    generated: PathBuf,
    tests: Tests,
    package: &str,
) -> Result<ParsedFile, Error> {
    let bytes = fs::read(path).map_err(|cause| Error::read(path, cause))?;
    let text = String::from_utf8(bytes).map_err(|error| Error::NotUtf8 {
        path: shown(path),
        offset: error.utf8_error().valid_up_to(),
    })?;
    let text = match models::of(package, path, &text) {
        // Its lines are not those of the file.
        Some(Modelled::Other(text)) => {
            return parse_text(shown(&path.with_file_name(MODEL)), generated, text);
        }
        Some(Modelled::Edited(text)) => text,
        None => text,
    };
    let text = match tests {
        Tests::Compiled => text,
        Tests::LeftOut => untested::without_tests(&text),
    };
    parse_text(shown(path), generated, &text)
}

pub(crate) fn parse_text(
    path: PathBuf,
    generated: PathBuf,
    text: &str,
) -> Result<ParsedFile, Error> {
    // rustc's columns don't count the byte order mark either.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut text = text.to_string();
    if let Some(end) = shebang(&text) {
        // Spaces replace the line, so that no offset moves.
        text.replace_range(..end, &" ".repeat(end));
    }
    let source = SourceFile {
        path,
        generated,
        text: Text::new(text),
        expanded: None,
    };
    let tokens = TokenStream::from_str(source.text.as_str()).map_err(syn::Error::from);
    if let Ok(tokens) = &tokens
        && let Some(deep) = nesting::too_deep(tokens)
    {
        return Err(Error::Unsupported {
            place: Box::new(source.place(deep.byte_range())),
            what: "source that is nested so deeply".into(),
            reason: format!(
                "here it is more than {} brackets or prefixes deep",
                nesting::DEEPEST
            ),
            help: "put parts of the expression into variables of their own".into(),
        });
    }
    let text = source.text.as_str();
    let parsed = tokens.and_then(syn::parse2::<syn::File>);
    let parsed = parsed.map(|tree| (tree, None));
    let parsed: syn::Result<_> = parsed.or_else(|error| {
        let (tree, edition) = editions::parse(text, error)?;
        Ok((tree, Some(edition)))
    });
    match parsed {
        Ok((tree, edition)) => Ok(ParsedFile {
            source,
            tree,
            edition,
        }),
        Err(error) => {
            let end = source.text.as_str().len();
            let bytes = error.span().byte_range();
            let (start, stop) = (bytes.start.min(end), bytes.end.min(end));
            let message = match error.to_string().as_str() {
                // These are proc-macro2's messages for text that its lexer can't read.
                "cannot parse string into token stream" | "lex error" => {
                    "unbalanced bracket or malformed token".into()
                }
                message => message.to_string(),
            };
            Err(Error::Syntax {
                place: Box::new(source.place(start..stop.max(start))),
                message,
            })
        }
    }
}

/// Returns the path of a manifest with a directory before its name: what is beside it is found from there.
fn in_its_directory(manifest: &Path) -> PathBuf {
    match manifest.parent() {
        Some(dir) if dir.as_os_str().is_empty() => Path::new(".").join(manifest),
        _ => manifest.to_path_buf(),
    }
}

/// Returns the length of a `#!` line that isn't an inner attribute.
fn shebang(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("#!")?;
    let attribute = rest.trim_start().starts_with('[');
    (!attribute).then(|| text.find('\n').unwrap_or(text.len()))
}

/// Whether this word is among the tokens.
fn has(tokens: TokenStream, wanted: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == wanted,
        TokenTree::Group(group) => has(group.stream(), wanted),
        _ => false,
    })
}
