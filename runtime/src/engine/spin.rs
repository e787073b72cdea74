//! Threads that wait in loops, in P̂ₖ.
//!
//! Read [`crate::loops`] first. A turn of a marked loop was **idle** if the thread made an event or looked at nothing, saw nothing of the
//! other thread, changed nothing, and holds the locks that it held before.
//!
//! **T** ends there: the choice of non-local reads is one in which T waits. That loses no other choice, since a later turn
//! can only repeat the choices of this one. T and its copy G are as they were before the turn, so that all that T does
//! in turn n + 1 and after it, with non-local reads of its choice, it could have done from turn n on. If the log with both
//! turns has a feasible interleaving, so has the one without the events of the idle turn: those are local reads and blocks of
//! locks, and taking them away leaves fewer pairs for the interleaving to keep apart. T' sees nothing of T and does what it did. And each non-local read
//! of turn n + 1 has the same writes to choose from, which [`revealed`](super::Engine) has noted of turn n.
//!
//! What this doesn't tell is whether T waits for ever: that is so where T' writes nothing to what the turn reads which T is
//! sure to see in the end. Such a choice counts as cut.
//!
//! **T'** sees nothing but its own copy, so that it would make the same turn for ever: its log ends there. Its turns may be
//! seen by T in one way: T may fail to take a lock that a turn of T' takes for a while, and the next turn could take it
//! again. If T tries one of those, T' counts as cut.
//!
//! **Time** passes where nobody can do anything else (see [`crate::clock`]). What comes after that is followed where T is
//! alone, having joined T'. Where a thread waits for a time and the other one is there, too, time might pass, and that is said.
//!
//! Everywhere else a read is a read, however often it is repeated: what runs on is cut at the step bound, and that is said.

use super::tau::require_feasible;
use super::{Abort, Engine, Handle, Line, abort};
use crate::log::{LockMode, Object, Op};
use crate::memory::Buffer;

/// What a thread has done, as far as it matters to loops.
#[derive(Debug, Default)]
pub(crate) struct Spin {
    /// How often something was changed, or seen of the other thread.
    progress: u32,
    /// The locks that are held, as a sum of their hashes.
    held: u64,
    /// The locks that T' took in the idle turn that it ended with.
    idle_locks: Buffer<Object>,
    /// What it read in that turn, if it looked at its clock there.
    idle_reads: Buffer<Object>,
    /// It did.
    waits_for_time: bool,
    /// How often something was said to be left behind by what a loop calls.
    said: u32,
}

/// Where a loop's latest turn began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turns {
    /// `None`: the loop has not begun.
    at: Option<At>,
    /// What the thread's clock showed when the loop began.
    began: u64,
    /// A turn has slept, and the loop went on with that.
    has_slept: bool,
}

#[derive(Clone, Copy, Debug)]
struct At {
    steps: u32,
    progress: u32,
    held: u64,
    /// How many events T' has made.
    interfering: usize,
    /// How many events T has made.
    under_test: usize,
    /// What the thread's clock showed.
    time: u64,
    /// How often something was said to be left behind.
    said: u32,
}

fn hash(lock: Object, mode: LockMode) -> u64 {
    let lock = u64::from(lock) << 1 | u64::from(mode == LockMode::Shared);
    (lock + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl Spin {
    pub(crate) fn clear(&mut self) {
        self.progress = 0;
        self.held = 0;
        self.idle_locks.clear();
        self.idle_reads.clear();
        self.waits_for_time = false;
        self.said = 0;
    }

    /// What is done is there after the turns of all loops that are run.
    pub(crate) const fn lasts(&mut self) {
        self.said = self.said.wrapping_add(1);
    }

    /// The thread changed something, or saw something of the other one.
    #[inline]
    pub(crate) const fn progress(&mut self) {
        self.progress = self.progress.wrapping_add(1);
    }

    /// It took a lock.
    #[inline]
    pub(crate) fn acquired(&mut self, lock: Object, mode: LockMode) {
        self.held = self.held.wrapping_add(hash(lock, mode));
    }

    /// It gave a lock back.
    #[inline]
    pub(crate) fn released(&mut self, lock: Object, mode: LockMode) {
        self.held = self.held.wrapping_sub(hash(lock, mode));
    }
}

/// What the current thread does is there after the turns of all loops that it is in.
pub(crate) fn lasts(handle: Handle) {
    handle.get().spin.lasts();
}

/// A turn of a marked loop begins, and the one before it, if there is one, is over.
#[inline]
pub(crate) fn turn(handle: Handle, turns: &mut Turns) {
    let engine = handle.get();
    if engine.quiet || engine.moves_no_thread() {
        return;
    }
    let now = At {
        steps: engine.steps,
        progress: engine.spin.progress,
        held: engine.spin.held,
        interfering: engine.interfering.len(),
        under_test: engine.under_test().len(),
        time: engine.time(),
        said: engine.spin.said,
    };
    let looked = engine.looked_at_clock();
    let Some(before) = turns.at.replace(now) else {
        turns.began = now.time;
        return;
    };
    if before.said != now.said {
        turns.began = now.time;
        turns.has_slept = false;
        return;
    }
    // What looks at nothing, not even at the time, makes the next turn like this one. Elsewhere the clock is the system's.
    let is_endless = cfg!(feature = "scheduler") && !looked;
    let is_empty = before.steps == now.steps;
    // Before two threads run side by side, nothing is noted of what they see and change.
    if engine.line == Line::Init {
        if is_empty && (is_endless || !engine.approach(turns.began, before, false)) {
            abort(handle, Abort::StepBound);
        }
        return;
    }
    if before.progress != now.progress || before.held != now.held {
        return;
    }
    if is_empty && !is_endless && (!looked || engine.approach(turns.began, before, false)) {
        return;
    }
    if looked && engine.time_passes(turns.began, before) {
        return;
    }
    // It may be over now that its clock has moved.
    if looked && now.time > before.time && !std::mem::replace(&mut turns.has_slept, true) {
        return;
    }
    end(handle, before, looked);
}

impl Engine {
    /// T sees something of T': its clock is moved on to those of all others. That may be later than what it sees was done, as
    /// it is where time passes before it looks.
    #[inline(always)]
    pub(super) fn comes_after_interfering(&mut self) {
        #[cfg(feature = "scheduler")]
        self.clocks.follow_all(self.threads.current);
    }

    /// What the current thread's clock shows.
    #[inline]
    fn time(&self) -> u64 {
        #[cfg(feature = "scheduler")]
        return self.clocks.now(self.threads.current);
        #[cfg(not(feature = "scheduler"))]
        0
    }

    /// Whether the current thread has looked at its clock since this was asked last.
    #[inline]
    fn looked_at_clock(&mut self) -> bool {
        #[cfg(feature = "scheduler")]
        return self.clocks.was_looked_at(self.threads.current);
        #[cfg(not(feature = "scheduler"))]
        false
    }

    /// The current thread waits until some time has come: if no other thread can end that, its clock moves on. Whether it does.
    fn time_passes(&mut self, began: u64, before: At) -> bool {
        let passes = self.joined && self.approach(began, before, true);
        if passes {
            self.spin.progress();
        }
        passes
    }

    /// The current thread's turn is over, and nothing but its clock could end the loop: see [`crate::clock`].
    fn approach(&mut self, began: u64, before: At, looked: bool) -> bool {
        #[cfg(feature = "scheduler")]
        return self
            .clocks
            .approach(self.threads.current, began, before.time, looked);
        #[cfg(not(feature = "scheduler"))]
        {
            // Its clock is the system's, which moves by itself.
            let _ = (began, before.time, looked);
            true
        }
    }

    /// A thread looks at its clock. Where it was looked at before, while the other thread was there or before it came, this
    /// one sees in reality how long it was held up.
    #[cfg(feature = "scheduler")]
    pub(crate) fn look_at_clock(&mut self, thread: u32) -> u64 {
        if self.line != Line::Init && self.clocks.is_beside_others() {
            self.clocks.hurry();
        }
        if !self.joined {
            self.clocks.will_be_beside_others();
        }
        self.clocks.look(thread)
    }

    /// In reality some time may come here while the other thread gets no turn.
    pub(super) fn hurry(&mut self) {
        #[cfg(feature = "scheduler")]
        self.clocks.hurry();
    }

    /// Whether in this execution a time limit may run out elsewhere than was tried.
    pub(super) const fn hurried(&self) -> bool {
        #[cfg(feature = "scheduler")]
        return self.clocks.hurried();
        #[cfg(not(feature = "scheduler"))]
        false
    }
}

/// The current thread has slept. If it does so again and again, while the other one only needs a turn, it ends there before more
/// time has passed than any machine holds that up.
#[cfg(feature = "scheduler")]
pub(crate) fn slept(handle: Handle) {
    let engine = handle.get();
    let beside = !engine.quiet && engine.line != Line::Init && !engine.joined;
    if beside && !engine.moves_no_thread() && engine.clocks.outsleeps(engine.threads.current) {
        engine.hurry();
        abort(handle, Abort::Waiting);
    }
}

#[cold]
fn end(handle: Handle, before: At, looked: bool) {
    let engine = handle.get();
    if looked {
        engine.hurry();
    }
    if engine.line == Line::Interfering {
        let blocks = engine.blocks.iter();
        let taken = blocks.filter(|block| block.acquire as usize >= before.interfering);
        let taken = taken.map(|block| block.held.lock);
        engine.spin.idle_locks.extend(taken);
        if looked {
            let turn = engine.interfering.iter().skip(before.interfering);
            engine.spin.waits_for_time = true;
            engine
                .spin
                .idle_reads
                .extend(turn.filter_map(|op| op.reads()));
        }
    }
    if engine.line == Line::UnderTest && engine.done >= engine.pairs.len() {
        // It may wait for ever in a choice that there is.
        require_feasible(handle);
        let engine = handle.get();
        if engine.abort.is_none() && engine.may_wait_for_ever(before) {
            engine.undecided.0 = true;
            abort(handle, Abort::StepBound);
            return;
        }
    }
    abort(handle, Abort::Waiting);
}

impl Engine {
    /// T has made an idle turn. Whether it may be that T makes this turn for ever: T' writes nothing to what the turn reads that
    /// T is sure to see in the end. What T' writes after all that T has seen of it is seen if T waits long enough, unless T
    /// itself has written there: T' may have come before that.
    fn may_wait_for_ever(&self, before: At) -> bool {
        if self.joined {
            return true;
        }
        // T' may go on where it sees what T does, and that is said.
        if self.interfering_waits {
            return false;
        }
        let log = self.under_test();
        let turn = &log[before.under_test.min(log.len())..];
        !turn
            .iter()
            .filter_map(|event| event.op.reads())
            .any(|object| {
                let writes = |op: &Op| op.writes() == Some(object);
                let last = self.interfering.iter().rposition(writes);
                let of_t = log.iter().rev();
                let seen = of_t
                    .filter(|event| writes(&event.op) || event.op.reads() == Some(object))
                    .find_map(|event| match event.source {
                        _ if writes(&event.op) => Some(None),
                        Some(source) => Some(Some(source as usize)),
                        None => None,
                    });
                match (last, seen) {
                    (None, _) | (_, Some(None)) => false,
                    (Some(_), None) => true,
                    (Some(last), Some(Some(seen))) => last > seen,
                }
            })
    }

    /// T waits for the end of T', which waits in a loop. Whether that is for a time, and nothing of what T has done ends
    /// the loop: then time passes, and T' goes on.
    pub(super) fn interfering_waits_for_time(&self) -> bool {
        self.spin.waits_for_time
            && !self.under_test().iter().any(|event| {
                let writes = event.op.writes();
                writes.is_some_and(|object| self.spin.idle_reads.contains(&object))
            })
    }

    /// T tries to take a lock without waiting for it.
    pub(super) fn note_attempt(&mut self, lock: Object) {
        if self.spin.idle_locks.contains(&lock) {
            self.undecided.1 |= !self.interfering_was_cut;
            self.interfering_was_cut = true;
        }
    }
}
