//! Claims of a check that other runs of the program refute. The sequential program is a rewriting of the original one: where
//! the two differ in one execution, what the search of all executions has shown is worth nothing.

use super::document::{HarnessReport, Level, Reason, Role, RoleReport};
use super::exploration::{Coupling, HarnessExploration};

/// Takes the claims of a harness back that has findings which the original program refutes.
pub fn by_faults(checked: &mut HarnessReport) {
    if !checked.faults.is_empty() {
        take_back(&mut checked.roles, Reason::Refuted, |_, _| true);
    }
}

/// Takes the claims of a harness back that an exploration refutes: it has found a failure with so few reads of what the other
/// thread wrote that the check has tried all choices of as many, and the check has not found it. Returns the fewest such reads.
pub fn by_exploration(checked: &mut HarnessReport, explored: &HarnessExploration) -> Option<u32> {
    // What a program does with other random numbers is no execution that the check has had to do with.
    let failures = explored.failures.iter().filter(|it| it.random_numbers == 0);
    let missed: Vec<Coupling> = failures
        .flat_map(|failure| failure.couplings.iter().copied())
        .filter(|coupling| claims(checked, *coupling))
        .collect();
    take_back(&mut checked.roles, Reason::Missed, |role, level| {
        let mut missed = missed.iter();
        missed.any(|it| it.under_test == role && it.k <= level.k)
    });
    missed.iter().map(|it| it.k).min()
}

/// Whether the check says that it has tried all executions in which the threads are coupled in this way.
fn claims(checked: &HarnessReport, coupling: Coupling) -> bool {
    let mut roles = checked.roles.iter();
    roles.any(|role| {
        let mut levels = role.levels.iter();
        role.under_test == coupling.under_test
            && levels.any(|level| level.k >= coupling.k && level.exhausted)
    })
}

fn take_back(roles: &mut [RoleReport], reason: Reason, is: impl Fn(Role, &Level) -> bool) {
    for role in roles {
        for level in &mut role.levels {
            if is(role.under_test, level) {
                level.exhausted = false;
                level.reasons.push(reason);
            }
        }
    }
}

/// Whether claims of a harness were taken back since the sequential program missed a failure.
#[must_use]
pub fn has_missed(checked: &HarnessReport) -> bool {
    let mut levels = checked.roles.iter().flat_map(|role| &role.levels);
    levels.any(|level| level.reasons.contains(&Reason::Missed))
}
