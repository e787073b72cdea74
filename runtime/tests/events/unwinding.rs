//! Threads that do what others can see while they unwind: they are switched like any others.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use seqz_explore::{
    CachedDpor, Dfs, Dpor, Hapset, HbrCache, Icb, IcbDpor, LazyDpor, Mcr, Odpor, Pcb, Pct, Pos,
    Random, RvCausal, Search, Strategy, Surw,
};
use seqz_runtime::counted::handles::std::sync::Arc as Shared;
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{Condvar, Mutex, mpsc};
use seqz_runtime::std::{panic, thread};

use super::{Note, all, set};

/// Does something that others can see when it is dropped.
struct Counts(Arc<AtomicU32>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// What fails in the first executions of a search.
fn failures(values: bool, strategy: impl Strategy, program: &dyn Fn()) -> Vec<String> {
    let mut executions = 0;
    collect(values, strategy, program, |search, machine| {
        let step = search.step(machine).expect("it is deterministic");
        executions += 1;
        executions < 20 && step.is_some()
    })
}

/// What fails in the executions of a search, as long as there is a next one.
fn collect<S: Strategy>(
    values: bool,
    strategy: S,
    program: &dyn Fn(),
    mut next: impl FnMut(&mut Search<S>, &mut Machine<'_>) -> bool,
) -> Vec<String> {
    let settings = Settings {
        values,
        ..Settings::default()
    };
    let mut machine = Machine::new(program, settings);
    let mut search = Search::new(strategy);
    let mut all = Vec::new();
    while next(&mut search, &mut machine) {
        let failures = machine.failures().iter();
        all.extend(failures.map(|failure| format!("{:?}: {}", failure.kind, failure.message)));
    }
    all.sort();
    all.dedup();
    all
}

#[test]
fn all_strategies_let_who_has_announced_nothing_go_on() {
    let programs: [(&dyn Fn(), &[&str]); 4] = [
        (
            &|| {
                let counts = Counts(Arc::new(AtomicU32::new(0)));
                let thread = thread::spawn(move || {
                    let _counts = counts;
                    panic!("at once");
                });
                assert!(thread.join().is_err());
            },
            &[],
        ),
        (
            &|| {
                let count = Arc::new(AtomicU32::new(0));
                let user = {
                    let count = Arc::clone(&count);
                    thread::spawn(move || count.fetch_add(1, SeqCst))
                };
                let counts = (Counts(Arc::clone(&count)), Counts(count));
                let thread = thread::spawn(move || {
                    let _counts = counts;
                    panic!("at once");
                });
                user.join().unwrap();
                assert!(thread.join().is_err());
            },
            &[],
        ),
        (
            &|| {
                let count = Arc::new(AtomicU32::new(0));
                let caught = panic::catch_unwind(AssertUnwindSafe(|| {
                    thread::scope(|scope| {
                        let counts = Counts(Arc::clone(&count));
                        scope.spawn(move || {
                            let _counts = counts;
                            panic!("at once");
                        });
                    });
                }));
                assert!(caught.is_err());
            },
            &[],
        ),
        (
            &|| {
                let _counts = Counts(Arc::new(AtomicU32::new(0)));
                panic!("the harness's");
            },
            &["Panic: the harness's"],
        ),
    ];
    for (at, (program, expected)) in programs.into_iter().enumerate() {
        let all = [
            ("dfs", failures(false, Dfs::new(), program)),
            ("odpor", failures(false, Odpor::new(), program)),
            ("dpor", failures(false, Dpor::new(), program)),
            ("lazy-dpor", failures(true, LazyDpor::new(), program)),
            ("mcr", failures(true, Mcr::new(), program)),
            ("rv-causal", failures(true, RvCausal::new(), program)),
            ("icb", failures(false, Icb::new(None), program)),
            ("icb+dpor", failures(false, IcbDpor::new(None), program)),
            ("hbr-cache", failures(false, HbrCache::new(), program)),
            (
                "hbr-cache+dpor",
                failures(false, CachedDpor::new(), program),
            ),
            ("pos", failures(false, Pos::new(7), program)),
            ("pct", failures(false, Pct::new(7, 3), program)),
            ("surw", failures(false, Surw::new(7), program)),
            ("pcb", failures(false, Pcb::new(2), program)),
            ("random", failures(false, Random::new(7), program)),
            ("hapset", failures(false, Hapset::new(3, 7), program)),
        ];
        for (name, failures) in all {
            assert_eq!(failures, *expected, "program {at} by {name}");
        }
    }
}

/// What fails, by a search that comes to its end.
fn all_failures(values: bool, strategy: impl Strategy, program: &dyn Fn()) -> Vec<String> {
    collect(values, strategy, program, |search, machine| {
        let step = search.step(machine).expect("it is deterministic");
        step.is_some()
    })
}

/// The last handles of a value go while their thread unwinds, or not the last ones, as threads come.
#[test]
fn handles_that_go_while_a_thread_unwinds_go_in_one_order() {
    let programs: [(&dyn Fn(), &[&str]); 5] = [
        (
            &|| {
                let shared = Shared::new(AtomicU32::new(0));
                let (sender, _receiver) = mpsc::channel::<u32>();
                let its = Shared::clone(&shared);
                thread::spawn(move || {
                    let _ = sender.send(its.load(SeqCst));
                });
                let _last = shared;
                panic!("the harness's");
            },
            &["Panic: the harness's"],
        ),
        (
            &|| {
                let shared = Shared::new(AtomicU32::new(0));
                let (_sender, receiver) = mpsc::channel::<u32>();
                let its = Shared::clone(&shared);
                thread::spawn(move || {
                    let _its = its;
                    let _ = receiver.recv();
                });
                let _both = (Shared::clone(&shared), shared);
                panic!("the harness's");
            },
            &["Panic: the harness's"],
        ),
        (
            &|| {
                let shared = Shared::new(Mutex::new(0));
                let its = Shared::clone(&shared);
                let thread = thread::spawn(move || {
                    let also = Shared::downgrade(&its);
                    let _guard = its.lock().unwrap();
                    let _all = (also, Shared::clone(&its));
                    panic!("the thread's");
                });
                drop(shared);
                assert!(thread.join().is_err());
            },
            &[],
        ),
        (
            &|| {
                let shared = Shared::new(AtomicU32::new(0));
                let other = Shared::new(AtomicU32::new(0));
                let its = (Shared::clone(&shared), Shared::clone(&other));
                let thread = thread::spawn(move || {
                    let (first, second) = its;
                    let _kept = (Shared::clone(&second), first, second);
                    panic!("the thread's");
                });
                drop((shared, other));
                assert!(thread.join().is_err());
            },
            &[],
        ),
        (
            &|| {
                // Where the allocation was, another one is made before the first one's events are told.
                let shared = Shared::new(AtomicU32::new(0));
                let its = Shared::clone(&shared);
                let thread = thread::spawn(move || {
                    let caught = panic::catch_unwind(AssertUnwindSafe(move || {
                        let _anew = MakesAnother;
                        let _its = its;
                        panic!("the thread's");
                    }));
                    assert!(caught.is_err());
                });
                drop(shared);
                thread.join().unwrap();
            },
            &[],
        ),
    ];
    for (at, (program, expected)) in programs.into_iter().enumerate() {
        let all = [
            ("dfs", all_failures(false, Dfs::new(), program)),
            ("odpor", all_failures(false, Odpor::new(), program)),
            ("dpor", all_failures(false, Dpor::new(), program)),
            ("lazy-dpor", all_failures(true, LazyDpor::new(), program)),
            ("mcr", all_failures(true, Mcr::new(), program)),
            ("rv-causal", all_failures(true, RvCausal::new(), program)),
            ("icb+dpor", all_failures(false, IcbDpor::new(None), program)),
            (
                "hbr-cache+dpor",
                all_failures(false, CachedDpor::new(), program),
            ),
        ];
        for (name, failures) in all {
            assert_eq!(failures, *expected, "program {at} by {name}");
        }
    }
}

/// Makes a value of the size that the test's other ones have.
struct MakesAnother;

impl Drop for MakesAnother {
    fn drop(&mut self) {
        let another = Shared::new(AtomicU32::new(0));
        assert_eq!(Shared::strong_count(&another), 1);
    }
}

/// Does this when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Panics with this in place, and goes on.
fn unwinds(act: impl FnMut()) {
    let caught = panic::catch_unwind(AssertUnwindSafe(|| {
        let _act = OnDrop(act);
        panic!("it unwinds");
    }));
    let payload = caught.expect_err("it has panicked");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"it unwinds"));
    assert!(!thread::panicking());
}

#[test]
fn others_come_in_between() {
    let program = |note: Note<'_>| {
        let (first, second) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let its = (Arc::clone(&first), Arc::clone(&second));
        let thread = thread::spawn(move || {
            unwinds(|| {
                its.0.store(1, SeqCst);
                its.1.store(1, SeqCst);
            });
        });
        let seen = (second.load(SeqCst), first.load(SeqCst));
        thread.join().unwrap();
        note(format!("{seen:?}"));
    };
    assert_eq!(all(program), set(&["(0, 0)", "(0, 1)", "(1, 1)"]));
}

#[test]
fn a_lock_is_given_back_in_between() {
    let program = |note: Note<'_>| {
        let lock = Arc::new(Mutex::new(0));
        let after = Arc::new(AtomicU32::new(0));
        let its = (Arc::clone(&lock), Arc::clone(&after));
        let thread = thread::spawn(move || {
            let _ = panic::catch_unwind(AssertUnwindSafe(|| {
                let _last = OnDrop(|| its.1.store(1, SeqCst));
                *its.0.lock().unwrap() = 1;
                let _guard = its.0.lock();
                panic!("under the guard");
            }));
        });
        let seen = match lock.lock() {
            Ok(value) => (*value, false),
            Err(poisoned) => (*poisoned.into_inner(), true),
        };
        let after = after.load(SeqCst);
        thread.join().unwrap();
        note(format!("{seen:?} {after}"));
    };
    let seen = [
        "(0, false) 0",
        "(0, false) 1",
        "(1, false) 0",
        "(1, false) 1",
        "(1, true) 0",
        "(1, true) 1",
    ];
    assert_eq!(all(program), set(&seen));
}

#[test]
fn whoever_unwinds_can_wait() {
    let joins = |note: Note<'_>| {
        let count = Arc::new(AtomicU32::new(0));
        let its = Arc::clone(&count);
        let mut thread = Some(thread::spawn(move || {
            its.fetch_add(1, SeqCst);
            its.fetch_add(1, SeqCst);
            assert!(!thread::panicking());
        }));
        let before = count.load(SeqCst);
        unwinds(|| {
            assert!(thread::panicking());
            assert!(thread.take().unwrap().join().is_ok());
        });
        note(format!("{before} {}", count.load(SeqCst)));
    };
    assert_eq!(all(joins), set(&["0 2", "1 2", "2 2"]));

    let receives = |note: Note<'_>| {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || sender.send(thread::panicking()).unwrap());
        let mut seen = Vec::new();
        seen.push(receiver.try_recv().is_ok());
        unwinds(|| seen.push(receiver.recv().is_ok()));
        thread.join().unwrap();
        note(format!("{seen:?}"));
    };
    assert_eq!(all(receives), set(&["[false, true]", "[true, false]"]));

    let waits = |note: Note<'_>| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let its = Arc::clone(&pair);
        let thread = thread::spawn(move || {
            *its.0.lock().unwrap() = 1;
            its.1.notify_all();
            // It has not been poisoned by who waits.
            *its.0.lock().unwrap() += 1;
        });
        let mut seen = 0;
        unwinds(|| {
            let mut value = pair.0.lock().unwrap();
            while *value == 0 {
                value = pair.1.wait(value).unwrap();
            }
            seen = *value;
        });
        thread.join().unwrap();
        note(format!("{seen}"));
    };
    assert_eq!(all(waits), set(&["1", "2"]));

    let locks = |note: Note<'_>| {
        let lock = Arc::new(Mutex::new(0));
        let its = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let mut value = its.lock().unwrap();
            *value += 1;
            *value += 1;
        });
        let mut seen = 0;
        unwinds(|| seen = *lock.lock().unwrap());
        thread.join().unwrap();
        note(format!("{seen} {}", lock.is_poisoned()));
    };
    assert_eq!(all(locks), set(&["0 false", "2 false"]));
}

#[test]
fn who_waits_for_ever_while_it_unwinds_is_seen() {
    let crossed = |_: Note<'_>| {
        let lock = Arc::new(Mutex::new(0));
        let its = Arc::clone(&lock);
        let thread = thread::spawn(move || {
            let _ = its.try_lock();
            unwinds(|| drop(its.lock()));
        });
        let _guard = lock.lock().unwrap();
        thread.join().unwrap();
    };
    assert_eq!(
        all(crossed),
        set(&["Deadlock: threads wait for each other"])
    );

    let unnotified = |_: Note<'_>| {
        let (sender, receiver) = mpsc::channel::<u32>();
        let other = sender.clone();
        thread::spawn(move || drop(sender));
        unwinds(|| assert!(receiver.recv().is_err()));
        drop(other);
    };
    let expected = "Deadlock: threads wait for a notification that no thread gives any more";
    assert_eq!(all(unnotified), set(&[expected]));
}

#[test]
fn a_thread_that_is_started_meanwhile_does_not_unwind() {
    let program = |note: Note<'_>| {
        let lock = Arc::new(Mutex::new(0));
        let mut threads = Vec::new();
        unwinds(|| {
            let its = Arc::clone(&lock);
            threads.push(thread::spawn(move || {
                let before = thread::panicking();
                *its.lock().unwrap() += 1;
                let caught = panic::catch_unwind(|| panic!("the new one's"));
                (before, caught.is_err(), thread::panicking())
            }));
            *lock.lock().unwrap() += 1;
        });
        let seen: Vec<_> = threads.into_iter().map(|it| it.join().unwrap()).collect();
        note(format!(
            "{seen:?} {} {}",
            *lock.lock().unwrap(),
            lock.is_poisoned()
        ));
    };
    assert_eq!(all(program), set(&["[(false, true, false)] 2 false"]));

    // Both panic, and one starts while the other one unwinds.
    let program = |note: Note<'_>| {
        let count = Arc::new(AtomicU32::new(0));
        let its = Arc::clone(&count);
        let (sender, receiver) = mpsc::channel();
        let first = thread::spawn(move || {
            let _next = OnDrop(|| {
                let its = Arc::clone(&its);
                let next = thread::spawn(move || {
                    let _counts = Counts(its);
                    panic!("the second");
                });
                sender.send(next).unwrap();
            });
            panic!("the first");
        });
        let second = receiver.recv().unwrap();
        let both = (first.join().is_err(), second.join().is_err());
        note(format!("{both:?} {}", count.load(SeqCst)));
    };
    assert_eq!(all(program), set(&["(true, true) 1"]));
}

#[test]
fn panics_inside_of_panics_are_told_apart() {
    let program = |_: Note<'_>| {
        let count = Arc::new(AtomicU32::new(0));
        let its = Arc::clone(&count);
        thread::spawn(move || its.fetch_add(1, SeqCst));
        let _inside = OnDrop(|| {
            let caught = panic::catch_unwind(AssertUnwindSafe(|| {
                let _count = Counts(Arc::clone(&count));
                panic!("inside");
            }));
            assert!(caught.is_err() && thread::panicking());
            count.fetch_add(1, SeqCst);
        });
        panic!("outside");
    };
    assert_eq!(all(program), set(&["Panic: outside"]));
}

#[test]
fn the_last_handle_goes_in_any_order() {
    let program = |note: Note<'_>| {
        let ends = Arc::new(AtomicU32::new(0));
        let shared = Shared::new(AtomicU32::new(0));
        let its = (Shared::clone(&shared), Arc::clone(&ends));
        let thread = thread::spawn(move || {
            unwinds(|| {
                its.1.store(Shared::strong_count(&its.0) as u32, SeqCst);
            });
            drop(its);
        });
        drop(shared);
        thread.join().unwrap();
        note(format!("{}", ends.load(SeqCst)));
    };
    assert_eq!(all(program), set(&["1", "2"]));
}
