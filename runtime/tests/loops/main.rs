//! Random programs with loops that wait: what all strategies find, with threads that go no further after an idle turn or
//! are parked after it, is held against all states that a plain interpreter comes to.
//!
//! `SEQZ_LOOPS_PROGRAMS` sets how many programs (400 by default), `SEQZ_LOOPS_SEED` which.

#![cfg(feature = "scheduler")]

mod classes;
mod compile;
mod interpret;
mod program;

use std::collections::BTreeSet;
use std::sync::Mutex;

use seqz_explore::random_numbers::RandomNumbers;
use seqz_explore::{
    CachedDpor, Dfs, Dpor, HbrCache, Icb, IcbDpor, LazyDpor, Mcr, Odpor, Promise, Random, RvCausal,
    Search, Strategy,
};
use seqz_runtime::memory::arena::Allocator;
use seqz_runtime::scheduled::{Idle, Machine, Settings};
use seqz_runtime::vocabulary::FailureKind;

use interpret::{Behaviours, interpret};
use program::{Op, Program, generate};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// What a strategy has found.
#[derive(Debug)]
struct Found {
    outcomes: BTreeSet<String>,
    is_stuck: bool,
    /// It promises to have found everything.
    promised: bool,
    /// It came to an end.
    ended: bool,
    waiting: u64,
}

const MOST: u64 = 3_000;

fn explore(strategy: impl Strategy, idle: Idle, values: bool, program: &Program) -> Found {
    let outcomes = Mutex::new(BTreeSet::new());
    let run = || compile::run(program, &outcomes);
    let settings = Settings {
        idle,
        values,
        steps: 120,
        ..Settings::default()
    };
    let mut machine = Machine::new(&run, settings);
    let mut search = Search::new(strategy);
    let mut found = Found {
        outcomes: BTreeSet::new(),
        is_stuck: false,
        promised: false,
        ended: false,
        waiting: 0,
    };
    loop {
        match search.step(&mut machine) {
            Ok(Some(_)) => {}
            Ok(None) => {
                found.ended = true;
                break;
            }
            Err(divergence) => panic!("{divergence} in {program:?}"),
        }
        for failure in machine.failures() {
            let waits = [FailureKind::Deadlock, FailureKind::Livelock];
            assert!(waits.contains(&failure.kind), "{failure:?} in {program:?}");
            found.is_stuck = true;
        }
        let most = if idle == Idle::GoesOn {
            MOST / 10
        } else {
            MOST
        };
        if search.counts().executions > most {
            break;
        }
    }
    found.promised = match search.promise() {
        Promise::Exhausted => true,
        Promise::ExhaustedLazily { truncated }
        | Promise::ExhaustedByValues { truncated }
        | Promise::Bounded {
            preemptions: None,
            truncated,
        } => !truncated,
        _ => false,
    };
    found.waiting = search.counts().waiting;
    drop(machine);
    found.outcomes = outcomes.into_inner().unwrap();
    found
}

/// Nothing is found that isn't there, and everything that is promised. The answer is whether it was promised.
fn compare(name: &str, found: &Found, expected: &Behaviours, program: &Program) -> bool {
    assert!(
        found.outcomes.is_subset(&expected.outcomes),
        "{name} makes outcomes up: {found:?}, {expected:?}, {program:?}"
    );
    assert!(
        !found.is_stuck || expected.is_stuck,
        "{name} makes up that threads wait for ever: {found:?}, {expected:?}, {program:?}"
    );
    if !(found.ended && found.promised) {
        return false;
    }
    assert_eq!(
        found.outcomes, expected.outcomes,
        "{name} misses outcomes: {found:?}, {program:?}"
    );
    // Two threads that try to take locks in loops may go on for ever in a way for which there is no proof yet.
    let trying = |ops: &&Vec<Op>| ops.iter().any(|op| op.tries_in_loop());
    if program.iter().filter(trying).count() == 0 {
        assert_eq!(
            found.is_stuck, expected.is_stuck,
            "{name} misses that threads wait for ever: {found:?}, {program:?}"
        );
    }
    true
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[test]
fn strategies_find_what_an_interpreter_finds() {
    let programs = number("SEQZ_LOOPS_PROGRAMS", 400);
    let mut random = RandomNumbers::new(number("SEQZ_LOOPS_SEED", 1));
    let mut promised = std::collections::BTreeMap::<&str, u32>::new();
    let (mut waiting, mut stuck) = (0, 0);
    for _ in 0..programs {
        let program = generate(&mut random);
        let Some(expected) = interpret(&program) else {
            continue;
        };
        stuck += u32::from(expected.is_stuck);
        let ends = [
            (
                "odpor",
                explore(Odpor::default(), Idle::Ends, false, &program),
            ),
            (
                "dpor",
                explore(Dpor::default(), Idle::Ends, false, &program),
            ),
            (
                "hbr-cache",
                explore(HbrCache::new(), Idle::Ends, false, &program),
            ),
            (
                "hbr-cache+dpor",
                explore(CachedDpor::new(), Idle::Ends, false, &program),
            ),
            (
                "icb+dpor",
                explore(IcbDpor::new(None), Idle::Ends, false, &program),
            ),
            (
                "lazy-hbr",
                explore(HbrCache::lazy(), Idle::Ends, true, &program),
            ),
            (
                "lazy-hbr+dpor",
                explore(CachedDpor::lazy(), Idle::Ends, true, &program),
            ),
            (
                "lazy-dpor",
                explore(LazyDpor::default(), Idle::Ends, true, &program),
            ),
            (
                "mcr",
                explore(Mcr::default(), Idle::EndsByValues, true, &program),
            ),
            (
                "rv-causal",
                explore(RvCausal::default(), Idle::EndsByValues, true, &program),
            ),
            ("icb", explore(Icb::new(None), Idle::Waits, false, &program)),
            ("dfs", explore(Dfs::default(), Idle::Ends, false, &program)),
            (
                "dfs, parked",
                explore(Dfs::default(), Idle::Waits, false, &program),
            ),
            (
                "dfs, as written",
                explore(Dfs::default(), Idle::GoesOn, false, &program),
            ),
        ];
        waiting += ends[0].1.waiting;
        for (name, found) in &ends {
            *promised.entry(name).or_default() +=
                u32::from(compare(name, found, &expected, &program));
        }
        let drawn = explore(Random::new(1), Idle::Waits, false, &program);
        compare("random", &drawn, &expected, &program);
    }
    println!("{promised:?}, {waiting} executions that go on in others, {stuck} stuck");
    let least = u32::try_from(programs).unwrap() / 2;
    assert!(promised["odpor"] > least && promised["mcr"] > least);
    assert!(waiting > programs / 2, "programs wait");
}
