//! Which findings of different methods are the same bug.
//!
//! Two findings are one bug if their kinds are alike and they share a place: a deadlock is told by where threads wait, and
//! methods may tell of more or fewer of these. Findings that have no place are one if they say the same.

use super::document::{Compared, Known, Run, Subject};
use crate::model::document::Kind;

/// Puts together the runs of a harness: finds out which findings are one bug.
#[must_use]
pub fn program(subject: Subject, mut runs: Vec<Run>) -> Compared {
    let mut bugs: Vec<Known> = Vec::new();
    // The bug of each finding, in the order of the runs; bugs that a later finding ties together become one.
    let mut same: Vec<usize> = Vec::new();
    for found in runs.iter_mut().flat_map(|run| &mut run.found) {
        let Some(what) = found.what.take() else {
            continue;
        };
        let alike: Vec<_> = (0..bugs.len())
            .filter(|&at| same[at] == at && is(&bugs[at], &what))
            .collect();
        match alike.split_first() {
            None => {
                found.bug = bugs.len();
                same.push(bugs.len());
                bugs.push(what);
            }
            Some((&first, others)) => {
                found.bug = first;
                for &other in others {
                    let sites = bugs[other].sites.clone();
                    join(&mut bugs[first], sites);
                    same[other] = first;
                }
                join(&mut bugs[first], what.sites);
            }
        }
    }
    let root = |mut at: usize| {
        while same[at] != at {
            at = same[at];
        }
        at
    };
    let kept: Vec<_> = (0..bugs.len()).filter(|&at| same[at] == at).collect();
    for run in &mut runs {
        for found in &mut run.found {
            if let Ok(at) = kept.binary_search(&root(found.bug)) {
                found.bug = at;
            }
        }
        fold(run);
    }
    let bugs = kept.iter().map(|&at| bugs[at].clone()).collect();
    Compared {
        subject,
        bugs,
        runs,
    }
}

/// Folds several findings of one bug in a run into one, met when the first was met.
fn fold(run: &mut Run) {
    let mut all: Vec<super::document::Found> = Vec::new();
    for found in run.found.drain(..) {
        match all.iter_mut().find(|known| known.bug == found.bug) {
            None => all.push(found),
            Some(known) => {
                known.k = known.k.min(found.k);
                known.count += found.count;
                if found.seconds < known.seconds {
                    known.seconds = found.seconds;
                    known.executions = found.executions;
                }
            }
        }
    }
    run.found = all;
}

fn join(known: &mut Known, sites: Vec<crate::model::document::Site>) {
    for site in sites {
        if !known.sites.contains(&site) {
            known.sites.push(site);
        }
    }
}

fn is(known: &Known, other: &Known) -> bool {
    let places = |bug: &Known| -> Vec<_> {
        let sites = bug.sites.iter();
        sites
            .map(|site| (site.file.clone(), site.line, site.column))
            .collect()
    };
    let (mine, theirs) = (places(known), places(other));
    class(known.kind) == class(other.kind)
        && if mine.is_empty() && theirs.is_empty() {
            known.message == other.message
        } else {
            mine.iter().any(|place| theirs.contains(place))
        }
}

/// Returns the class of a kind: kinds that methods may not tell apart have one class.
const fn class(kind: Kind) -> Kind {
    match kind {
        Kind::Assertion | Kind::Arithmetic | Kind::Index => Kind::Panic,
        // A thread that spins for ever waits for ever.
        Kind::Livelock => Kind::Deadlock,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::{Ended, Found};
    use super::*;
    use crate::model::sample::site;

    fn run(found: &[(Kind, &[u32], f64)]) -> Run {
        let found = found.iter().map(|(kind, lines, seconds)| Found {
            bug: 0,
            k: Some(2),
            executions: Some(1),
            seconds: *seconds,
            count: 1,
            what: Some(Known {
                kind: *kind,
                message: "m".into(),
                sites: lines.iter().map(|line| site(*line, "x")).collect(),
            }),
        });
        Run {
            method: "dfs".into(),
            ended: Ended::Exhausted,
            why: None,
            executions: Some(1),
            seconds: 1.0,
            memory: None,
            levels: Vec::new(),
            found: found.collect(),
        }
    }

    fn put_together(runs: Vec<Run>) -> (usize, Vec<Vec<usize>>) {
        let subject = Subject {
            path: "p".into(),
            harness: "h".into(),
            inputs: Vec::new(),
        };
        let all = program(subject, runs);
        let found = |run: &Run| run.found.iter().map(|found| found.bug).collect();
        (all.bugs.len(), all.runs.iter().map(found).collect())
    }

    #[test]
    fn a_place_and_a_kind_are_one_bug() {
        use Kind::{Assertion, DataRace, Panic};
        let (bugs, found) = put_together(vec![
            run(&[(Assertion, &[3], 0.1), (Assertion, &[7], 0.2)]),
            run(&[(Panic, &[7], 0.1), (DataRace, &[3], 0.1)]),
            run(&[]),
        ]);
        assert_eq!(bugs, 3);
        assert_eq!(found, [vec![0, 1], vec![1, 2], vec![]]);
    }

    #[test]
    fn deadlocks_that_share_a_place_are_one_even_if_only_a_third_one_says_so() {
        use Kind::{Deadlock, Livelock};
        let (bugs, found) = put_together(vec![
            run(&[(Deadlock, &[3], 0.3)]),
            run(&[(Deadlock, &[7], 0.2), (Deadlock, &[9], 0.2)]),
            run(&[(Livelock, &[3, 7], 0.1)]),
        ]);
        assert_eq!(bugs, 2);
        assert_eq!(found, [vec![0], vec![0, 1], vec![0]]);
    }

    #[test]
    fn what_has_no_place_is_told_by_its_words_and_a_run_finds_a_bug_once() {
        let mut twice = run(&[(Kind::Crash, &[], 0.5), (Kind::Crash, &[], 0.25)]);
        twice.found[1].executions = Some(7);
        let subject = Subject {
            path: "p".into(),
            harness: "h".into(),
            inputs: Vec::new(),
        };
        let all = program(subject, vec![twice]);
        assert_eq!(all.bugs.len(), 1);
        let [found] = all.runs[0].found.as_slice() else {
            panic!("once")
        };
        assert_eq!((found.executions, found.count), (Some(7), 2));
    }
}
