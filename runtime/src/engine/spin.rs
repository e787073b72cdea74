//! Threads that wait in loops, in P̂ₖ.
//!
//! Read [`crate::loops`] first. A turn of a marked loop was **idle** if the thread made an event or looked at nothing,
//! saw nothing of the other thread, changed nothing, and holds the same locks as before.
//!
//! **T** ends at an idle turn: the choice of non-local reads is one in which T waits. That loses no other choice, since
//! a later turn can only repeat the choices of this one. T and its copy G are as they were before the turn, so that all
//! that T does in turn n + 1 and after it, with non-local reads of its choice, it could have done from turn n on. If
//! the log with both turns has a feasible interleaving, so has the log without the events of the idle turn: those are
//! local reads and blocks of locks, and taking them away leaves fewer pairs for the interleaving to keep apart. T' sees
//! nothing of T, and does in either log the same. And each non-local read of turn n + 1 has the same writes to choose
//! from, which [`revealed`](super::Engine) has noted of turn n. A wait on a condition variable that has ended with its time
//! limit changes nothing, either: that the thread has waited is a write that no other thread reads.
//!
//! An idle turn doesn't tell whether T waits for ever: T does if T' writes nothing, to what the turn reads, that T is
//! sure to see in the end. Such a choice counts as cut.
//!
//! **T'** sees nothing but its own copy, so that T' would make the same turn for ever: the log of T' ends at an idle
//! turn. Its turns may be seen by T in one way: T may fail to take a lock that a turn of T' takes for a while, and the
//! next turn could take it again. If T tries to take one of these locks, T' counts as cut. T' counts as cut, too, if T is
//! over, or waits for T', and has written nothing that the turn reads: T' waits for ever then, unless it began to wait
//! later.
//!
//! **Time** passes where no thread can do anything else (see [`crate::clock`]). What comes after that time is followed
//! where T is alone, having joined T'. Where a thread waits for a time while the other thread runs, too, time might
//! pass, and the search's verdict says so.
//!
//! Everywhere else a read is a read, however often it is repeated: what runs on is cut at the step bound, and the
//! verdict says so.

use super::bug::kept_from;
use super::tau::require_feasible;
use super::waiting::COMPLETE;
use super::{Abort, Engine, Handle, Line, abort};
use crate::log::{LockMode, Object, Op, TEvent};
use crate::memory::Buffer;

/// What a thread has done, as far as it matters to loops.
#[derive(Debug, Default)]
pub(crate) struct Spin {
    /// The number of times that a thread changed something, or saw something of the other thread.
    progress: u32,
    /// The locks that are held, as a sum of their hashes.
    held: u64,
    /// The locks that T' took in its last, idle turn.
    idle_locks: Buffer<Object>,
    /// The objects that T' read in its last, idle turn.
    idle_reads: Buffer<Object>,
    /// Whether T' looked at its clock in its last, idle turn.
    waits_for_time: bool,
    /// If it is by its last read alone that T' can't go on: the number of its last events by which the program's thread would
    /// go on, and so can't do. Otherwise 0. See [`waiting`](super::waiting).
    vain_looks: u32,
    /// Whether T' waits for an initialization to be complete: nothing else that T writes there lets T' go on, and that is
    /// seen whenever T' looks.
    awaits_completion: bool,
    /// The number of times that code called by a loop was said to leave something behind.
    said: u32,
}

/// Where a loop's latest turn began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turns {
    /// `None`: the loop has not begun.
    at: Option<At>,
    /// The time of the thread's clock when the loop began, in nanoseconds.
    began: u64,
    /// Whether a turn has slept, and the loop was let go on for that.
    has_slept: bool,
}

#[derive(Clone, Copy, Debug)]
struct At {
    steps: u32,
    progress: u32,
    held: u64,
    /// The number of events that T' has made.
    interfering: usize,
    /// The number of events that T has made.
    under_test: usize,
    /// The time of the thread's clock, in nanoseconds.
    time: u64,
    /// The value of [`Spin::said`].
    said: u32,
    /// The number of times that the thread has looked at its clock.
    looks: u32,
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
        self.vain_looks = 0;
        self.awaits_completion = false;
        self.said = 0;
    }

    /// The thread that T' was is over, and T' goes on as another one.
    pub(super) fn begin_round(&mut self) {
        self.progress();
        self.idle_locks.clear();
        self.idle_reads.clear();
        self.waits_for_time = false;
        self.vain_looks = 0;
    }

    /// Notes that what is done now lasts beyond the turns of all running loops.
    pub(crate) const fn lasts(&mut self) {
        self.said = self.said.wrapping_add(1);
    }

    /// Notes that T' can't go on with what it has read last, how many events the program's thread can't do, and whether T'
    /// waits for an initialization to be complete.
    pub(super) const fn looks_in_vain(&mut self, looks: u32, awaits_completion: bool) {
        self.vain_looks = looks;
        self.awaits_completion = awaits_completion;
    }

    /// Notes that the thread changed something, or saw something of the other thread.
    #[inline]
    pub(crate) const fn progress(&mut self) {
        self.progress = self.progress.wrapping_add(1);
    }

    /// The number of times that the thread changed something, or saw something of the other thread.
    pub(super) const fn progress_made(&self) -> u32 {
        self.progress
    }

    /// Notes that so many changes of the thread are over, and have left nothing behind.
    pub(super) const fn takes_back(&mut self, changes: u32) {
        self.progress = self.progress.wrapping_sub(changes);
    }

    /// Notes that the thread took a lock.
    #[inline]
    pub(crate) fn acquired(&mut self, lock: Object, mode: LockMode) {
        self.held = self.held.wrapping_add(hash(lock, mode));
    }

    /// Notes that the thread gave a lock back.
    #[inline]
    pub(crate) fn released(&mut self, lock: Object, mode: LockMode) {
        self.held = self.held.wrapping_sub(hash(lock, mode));
    }
}

/// Notes that what the current thread does now lasts beyond the turns of all loops that the thread is in.
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
        looks: engine.looks_at_clock(),
    };
    let Some(before) = turns.at.replace(now) else {
        turns.began = now.time;
        return;
    };
    if before.said != now.said {
        turns.began = now.time;
        turns.has_slept = false;
        return;
    }
    let looked = before.looks != now.looks;
    // A loop that looks at nothing, not even at the time, makes its next turn like this one.
    let is_endless = crate::clock::Clocks::NOTICES_LOOKS && !looked;
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
    // The loop may be over after this turn, since its thread's clock has moved.
    if looked && now.time > before.time && !std::mem::replace(&mut turns.has_slept, true) {
        return;
    }
    end(handle, before, looked);
}

impl Engine {
    /// T sees something of T': T's clock is moved on to those of all other threads. That may be later than the time of
    /// what T sees, as where time passes before T looks.
    #[inline(always)]
    pub(super) fn comes_after_interfering(&mut self) {
        self.clocks.follow_all(self.threads.current);
    }

    /// The time of the current thread's clock, in nanoseconds.
    #[inline]
    fn time(&self) -> u64 {
        self.clocks.now(self.threads.current)
    }

    /// The number of times that the current thread has looked at its clock.
    #[inline]
    fn looks_at_clock(&self) -> u32 {
        self.clocks.looks(self.threads.current)
    }

    /// The current thread waits until some time has come: if no other thread can end the wait, the thread's clock moves
    /// on. Returns whether the clock does.
    fn time_passes(&mut self, began: u64, before: At) -> bool {
        let passes = self.joined && self.approach(began, before, true);
        if passes {
            self.spin.progress();
        }
        passes
    }

    /// The current thread's turn is over, and nothing but its clock could end the loop: see [`crate::clock`].
    fn approach(&mut self, began: u64, before: At, looked: bool) -> bool {
        let thread = self.threads.current;
        self.clocks.approach(thread, began, before.time, looked)
    }

    /// A thread looks at its clock. Where a clock was looked at before, while the other thread ran or before it began,
    /// the thread would see in reality how long it was held up. So it would where no two threads run side by side, if a
    /// thread has run, or has been waited for, since the first look.
    pub(crate) fn look_at_clock(&mut self, thread: u32) -> u64 {
        let threads = self.threads.number();
        let may_be_held_up = if self.line == Line::Init {
            self.clocks.others_may_have_run(threads)
        } else {
            self.clocks.is_beside_others()
        };
        if may_be_held_up {
            self.clocks.hurry();
        }
        if !self.joined {
            let is_alone = self.counts.all_are_joined();
            let over = if is_alone { threads } else { 0 };
            self.clocks.will_be_beside_others(over);
        }
        self.clocks.look(thread)
    }

    /// Notes that in reality some time may come here while the other thread gets no turn.
    pub(super) fn hurry(&mut self) {
        self.clocks.hurry();
    }

    /// Whether in this execution a time limit may run out at another event than was tried.
    pub(super) const fn hurried(&self) -> bool {
        self.clocks.hurried()
    }
}

/// A time limit of the current thread has passed, or the thread has slept: its clock moves on.
pub(crate) fn limit_passed(handle: Handle, limit: std::time::Duration) {
    let thread = handle.get().threads.current;
    crate::memory::outside(|| handle.get().clocks.pass(thread, limit));
}

/// The current thread has slept. If the thread does so again and again, while the other thread only needs a turn, the
/// thread's run ends before more time has passed than any machine holds a thread up.
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
        let turn = engine.interfering.iter().skip(before.interfering);
        engine
            .spin
            .idle_reads
            .extend(turn.filter_map(|op| op.reads()));
        engine.spin.waits_for_time = looked;
    }
    if engine.line == Line::UnderTest && engine.done >= engine.pairs.len() {
        // T may wait for ever only if some interleaving has this choice of non-local reads.
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
    /// T has made an idle turn. Returns whether T may make this turn for ever: T' writes nothing, to what the turn
    /// reads, that T is sure to see in the end. T, if it waits long enough, sees what T' writes after all that T has
    /// seen of T', unless
    /// - T itself has written the same object: the write of T' may have come before T's;
    /// - T' has to take a lock before that write which T holds while it waits.
    fn may_wait_for_ever(&mut self, before: At) -> bool {
        if self.joined {
            return true;
        }
        if self.is_of_several() {
            return self.may_wait_for_ever_beside_several(before);
        }
        // T' may go on once T' sees what T does, and the verdict says so.
        if self.interfering_waits && !self.leaves_waiting_where_it_is() {
            return false;
        }
        let log = self.under_test();
        let turn = &log[before.under_test.min(log.len())..];
        let awaited = turn
            .iter()
            .filter_map(|event| event.op.reads())
            .filter_map(|object| {
                let writes = |op: &Op| op.writes() == Some(object);
                let last = self.interfering.iter().rposition(writes)?;
                let of_t = log.iter().rev();
                let seen = of_t
                    .filter(|event| writes(&event.op) || event.op.reads() == Some(object))
                    .find_map(|event| match event.source {
                        _ if writes(&event.op) => Some(None),
                        Some(source) => Some(Some(source as usize)),
                        None => None,
                    });
                let is_new = match seen {
                    Some(None) => false,
                    None => true,
                    Some(Some(seen)) => last > seen,
                };
                is_new.then_some(last)
            });
        let first = awaited.min();
        // A lock that T gives back in the turn can be taken there.
        let gives_back = |lock| {
            turn.iter()
                .any(|event| matches!(event.op, Op::Release(of, _) if of == lock))
        };
        let given_back: Vec<Object> = self
            .held
            .iter()
            .map(|held| held.lock)
            .filter(|&lock| gives_back(lock))
            .collect();
        first.is_none_or(|write| {
            let kept = kept_from(self);
            let mut kept = kept
                .iter()
                .filter(|(_, held)| !given_back.contains(&held.lock));
            kept.any(|(acquire, _)| *acquire < write)
        })
    }

    /// The same beside several interfering threads: one of them has to write something after all that T has seen of it, and T
    /// must not have seen what another one has written there, which may have come later.
    fn may_wait_for_ever_beside_several(&mut self, before: At) -> bool {
        // What those that wait do later is not known.
        if self.interfering_waits {
            return true;
        }
        let kept = kept_from(self);
        let log = self.under_test();
        let turn = &log[before.under_test.min(log.len())..];
        let gives_back = |lock| {
            turn.iter()
                .any(|event| matches!(event.op, Op::Release(of, _) if of == lock))
        };
        let is_kept = |number: usize, write: usize| {
            kept.iter().any(|&(acquire, held)| {
                self.several.of_event(acquire) == number
                    && acquire < write
                    && !gives_back(held.lock)
            })
        };
        let mut read = turn.iter().filter_map(|event| event.op.reads());
        !read.any(|object| {
            let is_own = |event: &TEvent| event.op.writes() == Some(object);
            let of_t = log.iter().rev();
            let seen = of_t
                .filter(|event| is_own(event) || event.op.reads() == Some(object))
                .find(|event| is_own(event) || event.source.is_some());
            if seen.is_some_and(is_own) {
                return false;
            }
            let seen = seen.and_then(|event| event.source).map(|it| it as usize);
            (0..self.several.current()).any(|number| {
                let events = self.several.events(number, 0);
                let from = match seen {
                    None => events.start,
                    Some(seen) if events.contains(&seen) => seen + 1,
                    Some(_) => return false,
                };
                let writes = |&at: &usize| self.interfering[at].writes() == Some(object);
                let last = (from..events.end).rev().find(writes);
                last.is_some_and(|write| !is_kept(number, write))
            })
        })
    }

    /// Whether T' waits by its last read, whatever T has done until now.
    pub(super) fn interfering_waits_in_vain(&self) -> bool {
        self.interfering_waits
            && self.spin.vain_looks > 0
            && !self.writes_what_interfering_waits_for()
    }

    /// The number of events of T' that the program's thread does, if T' waits at its end.
    pub(super) fn events_before_vain_looks(&self) -> usize {
        let looks = if self.interfering_waits {
            self.spin.vain_looks as usize
        } else {
            0
        };
        self.interfering.len() - looks
    }

    /// Whether T has written something that T' read in its last, idle turn.
    fn writes_what_interfering_waits_for(&self) -> bool {
        let events = self.under_test().iter().zip(&self.under_test_trail[..]);
        let mut events = events;
        events.any(|(event, trail)| {
            let writes = event.op.writes();
            let counts = !self.spin.awaits_completion || trail.value & 3 == COMPLETE;
            counts && writes.is_some_and(|object| self.spin.idle_reads.contains(&object))
        })
    }

    /// Whether T' waits for an initialization that T has brought to an end.
    pub(super) fn has_completed_for_interfering(&self) -> bool {
        self.interfering_waits
            && self.spin.awaits_completion
            && self.writes_what_interfering_waits_for()
    }

    /// T waits for the end of T', which waits in a loop. Returns whether T' waits for a time, and nothing of what T has
    /// done ends the loop: then time passes, and T' goes on.
    pub(super) fn interfering_waits_for_time(&self) -> bool {
        self.spin.waits_for_time && !self.writes_what_interfering_waits_for()
    }

    /// Whether T, which does no more or waits for T', may have left T' waiting for ever: T' waits in a loop, and nothing of
    /// what T has done ends the loop.
    pub(super) fn leaves_interfering_waiting(&mut self) -> bool {
        if self.is_of_several() {
            // Another one may have ended the loop.
            return self.interfering_waits;
        }
        self.interfering_waits
            && self.all_reads_done()
            && self.leaves_waiting_where_it_is()
            && self.grid.reachable_at(self.interfering.len())
    }

    /// Whether T' may still wait where T is now. If T has written what T' waits for, that may have come before T' began to
    /// wait, as with a notification: then T' can have its last look yet.
    fn leaves_waiting_where_it_is(&mut self) -> bool {
        if !self.writes_what_interfering_waits_for() {
            return true;
        }
        // What is complete stays so: no look of T' comes too late for that.
        let is_lost = self.spin.vain_looks > 0 && !self.spin.awaits_completion;
        is_lost && self.grid.reachable_on_the_way(self.interfering.len() - 1)
    }

    /// Whether T' gives this lock back in each turn of the loop in which it waits, though it has it where a turn begins.
    pub(super) fn gives_back_in_turns(&self, lock: Object) -> bool {
        self.interfering_waits && self.spin.idle_locks.contains(&lock)
    }

    /// T may have left T' waiting for ever, and what comes of that is not known here.
    pub(super) fn note_left_waiting(&mut self) {
        self.undecided.1 |= !self.interfering_was_cut;
        self.interfering_was_cut = true;
    }

    /// T tries to take a lock without waiting for it.
    pub(super) fn note_attempt(&mut self, lock: Object) {
        let may_be_taken = self.is_of_several() && self.interfering_waits;
        if may_be_taken || self.spin.idle_locks.contains(&lock) {
            self.undecided.1 |= !self.interfering_was_cut;
            self.interfering_was_cut = true;
        }
    }
}
