//! The state of the machine, and of the execution that runs.

use std::cell::Cell;
use std::ptr::NonNull;

use seqz_explore::event::Order;
use seqz_explore::hash::mix;
use seqz_explore::names::Names;
use seqz_explore::threads::{MAX_THREADS, ThreadSet};
use seqz_explore::{Event, Kind, Object, Outcome, Pending, RunEnd, Scheduler};

use super::beyond::Beyond;
use super::contexts::Contexts;
use super::failures::Failure;
use super::haste::Haste;
use super::loops::Changes;
use super::machine::{Settings, Traced};
use super::objects::Objects;
use super::raw::Log;
use super::running::AtEnd;
use super::spurious::Tokens;
use super::threads::{Slot, Stage};
use super::time::Uses;
use super::values::Values;
use crate::alone::Generation;
use crate::clock::Clocks;
use crate::ending::Results;
use crate::executable::unwinding::Counter;
use crate::judge::{End, Panics};
use crate::memory::arena::Arena;
use crate::memory::stack::GuardedStack;
use crate::vocabulary::Site;

pub(super) struct State {
    /// The number of the execution.
    pub(super) generation: u32,
    pub(super) settings: Settings,
    /// The threads, by number.
    pub(super) slots: Vec<Slot>,
    /// The number of the thread that runs.
    pub(super) current: usize,
    pub(super) last: Option<u8>,
    /// The thread to switch to; `None` ends the execution.
    pub(super) next: Option<usize>,
    pub(super) scheduler: Option<*mut dyn Scheduler>,
    /// The operation that each thread has announced, by thread.
    pub(super) pending: Vec<Pending>,
    /// Threads at [`Stage::Live`].
    pub(super) live: ThreadSet,
    /// The live threads that may have to wait; all other live threads can run.
    pub(super) waiting: ThreadSet,
    /// The live threads that can run; valid as long as `stale` is false.
    pub(super) enabled: ThreadSet,
    /// Whether `enabled` has to be computed anew, since something that it depends on has changed.
    pub(super) stale: bool,
    /// The live threads that have made an idle turn of a loop and no event since: see [`loops`](super::loops).
    pub(super) parked: ThreadSet,
    /// Those of them that looked at their clocks in that turn: see [`beyond`](super::beyond).
    pub(super) timed: ThreadSet,
    /// Those of them for whom time has passed since.
    pub(super) in_time: ThreadSet,
    /// Whether a thread has looked at a value under a lock of which is not known whether it was changed thereby.
    pub(super) has_looks: bool,
    /// What runs the rest of an execution that its strategy takes to be over.
    pub(super) beyond: Option<Box<Beyond>>,
    /// The live threads that let the others go first: see [`resting`](super::resting).
    pub(super) resting: ThreadSet,
    /// The orderings of the operation on an atomic that the current thread is about to announce: where it writes, and
    /// where it does not.
    pub(super) orders: [Order; 2],
    /// By event, of a failing execution under weak memory: see [`Scheduler::saw`].
    pub(super) saw: Vec<Option<u32>>,
    /// Whether a thread has slept or yielded in this execution.
    pub(super) gives_way: bool,
    /// What has happened to objects, counted while `watches_loops`.
    pub(super) changes: Changes,
    /// Whether the events of objects are counted in `changes`: since a loop that waits has been run in this execution,
    /// or since the execution is not traced, so that they can't be counted afterwards.
    pub(super) watches_loops: bool,
    /// The number of times in a row that all threads that wait in loops have looked again and seen nothing, where not
    /// all is followed.
    pub(super) fruitless: u32,
    /// Whether a lock has been poisoned in this execution.
    pub(super) has_poisoned: bool,
    /// Whether the last event of the trace has been done since the current thread's last announcement, and the
    /// scheduler has not been told of that event.
    pub(super) untold: bool,
    /// How the execution ends, as far as it is known.
    pub(super) outcome: Outcome,
    /// Whether the execution is over and its threads are being unwound: what they do meanwhile does not count.
    pub(super) ending: bool,
    /// What becomes of threads that are not over at the end of the execution.
    pub(super) at_end: AtEnd,
    /// The counter in which std counts the panics of this OS thread; with it, threads can be switched while one
    /// unwinds.
    pub(super) counter: Option<Counter>,
    /// The number of times that threads have gone on without a notification while `ending`.
    pub(super) ended_waits: u32,
    pub(super) names: Names,
    pub(super) objects: Objects,
    pub(super) arena: Arena,
    pub(super) clocks: Clocks,
    /// Whether the execution was cut since a thread had slept again and again for longer than any machine holds others
    /// up.
    pub(super) is_outslept: bool,
    /// The lowest and the highest address of each thread's stack, by thread.
    pub(super) stacks: Vec<(usize, usize)>,
    /// The stack that each thread has left for the next execution, by thread.
    pub(super) free: Vec<Option<GuardedStack>>,
    /// All events of the execution if it is traced, or else the last event.
    pub(super) trace: Vec<Traced>,
    /// The number of events that the scheduler has been told of.
    pub(super) steps: u32,
    /// The hash of what each thread has read, by thread.
    pub(super) reads: [u64; MAX_THREADS],
    /// The value that the latest write has left in each object, by object.
    pub(super) left: Vec<u64>,
    /// The failures of the execution.
    pub(super) failures: Vec<Failure>,
    pub(super) panics: Panics,
    /// How the harness has ended, or that it has not.
    pub(super) harness: End,
    /// Whether, as the program sees it, a thread has ended the process.
    pub(super) has_left: bool,
    /// Whether the harness is a program's `main`, which may end with `exit(0)`.
    pub(super) is_main: bool,
    /// The objects of this execution that are plain data.
    pub(super) plain: Vec<Object>,
    pub(super) values: Values,
    pub(super) contexts: Contexts,
    pub(super) time: Uses,
    /// Who is held up.
    pub(super) haste: Haste,
    /// What the program did that the machine cannot follow, with its place.
    pub(super) unsupported: Option<(String, Site)>,
    /// Whether the ends of threads are events in this execution.
    pub(super) watches_ends: bool,
    pub(super) tokens: Tokens,
    /// The results of threads for which letting go is an event in this execution.
    pub(super) watches_results: Results,
    /// Whether a lock has been taken shared while it was already held shared.
    pub(super) has_shared_holders: bool,
    /// Whether a scope has waited for destructors of thread-locals, for which std's scopes do not wait.
    pub(super) has_left_scope_open: bool,
    /// Whether a thread has parked that may have used up its unpark token before: see [`parking`](super::parking).
    pub(super) has_left_unparks_open: bool,
    /// Whether readers wait behind writers that wait: see [`behind_writers`](super::behind_writers).
    pub(super) writers_first: bool,
    /// What `unsafe` code has done to memory.
    pub(super) memory: Log,
}

thread_local! {
    pub(super) static CURRENT: Cell<Option<NonNull<State>>> = const { Cell::new(None) };
}

/// A pointer to the machine that runs on this OS thread.
#[derive(Clone, Copy)]
pub(crate) struct Handle(pub(super) NonNull<State>);

impl Handle {
    /// Borrows the state for a short while: see the module's invariants.
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    pub(super) fn get(&self) -> &mut State {
        // SAFETY: the state is boxed in a machine that is borrowed for the whole execution, and `CURRENT` is cleared at
        // its end. By the invariants no other borrow is alive.
        unsafe { &mut *self.0.as_ptr() }
    }
}

/// The machine that runs on this OS thread, if one does.
#[inline(always)]
pub(crate) fn current() -> Option<Handle> {
    CURRENT.get().map(Handle)
}

impl State {
    /// The number of events done in this execution, with the one that the scheduler has not been told of.
    pub(super) fn events(&self) -> usize {
        self.steps as usize + usize::from(self.untold)
    }

    /// The name of the thread that runs.
    pub(super) fn current_name(&self) -> u8 {
        u8::try_from(self.current).unwrap_or(0)
    }

    pub(super) fn begin(&mut self, numbers: &mut Generation) {
        // All fields are named, so that none is forgotten.
        let Self {
            generation,
            settings,
            slots,
            current,
            last,
            next,
            live,
            waiting,
            stale,
            parked,
            timed,
            in_time,
            beyond,
            resting,
            orders,
            gives_way,
            changes,
            watches_loops,
            fruitless,
            has_poisoned,
            untold,
            outcome,
            ending,
            at_end,
            counter,
            ended_waits,
            objects,
            clocks,
            is_outslept,
            has_looks,
            trace,
            steps,
            reads,
            left,
            failures,
            panics,
            harness,
            has_left,
            is_main,
            plain,
            values,
            time,
            haste,
            unsupported,
            watches_ends,
            tokens,
            watches_results,
            has_shared_holders,
            has_left_scope_open,
            has_left_unparks_open,
            writers_first,
            memory,
            // Set where the machine is made, or as the execution goes.
            scheduler: _,
            saw: _,
            pending: _,
            enabled: _,
            names: _,
            arena: _,
            stacks: _,
            free: _,
            contexts: _,
        } = self;
        *at_end = AtEnd::possible();
        *counter = Counter::find();
        *generation = match at_end {
            AtEnd::Forgets => numbers.next_given_back(),
            AtEnd::Unwinds => numbers.next(),
        };
        objects.begin(*generation);
        clocks.begin();
        *is_outslept = false;
        *has_looks = false;
        for slot in slots {
            slot.clear();
        }
        *live = ThreadSet::EMPTY;
        *waiting = ThreadSet::EMPTY;
        *stale = true;
        *parked = ThreadSet::EMPTY;
        *timed = ThreadSet::EMPTY;
        *in_time = ThreadSet::EMPTY;
        *beyond = None;
        *resting = ThreadSet::EMPTY;
        *orders = [Order::Plain; 2];
        *gives_way = false;
        *current = 0;
        *last = None;
        *next = None;
        *untold = false;
        *outcome = Outcome::Completed;
        *ending = false;
        *ended_waits = 0;
        trace.clear();
        *steps = 0;
        *reads = [0; MAX_THREADS];
        left.fill(0);
        failures.clear();
        panics.begin();
        *harness = End::Open;
        *has_left = false;
        *is_main = false;
        plain.clear();
        if settings.values {
            values.begin();
        }
        changes.clear();
        *watches_loops = !settings.trace;
        *fruitless = 0;
        *has_poisoned = false;
        time.clear();
        haste.clear();
        *unsupported = None;
        *watches_ends = false;
        *tokens = Tokens::default();
        *watches_results = Results::Unseen;
        *has_shared_holders = false;
        *has_left_scope_open = false;
        *has_left_unparks_open = false;
        *writers_first = false;
        memory.begin();
    }

    pub(super) fn end(&self) -> RunEnd {
        let hash = if self.settings.values {
            self.state_by_values()
        } else {
            self.state_by_events()
        };
        let failures = self.failures.iter().map(|failure| {
            let place = failure.place.as_ref();
            let line = place.map_or(0, |place| {
                u64::from(place.line) << 16 | u64::from(place.column)
            });
            mix(line, failure.kind as u64 + 1)
        });
        RunEnd {
            outcome: self.outcome,
            state: hash,
            failures: failures.collect(),
        }
    }

    /// A hash of what the threads have read and of what the atomics hold.
    fn state_by_events(&self) -> u64 {
        let mut hash = 0_u64;
        let threads = self.reads[..self.slots.len()].iter();
        // Under weak memory the object does not hold what was written last.
        let left = if self.settings.weak { &[] } else { &*self.left };
        for (name, values) in [(0, threads), (1 << 32, left.iter())] {
            for (at, &value) in values.enumerate() {
                if value != 0 {
                    hash = hash.wrapping_add(mix(name + at as u64, value));
                }
            }
        }
        hash
    }

    /// A hash of what the threads have observed and of what all shared objects hold.
    fn state_by_values(&self) -> u64 {
        let mut hash = 0_u64;
        for (at, slot) in self.slots.iter().enumerate() {
            if slot.stage != Stage::Absent {
                hash = hash.wrapping_add(mix(at as u64, self.values.histories()[at]));
            }
        }
        for (object, left) in self.values.objects() {
            hash = hash.wrapping_add(mix(self.objects.place(object), left));
        }
        hash
    }

    #[inline(always)]
    pub(super) fn note_pending(&mut self, thread: usize, pending: Pending, site: Site) {
        self.pending[thread] = pending;
        let name = u8::try_from(thread).unwrap_or(0);
        let waits = matches!(
            pending.kind,
            Kind::Lock | Kind::LockShared | Kind::Join | Kind::Wake
        );
        if waits || self.waiting.contains(name) {
            self.stale = true;
            self.waiting.remove(name);
            if waits {
                self.waiting.insert(name);
            }
        }
        self.slots[thread].site = Some(site);
        self.note_announced(thread);
        if !self.haste.is_quiet() {
            self.note_wait(name);
        }
    }

    /// Whether a live thread can run.
    pub(super) fn is_enabled(&mut self, thread: u8) -> bool {
        !self.waits_in_loop(thread) && self.can_be_done(thread)
    }

    /// Whether the operation that a live thread has announced can be done now.
    pub(super) fn can_be_done(&mut self, thread: u8) -> bool {
        let Pending {
            kind,
            object,
            expected,
            ..
        } = self.pending[usize::from(thread)];
        match kind {
            Kind::Wake => expected == 1 || self.objects.queue(object).covers(thread),
            Kind::Lock => self.objects.holders(object).is_free(),
            Kind::LockShared => {
                let holders = *self.objects.holders(object);
                holders.exclusive == 0
                    && !(holders.shared > 0 && self.writers_first && self.writer_waits(object))
            }
            // A thread that goes on beyond the search, after a turn of a loop that has looked at something.
            Kind::Join if object == u32::from(thread) && self.parked.contains(thread) => {
                self.slots[usize::from(thread)].turning.has_looked()
            }
            Kind::Join => self
                .slots
                .get(object as usize)
                .is_some_and(|slot| slot.stage == Stage::Ended),
            _ => true,
        }
    }

    /// Whether a thread waits to take this lock exclusively.
    fn writer_waits(&self, lock: Object) -> bool {
        self.live.iter().any(|thread| {
            let pending = &self.pending[usize::from(thread)];
            pending.kind == Kind::Lock && pending.object == lock
        })
    }

    /// The live threads that can run.
    #[inline]
    pub(super) fn enabled(&mut self) -> ThreadSet {
        if self.stale {
            self.look_who_can_run();
        }
        self.enabled
    }

    pub(super) fn look_who_can_run(&mut self) {
        self.stale = false;
        self.enabled = self.live;
        for thread in self.live.intersection(self.waiting).iter() {
            if !self.is_enabled(thread) {
                self.enabled.remove(thread);
            }
        }
    }

    /// Notes what an event adds to the terminal state, to what threads in loops have looked at, and to which threads
    /// let others go first.
    pub(super) fn account(&mut self, event: &Event) {
        self.steps += 1;
        let thread = usize::from(event.thread);
        match event.kind {
            Kind::Read | Kind::FailedUpdate | Kind::Update => {
                self.reads[thread] = mix(self.reads[thread], event.found.wrapping_add(1));
            }
            Kind::TryLock | Kind::TryLockShared => self.reads[thread] = mix(self.reads[thread], 1),
            Kind::TryLockFailed | Kind::TryLockSharedFailed => {
                self.reads[thread] = mix(self.reads[thread], 2);
            }
            Kind::Take => {
                self.reads[thread] = mix(self.reads[thread], u64::from(event.left == 0) + 1);
            }
            Kind::Upgrade => self.reads[thread] = mix(self.reads[thread], 2),
            Kind::Wake if event.found == 0 => self.reads[thread] = mix(self.reads[thread], 2),
            Kind::Wait | Kind::Notify if event.found != 0 => {
                self.reads[thread] = mix(self.reads[thread], event.found);
            }
            _ => {}
        }
        if self.watches_loops {
            self.note_look(event);
        }
        if self.gives_way {
            self.note_rest(event);
        }
        let writes = matches!(
            event.kind,
            Kind::Write | Kind::Update | Kind::Add | Kind::Take | Kind::Upgrade
        );
        if writes {
            let object = event.object as usize;
            if object >= self.left.len() {
                self.left.resize(object + 1, 0);
            }
            self.left[object] = event.left;
        }
    }
}
