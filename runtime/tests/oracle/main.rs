//! The oracle: random two-thread programs, run through the enumeration of P̂ₖ and through a plain interpreter of all
//! interleavings, which have to agree on which failures there are, in which role, and at which smallest k.
//!
//! `SEQZ_ORACLE_PROGRAMS` sets how many programs (2,000 by default), `SEQZ_ORACLE_SEED` which.

mod compile;
mod generate;
mod interpret;
mod known;
mod program;
mod render;

use std::collections::BTreeMap;

use compile::Role;
use generate::{Random, generate};
use interpret::{Behaviours, Failure, interpret};
use program::{Program, retain_assertions};

/// A random program with all that can happen in it, in the first and the second role.
///
/// In half of them, assertions that fail without interference are taken out: they stop T before what takes more.
fn sample(random: &mut Random) -> (Program, [Behaviours; 2]) {
    let mut program = generate(random);
    let thorough = random.chance(50);
    loop {
        let found = Role::ALL.map(|role| interpret(&program, role));
        let early: Vec<u32> = found
            .iter()
            .flat_map(Behaviours::findings)
            .filter_map(|found| match found {
                (Failure::Assertion(id), 0) => Some(id),
                _ => None,
            })
            .collect();
        if !thorough || early.is_empty() {
            return (program, found);
        }
        for list in program.lists_mut() {
            retain_assertions(list, &|id| !early.contains(&id));
        }
    }
}

#[test]
fn random_programs_are_apt_to_fail() {
    let mut random = Random::new(1);
    let mut failures_by_k: BTreeMap<usize, u32> = BTreeMap::new();
    let (mut deadlocks, mut relocks, mut clean) = (0, 0, 0);
    for _ in 0..1_000 {
        let (_, found) = sample(&mut random);
        clean += u32::from(found.iter().all(|found| found.findings().is_empty()));
        for (failure, k) in found.iter().flat_map(Behaviours::findings) {
            *failures_by_k.entry(k).or_default() += 1;
            deadlocks += u32::from(failure == Failure::Deadlock);
            relocks += u32::from(failure == Failure::Relock);
        }
    }
    println!(
        "by k: {failures_by_k:?}; deadlocks: {deadlocks}, relocks: {relocks}; clean programs: {clean}"
    );
    assert!(clean < 500 && deadlocks > 20 && relocks > 20);
    assert!(failures_by_k[&1] > 100 && failures_by_k[&2] > 50 && failures_by_k[&3] > 20);
}
