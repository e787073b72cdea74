//! `Barrier`.

use std::collections::BTreeSet;
use std::sync::Arc;

use seqz_explore::{Dpor, Mcr, RvCausal};
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{Barrier, Condvar, Mutex};
use seqz_runtime::std::thread;

use super::{Note, all, deadlock, explore, explore_by_values, noted};

#[test]
fn any_thread_may_lead_and_nobody_goes_on_before_all_have_come() {
    let found = all(|note| {
        let shared = Arc::new((Barrier::new(2), AtomicU32::new(0)));
        let other = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            other.1.fetch_add(1, SeqCst);
            let leads = other.0.wait().is_leader();
            assert_eq!(other.1.load(SeqCst), 2);
            leads
        });
        shared.1.fetch_add(1, SeqCst);
        let leads = shared.0.wait().is_leader();
        assert_eq!(shared.1.load(SeqCst), 2);
        note(format!("{leads} {}", thread.join().unwrap()));
    });
    assert_eq!(noted(&found), ["false true", "true false"]);
    assert_eq!(found.failures, BTreeSet::new());
}

#[test]
fn a_barrier_is_used_again() {
    let found = all(|note| {
        let barrier = Arc::new(Barrier::new(2));
        let other = Arc::clone(&barrier);
        let thread = thread::spawn(move || {
            [other.wait().is_leader(), other.wait().is_leader()].map(u8::from)
        });
        let own = [barrier.wait().is_leader(), barrier.wait().is_leader()].map(u8::from);
        note(format!("{own:?} {:?}", thread.join().unwrap()));
    });
    let either = [
        "[0, 0] [1, 1]",
        "[0, 1] [1, 0]",
        "[1, 0] [0, 1]",
        "[1, 1] [0, 0]",
    ];
    assert_eq!(noted(&found), either);
    let short = all(|_| {
        let barrier = Barrier::new(2);
        barrier.wait();
    });
    assert_eq!(short.failures, deadlock());
    let alone = all(|note| {
        static BARRIER: Barrier = Barrier::new(1);
        note(format!("{}", BARRIER.wait().is_leader()));
    });
    assert_eq!(noted(&alone), ["true"]);
}

/// As std has it.
struct Reference {
    state: Mutex<(usize, usize)>,
    changed: Condvar,
    size: usize,
}

impl Reference {
    fn wait(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        let generation = state.1;
        state.0 += 1;
        if state.0 < self.size {
            let _state = self
                .changed
                .wait_while(state, |state| state.1 == generation)
                .unwrap();
            false
        } else {
            *state = (0, generation.wrapping_add(1));
            self.changed.notify_all();
            true
        }
    }
}

/// Three threads and the harness at a barrier of this size, each so often.
fn meet(size: usize, times: [usize; 3], is_reference: bool) -> impl Fn(Note<'_>) {
    move |note| {
        let barrier = Barrier::new(size);
        let reference = Reference {
            state: Mutex::new((0, 0)),
            changed: Condvar::new(),
            size,
        };
        let both = Arc::new((barrier, reference));
        let threads = times.map(|times| {
            let both = Arc::clone(&both);
            thread::spawn(move || {
                let wait = || {
                    if is_reference {
                        both.1.wait()
                    } else {
                        both.0.wait().is_leader()
                    }
                };
                (0..times).map(|_| u8::from(wait())).collect::<Vec<_>>()
            })
        });
        note(format!(
            "{:?}",
            threads.map(|thread| thread.join().unwrap())
        ));
    }
}

#[test]
fn it_does_what_one_of_a_mutex_and_a_condition_variable_does() {
    for (size, times) in [
        (1, [1, 1, 1]),
        (2, [1, 1, 0]),
        (2, [1, 1, 1]),
        (2, [2, 1, 1]),
        (3, [1, 1, 1]),
    ] {
        let meet = |is_reference| meet(size, times, is_reference);
        let [own, reference] = [false, true].map(|of| explore(Dpor::new(), meet(of)));
        assert_eq!(own, reference, "{size} {times:?}");
        let by_values = explore_by_values(Mcr::new(), meet(false));
        assert_eq!(by_values, own, "mcr, {size} {times:?}");
        let by_pairs = explore_by_values(RvCausal::new(), meet(false));
        assert_eq!(by_pairs, own, "rv-causal, {size} {times:?}");
    }
}
