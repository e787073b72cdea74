//! The machine: runs the program once under a scheduler.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::PoisonError;

use seqz_explore::hash::mix;
use seqz_explore::names::Names;
use seqz_explore::threads::{MAX_THREADS, ThreadSet};
use seqz_explore::{
    Event, Executor, Kind, Object, Outcome, Pending, Pick, RunEnd, Scheduler, View,
};

use super::arena::{Arena, leave_program};
use super::coroutine::{self, GuardedStack, Yielder};
use super::objects::Objects;
use super::races;
use super::threads::{Panic, Slot, Stage};
pub use crate::worker::message::FailureKind;

use crate::engine::{Place, Site, ThreadInfo, next_generation, one_at_a_time};

/// How executions are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Events of one execution, over all threads.
    pub steps: u32,
    /// Bytes of stack for each thread.
    pub stack: usize,
    /// How often a thread may repeat one read, with nothing in between and the same value, before it is parked until the
    /// object is written or no other thread can run.
    pub idle_reads: u32,
    /// Whether executions are traced: see [`Machine::trace`].
    pub trace: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            steps: 20_000,
            // As much as std gives to a thread. Pages that are not touched cost nothing.
            stack: 2 << 20,
            idle_reads: 3,
            trace: true,
        }
    }
}

/// A failure of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// What the program said, or what is wrong.
    pub message: String,
    /// Where: the panic, or what the first of the waiting threads waits for.
    pub place: Option<Place>,
    /// Whose panic; the first of the waiting threads.
    pub thread: seqz_explore::Thread,
    /// For threads that wait: who, for what, and where.
    pub waiting: Vec<(seqz_explore::Thread, Pending, Option<Place>)>,
    /// How many events came before.
    pub events: usize,
}

/// An event with its place.
#[derive(Clone, Copy, Debug)]
pub struct Traced {
    /// What happened.
    pub event: Event,
    /// Where.
    pub site: Option<Site>,
}

pub(super) struct State {
    pub(super) generation: u32,
    pub(super) settings: Settings,
    pub(super) slots: Vec<Slot>,
    pub(super) current: usize,
    last: Option<u8>,
    /// Whom to switch to; `None` ends the execution.
    next: Option<usize>,
    scheduler: Option<*mut dyn Scheduler>,
    /// What each thread has announced.
    pub(super) pending: Vec<Pending>,
    /// Threads at [`Stage::Live`].
    live: ThreadSet,
    /// Those of them that may have to wait: all others can run.
    waiting: ThreadSet,
    /// Those of them that can run, as long as not `stale`.
    enabled: ThreadSet,
    /// Something has changed that decides which threads can run.
    pub(super) stale: bool,
    /// Those of them whose repeated read can't see anything new until its object is written.
    parked: ThreadSet,
    /// The last event of the trace has been done since the current thread's last announcement, and nobody been told.
    pub(super) untold: bool,
    outcome: Outcome,
    /// Threads are being unwound.
    pub(super) ending: bool,
    pub(super) names: Names,
    pub(super) objects: Objects,
    pub(super) arena: Arena,
    /// The lowest and the highest address of each thread's stack.
    pub(super) stacks: Vec<(usize, usize)>,
    free: Vec<Option<GuardedStack>>,
    /// All events of the execution, or the last one.
    pub(super) trace: Vec<Traced>,
    steps: u32,
    reads: [u64; MAX_THREADS],
    left: Vec<u64>,
    failures: Vec<Failure>,
    /// The objects of this execution that are plain data.
    pub(super) plain: Vec<Object>,
    /// Parked threads have been let go once since the last write.
    second_look: bool,
    unsupported: Option<(String, Site)>,
}

thread_local! {
    static CURRENT: Cell<Option<NonNull<State>>> = const { Cell::new(None) };
}

/// A pointer to the machine that runs on this OS thread.
#[derive(Clone, Copy)]
pub(crate) struct Handle(NonNull<State>);

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

/// Runs one program again and again.
pub struct Machine<'p> {
    state: Box<State>,
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
        crate::engine::install_panic_hook();
        let mut names = Names::default();
        // The harness's own thread is number 0, and nobody's child.
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
                untold: false,
                outcome: Outcome::Completed,
                ending: false,
                names,
                objects: Objects::default(),
                arena: Arena::default(),
                stacks: Vec::new(),
                free: Vec::new(),
                trace: Vec::new(),
                steps: 0,
                reads: [0; MAX_THREADS],
                left: Vec::new(),
                failures: Vec::new(),
                plain: Vec::new(),
                second_look: false,
                unsupported: None,
            }),
            program,
        }
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

    /// What failed in the latest execution, in order.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        &self.state.failures
    }

    /// The place of the thread's panic that was on its way to the thread's top when the latest execution was ended: a scope
    /// waits for its threads before it lets a panic of its own body pass.
    #[must_use]
    pub fn panic_under_way(&self, thread: seqz_explore::Thread) -> Option<&Place> {
        let slot = self.state.slots.get(usize::from(thread))?;
        slot.panic.as_ref().map(|panic| &panic.place)
    }

    /// What the program did in the latest execution that the machine cannot follow, and where.
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

    /// What the threads had announced at the end of the latest execution, with the place, by number.
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
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        let _alone = one_at_a_time()
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        assert!(
            CURRENT.get().is_none(),
            "an execution inside of an execution"
        );
        let pointer = NonNull::from(&mut *self.state);
        let handle = Handle(pointer);
        handle.get().begin();
        let scheduler: *mut (dyn Scheduler + '_) = scheduler;
        // SAFETY: only the lifetime is changed. The pointer is used until `run` returns, and then taken back.
        let scheduler: *mut (dyn Scheduler + 'static) = unsafe { std::mem::transmute(scheduler) };
        handle.get().scheduler = Some(scheduler);
        CURRENT.set(Some(pointer));
        let program: *const (dyn Fn() + '_) = self.program;
        // SAFETY: as above; the coroutine is over before `run` returns.
        let program: *const (dyn Fn() + 'static) = unsafe { std::mem::transmute(program) };
        // SAFETY: the program outlives the execution.
        start(handle, 0, Box::new(move || unsafe { (*program)() }));
        handle.decide();
        while let Some(thread) = handle.get().next {
            resume(handle, thread);
        }
        end_all(handle);
        crate::std::thread::local::clear();
        CURRENT.set(None);
        let state = handle.get();
        state.scheduler = None;
        if !state.plain.is_empty()
            && let Some(race) = races::first(&state.trace, &state.plain)
        {
            state.failures.push(race);
        }
        state.end()
    }
}

impl State {
    /// How many events there have been, the one included that the scheduler has not been told of.
    fn events(&self) -> usize {
        self.steps as usize + usize::from(self.untold)
    }

    fn begin(&mut self) {
        self.generation = next_generation();
        self.objects.begin(self.generation);
        for slot in &mut self.slots {
            slot.clear();
        }
        self.live = ThreadSet::EMPTY;
        self.waiting = ThreadSet::EMPTY;
        self.stale = true;
        self.parked = ThreadSet::EMPTY;
        self.current = 0;
        self.last = None;
        self.next = None;
        self.untold = false;
        self.outcome = Outcome::Completed;
        self.ending = false;
        self.trace.clear();
        self.steps = 0;
        self.reads = [0; MAX_THREADS];
        self.left.fill(0);
        self.failures.clear();
        self.plain.clear();
        self.second_look = false;
        self.unsupported = None;
    }

    fn end(&self) -> RunEnd {
        let mut hash = 0_u64;
        let threads = self.reads[..self.slots.len()].iter();
        for (name, values) in [(0, threads), (1 << 32, self.left.iter())] {
            for (at, &value) in values.enumerate() {
                if value != 0 {
                    hash = hash.wrapping_add(mix(name + at as u64, value));
                }
            }
        }
        let failure = self.failures.first().map(|failure| {
            let place = failure.place.as_ref();
            let line = place.map_or(0, |place| {
                u64::from(place.line) << 16 | u64::from(place.column)
            });
            mix(line, failure.kind as u64 + 1)
        });
        RunEnd {
            outcome: self.outcome,
            state: hash,
            failure,
        }
    }

    #[inline]
    fn note_pending(&mut self, thread: usize, pending: Pending, site: Site) {
        self.pending[thread] = pending;
        let name = u8::try_from(thread).unwrap_or(0);
        let waits = matches!(pending.kind, Kind::Lock | Kind::LockShared | Kind::Join);
        if waits || self.waiting.contains(name) {
            self.stale = true;
            self.waiting.remove(name);
            if waits {
                self.waiting.insert(name);
            }
        }
        self.slots[thread].site = Some(site);
    }

    /// Whether a live thread can run.
    fn is_enabled(&mut self, thread: u8) -> bool {
        if self.parked.contains(thread) {
            return false;
        }
        let Pending { kind, object, .. } = self.pending[usize::from(thread)];
        match kind {
            Kind::Lock => self.objects.holders(object).is_free(),
            Kind::LockShared => self.objects.holders(object).exclusive == 0,
            Kind::Join => self
                .slots
                .get(object as usize)
                .is_some_and(|slot| slot.stage == Stage::Ended),
            _ => true,
        }
    }

    /// Those of the live threads that can run.
    #[inline]
    fn enabled(&mut self) -> ThreadSet {
        if self.stale {
            self.look_who_can_run();
        }
        self.enabled
    }

    fn look_who_can_run(&mut self) {
        self.stale = false;
        self.enabled = self.live;
        for thread in self.live.intersection(self.waiting).iter() {
            if !self.is_enabled(thread) {
                self.enabled.remove(thread);
            }
        }
    }

    /// Nobody can run: threads that only look have one more look, in case their loops are counted.
    fn unpark(&mut self) -> bool {
        if self.second_look {
            return false;
        }
        self.second_look = !self.parked.is_empty();
        self.parked = ThreadSet::EMPTY;
        self.stale = true;
        self.second_look
    }

    fn note_blocked(&mut self, live: ThreadSet) {
        let parked = !live.intersection(self.parked).is_empty();
        let waiting: Vec<_> = live
            .iter()
            .map(|thread| {
                let at = usize::from(thread);
                (
                    thread,
                    self.pending[at],
                    self.slots[at].site.map(Place::from),
                )
            })
            .collect();
        // Who waits for a lock says more than who waits for a thread.
        let locks = |kind| matches!(kind, Kind::Lock | Kind::LockShared);
        let first = waiting
            .iter()
            .find(|(_, pending, _)| locks(pending.kind))
            .or(waiting.first());
        let Some((thread, _, place)) = first.cloned() else {
            return;
        };
        let (kind, message) = if parked {
            (
                FailureKind::Livelock,
                "threads wait for something that no thread does any more",
            )
        } else {
            (FailureKind::Deadlock, "threads wait for each other")
        };
        self.failures.push(Failure {
            kind,
            message: message.to_owned(),
            place,
            thread,
            waiting,
            events: self.steps as usize,
        });
    }
}

impl Handle {
    /// Tells the scheduler what has been done, and lets it decide who is next: see [`State::next`].
    pub(super) fn decide(self) {
        let inside = leave_program();
        self.tell();
        let state = self.get();
        let live = state.live;
        let mut enabled = state.enabled();
        if enabled.is_empty() && !live.is_empty() && state.unpark() {
            enabled = state.enabled();
        }
        let Some(scheduler) = state.scheduler else {
            return;
        };
        state.next = None;
        if live.is_empty() {
            state.outcome = Outcome::Completed;
        } else if state.steps >= state.settings.steps {
            state.outcome = Outcome::Truncated;
        } else {
            // SAFETY: the scheduler outlives the execution, and is called from here only.
            let scheduler = unsafe { &mut *scheduler };
            let view = View {
                pending: &state.pending,
                live,
                enabled,
                last: state.last,
            };
            if enabled.is_empty() {
                scheduler.blocked(&view);
                state.outcome = Outcome::Blocked;
                state.note_blocked(live);
            } else {
                match scheduler.pick(&view) {
                    Pick::Run(thread) if enabled.contains(thread) => {
                        state.next = Some(usize::from(thread));
                        state.last = Some(thread);
                    }
                    _ => state.outcome = Outcome::Abandoned,
                }
            }
        }
        inside.leave();
    }

    /// The current thread unwinds and does this at once: the scheduler sees that nobody else can run.
    pub(super) fn go_on(self, pending: Pending, site: Site) {
        let inside = leave_program();
        self.tell();
        let state = self.get();
        let thread = state.current;
        state.note_pending(thread, pending, site);
        let live = state.live;
        let name = u8::try_from(thread).unwrap_or(0);
        if let Some(scheduler) = state.scheduler {
            let enabled = ThreadSet::only(name);
            let view = View {
                pending: &state.pending,
                live,
                enabled,
                last: state.last,
            };
            // SAFETY: as in `decide`.
            if unsafe { &mut *scheduler }.pick(&view) != Pick::Run(name) {
                state.outcome = Outcome::Abandoned;
                state.ending = true;
            }
            state.last = Some(name);
        }
        inside.leave();
    }

    #[inline]
    fn tell(self) {
        let state = self.get();
        if !std::mem::take(&mut state.untold) {
            return;
        }
        let Some(&Traced { event, .. }) = state.trace.last() else {
            return;
        };
        state.account(&event);
        if !state.settings.trace {
            state.trace.clear();
        }
        if let Some(scheduler) = state.scheduler {
            // SAFETY: as in `decide`.
            unsafe { &mut *scheduler }.ran(&event);
        }
    }

    /// Announces an operation of the current thread, and returns when it is its turn.
    #[inline]
    pub(super) fn announce(self, pending: Pending, site: Site) {
        let state = self.get();
        let thread = state.current;
        state.note_pending(thread, pending, site);
        if state.slots[thread].stage == Stage::Starting {
            self.switch_away(thread);
            return;
        }
        self.decide();
        let state = self.get();
        if state.next == Some(thread) {
            state.next = None;
        } else {
            self.switch_away(thread);
        }
    }

    fn switch_away(self, thread: usize) {
        let yielder = self.get().slots[thread].yielder;
        // SAFETY: the yielder is that of the coroutine which runs now, and lives on its stack.
        unsafe { (*yielder).suspend(()) };
        if self.get().ending {
            std::panic::resume_unwind(Box::new(Ended));
        }
    }

    /// The program caught the unwinding that ends its thread, and went on.
    pub(super) fn stay_ended(self) {
        if self.get().ending && !std::thread::panicking() {
            std::panic::resume_unwind(Box::new(Ended));
        }
    }

    /// The current thread is over.
    fn ended(self, thread: usize) {
        let state = self.get();
        let starting = state.slots[thread].stage == Stage::Starting;
        state.slots[thread].stage = Stage::Ended;
        state.live.remove(u8::try_from(thread).unwrap_or(0));
        state.stale = true;
        if !starting && !state.ending {
            self.decide();
        }
    }
}

/// The payload of the unwinding that ends a thread with the execution.
struct Ended;

impl State {
    pub(super) fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Keeps what the terminal state is made of, and looks for threads that only look.
    fn account(&mut self, event: &Event) {
        self.steps += 1;
        let thread = usize::from(event.thread);
        let slot = &mut self.slots[thread];
        match event.kind {
            Kind::Read | Kind::FailedUpdate | Kind::Update => {
                self.reads[thread] = mix(self.reads[thread], event.found.wrapping_add(1));
            }
            Kind::TryLock | Kind::TryLockShared => self.reads[thread] = mix(self.reads[thread], 1),
            Kind::TryLockFailed | Kind::TryLockSharedFailed => {
                self.reads[thread] = mix(self.reads[thread], 2);
            }
            _ => {}
        }
        let repeated = slot.idle.note(event);
        // The next operation has been announced by now: it is what would be repeated.
        if repeated >= self.settings.idle_reads {
            let next = self.pending[thread];
            let looks = matches!(next.kind, Kind::Read | Kind::CompareExchange);
            if looks && next.object == event.object {
                self.parked.insert(event.thread);
                self.waiting.insert(event.thread);
            } else {
                self.parked.remove(event.thread);
            }
            self.stale = true;
        }
        if matches!(event.kind, Kind::Write | Kind::Update) {
            let object = event.object as usize;
            if object >= self.left.len() {
                self.left.resize(object + 1, 0);
            }
            self.left[object] = event.left;
        }
        let changes = match event.kind {
            Kind::Write | Kind::Update => true,
            Kind::Unlock => event.left != 0,
            _ => false,
        };
        if changes {
            self.second_look = false;
            for thread in self.parked.iter() {
                if self.pending[usize::from(thread)].object == event.object {
                    self.parked.remove(thread);
                    self.stale = true;
                }
            }
        }
    }
}

/// Creates a thread and runs it up to its first announcement.
pub(super) fn start(handle: Handle, thread: usize, body: Box<dyn FnOnce()>) {
    let state = handle.get();
    let inside = leave_program();
    while state.slots.len() <= thread {
        state.slots.push(Slot::absent());
        state.pending.push(Pending::default());
        state.stacks.push((0, 0));
        state.free.push(None);
    }
    state.arena.begin_thread(thread);
    let stack = match state.free[thread].take() {
        Some(stack) => stack,
        None => match GuardedStack::new(state.settings.stack) {
            Ok(stack) => stack,
            Err(error) => panic!("no memory for a thread's stack: {error}"),
        },
    };
    state.stacks[thread] = stack.range();
    state.slots[thread].stage = Stage::Starting;
    let coroutine = coroutine::Thread::with_stack(stack, move |yielder, ()| {
        handle.get().slots[thread].yielder = std::ptr::from_ref::<Yielder>(yielder);
        let result = catch_unwind(AssertUnwindSafe(body));
        if let Err(payload) = result
            && !payload.is::<Ended>()
        {
            handle.note_panic(thread);
        }
        // The execution may be ended while the thread waits for its turn to give a lock back: then it gives it back at once.
        while catch_unwind(AssertUnwindSafe(|| handle.give_back())).is_err() {}
        handle.ended(thread);
    });
    *state.slots[thread].coroutine.get_mut() = Some(coroutine);
    let creator = std::mem::replace(&mut state.current, thread);
    resume_inside(handle, thread);
    let state = handle.get();
    state.current = creator;
    if state.slots[thread].stage == Stage::Starting {
        state.slots[thread].stage = Stage::Live;
        state.live.insert(u8::try_from(thread).unwrap_or(0));
        state.stale = true;
    }
    inside.leave();
}

/// Lets a thread run until it is somebody else's turn.
fn resume(handle: Handle, thread: usize) {
    let state = handle.get();
    state.next = None;
    state.current = thread;
    resume_inside(handle, thread);
}

fn resume_inside(handle: Handle, thread: usize) {
    let state = handle.get();
    let place = state.slots[thread].coroutine.get();
    // SAFETY: the place is on the heap, and is borrowed by nobody else: a thread that runs is not resumed, and its slot is
    // only asked for its coroutine when all threads have stopped.
    let Some(coroutine) = (unsafe { &mut *place }) else {
        return;
    };
    let outside = state.arena.enter(thread);
    coroutine.resume(());
    outside.leave();
    if coroutine.done() {
        // SAFETY: as above; `coroutine` is not used any more.
        let stack = unsafe { &mut *place }.take().map(|over| over.into_stack());
        handle.get().free[thread] = stack;
    }
}

/// Unwinds all threads that are left.
fn end_all(handle: Handle) {
    handle.get().ending = true;
    for thread in (0..handle.get().slots.len()).rev() {
        if handle.get().slots[thread].coroutine.get_mut().is_some() {
            resume(handle, thread);
        }
    }
}

impl Handle {
    fn note_panic(self, thread: usize) {
        let state = self.get();
        let inside = leave_program();
        if !state.ending {
            let (message, place, events) = match state.slots[thread].panic.take() {
                Some(panic) => (panic.message, Some(panic.place), panic.events),
                None => {
                    let message = "the thread was unwound without a panic message".to_owned();
                    (message, None, state.events())
                }
            };
            state.failures.push(Failure {
                kind: FailureKind::Panic,
                message,
                place,
                thread: u8::try_from(thread).unwrap_or(0),
                waiting: Vec::new(),
                events,
            });
        }
        inside.leave();
    }

    /// Keeps a panic's message until the panic reaches the top of its thread.
    pub(crate) fn note_message(self, message: String, place: Place) {
        let state = self.get();
        let thread = state.current;
        let events = state.events();
        state.slots[thread].panic = Some(Panic {
            message,
            place,
            events,
        });
    }

    /// The program does what the machine cannot follow.
    pub(super) fn give_up(self, message: &str, site: Site) {
        let state = self.get();
        state.unsupported = Some((message.to_owned(), site));
        state.next = None;
        state.outcome = Outcome::Truncated;
        let thread = state.current;
        self.switch_away(thread);
    }
}

impl Handle {
    /// Tells the scheduler what has been done without asking it: the thread goes on, since it unwinds or since the next
    /// event belongs to the same step.
    pub(super) fn flush(self) {
        let inside = leave_program();
        self.tell();
        inside.leave();
    }
}
