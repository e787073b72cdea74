//! Runs a program on the engine: all non-local reads up to a k, each bug confirmed on the scheduled machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use seqz_runtime::engine::{Ending, Limits, Machine, Solver};
use seqz_runtime::std::sync::Mutex;
use seqz_runtime::std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use seqz_runtime::std::thread;
use seqz_runtime::{Bound, Pair, Role};

use crate::confirmed::is_confirmed;
use crate::program::{BYTES, PROTECTED, Program, Stmt};

/// The most non-local reads.
pub(crate) const K_MAX: usize = 4;

struct Shared {
    atomics: [AtomicU8; BYTES - 1],
    protected: Mutex<u8>,
}

impl Shared {
    fn load(&self, byte: usize) -> u8 {
        match byte {
            PROTECTED => *self.protected.lock().expect("nobody fails under it"),
            _ => self.atomics[byte].load(SeqCst),
        }
    }

    fn store(&self, byte: usize, value: u8) {
        match byte {
            PROTECTED => *self.protected.lock().expect("nobody fails under it") = value,
            _ => self.atomics[byte].store(value, SeqCst),
        }
    }

    fn add(&self, byte: usize, value: u8) -> u8 {
        if byte != PROTECTED {
            return self.atomics[byte].fetch_add(value, SeqCst);
        }
        let mut guard = self.protected.lock().expect("nobody fails under it");
        let before = *guard;
        *guard = before.wrapping_add(value);
        before
    }

    fn run(&self, stmts: &[Stmt], fails: bool) {
        let mut local = 0;
        let mut leaves_out = false;
        for &stmt in stmts {
            if std::mem::take(&mut leaves_out) {
                continue;
            }
            match stmt {
                Stmt::Load(byte) => local = self.load(byte),
                Stmt::Store(byte, value) => self.store(byte, value),
                Stmt::StoreLocal(byte, value) => self.store(byte, local.wrapping_add(value)),
                Stmt::Add(byte, value) => local = self.add(byte, value),
                Stmt::If(value) => leaves_out = local != value,
                Stmt::Never(id, value) => assert!(!fails || local != value, "{id}"),
            }
        }
    }
}

fn run(program: &Program, role: Role) {
    let shared = Arc::new(Shared {
        atomics: [const { AtomicU8::new(0) }; BYTES - 1],
        protected: Mutex::new(0),
    });
    let is_first = role == Role::FIRST;
    for round in &program.rounds {
        let spawn = |stmts: &[Stmt], fails| {
            let (shared, stmts) = (Arc::clone(&shared), stmts.to_vec());
            thread::spawn(move || shared.run(&stmts, fails))
        };
        if round.main_is_first {
            let second = spawn(&round.second, !is_first);
            shared.run(&round.first, is_first);
            second.join().unwrap();
        } else {
            let first = spawn(&round.first, is_first);
            let second = spawn(&round.second, !is_first);
            let (one, other) = if round.second_first {
                (second, first)
            } else {
                (first, second)
            };
            one.join().unwrap();
            other.join().unwrap();
        }
        shared.run(&round.after, true);
    }
}

/// The program as the engine runs it, with the threads of this position under test.
pub(crate) fn bound(program: &Program, role: Role) -> Bound {
    let program = program.clone();
    Bound {
        inputs: Vec::new(),
        program: Box::new(move || run(&program, role)),
        safe: true,
    }
}

/// The failures, by number, with the smallest k of each.
pub(crate) fn found_by_check(
    program: &Program,
    role: Role,
    solver: Solver,
) -> BTreeMap<u32, usize> {
    let bound = bound(program, role);
    let mut machine = Machine::new(Limits::default(), solver);
    let mut smallest = BTreeMap::new();
    let mut level: Vec<Vec<Pair>> = vec![Vec::new()];
    for k in 0..=K_MAX {
        let mut next = Vec::new();
        for pairs in &level {
            let ending = machine.run(role, pairs, k < K_MAX, &bound);
            let ending = ending.unwrap_or_else(|_| panic!("{pairs:?}: {program:?}"));
            assert!(
                matches!(ending, Ending::Passed | Ending::Bug | Ending::Infeasible),
                "{pairs:?}: {ending:?}: {program:?}"
            );
            for (bug, _) in machine.bugs().iter().filter(|(bug, _)| bug.role == role) {
                let id: u32 = bug.message.parse().unwrap_or_else(|_| panic!("{bug}"));
                if smallest
                    .insert(id, smallest.get(&id).copied().unwrap_or(k))
                    .is_none()
                {
                    is_confirmed(bug, &bound, program);
                }
            }
            let revealed = machine.revealed();
            for choices in revealed.choices() {
                for &write in &revealed.writes()[choices.from..choices.to] {
                    next.push([&pairs[..], &[(choices.read, write)]].concat());
                }
            }
            machine.forget_bugs();
        }
        level = next;
    }
    smallest
}
