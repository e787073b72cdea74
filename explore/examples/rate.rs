//! Executions and events per second of the strategies, over the interpreted programs of the tests.
//!
//! `cargo run --release -p seqz-explore --example rate [SECONDS]`

#[path = "../tests/model/mod.rs"]
mod model;

use std::time::{Duration, Instant};

use model::{Expr, Model, Op, Program};
use seqz_explore::{Dfs, Dpor, IcbDpor, Odpor, Random, Search, Strategy};

fn measure<S: Strategy>(name: &str, program: &Program, strategy: S, limit: Duration) {
    let mut search = Search::new(strategy);
    let mut model = Model::new(program);
    let start = Instant::now();
    let mut finished = false;
    while start.elapsed() < limit {
        match search.run(&mut model, 1000) {
            Ok(1000) => {}
            Ok(_) => {
                finished = true;
                break;
            }
            Err(divergence) => {
                println!("{divergence}");
                return;
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let counts = search.counts();
    println!(
        "{name:14} {:10} {:>10} executions {:>10} relations {:9.0}/s {:6.1} ns/event  {}",
        search.strategy().name(),
        counts.executions,
        counts.relations,
        counts.executions as f64 / seconds,
        seconds * 1e9 / counts.events as f64,
        match (finished, search.estimate()) {
            (true, _) => "all".to_owned(),
            (false, Some(estimate)) => format!("of about {estimate:.2e}"),
            (false, None) => String::new(),
        }
    );
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|s| s.parse().ok());
    let limit = Duration::from_secs_f64(seconds.unwrap_or(2.0));
    let counter = Program::of(vec![
        vec![Op::Load(0, 0), Op::Store(0, Expr::Plus(0, 1))];
        4
    ]);
    let locks = Program::of(vec![
        [
            Op::Lock(0),
            Op::Load(0, 0),
            Op::Store(0, Expr::Plus(0, 1)),
            Op::Unlock(0),
            Op::Load(1, 1),
            Op::Store(1, Expr::Plus(1, 1)),
        ]
        .repeat(2);
        3
    ]);
    for (name, program) in [("counter", counter), ("three locks", locks)] {
        measure(name, &program, Dfs::new(), limit);
        measure(name, &program, Random::new(1), limit);
        measure(name, &program, IcbDpor::new(None), limit);
        measure(name, &program, Dpor::new(), limit);
        measure(name, &program, Odpor::new(), limit);
    }
}
