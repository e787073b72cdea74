//! The command line: help, and everything that can be wrong with what is given.

mod support;

use std::fs;

use support::{MANIFEST, command, package, program, run, seqz, settings};

const RACE: &str = r#"
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

#[test]
fn lost_update() {
    let counter = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&counter);
    let adder = thread::spawn(move || {
        let seen = other.load(SeqCst);
        other.store(seen + 1, SeqCst);
    });
    let seen = counter.load(SeqCst);
    counter.store(seen + 1, SeqCst);
    adder.join().unwrap();
    assert_eq!(counter.load(SeqCst), 2);
}
"#;

macro_rules! snapshot {
    ($name:literal, $dir:expr, $args:expr) => {{
        let run = seqz($dir.path(), $args);
        settings($dir.path()).bind(|| insta::assert_snapshot!($name, run.shown()));
    }};
}

#[test]
fn help_tells_what_there_is() {
    let dir = program(&[]);
    snapshot!("help", dir, ["--help"]);
    snapshot!("help_short", dir, ["-h"]);
    snapshot!("help_check", dir, ["check", "--help"]);
    snapshot!("help_transform", dir, ["transform", "--help"]);
    snapshot!("help_list", dir, ["list", "--help"]);
    snapshot!("help_explore", dir, ["explore", "--help"]);
    snapshot!("help_fuzz", dir, ["fuzz", "--help"]);
    snapshot!("help_replay", dir, ["replay", "--help"]);
    snapshot!("help_report", dir, ["report", "--help"]);
    snapshot!("help_compare", dir, ["compare", "--help"]);
    snapshot!("help_test", dir, ["test", "--help"]);
    snapshot!("help_doctor", dir, ["doctor", "--help"]);
}

#[test]
fn doctor_says_how_far_searches_come() {
    let lib = "
        use std::cell::UnsafeCell;
        use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
        #[test]
        fn followed() {
            static COUNT: AtomicU32 = AtomicU32::new(0);
            std::thread::spawn(|| COUNT.store(1, SeqCst)).join().unwrap();
        }
        struct Shared(UnsafeCell<u32>);
        unsafe impl Sync for Shared {}
        #[test]
        fn unfollowed() {
            static SHARED: Shared = Shared(UnsafeCell::new(0));
            std::thread::spawn(|| unsafe { *SHARED.0.get() = 1 }).join().unwrap();
        }
    ";
    let run = seqz(package(lib).path(), ["doctor"]);
    assert_eq!(run.code, Some(0), "{}", run.shown());
    for said in [
        "2 harnesses: 1 can be searched to the end, 1 can be searched but not to the end, 0 can't be run",
        "not followed",
        "UnsafeCell",
        "rustc",
        "cache",
    ] {
        // Long lines are wrapped.
        let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(said), "{said}: {}", run.shown());
    }
}

#[test]
fn wrong_options_are_refused_with_code_2() {
    let dir = package(RACE);
    for args in [
        &["frobnicate"][..],
        &["check", "--k-max", "many"],
        &["check", "--k-max", "65"],
        &["check", "--input", "=3"],
        &["check", "--time", "0"],
        &["check", "--solver", "guess"],
        &["check", "--format", "xml"],
        &["check", "--max-inputs", "0"],
        &["transform", "."],
        &["explore", "--strategy", "luck"],
        &["explore", "--stack-size", "1"],
        &["replay"],
    ] {
        let run = seqz(dir.path(), args);
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.shown());
        assert!(
            run.stdout.is_empty() && !run.stderr.is_empty(),
            "{args:?}: {}",
            run.shown()
        );
    }
}

/// Slips in a manifest are told once, in cargo's words and at the user's place, by every command.
#[test]
fn slips_in_a_manifest_are_the_users() {
    let slips = [
        ("[dependencies]\nthiserror = 2\n", "Cargo.toml:8:13"),
        (
            "[dependencies]\nabsent = { path = \"../absent\" }\n",
            "absent/Cargo.toml",
        ),
        ("[features]\ndefault = [\"absent\"]\n", "`absent`"),
        ("[lib]\npath = 3\n", "Cargo.toml:8:8"),
        ("[dependencies\n", "Cargo.toml:7:14"),
    ];
    for (slip, said) in slips {
        let manifest = format!("{MANIFEST}{slip}");
        let dir = program(&[("Cargo.toml", &manifest), ("src/lib.rs", RACE)]);
        for args in [
            &["list"][..],
            &["check"],
            &["explore", "src/lib.rs"],
            &["transform", "--k", "1", "-o", "out"],
            &["compare"],
        ] {
            let run = seqz(dir.path(), args);
            let shown = run.shown();
            assert_eq!(run.code, Some(2), "{args:?} {slip}: {shown}");
            assert_eq!(run.stdout, "", "{args:?} {slip}");
            assert_eq!(run.stderr.matches("error: ").count(), 2, "{slip}: {shown}");
            assert!(run.stderr.contains(said), "{args:?} {slip}: {shown}");
            assert!(!run.stderr.contains("programs/"), "{args:?}: {shown}");
        }
    }
}

/// Several harnesses that are refused for one reason have the reason told once, and in full.
#[test]
fn a_reason_that_harnesses_share_is_listed_once() {
    let uses = |name: &str| {
        format!("#[test]\nfn {name}() {{ std::thread::spawn(shared).join().unwrap(); }}\n")
    };
    let lib = format!(
        "fn shared() -> u8 {{ include!(\"../value.in\") }}\n{}{}",
        uses("one"),
        uses("two")
    );
    let dir = program(&[
        ("Cargo.toml", MANIFEST),
        ("value.in", "{ 3 }\n"),
        ("src/lib.rs", &lib),
    ]);
    let run = seqz(dir.path(), ["list"]);
    let said = |text: &str| run.stdout.matches(text).count();
    assert_eq!(
        said("the code in the included file isn't seen"),
        1,
        "{}",
        run.shown()
    );
    assert_eq!(
        said("error: `include!` is not supported"),
        2,
        "{}",
        run.shown()
    );
    assert_eq!(said("see above"), 1, "{}", run.shown());
}

#[test]
fn what_is_not_there_is_named() {
    let dir = program(&[("notes.txt", "no Rust"), ("empty/README", "")]);
    snapshot!("no_file", dir, ["check", "nothing.rs"]);
    snapshot!("no_rust", dir, ["check", "notes.txt"]);
    snapshot!("no_crate", dir, ["check", "empty"]);
}

#[test]
fn broken_programs_are_shown_where_they_break() {
    let dir = package("pub fn f() {\n    let x = ;\n}\n");
    snapshot!("syntax_error", dir, ["check"]);
    let dir = package("mod gone;\n");
    snapshot!("missing_module", dir, ["check"]);
    let dir = program(&[("bytes.rs", "")]);
    fs::write(dir.path().join("bytes.rs"), b"fn main() { \xff }").unwrap();
    snapshot!("not_utf8", dir, ["check", "bytes.rs"]);
}

/// Locks whose values have no size, where only inference can tell: no source that names the type shows it.
#[test]
fn locks_without_a_size_are_refused_where_they_are_inferred() {
    let of = |named: &str, ty: &str| {
        format!(
            "use std::sync::{{Arc, Mutex}};
use std::thread;
{named}
pub fn grows() {{
    let all: {ty} = Arc::new(Mutex::new([1_u8, 2]));
    let other = all.clone();
    let t = thread::spawn(move || other.lock().unwrap()[0] += 1);
    all.lock().unwrap()[0] += 1;
    t.join().unwrap();
}}
"
        )
    };
    for (named, ty) in [
        ("type Bytes = [u8];", "Arc<Mutex<Bytes>>"),
        (
            "macro_rules! locked { ($t:ty) => { Mutex<$t> } }",
            "Arc<locked!([u8])>",
        ),
        (
            "trait Kind { type Value: ?Sized; } impl Kind for u8 { type Value = [u8]; }",
            "Arc<Mutex<<u8 as Kind>::Value>>",
        ),
    ] {
        let dir = package(&of(named, ty));
        for what in ["explore", "check"] {
            let told = seqz(dir.path(), [what]);
            assert_eq!(told.code, Some(2), "{}", told.shown());
            for said in [
                "error: a lock of `[u8]` is not supported",
                "src/lib.rs:5:14",
                "`Box`",
            ] {
                assert!(told.stderr.contains(said), "{said}: {}", told.shown());
            }
        }
    }
    // What is at fault beside it is still told as what it is.
    let dir = package(&of("type Bytes = [u8];", "Arc<Mutex<Bytes>>").replace("+= 1;", "+= \"\";"));
    let told = seqz(dir.path(), ["explore"]);
    assert_eq!(told.code, Some(2), "{}", told.shown());
    assert!(told.stderr.contains("does not compile"), "{}", told.shown());
}

#[test]
fn a_slip_is_told_before_the_runtime_is_built() {
    for slip in ["counter.lode(SeqCst)", "missing()", "let n: u32 = \"\""] {
        let dir = package(&format!("{RACE}\nfn slips() {{ {slip}; }}\n"));
        let target = dir.path().join("elsewhere");
        // Neither the lack of one nor one that does not fit is for seqz to mend.
        let lock = dir.path().join("Cargo.lock");
        let locked = slip.starts_with("missing").then_some("version = 4\n");
        match locked {
            Some(text) => fs::write(&lock, text).unwrap(),
            None => drop(fs::remove_file(&lock)),
        }
        let cache = dir.path().join("cache");
        // Nothing of the runtime has been compiled that could be taken, not by a run of this test that has failed, either.
        for left in [&target, &cache] {
            let _ = fs::remove_dir_all(left);
        }
        let told = run(command(dir.path())
            .env("XDG_CACHE_HOME", cache)
            .args(["check", "--target-dir"])
            .arg(&target));
        assert_eq!(told.code, Some(2), "{}", told.shown());
        assert_eq!(fs::read_to_string(&lock).ok().as_deref(), locked);
        assert!(told.stderr.contains("does not compile"), "{}", told.shown());
        assert!(!target.join("runtime").exists(), "{}", told.shown());
        fs::remove_dir_all(target).unwrap();
    }
}

#[test]
fn a_program_without_harness_is_the_users_to_mend() {
    let dir = package("pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n");
    snapshot!("no_harness", dir, ["check"]);
    snapshot!("no_harness_list", dir, ["list"]);
}

#[test]
fn names_that_do_not_exist_get_those_that_do() {
    let dir = package(RACE);
    snapshot!("no_such_harness", dir, ["check", "--harness", "lost"]);
    snapshot!("no_such_input", dir, ["check", "--input", "n=3"]);
    snapshot!(
        "no_such_thread",
        dir,
        ["check", "--thread-under-test", "nobody"]
    );
}

#[test]
fn a_solver_that_is_not_built_in_says_how_to_get_it() {
    if cfg!(feature = "z3") {
        return;
    }
    let dir = package(RACE);
    snapshot!("no_z3", dir, ["check", "--solver", "z3"]);
}

#[test]
fn list_shows_harnesses() {
    let dir = package(RACE);
    snapshot!("list", dir, ["list"]);
    let listing = seqz(dir.path(), ["list", "--format", "json"]).json();
    assert_eq!(listing["harnesses"][0]["name"], "lost_update");
    assert_eq!(listing["harnesses"][0]["kind"], "test");
    assert_eq!(listing["harnesses"][0]["threads"][0]["line"], 10);
}

#[test]
fn transform_does_not_write_over_what_is_there() {
    let dir = program(&[("Cargo.toml", MANIFEST), ("src/lib.rs", RACE)]);
    fs::create_dir(dir.path().join("out")).unwrap();
    fs::create_dir(dir.path().join("out/src")).unwrap();
    let precious = dir.path().join("out/src/precious.rs");
    fs::write(&precious, "// mine").unwrap();
    snapshot!("not_empty", dir, ["transform", "--k", "1", "-o", "out"]);
    snapshot!(
        "not_a_directory",
        dir,
        ["transform", "--k", "1", "-o", "Cargo.toml/out"]
    );
    // Nobody but seqz may have written what is written over, whatever is said.
    let run = seqz(
        dir.path(),
        ["transform", "--k", "1", "-o", "out", "--force"],
    );
    assert_eq!(run.code, Some(2), "{}", run.shown());
    assert_eq!(fs::read_to_string(&precious).unwrap(), "// mine");
}

#[test]
fn transform_keeps_off_the_sources_of_the_program() {
    let dir = program(&[("Cargo.toml", MANIFEST), ("src/lib.rs", RACE)]);
    let alone = dir.path().join("alone");
    fs::create_dir(&alone).unwrap();
    fs::write(alone.join("race.rs"), RACE).unwrap();
    snapshot!(
        "into_the_sources",
        dir,
        ["transform", "--k", "1", "-o", ".", "--force"]
    );
    for (path, output) in [
        (".", "src"),
        (".", "src/new"),
        (".", "alone/../src/other"),
        (".", ".."),
        ("alone/race.rs", "alone"),
        ("alone/race.rs", "."),
    ] {
        let run = seqz(
            dir.path(),
            ["transform", path, "--k", "1", "-o", output, "--force"],
        );
        assert_eq!(run.code, Some(2), "{path} to {output}: {}", run.shown());
        assert!(run.stderr.contains("source"), "{}", run.shown());
    }
    let left = |file: &str| fs::read_to_string(dir.path().join(file)).unwrap();
    assert_eq!(left("src/lib.rs"), RACE);
    assert_eq!(left("Cargo.toml"), MANIFEST);
    assert_eq!(left("alone/race.rs"), RACE);
    let mut there: Vec<_> = fs::read_dir(dir.path().join("src")).unwrap().collect();
    assert_eq!(there.len(), 1, "{:?}", there.pop());
}

#[test]
fn transform_writes_over_what_it_has_written_when_told() {
    let dir = program(&[("Cargo.toml", MANIFEST), ("src/lib.rs", RACE)]);
    let transform = |more: &[&str]| {
        let words = ["transform", "--k", "1", "-o", "out"];
        seqz(dir.path(), words.iter().chain(more).copied())
    };
    assert_eq!(transform(&[]).code, Some(0));
    let p_hat = dir.path().join("out/src/p_hat.rs");
    let notes = dir.path().join("out/notes.txt");
    let original = fs::read_to_string(&p_hat).unwrap();
    fs::write(&p_hat, "// changed by hand").unwrap();
    fs::write(&notes, "mine").unwrap();
    let run = transform(&[]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    let run = transform(&["--force"]);
    assert_eq!(run.code, Some(0), "{}", run.shown());
    assert_eq!(fs::read_to_string(&p_hat).unwrap(), original);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine");
    // What is needed for the crate, and the user has written.
    fs::remove_file(dir.path().join("out/.seqz.json")).unwrap();
    let run = transform(&["--force"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
}

#[test]
fn keep_writes_over_nothing_but_what_seqz_wrote() {
    let dir = program(&[("Cargo.toml", MANIFEST), ("src/lib.rs", RACE)]);
    snapshot!("keep_refused", dir, ["check", "--keep", "."]);
    assert_eq!(
        fs::read_to_string(dir.path().join("src/lib.rs")).unwrap(),
        RACE
    );
    let kept = dir.path().join("kept");
    for _ in 0..2 {
        let run = seqz(dir.path(), ["check", "--keep", "kept"]);
        assert_eq!(run.code, Some(1), "{}", run.shown());
        assert!(kept.join("src/p_hat.rs").is_file());
        fs::write(kept.join("src/mine.rs"), "// mine").unwrap();
    }
    // What has been changed is somebody's work.
    fs::write(kept.join("src/p_hat.rs"), "// changed").unwrap();
    let run = seqz(dir.path(), ["check", "--keep", "kept"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    assert!(run.stderr.contains("was changed"), "{}", run.shown());
    let mine = fs::read_to_string(kept.join("src/mine.rs")).unwrap();
    assert_eq!(mine, "// mine");
}
