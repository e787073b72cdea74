//! Random programs against the oracle.

use std::collections::HashSet;

use seqz_explore::Rc11;
use seqz_explore::event::Order;
use seqz_explore::random_numbers::RandomNumbers;

use super::oracle::{Model, enumerate};
use super::program::{Body, Op, Program};
use super::search;

#[derive(Clone, Copy, Debug)]
struct Step {
    op: Op,
    /// Runs only if the last value read was this one.
    only_after: Option<u64>,
    /// Adds the last value read to what is stored.
    adds: bool,
}

fn body(steps: Vec<Step>) -> Body {
    Box::new(move |thread| {
        let mut last = 0;
        for step in &steps {
            if step.only_after.is_some_and(|wanted| wanted != last) {
                continue;
            }
            let op = match step.op {
                Op::Store(x, value, order) if step.adds => Op::Store(x, value + last, order),
                op => op,
            };
            let read = thread.op(op)?;
            if op.reads() {
                last = read;
            }
        }
        Some(())
    })
}

fn pick<T: Copy>(random: &mut RandomNumbers, of: &[T]) -> T {
    of[random.below(of.len() as u64) as usize]
}

fn generate(random: &mut RandomNumbers, data: bool) -> (Vec<Vec<Step>>, Program) {
    const LOADS: [Order; 3] = [Order::Relaxed, Order::Acquire, Order::SeqCst];
    const STORES: [Order; 3] = [Order::Relaxed, Order::Release, Order::SeqCst];
    const ALL: [Order; 5] = [
        Order::Relaxed,
        Order::Acquire,
        Order::Release,
        Order::AcqRel,
        Order::SeqCst,
    ];
    let threads = 2 + random.below(3) as usize;
    let mut left = 9 - threads as u64 / 2;
    let objects = 1 + random.below(3) as u32;
    let mut all = Vec::new();
    for _ in 0..threads {
        let most = (left / 2).clamp(1, 4);
        let count = 1 + random.below(most);
        left = left.saturating_sub(count);
        let mut steps = Vec::new();
        for _ in 0..count {
            let x = random.below(u64::from(objects)) as u32;
            let value = 1 + random.below(3);
            let op = match random.below(if data { 13 } else { 11 }) {
                0..=2 => Op::Load(x, pick(random, &LOADS)),
                3..=5 => Op::Store(x, value, pick(random, &STORES)),
                6 => Op::Add(x, value, pick(random, &ALL)),
                7 => Op::Swap(x, value, pick(random, &ALL)),
                8 => Op::Cas(
                    x,
                    random.below(3),
                    value,
                    pick(random, &ALL),
                    pick(random, &LOADS),
                ),
                9 | 10 => Op::Fence(pick(random, &ALL[1..])),
                11 => Op::Load(7, Order::Plain),
                _ => Op::Store(7, value, Order::Plain),
            };
            let only_after = (random.below(4) == 0).then(|| random.below(3));
            steps.push(Step {
                op,
                only_after,
                adds: random.below(3) == 0,
            });
        }
        all.push(steps);
    }
    let program = Program::new(all.iter().cloned().map(body).collect());
    (all, program)
}

fn count() -> u64 {
    let asked = std::env::var("SEQZ_RC11_PROGRAMS").ok();
    asked.and_then(|it| it.parse().ok()).unwrap_or(300)
}

#[test]
fn random_programs_have_the_graphs_that_the_axioms_allow_each_once() {
    let mut random = RandomNumbers::new(17);
    let mut compared = 0;
    for number in 0..count() {
        let (steps, program) = generate(&mut random, false);
        for (model, strategy) in [
            (Model::Rc11, Rc11::new()),
            (Model::Sc, Rc11::new().strengthened()),
        ] {
            let Some(expected) = enumerate(&program, model, 20_000) else {
                continue;
            };
            let found = search(&program, strategy);
            let graphs: HashSet<_> = found.graphs.iter().cloned().collect();
            assert_eq!(
                graphs.len(),
                found.graphs.len(),
                "{number} {model:?}: twice: {steps:#?}"
            );
            assert!(
                graphs == expected.graphs,
                "{number} {model:?}: {} graphs, not {}: {steps:#?}",
                graphs.len(),
                expected.graphs.len()
            );
            assert_eq!(found.outcomes, expected.outcomes);
            compared += 1;
        }
    }
    assert!(compared > count(), "{compared}");
}

#[test]
fn random_programs_have_the_races_that_the_axioms_see() {
    let mut random = RandomNumbers::new(18);
    let mut racy = 0;
    for number in 0..count() {
        let (steps, program) = generate(&mut random, true);
        let Some(expected) = enumerate(&program, Model::Rc11, 20_000) else {
            continue;
        };
        let chosen = search(&program, Rc11::new().choosing_data());
        let graphs: HashSet<_> = chosen.graphs.iter().cloned().collect();
        assert_eq!(
            graphs.len(),
            chosen.graphs.len(),
            "{number}: twice: {steps:#?}"
        );
        assert!(graphs == expected.graphs, "{number}: {steps:#?}");
        let raced = search(&program, Rc11::new()).races;
        assert_eq!(raced, expected.races, "{number}: {steps:#?}");
        racy += u64::from(raced);
    }
    assert!(racy > count() / 20, "{racy}");
}

/// Puts a part of each thread between the taking of a lock and its giving back.
fn with_locks(random: &mut RandomNumbers, steps: &[Vec<Step>]) -> Vec<Vec<Step>> {
    let step = |op| Step {
        op,
        only_after: None,
        adds: false,
    };
    let mut all = steps.to_vec();
    for steps in &mut all {
        let from = random.below(steps.len() as u64 + 1) as usize;
        let until = from + random.below((steps.len() - from) as u64 + 1) as usize;
        let lock = 8 + random.below(8) as u32 / 6;
        steps.insert(until, step(Op::Unlock(lock)));
        steps.insert(from, step(Op::Lock(lock)));
        if random.below(4) == 0 {
            steps.insert(until + 2, step(Op::Lock(8)));
            steps.insert(until + 3, step(Op::Unlock(8)));
        }
    }
    all
}

#[test]
fn random_programs_with_locks_have_the_graphs_that_the_axioms_allow_each_once() {
    let mut random = RandomNumbers::new(19);
    let mut compared = 0;
    for number in 0..count() / 2 {
        let (steps, _) = generate(&mut random, false);
        let steps = with_locks(&mut random, &steps);
        let program = Program::new(steps.iter().cloned().map(body).collect());
        let Some(expected) = enumerate(&program, Model::Rc11, 800) else {
            continue;
        };
        let found = search(&program, Rc11::new());
        let graphs: HashSet<_> = found.graphs.iter().cloned().collect();
        assert_eq!(
            graphs.len(),
            found.graphs.len(),
            "{number}: twice: {steps:#?}"
        );
        assert!(
            graphs == expected.graphs,
            "{number}: {} graphs, not {}: {steps:#?}",
            graphs.len(),
            expected.graphs.len()
        );
        compared += 1;
    }
    assert!(compared > count() / 8, "{compared}");
}
