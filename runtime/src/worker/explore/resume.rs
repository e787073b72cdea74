//! Writing down what a search by `mcr` knows, and going on from it.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use seqz_explore::mcr::checkpoint::{self, Knowledge};
use seqz_explore::{RunEnd, Thread};

use super::super::checkpoint::Checkpoint;
use super::super::message::ScheduleFinding;
use super::summary::Shortfall;
use crate::vocabulary::Role;
use crate::vocabulary::{Wire, WireError, message};

message! {
    /// A record of the file.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(super) enum Record {
        /// The records that follow belong to the choice of inputs of this number.
        Input(u32),
        /// The search has come to know this, in words.
        Known(Vec<u64>),
        /// A run is over, and has been counted.
        Ran(Past),
        /// A failure has been met for the first time.
        Found(Box<ScheduleFinding>),
    }
}

message! {
    /// A run that has been counted.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(super) struct Past {
        /// The run's number.
        pub(super) run: u32,
        pub(super) end: RunEnd,
        pub(super) relation: u64,
        pub(super) events: u64,
        pub(super) shortfall: Shortfall,
        /// The numbers of its failures, and how each couples the threads.
        pub(super) failed: Vec<(u32, Vec<(Role, u32)>)>,
    }
}

/// What is known of one choice of inputs.
#[derive(Clone, Debug, Default)]
pub(super) struct Chapter {
    pub(super) known: Vec<Vec<u64>>,
    pub(super) runs: Vec<Past>,
}

/// What is known from before.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub(super) chapters: Vec<Chapter>,
    pub(super) findings: Vec<ScheduleFinding>,
}

impl Memory {
    /// Reads all frames.
    fn read(bodies: &[Vec<u8>]) -> Result<Self, WireError> {
        let mut memory = Self::default();
        for body in bodies {
            let mut rest = body.as_slice();
            while !rest.is_empty() {
                let record = Record::take(&mut rest)?;
                match (record, memory.chapters.last_mut()) {
                    // The record is written again where a search goes on.
                    (Record::Input(number), _) => {
                        if number as usize > memory.chapters.len() {
                            return Err(WireError);
                        }
                        memory.chapters.resize_with(
                            memory.chapters.len().max(number as usize + 1),
                            Chapter::default,
                        );
                    }
                    (Record::Known(words), Some(chapter)) => chapter.known.push(words),
                    (Record::Ran(past), Some(chapter)) => chapter.runs.push(past),
                    (Record::Found(finding), Some(_)) => memory.findings.push(*finding),
                    _ => return Err(WireError),
                }
            }
        }
        Ok(memory)
    }
}

/// The file, shared by all OS threads that write to it.
#[derive(Clone, Debug)]
pub(super) struct Log(Arc<Mutex<Checkpoint>>);

impl Log {
    /// Opens the file, and reads what is in it.
    pub(super) fn open(path: &str, fields: &Vec<(String, String)>) -> io::Result<(Self, Memory)> {
        let (checkpoint, contents) = Checkpoint::open(Path::new(path), fields)?;
        let memory = Memory::read(&contents.bodies).map_err(io::Error::other)?;
        Ok((Self(Arc::new(Mutex::new(checkpoint))), memory))
    }

    fn get(&self) -> MutexGuard<'_, Checkpoint> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes records.
    pub(super) fn write(&self, records: &[Record]) {
        let mut checkpoint = self.get();
        for record in records {
            checkpoint.note(record);
        }
        checkpoint.flush();
    }

    /// The reason why nothing is written any more, if that is so.
    pub(super) fn trouble(&self) -> Option<String> {
        self.get().trouble().map(str::to_owned)
    }
}

impl checkpoint::Log for Log {
    fn note(&mut self, words: Vec<u64>) {
        self.get().note(&Record::Known(words));
    }

    fn flush(&mut self) {
        self.get().flush();
    }
}

/// Where the search of one choice of inputs begins.
#[derive(Clone, Debug, Default)]
pub(super) struct Start {
    /// The threads that have numbers, each with its creator and the number of threads that the creator has created
    /// before.
    pub(super) threads: Vec<(Thread, Thread, u32)>,
    /// The runs that count.
    pub(super) runs: Vec<Past>,
    /// The number of the next run.
    pub(super) next: u32,
    /// The file to write to.
    pub(super) log: Option<Log>,
}

/// What a search that begins at the chapter's end knows; `None` if the records do not fit together.
pub(super) fn begin(
    number: usize,
    chapter: Chapter,
    log: Option<&Log>,
) -> Option<(Knowledge, Start)> {
    // A run that has not been counted may have had a failure that has not been told.
    let counted: BTreeSet<u32> = chapter.runs.iter().map(|past| past.run).collect();
    let known = Knowledge::read(&chapter.known, |run| counted.contains(&run)).ok()?;
    let runs = chapter.runs.into_iter();
    let start = Start {
        threads: known.threads().collect(),
        runs: runs.filter(|past| known.counts(past.run)).collect(),
        next: known.runs(),
        log: log.cloned(),
    };
    if let Some(log) = log {
        log.write(&[Record::Input(u32::try_from(number).unwrap_or(u32::MAX))]);
    }
    Some((known, start))
}
