//! The file that a piece of a search writes, and how the files of all pieces are put together.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::check::{self, checked_together};
use crate::diagnostic::shown;
use crate::digest::Digest;
use crate::error::Error;
use crate::explore;
use crate::model::document::{HarnessReport, Report};
use crate::model::exploration::{Exploration, HarnessExploration};
use crate::model::pieces::Pieces;
use crate::output::{self, writing};
use crate::piece::Piece;
use crate::program::Generated;

/// The version of the file's format. Files are read by the seqz that wrote them.
const FORMAT: &str = "a piece of a search by seqz";

/// What a piece has found so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// What kind of file this is.
    format: String,
    /// The version of seqz that wrote the file.
    seqz: String,
    /// The command: `check` or `explore`.
    command: String,
    /// Which piece it is.
    piece: Piece,
    /// Options that tell the search from others: names and values.
    options: Vec<(String, String)>,
    /// The program, as given on the command line.
    path: String,
    /// Whether the command came to its end.
    finished: bool,
    programs: Vec<Searched>,
}

/// What has been found in one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// The prefix of the names of its harnesses, where there are several programs.
    pub name: Option<String>,
    /// A digest of what was built.
    pub digest: String,
    /// A search of P̂ₖ: the document without harnesses, and what is known of each harness.
    pub checked: Option<(Report, Vec<check::Share>)>,
    /// The exploration: the document without harnesses, and what is known of each harness.
    pub explored: Option<(Exploration, Vec<explore::Share>)>,
}

/// What the pieces have found in one program.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// The prefix of the names of its harnesses, where there are several programs.
    pub name: Option<String>,
    /// The document of the check.
    pub checked: Option<Report>,
    /// The document of the exploration.
    pub explored: Option<Exploration>,
}

/// The pieces that were put together.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The command of the pieces.
    pub command: String,
    /// The program, as given on the command line.
    pub path: String,
    /// Which pieces there are.
    pub pieces: Pieces,
    /// What they have found.
    pub programs: Vec<Together>,
}

impl Results {
    /// The results of a piece that has found nothing yet.
    #[must_use]
    pub fn new(
        command: &str,
        piece: Piece,
        path: &Path,
        options: Vec<(&'static str, String)>,
    ) -> Self {
        let options = options.into_iter();
        Self {
            format: FORMAT.to_owned(),
            seqz: env!("CARGO_PKG_VERSION").to_owned(),
            command: command.to_owned(),
            piece,
            options: options
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            path: shown(path),
            finished: false,
            programs: Vec::new(),
        }
    }

    /// What has been found in the program of this name and digest.
    pub fn of(&mut self, name: Option<&str>, digest: &str) -> &mut Searched {
        let known = self
            .programs
            .iter()
            .position(|it| it.name.as_deref() == name && it.digest == digest);
        let at = known.unwrap_or_else(|| {
            self.programs.push(Searched {
                name: name.map(str::to_owned),
                digest: digest.to_owned(),
                checked: None,
                explored: None,
            });
            self.programs.len() - 1
        });
        &mut self.programs[at]
    }

    /// Notes that the command has come to its end.
    pub const fn finish(&mut self) {
        self.finished = true;
    }

    /// Writes the file, which is there whole or not at all.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec(self).map_err(|error| Error::Worker(error.to_string()))?;
        output::replace(file, &text).map_err(writing(file))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When there is no such file, or it is none of these files.
    pub fn read(file: &Path) -> Result<Self, Error> {
        let text = fs::read(file).map_err(|source| Error::File {
            what: "read",
            path: file.to_owned(),
            source,
        })?;
        let value: Result<serde_json::Value, _> = serde_json::from_slice(&text);
        let is_one = |value: &serde_json::Value| value["format"] == FORMAT;
        let help =
            "such files are written by `seqz check --partition` and `seqz explore --partition`";
        let Some(value) = value.ok().filter(is_one) else {
            return Err(Error::Option {
                message: format!("{} has no results of a piece of a search", shown(file)),
                help: help.to_owned(),
            });
        };
        let version = value["seqz"].as_str().unwrap_or_default().to_owned();
        if version != env!("CARGO_PKG_VERSION") {
            return Err(Error::Option {
                message: format!(
                    "{} was written by seqz {version}, and this is seqz {}",
                    shown(file),
                    env!("CARGO_PKG_VERSION")
                ),
                help: "search all pieces, and put them together, with one version of seqz".into(),
            });
        }
        serde_json::from_value(value).map_err(|error| damaged(file, &error.to_string()))
    }
}

fn damaged(file: &Path, why: &str) -> Error {
    Error::Option {
        message: format!("{} is damaged: {why}", shown(file)),
        help: "search this piece again".into(),
    }
}

/// A digest of what was generated, of the versions of what it depends on, and of the compiler: where these are the same, pieces
/// of a search are those of one program, though they were built in different places.
///
/// # Errors
/// When rustc can't be asked.
pub fn digest(generated: &Generated, near: &Path) -> Result<String, Error> {
    let mut digest = Digest::new();
    // Manifests have the paths of this machine in them.
    let manifest = |path: &Path| {
        path.extension()
            .is_some_and(|it| it == "toml" || it == "lock")
    };
    for (path, text) in generated.files().filter(|(path, _)| !manifest(path)) {
        digest.add(path.as_os_str().as_encoded_bytes());
        digest.add(text.as_bytes());
    }
    let near = near.canonicalize().unwrap_or_else(|_| near.to_owned());
    let locks = near.ancestors().map(|dir| dir.join("Cargo.lock"));
    if let Some(text) = locks.filter_map(|lock| fs::read(lock).ok()).next() {
        digest.add(&text);
    }
    let rustc = crate::rustc::says(&["-vV"]).map_err(|silent| Error::Build {
        message: silent.message,
        output: silent.output,
    })?;
    digest.add(rustc.as_bytes());
    Ok(digest.finish())
}

/// Puts the results of pieces together.
///
/// # Errors
/// When they are not those of one search, or one is damaged.
pub fn merge(all: &[(PathBuf, Results)]) -> Result<Merged, Error> {
    let Some(((first_file, first), others)) = all.split_first() else {
        return Err(Error::Option {
            message: "there is nothing to put together".into(),
            help: "name the files that the pieces were written to".into(),
        });
    };
    for (file, other) in others {
        if let Some(differs) = difference(first, other) {
            return Err(Error::Option {
                message: format!(
                    "{} and {} are pieces of different searches: {differs}",
                    shown(first_file),
                    shown(file)
                ),
                help: "all pieces have to be searched with the same options, in the same program"
                    .into(),
            });
        }
    }
    let mut pieces: Vec<&(PathBuf, Results)> = all.iter().collect();
    pieces.sort_by_key(|(_, results)| results.piece.index);
    for pair in pieces.windows(2) {
        if pair[0].1.piece == pair[1].1.piece {
            return Err(Error::Option {
                message: format!(
                    "{} and {} are both piece {}",
                    shown(&pair[0].0),
                    shown(&pair[1].0),
                    pair[0].1.piece
                ),
                help: "name one of them".into(),
            });
        }
    }
    let count = first.piece.count;
    let here = |index: u32| pieces.iter().any(|(_, it)| it.piece.index == index);
    let mut programs: Vec<(Option<&str>, &str)> = Vec::new();
    for searched in pieces.iter().flat_map(|(_, results)| &results.programs) {
        let program = (searched.name.as_deref(), searched.digest.as_str());
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    let programs = programs.into_iter().map(|(name, digest)| {
        let of_pieces: Vec<(&Path, &Searched)> = pieces
            .iter()
            .filter_map(|(file, results)| {
                let mut programs = results.programs.iter();
                let found = programs.find(|it| it.name.as_deref() == name && it.digest == digest);
                found.map(|found| (file.as_path(), found))
            })
            .collect();
        together(name, &of_pieces, count as usize)
    });
    Ok(Merged {
        command: first.command.clone(),
        path: first.path.clone(),
        pieces: Pieces {
            count,
            missing: (0..count)
                .filter(|it| !here(*it))
                .map(|it| it + 1)
                .collect(),
            ended: pieces
                .iter()
                .filter(|(_, results)| !results.finished)
                .map(|(_, results)| results.piece.index + 1)
                .collect(),
        },
        programs: programs.collect::<Result<_, _>>()?,
    })
}

/// Says in what two pieces differ that are not of one search.
fn difference(one: &Results, other: &Results) -> Option<String> {
    let differ = |what: &str, one: &str, other: &str| {
        (one != other)
            .then(|| format!("{what} is `{one}` in the first, and `{other}` in the second"))
    };
    let counts = (one.piece.count, other.piece.count);
    if counts.0 != counts.1 {
        return Some(format!("{} pieces, and {} pieces", counts.0, counts.1));
    }
    differ("command", &one.command, &other.command)
        .or_else(|| {
            let mut options = one.options.iter().zip(&other.options);
            options.find_map(|((name, value), (_, there))| differ(name, value, there))
        })
        .or_else(|| {
            one.programs.iter().find_map(|program| {
                let mut programs = other.programs.iter();
                // A package may be searched as several programs.
                let same: Vec<_> = programs
                    .by_ref()
                    .filter(|it| it.name == program.name)
                    .collect();
                let differs = !same.is_empty() && same.iter().all(|it| it.digest != program.digest);
                let named = program
                    .name
                    .as_ref()
                    .map_or_else(String::new, |it| format!(" {it}"));
                differs.then(|| {
                    format!(
                        "the program{named}, what it depends on, or the compiler is not the same"
                    )
                })
            })
        })
}

fn together(
    name: Option<&str>,
    pieces: &[(&Path, &Searched)],
    count: usize,
) -> Result<Together, Error> {
    let checked: Vec<_> = pieces
        .iter()
        .filter_map(|(file, it)| it.checked.as_ref().map(|checked| (*file, checked)))
        .collect();
    let explored: Vec<_> = pieces
        .iter()
        .filter_map(|(file, it)| it.explored.as_ref().map(|explored| (*file, explored)))
        .collect();
    let checked = match checked.first() {
        None => None,
        Some((_, (head, _))) => {
            let mut names: Vec<&str> = Vec::new();
            for share in checked.iter().flat_map(|(_, (_, shares))| shares) {
                let name = share.report.name.as_str();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let harnesses: Vec<HarnessReport> = names
                .into_iter()
                .filter_map(|name| {
                    let shares = checked.iter().flat_map(|(_, (_, shares))| shares);
                    let shares: Vec<_> = shares.filter(|it| it.report.name == name).collect();
                    checked_together(&shares, shares.len() == count)
                })
                .collect();
            let heads = checked.iter().map(|(_, (head, _))| head);
            let seconds: f64 = heads.clone().map(|it| it.summary.seconds).sum();
            Some(Report {
                cut: heads.clone().find_map(|it| it.cut),
                seed: heads.clone().find_map(|it| it.seed),
                findings: heads.clone().find_map(|it| here(it.findings.as_ref())),
                summary: check::summary(&harnesses, Duration::from_secs_f64(seconds)),
                harnesses,
                ..head.clone()
            })
        }
    };
    let explored = match explored.first() {
        None => None,
        Some((_, (head, _))) => {
            let mut names: Vec<&str> = Vec::new();
            for share in explored.iter().flat_map(|(_, (_, shares))| shares) {
                let name = share.report.name.as_str();
                if !names.contains(&name) && goes_on(checked.as_ref(), name) {
                    names.push(name);
                }
            }
            let mut harnesses: Vec<HarnessExploration> = Vec::new();
            for name in names {
                let of_pieces = explored.iter().filter_map(|(file, (_, shares))| {
                    let mut shares = shares.iter();
                    shares
                        .find(|it| it.report.name == name)
                        .map(|it| (*file, it))
                });
                let of_pieces: Vec<_> = of_pieces.collect();
                let shares: Vec<_> = of_pieces.iter().map(|(_, share)| *share).collect();
                let joined = explore::join(&shares, shares.len() == count);
                let joined = joined.map_err(|why| damaged(of_pieces[0].0, &why))?;
                harnesses.extend(joined);
            }
            for failure in harnesses.iter_mut().flat_map(|it| &mut it.failures) {
                failure.finding = here(failure.finding.as_ref());
            }
            let heads = explored.iter().map(|(_, (head, _))| head);
            let seconds: f64 = heads.clone().map(|it| it.summary.seconds).sum();
            Some(Exploration {
                solver: heads.clone().find_map(|it| it.solver.clone()),
                cut: heads.clone().find_map(|it| it.cut),
                seed: heads.clone().find_map(|it| it.seed),
                findings: heads.clone().find_map(|it| here(it.findings.as_ref())),
                summary: explore::summary(&harnesses, Duration::from_secs_f64(seconds)),
                harnesses,
                ..head.clone()
            })
        }
    };
    Ok(Together {
        name: name.map(str::to_owned),
        checked,
        explored,
    })
}

/// A path that a piece has written to, if it is on this machine.
fn here(path: Option<&String>) -> Option<String> {
    path.filter(|path| Path::new(path).exists()).cloned()
}

/// Whether a run of the whole search would have explored the harness: what has no two threads side by side, and what has a bug,
/// is not explored after a check. A piece may not know of either.
fn goes_on(checked: Option<&Report>, name: &str) -> bool {
    let Some(report) = checked else { return true };
    let harness = report.harnesses.iter().find(|it| it.name == name);
    harness.is_none_or(check::goes_on)
}
