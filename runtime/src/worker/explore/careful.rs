//! Telling the events of an execution as they come.

use seqz_explore::{Event, Executor, Pick, RunEnd, Scheduler, View};

use super::super::Connection;
use super::super::message::Reply;
use super::super::search::Texts;
use crate::scheduled::Machine;
use crate::scheduled::events::place;
use crate::vocabulary::Scheduled;

/// The machine, with what it does told before it does it: nothing that kills the process can take that back.
pub(super) struct Careful<'a, 'p> {
    machine: &'a mut Machine<'p>,
    connection: &'a mut Connection,
    execution: u64,
    inputs: Texts,
}

impl<'a, 'p> Careful<'a, 'p> {
    pub(super) const fn new(
        machine: &'a mut Machine<'p>,
        connection: &'a mut Connection,
        execution: u64,
        inputs: Texts,
    ) -> Self {
        Self {
            machine,
            connection,
            execution,
            inputs,
        }
    }
}

impl Executor for Careful<'_, '_> {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        let mut telling = Telling {
            scheduler,
            connection: self.connection,
            execution: self.execution,
            inputs: &self.inputs,
            done: Vec::new(),
            picked: None,
        };
        self.machine.run(&mut telling)
    }
}

/// A scheduler whose picks are told.
struct Telling<'a, S> {
    scheduler: &'a mut S,
    connection: &'a mut Connection,
    execution: u64,
    inputs: &'a Texts,
    /// What has not been told yet.
    done: Vec<Scheduled>,
    picked: Option<Scheduled>,
}

impl<S: Scheduler> Scheduler for Telling<'_, S> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        let pick = self.scheduler.pick(view);
        if let Pick::Run(thread) = pick {
            let pending = view.of(thread);
            let next = Scheduled {
                thread: u32::from(thread),
                kind: format!("{:?}", pending.kind.plain()),
                object: pending.object,
                place: place(pending),
            };
            self.picked = Some(next.clone());
            let running = Reply::Running {
                inputs: self.inputs.clone(),
                execution: self.execution,
                done: std::mem::take(&mut self.done),
                next,
            };
            // Whoever listened is gone: the next message that must arrive will tell.
            let _ = self.connection.send(&running);
        }
        pick
    }

    fn ran(&mut self, event: &Event) {
        self.done.push(Scheduled {
            thread: u32::from(event.thread),
            kind: format!("{:?}", event.kind.plain()),
            object: event.object,
            place: self.picked.take().and_then(|picked| picked.place),
        });
        self.scheduler.ran(event);
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.scheduler.blocked(view);
    }

    fn cut(&mut self, view: &View<'_>) {
        self.scheduler.cut(view);
    }
}
