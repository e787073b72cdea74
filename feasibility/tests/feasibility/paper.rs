//! Logs made by hand: where the answer differs from the paper's, and one per kind of constraint.

use seqz_feasibility::log::LockMode::{self, Exclusive, Shared};
use seqz_feasibility::log::{Log, Op, TEvent};
use seqz_feasibility::{Grid, Interleaving, Step, validate};

const X: u32 = 0;
const Y: u32 = 1;
const L: u32 = 2;
const K: u32 = 3;

fn read(x: u32) -> TEvent {
    TEvent::local(Op::Read(x))
}

fn read_from(x: u32, source: u32) -> TEvent {
    TEvent::non_local(Op::Read(x), source)
}

fn write(x: u32) -> TEvent {
    TEvent::local(Op::Write(x))
}

fn acquire(l: u32, mode: LockMode) -> TEvent {
    TEvent::local(Op::Acquire(l, mode))
}

fn grid(under_test: &[TEvent], interfering: &[Op]) -> Grid {
    let mut grid = Grid::new();
    grid.begin(interfering);
    under_test.iter().for_each(|&event| grid.push(event));
    grid
}

fn feasible(under_test: &[TEvent], interfering: &[Op]) -> bool {
    let log = Log {
        under_test,
        interfering,
    };
    let mut grid = grid(under_test, interfering);
    let witness = grid.witness();
    if let Some(interleaving) = &witness {
        validate(&log, interleaving).expect("a witness is an interleaving");
    }
    assert_eq!(grid.feasible(), witness.is_some());
    witness.is_some()
}

#[test]
fn the_own_write_before_a_non_local_read_comes_before_its_paired_write() {
    let interfering = [Op::Write(X), Op::Write(Y)];
    let under_test = [read_from(Y, 1), write(X), read_from(X, 0)];
    assert!(!feasible(&under_test, &interfering));
    // The one order that program order and T's first read leave. RW₂ as printed holds of it: the paired write is
    // before the read, and T' has no next write to x.
    let only = Interleaving(vec![
        Step::Interfering(0),
        Step::Interfering(1),
        Step::UnderTest(0),
        Step::UnderTest(1),
        Step::UnderTest(2),
    ]);
    let log = Log {
        under_test: &under_test,
        interfering: &interfering,
    };
    let why = validate(&log, &only).unwrap_err();
    assert!(why.contains("step 4"), "{why}");
    // Without T's own write it would do.
    assert!(feasible(&[read_from(Y, 1), read_from(X, 0)], &interfering));
}

#[test]
fn the_first_lock_free_prefix_is_not_always_the_one() {
    let interfering = [
        Op::Acquire(L, Exclusive),
        Op::Write(X),
        Op::Write(X),
        Op::Read(Y),
        Op::Release(L, Exclusive),
    ];
    let mut grid = grid(&[write(Y), read_from(X, 1)], &interfering);
    assert!(grid.feasible());
    assert!(grid.reachable_at(2));
    assert!(!grid.reachable_at(5), "the paper's prefix");
}

#[test]
fn the_prefix_up_to_the_paired_write_is_not_always_the_one() {
    let interfering = [
        Op::Acquire(L, Exclusive),
        Op::Write(X),
        Op::Release(L, Exclusive),
    ];
    let mut grid = grid(&[acquire(L, Exclusive), read_from(X, 1)], &interfering);
    assert!(grid.feasible());
    assert!(!grid.reachable_at(2));
    assert!(grid.reachable_at(3));
}

#[test]
fn an_injected_write_breaks_no_block_of_the_interfering_thread() {
    // T's read lies between a write and a read of T'.
    let interfering = [Op::Write(X), Op::Write(Y), Op::Read(X)];
    let under_test = [read_from(Y, 1), read_from(X, 0), TEvent::local(Op::Join)];
    assert!(feasible(&under_test, &interfering));
    let mut grid = grid(&under_test[..2], &interfering);
    assert!(grid.would_be_feasible(read(X)));
    assert!(grid.reachable_at(2) && grid.reachable_at(3));
}

#[test]
fn an_update_is_one_step() {
    let interfering = [Op::Update(X)];
    let update = TEvent::local(Op::Update(X));
    // Both increments from the initial value: the lost update that atomicity rules out.
    assert!(!feasible(&[update, TEvent::local(Op::Join)], &interfering));
    assert!(feasible(
        &[TEvent::non_local(Op::Update(X), 0), TEvent::local(Op::Join)],
        &interfering
    ));
    // As a load and a store it can happen.
    assert!(feasible(
        &[read(X), write(X), TEvent::local(Op::Join)],
        &[Op::Read(X), Op::Write(X)]
    ));
}

#[test]
fn shared_locks_share_and_exclusive_ones_exclude() {
    let interfering = |mode| [Op::Acquire(L, mode), Op::Write(X), Op::Read(X)];
    for (mine, other, expected) in [
        (Shared, Shared, true),
        (Shared, Exclusive, false),
        (Exclusive, Shared, false),
        (Exclusive, Exclusive, false),
    ] {
        let under_test = [acquire(L, mine), read_from(X, 1)];
        assert_eq!(feasible(&under_test, &interfering(other)), expected);
    }
}

#[test]
fn a_failed_attempt_is_inside_the_block() {
    let interfering = [
        Op::Acquire(L, Shared),
        Op::Write(X),
        Op::Release(L, Shared),
        Op::Write(X),
    ];
    let attempt = |mode| TEvent::non_local(Op::TryFail(L, mode), 0);
    assert!(feasible(&[attempt(Exclusive)], &interfering));
    assert!(!feasible(&[attempt(Shared)], &interfering), "both share");
    assert!(feasible(
        &[attempt(Exclusive), read_from(X, 3)],
        &interfering
    ));
    assert!(!feasible(
        &[read_from(X, 3), attempt(Exclusive)],
        &interfering
    ));
    assert!(feasible(
        &[attempt(Exclusive), acquire(L, Exclusive)],
        &interfering
    ));
}

#[test]
fn two_locks_in_opposite_orders_deadlock() {
    let interfering = [
        Op::Acquire(K, Exclusive),
        Op::Acquire(L, Exclusive),
        Op::Release(L, Exclusive),
        Op::Release(K, Exclusive),
    ];
    // T holds l and is about to take k, T' holds k and is about to take l.
    let mut grid = grid(&[acquire(L, Exclusive)], &interfering);
    assert!(grid.reachable_at(1));
    assert!(!grid.reachable_at(2));
    assert_eq!(grid.witness_at(1).map(|found| found.cut()), Some(1));
}

#[test]
fn without_non_local_reads_t_alone_will_do() {
    let interfering = [Op::Write(X), Op::Acquire(L, Exclusive)];
    let under_test = [read(X), write(X), acquire(L, Exclusive), read(X)];
    let witness = grid(&under_test, &interfering).witness();
    assert_eq!(witness.map(|found| found.cut()), Some(0));
    assert!(feasible(&[], &[]));
    assert!(feasible(&[TEvent::local(Op::Join)], &[]));
}

#[test]
fn sources_that_cannot_be_make_a_log_infeasible() {
    let interfering = [Op::Write(X), Op::Read(X), Op::Acquire(L, Exclusive)];
    for event in [
        read_from(X, 1),
        read_from(X, 2),
        read_from(X, 3),
        read_from(Y, 0),
        TEvent::non_local(Op::Write(X), 0),
        TEvent::non_local(Op::TryFail(L, Exclusive), 0),
        TEvent::non_local(Op::TryFail(K, Exclusive), 2),
    ] {
        assert!(!feasible(&[event], &interfering), "{event:?}");
        assert!(!feasible(&[event], &[]), "{event:?}");
        let mut grid = grid(&[read(X)], &interfering);
        assert!(!grid.would_be_feasible(event));
        assert!(grid.feasible());
    }
}

#[test]
fn replaying_says_what_is_wrong() {
    let interfering = [Op::Acquire(L, Exclusive), Op::Write(X)];
    let under_test = [acquire(L, Exclusive), read_from(X, 1)];
    let log = Log {
        under_test: &under_test,
        interfering: &interfering,
    };
    use Step::{Interfering as U, UnderTest as T};
    for (steps, expected) in [
        (vec![T(0)], "ends after 1 of 2"),
        (vec![T(1)], "not the thread's next event"),
        (vec![U(0), U(1), U(2)], "not the thread's next event"),
        (vec![U(0), T(0)], "holds lock 2"),
        (vec![T(0), T(1)], "not by Interfering(1)"),
    ] {
        let why = validate(&log, &Interleaving(steps)).unwrap_err();
        assert!(why.contains(expected), "{why}");
    }
}
