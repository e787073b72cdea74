//! The calls that threads are in, as contexts of events.

#![cfg(feature = "scheduler")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use seqz_explore::{Dfs, Kind, Search};
use seqz_runtime::calls::{enter, leave};
use seqz_runtime::memory::arena::Allocator;
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::thread;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

static X: AtomicU32 = AtomicU32::new(0);

fn get() -> u32 {
    X.load(SeqCst)
}

fn indirect(depth: u32) -> u32 {
    if depth == 0 {
        leave(enter(), get())
    } else {
        leave(enter(), indirect(depth - 1))
    }
}

/// The contexts of all reads, in two executions that are the same.
fn contexts(call_depth: u32, program: impl Fn()) -> Vec<u32> {
    let settings = Settings {
        call_depth,
        ..Settings::default()
    };
    let run = |machine: &mut Machine<'_>| {
        let mut search = Search::new(Dfs::new());
        search.step(machine).expect("deterministic");
        let events = machine.trace().iter().map(|traced| traced.event);
        let reads = events.filter(|event| event.kind == Kind::Read);
        reads.map(|event| event.context).collect::<Vec<_>>()
    };
    let mut machine = Machine::new(&program, settings);
    let first = run(&mut machine);
    assert_eq!(run(&mut machine), first);
    first
}

#[test]
fn two_calls_of_one_function_are_two_contexts() {
    let program = || {
        leave(enter(), get());
        leave(enter(), get());
        for _ in 0..2 {
            leave(enter(), get());
        }
        get();
    };
    let found = contexts(5, program);
    assert_eq!(found, [1, 2, 3, 3, 0]);
    assert_eq!(contexts(0, program), [0; 5]);
}

#[test]
fn contexts_are_cut_at_their_depth() {
    let program = || {
        leave(enter(), indirect(0));
        leave(enter(), indirect(1));
        leave(enter(), indirect(2));
    };
    let distinct = |depth| {
        let found = contexts(depth, program);
        found
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    };
    // The last call is the same in all, the last but one differs between the first and the others.
    assert_eq!([1, 2, 3, 4, 5].map(distinct), [1, 2, 3, 3, 3]);
}

#[test]
fn threads_and_panics_do_not_mix_calls_up() {
    let program = || {
        let other = leave(
            enter(),
            thread::spawn(|| {
                get();
                leave(enter(), get())
            }),
        );
        other.join().unwrap();
        let fail = || -> u32 { panic!("caught") };
        let failing = || leave(enter(), fail());
        let caught = leave(enter(), catch_unwind(AssertUnwindSafe(failing)));
        assert!(caught.is_err());
        get();
    };
    let found = contexts(5, program);
    assert_eq!(found.len(), 3);
    assert_eq!((found[0], found[2]), (0, 0));
    assert_ne!(found[1], 0);
}
