//! The children of a canonical execution: which operations can be reversed with events that ran before them.

use std::borrow::Cow;

use crate::event::{Class, Event, Kind, Object, Pending, Thread};
use crate::trace::{NOWHERE, Position};

use super::execution::{Execution, Step};
use super::holdings::Held;

/// How a child differs from its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reversal {
    /// The target delays the step's event.
    Delay,
    /// The target delays the step's event, after all shared holders have given back the lock that the target needs.
    DelayOnceReleased,
    /// The target runs before this event, which delays the step's event already.
    Before(Position),
}

/// A child of an execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    /// The index of the step whose delay grows.
    pub(super) step: u32,
    /// The position of the target. Past the execution's end: the execution's length plus the index of a waiting operation.
    pub(super) target: u32,
    pub(super) reversal: Reversal,
}

/// The number of an object's uses up to which the uses are looked at one by one.
const ONE_BY_ONE: usize = 32;

/// For the memory of listing children: it serves one execution after another.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    delayed_reads: Vec<Position>,
    unordered: Vec<Position>,
}

/// An operation that may run earlier than it did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) thread: Thread,
    pub(super) pending: Pending,
    /// The position of the event before it in its thread.
    pub(super) before: Position,
    /// See [`super::execution::Announced::enabler`]. For a waiting operation: past the end, so in no prefix.
    enabler: Position,
}

/// A prefix of an execution's trace: all before `end`, and what the clock knows, but perhaps one event.
#[derive(Clone, Debug)]
pub(super) struct Prefix<'a> {
    execution: &'a Execution,
    end: Position,
    clock: Cow<'a, [u32]>,
    without: Position,
}

impl<'a> Prefix<'a> {
    pub(super) fn contains(&self, position: Position) -> bool {
        if position == self.without {
            return false;
        }
        position < self.end || {
            let entry = self.execution.trace.entry(position);
            self.contains_event(entry.event.thread, entry.index)
        }
    }

    /// Whether it has the thread's event of this index, which is not before its `end`.
    fn contains_event(&self, thread: Thread, index: u32) -> bool {
        self.clock
            .get(usize::from(thread))
            .is_some_and(|&known| known >= index)
    }

    /// The events on the object that it contains, ascending.
    fn uses(&self, object: Object) -> impl Iterator<Item = Position> {
        let uses = self.execution.trace.uses(object).iter().copied();
        uses.filter(|&position| self.contains(position))
    }

    /// The value that its object has after this prefix, which holds nothing that conflicts with `event` and has not
    /// happened before it. What `event` found, then, unless it is one of those that change a count and commute.
    fn value(&self, event: &Event) -> u64 {
        if !matches!(event.kind, Kind::Add | Kind::Take | Kind::Upgrade) {
            return event.found;
        }
        let trace = &self.execution.trace;
        let first = trace.uses(event.object).first();
        let base = first.map_or(event.found, |&first| trace.event(first).found);
        self.uses(event.object).fold(base, |value, position| {
            let event = trace.event(position);
            value.wrapping_add(event.left.wrapping_sub(event.found))
        })
    }

    /// How the lock is held after it.
    fn holders(&self, lock: Object) -> Held {
        let trace = &self.execution.trace;
        if let Some(held) = self.execution.holdings.after(lock, self.end, &self.clock) {
            let Some(without) = self.left_out(lock) else {
                return held;
            };
            let Held { exclusive, shared } = Held::by(without);
            return held.and(Held {
                exclusive: -exclusive,
                shared: -shared,
            });
        }
        self.uses(lock)
            .map(|position| Held::by(trace.event(position)))
            .fold(Held::default(), Held::and)
    }

    /// The event that is left out, if it is on this object.
    fn left_out(&self, object: Object) -> Option<&Event> {
        if self.without == NOWHERE {
            return None;
        }
        let event = self.execution.trace.event(self.without);
        (event.object == object && event.kind.class() != Class::None).then_some(event)
    }

    /// Whether the thread holds the lock shared after it.
    fn holds(&self, lock: Object, thread: Thread) -> bool {
        let trace = &self.execution.trace;
        let mut balance = 0;
        for event in self.uses(lock).map(|position| trace.event(position)) {
            if event.thread == thread {
                balance += i32::from(event.kind.class() == Class::Acquire);
                balance -= i32::from(event.kind.class() == Class::Release);
            }
        }
        balance > 0
    }

    /// Whether the thread, which waits on the object, may go on after it.
    fn notifies(&self, object: Object, thread: Thread) -> bool {
        let trace = &self.execution.trace;
        let uses = trace.uses(object);
        let end = match self.left_out(object) {
            Some(_) => self.without.min(self.end),
            None => self.end,
        };
        // The prefix has all uses before that.
        let whole = uses.partition_point(|&position| position < end);
        let (mut queue, from) = self.execution.queues.before(object, whole);
        let uses = uses[from..]
            .iter()
            .filter(|&&position| position != self.without);
        // What changes a queue conflicts with all other uses: after one that the prefix lacks, the prefix has none.
        for &position in uses.take_while(|&&position| self.contains(position)) {
            queue.follow(trace.event(position));
        }
        queue.covers(thread)
    }

    /// How an operation of the thread would touch its object after this prefix, if the object has this value then.
    /// `None`: it is not enabled.
    fn class_of(
        &self,
        thread: Thread,
        pending: &Pending,
        enabler: Position,
        value: impl FnOnce() -> u64,
    ) -> Option<Class> {
        let kind = pending.kind;
        match kind {
            Kind::Wake => {
                let enabled = pending.expected == 1 || self.notifies(pending.object, thread);
                enabled.then_some(kind.class())
            }
            Kind::CompareExchange => Some(if value() == pending.expected {
                Class::Modify
            } else {
                Class::Read
            }),
            Kind::Update if pending.expected == Pending::UNLESS_ZERO => Some(if value() == 0 {
                Class::Read
            } else {
                Class::Modify
            }),
            Kind::Upgrade => Some(if value() == 0 {
                Class::Read
            } else {
                Class::Upgrade
            }),
            Kind::Lock | Kind::TryLock | Kind::LockShared | Kind::TryLockShared => {
                let Held { exclusive, shared } = self.holders(pending.object);
                let is_shared = matches!(kind, Kind::LockShared | Kind::TryLockShared);
                if exclusive == 0 && (is_shared || shared == 0) {
                    return Some(kind.class());
                }
                (!kind.blocks()).then_some(Class::Read)
            }
            _ => {
                let length = self.execution.trace.len() as Position;
                let enabled = enabler == NOWHERE || (enabler < length && self.contains(enabler));
                enabled.then_some(kind.class())
            }
        }
    }

    /// Adds the releases of all who hold the lock shared, with their pasts. False if one of them comes after `position`
    /// or never.
    fn release(&mut self, lock: Object, position: Position) -> bool {
        let trace = &self.execution.trace;
        loop {
            let Held { exclusive, shared } = self.holders(lock);
            if exclusive > 0 {
                return false;
            }
            if shared == 0 {
                return true;
            }
            let next = trace.uses(lock).iter().copied().find(|&release| {
                let event = trace.event(release);
                event.kind == Kind::UnlockShared
                    && !self.contains(release)
                    && self.holds(lock, event.thread)
            });
            let Some(next) = next.filter(|&next| !trace.happens_before(position, next)) else {
                return false;
            };
            let known = trace.clock(next);
            let clock = self.clock.to_mut();
            clock.resize(known.len(), 0);
            for (own, &other) in clock.iter_mut().zip(known) {
                *own = (*own).max(other);
            }
        }
    }

    /// Whether the canonical execution of this prefix is the execution that it is of, given that steps up to `step`
    /// agree: every later delay is there for an event of the prefix, or made of events of it.
    fn leads_to_execution(&self, step: u32) -> bool {
        self.execution.delayed_after(step).all(|later| {
            self.contains_event(later.thread, later.index)
                || (later.start..later.end).all(|position| self.contains(position))
        })
    }
}

impl Execution {
    /// The target of this number.
    pub(super) fn target(&self, target: u32) -> Target {
        let length = self.trace.len() as u32;
        if target < length {
            let entry = self.trace.entry(target);
            let announced = &self.announced[target as usize];
            return Target {
                thread: entry.event.thread,
                pending: announced.pending,
                before: entry.before,
                enabler: announced.enabler,
            };
        }
        let waiting = &self.waiting[(target - length) as usize];
        Target {
            thread: waiting.thread,
            pending: waiting.pending,
            before: self.trace.last(waiting.thread),
            enabler: waiting.enabler,
        }
    }

    /// All up to the step's event, and the target's past.
    fn prefix(&self, step: &Step, target: &Target) -> Prefix<'_> {
        Prefix {
            execution: self,
            end: step.end,
            clock: Cow::Borrowed(self.trace.clock(target.before)),
            without: NOWHERE,
        }
    }

    /// What of this execution comes before the target in the child.
    pub(super) fn prefix_of(&self, child: Child) -> Prefix<'_> {
        let step = &self.steps[child.step as usize];
        let target = self.target(child.target);
        let mut prefix = self.prefix(step, &target);
        match child.reversal {
            Reversal::Delay => {}
            Reversal::DelayOnceReleased => {
                prefix.release(target.pending.object, step.end);
            }
            Reversal::Before(position) => prefix.without = position,
        }
        prefix
    }

    /// How many targets there are: the events, and the operations that wait.
    fn targets(&self) -> u32 {
        (self.trace.len() + self.waiting.len()) as u32
    }

    /// Gets ready for listing children.
    pub(super) fn look_at_locks(&mut self, few: usize) {
        self.holdings.look_at(&self.trace, few);
        self.queues.look_at(&self.trace);
    }

    /// Lists the children from this target on, until it has looked at as many places as the execution has events, or at a
    /// `few`, and moves the target on. Whether there are more targets.
    pub(super) fn children(
        &mut self,
        next: &mut u32,
        children: &mut Vec<Child>,
        listing: &mut Listing,
        few: usize,
    ) -> bool {
        children.clear();
        if *next == 0 {
            self.look_at_locks(few);
        }
        let Listing {
            delayed_reads,
            unordered,
        } = listing;
        self.delayed_reads(delayed_reads);
        let mut left = self.trace.len().max(few);
        let targets = self.targets();
        while *next < targets && left > 0 {
            let number = *next;
            *next += 1;
            left -= 1;
            if self.has_nothing_before(number) {
                continue;
            }
            let target = self.target(number);
            let uses = self.trace.uses(target.pending.object);
            let mut list = |position: Position| {
                let step = self.step_of[position as usize];
                if step == NOWHERE {
                    return;
                }
                self.children_at(step, &target, |reversal| {
                    children.push(Child {
                        step,
                        target: number,
                        reversal,
                    });
                });
            };
            if uses.len() <= ONE_BY_ONE {
                for &position in uses.iter().take_while(|&&position| position < number) {
                    if !self.trace.is_known(position, target.thread, target.before) {
                        list(position);
                    }
                }
                continue;
            }
            self.unordered(number, &target, delayed_reads, unordered);
            left = left.saturating_sub(unordered.len());
            for &position in unordered.iter().rev() {
                list(position);
            }
        }
        *next < targets
    }

    /// Whether the target of this number touches no object, or an object that no event has touched before.
    #[inline]
    fn has_nothing_before(&self, number: u32) -> bool {
        let length = self.trace.len() as u32;
        let pending = if number < length {
            &self.announced[number as usize].pending
        } else {
            &self.waiting[(number - length) as usize].pending
        };
        let uses = self.trace.uses(pending.object);
        pending.kind.class() == Class::None || uses.first().is_none_or(|&first| first >= number)
    }

    /// The reads that have delays, ascending: the only ones that an operation can make a child of without a conflict.
    fn delayed_reads(&self, reads: &mut Vec<Position>) {
        reads.clear();
        let ends = self
            .delayed
            .iter()
            .map(|&step| self.steps[step as usize].end);
        reads.extend(ends.filter(|&end| {
            (end as usize) < self.trace.len() && self.trace.event(end).kind.class() == Class::Read
        }));
    }

    /// The events on the target's object before it that its past does not have, from the last, as far as they can be those
    /// of steps at which it makes a child. It takes no longer than there are such events: those of the past are passed
    /// over.
    fn unordered(
        &self,
        number: u32,
        target: &Target,
        delayed_reads: &[Position],
        unordered: &mut Vec<Position>,
    ) {
        unordered.clear();
        let trace = &self.trace;
        let object = target.pending.object;
        let uses = trace.uses(object);
        let mut n = uses.partition_point(|&position| position < number);
        // A look at a count is reversed with all changes of the count. These commute: none has others in its past.
        if target.pending.kind.class() != Class::Read || trace.has_commuting(object) {
            while n > 0 {
                let position = uses[n - 1];
                if trace.is_known(position, target.thread, target.before) {
                    // So is all that comes before the last change that is known.
                    n = trace.unknown_before(uses, n - 1);
                } else {
                    unordered.push(position);
                    n -= 1;
                }
            }
            return;
        }
        let mut reads = delayed_reads.iter().rev().copied().filter(|&position| {
            position < number
                && trace.event(position).object == object
                && !trace.is_known(position, target.thread, target.before)
        });
        let mut read = reads.next();
        let mut change = (n > 0).then(|| trace.latest_change(uses[n - 1]));
        loop {
            let next = change.filter(|&position| {
                position != NOWHERE && !trace.is_known(position, target.thread, target.before)
            });
            match (next, read) {
                (Some(position), read) if read.is_none_or(|read| read < position) => {
                    unordered.push(position);
                    change = Some(trace.modifier(position));
                }
                (_, Some(position)) => {
                    unordered.push(position);
                    read = reads.next();
                }
                (_, None) => return,
            }
        }
    }

    /// The children that the target makes at this step, whose event is not in its past.
    fn children_at(&self, number: u32, target: &Target, mut found: impl FnMut(Reversal)) {
        let step = &self.steps[number as usize];
        let event = self.trace.event(step.end);
        let mut prefix = self.prefix(step, target);
        let own = event.kind.class();
        // Nothing else in the prefix conflicts with the step's event: the target finds the value that this found.
        let class = prefix.class_of(target.thread, &target.pending, target.enabler, || {
            prefix.value(event)
        });
        let conflicting = class.filter(|class| class.conflicts(own));
        if (conflicting.is_some() || step.is_delayed()) && prefix.leads_to_execution(number) {
            if let Some(class) = conflicting
                && self.is_highest(step, &prefix, target, class)
            {
                found(Reversal::Delay);
            }
            for &position in self.delaying(step) {
                if self.runs_before(position, step, &mut prefix, target) {
                    found(Reversal::Before(position));
                }
            }
        }
        let exclusive = matches!(target.pending.kind, Kind::Lock | Kind::TryLock);
        if exclusive
            && own == Class::Acquire
            && class != Some(Class::Modify)
            && prefix.release(target.pending.object, step.end)
            && prefix.leads_to_execution(number)
        {
            found(Reversal::DelayOnceReleased);
        }
    }

    /// Whether the target is the highest of the child's delay: of its maximal events, the one by the highest thread. Only
    /// events that commute with the target can be maximal beside it.
    fn is_highest(&self, step: &Step, prefix: &Prefix<'_>, target: &Target, class: Class) -> bool {
        if class == Class::Modify || !step.is_delayed() {
            return true;
        }
        let own = self.trace.event(step.end);
        self.delaying(step).iter().all(|&position| {
            let event = self.trace.event(position);
            !event.depends(own)
                || event.thread < target.thread
                || self.is_followed(position, step, NOWHERE)
                || self.is_past(position, prefix, target, class)
        })
    }

    /// The events of the step's delay that are on the object of its own event.
    fn delaying(&self, step: &Step) -> &[Position] {
        if !step.is_delayed() {
            return &[];
        }
        let uses = self.trace.uses(self.trace.event(step.end).object);
        let start = uses.partition_point(|&position| position < step.start);
        let length = uses[start..].partition_point(|&position| position < step.end);
        &uses[start..start + length]
    }

    /// Whether another event of the step's delay, but for `without`, comes after this one in happens-before.
    fn is_followed(&self, position: Position, step: &Step, without: Position) -> bool {
        (position + 1..step.end)
            .any(|other| other != without && self.trace.happens_before(position, other))
    }

    /// Whether the event comes before the target, of this class, when that runs after the prefix.
    fn is_past(
        &self,
        position: Position,
        prefix: &Prefix<'_>,
        target: &Target,
        class: Class,
    ) -> bool {
        self.trace.happens_before(position, target.before)
            || prefix.uses(target.pending.object).any(|other| {
                self.trace.event(other).kind.class().conflicts(class)
                    && self.trace.happens_before(position, other)
            })
    }

    /// Whether the target makes a child by running just before the event at `high`, the only one of the delay that it
    /// conflicts with so that the delay grows by it: it must be what the parent of that child lacks.
    fn runs_before(
        &self,
        high: Position,
        step: &Step,
        prefix: &mut Prefix<'_>,
        target: &Target,
    ) -> bool {
        let trace = &self.trace;
        let highest = trace.event(high);
        let delayed = trace.event(step.end);
        let is_maximal = highest.depends(delayed) && !self.is_followed(high, step, NOWHERE);
        if !is_maximal || trace.happens_before(high, target.before) {
            return false;
        }
        prefix.without = high;
        let runs = self.is_last_extra(high, step, prefix, target, highest);
        prefix.without = NOWHERE;
        runs
    }

    /// The rest of [`Self::runs_before`], with `high` taken out of the prefix.
    fn is_last_extra(
        &self,
        high: Position,
        step: &Step,
        prefix: &Prefix<'_>,
        target: &Target,
        highest: &Event,
    ) -> bool {
        let announced = &self.announced[step.end as usize];
        let delayed = self.trace.event(step.end);
        let value = || prefix.value(highest);
        let class = prefix.class_of(target.thread, &target.pending, target.enabler, value);
        // What the step's event would be without `high`: what it conflicts with then delays it anyway.
        let own = prefix.class_of(delayed.thread, &announced.pending, announced.enabler, value);
        let (Some(class), Some(own)) = (class, own) else {
            return false;
        };
        if class.conflicts(own) || !class.conflicts(highest.kind.class()) {
            return false;
        }
        if highest.kind == Kind::TryLockFailed && class == Class::Release {
            let Held { exclusive, shared } = prefix.holders(highest.object);
            if exclusive == 0 && shared <= 1 {
                // It would not fail any more.
                return false;
            }
        }
        let before_high = self.trace.entry(high).before;
        let is_justified = |position: Position| {
            self.trace.happens_before(position, before_high)
                || self.delaying(step).iter().any(|&other| {
                    other != high
                        && self.trace.event(other).kind.class().conflicts(own)
                        && self.trace.happens_before(position, other)
                })
        };
        self.delaying(step).iter().all(|&position| {
            let event = self.trace.event(position);
            position == high
                || event.kind.class().conflicts(own)
                || event.thread < target.thread
                || self.is_followed(position, step, high)
                || is_justified(position)
                || self.is_past(position, prefix, target, class)
        })
    }
}
