//! The scheduled machine under the search of Rust's memory model: what threads can see.

#![cfg(feature = "scheduler")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use seqz_explore::{Promise, Rc11, Search};
use seqz_runtime::memory::arena::Allocator;
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::std::sync::Mutex;
use seqz_runtime::std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use seqz_runtime::std::sync::atomic::{AtomicU32, fence};
use seqz_runtime::std::thread;
use seqz_runtime::vocabulary::FailureKind;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// What came of all executions of a program: what `program` told of each that ran to an end, and the failures.
#[derive(Debug, Default)]
struct Found {
    outcomes: BTreeSet<Vec<u32>>,
    failures: BTreeSet<FailureKind>,
    unsupported: Option<String>,
    redundant: u64,
}

fn explore(program: impl Fn() -> Vec<u32>) -> Found {
    let outcome = RefCell::new(None);
    let program = || {
        let told = program();
        *outcome.borrow_mut() = Some(told);
    };
    let settings = Settings {
        weak: true,
        ..Settings::default()
    };
    let mut machine = Machine::new(&program, settings);
    let mut search = Search::new(Rc11::new());
    let mut found = Found::default();
    while let Some(run) = search.step(&mut machine).unwrap() {
        let told = outcome.take();
        if run.new_relation {
            found.outcomes.extend(told);
        }
        found
            .failures
            .extend(machine.failures().iter().map(|failure| failure.kind));
        if let Some((what, _)) = machine.unsupported() {
            found.unsupported = Some(what.to_owned());
            return found;
        }
    }
    found.redundant = search.counts().redundant;
    assert_eq!(search.promise(), Promise::ExhaustedWeakly);
    found
}

type Atomics = [AtomicU32; 2];

fn two(
    first: impl Fn(&Atomics) -> Vec<u32> + Copy + Send + 'static,
    second: impl Fn(&Atomics) -> Vec<u32> + Copy,
) -> Found {
    let found = explore(move || {
        let shared: Arc<Atomics> = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || first(&other));
        let mut told = second(&shared);
        let mut all = thread.join().unwrap();
        all.append(&mut told);
        all
    });
    assert_eq!(found.redundant, 0);
    found
}

fn outcomes(of: &[&[u32]]) -> BTreeSet<Vec<u32>> {
    of.iter().map(|it| it.to_vec()).collect()
}

#[test]
fn store_buffering_shows_both_old_values_unless_all_is_sequentially_consistent() {
    let run = |store: Ordering, load: Ordering, fenced: bool| {
        let found = two(
            move |[x, y]| {
                x.store(1, store);
                if fenced {
                    fence(SeqCst);
                }
                vec![y.load(load)]
            },
            move |[x, y]| {
                y.store(1, store);
                if fenced {
                    fence(SeqCst);
                }
                vec![x.load(load)]
            },
        );
        assert!(found.failures.is_empty());
        found.outcomes
    };
    let strong = outcomes(&[&[0, 1], &[1, 0], &[1, 1]]);
    let weak = outcomes(&[&[0, 0], &[0, 1], &[1, 0], &[1, 1]]);
    assert_eq!(run(Relaxed, Relaxed, false), weak);
    assert_eq!(run(Release, Acquire, false), weak);
    assert_eq!(run(SeqCst, Acquire, false), weak);
    assert_eq!(run(SeqCst, SeqCst, false), strong);
    assert_eq!(run(Relaxed, Relaxed, true), strong);
}

#[test]
fn a_message_is_seen_with_release_and_acquire_alone() {
    let run = |store: Ordering, load: Ordering| {
        let told = two(
            move |[data, flag]| {
                data.store(1, Relaxed);
                flag.store(1, store);
                vec![]
            },
            move |[data, flag]| vec![flag.load(load), data.load(Relaxed)],
        );
        told.outcomes
    };
    let strong = outcomes(&[&[0, 0], &[0, 1], &[1, 1]]);
    let weak = outcomes(&[&[0, 0], &[0, 1], &[1, 0], &[1, 1]]);
    assert_eq!(run(Release, Acquire), strong);
    assert_eq!(run(Release, Relaxed), weak);
    assert_eq!(run(Relaxed, Acquire), weak);
}

#[test]
fn writes_cross_and_loads_do_not() {
    let crossed = two(
        |[x, y]| {
            x.store(1, Relaxed);
            y.store(2, Relaxed);
            vec![]
        },
        |[x, y]| {
            y.store(1, Relaxed);
            x.store(2, Relaxed);
            vec![]
        },
    );
    assert!(crossed.failures.is_empty());
    let buffered = two(
        |[x, y]| {
            let read = x.load(Relaxed);
            y.store(1, Relaxed);
            vec![read]
        },
        |[x, y]| {
            let read = y.load(Relaxed);
            x.store(1, Relaxed);
            vec![read]
        },
    );
    assert_eq!(buffered.outcomes, outcomes(&[&[0, 0], &[0, 1], &[1, 0]]));
}

#[test]
fn what_is_joined_is_seen_whole_and_in_one_order() {
    // Both orders of the stores, and each is what all see after the join.
    let found = explore(|| {
        let shared: Arc<Atomics> = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let threads: Vec<_> = [1, 2]
            .into_iter()
            .map(|value| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    shared[0].store(value, Relaxed);
                    shared[1].fetch_add(value, Relaxed);
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let first = shared[0].load(Relaxed);
        assert_eq!(first, shared[0].load(Relaxed));
        vec![first, shared[1].load(Relaxed)]
    });
    assert_eq!(found.outcomes, outcomes(&[&[1, 3], &[2, 3]]));
    assert!(found.failures.is_empty());
}

#[test]
fn no_update_is_lost_and_no_assertion_fails_on_what_the_model_does_not_allow() {
    let found = two(
        |[x, _]| vec![x.fetch_add(1, Relaxed)],
        |[x, _]| vec![x.fetch_add(1, Relaxed)],
    );
    assert_eq!(found.outcomes, outcomes(&[&[0, 1], &[1, 0]]));
}

#[test]
fn a_mutex_hands_over_what_was_done_under_it() {
    let found = explore(|| {
        let shared = Arc::new((Mutex::new(0), AtomicU32::new(0)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            other.1.store(1, Relaxed);
            *other.0.lock().unwrap() += 1;
        });
        let seen = *shared.0.lock().unwrap();
        let value = shared.1.load(Relaxed);
        assert!(seen == 0 || value == 1);
        thread.join().unwrap();
        vec![seen, value]
    });
    assert!(found.failures.is_empty());
    assert_eq!(found.outcomes, outcomes(&[&[0, 0], &[0, 1], &[1, 1]]));
}

#[test]
fn locks_taken_in_two_orders_are_a_deadlock() {
    let found = explore(|| {
        let shared = Arc::new((Mutex::new(0), Mutex::new(0)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            let _first = other.0.lock().unwrap();
            let _second = other.1.lock().unwrap();
        });
        {
            let _first = shared.1.lock().unwrap();
            let _second = shared.0.lock().unwrap();
        }
        thread.join().unwrap();
        vec![]
    });
    assert_eq!(found.failures, BTreeSet::from([FailureKind::Deadlock]));
}

#[test]
fn what_is_not_followed_is_said() {
    let found = explore(|| {
        let lock = Mutex::new(0);
        let _taken = lock.try_lock();
        vec![]
    });
    let said = found.unsupported.unwrap_or_default();
    assert_eq!(said, "not followed under rc11: an attempt to take a lock");
}
