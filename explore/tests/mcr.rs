//! `mcr` against a walk of all states: on random programs it reaches every vector of observations once, and no other.

mod causal;
mod model;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use causal::plain;
use model::generate::{Flavour, longer_program, program, started_late};
use model::{Expr, Machine, Model, Op, Program};
use seqz_explore::mcm::{Model as Causal, OrderSolver, Query, Solver, Verdict, validate};
use seqz_explore::{
    Event, Executor, Kind, Mcr, Outcome, Pick, RunEnd, RvCausal, Scheduler, Search, Strategy, View,
    strategy::Promise,
};

/// What is promised when every class was run.
const EXHAUSTED: Promise = Promise::ExhaustedByValues { truncated: false };

/// What the threads observed, and who waits forever.
type Vector = (Vec<Vec<u64>>, Vec<u8>);

fn observation(event: &Event) -> Option<u64> {
    Some(match event.kind {
        Kind::Read | Kind::Update | Kind::FailedUpdate => event.found,
        Kind::Lock | Kind::LockShared => 1000 + event.found,
        Kind::TryLock | Kind::TryLockShared => 2000 + event.found,
        Kind::TryLockFailed | Kind::TryLockSharedFailed => 3000,
        Kind::Wake => 4000 + event.found,
        Kind::Join => 5000,
        _ => return None,
    })
}

/// Everything that a program can do, by walking its states. `None`: too many.
fn vectors(program: &Program) -> Option<BTreeSet<Vector>> {
    let mut seen = HashSet::new();
    let mut found = BTreeSet::new();
    let start = (
        Machine::start(program),
        vec![Vec::new(); program.threads.len()],
    );
    let mut open = vec![start];
    while let Some((machine, seen_by)) = open.pop() {
        if seen.len() > 10_000 {
            return None;
        }
        let enabled = machine.enabled(program);
        if enabled.is_empty() {
            let live = machine.live(program).iter().collect();
            found.insert((seen_by.clone(), live));
        }
        for next in enabled.iter() {
            let mut after = machine;
            let mut seen_by = seen_by.clone();
            let event = after.step(program, usize::from(next));
            if let Some(observation) = observation(&event) {
                seen_by[usize::from(next)].push(observation);
            }
            if seen.insert((after, seen_by.clone())) {
                open.push((after, seen_by));
            }
        }
    }
    Some(found)
}

/// Notes what the threads of each execution observe.
struct Noted<'p> {
    inner: Model<'p>,
    /// That of the latest execution.
    vector: Vector,
    threads: usize,
}

struct Noting<'s, S> {
    inner: &'s mut S,
    seen: Vec<Vec<u64>>,
    live: Vec<u8>,
}

impl<S: Scheduler> Scheduler for Noting<'_, S> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        self.inner.pick(view)
    }

    fn ran(&mut self, event: &Event) {
        if let Some(observation) = observation(event) {
            self.seen[usize::from(event.thread)].push(observation);
        }
        self.inner.ran(event);
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.live = view.live.iter().collect();
        self.inner.blocked(view);
    }
}

impl Executor for Noted<'_> {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        let mut noting = Noting {
            inner: scheduler,
            seen: vec![Vec::new(); self.threads],
            live: Vec::new(),
        };
        let end = self.inner.run(&mut noting);
        assert_ne!(end.outcome, Outcome::Abandoned);
        self.vector = (noting.seen, noting.live);
        end
    }
}

fn explored<S: Strategy>(program: &Program, strategy: S) -> (BTreeMap<Vector, u32>, Search<S>) {
    let mut vectors = BTreeMap::new();
    let mut search = Search::new(strategy);
    let mut executor = Noted {
        inner: Model::new(program),
        vector: Vector::default(),
        threads: program.threads.len(),
    };
    while let Some(run) = search
        .step(&mut executor)
        .expect("programs are deterministic")
    {
        // Some are made again.
        if run.standing.own {
            let vector = std::mem::take(&mut executor.vector);
            *vectors.entry(vector).or_default() += 1;
        }
        assert!(
            search.counts().executions < 1_000_000,
            "no end: {program:?}"
        );
    }
    (vectors, search)
}

/// Asks the order solver, and holds it against a plain walk.
#[derive(Debug, Default)]
struct Both {
    order: OrderSolver,
    queries: u64,
}

impl Solver for Both {
    fn solve(&mut self, model: &Causal, query: &Query<'_>) -> Verdict {
        let verdict = self.order.solve(model, query);
        self.queries += 1;
        match &verdict {
            Verdict::Feasible(witness) => {
                assert!(
                    validate(model, query, witness).is_some(),
                    "{query:?} {witness:?} {model:#?}"
                );
            }
            Verdict::Infeasible => {
                assert!(!plain::has_answer(model, query), "{query:?} {model:#?}")
            }
            Verdict::Unknown => panic!("small queries are answered"),
        }
        verdict
    }
}

fn compare<S: Solver>(program: &Program, strategy: Mcr<S>) -> Option<usize> {
    let all = vectors(program)?;
    let (seen, search) = explored(program, strategy);
    let missing: Vec<_> = all.iter().filter(|v| !seen.contains_key(*v)).collect();
    assert!(missing.is_empty(), "{program:?}\nmissing {missing:?}");
    let wrong: Vec<_> = seen.keys().filter(|v| !all.contains(*v)).collect();
    assert!(wrong.is_empty(), "{program:?}\nwrong {wrong:?}");
    let twice: Vec<_> = seen.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "{program:?}\ntwice {twice:?}");
    assert_eq!(search.promise(), EXHAUSTED, "{program:?}");
    Some(all.len())
}

const ALL: [Flavour; 7] = [
    Flavour::Atomics,
    Flavour::Locks,
    Flavour::SharedLocks,
    Flavour::Waiting,
    Flavour::Conditions,
    Flavour::Everything,
    Flavour::Guards,
];

#[test]
fn random_programs_have_each_vector_once() {
    let (mut programs, mut classes) = (0, 0);
    for flavour in ALL {
        for seed in 0..100 {
            // Expansions of the longer ones are put off whenever they can be.
            let short = (program(seed, flavour), Mcr::new());
            let long = (longer_program(seed, flavour), Mcr::new().pausing_after(1));
            // And hardly any trace is kept.
            let late = Mcr::new().pausing_after(1).holding(seed as usize % 40);
            let late = (longer_program(seed, flavour), late);
            for (program, strategy) in [short, long, late] {
                if let Some(count) = compare(&program, strategy) {
                    programs += 1;
                    classes += count;
                }
            }
        }
    }
    assert!(programs > 1800, "{programs} programs, {classes} classes");
}

#[test]
fn a_thread_that_nobody_has_started_makes_no_class() {
    let (mut programs, mut blocked) = (0, 0);
    for seed in 0..48 {
        let program = started_late(seed);
        let Some(classes) = compare(&program, Mcr::new()) else {
            continue;
        };
        let (seen, search) = explored(&program, Mcr::new());
        assert_eq!(search.counts().executions, classes as u64, "{program:?}");
        programs += 1;
        blocked += seen.keys().filter(|(_, live)| !live.is_empty()).count();
    }
    assert!(programs > 40 && blocked > 40, "{programs}, {blocked}");
}

#[test]
fn matching_pairs_cover_every_vector() {
    let (mut programs, mut redundant) = (0, 0);
    for flavour in ALL {
        for seed in 2000..2060 {
            let program = longer_program(seed, flavour);
            let Some(all) = vectors(&program) else {
                continue;
            };
            let (at_once, search) = explored(&program, RvCausal::new());
            let last = explored(
                &program,
                RvCausal::with_work_at_once(OrderSolver::default(), 0),
            );
            // The schedules of pairs are the same, whenever the pairs are made.
            let seen = last.0;
            assert!(seen.keys().eq(at_once.keys()), "{program:?}");
            assert_eq!(last.1.promise(), EXHAUSTED, "{program:?}");
            let missing: Vec<_> = all.iter().filter(|v| !seen.contains_key(*v)).collect();
            assert!(missing.is_empty(), "{program:?}\nmissing {missing:?}");
            let wrong: Vec<_> = seen.keys().filter(|v| !all.contains(*v)).collect();
            assert!(wrong.is_empty(), "{program:?}\nwrong {wrong:?}");
            assert_eq!(search.promise(), EXHAUSTED, "{program:?}");
            programs += 1;
            redundant += search
                .strategy()
                .report()
                .causality
                .map_or(0, |c| c.redundant);
        }
    }
    assert!(programs > 300, "{programs}");
    assert!(redundant > 0, "schedules by pairs overlap");
}

#[test]
fn the_order_solver_says_what_a_walk_of_all_states_says() {
    let mut programs = 0;
    for flavour in ALL {
        for seed in 1000..1040 {
            programs +=
                usize::from(compare(&program(seed, flavour), Mcr::with(Both::default())).is_some());
        }
    }
    assert!(programs > 250, "{programs}");
}

/// The motivating example of the paper, with `n` writes of `y` a round.
fn motivating_example(n: usize) -> Program {
    let (x, y) = (0, 1);
    let mut main = vec![Op::Fork(1), Op::Fork(2)];
    let mut a = Vec::new();
    let mut b = Vec::new();
    for _ in 0..2 {
        main.extend([Op::Lock(0), Op::Store(x, Expr::Const(1))]);
        main.extend(std::iter::repeat_n(Op::Store(y, Expr::Const(1)), n));
        main.push(Op::Unlock(0));
        a.extend([
            Op::Lock(0),
            Op::Store(x, Expr::Const(0)),
            Op::Unlock(0),
            Op::Load(0, x),
            // If the register is 0, the next instruction skips what follows it.
            Op::Unless(0, 0, 1),
            Op::Unless(3, 77, 3),
            Op::Load(1, y),
            Op::Store(y, Expr::Plus(1, 1)),
            Op::Store(x, Expr::Const(2)),
        ]);
        b.extend([
            Op::Load(0, x),
            Op::Unless(0, 2, 3),
            Op::Load(1, y),
            Op::Refuse(1, 3),
            Op::Store(y, Expr::Const(2)),
        ]);
    }
    main.extend([Op::Join(1), Op::Join(2)]);
    Program {
        threads: vec![main, a, b],
        roots: 1,
        initial: [0; 4],
    }
}

#[test]
fn the_motivating_example_does_not_grow_with_its_writes() {
    let program = motivating_example(1);
    let all = vectors(&program).expect("it is small");
    let (seen, search) = explored(&program, Mcr::new());
    assert_eq!(all.len(), seen.len());
    assert_eq!(search.promise(), EXHAUSTED);
}
