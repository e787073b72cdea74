//! The numbers of executions that other checkers publish for small programs, for the same programs compiled and run on
//! the scheduled machine.
//!
//! From the expected results of `GenMC` (Mazurkiewicz traces) under sequential consistency. The harness's own thread
//! spawns all threads and joins them, which touches no shared object and so makes no traces.

#![cfg(feature = "scheduler")]

use std::sync::Arc;

use seqz_explore::{Dfs, Dpor, IcbDpor, Odpor, Promise, Search, Strategy};
use seqz_runtime::memory::arena::Allocator;
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::std::sync::Mutex;
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::thread;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Two variables and a mutex, which every program here makes do with.
#[derive(Default)]
struct Shared {
    x: AtomicU32,
    y: AtomicU32,
    lock: Mutex<u32>,
}

/// A program: how many threads, and what each of them does.
type Body = fn(u32, &Shared);

fn all<S: Strategy>(threads: u32, body: Body, strategy: S) -> Search<S> {
    let program = move || {
        let shared = Arc::new(Shared::default());
        let handles: Vec<_> = (0..threads)
            .map(|i| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || body(i, &shared))
            })
            .collect();
        for handle in handles {
            handle.join().unwrap();
        }
    };
    let mut machine = Machine::new(&program, Settings::default());
    let mut search = Search::new(strategy);
    search
        .run(&mut machine, u64::MAX)
        .expect("the programs are deterministic");
    search
}

#[track_caller]
fn check(name: &str, threads: u32, body: Body, traces: u64) {
    let optimal = all(threads, body, Odpor::new());
    let counts = optimal.counts();
    assert_eq!(
        counts.executions, traces,
        "{name} {threads}: executions of odpor"
    );
    assert_eq!(
        counts.relations, traces,
        "{name} {threads}: traces of odpor"
    );
    assert_eq!(optimal.promise(), Promise::Exhausted);
    let plain = all(threads, body, Dpor::new());
    assert_eq!(
        plain.counts().relations,
        traces,
        "{name} {threads}: traces of dpor"
    );
    // Schedules also differ in when threads are created and joined, so that there are many.
    if threads <= 3 {
        let found = all(threads, body, Dfs::new()).counts().relations;
        assert_eq!(found, traces, "{name}: traces of dfs");
    }
}

/// Traces within 0, 1, 2, … preemptions; the last number is that of all.
#[track_caller]
fn check_bounds(name: &str, threads: u32, body: Body, traces: &[u64]) {
    for (bound, &expected) in (0..).zip(traces) {
        let found = all(threads, body, IcbDpor::at(bound)).counts().relations;
        assert_eq!(
            found, expected,
            "{name} {threads}: traces within {bound} preemptions"
        );
    }
}

#[test]
fn one_access_each() {
    for (threads, traces) in [(2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
        let ainc: Body = |_, shared| {
            shared.x.fetch_add(1, SeqCst);
        };
        check("ainc", threads, ainc, traces);
        if threads <= 4 {
            check_bounds("ainc", threads, ainc, &[traces]);
        }
    }
    for (threads, traces) in [(2, 2), (3, 5), (4, 14), (5, 43), (6, 144), (7, 523)] {
        let casrot: Body = |i, shared| {
            let _ = shared.x.compare_exchange(i, i + 1, SeqCst, SeqCst);
        };
        check("casrot", threads, casrot, traces);
    }
    for readers in 1..=7 {
        let body: Body = |i, shared| {
            if i == 0 {
                shared.x.store(42, SeqCst);
            } else {
                shared.x.load(SeqCst);
            }
        };
        check("readers", readers + 1, body, 1 << readers);
    }
    for (n, traces) in [(2, 5), (3, 13), (4, 33), (5, 81)] {
        let wcas: Body = |i, shared| {
            if i == 0 {
                shared.x.store(2, SeqCst);
            } else {
                let _ = shared.x.compare_exchange(2, 3, SeqCst, SeqCst);
            }
        };
        check("wcas", n + 1, wcas, traces);
    }
    for (n, traces) in [(2, 6), (3, 24), (4, 120)] {
        let body: Body = |i, shared| {
            if i == 0 {
                shared.x.load(SeqCst);
            } else {
                shared.x.store(i, SeqCst);
            }
        };
        check("n writers, one reader", n + 1, body, traces);
    }
}

#[test]
fn two_accesses_each() {
    let binc: Body = |_, shared| {
        shared.x.fetch_add(1, SeqCst);
        shared.y.fetch_add(1, SeqCst);
    };
    let inc: Body = |i, shared| {
        let seen = shared.x.load(SeqCst);
        shared.x.store(seen + (1 << i), SeqCst);
    };
    let inc_same: Body = |_, shared| {
        let seen = shared.x.load(SeqCst);
        shared.x.store(seen + 1, SeqCst);
    };
    let rw: Body = |i, shared| {
        shared.x.load(SeqCst);
        shared.x.store(i, SeqCst);
    };
    let bounds: [&[u64]; 3] = [&[2, 4], &[6, 24, 36], &[24, 168, 432, 576]];
    for (name, body) in [
        ("binc", binc),
        ("inc", inc),
        ("inc-same", inc_same),
        ("rw", rw),
    ] {
        for (threads, bounds) in (2..).zip(bounds) {
            check(name, threads, body, *bounds.last().unwrap());
            check_bounds(name, threads, body, bounds);
        }
    }
}

#[test]
fn a_lock_each() {
    let lockinc: Body = |_, shared| *shared.lock.lock().unwrap() += 1;
    for (threads, traces) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
        check("lockinc", threads, lockinc, traces);
        if threads <= 4 {
            check_bounds("lockinc", threads, lockinc, &[traces]);
        }
    }
}

#[test]
fn litmus_tests() {
    let tests: [(&str, Body); 5] = [
        ("store buffering", |i, shared| {
            let (mine, other) = if i == 0 {
                (&shared.x, &shared.y)
            } else {
                (&shared.y, &shared.x)
            };
            mine.store(1, SeqCst);
            other.load(SeqCst);
        }),
        ("load buffering", |i, shared| {
            let (mine, other) = if i == 0 {
                (&shared.x, &shared.y)
            } else {
                (&shared.y, &shared.x)
            };
            mine.load(SeqCst);
            other.store(1, SeqCst);
        }),
        ("message passing", |i, shared| {
            if i == 0 {
                shared.x.store(1, SeqCst);
                shared.y.store(1, SeqCst);
            } else {
                shared.y.load(SeqCst);
                shared.x.load(SeqCst);
            }
        }),
        ("2+2W", |i, shared| {
            let (first, second) = if i == 0 {
                (&shared.x, &shared.y)
            } else {
                (&shared.y, &shared.x)
            };
            first.store(1, SeqCst);
            second.store(2, SeqCst);
        }),
        ("S", |i, shared| {
            if i == 0 {
                shared.x.store(2, SeqCst);
                shared.y.store(1, SeqCst);
            } else {
                shared.y.load(SeqCst);
                shared.x.store(1, SeqCst);
            }
        }),
    ];
    for (name, body) in tests {
        check(name, 2, body, 3);
        check_bounds(name, 2, body, &[2, 3]);
    }
}
