//! Threads that wait in loops.
//!
//! Read [`crate::loops`] first. A turn of a marked loop was **idle** if the thread made an event in it, and all of it together
//! changed nothing:
//! - reads, attempts that failed, updates and writes that left the value as they found it, looks into a channel in which
//!   there was nothing, waits that timed out;
//! - an update, as of the number of handles, that another update takes back before any thread has looked at the object;
//! - taking a lock and giving it back with the same value behind it; or giving back a lock that the thread held, and taking
//!   it again, as a wait with a time limit does.
//!
//! # What becomes of the thread
//! That depends on the search: see [`Idle`]. The reason that a thread may go no further after an idle turn
//! ([`Idle::Ends`]) is that idle turns can be taken away from an execution: the thread, being in the same place with
//! the same variables before and after, does the same without the turn, and so do all others, *if none of them could
//! see that the turn was made*. Most of a turn can't be seen, as nothing has changed. But a lock is held for a while,
//! and another thread may have failed to take it in that while, or have got a lock that the turn had given back. So a
//! turn in which that happened is not idle. Whether it happened is a function of the trace up to the turn's end, up to
//! the order of independent events: what the other thread did depends on how the thread took the lock and on how it
//! gave it back.
//!
//! For searches over values (`mcr`, `rv-causal`) and for the lazy ones, in which lock operations as such are not
//! ordered, it is no function of what these searches look at. The searches over values are told of each turn that was not
//! idle since another thread failed to take a lock then, and of each thread that goes no further although another one
//! failed at some time to take a lock of its last turn: these searches look for the other order themselves
//! ([`Learned::refusing`](seqz_explore::Learned::refusing)). With the lazy ones an execution counts as cut, and nothing
//! is promised, in which a thread has gone no further so; and with both, if another thread uses a lock that the last turn
//! had given back first. For the same reason a write, which tells its thread
//! nothing of the value that it found, is never idle there, nor is an update of which the thread learns less than the
//! value found. An update that is taken back is idle if no other thread has looked meanwhile: a thread that looked in
//! another execution of the class has seen in this one what a third thread had left, so that the turn can be taken away
//! all the same.
//!
//! # Livelocks
//! No thread can run. A thread that waits in a loop would make the same turn again, if what it has looked at is as it
//! was, and that turn would change nothing, so that no other thread goes on either: then all threads wait for ever, and
//! that is a livelock. [`State::livelock`] checks this for each of the threads. Where it doesn't hold, the execution is
//! one that goes on in another one ([`Outcome::Waiting`]).
//!
//! A turn that looks at the clock, itself or in a loop inside of it, may be another one when time has passed: see
//! [`beyond`](super::beyond).
//!
//! # Where not all is followed
//! A turn may look at something that makes no event, as at a queue of a dependency that is not followed. The turn is
//! idle by its events, and yet another turn may see something else. So with
//! [`Settings::unfollowed`](super::machine::Settings::unfollowed) a turn without events lets others go first, like one
//! that sleeps ([`resting`](super::resting)); and where no thread can run, the threads that wait in loops look again
//! before that is called a livelock. Looking again is an event of the thread ([`Kind::Local`]).
//!
//! # Searches over values
//! A search over values runs one execution of all those in which the threads observe the same. So there a thread would
//! make its turn again if it *observed* the same in it, whatever has changed since: no other execution shows the thread
//! at that turn. And these executions may end with other values, as no thread observes them. So where the proof fails,
//! but the last writes of the threads could have been in another order in which it would not, the execution counts as
//! cut: see [`State::may_be_livelock`].

use seqz_explore::threads::{MAX_THREADS, ThreadSet};
use seqz_explore::transition::{Standing, Transition};
use seqz_explore::waiting::Queue;
use seqz_explore::{Comparison, Event, Kind, Object, Outcome, Pending, Test, Thread};

use super::events::site_number;
use super::machine::Traced;
use super::state::{Handle, State};
use super::threads::Stage;
use super::values::test_of;
use crate::memory::Buffer;
use crate::memory::arena::leave_program;
use crate::vocabulary::Site;

/// Whether threads wait for ever, where none of them can run and some wait in loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Livelock {
    /// They wait for ever.
    Proven,
    /// They wait for ever if each makes its turns alone; but one might notice that another makes a turn. Nothing is
    /// said.
    Open,
    /// One of them goes on, in another execution.
    None,
}

/// What becomes of a thread after an idle turn of a loop that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// It goes no further in this execution: for searches that run every schedule, or leave out those that are like others.
    Ends,
    /// It goes no further in this execution: for searches over the values that threads observe.
    EndsByValues,
    /// It waits until something has changed that it has looked at: for searches that draw schedules, or count preemptions.
    Waits,
    /// From this number of events of the execution on, it waits as with [`Waits`](Self::Waits): for schedules that were
    /// written down.
    WaitsAfter(u32),
    /// Up to this number of events of the execution, and in the turn of the last of them, it goes on as with
    /// [`GoesOn`](Self::GoesOn); after that it waits as with [`Waits`](Self::Waits): for schedules that were written down
    /// where loops are run as they are written.
    GoesOnUntil(u32),
    /// It goes on: loops are run as they are written.
    GoesOn,
}

/// The number of times in a row that all threads that wait in loops look again, where not all is followed.
const LOOKS_AGAIN: u32 = 2;

/// The result of a turn of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// It did something, or has seen something new.
    Busy,
    /// It changed nothing.
    Idle,
    /// It looked at nothing that is followed, and not all is.
    Unseen,
}

/// The state of one run of a loop: its latest turn, and what was known when that turn began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since {
    /// The number of runs of loops that the thread is in, this one included.
    depth: u32,
    /// The index of the turn's first [`Look`] among the thread's.
    from: usize,
    /// What the thread's clock showed when the run began, in nanoseconds.
    began: u64,
    /// What the thread's clock showed when the turn began, in nanoseconds.
    time: u64,
    /// Whether a turn of the run has begun.
    has_begun: bool,
    /// Whether a turn has slept or come to a time limit, and the loop went on after that turn.
    has_slept: bool,
    /// The number of times that the thread had said, when the run began, that it leaves something behind.
    said: u32,
    /// The number of times that the thread had looked at its clock when the turn began: turns of inner loops look, too.
    looks: u32,
    /// The number of events of the execution when the turn began.
    events: u32,
}

/// What all events of a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trace {
    /// They changed something, or another thread could tell that they were made.
    Left,
    /// They changed nothing, and only a thread that failed to take a lock meanwhile could tell that they were made.
    Refused,
    /// They changed nothing, and no other thread could tell that they were made.
    None,
}

/// An event of a thread that is in a loop that waits.
#[derive(Clone, Copy, Debug)]
struct Look {
    event: Event,
    /// The event's number in the execution, from 0.
    number: usize,
    /// The object's marks after the event.
    marks: Marks,
}

impl Look {
    /// Whether other threads may notice the event while its turn lasts: it takes a lock, or changes something.
    fn is_noticed(&self) -> bool {
        let event = &self.event;
        event.kind.acquires() || matches!(event.kind, Kind::Update | Kind::Add) && event.changes()
    }
}

/// What has happened to an object in an execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Marks {
    /// The number of events that have changed the object.
    changes: u32,
    /// The number of attempts to take the object that have failed.
    failures: u32,
    /// The number of the object's events.
    events: u32,
    /// The number of the object's events that do more than add to a count without telling their thread anything.
    noticing: u32,
}

/// What is known of a thread's turns.
#[derive(Debug, Default)]
pub(super) struct Turning {
    /// The number of runs of marked loops that the thread is in.
    depth: u32,
    /// The number of times that the thread has said, in marked loops, that it leaves something behind.
    said: u32,
    /// The thread's events since the outermost run of a loop, or its latest turn, began.
    looks: Buffer<Look>,
    /// Whether the thread has just made an idle turn.
    is_idle: bool,
    /// The events of the thread's latest idle turn.
    idle: Buffer<Look>,
    /// Whether the thread may go on after that turn, once something has changed.
    may_go_on: bool,
    /// Whether the thread has looked at its clock in that turn: what it waits for may be a time.
    looks_at_clock: bool,
    /// The number of events of the execution when that turn began.
    began: u32,
    /// In a search over values, if the thread's latest turn was not idle since it refused a lock to another thread, and the
    /// thread has done nothing since: the number of events of the execution when that turn began.
    refused: Option<u32>,
    /// How long that turn slept, in nanoseconds.
    pub(super) slept: u64,
}

impl Turning {
    /// Whether the thread's latest idle turn has looked at something, which may change.
    pub(super) fn has_looked(&self) -> bool {
        self.looks_at_clock || !self.idle.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.depth = 0;
        self.said = 0;
        self.looks.clear();
        self.is_idle = false;
        self.idle.clear();
        self.refused = None;
    }
}

/// The marks of each object in an execution, counted from where a loop that waits is run for the first time, since no
/// other part needs them.
#[derive(Debug, Default)]
pub(super) struct Changes(Buffer<Marks>);

impl Changes {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn of(&self, object: Object) -> Marks {
        self.0.get(object as usize).copied().unwrap_or_default()
    }

    #[inline]
    fn note(&mut self, event: &Event) {
        let changes = match event.kind {
            Kind::Write | Kind::Update | Kind::Unlock | Kind::Wait => u32::from(event.changes()),
            Kind::Add | Kind::Take | Kind::Upgrade | Kind::Notify => 1,
            Kind::Wake => u32::from(event.found != 0),
            Kind::Local | Kind::Fork | Kind::Begin | Kind::End | Kind::Join => return,
            _ => 0,
        };
        let failed = matches!(event.kind, Kind::TryLockFailed | Kind::TryLockSharedFailed);
        let at = event.object as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, Marks::default());
        }
        let marks = &mut self.0[at];
        marks.changes += changes;
        marks.failures += u32::from(failed);
        marks.events += 1;
        marks.noticing += u32::from(event.kind != Kind::Add);
    }
}

/// A lock that a turn has taken and is to give back, or has given back and is to take.
struct Held {
    object: Object,
    /// Whether it has been taken once more than given back; else it has been given back once more than taken.
    is_taken: bool,
    marks: Marks,
}

/// A value that a turn has changed, and is to change back.
///
/// Other threads may add to a count meanwhile, or take from it where no thread can notice: these changes commute. For
/// one allocation, all ends of handles are noticed or none is, so that a noticed end has its place in the trace: but
/// not before an own handle that was added so.
struct Changed {
    object: Object,
    /// The difference between the value now and the value before the turn, modulo 2⁶⁴.
    by: u64,
    is_added: bool,
    marks: Marks,
}

impl Changed {
    /// The change that this event begins, if the event is one that can be taken back.
    fn first(look: &Look) -> Option<Self> {
        let Look { event, marks, .. } = look;
        matches!(event.kind, Kind::Update | Kind::Add).then(|| Self {
            object: event.object,
            by: event.left.wrapping_sub(event.found),
            is_added: event.kind == Kind::Add,
            marks: *marks,
        })
    }

    /// The thread makes this event on the object. Returns whether no other thread can have noticed that the thread had
    /// changed it.
    fn go_on(&mut self, look: &Look) -> bool {
        let Look { event, marks, .. } = look;
        let own = u32::from(event.kind != Kind::Add);
        let alone = marks.noticing == self.marks.noticing + own;
        let change = event.left.wrapping_sub(event.found);
        self.by = self.by.wrapping_add(change);
        self.marks = *marks;
        alone
            && match event.kind {
                Kind::Update | Kind::Add | Kind::Read => true,
                Kind::Take => !self.is_added,
                _ => false,
            }
    }
}

/// Marks what the thread has looked at as unchanged where the thread itself made the change: that change tells nothing
/// of others.
fn forget_own_changes(looks: &mut [Look]) {
    for at in (0..looks.len()).rev() {
        let Look { event, .. } = looks[at];
        if matches!(event.kind, Kind::Update | Kind::Add | Kind::Take) && event.changes() {
            for look in &mut looks[..at] {
                if look.event.object == event.object {
                    look.marks.changes += 1;
                }
            }
        }
    }
}

/// What these events of a thread came to together.
fn trace_of(looks: &[Look], tests: Option<&[(usize, Test)]>) -> Trace {
    let mut is_refused = false;
    let mut open: Vec<Held> = Vec::new();
    let mut entered: Vec<Object> = Vec::new();
    let mut changed: Vec<Changed> = Vec::new();
    let mut looked = false;
    for look in looks {
        let Look { event, marks, .. } = look;
        let object = event.object;
        looked |= event.kind.class() != seqz_explore::Class::None;
        // What the thread has changed it may change back, if no other thread could notice.
        if let Some(at) = changed.iter().position(|it| it.object == object) {
            if !changed[at].go_on(look) {
                return Trace::Left;
            }
            if changed[at].by == 0 {
                changed.swap_remove(at);
            }
            continue;
        }
        // In a search over values the thread has to know what it finds first: what comes then follows from that.
        let is_told = tests.is_none_or(|tests| {
            matches!(
                test_of(look.number, tests),
                None | Some(Test::ThisOrAll { .. })
            )
        });
        if is_told
            && event.changes()
            && let Some(first) = Changed::first(look)
        {
            changed.push(first);
            continue;
        }
        let fine = match event.kind {
            Kind::Local
            | Kind::Read
            | Kind::FailedUpdate
            | Kind::TryLockFailed
            | Kind::TryLockSharedFailed => true,
            Kind::Write => tests.is_none() && !event.changes(),
            Kind::Update => {
                !event.changes() && tests.is_none_or(|tests| is_known(look.number, event, tests))
            }
            Kind::Lock | Kind::TryLock | Kind::LockShared | Kind::TryLockShared => {
                match open
                    .iter()
                    .position(|held| held.object == object && !held.is_taken)
                {
                    // No other thread had the lock in between.
                    Some(at) => {
                        let held = open.swap_remove(at);
                        tests.is_some() || marks.events == held.marks.events + 1
                    }
                    None => {
                        open.push(Held {
                            object,
                            is_taken: true,
                            marks: *marks,
                        });
                        true
                    }
                }
            }
            Kind::Unlock | Kind::UnlockShared => {
                let unchanged = event.kind == Kind::UnlockShared || !event.changes();
                let taken = open
                    .iter()
                    .rposition(|held| held.object == object && held.is_taken);
                unchanged
                    && match taken {
                        Some(at) => {
                            let held = open.swap_remove(at);
                            is_refused |= marks.failures != held.marks.failures;
                            true
                        }
                        None => {
                            open.push(Held {
                                object,
                                is_taken: false,
                                marks: *marks,
                            });
                            true
                        }
                    }
            }
            // The thread entered the queue, or saw something there that it left as it is.
            Kind::Wait if event.found == 0 => {
                entered.push(object);
                true
            }
            Kind::Wait => !event.changes(),
            Kind::Wake => {
                let at = entered.iter().position(|&entered| entered == object);
                event.found == 0 && at.map(|at| entered.swap_remove(at)).is_some()
            }
            _ => false,
        };
        if !fine {
            return Trace::Left;
        }
    }
    if !looked || !open.is_empty() || !entered.is_empty() || !changed.is_empty() {
        Trace::Left
    } else if is_refused {
        Trace::Refused
    } else {
        Trace::None
    }
}

/// Whether the thread knows what this update, which left the value as it is, found.
fn is_known(number: usize, event: &Event, tests: &[(usize, Test)]) -> bool {
    let Some(test) = test_of(number, tests) else {
        return true;
    };
    match test {
        Test::Compared {
            op: Comparison::Equal,
            ..
        } => test.observe(event.found) == 1,
        Test::Compared {
            op: Comparison::NotEqual,
            ..
        } => test.observe(event.found) == 0,
        Test::ThisOrAll { .. } => true,
        Test::Unobserved | Test::Compared { .. } => false,
    }
}

impl Handle {
    /// The current thread is about to run a loop that waits.
    pub(crate) fn begin_loop(self) -> Since {
        if !self.is_ending() {
            let inside = leave_program();
            self.tell();
            self.get().watch_loops();
            inside.leave();
        }
        let state = self.get();
        let turning = &mut state.slots[state.current].turning;
        turning.depth += 1;
        let (depth, from, said) = (turning.depth, turning.looks.len(), turning.said);
        let looks = state.clocks.looks(self.thread());
        let began = state.clocks.now(self.thread());
        let events = state.steps;
        Since {
            depth,
            from,
            began,
            time: began,
            has_slept: false,
            has_begun: false,
            said,
            looks,
            events,
        }
    }

    /// Whether the current thread is in a run of a marked loop.
    pub(crate) fn is_in_loop(self) -> bool {
        let state = self.get();
        state.slots[state.current].turning.depth > 0
    }

    /// The current thread says that what it does now lasts beyond the turns of all loops that it is in.
    pub(crate) fn lasts(self) {
        let state = self.get();
        let turning = &mut state.slots[state.current].turning;
        turning.said = turning.said.wrapping_add(1);
    }

    /// The current thread has left a run of a loop.
    pub(crate) fn end_loop(self) {
        let state = self.get();
        state.fruitless = 0;
        let turning = &mut state.slots[state.current].turning;
        turning.depth = turning.depth.saturating_sub(1);
        if turning.depth == 0 {
            turning.looks.clear();
        }
    }

    /// A turn of the loop begins, and the one before it, if there is one, is over.
    pub(crate) fn turn_of_loop(self, since: &mut Since, site: Site) {
        if self.get().ending {
            return;
        }
        let state = self.get();
        if state.slots[state.current].turning.said != since.said {
            self.end_loop();
            *since = self.begin_loop();
        }
        let inside = leave_program();
        self.tell();
        let state = self.get();
        let turn = state.ends_idle(since);
        inside.leave();
        let state = self.get();
        match turn {
            Turn::Busy => state.fruitless = 0,
            Turn::Unseen => self.give_way(site),
            Turn::Idle => {
                let turning = &state.slots[state.current].turning;
                let (may_go_on, looks_at_clock) = (turning.may_go_on, turning.looks_at_clock);
                // Where the time may have come, the thread stands before its next look at the clock, and that it looks
                // again is an event of its own, in all searches.
                let unfollowed = state.heeds_unfollowed();
                let is_event = unfollowed || looks_at_clock;
                if unfollowed || may_go_on && looks_at_clock {
                    self.turn(Kind::Local, 0, 0, site);
                } else if !may_go_on {
                    self.waits_for_itself(site);
                }
                if is_event {
                    self.did(Kind::Local, 0, 0, 0, site);
                    since.time = self.get().clocks.now(self.thread());
                }
            }
        }
    }

    /// The current thread goes no further, unless the execution goes on [beyond](super::beyond) the search.
    fn waits_for_itself(self, site: Site) {
        let pending = Pending {
            kind: Kind::Join,
            object: self.thread(),
            expected: 0,
            site: site_number(site),
            context: self.context(),
            ..Pending::default()
        };
        self.announce(pending, site);
    }
}

impl State {
    /// A loop that waits is about to be run: counts what has happened to objects so far; from here on all is counted.
    fn watch_loops(&mut self) {
        if !std::mem::replace(&mut self.watches_loops, true) {
            for Traced { event, .. } in &self.trace {
                self.changes.note(event);
            }
        }
    }

    /// Notes the latest event in its object's marks and in the turn of its thread.
    pub(super) fn note_look(&mut self, event: &Event) {
        self.changes.note(event);
        let slot = &mut self.slots[usize::from(event.thread)];
        if let Some(began) = slot.turning.refused.take()
            && let Some(first) = self.first_since(event.thread, began)
        {
            self.values.note_refusing(self.steps as usize - 1, first);
        }
        let slot = &mut self.slots[usize::from(event.thread)];
        // An event that lets others go first looks at nothing.
        if slot.turning.depth > 0 && event.kind != Kind::Local {
            slot.turning.looks.push(Look {
                event: *event,
                number: self.steps as usize - 1,
                marks: self.changes.of(event.object),
            });
        }
        if !self.parked.is_empty() {
            self.parked.remove(event.thread);
            self.timed.remove(event.thread);
            self.in_time.remove(event.thread);
            self.stale = true;
        }
    }

    /// Whether loops are run as they are written, at this point of the execution.
    const fn runs_loops_as_written(&self) -> bool {
        match self.settings.idle {
            Idle::GoesOn => true,
            Idle::GoesOnUntil(steps) => self.steps <= steps,
            Idle::Ends | Idle::EndsByValues | Idle::Waits | Idle::WaitsAfter(_) => false,
        }
    }

    /// Whether a turn that looked at nothing that is followed lets others go first. It doesn't where a schedule is
    /// followed that was written down without such pauses.
    const fn heeds_unfollowed(&self) -> bool {
        self.settings.unfollowed
            && !(matches!(self.settings.idle, Idle::GoesOnUntil(_)) && self.runs_loops_as_written())
    }

    /// What [`Self::ends_idle`] does where loops are run as they are written: a thread goes no further only if its turn
    /// looked at nothing at all.
    fn goes_round_for_ever(&mut self, since: &mut Since, looked: bool) -> Turn {
        let unfollowed = self.heeds_unfollowed();
        since.time = self.clocks.now(u32::from(self.current_name()));
        let turning = &mut self.slots[self.current].turning;
        let looks_at_nothing = turning.looks.len() == since.from;
        let has_begun = std::mem::replace(&mut since.has_begun, true);
        since.from = turning.looks.len();
        let is_endless = has_begun && looks_at_nothing && !looked;
        if !is_endless {
            return Turn::Busy;
        }
        if unfollowed {
            return Turn::Unseen;
        }
        turning.is_idle = true;
        turning.idle.clear();
        turning.may_go_on = false;
        Turn::Idle
    }

    /// The current thread's turn is over, and the next one begins. Returns what the turn that is over came to.
    fn ends_idle(&mut self, since: &mut Since) -> Turn {
        let thread = u32::from(self.current_name());
        let looks = self.clocks.looks(thread);
        let looked = std::mem::replace(&mut since.looks, looks) != looks;
        if self.runs_loops_as_written() {
            return self.goes_round_for_ever(since, looked);
        }
        let is_alone = looked && self.is_alone();
        let events = std::mem::replace(&mut since.events, self.steps);
        let by_values = self.settings.idle == Idle::EndsByValues;
        let tests = self.settings.values.then(|| self.values.tests());
        let turning = &mut self.slots[self.current].turning;
        turning.looks_at_clock = looked;
        let looks = turning.looks.get(since.from..).unwrap_or_default();
        // A turn that looks at nothing that others could change is made again for ever. What comes before the first turn of a
        // run is none: the rest of a turn that has left something behind, and what it did before may be done otherwise.
        let has_begun = std::mem::replace(&mut since.has_begun, true);
        let mut is_endless = has_begun && looks.is_empty() && !looked;
        let trace = trace_of(looks, tests);
        // Lazy searches have to do with a cut: see `may_have_been_seen`.
        let is_refused = trace == Trace::Refused && (tests.is_none() || by_values);
        turning.refused = (is_refused && by_values).then_some(events);
        let mut is_idle = is_endless || has_begun && trace != Trace::Left && !is_refused;
        let waits_for_time = has_begun && looked && (looks.is_empty() || is_idle && is_alone);
        if waits_for_time {
            let (began, before) = (since.began, since.time);
            let moves = self.clocks.approach(thread, began, before, is_idle);
            is_endless |= !moves && looks.is_empty();
            is_idle = !moves;
        }
        // A loop that looks at its clock may be over once the clock has moved, by one turn: a wait for what is left of
        // a time takes no more.
        if is_idle && looked && !since.has_slept && self.clocks.now(thread) > since.time {
            since.has_slept = true;
            is_idle = false;
        }
        let is_unseen = self.settings.unfollowed && is_idle && looks.is_empty();
        turning.is_idle = is_idle && !is_unseen;
        if is_idle {
            turning.slept = self.clocks.put_back(thread, since.time);
            turning.began = events;
            turning.idle.clear();
            turning.idle.extend_from_slice(looks);
            forget_own_changes(&mut turning.idle);
            turning.may_go_on =
                !is_endless && !matches!(self.settings.idle, Idle::Ends | Idle::EndsByValues);
        }
        if since.depth == 1 {
            turning.looks.clear();
        }
        since.from = turning.looks.len();
        since.time = self.clocks.now(thread);
        if waits_for_time {
            self.note_move_of_clock(thread);
        } else if is_idle && looked {
            // In reality a time may come while the others get no turn.
            self.clocks.hurry();
        }
        match is_idle {
            true if is_unseen => Turn::Unseen,
            true => Turn::Idle,
            false => Turn::Busy,
        }
    }

    /// No thread can run. Where not all is followed, the threads that wait in loops make another turn: what they wait
    /// for may be there, without an event that has told of it. Returns whether there are such threads.
    pub(super) fn looks_again(&mut self) -> bool {
        // A schedule that was written down has the events of these turns in it.
        let is_written = matches!(
            self.settings.idle,
            Idle::WaitsAfter(_) | Idle::GoesOnUntil(_)
        );
        if !self.settings.unfollowed
            || is_written
            || self.fruitless >= LOOKS_AGAIN
            || self.livelock() == Livelock::None
        {
            return false;
        }
        self.fruitless += 1;
        for thread in self.live.intersection(self.parked).iter() {
            self.parked.remove(thread);
        }
        self.stale = true;
        true
    }

    /// Whether all that other threads have done is before what the current thread does: the current thread has joined
    /// them, or has joined threads that have.
    fn is_alone(&self) -> bool {
        let current = self.current_name();
        if self.live != ThreadSet::only(current) || !self.settings.trace {
            return false;
        }
        let mut joined = ThreadSet::only(current);
        for Traced { event, .. } in self.trace.iter().rev() {
            if event.kind == Kind::Join && joined.contains(event.thread) {
                joined.insert(Thread::try_from(event.object).unwrap_or(current));
            }
        }
        let slots = self.slots.iter().enumerate();
        let mut begun = slots.filter(|(_, slot)| slot.stage != Stage::Absent);
        begun.all(|(thread, _)| Thread::try_from(thread).is_ok_and(|it| joined.contains(it)))
    }

    /// No thread can run. Returns whether all threads wait, and some of them for a time: see [`crate::clock`].
    pub(super) fn waits_for_time(&mut self) -> bool {
        let waits = self.live.intersection(self.parked).iter().any(|thread| {
            self.slots[usize::from(thread)].turning.looks_at_clock
                && self.clocks.may_leap(u32::from(thread))
        });
        waits && self.livelock() != Livelock::None
    }

    /// The thread has announced an operation. If that is the first one after an idle turn, the thread may have to wait.
    #[inline]
    pub(super) fn note_announced(&mut self, thread: usize) {
        if self.watches_loops
            && std::mem::take(&mut self.slots[thread].turning.is_idle)
            && !self.runs_loops_as_written()
        {
            let name = u8::try_from(thread).unwrap_or(0);
            self.parked.insert(name);
            if self.slots[thread].turning.looks_at_clock {
                self.timed.insert(name);
            }
            self.waiting.insert(name);
            self.stale = true;
        }
    }

    /// What becomes of a thread after an idle turn, in this part of the execution.
    fn idle(&self) -> Idle {
        if self.beyond.is_some() {
            Idle::Waits
        } else {
            self.settings.idle
        }
    }

    /// Whether the thread has made an idle turn, and may not go on yet.
    pub(super) fn waits_in_loop(&mut self, thread: u8) -> bool {
        self.parked.contains(thread)
            && match self.idle() {
                Idle::Ends | Idle::EndsByValues => true,
                Idle::Waits => self.waits_for_change(thread),
                Idle::WaitsAfter(steps) => self.steps >= steps && self.waits_for_change(thread),
                Idle::GoesOnUntil(steps) => self.steps > steps && self.waits_for_change(thread),
                Idle::GoesOn => false,
            }
    }

    /// Whether what a thread that has made an idle turn has looked at is as it was, the time included.
    fn waits_for_change(&mut self, thread: u8) -> bool {
        !self.in_time.contains(thread) && self.would_see_the_same(thread)
    }

    /// Whether another turn might show something new to this thread, which has made an idle turn: what the thread has
    /// looked at has changed. Unlike [`Self::waits_in_loop`], this is the same in all searches.
    pub(super) fn is_as_it_was(&mut self, thread: u8) -> bool {
        self.sees_again(thread, |_, _, _| false)
    }

    /// Whether all that the thread has looked at in its latest idle turn is as it was; in a search over values, whether
    /// the thread would at least observe the same.
    fn would_see_the_same(&mut self, thread: u8) -> bool {
        let by_values = self.idle() == Idle::EndsByValues;
        self.sees_again(thread, |state, look, idle| {
            by_values && state.would_observe_the_same(look, idle)
        })
    }

    /// Whether each thing that the thread has looked at in its latest idle turn is as it was, or is as good as that.
    fn sees_again(
        &mut self,
        thread: u8,
        is_as_good: impl Fn(&Self, &Look, &[Look]) -> bool,
    ) -> bool {
        let idle = std::mem::take(&mut *self.slots[usize::from(thread)].turning.idle);
        let same = idle.iter().all(|look| {
            let object = look.event.object;
            let holders = *self.objects.holders(object);
            let as_found = match look.event.kind {
                Kind::TryLock => holders.is_free(),
                Kind::TryLockShared => holders.exclusive == 0,
                Kind::TryLockFailed => !holders.is_free(),
                Kind::TryLockSharedFailed => holders.exclusive != 0,
                _ => true,
            };
            // The thread may have changed the object itself, earlier in the same turn.
            if self.settings.weak {
                // What it reads is chosen: it goes on in another execution if there is anything later to read.
                return self.is_latest(look.number);
            }
            as_found
                && (self.changes.of(object).changes == look.marks.changes
                    || is_as_good(self, look, &idle))
        });
        *self.slots[usize::from(thread)].turning.idle = idle;
        same
    }

    /// In a search over values: whether the thread would observe in this event what it has observed, and do the same, though
    /// the object has been changed since. Whether a lock could be taken is for the caller to tell.
    fn would_observe_the_same(&self, look: &Look, idle: &[Look]) -> bool {
        let event = &look.event;
        if let Some(found) = found_before_change(idle, event.object) {
            return self.values.left(event.object) == Some(found);
        }
        match event.kind {
            Kind::TryLockFailed | Kind::TryLockSharedFailed => true,
            Kind::Wait => self.comes_again(look) == Some(true),
            kind if kind.has_value() => self.values.left(event.object).is_some_and(|now| {
                // A compare-exchange of which the thread learns nothing may succeed at another value.
                let is_free = kind == Kind::FailedUpdate
                    && self.values.test(look.number) == Some(Test::Unobserved);
                now == event.left || !is_free && self.is_alike(look, now)
            }),
            _ => false,
        }
    }

    /// Whether the thread can't tell this value from what it has seen.
    fn is_alike(&self, look: &Look, value: u64) -> bool {
        let Event {
            kind, found, left, ..
        } = look.event;
        let test = matches!(kind, Kind::Read | Kind::FailedUpdate)
            .then(|| self.values.test(look.number))
            .flatten();
        match test {
            Some(test) => test.observe(value) == test.observe(found),
            None => value == left,
        }
    }

    /// No thread can run, and these threads wait in loops. Returns how the execution ends.
    pub(super) fn stopped(&mut self, parked: ThreadSet) -> Outcome {
        if self.beyond.is_none() {
            self.note_stopped();
        }
        if self.may_have_been_seen(parked) {
            return Outcome::Truncated;
        }
        // The threads go on once their time has come, which [`Clocks::hurried`](crate::clock::Clocks::hurried) tells.
        if self.waits_for_time() {
            return Outcome::Waiting;
        }
        if !parked.is_empty() {
            match self.livelock() {
                Livelock::Proven => {}
                Livelock::Open => return Outcome::Truncated,
                Livelock::None if self.may_be_livelock(parked) => return Outcome::Truncated,
                Livelock::None => return Outcome::Waiting,
            }
        }
        if self.live.contains(0) && !self.has_left {
            self.note_blocked(self.live);
            Outcome::Blocked
        } else {
            // With the harness the process ends, and threads that wait then with it.
            Outcome::Completed
        }
    }

    /// No thread can run, and some wait in loops. Returns whether all of them wait for ever.
    ///
    /// Each would make its idle turn again, event by event, as far as it doesn't come to a lock that another one keeps:
    /// - what it has looked at is as it was, and the turns of the others don't change it, since they are idle, too;
    /// - it doesn't see locks that the turns of others take for a while, as it doesn't try to take one of them without
    ///   waiting for it.
    ///
    /// And no other thread can go on meanwhile, as no turn gives a lock back for a while for which another thread
    /// waits.
    pub(super) fn livelock(&mut self) -> Livelock {
        let parked = self.live.intersection(self.parked);
        let of = |state: &Self, thread: u8| state.slots[usize::from(thread)].turning.idle.clone();
        let mut livelock = Livelock::Proven;
        for thread in parked.iter() {
            let idle = of(self, thread);
            let others = |object: Object| {
                parked.iter().any(|other| {
                    let looks = &self.slots[usize::from(other)].turning.idle;
                    other != thread
                        && looks
                            .iter()
                            .any(|look| look.event.object == object && look.is_noticed())
                })
            };
            let sees_others = idle.iter().any(|look| {
                let sees = match look.event.kind {
                    Kind::TryLock | Kind::TryLockShared => true,
                    // Looks at values, which others may change for a while.
                    kind => kind.observes() && !kind.acquires(),
                };
                sees && others(look.event.object)
            });
            let lets_on = given_back_first(&idle).any(|object| {
                self.live.difference(parked).iter().any(|other| {
                    let pending = self.pending[usize::from(other)];
                    matches!(pending.kind, Kind::Lock | Kind::LockShared)
                        && pending.object == object
                })
            });
            if lets_on || !self.would_see_the_same(thread) {
                return Livelock::None;
            }
            if sees_others {
                livelock = Livelock::Open;
            }
        }
        livelock
    }

    /// In a search over values: whether a thread goes no further although another one could tell that its last turn was
    /// made.
    pub(super) fn may_have_been_seen(&self, parked: ThreadSet) -> bool {
        let of_others = |thread: u8, object: Object| {
            let uses = |kind: Kind, of: Object| of == object && kind.acquires();
            let mut done = self.trace.iter().map(|traced| &traced.event);
            let mut waiting = self.live.iter().filter(|&other| other != thread);
            done.any(|event| event.thread != thread && uses(event.kind, event.object))
                || waiting.any(|other| {
                    let pending = &self.pending[usize::from(other)];
                    uses(pending.kind, pending.object)
                })
        };
        // The search looks itself for an order in which the attempt was refused by the turn.
        let by_values = self.settings.idle == Idle::EndsByValues;
        self.settings.values
            && parked.iter().any(|thread| {
                let idle = &self.slots[usize::from(thread)].turning.idle;
                let mut taken = idle.iter().map(|look| &look.event);
                taken.any(|event| {
                    !by_values
                        && event.kind.acquires()
                        && self.changes.of(event.object).failures > 0
                }) || given_back_first(idle).any(|object| of_others(thread, object))
            })
    }

    /// The position of the thread's first event after so many events of the execution.
    fn first_since(&self, thread: Thread, events: u32) -> Option<usize> {
        let mut numbers = events as usize..self.trace.len();
        numbers.find(|&number| self.trace[number].event.thread == thread)
    }

    /// In a search over values: no thread can run, as far as the search knows. Notes the threads that wait in loops and might go
    /// on in another order of the same observations, since their last turns took locks that were refused to others.
    pub(super) fn note_stopped(&mut self) {
        if self.settings.idle != Idle::EndsByValues {
            return;
        }
        for thread in self.live.intersection(self.parked).iter() {
            let turning = &self.slots[usize::from(thread)].turning;
            let mut idle = turning.idle.iter().map(|look| &look.event);
            let is_refused = idle
                .any(|event| event.kind.acquires() && self.changes.of(event.object).failures > 0);
            if is_refused && let Some(first) = self.first_since(thread, turning.began) {
                self.values.note_stopped(thread, first);
            }
        }
    }

    /// In a search over values: whether, in another order of what no thread has observed, all threads might wait for
    /// ever.
    ///
    /// An object's last value is what the last write of some thread has left there: as each thread has observed the
    /// same, it leaves the same.
    pub(super) fn may_be_livelock(&mut self, parked: ThreadSet) -> bool {
        self.idle() == Idle::EndsByValues
            && parked.iter().all(|thread| {
                let idle = std::mem::take(&mut *self.slots[usize::from(thread)].turning.idle);
                let may_be = idle.iter().all(|look| match look.event.kind {
                    // The holder of a lock at the end is the same in any order.
                    Kind::TryLockFailed => !self.objects.holders(look.event.object).is_free(),
                    Kind::TryLockSharedFailed => {
                        self.objects.holders(look.event.object).exclusive != 0
                    }
                    Kind::Wait => self.comes_again(look) != Some(false),
                    kind => !kind.has_value() || self.may_look_alike(look, &idle),
                });
                *self.slots[usize::from(thread)].turning.idle = idle;
                may_be
            })
    }

    /// Whether, in another order of what no thread has observed, the thread might find at the end what it has seen.
    ///
    /// Where no thread writes without observing, there is one last value: each change leads from a value that its
    /// thread has observed to one that follows from it, and all changes, in any order, are a way from the first value.
    /// The way ends at the value that more changes lead to than start from. For the same reason there is one last value
    /// where a count is added to and taken from.
    fn may_look_alike(&self, look: &Look, idle: &[Look]) -> bool {
        let mut last = [None; MAX_THREADS];
        let mut is_written = false;
        for Traced { event, .. } in &self.trace {
            let changes = match event.kind {
                Kind::Write => true,
                Kind::Update | Kind::Unlock => event.changes(),
                _ => false,
            };
            if changes && event.object == look.event.object {
                is_written |= event.kind == Kind::Write;
                last[usize::from(event.thread)] = Some(event.left);
            }
        }
        if let Some(found) = found_before_change(idle, look.event.object) {
            return is_written || self.values.left(look.event.object) == Some(found);
        }
        if !is_written {
            let now = self.values.left(look.event.object);
            return now.is_none_or(|now| self.is_alike(look, now));
        }
        let mut left = last.iter().flatten();
        left.any(|&left| self.is_alike(look, left))
    }

    /// Whether this attempt, made again at the end, has the same outcome, in any order of what no thread has observed:
    /// which messages are in a channel does not depend on that order, nor does the number of its ends. `None` for any
    /// other object, of which that is not known.
    fn comes_again(&self, look: &Look) -> Option<bool> {
        let transitions = self.values.transitions();
        let own = transitions.binary_search_by_key(&look.number, |&(number, _)| number);
        let Some(&(_, own @ Transition::Receive { .. })) =
            own.ok().and_then(|at| transitions.get(at))
        else {
            return None;
        };
        let object = look.event.object;
        let (mut standing, mut gone, mut senders) = (Standing::default(), 0, None);
        let queue = Queue::new();
        for &(number, transition) in transitions {
            let of = self.trace.get(number).map(|traced| traced.event.object);
            if of != Some(object) {
                continue;
            }
            if let Transition::DropSender { last } = transition {
                gone += 1;
                senders = senders.or(last.then_some(gone));
            }
            standing.change(transition, senders, &queue);
        }
        Some(standing.outcome(own, senders, &queue) == look.event.found)
    }

    /// The operation that stands for all of an idle turn of a thread that waits in a loop: what the thread has looked
    /// at last.
    pub(super) fn looks_at(&self, thread: u8) -> Option<(Pending, Site)> {
        let idle = &self.slots[usize::from(thread)].turning.idle;
        let look = idle.iter().rev().find(|look| {
            let kind = look.event.kind;
            kind.has_value() && !matches!(kind, Kind::Unlock | Kind::UnlockShared)
                || matches!(
                    kind,
                    Kind::TryLockFailed | Kind::TryLockSharedFailed | Kind::Wait
                )
        })?;
        let event = &look.event;
        let pending = Pending {
            kind: Kind::Read,
            object: event.object,
            expected: 0,
            site: event.site,
            context: event.context,
            ..Pending::default()
        };
        Some((pending, super::events::site_of(event.site)?))
    }
}

/// What a turn found in an object that it has changed, and changed back. If the turn finds this value again, it finds
/// the same in all that it does to the object.
fn found_before_change(looks: &[Look], object: Object) -> Option<u64> {
    let mut changes = looks.iter().map(|look| &look.event);
    let is_change =
        |event: &&Event| event.object == object && event.kind == Kind::Update && event.changes();
    changes.find(is_change).map(|event| event.found)
}

/// The locks that a turn gives back before it takes them.
fn given_back_first(looks: &[Look]) -> impl Iterator<Item = Object> {
    looks.iter().enumerate().filter_map(move |(at, look)| {
        let object = look.event.object;
        let gives = matches!(look.event.kind, Kind::Unlock | Kind::UnlockShared);
        let before = looks[..at].iter();
        let has = before
            .filter(|look| look.event.object == object)
            .map(|look| match look.event.kind {
                kind if kind.acquires() => 1_i32,
                Kind::Unlock | Kind::UnlockShared => -1,
                _ => 0,
            })
            .sum::<i32>();
        (gives && has <= 0).then_some(object)
    })
}
