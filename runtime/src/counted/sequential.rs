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

use super::count::{Act, Count};
use crate::engine::{Handle, Line, Site, unsupported};

/// What the two lines have done with a count while both ran.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// By line: it has changed the count.
    changed: [bool; 2],
    /// By line: it has learnt the count, or acted on it.
    learnt: [bool; 2],
    /// By line: it has found the value there.
    alive: [bool; 2],
    /// Copies of shared values hold handles.
    is_copied: bool,
}

impl Entry {
    /// Whether what one line has learnt depends on the other one.
    fn is_open(&self) -> bool {
        (0..2).any(|line| self.learnt[line] && (self.changed[1 - line] || self.alive[1 - line]))
    }
}

/// All counts of an execution that have come up, by allocation.
#[derive(Debug, Default)]
pub(crate) struct Counts(HashMap<usize, Entry>);

impl Counts {
    /// Begins an execution.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// A new allocation.
pub(super) fn begin(handle: Handle, at: usize) {
    handle.get().counts.0.remove(&at);
}

/// Something has been done with a count.
pub(super) fn note(
    handle: Handle,
    at: usize,
    what: Act,
    site: Site,
    (found, left): (Count, Count),
) {
    let engine = handle.get();
    let entry = engine.counts.0.entry(at).or_default();
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
    if !engine.counts_are_open() {
        return;
    }
    let line = usize::from(engine.line == Line::Interfering);
    let entry = engine.counts.0.entry(at).or_default();
    let ends = left.strong == 0 && found.strong > 0;
    let is_there = what == Act::Upgrade && left.strong > 0;
    entry.alive[line] |= is_there;
    entry.changed[line] |= what != Act::Look && (found != left);
    entry.learnt[line] |= match what {
        Act::Look | Act::Unwrap | Act::Update => true,
        Act::Upgrade => !is_there,
        Act::Take => ends,
        Act::Add => false,
    };
    let gone = ends && entry.alive[1 - line];
    if entry.is_open() || gone {
        refuse(
            "how many handles of an `Arc` there are, while another thread makes or drops some: it depends on the interleaving",
        );
    }
}
