//! The schedule of any execution of a search can be followed: the program does again what it did.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use seqz_explore::{Executor as _, Mcr, Odpor, Search, Strategy};
use seqz_runtime::counted::Arc as Counted;
use seqz_runtime::scheduled::replay::Follow;
use seqz_runtime::scheduled::witness::schedule;
use seqz_runtime::scheduled::{Idle, Machine, Settings};
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::thread;

use super::{Note, Seen, set};

/// Follows the schedule of each execution of a search, and returns what the executions see.
fn follow_all(
    (values, spurious): (bool, u32),
    strategy: impl Strategy,
    program: impl Fn(Note<'_>),
) -> Seen {
    let noted = Mutex::new(None);
    let take = |text: String| {
        *noted.lock().unwrap() = Some(text);
    };
    let run = || program(&take);
    let settings = Settings {
        values,
        spurious,
        ..Settings::default()
    };
    let mut machine = Machine::new(&run, settings);
    let mut search = Search::new(strategy);
    let mut all = BTreeSet::new();
    while search.step(&mut machine).unwrap().is_some() {
        let Some(seen) = noted.lock().unwrap().take() else {
            continue;
        };
        let events = schedule(&machine);
        // As in a replay, which doesn't know of the strategy.
        let settings = Settings {
            idle: Idle::WaitsAfter(u32::try_from(events.len()).unwrap()),
            values: false,
            ..settings
        };
        let mut again = Machine::new(&run, settings);
        let mut follow = Follow::new(&events);
        again.run(&mut follow);
        assert_eq!(follow.parting(), None, "{seen} {events:#?}");
        assert_eq!(noted.lock().unwrap().take().as_ref(), Some(&seen));
        all.insert(seen);
    }
    all
}

fn both(spurious: u32, program: impl Fn(Note<'_>)) -> Seen {
    let by_order = follow_all((false, spurious), Odpor::new(), &program);
    let by_values = follow_all((true, spurious), Mcr::new(), &program);
    assert_eq!(by_order, by_values);
    by_order
}

#[test]
fn what_happens_without_a_reason_and_what_does_not() {
    let program = |note: Note<'_>| {
        let x = AtomicU32::new(0);
        let tries = [(); 2].map(|()| x.compare_exchange_weak(0, 0, SeqCst, SeqCst).is_ok());
        note(format!("{:?}", tries.map(u8::from)));
    };
    assert_eq!(both(1, program), set(&["[1, 1]", "[0, 1]", "[1, 0]"]));
}

#[test]
fn what_is_upgraded_and_what_is_gone() {
    let program = |note: Note<'_>| {
        let value = Counted::<i32, false>::new(7);
        let weak = Counted::downgrade(&value);
        let thread = thread::spawn(move || drop(value));
        let upgraded = weak.upgrade().is_some();
        thread.join().unwrap();
        note(format!("{upgraded} {}", weak.upgrade().is_some()));
    };
    assert_eq!(both(0, program), set(&["true false", "false false"]));
}

#[test]
fn an_exchange_that_finds_another_value() {
    let program = |note: Note<'_>| {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let thread = thread::spawn(move || other.store(1, SeqCst));
        let done = x.compare_exchange(0, 2, SeqCst, SeqCst).is_ok();
        thread.join().unwrap();
        note(done.to_string());
    };
    assert_eq!(both(0, program), set(&["true", "false"]));
}
