//! A worker's failure, told about the original source.

use seqz_runtime::worker::message::{self, ExploreRequest, FailureKind, ScheduleFinding};

use super::unit::Fatal;
use crate::original::{Original, inputs};
use crate::program::Spawn;
use crate::report::document::{Kind, Met, Thread};
use crate::report::exploration::{Failure, Waiting};
use crate::report::schedule::{Action, Event};

impl Original<'_> {
    /// A failure.
    pub(crate) fn failure(
        &self,
        finding: &ScheduleFinding,
        stack_size: u64,
        spawns: &[Spawn],
    ) -> Failure {
        let threads = finding.threads.iter();
        let threads: Vec<_> = threads
            .map(|thread| Some(self.thread(thread.as_ref()?, spawns)))
            .collect();
        let schedule = self.schedule(&finding.schedule);
        let waiting = self.waiting(&finding.waiting, &schedule);
        Failure {
            kind: match finding.kind {
                FailureKind::Panic => self.kind_of_panic(&finding.message, finding.place.as_ref()),
                FailureKind::Deadlock => Kind::Deadlock,
                FailureKind::Livelock => Kind::Livelock,
                FailureKind::DataRace => Kind::DataRace,
            },
            message: finding.message.clone(),
            site: finding.place.as_ref().and_then(|place| self.site(place)),
            thread: finding.thread,
            waiting,
            inputs: inputs(&finding.inputs),
            threads,
            schedule,
            execution: finding.execution,
            stack_size,
            count: 1,
            couplings: Vec::new(),
            met: Met::default(),
        }
    }

    /// Threads that wait, or are about to do something, at the end of a schedule.
    pub(crate) fn waiting(&self, waiting: &[message::Waiting], schedule: &[Event]) -> Vec<Waiting> {
        let told = |waiting: &message::Waiting| {
            let action = Action::named(&waiting.kind);
            let mut touched = schedule
                .iter()
                .filter(|event| event.object == waiting.object && event.action.has_variable());
            let place = waiting.place.as_ref();
            let here = place.and_then(|place| self.origin(place)?.name);
            Waiting {
                thread: waiting.thread,
                action,
                object: waiting.object,
                held_by: holder(schedule, action, waiting.object),
                variable: here
                    .or_else(|| touched.find_map(|event| event.variable.clone()))
                    .filter(|_| action.has_variable()),
                site: place.and_then(|place| self.site(place)),
            }
        };
        waiting.iter().map(told).collect()
    }

    /// An execution that ended its worker.
    pub(super) fn fatal(
        &self,
        fatal: &Fatal,
        request: &ExploreRequest,
        spawns: &[Spawn],
    ) -> Failure {
        let (kind, message) = match &fatal.death {
            Some(death) if death.exited() => (Kind::Exit, death.describe()),
            Some(death) if death.faulted() => (
                Kind::Crash,
                format!(
                    "{}; a thread has overflowed its stack perhaps, see --stack-size",
                    death.describe()
                ),
            ),
            Some(death) => (Kind::Crash, death.describe()),
            None => (
                Kind::Hang,
                "one execution goes on for ever, or for too long, without an event".to_owned(),
            ),
        };
        let running = &fatal.running;
        let schedule = self.schedule(&running.schedule);
        Failure {
            kind,
            message,
            site: None,
            thread: schedule.last().map_or(0, |event| event.thread),
            waiting: Vec::new(),
            inputs: inputs(&running.inputs),
            threads: threads(&schedule, spawns),
            schedule,
            execution: running.execution,
            stack_size: request.stack,
            count: 1,
            couplings: Vec::new(),
            met: Met::default(),
        }
    }
}

/// The threads of an execution that could not tell of them itself: those that were started in it.
fn threads(schedule: &[Event], spawns: &[Spawn]) -> Vec<Option<Thread>> {
    let mut threads = vec![Some(Thread {
        name: None,
        spawned: None,
    })];
    for event in schedule.iter().filter(|event| event.action == Action::Fork) {
        let number = event.object as usize;
        if threads.len() <= number {
            threads.resize(number + 1, None);
        }
        let line = event.site.as_ref().map(|site| site.line);
        let spawn = spawns.iter().find(|spawn| Some(spawn.line) == line);
        threads[number] = Some(Thread {
            name: spawn.and_then(|spawn| spawn.name.clone()),
            spawned: event.site.clone(),
        });
    }
    threads
}

/// Who holds the lock that somebody waits for at the end of a schedule.
fn holder(schedule: &[Event], waits: Action, lock: u32) -> Option<u32> {
    if !matches!(waits, Action::Lock | Action::LockShared) {
        return None;
    }
    let mut holders = Vec::new();
    for event in schedule.iter().filter(|event| event.object == lock) {
        match event.action {
            Action::Lock | Action::TryLock | Action::LockShared | Action::TryLockShared => {
                holders.push(event.thread);
            }
            Action::Unlock | Action::UnlockShared => {
                let at = holders.iter().position(|holder| *holder == event.thread);
                at.map(|at| holders.remove(at));
            }
            _ => {}
        }
    }
    holders.first().copied()
}
