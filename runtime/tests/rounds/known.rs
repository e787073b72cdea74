//! Programs made by hand.

use std::sync::Arc;

use seqz_runtime::cell::StaticMut;
use seqz_runtime::check::{Bounds, Level, Search, Trouble, machine};
use seqz_runtime::engine::Solver;
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::mpsc::channel;
use seqz_runtime::std::sync::{Condvar, Mutex, OnceLock, RwLock};
use seqz_runtime::std::thread;
use seqz_runtime::vocabulary::BugKind;
use seqz_runtime::{Bound, Role};

/// The kinds of bugs with the smallest k of each, and the levels.
type Found = (Vec<(BugKind, usize)>, Vec<Level>);

fn check(role: Role, program: impl Fn() + 'static) -> Result<Found, Trouble> {
    let bounds = Bounds::default();
    let bound = Bound {
        inputs: Vec::new(),
        program: Box::new(program),
        safe: true,
    };
    let mut machine = machine(&bounds, Solver::Grid);
    let mut search = Search::new(&bound, role, bounds);
    let mut levels = Vec::new();
    while !search.finished() {
        levels.push(search.next_level(&mut machine, &mut |_, _| true)?);
    }
    let mut bugs = Vec::new();
    for (bug, _) in machine.bugs().iter().filter(|(bug, _)| bug.role == role) {
        bugs.push((bug.kind, bug.pairs.len()));
        #[cfg(feature = "scheduler")]
        {
            use seqz_runtime::scheduled::witness::confirm;
            use seqz_runtime::vocabulary::Confirmation;
            let confirmation = confirm(bug, &*bound.program);
            assert!(
                matches!(confirmation, Confirmation::Confirmed(_)),
                "{bug}{confirmation:#?}"
            );
        }
    }
    Ok((bugs, levels))
}

/// Both threads, in the order in which they are spawned, side by side.
fn both(first: impl FnOnce() + Send + 'static, second: impl FnOnce() + Send + 'static) {
    let (first, second) = (thread::spawn(first), thread::spawn(second));
    first.join().unwrap();
    second.join().unwrap();
}

/// A guard and what it guards may not be seen apart. They are, if the first round was interfered with.
#[test]
fn a_failure_of_the_second_round_needs_a_read_of_the_first_and_one_of_its_own() {
    let program = || {
        let x = Arc::new([const { AtomicU32::new(0) }; 3]);
        let (a, b) = (Arc::clone(&x), Arc::clone(&x));
        both(
            move || {
                if a[0].load(SeqCst) == 1 && a[1].load(SeqCst) == 0 {
                    a[2].store(1, SeqCst);
                }
            },
            move || {
                b[0].store(1, SeqCst);
                b[1].store(1, SeqCst);
            },
        );
        let (a, b) = (Arc::clone(&x), Arc::clone(&x));
        both(
            move || {
                let late = a[2].load(SeqCst) == 1;
                assert!(
                    !late || a[0].load(SeqCst) != 2,
                    "only after the first round's interference"
                );
            },
            move || b[0].store(2, SeqCst),
        );
    };
    let (bugs, levels) = check(Role::FIRST, program).unwrap();
    assert_eq!(bugs, [(BugKind::Panic, 2)]);
    assert!(levels.iter().all(Level::exhausted), "{levels:?}");
    let (bugs, _) = check(Role::SECOND, program).unwrap();
    assert_eq!(bugs, []);
}

/// The levels of a program with a thread under test.
type Levels<'a> = &'a dyn Fn(Role) -> Vec<Level>;

#[test]
fn a_failure_of_the_other_thread_in_a_later_round_takes_the_promise() {
    // What T has read in the first round is handed to T' of the second one by main, or is there when that begins.
    let after = |fails: fn(bool)| {
        move || {
            let go = Arc::new(AtomicU32::new(0));
            let saw = Arc::new(AtomicU32::new(0));
            let (a, b) = (Arc::clone(&go), Arc::clone(&go));
            let note = Arc::clone(&saw);
            both(
                move || note.store(a.load(SeqCst), SeqCst),
                move || b.store(1, SeqCst),
            );
            let seen = saw.load(SeqCst) == 1;
            both(|| {}, move || fails(seen));
        }
    };
    let panics = after(|seen| assert!(!seen, "seen"));
    let locks_itself = after(|seen| {
        let lock = Mutex::new(());
        let _guard = lock.lock().unwrap();
        if seen {
            let _again = lock.lock();
        }
    });
    let all: [(&str, Levels<'_>); 3] = [
        ("panics", &|role| check(role, panics).unwrap().1),
        ("locks itself", &|role| check(role, locks_itself).unwrap().1),
        ("does nothing", &|role| {
            check(role, after(|_| {})).unwrap().1
        }),
    ];
    for (what, levels) in all {
        let later = |level: &Level| level.later > 0 && !level.exhausted();
        let lost = levels(Role::FIRST);
        assert_eq!(
            lost.iter().any(later),
            what != "does nothing",
            "{what}: {lost:?}"
        );
        let as_t = levels(Role::SECOND);
        assert!(as_t.iter().all(Level::exhausted), "{what}: {as_t:?}");
    }
}

#[test]
fn rounds_in_a_loop_go_on_with_what_the_rounds_before_have_left() {
    for (rounds, fails) in [(2, false), (3, true)] {
        let program = move || {
            let sum = Arc::new(Mutex::new(0));
            for _ in 0..rounds {
                let (a, b) = (Arc::clone(&sum), Arc::clone(&sum));
                both(
                    move || *a.lock().unwrap() += 1,
                    move || *b.lock().unwrap() += 1,
                );
            }
            assert!(*sum.lock().unwrap() < 5, "five of them");
        };
        let mut found = Vec::new();
        for role in [Role::FIRST, Role::SECOND] {
            let (bugs, levels) = check(role, program).unwrap();
            assert!(levels.iter().all(Level::exhausted), "{levels:?}");
            found.extend(bugs.into_iter().map(|(kind, _)| kind));
        }
        assert_eq!(found.contains(&BugKind::Panic), fails, "{rounds} rounds");
    }
}

#[test]
fn locks_are_crossed_in_a_later_round() {
    let program = || {
        let locks = Arc::new((Mutex::new(0), RwLock::new(0)));
        let (a, b) = (Arc::clone(&locks), Arc::clone(&locks));
        both(
            move || *a.0.lock().unwrap() = 1,
            move || *b.1.write().unwrap() = 1,
        );
        let (a, b) = (Arc::clone(&locks), Arc::clone(&locks));
        both(
            move || {
                let _one = a.0.lock().unwrap();
                *a.1.write().unwrap() += 1;
            },
            move || {
                let _other = b.1.read().unwrap();
                *b.0.lock().unwrap() += 1;
            },
        );
        assert_eq!(*locks.0.lock().unwrap(), 2);
    };
    for role in [Role::FIRST, Role::SECOND] {
        let (bugs, _) = check(role, program).unwrap();
        assert_eq!(bugs, [(BugKind::Deadlock, 0)]);
    }
}

#[test]
fn what_one_round_has_initialized_is_there_in_the_next() {
    let program = || {
        let cell = Arc::new(OnceLock::new());
        let (a, b) = (Arc::clone(&cell), Arc::clone(&cell));
        both(
            move || {
                a.get_or_init(|| 1);
            },
            move || {
                b.get_or_init(|| 2);
            },
        );
        let (a, b) = (Arc::clone(&cell), Arc::clone(&cell));
        both(
            move || assert_ne!(a.get(), Some(&2), "the other one was first"),
            move || assert!(b.get().is_some(), "it is there"),
        );
    };
    let (bugs, _) = check(Role::FIRST, program).unwrap();
    assert_eq!(bugs.len(), 1);
    let (bugs, _) = check(Role::SECOND, program).unwrap();
    assert_eq!(bugs, []);
}

#[test]
fn a_notification_of_the_round_before_wakes_nobody() {
    let program = || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let (a, b) = (Arc::clone(&shared), Arc::clone(&shared));
        both(
            move || {
                let mut guard = a.0.lock().unwrap();
                while !*guard {
                    guard = a.1.wait(guard).unwrap();
                }
                *guard = false;
            },
            move || {
                *b.0.lock().unwrap() = true;
                b.1.notify_one();
            },
        );
        let (a, b) = (Arc::clone(&shared), Arc::clone(&shared));
        both(
            move || {
                let guard = a.0.lock().unwrap();
                let _guard = a.1.wait(guard).unwrap();
            },
            move || *b.0.lock().unwrap() = true,
        );
    };
    let (bugs, _) = check(Role::FIRST, program).unwrap();
    assert_eq!(bugs.len(), 1);
    assert_eq!(bugs[0].0, BugKind::Deadlock);
}

#[test]
fn a_thread_that_may_run_beside_the_round_before_is_a_third_one() {
    for joins_the_third_first in [false, true] {
        let program = move || {
            let x = Arc::new(AtomicU32::new(0));
            let (a, b, c) = (Arc::clone(&x), Arc::clone(&x), Arc::clone(&x));
            let one = thread::spawn(move || {
                a.load(SeqCst);
            });
            let other = thread::spawn(move || {
                b.store(1, SeqCst);
                b.store(0, SeqCst);
            });
            one.join().unwrap();
            let third = thread::spawn(move || assert_eq!(c.load(SeqCst), 0, "in between"));
            let (one, other) = if joins_the_third_first {
                (third, other)
            } else {
                (other, third)
            };
            one.join().unwrap();
            other.join().unwrap();
        };
        for role in [Role::FIRST, Role::SECOND] {
            match check(role, program) {
                Ok((bugs, _)) => {
                    assert!(joins_the_third_first);
                    let is_under_test = role == Role::FIRST;
                    assert_eq!(bugs.len(), usize::from(is_under_test));
                }
                Err(Trouble::Unsupported { message, .. }) => {
                    assert!(!joins_the_third_first && message.contains("more than two"));
                }
                Err(trouble) => panic!("{trouble:?}"),
            }
        }
    }
}

#[test]
fn what_rounds_do_not_follow_is_refused() {
    let holds = || {
        let lock = Arc::new(Mutex::new(0));
        both(|| (), || ());
        let _guard = lock.lock().unwrap();
        both(|| (), || ());
    };
    let sends = || {
        let (sender, receiver) = channel();
        let other = sender.clone();
        both(
            move || sender.send(1).unwrap(),
            move || other.send(2).unwrap(),
        );
        both(|| (), || ());
        drop(receiver);
    };
    for (trouble, why) in [
        (check(Role::FIRST, holds), "a lock is held"),
        (check(Role::FIRST, sends), "a channel has been used"),
    ] {
        let trouble = trouble.unwrap_err();
        assert!(
            matches!(&trouble, Trouble::Unsupported { message, .. } if message.contains(why)),
            "{trouble:?}"
        );
    }
}

#[test]
fn plain_data_is_what_either_thread_has_left() {
    static COUNT: StaticMut<u32> = StaticMut::new(0);
    static NAMES: StaticMut<Vec<u32>> = StaticMut::new(Vec::new());
    // SAFETY: one thread accesses each of them at a time.
    let (count, names) = (|| COUNT.get(), || unsafe { NAMES.borrow().clone() });
    // SAFETY: as before.
    let push = |name| unsafe { NAMES.borrow_mut().push(name) };
    let program = move || {
        both(|| COUNT.set(1), move || push(7));
        both(
            move || assert_eq!(names(), [7], "T' has written it"),
            move || assert_eq!(count(), 1, "T has written it"),
        );
        both(move || push(8), || COUNT.set(2));
        assert_eq!((count(), names()), (2, vec![7, 8]), "each has written it");
    };
    for role in [Role::FIRST, Role::SECOND] {
        let (bugs, levels) = check(role, program).unwrap();
        assert_eq!(bugs, []);
        assert!(levels.iter().all(Level::exhausted), "{levels:?}");
    }
}

#[test]
fn a_lock_poisoned_in_one_round_is_so_in_the_next() {
    let program = || {
        let lock = Arc::new(Mutex::new(0));
        let (a, b) = (Arc::clone(&lock), Arc::clone(&lock));
        let one = thread::spawn(move || {
            let _guard = a.lock();
            panic!("handled");
        });
        let other = thread::spawn(move || drop(b.lock()));
        assert!(one.join().is_err());
        other.join().unwrap();
        let (a, b) = (Arc::clone(&lock), Arc::clone(&lock));
        both(
            move || assert!(a.lock().is_err(), "T sees it"),
            move || {
                assert!(b.is_poisoned(), "T' sees it");
                assert!(b.lock().is_err(), "T' sees it under the lock");
            },
        );
    };
    for role in [Role::FIRST, Role::SECOND] {
        let (bugs, _) = check(role, program).unwrap();
        assert_eq!(bugs, []);
    }
}

#[test]
fn scopes_are_rounds() {
    let program = || {
        let count = AtomicU32::new(0);
        for _ in 0..2 {
            thread::scope(|scope| {
                scope.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
                scope.spawn(|| count.store(count.load(SeqCst) + 1, SeqCst));
            });
        }
        assert!(count.load(SeqCst) > 2, "an update is lost in each round");
    };
    for role in [Role::FIRST, Role::SECOND] {
        let (bugs, _) = check(role, program).unwrap();
        assert_eq!(bugs, [(BugKind::Panic, 0)]);
    }
}
