//! The bugs that executions met.

use std::collections::HashMap;

use super::{Bug, BugKind, Place};
use crate::ids::Role;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) kind: BugKind,
    pub(super) place: Place,
    pub(super) other_place: Option<Place>,
    pub(super) role: Role,
}

/// The bugs found so far, one per kind, place and role, each with how often it was met.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    by_key: HashMap<Key, usize>,
    pub(crate) bugs: Vec<(Bug, u64)>,
    /// What the current execution met: indices in `bugs`.
    met: Vec<usize>,
    /// Whether one of them is a bug of T.
    pub(crate) met_by_t: bool,
}

impl Ledger {
    /// Counts a meeting with a known bug, once an execution; the answer is whether it is known.
    ///
    /// A bug of T' is met in every execution of the role that has it as T', which tells nothing: it is counted in the
    /// other role.
    pub(super) fn meet(&mut self, key: &Key, of_t: bool) -> bool {
        let Some(&at) = self.by_key.get(key) else {
            return false;
        };
        if !self.met.contains(&at) {
            self.met.push(at);
            self.bugs[at].1 += u64::from(of_t);
        }
        self.met_by_t |= of_t;
        true
    }

    pub(super) fn add(&mut self, key: Key, bug: Bug, of_t: bool) {
        let at = self.bugs.len();
        self.by_key.insert(key, at);
        self.bugs.push((bug, u64::from(of_t)));
        self.met.push(at);
        self.met_by_t |= of_t;
    }

    /// Before the next execution.
    pub(crate) fn begin(&mut self) {
        self.met.clear();
        self.met_by_t = false;
    }

    /// The first bug that the current execution met.
    pub(crate) fn first_met(&self) -> Option<&Bug> {
        self.met.first().map(|&at| &self.bugs[at].0)
    }

    pub(crate) fn clear(&mut self) {
        self.by_key.clear();
        self.bugs.clear();
        self.begin();
    }
}
