//! Threads that panic before they have done anything that others can see, and do it while they unwind.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use seqz_explore::{
    CachedDpor, Dfs, Dpor, Hapset, HbrCache, Icb, IcbDpor, LazyDpor, Mcr, Odpor, Pcb, Pct, Pos,
    Random, RvCausal, Search, Strategy, Surw,
};
use seqz_runtime::counted::handles::std::sync::Arc as Shared;
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{Mutex, mpsc};
use seqz_runtime::std::{panic, thread};

/// Does something that others can see when it is dropped.
struct Counts(Arc<AtomicU32>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// What fails in some executions; the search may end where it would run another thread while one unwinds.
fn failures(values: bool, strategy: impl Strategy, program: &dyn Fn()) -> Vec<String> {
    let mut executions = 0;
    let all = collect(values, strategy, program, |search, machine| {
        let goes_on = executions < 20 && matches!(search.step(machine), Ok(Some(_)));
        executions = search.counts().executions;
        goes_on
    });
    assert_ne!(executions, 0, "none has come to an end");
    all
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

/// What fails, by a search that comes to its end, in which no thread had to go on while it unwound.
fn all_failures(values: bool, strategy: impl Strategy, program: &dyn Fn()) -> Vec<String> {
    collect(values, strategy, program, |search, machine| {
        let step = search.step(machine).expect("it is deterministic");
        assert!(!machine.has_rushed());
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
