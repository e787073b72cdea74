//! `--partition`: a piece of a search writes what it finds to a file of its own.

use std::path::{Path, PathBuf};

use clap::Args;

use super::packages::Member;
use crate::error::Error;
use crate::model::document::Report;
use crate::model::exploration::Exploration;
use crate::piece::Piece;
use crate::program::Generated;
use crate::results::{self, Results, Searched};
use crate::{check, explore};

/// Which piece of a search to make.
#[derive(Debug, Args)]
pub struct PieceArgs {
    /// Search piece I of N, from 1, and leave the others to other machines; `seqz merge` puts the files together
    #[arg(long, value_name = "I/N", requires = "output")]
    pub(super) partition: Option<Piece>,
    /// Where to write what the piece has found, for `seqz merge`
    #[arg(long, short, value_name = "FILE.json", requires = "partition")]
    pub(super) output: Option<PathBuf>,
}

impl PieceArgs {
    /// The results of this piece, which are written at once: a file that can't be written is no surprise later.
    pub(super) fn results(
        &self,
        command: &str,
        path: &Path,
        options: impl FnOnce() -> Vec<(&'static str, String)>,
    ) -> Result<Kept, Error> {
        let (Some(piece), Some(file)) = (self.partition, &self.output) else {
            return Ok(Kept { file: None });
        };
        let results = Results::new(command, piece, path, options());
        results.write(file)?;
        Ok(Kept {
            file: Some((file.clone(), results)),
        })
    }
}

/// What a piece has found, with its file; nothing where there is no such piece.
pub(super) struct Kept {
    file: Option<(PathBuf, Results)>,
}

/// What is found in one program.
pub(super) struct KeptOf<'a> {
    file: Option<(&'a Path, &'a mut Results)>,
    name: Option<String>,
    digest: String,
}

impl Kept {
    /// What is found in this program.
    pub(super) fn of(
        &mut self,
        member: &Member,
        generated: &Generated,
    ) -> Result<KeptOf<'_>, Error> {
        let digest = match &self.file {
            Some(_) => results::digest(generated, &member.path)?,
            None => String::new(),
        };
        Ok(KeptOf {
            file: self
                .file
                .as_mut()
                .map(|(file, results)| (file.as_path(), results)),
            name: member.name.clone(),
            digest,
        })
    }

    /// The command has come to its end.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        let Some((file, results)) = &mut self.file else {
            return Ok(());
        };
        results.finish();
        results.write(file)
    }
}

impl KeptOf<'_> {
    fn keep(&mut self, found: impl FnOnce(&mut Searched)) -> Result<(), Error> {
        let Some((file, results)) = &mut self.file else {
            return Ok(());
        };
        found(results.of(self.name.as_deref(), &self.digest));
        results.write(file)
    }

    /// Keeps what an exploration has gathered.
    pub(super) fn explored(
        &mut self,
        found: impl FnOnce() -> (Exploration, Vec<explore::Share>),
    ) -> Result<(), Error> {
        self.keep(|searched| searched.explored = Some(found()))
    }

    /// Keeps the document of an exploration that is over.
    pub(super) fn explored_whole(&mut self, report: &Exploration) -> Result<(), Error> {
        self.keep(|searched| {
            if let Some((head, _)) = &mut searched.explored {
                *head = Exploration {
                    harnesses: Vec::new(),
                    ..report.clone()
                };
            }
        })
    }

    /// Keeps what a check has gathered.
    pub(super) fn checked(
        &mut self,
        found: impl FnOnce() -> (Report, Vec<check::Share>),
    ) -> Result<(), Error> {
        self.keep(|searched| searched.checked = Some(found()))
    }

    /// Keeps the document of a check that is over.
    pub(super) fn checked_whole(&mut self, report: &Report) -> Result<(), Error> {
        self.keep(|searched| {
            if let Some((head, _)) = &mut searched.checked {
                *head = Report {
                    harnesses: Vec::new(),
                    ..report.clone()
                };
            }
        })
    }
}
