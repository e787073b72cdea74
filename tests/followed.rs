//! What a harness reaches that is not followed is named by all commands, and takes the promise with it.

mod support;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{MANIFEST, program, seqz};

const OWN: &str = include_str!("followed/own.rs");
const DEPENDENT: &str = include_str!("followed/dependent.rs");

/// The manifest of a package in the directory of another one.
fn inner(name: &str) -> String {
    let manifest = MANIFEST.replace("[workspace]\n", "");
    manifest.replace("sample", name)
}

/// The harnesses of a document by name.
fn harnesses(document: &Value) -> BTreeMap<String, Value> {
    let all = document["harnesses"].as_array().unwrap();
    all.iter()
        .map(|it| (it["name"].as_str().unwrap().to_owned(), it.clone()))
        .collect()
}

/// What each command says of each harness, with these dependencies built as they are: the document's entry, by command.
fn asked(dir: &Path, not_followed: &str) -> BTreeMap<String, [Value; 3]> {
    let ask = |args: &[&str], more: &[&str]| {
        let args = args.iter().chain(more);
        let run = seqz(dir, args.chain(&["--format", "json"]));
        harnesses(&run.json())
    };
    let as_they_are = ["--not-followed", not_followed];
    let mut list = ask(&["list"], &as_they_are);
    let mut check = ask(&["check", "--k-max", "1"], &as_they_are);
    let explored = ask(&["explore"], &as_they_are);
    let all = explored.into_iter().map(|(name, explored)| {
        let listed = list.remove(&name).unwrap();
        let checked = check.remove(&name).unwrap();
        (name, [listed, checked, explored])
    });
    all.collect()
}

/// The first thing that is not followed, as all three commands say: crate, what, line.
fn not_followed(said: &[Value; 3]) -> Option<(String, String, u64)> {
    let [listed, checked, explored] = said;
    assert_eq!(listed["not_followed"], explored["not_followed"]);
    assert_eq!(checked["not_followed"], explored["not_followed"]);
    let first = listed["not_followed"].as_array().unwrap().first()?;
    Some((
        first["crate"].as_str().unwrap_or_default().to_owned(),
        first["what"].as_str().unwrap().to_owned(),
        first["site"]["line"].as_u64().unwrap_or_default(),
    ))
}

fn is_exhausted(said: &[Value; 3]) -> bool {
    let [_, checked, explored] = said;
    let of_check = checked["verdict"].as_str().unwrap();
    let of_explore = explored["verdict"].as_str().unwrap();
    assert_eq!(
        of_check.starts_with("exhausted"),
        of_explore.starts_with("exhausted"),
        "{of_check} {of_explore}"
    );
    of_explore.starts_with("exhausted")
}

/// The line of the source on which a text stands first.
fn line(source: &str, text: &str) -> u64 {
    let at = source.find(text).unwrap_or_else(|| panic!("{text}"));
    source[..at].lines().count() as u64 + u64::from(source[..at].ends_with('\n'))
}

#[test]
fn what_a_program_does_out_of_sight_is_named_at_its_line() {
    let dir = program(&[("Cargo.toml", MANIFEST), ("src/lib.rs", OWN)]);
    let said = asked(dir.path(), "");
    let pointer = "memory behind a raw pointer";
    let wanted = [
        ("integer", pointer, "*(p as *mut u32)"),
        (
            "wrapper",
            "`unsafe impl Send` for a type with a raw pointer in it",
            "unsafe impl Send for Raw",
        ),
        ("lifetime", "a `transmute`", "std::mem::transmute"),
        ("through_a_function", pointer, "from_raw_parts(at"),
        ("in_a_macro", pointer, "std::ptr::read("),
        ("cell", "an `UnsafeCell`", "struct Cellular"),
        (
            "anything",
            "`unsafe impl Sync` for a type with any `T` in it",
            "unsafe impl<T> Sync for Anything",
        ),
        ("destructor", pointer, "Box::from_raw(self.0"),
        (
            "foreign",
            "`getpid`, which is not written in Rust",
            "fn getpid",
        ),
        ("file", "a file: `fs::write`", "std::fs::write(&path"),
        (
            "socket",
            "a socket: `net::UdpSocket::bind`",
            "UdpSocket::bind",
        ),
        (
            "process",
            "another process: `process::Command::new`",
            "Command::new",
        ),
        (
            "environment",
            "the environment: `env::set_var`",
            "std::env::set_var",
        ),
        ("input", "standard input: `io::stdin`", "std::io::stdin"),
        (
            "dice",
            "random numbers, the same in each execution: `hash::RandomState::new`",
            "RandomState::new()",
        ),
        ("fails", pointer, "from_raw_parts(at"),
        (
            "pointed_at",
            "a pointer to `static mut COUNT`",
            "&raw mut COUNT",
        ),
    ];
    for (name, what, text) in wanted {
        let said = &said[name];
        let found = (String::new(), what.to_owned(), line(OWN, text));
        assert_eq!(not_followed(said), Some(found), "{name}");
        assert!(!is_exhausted(said), "{name}");
        let place = format!("src/lib.rs:{})", line(OWN, text));
        for document in &said[1..] {
            let state = document["status"]["state"].as_str().unwrap();
            assert!(
                ["checked", "no_interference"].contains(&state),
                "{name} {document:#}"
            );
            let verdict = document["verdict"].as_str().unwrap();
            assert!(verdict.starts_with("not exhausted"), "{name}: {verdict}");
            assert!(
                verdict.contains(&format!("{what} ({place}").replace("((", "("))
                    || verdict.contains(what),
                "{verdict}"
            );
        }
    }
    // What is found all the same counts.
    let [_, checked, explored] = &said["fails"];
    assert_eq!(explored["failures"][0]["kind"], "assertion");
    assert_eq!(checked["bugs"][0]["kind"], "assertion");
    // What can't be run is refused by itself.
    let [listed, checked, explored] = &said["refused"];
    assert!(listed["unsupported"].is_string());
    for document in [checked, explored] {
        assert_eq!(document["status"]["state"], "unsupported");
        assert_eq!(document["status"]["reason"], listed["unsupported"]);
    }
    // What is not reached, or not compiled, or harmless, changes nothing.
    for (name, said) in said.iter().filter(|(name, _)| name.starts_with("followed")) {
        assert_eq!(not_followed(said), None, "{name}");
        assert!(is_exhausted(said), "{name}: {:#}", said[2]);
    }
}

#[test]
fn what_a_dependency_shares_is_named_with_its_crate() {
    let manifest = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
    };
    let own = manifest(
        "dependent",
        "\n[workspace]\n\n[dependencies]\ncounter = { path = \"counter\" }\nhidden = { path = \"hidden\" }\n\
         alias = { path = \"real-name\", package = \"real-name\" }\nouter = { path = \"outer\" }\nplain = { path = \"plain\" }\n",
    );
    let dir = program(&[
        ("Cargo.toml", &own),
        ("src/lib.rs", DEPENDENT),
        ("counter/Cargo.toml", &manifest("counter", "")),
        (
            "counter/src/lib.rs",
            "use std::sync::atomic::*;\n#[derive(Default)]\npub struct Counter(AtomicUsize);\n\
             impl Counter { pub fn add(&self) { self.0.fetch_add(1, Ordering::SeqCst); } }\n\
             #[macro_export]\nmacro_rules! global { ($name:ident) => { static $name: std::sync::Mutex<u8> = \
             std::sync::Mutex::new(0); } }\n",
        ),
        ("hidden/Cargo.toml", &manifest("hidden", "")),
        (
            "hidden/src/lib.rs",
            "mod lock;\npub use lock::*;\npub trait Extension { fn extended(&self) -> u32; }\n\
             impl Extension for u32 { fn extended(&self) -> u32 { *self } }\n#[cfg(test)] mod absent;\n",
        ),
        (
            "hidden/src/lock.rs",
            "use std::sync::{mpsc, Mutex};\n#[derive(Default)]\npub struct Lock(Mutex<()>);\n\
             impl Lock { pub fn with<R>(&self, f: impl FnOnce() -> R) -> R { let _g = self.0.lock().unwrap(); f() } }\n\
             pub struct Give(mpsc::Sender<u8>);\npub struct Take(mpsc::Receiver<u8>);\n\
             pub fn channel() -> (Give, Take) { let (a, b) = mpsc::channel(); (Give(a), Take(b)) }\n\
             impl Give { pub fn give(&self, n: u8) { self.0.send(n).unwrap() } }\n\
             impl Take { pub fn take(&self) -> u8 { self.0.recv().unwrap() } }\n",
        ),
        ("real-name/Cargo.toml", &manifest("real-name", "")),
        (
            "real-name/src/lib.rs",
            "thread_local! { static N: std::cell::Cell<u32> = std::cell::Cell::new(0); }\n\
             pub fn add() { N.with(|n| n.set(n.get() + 1)) }\npub fn get() -> u32 { N.with(|n| n.get()) }\n",
        ),
        (
            "outer/Cargo.toml",
            &manifest(
                "outer",
                "\n[dependencies]\ninner = { path = \"../inner\" }\n",
            ),
        ),
        ("outer/src/lib.rs", "pub fn touch() { inner::touch() }\n"),
        ("inner/Cargo.toml", &manifest("inner", "")),
        (
            "inner/src/lib.rs",
            "\n\nstatic mut N: u32 = 0;\npub fn touch() { unsafe { N += 1 } }\n",
        ),
        ("plain/Cargo.toml", &manifest("plain", "")),
        (
            "plain/src/lib.rs",
            "//! Says `Mutex`, and has none.\npub fn double(n: usize) -> usize { n.wrapping_mul(2) }\n\
             #[cfg(windows)] pub static N: std::sync::Mutex<u8> = std::sync::Mutex::new(0);\n\
             #[cfg(test)] mod tests { use std::sync::Mutex; #[test] fn t() { Mutex::new(1); } }\n",
        ),
    ]);
    let said = asked(dir.path(), "counter,hidden,real-name,inner");
    for (name, package, what, line) in [
        ("atomic", "counter", "a `Mutex`", 6),
        ("lock", "hidden", "a `Mutex`", 3),
        ("channel", "hidden", "a `Mutex`", 3),
        ("thread_local", "real-name", "a thread-local", 1),
        ("of_a_dependency", "inner", "a `static mut`", 3),
        ("by_a_macro", "counter", "a `Mutex`", 6),
        ("by_a_trait", "hidden", "a `Mutex`", 3),
    ] {
        let said = &said[name];
        let found = not_followed(said);
        assert_eq!(
            found,
            Some((package.to_owned(), what.to_owned(), line)),
            "{name}"
        );
        assert!(!is_exhausted(said), "{name}");
        let told = format!("crate `{package}` ({what}, src/");
        assert!(
            said[2]["verdict"].as_str().unwrap().contains(&told),
            "{name}"
        );
    }
    // A wait that nobody ends is no failure.
    for name in ["lock", "channel"] {
        for document in &said[name][1..] {
            assert_eq!(
                document["status"]["state"], "blocked",
                "{name} {document:#}"
            );
            let reason = document["status"]["reason"].as_str().unwrap();
            assert!(reason.starts_with("blocked in crate `hidden`"), "{reason}");
        }
        assert_eq!(
            said[name][2]["failures"],
            Value::Array(Vec::new()),
            "{name}"
        );
        assert_eq!(said[name][1]["bugs"], Value::Array(Vec::new()), "{name}");
    }
    for name in ["followed", "followed_without_any"] {
        assert_eq!(not_followed(&said[name]), None, "{name}");
        assert!(is_exhausted(&said[name]), "{name}");
    }
    // Each thread has its own of a dependency's thread-locals, which are named all the same.
    let run = seqz(
        dir.path(),
        [
            "explore",
            "--harness",
            "thread_local",
            "--not-followed",
            "real-name",
        ],
    );
    assert!(run.stdout.contains("no failure found"), "{}", run.shown());
    assert_eq!(run.code, Some(0), "{}", run.shown());
    let as_it_is = ["--not-followed", "hidden"];
    let check = ["check", "--harness", "lock"];
    let run = seqz(dir.path(), check.iter().chain(&as_it_is));
    assert!(
        run.stdout.contains("blocked in crate `hidden`"),
        "{}",
        run.shown()
    );
    assert_eq!(run.code, Some(2), "{}", run.shown());
    // So it is where the time is over before the wait is believed to last for ever.
    for (command, name) in [("explore", "lock"), ("check", "channel")] {
        let args = [command, "--harness", name, "--time", "0.4"];
        let run = seqz(dir.path(), args.iter().chain(&as_it_is));
        let said = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in [
            "can't be ",
            "no execution came to its end in 0.",
            "blocked in crate `hidden` (a `Mutex`, src/lock.rs:3)",
        ] {
            assert!(said.contains(words), "{words}\n{}", run.shown());
        }
        assert_eq!(run.code, Some(2), "{}", run.shown());
    }
}

#[test]
fn failures_are_doubted_for_what_may_have_made_them_alone() {
    let dir = support::package(include_str!("followed/doubted.rs"));
    let report = seqz(dir.path(), ["explore", "--format", "json"]).json();
    assert_eq!(report["summary"]["doubtful"], 1, "{report:#}");
    assert_eq!(report["summary"]["failures"], 2, "{report:#}");
    let all = harnesses(&report);
    for (name, distorts) in [
        ("takes_the_address_of_an_atomic", true),
        ("pauses", false),
        // What other executions wait for is followed.
        ("spins_beside_a_cell", false),
    ] {
        let harness = &all[name];
        assert!(harness["failures"][0].is_object(), "{name}: {harness:#}");
        let not_followed = harness["not_followed"].as_array().unwrap();
        let is = not_followed.iter().any(|it| it["distorts"] == true);
        assert_eq!(is, distorts, "{name}: {harness:#}");
    }
}

#[test]
fn a_harness_without_an_execution_is_not_explored() {
    let dir = support::package(
        "use std::hint::black_box;\nuse std::thread;\n\
         fn waits_for(n: u64) { let mut m = 0; while black_box(m) < black_box(n) { m = black_box(m) & 1; } }\n\
         #[test]\nfn turns() { thread::spawn(|| waits_for(7)).join().unwrap(); }\n\
         #[test]\nfn turns_in_both() { let t = thread::spawn(|| waits_for(8)); waits_for(9); t.join().unwrap(); }\n\
         #[test]\nfn begins() { thread::spawn(|| ()).join().unwrap(); waits_for(7); }\n\
         #[test]\nfn ends() { thread::spawn(|| waits_for(0)).join().unwrap(); }\n",
    );
    for command in ["explore", "check"] {
        let run = seqz(dir.path(), [command, "--time", "4", "--format", "json"]);
        assert_eq!(run.code, Some(2), "{}", run.shown());
        for (name, harness) in harnesses(&run.json()) {
            let status = &harness["status"];
            if name == "ends" {
                assert_ne!(status["state"], "none_ended", "{status}");
                continue;
            }
            assert_eq!(status["state"], "none_ended", "{command} {name} {status}");
            let reason = status["reason"].as_str().unwrap();
            assert!(reason.contains("waits_for`"), "{command} {name} {reason}");
            assert!(reason.contains("may need more time"), "{reason}");
        }
    }
}

#[test]
fn what_would_have_another_size_is_not_made() {
    let dir = support::package(
        "use std::mem::{self, transmute};\nuse std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};\nuse std::thread;\n\
         #[test]\nfn numbers() { let a: [AtomicUsize; 2] = unsafe { mem::transmute([1_usize, 2]) }; \
         thread::spawn(move || a[0].load(SeqCst)).join().unwrap(); }\n\
         #[test]\nfn pointers() { let a: [AtomicPtr<u8>; 3] = unsafe { transmute([std::ptr::null_mut::<u8>(); 3]) }; \
         thread::spawn(move || assert!(a[2].load(SeqCst).is_null())).join().unwrap(); }\n\
         #[test]\nfn back() { let a = [AtomicBool::new(true), AtomicBool::new(false)]; \
         let a = unsafe { std::mem::transmute::<[AtomicBool; 2], [bool; 2]>(a) }; \
         thread::spawn(move || assert!(a[0] && !a[1])).join().unwrap(); }\n\
         #[test]\nfn same() { let n = unsafe { transmute::<f32, u32>(1.0) }; \
         thread::spawn(move || assert_eq!(n, 1.0_f32.to_bits())).join().unwrap(); }\n\
         #[test]\nfn none() { thread::spawn(|| ()).join().unwrap(); }\n",
    );
    for command in ["explore", "check"] {
        let run = seqz(dir.path(), [command, "--format", "json"]);
        assert_eq!(run.code, Some(2), "{}", run.shown());
        for (name, harness) in harnesses(&run.json()) {
            let status = &harness["status"];
            if matches!(name.as_str(), "same" | "none") {
                assert_ne!(status["state"], "unsupported", "{name} {status}");
                continue;
            }
            assert_eq!(status["state"], "unsupported", "{name} {status}");
            let reason = status["reason"].as_str().unwrap();
            assert!(reason.contains("`transmute`"), "{reason}");
            assert!(status["site"]["line"].is_u64(), "{name} {status}");
        }
    }
}

#[test]
fn what_only_an_execution_shows_is_named() {
    const HIDDEN: &str = include_str!("followed/hidden.rs");
    let own = format!("{MANIFEST}\n[dependencies]\nnamed = {{ path = \"named\" }}\n");
    let named = inner("named");
    let dir = program(&[
        ("Cargo.toml", &own),
        ("src/lib.rs", HIDDEN),
        ("named/Cargo.toml", &named),
        (
            "named/src/lib.rs",
            "#[macro_export]\nmacro_rules! of_std { ($($name:ident)+ => $($rest:tt)*) => { ::std $(:: $name)+ $($rest)* } }",
        ),
    ]);
    for command in ["explore", "check"] {
        let report = seqz(dir.path(), [command, "--format", "json"]).json();
        let all = harnesses(&report);
        assert_eq!(all.len(), HIDDEN.matches("#[test]").count());
        for (name, kind) in [
            ("file", Some("a file that it changes")),
            ("directory", Some("a file that it changes")),
            ("process", Some("another process")),
            ("socket", Some("a socket")),
            ("thread", Some("a thread of its own")),
            ("reads_only", None),
            ("locks_in_the_order_of_a_map", Some("random numbers")),
            ("goes_by_a_set", Some("random numbers")),
            ("counts_in_a_map", None),
            ("shards_by_id", Some("the numbers of threads")),
            ("compares_ids", None),
            ("shows_ids_of_one_starter", None),
        ] {
            let verdict = all[name]["verdict"].as_str().unwrap();
            let expected = match kind {
                Some(kind) => verdict.contains("not followed: ") && verdict.contains(kind),
                None => verdict.starts_with("exhausted"),
            };
            assert!(
                expected,
                "{command} {name}: {verdict} {:#}",
                all[name]["not_followed"]
            );
        }
    }
}

#[test]
fn a_search_goes_on_where_a_dependency_keeps_an_order_to_itself() {
    let own = format!("{MANIFEST}\n[dependencies]\nhides = {{ path = \"hides\" }}\n");
    let dir = program(&[
        ("Cargo.toml", &own),
        ("src/lib.rs", include_str!("followed/order.rs")),
        ("hides/Cargo.toml", &inner("hides")),
        (
            "hides/src/lib.rs",
            "use std::sync::{Mutex, atomic::*};\npub trait Tries { fn tries(&self) -> bool; fn ends(&self); }\n\
             #[derive(Default)]\npub struct Flag(AtomicBool);\n\
             impl Tries for Flag { fn tries(&self) -> bool { !self.0.swap(true, Ordering::SeqCst) }\n\
             fn ends(&self) { self.0.store(false, Ordering::SeqCst) } }\n\
             #[derive(Default)]\npub struct Turn(Mutex<bool>);\n\
             impl Tries for Turn { fn tries(&self) -> bool { !std::mem::replace(&mut *self.0.lock().unwrap(), true) }\n\
             fn ends(&self) { *self.0.lock().unwrap() = false } }\n",
        ),
    ]);
    let args = ["explore", "--strategy", "odpor", "--not-followed", "hides"];
    let args = args.into_iter().chain(["--format", "json"]);
    for (name, harness) in harnesses(&seqz(dir.path(), args).json()) {
        let said = format!("{name} {harness:#}");
        assert_eq!(harness["status"]["state"], "checked", "{said}");
        let verdict = harness["verdict"].as_str().unwrap();
        assert!(verdict.contains("crate `hides`"), "{said}");
        let reasons = harness["promise"]["reasons"].as_array().unwrap();
        assert!(reasons.iter().any(|it| it == "not_followed"), "{said}");
        let notes = harness["notes"].to_string();
        assert!(notes.contains("it did something else"), "{said}");
        // Not the last execution went another way.
        assert!(notes.contains("has left out"), "{said}");
        let failures = harness["failures"].as_array().unwrap();
        assert_eq!(failures.len(), usize::from(name == "fails"), "{said}");
    }
}

#[test]
fn who_polls_what_is_not_followed_does_not_wait_for_ever() {
    let own = format!("{MANIFEST}\n[dependencies]\nhides = {{ path = \"hides\" }}\n");
    let dir = program(&[
        ("Cargo.toml", &own),
        ("src/lib.rs", include_str!("followed/polls.rs")),
        ("hides/Cargo.toml", &inner("hides")),
        (
            "hides/src/lib.rs",
            "use std::collections::VecDeque;\nuse std::sync::Mutex;\n\
             #[derive(Default)]\npub struct Queue<T>(Mutex<VecDeque<T>>);\n\
             impl<T> Queue<T> {\n\
             pub fn push(&self, it: T) { self.0.lock().unwrap().push_back(it) }\n\
             pub fn pop(&self) -> Option<T> { self.0.lock().unwrap().pop_front() }\n\
             pub fn is_empty(&self) -> bool { self.0.lock().unwrap().is_empty() }\n}\n",
        ),
    ]);
    for strategy in ["odpor", "mcr", "random", "icb", "dfs"] {
        let args = ["explore", "--strategy", strategy, "--max-executions", "200"];
        let more = ["--not-followed", "hides", "--format", "json"];
        let run = seqz(dir.path(), args.into_iter().chain(more));
        let report = run.json();
        for (name, harness) in harnesses(&report) {
            let said = format!("{strategy} {name} {harness:#}");
            assert_eq!(harness["status"]["state"], "checked", "{said}");
            let failures = harness["failures"].as_array().unwrap();
            assert_eq!(failures.is_empty(), name.contains("ok_"), "{said}");
            if name.ends_with("bad_waits_for_nothing") {
                assert_eq!(failures[0]["kind"], "livelock", "{said}");
                // What was written down ends in the same way.
                let kept = dir.path().join(report["findings"].as_str().unwrap());
                let files = fs::read_dir(kept).unwrap().map(|file| file.unwrap().path());
                let of_it =
                    |file: &PathBuf| fs::read_to_string(file).is_ok_and(|it| it.contains(&name));
                let file = files.into_iter().find(of_it).unwrap();
                let again = seqz(dir.path(), [OsStr::new("replay"), file.as_os_str()]);
                assert_eq!(again.code, Some(1), "{said}\n{}", again.shown());
            }
            let verdict = harness["verdict"].as_str().unwrap();
            assert!(verdict.contains("not followed"), "{said}");
        }
    }
}
