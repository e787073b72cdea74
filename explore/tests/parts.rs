//! Searches in parts against the same searches in one piece.

mod model;

use std::collections::BTreeMap;

use model::generate::{FLAVOURS, longer_program, program};
use model::{Expr, Model, Op, Program};
use seqz_explore::{Counts, Dfs, Odpor, Part, Promise, Search, Strategy};

/// What a search did: per execution that belongs to it, in order, where it stands and its relation.
struct Walk {
    executions: BTreeMap<(u64, u64), u64>,
    counts: Counts,
    begun: u64,
    turns: u64,
    explored: f64,
}

fn walk<S: Strategy>(program: &Program, strategy: S) -> Walk {
    let mut search = Search::new(strategy);
    let mut model = Model::new(program);
    let mut executions = BTreeMap::new();
    let (mut turn, mut within) = (0, 0);
    while let Some(run) = search.step(&mut model).expect("models are deterministic") {
        if !run.standing.own {
            continue;
        }
        assert!(run.standing.turn >= turn, "turns go up");
        within = if run.standing.turn == turn {
            within + 1
        } else {
            1
        };
        turn = run.standing.turn;
        executions.insert((turn, within), run.relation);
    }
    assert_eq!(search.promise(), Promise::Exhausted);
    Walk {
        executions,
        counts: search.counts(),
        begun: search.begun(),
        turns: search.strategy().report().turns,
        explored: search.strategy().report().explored.expect("a tree"),
    }
}

/// How a search was divided.
#[derive(Debug)]
struct Divided {
    /// Executions of the whole.
    whole: u64,
    /// Executions that belong to each part.
    own: Vec<u64>,
    /// All that each part made.
    begun: Vec<u64>,
}

impl Divided {
    /// Whether every part had much to do.
    fn all_busy(&self) -> bool {
        let fair = self.whole / self.own.len() as u64;
        self.whole > 50 && self.own.iter().all(|&own| own > fair / 4)
    }

    /// The longest part's share of the whole, times the number of parts: 1 would be ideal.
    fn excess(&self) -> f64 {
        let longest = self.begun.iter().max().copied().unwrap_or(0);
        longest as f64 * self.begun.len() as f64 / self.whole as f64
    }
}

/// Compares the parts with the whole.
fn compare<S: Strategy>(program: &Program, count: u32, part: impl Fn(Part) -> S) -> Divided {
    let whole = walk(program, part(Part::WHOLE));
    let parts: Vec<_> = (0..count)
        .map(|index| walk(program, part(Part::new(index, count).expect("a part"))))
        .collect();
    let mut together = BTreeMap::new();
    for walk in &parts {
        assert_eq!(walk.turns, parts[0].turns, "{program:?}");
        for (place, relation) in &walk.executions {
            let known = together.insert(*place, *relation);
            assert_eq!(known, None, "{count} parts share {place:?}: {program:?}");
        }
    }
    // In the same order, too.
    assert!(
        together.values().eq(whole.executions.values()),
        "{count} parts: {program:?}"
    );
    let sum = |of: fn(&Counts) -> u64| parts.iter().map(|walk| of(&walk.counts)).sum::<u64>();
    assert_eq!(sum(|counts| counts.executions), whole.counts.executions);
    assert_eq!(sum(|counts| counts.events), whole.counts.events);
    assert_eq!(sum(|counts| counts.deadlocks), whole.counts.deadlocks);
    assert_eq!(sum(|counts| counts.failures), whole.counts.failures);
    assert_eq!(sum(|counts| counts.abandoned), 0);
    let explored: f64 = parts.iter().map(|walk| walk.explored).sum();
    assert!((explored - 1.0).abs() < 1e-6, "{explored}");
    Divided {
        whole: whole.counts.executions,
        own: parts.iter().map(|walk| walk.counts.executions).collect(),
        begun: parts.iter().map(|walk| walk.begun).collect(),
    }
}

/// Whether a search is short enough to be made many times.
fn ends<S: Strategy>(program: &Program, strategy: S) -> bool {
    let mut search = Search::new(strategy);
    let executions = search.run(&mut Model::new(program), 3000);
    executions.expect("models are deterministic") < 3000
}

#[test]
fn parts_of_random_programs_make_the_whole() {
    let mut large = 0;
    for seed in 0..600 {
        let flavour = FLAVOURS[seed as usize % FLAVOURS.len()];
        let program = if seed % 3 == 0 {
            longer_program(seed, flavour)
        } else {
            program(seed, flavour)
        };
        let odpor = ends(&program, Odpor::new());
        let dfs = ends(&program, Dfs::new());
        for count in [2, 3, 5] {
            for units in [8, 64] {
                if odpor {
                    let places = if seed % 2 == 0 { 1 } else { 1 << 12 };
                    let part = |part: Part| Odpor::part(part.of_units(units)).looking_at(places);
                    large += u32::from(compare(&program, count, part).all_busy());
                }
                if dfs {
                    let part = |part: Part| Dfs::part(part.of_units(units));
                    large += u32::from(compare(&program, count, part).all_busy());
                }
            }
        }
    }
    assert!(large > 1000, "{large} searches were really divided");
}

/// Three threads that each twice do { lock; x += 1; unlock; read y; write y }.
fn locks() -> Program {
    let once = [
        Op::Lock(0),
        Op::Load(0, 0),
        Op::Store(0, Expr::Plus(0, 1)),
        Op::Unlock(0),
        Op::Load(1, 1),
        Op::Store(1, Expr::Plus(1, 1)),
    ];
    Program::of(vec![[once, once].concat(); 3])
}

#[test]
fn parts_of_a_large_search_weigh_about_the_same() {
    let updates = [Op::Load(0, 0), Op::Store(0, Expr::Plus(0, 1))];
    let updates = Program::of(vec![[updates, updates].concat(); 3]);
    for count in [2, 3, 5] {
        let odpor = compare(&locks(), count, Odpor::part);
        assert_eq!(odpor.whole, 169_206);
        let dfs = compare(&updates, count, Dfs::part);
        for divided in [odpor, dfs] {
            assert!(
                divided.excess() < 1.0 + 0.07 * f64::from(count - 1),
                "{divided:?}"
            );
            if count == 2 {
                assert!(divided.excess() < 1.05, "{divided:?}");
            }
        }
    }
}

#[test]
fn there_is_no_part_past_the_last() {
    assert_eq!(Part::new(2, 2), None);
    assert_eq!(Part::new(0, 0), None);
    assert_eq!(Part::new(0, 1), Some(Part::WHOLE));
}
