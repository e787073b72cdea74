//! What a worker says of a harness, gathered to a report.

use crate::report::document::{AlsoFound, Bug, HarnessReport, Level, Reason, Role, RoleReport};
use crate::worker::message;

/// A report in the making.
pub(super) struct Gathered {
    pub(super) report: HarnessReport,
    /// Levels that have begun, by their latest counts.
    open: Vec<message::Level>,
}

impl Gathered {
    pub(super) const fn new(report: HarnessReport) -> Self {
        Self {
            report,
            open: Vec::new(),
        }
    }

    /// How far a level is.
    pub(super) fn progress(&mut self, level: message::Level) {
        let open = self
            .open
            .iter_mut()
            .find(|open| open.role == level.role && open.k == level.k);
        match open {
            Some(open) => *open = level,
            None => self.open.push(level),
        }
    }

    /// A level is over.
    pub(super) fn level(&mut self, level: message::Level, reasons: &[message::Reason]) {
        self.open
            .retain(|open| (open.role, open.k) != (level.role, level.k));
        self.close(
            level,
            reasons.iter().map(|reason| (*reason).into()).collect(),
        );
    }

    fn close(&mut self, level: message::Level, reasons: Vec<Reason>) {
        let role = Role::from(level.role);
        let at = self
            .report
            .roles
            .iter()
            .position(|report| report.under_test >= role);
        let at = at.unwrap_or(self.report.roles.len());
        if self
            .report
            .roles
            .get(at)
            .is_none_or(|report| report.under_test != role)
        {
            self.report.roles.insert(
                at,
                RoleReport {
                    under_test: role,
                    levels: Vec::new(),
                },
            );
        }
        let levels = &mut self.report.roles[at].levels;
        levels.retain(|known| known.k != level.k);
        levels.push(Level {
            k: level.k,
            executions: level.executions,
            infeasible: level.infeasible,
            failing: level.failing,
            exhausted: reasons.is_empty(),
            reasons,
        });
        levels.sort_by_key(|level| level.k);
    }

    /// The search is over: what is open stays so, for this reason.
    pub(super) fn cut(&mut self, reason: Reason) {
        for level in std::mem::take(&mut self.open) {
            self.close(level, vec![reason]);
        }
    }

    /// The search with one thread under test is over, because the program died.
    pub(super) fn died(&mut self, role: Role) {
        let (open, rest) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|open| Role::from(open.role) == role);
        self.open = rest;
        for level in open {
            let level: message::Level = level;
            self.close(
                message::Level {
                    failing: level.failing + 1,
                    ..level
                },
                vec![Reason::Died],
            );
        }
    }

    /// Everything is done again: counts start afresh, bugs stay.
    pub(super) fn start_over(&mut self) {
        self.open.clear();
        self.report.roles.clear();
    }

    /// Whether all levels have been searched with this thread under test.
    pub(super) fn finished(&self, role: Role, k_max: u32) -> bool {
        let role = self
            .report
            .roles
            .iter()
            .find(|report| report.under_test == role);
        role.is_some_and(|role| role.levels.iter().any(|level| level.k == k_max))
    }

    /// Something worth saying, once.
    pub(super) fn note(&mut self, note: String) {
        if !self.report.notes.contains(&note) {
            self.report.notes.push(note);
        }
    }

    /// Adds a bug; the answer is whether it is a new one. The same place and kind is one bug, told at its smallest k.
    pub(super) fn bug(&mut self, bug: Bug) -> bool {
        let same = |known: &&mut Bug| {
            known.kind == bug.kind && known.site == bug.site && known.other_site == bug.other_site
                // Without a place the words are all there is to tell them apart.
                && (bug.site.is_some() || known.message == bug.message)
        };
        let Some(known) = self.report.bugs.iter_mut().find(same) else {
            let at = self.report.bugs.partition_point(|known| known.k <= bug.k);
            self.report.bugs.insert(at, bug);
            return true;
        };
        if known.under_test == bug.under_test {
            let count = known.count.max(bug.count);
            if bug.k < known.k {
                let also_found = std::mem::take(&mut known.also_found);
                *known = Bug { also_found, ..bug };
            }
            known.count = count;
        } else if bug.k < known.k {
            let other = AlsoFound {
                under_test: known.under_test,
                k: known.k,
                count: known.count,
            };
            *known = Bug {
                also_found: vec![other],
                ..bug
            };
        } else {
            let other = AlsoFound {
                under_test: bug.under_test,
                k: bug.k,
                count: bug.count,
            };
            match known.also_found.first_mut() {
                Some(also) => {
                    also.k = also.k.min(other.k);
                    also.count = also.count.max(other.count);
                }
                None => known.also_found.push(other),
            }
        }
        self.report.bugs.sort_by_key(|bug| bug.k);
        false
    }
}

impl From<message::Reason> for Reason {
    fn from(reason: message::Reason) -> Self {
        match reason {
            message::Reason::StepBound => Self::StepBound,
            message::Reason::SampledInputs => Self::SampledInputs,
            message::Reason::SpinCut => Self::SpinCut,
            message::Reason::ExecutionLimit => Self::ExecutionLimit,
            message::Reason::SolverUnknown => Self::SolverUnknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn gathered() -> Gathered {
        let mut report = sample::harness();
        report.bugs.clear();
        report.roles.clear();
        Gathered::new(report)
    }

    fn level(role: message::Role, k: u32, executions: u64) -> message::Level {
        message::Level {
            role,
            k,
            executions,
            infeasible: 0,
            failing: 0,
        }
    }

    #[test]
    fn the_same_place_is_one_bug_at_its_smallest_k() {
        let mut all = gathered();
        let seen = |under_test, k, count| Bug {
            under_test,
            k,
            count,
            also_found: Vec::new(),
            ..sample::bug()
        };
        assert!(all.bug(seen(Role::First, 3, 1)));
        assert!(!all.bug(seen(Role::First, 3, 4)));
        assert!(!all.bug(seen(Role::Second, 2, 1)));
        assert_eq!(all.report.bugs.len(), 1);
        let bug = &all.report.bugs[0];
        assert_eq!((bug.under_test, bug.k, bug.count), (Role::Second, 2, 1));
        assert_eq!(
            bug.also_found,
            [AlsoFound {
                under_test: Role::First,
                k: 3,
                count: 4
            }]
        );
    }

    #[test]
    fn another_place_is_another_bug() {
        let mut all = gathered();
        all.bug(sample::bug());
        let other = Bug {
            site: Some(sample::site(99, "x")),
            k: 0,
            ..sample::bug()
        };
        assert!(all.bug(other));
        let ks: Vec<_> = all.report.bugs.iter().map(|bug| bug.k).collect();
        assert_eq!(ks, [0, 2]);
    }

    #[test]
    fn what_is_open_when_the_search_is_cut_is_not_exhausted() {
        use message::Role::{First, Second};
        let mut all = gathered();
        all.progress(level(Second, 0, 1));
        all.level(level(Second, 0, 1), &[]);
        all.progress(level(First, 0, 5));
        all.progress(level(First, 0, 9));
        all.cut(Reason::Interrupted);
        let [first, second] = all.report.roles.as_slice() else {
            panic!("two roles")
        };
        assert_eq!(
            (first.under_test, second.under_test),
            (Role::First, Role::Second)
        );
        assert_eq!(first.levels[0].executions, 9);
        assert_eq!(first.levels[0].reasons, [Reason::Interrupted]);
        assert!(!first.levels[0].exhausted && second.levels[0].exhausted);
    }
}
