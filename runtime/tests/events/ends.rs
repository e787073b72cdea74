//! Whether a thread has finished.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use seqz_explore::random_numbers::RandomNumbers;
use seqz_explore::{Dfs, Odpor};
use seqz_runtime::check::{Bounds, machine};
use seqz_runtime::engine::Solver;
use seqz_runtime::scheduled::Settings;
use seqz_runtime::std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::thread;
use seqz_runtime::{Bound, Role, watch_ends};

use super::{DFS, Note, Seen, all, check, explore, search, set};

/// Sets its flag when it is dropped.
struct Sets(Arc<AtomicBool>);

impl Drop for Sets {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

seqz_runtime::thread_local! {
    static SETS: std::cell::RefCell<Option<Sets>> = const { std::cell::RefCell::new(None) };
}

#[test]
fn a_thread_has_finished_or_not_whatever_it_has_done() {
    let program = |note: Note<'_>| {
        watch_ends();
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let thread = thread::spawn(move || other.store(1, SeqCst));
        let first = thread.is_finished();
        let value = x.load(SeqCst);
        let second = thread.is_finished();
        thread.join().unwrap();
        note(format!("{first} {value} {second}"));
    };
    let seen = [
        "false 0 false",
        "false 0 true",
        "false 1 false",
        "false 1 true",
        "true 1 true",
    ];
    assert_eq!(all(program), set(&seen));
}

#[test]
fn the_sequential_program_sees_the_end_by_a_read() {
    let seen = [
        ("false 0 false", 0),
        ("false 0 true", 1),
        ("false 1 false", 1),
        ("false 1 true", 2),
        ("true 1 true", 2),
    ];
    let found = check(&set(&seen.map(|(text, _)| text)), || {
        watch_ends();
        let x = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&x);
        let thread = thread::spawn(move || other.store(1, SeqCst));
        let first = thread.is_finished();
        let value = x.load(SeqCst);
        let second = thread.is_finished();
        thread.join().unwrap();
        format!("{first} {value} {second}")
    });
    assert_eq!(found, seen.map(|(text, k)| (text.to_owned(), k)).into());
}

#[test]
fn a_scoped_thread_and_one_without_events_finish_too() {
    let program = |note: Note<'_>| {
        watch_ends();
        let seen = thread::scope(|scope| {
            let thread = scope.spawn(|| ());
            (thread.is_finished(), thread.is_finished())
        });
        note(format!("{seen:?}"));
    };
    let seen = ["(false, false)", "(false, true)", "(true, true)"];
    assert_eq!(all(program), set(&seen));
}

#[test]
fn a_thread_that_panics_has_finished() {
    let program = |note: Note<'_>| {
        watch_ends();
        let thread = thread::spawn(|| {
            panic!("the thread's");
        });
        let before = thread.is_finished();
        note(format!("{before} {}", thread.join().is_err()));
    };
    let mut seen = all(program);
    seen.retain(|one| !one.contains("the thread's"));
    assert_eq!(seen, set(&["false true", "true true"]));
}

#[test]
fn destructors_of_thread_locals_come_after() {
    let program = |note: Note<'_>| {
        watch_ends();
        let dropped = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&dropped);
        let thread = thread::spawn(move || SETS.set(Some(Sets(other))));
        let seen = (thread.is_finished(), dropped.load(SeqCst));
        thread.join().unwrap();
        note(format!("{seen:?} {}", dropped.load(SeqCst)));
    };
    let seen = [
        "(false, false) true",
        "(false, true) true",
        "(true, false) true",
        "(true, true) true",
    ];
    assert_eq!(all(program), set(&seen));
}

/// A random program in which each thread ends with a write of a flag, which is asked for instead if `by_flag`.
fn run(numbers: &mut RandomNumbers, by_flag: bool) -> String {
    if !by_flag {
        watch_ends();
    }
    let x = Arc::new(AtomicU32::new(0));
    let mut threads = Vec::new();
    for _ in 0..2 {
        let (x, flag) = (Arc::clone(&x), Arc::new(AtomicBool::new(false)));
        let (does, panics) = (numbers.below(3), numbers.below(4) == 0);
        let ended = Arc::clone(&flag);
        let body = move || {
            for _ in 0..does {
                x.fetch_add(1, SeqCst);
            }
            let _ = catch_unwind(AssertUnwindSafe(|| assert!(!panics, "caught")));
            if by_flag {
                ended.store(true, SeqCst);
            }
        };
        threads.push((thread::spawn(body), flag));
    }
    let mut seen = Vec::new();
    for _ in 0..=numbers.below(2) {
        let (thread, flag) = &threads[usize::from(numbers.below(2) == 0)];
        let ended = if by_flag {
            flag.load(SeqCst)
        } else {
            thread.is_finished()
        };
        seen.push(format!("{ended} {}", x.load(SeqCst)));
    }
    for (thread, _) in threads {
        thread.join().unwrap();
    }
    format!("{seen:?}")
}

#[test]
fn an_end_is_like_a_flag_that_the_thread_sets_last() {
    for seed in 0..100 {
        let of =
            |by_flag: bool| move |note: Note<'_>| note(run(&mut RandomNumbers::new(seed), by_flag));
        let flags: Option<Seen> = explore(u64::MAX, false, Odpor::new(), of(true));
        assert_eq!(explore(u64::MAX, false, Odpor::new(), of(false)), flags);
        if let Some(all) = explore(DFS / 10, false, Dfs::new(), of(false)) {
            assert_eq!(Some(all), flags);
        }
    }
}

#[test]
fn a_program_that_does_not_ask_has_no_more_events() {
    let program = || {
        let thread = thread::spawn(|| ());
        thread.join().unwrap();
    };
    let mut machine = seqz_runtime::scheduled::Machine::new(
        &program,
        seqz_runtime::scheduled::Settings::default(),
    );
    let mut search = seqz_explore::Search::new(Odpor::new());
    while search.step(&mut machine).unwrap().is_some() {}
    assert_eq!(search.counts().executions, 1);
    assert_eq!(machine.trace().len(), 2, "the fork and the join");
}

/// std's scope waits for the code of its threads, and not for the destructors of their thread-locals.
/// Whether the sequential program says that a scope waits for destructors that may come after its end.
fn leaves_scope_open_in_sequence(program: fn(&Arc<AtomicBool>)) -> bool {
    let bounds = Bounds::default();
    let bound = Bound {
        inputs: Vec::new(),
        program: Box::new(move || program(&Arc::new(AtomicBool::new(false)))),
        safe: true,
    };
    let mut machine = machine(&bounds, Solver::Grid);
    let mut is_open = false;
    for role in [Role::FIRST, Role::SECOND] {
        let mut search = seqz_runtime::check::Search::new(&bound, role, bounds);
        while !search.finished() {
            let level = search.next_level(&mut machine, &mut |_, _| true).unwrap();
            is_open |= level.scoped > 0;
            assert_eq!(level.scoped == 0, level.exhausted());
        }
    }
    is_open
}

#[test]
fn a_scope_that_waits_for_destructors_promises_nothing() {
    seqz_runtime::thread_local! {
        static TEXT: std::cell::RefCell<String> = const { std::cell::RefCell::new(String::new()) };
    }
    let is_open = |program: fn(&Arc<AtomicBool>)| {
        let noted = |note: Note<'_>| {
            let dropped = Arc::new(AtomicBool::new(false));
            program(&dropped);
            note(dropped.load(SeqCst).to_string());
        };
        let (seen, open) = search(Settings::default(), DFS, Odpor::new(), noted).unwrap();
        assert!(seen.contains("true") || seen.contains("false"));
        assert_eq!(open.scope, leaves_scope_open_in_sequence(program));
        open.scope
    };
    fn sets(dropped: &Arc<AtomicBool>) -> impl FnOnce() + Send + use<> {
        let other = Arc::clone(dropped);
        move || SETS.set(Some(Sets(other)))
    }
    assert!(is_open(|dropped| {
        thread::scope(|scope| {
            scope.spawn(sets(dropped));
        });
    }));
    assert!(is_open(|dropped| {
        thread::scope(|scope| {
            let first = scope.spawn(sets(dropped));
            scope.spawn(sets(dropped));
            first.join().unwrap();
        });
    }));
    // Who joins waits for the destructors, too.
    assert!(!is_open(|dropped| {
        thread::scope(|scope| scope.spawn(sets(dropped)).join().unwrap());
    }));
    assert!(!is_open(|dropped| {
        thread::spawn(sets(dropped)).join().unwrap();
    }));
    // This one's destructor has nothing to do with others.
    assert!(!is_open(|_| {
        thread::scope(|scope| {
            scope.spawn(|| TEXT.set("its own".to_owned()));
        });
    }));
    // The harness's own go with it.
    assert!(!is_open(|dropped| {
        sets(dropped)();
        thread::scope(|scope| {
            scope.spawn(|| ());
        });
    }));
}
