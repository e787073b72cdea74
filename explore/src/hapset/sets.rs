//! Predecessor sets that are aware of history.
//!
//! Source: *Coverage Guided Systematic Concurrency Testing* (Wang, Said, Gupta, ICSE 2011), definitions 1 and 2, and
//! algorithm 1. The predecessor set of a statement holds the statements of other threads on which it has been immediately
//! dependent in some good run: the last one of each thread that accessed the same object, if the two conflict, and if
//! the thread itself has not accessed the object since (the paper's example in section 3.3). Locks count as well as
//! data; giving a lock back does not.
//!
//! A statement is a tuple of file, line, thread and calling context. The thread is *local* or *remote*, and in a set all are
//! remote as seen from the statement whose set it is, so that it need not be stored. File and line are the event's place,
//! and the context is what the executor says it is: see [`Event::context`].

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use crate::event::{Event, Kind, Pending, Site};
use crate::hash::Mixer;

/// A statement with the calls that led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Statement {
    /// The statement's place in the program.
    pub site: Site,
    /// The calls that led to the statement: see [`Event::context`].
    pub context: u32,
}

impl Statement {
    /// The statement of an event.
    #[must_use]
    pub const fn of(event: &Event) -> Self {
        Self {
            site: event.site,
            context: event.context,
        }
    }

    /// The statement of an announced operation.
    #[must_use]
    pub const fn announced(pending: &Pending) -> Self {
        Self {
            site: pending.site,
            context: pending.context,
        }
    }
}

/// What each statement has been immediately dependent upon.
#[derive(Clone, Debug, Default)]
pub struct PredecessorSets {
    /// Pairs of a predecessor and the statement whose set it is in.
    seen: HashSet<(Statement, Statement), BuildHasherDefault<Mixer>>,
    /// The pairs of the current run.
    current: Vec<(Statement, Statement)>,
    /// Per object: the last event of each thread on it, from the earliest to the latest.
    last: Vec<Vec<Event>>,
}

impl PredecessorSets {
    /// The next run begins.
    pub(crate) fn begin(&mut self) {
        self.current.clear();
        self.last.iter_mut().for_each(Vec::clear);
    }

    /// The next event of the run.
    pub(crate) fn ran(&mut self, event: &Event) {
        let is_ignored = matches!(event.kind, Kind::Unlock | Kind::UnlockShared);
        if is_ignored || event.kind.class() == crate::event::Class::None {
            return;
        }
        let object = event.object as usize;
        if object >= self.last.len() {
            self.last.resize_with(object + 1, Vec::new);
        }
        let last = &mut self.last[object];
        let own = last.iter().position(|other| other.thread == event.thread);
        for other in &last[own.map_or(0, |own| own + 1)..] {
            if other.depends(event) {
                self.current
                    .push((Statement::of(other), Statement::of(event)));
            }
        }
        if let Some(own) = own {
            last.remove(own);
        }
        last.push(*event);
    }

    /// The run is over: what it shows is learned if it was a good one.
    pub(crate) fn end(&mut self, is_good: bool) {
        if is_good {
            self.seen.extend(self.current.drain(..));
        }
        self.current.clear();
    }

    /// Whether the one statement has been seen right before the other one, in a good run or in this one.
    #[must_use]
    pub fn have_seen(&self, predecessor: Statement, of: Statement) -> bool {
        self.seen.contains(&(predecessor, of)) || self.current.contains(&(predecessor, of))
    }

    /// How many predecessors have been learned, over all statements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether nothing has been learned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }
}
