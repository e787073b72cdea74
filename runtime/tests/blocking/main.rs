//! Random two-thread programs that wait for each other with std's blocking items: what the enumeration of P̂ₖ finds is held
//! against a plain interpreter of all interleavings.
//!
//! - Each bug of P̂ₖ is followed on the program itself, and is among the failures of all interleavings.
//! - Each failure of the interleavings in which T' observes nothing of T is found in that role, at the smallest k, unless the
//!   search says that it has not executed all; and no other failure is.
//! - The scheduled machine, in all schedules, sees the failures that the interpreter sees.
//!
//! `SEQZ_ORACLE_PROGRAMS` sets how many programs of each item (2,000 by default), `SEQZ_ORACLE_SEED` which.

#![cfg(feature = "scheduler")]

mod compare;
mod execute;
mod generate;
mod interpret;
mod program;

use compare::Tally;
use generate::{Item, generate};
use seqz_runtime::memory::arena::Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// A setting from the environment.
fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no number")),
        Err(_) => default,
    }
}

fn compare_about(item: Item) {
    let programs = setting("SEQZ_ORACLE_PROGRAMS", 2_000);
    let seed = setting("SEQZ_ORACLE_SEED", 1);
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for index in 0..programs {
        let program = generate(item, seed.wrapping_mul(1_000_003) + index);
        let differences = tally.differences(&program, index % 16 == 0);
        if !differences.is_empty() {
            wrong.push(format!(
                "program {index} of seed {seed}:\n{program}{differences}"
            ));
        }
    }
    println!("{item:?}: {tally:?}, {} differ", wrong.len());
    wrong.sort_by_key(String::len);
    let shown = setting("SEQZ_ORACLE_SHOWN", 3) as usize;
    assert!(
        wrong.is_empty(),
        "{} programs differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(shown)].join("\n")
    );
    assert!(tally.failures > programs / 4, "too few fail: {tally:?}");
    assert!(
        tally.refused * 4 < programs,
        "too many are refused: {tally:?}"
    );
}

macro_rules! about {
    ($($name:ident: $item:expr,)*) => {$(
        #[test]
        fn $name() {
            compare_about($item);
        }
    )*};
}

about! {
    condition_variables: Item::Condvar,
    condition_variables_with_time_limits: Item::Limits,
    parking: Item::Parking,
    barriers: Item::Barrier,
    once: Item::Once,
    once_locks: Item::OnceLock,
    channels: Item::Channel(None),
    channels_with_room_for_one: Item::Channel(Some(1)),
    channels_without_room: Item::Channel(Some(0)),
    all_together: Item::Any,
}
