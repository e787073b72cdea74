//! `mcr` on the programs of `published_counts.rs`: one execution for each distinct vector of values that threads read.
//!
//! The numbers are those of a walk of all interleavings. Where writes of one value are made by several threads, they are
//! below the number of reads-from classes, which other checkers publish (Nidhugg with `--rf`).

#![cfg(feature = "scheduler")]

use std::sync::Arc;

use seqz_explore::{Mcr, Promise, RvCausal, Search, Strategy};
use seqz_runtime::memory::arena::Allocator;
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::std::sync::Mutex;
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::thread;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

#[derive(Default)]
struct Shared {
    x: AtomicU32,
    y: AtomicU32,
    lock: Mutex<u32>,
}

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
    let settings = Settings {
        values: true,
        ..Settings::default()
    };
    let mut machine = Machine::new(&program, settings);
    let mut search = Search::new(strategy);
    search
        .run(&mut machine, u64::MAX)
        .expect("the programs are deterministic");
    let end = Promise::ExhaustedByValues { truncated: false };
    assert_eq!(search.promise(), end);
    search
}

#[track_caller]
fn check(name: &str, body: Body, values: &[(u32, u64)]) {
    for &(threads, values) in values {
        for helpers in [0, 1] {
            let strategy = Mcr::new().with_helpers(helpers).unwrap();
            let search = all(threads, body, strategy);
            let executions = search.counts().executions;
            assert_eq!(executions, values, "{name}, {threads} threads");
            let causality = search.strategy().report().causality.unwrap();
            assert_eq!((causality.classes, causality.redundant), (values, 0));
        }
        if values < 200 {
            let search = all(threads, body, RvCausal::new());
            let causality = search.strategy().report().causality.unwrap();
            assert_eq!(causality.classes, values, "{name}, {threads} threads");
        }
    }
}

#[test]
fn each_value_that_an_atomic_can_have() {
    let ainc: Body = |_, shared| {
        shared.x.fetch_add(1, SeqCst);
    };
    check("ainc", ainc, &[(2, 2), (3, 6), (4, 24), (5, 120)]);
    let binc: Body = |_, shared| {
        shared.x.fetch_add(1, SeqCst);
        shared.y.fetch_add(1, SeqCst);
    };
    check("binc", binc, &[(2, 4), (3, 36), (4, 576)]);
    let casrot: Body = |i, shared| {
        let _ = shared.x.compare_exchange(i, i + 1, SeqCst, SeqCst);
    };
    let counts = [(2, 2), (3, 5), (4, 14), (5, 43), (6, 144)];
    check("casrot", casrot, &counts);
    let readers: Body = |i, shared| {
        if i == 0 {
            shared.x.store(42, SeqCst);
        } else {
            shared.x.load(SeqCst);
        }
    };
    check("readers", readers, &[(2, 2), (3, 4), (4, 8), (8, 128)]);
    let wcas: Body = |i, shared| {
        if i == 0 {
            shared.x.store(2, SeqCst);
        } else {
            let _ = shared.x.compare_exchange(2, 3, SeqCst, SeqCst);
        }
    };
    check("wcas", wcas, &[(3, 5), (4, 13), (5, 33), (6, 81)]);
    let writers: Body = |i, shared| {
        if i == 0 {
            shared.x.load(SeqCst);
        } else {
            shared.x.store(i, SeqCst);
        }
    };
    // N + 1, where there are N! times as many Mazurkiewicz traces.
    check("n writers", writers, &[(3, 3), (4, 4), (5, 5)]);
}

#[test]
fn fewer_than_there_are_reads_from_classes() {
    // Reads-from classes: 3, 16, 125.
    let inc: Body = |i, shared| {
        let seen = shared.x.load(SeqCst);
        shared.x.store(seen + (1 << i), SeqCst);
    };
    check("inc", inc, &[(2, 3), (3, 16), (4, 125)]);
    let inc_same: Body = |_, shared| {
        let seen = shared.x.load(SeqCst);
        shared.x.store(seen + 1, SeqCst);
    };
    check("inc-same", inc_same, &[(2, 3), (3, 13), (4, 75)]);
    let rw: Body = |i, shared| {
        shared.x.load(SeqCst);
        shared.x.store(i, SeqCst);
    };
    check("rw", rw, &[(2, 2), (3, 9), (4, 64)]);
}

#[test]
fn each_order_of_locks_that_changes_what_they_hold() {
    let lockinc: Body = |_, shared| *shared.lock.lock().unwrap() += 1;
    check("lockinc", lockinc, &[(2, 2), (3, 6), (4, 24), (5, 120)]);
    let buffering: Body = |i, shared| {
        let (mine, other) = if i == 0 {
            (&shared.x, &shared.y)
        } else {
            (&shared.y, &shared.x)
        };
        mine.store(1, SeqCst);
        other.load(SeqCst);
    };
    check("store buffering", buffering, &[(2, 3)]);
}
