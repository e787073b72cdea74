//! What may happen without a reason.

use std::sync::Arc;

use seqz_explore::Odpor;
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{Condvar, Mutex};
use seqz_runtime::std::thread;

use super::{DFS, Note, Seen, explore_with, set};

/// What is seen where something may happen so often.
fn all(spurious: u32, program: impl Fn(Note<'_>)) -> Seen {
    let seen = by_order(spurious, &program);
    let mcr = explore_with(spurious, DFS, true, seqz_explore::Mcr::new(), &program);
    assert!(mcr.is_none_or(|mcr| mcr == seen), "{seen:#?}");
    seen
}

/// The same, by the strategies that don't look at values.
fn by_order(spurious: u32, program: impl Fn(Note<'_>)) -> Seen {
    let odpor = explore_with(spurious, u64::MAX, false, Odpor::new(), &program).unwrap();
    for (name, seen) in [
        (
            "dfs",
            explore_with(spurious, DFS, false, seqz_explore::Dfs::new(), &program),
        ),
        (
            "dpor",
            explore_with(spurious, DFS, false, seqz_explore::Dpor::new(), &program),
        ),
    ] {
        assert!(seen.is_none_or(|seen| seen == odpor), "{name}: {odpor:#?}");
    }
    odpor
}

#[test]
fn a_weak_exchange_may_fail_so_often() {
    let program = |note: Note<'_>| {
        let x = AtomicU32::new(0);
        let tries = [(); 3].map(|()| x.compare_exchange_weak(0, 0, SeqCst, SeqCst).is_ok());
        note(format!("{:?}", tries.map(u8::from)));
    };
    assert_eq!(all(0, program), set(&["[1, 1, 1]"]));
    let once = ["[1, 1, 1]", "[0, 1, 1]", "[1, 0, 1]", "[1, 1, 0]"];
    assert_eq!(all(1, program), set(&once));
    let twice = ["[0, 0, 1]", "[0, 1, 0]", "[1, 0, 0]"];
    assert_eq!(all(2, program), set(&[&once[..], &twice].concat()));
}

#[test]
fn a_strong_exchange_never_does() {
    let program = |note: Note<'_>| {
        let x = AtomicU32::new(0);
        note(x.compare_exchange(0, 1, SeqCst, SeqCst).is_ok().to_string());
    };
    assert_eq!(all(2, program), set(&["true"]));
}

#[test]
fn a_wait_may_end_without_a_notification() {
    let program = |note: Note<'_>| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let other = Arc::clone(&pair);
        let thread = thread::spawn(move || {
            *other.0.lock().unwrap() = 1;
            other.1.notify_all();
        });
        let mut value = pair.0.lock().unwrap();
        if *value == 0 {
            value = pair.1.wait(value).unwrap();
        }
        note(value.to_string());
        drop(value);
        thread.join().unwrap();
    };
    assert_eq!(all(0, program), set(&["1"]));
    assert_eq!(all(1, program), set(&["0", "1"]));
}

#[test]
fn a_park_may_end_without_an_unpark() {
    let program = |note: Note<'_>| {
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let main = thread::current();
        let thread = thread::spawn(move || {
            other.store(1, SeqCst);
            main.unpark();
        });
        thread::park();
        note(x.load(SeqCst).to_string());
        thread.join().unwrap();
    };
    assert_eq!(by_order(0, program), set(&["1"]));
    assert_eq!(by_order(1, program), set(&["0", "1"]));
}

#[test]
fn a_lost_notification_stays_one() {
    let program = |_: Note<'_>| {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let other = Arc::clone(&pair);
        let thread = thread::spawn(move || other.1.notify_all());
        drop(pair.1.wait(pair.0.lock().unwrap()).unwrap());
        thread.join().unwrap();
    };
    for spurious in 0..2 {
        let seen = all(spurious, program);
        assert!(
            seen.iter().any(|one| one.starts_with("Deadlock")),
            "{seen:?}"
        );
    }
}

#[test]
fn the_order_in_which_threads_find_nothing_is_no_order() {
    let program = |note: Note<'_>| {
        let x = Arc::new(AtomicU32::new(0));
        let threads = [0, 1].map(|from| {
            let x = Arc::clone(&x);
            thread::spawn(move || {
                let tries =
                    [(); 2].map(|()| x.compare_exchange_weak(from, from + 1, SeqCst, SeqCst));
                tries.map(|it| u8::from(it.is_ok()))
            })
        });
        note(format!(
            "{:?}",
            threads.map(|thread| thread.join().unwrap())
        ));
    };
    for spurious in 0..3 {
        all(spurious, program);
    }
}
