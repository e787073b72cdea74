//! The order solver by itself.

mod causal;
mod model;

use model::generate::{FLAVOURS, longer_program};
use model::{Model, Op, Program};
use seqz_explore::mcm::Model as Causal;
use seqz_explore::mcm::model::Terms;
use seqz_explore::mcm::{Goal, OrderSolver, Query, Solver, Verdict, validate, words};
use seqz_explore::random_numbers::RandomNumbers;
use seqz_explore::{Event, Kind};

/// States with a choice that the solver may go through for a query.
const STATES: u32 = 2_000;

/// Flips of a long trace.
const QUERIES: u64 = 30;

/// Two threads wait for a lock that a third thread keeps. Both could stand before the lock at once if the third thread had
/// not taken it. The third thread's acquire must not be taken for good just because no other thread takes the lock in the
/// trace.
#[test]
fn a_lock_that_two_are_about_to_take_is_left() {
    let program = Program::of(vec![vec![Op::Load(0, 0), Op::Lock(0)]; 3]);
    for seed in 0..20 {
        let mut numbers = RandomNumbers::new(seed);
        let mut executor = Model::new(&program);
        let model = causal::record::model(&mut executor, &mut numbers, usize::MAX, false);
        let mut waiting = (0..3).filter(|&lane| model.lane_at(lane).waits.is_some());
        let (one, other) = waiting.next().zip(waiting.next()).expect("two wait");
        let query = Query {
            lower: &[0; 3],
            upper: &model.whole(),
            goal: Goal::Both(one, other),
        };
        let Verdict::Feasible(witness) = OrderSolver::default().solve(&model, &query) else {
            panic!("{query:?}\n{model:#?}");
        };
        assert!(validate(&model, &query, &witness).is_some());
    }
}

#[test]
fn models_and_queries_are_the_same_in_words() {
    for seed in 0..300 {
        let flavour = FLAVOURS[(seed % 6) as usize];
        let program = longer_program(seed, flavour);
        let mut numbers = RandomNumbers::new(seed);
        let bound = if seed % 3 == 0 { 6 } else { usize::MAX };
        let model = causal::record::model(&mut Model::new(&program), &mut numbers, bound, true);
        let same = words::to_model(&words::of_model(&model)).expect("these are words of a model");
        assert_eq!(words::of_model(&model), words::of_model(&same));
        for _ in 0..10 {
            let asked = causal::random::query(&model, &mut numbers);
            let query = asked.query();
            let (lower, upper, goal) =
                words::to_query(&same, &words::of_query(&query)).expect("these are a query's");
            assert_eq!(
                (&lower, &upper, goal),
                (&asked.lower, &asked.upper, asked.goal)
            );
            let verdict = OrderSolver::default().solve(&model, &query);
            assert_eq!(OrderSolver::default().solve(&same, &query), verdict);
            assert_eq!(
                words::to_verdict(&words::of_verdict(&verdict)),
                Some(verdict)
            );
        }
        let all = words::of_model(&model);
        for cut in 0..all.len() {
            assert!(
                words::to_model(&all[..cut]).is_none(),
                "{cut} of {}",
                all.len()
            );
        }
    }
}

/// A trace as a program of `threads` threads might give it: locks that protect a value, updates, reads and writes of few
/// values.
fn long_trace(numbers: &mut RandomNumbers, threads: u8, length: usize) -> Causal {
    const LOCK: u32 = 100;
    let mut model = Causal::default();
    let mut values = [0_u64; 8];
    let mut holders = [None; 4];
    let mut holds = vec![None; usize::from(threads)];
    let mut thread = 0;
    for at in 0..length {
        if numbers.below(4) == 0 {
            thread = numbers.below(u64::from(threads)) as u8;
        }
        let lock = numbers.below(4) as usize;
        let x = numbers.below(8) as usize;
        let held: &mut Option<usize> = &mut holds[usize::from(thread)];
        let value = numbers.below(3);
        let (kind, object, found, left) = match numbers.below(6) {
            _ if at + usize::from(threads) >= length && held.is_none() => (Kind::Local, 0, 0, 0),
            0 | 1 if held.is_none() && holders[lock].is_none() => {
                (holders[lock], *held) = (Some(thread), Some(lock));
                (Kind::Lock, LOCK + lock as u32, 0, 0)
            }
            0 | 1 if held.is_some() => {
                let lock = held.take().expect("it is there");
                holders[lock] = None;
                (Kind::Unlock, LOCK + lock as u32, 0, 0)
            }
            2 => {
                let found = std::mem::replace(&mut values[x], value);
                (Kind::Write, x as u32, found, value)
            }
            3 => {
                let found = values[x];
                values[x] = (found + 1) % 3;
                (Kind::Update, x as u32, found, values[x])
            }
            _ => (Kind::Read, x as u32, values[x], values[x]),
        };
        let event = Event {
            thread,
            kind,
            object,
            found,
            left,
            ..Event::default()
        };
        model.push(&event, Terms::default());
    }
    model.seal();
    model
}

#[test]
fn long_traces_are_answered_in_bounded_memory() {
    let (mut feasible, mut infeasible, mut unknown) = (0, 0, 0);
    for (threads, length) in [(4, 1_000), (12, 3_000), (20, 10_000)] {
        let mut numbers = RandomNumbers::new(length as u64);
        let model = long_trace(&mut numbers, threads, length);
        assert_eq!(model.len(), length);
        let mut order = OrderSolver::new(STATES);
        for _ in 0..QUERIES {
            let asked = causal::random::flip(&model, &mut numbers);
            let query = asked.query();
            match order.solve(&model, &query) {
                Verdict::Feasible(witness) => {
                    assert!(validate(&model, &query, &witness).is_some(), "{query:?}");
                    feasible += 1;
                }
                // What the trace itself is an answer to is never infeasible.
                Verdict::Infeasible => {
                    assert!(!asked.is_of_the_trace(&model), "{query:?}");
                    infeasible += 1;
                }
                Verdict::Unknown => unknown += 1,
            }
        }
        assert_eq!(order.effort().queries, QUERIES);
        assert_eq!(order.effort().unknown, unknown);
        println!("{threads} threads, {length} events: {feasible} {infeasible} {unknown}, in all");
        unknown = 0;
    }
    assert!(feasible > 0, "{feasible} {infeasible}");
}
