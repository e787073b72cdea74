//! The oracle: random two-thread programs, run through the enumeration of P̂ₖ and through a plain interpreter of all
//! interleavings, which have to agree on which failures there are, in which role, and at which smallest k.
//!
//! More than that is compared: what the engine does for each choice of non-local reads, that each choice that some
//! interleaving makes is executed, once, and that each interleaving that a bug comes with is one of the program. Every
//! log that the engine asks about is judged by all that decide feasibility, and by trying every interleaving.
//!
//! `SEQZ_ORACLE_PROGRAMS` sets how many programs (2,000 by default), `SEQZ_ORACLE_SEED` which.

mod bytes;
mod compare;
mod compile;
#[cfg(feature = "scheduler")]
mod coupling;
mod execute;
mod exhaustive;
mod generate;
mod interpret;
mod judges;
mod known;
mod program;
mod random;
mod render;
mod replay;
#[cfg(feature = "scheduler")]
mod schedules;
mod search;
mod shrink;
mod state;
mod unwinding;

use std::collections::BTreeMap;

use std::str::FromStr;

use compare::Engine;
use compile::Role;
use generate::generate;
use interpret::{Behaviours, Failure, interpret};
use program::{Program, retain_assertions};
use random::Random;
use shrink::shrink;

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

/// A setting from the environment.
fn setting<T: FromStr>(name: &str, default: T) -> T {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no number")),
        Err(_) => default,
    }
}

#[test]
fn the_enumeration_agrees_with_the_interpreter() {
    let programs: u64 = setting("SEQZ_ORACLE_PROGRAMS", 2_000);
    let seed: u64 = setting("SEQZ_ORACLE_SEED", 1);
    println!("SEQZ_ORACLE_SEED={seed} SEQZ_ORACLE_PROGRAMS={programs}");
    let mut random = Random::new(seed);
    let mut engine = Engine::new();
    for index in 0..programs {
        let (program, expected) = sample(&mut random);
        let differences = engine.differences(&program, &expected);
        if differences.is_empty() {
            continue;
        }
        let mut differ = |program: &Program| {
            let expected = Role::ALL.map(|role| interpret(program, role));
            engine.differences(program, &expected)
        };
        let small = shrink(&program, |program| !differ(program).is_empty());
        panic!(
            "program {index} of seed {seed}:\n{program}\n{differences}\nmade smaller:\n{small}\n{}",
            differ(&small),
        );
    }
    let logs = engine.judged.borrow().len();
    println!("{} executions, {logs} different logs", engine.executions);
    #[cfg(feature = "z3")]
    {
        let differences = judges::ask_z3(&engine.judged);
        let first = differences.first();
        assert!(
            first.is_none(),
            "Z3 differs on {} logs. Seed {seed}, one of them:\n{}",
            differences.len(),
            first.expect("there is one")
        );
    }
}
