//! Cells in P̂ₖ, for Miri to look at: no reference of the runtime reaches a value that the program has.
//!
//! `cargo +nightly miri test -p seqz-runtime --test cells`, which `tests/all.sh` runs where Miri is there. Without Miri these
//! tests see that the programs run at all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use seqz_runtime::cell::StaticMut;
use seqz_runtime::check::{Bounds, Search, machine};
use seqz_runtime::engine::Solver;
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{Mutex, RwLock};
use seqz_runtime::std::thread;
use seqz_runtime::{Bound, Role};

/// Runs all executions with up to two non-local reads. Returns the messages of bugs.
fn explored(program: impl Fn() + 'static) -> Vec<String> {
    let bounds = Bounds {
        k_max: 2,
        ..Bounds::default()
    };
    let bound = Bound {
        inputs: Vec::new(),
        program: Box::new(program),
        safe: false,
    };
    let mut found = Vec::new();
    for role in [Role::FIRST, Role::SECOND] {
        let mut machine = machine(&bounds, Solver::Grid);
        let mut search = Search::new(&bound, role, bounds);
        while !search.finished() {
            search.next_level(&mut machine, &mut |_, _| true).unwrap();
        }
        found.extend(machine.bugs().iter().map(|(bug, _)| bug.message.clone()));
    }
    found
}

/// Runs `first` and `second` side by side, then `last`.
fn beside<S: Send + Sync + 'static>(
    shared: impl Fn() -> S + 'static,
    first: fn(&S),
    second: fn(&S),
    last: fn(&S),
) -> Vec<String> {
    explored(move || {
        let shared = Arc::new(shared());
        let threads = [first, second].map(|body| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || body(&shared))
        });
        for thread in threads {
            thread.join().unwrap();
        }
        last(&shared);
    })
}

#[test]
fn a_guard_is_kept_while_others_try() {
    let bugs = beside(
        || Mutex::new(vec![1_u32]),
        |lock| {
            let mut guard = lock.lock().unwrap();
            let list = &mut *guard;
            list.push(2);
            // The runtime looks at the lock while `list` is there.
            assert!(lock.try_lock().is_err());
            let _ = lock.is_poisoned();
            list.push(3);
        },
        |lock| {
            if let Ok(mut guard) = lock.try_lock() {
                guard.retain(|it| *it != 1);
            }
        },
        |lock| assert_ne!(*lock.lock().unwrap(), [2, 3], "the first element is gone"),
    );
    assert!(
        bugs.iter()
            .any(|it| it.contains("the first element is gone")),
        "{bugs:?}"
    );
}

#[test]
fn readers_share_what_they_read() {
    let bugs = beside(
        || RwLock::new(String::from("a")),
        |lock| {
            let one = lock.read().unwrap();
            let text = &**one;
            let other = lock.try_read();
            assert!(lock.try_write().is_err());
            assert!(other.is_err() || text.len() == other.unwrap().len());
            assert!(text.len() == 1, "the other one has written");
        },
        |lock| lock.write().unwrap().push('b'),
        |_| {},
    );
    assert!(
        bugs.iter()
            .any(|it| it.contains("the other one has written")),
        "{bugs:?}"
    );
}

#[test]
fn a_lock_is_poisoned_under_its_guard() {
    let bugs = beside(
        || Mutex::new(Box::new(0_u32)),
        |lock| {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let mut guard = lock.lock().unwrap_or_else(|it| it.into_inner());
                **guard += 1;
                std::panic::panic_any(());
            }));
            assert!(caught.is_err());
        },
        |lock| match lock.lock() {
            Ok(guard) => assert_eq!(**guard, 0),
            Err(poisoned) => {
                **poisoned.into_inner() += 1;
                lock.clear_poison();
            }
        },
        |lock| {
            let mut value = lock.lock().unwrap_or_else(|it| it.into_inner());
            **value += 1;
            assert!(**value != 3, "poison has been seen");
        },
    );
    assert!(
        bugs.iter().any(|it| it.contains("poison has been seen")),
        "{bugs:?}"
    );
}

#[test]
fn a_lock_is_taken_apart() {
    let bugs = explored(|| {
        let mut lock = Mutex::new(vec![0_u32]);
        let place = lock.get_mut().unwrap();
        place.push(1);
        let shared = Arc::new(lock);
        let other = Arc::clone(&shared);
        thread::spawn(move || other.lock().unwrap().push(2))
            .join()
            .unwrap();
        let list = Arc::try_unwrap(shared).unwrap().into_inner().unwrap();
        assert_eq!(list, [0, 1, 2]);
    });
    assert!(bugs.is_empty(), "{bugs:?}");
}

#[test]
fn plain_data_is_written_in_place() {
    static LIST: StaticMut<Vec<u32>> = StaticMut::new(Vec::new());
    static GATE: Mutex<u32> = Mutex::new(0);
    let bugs = explored(|| {
        let push = |of: u32| {
            move || {
                let mut gate = GATE.lock().unwrap();
                *gate += 1;
                // SAFETY: the gate is closed to the other thread.
                unsafe { LIST.borrow_mut() }.push(of);
            }
        };
        let threads = [thread::spawn(push(1)), thread::spawn(push(2))];
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        // SAFETY: no other thread is there.
        let list = unsafe { LIST.borrow() };
        assert_eq!((list.len(), *GATE.lock().unwrap()), (2, 2));
        assert!(list[0] < list[1], "the second one was first");
    });
    assert!(
        bugs.iter()
            .any(|it| it.contains("the second one was first")),
        "{bugs:?}"
    );
}

#[test]
fn atomics_are_changed_in_place() {
    let bugs = explored(|| {
        let mut count = AtomicU32::new(1);
        let place = count.get_mut();
        *place += 1;
        let shared = Arc::new(count);
        let add = |shared: &Arc<AtomicU32>| {
            let shared = Arc::clone(shared);
            thread::spawn(move || shared.store(shared.load(SeqCst) + 1, SeqCst))
        };
        let threads = [add(&shared), add(&shared)];
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert_eq!(shared.fetch_add(1, SeqCst), 4, "an update is lost");
    });
    assert!(
        bugs.iter().any(|it| it.contains("an update is lost")),
        "{bugs:?}"
    );
}
