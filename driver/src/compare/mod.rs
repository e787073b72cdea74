//! Comparing methods: programs × methods, each run in a process of its own, within limits.
//!
//! A run is another `seqz`, which gets its task on its command line and reports by its JSON document, so that what a
//! method takes or breaks affects no other run. The findings of runs are matched by place and kind ([`bugs`]), and go
//! to a results file line by line ([`store`]), from which an interrupted comparison goes on.

pub mod bugs;
pub mod csv;
pub mod document;
mod heard;
pub mod human;
pub mod job;
pub mod method;
pub mod paper;
#[cfg(test)]
pub(crate) mod sample;
pub mod store;
pub mod suite;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use crate::check::progress::Progress;
use crate::error::Error;
use crate::program::Features;
use document::{Comparison, Limits, Run, Subject};
use job::{Job, Outcome};
use method::Method;
use store::Store;

/// One harness of one program, and what was found out about it before any run.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The program and harness.
    pub subject: Subject,
    /// The reason why no run can be made; `None` where runs can.
    pub trouble: Option<String>,
    /// The stamp of the source: results of a source with another stamp don't count.
    pub stamp: String,
    /// The methods to run.
    pub methods: Vec<Method>,
}

/// The settings of all runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The path of the running `seqz`.
    pub seqz: PathBuf,
    /// The limits of each run.
    pub limits: Limits,
    /// The number of runs at once.
    pub jobs: u32,
    /// Which features of the packages are on.
    pub features: Features,
    /// The directory in which workers are built.
    pub target_dir: Option<PathBuf>,
}

/// Makes all runs that are not in the results file yet. `None`: the user broke the comparison off.
///
/// # Errors
/// When the results file can't be written, or a run can't be started.
pub fn run(
    entries: Vec<Entry>,
    settings: &Settings,
    store: &mut Store,
    stop: &AtomicBool,
    progress: &Progress,
) -> Result<Option<Comparison>, Error> {
    let mut queue = VecDeque::new();
    let mut runs: Vec<Vec<Option<Run>>> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let known = entry.methods.iter().enumerate().map(|(number, method)| {
            let job = Job {
                subject: entry.subject.clone(),
                method: method.clone(),
                stamp: entry.stamp.clone(),
            };
            if let Some(why) = &entry.trouble {
                return Some(Run::failed(&job, why.clone()));
            }
            let known = store.known(&job);
            if known.is_none() {
                queue.push_back((at, number, job));
            }
            known
        });
        runs.push(known.collect());
    }
    let all = queue.len();
    let queue = Mutex::new(queue);
    let mut done = 0;
    thread::scope(|scope| {
        let (sender, outcomes) = mpsc::channel();
        for _ in 0..settings.jobs.max(1) {
            let (sender, queue) = (sender.clone(), &queue);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let next = queue
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .pop_front();
                    let Some((at, number, job)) = next else {
                        return;
                    };
                    let outcome = job.run(settings, stop);
                    if sender.send((at, number, job, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut hear = |at: usize, number: usize, job: &Job, outcome: Outcome| {
            done += 1;
            progress.say(format!(
                "{done} of {all} runs: {} {} {}",
                job.subject.path, job.subject.harness, job.method
            ));
            match outcome {
                Outcome::Interrupted => Ok(()),
                Outcome::Ended(run) => {
                    store.add(job, &run)?;
                    runs[at][number] = Some(*run);
                    Ok(())
                }
            }
        };
        for (at, number, job, outcome) in outcomes {
            outcome
                .and_then(|outcome| hear(at, number, &job, outcome))
                .inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        }
        Ok::<_, Error>(())
    })?;
    if runs.iter().flatten().any(Option::is_none) {
        return Ok(None);
    }
    let programs = entries.into_iter().zip(runs).map(|(entry, runs)| {
        let runs: Vec<_> = runs.into_iter().flatten().collect();
        bugs::program(entry.subject, runs)
    });
    Ok(Some(Comparison::new(
        settings.limits.clone(),
        programs.collect(),
    )))
}
