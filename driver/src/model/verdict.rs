//! The sentence that says what a search has shown, made in one place from what was counted.
//!
//! A claim ("every schedule was run") is made only where nothing takes it away: no execution was cut, no question was
//! given up, all that the harness reaches is followed, no worker died. Otherwise the sentence names what takes the
//! claim away.

use super::document::{Cut, HarnessReport, Kind, Level, Reason, Report, Status};
use super::exploration::{Counts, HarnessExploration, Promise};
use super::lone::{self, Lone, Spurious};
use super::unfollowed::{self, NotFollowed};
use super::withdrawn;
use super::words;
use crate::layout::{counted, grouped, in_words};

/// A verdict in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether all of the search space was searched.
    pub exhausted: bool,
    /// The first words: "exhausted", "not exhausted", …
    pub head: String,
    /// What the first words mean here, or the reason for them; may be empty.
    pub rest: String,
}

impl Verdict {
    /// Returns the whole sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        if self.rest.is_empty() {
            self.head.clone()
        } else {
            format!("{}: {}", self.head, self.rest)
        }
    }
}

/// What a search claims at its end, if nothing takes the claim away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// Every schedule was run.
    Schedules,
    /// Every execution of the memory model was made.
    Graphs,
    /// Every state was seen.
    States,
    /// Every class of executions was run, with the numbers of all executions and of redundant ones.
    Classes { executions: u64, redundant: u64 },
    /// Every schedule with at most this number of preemptions was run; `None`: any number.
    Preemptions(Option<u32>),
    /// All choices with k non-local reads were tried.
    Choices,
    /// All choices with up to this number of non-local reads were tried, in all harnesses.
    AllChoices(u32),
    /// Schedules that are like executed ones were left out.
    Alike,
    /// Schedules were drawn at random.
    Drawn,
    /// The search did not come to its end.
    Nothing,
}

/// Makes the verdict of a claim, less what takes it away. All verdicts are made here.
fn verdict(claim: Claim, lacks: &[String]) -> Verdict {
    let (head, rest) = match claim {
        Claim::Alike => (
            "heuristic",
            "orders of two statements that had been seen were not tried again, and what was left out may still fail"
                .to_owned(),
        ),
        Claim::Drawn => (
            "sampled",
            "schedules were drawn at random, and what was not seen may still be there".to_owned(),
        ),
        _ if !lacks.is_empty() => {
            return Verdict {
                exhausted: false,
                head: "not exhausted".into(),
                rest: lacks.join("; "),
            };
        }
        Claim::Schedules => (
            "exhausted",
            "every schedule was run, up to the order of independent events".to_owned(),
        ),
        Claim::Graphs => (
            "exhausted",
            "every execution that Rust's memory model (rc11) allows was made, each once".to_owned(),
        ),
        Claim::States => (
            "exhausted",
            "every reachable state was seen, as one schedule was run of all that differ in the order of independent \
             events and of critical sections that share nothing"
                .to_owned(),
        ),
        Claim::Classes {
            executions,
            redundant,
        } => {
            let executions = counted(executions, "execution", "executions");
            let often = match redundant {
                0 => "exactly once".to_owned(),
                n => format!("{} of them more than once", grouped(n)),
            };
            (
                "state space exhausted",
                format!(
                    "{executions}; every class of executions in which all threads observe the same was run, {often}"
                ),
            )
        }
        Claim::Preemptions(Some(n)) => (
            "bounded",
            format!(
                "every schedule with at most {} was run",
                counted(n.into(), "preemption", "preemptions")
            ),
        ),
        Claim::Preemptions(None) => ("bounded", "every schedule was run".to_owned()),
        Claim::Choices => ("exhausted", String::new()),
        Claim::AllChoices(k) => (
            "exhausted",
            format!("all choices of inputs, reads and writes were tried for k ≤ {k}"),
        ),
        Claim::Nothing => ("not exhausted", String::new()),
    };
    let exhausted = !matches!(
        claim,
        Claim::Preemptions(_) | Claim::Alike | Claim::Drawn | Claim::Nothing
    );
    // These claims can't be taken away; what is missing is said beside them.
    let beside: String = lacks.iter().map(|lack| format!("; {lack}")).collect();
    Verdict {
        exhausted,
        head: head.to_owned(),
        rest: rest + &beside,
    }
}

/// Returns the verdict on an exploration.
#[must_use]
pub fn of_exploration(
    promise: &Promise,
    counts: &Counts,
    sampled_inputs: bool,
    not_followed: &[NotFollowed],
) -> Verdict {
    let (claim, mut reasons) = match promise {
        Promise::Exhausted => (Claim::Schedules, Vec::new()),
        Promise::ExhaustedWeakly => (Claim::Graphs, Vec::new()),
        Promise::ExhaustedLazily { truncated } => (Claim::States, cut(*truncated, counts)),
        Promise::ExhaustedByValues { truncated } => {
            let claim = Claim::Classes {
                executions: counts.executions,
                redundant: counts.redundant,
            };
            (claim, cut(*truncated, counts))
        }
        Promise::Bounded {
            preemptions,
            truncated,
        } => (Claim::Preemptions(*preemptions), cut(*truncated, counts)),
        Promise::Heuristic => (Claim::Alike, Vec::new()),
        Promise::Sampled => (Claim::Drawn, Vec::new()),
        Promise::Unfinished { reasons } => (Claim::Nothing, reasons.clone()),
    };
    let causality = counts.causality.unwrap_or_default();
    let at_bound = counts.truncated.saturating_sub(counts.undecided);
    let counted = [
        (at_bound, Reason::StepBound),
        (counts.undecided, Reason::Undecided),
        (causality.unknown, Reason::SolverUnknown),
        (causality.lost, Reason::NotFollowed),
        (causality.open, Reason::OpenOutcome),
        (u64::from(sampled_inputs), Reason::SampledInputs),
        (not_followed.len() as u64, Reason::Unfollowed),
    ];
    reasons.extend(counted.into_iter().filter(|(n, _)| *n > 0).map(|(_, r)| r));
    let times = |reason: Reason| match reason {
        Reason::StepBound => at_bound,
        Reason::Undecided => counts.undecided,
        Reason::SolverUnknown => causality.unknown,
        Reason::NotFollowed => causality.lost,
        Reason::OpenOutcome => causality.open,
        _ => 0,
    };
    verdict(claim, &lacks(reasons, times, not_followed, &[]))
}

/// Returns the verdict on a harness with this status, from the verdict on what was searched of it.
fn hindered(status: &Status, of_search: Verdict) -> Verdict {
    let Some(why) = status.hindrance() else {
        return of_search;
    };
    let beside = if of_search.exhausted || of_search.rest.is_empty() {
        String::new()
    } else {
        format!("; {}", of_search.rest)
    };
    let first = why.lines().next().unwrap_or_default();
    Verdict {
        rest: format!("{first}{beside}"),
        ..verdict(Claim::Nothing, &[])
    }
}

/// Returns the verdict on the exploration of a harness.
#[must_use]
pub fn of_report(report: &HarnessExploration) -> Verdict {
    let mut of_search = of_exploration(
        &report.promise,
        &report.counts,
        report.sampled_inputs,
        &report.not_followed,
    );
    let mut failures = report.failures.iter();
    if of_search.exhausted
        && matches!(report.promise, Promise::ExhaustedWeakly)
        && failures.any(|failure| failure.kind == Kind::DataRace)
    {
        let why = "the memory model (rc11) says nothing of what else happens in a program with a data race";
        of_search = verdict(Claim::Graphs, &[why.to_owned()]);
    }
    let verdict = hindered(&report.status, of_search);
    match without_reason(report) {
        Some(tried) => Verdict {
            rest: if verdict.rest.is_empty() {
                tried
            } else {
                format!("{}; {tried}", verdict.rest)
            },
            ..verdict
        },
        None => verdict,
    }
}

/// Says of a harness that an exploration has found a failure in, with so few reads `k` of the other thread's writes, that the
/// check's claim does not hold.
#[must_use]
pub fn withdrawn(k: u32) -> String {
    let reads = match k {
        0 => "no read of what the other thread wrote (k = 0)".to_owned(),
        1 => "one read of what the other thread wrote (k = 1)".to_owned(),
        k => format!(
            "{} reads of what the other thread wrote (k = {k})",
            in_words(k as usize)
        ),
    };
    format!(
        "Not exhausted, whatever is said above of the check: a failure here needs {reads}, and the sequential program missed it. \
         That is a fault of seqz; please report it, with the program."
    )
}

/// Says how often a call could end or fail without a reason in the executions of a harness, if there is something to be
/// said.
#[must_use]
pub fn without_reason(report: &HarnessExploration) -> Option<String> {
    let spurious = Spurious {
        times: report.spurious,
        in_loops: report.spurious_in_loops,
    };
    lone::tried(&report.lone, spurious)
}

/// Returns the verdict on the search of one k. What is not followed is said once for the harness, and so not here.
#[must_use]
pub fn of_level(level: &Level, not_followed: &[NotFollowed]) -> Verdict {
    let mut reasons = level.reasons.clone();
    reasons.extend((level.cut > level.undecided).then_some(Reason::StepBound));
    reasons.extend((level.undecided > 0).then_some(Reason::Undecided));
    if !not_followed.is_empty() {
        reasons.push(Reason::Unfollowed);
    }
    let times = |reason: Reason| match reason {
        Reason::StepBound => level.cut.saturating_sub(level.undecided),
        Reason::Undecided => level.undecided,
        _ => 0,
    };
    let claim = if level.exhausted {
        Claim::Choices
    } else {
        Claim::Nothing
    };
    verdict(claim, &lacks(reasons, times, &[], &[]))
}

/// Returns the verdict on the check of a harness.
#[must_use]
pub fn of_harness(report: &HarnessReport) -> Verdict {
    let levels: Vec<_> = report.roles.iter().flat_map(|role| &role.levels).collect();
    let cut: u64 = levels.iter().map(|level| level.cut).sum();
    let undecided: u64 = levels.iter().map(|level| level.undecided).sum();
    let mut reasons: Vec<_> = levels
        .iter()
        .flat_map(|level| level.reasons.clone())
        .collect();
    reasons.extend((cut > undecided).then_some(Reason::StepBound));
    reasons.extend((undecided > 0).then_some(Reason::Undecided));
    reasons.extend((!report.not_followed.is_empty()).then_some(Reason::Unfollowed));
    reasons.extend((!report.lone.is_empty()).then_some(Reason::Reasonless));
    reasons.extend((!report.faults.is_empty()).then_some(Reason::Refuted));
    // The smaller k has a reason of its own.
    if reasons.iter().any(|reason| *reason != Reason::SmallerK) {
        reasons.retain(|reason| *reason != Reason::SmallerK);
    }
    let k = levels.iter().map(|level| level.k).max().unwrap_or(0);
    let searched = matches!(
        report.status,
        Status::Checked | Status::NoInterference { .. }
    );
    let claim = if searched && levels.iter().all(|level| level.exhausted) {
        Claim::AllChoices(k)
    } else {
        Claim::Nothing
    };
    let times = |reason: Reason| match reason {
        Reason::StepBound => cut.saturating_sub(undecided),
        Reason::Undecided => undecided,
        _ => 0,
    };
    let lacks = lacks(reasons, times, &report.not_followed, &report.lone);
    hindered(&report.status, verdict(claim, &lacks))
}

/// Says of a harness in which no two threads ran side by side that there is nothing more to search; `None` for other
/// harnesses, and where something takes that away.
#[must_use]
pub fn no_interference(report: &HarnessReport) -> Option<&'static str> {
    let mut levels = report.roles.iter().flat_map(|role| &role.levels);
    let is_met =
        report.status == Status::Checked && report.threads.is_empty() && report.bugs.is_empty();
    if !is_met || !levels.all(|level| level.exhausted && level.reasons.is_empty()) {
        None
    } else if of_harness(report).exhausted {
        Some(
            "no two threads ever run side by side: there is one order of everything, and that was run",
        )
    } else {
        (!report.not_followed.is_empty()).then_some(
            "no two threads were seen side by side: what they share, if anything, is not followed",
        )
    }
}

/// Returns the verdict on a check, all harnesses together.
#[must_use]
pub fn of_check(report: &Report) -> Verdict {
    let k = report.k_max;
    let whole = report.summary.exhausted && report.cut.is_none();
    if whole && report.harnesses.iter().all(|it| of_harness(it).exhausted) {
        return verdict(Claim::AllChoices(k), &[]);
    }
    Verdict {
        rest: format!("not everything was tried for k ≤ {k}: see above for what was not, and why"),
        ..verdict(Claim::Nothing, &[])
    }
}

/// Says of the harnesses that no k can reach whether they were explored, and what that has shown; `None` where all could be
/// checked.
#[must_use]
pub fn instead(report: &Report) -> Option<String> {
    let beyond: Vec<_> = report
        .harnesses
        .iter()
        .filter(|it| it.is_beyond())
        .collect();
    let of = match beyond.len() {
        0 => return None,
        1 => "The harness that can't be checked".to_owned(),
        n => format!("The {} harnesses that can't be checked", in_words(n)),
    };
    let explored = report.explored.iter().flat_map(|it| &it.harnesses);
    let explored: Vec<_> = explored
        .filter(|it| it.status == Status::Checked && beyond.iter().any(|of| of.name == it.name))
        .collect();
    let were = if beyond.len() == 1 { "was" } else { "were" };
    let left = beyond.len() - explored.len();
    if explored.is_empty() {
        return Some(format!("{of} {were} not searched: see above"));
    }
    let executions = explored.iter().map(|it| it.counts.executions).sum();
    let executions = counted(executions, "execution", "executions");
    let open = explored
        .iter()
        .filter(|it| !of_report(it).exhausted)
        .count();
    let failing = explored.iter().filter(|it| !it.failures.is_empty()).count();
    let found = match failing {
        0 if open == 0 => "exhausted".to_owned(),
        0 if explored.len() == 1 => "not exhausted, see above".to_owned(),
        0 => format!("{} not exhausted, see above", in_words(open)),
        1 if explored.len() == 1 => "see above for what was found".to_owned(),
        n => format!("{} with findings, see above", in_words(n)),
    };
    let left = match left {
        0 => String::new(),
        n => format!("; {} not searched", in_words(n)),
    };
    Some(format!(
        "{of} {were} explored instead, in {executions}: {found}{left}"
    ))
}

/// Says what a check can't show however far it searches, and what an exploration has shown of that; `None` where no two
/// threads run side by side.
#[must_use]
pub fn beyond(report: &Report) -> Option<String> {
    let mut harnesses = report.harnesses.iter();
    if !harnesses.any(|harness| harness.status == Status::Checked) {
        return None;
    }
    let of = if report.harnesses.iter().any(|it| it.threads.len() > 2) {
        "No k covers a bug in which more than one thread sees what another one wrote"
    } else {
        "No k covers a bug in which both threads see what the other one wrote"
    };
    let Some(explored) = &report.explored else {
        return Some(format!("{of}: `seqz explore` finds those"));
    };
    let was_checked = |it: &&HarnessExploration| {
        let mut checked = report.harnesses.iter();
        !checked.any(|checked| checked.name == it.name && checked.is_beyond())
    };
    // Those that can't be checked are told of by themselves.
    let those_checked: Vec<_> = explored.harnesses.iter().filter(was_checked).collect();
    if those_checked.is_empty() {
        return Some(format!("{of}: `seqz explore` finds those"));
    }
    let executions = those_checked.iter().map(|it| it.counts.executions).sum();
    let executions = counted(executions, "execution", "executions");
    let mut all_missed = report
        .harnesses
        .iter()
        .filter(|it| withdrawn::has_missed(it));
    if let Some(first) = all_missed.next() {
        let name = &first.name;
        let others = match all_missed.count() {
            0 => String::new(),
            n => format!(", and so in {} more", in_words(n)),
        };
        return Some(format!(
            "`seqz explore` found in `{name}` what the check should have found{others}: a fault of seqz, see above"
        ));
    }
    let has_bug = |checked: &HarnessReport| !checked.bugs.is_empty();
    let is_left = |checked: &&HarnessReport| {
        let mut explored = explored.harnesses.iter();
        checked.status == Status::Checked
            && !has_bug(checked)
            && !explored.any(|it| it.name == checked.name)
    };
    let left = report.harnesses.iter().find(is_left);
    let those = if report.harnesses.iter().any(has_bug) {
        "those, in harnesses without another bug"
    } else {
        "those"
    };
    let those_beyond = if report.harnesses.iter().any(has_bug) {
        "what no k up to here covers, in harnesses without another bug"
    } else {
        "what no k up to here covers"
    };
    let found: usize = those_checked.iter().map(|it| it.failures.len()).sum();
    if found > 0 {
        let number = match found {
            1 => "the one above".to_owned(),
            n => format!("the {} above", in_words(n)),
        };
        let failures = those_checked.iter().flat_map(|it| &it.failures);
        let reached: Vec<u32> = failures
            .filter_map(|failure| failure.couplings.iter().map(|it| it.k).min())
            .filter(|k| *k > report.k_max)
            .collect();
        // A larger k covers all that was found, so that there is nothing of that other kind among it.
        if let Some(k) = reached.iter().max()
            && reached.len() == found
        {
            let it = if found == 1 { "it" } else { "them" };
            return Some(format!(
                "`seqz explore` was run for {those_beyond}, and found {number} in {executions}: `--k-max {k}` reaches {it}, \
                 too"
            ));
        }
        let some = match reached.iter().max() {
            Some(k) => format!(
                "; `--k-max {k}` reaches {} of them",
                in_words(reached.len())
            ),
            None => String::new(),
        };
        return Some(format!(
            "{of}: `seqz explore` was run for {those}, and found {number} in {executions}{some}"
        ));
    }
    let lacking = |report: &&&HarnessExploration| {
        report.status != Status::Checked || !of_report(report).exhausted
    };
    let mut lacking = those_checked.iter().filter(lacking);
    let Some(first) = lacking.next() else {
        if let Some(left) = left {
            return Some(format!(
                "{of}: `seqz explore` was run for some of {those} only, and not of `{}`",
                left.name
            ));
        }
        return Some(format!(
            "{of}: `seqz explore` was run for {those}, too: exhausted, in {executions}"
        ));
    };
    let number = match lacking.count() {
        0 if those_checked.len() == 1 => String::new(),
        more => format!(
            " ({} of {})",
            more + 1,
            counted(those_checked.len() as u64, "harness", "harnesses")
        ),
    };
    let why = if explored.cut == Some(Cut::TimeLimit) {
        "the time for it is over; it can be run by itself".to_owned()
    } else if first.status == Status::Checked {
        of_report(first).rest
    } else {
        "see above".to_owned()
    };
    Some(format!(
        "{of}: `seqz explore` was run for {those}, too: not exhausted{number}, in {executions}: {why}"
    ))
}

/// Returns the reasons why executions were cut, where a promise says only that some were.
fn cut(truncated: bool, counts: &Counts) -> Vec<Reason> {
    let is_counted = counts.undecided > 0;
    Vec::from_iter((truncated && !is_counted).then_some(Reason::StepBound))
}

/// Returns the reasons in words, each once, in the order in which they are documented.
fn lacks(
    mut reasons: Vec<Reason>,
    times: impl Fn(Reason) -> u64,
    not_followed: &[NotFollowed],
    lone: &[Lone],
) -> Vec<String> {
    reasons.sort_by_key(|reason| Reason::ALL.iter().position(|other| other == reason));
    reasons.dedup();
    let told = |reason: Reason| match (reason, times(reason)) {
        (Reason::Reasonless, _) if let Some(text) = lone::not_tried(lone) => text,
        (Reason::Unfollowed, _) if !not_followed.is_empty() => unfollowed::sentence(not_followed),
        (Reason::StepBound, n @ 1..) => {
            let executions = counted(n, "execution was", "executions were");
            format!("{executions} cut at --max-steps")
        }
        (Reason::Undecided, n @ 1..) => {
            let executions = counted(n, "execution was", "executions were");
            format!("{executions} cut where threads wait, and it is not known whether for ever")
        }
        (_, 0) => words::reason(reason).to_owned(),
        (_, n) => format!("{} ({})", words::reason(reason), grouped(n)),
    };
    reasons.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;
    use crate::model::document::Role;
    use crate::model::exploration::{Causality, Coupling};
    use crate::model::sample;

    /// The words that must not be said where something takes the claim away.
    const CLAIMS: &[&str] = &["every ", "all choices", "exhausted", "exactly once"];

    fn claims(verdict: &Verdict) -> bool {
        let text = verdict.sentence().to_lowercase();
        let text = text.replace("not exhausted", "");
        CLAIMS.iter().any(|claim| text.contains(claim))
    }

    fn something() -> NotFollowed {
        NotFollowed {
            package: Some("x".into()),
            what: "a `Mutex`".into(),
            site: Some(crate::model::document::Site {
                file: "src/lib.rs".into(),
                line: 12,
                column: 1,
                text: String::new(),
            }),
            distorts: false,
            synchronizes: true,
        }
    }

    fn promises() -> Vec<Promise> {
        let mut all = vec![
            Promise::Exhausted,
            Promise::ExhaustedWeakly,
            Promise::Heuristic,
            Promise::Sampled,
        ];
        for truncated in [false, true] {
            all.push(Promise::ExhaustedLazily { truncated });
            all.push(Promise::ExhaustedByValues { truncated });
            for preemptions in [None, Some(0), Some(2)] {
                all.push(Promise::Bounded {
                    preemptions,
                    truncated,
                });
            }
        }
        let one = Reason::ALL.map(|reason| Promise::Unfinished {
            reasons: vec![reason],
        });
        all.extend(one);
        all.push(Promise::Unfinished {
            reasons: Reason::ALL.to_vec(),
        });
        all.push(Promise::Unfinished {
            reasons: Vec::new(),
        });
        all
    }

    #[test]
    fn no_claim_stands_beside_what_takes_it_away() {
        let mut seen = 0;
        for promise in promises() {
            // All combinations of the things that can be counted.
            for bits in 0..1u32 << 8 {
                let is = |bit: u32| u64::from(bits >> bit & 1) * 3;
                let counts = Counts {
                    executions: 10,
                    truncated: is(0) + is(7),
                    undecided: is(7),
                    redundant: is(6),
                    causality: Some(Causality {
                        unknown: is(1),
                        lost: is(2),
                        open: is(3),
                        ..Causality::default()
                    }),
                    ..Counts::default()
                };
                let sampled = is(4) > 0;
                let not_followed = Vec::from_iter((is(5) > 0).then(something));
                let verdict = of_exploration(&promise, &counts, sampled, &not_followed);
                let clean = bits & 0b1011_1111 == 0;
                let whole = clean
                    && matches!(
                        promise,
                        Promise::Exhausted
                            | Promise::ExhaustedWeakly
                            | Promise::ExhaustedLazily { truncated: false }
                            | Promise::ExhaustedByValues { truncated: false }
                    );
                assert_eq!(verdict.exhausted, whole, "{promise:?} {bits:b}");
                let within = matches!(
                    promise,
                    Promise::Bounded {
                        truncated: false,
                        ..
                    }
                );
                assert_eq!(claims(&verdict), whole || clean && within, "{verdict:?}");
                let text = verdict.sentence();
                assert_eq!(
                    text.contains("not followed: crate `x` (a `Mutex`, src/lib.rs:12)"),
                    !not_followed.is_empty(),
                    "{text}"
                );
                assert_eq!(
                    text.contains("3 executions were cut at --max-steps"),
                    is(0) > 0,
                    "{text}"
                );
                assert_eq!(
                    text.contains("3 executions were cut where threads wait"),
                    is(7) > 0,
                    "{text}"
                );
                seen += 1;
            }
        }
        assert!(seen > 3_000);
    }

    #[test]
    fn no_level_is_exhausted_for_a_reason() {
        let level = |exhausted, reasons: &[Reason], cut, undecided| Level {
            k: 1,
            executions: 3,
            infeasible: 0,
            failing: 0,
            assumed: 0,
            waiting: 0,
            cut,
            undecided,
            exhausted,
            reasons: reasons.to_vec(),
        };
        let counted = [(0, 0), (1, 0), (1, 1), (2, 1)];
        let judge = |exhausted, reasons: &[Reason], (cut, undecided), not_followed: &[_]| {
            let verdict = of_level(&level(exhausted, reasons, cut, undecided), not_followed);
            let whole = exhausted && reasons.is_empty() && cut == 0 && not_followed.is_empty();
            assert_eq!(verdict.exhausted, whole, "{reasons:?}");
            assert_eq!(claims(&verdict), whole, "{verdict:?}");
        };
        for exhausted in [false, true] {
            for counts in counted {
                for not_followed in [Vec::new(), vec![something()]] {
                    judge(exhausted, &[], counts, &not_followed);
                    for one in Reason::ALL {
                        judge(exhausted, &[one], counts, &not_followed);
                    }
                    judge(exhausted, &Reason::ALL, counts, &not_followed);
                }
            }
        }
    }

    /// This makes what holds of one reason, and of two, hold of all sets of reasons.
    #[test]
    fn each_reason_is_told_by_itself() {
        let something = [something()];
        let alone = |reason, n| lacks(vec![reason], |_| n, &something, &[]);
        for n in [0, 3] {
            let all = Reason::ALL.map(|reason| alone(reason, n));
            let verdict = verdict(Claim::Choices, &all.concat());
            assert!(!verdict.exhausted && !claims(&verdict), "{verdict:?}");
            let told = lacks(Reason::ALL.to_vec(), |_| n, &something, &[]);
            assert_eq!(told, all.concat());
            for (at, &one) in Reason::ALL.iter().enumerate() {
                for (after, &other) in Reason::ALL.iter().enumerate() {
                    // The reasons may come in any order, and more than once.
                    let told = lacks(vec![other, one, other], |_| n, &something, &[]);
                    let expected = match at.cmp(&after) {
                        Ordering::Less => [all[at].clone(), all[after].clone()].concat(),
                        Ordering::Equal => all[at].clone(),
                        Ordering::Greater => [all[after].clone(), all[at].clone()].concat(),
                    };
                    assert_eq!(told, expected, "{one:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn a_check_claims_what_all_its_levels_claim() {
        let mut report = sample::report();
        report.cut = None;
        report.summary.exhausted = true;
        for role in report.harnesses.iter_mut().flat_map(|it| &mut it.roles) {
            for level in &mut role.levels {
                (level.exhausted, level.cut) = (true, 0);
                level.reasons.clear();
            }
        }
        for harness in &mut report.harnesses {
            harness.not_followed.clear();
        }
        assert!(of_check(&report).exhausted);
        let mut other = report.clone();
        other.harnesses[0].not_followed.push(something());
        assert!(!claims(&of_check(&other)));
        let mut other = report.clone();
        other.harnesses[0].roles[0].levels[0].cut = 1;
        assert!(!claims(&of_check(&other)));
        let mut other = report.clone();
        other.cut = Some(crate::model::document::Cut::TimeLimit);
        assert!(!claims(&of_check(&other)));
        report.summary.exhausted = false;
        assert!(!claims(&of_check(&report)));
    }

    #[test]
    fn no_harness_is_exhausted_beside_what_other_runs_refute() {
        for bits in 0..1u32 << 5 {
            let is = |bit: u32| bits >> bit & 1 == 1;
            let mut report = sample::harness();
            report.bugs.clear();
            for level in report.roles.iter_mut().flat_map(|it| &mut it.levels) {
                (level.exhausted, level.cut, level.undecided) = (true, 0, 0);
                level.reasons.clear();
            }
            let mut explored = sample::exploration().harnesses.remove(0);
            let missed = Coupling {
                under_test: Role::FIRST,
                k: 1,
            };
            explored.failures.truncate(1);
            explored.failures[0].couplings = vec![missed];
            if is(0) {
                report.faults.push(sample::bug());
            }
            if is(1) {
                assert_eq!(withdrawn::by_exploration(&mut report, &explored), Some(1));
            }
            if is(2) {
                report.not_followed.push(something());
            }
            if is(3) {
                report.lone.push(sample::lone());
            }
            if is(4) {
                report.roles[0].levels[0].cut = 1;
            }
            let verdict = of_harness(&report);
            assert_eq!(verdict.exhausted, bits == 0, "{bits:b}");
            assert_eq!(claims(&verdict), bits == 0, "{verdict:?}");
            withdrawn::by_faults(&mut report);
            let said =
                |at: usize| of_level(&report.roles[0].levels[at], &report.not_followed).exhausted;
            // Fewer reads than those of what was missed may well have been tried.
            assert_eq!(said(0), !is(0) && !is(2) && !is(4), "{bits:b}");
            assert_eq!(said(1), !is(0) && !is(1) && !is(2), "{bits:b}");
            assert_eq!(said(2), !is(0) && !is(1) && !is(2), "{bits:b}");
        }
    }

    #[test]
    fn there_is_one_order_only_where_nothing_takes_that_away() {
        let lone = |exhausted, reasons: &[Reason], bits: u32| {
            let is = |bit: u32| bits >> bit & 1 == 1;
            let mut report = sample::harness();
            report.bugs.clear();
            report.threads.clear();
            for level in report.roles.iter_mut().flat_map(|it| &mut it.levels) {
                (level.exhausted, level.cut, level.undecided) = (exhausted, 0, 0);
                level.reasons = reasons.to_vec();
            }
            if is(0) {
                report.faults.push(sample::bug());
            }
            if is(1) {
                report.lone.push(sample::lone());
            }
            if is(2) {
                report.roles[0].levels[0].cut = 1;
            }
            if is(3) {
                report.not_followed.push(something());
            }
            if is(4) {
                report.bugs.push(sample::bug());
            }
            if is(5) {
                report.threads = sample::harness().threads;
                assert!(!report.threads.is_empty());
            }
            report
        };
        let mut sets: Vec<_> = Reason::ALL.iter().map(|one| vec![*one]).collect();
        sets.extend([Vec::new(), Reason::ALL.to_vec()]);
        for exhausted in [false, true] {
            for reasons in &sets {
                for bits in 0..1 << 6 {
                    let mut report = lone(exhausted, reasons, bits);
                    let said = no_interference(&report);
                    let is_whole = exhausted && reasons.is_empty() && bits == 0;
                    let is_one = said.is_some_and(|it| it.contains("one order"));
                    assert_eq!(is_one, is_whole, "{reasons:?} {bits:b}");
                    // The verdict of a harness with this status claims no more.
                    let Some(reason) = said else { continue };
                    report.status = Status::NoInterference {
                        reason: reason.into(),
                    };
                    assert_eq!(of_harness(&report).exhausted, is_whole, "{bits:b}");
                }
                let mut report = lone(exhausted, reasons, 0);
                report.status = Status::NoInterference {
                    reason: String::new(),
                };
                let is_whole = exhausted && reasons.is_empty();
                assert_eq!(claims(&of_harness(&report)), is_whole, "{reasons:?}");
            }
        }
    }

    #[test]
    fn what_a_check_missed_is_no_bug_beyond_all_k() {
        let mut report = sample::report();
        let mut explored = sample::exploration();
        explored.harnesses.retain(|it| it.status == Status::Checked);
        explored.harnesses[0]
            .name
            .clone_from(&report.harnesses[0].name);
        report.explored = Some(explored.clone());
        assert!(beyond(&report).unwrap().starts_with("No k covers"));
        let (checked, explored) = (&mut report.harnesses[0], &mut explored.harnesses[0]);
        for (k, wanted) in [(0, Some(0)), (1, Some(1)), (2, None), (3, None)] {
            let mut checked = checked.clone();
            explored.failures[0].couplings = vec![Coupling {
                under_test: Role::FIRST,
                k,
            }];
            assert_eq!(withdrawn::by_exploration(&mut checked, explored), wanted);
            assert_eq!(withdrawn::has_missed(&checked), wanted.is_some());
            // The check claims nothing for other random numbers.
            explored.failures[0].random_numbers = 1;
            assert_eq!(
                withdrawn::by_exploration(&mut checked.clone(), explored),
                None
            );
            explored.failures[0].random_numbers = 0;
            // A thread that was not under test was not claimed for.
            let mut other = sample::harness();
            explored.failures[0].couplings[0].under_test = Role::SECOND;
            assert_eq!(withdrawn::by_exploration(&mut other, explored), None);
        }
        explored.failures[0].couplings[0].under_test = Role::FIRST;
        explored.failures[0].couplings[0].k = 1;
        withdrawn::by_exploration(checked, explored);
        let text = beyond(&report).unwrap();
        assert!(text.contains("what the check should have found"), "{text}");
        assert!(!text.contains("No k covers"), "{text}");
        for k in 0..3 {
            let text = super::withdrawn(k);
            assert!(
                text.starts_with("Not exhausted") && text.contains(&format!("(k = {k})")),
                "{text}"
            );
        }
    }

    #[test]
    fn what_lies_beyond_k_is_claimed_where_all_of_it_was_explored() {
        let of = |promise: &Promise, failing: bool, cut| {
            let mut report = sample::report();
            let mut explored = sample::exploration();
            explored.cut = cut;
            explored.harnesses.retain(|it| it.status == Status::Checked);
            for harness in &mut explored.harnesses {
                harness.promise = promise.clone();
                harness.not_followed.clear();
                if !failing {
                    harness.failures.clear();
                }
            }
            assert!(!failing || explored.harnesses.iter().any(|it| !it.failures.is_empty()));
            report.explored = Some(explored);
            beyond(&report).unwrap()
        };
        for promise in promises() {
            for failing in [false, true] {
                for cut in [None, Some(Cut::TimeLimit), Some(Cut::Interrupted)] {
                    let text = of(&promise, failing, cut).replace("not exhausted", "");
                    let whole = matches!(
                        promise,
                        Promise::Exhausted
                            | Promise::ExhaustedWeakly
                            | Promise::ExhaustedLazily { truncated: false }
                            | Promise::ExhaustedByValues { truncated: false }
                    );
                    assert_eq!(text.contains("exhausted"), whole && !failing, "{text}");
                }
            }
        }
        let mut report = sample::report();
        assert!(beyond(&report).unwrap().contains("finds those"));
        report.harnesses[0].status = Status::NotReached;
        assert_eq!(beyond(&report), None);
    }
}
