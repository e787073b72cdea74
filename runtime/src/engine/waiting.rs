//! Operations of std that block, in P̂ₖ: a wait for a notification, for a message, for another thread at a barrier.
//!
//! Such an operation reads a variable. If a thread can't go on with what it has read, it is as in a loop that only looks
//! (see [`spin`](super::spin)): T takes another non-local read, which it could have taken at its first look, and the log of
//! T' ends.
//!
//! Where T' has come to its end, or waits for T to end or for what T has not done, T waits for ever if some interleaving
//! has all of T' before T's look. That is a question for the feasibility check: whether the log goes on with a join of T'
//! and one more look that sees nothing new.

use super::bug;
use super::spin::{Turns, turn};
use super::tau::{self, Answer};
use super::{Abort, Engine, Handle, InterferingEnd, Line, abort, refuse_beside_several};
use crate::feasibility::{Feasibility, ProgressGrid, Step, Verdict};
use crate::log::{Log, Object, Op, TEvent};
use crate::vocabulary::{BugKind, Site};

/// The stage, in the lowest bits of its state, of an initialization that is over and has not panicked.
pub(crate) const COMPLETE: u64 = 3;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    /// To be notified, on a condition variable. Its look is the step in which the program's thread wakes up.
    Notification,
    /// To be unparked.
    Unpark,
    /// A thread that comes to a barrier.
    Arrival,
    /// The end of an initialization that runs, so that the thread can begin its own if that one panics.
    Initialization,
    /// An initialization by another thread, whether it runs or has not begun.
    Completion,
    /// A message, or the end of all senders.
    Message,
    /// Room for a message, or the end of the receiver.
    Room,
}

impl For {
    /// The number of looks of T' that the program's thread does only as it goes on, if each is one read; 0 otherwise.
    const fn vain_looks(self) -> u32 {
        match self {
            Self::Notification => 2,
            Self::Unpark | Self::Arrival | Self::Message | Self::Completion => 1,
            Self::Initialization | Self::Room => 0,
        }
    }

    const fn message(self) -> &'static str {
        match self {
            Self::Notification => {
                "the thread waits for a notification that no thread gives any more"
            }
            Self::Unpark => "the thread is parked, and no thread unparks it any more",
            Self::Arrival => "the thread waits at a barrier to which no thread comes any more",
            Self::Initialization => "the thread waits for an initialization that does not end",
            Self::Completion => {
                "the thread waits for an initialization that no thread brings to an end any more"
            }
            Self::Message => "the thread waits for a message that no thread sends any more",
            Self::Room => "the thread waits with a message that no thread receives any more",
        }
    }
}

/// What the current thread can't go on with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) object: Object,
    /// The value that it has just read, as bits.
    pub(crate) value: u64,
    /// Another object that it has read, or would have to, with that object's value.
    pub(crate) other: Option<(Object, u64)>,
    pub(crate) site: Site,
}

/// The current thread has just read this, in its latest event, and can't go on as long as that stays as it is. `look` reads it
/// once more, without a choice. Returns where the thread may look again: before two threads run side by side, or in an
/// execution that has been ended.
#[cold]
pub(crate) fn wait(handle: Handle, what: For, seen: Seen, look: impl FnOnce()) {
    let engine = handle.get();
    engine.stands_at_barrier |= what == For::Arrival && !engine.quiet && engine.line != Line::Init;
    if !engine.quiet && engine.is_of_several() {
        let what = "a thread waits here for what another one does";
        refuse_beside_several(handle, what, Some(seen.site));
        return;
    }
    if !engine.quiet && engine.line == Line::Init && !engine.threads.has_bodies() {
        // No other thread is left that could do it.
        bug::blocked_for_ever(
            handle,
            BugKind::Deadlock,
            what.message(),
            seen.site,
            seen.site,
        );
        abort(handle, Abort::Bug);
        return;
    }
    if !engine.quiet && engine.line == Line::UnderTest && engine.knows_how_it_ends(what) {
        tau::require_feasible(handle);
        let engine = handle.get();
        if engine.abort.is_none() {
            if waits_for_ever(engine, what, seen) || waits_for_kept(engine, what, seen) {
                abort(handle, Abort::Bug);
            } else if engine.may_cross(what) {
                crosses(handle);
            } else {
                abort(handle, Abort::Waiting);
            }
        }
        return;
    }
    if !engine.quiet && engine.line == Line::UnderTest && engine.all_reads_done() {
        tau::require_feasible(handle);
        let engine = handle.get();
        if engine.abort.is_some() {
            return;
        }
        if waits_for_kept(engine, what, seen) {
            abort(handle, Abort::Bug);
            return;
        }
        if engine.may_cross(what) {
            crosses(handle);
            return;
        }
    }
    let mut turns = Turns::default();
    turn(handle, &mut turns);
    look();
    let engine = handle.get();
    if engine.line == Line::Interfering {
        engine
            .spin
            .looks_in_vain(what.vain_looks(), what == For::Completion);
    }
    turn(handle, &mut turns);
}

/// T waits for an initialization of T' that may wait for T, in its turn: that is no read of T' that the log could have.
fn crosses(handle: Handle) {
    handle.get().undecided.0 = true;
    abort(handle, Abort::StepBound);
}

impl Engine {
    /// T waits for an initialization of T': whether T' may have to wait for T before that is over.
    fn may_cross(&mut self, what: For) -> bool {
        let is_one = matches!(what, For::Initialization | For::Completion);
        if !is_one || self.joined || !self.all_reads_done() {
            return false;
        }
        if self.interfering_is_whole() {
            return !self.grid.lets_other_end();
        }
        // T' goes on where it waits for an initialization that T has brought to an end.
        !(what == For::Completion && self.has_completed_for_interfering())
    }

    /// Whether T' has come to its end, or waits for T to end.
    const fn interfering_is_whole(&self) -> bool {
        matches!(
            self.interfering_end,
            InterferingEnd::Complete | InterferingEnd::WaitsForUnderTest(..)
        )
    }

    /// Whether feasibility tells if T waits for ever.
    fn knows_how_it_ends(&self, what: For) -> bool {
        // Where T' has stopped, what it waits for may be done by T.
        let is_over = self.interfering_is_whole()
            || self.interfering_end == InterferingEnd::Stopped && self.interfering_waits_in_vain();
        is_over && what != For::Initialization && self.all_reads_done()
    }
}

/// Whether T waits for what T' does only with a lock that T holds, in some interleaving; notes the deadlock.
fn waits_for_kept(engine: &mut Engine, what: For, seen: Seen) -> bool {
    if engine.held.is_empty() || engine.joined {
        return false;
    }
    let mut waits = false;
    for (acquire, _) in bug::kept_from(engine) {
        let mut events = engine.grid.events().to_vec();
        if what == For::Notification {
            events.pop();
        }
        let of_program = events.len();
        let before = |event: &TEvent| event.source.is_none_or(|it| (it as usize) < acquire);
        if !events.iter().all(before) {
            continue;
        }
        // T' has come to the lock, and T looks once more.
        let other = seen.other.map(|(object, _)| object);
        let looks = [seen.object].into_iter().chain(other).map(Op::Read);
        events.extend([Op::Join].into_iter().chain(looks).map(TEvent::local));
        let log = Log {
            under_test: &events,
            interfering: &engine.interfering[..acquire],
        };
        let Verdict::Feasible(order) = ProgressGrid::new().check(&log) else {
            continue;
        };
        let is_done =
            |step: &Step| !matches!(step, Step::UnderTest(at) if *at as usize >= of_program);
        let order = order.0.into_iter().filter(is_done).collect();
        bug::waits_for_kept(engine, acquire, order, seen.site);
        waits = true;
    }
    waits
}

/// Whether T waits for ever, in some interleaving; notes the deadlock.
fn waits_for_ever(engine: &mut Engine, what: For, seen: Seen) -> bool {
    let events = engine.under_test().len();
    let last = (
        engine.grid.events()[events - 1],
        engine.under_test_trail[events - 1],
    );
    if what == For::Notification {
        engine.truncate_under_test(events - 1);
    }
    // These two are no events of the program.
    engine.opening_log = true;
    if !engine.joined {
        tau::push(engine, Op::Join, None, seen.site, 0);
    }
    for (object, value) in [(seen.object, seen.value)].into_iter().chain(seen.other) {
        tau::push(engine, Op::Read(object), None, seen.site, value);
    }
    engine.opening_log = false;
    let waits = matches!(tau::feasible(engine), Answer::Yes);
    if waits {
        bug::waits_in_vain(engine, what.message(), seen.site);
    }
    if what == For::Notification {
        engine.truncate_under_test(events - 1);
        engine.under_test_trail.push(last.1);
        engine.grid.push(last.0);
    } else {
        engine.truncate_under_test(events);
    }
    waits
}
