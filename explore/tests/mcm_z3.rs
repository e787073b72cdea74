//! The order solver against Z3: the same verdict on every query, and all witnesses are executions.

#![cfg(feature = "z3")]

mod causal;
mod model;

use causal::random::Asked;
use causal::{plain, random, record};
use model::generate::{Flavour, longer_program, program, waiters};
use model::{Model, Program};
use seqz_explore::mcm::{
    Goal, Model as Causal, OrderSolver, Query, Retract, Solver, Verdict, Z3, Z3Incremental,
    validate,
};
use seqz_explore::random_numbers::RandomNumbers;
use seqz_explore::strategy::Promise;
use seqz_explore::{Mcr, Search};

/// Asks all of them, and a plain walk where there are few states.
struct All {
    order: OrderSolver,
    fresh: Z3,
    incremental: Z3Incremental,
    states: usize,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    feasible: u32,
    infeasible: u32,
    unknown: u32,
    walked: u32,
    next: u32,
    stuck: u32,
    both: u32,
}

impl All {
    fn new(logic: Option<&'static str>, retract: Retract, states: usize) -> Self {
        Self {
            order: OrderSolver::default(),
            fresh: Z3::new(),
            incremental: Z3Incremental::new(logic).retracting(retract),
            states,
            counts: Counts::default(),
        }
    }
}

/// Whether there is an answer. `None`: not known.
fn verdict(
    name: &str,
    solver: &mut impl Solver,
    model: &Causal,
    query: &Query<'_>,
) -> Option<bool> {
    match solver.solve(model, query) {
        Verdict::Feasible(witness) => {
            let state = validate(model, query, &witness);
            assert!(
                state.is_some(),
                "{name}: {query:?}\n{witness:?}\n{model:#?}"
            );
            Some(true)
        }
        Verdict::Infeasible => Some(false),
        Verdict::Unknown => None,
    }
}

impl Solver for All {
    fn solve(&mut self, model: &Causal, query: &Query<'_>) -> Verdict {
        let answer = self.order.solve(model, query);
        let by_order = match &answer {
            Verdict::Unknown => None,
            _ => verdict("order", &mut self.order, model, query),
        };
        let by_z3 = verdict("z3", &mut self.fresh, model, query);
        let by_incremental = verdict("incremental", &mut self.incremental, model, query);
        assert!(by_z3.is_some(), "Z3 gives up: {query:?}\n{model:#?}");
        let walked = plain::answer(model, query, self.states);
        for (name, other) in [
            ("incremental", by_incremental),
            ("order", by_order),
            ("walk", walked),
        ] {
            assert!(
                other.is_none() || other == by_z3,
                "Z3 says {by_z3:?}, {name} {other:?}, a walk {:?}: {query:?}\n{model:#?}",
                plain::answer(model, query, 1 << 20)
            );
        }
        let counts = &mut self.counts;
        counts.feasible += u32::from(by_z3 == Some(true));
        counts.infeasible += u32::from(by_z3 == Some(false));
        counts.unknown += u32::from(by_order.is_none());
        counts.walked += u32::from(walked.is_some());
        counts.next += u32::from(matches!(query.goal, Goal::Next(..)));
        counts.both += u32::from(matches!(query.goal, Goal::Both(..)));
        counts.stuck += u32::from(query.goal == Goal::Stuck);
        answer
    }
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

fn random_program(seed: u64) -> Program {
    let flavour = ALL[(seed % 7) as usize];
    match seed / 7 % 3 {
        0 => program(seed, flavour),
        1 => longer_program(seed, flavour),
        _ if matches!(flavour, Flavour::Conditions) => waiters(seed),
        _ => longer_program(seed, flavour),
    }
}

fn ask_at_random(seeds: std::ops::Range<u64>, states: usize) -> Counts {
    let mut all = [
        All::new(None, Retract::Scope, states),
        All::new(Some("QF_IDL"), Retract::Assumption, states),
    ];
    for seed in seeds {
        let program = random_program(seed);
        let mut numbers = RandomNumbers::new(seed);
        let model = record::model(
            &mut Model::new(&program),
            &mut numbers,
            usize::MAX,
            seed % 2 == 0,
        );
        for _ in 0..10 {
            let asked: Asked = random::query(&model, &mut numbers);
            all[(seed % 2) as usize].solve(&model, &asked.query());
        }
    }
    let [one, other] = all.map(|all| all.counts);
    Counts {
        feasible: one.feasible + other.feasible,
        infeasible: one.infeasible + other.infeasible,
        unknown: one.unknown + other.unknown,
        walked: one.walked + other.walked,
        next: one.next + other.next,
        stuck: one.stuck + other.stuck,
        both: one.both + other.both,
    }
}

#[test]
fn ten_thousand_random_queries_have_one_answer() {
    let counts = ask_at_random(0..1000, 2000);
    println!("{counts:?}");
    assert_eq!(counts.feasible + counts.infeasible, 10_000);
    assert_eq!(counts.unknown, 0, "{counts:?}");
    assert!(counts.feasible.min(counts.infeasible) > 2000, "{counts:?}");
    assert!(
        counts.next > 4000 && counts.stuck.min(counts.both) > 1000,
        "{counts:?}"
    );
    assert!(counts.walked > 5000, "{counts:?}");
}

/// All queries of a search.
fn ask_in_search(program: &Program, all: All) -> Option<Counts> {
    let mut search = Search::new(Mcr::with(all));
    let mut executor = Model::new(program);
    while search
        .step(&mut executor)
        .expect("programs are deterministic")
        .is_some()
    {
        if search.counts().executions > 200 {
            return None;
        }
    }
    assert_eq!(
        search.promise(),
        Promise::ExhaustedByValues { truncated: false }
    );
    Some(search.strategy().solver().counts)
}

/// The number of seeds: `MCM_SEEDS` asks for more.
fn seeds() -> u64 {
    let more = std::env::var("MCM_SEEDS").ok();
    more.and_then(|seeds| seeds.parse().ok()).unwrap_or(3)
}

#[test]
fn the_queries_of_searches_have_one_answer() {
    let mut queries = 0;
    for seed in 0..seeds() {
        for (flavour, longer) in ALL.into_iter().zip([true, false].into_iter().cycle()) {
            let program = if longer && seed % 3 == 0 {
                longer_program(seed, flavour)
            } else {
                program(seed, flavour)
            };
            let all = All::new(
                (seed % 2 == 0).then_some("QF_IDL"),
                if seed % 4 < 2 {
                    Retract::Scope
                } else {
                    Retract::Assumption
                },
                0,
            );
            let counts = ask_in_search(&program, all).unwrap_or_default();
            queries += counts.feasible + counts.infeasible;
        }
    }
    assert!(queries > 100, "{queries}");
    println!("{queries} queries");
}
