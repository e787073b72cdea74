//! Rounds of P̂ₖ: two threads run side by side, are joined, and then two others do.
//!
//! Programs made by hand whose bugs are known, and random ones, which a plain interpreter of all interleavings has to agree
//! on: see [`interpret`].

mod bytes;
#[path = "../confirmed/mod.rs"]
mod confirmed;
mod execute;
mod interpret;
mod judges;
mod known;
mod program;

use execute::found_by_check;
use interpret::interpret;
use program::{Random, generate};
use seqz_runtime::Role;
use seqz_runtime::engine::Solver;

#[test]
fn the_enumeration_agrees_with_the_interpreter() {
    let setting = |name: &str, default| {
        let text = std::env::var(name).ok();
        text.map_or(default, |text| text.parse().expect("a number"))
    };
    let programs: u64 = setting("SEQZ_ROUNDS_PROGRAMS", 300);
    let seed: u64 = setting("SEQZ_ROUNDS_SEED", 1);
    let mut random = Random::new(seed);
    let (mut failures, mut late, mut by_choice) = (0, 0, 0);
    for index in 0..programs {
        let program = generate(&mut random);
        for role in [Role::FIRST, Role::SECOND] {
            let expected = interpret(&program, role);
            let found = found_by_check(&program, role, Solver::Grid);
            assert_eq!(
                found, expected.smallest,
                "program {index} of seed {seed}, {role:?} under test: {program:?}"
            );
            failures += expected.smallest.len();
            late += expected.late;
            by_choice += expected.by_choice;
        }
    }
    println!(
        "{failures} failures, {late} of them after the first round; {by_choice} choices between rounds"
    );
    assert!(failures > 100 && late > 40 && by_choice > 20);
}
