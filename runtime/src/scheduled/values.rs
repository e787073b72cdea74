//! Values in events, where they are asked for with [`Settings::values`](super::Settings::values): what is behind a lock
//! or in a `static mut` is told like an atomic's bits.
//!
//! # Opaque values
//! Of a type that [`values`](crate::values) knows, an event tells a hash of the value. Of any other type it tells which
//! write made the value, and what its writer knew: H(everything that the writer's thread has observed so far, how many
//! events it has done). Equal hashes then mean equal values, since a thread is deterministic: what it does next is a function
//! of what it has observed, so two executions in which it has observed the same, event by event, have it write the same.
//! What a thread observes is
//! - what its reads, its updates and its locks found, and which of its attempts failed; of a read that has a [`Test`], what
//!   that tells;
//! - at its beginning, all that its creator has observed (it gets a closure);
//! - at a join, all that the other thread has observed (it gets a result).
//!
//! The value that an opaque object has at first is told as a constant. It is made without an event, by a thread that
//! has observed something. But a thread that uses the object has a reference to it: from its creator, whose
//! observations it has inherited then; or out of another shared value that it has read. That value holds a reference to
//! something opaque, so it is opaque itself (a lock is [`ValueHash`](crate::values::ValueHash) only if what it protects
//! is), and its hash tells what its writer had observed: the maker of the object, or a thread that got the reference in
//! one of these ways.
//!
//! Whether an opaque value has a `Cell` in it, which changes without being borrowed mutably, can't be known. So a
//! thread that had such a value for itself is taken to have written it.

use std::sync::atomic::{AtomicBool, Ordering};

use seqz_explore::hash::mix;
use seqz_explore::threads::MAX_THREADS;
use seqz_explore::{Event, Kind, Object, Pending, Test, Thread, Transition};

use super::machine::Traced;
use super::state::Handle;
use crate::vocabulary::Site;

/// The hash that all histories begin with.
const ROOT: u64 = 0x0b5e_57a7_1011_5eed;

/// The hash that stands for the first value of an opaque object.
const FIRST: u64 = 0x0f1a_57fa_1de5_0b1e;

/// A write through a reference, whose value is there only when the thread comes to its next event.
#[derive(Clone, Copy, Debug)]
struct Late {
    object: Object,
    /// The place that holds the value, for `contents`.
    cell: *const (),
    /// Returns the hash of the value; `None` if the value is opaque.
    contents: unsafe fn(*const ()) -> Option<u64>,
    site: Site,
}

/// What is known of values in the current execution.
#[derive(Debug)]
pub(super) struct Values {
    /// The latest event, if it is a write through a reference whose value is still to come.
    late: Option<Late>,
    /// The value that each object's latest event left, by object; `None` for an object without events.
    left: Vec<Option<u64>>,
    /// The hash of what each thread has observed and done, by thread.
    histories: [u64; MAX_THREADS],
    /// The hash of what the thread of the latest event had observed before that event.
    before: u64,
    /// The events of which their threads observe less than the value, by the events' numbers, in order.
    tests: Vec<(usize, Test)>,
    /// The transitions of objects, by the events' numbers, in order.
    transitions: Vec<(usize, Transition)>,
    /// See [`Learned::refusing`](seqz_explore::Learned::refusing).
    refusing: Vec<(usize, usize)>,
    /// See [`Learned::stopped`](seqz_explore::Learned::stopped).
    stopped: Vec<(Thread, usize)>,
}

/// What the thread of the event of this number has observed of the value that the event found, if that event is among
/// these.
pub(super) fn test_of(number: usize, tests: &[(usize, Test)]) -> Option<Test> {
    let at = tests.binary_search_by_key(&number, |&(number, _)| number);
    at.ok().map(|at| tests[at].1)
}

impl Default for Values {
    fn default() -> Self {
        Self {
            late: None,
            left: Vec::new(),
            histories: [ROOT; MAX_THREADS],
            before: ROOT,
            tests: Vec::new(),
            transitions: Vec::new(),
            refusing: Vec::new(),
            stopped: Vec::new(),
        }
    }
}

impl Values {
    pub(super) fn begin(&mut self) {
        self.late = None;
        self.left.fill(None);
        self.histories = [ROOT; MAX_THREADS];
        self.tests.clear();
        self.transitions.clear();
        self.refusing.clear();
        self.stopped.clear();
    }

    /// The event of this number comes after a turn of a loop that has refused a lock to another thread, and that began with the
    /// event of number `first`.
    pub(super) fn note_refusing(&mut self, number: usize, first: usize) {
        crate::memory::outside(|| self.refusing.push((number, first)));
    }

    /// The thread has gone no further after a turn that began with the event of number `first`, and might have refused a lock.
    pub(super) fn note_stopped(&mut self, thread: Thread, first: usize) {
        crate::memory::outside(|| self.stopped.push((thread, first)));
    }

    /// See [`Learned::refusing`](seqz_explore::Learned::refusing).
    pub(super) fn refusing(&self) -> &[(usize, usize)] {
        &self.refusing
    }

    /// See [`Learned::stopped`](seqz_explore::Learned::stopped).
    pub(super) fn stopped(&self) -> &[(Thread, usize)] {
        &self.stopped
    }

    /// The events of which the thread observes less than the value: see [`Machine::tests`](super::Machine::tests).
    pub(super) fn tests(&self) -> &[(usize, Test)] {
        &self.tests
    }

    /// What its thread has observed of the event of this number, if that is less than the value: see [`test_of`].
    pub(super) fn test(&self, number: usize) -> Option<Test> {
        test_of(number, &self.tests)
    }

    /// The value that the object's latest event has left, if the object has had an event.
    pub(super) fn left(&self, object: Object) -> Option<u64> {
        self.left.get(object as usize).copied().flatten()
    }

    /// The transitions of objects that the execution's events made, by the events' numbers.
    pub(super) fn transitions(&self) -> &[(usize, Transition)] {
        &self.transitions
    }

    /// The hash of what each thread has observed and done, by thread.
    pub(super) fn histories(&self) -> &[u64; MAX_THREADS] {
        &self.histories
    }

    /// The objects that have had an event, with what it left.
    pub(super) fn objects(&self) -> impl Iterator<Item = (usize, u64)> {
        let objects = self.left.iter().enumerate();
        objects.filter_map(|(object, left)| Some((object, (*left)?)))
    }

    /// A thread is about to be created: begins its history from its creator's. The creator has done one event more
    /// after that, so that its next child has another history.
    fn fork(&mut self, creator: usize, created: usize) {
        self.histories[created] = mix(self.histories[creator], ROOT);
    }

    /// Puts into the history of the latest event's thread no more of the value found than this test tells.
    fn learn(&mut self, event: &Event, test: &Test) {
        let history = mix(self.before, event.kind as u64);
        self.histories[usize::from(event.thread)] = mix(history, test.observe(event.found));
    }

    /// Notes an event. Returns whether the event finds the value that is known to be there.
    fn note(&mut self, event: &Event) -> bool {
        let thread = usize::from(event.thread);
        self.before = self.histories[thread];
        let mut history = mix(self.before, event.kind as u64);
        if event.kind.observes() {
            history = mix(history, event.found);
        }
        if event.kind == Kind::Join {
            let joined = self.histories.get(event.object as usize);
            history = mix(history, joined.copied().unwrap_or(ROOT));
        }
        self.histories[thread] = history;
        if !event.kind.has_value() {
            return true;
        }
        let at = event.object as usize;
        if at >= self.left.len() {
            crate::memory::outside(|| self.left.resize(at + 1, None));
        }
        let known = self.left[at].replace(event.left);
        known.is_none_or(|known| known == event.found)
    }
}

impl Handle {
    /// Whether events have to tell values.
    #[inline]
    pub(crate) fn tells_values(self) -> bool {
        let state = self.get();
        state.settings.values && !state.ending
    }

    /// A thread is about to be created by the current one.
    pub(super) fn note_fork(self, created: usize) {
        let state = self.get();
        if state.settings.values {
            state.values.fork(state.current, created);
        }
    }

    /// Notes what the latest event did to values.
    // Cold, so that it costs nothing where values are not told.
    #[cold]
    #[inline(never)]
    pub(super) fn note_values(self) {
        let state = self.get();
        if let Some(&Traced {
            event,
            site: Some(site),
        }) = state.trace.last()
            && !state.values.note(&event)
        {
            let message = "a shared value has been changed in a way that no event shows: through a reference to a `static mut` that \
                           is used across other shared accesses, or by `unsafe` code";
            self.give_up_soon(message, site);
        }
    }

    /// The value that `object` holds, for an event that leaves it as it is: `contents` returns its hash, or `None` if
    /// it is opaque. 0 where values are not told.
    #[inline]
    pub(crate) fn found(self, object: Object, contents: impl FnOnce() -> Option<u64>) -> u64 {
        if self.tells_values() {
            contents().unwrap_or_else(|| self.known(object))
        } else {
            0
        }
    }

    /// The value that an opaque object is known to hold.
    fn known(self, object: Object) -> u64 {
        self.get().values.left(object).unwrap_or(FIRST)
    }

    /// The values that `object` held before the current thread changed it and holds now. Where values are not told: 0,
    /// and 1 if it was `written`.
    #[inline]
    pub(crate) fn change(
        self,
        object: Object,
        written: bool,
        contents: impl FnOnce() -> Option<u64>,
    ) -> (u64, u64) {
        if !self.tells_values() {
            return (0, u64::from(written));
        }
        let found = self.known(object);
        (found, contents().unwrap_or_else(|| self.fresh()))
    }

    /// The current thread's latest event, a write of `object`, takes place through a reference that the program is
    /// going to use before its next event.
    ///
    /// # Safety
    /// `contents` may be called with `cell` until the end of the execution.
    pub(crate) unsafe fn writes_late(
        self,
        object: Object,
        cell: *const (),
        contents: unsafe fn(*const ()) -> Option<u64>,
        site: Site,
    ) {
        if self.tells_values() {
            self.get().values.late = Some(Late {
                object,
                cell,
                contents,
                site,
            });
        }
    }

    /// The latest event is about to be told: fills in its value, if that was still to come.
    #[cold]
    #[inline(never)]
    pub(super) fn complete_values(self) {
        let state = self.get();
        let Some(late) = state.values.late.take() else {
            return;
        };
        // SAFETY: the caller of `writes_late` has promised that `contents` may be called with `cell`.
        let contents = unsafe { (late.contents)(late.cell) };
        let (Some(left), Some(traced)) = (contents, state.trace.last_mut()) else {
            let message =
                "a `static mut` of a type whose values can't be compared is changed in place";
            self.give_up_soon(message, late.site);
            return;
        };
        traced.event.left = left;
        state.values.left[late.object as usize] = Some(left);
    }

    /// The hash of an opaque value that the current thread has just made.
    pub(crate) fn fresh(self) -> u64 {
        let state = self.get();
        mix(FIRST, state.values.histories[state.current])
    }

    /// Notes the transition that the current thread's latest event made.
    pub(crate) fn note_transition(self, transition: Transition) {
        if self.tells_values() {
            let state = self.get();
            let number = state.steps as usize;
            crate::memory::outside(|| state.values.transitions.push((number, transition)));
        }
    }

    /// Notes that the program uses no more of the value that the current thread has just read than this test tells.
    ///
    /// `test` is called with the event, the operation as it was announced, and the event's place. It is not called if
    /// the thread has done something since.
    pub(crate) fn note_test(self, test: impl FnOnce(&Event, &Pending, Site) -> Option<Test>) {
        let state = self.get();
        if !self.tells_values() || !state.untold {
            return;
        }
        let Some(traced) = state.trace.last() else {
            return;
        };
        let Some(site) = traced.site else { return };
        if usize::from(traced.event.thread) == state.current
            && let Some(test) = test(&traced.event, &state.pending[state.current], site)
        {
            // What an update leaves depends on the whole value found, except with a test for one value.
            if traced.event.kind != Kind::Update || matches!(test, Test::ThisOrAll { .. }) {
                state.values.learn(&traced.event, &test);
            }
            let number = state.steps as usize;
            crate::memory::outside(|| state.values.tests.push((number, test)));
        }
    }
}

/// Whether the machine that runs asks how values are used: see [`observe`](crate::observe).
static ASKED: AtomicBool = AtomicBool::new(false);

/// Sets whether the machine that runs asks how values are used.
pub(crate) fn ask(asked: bool) {
    ASKED.store(asked, Ordering::Relaxed);
}

/// Whether the machine that runs asks how values are used.
#[inline]
pub(crate) fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
