//! One canonical execution: its events with clocks, and its steps.

use crate::divergence::Divergence;
use crate::event::{Event, Pending, Thread};
use crate::executor::View;
use crate::threads::ThreadSet;
use crate::trace::{NOWHERE, Position, Trace};

use super::children::{Child, Reversal};
use super::holdings::Holdings;
use super::outline::Outline;
use super::queues::Queues;

/// A step: the pending event of the thread whose turn it was was intended at `start`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The position at which the step's delay begins.
    pub(super) start: Position,
    /// The position after the step's delay. The intended event is there, unless the delay disabled it.
    pub(super) end: Position,
    /// The thread of the intended event.
    pub(super) thread: Thread,
    /// The number of the intended event among its thread's events, from 1.
    pub(super) index: u32,
}

impl Step {
    pub(super) fn is_delayed(&self) -> bool {
        self.start < self.end
    }
}

/// What is known of an event from before it ran.
#[derive(Clone, Copy, Debug)]
pub(super) struct Announced {
    pub(super) pending: Pending,
    /// The event after which its thread, having waited, was enabled. [`NOWHERE`]: it was enabled when announced.
    pub(super) enabler: Position,
}

/// What a child has to start with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scripted {
    pub(super) thread: Thread,
    /// What the thread announced in the parent.
    pub(super) pending: Pending,
    /// The thread's event in the parent. `None`: the thread may do something else in this execution.
    pub(super) event: Option<Event>,
}

/// A thread that waits when the execution is over, or would go on when it is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) thread: Thread,
    pub(super) pending: Pending,
    /// The event that enabled the thread: see [`Announced::enabler`]. Past the end if the thread is not enabled.
    pub(super) enabler: Position,
}

/// An execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Execution {
    pub(super) trace: Trace,
    pub(super) steps: Vec<Step>,
    /// The indices of the steps that have a delay, ascending.
    pub(super) delayed: Vec<u32>,
    /// Per event: the step in which it ran as the intended event; [`NOWHERE`] for events of delays.
    pub(super) step_of: Vec<u32>,
    pub(super) announced: Vec<Announced>,
    pub(super) waiting: Vec<Waiting>,
    /// The holders of locks, computed when the execution's children are listed.
    pub(super) holdings: Holdings,
    /// Who waits, computed then, too.
    pub(super) queues: Queues,
    /// The step whose delay is being made, and what its thread announced in the parent.
    open: Option<(Step, Pending)>,
    /// The threads that were not enabled at the last scheduling point.
    disabled: ThreadSet,
    /// Per thread: the event that enabled the thread, as in [`Announced::enabler`].
    enabler: Vec<Position>,
}

impl Execution {
    pub(super) fn clear(&mut self) {
        self.trace.truncate(0);
        self.steps.clear();
        self.delayed.clear();
        self.step_of.clear();
        self.announced.clear();
        self.waiting.clear();
        self.open = None;
        self.disabled = ThreadSet::EMPTY;
        self.enabler.fill(NOWHERE);
    }

    /// Makes room for about as many events as the other one has, at once.
    fn make_room_as_in(&mut self, other: &Self) {
        self.trace.make_room_as_in(&other.trace);
        self.steps.reserve(other.steps.len());
        self.step_of.reserve(other.step_of.len());
        self.announced.reserve(other.announced.len());
    }

    /// Gets ready to be this child. Writes the threads to run first, up to the end of the delay; returns how many events
    /// at their start are the parent's own.
    pub(super) fn start_as_child(
        &mut self,
        parent: &Self,
        child: Child,
        script: &mut Vec<Scripted>,
    ) -> usize {
        let step = parent.steps[child.step as usize];
        let target = parent.target(child.target);
        let prefix = parent.prefix_of(child);
        self.clear();
        self.make_room_as_in(parent);
        let shared = match child.reversal {
            Reversal::Before(position) => position,
            Reversal::Delay | Reversal::DelayOnceReleased => step.end,
        };
        let scripted = |position: Position| Scripted {
            pending: parent.announced[position as usize].pending,
            thread: parent.trace.event(position).thread,
            event: None,
        };
        script.extend(
            (0..parent.trace.len() as Position)
                .filter(|&position| prefix.contains(position))
                .map(|position| Scripted {
                    event: Some(*parent.trace.event(position)),
                    ..scripted(position)
                }),
        );
        script.push(Scripted {
            pending: target.pending,
            thread: target.thread,
            event: None,
        });
        if let Reversal::Before(position) = child.reversal {
            script.push(scripted(position));
        }
        let shared = shared as usize;
        self.trace.copy_prefix(&parent.trace, shared);
        self.steps
            .extend_from_slice(&parent.steps[..child.step as usize]);
        let delayed = parent.delayed.iter().copied();
        self.delayed
            .extend(delayed.take_while(|&number| number < child.step));
        self.delayed.push(child.step);
        self.step_of.extend_from_slice(&parent.step_of[..shared]);
        self.announced
            .extend_from_slice(&parent.announced[..shared]);
        let open = Step {
            end: script.len() as Position,
            ..step
        };
        self.open = Some((open, parent.announced[step.end as usize].pending));
        shared
    }

    /// The steps after this one that have a delay, from the last.
    pub(super) fn delayed_after(&self, step: u32) -> impl Iterator<Item = &Step> {
        let numbers = self.delayed.iter().rev();
        numbers
            .take_while(move |&&number| number > step)
            .map(|&number| &self.steps[number as usize])
    }

    /// Notes what there is to know before the thread runs.
    #[inline]
    pub(super) fn announce(&mut self, view: &View<'_>, thread: Thread) {
        self.watch(view, self.trace.len());
        self.step_of.push(NOWHERE);
        self.note(view, thread);
    }

    /// Past the script: picks the thread to run next. `turn`: the threads whose turn it is.
    #[inline]
    pub(super) fn intend(
        &mut self,
        view: &View<'_>,
        turn: ThreadSet,
    ) -> Result<Thread, Divergence> {
        self.watch(view, self.trace.len());
        let end = self.trace.len() as Position;
        let step = match self.open.take() {
            Some((open, pending)) if view.enabled.contains(open.thread) => {
                Divergence::check_announced(end as usize, open.thread, &pending, view)?;
                open
            }
            open => {
                self.steps.extend(open.map(|(step, _)| step));
                let thread = turn.first().unwrap_or_default();
                Step {
                    start: end,
                    end,
                    thread,
                    index: self.trace.count(thread) + 1,
                }
            }
        };
        self.step_of.push(self.steps.len() as u32);
        self.steps.push(step);
        self.note(view, step.thread);
        Ok(step.thread)
    }

    #[inline]
    pub(super) fn push(&mut self, event: &Event) {
        self.trace.push(event);
    }

    /// The execution has been made again, event by event, as it was [announced](Self::announce): says which steps it has.
    pub(super) fn divide(&mut self, outline: &Outline) {
        let mut delayed = outline.delayed().iter().peekable();
        let length = self.trace.len() as Position;
        let mut position = 0;
        loop {
            let number = self.steps.len() as u32;
            if let Some(next) = delayed.next_if(|next| next.step.start == position) {
                self.delayed.push(number);
                self.steps.push(next.step);
                position = next.step.end;
                if !next.has_run {
                    continue;
                }
            } else if position < length {
                let entry = self.trace.entry(position);
                self.steps.push(Step {
                    start: position,
                    end: position,
                    thread: entry.event.thread,
                    index: entry.index,
                });
            } else {
                return;
            }
            self.step_of[position as usize] = number;
            position += 1;
        }
    }

    /// In the part shared with the parent: follows who waits.
    #[inline]
    pub(super) fn follow(&mut self, view: &View<'_>, position: usize, thread: Thread) {
        self.watch(view, position);
        if let Some(enabler) = self.enabler.get_mut(usize::from(thread)) {
            *enabler = NOWHERE;
        }
    }

    /// Notes which threads the event before this position has enabled.
    #[inline]
    fn watch(&mut self, view: &View<'_>, position: usize) {
        let last = (position as Position).wrapping_sub(1);
        for thread in self.disabled.intersection(view.enabled).iter() {
            self.enabler[usize::from(thread)] = last;
        }
        self.disabled = view.live.difference(view.enabled);
        for thread in self.disabled.iter() {
            if usize::from(thread) >= self.enabler.len() {
                self.enabler.resize(usize::from(thread) + 1, NOWHERE);
            }
        }
    }

    #[inline]
    fn note(&mut self, view: &View<'_>, thread: Thread) {
        let enabler = self
            .enabler
            .get_mut(usize::from(thread))
            .map_or(NOWHERE, |enabler| std::mem::replace(enabler, NOWHERE));
        self.announced.push(Announced {
            pending: *view.of(thread),
            enabler,
        });
    }

    /// The execution ends here, and these threads wait.
    pub(super) fn wait_forever(&mut self, view: &View<'_>) {
        let end = self.trace.len() as Position;
        // An execution may be cut before the delay that it has to make is whole.
        self.steps.extend(self.open.take().map(|(step, _)| Step {
            end: step.end.min(end),
            ..step
        }));
        self.waiting.extend(view.live.iter().map(|thread| Waiting {
            thread,
            pending: *view.of(thread),
            enabler: end,
        }));
    }

    /// The execution is cut here, and these threads would go on.
    pub(super) fn be_cut(&mut self, view: &View<'_>) {
        self.watch(view, self.trace.len());
        self.wait_forever(view);
        for waiting in &mut self.waiting {
            if view.enabled.contains(waiting.thread) {
                let enabler = self.enabler.get(usize::from(waiting.thread));
                waiting.enabler = enabler.copied().unwrap_or(NOWHERE);
            }
        }
    }
}
