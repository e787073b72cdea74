//! What is wrong with the accesses to memory of an execution: data races, memory used or given back after its end.
//!
//! Two accesses to a byte, one of them a write, race if neither *happens before* the other. What happens before what
//! goes by the orderings as they are written: a store that releases happens before a load that acquires and reads its
//! value, or that of an update in its release sequence; fences add to that; locks, channels, forks and joins order what
//! std promises of them.
//!
//! Only the first fault of an execution is told: what follows it may depend on it.

use std::collections::BTreeMap;

use seqz_explore::{Event, Kind, Object, Pending, Thread};

use super::shadow::{Access, Clock, Shadow, join};
use super::{Log, Note, Orders, What};
use crate::scheduled::failures::Failure;
use crate::scheduled::machine::Traced;
use crate::vocabulary::{FailureKind, Place, Site};

/// What an event orders where its ordering has not been noted: it is sequentially consistent, or none of an atomic.
const FULL: Orders = Orders {
    acquires: true,
    releases: true,
};

/// The first fault of the execution that has ended, if there is one. `plain` are the objects that are plain data.
pub(super) fn first(trace: &[Traced], plain: &[Object], log: &Log) -> Option<Failure> {
    Judge::default().run(trace, plain, log)
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
}

impl Judge {
    fn run(mut self, trace: &[Traced], plain: &[Object], log: &Log) -> Option<Failure> {
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
            What::Freed => {
                let block = self.blocks.get_mut(&note.address);
                if let Some(block) = block {
                    block.freed = Some((note.thread, note.site));
                }
                None
            }
            What::FreedAgain => {
                let block = self.blocks.get(&note.address)?;
                let known = known_of(block, (note.thread, FREES, note.site));
                let message = "memory is given back twice";
                Some(failure(FailureKind::InvalidFree, message, note, &known))
            }
            What::Read | What::Write => self.access(note, range),
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
        let access = self.as_access(note, true);
        let clock = &self.threads[usize::from(note.thread)].clock;
        self.shadow.access((start, end), access, clock);
    }

    fn as_access(&self, note: &Note, writes: bool) -> Access {
        let thread = usize::from(note.thread);
        Access {
            thread: note.thread,
            step: self.threads[thread].clock[thread],
            writes,
            site: note.site,
        }
    }

    fn access(&mut self, note: &Note, range: (usize, usize)) -> Option<Failure> {
        let writes = note.what == What::Write;
        let around = self.blocks.range(..range.1).next_back();
        if let Some((_, block)) = around.filter(|(_, block)| block.end > range.0)
            && block.freed.is_some()
        {
            let message = if writes {
                "memory is written after it was given back"
            } else {
                "memory is read after it was given back"
            };
            let kind = if writes { Kind::Write } else { Kind::Read };
            let known = known_of(block, (note.thread, kind, note.site));
            return Some(failure(FailureKind::UseAfterFree, message, note, &known));
        }
        let access = self.as_access(note, writes);
        let clock = &self.threads[usize::from(note.thread)].clock;
        let other = self.shadow.access(range, access, clock)?;
        let kind = |writes| if writes { Kind::Write } else { Kind::Read };
        let known = [
            (other.thread, kind(other.writes), other.site),
            (note.thread, kind(writes), note.site),
        ];
        let message = "two accesses to the same memory, with nothing that orders them";
        Some(failure(FailureKind::DataRace, message, note, &known))
    }
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
