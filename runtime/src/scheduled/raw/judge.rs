//! What is wrong with the accesses to memory of an execution: data races, memory used or given back after its end.
//!
//! Two accesses to a byte, one of them a write, race if neither *happens before* the other. What happens before what
//! goes by the orderings as they are written: a store that releases happens before a load that acquires and reads its
//! value, or that of an update in its release sequence; fences add to that; locks, channels, forks and joins order what
//! std promises of them.
//!
//! Only the first fault of an execution is told: what follows it may depend on it.

use std::collections::{BTreeMap, BTreeSet};

use seqz_explore::{Event, Kind, Object, Pending, Thread};

use super::shadow::{Access, Clock, How, Shadow, join};
use super::{Log, Note, Orders, What};
use crate::scheduled::failures::Failure;
use crate::scheduled::machine::Traced;
use crate::vocabulary::{FailureKind, Place, Site};

/// What an event orders where its ordering has not been noted: it is sequentially consistent, or none of an atomic.
const FULL: Orders = Orders {
    acquires: true,
    releases: true,
};

/// The first fault of the execution that has ended, if there is one. `plain` are the objects that are plain data,
/// `address` returns the address of an object at an event, if the object is in a block of memory, and 0 for all others.
pub(super) fn first(
    trace: &[Traced],
    plain: &[Object],
    address: &dyn Fn(Object, usize) -> usize,
    log: &Log,
) -> Option<Failure> {
    Judge::default().run(trace, plain, address, log)
}

/// What is known of a thread.
#[derive(Debug, Default)]
struct Local {
    /// What happens before the thread's next step.
    clock: Clock,
    /// What its relaxed loads have read, which a fence may acquire.
    read: Clock,
    /// What happened before its last fence that releases.
    fenced: Clock,
}

/// What is known of an object.
#[derive(Debug, Default)]
struct Sync {
    /// What is acquired with the object's value.
    released: Clock,
    /// What those did who held a lock shared, and gave it back.
    shared: Clock,
}

/// A block of memory.
#[derive(Debug)]
struct Block {
    end: usize,
    allocated: (Thread, Option<Site>),
    /// The thread that gave it back, if it lives no more.
    freed: Option<(Thread, Option<Site>)>,
}

#[derive(Debug, Default)]
struct Judge {
    threads: Vec<Local>,
    objects: Vec<Sync>,
    shadow: Shadow,
    blocks: BTreeMap<usize, Block>,
    /// The addresses of the locks that are used.
    locks: BTreeSet<usize>,
}

impl Judge {
    fn run(
        mut self,
        trace: &[Traced],
        plain: &[Object],
        address: &dyn Fn(Object, usize) -> usize,
        log: &Log,
    ) -> Option<Failure> {
        let events = trace.iter().enumerate();
        let locks = events.filter(|(_, traced)| is_of_lock(traced.event.kind));
        self.locks = locks.map(|(at, it)| address(it.event.object, at)).collect();
        let mut notes = log.notes.iter().peekable();
        let mut orders = log.orders.iter().peekable();
        for (number, traced) in trace.iter().enumerate() {
            while let Some(note) = notes.next_if(|note| note.at <= number) {
                if let Some(fault) = self.note(note) {
                    return Some(fault);
                }
            }
            // An operation that makes several events notes the ordering of each right after it.
            let mut order = FULL;
            while let Some((_, noted)) = orders.next_if(|(event, _)| *event <= number) {
                order = *noted;
            }
            if let Some(fault) = self.look_at(number, traced, address) {
                return Some(fault);
            }
            if !plain.contains(&traced.event.object) || !has_object(traced.event.kind) {
                self.event(&traced.event, order);
            }
        }
        notes.find_map(|note| self.note(note))
    }

    fn local(&mut self, thread: Thread) -> &mut Local {
        let at = usize::from(thread);
        while self.threads.len() <= at {
            let mut clock = vec![0; self.threads.len()];
            clock.push(1);
            self.threads.push(Local {
                clock,
                ..Local::default()
            });
        }
        &mut self.threads[at]
    }

    /// Looks at an event on an atomic or a lock as an access to its memory, which has to live. Such accesses don't race
    /// with each other, and whether they race with those to plain data is not looked at: a place in the source may be
    /// either.
    fn look_at(
        &mut self,
        number: usize,
        traced: &Traced,
        address: &dyn Fn(Object, usize) -> usize,
    ) -> Option<Failure> {
        let event = &traced.event;
        if !is_in_memory(event.kind) {
            return None;
        }
        let address = address(event.object, number);
        let (_, block) = self.blocks.range(..=address).next_back()?;
        if address >= block.end {
            return None;
        }
        let note = Note {
            at: number,
            thread: event.thread,
            what: What::Read,
            address,
            length: 1,
            site: traced.site,
        };
        if block.freed.is_some() {
            let message = "an atomic or a lock is used after its memory was given back";
            let known = known_of(block, (event.thread, event.kind, traced.site));
            return Some(failure(FailureKind::UseAfterFree, message, &note, &known));
        }
        self.local(event.thread);
        let access = self.as_access(&note, How::Uses);
        let clock = &self.threads[usize::from(event.thread)].clock;
        self.shadow.access((address, address + 1), access, clock);
        None
    }

    /// Orders what comes before an event with what comes after it.
    fn event(&mut self, event: &Event, order: Orders) {
        let thread = usize::from(event.thread);
        self.local(event.thread);
        match event.kind {
            Kind::Local | Kind::Begin | Kind::End => return,
            Kind::Fork | Kind::Join => {
                let other = Thread::try_from(event.object).unwrap_or(Thread::MAX);
                self.local(other);
                let (from, to) = if event.kind == Kind::Fork {
                    (thread, usize::from(other))
                } else {
                    (usize::from(other), thread)
                };
                let clock = self.threads[from].clock.clone();
                join(&mut self.threads[to].clock, &clock);
                self.threads[from].clock[from] += 1;
                return;
            }
            _ => {}
        }
        let object = event.object as usize;
        if self.objects.len() <= object {
            self.objects.resize_with(object + 1, Sync::default);
        }
        let (local, sync) = (&mut self.threads[thread], &mut self.objects[object]);
        synchronize(local, sync, event, order);
        local.clock[thread] += 1;
    }

    /// Looks at something that happened to memory.
    fn note(&mut self, note: &Note) -> Option<Failure> {
        let thread = usize::from(note.thread);
        let local = self.local(note.thread);
        let range = (note.address, note.address.saturating_add(note.length));
        match note.what {
            What::Fence(orders) => {
                if orders.acquires {
                    let read = std::mem::take(&mut local.read);
                    join(&mut local.clock, &read);
                }
                if orders.releases {
                    local.fenced = local.clock.clone();
                    // What follows the fence is not part of what it releases.
                    local.clock[thread] += 1;
                }
                None
            }
            What::Allocated => {
                self.give_out(note, range);
                None
            }
            What::Freed => self.give_back(note, range),
            What::FreedInOrder => {
                self.end_block(note);
                None
            }
            What::FreedAgain => {
                let block = self.blocks.get(&note.address)?;
                let known = known_of(block, (note.thread, FREES, note.site));
                let message = "memory is given back twice";
                Some(failure(FailureKind::InvalidFree, message, note, &known))
            }
            What::Read => self.access(note, How::Reads, range),
            What::Write => self.access(note, How::Writes, range),
            // What is in a lock may change behind the reference, for whoever has the lock.
            What::Borrow if self.locks.range(range.0..range.1).next().is_some() => {
                self.access(note, How::Uses, range)
            }
            What::Borrow => self.access(note, How::Reads, range),
            What::Use => self.access(note, How::Uses, range),
        }
    }

    /// A block has been given out: its memory is new.
    fn give_out(&mut self, note: &Note, (start, end): (usize, usize)) {
        let inside: Vec<usize> = self.blocks.range(start..end).map(|(at, _)| *at).collect();
        for at in inside {
            self.blocks.remove(&at);
        }
        let block = Block {
            end,
            allocated: (note.thread, note.site),
            freed: None,
        };
        self.blocks.insert(start, block);
        self.shadow.forget(start, end);
        // Whoever gets to know the address without synchronization may not see what was written here at first.
        let access = self.as_access(note, How::Writes);
        let clock = &self.threads[usize::from(note.thread)].clock;
        self.shadow.access((start, end), access, clock);
    }

    /// A block is given back. That changes all of its memory, so each access has to come before it.
    fn give_back(&mut self, note: &Note, range: (usize, usize)) -> Option<Failure> {
        self.end_block(note);
        let access = self.as_access(note, How::Frees);
        let clock = &self.threads[usize::from(note.thread)].clock;
        let other = self.shadow.access(range, access, clock)?;
        let known = [
            (other.thread, kind_of(other.how), other.site),
            (note.thread, FREES, note.site),
        ];
        let message = "memory is given back, with nothing that orders this after an access to it";
        Some(failure(FailureKind::DataRace, message, note, &known))
    }

    /// The block at the note's address lives no more.
    fn end_block(&mut self, note: &Note) {
        if let Some(block) = self.blocks.get_mut(&note.address) {
            block.freed = Some((note.thread, note.site));
        }
    }

    fn as_access(&self, note: &Note, how: How) -> Access {
        let thread = usize::from(note.thread);
        Access {
            thread: note.thread,
            step: self.threads[thread].clock[thread],
            how,
            site: note.site,
        }
    }

    fn access(&mut self, note: &Note, how: How, range: (usize, usize)) -> Option<Failure> {
        let around = self.blocks.range(..range.1).next_back();
        if let Some((_, block)) = around.filter(|(_, block)| block.end > range.0)
            && block.freed.is_some()
        {
            let message = match how {
                How::Writes => "memory is written after it was given back",
                How::Uses => "memory is borrowed after it was given back",
                _ => "memory is read after it was given back",
            };
            let known = known_of(block, (note.thread, kind_of(how), note.site));
            return Some(failure(FailureKind::UseAfterFree, message, note, &known));
        }
        let access = self.as_access(note, how);
        let clock = &self.threads[usize::from(note.thread)].clock;
        let other = self.shadow.access(range, access, clock)?;
        let known = [
            (other.thread, kind_of(other.how), other.site),
            (note.thread, kind_of(how), note.site),
        ];
        let message = "two accesses to the same memory, with nothing that orders them";
        Some(failure(FailureKind::DataRace, message, note, &known))
    }
}

/// The kind that stands for an access.
const fn kind_of(how: How) -> Kind {
    match how {
        How::Reads => Kind::Read,
        How::Writes => Kind::Write,
        How::Uses => Kind::Read,
        How::Frees => FREES,
    }
}

/// Whether an event of this kind accesses its object where that is: a thread that wakes up does not, and a new handle
/// of a shared value has the old one to keep the value.
const fn is_in_memory(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Read | Kind::Write | Kind::Update | Kind::FailedUpdate
    ) || is_of_lock(kind)
}

/// Whether an event of this kind has a lock as its object.
const fn is_of_lock(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Lock
            | Kind::TryLock
            | Kind::TryLockFailed
            | Kind::Unlock
            | Kind::LockShared
            | Kind::TryLockShared
            | Kind::TryLockSharedFailed
            | Kind::UnlockShared
    )
}

/// Whether an event of this kind has an object that may be plain data.
const fn has_object(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Fork | Kind::Join | Kind::Local | Kind::Begin | Kind::End
    )
}

/// The kind that stands for giving a block out.
const ALLOCATES: Kind = Kind::Local;

/// The kind that stands for giving a block back.
const FREES: Kind = Kind::Unlock;

/// What a thread did to memory, and where.
type Deed = (Thread, Kind, Option<Site>);

/// What has been done to a block, with the last deed.
fn known_of(block: &Block, last: Deed) -> Vec<Deed> {
    let (thread, site) = block.allocated;
    let allocated = (thread, ALLOCATES, site);
    let freed = block.freed.map(|(thread, site)| (thread, FREES, site));
    std::iter::once(allocated)
        .chain(freed)
        .chain([last])
        .collect()
}

fn synchronize(local: &mut Local, sync: &mut Sync, event: &Event, order: Orders) {
    match event.kind {
        Kind::Read | Kind::FailedUpdate => acquire(local, sync, order),
        Kind::Write => {
            sync.released = if order.releases {
                local.clock.clone()
            } else {
                local.fenced.clone()
            };
        }
        Kind::Update => {
            acquire(local, sync, order);
            // An update is part of the release sequence of what it has replaced.
            join(
                &mut sync.released,
                if order.releases {
                    &local.clock
                } else {
                    &local.fenced
                },
            );
        }
        // A new handle of a shared value orders nothing; the end of a handle comes before the end of the last one.
        Kind::Add | Kind::Take if event.left != 0 => {
            if event.left < event.found {
                join(&mut sync.released, &local.clock);
            }
        }
        Kind::Lock | Kind::TryLock => {
            join(&mut local.clock, &sync.released);
            join(&mut local.clock, &sync.shared);
        }
        Kind::LockShared | Kind::TryLockShared => join(&mut local.clock, &sync.released),
        Kind::Unlock => {
            sync.released = local.clock.clone();
            sync.shared.clear();
        }
        Kind::UnlockShared => join(&mut sync.shared, &local.clock),
        Kind::TryLockFailed | Kind::TryLockSharedFailed => {}
        // Whoever waits, notifies or wakes up by an object comes after all who did so before.
        _ => {
            join(&mut local.clock, &sync.released);
            sync.released = local.clock.clone();
        }
    }
}

fn acquire(local: &mut Local, sync: &Sync, order: Orders) {
    if order.acquires {
        join(&mut local.clock, &sync.released);
    } else {
        join(&mut local.read, &sync.released);
    }
}

fn failure(kind: FailureKind, message: &str, note: &Note, known: &[Deed]) -> Failure {
    let told = |(thread, kind, site): &Deed| {
        let pending = Pending {
            kind: *kind,
            // Memory is no object.
            object: Object::MAX,
            expected: 0,
            site: site.map_or(0, crate::scheduled::events::site_number),
            context: 0,
            ..Pending::default()
        };
        (*thread, pending, site.map(Place::from))
    };
    Failure {
        kind,
        bystander: false,
        follows: Vec::new(),
        message: message.to_owned(),
        place: note.site.map(Place::from),
        thread: note.thread,
        waiting: known.iter().map(told).collect(),
        events: note.at,
    }
}
