//! Every schedule of the compiled programs, classified by coupling: what P̂ₖ finds, and at which smallest k, is what the
//! failing executions of the original program say.

use std::collections::BTreeMap;

use seqz_explore::{Dfs, Search};
use seqz_runtime::Role as EngineRole;
use seqz_runtime::scheduled::coupling::couplings;
use seqz_runtime::scheduled::{Idle, Machine, Settings};
use seqz_runtime::vocabulary::FailureKind;

use crate::compile::Role;
use crate::execute::Harness;
use crate::interpret::{Behaviours, Failure};
use crate::program::Program;
use crate::random::Random;

/// Each assertion that fails for the role, with the smallest k; nothing if there are too many schedules.
fn classify(program: &Program, limit: u64) -> Option<[BTreeMap<u32, usize>; 2]> {
    let harness = Harness::new(program);
    let run = || harness.run();
    let settings = Settings {
        idle: Idle::GoesOn,
        ..Settings::default()
    };
    let mut machine = Machine::new(&run, settings);
    let mut search = Search::new(Dfs::new());
    let mut found = [BTreeMap::new(), BTreeMap::new()];
    while search
        .step(&mut machine)
        .expect("the programs are deterministic")
        .is_some()
    {
        if search.counts().executions > limit {
            return None;
        }
        for failure in machine.failures() {
            let id = failure
                .message
                .strip_prefix("assertion ")
                .and_then(|id| id.parse().ok());
            let (FailureKind::Panic, Some(id)) = (failure.kind, id) else {
                continue;
            };
            for (role, k) in couplings(machine.trace(), failure, machine.failures()) {
                let least = found[usize::from(role == EngineRole::SECOND)]
                    .entry(id)
                    .or_insert(k as usize);
                *least = (*least).min(k as usize);
            }
        }
    }
    Some(found)
}

#[test]
fn executions_classified_by_coupling_say_what_the_interpreter_says() {
    let programs: u64 = crate::setting("SEQZ_ORACLE_SCHEDULED", 400);
    let mut random = Random::new(crate::setting("SEQZ_ORACLE_SEED", 1));
    let (mut compared, mut failing) = (0, 0);
    for _ in 0..programs {
        let (program, expected) = crate::sample(&mut random);
        let Some(found) = classify(&program, 10_000) else {
            continue;
        };
        compared += 1;
        for ((role, expected), found) in Role::ALL.iter().zip(&expected).zip(&found) {
            let expected: BTreeMap<u32, usize> = Behaviours::findings(expected)
                .into_iter()
                .filter_map(|(failure, k)| match failure {
                    Failure::Assertion(id) => Some((id, k)),
                    Failure::Relock | Failure::Deadlock => None,
                })
                .collect();
            failing += expected.len();
            assert_eq!(*found, expected, "T is {role:?}\n{program}");
        }
    }
    println!("{compared} programs, {failing} failures");
    assert!(
        compared * 2 > programs && failing > 100,
        "{compared} programs, {failing} failures"
    );
}
