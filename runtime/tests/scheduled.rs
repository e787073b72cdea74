//! The scheduled machine under the strategies of `seqz-explore`.

#![cfg(feature = "scheduler")]

use std::collections::BTreeSet;
use std::sync::Arc;

use seqz_explore::random_numbers::RandomNumbers;
use seqz_explore::{Dfs, Dpor, HbrCache, LazyDpor, Odpor, Pct, Promise, Random, Search, Strategy};
use seqz_runtime::loops::Loop;
use seqz_runtime::memory::arena::Allocator;
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{Mutex, RwLock};
use seqz_runtime::std::thread;
use seqz_runtime::vocabulary::FailureKind;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

#[derive(Debug)]
struct Found {
    executions: u64,
    relations: u64,
    failures: BTreeSet<(FailureKind, String)>,
    promise: Promise,
}

fn explore(strategy: impl Strategy, program: impl Fn()) -> Found {
    let mut machine = Machine::new(&program, Settings::default());
    let mut search = Search::new(strategy);
    let mut failures = BTreeSet::new();
    while search.step(&mut machine).unwrap().is_some() {
        for failure in machine.failures() {
            failures.insert((failure.kind, failure.message.clone()));
        }
    }
    let counts = search.counts();
    Found {
        executions: counts.executions,
        relations: counts.relations,
        failures,
        promise: search.promise(),
    }
}

fn spawn_all(count: usize, body: impl Fn(usize) + Clone + Send + 'static) {
    let threads: Vec<_> = (0..count)
        .map(|i| {
            let body = body.clone();
            thread::spawn(move || body(i))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn published_counts_hold_for_compiled_programs() {
    for (n, count) in [(2, 2), (3, 6), (4, 24)] {
        let found = explore(Odpor::default(), || {
            let x = Arc::new(AtomicU32::new(0));
            spawn_all(n, move |_| {
                x.fetch_add(1, SeqCst);
            });
        });
        assert_eq!(
            (found.executions, found.relations),
            (count, count),
            "ainc {n}"
        );
        let found = explore(Odpor::default(), || {
            let x = Arc::new(Mutex::new(0));
            spawn_all(n, move |_| *x.lock().unwrap() += 1);
        });
        assert_eq!(
            (found.executions, found.relations),
            (count, count),
            "lockinc {n}"
        );
    }
    for (n, count) in [(2, 4), (3, 36)] {
        let program = || {
            let x = Arc::new(AtomicU32::new(0));
            spawn_all(n, move |i| {
                let r = x.load(SeqCst);
                x.store(r + (1 << i), SeqCst);
            });
        };
        for relations in [
            explore(Odpor::default(), program).executions,
            explore(Dpor::default(), program).relations,
            explore(Dfs::default(), program).relations,
        ] {
            assert_eq!(relations, count, "inc {n}");
        }
    }
}

#[test]
fn bluetooth_fails() {
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
    }
    let program = || {
        let driver = Arc::new(Driver {
            pending_io: AtomicI32::new(1),
            stopping_flag: AtomicBool::new(false),
            stopping_event: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        });
        let other = Arc::clone(&driver);
        let add = thread::spawn(move || {
            if !other.stopping_flag.load(SeqCst) {
                other.pending_io.fetch_add(1, SeqCst);
                assert!(!other.stopped.load(SeqCst), "the driver has been stopped");
                other.release();
            }
        });
        driver.stopping_flag.store(true, SeqCst);
        driver.release();
        if driver.stopping_event.load(SeqCst) {
            driver.stopped.store(true, SeqCst);
        }
        add.join().unwrap();
    };
    for found in [
        explore(Dfs::default(), program),
        explore(Odpor::default(), program),
    ] {
        assert_eq!(
            found.failures,
            BTreeSet::from([(FailureKind::Panic, "the driver has been stopped".to_owned())])
        );
        assert_eq!(found.promise, Promise::Exhausted);
    }
}

#[test]
fn crossed_locks_deadlock_and_are_unwound() {
    let dropped = std::rc::Rc::new(std::cell::Cell::new(0));
    struct Count(std::rc::Rc<std::cell::Cell<u32>>);
    impl Drop for Count {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    let counter = dropped.clone();
    let found = explore(Dfs::default(), move || {
        let _count = Count(counter.clone());
        let a = Arc::new((Mutex::new(0), RwLock::new(0)));
        let b = Arc::clone(&a);
        let one = thread::spawn(move || {
            let first = a.0.lock().unwrap();
            let second = a.1.write().unwrap();
            drop((first, second));
        });
        let two = thread::spawn(move || {
            let second = b.1.read().unwrap();
            let first = b.0.lock().unwrap();
            drop((first, second));
        });
        one.join().unwrap();
        two.join().unwrap();
    });
    assert_eq!(
        found
            .failures
            .iter()
            .map(|(kind, _)| *kind)
            .collect::<Vec<_>>(),
        [FailureKind::Deadlock]
    );
    assert_eq!(u64::from(dropped.get()), found.executions);
}

#[test]
fn a_thread_that_waits_for_a_flag_goes_no_further() {
    let found = explore(Odpor::default(), || {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        let waiter = thread::spawn(move || {
            let mut waits = Loop::new();
            loop {
                waits.turn();
                if other.load(SeqCst) {
                    break;
                }
                thread::yield_now();
            }
        });
        flag.store(true, SeqCst);
        waiter.join().unwrap();
    });
    assert!(found.failures.is_empty(), "{found:?}");
    assert!(found.executions < 20, "{found:?}");
    let found = explore(Dfs::default(), || {
        let flag = Arc::new(AtomicBool::new(false));
        let waiter = thread::spawn(move || {
            let mut waits = Loop::new();
            loop {
                waits.turn();
                if flag.load(SeqCst) {
                    break;
                }
            }
        });
        waiter.join().unwrap();
    });
    assert_eq!(
        found
            .failures
            .iter()
            .map(|(kind, _)| *kind)
            .collect::<Vec<_>>(),
        [FailureKind::Livelock]
    );
}

#[test]
fn scoped_threads_borrow() {
    let found = explore(Dpor::default(), || {
        let list = Mutex::new(vec![1, 2, 3]);
        thread::scope(|scope| {
            scope.spawn(|| list.lock().unwrap().push(4));
            let other = scope.spawn(|| list.lock().unwrap().len());
            let length = other.join().unwrap();
            assert!((3..=4).contains(&length));
        });
        assert_eq!(list.into_inner().unwrap().len(), 4);
    });
    assert!(found.failures.is_empty(), "{found:?}");
    assert_eq!(found.relations, 2);
}

#[test]
fn a_thread_that_panics_under_a_guard_gives_the_lock_back() {
    let program = || {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let first = thread::spawn(move || {
            let mut value = other.lock().unwrap();
            *value += 1;
            assert!(*value != 1, "the first one");
        });
        match lock.lock() {
            Ok(mut value) => *value += 1,
            Err(poisoned) => assert_eq!(*poisoned.into_inner(), 1),
        }
        let _ = first.join();
    };
    for found in [
        explore(Dfs::default(), program),
        explore(Dpor::default(), program),
        explore(Odpor::default(), program),
    ] {
        assert_eq!(found.failures, BTreeSet::new(), "the panic is handled");
        assert_eq!(found.relations, 2, "{found:?}");
    }
}

#[test]
fn plain_data_races_unless_something_orders_it() {
    use seqz_runtime::cell::StaticMut;
    static COUNT: StaticMut<u32> = StaticMut::new(0);
    static READY: AtomicBool = AtomicBool::new(false);
    static LOCK: Mutex<()> = Mutex::new(());
    let race = |found: &Found| {
        found
            .failures
            .iter()
            .any(|(kind, _)| *kind == FailureKind::DataRace)
    };
    let bare = || {
        let other = thread::spawn(|| COUNT.set(COUNT.get() + 1));
        COUNT.get();
        other.join().unwrap();
    };
    let locked = || {
        let add = || {
            let _guard = LOCK.lock().unwrap();
            COUNT.set(COUNT.get() + 1);
        };
        let other = thread::spawn(add);
        add();
        other.join().unwrap();
        assert_eq!(COUNT.get(), 2);
    };
    let published = || {
        let other = thread::spawn(|| {
            COUNT.set(7);
            READY.store(true, SeqCst);
        });
        if READY.load(SeqCst) {
            assert_eq!(COUNT.get(), 7);
        }
        other.join().unwrap();
    };
    let published_too_early = || {
        let other = thread::spawn(|| {
            READY.store(true, SeqCst);
            COUNT.set(7);
        });
        if READY.load(SeqCst) {
            COUNT.get();
        }
        other.join().unwrap();
    };
    for (program, races) in [
        (&bare as &dyn Fn(), true),
        (&locked, false),
        (&published, false),
        (&published_too_early, true),
    ] {
        for found in [
            explore(Odpor::default(), program),
            explore(Dpor::default(), program),
            explore(Dfs::default(), program),
            explore(HbrCache::lazy(), program),
            explore(LazyDpor::default(), program),
        ] {
            assert_eq!(race(&found), races, "{found:?}");
            assert_eq!(found.failures.len(), usize::from(races), "{found:?}");
        }
    }
}

/// Whether two accesses race can depend on the order of sections that have nothing in common.
#[test]
fn races_are_seen_whatever_is_left_out_of_the_order_of_sections() {
    use seqz_runtime::cell::StaticMut;
    static COUNTS: [StaticMut<u32>; 2] = [const { StaticMut::new(0) }; 2];
    static LOCKS: [Mutex<()>; 2] = [const { Mutex::new(()) }; 2];
    fn run(ops: &[u64]) {
        for op in ops {
            let (what, which) = (op / 2, (op % 2) as usize);
            let guard = (what > 1).then(|| LOCKS[which].lock().unwrap());
            match what {
                0 => drop(COUNTS[which].get()),
                1 => COUNTS[which].set(1),
                2 => COUNTS[1 - which].set(2),
                _ => {}
            }
            drop(guard);
        }
    }
    let mut numbers = RandomNumbers::new(7);
    let mut racing = 0;
    for _ in 0..300 {
        let mut bodies: Vec<Vec<u64>> = Vec::new();
        for _ in 0..2 {
            bodies.push((0..4).map(|_| numbers.below(10)).collect());
        }
        let program = || {
            let (first, second) = (bodies[0].clone(), bodies[1].clone());
            let first = thread::spawn(move || run(&first));
            run(&second);
            first.join().unwrap();
        };
        let all = explore(Odpor::default(), program).failures;
        racing += u32::from(!all.is_empty());
        let lazy = [
            explore(HbrCache::lazy(), program),
            explore(LazyDpor::default(), program),
        ];
        for found in lazy {
            assert_eq!(found.failures.is_empty(), all.is_empty(), "{bodies:?}");
        }
    }
    assert!((50..250).contains(&racing), "{racing}");
}

#[test]
fn what_leaks_changes_no_name() {
    // Threads that each leak what they share with nobody, made in an order that is the schedule's.
    let program = |leak: bool| {
        move || {
            let x = Arc::new(AtomicU32::new(0));
            spawn_all(3, move |_| {
                x.fetch_add(1, SeqCst);
                let own = Box::new(AtomicU32::new(0));
                own.store(1, SeqCst);
                x.fetch_add(1, SeqCst);
                assert_eq!(own.load(SeqCst), 1);
                if leak {
                    Box::leak(own);
                }
            });
        }
    };
    let tidy = explore(Odpor::default(), program(false));
    assert_eq!((tidy.executions, tidy.relations), (90, 90));
    // Each time something is left of every thread, more often than there are regions.
    for _ in 0..3 {
        let leaky = explore(Odpor::default(), program(true));
        assert_eq!((leaky.executions, leaky.relations), (90, 90));
    }
}

/// One thread has a lock that is not followed over two events, and the other one tries to take it, `pause`s, and gives up in the
/// end.
fn tries_a_hidden_lock(pause: fn()) {
    use std::sync::atomic::{AtomicBool, Ordering};
    let both = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
    let other = Arc::clone(&both);
    let holder = thread::spawn(move || {
        if !other.0.swap(true, Ordering::SeqCst) {
            other.1.fetch_add(1, SeqCst);
            other.1.fetch_add(1, SeqCst);
            other.0.store(false, Ordering::SeqCst);
        }
    });
    both.1.load(SeqCst);
    let mut tries = 0;
    while both.0.swap(true, Ordering::SeqCst) {
        pause();
        tries += 1;
        assert!(tries < 100, "in vain");
    }
    both.0.store(false, Ordering::SeqCst);
    holder.join().unwrap();
}

#[test]
fn who_sleeps_again_and_again_lets_others_go_first() {
    fn few(strategy: impl Strategy, executions: usize, pause: fn()) {
        let program = move || tries_a_hidden_lock(pause);
        let mut machine = Machine::new(&program, Settings::default());
        let mut search = Search::new(strategy);
        for _ in 0..executions {
            if search.step(&mut machine).unwrap().is_none() {
                break;
            }
            assert!(machine.failures().is_empty(), "{:?}", machine.failures());
        }
    }
    let pauses: [fn(); 3] = [
        thread::yield_now,
        || thread::sleep(std::time::Duration::from_millis(20)),
        || thread::sleep_ms(1),
    ];
    for pause in pauses {
        few(Odpor::default(), 1, pause);
        few(Dpor::default(), 1, pause);
        few(LazyDpor::default(), 1, pause);
        few(Dfs::default(), 50, pause);
        few(Pct::new(7, 3), 100, pause);
        few(Random::new(7), 100, pause);
    }
}

/// Where all is followed, no order is lost by that, and none is made twice.
#[test]
fn a_thread_that_has_slept_for_long_may_still_be_first() {
    for sleeps in [0, 8, 20] {
        let found = explore(Odpor::default(), move || {
            let n = Arc::new(AtomicU32::new(0));
            let other = Arc::clone(&n);
            let first = thread::spawn(move || {
                for _ in 0..sleeps {
                    thread::yield_now();
                }
                let found = other.swap(1, SeqCst);
                assert!(found != 0, "was first");
            });
            n.store(2, SeqCst);
            assert!(n.load(SeqCst) == 2, "was second");
            let _ = first.join();
        });
        assert_eq!(found.executions, 3, "{sleeps} {found:?}");
        assert_eq!(found.relations, 3, "{sleeps} {found:?}");
        let failures = found.failures.iter().map(|(_, message)| message.as_str());
        assert_eq!(failures.collect::<Vec<_>>(), ["was second"], "{sleeps}");
    }
}
