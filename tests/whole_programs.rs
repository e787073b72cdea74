//! The second oracle: whole programs as people write them, compiled, and run by all strategies and by `check`, against an
//! interpreter of their own that walks all interleavings. A hundred programs are one crate, which is built once.
//!
//! A program's test panics, with a number of its own, for what it has seen in the end; so what strategies say of failures
//! also says which outcomes they have come to. A strategy that says "exhausted" must have found each failure and each
//! deadlock of the interpreter's, and none may find another one.
//!
//! `SEQZ_WHOLE_PROGRAMS` says how many there are, `SEQZ_WHOLE_SEED` which, `SEQZ_WHOLE_METHOD` who
//! runs them: all whose name has that in it, all at all if it is empty. `SEQZ_WHOLE_FIRST` is the number of the first one.
//!
//! Not in the programs: what std lets happen without a reason (`--spurious 0`), clocks, locks that are read twice by one thread.
//! `check` is held to finding nothing that isn't there, not to finding all.

#[path = "whole_programs/generate.rs"]
mod generate;
#[path = "whole_programs/judge.rs"]
mod judge;
#[path = "whole_programs/lower.rs"]
mod lower;
#[path = "whole_programs/machine.rs"]
mod machine;
#[path = "whole_programs/methods.rs"]
mod methods;
#[path = "whole_programs/ops.rs"]
mod ops;
#[path = "whole_programs/program.rs"]
mod program;
#[path = "whole_programs/render.rs"]
mod render;
#[path = "whole_programs/searched.rs"]
mod searched;
mod support;

use std::env;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use generate::generate;
use methods::{Method, methods};
use searched::{Came, Crate};
use support::package;

/// So many programs are the tests of one crate: what is done once for a crate is shared, what is done with all of it for each
/// test is little.
const A_CRATE: usize = 100;

fn number(name: &str, default: usize) -> usize {
    env::var(name).map_or(default, |it| it.parse().expect("a number"))
}

/// The programs with these numbers as the tests of one crate, by each method.
fn of_a_crate(seed: u64, numbers: Range<usize>, methods: &[Method]) -> Vec<Came> {
    let begun = Instant::now();
    let programs: Vec<_> = numbers.map(|number| generate(seed, number)).collect();
    let generated = begun.elapsed().as_secs_f64();
    let source: String = programs.iter().map(|(it, _)| render::render(it)).collect();
    let dir = package(&format!("{}{source}", render::HEAD));
    let ready = Crate::build(dir.path());
    let built = begun.elapsed().as_secs_f64() - generated;
    eprintln!(
        "{}: made in {generated:.1} s, built in {built:.1} s",
        dir.path().display()
    );
    let methods = methods.iter();
    methods.map(|it| ready.by(it, &programs)).collect()
}

#[test]
fn all_strategies_say_of_whole_programs_what_is_right() {
    let count = number("SEQZ_WHOLE_PROGRAMS", 400);
    let first = number("SEQZ_WHOLE_FIRST", 0);
    let seed = number("SEQZ_WHOLE_SEED", 1) as u64;
    let methods = methods(env::var("SEQZ_WHOLE_METHOD").ok().as_deref());
    // Whoever is done takes the next ones.
    let next = AtomicUsize::new(0);
    let work = || {
        let mut came = Vec::new();
        loop {
            let begin = next.fetch_add(A_CRATE, Ordering::Relaxed);
            if begin >= count {
                return came;
            }
            let end = count.min(begin + A_CRATE);
            came.push(of_a_crate(seed, first + begin..first + end, &methods));
        }
    };
    let name = thread::current().name().unwrap_or("main").to_owned();
    let came: Vec<_> = thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, |it| it.get());
        let start = |_| {
            let worker = thread::Builder::new().name(name.clone());
            worker.spawn_scoped(scope, work).expect("a thread")
        };
        let workers: Vec<_> = (0..workers).map(start).collect();
        let ends = workers.into_iter();
        ends.flat_map(|it| it.join().expect("no panic")).collect()
    });
    let mut out = String::new();
    for (at, method) in methods.iter().enumerate() {
        let all = || came.iter().map(|it| &it[at]);
        let promised: usize = all().map(|it| it.promised).sum();
        let seconds: f64 = all().map(|it| it.seconds).sum();
        let name = method.name;
        eprintln!("{name}: {promised} of {count} exhausted, {seconds:.1} s");
        out.extend(all().map(|it| it.wrong.as_str()));
        if promised * 100 < method.at_least * count {
            let _ = writeln!(out, "{name}: only {promised} exhausted");
        }
    }
    assert!(out.is_empty(), "{out}");
}
