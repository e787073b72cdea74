//! The numbers of executions that other checkers publish for small programs.

mod model;

use model::{Expr, Model, Op, Program};
use seqz_explore::{Dfs, Dpor, IcbDpor, Odpor, Promise, Search, Strategy};

fn all<S: Strategy>(program: &Program, strategy: S) -> Search<S> {
    let mut search = Search::new(strategy);
    search
        .run(&mut Model::new(program), u64::MAX)
        .expect("models are deterministic");
    search
}

/// Traces of a program by all methods that can count them.
#[track_caller]
fn check(name: &str, program: &Program, traces: u64, by_dfs: bool) {
    let optimal = all(program, Odpor::new());
    let counts = optimal.counts();
    assert_eq!(counts.executions, traces, "{name}: executions of odpor");
    assert_eq!(counts.relations, traces, "{name}: traces of odpor");
    assert_eq!(counts.redundant + counts.abandoned, 0, "{name}");
    assert_eq!(optimal.promise(), Promise::Exhausted);
    assert_eq!(
        all(program, Dpor::new()).counts().relations,
        traces,
        "{name}: traces of dpor"
    );
    if by_dfs {
        assert_eq!(
            all(program, Dfs::new()).counts().relations,
            traces,
            "{name}: traces of dfs"
        );
    }
}

/// Traces within 0, 1, 2, … preemptions; the last number is that of all.
#[track_caller]
fn check_bounds(name: &str, program: &Program, traces: &[u64]) {
    for (bound, &expected) in traces.iter().enumerate() {
        let found = all(program, IcbDpor::at(bound as u32)).counts().relations;
        assert_eq!(found, expected, "{name}: traces within {bound} preemptions");
    }
    let search = all(program, IcbDpor::new(None));
    assert_eq!(Some(&search.counts().relations), traces.last(), "{name}");
    assert_eq!(search.promise(), Promise::Exhausted);
}

fn threads(n: u8, body: impl Fn(u8) -> Vec<Op>) -> Program {
    Program::of((0..n).map(body).collect())
}

#[test]
fn ainc() {
    for (n, traces) in [(2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
        let program = threads(n, |_| vec![Op::FetchAdd(0, 0, 1)]);
        check("ainc", &program, traces, true);
        check_bounds("ainc", &program, &[traces]);
    }
}

#[test]
fn binc() {
    let bounds: [&[u64]; 3] = [&[2, 4], &[6, 24, 36], &[24, 168, 432, 576]];
    for (n, bounds) in (2..).zip(bounds) {
        let program = threads(n, |_| vec![Op::FetchAdd(0, 0, 1), Op::FetchAdd(1, 1, 1)]);
        check("binc", &program, *bounds.last().unwrap(), true);
        check_bounds("binc", &program, bounds);
    }
}

#[test]
fn casrot() {
    for (n, traces) in [(2, 2), (3, 5), (4, 14), (5, 43), (6, 144), (7, 523)] {
        let program = threads(n, |i| vec![Op::Cas(0, 0, i, i + 1)]);
        check("casrot", &program, traces, true);
        if n <= 4 {
            check_bounds("casrot", &program, &[traces]);
        }
    }
}

#[test]
fn readers() {
    for n in 1..=7_u8 {
        let program = threads(n + 1, |i| match i {
            0 => vec![Op::Store(0, Expr::Const(42))],
            _ => vec![Op::Load(0, 0)],
        });
        check("readers", &program, 1 << n, true);
        check_bounds("readers", &program, &[1 << n]);
    }
}

#[test]
fn wcas() {
    for (n, traces) in [(2, 5), (3, 13), (4, 33), (5, 81)] {
        let program = threads(n + 1, |i| match i {
            0 => vec![Op::Store(0, Expr::Const(2))],
            _ => vec![Op::Cas(0, 0, 2, 3)],
        });
        check("wcas", &program, traces, true);
        check_bounds("wcas", &program, &[traces]);
    }
}

#[test]
fn inc_and_rw() {
    let bounds: [&[u64]; 3] = [&[2, 4], &[6, 24, 36], &[24, 168, 432, 576]];
    for (n, bounds) in (2..).zip(bounds) {
        let inc = threads(n, |i| {
            vec![Op::Load(0, 0), Op::Store(0, Expr::Plus(0, 1 << i))]
        });
        let same = threads(n, |_| vec![Op::Load(0, 0), Op::Store(0, Expr::Plus(0, 1))]);
        let rw = threads(n, |i| vec![Op::Load(0, 0), Op::Store(0, Expr::Const(i))]);
        for (name, program) in [("inc", inc), ("inc-same", same), ("rw", rw)] {
            check(name, &program, *bounds.last().unwrap(), true);
            check_bounds(name, &program, bounds);
        }
    }
}

#[test]
fn writers_and_one_reader() {
    for (n, traces) in [(2, 6), (3, 24), (4, 120)] {
        let program = threads(n + 1, |i| match i {
            0 => vec![Op::Load(0, 0)],
            _ => vec![Op::Store(0, Expr::Const(i))],
        });
        check("n writers, one reader", &program, traces, true);
        check_bounds("n writers, one reader", &program, &[traces]);
    }
}

#[test]
fn lockinc() {
    for (n, traces) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
        let program = threads(n, |_| {
            vec![
                Op::Lock(0),
                Op::Load(0, 0),
                Op::Store(0, Expr::Plus(0, 1)),
                Op::Unlock(0),
            ]
        });
        check("lockinc", &program, traces, n <= 4);
        check_bounds("lockinc", &program, &[traces]);
    }
}

#[test]
fn litmus() {
    let (x, y) = (0, 1);
    let write = |v, c| Op::Store(v, Expr::Const(c));
    let tests: [(&str, [Vec<Op>; 2]); 5] = [
        (
            "store buffering",
            [
                vec![write(x, 1), Op::Load(0, y)],
                vec![write(y, 1), Op::Load(0, x)],
            ],
        ),
        (
            "load buffering",
            [
                vec![Op::Load(0, x), write(y, 1)],
                vec![Op::Load(0, y), write(x, 1)],
            ],
        ),
        (
            "message passing",
            [
                vec![write(x, 1), write(y, 1)],
                vec![Op::Load(0, y), Op::Load(1, x)],
            ],
        ),
        (
            "2+2W",
            [
                vec![write(x, 1), write(y, 2)],
                vec![write(y, 1), write(x, 2)],
            ],
        ),
        (
            "S",
            [
                vec![write(x, 2), write(y, 1)],
                vec![Op::Load(0, y), write(x, 1)],
            ],
        ),
    ];
    for (name, bodies) in tests {
        let program = Program::of(bodies.to_vec());
        check(name, &program, 3, true);
        check_bounds(name, &program, &[2, 3]);
    }
}
