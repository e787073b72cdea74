//! P̂ₖ with more than two threads side by side: random programs, on which a plain interpreter of all interleavings has to agree
//! (see [`interpret`]), and programs made by hand.

#[path = "../confirmed/mod.rs"]
mod confirmed;
mod execute;
mod interpret;
mod program;

use execute::{DEADLOCK, found_by_check};
use interpret::interpret;
use program::{Random, Shape, generate};
use seqz_runtime::Role;

fn setting(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn the_enumeration_agrees_with_the_interpreter() {
    let programs = setting("SEQZ_SEVERAL_PROGRAMS", 300);
    let seed = setting("SEQZ_SEVERAL_SEED", 1);
    let mut random = Random::new(seed);
    let (mut failures, mut deadlocks, mut cut, mut coupled) = (0, 0, 0, 0);
    for index in 0..programs {
        let threads = if index % 4 == 0 { 4 } else { 3 };
        let shape = Shape {
            most: if threads == 4 { 2 } else { 3 },
            locks: [0, 2, 5][usize::try_from(index % 3).expect("it is small")],
        };
        let program = generate(&mut random, threads, shape);
        for role in 0..threads {
            let expected = interpret(&program, role);
            let found = found_by_check(&program, Role(u8::try_from(role).expect("it is small")));
            assert_eq!(
                found, expected,
                "program {index} of seed {seed}, thread {role} under test: {program:?}"
            );
            failures += expected.smallest.len();
            deadlocks += usize::from(expected.smallest.contains_key(&DEADLOCK));
            coupled += expected.smallest.values().filter(|&&k| k > 1).count();
            cut += usize::from(expected.is_cut);
        }
    }
    println!("{failures} failures, {coupled} of them with k > 1, {deadlocks} deadlocks; {cut} cut");
    assert!(failures > 100 && deadlocks > 5 && coupled > 5 && cut > 20);
}
