//! What a piece of a search hands on to be put together with the other pieces.

use serde::{Deserialize, Serialize};

use super::gather::{Gathered, Identity};
use crate::model::document::{
    AlsoFound, Bug, HarnessReport, Level, Reason, Role, RoleReport, Site, Status,
};
use crate::model::{unfollowed, verdict, withdrawn};

/// What a piece has gathered of one harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The report, as far as it goes.
    pub report: HarnessReport,
    /// Bugs that may be mere consequences of panics, with the places of those panics. They are not in the report.
    pub(super) held: Vec<(Bug, Vec<Site>)>,
}

/// Puts together what the pieces have gathered of one harness. `are_all`: no piece is missing.
#[must_use]
pub fn checked_together(shares: &[&Share], are_all: bool) -> Option<HarnessReport> {
    let first = shares.first()?;
    let mut report = HarnessReport {
        status: Status::of_pieces(shares.iter().map(|share| &share.report.status)),
        roles: roles(shares, are_all),
        bugs: Vec::new(),
        faults: Vec::new(),
        notes: Vec::new(),
        verdict: String::new(),
        seconds: shares.iter().map(|share| share.report.seconds).sum(),
        ..first.report.clone()
    };
    for share in shares {
        let of_piece = &share.report;
        if report.threads.is_empty() {
            report.threads.clone_from(&of_piece.threads);
        }
        report.reads = report.reads.take().or_else(|| of_piece.reads.clone());
        unfollowed::add_all(&mut report.not_followed, &of_piece.not_followed);
        for note in &of_piece.notes {
            if !report.notes.contains(note) {
                report.notes.push(note.clone());
            }
        }
        for bug in &of_piece.bugs {
            add(&mut report.bugs, bug);
        }
        for fault in &of_piece.faults {
            let identity = Identity::of(fault);
            if !report.faults.iter().any(|known| identity.is(known)) {
                report.faults.push(fault.clone());
            }
        }
    }
    for (bug, follows) in shares.iter().flat_map(|share| &share.held) {
        let mut told = report.bugs.iter().filter(|it| it.kind.is_panic());
        if !told.any(|it| it.site.as_ref().is_some_and(|at| follows.contains(at))) {
            add(&mut report.bugs, bug);
        }
    }
    report.bugs.sort_by_key(|bug| (bug.k, bug.under_test));
    for bug in &mut report.bugs {
        let is_here = |file: &String| std::path::Path::new(file).exists();
        bug.finding = bug.finding.take().filter(is_here);
    }
    if let Some(reason) = verdict::no_interference(&report) {
        report.status = Status::NoInterference {
            reason: reason.into(),
        };
    }
    withdrawn::by_faults(&mut report);
    report.verdict = verdict::of_harness(&report).sentence();
    Some(report)
}

/// Adds up what was searched. A level is exhausted where each piece has searched its own of it to the end.
fn roles(shares: &[&Share], are_all: bool) -> Vec<RoleReport> {
    let mut all: Vec<RoleReport> = Vec::new();
    for role in shares.iter().flat_map(|share| &share.report.roles) {
        let known = all.iter_mut().find(|it| it.under_test == role.under_test);
        let levels = match known {
            Some(known) => &mut known.levels,
            None => {
                all.push(RoleReport {
                    under_test: role.under_test,
                    levels: Vec::new(),
                });
                let at = all.len() - 1;
                &mut all[at].levels
            }
        };
        for level in &role.levels {
            match levels.iter_mut().find(|it| it.k == level.k) {
                Some(known) => sum(known, level),
                None => levels.push(level.clone()),
            }
        }
    }
    all.sort_by_key(|role| role.under_test);
    for role in &mut all {
        role.levels.sort_by_key(|level| level.k);
        let mut all_below = true;
        for level in &mut role.levels {
            let has_level = |share: &&&Share| {
                let mut roles = share.report.roles.iter();
                let of_role = roles.find(|it| it.under_test == role.under_test);
                of_role.is_some_and(|it| it.levels.iter().any(|it| it.k == level.k))
            };
            let here = shares.iter().filter(has_level).count();
            let reasons = &mut level.reasons;
            reasons.retain(|it| !matches!(it, Reason::OtherPieces | Reason::SmallerK));
            if !are_all {
                reasons.push(Reason::OtherPieces);
            }
            if here < shares.len() && !reasons.contains(&Reason::PieceEnded) {
                reasons.push(Reason::PieceEnded);
            }
            if reasons.is_empty() && !all_below {
                reasons.push(Reason::SmallerK);
            }
            level.exhausted = reasons.is_empty();
            all_below &= level.exhausted;
        }
    }
    all
}

fn sum(known: &mut Level, level: &Level) {
    known.executions += level.executions;
    known.infeasible += level.infeasible;
    known.failing += level.failing;
    known.assumed += level.assumed;
    known.waiting += level.waiting;
    known.cut += level.cut;
    known.undecided += level.undecided;
    for reason in &level.reasons {
        if !known.reasons.contains(reason) {
            known.reasons.push(*reason);
        }
    }
}

/// Adds a bug; bugs of the same place and kind are one bug, told at its smallest k. Each execution is that of one piece, so
/// that the numbers of executions add up.
fn add(bugs: &mut Vec<Bug>, bug: &Bug) {
    let identity = Identity::of(bug);
    let Some(known) = bugs.iter_mut().find(|known| identity.is(known)) else {
        bugs.push(bug.clone());
        return;
    };
    let found = |bug: &Bug| {
        let own = AlsoFound {
            under_test: bug.under_test,
            k: bug.k,
            count: bug.count,
        };
        let mut all = bug.also_found.clone();
        all.push(own);
        all
    };
    let mut all: Vec<AlsoFound> = found(known);
    for other in found(bug) {
        match all.iter_mut().find(|it| it.under_test == other.under_test) {
            Some(known) => {
                known.k = known.k.min(other.k);
                known.count += other.count;
            }
            None => all.push(other),
        }
    }
    let first = |bug: &Bug| -> (u32, Role) { (bug.k, bug.under_test) };
    if first(bug) < first(known) {
        *known = bug.clone();
    }
    all.sort_by_key(|it| it.under_test);
    let own = all.iter().position(|it| it.under_test == known.under_test);
    if let Some(own) = own.map(|at| all.remove(at)) {
        known.count = own.count;
    }
    known.also_found = all;
}

impl Gathered {
    /// What has been gathered, to be put together with what other pieces gather. While the search goes on, what is open is
    /// shared as what was ended.
    pub(super) fn share(&self, roles: &[Role], k_max: u32) -> Share {
        let mut ended = self.clone();
        if !roles.is_empty() {
            ended.cut(roles, k_max, Reason::PieceEnded);
        }
        let (mut report, held) = ended.apart();
        report.seconds = self.started.elapsed().as_secs_f64();
        Share { report, held }
    }
}
