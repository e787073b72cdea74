//! The interpreter and the engine on programs whose answers are known.

use std::collections::{BTreeMap, BTreeSet};

use crate::compare::Engine;
use crate::compile::Role;
use crate::interpret::{End, Failure, interpret};
use crate::program::{
    Cond, Expr, HeldFromStart, HeldOverJoin, Joins, Lock, Program, Shape, Stmt, Test,
};

fn two(first: Vec<Stmt>, second: Vec<Stmt>, after: Vec<Stmt>) -> Program {
    let program = Program {
        atomics: vec![0; 4],
        mutexes: vec![0; 2],
        rwlocks: vec![0],
        statics: false,
        safe: false,
        held_from_start: None,
        held_over_join: None,
        scoped: false,
        init: Vec::new(),
        shape: Shape::Two {
            first,
            second,
            joins: Joins::FirstThenSecond(Vec::new()),
        },
        after,
    };
    assert!(program.is_valid());
    program
}

fn one(
    main: Vec<Stmt>,
    spawned: Vec<Stmt>,
    held_over_join: Option<HeldOverJoin>,
    after: Vec<Stmt>,
) -> Program {
    let program = Program {
        shape: Shape::One { spawned, main },
        held_over_join,
        ..two(vec![], vec![], after)
    };
    assert!(program.is_valid());
    program
}

/// Mutex 0, held over the last join.
fn over_join(before: Vec<Stmt>, after: Vec<Stmt>) -> Option<HeldOverJoin> {
    Some(HeldOverJoin {
        lock: Lock::Mutex(0),
        before,
        after,
    })
}

fn load(atomic: usize, into: usize) -> Stmt {
    Stmt::Load { atomic, into }
}

fn store(atomic: usize, value: u8) -> Stmt {
    Stmt::Store {
        atomic,
        value: Expr::Const(value),
    }
}

fn assert_is(id: u32, local: usize, value: u8) -> Stmt {
    Stmt::Assert {
        id,
        cond: is(local, value),
    }
}

fn is(left: usize, value: u8) -> Cond {
    Cond {
        left,
        test: Test::Equal,
        right: Expr::Const(value),
    }
}

fn hold(lock: Lock, body: Vec<Stmt>) -> Stmt {
    Stmt::Hold { lock, body }
}

fn when(cond: Cond, then: Vec<Stmt>) -> Stmt {
    Stmt::If {
        cond,
        then,
        otherwise: Vec::new(),
    }
}

/// The failures with their smallest k, in the first and the second role. The engine has to find the same.
fn findings(program: &Program) -> [BTreeMap<Failure, usize>; 2] {
    let found = Role::ALL.map(|role| interpret(program, role));
    let differences = Engine::new().differences(program, &found);
    assert!(differences.is_empty(), "{program}\n{differences}");
    found.map(|found| found.findings())
}

fn only(failure: Failure, k: usize) -> BTreeMap<Failure, usize> {
    BTreeMap::from([(failure, k)])
}

#[test]
fn lost_update_is_0_coupled_when_the_check_follows_the_joins() {
    let add = || {
        vec![
            load(0, 1),
            Stmt::Store {
                atomic: 0,
                value: Expr::Plus(1, 1),
            },
        ]
    };
    let program = two(add(), add(), vec![load(0, 2), assert_is(1, 2, 2)]);
    assert_eq!(
        findings(&program),
        [
            only(Failure::Assertion(1), 0),
            only(Failure::Assertion(1), 0)
        ]
    );
    // With the last read non-local, T reads T's write, and T has no other: k = 1, with both sums possible.
    let behaviours = interpret(&program, Role::First);
    assert_eq!(
        behaviours.ends[&vec![]],
        [End::Failed(Failure::Assertion(1))].into()
    );
    assert_eq!(behaviours.ends[&vec![(0, 0)]], [End::Passed].into());
    assert_eq!(
        behaviours.ends[&vec![(1, 0)]],
        [End::Failed(Failure::Assertion(1))].into()
    );
    assert_eq!(
        behaviours.ends.len(),
        3,
        "T' can't overwrite T's 2, nor T read it after its own write: {behaviours:?}"
    );
}

#[test]
fn locked_update_is_not_lost() {
    let lock = Lock::Mutex(0);
    let add = || {
        vec![hold(
            lock,
            vec![
                Stmt::Get { lock, into: 1 },
                Stmt::Put {
                    lock,
                    value: Expr::Plus(1, 1),
                },
            ],
        )]
    };
    let after = vec![hold(
        lock,
        vec![Stmt::Get { lock, into: 2 }, assert_is(1, 2, 2)],
    )];
    let program = two(add(), add(), after);
    assert_eq!(findings(&program), [BTreeMap::new(), BTreeMap::new()]);
    let behaviours = interpret(&program, Role::Second);
    assert_eq!(
        behaviours.ends,
        BTreeMap::from([(vec![(0, 1)], [End::Passed].into())]),
        "T' first; its write is 1"
    );
}

#[test]
fn bluetooth_takes_two_non_local_reads() {
    // a0 = pending_io (1), a1 = stopping_flag, a2 = stopping_event, a3 = stopped.
    let add = vec![
        load(1, 1),
        when(is(1, 1), vec![Stmt::Return]),
        Stmt::FetchAdd {
            atomic: 0,
            amount: 1,
            into: 2,
        },
        load(3, 3),
        assert_is(1, 3, 0),
        Stmt::FetchAdd {
            atomic: 0,
            amount: 255,
            into: 2,
        },
        when(is(2, 1), vec![store(2, 1)]),
    ];
    let stop = vec![
        store(1, 1),
        Stmt::FetchAdd {
            atomic: 0,
            amount: 255,
            into: 2,
        },
        when(is(2, 1), vec![store(2, 1)]),
        load(2, 3),
        when(is(3, 1), vec![store(3, 1)]),
    ];
    let mut program = two(add, stop, vec![]);
    program.atomics[0] = 1;
    assert_eq!(
        findings(&program),
        [only(Failure::Assertion(1), 2), BTreeMap::new()]
    );
}

#[test]
fn a_read_between_two_writes_of_the_other_thread() {
    let program = two(
        vec![
            load(0, 1),
            Stmt::Assert {
                id: 7,
                cond: Cond {
                    left: 1,
                    test: Test::Differs,
                    right: Expr::Const(1),
                },
            },
        ],
        vec![store(0, 1), store(0, 2)],
        vec![],
    );
    assert_eq!(
        findings(&program),
        [only(Failure::Assertion(7), 1), BTreeMap::new()]
    );
    let mut locked = program;
    let lock = Lock::Mutex(0);
    if let Shape::Two { first, second, .. } = &mut locked.shape {
        *first = vec![hold(lock, first.clone())];
        *second = vec![hold(lock, second.clone())];
    }
    assert_eq!(
        findings(&locked),
        [BTreeMap::new(), BTreeMap::new()],
        "the lock hides the value between"
    );
}

#[test]
fn two_locks_in_opposite_orders_deadlock_with_no_interference() {
    let (a, b) = (Lock::Mutex(0), Lock::Mutex(1));
    let program = two(
        vec![hold(a, vec![hold(b, vec![])])],
        vec![hold(b, vec![hold(a, vec![])])],
        vec![],
    );
    assert_eq!(
        findings(&program),
        [only(Failure::Deadlock, 0), only(Failure::Deadlock, 0)]
    );
    assert!(
        interpret(&program, Role::First).ends[&vec![]].contains(&End::Passed),
        "not every interleaving does"
    );
}

#[test]
fn a_deadlock_behind_a_non_local_read() {
    let (a, b) = (Lock::Mutex(0), Lock::Write(0));
    let first = vec![hold(
        a,
        vec![load(0, 1), when(is(1, 1), vec![hold(b, vec![])])],
    )];
    let second = vec![hold(Lock::Read(0), vec![store(0, 1), hold(a, vec![])])];
    let program = two(first, second, vec![]);
    // In the second role, T' = first would have to read T's store to get to its second lock.
    assert_eq!(
        findings(&program),
        [only(Failure::Deadlock, 1), BTreeMap::new()]
    );
}

#[test]
fn readers_dont_exclude_readers() {
    let (a, b) = (Lock::Mutex(0), Lock::Read(0));
    let program = two(
        vec![hold(a, vec![hold(b, vec![])])],
        vec![hold(b, vec![hold(a, vec![])])],
        vec![],
    );
    assert_eq!(findings(&program), [BTreeMap::new(), BTreeMap::new()]);
}

#[test]
fn taking_a_held_lock_fails_in_its_own_thread_only() {
    let program = two(
        vec![hold(Lock::Mutex(0), vec![hold(Lock::Mutex(0), vec![])])],
        vec![load(0, 1)],
        vec![],
    );
    assert_eq!(
        findings(&program),
        [only(Failure::Relock, 0), BTreeMap::new()]
    );
    let program = two(
        vec![hold(Lock::Read(0), vec![hold(Lock::Write(0), vec![])])],
        vec![load(0, 1)],
        vec![],
    );
    assert_eq!(
        findings(&program),
        [only(Failure::Relock, 0), BTreeMap::new()]
    );
}

#[test]
fn a_failed_try_lock_is_a_non_local_observation() {
    let lock = Lock::Mutex(0);
    let attempt = Stmt::Try {
        lock,
        body: vec![],
        otherwise: vec![assert_is(3, 1, 1)],
    };
    let program = two(vec![attempt.clone()], vec![hold(lock, vec![])], vec![]);
    assert_eq!(
        findings(&program),
        [only(Failure::Assertion(3), 1), BTreeMap::new()]
    );
    assert!(
        interpret(&program, Role::First)
            .ends
            .contains_key(&vec![(0, 0)]),
        "paired with the acquire of T'"
    );
    // In the other role it's T' whose try_lock would have to fail because of T.
    let own = two(vec![hold(lock, vec![attempt])], vec![load(0, 1)], vec![]);
    assert_eq!(
        findings(&own),
        [only(Failure::Assertion(3), 0), BTreeMap::new()],
        "of its own lock: local"
    );
}

#[test]
fn a_thread_about_to_fail_has_not_failed_yet() {
    let program = two(
        vec![load(0, 1), assert_is(1, 1, 0)],
        vec![store(0, 1), assert_is(2, 0, 1)],
        vec![load(0, 3), assert_is(3, 3, 0)],
    );
    assert_eq!(
        findings(&program),
        [
            only(Failure::Assertion(1), 1),
            only(Failure::Assertion(2), 0)
        ]
    );
}

#[test]
fn main_beside_one_thread_is_the_first_line_and_t_goes_on_after_the_join() {
    let program = one(
        vec![load(0, 1)],
        vec![store(0, 1)],
        None,
        vec![load(0, 2), assert_is(1, 1, 0), assert_is(2, 2, 0)],
    );
    let first = BTreeMap::from([(Failure::Assertion(1), 1), (Failure::Assertion(2), 1)]);
    // As T', main reads no store of T, and the read after the join is T's own write.
    assert_eq!(findings(&program), [first, only(Failure::Assertion(2), 0)]);
}

#[test]
fn a_guard_over_the_join_deadlocks_with_the_joined() {
    let program = one(
        vec![load(0, 1)],
        vec![hold(Lock::Mutex(0), vec![])],
        over_join(vec![], vec![]),
        vec![],
    );
    assert_eq!(
        findings(&program),
        [only(Failure::Deadlock, 0), only(Failure::Deadlock, 0)]
    );
    let free = one(
        vec![load(0, 1)],
        vec![load(0, 1)],
        over_join(vec![], vec![]),
        vec![hold(Lock::Mutex(0), vec![])],
    );
    assert_eq!(findings(&free), [BTreeMap::new(), BTreeMap::new()]);
}

#[test]
fn a_thread_that_is_spawned_under_a_lock_comes_after_what_is_done_under_it() {
    let lock = Lock::Mutex(0);
    let check = vec![hold(
        lock,
        vec![Stmt::Get { lock, into: 1 }, assert_is(1, 1, 1)],
    )];
    let mut program = one(vec![load(0, 1)], check, None, vec![]);
    let one = Expr::Const(1);
    program.held_from_start = Some(HeldFromStart {
        lock,
        under: vec![load(1, 2), Stmt::Put { lock, value: one }],
    });
    // By itself the spawned thread fails, but it can't take the lock before main's write.
    assert_eq!(findings(&program), [BTreeMap::new(), BTreeMap::new()]);
}

#[test]
fn a_guard_over_the_join_is_ts_after_it() {
    let lock = Lock::Mutex(0);
    let get = |into| Stmt::Get { lock, into };
    let put = |value| Stmt::Put {
        lock,
        value: Expr::Const(value),
    };
    let program = one(
        vec![load(0, 1)],
        vec![hold(lock, vec![])],
        over_join(vec![put(2)], vec![get(2), assert_is(1, 2, 2), put(4)]),
        vec![hold(lock, vec![get(3), assert_is(2, 3, 0)])],
    );
    // The write of main's guard comes after the join: it's T's in both roles.
    let both = BTreeMap::from([(Failure::Assertion(2), 0), (Failure::Deadlock, 0)]);
    assert_eq!(findings(&program), [both.clone(), both]);
    let again = one(
        vec![load(0, 1)],
        vec![load(0, 1)],
        over_join(vec![], vec![hold(lock, vec![])]),
        vec![],
    );
    assert_eq!(
        findings(&again),
        [only(Failure::Relock, 0), only(Failure::Relock, 0)]
    );
}

#[test]
fn between_the_joins_main_goes_on_for_the_thread_it_has_joined() {
    let joins = |order: fn(Vec<Stmt>) -> Joins| {
        let mut program = two(vec![store(0, 1)], vec![store(1, 1)], vec![]);
        if let Shape::Two { joins, .. } = &mut program.shape {
            *joins = order(vec![
                load(0, 2),
                load(1, 3),
                assert_is(1, 2, 0),
                assert_is(2, 3, 0),
            ]);
        }
        program
    };
    // Joined: a. Of a's line, that a0 is 1 is local. Neither failure is possible when a's line is T'.
    assert_eq!(
        findings(&joins(Joins::FirstThenSecond)),
        [only(Failure::Assertion(1), 0), BTreeMap::new()]
    );
    let second = BTreeMap::from([(Failure::Assertion(1), 1), (Failure::Assertion(2), 0)]);
    assert_eq!(
        findings(&joins(Joins::SecondThenFirst)),
        [BTreeMap::new(), second]
    );
}

#[test]
fn a_read_that_sees_the_same_foreign_write_again_is_local() {
    let reads = vec![load(0, 1), load(0, 2), load(0, 3), assert_is(1, 3, 0)];
    let program = two(reads, vec![store(0, 1)], vec![]);
    assert_eq!(
        findings(&program),
        [only(Failure::Assertion(1), 1), BTreeMap::new()]
    );
    let behaviours = interpret(&program, Role::First);
    let failed = BTreeSet::from([End::Failed(Failure::Assertion(1))]);
    for read in 0..3 {
        assert_eq!(behaviours.ends[&vec![(read, 0)]], failed);
    }
    assert_eq!(behaviours.ends.len(), 4);
}

#[test]
fn results_of_threads_reach_main() {
    let program = two(
        vec![load(0, 0), when(is(0, 1), vec![Stmt::Return]), store(1, 1)],
        vec![store(0, 1)],
        vec![assert_is(1, 0, 0)],
    );
    assert_eq!(
        findings(&program),
        [only(Failure::Assertion(1), 1), BTreeMap::new()]
    );
}
