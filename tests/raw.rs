//! What `unsafe` code does with memory is checked in each execution of `explore`: accesses that nothing orders, memory
//! that is used after its end, memory that is given back twice.

#[path = "raw/random.rs"]
mod random;
mod support;

use std::collections::BTreeSet;

use random::{Program, Random};
use serde_json::Value;
use support::{package, seqz};

const PROGRAMS: &str = include_str!("raw/programs.rs");
const KEPT: &str = include_str!("raw/kept.rs");
const HIDDEN: &str = include_str!("raw/hidden.rs");
const HANDLES: &str = include_str!("raw/handles.rs");
const ASKED: &str = include_str!("raw/asked.rs");
const LETTING_GO: &str = include_str!("raw/letting_go.rs");
const SPIN: &str = include_str!("raw/spin.rs");

/// The kind of the failures that a harness has, as its name says.
fn wanted(name: &str) -> Option<&'static str> {
    match name.split('_').next()? {
        "races" => Some("data_race"),
        "used" => Some("use_after_free"),
        "freed" => Some("invalid_free"),
        "passes" => None,
        other => panic!("{other}"),
    }
}

/// The lines of a program on which a failure is, or what its threads did before.
fn lines(failure: &Value) -> Vec<u64> {
    let waiting = failure["waiting"].as_array().unwrap();
    let sites = waiting.iter().map(|it| &it["site"]);
    sites.filter_map(|site| site["line"].as_u64()).collect()
}

fn judged(program: &str, strategy: &str) {
    let tests = program.matches("#[test]").count();
    let program = package(program);
    let args = ["explore", "--strategy", strategy, "--format", "json"];
    // Threads that nobody joins may panic.
    let run = seqz(
        program.path(),
        args.into_iter().chain(["--ignore-detached-panics"]),
    );
    let document = run.json();
    let harnesses = document["harnesses"].as_array().unwrap();
    assert_eq!(harnesses.len(), tests, "{}", run.shown());
    for harness in harnesses {
        let name = harness["name"].as_str().unwrap();
        assert_eq!(harness["status"]["state"], "checked", "{harness:#}");
        let failures = harness["failures"].as_array().unwrap();
        let kinds: Vec<&str> = failures
            .iter()
            .map(|failure| failure["kind"].as_str().unwrap())
            .collect();
        match wanted(name) {
            None => assert!(kinds.is_empty(), "{name}: {failures:#?}"),
            Some(wanted) => {
                assert!(kinds.contains(&wanted), "{name}: {kinds:?}");
                // What happens after a fault may be anything, but a fault has two sides. Where a value ends by itself, the
                // source does not say it.
                let sides = if name.ends_with("_handle") { 1 } else { 2 };
                for failure in failures.iter().filter(|it| it["kind"] == wanted) {
                    assert!(lines(failure).len() >= sides, "{name}: {failure:#}");
                }
            }
        }
    }
}

#[test]
fn each_fault_is_found_and_no_other() {
    judged(PROGRAMS, "odpor");
}

#[test]
fn what_is_asked_of_the_system_orders_threads_only_if_it_is_asked() {
    let asks = [
        "drop(std::fs::write(\"/tmp/seqz-test-asked\", \"x\"))",
        "drop(std::net::UdpSocket::bind(\"127.0.0.1:0\"))",
        "drop(std::io::pipe())",
        "std::panic::set_hook(Box::new(|_| {}))",
    ];
    for ask in asks {
        let program = |name: &str, beside: &str| {
            format!("{ASKED}\nfn ask() {{ {ask} }}\n\n#[test]\nfn {name}() {{ both({beside}) }}\n")
        };
        // It is mentioned, and not done.
        let never = "std::env::var(\"SEQZ_NO_SUCH_VARIABLE\").is_ok().then_some(ask as fn())";
        judged(&program("races", never), "odpor");
        judged(&program("passes", "Some(ask as fn())"), "odpor");
    }
}

#[test]
fn guards_that_lead_to_memory_are_no_races_by_themselves() {
    judged(SPIN, "odpor");
    judged(SPIN, "dfs");
}

#[test]
fn references_are_no_accesses_to_cells_and_memory_ends_for_all() {
    judged(KEPT, "odpor");
}

#[test]
fn cells_in_types_that_deny_them_are_cells() {
    judged(HIDDEN, "odpor");
    judged(HIDDEN, "dfs");
}

#[test]
fn a_last_handle_gives_memory_back_after_it_is_off_the_count() {
    judged(HANDLES, "odpor");
    judged(HANDLES, "dfs");
}

#[test]
fn what_a_thread_and_its_handle_share_is_given_back_in_order() {
    judged(LETTING_GO, "odpor");
    judged(LETTING_GO, "dfs");
}

const TWICE: &str = "
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::{ptr, thread};

#[test]
fn all() {
    let slot = AtomicPtr::new(Box::into_raw(Box::new(1)));
    let take = |order| {
        let p = slot.load(order);
        if !p.is_null() {
            slot.store(ptr::null_mut(), Release);
            assert_eq!(unsafe { *p }, 1);
            drop(unsafe { Box::from_raw(p) });
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| take(Acquire));
        scope.spawn(|| take(Acquire));
    });
}
";

/// Each kind can be run again, to the same end, and drawn.
#[test]
fn faults_of_memory_are_there_again() {
    let race = TWICE
        .replace("slot.store(ptr::null_mut(), Release);", "")
        .replace("drop(unsafe { Box::from_raw(p) })", "unsafe { *p = 1 }");
    let twice = TWICE.replace("assert_eq!(unsafe { *p }, 1);", "").replace(
        "drop(unsafe { Box::from_raw(p) })",
        "unsafe { std::alloc::dealloc(p.cast(), std::alloc::Layout::new::<i32>()) }",
    );
    for (program, wanted) in [
        (race, "data_race"),
        (TWICE.to_owned(), "use_after_free"),
        (twice, "invalid_free"),
    ] {
        let dir = package(&program);
        let run = seqz(dir.path(), ["explore", "--format", "json"]);
        let document = run.json();
        let failures = document["harnesses"][0]["failures"].as_array().unwrap();
        let failure = failures.iter().find(|it| it["kind"] == wanted);
        let failure = failure.unwrap_or_else(|| panic!("{wanted}: {}", run.shown()));
        let finding = failure["finding"].as_str().unwrap();
        let again = seqz(dir.path(), ["replay", finding]);
        assert_eq!(again.code, Some(1), "{}", again.shown());
        let same = "as it did when it was found";
        assert!(again.stdout.contains(same), "{wanted}: {}", again.shown());
        let drawn = seqz(dir.path(), ["report", finding]);
        assert_eq!(drawn.code, Some(0), "{}", drawn.shown());
        let page = std::fs::read_to_string(dir.path().join(drawn.stdout.trim())).unwrap();
        assert!(page.contains("class=\"steps"), "{wanted}: {page}");
    }
}

/// How many random programs there are, and the seed of the first.
const RANDOM: (u64, u64) = (200, 1);

#[test]
fn random_programs_have_the_faults_that_an_interpreter_finds() {
    let seed = std::env::var("SEQZ_RAW_SEED").ok();
    let seed = seed.and_then(|it| it.parse().ok()).unwrap_or(RANDOM.1);
    let mut random = Random::new(seed);
    let programs: Vec<Program> = (0..RANDOM.0).map(|_| Program::draw(&mut random)).collect();
    let mut text = random::HEAD.to_owned();
    for (number, program) in programs.iter().enumerate() {
        text.push_str(&program.text(&format!("program_{number}")));
    }
    let dir = package(&text);
    let run = seqz(dir.path(), ["explore", "--format", "json"]);
    let document = run.json();
    let harnesses = document["harnesses"].as_array().unwrap();
    assert_eq!(harnesses.len(), programs.len(), "{}", run.shown());
    let mut faulty = 0;
    for harness in harnesses {
        let name = harness["name"].as_str().unwrap();
        assert_eq!(harness["status"]["state"], "checked", "{harness:#}");
        let number: usize = name.strip_prefix("program_").unwrap().parse().unwrap();
        let program = &programs[number];
        let failures = harness["failures"].as_array().unwrap().iter();
        let found: BTreeSet<&str> = failures.map(|it| it["kind"].as_str().unwrap()).collect();
        let known = program.faults();
        // Of the faults of one execution, only the first is told.
        let is_right = found.is_subset(&known) && found.is_empty() == known.is_empty();
        assert!(
            is_right,
            "seed {seed}: {found:?}, not {known:?}, in\n{}",
            program.text(name)
        );
        faulty += usize::from(!known.is_empty());
    }
    // There are enough of both.
    let all = programs.len();
    assert!(
        (all / 5..all * 4 / 5).contains(&faulty),
        "{faulty} of {all}"
    );
}
