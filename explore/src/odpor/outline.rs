//! What is kept of an execution whose children are being visited and which has been let go for its memory: enough to make
//! it again, and to see that it is the same.

use crate::divergence::{Difference, Divergence};
use crate::event::{Event, Thread};
use crate::executor::View;
use crate::hash::mix;
use crate::mcr::schedule::{Follower, Schedule};

use super::execution::{Execution, Step};

/// A step that has a delay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delayed {
    pub(super) step: Step,
    /// Whether its event ran where the delay ends.
    pub(super) has_run: bool,
}

/// An execution in little memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    schedule: Schedule,
    delayed: Vec<Delayed>,
    /// The number of events of the execution.
    pub(super) length: usize,
    print: u64,
}

/// How far an execution has been made again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    at: Follower,
    print: u64,
}

impl Outline {
    /// Of this execution.
    pub(super) fn of(execution: &Execution) -> Self {
        let trace = &execution.trace;
        let events = || {
            (0..)
                .take(trace.len())
                .map(|position| trace.event(position))
        };
        let delayed = execution.delayed.iter().map(|&number| {
            let step = execution.steps[number as usize];
            let ran = execution.step_of.get(step.end as usize);
            Delayed {
                step,
                has_run: ran == Some(&number),
            }
        });
        Self {
            schedule: events().map(|event| event.thread).collect(),
            delayed: delayed.collect(),
            length: trace.len(),
            print: events().fold(0, print),
        }
    }

    /// Picks the thread to run at this position.
    pub(super) fn pick(
        &self,
        progress: &mut Progress,
        position: usize,
        view: &View<'_>,
    ) -> Result<Thread, Divergence> {
        let next = progress.at.next(&self.schedule);
        let next = next.filter(|&thread| view.enabled.contains(thread));
        next.ok_or(Divergence {
            position,
            difference: Difference::OtherEnabled,
        })
    }

    /// Takes the event at this position.
    pub(super) fn ran(
        &self,
        progress: &mut Progress,
        position: usize,
        event: &Event,
    ) -> Result<(), Divergence> {
        progress.print = print(progress.print, event);
        if position + 1 != self.length || progress.print == self.print {
            return Ok(());
        }
        Err(Divergence {
            position,
            difference: Difference::OtherEvent {
                thread: event.thread,
                expected: event.kind,
                found: event.kind,
            },
        })
    }

    /// The steps that have delays.
    pub(super) fn delayed(&self) -> &[Delayed] {
        &self.delayed
    }
}

/// The hash of the events so far, and this one.
fn print(so_far: u64, event: &Event) -> u64 {
    let what = u64::from(event.thread) << 40 | (event.kind as u64) << 32 | u64::from(event.object);
    mix(mix(mix(so_far, what), event.found), event.left)
}
