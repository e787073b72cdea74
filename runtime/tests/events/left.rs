//! Executions that are left before their end: what of a thread's panic the harness would still have handled is no failure.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use seqz_explore::{Dfs, Dpor, LazyDpor, Mcr, Odpor, RvCausal, Search, Strategy};
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::{panic, thread};

/// Part of a program, which is given a number that threads share.
type Does<'a> = &'a dyn Fn(&Arc<AtomicU32>);

/// The failures that a search tells of, cut after so many events of each execution and some executions.
fn told(steps: u32, values: bool, strategy: impl Strategy, program: &dyn Fn()) -> Vec<String> {
    let settings = Settings {
        steps,
        values,
        ..Settings::default()
    };
    let mut machine = Machine::new(program, settings);
    let mut search = Search::new(strategy);
    let mut all = Vec::new();
    // What destructors do while a thread unwinds is not what was asked for: that ends the search.
    while search.counts().executions < 200 && matches!(search.step(&mut machine), Ok(Some(_))) {
        let failures = machine.failures().iter();
        all.extend(failures.map(|failure| failure.message.clone()));
    }
    all.sort();
    all.dedup();
    all
}

/// What any of the strategies tells, wherever executions are cut.
fn told_by_all(program: impl Fn()) -> Vec<String> {
    let mut all = Vec::new();
    for steps in (0..16).chain([20_000]) {
        all.extend(told(steps, false, Dfs::new(), &program));
        all.extend(told(steps, false, Odpor::new(), &program));
        all.extend(told(steps, false, Dpor::new(), &program));
        all.extend(told(steps, true, LazyDpor::new(), &program));
        all.extend(told(steps, true, Mcr::new(), &program));
        all.extend(told(steps, true, RvCausal::new(), &program));
    }
    all.sort();
    all.dedup();
    all
}

/// Does something that others can see when it is dropped, though its thread unwinds.
struct Counts(Arc<AtomicU32>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// A thread that panics, with another one that does something, so that threads could be switched while it unwinds.
fn panics(count: &Arc<AtomicU32>, unwinds: bool) -> thread::JoinHandle<u32> {
    let counts = unwinds.then(|| Counts(Arc::clone(count)));
    let count = Arc::clone(count);
    thread::spawn(move || {
        let _counts = counts;
        count.fetch_add(1, SeqCst);
        panic!("it is handled")
    })
}

fn uses(count: &Arc<AtomicU32>) -> thread::JoinHandle<()> {
    let count = Arc::clone(count);
    thread::spawn(move || {
        count.fetch_add(1, SeqCst);
        count.load(SeqCst);
    })
}

#[test]
fn what_the_harness_would_have_handled_is_no_failure() {
    for unwinds in [false, true] {
        let programs: [Does<'_>; 5] = [
            &|count| {
                let thread = panics(count, unwinds);
                let user = uses(count);
                user.join().unwrap();
                assert_eq!(thread.join().unwrap_or(7), 7);
            },
            &|count| {
                let thread = panics(count, unwinds);
                count.load(SeqCst);
                assert!(thread.join().is_err());
                uses(count).join().unwrap();
            },
            &|count| {
                let thread = panics(count, unwinds);
                let user = uses(count);
                let caught = panic::catch_unwind(AssertUnwindSafe(|| thread.join().unwrap()));
                assert!(caught.is_err());
                user.join().unwrap();
            },
            &|count| {
                // The harness's own panic is held until the scope's thread is over, and caught then.
                let caught = panic::catch_unwind(AssertUnwindSafe(|| {
                    thread::scope(|scope| {
                        scope.spawn(|| {
                            count.fetch_add(1, SeqCst);
                            count.load(SeqCst);
                        });
                        panic!("it is handled");
                    })
                }));
                assert!(caught.is_err());
            },
            &|count| {
                // A thread that the harness leaves behind handles it.
                let (thread, count) = (panics(count, unwinds), Arc::clone(count));
                drop(thread::spawn(move || {
                    count.load(SeqCst);
                    assert!(thread.join().is_err());
                }));
            },
        ];
        for (at, program) in programs.iter().enumerate() {
            let told = told_by_all(|| program(&Arc::new(AtomicU32::new(0))));
            assert_eq!(told, [""; 0], "program {at}, unwinds: {unwinds}");
        }
    }
}

#[test]
fn what_nobody_can_handle_is_a_failure_wherever_the_execution_is_cut() {
    let programs: [(Does<'_>, &str); 3] = [
        (&|count| drop(panics(count, false)), "it is handled"),
        (
            &|count| {
                let user = uses(count);
                assert!(panics(count, false).join().is_err());
                drop(user);
                panic!("the harness's");
            },
            "the harness's",
        ),
        (
            &|count| {
                let _user = uses(count);
                panics(count, true).join().unwrap();
            },
            "it is handled",
        ),
    ];
    for (at, (program, expected)) in programs.iter().enumerate() {
        let told = told_by_all(|| program(&Arc::new(AtomicU32::new(0))));
        assert_eq!(told, [*expected], "program {at}");
    }
}
