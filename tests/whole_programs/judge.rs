//! What a program can do: all of its interleavings, walked state by state.

use std::collections::{BTreeSet, HashMap};

use super::lower::lower;
use super::machine::{Fate, Machine, State};
use super::ops::Site;
use super::program::{Program, Value};

/// What is right of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Right {
    /// The failures that it has.
    pub(crate) must: BTreeSet<String>,
    /// Those that may be told as well: panics of which nobody knows whether the test would have handled them.
    pub(crate) may: BTreeSet<String>,
    /// Of each of these, one must be told: the test fails of a poisoned lock, and whose panic that comes of is a panic of a
    /// thread that nobody joins, which by itself may be told or not.
    pub(crate) either: BTreeSet<BTreeSet<String>>,
    /// What the test can have seen in the end.
    pub(crate) seen: BTreeSet<Vec<Value>>,
    pub(crate) states: usize,
}

/// Walks all interleavings; `None` if there are too many states.
pub(crate) fn judge(program: &Program, most: usize) -> Option<Right> {
    let ops = lower(program);
    let machine = Machine { ops: &ops, program };
    let start = machine.start();
    let mut known: HashMap<State, usize> = HashMap::from([(start.clone(), 0)]);
    let mut states = vec![start];
    let mut before: Vec<Vec<usize>> = vec![Vec::new()];
    let mut ends = Vec::new();
    let mut at = 0;
    while at < states.len() {
        let next = machine.after(&states[at]);
        if next.is_empty() {
            ends.push(at);
        }
        for state in next {
            let to = match known.get(&state) {
                Some(&to) => to,
                None => {
                    let to = states.len();
                    if to == most {
                        return None;
                    }
                    known.insert(state.clone(), to);
                    states.push(state);
                    before.push(Vec::new());
                    to
                }
            };
            before[to].push(at);
        }
        at += 1;
    }
    let mut right = Right {
        states: states.len(),
        ..Right::default()
    };
    for &end in &ends {
        right.note(program, &machine.fates(&states[end]), "deadlock");
        let seen = machine.seen(&states[end]);
        if seen.len() == program.seen() {
            right.seen.insert(seen.to_vec());
        }
    }
    // Where no end can be reached any more, threads wait for ever, some of them in loops. That is the test's own fate only where
    // it can't come to its end either: whoever is left behind ends with the process.
    let is_over = |at: usize| {
        let fates = machine.fates(&states[at]);
        fates[0].is_some_and(|test| test.end.is_some())
    };
    let all_end_from = all_before(&before, ends.clone());
    ends.extend((0..states.len()).filter(|&at| is_over(at)));
    let test_ends_from = all_before(&before, ends);
    for at in (0..states.len()).filter(|&at| !all_end_from[at]) {
        if is_over(at) || !test_ends_from[at] {
            right.note(program, &machine.fates(&states[at]), "livelock");
        }
    }
    right.may = &right.may - &right.must;
    Some(right)
}

/// Whether each state is one of these, or leads to one.
fn all_before(before: &[Vec<usize>], mut open: Vec<usize>) -> Vec<bool> {
    let mut leads = vec![false; before.len()];
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut leads[at], true) {
            open.extend(&before[at]);
        }
    }
    leads
}

impl Right {
    /// An execution that has ended like this, or never does.
    fn note(&mut self, program: &Program, fates: &[Option<Fate>], stuck: &str) {
        let Some(test) = fates[0] else { return };
        // Whoever is left behind by a test that is over ends with the process.
        if test.end.is_none() {
            self.must.insert(stuck.to_owned());
        }
        let root = |mut site: Site| {
            while let Site::Result(thread) = site {
                match fates[usize::from(thread)].and_then(|fate| fate.end) {
                    Some(Err(cause)) => site = cause,
                    other => unreachable!("unwrapped {other:?}"),
                }
            }
            site
        };
        // The scope that it has to leave waits for ever.
        if let Some(site) = test.held {
            self.may.insert(text(root(site)));
        }
        let mut counted = Vec::new();
        let mut causes = BTreeSet::new();
        match test.end {
            Some(Err(site)) if program.expected && !matches!(site, Site::Own(_)) => {
                self.must.insert(ANOTHER_PANIC.to_owned());
            }
            Some(Err(_)) if program.should_panic => {}
            Some(Ok(())) if program.should_panic => {
                self.must.insert(DID_NOT_PANIC.to_owned());
            }
            Some(Err(Site::Scope)) => {}
            Some(Err(site)) => counted.push(("", root(site))),
            Some(Ok(())) | None => {}
        }
        let scope = test.end == Some(Err(Site::Scope)) && !program.should_panic;
        for fate in fates.iter().skip(1).flatten() {
            let Some(Err(site)) = fate.end else { continue };
            if fate.is_joined {
                continue;
            }
            let site = root(site);
            if scope {
                counted.push(("", site));
            } else if fate.is_detached || (test.end == Some(Ok(())) && !program.should_panic) {
                counted.push(("detached: ", site));
            } else {
                self.may.insert(text(site));
                if site != Site::Poison {
                    causes.insert(text(site));
                }
            }
            if fate.is_detached || program.should_panic {
                self.may.insert(format!("detached: {}", text(site)));
            }
        }
        let alone = counted.len() == 1;
        for (how, site) in counted {
            if site == Site::Poison && alone && how.is_empty() && !causes.is_empty() {
                self.may.insert(text(site));
                causes.insert(text(site));
                self.either.insert(std::mem::take(&mut causes));
                continue;
            }
            // Beside its cause, poison says nothing.
            let set = if site == Site::Poison && !alone {
                &mut self.may
            } else {
                &mut self.must
            };
            set.insert(format!("{how}{}", text(site)));
        }
    }
}

/// What is said of a test that should have panicked.
pub(crate) const DID_NOT_PANIC: &str = "the test should have panicked, and did not";

/// What is said of a test that panics with another message than it should.
pub(crate) const ANOTHER_PANIC: &str = "the test should have panicked with";

/// The panic's message.
fn text(site: Site) -> String {
    match site {
        Site::Own(site) => format!("site {site}"),
        Site::Poison => "poison".to_owned(),
        Site::Result(_) | Site::Scope => "result".to_owned(),
        Site::Outcome(number) => format!("outcome {number}"),
        Site::Unknown => "unknown outcome".to_owned(),
    }
}
