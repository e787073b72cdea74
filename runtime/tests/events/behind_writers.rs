//! Readers that may wait behind a writer that waits.

use std::collections::HashSet;
use std::sync::Arc;

use seqz_explore::random_numbers::RandomNumbers;
use seqz_explore::{Dfs, Dpor, LazyDpor, Mcr, Odpor, RvCausal};
use seqz_runtime::scheduled::Settings;
use seqz_runtime::std::sync::{Mutex, RwLock};
use seqz_runtime::std::thread;

use super::{DFS, Note, Seen, all, bugs, explore, search, set};

fn has_deadlock(seen: &Seen) -> bool {
    seen.iter().any(|one| one.starts_with("Deadlock"))
}

#[test]
fn a_second_read_may_wait_for_ever_and_may_go_on() {
    let program = |note: Note<'_>| {
        let lock = Arc::new(RwLock::new(0));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || *other.write().unwrap() += 1);
        let first = lock.read().unwrap();
        let second = lock.read().unwrap();
        note(format!("{} {}", *first, *second));
        drop((first, second));
        thread.join().unwrap();
    };
    let waits = "Deadlock: threads wait for each other: one waits to read until another one has written, which waits for a reader";
    assert_eq!(all(program), set(&["0 0", "1 1", waits]));
    let found = bugs(move || program(&|_| ()));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found.into_values().next(), Some(0));
}

#[test]
fn a_reader_that_is_waited_for_under_a_read_guard_may_wait_for_ever() {
    let program = |note: Note<'_>| {
        let lock = Arc::new(RwLock::new(0));
        let (reader, writer) = (Arc::clone(&lock), Arc::clone(&lock));
        let writer = thread::spawn(move || *writer.write().unwrap() += 1);
        let guard = lock.read().unwrap();
        let reader = thread::spawn(move || *reader.read().unwrap());
        note(format!("{}", reader.join().unwrap()));
        drop(guard);
        writer.join().unwrap();
    };
    let seen = all(program);
    assert!(
        has_deadlock(&seen) && seen.contains("0") && seen.contains("1"),
        "{seen:?}"
    );
}

#[test]
fn readers_that_wait_for_nobody_never_do() {
    let program = |note: Note<'_>| {
        let lock = Arc::new(RwLock::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || *lock.read().unwrap())
            })
            .collect();
        *lock.write().unwrap() += 1;
        let sum: i32 = threads.into_iter().map(|one| one.join().unwrap()).sum();
        note(sum.to_string());
    };
    assert_eq!(all(program), set(&["0", "1", "2"]));
}

/// In how many programs.
const PROGRAMS: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Read(usize),
    Write(usize),
    Lock,
    /// Gives back what was taken last.
    Back,
}

/// Takes locks and gives them back in the opposite order. No thread takes one that it has, but to read.
fn random(numbers: &mut RandomNumbers) -> Vec<Act> {
    let mut held: Vec<Act> = Vec::new();
    let mut acts = Vec::new();
    for _ in 0..2 + numbers.below(2) {
        if !held.is_empty() && numbers.below(4) == 0 {
            held.pop();
            acts.push(Act::Back);
        }
        let lock = usize::from(numbers.below(4) == 0);
        let act = match numbers.below(7) {
            0..4 => Act::Read(lock),
            4..6 => Act::Write(lock),
            _ => Act::Lock,
        };
        let excluded = held.iter().any(|&other| match (act, other) {
            (Act::Read(a), Act::Write(b)) | (Act::Write(a), Act::Write(b) | Act::Read(b)) => a == b,
            (Act::Lock, Act::Lock) => true,
            _ => false,
        });
        if !excluded {
            held.push(act);
            acts.push(act);
        }
    }
    acts.extend(held.iter().map(|_| Act::Back));
    acts
}

fn run(program: &[Vec<Act>]) {
    let locks = Arc::new(([RwLock::new(0), RwLock::new(0)], Mutex::new(0)));
    let threads: Vec<_> = program[1..]
        .iter()
        .cloned()
        .map(|acts| {
            let locks = Arc::clone(&locks);
            thread::spawn(move || {
                step(&acts, 0, &locks);
            })
        })
        .collect();
    step(&program[0], 0, &locks);
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Runs the acts from this one up to where what was taken before it is given back, and says how many have run by then.
fn step(acts: &[Act], from: usize, locks: &([RwLock<i32>; 2], Mutex<i32>)) -> usize {
    let mut at = from;
    while let Some(act) = acts.get(at) {
        at += 1;
        match act {
            Act::Read(lock) => {
                let _guard = locks.0[*lock].read().unwrap();
                at = step(acts, at, locks);
            }
            Act::Write(lock) => {
                let _guard = locks.0[*lock].write().unwrap();
                at = step(acts, at, locks);
            }
            Act::Lock => {
                let _guard = locks.1.lock().unwrap();
                at = step(acts, at, locks);
            }
            Act::Back => return at,
        }
    }
    at
}

/// A state of the program as one would write it: where the threads are, and which of them wait to write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    at: Vec<usize>,
    waits: Vec<bool>,
}

impl State {
    fn held<'p>(&self, program: &'p [Vec<Act>], thread: usize) -> Vec<&'p Act> {
        let mut held = Vec::new();
        for act in &program[thread][..self.at[thread]] {
            if *act == Act::Back {
                held.pop();
            } else {
                held.push(act);
            }
        }
        held
    }

    fn count(&self, program: &[Vec<Act>], wanted: Act) -> usize {
        let all = (0..program.len()).flat_map(|thread| self.held(program, thread));
        all.filter(|act| **act == wanted).count()
    }

    /// Where a step of the thread leads to, if it can make one.
    fn next(&self, program: &[Vec<Act>], thread: usize) -> Option<Self> {
        let act = *program[thread].get(self.at[thread])?;
        let mut next = self.clone();
        next.at[thread] += 1;
        next.waits[thread] = false;
        let goes_on = match act {
            Act::Back => true,
            Act::Lock => self.count(program, Act::Lock) == 0,
            Act::Read(lock) => {
                let writer_waits = (0..program.len()).any(|other| {
                    self.waits[other] && program[other][self.at[other]] == Act::Write(lock)
                });
                self.count(program, Act::Write(lock)) == 0 && !writer_waits
            }
            Act::Write(lock) => {
                let free = self.count(program, Act::Write(lock)) == 0
                    && self.count(program, Act::Read(lock)) == 0;
                if !free && !self.waits[thread] {
                    next = self.clone();
                    next.waits[thread] = true;
                }
                free || !self.waits[thread]
            }
        };
        goes_on.then_some(next)
    }
}

/// Whether threads can come to wait for each other, where writers that wait go first.
fn interpreted(program: &[Vec<Act>]) -> bool {
    let start = State {
        at: vec![0; program.len()],
        waits: vec![false; program.len()],
    };
    let mut seen = HashSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        let mut is_stuck = true;
        for thread in 0..program.len() {
            if let Some(next) = state.next(program, thread) {
                is_stuck = false;
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        let over = (0..program.len()).all(|thread| state.at[thread] == program[thread].len());
        if is_stuck && !over {
            return true;
        }
    }
    false
}

#[test]
fn what_waits_for_ever_is_what_does_in_an_interpreter() {
    let mut numbers = RandomNumbers::new(5);
    let mut counts = [0, 0];
    for _ in 0..200 {
        let program: Vec<_> = (0..2 + numbers.below(2))
            .map(|_| random(&mut numbers))
            .collect();
        let expected = interpreted(&program);
        counts[usize::from(expected)] += 1;
        let waits =
            |strategy: Option<Seen>| strategy.is_none_or(|seen| has_deadlock(&seen) == expected);
        let of = |_: Note<'_>| run(&program);
        assert!(
            waits(explore(u64::MAX, false, Odpor::new(), of)),
            "odpor: {expected} {program:?}"
        );
        assert!(
            waits(explore(DFS, false, Dpor::new(), of)),
            "dpor: {expected} {program:?}"
        );
        assert!(
            waits(explore(DFS / 30, false, Dfs::new(), of)),
            "dfs: {expected} {program:?}"
        );
    }
    assert!(counts.iter().all(|&count| count > 30), "{counts:?}");
}

#[test]
fn who_looks_at_values_says_what_may_be_left_out() {
    let settings = Settings {
        values: true,
        ..Settings::default()
    };
    let mut numbers = RandomNumbers::new(6);
    let (mut missed, mut open, mut certain) = (0, 0, 0);
    for _ in 0..PROGRAMS {
        let program: Vec<_> = (0..2 + numbers.below(2))
            .map(|_| random(&mut numbers))
            .collect();
        let expected = interpreted(&program);
        let of = |_: Note<'_>| run(&program);
        let all = [
            ("mcr", search(settings, DFS, Mcr::new(), of)),
            ("rv-causal", search(settings, DFS, RvCausal::new(), of)),
            ("lazy-dpor", search(settings, DFS, LazyDpor::new(), of)),
        ];
        for (name, found) in all {
            let Some((seen, left)) = found else { continue };
            let found = has_deadlock(&seen);
            assert!(expected || !found, "{name}: {program:?}");
            assert!(found == expected || left.writers, "{name}: {program:?}");
            missed += usize::from(found != expected);
            open += usize::from(left.writers && !expected);
            certain += usize::from(!left.writers && !expected);
        }
    }
    println!("{missed} missed, {open} open for nothing, {certain} certain");
    assert!(certain > open, "{certain} {open}");
}

/// Whether the strategies say that an attempt to read succeeds that may fail: all of them, or none.
fn leaves_tries_open(program: &dyn Fn(Note<'_>)) -> bool {
    let settings = |values| Settings {
        values,
        ..Settings::default()
    };
    let all = [
        ("dfs", search(settings(false), DFS, Dfs::new(), program)),
        ("odpor", search(settings(false), DFS, Odpor::new(), program)),
        ("dpor", search(settings(false), DFS, Dpor::new(), program)),
        (
            "lazy-dpor",
            search(settings(true), DFS, LazyDpor::new(), program),
        ),
        ("mcr", search(settings(true), DFS, Mcr::new(), program)),
        (
            "rv-causal",
            search(settings(true), DFS, RvCausal::new(), program),
        ),
    ];
    let all = all.map(|(name, search)| (name, search.expect("it is small").1.tries));
    let (_, first) = all[0];
    assert!(all.iter().all(|(_, open)| *open == first), "{all:?}");
    first
}

#[test]
fn an_attempt_to_read_may_fail_where_a_writer_waits() {
    let open: [&dyn Fn(Note<'_>); 3] = [
        // Of a thread that reads already.
        &|_| {
            let lock = Arc::new(RwLock::new(0));
            let other = Arc::clone(&lock);
            let thread = thread::spawn(move || *other.write().unwrap() += 1);
            let first = lock.read().unwrap();
            drop(lock.try_read());
            drop(first);
            thread.join().unwrap();
        },
        // Of another one.
        &|_| {
            let lock = Arc::new(RwLock::new(0));
            let (reader, writer) = (Arc::clone(&lock), Arc::clone(&lock));
            let reader = thread::spawn(move || *reader.read().unwrap());
            let writer = thread::spawn(move || *writer.write().unwrap() += 1);
            drop(lock.try_read());
            reader.join().unwrap();
            writer.join().unwrap();
        },
        // The writer waits for ever.
        &|_| {
            let lock = Arc::new(RwLock::new(0));
            let other = Arc::clone(&lock);
            let first = lock.read().unwrap();
            let writer = thread::spawn(move || *other.write().unwrap() += 1);
            drop(lock.try_read());
            writer.join().unwrap();
            drop(first);
        },
    ];
    let closed: [&dyn Fn(Note<'_>); 4] = [
        // Nobody else reads.
        &|_| {
            let lock = Arc::new(RwLock::new(0));
            let other = Arc::clone(&lock);
            let writer = thread::spawn(move || *other.write().unwrap() += 1);
            drop(lock.try_read());
            writer.join().unwrap();
        },
        // Nobody waits to write: it is only tried, or not at all.
        &|_| {
            let lock = Arc::new(RwLock::new(0));
            let other = Arc::clone(&lock);
            let writer = thread::spawn(move || drop(other.try_write()));
            let first = lock.read().unwrap();
            drop(lock.try_read());
            drop(first);
            writer.join().unwrap();
        },
        // The writer has written before.
        &|_| {
            let lock = Arc::new(RwLock::new(0));
            let other = Arc::clone(&lock);
            let writer = thread::spawn(move || *other.write().unwrap() += 1);
            writer.join().unwrap();
            let first = lock.read().unwrap();
            drop(lock.try_read());
            drop(first);
        },
        // Or comes later.
        &|_| {
            let lock = Arc::new(RwLock::new(0));
            let other = Arc::clone(&lock);
            let first = lock.read().unwrap();
            drop(lock.try_read());
            let writer = thread::spawn(move || *other.write().unwrap() += 1);
            drop(first);
            writer.join().unwrap();
        },
    ];
    for (at, program) in open.into_iter().enumerate() {
        assert!(leaves_tries_open(program), "{at}");
    }
    for (at, program) in closed.into_iter().enumerate() {
        assert!(!leaves_tries_open(program), "{at}");
    }
}
