//! The state of an execution of a maximal causal model: how far each thread has come, what the objects hold, and
//! which event can be next. Steps can be taken back.
//!
//! Wait queues are those of [`waiting`](crate::waiting), with lanes for threads.

use std::hash::{Hash, Hasher};

use super::model::{Cut, Model, Step};
use crate::event::{Kind, Thread};
use crate::hash::{Mixer, mix, scatter};
use crate::transition::Standing;
use crate::waiting::Queue;

/// A lane as wait queues know it: there are at most [`MAX_THREADS`](crate::threads::MAX_THREADS).
#[inline]
fn waiter(lane: u32) -> Thread {
    Thread::try_from(lane).unwrap_or(Thread::MAX)
}

/// Holders of a lock.
#[derive(Clone, Copy, Debug, Default)]
struct Holders {
    /// Lane + 1.
    exclusive: u32,
    shared: u32,
}

/// What taking a step back has to restore.
#[derive(Clone, Debug)]
struct Undo {
    lane: u32,
    value: u64,
    /// The thread's entry in [`State::watches`].
    watch: u32,
    /// The index in [`State::released`] of the first thread that the step let go.
    released: u32,
    queue: Option<Queue>,
    standing: Option<Box<Standing>>,
    /// [`State::refused`], if the step may have changed it.
    refused: Option<Box<[u32]>>,
}

/// The state of an execution of the model.
#[derive(Clone, Debug, Default)]
pub struct State {
    cut: Cut,
    values: Vec<u64>,
    holders: Vec<Holders>,
    queues: Vec<Queue>,
    /// Per object: its standing. Empty if the model has no transitions.
    standings: Vec<Standing>,
    /// Per lane: if its last event was a read and the object has not been modified since, the object + 1.
    watches: Vec<u32>,
    /// Whether the model has parked reads, which depend on [`Self::watches`].
    parks: bool,
    /// Per lane: 1 + the index of the event that began the last block during which another thread failed to take the lock;
    /// 0 if there is none. Empty if no step of the model depends on that.
    refused: Vec<u32>,
    trail: Vec<Undo>,
    /// Threads whose object has been modified, with their entries in [`Self::watches`].
    released: Vec<(u32, u32)>,
    hash: u64,
}

#[inline]
fn place(lane: u32, index: u32) -> u64 {
    scatter((u64::from(lane) << 32 | u64::from(index)) ^ 0x5bd1_e995)
}

#[inline]
fn holds(object: u32, value: u64) -> u64 {
    mix(u64::from(object).wrapping_add(0x51_7cc1_b727), value)
}

fn refused_hash(refused: &[u32]) -> u64 {
    let each = refused.iter().map(|&last| u64::from(last));
    each.fold(0x4ef5_0000, mix)
}

impl State {
    /// Goes to the start of an execution.
    pub fn begin(&mut self, model: &Model) {
        let lanes = model.lanes().len();
        let cells = model.cells().len();
        self.cut.clear();
        self.cut.resize(lanes, 0);
        self.values.clear();
        self.values
            .extend(model.cells().iter().map(|cell| cell.initial));
        self.holders.clear();
        self.holders.resize(cells, Holders::default());
        self.queues.iter_mut().for_each(Queue::clear);
        self.queues
            .resize_with(cells.max(self.queues.len()), Queue::new);
        self.standings.clear();
        if !model.transitions().is_empty() {
            self.standings.resize(cells, Standing::default());
        }
        self.watches.clear();
        self.watches.resize(lanes, 0);
        self.parks = model.parks();
        self.refused.clear();
        if model.refuses() {
            self.refused.resize(lanes, 0);
        }
        self.trail.clear();
        self.released.clear();
        self.hash = 0;
    }

    /// The number of events that each lane has done.
    #[inline]
    #[must_use]
    pub fn cut(&self) -> &[u32] {
        &self.cut
    }

    /// The hash of an object's value.
    #[inline]
    #[must_use]
    pub fn value(&self, object: u32) -> u64 {
        self.values[object as usize]
    }

    /// A hash of all that decides what can follow.
    #[inline]
    #[must_use]
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// The number of steps taken.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.trail.len()
    }

    /// Whether no step has been taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.trail.is_empty()
    }

    /// The lanes of the steps taken, in order.
    pub fn lanes(&self) -> impl Iterator<Item = u32> {
        self.trail.iter().map(|undo| undo.lane)
    }

    /// The next event of a thread, if the trace has one.
    #[inline]
    #[must_use]
    pub fn next<'m>(&self, model: &'m Model, lane: u32) -> Option<&'m Step> {
        model.lanes()[lane as usize]
            .steps
            .get(self.cut[lane as usize] as usize)
    }

    /// Whether a thread that stands before this step could take it in the program, whatever it would observe.
    #[must_use]
    pub fn is_enabled(&self, model: &Model, lane: u32, step: &Step) -> bool {
        if self.cut[lane as usize] == 0
            && let Some((parent, fork)) = model.lanes()[lane as usize].fork
            && self.cut[parent as usize] <= fork
        {
            return false;
        }
        if step.refused_since != Step::ALWAYS
            && self
                .refused
                .get(lane as usize)
                .is_none_or(|&last| last <= step.refused_since)
        {
            return false;
        }
        match step.kind {
            Kind::Lock => {
                let holders = self.holders[step.object as usize];
                holders.exclusive == 0 && holders.shared == 0
            }
            Kind::LockShared => self.holders[step.object as usize].exclusive == 0,
            Kind::Join => {
                let other = model.lane_at(step.object);
                other.ended
                    && self.cut[step.object as usize] == other.len()
                    && self.is_begun(model, step.object)
            }
            // A wait that may time out can always go on: the trace says whether it was notified.
            Kind::Wake => self.has_permit(step.object, lane) || step.timed,
            _ if step.parked => self.watches[lane as usize] == 0,
            _ => true,
        }
    }

    /// Whether a thread exists.
    fn is_begun(&self, model: &Model, lane: u32) -> bool {
        model.lanes()[lane as usize]
            .fork
            .is_none_or(|(parent, fork)| self.cut[parent as usize] > fork)
    }

    /// Whether this event can be next **and** observes what it observed in the trace.
    #[inline]
    #[must_use]
    pub fn keeps(&self, model: &Model, lane: u32, step: &Step) -> bool {
        match step.kind {
            Kind::TryLock | Kind::TryLockShared if !self.may_try(step) => {
                return false;
            }
            Kind::TryLockFailed | Kind::TryLockSharedFailed if self.may_try(step) => {
                return false;
            }
            Kind::Wake if self.has_permit(step.object, lane) != (step.found == Step::NOTIFIED) => {
                return false;
            }
            Kind::Wait | Kind::Notify if step.attempts() => {
                return self.comes(model, step) == Some(step.found);
            }
            _ => {}
        }
        if step.observes_value() && !step.admits(self.values[step.object as usize]) {
            return false;
        }
        self.is_enabled(model, lane, step)
    }

    /// Whether a try-lock would succeed now.
    #[must_use]
    pub fn may_try(&self, step: &Step) -> bool {
        let holders = self.holders[step.object as usize];
        holders.exclusive == 0
            && (matches!(step.kind, Kind::TryLockShared | Kind::TryLockSharedFailed)
                || holders.shared == 0)
    }

    /// Whether a thread in a wait queue has been notified.
    #[must_use]
    pub fn has_permit(&self, object: u32, lane: u32) -> bool {
        self.queues[object as usize].covers(waiter(lane))
    }

    /// Returns the outcome that an attempt would have now.
    #[must_use]
    pub fn comes(&self, model: &Model, step: &Step) -> Option<u64> {
        let transition = model.transition(step)?;
        let senders = model.cells()[step.object as usize].senders;
        let queue = &self.queues[step.object as usize];
        let standing = self.standings.get(step.object as usize)?;
        Some(standing.outcome(transition, senders, queue))
    }

    /// Takes the next step of a thread, which can be next.
    #[inline]
    pub fn take(&mut self, model: &Model, lane: u32, step: &Step) {
        let at = lane as usize;
        let object = step.object as usize;
        let mut undo = Undo {
            lane,
            value: 0,
            watch: self.watches[at],
            released: u32::try_from(self.released.len()).unwrap_or(u32::MAX),
            queue: None,
            standing: None,
            refused: None,
        };
        if self.parks {
            let reads = matches!(step.kind, Kind::Read | Kind::FailedUpdate);
            self.watch(at, if reads { step.object + 1 } else { 0 });
        }
        match step.kind {
            Kind::Write | Kind::Update => {
                undo.value = self.leave(object, step.left);
                self.let_go(step.object);
            }
            Kind::Unlock => {
                undo.value = self.leave(object, step.left);
                self.holders[object].exclusive = 0;
                self.let_go(step.object);
            }
            Kind::Lock | Kind::TryLock => self.holders[object].exclusive = lane + 1,
            Kind::LockShared | Kind::TryLockShared => self.holders[object].shared += 1,
            Kind::UnlockShared => self.holders[object].shared -= 1,
            Kind::TryLockFailed | Kind::TryLockSharedFailed if !self.refused.is_empty() => {
                undo.refused = self.refuse(model, step.object);
            }
            Kind::Wait | Kind::Notify | Kind::Wake => {
                undo.queue = Some(self.queues[object].clone());
                self.hash ^= self.queue_hash(object);
                let queue = &mut self.queues[object];
                match step.kind {
                    Kind::Wait if step.found == 0 => queue.wait(waiter(lane)),
                    Kind::Wait => {}
                    Kind::Notify if step.left == Step::ALL => {
                        queue.notify_all();
                    }
                    Kind::Notify => {
                        queue.notify_one();
                    }
                    _ => {
                        queue.wake(waiter(lane));
                    }
                }
                self.hash ^= self.queue_hash(object);
                if step.moves {
                    undo.standing = self.change(model, step);
                }
            }
            _ => {}
        }
        let index = self.cut[at];
        self.hash ^= place(lane, index) ^ place(lane, index + 1);
        self.cut[at] = index + 1;
        self.trail.push(undo);
    }

    /// Takes back the latest step.
    #[inline]
    pub fn take_back(&mut self, model: &Model) {
        let Some(undo) = self.trail.pop() else {
            return;
        };
        let at = undo.lane as usize;
        let index = self.cut[at] - 1;
        self.cut[at] = index;
        self.hash ^= place(undo.lane, index) ^ place(undo.lane, index + 1);
        let step = model.step((undo.lane, index));
        let object = step.object as usize;
        while self.released.len() > undo.released as usize {
            if let Some((lane, watch)) = self.released.pop() {
                self.watch(lane as usize, watch);
            }
        }
        match step.kind {
            Kind::Write | Kind::Update => {
                self.leave(object, undo.value);
            }
            Kind::Unlock => {
                self.leave(object, undo.value);
                self.holders[object].exclusive = undo.lane + 1;
            }
            Kind::Lock | Kind::TryLock => self.holders[object].exclusive = 0,
            Kind::LockShared | Kind::TryLockShared => self.holders[object].shared -= 1,
            Kind::UnlockShared => self.holders[object].shared += 1,
            _ => {}
        }
        if let Some(queue) = undo.queue {
            self.hash ^= self.queue_hash(object);
            self.queues[object] = queue;
            self.hash ^= self.queue_hash(object);
        }
        if let Some(standing) = undo.standing {
            self.hash ^= self.standing_hash(object);
            self.standings[object] = *standing;
            self.hash ^= self.standing_hash(object);
        }
        if let Some(refused) = undo.refused {
            self.hash ^= self.refused_hash();
            self.refused.copy_from_slice(&refused);
            self.hash ^= self.refused_hash();
        }
        if self.parks {
            self.watch(at, undo.watch);
        }
    }

    /// A thread has failed to take the lock: notes that for the blocks that are open. Returns what was noted before, if that was
    /// something else.
    fn refuse(&mut self, model: &Model, object: u32) -> Option<Box<[u32]>> {
        let before: Box<[u32]> = self.refused.as_slice().into();
        for (at, of) in model.lanes().iter().enumerate() {
            let mut open = of.sections().open_after(self.cut[at]);
            if let Some(section) = open.find(|section| section.object == object) {
                let last = &mut self.refused[at];
                *last = (*last).max(section.block.start.saturating_add(1));
            }
        }
        if *before == *self.refused {
            return None;
        }
        self.hash ^= refused_hash(&before) ^ self.refused_hash();
        Some(before)
    }

    fn refused_hash(&self) -> u64 {
        refused_hash(&self.refused)
    }

    #[inline]
    fn leave(&mut self, object: usize, value: u64) -> u64 {
        let before = std::mem::replace(&mut self.values[object], value);
        if before != value {
            let number = u32::try_from(object).unwrap_or(u32::MAX);
            self.hash ^= holds(number, before) ^ holds(number, value);
        }
        before
    }

    /// Which object it is follows from how far the thread has come, so the hash does without.
    #[inline]
    fn watch(&mut self, lane: usize, watch: u32) {
        let before = std::mem::replace(&mut self.watches[lane], watch);
        if (before == 0) != (watch == 0) {
            self.hash ^= scatter(lane as u64 ^ 0x9e37_79b9);
        }
    }

    /// An object is modified: the threads that wait for a modification may look again.
    #[inline]
    fn let_go(&mut self, object: u32) {
        if !self.parks {
            return;
        }
        for lane in 0..self.watches.len() {
            let watch = self.watches[lane];
            if watch == object + 1 {
                self.watch(lane, 0);
                self.released
                    .push((u32::try_from(lane).unwrap_or(u32::MAX), watch));
            }
        }
    }

    /// Changes an object's standing. Returns the standing before.
    fn change(&mut self, model: &Model, step: &Step) -> Option<Box<Standing>> {
        let object = step.object as usize;
        let transition = model.transition(step)?;
        let before = Box::new(self.standings.get(object)?.clone());
        self.hash ^= self.standing_hash(object);
        let senders = model.cells()[object].senders;
        self.standings[object].change(transition, senders, &self.queues[object]);
        self.hash ^= self.standing_hash(object);
        Some(before)
    }

    fn standing_hash(&self, object: usize) -> u64 {
        mix(object as u64 ^ 0x5ead, self.standings[object].print())
    }

    fn queue_hash(&self, object: usize) -> u64 {
        let mut hasher = Mixer::default();
        object.hash(&mut hasher);
        self.queues[object].hash(&mut hasher);
        hasher.finish()
    }
}
