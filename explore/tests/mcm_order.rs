//! The order solver by itself.

mod causal;
mod model;

use model::{Model, Op, Program};
use seqz_explore::mcm::{Goal, OrderSolver, Query, Solver, Verdict, validate};
use seqz_explore::random_numbers::RandomNumbers;

/// Two threads wait for a lock that a third one keeps, and could stand before it at once if that had not taken it. That
/// nobody else has taken it in the trace is no reason to take it for good.
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
