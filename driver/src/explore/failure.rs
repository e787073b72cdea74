//! A worker's failure, told about the original source.

use seqz_runtime::vocabulary::{self, FailureKind};
use seqz_runtime::worker::message::{ExploreRequest, ScheduleFinding};

use super::unit::Fatal;
use crate::model::apart;
use crate::model::document::{Kind, Met, Site, Thread};
use crate::model::exploration::{Failure, HeldUp, Waiting};
use crate::model::lone::Spurious;
use crate::model::schedule::{Action, Event};
use crate::original::{Original, inputs};
use crate::program::Spawn;

/// Returns what may happen without a reason in the executions that a request asks for.
pub(super) fn spurious_of(request: &ExploreRequest) -> Spurious {
    Spurious {
        times: request.spurious,
        in_loops: request.spurious_at.is_none(),
    }
}

impl Original<'_> {
    /// Builds a failure of the report from a worker's.
    pub(crate) fn failure(
        &self,
        finding: &ScheduleFinding,
        (stack_size, spurious): (u64, Spurious),
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
                FailureKind::Detached => Kind::DetachedPanic,
                FailureKind::Result => Kind::Result,
                FailureKind::Exit => Kind::Exit,
                FailureKind::Abort => Kind::Crash,
                FailureKind::UseAfterFree => Kind::UseAfterFree,
                FailureKind::InvalidFree => Kind::InvalidFree,
            },
            message: finding.message.clone(),
            site: finding.place.as_ref().and_then(|place| self.site(place)),
            thread: finding.thread,
            waiting,
            inputs: inputs(&finding.inputs),
            threads,
            schedule,
            fails_after: Some(finding.events),
            execution: finding.execution,
            spurious: spurious.times,
            spurious_in_loops: spurious.in_loops,
            random_numbers: finding.random,
            stack_size,
            count: 1,
            couplings: Vec::new(),
            held_up: None,
            finding: None,
            met: Met::default(),
        }
    }

    /// Returns who is held up, with the places of the original program.
    pub(super) fn held_up(&self, told: &vocabulary::HeldUp) -> HeldUp {
        HeldUp {
            thread: told.thread,
            site: told.place.as_ref().and_then(|place| self.site(place)),
            nanoseconds: told.nanoseconds,
            by: told.by,
            passing: self.site(&told.passing),
            is_limit: told.is_limit,
            took: told.took,
        }
    }

    /// Returns the threads that wait, or are about to do something, at the end of a schedule.
    pub(crate) fn waiting(
        &self,
        waiting: &[vocabulary::Waiting],
        schedule: &[Event],
    ) -> Vec<Waiting> {
        let told = |waiting: &vocabulary::Waiting| {
            let action = Action::from(waiting.action);
            let mut touched = schedule
                .iter()
                .filter(|event| event.object == waiting.object && event.action.has_variable());
            let place = waiting.place.as_ref();
            let site = place.and_then(|place| self.site(place));
            // A thread that waits to be notified names the condition variable, not the lock that it takes afterwards.
            let of_other = schedule.iter().any(|event| {
                event.action.is_waiting() && event.site == site && event.object != waiting.object
            });
            let here = place.and_then(|place| self.origin(place)?.name);
            let is_own = |site: &Site| self.is_of_program(site);
            let after = site.as_ref().filter(|site| !is_own(site)).and_then(|_| {
                let of_thread = schedule.iter().rev();
                let of_thread = of_thread.filter(|event| event.thread == waiting.thread);
                of_thread
                    .filter_map(|event| event.site.as_ref())
                    .find(|site| is_own(site))
                    .cloned()
            });
            let numbered = schedule
                .iter()
                .filter(|event| event.object == waiting.object && event.action.has_variable())
                .find_map(|event| event.variable.clone().filter(|it| apart::is_numbered(it)));
            let (missed, instead) = match action {
                Action::Wake => notifications(schedule, waiting.thread, waiting.object),
                _ => (None, None),
            };
            Waiting {
                thread: waiting.thread,
                action,
                object: waiting.object,
                awaited: (action == Action::Wake).then(|| waiting.awaited.into()),
                held_by: holder(schedule, action, waiting.object),
                missed,
                instead,
                variable: here
                    .filter(|_| !of_other)
                    .map(|here| numbered.filter(|it| it.starts_with(&here)).unwrap_or(here))
                    .or_else(|| touched.find_map(|event| event.variable.clone()))
                    .filter(|_| action.has_variable()),
                site,
                after,
            }
        };
        waiting.iter().map(told).collect()
    }

    /// Builds the failure of an execution that ended its worker.
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
            fails_after: None,
            execution: running.execution,
            spurious: request.spurious,
            spurious_in_loops: spurious_of(request).in_loops,
            random_numbers: running.random,
            stack_size: request.stack,
            count: 1,
            couplings: Vec::new(),
            held_up: None,
            finding: None,
            met: Met::default(),
        }
    }
}

/// Returns the threads of an execution that died before it could name them: those that the schedule starts.
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

/// Returns the last notification that a thread, which waits at the end of the schedule, has missed; or else the thread
/// that went on in its place.
fn notifications(schedule: &[Event], thread: u32, object: u32) -> (Option<Site>, Option<u32>) {
    let on_it: Vec<&Event> = schedule
        .iter()
        .filter(|event| event.object == object && event.action.is_waiting())
        .collect();
    let is_own = |event: &&Event| event.thread == thread && event.action == Action::Wait;
    let Some(began) = on_it.iter().rposition(is_own) else {
        return (None, None);
    };
    let notifies = |event: &&&Event| event.action == Action::Notify;
    let (before, after) = on_it.split_at(began);
    if let Some(last) = after.iter().rposition(|event| notifies(&event)) {
        let mut later = after[last..].iter();
        let woken = later.find(|event| event.action == Action::Wake);
        return (None, woken.map(|event| event.thread));
    }
    let missed = before.iter().rev().find(notifies);
    (missed.and_then(|event| event.site.clone()), None)
}

/// Returns the thread that holds `lock`, which another thread waits for at the end of a schedule.
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
