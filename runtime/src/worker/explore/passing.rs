//! Executions in which time passes for threads that wait for it.
//!
//! A search that leaves out orders of independent events can't let time pass for a thread that waits in a loop while
//! others can go on, and says so. What comes of a time limit that is over before another thread has slept long enough is
//! still tried: at the search's end some executions are run in which threads are drawn, and clocks move on beside those
//! that have slept. They promise nothing; each failure of theirs is a failure.

use std::io;

use seqz_explore::{Event, Executor, Pick, Scheduler, View};

use super::careful::Careful;
use super::{Exploration, finding};
use crate::input::Random;
use crate::scheduled::{Idle, Settings};
use crate::worker::message::ScheduleFinding;

/// The number of these executions, if they are short.
const EXECUTIONS: u64 = 2_000;

/// The number of events after which no further execution is begun.
const EVENTS: usize = 200_000;

/// Draws a thread at each step.
struct Walk(Random);

impl Scheduler for Walk {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        let drawn = self.0.below(u64::from(view.enabled.len()).max(1));
        let thread = view.enabled.iter().nth(drawn as usize);
        thread.map_or(Pick::Abandon, Pick::Run)
    }

    fn ran(&mut self, _event: &Event) {}

    fn blocked(&mut self, _view: &View<'_>) {}
}

impl Exploration<'_> {
    /// Lets time pass, at the end of a search with these settings that has begun this number of executions.
    pub(super) fn let_time_pass(&mut self, settings: Settings, begun: u64) -> io::Result<()> {
        let settings = Settings {
            idle: Idle::Waits,
            values: false,
            ..settings
        };
        let mut executor = Careful::new(&*self.bound.program, settings);
        let mut events = 0;
        for number in 1..=EXECUTIONS {
            executor.run(&mut Walk(Random::new(number)));
            let machine = &executor.machine;
            let bound = self.bound;
            self.send_new(machine, |failure| ScheduleFinding {
                standing: (u64::MAX, number),
                ..finding(machine, failure, bound, begun + number)
            })?;
            events += machine.trace().len();
            if events > EVENTS {
                break;
            }
        }
        Ok(())
    }
}
