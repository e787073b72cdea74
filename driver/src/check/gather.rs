//! What a worker says of a harness, gathered to a report.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use seqz_runtime::check::Level as Counts;

use crate::diagnostic::shown;
use crate::model::document::{
    AlsoFound, Bug, HarnessReport, Kind, Level, Met, Reason, Role, RoleReport, Site,
};
use crate::model::words;
use crate::program::Spawn;

/// A report that is being put together.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    pub(crate) report: HarnessReport,
    /// Where the harness starts threads, for their names.
    pub(crate) spawns: Vec<Spawn>,
    /// The functions that the executable imports, and that the harness does not reach.
    pub(crate) idle_functions: BTreeSet<String>,
    /// Whether only a sample of the inputs is tried.
    pub(crate) sampled: bool,
    /// When the search began.
    pub(crate) started: Instant,
    /// The levels that have begun and not ended: the thread under test, k, and the latest counts.
    open: Vec<(Role, u32, Counts)>,
    /// The identity of the bug in the report for each finding that this worker has sent, in the order of sending.
    sent: Vec<Identity>,
    /// Bugs that may be mere consequences of panics, with the places of those panics. Such a bug is told only if none
    /// of these panics is.
    held: Vec<(Bug, Vec<Site>)>,
    /// Those that were told at the end, as the panics were not: another piece may know of the panics.
    told: Vec<(Bug, Vec<Site>)>,
    /// Whether other pieces of the search are not here.
    pub(crate) pieces_away: bool,
}

/// What makes two findings one bug, and which thread was under test.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Identity {
    kind: Kind,
    site: Option<Site>,
    other_site: Option<Site>,
    /// Without a place of its own the words are all there is to tell them apart.
    message: Option<String>,
    under_test: Role,
}

impl Identity {
    pub(crate) fn of(bug: &Bug) -> Self {
        let (mut site, mut other_site) = (bug.site.clone(), bug.other_site.clone());
        // Two threads that get in each other's way: from the other side it looks the same with its places exchanged.
        let key = |site: &Option<Site>| {
            site.as_ref()
                .map(|site| (site.file.clone(), site.line, site.column))
        };
        if bug.other_pending && key(&other_site) < key(&site) {
            std::mem::swap(&mut site, &mut other_site);
        }
        Self {
            kind: bug.kind,
            message: (bug.site.is_none() || bug.kind == Kind::Result).then(|| bug.message.clone()),
            site,
            other_site,
            under_test: bug.under_test,
        }
    }

    /// Whether both are the same bug, whichever thread is under test.
    pub(super) fn is(&self, bug: &Bug) -> bool {
        *self
            == Self {
                under_test: self.under_test,
                ..Self::of(bug)
            }
    }
}

impl Gathered {
    pub(crate) fn new(
        report: HarnessReport,
        spawns: Vec<Spawn>,
        idle_functions: BTreeSet<String>,
    ) -> Self {
        Self {
            report,
            spawns,
            idle_functions,
            sampled: false,
            started: Instant::now(),
            open: Vec::new(),
            sent: Vec::new(),
            held: Vec::new(),
            told: Vec::new(),
            pieces_away: false,
        }
    }

    /// Takes in the latest counts of a level.
    pub(crate) fn progress(&mut self, role: Role, k: u32, counts: Counts) {
        self.open.retain(|(open, at, _)| (*open, *at) != (role, k));
        self.open.push((role, k, counts));
    }

    /// Takes in the final counts of a level.
    pub(crate) fn level(&mut self, role: Role, k: u32, counts: &Counts) {
        if counts.interfering_waiting > 0 {
            self.note(
                "the interfering thread waits for something that the thread under test does: it was run up to there, as it \
                 sees nothing of the other thread here, and `seqz explore` goes further"
                    .to_owned(),
            );
        }
        self.open.retain(|(open, at, _)| (*open, *at) != (role, k));
        self.close(role, k, counts, None);
    }

    fn close(&mut self, role: Role, k: u32, counts: &Counts, cut: Option<Reason>) {
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
        let mut reasons: Vec<_> = cut.into_iter().collect();
        let because = [
            (counts.skipped > 0 && cut.is_none(), Reason::ExecutionLimit),
            (
                counts.step_bound + counts.interfering_cut > counts.undecided,
                Reason::StepBound,
            ),
            (counts.undecided > 0, Reason::Undecided),
            (counts.unknown > 0, Reason::SolverUnknown),
            (counts.scoped > 0, Reason::ScopedDestructor),
            (counts.later > 0, Reason::LaterRound),
            (counts.barrier > 0, Reason::Barrier),
            (counts.behind_another > 0, Reason::BehindAnother),
            (counts.hurried > 0, Reason::PassingTime),
            (self.sampled, Reason::SampledInputs),
            (!self.report.not_followed.is_empty(), Reason::Unfollowed),
            (!self.report.lone.is_empty(), Reason::Reasonless),
            (self.pieces_away, Reason::OtherPieces),
        ];
        reasons.extend(
            because
                .into_iter()
                .filter_map(|(holds, reason)| holds.then_some(reason)),
        );
        let levels = &mut self.report.roles[at].levels;
        // An execution with k non-local reads is one with fewer, up to its last one.
        let mut levels_below = levels.iter().filter(|level| level.k < k);
        if reasons.is_empty() && levels_below.any(|level| !level.exhausted) {
            reasons.push(Reason::SmallerK);
        }
        levels.retain(|known| known.k != k);
        levels.push(Level {
            k,
            executions: counts.executions,
            infeasible: counts.infeasible,
            failing: counts.buggy,
            assumed: counts.assumed,
            waiting: counts.waiting + counts.stuck,
            cut: counts.step_bound + counts.interfering_cut,
            undecided: counts.undecided,
            exhausted: reasons.is_empty(),
            reasons,
        });
        levels.sort_by_key(|level| level.k);
    }

    /// The search is over: what is open stays so, for this reason, and so does what has not begun.
    pub(crate) fn cut(&mut self, roles: &[Role], k_max: u32, reason: Reason) {
        for (role, k, counts) in std::mem::take(&mut self.open) {
            self.close(role, k, &counts, Some(reason));
        }
        for &role in roles {
            self.fill(role, k_max, reason);
        }
    }

    /// A fuzzer has looked at this k, and may have missed what there is.
    pub(crate) fn fuzzed(&mut self, role: Role, k: u32, counts: &Counts, died: bool) {
        self.open.retain(|(open, at, _)| (*open, *at) != (role, k));
        let reason = if died { Reason::Died } else { Reason::Fuzzed };
        self.close(role, k, counts, Some(reason));
    }

    /// The search with one thread under test is over at this k, because the program died.
    pub(crate) fn died(&mut self, role: Role, k: u32, k_max: u32) {
        let mut counts = Counts::default();
        self.open.retain(|(open, at, latest)| {
            if (*open, *at) == (role, k) {
                counts = latest.clone();
            }
            *open != role
        });
        counts.executions += 1;
        counts.buggy += 1;
        self.close(role, k, &counts, Some(Reason::Died));
        self.fill(role, k_max, Reason::Died);
    }

    /// Returns the number of executions, with this thread under test, and the time that the search has taken until now.
    pub(crate) fn met(&self, role: Role) -> Met {
        let roles = self.report.roles.iter();
        let levels = roles
            .filter(|report| report.under_test == role)
            .flat_map(|report| &report.levels);
        Met {
            executions: levels.map(|level| level.executions).sum(),
            seconds: self.started.elapsed().as_secs_f64(),
        }
    }

    /// Closes, for this reason, the levels that were asked for and of which nothing has been heard.
    fn fill(&mut self, role: Role, k_max: u32, reason: Reason) {
        for k in 0..=k_max {
            let mut heard_of = self
                .report
                .roles
                .iter()
                .filter(|report| report.under_test == role);
            if !heard_of.any(|report| report.levels.iter().any(|level| level.k == k)) {
                self.close(role, k, &Counts::default(), Some(reason));
            }
        }
    }

    /// A new worker begins: counts of what it is to do start afresh, bugs stay.
    pub(crate) fn start_over(&mut self, roles: &[Role]) {
        self.open.clear();
        self.sent.clear();
        self.report
            .roles
            .retain(|report| !roles.contains(&report.under_test));
    }

    /// Whether all levels have been searched with this thread under test.
    pub(crate) fn finished(&self, role: Role, k_max: u32) -> bool {
        let role = self
            .report
            .roles
            .iter()
            .find(|report| report.under_test == role);
        role.is_some_and(|role| role.levels.iter().any(|level| level.k == k_max))
    }

    /// Adds a note to the report, once.
    pub(crate) fn note(&mut self, note: String) {
        if !self.report.notes.contains(&note) {
            self.report.notes.push(note);
        }
    }

    /// Gives a bug without a place the place of the test.
    pub(crate) fn place(&self, bug: &mut Bug) {
        if bug.kind == Kind::Result {
            bug.site = Some(self.report.site.clone());
        }
    }

    /// Adds a bug and returns whether the bug is new. Bugs of the same place and kind are one bug, told at its smallest
    /// k.
    ///
    /// A bug that the original program refutes is a fault of seqz, and kept apart.
    pub(crate) fn bug(&mut self, bug: Bug) -> bool {
        self.sent.push(Identity::of(&bug));
        self.add(bug)
    }

    /// Notes the file that a bug was written to.
    pub(crate) fn written(&mut self, identity: &Identity, file: &Path) {
        if let Some(known) = self.report.bugs.iter_mut().find(|known| identity.is(known)) {
            known.finding = Some(shown(file));
        }
    }

    /// Holds back a bug that may be a mere consequence of panics at the places `follows`.
    pub(crate) fn hold(&mut self, bug: Bug, follows: Vec<Site>) {
        self.sent.push(Identity::of(&bug));
        self.held.push((bug, follows));
    }

    /// Called at the end of the search: adds the bugs held back whose panics have not been told. Returns those of these
    /// bugs that are new.
    pub(crate) fn tell_held(&mut self) -> Vec<Bug> {
        let mut new = Vec::new();
        for (bug, follows) in std::mem::take(&mut self.held) {
            let mut told = self.report.bugs.iter().filter(|it| it.kind.is_panic());
            let is_told = told.any(|it| it.site.as_ref().is_some_and(|at| follows.contains(at)));
            if is_told {
                continue;
            }
            self.told.push((bug.clone(), follows));
            if self.add(bug.clone()) {
                new.push(bug);
            }
        }
        new
    }

    /// The report without the bugs that may be mere consequences of panics, and those bugs with the places of the panics.
    pub(super) fn apart(mut self) -> (HarnessReport, Vec<(Bug, Vec<Site>)>) {
        for (bug, _) in &mut self.told {
            let identity = Identity::of(bug);
            let of_told =
                |known: &Bug| identity.is(known) && known.non_local_reads == bug.non_local_reads;
            if let Some(at) = self.report.bugs.iter().position(of_told) {
                *bug = self.report.bugs.remove(at);
            }
        }
        let mut held = self.held;
        held.append(&mut self.told);
        (self.report, held)
    }

    fn add(&mut self, bug: Bug) -> bool {
        let identity = Identity::of(&bug);
        if bug.confirmation.refutes() && !self.report.not_followed.is_empty() {
            // Both runs may have been led astray.
            let (heading, _) = words::heading(bug.kind, &bug.message);
            self.note(format!(
                "a finding (“{heading}”) was not there when the original program was run: what is not followed may be why"
            ));
            return false;
        }
        if bug.confirmation.refutes() {
            if !self.report.faults.iter().any(|known| identity.is(known)) {
                self.report.faults.push(bug);
            }
            return false;
        }
        let Some(known) = self.report.bugs.iter_mut().find(|known| identity.is(known)) else {
            let at = self.report.bugs.partition_point(|known| known.k <= bug.k);
            self.report.bugs.insert(at, bug);
            return true;
        };
        if known.under_test == bug.under_test {
            let count = known.count.max(bug.count);
            if bug.k < known.k {
                let also_found = std::mem::take(&mut known.also_found);
                let finding = known.finding.take();
                *known = Bug {
                    also_found,
                    finding,
                    ..bug
                };
            }
            known.count = count;
        } else if bug.k < known.k {
            let other = AlsoFound {
                under_test: known.under_test,
                k: known.k,
                count: known.count,
            };
            let finding = known.finding.take();
            let mut also_found = std::mem::take(&mut known.also_found);
            also_found.retain(|also| also.under_test != bug.under_test);
            also_found.push(other);
            also_found.sort_by_key(|also| also.under_test);
            *known = Bug {
                also_found,
                finding,
                ..bug
            };
        } else {
            let other = AlsoFound {
                under_test: bug.under_test,
                k: bug.k,
                count: bug.count,
            };
            let mut all = known.also_found.iter_mut();
            match all.find(|also| also.under_test == other.under_test) {
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

    /// Takes in how often each finding was met, in the order in which the worker sent the findings.
    ///
    /// One execution may meet several findings that are one bug here, such as a race of two accesses on one line; such
    /// findings count once.
    pub(crate) fn times(&mut self, times: &[u64]) {
        let roles = &self.report.roles;
        let met = |identity: &Identity| -> u64 {
            let same = self
                .sent
                .iter()
                .zip(times)
                .filter(|(sent, _)| *sent == identity);
            let failing = roles
                .iter()
                .filter(|role| role.under_test == identity.under_test)
                .flat_map(|role| &role.levels)
                .map(|level| level.failing);
            same.map(|(_, times)| times)
                .sum::<u64>()
                .min(failing.sum::<u64>())
        };
        for bug in &mut self.report.bugs {
            let identity = Identity::of(bug);
            bug.count = met(&identity).max(bug.count);
            for also in &mut bug.also_found {
                let seen = Identity {
                    under_test: also.under_test,
                    ..identity.clone()
                };
                also.count = met(&seen).max(also.count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sample;

    fn gathered() -> Gathered {
        let mut report = sample::harness();
        report.bugs.clear();
        report.roles.clear();
        Gathered::new(report, Vec::new(), BTreeSet::new())
    }

    fn counts(executions: u64) -> Counts {
        Counts {
            executions,
            ..Counts::default()
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
            finding: None,
            ..sample::bug()
        };
        assert!(all.bug(seen(Role::FIRST, 3, 1)));
        assert!(!all.bug(seen(Role::FIRST, 3, 4)));
        assert!(!all.bug(seen(Role::SECOND, 2, 1)));
        assert_eq!(all.report.bugs.len(), 1);
        let bug = &all.report.bugs[0];
        assert_eq!((bug.under_test, bug.k, bug.count), (Role::SECOND, 2, 1));
        assert_eq!(
            bug.also_found,
            [AlsoFound {
                under_test: Role::FIRST,
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
    fn counts_come_at_the_end() {
        let mut all = gathered();
        let seen = |under_test, k| Bug {
            under_test,
            k,
            count: 1,
            also_found: Vec::new(),
            finding: None,
            ..sample::bug()
        };
        all.bug(seen(Role::FIRST, 2));
        all.bug(Bug {
            site: Some(sample::site(99, "x")),
            ..seen(Role::FIRST, 2)
        });
        all.bug(seen(Role::SECOND, 3));
        for role in Role::BOTH {
            let level = Counts {
                buggy: 6,
                ..Counts::default()
            };
            all.level(role, 2, &level);
        }
        all.times(&[5, 7, 2]);
        let counts: Vec<_> = all.report.bugs.iter().map(|bug| bug.count).collect();
        assert_eq!(counts, [5, 6]);
        assert_eq!(all.report.bugs[0].also_found[0].count, 2);
    }

    #[test]
    fn what_is_open_when_the_search_is_cut_is_not_exhausted() {
        let mut all = gathered();
        all.progress(Role::SECOND, 0, counts(1));
        all.level(Role::SECOND, 0, &counts(1));
        all.progress(Role::FIRST, 0, counts(5));
        all.progress(Role::FIRST, 0, counts(9));
        all.cut(&Role::BOTH, 1, Reason::Interrupted);
        let [first, second] = all.report.roles.as_slice() else {
            panic!("two roles")
        };
        assert_eq!(
            (first.under_test, second.under_test),
            (Role::FIRST, Role::SECOND)
        );
        assert_eq!(first.levels[0].executions, 9);
        assert_eq!(first.levels[0].reasons, [Reason::Interrupted]);
        assert!(!first.levels[0].exhausted && second.levels[0].exhausted);
        let not_begun = &second.levels[1];
        assert_eq!((not_begun.executions, not_begun.exhausted), (0, false));
    }
}
