//! Telling the events of an execution as they come.

use std::io;

use seqz_explore::{Event, Executor, Learned, Pick, RunEnd, Scheduler, View};

use super::super::connection::Connection;
use super::super::message::{ExploreReply, ExploreRequest};
use super::super::search::Texts;
use crate::scheduled::events::place;
use crate::scheduled::{Machine, Settings};
use crate::vocabulary::Scheduled;

/// A machine that can tell each event before it is done: nothing that kills the process can take that back.
pub(super) struct Careful<'p> {
    pub(super) machine: Machine<'p>,
    told: Option<Told>,
}

/// The connection over which the events of an execution are told, and which execution that is.
struct Told {
    connection: Connection<ExploreRequest>,
    execution: u64,
    inputs: Texts,
    /// The number of the sequence that the program's random numbers are of.
    random: u64,
}

impl<'p> Careful<'p> {
    /// A machine for this program that tells nothing yet.
    pub(super) fn new(program: &'p dyn Fn(), settings: Settings) -> Self {
        Self {
            machine: Machine::new(program, settings),
            told: None,
        }
    }

    /// Tells the events of executions from now on, as events of the execution of this number in its search, from 1,
    /// where the program draws this sequence of random numbers.
    pub(super) fn tell(
        &mut self,
        connection: &Connection<ExploreRequest>,
        (execution, random): (u64, u64),
        inputs: Texts,
    ) -> io::Result<()> {
        self.told = Some(Told {
            connection: connection.try_clone()?,
            execution,
            inputs,
            random,
        });
        Ok(())
    }
}

impl Executor for Careful<'_> {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        let Some(told) = &mut self.told else {
            return self.machine.run(scheduler);
        };
        let mut telling = Telling {
            scheduler,
            connection: &mut told.connection,
            execution: told.execution,
            inputs: &told.inputs,
            random: told.random,
            done: Vec::new(),
            picked: None,
        };
        self.machine.run(&mut telling)
    }

    fn learned(&self) -> Learned<'_> {
        self.machine.learned()
    }
}

/// A scheduler whose picks are told.
struct Telling<'a, S> {
    scheduler: &'a mut S,
    connection: &'a mut Connection<ExploreRequest>,
    execution: u64,
    inputs: &'a Texts,
    random: u64,
    /// The events that have not been told yet.
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
                action: pending.kind.plain(),
                object: pending.object,
                place: place(pending),
                saw: None,
            };
            self.picked = Some(next.clone());
            let running = ExploreReply::Running {
                inputs: self.inputs.clone(),
                execution: self.execution,
                random: self.random,
                done: std::mem::take(&mut self.done),
                next,
            };
            // If the driver is gone, the next message that must arrive will tell.
            let _ = self.connection.send(running);
        }
        pick
    }

    fn ran(&mut self, event: &Event) {
        self.done.push(Scheduled {
            thread: u32::from(event.thread),
            action: event.kind.plain(),
            object: event.object,
            place: self.picked.take().and_then(|picked| picked.place),
            saw: None,
        });
        self.scheduler.ran(event);
    }

    fn source(&mut self, held: u64) -> u64 {
        self.scheduler.source(held)
    }

    fn is_void(&self) -> bool {
        self.scheduler.is_void()
    }

    fn is_latest(&self, event: usize) -> bool {
        self.scheduler.is_latest(event)
    }

    fn saw(&self, event: usize) -> Option<u32> {
        self.scheduler.saw(event)
    }

    fn race(&self) -> Option<[usize; 2]> {
        self.scheduler.race()
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.scheduler.blocked(view);
    }

    fn cut(&mut self, view: &View<'_>) {
        self.scheduler.cut(view);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use seqz_explore::Fair;

    use super::*;
    use crate::std::sync::mpsc;

    #[test]
    fn a_strategy_learns_the_same_where_events_are_told() -> io::Result<()> {
        let program = || {
            let (sender, receiver) = mpsc::channel();
            let _ = sender.send(1);
            let _ = receiver.recv();
        };
        let settings = Settings {
            values: true,
            ..Settings::default()
        };
        let mut executor = Careful::new(&program, settings);
        executor.run(&mut Fair::default());
        let learned = executor.learned().transitions.to_vec();
        assert!(!learned.is_empty());
        let (own, _other) = UnixStream::pair()?;
        executor.tell(&Connection::new(own), (1, 0), Vec::new())?;
        executor.run(&mut Fair::default());
        assert_eq!(executor.learned().transitions, learned);
        Ok(())
    }
}
