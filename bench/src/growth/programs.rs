//! The same for programs: what `check`, `fuzz` and `replay` take for an event.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use seqz_explore::{Executor as _, Random, Search as Schedules};
use seqz_runtime::check::{Bounds, Search, machine};
use seqz_runtime::engine::{ByBytes, Limits, Machine, Solver};
use seqz_runtime::scheduled::replay::Follow;
use seqz_runtime::scheduled::witness::schedule;
use seqz_runtime::scheduled::{self, Settings};
use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{Arc, Mutex};
use seqz_runtime::std::thread;
use seqz_runtime::vocabulary::Scheduled;
use seqz_runtime::{Bound, Role};

use super::{EXECUTIONS, row};
use crate::clock::Clock;

/// How often a thread of the programs does what it does.
static ROUNDS: AtomicUsize = AtomicUsize::new(0);

/// Programs are run again until there have been so many events: the clock is too coarse for fewer.
const ENOUGH: u64 = 4_000_000;

/// Larger pages are no fun to open.
#[cfg(feature = "z3")]
const OPENABLE: usize = 5_000_000;

/// A program, and how many events a round has.
type Program = (&'static str, fn(), usize);

const PROGRAMS: [Program; 3] = [
    ("store", store, 1),
    // Taking it, reading and writing what it protects, and giving it back.
    ("one hot lock", lock, 4),
    ("one object", hammer, 2),
];

/// Each thread stores to an object of its own.
fn store() {
    two_threads(|| AtomicU32::new(0), |own, _, n| own.store(n, SeqCst));
}

/// Both take one lock, and write what it protects.
fn lock() {
    two_threads(|| Mutex::new(0), |_, shared, n| *shared.lock().unwrap() = n);
}

/// Both load one object and store to it.
fn hammer() {
    two_threads(
        || AtomicU32::new(0),
        |_, shared, _| shared.store(shared.load(SeqCst).wrapping_add(1), SeqCst),
    );
}

/// Two threads that do this, with an object of their own and with one that they share.
fn two_threads<O: Send + Sync + 'static>(make: fn() -> O, round: fn(&O, &O, u32)) {
    let shared = Arc::new(make());
    let rounds = u32::try_from(ROUNDS.load(Relaxed)).unwrap_or(u32::MAX);
    let threads = [0, 1].map(|_| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let own = make();
            for n in 1..=rounds {
                round(&own, &shared, n);
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Prints the rows.
pub(super) fn rows() {
    for program in PROGRAMS {
        let name = program.0;
        row("check, k = 0", name, |events| check(program, events, 0));
        row("check, k ≤ 1", name, |events| check(program, events, 1));
        row("fuzz, k ≤ 2", name, |events| fuzz(program, events));
        row("replay", name, |events| replay(program, events));
        #[cfg(feature = "z3")]
        row("report", name, |events| report(program, events));
    }
}

/// Repeats `executions`, which tells how many it has made, of so many events: nanoseconds an event.
fn repeat((_, _, of_round): Program, events: usize, mut executions: impl FnMut() -> u64) -> f64 {
    ROUNDS.store(events / 2 / of_round, Relaxed);
    let clock = Clock::start();
    let mut all = 0;
    while all < ENOUGH {
        all += executions() * events as u64;
    }
    clock.elapsed().as_nanos() as f64 / all as f64
}

const LIMITS: Limits = Limits {
    several: false,
    steps: u32::MAX,
    run_on: 0,
    ignore_detached_panics: false,
};

/// Some executions of the search for k up to this.
fn check(program: Program, events: usize, k: usize) -> f64 {
    let bounds = Bounds {
        k_max: k,
        executions: EXECUTIONS,
        limits: LIMITS,
    };
    let bound = Bound {
        inputs: Vec::new(),
        program: Box::new(program.1),
        safe: true,
    };
    let mut machine = machine(&bounds, Solver::Grid);
    repeat(program, events, || {
        let mut search = Search::new(&bound, Role::FIRST, bounds);
        let mut executions = 0;
        while !search.finished() {
            let level = search.next_level(&mut machine, &mut |_, _| true);
            executions += level.expect("P̂ₖ can express them").executions;
        }
        executions
    })
}

/// Executions with non-local reads that bytes choose.
fn fuzz(program: Program, events: usize) -> f64 {
    let mut machine = Machine::new(LIMITS, Solver::Grid);
    let mut byte = 0_u8;
    repeat(program, events, || {
        byte = byte.wrapping_add(7);
        let run = machine.run_bytes(&ByBytes {
            role: Role::FIRST,
            k: 2,
            choices: &[byte % 128, byte / 3, byte % 5, 0],
            extension: &[],
            program: &program.1,
            safe: true,
            same: None,
        });
        run.expect("they do the same each time");
        1
    })
}

/// The schedule of an execution, and how it was made.
fn written(program: Program, events: usize) -> (Vec<Scheduled>, Settings) {
    ROUNDS.store(events / 2 / program.2, Relaxed);
    let settings = Settings {
        steps: Settings::room_for(2 * events),
        ..Settings::default()
    };
    let mut machine = scheduled::Machine::new(&program.1, settings);
    let first = Schedules::new(Random::new(1)).run(&mut machine, 1);
    first.expect("there is nothing to diverge from");
    (schedule(&machine), settings)
}

/// Pages of a failure at the end of a schedule.
#[cfg(feature = "z3")]
fn report(program: Program, events: usize) -> f64 {
    let finding = super::pages::finding(&written(program, events).0);
    repeat(program, events, || {
        let length = super::pages::draw(&finding);
        assert!(length < OPENABLE, "a page of {length} bytes");
        1
    })
}

/// Executions along a schedule.
fn replay(program: Program, events: usize) -> f64 {
    let (written, settings) = written(program, events);
    repeat(program, events, || {
        let mut machine = scheduled::Machine::new(&program.1, settings);
        let mut follow = Follow::new(&written);
        machine.run(&mut follow);
        assert!(follow.parting().is_none(), "the schedule is one of theirs");
        1
    })
}
