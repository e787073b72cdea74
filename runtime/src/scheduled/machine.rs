//! The machine: runs the program once under a scheduler.

use std::ptr::NonNull;

use seqz_explore::event::Order;
use seqz_explore::names::Names;
use seqz_explore::threads::{MAX_THREADS, ThreadSet};
use seqz_explore::{Event, Executor, Learned, Outcome, Pending, RunEnd, Scheduler, Test};

use super::behind_writers;
use super::beyond::Beyond;
use super::contexts::Contexts;
use super::failures::Failure;
use super::haste::Haste;
use super::loops::{Changes, Idle};
use super::objects::Objects;
use super::races;
use super::raw::Log;
use super::running::{AtEnd, end_all, resume, start};
use super::spurious::Tokens;
use super::state::{CURRENT, Handle, State};
use super::threads::Stage;
use super::time::Uses;
use super::values::Values;
use crate::alone::{Generation, alone};
use crate::clock::Clocks;
use crate::ending::Results;
use crate::judge::{End, Panics};
use crate::memory::arena::{Arena, note_large};
use crate::vocabulary::{Awaited, HeldUp, Place, Site, ThreadInfo};

/// The least bound on the events of an execution.
const LEAST: u32 = 20_000;

/// The factor from the events of one known execution to the bound for the others.
const TIMES: u32 = 4;

/// How executions are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The bound on the events of one execution, over all threads.
    pub steps: u32,
    /// The size of each thread's stack, in bytes.
    pub stack: usize,
    /// What happens to a thread after an idle turn of a loop that waits.
    pub idle: Idle,
    /// Whether executions are traced: see [`Machine::trace`].
    pub trace: bool,
    /// Whether events tell the values behind locks and in `static mut`s as they tell those of atomics, and
    /// [`Machine::tests`] tells what of these values the threads observe. The values of atomics are told in any case.
    pub values: bool,
    /// The number of times in an execution that something may happen without a reason: see
    /// [`spurious`](super::spurious).
    pub spurious: u32,
    /// The only places where something may happen without a reason; `None` is any place.
    pub spurious_at: Option<&'static [Place]>,
    /// The number of innermost calls of a thread that are part of its events' contexts, where calls are marked: see
    /// [`calls`](crate::calls).
    pub call_depth: u32,
    /// Whether panics of threads that no thread joins are no failures.
    pub ignore_detached_panics: bool,
    /// Whether not all that threads share is followed: a loop that has seen nothing new may then see something new in
    /// its next turn all the same. See [`loops`](super::loops).
    pub unfollowed: bool,
    /// Whether accesses of `unsafe` code to memory are checked where the program asks for it: see [`crate::raw`]. To be
    /// set only where all other means by which threads could synchronize are followed.
    pub checks_memory: bool,
    /// Whether the scheduler says which write each read of an atomic reads from: see
    /// [`Scheduler::source`]. What is not followed so then ends the execution.
    pub weak: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            steps: LEAST,
            // The size that std gives to a thread's stack. Pages that are not touched cost nothing.
            stack: 2 << 20,
            idle: Idle::Ends,
            trace: true,
            values: false,
            spurious: 0,
            spurious_at: None,
            call_depth: 0,
            ignore_detached_panics: false,
            unfollowed: false,
            checks_memory: false,
            weak: false,
        }
    }
}

impl Settings {
    /// The bound on events of an execution where one execution is known to have this number of events: others may have
    /// more, by what threads do when they see something else.
    #[must_use]
    pub fn room_for(events: usize) -> u32 {
        let events = u32::try_from(events).unwrap_or(u32::MAX);
        events.saturating_mul(TIMES).max(LEAST)
    }
}

/// An event with its place.
#[derive(Clone, Copy, Debug)]
pub struct Traced {
    /// The event.
    pub event: Event,
    /// The place in the source that made the event, if it is known.
    pub site: Option<Site>,
}

/// Runs one program again and again.
pub struct Machine<'p> {
    pub(super) state: Box<State>,
    program: &'p dyn Fn(),
}

impl std::fmt::Debug for Machine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine")
            .field("settings", &self.state.settings)
            .finish_non_exhaustive()
    }
}

impl<'p> Machine<'p> {
    /// A machine for this program.
    #[must_use]
    pub fn new(program: &'p dyn Fn(), settings: Settings) -> Self {
        crate::panics::install_hook();
        let mut names = Names::default();
        // The harness's own thread is number 0, and no thread's child.
        names.of(u32::MAX, 0);
        Self {
            state: Box::new(State {
                generation: 0,
                settings,
                slots: Vec::new(),
                current: 0,
                last: None,
                next: None,
                scheduler: None,
                pending: Vec::new(),
                live: ThreadSet::EMPTY,
                waiting: ThreadSet::EMPTY,
                enabled: ThreadSet::EMPTY,
                stale: true,
                parked: ThreadSet::EMPTY,
                timed: ThreadSet::EMPTY,
                in_time: ThreadSet::EMPTY,
                beyond: None,
                orders: [Order::Plain; 2],
                saw: Vec::new(),
                resting: ThreadSet::EMPTY,
                gives_way: false,
                untold: false,
                outcome: Outcome::Completed,
                ending: false,
                at_end: AtEnd::Unwinds,
                counter: None,
                ended_waits: 0,
                names,
                objects: Objects::default(),
                arena: Arena::default(),
                clocks: Clocks::default(),
                stacks: Vec::new(),
                free: Vec::new(),
                trace: Vec::new(),
                steps: 0,
                reads: [0; MAX_THREADS],
                left: Vec::new(),
                failures: Vec::new(),
                panics: Panics::default(),
                harness: End::Open,
                has_left: false,
                is_main: false,
                plain: Vec::new(),
                values: Values::default(),
                contexts: Contexts::default(),
                changes: Changes::default(),
                watches_loops: false,
                fruitless: 0,
                has_poisoned: false,
                has_looks: false,
                time: Uses::default(),
                haste: Haste::default(),
                unsupported: None,
                watches_ends: false,
                tokens: Tokens::default(),
                watches_results: Results::Unseen,
                has_shared_holders: false,
                is_outslept: false,
                has_left_scope_open: false,
                has_left_unparks_open: false,
                writers_first: false,
                memory: Log::default(),
            }),
            program,
        }
    }

    /// Gives a thread the number that it had in an earlier search: the `nth` thread that `parent` creates, from 0.
    pub fn recall_thread(
        &mut self,
        thread: seqz_explore::Thread,
        parent: seqz_explore::Thread,
        nth: u32,
    ) {
        let (thread, parent) = (u32::from(thread), u32::from(parent));
        self.state.names.recall(parent, nth, thread);
    }

    /// The events of the latest execution, if it was traced.
    #[must_use]
    pub fn trace(&self) -> &[Traced] {
        if self.state.settings.trace {
            &self.state.trace
        } else {
            &[]
        }
    }

    /// The events of the latest execution of which the thread observes less than the value found, by the event's
    /// number, which is its place in the trace. In the order of numbers; empty where values are not told.
    #[must_use]
    pub fn tests(&self) -> &[(usize, Test)] {
        self.state.values.tests()
    }

    /// Whether the latest execution was cut before its bound: where threads wait, and it is not known whether for ever.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        self.state.outcome == Outcome::Truncated
            && self.state.steps < self.state.settings.steps
            && !self.state.is_outslept
            && self.state.unsupported.is_none()
    }

    /// Whether, where values are told, a thread looked at its clock in the latest execution, and what it saw may depend on
    /// what a search over values leaves out.
    #[must_use]
    pub fn leaves_time_open(&self) -> bool {
        self.state.leaves_time_open()
    }

    /// Whether in the latest execution a time might have come sooner than it did while other threads could go on, or a
    /// thread might have looked at its clock more often before the time came, or been held up by others between two
    /// looks.
    #[must_use]
    pub fn hurries_time(&self) -> bool {
        self.state.clocks.hurried() || self.state.may_see_others_hold_it_up()
    }

    /// Whether the latest execution was cut since a thread had slept again and again for longer than any machine holds others
    /// up.
    #[must_use]
    pub const fn is_outslept(&self) -> bool {
        self.state.is_outslept
    }

    /// Whether in the latest execution a scope waited for destructors of thread-locals, whose events may with std also
    /// come after the scope's end.
    #[must_use]
    pub const fn leaves_scope_open(&self) -> bool {
        self.state.has_left_scope_open
    }

    /// Whether in the latest execution a thread parked that may have used up its unpark token before: see
    /// [`parking`](super::parking).
    #[must_use]
    pub const fn leaves_unparks_open(&self) -> bool {
        self.state.has_left_unparks_open
    }

    /// The thread that was held up in the latest execution, in a way that may have led to this failure of it.
    #[must_use]
    pub fn held_up(&self, failure: &Failure) -> Option<HeldUp> {
        self.state.held_up(failure.events)
    }

    /// The failures of the latest execution, in order.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        &self.state.failures
    }

    /// Whether the scheduler says what reads of atomics read.
    #[must_use]
    pub const fn is_weak(&self) -> bool {
        self.state.settings.weak
    }

    /// Of a failing execution under weak memory, of the event of this number: see [`Scheduler::saw`].
    #[must_use]
    pub fn saw(&self, event: usize) -> Option<u32> {
        self.state.saw.get(event).copied().flatten()
    }

    /// Whether threads of the latest execution have looked at values under locks of which is not known whether they were changed
    /// thereby.
    #[must_use]
    pub fn has_looks(&self) -> bool {
        self.state.has_looks
    }

    /// Whether the harness of the latest execution came to an end, or a thread ended the process.
    #[must_use]
    pub fn harness_is_over(&self) -> bool {
        self.state.harness != End::Open || self.state.has_left
    }

    /// The places of the panics that the harness of the latest execution has handled, if it ended well.
    pub fn handled(&self) -> impl Iterator<Item = &Place> {
        let all = self.state.panics.handled();
        all.filter(|_| self.state.harness == End::Passed)
    }

    /// The places of the panics of the latest execution whose threads nobody joins, whether they are failures or not.
    #[must_use]
    pub fn detached(&self) -> Vec<Place> {
        self.state.detached()
    }

    /// A sentence on what the program did in the latest execution that the machine cannot follow, and the place of
    /// that.
    #[must_use]
    pub fn unsupported(&self) -> Option<(&str, Place)> {
        self.state
            .unsupported
            .as_ref()
            .map(|(message, site)| (message.as_str(), Place::from(*site)))
    }

    /// The threads of the latest execution, by number.
    #[must_use]
    pub fn threads(&self) -> Vec<Option<ThreadInfo>> {
        self.state
            .slots
            .iter()
            .map(|slot| {
                (slot.stage != Stage::Absent).then(|| ThreadInfo {
                    name: slot.name.clone(),
                    spawned_at: slot.spawned_at.map(Place::from),
                })
            })
            .collect()
    }

    /// What a thread waits for, if it is in a wait queue at the end of the latest execution.
    #[must_use]
    pub fn awaited(&self, thread: seqz_explore::Thread) -> Awaited {
        let slot = self.state.slots.get(usize::from(thread));
        slot.map_or_else(Awaited::default, |slot| slot.awaited)
    }

    /// The operations that the threads had announced at the end of the latest execution, each with its place, by
    /// thread.
    #[must_use]
    pub fn announced(&self) -> Vec<Option<(Pending, Option<Place>)>> {
        self.state
            .slots
            .iter()
            .enumerate()
            .map(|(at, slot)| {
                let waits = slot.stage == Stage::Live || slot.stage == Stage::Ended;
                waits.then(|| (self.state.pending[at], slot.site.map(Place::from)))
            })
            .collect()
    }
}

impl Executor for Machine<'_> {
    fn learned(&self) -> Learned<'_> {
        Learned {
            tests: Beyond::told(self.state.beyond.as_deref(), self.state.values.tests()),
            transitions: Beyond::told(
                self.state.beyond.as_deref(),
                self.state.values.transitions(),
            ),
            plain: &self.state.plain,
            refusing: Beyond::told(self.state.beyond.as_deref(), self.state.values.refusing()),
            stopped: self.state.values.stopped(),
        }
    }

    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        let mut alone = alone();
        assert!(
            CURRENT.get().is_none(),
            "an execution inside of an execution"
        );
        let pointer = NonNull::from(&mut *self.state);
        let handle = Handle(pointer);
        handle.get().begin(&mut alone);
        let counter = handle.get().counter;
        // The code that asks for the execution may be unwinding. No thread of the program is unwinding yet.
        if let Some(counter) = counter.filter(|counter| counter.is_raised()) {
            return counter.hide(|| self.execute(handle, &mut alone, scheduler));
        }
        self.execute(handle, &mut alone, scheduler)
    }
}

impl Machine<'_> {
    /// Runs the execution that has begun.
    #[inline(always)]
    fn execute<S: Scheduler>(
        &mut self,
        handle: Handle,
        alone: &mut Generation,
        scheduler: &mut S,
    ) -> RunEnd {
        let pointer = handle.0;
        let scheduler: *mut (dyn Scheduler + '_) = scheduler;
        // SAFETY: only the lifetime is changed. The pointer is used until `run` returns, and then taken back.
        let scheduler: *mut (dyn Scheduler + 'static) = unsafe { std::mem::transmute(scheduler) };
        handle.get().scheduler = Some(scheduler);
        behind_writers::WRITERS_FIRST.set(false);
        CURRENT.set(Some(pointer));
        note_large(true);
        crate::panics::listen(Some(super::failures::hear));
        super::values::ask(handle.get().settings.values);
        super::weak::ask(handle.get().settings.weak);
        let program: *const (dyn Fn() + '_) = self.program;
        // SAFETY: only the lifetime is changed; the coroutine is over before `run` returns.
        let program: *const (dyn Fn() + 'static) = unsafe { std::mem::transmute(program) };
        let run = move || {
            handle.start_spurious();
            // SAFETY: the program outlives the execution.
            unsafe { (*program)() };
        };
        start(handle, 0, (None, None), Box::new(run));
        handle.decide();
        while let Some(thread) = handle.get().next {
            resume(handle, thread);
        }
        handle.get().conclude();
        handle.get().stop_watching_memory();
        end_all(handle);
        crate::process::restore(alone);
        if handle.get().at_end == AtEnd::Forgets {
            handle
                .get()
                .arena
                .give_back(|is_left| crate::process::is_let_go(is_left));
        }
        CURRENT.set(None);
        note_large(false);
        crate::panics::listen(None);
        super::values::ask(false);
        super::weak::ask(false);
        let state = handle.get();
        let weak = state.scheduler.filter(|_| state.settings.weak);
        // SAFETY: the scheduler outlives the execution, and is called by the machine's own code only.
        let race = weak.and_then(|scheduler| unsafe { &*scheduler }.race());
        state.saw.clear();
        if let Some(scheduler) = weak.filter(|_| race.is_some() || !state.failures.is_empty()) {
            // SAFETY: as above.
            let saw = |event| unsafe { &*scheduler }.saw(event);
            state.saw.extend((0..state.trace.len()).map(saw));
        }
        state.scheduler = None;
        if let Some([earlier, later]) = race {
            let race = races::between(&state.trace, earlier, later);
            state.failures.extend(race);
        } else if !state.settings.weak
            && !state.plain.is_empty()
            && let Some(race) = races::first(&state.trace, &state.plain)
        {
            state.failures.push(race);
        }
        state.judge_memory();
        state.end()
    }
}
