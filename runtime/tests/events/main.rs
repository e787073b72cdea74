//! What one thread can learn of another: each of it is an event, so that all of its outcomes are seen, in both modes.

#![cfg(feature = "scheduler")]

mod behind_writers;
mod downgrade;
mod ends;
mod followed;
mod left;
mod locals;
mod poison;
mod results;
mod shown;
mod spurious;
mod time;
mod unparks;
mod unwinding;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use seqz_explore::{Dfs, Dpor, LazyDpor, Mcr, Odpor, Promise, RvCausal, Search, Strategy};
use seqz_runtime::check::{Bounds, machine};
use seqz_runtime::engine::Solver;
use seqz_runtime::memory::arena::Allocator;
use seqz_runtime::scheduled::behind_writers::Known;
use seqz_runtime::scheduled::witness::confirm;
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::vocabulary::Confirmation;
use seqz_runtime::{Bound, Role};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// What can be seen: what the program notes, and what fails.
type Seen = BTreeSet<String>;

/// Takes note of what a program sees.
type Note<'a> = &'a dyn Fn(String);

/// Executions of `dfs` at most: beyond that, other strategies are only held against each other.
const DFS: u64 = 30_000;

/// What a strategy sees; nothing if it takes more executions than that.
fn explore(
    executions: u64,
    values: bool,
    strategy: impl Strategy,
    program: impl Fn(Note<'_>),
) -> Option<Seen> {
    explore_with(0, executions, values, strategy, program)
}

/// The same, where so often in an execution something happens without a reason.
fn explore_with(
    spurious: u32,
    executions: u64,
    values: bool,
    strategy: impl Strategy,
    program: impl Fn(Note<'_>),
) -> Option<Seen> {
    let settings = Settings {
        values,
        spurious,
        ..Settings::default()
    };
    let (seen, open) = search(settings, executions, strategy, program)?;
    assert!(!open.time, "nobody looks at clocks");
    Some(seen)
}

/// What a search may have left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Open {
    /// What threads see of time.
    time: bool,
    /// When times come that threads wait for.
    passing: bool,
    /// What comes after a scope's end.
    scope: bool,
    /// That readers wait behind writers, if it looks at values.
    writers: bool,
    /// That attempts to read fail since a writer waits.
    tries: bool,
    /// That what a thread was unparked for is used up where it waits for something else.
    unparks: bool,
}

/// What a strategy sees, and what it leaves open; nothing if it takes more executions than that.
fn search(
    settings: Settings,
    executions: u64,
    strategy: impl Strategy,
    program: impl Fn(Note<'_>),
) -> Option<(Seen, Open)> {
    let noted = Mutex::new(BTreeSet::new());
    let take = |text: String| {
        noted.lock().unwrap().insert(text);
    };
    let run = || program(&take);
    let mut open = Open::default();
    let mut machine = Machine::new(&run, settings);
    let mut search = Search::new(strategy);
    let mut failures = BTreeSet::new();
    let mut known = Known::default();
    let note = |machine: &Machine<'_>, failures: &mut Seen| {
        for failure in machine.failures() {
            failures.insert(format!("{:?}: {}", failure.kind, failure.message));
        }
    };
    while search.step(&mut machine).unwrap().is_some() {
        assert_eq!(machine.unsupported(), None);
        note(&machine, &mut failures);
        open.time |= machine.leaves_time_open();
        open.passing |= machine.hurries_time();
        open.scope |= machine.leaves_scope_open();
        open.writers |= machine.may_leave_out_behind_writers();
        open.tries |= machine.leaves_tries_open();
        open.unparks |= machine.leaves_unparks_open();
        for prefix in machine.behind_writers(&known) {
            if machine.run_behind_writers(&prefix, &mut known) {
                note(&machine, &mut failures);
            }
        }
        if search.counts().executions > executions {
            return None;
        }
    }
    let promise = search.promise();
    assert!(
        matches!(
            promise,
            Promise::Exhausted
                | Promise::ExhaustedLazily { truncated: false }
                | Promise::ExhaustedByValues { truncated: false }
        ),
        "{promise:?} of {}",
        std::any::type_name_of_val(&search)
    );
    let name = std::any::type_name_of_val(&search);
    if name.contains("Odpor") {
        // It executes each happens-before relation once.
        assert_eq!(search.counts().redundant, 0, "{name}");
    }
    let mut seen = noted.into_inner().unwrap();
    seen.append(&mut failures);
    Some((seen, open))
}

/// What can be seen, by all strategies that search to the end, `dfs` among them.
fn all(program: impl Fn(Note<'_>)) -> Seen {
    let odpor = explore(u64::MAX, false, Odpor::new(), &program).unwrap();
    for (name, seen) in [
        ("dfs", explore(DFS, false, Dfs::new(), &program)),
        ("dpor", explore(DFS, false, Dpor::new(), &program)),
        ("lazy-dpor", explore(DFS, true, LazyDpor::new(), &program)),
        ("mcr", explore(DFS, true, Mcr::new(), &program)),
        ("rv-causal", explore(DFS, true, RvCausal::new(), &program)),
    ] {
        assert!(
            seen.as_ref().is_none_or(|seen| *seen == odpor),
            "{name} sees {seen:#?}, odpor {odpor:#?}"
        );
    }
    odpor
}

fn set(all: &[&str]) -> Seen {
    all.iter().map(|&one| one.to_owned()).collect()
}

/// Which of these outcomes the sequential program has, over both roles, with the smallest k; each is confirmed on the
/// original program. It must have no other one.
fn check(
    outcomes: &Seen,
    program: impl Fn() -> String + Clone + 'static,
) -> BTreeMap<String, usize> {
    let others = {
        let (program, outcomes) = (program.clone(), outcomes.clone());
        bugs(move || {
            let outcome = program();
            assert!(outcomes.contains(&outcome), "{outcome}");
        })
    };
    assert_eq!(others, BTreeMap::new(), "of {outcomes:#?}");
    let mut found = BTreeMap::new();
    for outcome in outcomes {
        let (program, wanted) = (program.clone(), outcome.clone());
        let bugs = bugs(move || assert_ne!(program(), wanted, "it is there"));
        if let Some(&k) = bugs.values().next() {
            found.insert(outcome.clone(), k);
        }
    }
    found
}

/// The bugs of the sequential program.
fn bugs(program: impl Fn() + Clone + 'static) -> BTreeMap<String, usize> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for role in [Role::FIRST, Role::SECOND] {
        let bounds = Bounds::default();
        let bound = Bound {
            inputs: Vec::new(),
            program: Box::new(program.clone()),
            safe: true,
        };
        let mut machine = machine(&bounds, Solver::Grid);
        let mut search = seqz_runtime::check::Search::new(&bound, role, bounds);
        while !search.finished() {
            if let Err(trouble) = search.next_level(&mut machine, &mut |_, _| true) {
                panic!("{trouble:?}");
            }
        }
        for (bug, _) in machine.bugs() {
            let confirmation = confirm(bug, &*bound.program);
            assert!(
                matches!(confirmation, Confirmation::Confirmed(_)),
                "{bug}{confirmation:#?}"
            );
            let k = found.entry(bug.message.clone()).or_insert(usize::MAX);
            *k = (*k).min(bug.pairs.len());
        }
    }
    found
}
