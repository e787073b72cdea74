//! Choices from bytes against the enumeration: what bytes choose is one of the enumeration's choices, ends as it does
//! there, and meets what is met there; and every choice of the enumeration that some interleaving has has its bytes. What
//! is learned from one string to the next changes nothing, and nearly all strings stand for what some interleaving has.

use std::collections::{BTreeMap, BTreeSet};

use seqz_runtime::engine::{ByBytes, Ending, Limits, Machine, Solver};
use seqz_runtime::log::Op;
use seqz_runtime::{Bound, Pair, ReadId, Role};

use crate::compare::is_of_poison;
use crate::compile::Role as Party;
use crate::execute::Harness;
use crate::interpret::{Failure, interpret};
use crate::program::Program;
use crate::random::Random;
use crate::{sample, setting};

/// The largest k whose choices are all tried.
const K: usize = 2;

/// How an execution ends, and what it meets: messages, and whether T is the one of this role.
type End = (Ending, BTreeSet<(String, bool)>);

struct Engine {
    machine: Machine,
    bound: Bound,
    role: Role,
}

impl Engine {
    fn new(program: &Program, role: Role) -> Self {
        let harness = Harness::new(program);
        Self {
            machine: Machine::new(Limits::default(), Solver::Grid),
            bound: Bound {
                inputs: Vec::new(),
                program: Box::new(move || harness.run()),
                safe: program.safe,
            },
            role,
        }
    }

    fn end(&self, ending: Ending) -> End {
        let bugs = self.machine.bugs().iter();
        (
            ending,
            bugs.map(|(bug, _)| (bug.message.clone(), bug.role == self.role))
                .collect(),
        )
    }

    /// All choices up to [`K`], as executions reveal them.
    fn enumerate(&mut self) -> BTreeMap<Vec<Pair>, End> {
        let mut all = BTreeMap::new();
        let mut open: Vec<Vec<Pair>> = vec![Vec::new()];
        while let Some(pairs) = open.pop() {
            self.machine.forget_bugs();
            let ending = self.machine.run(self.role, &pairs, true, &self.bound);
            let end = self.end(ending.unwrap());
            if pairs.len() < K {
                let next = self.machine.revealed().pairs();
                open.extend(next.map(|next| pairs.iter().copied().chain([next]).collect()));
            }
            all.insert(pairs, end);
        }
        all
    }

    /// How many events of T' a read of T may have to choose from.
    fn most_writes(&self) -> u8 {
        let mut counts: BTreeMap<_, u8> = BTreeMap::new();
        for op in self.machine.log().interfering {
            let of = match *op {
                Op::Acquire(lock, _) => Some((lock, true)),
                op => op.writes().map(|object| (object, false)),
            };
            *of.map_or(&mut 0, |of| counts.entry(of).or_default()) += 1;
        }
        counts.into_values().max().unwrap_or(1)
    }

    /// What bytes choose, and how that ends.
    fn run(&mut self, k: usize, choices: &[u8]) -> (Vec<Pair>, End) {
        self.run_after_others(k, choices, true)
    }

    /// The same, with nothing learned from other strings.
    fn run_afresh(&mut self, k: usize, choices: &[u8]) -> (Vec<Pair>, End) {
        self.run_after_others(k, choices, false)
    }

    fn run_after_others(&mut self, k: usize, choices: &[u8], learn: bool) -> (Vec<Pair>, End) {
        self.machine.forget_bugs();
        let run = self.machine.run_bytes(&ByBytes {
            role: self.role,
            k,
            choices,
            extension: &[],
            program: &*self.bound.program,
            safe: self.bound.safe,
            same: learn.then_some((1, &[])),
        });
        (self.machine.pairs().to_vec(), self.end(run.unwrap()))
    }
}

/// All bytes that may matter: gaps and picks up to what a program of this size has.
fn strings(gaps: u8, picks: u8) -> impl Iterator<Item = [u8; 2 * K]> {
    let choice =
        move || (0..gaps).flat_map(move |gap| (0..picks).map(move |pick| [wide(gap), pick]));
    choice().flat_map(move |[a, b]| choice().map(move |[c, d]| [a, b, c, d]))
}

/// The byte for a gap.
const fn wide(gap: u8) -> u8 {
    if gap < 8 { gap } else { gap + 120 }
}

fn role(party: Party) -> Role {
    match party {
        Party::First => Role::FIRST,
        Party::Second => Role::SECOND,
    }
}

#[test]
fn bytes_choose_what_the_enumeration_has_and_all_of_it() {
    let programs: u64 = setting("SEQZ_BYTES_PROGRAMS", 500);
    let mut random = Random::new(setting("SEQZ_ORACLE_SEED", 7));
    let mut compared = 0;
    for index in 0..programs {
        let (program, _) = sample(&mut random);
        for party in Party::ALL {
            let mut engine = Engine::new(&program, role(party));
            let expected = engine.enumerate();
            let reads = expected.keys().flatten().map(|(ReadId(read), _)| read + 1);
            let gaps = reads.max().unwrap_or(1) as u8;
            let picks = engine.most_writes();
            let mut found: BTreeMap<Vec<Pair>, End> = BTreeMap::new();
            for k in 0..=K {
                for choices in strings(gaps, picks) {
                    // For each k, the strings that are shorter are some of these with what comes after them left out.
                    if choices[2 * k..].iter().any(|&byte| byte != 0) {
                        continue;
                    }
                    let (pairs, end) = engine.run(k, &choices);
                    if pairs.len() == k {
                        found.insert(pairs, end);
                    }
                }
            }
            // Whether it ends as a bug may hang on one that it met before, which is compared below.
            let choices = |all: &BTreeMap<Vec<Pair>, End>| -> Vec<(Vec<Pair>, Ending)> {
                let ending = |ending: &Ending| match ending {
                    Ending::Bug => Ending::Passed,
                    other => other.clone(),
                };
                // What no interleaving has need not be the meaning of any string.
                let all = all
                    .iter()
                    .filter(|(_, (end, _))| *end != Ending::Infeasible);
                all.map(|(pairs, (end, _))| (pairs.clone(), ending(end)))
                    .collect()
            };
            for (pairs, (ending, _)) in &found {
                assert_eq!(
                    *ending == Ending::Infeasible,
                    expected
                        .get(pairs)
                        .is_some_and(|(ending, _)| *ending == Ending::Infeasible),
                    "program {index}, {party:?}: {pairs:?} is {ending:?}, and {:?}\n{program}",
                    expected.get(pairs)
                );
            }
            assert_eq!(
                choices(&found),
                choices(&expected),
                "program {index}, {party:?}:\n{program}"
            );
            for (pairs, (_, bugs)) in &found {
                // What is met before the last choice is made is met without it, too.
                let before: BTreeSet<_> = (0..=pairs.len())
                    .flat_map(|k| &expected[&pairs[..k]].1)
                    .collect();
                let own = &expected[pairs].1;
                assert!(own.is_subset(bugs), "{pairs:?}:\n{program}");
                assert!(
                    bugs.iter().all(|bug| before.contains(bug)),
                    "{pairs:?}:\n{program}"
                );
            }
            compared += found.len();
        }
    }
    println!("{compared} choices of {programs} programs");
    assert!(compared > 3_000);
}

#[test]
fn long_executions_would_choose_the_same() {
    let mut random = Random::new(setting("SEQZ_ORACLE_SEED", 9));
    let mut compared = 0;
    for index in 0..setting("SEQZ_BYTES_PROGRAMS", 300_u64) {
        let (program, _) = sample(&mut random);
        for party in Party::ALL {
            let mut short = Engine::new(&program, role(party));
            let mut long = Engine::new(&program, role(party));
            long.machine.answer_in_runs();
            let expected = short.enumerate();
            assert_eq!(
                long.enumerate(),
                expected,
                "program {index}, {party:?}:\n{program}"
            );
            for choices in strings(4, short.most_writes()) {
                assert_eq!(
                    long.run(K, &choices),
                    short.run(K, &choices),
                    "program {index}, {party:?}, {choices:?}:\n{program}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000);
}

#[test]
fn what_random_bytes_meet_is_met_by_some_interleaving_with_no_larger_k() {
    let programs: u64 = setting("SEQZ_BYTES_PROGRAMS", 300);
    let mut random = Random::new(setting("SEQZ_ORACLE_SEED", 8));
    let (mut met, mut feasible, mut all) = (0, 0, 0);
    for index in 0..programs {
        let (program, _) = sample(&mut random);
        let least = Party::ALL.map(|party| interpret(&program, party).findings());
        for (at, party) in Party::ALL.into_iter().enumerate() {
            let mut engine = Engine::new(&program, role(party));
            // Some need non-local reads to come to their end at all, as where T looks at what T' left.
            let enough = (0..4).find(|&k| {
                (0..20).any(|_| {
                    let bytes: Vec<u8> = (0..2 * k).map(|_| random.byte()).collect();
                    engine.run(k, &bytes).1.0 != Ending::Infeasible
                })
            });
            for _ in 0..60 {
                let k = random.below(4);
                let length = random.below(2 * k + 4);
                let bytes: Vec<u8> = (0..length).map(|_| random.byte()).collect();
                let (pairs, (ending, bugs)) = engine.run(k, &bytes);
                assert_eq!(
                    (pairs.clone(), (ending.clone(), bugs.clone())),
                    engine.run_afresh(k, &bytes),
                    "program {index}, {bytes:?}:\n{program}"
                );
                assert!(pairs.len() <= k);
                assert_ne!(ending, Ending::Mispaired, "program {index}:\n{program}");
                if enough.is_some_and(|enough| k >= enough) {
                    all += 1;
                    feasible += u32::from(ending != Ending::Infeasible);
                }
                for (message, own) in bugs {
                    if is_of_poison(&message) {
                        continue;
                    }
                    let of = if own { at } else { 1 - at };
                    let failure = failure(&message);
                    let smallest = least[of].get(&failure).copied().unwrap_or_else(|| {
                        panic!("program {index}: {message} is in no interleaving:\n{program}")
                    });
                    assert!(
                        !own || smallest <= pairs.len(),
                        "program {index}: {message}"
                    );
                    met += 1;
                }
            }
        }
    }
    println!("{all} strings: {feasible} feasible, {met} failures");
    assert!(met > 1_000);
    assert!(feasible * 100 >= all * 95, "{feasible} of {all}");
}

fn failure(message: &str) -> Failure {
    match message.strip_prefix("assertion ") {
        Some(id) => Failure::Assertion(id.parse().unwrap()),
        None if message.contains("holds itself") => Failure::Relock,
        None => Failure::Deadlock,
    }
}
