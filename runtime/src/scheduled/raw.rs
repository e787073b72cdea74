//! Memory that `unsafe` code accesses: what is noted of it in an execution, to be judged at the execution's end.
//!
//! Accesses are noted beside the trace, each with the number of events before it. Nothing is noted, and nothing costs
//! anything, unless the program asks for it by [`crate::raw::watch`].
//!
//! | here | is |
//! |---|---|
//! | [`judge`] | happens-before under the orderings as written, and what is wrong with an execution's accesses |
//! | [`shadow`] | the last accesses of each byte |

mod judge;
mod shadow;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::atomic::Ordering;

use seqz_explore::hash::Mixer;
use seqz_explore::{Object, Thread};

use super::state::{Handle, State, current};
use crate::memory::Access;
use crate::memory::arena::{self, Watcher};
use crate::memory::outside;
use crate::panics;
use crate::process::asked;
use crate::vocabulary::Site;

/// What happened to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Read,
    Write,
    /// A reference was made to what others may not change, but for what is in locks.
    Borrow,
    /// A reference was made to what others may change.
    Use,
    /// A block was given out.
    Allocated,
    /// A block was given back.
    Freed,
    /// A block was given back that std shares between threads and orders by itself.
    FreedInOrder,
    /// Something that lives no more, or was never given out, was given back.
    FreedAgain,
    /// A fence: whether it acquires, and whether it releases.
    Fence(Orders),
}

/// Something that happened to memory, between two events.
#[derive(Clone, Copy, Debug)]
struct Note {
    /// The number of events before it.
    at: usize,
    thread: Thread,
    what: What,
    address: usize,
    length: usize,
    /// The place in the source; of a block, the place of what its thread last did that has one.
    site: Option<Site>,
}

/// What an operation on an atomic orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Orders {
    pub(super) acquires: bool,
    pub(super) releases: bool,
}

impl From<Ordering> for Orders {
    fn from(order: Ordering) -> Self {
        Self {
            acquires: !matches!(order, Ordering::Relaxed | Ordering::Release),
            releases: !matches!(order, Ordering::Relaxed | Ordering::Acquire),
        }
    }
}

/// What is noted in the current execution.
#[derive(Debug, Default)]
pub(super) struct Log {
    is_watched: bool,
    /// Whether the system, or the hook of panics, may order what threads do, which is not seen.
    is_ordered_elsewhere: bool,
    /// The thread that drops what an item of std keeps, which orders the threads that use it.
    drops_of_std: Option<usize>,
    notes: Vec<Note>,
    /// The orderings of the events for which they are not sequentially consistent, by the event's number.
    orders: Vec<(usize, Orders)>,
    /// Where objects went that were moved: for each move the number of events before it, and the address from then on.
    moves: HashMap<Object, Vec<(usize, usize)>, BuildHasherDefault<Mixer>>,
    /// The blocks given out in this execution, by address, and whether each lives.
    blocks: HashMap<usize, bool, BuildHasherDefault<Mixer>>,
}

impl Log {
    /// The address of an object in front of the event with this number, if the object has been moved until then.
    fn moved(&self, object: Object, event: usize) -> Option<usize> {
        let moves = self.moves.get(&object)?;
        let until = moves.partition_point(|(at, _)| *at <= event);
        moves[..until].last().map(|(_, address)| *address)
    }
}

/// The allocator gives out a block.
fn allocated(address: usize, length: usize) {
    if let Some(machine) = current() {
        outside(|| machine.get().memory.blocks.insert(address, true));
        machine.note(What::Allocated, address, length, machine.last_site());
    }
}

/// A block is given back. Returns whether the allocator may take it.
fn freed(address: usize, length: usize) -> bool {
    let Some(machine) = current().filter(|machine| !machine.is_ending()) else {
        return true;
    };
    let lived = outside(|| machine.get().memory.blocks.insert(address, false));
    // What was there before the program was watched is not known, and may be given back.
    let what = match lived {
        Some(false) => What::FreedAgain,
        Some(true) | None if machine.drops_of_std() => What::FreedInOrder,
        Some(true) | None => What::Freed,
    };
    machine.note(what, address, length, machine.last_site());
    what != What::FreedAgain
}

/// The number of latest events among which the place of a thread's last one is looked for.
const NEAR: usize = 64;

impl Handle {
    /// Has accesses to memory noted until the end of the execution.
    pub(crate) fn watch_raw_memory(self) {
        let state = self.get();
        // Under weak memory the order of the events does not say which write was read.
        if state.settings.checks_memory && !state.settings.weak && !state.ending {
            state.memory.is_watched = true;
            arena::watch(Some(Watcher { allocated, freed }));
        }
    }

    /// Drops what an item of std keeps for the threads that use it. The last of them frees it, after all that the others
    /// did with it: std sees to that itself, without an event where nobody else learns who was the last.
    pub(crate) fn drop_of_std(self, end: impl FnOnce()) {
        let state = self.get();
        state.memory.drops_of_std = Some(state.current);
        end();
        self.get().memory.drops_of_std = None;
    }

    /// Whether the current thread drops what an item of std keeps.
    fn drops_of_std(self) -> bool {
        let state = self.get();
        state.memory.drops_of_std == Some(state.current)
    }

    /// The current thread is about to access this memory.
    pub(crate) fn note_access(self, address: usize, length: usize, access: Access, site: Site) {
        if length > 0 {
            let what = match access {
                Access::Read => What::Read,
                Access::Write => What::Write,
                Access::Borrow => What::Borrow,
                Access::Use => What::Use,
            };
            self.note(what, address, length, Some(site));
        }
    }

    fn note(self, what: What, address: usize, length: usize, site: Option<Site>) {
        let state = self.get();
        if state.ending {
            return;
        }
        let note = Note {
            at: state.trace.len(),
            thread: state.current_name(),
            what,
            address,
            length,
            site,
        };
        outside(|| self.get().memory.notes.push(note));
    }

    /// The object is at this address now, where it can have been moved to.
    pub(crate) fn is_at(self, object: Object, address: usize) {
        let state = self.get();
        let now = state.trace.len();
        let known = state.memory.moved(object, now);
        if known.unwrap_or_else(|| state.objects.address(object)) != address && !state.ending {
            let moves = &mut state.memory.moves;
            outside(|| moves.entry(object).or_default().push((now, address)));
        }
    }

    /// The number of notes so far in the execution.
    pub(crate) fn noted(self) -> usize {
        self.get().memory.notes.len()
    }

    /// What has been noted since there were `noted` notes comes after the event that the current thread has just made: the
    /// event is told of when the operation is over, and a last handle gives memory back once it has taken itself off the
    /// count.
    pub(crate) fn noted_after_event(self, noted: usize) {
        let state = self.get();
        let now = state.trace.len();
        for note in state.memory.notes.iter_mut().skip(noted) {
            if note.at + 1 == now {
                note.at = now;
            }
        }
    }

    /// The place of what the current thread has last done that has one.
    fn last_site(self) -> Option<Site> {
        let state = self.get();
        let (now, thread) = (state.trace.len(), state.current_name());
        let mut notes = state.memory.notes.iter().rev();
        let last = notes.find(|note| note.thread == thread);
        let noted = last
            .filter(|note| note.at == now)
            .and_then(|note| note.site);
        noted.or_else(|| {
            let latest = state.trace.iter().rev().take(NEAR);
            let mut own = latest.filter(|traced| traced.event.thread == thread);
            own.find_map(|traced| traced.site)
        })
    }
}

/// Whether accesses to memory are noted.
#[inline]
pub(crate) fn is_watched() -> bool {
    arena::is_watched()
}

/// The event that the current thread has just made was an operation on an atomic with this ordering.
#[inline]
pub(crate) fn ordered(order: Ordering) {
    if order != Ordering::SeqCst && is_watched() {
        note_order(order);
    }
}

#[cold]
fn note_order(order: Ordering) {
    let Some(machine) = current().filter(|machine| !machine.is_ending()) else {
        return;
    };
    let event = machine.get().trace.len().checked_sub(1);
    if let Some(event) = event {
        outside(|| machine.get().memory.orders.push((event, order.into())));
    }
}

/// The current thread makes a fence.
#[inline]
pub(crate) fn fenced(order: Ordering) {
    if is_watched()
        && let Some(machine) = current()
    {
        machine.note(What::Fence(order.into()), 0, 0, None);
    }
}

impl Log {
    /// An execution begins.
    pub(super) fn begin(&mut self) {
        if std::mem::take(&mut self.is_watched) {
            self.notes.clear();
            self.orders.clear();
            self.moves.clear();
            self.blocks.clear();
            self.drops_of_std = None;
        }
    }
}

impl State {
    /// Stops noting accesses to memory: the execution is over.
    pub(super) fn stop_watching_memory(&mut self) {
        if self.memory.is_watched {
            self.memory.is_ordered_elsewhere = asked::may_order() || panics::has_hook();
            arena::watch(None);
        }
    }

    /// Judges the accesses to memory of the execution, which is over.
    pub(super) fn judge_memory(&mut self) {
        if self.memory.is_watched && !self.memory.is_ordered_elsewhere {
            let objects = &self.objects;
            let moved = |object, event| self.memory.moved(object, event);
            let address =
                |object, event| moved(object, event).unwrap_or_else(|| objects.address(object));
            let fault = judge::first(&self.trace, &self.plain, &address, &self.memory);
            self.failures.extend(fault);
        }
    }
}
