//! How many happens-before relations a search executes, and how many of them differ but for the order of lock operations:
//! the figures of *The Lazy Happens-Before Relation* (Thomson and Donaldson), section 3, over the interpreted programs of the
//! tests.
//!
//! `cargo run --release -p seqz-explore --example lazy [SCHEDULES]`

#[path = "../tests/model/mod.rs"]
mod model;

use model::generate::{Flavour, longer_program};
use model::{Expr, Model, Op, Program};
use seqz_explore::search::Counts;
use seqz_explore::{CachedDpor, Dpor, HbrCache, LazyDpor, Search, Strategy};

/// Random programs that are gone through.
const PROGRAMS: u64 = 2000;

/// Counts within the limit, and whether that was reached.
fn counts(program: &Program, strategy: impl Strategy, limit: u64) -> (Counts, bool) {
    let mut search = Search::new(strategy).counting_lazy_relations();
    let done = search
        .run(&mut Model::new(program), limit)
        .expect("models are deterministic");
    (search.counts(), done == limit)
}

fn lazies(counts: &Counts) -> u64 {
    counts.lazy_relations.unwrap_or_default()
}

fn section(lock: u8, body: &[Op]) -> Vec<Op> {
    [&[Op::Lock(lock)], body, &[Op::Unlock(lock)]].concat()
}

fn named() -> Vec<(&'static str, Program)> {
    let add = |x| [Op::Load(0, x), Op::Store(x, Expr::Plus(0, 1))];
    let figure_1 = |x| {
        [
            section(0, &[Op::Load(0, 0)]),
            vec![Op::Store(x, Expr::Const(1))],
        ]
        .concat()
    };
    let counter = section(0, &add(0)).repeat(2);
    let own = |x| section(0, &add(x)).repeat(2);
    let look_up = section(0, &[Op::Load(0, 0), Op::Load(1, 1)]).repeat(2);
    let update = section(
        0,
        &[Op::Store(0, Expr::Const(1)), Op::Store(1, Expr::Const(1))],
    );
    let eat = |left, right| section(left, &section(right, &[]));
    vec![
        (
            "figure 1 of the paper",
            Program::of(vec![figure_1(1), figure_1(2)]),
        ),
        (
            "a table under one lock, a key each",
            Program::of((0..3).map(own).collect()),
        ),
        (
            "a table that is only read",
            Program::of(vec![look_up.clone(); 3]),
        ),
        (
            "readers and an update",
            Program::of(vec![look_up.clone(), look_up, update]),
        ),
        ("a counter", Program::of(vec![counter; 3])),
        (
            "three philosophers",
            Program::of(vec![eat(0, 1), eat(1, 2), eat(2, 0)]),
        ),
    ]
}

fn main() {
    let limit = std::env::args().nth(1);
    let limit: u64 = limit.map_or(100_000, |n| n.parse().expect("a number"));
    println!(
        "| program | states | lazy relations | relations: `dpor` | `lazy-dpor` | `lazy-hbr+dpor` | `hbr-cache` | `lazy-hbr` |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (name, program) in named() {
        let (dpor, cut) = counts(&program, Dpor::new(), limit);
        let executions = [
            counts(&program, LazyDpor::new(), limit),
            counts(&program, CachedDpor::lazy(), limit),
            counts(&program, HbrCache::new(), limit),
            counts(&program, HbrCache::lazy(), limit),
        ]
        .map(|(counts, cut)| format!("{}{}", counts.executions, if cut { "+" } else { "" }));
        println!(
            "| {name} | {} | {} | {}{} | {} |",
            dpor.states,
            lazies(&dpor),
            dpor.relations,
            if cut { "+" } else { "" },
            executions.join(" | ")
        );
    }

    let limit = limit / 50;
    let (mut below, mut relations, mut redundant) = (0, 0, 0);
    let (mut ended, mut reduced) = (0, 0);
    let (mut lazily, mut lazily_more, mut lazily_fewer) = (0, 0, 0);
    let (mut cached, mut cached_more, mut cached_fewer) = (0, 0, 0);
    let (mut more, mut regular_found, mut lazy_found, mut fewer) = (0, 0, 0, 0);
    for seed in 0..PROGRAMS {
        let program = longer_program(seed, Flavour::Guards);
        let (dpor, cut) = counts(&program, Dpor::new(), limit);
        if lazies(&dpor) < dpor.relations {
            below += 1;
            relations += dpor.relations;
            redundant += dpor.relations - lazies(&dpor);
        }
        if !cut {
            ended += 1;
            reduced += dpor.executions;
            let own = counts(&program, LazyDpor::new(), u64::MAX).0.executions;
            lazily += own;
            lazily_more += u32::from(own > dpor.executions);
            lazily_fewer += u32::from(own < dpor.executions);
            let own = counts(&program, CachedDpor::lazy(), u64::MAX).0.executions;
            cached += own;
            cached_more += u32::from(own > dpor.executions);
            cached_fewer += u32::from(own < dpor.executions);
        }
        let regular = lazies(&counts(&program, HbrCache::new(), limit).0);
        let lazy = lazies(&counts(&program, HbrCache::lazy(), limit).0);
        fewer += u32::from(lazy < regular);
        if lazy > regular {
            more += 1;
            regular_found += regular;
            lazy_found += lazy;
        }
    }
    let percent = |part: u64, of: u64| 100 * part / of.max(1);
    println!("\n{PROGRAMS} random programs, {limit} schedules at most of each:");
    println!(
        "- `dpor` executes redundant relations in {below} of them; there, {redundant} of {relations} ({} %) are redundant",
        percent(redundant, relations)
    );
    println!(
        "- `lazy-hbr` executes more lazy relations than `hbr-cache` within the limit in {more}, and fewer in {fewer}; in the \
         former {lazy_found} against {regular_found} ({} % more)",
        percent(lazy_found - regular_found, regular_found)
    );
    println!(
        "- where `dpor` comes to its end ({ended} programs): {reduced} executions; of `lazy-dpor` {lazily}, more in \
         {lazily_more} and fewer in {lazily_fewer}; of `lazy-hbr+dpor` {cached}, more in {cached_more} and fewer in \
         {cached_fewer}"
    );
}
