//! Counts of `Arc` handles in P̂ₖ.
//!
//! T' runs before T, and both act on the same handles. While the two run side by side in the program, a count depends
//! on what both threads have done to it by then, for which P̂ₖ has no event. So where the program asks for something
//! that depends on the count, the execution ends as one that can't be followed. What does not depend on it:
//! - a count that only one of the two changes;
//! - whether a value is still there, if the value is there at the end of both;
//! - where a destructor runs, if one of the two had no handle, or if there is a handle left at the end of both, or if the
//!   destructor makes no events, uses no thread-locals, and doesn't panic.
//!
//! The copies that P̂ₖ makes of shared values hold handles, too, which are not the program's. These copies only add
//! handles, so a count of one is right.

use std::collections::HashMap;

use super::{Handle, tau, unsupported};
use crate::memory::{Buffer, outside};
use crate::vocabulary::Site;

/// The number of handles of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) strong: usize,
    pub(crate) weak: usize,
}

/// What is about to be done with a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// One more handle, or one less where no thread can notice.
    Add,
    /// One strong handle less, whose end may run a destructor.
    Take,
    /// A read of the count.
    Look,
    /// One strong handle less, and the program learns whether that handle was the last one.
    Update,
    /// One strong handle more, if the value is still there.
    Upgrade,
    /// An operation that only the last strong handle allows.
    Unwrap,
}

/// What threads have done with a count while others ran.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// The threads that have changed the count, one bit a thread; threads from the 64th on share a bit.
    changed: u64,
    /// The threads, as bits, that have learnt the count, or acted on it.
    learnt: u64,
    /// The threads, as bits, that have ended the value with its last handle.
    ended: u64,
    /// The threads, as bits, that have found the value there.
    alive: u64,
    /// Whether copies of shared values hold handles.
    is_copied: bool,
    /// Where the program last did something with a handle other than end it. The end of a handle has no place of its own
    /// in the source.
    used: Option<Site>,
}

impl Entry {
    /// Whether what these threads have learnt depends on another one.
    const fn is_open(&self, learnt: u64) -> bool {
        let several = learnt & learnt.wrapping_sub(1) != 0;
        let by_others = (self.changed | self.alive) & !learnt != 0;
        learnt != 0 && (by_others || several && self.changed != 0)
    }
}

/// All counts that have come up in an execution, by the allocation's address.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    entries: HashMap<usize, Entry>,
    /// Threads that have been started and not joined, one bit a thread.
    unjoined: u64,
    /// Threads that have been started and not joined, and have no bit of their own.
    others: Buffer<u32>,
    /// The name of the strong handle that is being dropped.
    dropped: usize,
    /// The handle, by its name, with which a value ends that may have ended on another thread, and the place.
    uncertain: Option<(usize, Site)>,
}

impl Counts {
    /// Begins an execution.
    pub(crate) fn clear(&mut self) {
        if !self.entries.is_empty() {
            self.entries.clear();
        }
        self.unjoined = 0;
        self.others.clear();
        self.uncertain = None;
    }

    /// Whether a value is ending that may have ended on another thread.
    #[inline]
    pub(crate) const fn is_uncertain(&self) -> bool {
        self.uncertain.is_some()
    }

    /// What has been done with the count of this allocation. The table outlives the execution.
    fn entry(&mut self, at: usize) -> &mut Entry {
        outside(|| self.entries.entry(at).or_default())
    }

    /// A thread has been created.
    #[inline]
    pub(crate) fn spawned(&mut self, thread: u32) {
        match 1_u64.checked_shl(thread) {
            Some(bit) => self.unjoined |= bit,
            None => self.others.push(thread),
        }
    }

    /// A thread has been joined. When no other thread is left, counts are certain.
    #[inline]
    pub(crate) fn joined(&mut self, thread: u32) {
        match 1_u64.checked_shl(thread) {
            Some(bit) => self.unjoined &= !bit,
            None => self.others.retain(|&other| other != thread),
        }
        if !self.entries.is_empty() && self.all_are_joined() {
            self.close();
        }
    }

    /// Whether no thread runs beside the current one.
    pub(super) fn all_are_joined(&self) -> bool {
        self.unjoined == 0 && self.others.is_empty()
    }

    #[cold]
    fn close(&mut self) {
        for entry in self.entries.values_mut() {
            *entry = Entry {
                is_copied: entry.is_copied,
                used: entry.used,
                ..Entry::default()
            };
        }
    }
}

/// A new allocation.
pub(crate) fn begin(handle: Handle, at: usize) {
    handle.get().counts.entries.remove(&at);
}

/// Called before something is done with a count. An operation that learns the count is an event, before which other
/// threads may have to be started.
pub(crate) fn enter(handle: Handle, what: Act, site: Site) {
    let learns = !matches!(what, Act::Add | Act::Take);
    if learns && !handle.get().quiet && !handle.get().moves_no_thread() {
        tau::enter(handle, site);
        // Where an execution is followed, such an event is none: it is done as soon as it can be.
        let engine = handle.get();
        if what != Act::Unwrap && engine.events_before_split.is_none() {
            engine.looks_at_counts += 1;
        }
    }
}

/// Called after something has been done with a count.
pub(crate) fn note(
    handle: Handle,
    at: usize,
    what: Act,
    site: Site,
    (found, left): (Count, Count),
) {
    let engine = handle.get();
    let entry = engine.counts.entry(at);
    if engine.quiet {
        entry.is_copied |= what == Act::Add && left.strong > found.strong;
        return;
    }
    let is_end = matches!(what, Act::Add | Act::Take)
        && (left.strong, left.weak) < (found.strong, found.weak);
    if !is_end {
        entry.used = Some(site);
    }
    let site = entry.used.unwrap_or(site);
    let refuse = |what: &str| unsupported(handle, what.to_owned(), Some(site));
    let several = match what {
        Act::Look | Act::Unwrap | Act::Update => found.strong > 1,
        Act::Take => left.strong > 0,
        Act::Upgrade => left.strong > 0,
        Act::Add => false,
    };
    if entry.is_copied && several {
        return refuse(
            "how many handles of an `Arc` there are, where shared values that hold it have been copied",
        );
    }
    if engine.counts.all_are_joined() {
        return;
    }
    let me = 1 << engine.threads.current.min(63);
    let noted = |is_so: bool| if is_so { me } else { 0 };
    let entry = engine.counts.entry(at);
    let ends = left.strong == 0 && found.strong > 0;
    let is_there = what == Act::Upgrade && left.strong > 0;
    entry.alive |= noted(is_there);
    entry.changed |= noted(what != Act::Look && found != left);
    entry.learnt |= noted(match what {
        Act::Look | Act::Unwrap | Act::Update => true,
        Act::Upgrade => !is_there,
        Act::Take | Act::Add => false,
    });
    entry.ended |= noted(what == Act::Take && ends);
    let gone = ends && entry.alive & !me != 0;
    if entry.is_open(entry.learnt) || gone {
        refuse(DEPENDS);
    } else if entry.is_open(entry.learnt | entry.ended) {
        // The value's destructor runs next. Another thread might run it, which nobody can tell if nothing comes of it.
        let dropped = engine.counts.dropped;
        engine.counts.uncertain.get_or_insert((dropped, site));
        engine.attention = true;
    }
}

const DEPENDS: &str = "how many handles of an `Arc` there are, while another thread makes or drops some: it depends on the interleaving";

/// The end of a strong handle begins, which has this name.
#[inline]
pub(crate) fn ends(handle: Handle, name: usize) {
    handle.get().counts.dropped = name;
}

/// The handle whose end has this name is gone, and the value with it if the handle was the last one.
#[inline]
pub(crate) fn ended(handle: Handle, name: usize) {
    let uncertain = &mut handle.get().counts.uncertain;
    if uncertain.is_some_and(|(at, _)| at == name) {
        *uncertain = None;
    }
}

/// Something comes of the destructor of a value that may have ended on another thread: an event, a panic, or a look at a
/// thread-local.
#[cold]
pub(crate) fn is_noticed(handle: Handle) {
    if handle.get().quiet {
        return;
    }
    if let Some((_, site)) = handle.get().counts.uncertain.take() {
        unsupported(handle, DEPENDS.to_owned(), Some(site));
    }
}
