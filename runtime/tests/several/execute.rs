//! Runs a program on the engine: all non-local reads up to a k, each bug confirmed on the scheduled machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use seqz_runtime::engine::{Ending, Limits, Machine, Solver};
use seqz_runtime::std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use seqz_runtime::std::sync::{Mutex, MutexGuard};
use seqz_runtime::std::thread;
use seqz_runtime::vocabulary::BugKind;
use seqz_runtime::{Bound, Pair, Role};

use crate::confirmed::is_confirmed;
use crate::program::{ATOMICS, PROTECTED, Program, Stmt};

/// The most non-local reads.
pub(crate) const K_MAX: usize = 4;

/// The number by which a deadlock is told, as if it were a failure.
pub(crate) const DEADLOCK: u32 = 0;

struct Shared {
    atomics: [AtomicU8; ATOMICS],
    protected: [Mutex<u8>; PROTECTED],
}

/// The guards that a thread has.
type Guards<'s> = Vec<(usize, MutexGuard<'s, u8>)>;

impl Shared {
    fn run(&self, stmts: &[Stmt], fails: bool) {
        self.run_under(stmts, fails, &mut 0, &mut Vec::new());
    }

    fn run_under<'s>(
        &'s self,
        stmts: &[Stmt],
        fails: bool,
        local: &mut u8,
        guards: &mut Guards<'s>,
    ) {
        let mut leaves_out = false;
        for stmt in stmts {
            if std::mem::take(&mut leaves_out) {
                continue;
            }
            match *stmt {
                Stmt::Load(at) => *local = self.atomics[at].load(SeqCst),
                Stmt::Store(at, value) => self.atomics[at].store(value, SeqCst),
                Stmt::StoreLocal(at, value) => {
                    self.atomics[at].store(local.wrapping_add(value), SeqCst);
                }
                Stmt::Add(at, value) => *local = self.atomics[at].fetch_add(value, SeqCst),
                Stmt::Hold(lock, ref body) => {
                    let guard = self.protected[lock].lock();
                    guards.push((lock, guard.unwrap_or_else(|guard| guard.into_inner())));
                    self.run_under(body, fails, local, guards);
                    guards.pop();
                }
                Stmt::Try(lock, ref body) => match self.protected[lock].try_lock() {
                    Ok(guard) => {
                        guards.push((lock, guard));
                        self.run_under(body, fails, local, guards);
                        guards.pop();
                    }
                    Err(_) => *local = 7,
                },
                Stmt::Get(lock) => *local = **guarded(guards, lock),
                Stmt::Put(lock, value) => **guarded(guards, lock) = value,
                Stmt::If(value) => leaves_out = *local != value,
                Stmt::Never(id, value) => assert!(!fails || *local != value, "{id}"),
            }
        }
    }
}

fn guarded<'g, 's>(guards: &'g mut Guards<'s>, lock: usize) -> &'g mut MutexGuard<'s, u8> {
    let mut guards = guards.iter_mut();
    let guard = guards.find(|(of, _)| *of == lock);
    &mut guard.expect("the mutex is held").1
}

fn run(program: &Program, role: Role) {
    let shared = Arc::new(Shared {
        atomics: [const { AtomicU8::new(0) }; ATOMICS],
        protected: [const { Mutex::new(0) }; PROTECTED],
    });
    let mut handles: Vec<_> = (0..program.threads.len()).map(|_| None).collect();
    for (at, stmts) in program.threads.iter().enumerate() {
        if at > 0 || !program.main_is_first {
            let (shared, stmts) = (Arc::clone(&shared), stmts.clone());
            let fails = at == role.index();
            handles[at] = Some(thread::spawn(move || shared.run(&stmts, fails)));
        }
    }
    if program.main_is_first {
        shared.run(&program.threads[0], role.index() == 0);
    }
    let mut is_under_test = program.main_is_first && role.index() == 0;
    for (at, after) in &program.joins {
        handles[*at]
            .take()
            .expect("it is joined once")
            .join()
            .unwrap();
        is_under_test |= *at == role.index();
        shared.run(after, is_under_test);
    }
}

/// The program as the engine runs it, with this thread under test.
pub(crate) fn bound(program: &Program, role: Role) -> Bound {
    let program = program.clone();
    Bound {
        inputs: Vec::new(),
        program: Box::new(move || run(&program, role)),
        safe: true,
    }
}

/// What the engine finds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The failures, by number, with the smallest k of each.
    pub(crate) smallest: BTreeMap<u32, usize>,
    /// Whether an interfering thread was cut where it goes on after another one.
    pub(crate) is_cut: bool,
}

pub(crate) fn found_by_check(program: &Program, role: Role) -> Found {
    let bound = bound(program, role);
    let mut machine = Machine::new(
        Limits {
            several: true,
            ..Limits::default()
        },
        Solver::Grid,
    );
    let mut found = Found::default();
    let mut level: Vec<Vec<Pair>> = vec![Vec::new()];
    for k in 0..=K_MAX {
        let mut next = Vec::new();
        for pairs in &level {
            let ending = machine.run(role, pairs, k < K_MAX, &bound);
            let ending = ending.unwrap_or_else(|_| panic!("{pairs:?}: {program:?}"));
            assert!(
                matches!(
                    ending,
                    Ending::Passed | Ending::Bug | Ending::Infeasible | Ending::Stuck
                ),
                "{pairs:?}: {ending:?}: {program:?}"
            );
            assert_eq!(machine.threads().len(), program.threads.len());
            found.is_cut |= machine.interfering_needs_another();
            for (bug, _) in machine.bugs().iter().filter(|(bug, _)| bug.role == role) {
                let id = if bug.kind == BugKind::Deadlock {
                    DEADLOCK
                } else {
                    bug.message.parse().unwrap_or_else(|_| panic!("{bug}"))
                };
                let least = found.smallest.entry(id).or_insert(usize::MAX);
                if *least == usize::MAX {
                    is_confirmed(bug, &bound, program);
                }
                *least = k.min(*least);
            }
            next.extend(machine.revealed().pairs().map(|pair| {
                let mut longer = pairs.clone();
                longer.push(pair);
                longer
            }));
            machine.forget_bugs();
        }
        level = next;
    }
    found
}
