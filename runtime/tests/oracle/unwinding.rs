//! What the generator's programs don't have: a guard that outlives a scope in which its thread panics, and destructors.

use std::cell::Cell;

use seqz_runtime::check::{Bounds, Search};
use seqz_runtime::engine::{Ending, Limits, Machine, Solver};
use seqz_runtime::std::sync::Mutex;
use seqz_runtime::std::sync::atomic::{AtomicU8, Ordering};
use seqz_runtime::std::{panic, process, thread};
use seqz_runtime::{Bound, Role};

#[test]
fn what_is_left_of_a_t_prime_that_unwinds_is_no_code_of_t() {
    let run = || {
        let (mutex, atomic) = (Mutex::new(0), AtomicU8::new(0));
        let _guard = mutex.lock();
        thread::scope(|scope| {
            scope.spawn(|| atomic.store(1, Ordering::SeqCst));
            atomic.load(Ordering::SeqCst);
            panic!("main's");
        });
    };
    let bound = Bound {
        inputs: Vec::new(),
        program: Box::new(run),
        safe: false,
    };
    for role in Role::BOTH {
        let mut machine = Machine::new(Limits::default(), Solver::Grid);
        let ending = machine.run(role, &[], true, &bound);
        assert_eq!(ending, Ok(Ending::Bug));
        let bugs: Vec<_> = machine.bugs().iter().map(|(bug, _)| bug).collect();
        assert_eq!(bugs.len(), 1, "T is {role:?}: {bugs:#?}");
        assert_eq!(bugs[0].role, Role::FIRST, "main is the first");
        assert_eq!(bugs[0].message, "main's");
    }
}

/// Does what it says when it is dropped, and is told whether that is at the end.
struct AtEnd<'a, F: FnMut(bool)>(&'a Cell<bool>, F);

impl<F: FnMut(bool)> Drop for AtEnd<'_, F> {
    fn drop(&mut self) {
        (self.1)(self.0.get());
    }
}

/// Here executions are unwound, since nobody gives their memory back: what destructors do then is none of the program's doing.
#[test]
fn what_destructors_do_in_an_execution_that_is_left_does_not_matter() {
    let waits = Mutex::new(0);
    let programs: [&(dyn Fn(bool) + Sync); 5] = [
        &|is_over| assert!(is_over, "it is dropped at the end"),
        &|is_over| {
            if !is_over {
                process::exit(3);
            }
        },
        &|_| {
            let caught = panic::catch_unwind(|| panic!("it is caught"));
            assert!(caught.is_err());
        },
        &|is_over| {
            let held = waits.lock();
            if !is_over {
                drop(waits.lock());
            }
            drop(held);
        },
        &|is_over| {
            let never = AtomicU8::new(0);
            while !is_over && never.load(Ordering::SeqCst) == 0 {}
        },
    ];
    for (at, program) in programs.into_iter().enumerate() {
        let run = || {
            let (x, y) = (AtomicU8::new(0), AtomicU8::new(0));
            let work = |mine: &AtomicU8, other: &AtomicU8| {
                let is_over = Cell::new(false);
                let _kept = AtEnd(&is_over, program);
                mine.store(1, Ordering::SeqCst);
                let seen = (other.load(Ordering::SeqCst), other.load(Ordering::SeqCst));
                assert!(seen.0 <= seen.1);
                mine.store(2, Ordering::SeqCst);
                is_over.set(true);
            };
            thread::scope(|scope| {
                scope.spawn(|| work(&x, &y));
                work(&y, &x);
            });
        };
        let run: Box<dyn Fn() + '_> = Box::new(run);
        // SAFETY: only the lifetime is changed, and the program is not run after this function.
        let program = unsafe { std::mem::transmute::<Box<dyn Fn() + '_>, Box<dyn Fn()>>(run) };
        let bound = Bound {
            inputs: Vec::new(),
            program,
            safe: false,
        };
        let mut infeasible = 0;
        for role in Role::BOTH {
            let mut machine = Machine::new(Limits::default(), Solver::Grid);
            let mut search = Search::new(&bound, role, Bounds::default());
            while !search.finished() {
                let level = search.next_level(&mut machine, &mut |_, _| true).unwrap();
                infeasible += level.infeasible;
            }
            assert!(machine.bugs().is_empty(), "{at}: {:#?}", machine.bugs());
        }
        assert!(infeasible > 0, "{at}: nothing is left");
        assert!(!std::thread::panicking());
    }
}
