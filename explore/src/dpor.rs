//! `dpor`: dynamic partial-order reduction with sleep sets.
//!
//! Source: *Dynamic Partial-Order Reduction for Model Checking Software* (Flanagan and Godefroid, POPL 2005), section 3
//! for the algorithm, 4.1 for clock vectors; sleep sets are those of Godefroid 1996, chapter 5. Each node of the current
//! schedule has a backtrack set. When an operation races with an earlier event, a thread that leads to their reversal is
//! added to the backtrack set before that event. A thread whose alternatives have been explored sleeps until a
//! dependent event wakes it; an execution in which all enabled threads sleep is given up.
//!
//! The choice of the added thread differs from the 2005 paper: with sleep sets, the paper's thread may sleep there, while
//! the executions to explore start with another thread, and traces are lost (three readers and a writer are enough). So
//! the thread is taken from the reversal's *source set*: a thread whose next event is minimal in happens-before among the
//! events of the reversal (*Optimal Dynamic Partial Order Reduction*, Abdulla, Aronis, Jonsson, Sagonas, POPL 2014,
//! section 4).
//!
//! Promise: exhausted: every Mazurkiewicz trace is executed at least once. With sleep sets no trace is executed to its end
//! twice; the search wastes time only in executions that it gives up.

use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Pick, RunEnd, View};
use crate::race::{Latest, Window, races, was_let_go_by};
use crate::stack::{Stack, Step};
use crate::strategy::{Promise, Stats, Strategy};
use crate::threads::ThreadSet;
use crate::trace::Trace;

/// Dynamic partial-order reduction.
#[derive(Clone, Debug, Default)]
pub struct Dpor {
    stack: Stack,
    trace: Trace,
}

/// Makes sure that each race of this operation is reversed: some thread that can start the reversal is in the backtrack
/// set before the racing event, or asleep there.
pub(crate) fn turn_round(trace: &Trace, stack: &mut Stack, latest: Latest) {
    let mut window = None;
    for position in races(trace, latest) {
        let window = window.get_or_insert_with(|| Window::new(trace, latest));
        let node = stack.node(position);
        let there = node.enabled.contains(latest.thread);
        if was_let_go_by(latest, position, there) || !window.is_immediate(position) {
            continue;
        }
        // An exclusive lock may have to wait there for shared holders that come after the racing event; then there is no
        // reversal to explore.
        node.try_one_of(window.starting(position), latest.thread);
    }
}

impl Dpor {
    /// A search before its first execution.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn race(&mut self, latest: Latest) {
        turn_round(&self.trace, &mut self.stack, latest);
    }

    fn races_of_waiting(&mut self, view: &View<'_>, waiting: ThreadSet) {
        for thread in waiting.iter() {
            self.race(Latest::waiting(&self.trace, thread, view.of(thread)));
        }
    }
}

impl Strategy for Dpor {
    fn begin(&mut self) -> bool {
        let more = self.stack.begin();
        self.trace.truncate(self.stack.known());
        more
    }

    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        match self.stack.pick(view)? {
            Step::Run(thread) => Ok(Pick::Run(thread)),
            Step::Asleep => {
                self.races_of_waiting(view, view.live.difference(view.enabled));
                Ok(Pick::Abandon)
            }
        }
    }

    #[inline]
    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        if self.stack.ran(event)? {
            let position = self.trace.push(event);
            self.race(Latest::ran(&self.trace, position));
        }
        Ok(())
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.races_of_waiting(view, view.live.difference(view.enabled));
    }

    fn cut(&mut self, view: &View<'_>) {
        self.races_of_waiting(view, view.live);
    }

    fn end(&mut self, _end: &RunEnd) {
        self.stack.end();
    }

    fn report(&self) -> Stats {
        let promise = if self.stack.is_done() {
            Promise::Exhausted
        } else {
            Promise::Unfinished
        };
        Stats::of_tree(promise, self.stack.explored())
    }
}
