//! A failure that was met only where a sleep or a time limit is over while another thread could go on says so.

mod support;

use serde_json::Value;
use support::{MANIFEST, program, seqz};

const PROGRAM: &str = include_str!("held_up/program.rs");

/// The number of the line that has this text.
fn line(text: &str) -> u64 {
    let mut lines = PROGRAM.lines().zip(1..);
    lines.find(|(line, _)| line.contains(text)).unwrap().1
}

#[test]
fn failures_that_count_on_a_time_say_so() {
    let dir = program(&[("Cargo.toml", MANIFEST), ("src/lib.rs", PROGRAM)]);
    let document = seqz(dir.path(), ["explore", "--format", "json"]).json();
    let held_up = |name: &str| -> Value {
        let mut all = document["harnesses"].as_array().unwrap().iter();
        let harness = all.find(|it| it["name"] == name).unwrap();
        let failures = harness["failures"].as_array().unwrap();
        assert_eq!(failures.len(), 1, "{name}: {failures:?}");
        failures[0]["held_up"].clone()
    };
    let sleep = held_up("a_sleep_is_to_be_long_enough");
    assert_eq!(sleep["passing"]["line"], line("// is to be long enough"));
    assert_eq!(sleep["is_limit"], false);
    assert_eq!(sleep["took"], 100_000_000);
    assert_eq!((&sleep["thread"], &sleep["by"]), (&1.into(), &0.into()));
    let limit = held_up("a_limit_is_to_be_long_enough");
    assert_eq!(
        limit["passing"]["line"],
        line("// is to be long enough, too")
    );
    assert_eq!(limit["is_limit"], true);
    // The sender, which sleeps, too, is late by no more than the difference.
    let late = limit["nanoseconds"].as_u64().unwrap();
    assert!((49_000_000..=51_000_000).contains(&late), "{late}");
    let third = held_up("what_may_happen_without_a_reason_is_not_held_up");
    let expected = line("// is to be long enough a third time");
    assert_eq!(third["passing"]["line"], expected, "{third}");
    for name in [
        "both_sleep_and_an_update_is_lost",
        "who_holds_the_lock_sleeps",
        "who_waits_is_not_held_up",
    ] {
        assert_eq!(held_up(name), Value::Null, "{name}");
    }
    let text = seqz(
        dir.path(),
        ["explore", "--harness", "a_sleep_is_to_be_long_enough"],
    )
    .stdout;
    let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("until the sleep of 100 ms at src/lib.rs:"),
        "{text}"
    );
}
