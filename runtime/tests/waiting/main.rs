//! What threads wait for each other with, on the scheduled machine.

#![cfg(feature = "scheduler")]

mod barrier;
mod channel;
mod condvar;
mod once;
mod parking;
mod reference;
mod sequential;

use std::collections::BTreeSet;
use std::sync::Mutex;

use seqz_explore::{Dfs, Dpor, Icb, Mcr, Odpor, Promise, RvCausal, Search, Strategy};
use seqz_runtime::memory::arena::Allocator;
use seqz_runtime::scheduled::{Idle, Machine, Settings};
use seqz_runtime::vocabulary::FailureKind;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Failures and what the program noted, over all executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Found {
    failures: BTreeSet<(FailureKind, String)>,
    noted: BTreeSet<String>,
}

/// Takes note of what a program sees.
type Note<'a> = &'a dyn Fn(String);

/// What a strategy finds in at most so many executions; nothing if there are more.
fn explore_at_most(
    executions: u64,
    strategy: impl Strategy,
    settings: Settings,
    promise: Promise,
    program: impl Fn(Note<'_>),
) -> Option<Found> {
    let noted = Mutex::new(BTreeSet::new());
    let note = |text: String| {
        noted.lock().unwrap().insert(text);
    };
    let run = || program(&note);
    let mut machine = Machine::new(&run, settings);
    let mut search = Search::new(strategy);
    let mut failures = BTreeSet::new();
    while search.step(&mut machine).unwrap().is_some() {
        assert_eq!(machine.unsupported(), None);
        for failure in machine.failures() {
            failures.insert((failure.kind, failure.message.clone()));
        }
        if search.counts().executions > executions {
            return None;
        }
    }
    assert_eq!(search.promise(), promise);
    Some(Found {
        failures,
        noted: noted.into_inner().unwrap(),
    })
}

fn explore(strategy: impl Strategy, program: impl Fn(Note<'_>)) -> Found {
    explore_at_most(
        u64::MAX,
        strategy,
        Settings::default(),
        Promise::Exhausted,
        program,
    )
    .expect("a search to its end")
}

/// What a search over the values that threads observe finds.
fn explore_by_values(strategy: impl Strategy, program: impl Fn(Note<'_>)) -> Found {
    let settings = Settings {
        values: true,
        idle: Idle::EndsByValues,
        ..Settings::default()
    };
    let promise = Promise::ExhaustedByValues { truncated: false };
    explore_at_most(u64::MAX, strategy, settings, promise, program).expect("a search to its end")
}

/// What all exhaustive strategies find.
fn all(program: impl Fn(Note<'_>)) -> Found {
    let found = explore(Odpor::new(), &program);
    assert_eq!(explore(Dpor::new(), &program), found, "dpor");
    assert_eq!(explore_by_values(Mcr::new(), &program), found, "mcr");
    assert_eq!(
        explore_by_values(RvCausal::new(), &program),
        found,
        "rv-causal"
    );
    let (settings, promise) = (Settings::default(), Promise::Exhausted);
    for found_by in [
        explore_at_most(4_000, Dfs::new(), settings, promise, &program),
        explore_at_most(4_000, Icb::new(None), settings, promise, &program),
    ] {
        assert!(found_by.is_none_or(|found_by| found_by == found));
    }
    found
}

fn noted(found: &Found) -> Vec<&str> {
    found.noted.iter().map(String::as_str).collect()
}

const LOST: &str = "threads wait for a notification that no thread gives any more";

/// The failure that somebody is not notified any more.
fn deadlock() -> BTreeSet<(FailureKind, String)> {
    BTreeSet::from([(FailureKind::Deadlock, LOST.to_owned())])
}
