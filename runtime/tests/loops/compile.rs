//! The same programs on the runtime, their loops and most of what these compare marked as the transformation would.

use std::sync::{Arc, Mutex as StdMutex};

use seqz_runtime::loops::Loop;
use seqz_runtime::observe::{self, here};
use seqz_runtime::std::sync::Mutex;
use seqz_runtime::std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use seqz_runtime::std::thread;

use super::interpret::{REFUSED, outcome};
use super::program::{ATOMICS, LOCKS, Op, Program};

struct Shared {
    atomics: [AtomicU8; ATOMICS],
    locks: [Mutex<u8>; LOCKS],
}

/// Runs the program, and notes its outcome.
pub(crate) fn run(program: &Program, outcomes: &StdMutex<std::collections::BTreeSet<String>>) {
    let shared = Arc::new(Shared {
        atomics: std::array::from_fn(|_| AtomicU8::new(0)),
        locks: std::array::from_fn(|_| Mutex::new(0)),
    });
    let threads: Vec<_> = program
        .iter()
        .map(|ops| {
            let (ops, shared) = (ops.clone(), Arc::clone(&shared));
            thread::spawn(move || {
                let mut noted = Vec::new();
                for op in ops {
                    act(op, &shared, &mut noted);
                }
                noted
            })
        })
        .collect();
    let noted: Vec<Vec<u8>> = threads.into_iter().map(|it| it.join().unwrap()).collect();
    let atomics: Vec<u8> = shared.atomics.iter().map(|it| it.load(SeqCst)).collect();
    let locks: Vec<u8> = shared.locks.iter().map(|it| *it.lock().unwrap()).collect();
    let mut outcomes = outcomes.lock().unwrap();
    outcomes.insert(outcome(&noted, &atomics, &locks));
}

fn act(op: Op, shared: &Shared, noted: &mut Vec<u8>) {
    let (atomics, locks) = (&shared.atomics, &shared.locks);
    let mut waits = Loop::new();
    match op {
        Op::Store(a, v) => atomics[a].store(v, SeqCst),
        Op::Add(a, v) => noted.push(atomics[a].fetch_add(v, SeqCst)),
        Op::Load(a) => noted.push(atomics[a].load(SeqCst)),
        Op::Put(m, v) => *locks[m].lock().unwrap() = v,
        Op::Look(m) => noted.push(*locks[m].lock().unwrap()),
        Op::Try(m) => noted.push(locks[m].try_lock().map_or(REFUSED, |it| *it)),
        Op::WaitFor(a, v) => loop {
            waits.turn();
            if observe::eq(atomics[a].load(SeqCst), i128::from(v), here()) == v {
                break;
            }
        },
        Op::WaitForMore(a, v) => loop {
            waits.turn();
            if observe::gt(atomics[a].load(SeqCst), i128::from(v), here()) > v {
                break;
            }
        },
        Op::WaitForBoth(v) => loop {
            waits.turn();
            if atomics[0].load(SeqCst) == v && atomics[1].load(SeqCst) == v {
                break;
            }
        },
        Op::Exchange(a, v, w) => loop {
            waits.turn();
            if observe::success(atomics[a].compare_exchange(v, w, SeqCst, SeqCst), here()).is_ok() {
                break;
            }
        },
        Op::Swap(a, v) => loop {
            waits.turn();
            if atomics[a].swap(v, SeqCst) != v {
                break;
            }
        },
        Op::WaitLocked(m, v) => loop {
            waits.turn();
            if *locks[m].lock().unwrap() == v {
                break;
            }
        },
        Op::WaitTrying(m, v) => loop {
            waits.turn();
            if let Ok(guard) = locks[m].try_lock()
                && *guard == v
            {
                break;
            }
        },
        Op::PutTrying(m, v) => loop {
            waits.turn();
            if let Ok(mut guard) = locks[m].try_lock() {
                *guard = guard.wrapping_add(v);
                break;
            }
        },
        Op::WaitStoring(a, v, w) => loop {
            waits.turn();
            if observe::eq(atomics[a].load(SeqCst), i128::from(v), here()) == v {
                break;
            }
            atomics[1 - a].store(w, SeqCst);
        },
        Op::Nested(m) => {
            let first = locks[m].lock().unwrap();
            drop(locks[1 - m].lock().unwrap());
            drop(first);
        }
        Op::WaitHolding(m, a, v) => {
            let guard = locks[m].lock().unwrap();
            loop {
                waits.turn();
                if observe::eq(atomics[a].load(SeqCst), i128::from(v), here()) == v {
                    break;
                }
            }
            drop(guard);
        }
    }
}
