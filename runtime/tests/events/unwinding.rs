//! Threads that panic before they have done anything that others can see, and do it while they unwind.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use seqz_explore::{
    CachedDpor, Dfs, Dpor, Hapset, HbrCache, Icb, IcbDpor, LazyDpor, Mcr, Odpor, Pcb, Pct, Pos,
    Random, RvCausal, Search, Strategy, Surw,
};
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
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
    let settings = Settings {
        values,
        ..Settings::default()
    };
    let mut machine = Machine::new(program, settings);
    let mut search = Search::new(strategy);
    let mut all = Vec::new();
    while search.counts().executions < 20 && matches!(search.step(&mut machine), Ok(Some(_))) {
        let failures = machine.failures().iter();
        all.extend(failures.map(|failure| format!("{:?}: {}", failure.kind, failure.message)));
    }
    assert_ne!(search.counts().executions, 0, "none has come to an end");
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
