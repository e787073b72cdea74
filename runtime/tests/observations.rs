//! What events tell is enough: what a thread does next is a function of what it has observed, and so is what it writes.
//!
//! Random programs, on all of their schedules. Threads work on shared values of types that are known and of types that
//! are not, and forget most of what they read: they only compare it, or drop it, under a mark.

#![cfg(feature = "scheduler")]

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use seqz_explore::hash::mix;
use seqz_explore::{Dfs, Event, Kind, Search, Test};
use seqz_runtime::memory::arena::Allocator;
use seqz_runtime::observe::{self, here};
use seqz_runtime::scheduled::{Machine, Settings};
use seqz_runtime::std::sync::atomic::{AtomicI8, AtomicU64, Ordering::SeqCst};
use seqz_runtime::std::sync::{Mutex, RwLock};
use seqz_runtime::std::thread;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// Not known to the runtime.
#[derive(Clone)]
struct Opaque(u8, fn());

#[derive(Clone, Copy, Debug)]
enum Step {
    /// `x > constant`, after which the next step is done or left out.
    Greater(i8),
    Equal(i8),
    /// `x` is read, and kept.
    Read,
    Store(i8),
    /// What is kept is written.
    StoreKept,
    AddAndDrop(i8),
    /// Whether it succeeds decides about the next step.
    Exchange(i8, i8),
    Push,
    PopKnown,
    SetOpaque,
    /// Decides about the next step.
    OpaqueIsOdd,
    TryOpaque,
    Peek,
    /// Counts the values that another cell has had.
    Other,
}

const STEPS: &[Step] = &[
    Step::Greater(0),
    Step::Greater(1),
    Step::Equal(0),
    Step::Equal(2),
    Step::Read,
    Step::Store(0),
    Step::Store(1),
    Step::Store(2),
    Step::StoreKept,
    Step::AddAndDrop(1),
    Step::AddAndDrop(-1),
    Step::Exchange(0, 2),
    Step::Exchange(1, 0),
    Step::Push,
    Step::PopKnown,
    Step::SetOpaque,
    Step::OpaqueIsOdd,
    Step::TryOpaque,
    Step::Peek,
    Step::Other,
];

struct Shared {
    x: AtomicI8,
    other: AtomicU64,
    known: RwLock<Vec<i8>>,
    opaque: Mutex<Opaque>,
}

/// Runs a thread of the program that has been given a value; what it gives back is what it kept.
fn perform(steps: &[Step], given: i8, shared: &Shared) -> i8 {
    let mut kept = given;
    let mut on = true;
    for step in steps {
        if !std::mem::replace(&mut on, true) {
            continue;
        }
        match *step {
            Step::Greater(constant) => {
                on = observe::gt(shared.x.load(SeqCst), constant.into(), here()) > constant;
            }
            Step::Equal(constant) => {
                on = observe::eq(shared.x.load(SeqCst), constant.into(), here()) == constant;
            }
            Step::Read => kept = shared.x.load(SeqCst),
            Step::Store(value) => shared.x.store(value, SeqCst),
            Step::StoreKept => shared.x.store(kept, SeqCst),
            Step::AddAndDrop(value) => {
                let _ = observe::dropped(shared.x.fetch_add(value, SeqCst), here());
            }
            Step::Exchange(from, to) => {
                on = observe::success(shared.x.compare_exchange(from, to, SeqCst, SeqCst), here())
                    .is_ok();
            }
            Step::Push => shared.known.write().unwrap().push(kept),
            Step::PopKnown => kept = shared.known.write().unwrap().pop().unwrap_or(-1),
            Step::SetOpaque => {
                let mut opaque = shared.opaque.lock().unwrap();
                *opaque = Opaque(kept.wrapping_add(2 * given).cast_unsigned(), || ());
            }
            Step::OpaqueIsOdd => {
                let opaque = shared.opaque.lock().unwrap();
                (opaque.1)();
                on = opaque.0 % 2 == 1;
            }
            Step::TryOpaque => {
                if let Ok(mut opaque) = shared.opaque.try_lock() {
                    opaque.0 = opaque.0.wrapping_mul(2);
                } else {
                    kept = 7;
                }
            }
            Step::Peek => kept = i8::try_from(shared.known.read().unwrap().len()).unwrap(),
            Step::Other => shared.other.store(shared.other.load(SeqCst) + 1, SeqCst),
        }
    }
    kept
}

fn run(program: &[Vec<Step>]) {
    let shared = Arc::new(Shared {
        x: AtomicI8::new(0),
        other: AtomicU64::new(0),
        known: RwLock::new(vec![0]),
        opaque: Mutex::new(Opaque(0, || ())),
    });
    // The main thread starts the others one after the other, with what it has kept, and takes steps between them.
    let mut kept = 1;
    let mut threads = Vec::new();
    for (number, steps) in program.iter().enumerate() {
        if number % 2 == 1 {
            kept = perform(steps, kept, &shared);
            continue;
        }
        let (steps, shared) = (steps.clone(), Arc::clone(&shared));
        threads.push(thread::spawn(move || perform(&steps, kept, &shared)));
    }
    let mut threads = threads.into_iter();
    while let Some(thread) = threads.next() {
        kept = kept.wrapping_mul(2).wrapping_add(thread.join().unwrap());
        if threads.len() > 0 {
            perform(&[Step::SetOpaque], kept, &shared);
        }
    }
    // Tells what has been observed: what the main thread does here depends on all of it.
    shared.x.store(kept, SeqCst);
    shared
        .other
        .store(shared.opaque.lock().unwrap().0.into(), SeqCst);
}

/// What the threads have observed so far in an execution.
struct Observed {
    histories: HashMap<u8, u64>,
}

impl Observed {
    fn of(&self, thread: u8) -> u64 {
        self.histories.get(&thread).copied().unwrap_or_default()
    }

    fn note(&mut self, event: &Event, test: Option<&Test>) {
        let mut history = mix(self.of(event.thread), event.kind as u64 + 1);
        // Whether it succeeded is observed only through the test.
        if matches!(event.kind, Kind::Update | Kind::FailedUpdate) && test.is_some() {
            history = mix(self.of(event.thread), 1000);
        }
        if event.kind.observes() {
            history = mix(
                history,
                test.map_or(event.found, |test| test.observe(event.found)),
            );
        }
        if event.kind == Kind::Join {
            history = mix(history, self.of(u8::try_from(event.object).unwrap()));
        }
        if event.kind == Kind::Fork {
            let child = mix(history, u64::from(event.object));
            self.histories
                .insert(u8::try_from(event.object).unwrap(), child);
        }
        self.histories.insert(event.thread, history);
    }
}

/// All schedules of a program. The answer is how many there are, and how many of its reads were observed in part.
fn explore(program: &[Vec<Step>]) -> (u64, usize) {
    let run = || run(program);
    let settings = Settings {
        values: true,
        ..Settings::default()
    };
    let mut machine = Machine::new(&run, settings);
    let mut search = Search::new(Dfs::default());
    // What a thread does after it has observed something: the kind, the object, the place, and what it writes.
    let mut next: HashMap<(u8, u64), (Kind, u32, u32, u64)> = HashMap::new();
    let mut marked = 0;
    while let Some(ran) = search.step(&mut machine).unwrap() {
        assert_eq!(machine.unsupported(), None, "{program:?}");
        assert!(machine.failures().is_empty(), "{program:?} {ran:?}");
        let tests: HashMap<usize, Test> = machine.tests().iter().copied().collect();
        assert_eq!(tests.len(), machine.tests().len());
        marked += tests.len();
        let mut observed = Observed {
            histories: HashMap::new(),
        };
        let mut left: HashMap<u32, u64> = HashMap::new();
        for (number, traced) in machine.trace().iter().enumerate() {
            let event = traced.event;
            if event.kind.has_value()
                && let Some(known) = left.insert(event.object, event.left)
            {
                assert_eq!(event.found, known, "{program:?}");
            }
            // Which of its two outcomes an attempt has is no choice of the thread's, and what an update leaves depends
            // on what it finds.
            let kind = match event.kind {
                Kind::FailedUpdate => Kind::Update,
                Kind::TryLockFailed => Kind::TryLock,
                kind => kind,
            };
            let written = match event.kind {
                Kind::Write => event.left,
                _ => 0,
            };
            let does = (kind, event.object, event.site, written);
            let key = (event.thread, observed.of(event.thread));
            let known = *next.entry(key).or_insert(does);
            assert_eq!(known, does, "thread {} of {program:?}", event.thread);
            observed.note(&event, tests.get(&number));
        }
        for (&thread, &history) in &observed.histories {
            let ends = (Kind::End, 0, 0, 0);
            let known = *next.entry((thread, history)).or_insert(ends);
            assert_eq!(known, ends, "thread {thread} of {program:?}");
        }
    }
    (search.counts().executions, marked)
}

/// Steps with which values of unknown types go from thread to thread.
const HANDING_ON: &[Step] = &[
    Step::Read,
    Step::StoreKept,
    Step::AddAndDrop(1),
    Step::SetOpaque,
    Step::SetOpaque,
    Step::OpaqueIsOdd,
    Step::OpaqueIsOdd,
    Step::TryOpaque,
];

#[test]
fn threads_are_functions_of_what_they_observe() {
    let random = Cell::new(0x2545_f491_4f6c_dd1d_u64);
    let below = |bound: usize| {
        let mut word = random.get();
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        random.set(word);
        usize::try_from(word % bound as u64).unwrap()
    };
    let (mut executions, mut marked) = (0, 0);
    // What a thread is given when it is created, and what it gives back, is part of what it makes.
    let (add, odd, kept) = (Step::AddAndDrop(1), Step::OpaqueIsOdd, Step::StoreKept);
    for program in [
        vec![
            vec![add, odd, kept],
            vec![Step::Read],
            vec![Step::SetOpaque],
        ],
        vec![
            vec![odd, kept],
            vec![Step::Read, Step::SetOpaque],
            vec![add],
        ],
        vec![
            vec![add, odd, kept],
            vec![Step::Read],
            vec![Step::TryOpaque, Step::SetOpaque],
        ],
    ] {
        explore(&program);
    }
    for number in 0..200 {
        let steps = [STEPS, HANDING_ON][number % 2];
        let parts = 2 + below(3);
        let longest = [0, 0, 4, 2, 2][parts];
        let program: Vec<Vec<Step>> = (0..parts)
            .map(|_| {
                (0..=below(longest))
                    .map(|_| steps[below(steps.len())])
                    .collect()
            })
            .collect();
        let (ran, with_marks) = explore(&program);
        executions += ran;
        marked += with_marks;
    }
    assert!(executions > 10_000, "{executions}");
    assert!(marked > 10_000, "{marked}");
}
