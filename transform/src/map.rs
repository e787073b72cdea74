//! Maps places in the generated text to places in the user's text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use serde::{Deserialize, Serialize};

use crate::edit::Edited;
use crate::source::{Position, SourceFile, Text};

/// The origin of a generated position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The path of the user's file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub col: u32,
    /// The short name of the variable that is accessed here, if this is a site: `pending_io` for
    /// `self.pending_io.load(…)`.
    pub name: Option<String>,
    /// The source text of the access, on one line.
    pub text: Option<String>,
}

/// Maps positions of every generated file to the user's files, and names the sites of shared accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceMap {
    files: BTreeMap<PathBuf, FileMap>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileMap {
    original: PathBuf,
    /// The runs, in the order of generated positions. One run for each stretch of a line that was copied or inserted as
    /// a whole.
    runs: Vec<Run>,
    /// The sites, in the order of original positions.
    sites: Vec<Site>,
    /// Generated positions of calls outside of loops that may end or fail without a reason.
    #[serde(default)]
    lone: Vec<Position>,
    /// Whether there are such calls in the texts of macros.
    #[serde(default)]
    lone_in_macros: bool,
    /// Generated positions at which macros are used that may be the program's own.
    #[serde(default)]
    macros: Vec<Position>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    generated: Position,
    original: Position,
    /// Whether columns advance together; otherwise the whole run stands for `original`.
    copied: bool,
}

/// An access to a shared variable, or code that may be one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Site {
    pub(crate) at: Position,
    pub(crate) name: String,
    pub(crate) text: String,
}

impl SourceMap {
    /// Returns the origin of a position of a generated file. `file` may be relative to the generated crate, or lie
    /// anywhere below some directory, as rustc reports it.
    pub fn lookup(&self, file: impl AsRef<Path>, line: u32, col: u32) -> Option<Origin> {
        let file = self.file(file.as_ref())?;
        let generated = Position { line, col };
        let after = file.runs.partition_point(|run| run.generated <= generated);
        let run = file.runs[..after]
            .last()
            .filter(|run| run.generated.line == line)?;
        let shift = if run.copied {
            col - run.generated.col
        } else {
            0
        };
        let original = Position {
            line: run.original.line,
            col: run.original.col + shift,
        };
        let site = file
            .sites
            .binary_search_by_key(&original, |site| site.at)
            .ok()
            .map(|at| &file.sites[at]);
        Some(Origin {
            file: file.original.clone(),
            line: original.line,
            col: original.col,
            name: site.map(|site| site.name.clone()),
            text: site.map(|site| site.text.clone()),
        })
    }

    /// Returns the user's file that a generated file was made of.
    pub fn original(&self, file: impl AsRef<Path>) -> Option<&Path> {
        self.file(file.as_ref()).map(|file| file.original.as_path())
    }

    fn file(&self, path: &Path) -> Option<&FileMap> {
        // The embedded runtime is in the generated crate and has a src/lib.rs of its own.
        let ours = |known: &Path| {
            let depth = path
                .components()
                .count()
                .checked_sub(known.components().count())?;
            let above = depth
                .checked_sub(1)
                .and_then(|last| path.components().nth(last));
            (path.ends_with(known) && above.is_none_or(|dir| dir.as_os_str() != "runtime"))
                .then_some(())
        };
        let by_suffix = || {
            self.files
                .iter()
                .find(|(known, _)| ours(known).is_some())
                .map(|(_, file)| file)
        };
        self.files.get(path).or_else(by_suffix)
    }

    /// Returns the places at which the runtime sees the calls outside of loops that may end or fail without a reason:
    /// generated file, line, column.
    pub fn lone(&self) -> impl Iterator<Item = (&Path, u32, u32)> {
        self.files.iter().flat_map(|(path, file)| {
            let lone = file.lone.iter();
            lone.map(|at| (path.as_path(), at.line, at.col))
        })
    }

    /// Whether there are such calls in the texts of macros, which the runtime sees where the macros are used.
    pub fn has_lone_in_macros(&self) -> bool {
        self.files.values().any(|file| file.lone_in_macros)
    }

    /// Returns the places at which macros are used that may be the program's own.
    pub fn macros(&self) -> impl Iterator<Item = (&Path, u32, u32)> {
        self.files.iter().flat_map(|(path, file)| {
            let macros = file.macros.iter();
            macros.map(|at| (path.as_path(), at.line, at.col))
        })
    }

    pub(crate) fn add(
        &mut self,
        source: &SourceFile,
        edited: &Edited,
        mut sites: Vec<Site>,
        lone: impl Iterator<Item = (usize, bool)>,
    ) {
        // Where two expressions start at one place, the first recorded, which is the outer one, names the place.
        sites.sort_by_key(|site| site.at);
        sites.dedup_by_key(|site| site.at);
        let generated = Text::new(edited.text.as_str());
        let mut runs = Vec::new();
        for piece in &edited.pieces {
            let mut at = piece.generated.start;
            while at < piece.generated.end {
                let origin = if piece.copied {
                    piece.origin + (at - piece.generated.start)
                } else {
                    piece.origin
                };
                runs.push(Run {
                    generated: generated.position(at),
                    original: source.text.position(origin),
                    copied: piece.copied,
                });
                let rest = &edited.text[at..piece.generated.end];
                at += rest.find('\n').map_or(rest.len(), |end| end + 1);
            }
        }
        // The generated offset of the text itself, or of the text that was put in its place or before it.
        let generated_of = |at: usize| {
            edited.pieces.iter().filter_map(move |piece| {
                let length = piece.generated.end - piece.generated.start;
                let shift = if piece.copied {
                    at.checked_sub(piece.origin)?
                } else {
                    0
                };
                let here = if piece.copied {
                    shift < length
                } else {
                    piece.origin == at
                };
                here.then(|| piece.generated.start + shift)
            })
        };
        let (in_macros, lone): (Vec<_>, Vec<_>) = lone.partition(|(_, in_macro)| *in_macro);
        let positions = |all: Vec<usize>| {
            let all = all.into_iter().flat_map(generated_of);
            all.map(|at| generated.position(at)).collect()
        };
        let lone = positions(lone.into_iter().map(|(at, _)| at).collect());
        let macros = positions(uses_of_macros(source.text.as_str()));
        self.files.insert(
            source.generated.clone(),
            FileMap {
                original: source.path.clone(),
                runs,
                sites,
                lone,
                lone_in_macros: !in_macros.is_empty(),
                macros,
            },
        );
    }
}

/// Returns the offsets at which macros are used that may not be those of std, also inside of macros.
fn uses_of_macros(text: &str) -> Vec<usize> {
    fn look(tokens: TokenStream, uses: &mut Vec<usize>) {
        let mut start = None;
        let mut last = String::new();
        // Whether the path goes on after this token.
        let mut goes_on = false;
        let mut bang = false;
        for token in tokens {
            let at = token.span().byte_range().start;
            match &token {
                TokenTree::Group(group) => {
                    if let (true, Some(start)) = (bang, start)
                        && !OF_STD.contains(&last.as_str())
                    {
                        uses.push(start);
                    }
                    look(group.stream(), uses);
                    (start, bang, goes_on) = (None, false, false);
                }
                TokenTree::Ident(ident) => {
                    if !goes_on {
                        start = Some(at);
                    }
                    last = ident.to_string();
                    (bang, goes_on) = (false, false);
                }
                TokenTree::Punct(punct) => match punct.as_char() {
                    ':' => {
                        if start.is_none() {
                            start = Some(at);
                        }
                        goes_on = true;
                    }
                    '!' => bang = true,
                    _ => (start, bang, goes_on) = (None, false, false),
                },
                TokenTree::Literal(_) => (start, bang, goes_on) = (None, false, false),
            }
        }
    }
    let mut uses = Vec::new();
    if let Ok(tokens) = text.parse() {
        look(tokens, &mut uses);
    }
    uses
}

/// Macros of std that are used often, and in whose texts there is no call that may end or fail without a reason.
const OF_STD: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "eprintln",
    "format",
    "matches",
    "panic",
    "print",
    "println",
    "vec",
    "write",
    "writeln",
];
