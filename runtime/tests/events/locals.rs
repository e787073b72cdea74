//! Destructors of thread-locals.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use seqz_explore::Odpor;
use seqz_explore::random_numbers::RandomNumbers;
use seqz_runtime::std::sync::Mutex;
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::thread;

use super::{Note, all, bugs, check, explore, set};

/// Adds to a shared number when it is dropped.
struct Flush(Option<Arc<AtomicU32>>, u32);

impl Drop for Flush {
    fn drop(&mut self) {
        if let Some(total) = &self.0 {
            // Not in one step: another thread can come between.
            let before = total.load(SeqCst);
            total.store(before + self.1, SeqCst);
        }
    }
}

seqz_runtime::thread_local! {
    static FIRST: RefCell<Flush> = const { RefCell::new(Flush(None, 0)) };
    static SECOND: RefCell<Flush> = const { RefCell::new(Flush(None, 0)) };
    static THIRD: RefCell<Flush> = const { RefCell::new(Flush(None, 0)) };
    static NUMBER: Cell<u32> = const { Cell::new(7) };
}

fn flush(total: &Arc<AtomicU32>, by: u32) {
    FIRST.with_borrow_mut(|flush| *flush = Flush(Some(Arc::clone(total)), by));
}

#[test]
fn what_is_flushed_when_threads_end_is_there_after_their_joins() {
    let program = |note: Note<'_>| {
        let total = Arc::new(AtomicU32::new(0));
        let (first, second) = (Arc::clone(&total), Arc::clone(&total));
        let first = thread::spawn(move || flush(&first, 1));
        let second = thread::spawn(move || flush(&second, 2));
        first.join().unwrap();
        let seen = total.load(SeqCst);
        second.join().unwrap();
        note(format!("{seen} {}", total.load(SeqCst)));
    };
    let seen = ["1 1", "1 2", "1 3", "2 2", "3 3"];
    assert_eq!(all(program), set(&seen));
}

#[test]
fn the_sequential_program_flushes_on_the_lines_of_the_threads() {
    let seen = ["1 1", "1 2", "1 3", "2 2", "3 3"];
    let found = check(&set(&seen), || {
        let total = Arc::new(AtomicU32::new(0));
        let (first, second) = (Arc::clone(&total), Arc::clone(&total));
        let first = thread::spawn(move || flush(&first, 1));
        let second = thread::spawn(move || flush(&second, 2));
        first.join().unwrap();
        let seen = total.load(SeqCst);
        second.join().unwrap();
        format!("{seen} {}", total.load(SeqCst))
    });
    let found: super::Seen = found.into_keys().collect();
    assert_eq!(found, set(&seen));
}

#[test]
fn the_harness_is_a_thread_like_others() {
    let program = |note: Note<'_>| {
        let total = Arc::new(AtomicU32::new(0));
        let (other, seen) = (Arc::clone(&total), Arc::new(AtomicU32::new(0)));
        flush(&total, 1);
        let seen_by_other = Arc::clone(&seen);
        let _detached = thread::spawn(move || {
            seen_by_other.store(other.load(SeqCst) + 1, SeqCst);
        });
        SECOND.with_borrow_mut(|flush| *flush = Flush(None, 0));
        note(seen.load(SeqCst).to_string());
    };
    assert_eq!(all(program), set(&["0", "1"]));
    // That the other thread sees what the destructor leaves is a failure of that thread here.
    let program = || {
        let total = Arc::new(AtomicU32::new(0));
        flush(&total, 1);
        let _detached = thread::spawn(move || assert_eq!(total.load(SeqCst), 0, "flushed"));
    };
    assert_eq!(all(|_| program()).len(), 1);
    assert_eq!(bugs(program).len(), 1);
}

/// What the destructors of a thread note, one after the other.
struct Notes(&'static str);

static NOTES: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());

fn note(text: String) {
    NOTES.lock().unwrap().push(text);
}

impl Drop for Notes {
    fn drop(&mut self) {
        let there = (
            A.try_with(|_| ()).is_ok(),
            B.try_with(|_| ()).is_ok(),
            C.try_with(|_| ()).is_ok(),
            NUMBER.try_with(Cell::get).ok(),
        );
        note(format!("{} {there:?}", self.0));
    }
}

seqz_runtime::thread_local! {
    static A: Notes = Notes("a");
    static B: Notes = const { Notes("b") };
    static C: RefCell<Notes> = RefCell::new(Notes("c"));
    static LAST: Notes = Notes("last");
}

#[test]
fn the_order_is_that_of_std() {
    // Each of them as std's, in a program of the same text, has it.
    let program = |_: Note<'_>| {
        NOTES.lock().unwrap().clear();
        thread::spawn(|| {
            B.with(|_| ());
            A.with(|_| ());
            LAST.with(|_| ());
            note("end".to_owned());
        })
        .join()
        .unwrap();
        note("joined".to_owned());
        A.with(|_| ());
    };
    let expected = [
        "end",
        "last (true, true, true, Some(7))",
        "c (true, true, false, Some(7))",
        "a (false, true, false, Some(7))",
        "b (false, false, false, Some(7))",
        "joined",
        "a (false, true, true, Some(7))",
        "c (false, true, false, Some(7))",
        "b (false, false, false, Some(7))",
    ];
    assert_eq!(all(program), set(&[]));
    assert_eq!(*NOTES.lock().unwrap(), expected);
    NOTES.lock().unwrap().clear();
    assert!(bugs(move || program(&|_| ())).is_empty());
    assert_eq!(*NOTES.lock().unwrap(), expected);
}

#[test]
fn a_thread_that_panics_destroys_its_values_too() {
    let program = |note: Note<'_>| {
        let total = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&total);
        let thread = thread::spawn(move || {
            flush(&other, 1);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                SECOND.with_borrow_mut(|flush| *flush = Flush(Some(other), 2));
                panic!("caught");
            }));
            caught.is_err()
        });
        let caught = thread.join().unwrap();
        note(format!("{caught} {}", total.load(SeqCst)));
    };
    assert_eq!(all(program), set(&["true 3"]));
}

#[test]
fn a_destructor_may_wait_for_ever() {
    struct Locks(Arc<Mutex<u32>>);
    impl Drop for Locks {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    seqz_runtime::thread_local! {
        static LOCKS: RefCell<Option<Locks>> = const { RefCell::new(None) };
    }
    let program = |note: Note<'_>| {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || LOCKS.set(Some(Locks(other))));
        let value = lock.lock().unwrap();
        thread.join().unwrap();
        note(value.to_string());
    };
    let seen = all(program);
    assert!(
        seen.iter().any(|one| one.starts_with("Deadlock")) && seen.contains("1"),
        "{seen:?}"
    );
}

/// What a thread of a random program does, in its body and, if it is so, when its values are destroyed.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Which of the three thread-locals are used, in which order.
    order: [usize; 3],
    used: usize,
    adds: bool,
}

fn plan(numbers: &mut RandomNumbers) -> Plan {
    let mut order = [0, 1, 2];
    let mut below = |bound: u64| usize::try_from(numbers.below(bound)).unwrap();
    order.swap(0, below(3));
    order.swap(1, 1 + below(2));
    Plan {
        order,
        used: below(3),
        adds: below(2) == 0,
    }
}

fn body(plan: Plan, total: &Arc<AtomicU32>, by_destructors: bool) {
    let mut values = Vec::new();
    for &at in &plan.order[..plan.used] {
        let value = Flush(
            Some(Arc::clone(total)),
            10_u32.pow(u32::try_from(at).unwrap()),
        );
        let key = [&FIRST, &SECOND, &THIRD][at];
        if by_destructors {
            key.with_borrow_mut(|flush| *flush = value);
        } else {
            values.push(value);
        }
    }
    if plan.adds {
        total.fetch_add(1_000, SeqCst);
    }
    // What a `Vec` drops, it drops from its start.
    values.reverse();
}

#[test]
fn destructors_do_what_a_body_could_have_done_at_its_end() {
    let mut numbers = RandomNumbers::new(3);
    for _ in 0..40 {
        let plans: Vec<_> = (0..2).map(|_| plan(&mut numbers)).collect();
        let program = |by_destructors: bool, note: Note<'_>| {
            let total = Arc::new(AtomicU32::new(0));
            let threads: Vec<_> = plans
                .iter()
                .map(|&plan| {
                    let total = Arc::clone(&total);
                    thread::spawn(move || body(plan, &total, by_destructors))
                })
                .collect();
            let mut seen = vec![total.load(SeqCst)];
            for thread in threads {
                thread.join().unwrap();
                seen.push(total.load(SeqCst));
            }
            note(format!("{seen:?}"));
        };
        let plain = explore(u64::MAX, false, Odpor::new(), |note| program(false, note));
        let local = all(|note| program(true, note));
        assert!(Some(local) == plain, "{plans:?}");
    }
}
