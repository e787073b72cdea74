//! Readers that may wait behind a writer that itself waits.
//!
//! std leaves open whether a shared acquire has to wait while an exclusive acquire of the same lock waits. In seqz a shared
//! acquire never waits for a waiting writer. This choice hides one behaviour only: a reader that goes on beside a waiting
//! writer acts like a reader that came before the writer began to wait; but a reader that waits behind the writer may wait
//! for ever, if a shared holder that the writer waits for waits, in turn, for that reader. Such an execution is a prefix
//! of an execution in which the reader goes on. So no search has to make the execution: this module looks for it in each
//! execution that a search makes.
//!
//! Let *r* be a shared acquire of a lock that some thread holds shared, and *w* an exclusive acquire by another thread,
//! such that neither *r* nor *w* has to come before the other. The events that happen neither after *r* nor after *w* can
//! happen without *r* and *w*. If the lock is still held after these events, and no thread goes on while *r* waits, the
//! reader waits for ever. A run of these events decides it, in which writers go first once none of the events is left that
//! can run.
//!
//! The happens-before relation says which event has to come before which. Searches that make one execution of many traces
//! use the lazy relation: then an execution that this module proposes may not exist, but it misses fewer of them.

use crate::event::{Class, Event, Kind, Object, Pending, Thread};

/// A beginning of an execution after which a reader and a writer may wait for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The thread of each event of the beginning, in order.
    pub threads: Vec<Thread>,
    /// The places of the reader and of the writer, as their events number them.
    pub sites: (u32, u32),
}

/// Those of an execution with these events, at whose end these threads wait for these operations.
#[must_use]
pub fn prefixes(events: &[Event], waiting: &[(Thread, Pending)], lazy: bool) -> Vec<Prefix> {
    let order = Order::new(events, lazy);
    let mut prefixes = Vec::new();
    for (reader, event) in events.iter().enumerate() {
        if event.kind != Kind::LockShared {
            continue;
        }
        let releases = releases(events, reader);
        if releases.is_empty() {
            continue;
        }
        for (writer, site) in order.writers_beside(reader, events, waiting) {
            let goes = |at: usize| {
                order.is_before(reader, at)
                    || writer.is_some_and(|writer| order.is_before(writer, at))
            };
            // A holder is left that does not give the lock back by itself.
            if releases.iter().any(|release| release.is_none_or(goes)) {
                let kept = (0..events.len()).filter(|&at| !goes(at));
                let threads: Vec<Thread> = kept.map(|at| events[at].thread).collect();
                let sites = (event.site, site);
                if lazy {
                    // The order of critical sections is open: the writer may have to come to its place first.
                    let mut threads = threads.clone();
                    threads.sort_by_key(|thread| *thread == event.thread);
                    prefixes.push(Prefix { threads, sites });
                }
                prefixes.push(Prefix { threads, sites });
            }
        }
    }
    prefixes
}

/// Whether an attempt to read has succeeded in an execution with these events, at whose end these threads wait for these
/// operations, that may come while a writer waits for other readers: std leaves open whether it fails then.
#[must_use]
pub fn tried_beside(events: &[Event], waiting: &[(Thread, Pending)], lazy: bool) -> bool {
    let order = Order::new(events, lazy);
    events.iter().enumerate().any(|(reader, event)| {
        event.kind == Kind::TryLockShared
            && order.is_held_beside(reader, events)
            && order
                .writers_beside(reader, events, waiting)
                .next()
                .is_some()
    })
}

/// Whether, in some order of these operations, a reader might wait for ever behind a writer that waits. Only forks and
/// joins count for the order of operations.
///
/// For searches that make one execution of many orders, since that execution may not show such a reader. The condition: a
/// shared holder of a lock waits, for the same lock again or for a thread that may come to the lock, and a writer may come
/// to the lock meanwhile.
#[must_use]
pub fn may_be_left_out(events: &[Event], waiting: &[(Thread, Pending)]) -> bool {
    let late = waiting.iter().map(|&(thread, pending)| Event {
        thread,
        kind: pending.kind,
        object: pending.object,
        ..Event::default()
    });
    let mut threads: Vec<Progress> = Vec::new();
    let mut uses: Vec<Use> = Vec::new();
    for event in events.iter().copied().chain(late) {
        let thread = usize::from(event.thread);
        let named = matches!(event.kind, Kind::Fork | Kind::Join);
        let other = if named { event.object as usize } else { 0 };
        let count = threads.len().max(thread + 1).max(other + 1);
        threads.resize_with(count, Progress::default);
        let progress = &mut threads[thread];
        progress.events += 1;
        if event.kind.blocks() || event.kind == Kind::Join {
            uses.push(Use {
                event,
                index: progress.events,
                known: progress.known.clone(),
                held: progress.held.clone(),
            });
        }
        progress.follow(&event);
        if named && other != thread {
            let (from, to) = match event.kind {
                Kind::Fork => (thread, other),
                _ => (other, thread),
            };
            let source = threads[from].clone();
            threads[to].come_after(from, &source);
        }
    }
    uses.iter().any(|waits| {
        let mut shared = waits.held.iter().filter(|(_, shared)| *shared);
        shared.any(|&(lock, _)| {
            let beside = |kind: Kind| {
                let others = uses.iter().filter(move |other| {
                    other.event.kind == kind
                        && other.event.object == lock
                        && other.event.thread != waits.event.thread
                });
                others.filter(|other| other.may_be_beside(waits))
            };
            let again = waits.event.kind == Kind::LockShared && waits.event.object == lock;
            // A wait for another lock may last for ever only if another thread may wait while it holds that other lock.
            let may_last = !waits.event.kind.acquires()
                || uses.iter().any(|other| {
                    other.event.thread != waits.event.thread
                        && other
                            .held
                            .iter()
                            .any(|(held, _)| *held == waits.event.object)
                });
            beside(Kind::Lock).any(|writer| {
                again
                    || (may_last
                        && beside(Kind::LockShared)
                            .any(|reader| reader.event.thread != writer.event.thread))
            })
        })
    })
}

/// How far a thread has come.
#[derive(Clone, Debug, Default)]
struct Progress {
    events: u32,
    /// Per thread: the number of its events that come before the operation, by forks and joins.
    known: Vec<u32>,
    /// The locks that the thread holds at the operation, each with whether the thread holds the lock shared.
    held: Vec<(Object, bool)>,
}

impl Progress {
    fn follow(&mut self, event: &Event) {
        match event.kind {
            Kind::Lock | Kind::TryLock => self.held.push((event.object, false)),
            Kind::LockShared | Kind::TryLockShared => self.held.push((event.object, true)),
            Kind::Unlock | Kind::UnlockShared => {
                let lock = (event.object, event.kind == Kind::UnlockShared);
                if let Some(at) = self.held.iter().position(|held| *held == lock) {
                    self.held.swap_remove(at);
                }
            }
            _ => {}
        }
    }

    fn come_after(&mut self, thread: usize, other: &Self) {
        let length = self.known.len().max(other.known.len()).max(thread + 1);
        self.known.resize(length, 0);
        for (own, &known) in self.known.iter_mut().zip(&other.known) {
            *own = (*own).max(known);
        }
        self.known[thread] = self.known[thread].max(other.events);
    }
}

/// An operation that may have to wait.
struct Use {
    event: Event,
    index: u32,
    known: Vec<u32>,
    held: Vec<(Object, bool)>,
}

impl Use {
    /// Whether neither has to come before the other.
    fn may_be_beside(&self, other: &Self) -> bool {
        let knows = |one: &Self, other: &Self| {
            let known = one.known.get(usize::from(other.event.thread));
            known.is_some_and(|&known| known >= other.index)
        };
        !knows(self, other) && !knows(other, self)
    }
}

/// Where those give a lock back who hold it shared before the event at this position. `None`: never.
fn releases(events: &[Event], at: usize) -> Vec<Option<usize>> {
    let lock = events[at].object;
    let mut held: Vec<(Thread, Option<usize>)> = Vec::new();
    for event in events[..at].iter().filter(|event| event.object == lock) {
        match event.kind {
            Kind::LockShared | Kind::TryLockShared => held.push((event.thread, None)),
            Kind::UnlockShared => {
                if let Some(own) = held.iter().position(|&(thread, _)| thread == event.thread) {
                    held.remove(own);
                }
            }
            _ => {}
        }
    }
    for (position, event) in events.iter().enumerate().skip(at) {
        if held.iter().all(|(_, release)| release.is_some()) {
            break;
        }
        if event.kind == Kind::UnlockShared && event.object == lock {
            let mut own = held.iter_mut();
            if let Some((_, release)) =
                own.find(|(thread, release)| *thread == event.thread && release.is_none())
            {
                *release = Some(position);
            }
        }
    }
    held.into_iter().map(|(_, release)| release).collect()
}

/// What has to come before what.
struct Order {
    /// Per event: for each thread the number of its events that come before the event or are the event.
    clocks: Vec<Vec<u32>>,
    /// Per event: its thread, and the event's number among the thread's events, from 1.
    places: Vec<(usize, u32)>,
    /// Per event: the position of the thread's event before; for a thread's first event, of the thread's fork.
    before: Vec<Option<usize>>,
    /// Per thread: the position of its last event, or of its fork.
    last: Vec<Option<usize>>,
}

/// What the events of each class on an object know, taken together.
#[derive(Clone, Default)]
struct Uses([Vec<u32>; 4]);

const CLASSES: [Class; 4] = [Class::Read, Class::Modify, Class::Acquire, Class::Release];

impl Order {
    fn new(events: &[Event], lazy: bool) -> Self {
        let mut order = Self {
            clocks: Vec::with_capacity(events.len()),
            places: Vec::with_capacity(events.len()),
            before: Vec::with_capacity(events.len()),
            last: vec![None; crate::threads::MAX_THREADS],
        };
        let mut counts = vec![0; crate::threads::MAX_THREADS];
        let mut objects: std::collections::HashMap<Object, Uses> = std::collections::HashMap::new();
        for (at, event) in events.iter().enumerate() {
            let thread = usize::from(event.thread);
            counts[thread] += 1;
            let before = order.last[thread];
            let mut clock = before.map_or_else(Vec::new, |before| order.clocks[before].clone());
            if event.kind == Kind::Join
                && let Some(Some(end)) = order.last.get(event.object as usize)
            {
                join(&mut clock, &order.clocks[*end]);
            }
            let class = if lazy {
                event.lazy_class()
            } else {
                event.kind.class()
            };
            if clock.len() <= thread {
                clock.resize(thread + 1, 0);
            }
            clock[thread] = counts[thread];
            if class != Class::None {
                let uses = objects.entry(event.object).or_default();
                for (other, known) in CLASSES.iter().zip(&uses.0) {
                    if class.conflicts(*other) {
                        join(&mut clock, known);
                    }
                }
                if let Some(own) = CLASSES.iter().position(|other| *other == class) {
                    join(&mut uses.0[own], &clock);
                }
            }
            if event.kind == Kind::Fork
                && let Some(created) = order.last.get_mut(event.object as usize)
            {
                *created = Some(at);
            }
            order.clocks.push(clock);
            order.places.push((thread, counts[thread]));
            order.before.push(before);
            order.last[thread] = Some(at);
        }
        order
    }

    /// Whether another thread may hold this reader's lock shared when the reader comes, or the reader's own thread holds
    /// the lock shared.
    fn is_held_beside(&self, reader: usize, events: &[Event]) -> bool {
        let lock = events[reader].object;
        // Each open shared hold: the thread, and the position at which the thread has taken the lock.
        let mut held: Vec<(Thread, usize)> = Vec::new();
        let may_last = |taken: usize, back: Option<usize>| {
            taken != reader
                && !self.is_before(reader, taken)
                && back.is_none_or(|back| !self.is_before(back, reader))
        };
        for (at, event) in events.iter().enumerate() {
            match event.kind {
                _ if event.object != lock => {}
                Kind::LockShared | Kind::TryLockShared => held.push((event.thread, at)),
                Kind::UnlockShared => {
                    let own = held.iter().position(|&(thread, _)| thread == event.thread);
                    let taken = own.map(|own| held.remove(own).1);
                    if taken.is_some_and(|taken| may_last(taken, Some(at))) {
                        return true;
                    }
                }
                _ => {}
            }
        }
        held.into_iter().any(|(_, taken)| may_last(taken, None))
    }

    /// The writers of this reader's lock that may wait when it comes: where they get the lock, if they do, and their places,
    /// as events number them.
    fn writers_beside<'a>(
        &'a self,
        reader: usize,
        events: &'a [Event],
        waiting: &'a [(Thread, Pending)],
    ) -> impl Iterator<Item = (Option<usize>, u32)> + 'a {
        let event = events[reader];
        let writers = events.iter().enumerate().filter(move |(writer, write)| {
            write.kind == Kind::Lock
                && write.object == event.object
                && write.thread != event.thread
                && !self.is_before(*writer, reader)
                && self.before[*writer].is_none_or(|before| !self.is_before(reader, before))
        });
        let late = waiting.iter().filter(move |(thread, pending)| {
            let last = self.last[usize::from(*thread)];
            pending.kind == Kind::Lock
                && pending.object == event.object
                && last.is_none_or(|last| !self.is_before(reader, last))
        });
        let writers = writers.map(|(at, write)| (Some(at), write.site));
        writers.chain(late.map(|(_, pending)| (None, pending.site)))
    }

    /// Whether the first event comes before the second one or is it.
    fn is_before(&self, first: usize, second: usize) -> bool {
        let (thread, number) = self.places[first];
        self.clocks[second]
            .get(thread)
            .is_some_and(|&known| known >= number)
    }
}

fn join(clock: &mut Vec<u32>, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (own, &other) in clock.iter_mut().zip(other) {
        *own = (*own).max(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: Thread, kind: Kind) -> Event {
        Event {
            thread,
            kind,
            ..Event::default()
        }
    }

    #[test]
    fn a_second_read_may_wait_for_ever() {
        let events = [
            event(0, Kind::LockShared),
            event(0, Kind::LockShared),
            event(0, Kind::UnlockShared),
            event(0, Kind::UnlockShared),
            event(1, Kind::Lock),
            event(1, Kind::Unlock),
        ];
        let prefixes = prefixes(&events, &[], false);
        assert_eq!(prefixes.len(), 1);
        assert_eq!(prefixes[0].threads, [0]);
    }

    #[test]
    fn readers_that_give_back_by_themselves_may_not() {
        let events = [
            event(0, Kind::LockShared),
            event(2, Kind::LockShared),
            event(0, Kind::UnlockShared),
            event(2, Kind::UnlockShared),
            event(1, Kind::Lock),
            event(1, Kind::Unlock),
        ];
        assert_eq!(prefixes(&events, &[], false), []);
    }
}
