//! The bugs that executions met.

use std::collections::HashMap;
use std::panic::Location;

use super::Bug;
use crate::memory::{Buffer, outside};
use crate::vocabulary::{BugKind, Place, Role, Site};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) kind: BugKind,
    pub(super) place: Place,
    pub(super) other_place: Option<Place>,
    /// The bug's message, where only the message tells the bug from others.
    pub(super) said: String,
    /// The places of panics that the bug may only follow from: with other causes it counts as another bug.
    pub(super) follows: Vec<Place>,
    pub(super) role: Role,
}

/// The sites of a race, and which thread is under test.
type Races = (*const Location<'static>, *const Location<'static>, Role);

/// The bugs found so far, one per kind, place and role, each with the number of executions that met it.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    by_key: HashMap<Key, usize>,
    pub(crate) bugs: Vec<(Bug, u64)>,
    /// The bugs that the current execution met, as indices in `bugs`.
    met: Buffer<usize>,
    /// The races among `bugs`, by their two sites, so that a known race costs no comparison of texts.
    races: Buffer<(Races, usize)>,
    /// Whether the current execution met a bug of T.
    pub(crate) met_by_t: bool,
}

impl Ledger {
    /// Counts a meeting with a known bug, once an execution. Returns whether the bug is known.
    ///
    /// A bug of T' is met in every execution of the role that has it as T', so that meeting it tells nothing: such a
    /// bug is counted in the other role.
    pub(super) fn meet(&mut self, key: &Key, of_t: bool) -> bool {
        let Some(&at) = self.by_key.get(key) else {
            return false;
        };
        self.meet_at(at, of_t);
        true
    }

    /// Whether the bug with this key is known.
    pub(super) fn knows(&self, key: &Key) -> bool {
        self.by_key.contains_key(key)
    }

    fn meet_at(&mut self, at: usize, of_t: bool) {
        if !self.met.contains(&at) {
            self.met.push(at);
            self.bugs[at].1 += u64::from(of_t);
        }
        self.met_by_t |= of_t;
    }

    /// Counts a meeting as [`Ledger::meet`] does, for a race of T that [`Ledger::add_race`] has been told of.
    pub(super) fn meet_race(&mut self, site: Site, other: Site, role: Role) -> bool {
        let race: Races = (site, other, role);
        let known = self.races.iter().find(|(known, _)| *known == race);
        let Some(&(_, at)) = known else { return false };
        self.meet_at(at, true);
        true
    }

    /// Notes that the race of these sites is the bug with this key.
    pub(super) fn add_race(&mut self, key: &Key, site: Site, other: Site) {
        if let Some(&at) = self.by_key.get(key) {
            self.races.push(((site, other, key.role), at));
        }
    }

    pub(super) fn add(&mut self, key: &Key, bug: &Bug, of_t: bool) {
        let at = self.bugs.len();
        // The parts of `bug` and `key` were allocated in the program's region.
        outside(|| {
            self.by_key.insert(key.clone(), at);
            self.bugs.push((bug.clone(), u64::from(of_t)));
        });
        self.met.push(at);
        self.met_by_t |= of_t;
    }

    /// Adds a bug of an earlier execution, if it is new. Returns whether it is.
    pub(super) fn add_late(&mut self, key: &Key, bug: Bug) -> bool {
        let is_new = !self.by_key.contains_key(key);
        if is_new {
            self.by_key.insert(key.clone(), self.bugs.len());
            self.bugs.push((bug, 1));
        }
        is_new
    }

    /// Makes ready for the next execution.
    pub(crate) fn begin(&mut self) {
        self.met.clear();
        self.met_by_t = false;
    }

    /// The first bug that the current execution met.
    pub(crate) fn first_met(&self) -> Option<&Bug> {
        self.met.first().map(|&at| &self.bugs[at].0)
    }

    pub(crate) fn clear(&mut self) {
        if !self.bugs.is_empty() {
            self.by_key.clear();
            self.races.clear();
            self.bugs.clear();
        }
        self.begin();
    }
}
