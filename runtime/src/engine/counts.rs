//! Counts in P̂ₖ.
//!
//! T' runs before T, and both on the same handles. While the two run side by side in the program, a count is what one thread
//! made of it and what the other one has made of it by then, which P̂ₖ has no event for. So nothing that depends on that is
//! answered: the execution ends as one that can't be followed. What does not depend on it:
//! - a count that only one of the two changes;
//! - whether a value is still there, if it is at the end of both;
//! - where a destructor runs, if one of the two had no handle, or if there is a handle left at the end of both.
//!
//! The copies that P̂ₖ makes of shared values hold handles, too, which are none of the program's. They only ever add some,
//! so "there is just one" can be believed.

use std::collections::HashMap;

use super::{Handle, tau, unsupported};
use crate::memory::{Buffer, outside};
use crate::vocabulary::Site;

/// How many handles there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) strong: usize,
    pub(crate) weak: usize,
}

/// What is about to be done with a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// A handle more, or one less where nobody can notice.
    Add,
    /// A strong handle less, whose end may run a destructor.
    Take,
    /// A look at it.
    Look,
    /// A strong handle less, and it is told whether it was the last one.
    Update,
    /// A strong handle more, if the value is still there.
    Upgrade,
    /// What can be done with the last strong handle only.
    Unwrap,
}

/// What threads have done with a count while others ran.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// They have changed the count. Threads are bits here, those from the 64th on one of them.
    changed: u64,
    /// They have learnt the count, or acted on it.
    learnt: u64,
    /// They have found the value there.
    alive: u64,
    /// Copies of shared values hold handles.
    is_copied: bool,
}

impl Entry {
    /// Whether what a thread has learnt depends on another one.
    const fn is_open(&self) -> bool {
        let several = self.learnt & self.learnt.wrapping_sub(1) != 0;
        let by_others = (self.changed | self.alive) & !self.learnt != 0;
        self.learnt != 0 && (by_others || several && self.changed != 0)
    }
}

/// All counts of an execution that have come up, by allocation.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    entries: HashMap<usize, Entry>,
    /// Threads that have been started and not joined, as bits;
    unjoined: u64,
    /// those that have no bit.
    others: Buffer<u32>,
}

impl Counts {
    /// Begins an execution.
    pub(crate) fn clear(&mut self) {
        if !self.entries.is_empty() {
            self.entries.clear();
        }
        self.unjoined = 0;
        self.others.clear();
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

    /// A thread has been joined. When no others are left, counts are what they are.
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

    /// Whether nobody runs beside the current thread.
    fn all_are_joined(&self) -> bool {
        self.unjoined == 0 && self.others.is_empty()
    }

    #[cold]
    fn close(&mut self) {
        for entry in self.entries.values_mut() {
            *entry = Entry {
                is_copied: entry.is_copied,
                ..Entry::default()
            };
        }
    }
}

/// A new allocation.
pub(crate) fn begin(handle: Handle, at: usize) {
    handle.get().counts.entries.remove(&at);
}

/// Something is about to be done with a count. What learns it is an event, before which others may have to be started.
pub(crate) fn enter(handle: Handle, what: Act, site: Site) {
    let learns = !matches!(what, Act::Add | Act::Take);
    if learns && !handle.get().quiet && !handle.get().moves_no_thread() {
        tau::enter(handle, site);
    }
}

/// Something has been done with a count.
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
        Act::Take => ends,
        Act::Add => false,
    });
    let gone = ends && entry.alive & !me != 0;
    if entry.is_open() || gone {
        refuse(
            "how many handles of an `Arc` there are, while another thread makes or drops some: it depends on the interleaving",
        );
    }
}
