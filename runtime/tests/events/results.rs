//! Who drops what a thread returns or panics with, and when.

use std::sync::Arc;

use seqz_explore::{Dfs, Odpor};
use seqz_runtime::std::panic::resume_unwind;
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::mpsc;
use seqz_runtime::std::thread::{self, Builder};
use seqz_runtime::{Results, watch_results};

use super::{DFS, Note, all, explore, set};

/// Says on which thread it is dropped: on the other one, or on the harness's.
struct Tells(Arc<AtomicU32>);

impl Drop for Tells {
    fn drop(&mut self) {
        let is_other = thread::current().name() == Some("other");
        self.0.store(if is_other { 1 } else { 2 }, SeqCst);
    }
}

fn place() -> Arc<AtomicU32> {
    Arc::new(AtomicU32::new(0))
}

fn other() -> Builder {
    Builder::new().name("other".to_owned())
}

#[test]
fn whoever_lets_go_of_a_result_last_drops_it() {
    let program = |note: Note<'_>| {
        watch_results(Results::Values);
        let dropped = place();
        let result = Tells(Arc::clone(&dropped));
        let handle = other().spawn(move || result).unwrap();
        drop(handle);
        note(dropped.load(SeqCst).to_string());
    };
    assert_eq!(all(program), set(&["0", "1", "2"]));
}

#[test]
fn a_handle_that_is_joined_gives_the_result_away() {
    let program = |note: Note<'_>| {
        watch_results(Results::Values);
        let dropped = place();
        let result = vec![Some(Tells(Arc::clone(&dropped)))];
        let handle = other().spawn(move || result).unwrap();
        let before = dropped.load(SeqCst);
        let result = handle.join();
        let joined = dropped.load(SeqCst);
        drop(result);
        note(format!("{before} {joined} {}", dropped.load(SeqCst)));
    };
    assert_eq!(all(program), set(&["0 0 2"]));
}

#[test]
fn the_result_of_a_scoped_thread_is_dropped_before_the_scope_ends() {
    let program = |note: Note<'_>| {
        watch_results(Results::Values);
        let dropped = place();
        thread::scope(|scope| {
            let result = Tells(Arc::clone(&dropped));
            let handle = other().spawn_scoped(scope, move || Box::new(result));
            drop(handle);
        });
        note(dropped.load(SeqCst).to_string());
    };
    assert_eq!(all(program), set(&["1", "2"]));
}

#[test]
fn what_a_thread_panics_with_is_a_result_too() {
    let program = |note: Note<'_>| {
        watch_results(Results::Payloads);
        let dropped = place();
        let payload = Tells(Arc::clone(&dropped));
        let handle = other().spawn(move || resume_unwind(Box::new(payload)));
        drop(handle);
        note(dropped.load(SeqCst).to_string());
    };
    let mut seen = all(program);
    seen.retain(|one| one.len() == 1);
    assert_eq!(seen, set(&["0", "1", "2"]));
}

#[test]
fn a_sender_that_is_a_result_is_there_until_both_have_let_go() {
    let program = |note: Note<'_>| {
        watch_results(Results::Values);
        let (sender, receiver) = mpsc::channel::<()>();
        let handle = other().spawn(move || sender).unwrap();
        let before = receiver.try_recv();
        drop(handle);
        note(format!("{before:?} {:?}", receiver.try_recv()));
    };
    let seen = ["Err(Empty) Err(Empty)", "Err(Empty) Err(Disconnected)"];
    // Who reasons about values can't tell all of a channel's outcomes from them.
    let odpor = explore(DFS, false, Odpor::new(), program);
    let dfs = explore(DFS, false, Dfs::new(), program);
    assert_eq!((odpor, dfs), (Some(set(&seen)), Some(set(&seen))));
}

#[test]
fn a_result_whose_destructor_panics_ends_the_process() {
    struct Panics(Arc<AtomicU32>);
    impl Drop for Panics {
        fn drop(&mut self) {
            assert_eq!(self.0.load(SeqCst), 1, "it is dropped too early");
        }
    }
    let program = |note: Note<'_>| {
        watch_results(Results::Values);
        let done = place();
        let result = Panics(Arc::clone(&done));
        let handle = other().spawn(move || result).unwrap();
        done.store(1, SeqCst);
        drop(handle);
        note("well".to_owned());
    };
    assert_eq!(
        all(program),
        set(&["well"]),
        "the handle lets go late enough"
    );
    let program = |note: Note<'_>| {
        watch_results(Results::Values);
        let done = place();
        let result = Panics(Arc::clone(&done));
        drop(other().spawn(move || result).unwrap());
        done.store(1, SeqCst);
        note("well".to_owned());
    };
    let seen = all(program);
    assert!(seen.contains("well"), "{seen:#?}");
    let aborts = "Abort: a destructor of a thread's result panics, which aborts the process: ";
    assert!(seen.iter().any(|one| one.starts_with(aborts)), "{seen:#?}");
}

#[test]
fn nobody_sees_memory_given_back() {
    let program = |note: Note<'_>| {
        watch_results(Results::Values);
        let x = place();
        let other = Arc::clone(&x);
        let handle = thread::spawn(move || vec![other.load(SeqCst).to_string()]);
        drop(handle);
        note(x.load(SeqCst).to_string());
    };
    assert_eq!(all(program), set(&["0"]));
}
