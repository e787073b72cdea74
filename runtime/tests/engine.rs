//! Hand-made programs whose bugs are known, run on the engine in this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use seqz_runtime::check::{Bounds, Level, Search, Trouble, machine};
use seqz_runtime::engine::{Ending, Limits, Machine, Solver};
use seqz_runtime::loops::Loop;
use seqz_runtime::std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{Mutex, RwLock};
use seqz_runtime::std::thread;
use seqz_runtime::vocabulary::BugKind;
use seqz_runtime::{Bound, Role};

#[derive(Debug, Default)]
struct Found {
    /// Message and role to the smallest k.
    bugs: BTreeMap<(String, bool), usize>,
    kinds: Vec<BugKind>,
    levels: Vec<Level>,
}

fn check(role: Role, program: impl Fn() + 'static) -> Result<Found, Trouble> {
    let bounds = Bounds::default();
    let bound = Bound {
        inputs: Vec::new(),
        program: Box::new(program),
        safe: true,
    };
    let mut machine = machine(&bounds, Solver::Grid);
    let mut search = Search::new(&bound, role, bounds);
    let mut found = Found::default();
    while !search.finished() {
        found
            .levels
            .push(search.next_level(&mut machine, &mut |_, _| true)?);
    }
    for (bug, _) in machine.bugs() {
        let log = seqz_runtime::log::Log {
            under_test: &bug
                .under_test
                .iter()
                .map(|event| seqz_runtime::log::TEvent {
                    op: event.op,
                    source: event.source,
                })
                .collect::<Vec<_>>(),
            interfering: &bug
                .interfering
                .iter()
                .map(|event| event.op)
                .collect::<Vec<_>>(),
        };
        let witness = seqz_runtime::feasibility::Interleaving(bug.interleaving.clone());
        seqz_runtime::feasibility::validate(&log, &witness)
            .unwrap_or_else(|error| panic!("{error}: {bug}"));
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
        found.bugs.insert(
            (bug.message.clone(), bug.role == Role::FIRST),
            bug.pairs.len(),
        );
        found.kinds.push(bug.kind);
    }
    Ok(found)
}

struct Driver {
    pending_io: AtomicI32,
    stopping_flag: AtomicBool,
    stopping_event: AtomicBool,
    stopped: AtomicBool,
}

impl Driver {
    fn release(&self) {
        if self.pending_io.fetch_sub(1, SeqCst) == 1 {
            self.stopping_event.store(true, SeqCst);
        }
    }

    fn add(&self) {
        if self.stopping_flag.load(SeqCst) {
            return;
        }
        self.pending_io.fetch_add(1, SeqCst);
        assert!(!self.stopped.load(SeqCst), "the driver has been stopped");
        self.release();
    }

    fn stop(&self) {
        self.stopping_flag.store(true, SeqCst);
        self.release();
        if self.stopping_event.load(SeqCst) {
            self.stopped.store(true, SeqCst);
        }
    }
}

fn bluetooth() {
    let driver = Arc::new(Driver {
        pending_io: AtomicI32::new(1),
        stopping_flag: AtomicBool::new(false),
        stopping_event: AtomicBool::new(false),
        stopped: AtomicBool::new(false),
    });
    let adder = Arc::clone(&driver);
    let stopper = Arc::clone(&driver);
    let add = thread::spawn(move || adder.add());
    let stop = thread::spawn(move || stopper.stop());
    add.join().unwrap();
    stop.join().unwrap();
}

#[test]
fn bluetooth_fails_at_two_non_local_reads_of_the_adder() {
    let found = check(Role::FIRST, bluetooth).unwrap();
    assert_eq!(
        found.bugs,
        BTreeMap::from([(("the driver has been stopped".to_owned(), true), 2)])
    );
    assert!(
        found.levels.iter().all(Level::exhausted),
        "{:?}",
        found.levels
    );
    assert!(check(Role::SECOND, bluetooth).unwrap().bugs.is_empty());
}

fn lost_update() {
    let x = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let x = Arc::clone(&x);
            thread::spawn(move || x.store(x.load(SeqCst) + 1, SeqCst))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(x.load(SeqCst), 2, "an update is lost");
}

#[test]
fn a_lost_update_needs_no_non_local_read() {
    for role in Role::BOTH {
        let found = check(role, lost_update).unwrap();
        assert_eq!(
            found.bugs.values().collect::<Vec<_>>(),
            [&0],
            "{role:?}: {found:?}"
        );
    }
}

#[test]
fn one_spawn_runs_beside_the_harness() {
    let program = || {
        let x = Arc::new(AtomicU32::new(0));
        let y = Arc::clone(&x);
        let other = thread::spawn(move || y.store(7, SeqCst));
        assert_ne!(x.load(SeqCst), 7, "seen");
        other.join().unwrap();
        assert_eq!(x.load(SeqCst), 7);
    };
    let found = check(Role::FIRST, program).unwrap();
    assert_eq!(
        found.bugs,
        BTreeMap::from([(
            (
                "assertion `left != right` failed: seen\n  left: 7\n right: 7".to_owned(),
                true
            ),
            1
        )])
    );
    assert!(check(Role::SECOND, program).unwrap().bugs.is_empty());
}

#[test]
fn crossed_locks_deadlock() {
    let program = || {
        let a = Arc::new((Mutex::new(0), Mutex::new(0)));
        let b = Arc::clone(&a);
        let one = thread::spawn(move || {
            let mut first = a.0.lock().unwrap();
            let mut second = a.1.lock().unwrap();
            *first += 1;
            *second += 1;
        });
        let two = thread::spawn(move || {
            let mut second = b.1.lock().unwrap();
            let mut first = b.0.lock().unwrap();
            *first += 1;
            *second += 1;
        });
        one.join().unwrap();
        two.join().unwrap();
    };
    for role in Role::BOTH {
        let found = check(role, program).unwrap();
        assert_eq!(found.kinds, [BugKind::Deadlock], "{role:?}");
        assert_eq!(found.bugs.values().collect::<Vec<_>>(), [&0], "{role:?}");
    }
}

#[test]
fn locks_that_are_crossed_after_hundreds_of_times_deadlock() {
    fn crossed() {
        let (a, b) = (Mutex::new(1), Mutex::new(2));
        let often = || {
            for _ in 0..300 {
                let _first = a.lock().unwrap();
                let _second = b.lock().unwrap();
            }
        };
        thread::scope(|scope| {
            scope.spawn(often);
            scope.spawn(|| {
                often();
                let _second = b.lock().unwrap();
                let _first = a.lock().unwrap();
            });
        });
    }
    for role in [Role::FIRST, Role::SECOND] {
        let found = check(role, crossed).unwrap();
        assert_eq!(found.kinds, [BugKind::Deadlock], "{found:#?}");
        assert!(found.bugs.values().all(|&k| k == 0), "{found:#?}");
    }
}

#[cfg(feature = "scheduler")]
#[test]
fn a_thread_is_let_go_only_where_the_harness_comes_to_that() {
    // Where the thread leaks the lock first, the harness waits for ever, and never lets the thread go.
    let behind_a_lock = || {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            std::mem::forget(other.lock().unwrap());
            panic!("let go");
        });
        drop(lock.lock().unwrap());
        drop(thread);
    };
    // The thread panics before the harness has been at the lock, or else not at all: it is let go in no execution.
    let never_beside_it = || {
        let shared = Arc::new((Mutex::new(0), AtomicBool::new(false)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            std::mem::forget(other.0.lock().unwrap());
            assert!(other.1.load(SeqCst), "not let go");
        });
        drop(shared.0.lock().unwrap());
        shared.1.store(true, SeqCst);
        drop(shared.0.lock().unwrap());
        drop(thread);
    };
    for role in Role::BOTH {
        let found = check(role, behind_a_lock).unwrap();
        for kind in [BugKind::Deadlock, BugKind::Detached] {
            assert!(found.kinds.contains(&kind), "{role:?}: {found:#?}");
        }
        let found = check(role, never_beside_it).unwrap();
        assert!(
            found.kinds.contains(&BugKind::Deadlock) && !found.kinds.contains(&BugKind::Detached),
            "{role:?}: {found:#?}"
        );
    }
}

#[test]
fn one_of_hundreds_of_writes_is_seen() {
    fn written() {
        let shared = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let seen = [shared.load(SeqCst), shared.load(SeqCst)];
                assert_ne!(seen, [77, 200]);
                assert_ne!(seen, [200, 77]);
            });
            scope.spawn(|| (1..=300).for_each(|n| shared.store(n, SeqCst)));
        });
    }
    let found = check(Role::FIRST, written).unwrap();
    assert_eq!(
        found.bugs.values().copied().collect::<Vec<_>>(),
        [2],
        "{found:#?}"
    );
    // Each of the reads alone, and both together, where what they see is in the order of the writes.
    let executions: Vec<_> = found.levels.iter().map(|level| level.executions).collect();
    assert_eq!(executions, [1, 600, 300 * 299 / 2, 0]);
}

#[test]
fn a_lock_held_at_the_split_belongs_to_its_holder() {
    let program = || {
        let m = Arc::new(Mutex::new(0));
        let n = Arc::clone(&m);
        let mut guard = m.lock().unwrap();
        let other = thread::spawn(move || *n.lock().unwrap());
        *guard = 1;
        drop(guard);
        assert_eq!(other.join().unwrap(), 1, "read before the write");
    };
    for role in Role::BOTH {
        let found = check(role, program).unwrap();
        assert!(found.bugs.is_empty(), "{role:?}: {found:?}");
    }
}

#[test]
fn joining_under_a_lock_that_the_thread_needs_is_a_deadlock() {
    let program = || {
        let m = Arc::new(Mutex::new(0));
        let n = Arc::clone(&m);
        let guard = m.lock().unwrap();
        let other = thread::spawn(move || *n.lock().unwrap());
        other.join().unwrap();
        drop(guard);
    };
    for role in Role::BOTH {
        let found = check(role, program).unwrap();
        assert_eq!(found.kinds, [BugKind::Deadlock], "{role:?}");
    }
}

#[test]
fn a_lock_is_held_by_the_thread_that_ended_with_it() {
    let program = || {
        let m = Arc::new((Mutex::new(0), AtomicBool::new(false)));
        let n = Arc::clone(&m);
        let other = thread::spawn(move || {
            std::mem::forget(n.0.lock().unwrap());
            n.1.store(true, SeqCst);
        });
        m.1.load(SeqCst);
        other.join().unwrap();
        *m.0.lock().unwrap() += 1;
    };
    let message = "the thread waits for a lock that the other one ended without giving back";
    for role in Role::BOTH {
        let found = check(role, program).unwrap();
        assert_eq!(found.kinds, [BugKind::Deadlock], "{role:?}");
        assert!(
            found.bugs.keys().all(|(it, _)| it == message),
            "{role:?}: {:?}",
            found.bugs
        );
    }
}

/// What becomes of a panic that ends the value of an `Arc`, beside a thread with a handle of its own.
fn ends_by_a_panic<T: Default + Send + Sync + 'static>() -> Result<Found, Trouble> {
    use seqz_runtime::counted::destructors::std::sync::Arc;
    check(Role::FIRST, || {
        let x = Arc::new((AtomicU32::new(0), T::default()));
        let y = Arc::clone(&x);
        let other = thread::spawn(move || y.0.store(7, SeqCst));
        assert_ne!(x.0.load(SeqCst), 7, "seen");
        drop(x);
        other.join().unwrap();
    })
}

#[test]
fn a_value_ends_on_any_thread_if_nobody_can_tell() {
    let found = ends_by_a_panic::<Mutex<Vec<u32>>>().unwrap();
    assert_eq!(found.kinds, [BugKind::Panic], "{found:?}");
    assert!(found.levels.iter().all(Level::exhausted), "{found:?}");
}

#[test]
fn a_value_whose_end_is_an_event_ends_on_one_thread() {
    static ENDED: AtomicU32 = AtomicU32::new(0);
    #[derive(Default)]
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {
            ENDED.fetch_add(1, SeqCst);
        }
    }
    let Err(Trouble::Unsupported { message, place }) = ends_by_a_panic::<Ends>() else {
        panic!("it is not known where the value ends");
    };
    assert!(message.contains("how many handles"), "{message}");
    assert!(place.is_some());
}

#[test]
fn a_mutex_value_travels() {
    let program = || {
        let list = Mutex::new(vec![1, 2, 3]);
        thread::scope(|scope| {
            scope.spawn(|| {
                let last = list.lock().unwrap().len().saturating_sub(1);
                let list = list.lock().unwrap();
                let _ = list[last];
            });
            scope.spawn(|| list.lock().unwrap().clear());
        });
        assert!(list.into_inner().unwrap().is_empty());
    };
    let found = check(Role::FIRST, program).unwrap();
    let bugs: Vec<_> = found.bugs.iter().collect();
    let [((message, true), 1)] = bugs[..] else {
        panic!("{found:?}")
    };
    assert!(
        message.starts_with("index out of bounds: the len is 0"),
        "{message}"
    );
    assert!(check(Role::SECOND, program).unwrap().bugs.is_empty());
}

#[test]
fn statics_start_afresh() {
    static COUNT: AtomicU32 = AtomicU32::new(5);
    static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    let program = || {
        assert_eq!(COUNT.fetch_add(1, SeqCst), 5);
        LIST.lock().unwrap().push(1);
        let other = thread::spawn(|| {
            LIST.lock().unwrap().push(2);
            COUNT.fetch_add(1, SeqCst);
        });
        LIST.lock().unwrap().push(3);
        COUNT.fetch_add(1, SeqCst);
        other.join().unwrap();
        assert_eq!(COUNT.load(SeqCst), 8);
        assert_eq!(LIST.lock().unwrap().len(), 3);
    };
    for role in Role::BOTH {
        let found = check(role, program).unwrap();
        assert!(found.bugs.is_empty(), "{role:?}: {found:?}");
        assert!(
            found
                .levels
                .iter()
                .map(|level| level.executions)
                .sum::<u64>()
                > 1
        );
    }
}

#[test]
fn a_thread_that_is_started_while_others_run_is_refused() {
    let program = || {
        let x = Arc::new(AtomicU32::new(0));
        let add = || {
            let x = Arc::clone(&x);
            thread::spawn(move || x.fetch_add(1, SeqCst))
        };
        let one = add();
        x.load(SeqCst);
        let other = add();
        x.load(SeqCst);
        one.join().unwrap();
        other.join().unwrap();
    };
    let trouble = check(Role::FIRST, program).unwrap_err();
    assert!(
        matches!(&trouble, Trouble::Unsupported { message, .. } if message.contains("started while others run")),
        "{trouble:?}"
    );
}

#[test]
fn readers_do_not_exclude_each_other() {
    let program = || {
        let lock = RwLock::new(0);
        let both = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let _guard = lock.read().unwrap();
                    both.fetch_add(1, SeqCst);
                    assert!(both.load(SeqCst) < 2, "both inside");
                    both.fetch_sub(1, SeqCst);
                });
            }
        });
    };
    for role in Role::BOTH {
        let found = check(role, program).unwrap();
        assert_eq!(found.bugs.values().collect::<Vec<_>>(), [&1], "{role:?}");
    }
}

#[test]
fn waiting_for_the_other_thread_ends() {
    let program = || {
        let ready = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ready);
        let waiter = thread::spawn(move || {
            let mut waits = Loop::new();
            loop {
                waits.turn();
                if flag.load(SeqCst) {
                    break;
                }
                thread::yield_now();
            }
            assert!(flag.load(SeqCst));
        });
        ready.store(true, SeqCst);
        waiter.join().unwrap();
    };
    for role in Role::BOTH {
        let found = check(role, program).unwrap();
        assert!(found.bugs.is_empty(), "{role:?}: {found:?}");
        assert!(found.levels.iter().all(Level::exhausted));
    }
}

#[test]
fn an_atomic_is_changed_in_place_before_and_after_the_threads() {
    let program = || {
        let mut x = AtomicU32::new(0);
        *x.get_mut() += 1;
        thread::scope(|scope| {
            scope.spawn(|| x.fetch_add(2, SeqCst));
            scope.spawn(|| x.fetch_add(4, SeqCst));
        });
        *x.get_mut() += 8;
        assert_eq!(x.into_inner(), 15, "an addition is lost");
    };
    for role in Role::BOTH {
        let found = check(role, program).unwrap();
        assert!(found.bugs.is_empty(), "{role:?}: {found:?}");
        assert!(
            found.levels[1].executions > found.levels[1].infeasible,
            "{found:?}"
        );
    }
}

/// How many writes T and T' log, where each of two threads does this with a lock of its own.
fn writes_of<V>(value: &V, update: fn(&Mutex<V>)) -> [usize; 2]
where
    V: Clone + Send + 'static,
{
    let value = value.clone();
    let bound = Bound {
        inputs: Vec::new(),
        program: Box::new(move || {
            let [one, other] = [(); 2].map(|()| {
                let lock = Mutex::new(value.clone());
                thread::spawn(move || update(&lock))
            });
            one.join().unwrap();
            other.join().unwrap();
        }),
        safe: true,
    };
    let mut machine = Machine::new(Limits::default(), Solver::Grid);
    let ending = machine.run(Role::FIRST, &[], false, &bound).unwrap();
    assert_eq!(ending, Ending::Passed);
    let log = machine.log();
    let of_t = log.under_test.iter().map(|event| event.op);
    [of_t.collect::<Vec<_>>(), log.interfering.to_vec()]
        .map(|log| log.iter().filter(|op| op.writes().is_some()).count())
}

#[test]
fn a_guard_writes_where_the_row_behind_it_is_another_one() {
    let row = vec![1_u32, 2, 3];
    let nothing: [fn(&Mutex<Vec<u32>>); 4] = [
        |lock| lock.lock().unwrap()[0] = 1,
        |lock| lock.lock().unwrap().reverse_twice(),
        |lock| lock.lock().unwrap().truncate(3),
        |lock| {
            lock.lock().unwrap()[1] = 2;
            lock.lock().unwrap()[1] = 2;
        },
    ];
    for update in nothing {
        assert_eq!(writes_of(&row, update), [0, 0]);
    }
    let once: [fn(&Mutex<Vec<u32>>); 6] = [
        |lock| lock.lock().unwrap()[2] = 4,
        |lock| lock.lock().unwrap().clear(),
        |lock| lock.lock().unwrap().push(3),
        // Nothing else is changed than how many there is room for.
        |lock| lock.lock().unwrap().reserve_exact(50),
        |lock| {
            lock.lock().unwrap()[1] = 2;
            lock.lock().unwrap()[1] = 5;
        },
        |lock| {
            lock.lock().unwrap()[1] = 5;
            lock.lock().unwrap()[1] = 5;
        },
    ];
    for update in once {
        assert_eq!(writes_of(&row, update), [1, 1]);
    }
    // There and back: two writes, each beside what was there before.
    let back = |lock: &Mutex<Vec<u32>>| {
        lock.lock().unwrap()[1] = 5;
        lock.lock().unwrap()[1] = 2;
    };
    assert_eq!(writes_of(&row, back), [2, 2]);
    let text = "row".to_owned();
    assert_eq!(
        writes_of(&text, |lock| lock.lock().unwrap().make_ascii_lowercase()),
        [0, 0]
    );
    assert_eq!(
        writes_of(&text, |lock| lock.lock().unwrap().make_ascii_uppercase()),
        [1, 1]
    );
}

trait ReverseTwice {
    fn reverse_twice(&mut self);
}

impl ReverseTwice for Vec<u32> {
    fn reverse_twice(&mut self) {
        self.reverse();
        self.reverse();
    }
}

#[test]
fn what_a_lock_held_before_it_was_shared_is_not_what_its_guards_are_held_against() {
    let program = |shares: fn(Mutex<u32>) -> Mutex<u32>| {
        let bound = Bound {
            inputs: Vec::new(),
            program: Box::new(move || {
                let lock = Arc::new(shares(Mutex::new(1)));
                let threads = [(); 2].map(|()| {
                    let lock = Arc::clone(&lock);
                    thread::spawn(move || *lock.lock().unwrap() = 1)
                });
                for thread in threads {
                    thread.join().unwrap();
                }
            }),
            safe: true,
        };
        let mut machine = Machine::new(Limits::default(), Solver::Grid);
        machine.run(Role::FIRST, &[], false, &bound).unwrap();
        let log = machine.log();
        let of_t = log.under_test.iter().filter(|it| it.op.writes().is_some());
        let of_interfering = log.interfering.iter().filter(|op| op.writes().is_some());
        [of_t.count(), of_interfering.count()]
    };
    assert_eq!(program(|lock| lock), [0, 0]);
    let changed = program(|mut lock| {
        *lock.get_mut().unwrap() = 2;
        lock
    });
    assert_eq!(changed, [1, 1]);
}
