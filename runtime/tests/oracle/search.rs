//! The search that `seqz check` runs, held against the walk over all choices that [`crate::compare`] does itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use seqz_runtime::check::{Bounds, Search};
use seqz_runtime::engine::Machine;
use seqz_runtime::vocabulary::BugKind;
use seqz_runtime::{Bound, Role};

/// What a role's walk found: the number of executions by k, and the smallest k of each kind of bug.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Executions with k non-local reads.
    pub(crate) executions: Vec<u64>,
    /// The smallest k at which T panics, or is in a deadlock with itself or with T'.
    pub(crate) smallest: BTreeMap<BugKind, usize>,
}

/// Runs the search to its end. The answer says what it does differently; nothing if it doesn't.
pub(crate) fn differences(
    machine: &mut Machine,
    bound: &Bound,
    role: Role,
    expected: &Summary,
) -> String {
    let bounds = Bounds {
        k_max: 64,
        ..Bounds::default()
    };
    let mut text = String::new();
    let mut found = Summary::default();
    machine.forget_bugs();
    let mut search = Search::new(bound, role, bounds);
    loop {
        let k = search.k();
        let level = match search.next_level(machine, &mut |_, _| true) {
            Ok(level) => level,
            Err(trouble) => return format!("  the search has trouble: {trouble:?}\n"),
        };
        for (bug, _) in machine.bugs().iter().filter(|(bug, _)| bug.role == role) {
            found.smallest.entry(bug.kind).or_insert(k);
        }
        if level.executions == 0 {
            break;
        }
        if !level.exhausted() {
            let _ = writeln!(text, "  k = {k} is not exhausted: {level:?}");
        }
        found.executions.push(level.executions);
    }
    if found != *expected {
        let _ = writeln!(text, "  search: {found:?}, walk: {expected:?}");
    }
    text
}
