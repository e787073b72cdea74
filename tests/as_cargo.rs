//! Programs are built as cargo builds them for `cargo test`: whatever they can see of their build is the same, and what compiles
//! there compiles here.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::programs::HEAD;
use support::{package, program, seqz, target_dir};

/// Values behind locks that can't be copied. A static's are the initial ones in every execution all the same.
const UNCOPIED: &str = "
use std::sync::{Condvar, RwLock, mpsc};

type Job = Box<dyn FnOnce() -> u64 + Send + 'static>;

#[test]
fn a_pool_of_threads() {
    let (send, receive) = mpsc::channel::<Job>();
    let receive = Arc::new(Mutex::new(receive));
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let receive = Arc::clone(&receive);
            thread::spawn(move || {
                let mut sum = 0;
                while let Ok(job) = { let job = receive.lock().unwrap().recv(); job } { sum += job(); }
                sum
            })
        })
        .collect();
    for i in 0..2 { send.send(Box::new(move || i)).unwrap(); }
    drop(send);
    assert_eq!(workers.into_iter().map(|worker| worker.join().unwrap()).sum::<u64>(), 1);
}

#[test]
fn callbacks() {
    let all: Arc<Mutex<Vec<Box<dyn Fn(u32) -> u32 + Send>>>> = Arc::default();
    let theirs = all.clone();
    let adds = thread::spawn(move || theirs.lock().unwrap().push(Box::new(|x| x + 1)));
    assert_eq!(all.lock().unwrap().iter().map(|call| call(1)).sum::<u32>(), 2, \"not added yet\");
    adds.join().unwrap();
}

static HOOKS: Mutex<Vec<Box<dyn FnMut() -> usize + Send>>> = Mutex::new(Vec::new());

fn hook() -> usize {
    let mut hooks = HOOKS.lock().unwrap();
    let number = hooks.len();
    hooks.push(Box::new(move || number));
    hooks.iter_mut().map(|hook| hook()).sum()
}

#[test]
fn a_static_begins_anew() {
    let other = thread::spawn(hook);
    let sums = [hook(), other.join().unwrap()];
    assert!(sums == [0, 1] || sums == [1, 0]);
}

struct Once(Condvar, Mutex<Option<Box<dyn Fn() + Send>>>);

#[test]
fn a_slot_is_waited_for() {
    let slot = Arc::new(Once(Condvar::new(), Mutex::new(None)));
    let theirs = Arc::clone(&slot);
    let other = thread::spawn(move || {
        let mut slot = theirs.1.lock().unwrap();
        while slot.is_none() { slot = theirs.0.wait(slot).unwrap(); }
        slot.take().unwrap()();
    });
    *slot.1.lock().unwrap() = Some(Box::new(|| ()));
    slot.0.notify_one();
    other.join().unwrap();
}

#[test]
fn a_handle_behind_a_lock() {
    let handle = Arc::new(RwLock::new(None));
    *handle.write().unwrap() = Some(thread::spawn(|| 7));
    let theirs = Arc::clone(&handle);
    let joins = thread::spawn(move || theirs.write().unwrap().take().map(|handle| handle.join().unwrap()));
    let mine = handle.write().unwrap().take().map(|handle| handle.join().unwrap());
    assert_eq!(mine.or(joins.join().unwrap()), Some(7));
}
";

#[test]
fn explore_makes_no_copies() {
    let dir = package(&format!("{HEAD}{UNCOPIED}"));
    let explored = seqz(dir.path(), ["explore", "--format", "json"]);
    let report = explored.json();
    for harness in report["harnesses"].as_array().unwrap() {
        let name = harness["name"].as_str().unwrap();
        let failures: Vec<_> = harness["failures"]
            .as_array()
            .unwrap()
            .iter()
            .map(|failure| failure["message"].as_str().unwrap())
            .collect();
        let is_right = match name {
            "callbacks" => failures.len() == 1 && failures[0].contains("not added yet"),
            _ => failures.is_empty(),
        };
        assert!(is_right, "{name}: {failures:?}");
        assert_eq!(
            harness["promise"]["state"], "exhausted",
            "{name}: {harness}"
        );
    }
    assert_eq!(report["harnesses"].as_array().unwrap().len(), 5);
    // The finding is run again by the same worker. `check` says what it can't do, and explores that.
    let found = std::fs::read_dir(report["findings"].as_str().unwrap()).unwrap();
    let finding = found
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "json"))
        .unwrap();
    let replayed = seqz(dir.path(), ["replay".as_ref(), finding.as_os_str()]);
    assert_eq!(replayed.code, Some(1), "{}", replayed.shown());
    let checked = seqz(dir.path(), ["check", "--harness", "callbacks"]);
    assert_eq!(checked.code, Some(1), "{}", checked.shown());
    let said: Vec<_> = checked.stdout.split_whitespace().collect();
    let said = said.join(" ");
    for part in [
        "`Vec<Box<dyn Fn(u32) -> u32 + Send>>` is shared",
        "help: `seqz explore`",
        "failure: assertion",
    ] {
        assert!(said.contains(part), "{}", checked.shown());
    }
}

/// Checks that every harness of the package is one of its tests under `cargo test`, and passes as it does there, but for those
/// with `fails` in their names.
#[track_caller]
fn is_as_under_cargo(dir: &Path, package: &str, harnesses: usize) {
    let path = dir.join(package);
    let tested = Command::new("cargo")
        .args([
            "test",
            "--offline",
            "--no-fail-fast",
            "--",
            "--test-threads",
            "1",
        ])
        .current_dir(&path)
        .env("CARGO_TARGET_DIR", target_dir().join("as-cargo"))
        .env("RUST_BACKTRACE", "0")
        .env_remove("CARGO_PROFILE_RELEASE_OPT_LEVEL")
        .output()
        .unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let tested = said(&tested.stdout) + &said(&tested.stderr);
    let explored = seqz(dir, ["explore", package, "--format", "json"]);
    let report = explored.json();
    let all = report["harnesses"].as_array().unwrap();
    for harness in all {
        let name = harness["name"].as_str().unwrap();
        let under_cargo = tested.lines().find_map(|line| {
            let line = line.strip_prefix("test ")?;
            let (test, result) = line.split_once(" ... ")?;
            (test == name || name.ends_with(&format!("::{test}"))).then_some(result == "ok")
        });
        assert!(under_cargo.is_some(), "cargo knows no {name}:\n{tested}");
        let failures = &harness["failures"];
        let clean = failures.as_array().is_some_and(Vec::is_empty);
        // What fails by chance may well pass there.
        let fails = name.contains("fails");
        assert!(
            fails || under_cargo == Some(true),
            "{name} under cargo:\n{tested}"
        );
        assert_eq!(clean, !fails, "{name}: {failures}");
    }
    assert_eq!(all.len(), harnesses, "{}", explored.shown());
}

/// What every harness below does beside what it looks at.
const BESIDE: &str = "
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
static N: AtomicU64 = AtomicU64::new(0);
fn two() {
    let other = std::thread::spawn(|| N.fetch_add(1, SeqCst));
    N.fetch_add(1, SeqCst);
    other.join().unwrap();
}
";

const ROOT: &str = r#"
[workspace]
members = ["app", "helper", "second", "third", "nowhere"]
resolver = "2"

[workspace.package]
version = "1.2.3-beta.4"
authors = ["A <a@example.org>", "B"]
edition = "2018"
license = "MIT"

[workspace.dependencies]
helper = { path = "helper", default-features = false }

[profile.dev]
overflow-checks = false
"#;

const APP: &str = r#"
[package]
name = "the-app"
version.workspace = true
authors.workspace = true
edition.workspace = true
license.workspace = true
description = "has \"everything\""
build = "build/script.rs"

[lib]
name = "app"

[dependencies]
helper = { workspace = true, features = ["one"] }
never = { package = "nowhere", path = "../nowhere", optional = true }
for_tests = { package = "third", path = "../third", optional = true }

[target."cfg(unix)".dependencies]
unix-helper = { package = "second", path = "../second" }

[target.'cfg(windows)'.dependencies]
for_windows = { package = "nowhere", path = "../nowhere" }

[dev-dependencies]
for_tests = { package = "third", path = "../third", features = ["two"] }
the-app = { path = ".", features = ["asked_for"] }

[build-dependencies]
helper = { workspace = true, default-features = true }

[features]
default = ["usual"]
usual = []
asked_for = []
unusual = []

[lints.rust]
unsafe_code = "forbid"
"#;

const SCRIPT: &str = r#"
#![deny(warnings)]
mod parts;
use std::{env, fs, path::Path};
type Result = std::result::Result<(), Box<dyn std::error::Error>>;
fn main() -> Result {
    let out = env::var("OUT_DIR")?;
    crate::parts::write(&out)?;
    assert_eq!(helper::name(), "helper");
    assert_eq!(env::var("CARGO_PKG_NAME")?, "the-app");
    assert!(Path::new(&env::var("CARGO_MANIFEST_DIR")?).ends_with("app"));
    assert_eq!(env!("CARGO_PKG_VERSION"), "1.2.3-beta.4");
    assert_eq!(include_str!("note.txt"), "a note\n");
    assert_eq!(env::var("PROFILE")?, "debug");
    assert!(env::var("CARGO_FEATURE_ASKED_FOR").is_ok());
    let data = fs::read_to_string("data.txt")?;
    println!("cargo:rerun-if-changed=data.txt");
    println!("cargo:rustc-check-cfg=cfg(from_script, script_says, values(\"yes\", \"no\"))");
    println!("cargo:rustc-cfg=from_script");
    println!("cargo:rustc-cfg=script_says=\"yes\"");
    println!("cargo:rustc-env=FROM_DATA={}", data.trim());
    println!("cargo:rustc-link-arg-tests=-Wl,--as-needed");
    println!("cargo:rustc-link-search=native=lib");
    println!("cargo:some-metadata=1");
    Ok(())
}
"#;

const LOOKS: &str = r#"
#[cfg(from_script)]
pub fn it() -> u32 { 1 }
#[cfg(not(from_script))]
pub fn it() -> Nothing { 0 }
pub const DATA: &str = include_str!("../data.txt");
pub const MADE: &str = include_str!(concat!(env!("OUT_DIR"), "/made.txt"));

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn cfgs() {
        two();
        assert!(cfg!(all(from_script, script_says = "yes")) && it() == 1);
        assert!(cfg!(all(feature = "usual", feature = "asked_for", debug_assertions, test)));
        assert!(!cfg!(any(feature = "unusual", feature = "for_tests", feature = "never")));
    }
    #[test]
    fn at_compile_time() {
        two();
        assert_eq!(env!("CARGO_PKG_NAME"), "the-app");
        assert_eq!(env!("CARGO_CRATE_NAME"), "app");
        assert_eq!(env!("CARGO_PKG_VERSION"), "1.2.3-beta.4");
        assert_eq!(env!("CARGO_PKG_VERSION_PRE"), "beta.4");
        assert_eq!(env!("CARGO_PKG_AUTHORS"), "A <a@example.org>:B");
        assert_eq!(option_env!("CARGO_PKG_LICENSE"), Some("MIT"));
        assert_eq!(env!("CARGO_PKG_DESCRIPTION"), "has \"everything\"");
        assert_eq!(env!("FROM_DATA"), "forty-two");
        assert_eq!(module_path!(), "app::tests");
        assert!(std::any::type_name::<It>().starts_with("app::tests::It"));
        assert!(file!().ends_with("lib.rs"));
        assert_eq!((DATA, MADE), ("forty-two\n", "made"));
    }
    struct It;
    #[test]
    fn at_run_time() {
        two();
        let var = |name: &str| std::env::var(name).unwrap();
        assert_eq!(var("CARGO_PKG_NAME"), "the-app");
        assert_eq!(var("CARGO_MANIFEST_DIR"), env!("CARGO_MANIFEST_DIR"));
        assert_eq!(var("CARGO_MANIFEST_PATH"), format!("{}/Cargo.toml", env!("CARGO_MANIFEST_DIR")));
        assert_eq!(var("FROM_DATA"), "forty-two");
        assert_eq!(std::fs::read_to_string("data.txt").unwrap(), DATA);
        let named = concat!(env!("CARGO_MANIFEST_DIR"), "/data.txt");
        assert_eq!(std::fs::read_to_string(named).unwrap(), DATA);
        assert_eq!(std::fs::read_to_string(format!("{}/made.txt", var("OUT_DIR"))).unwrap(), MADE);
        // Before their first events, too.
        use std::thread::{Builder, current, spawn};
        let is = |name| assert_eq!(current().name(), name);
        Builder::new().name("one".into()).spawn(move || is(Some("one"))).unwrap().join().unwrap();
        let of_two = spawn(move || { is(None); two_of(); });
        fn two_of() {
            let is = || assert_eq!(current().name(), Some("two"));
            Builder::new().name("two".into()).spawn(is).unwrap().join().unwrap();
        }
        of_two.join().unwrap();
        std::thread::scope(|scope| {
            let named = Builder::new().name("three".into());
            named.spawn_scoped(scope, || is(Some("three"))).unwrap();
        });
    }
    #[test]
    fn dependencies() {
        two();
        assert_eq!((helper::name(), unix_helper::name()), ("helper", "second"));
        assert_eq!(for_tests::two(), 2);
    }
    #[test]
    fn overflow_is_as_the_profile_says() {
        two();
        let small = std::hint::black_box(255_u8);
        assert_eq!(small + 1, 0);
    }
    #[test]
    fn fails_where_it_should() {
        let other = std::thread::spawn(|| N.store(N.load(SeqCst) + 1, SeqCst));
        N.store(N.load(SeqCst) + 1, SeqCst);
        other.join().unwrap();
        assert_eq!(N.load(SeqCst), u64::from(it()));
    }
}
"#;

const NAMED: &str = "pub fn name() -> &'static str { env!(\"CARGO_PKG_NAME\") }\n";

fn crate_of(name: &str) -> String {
    format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[features]\none = []\ntwo = []\n"
    )
}

#[test]
fn packages_see_of_their_build_what_cargo_shows_them() {
    let lib = format!("{BESIDE}{LOOKS}");
    let beside = format!(
        "{BESIDE}\n#[test]\nfn in_a_file_of_its_own() {{\n    two();\n    \
         assert!(env!(\"CARGO_BIN_EXE_tool\").ends_with(\"tool\"));\n    \
         assert!(env!(\"CARGO_TARGET_TMPDIR\").ends_with(\"tmp\"));\n    assert_eq!(app::it(), 1);\n}}\n"
    );
    let dir = program(&[
        ("Cargo.toml", ROOT),
        ("app/Cargo.toml", APP),
        ("app/build/script.rs", SCRIPT),
        (
            "app/build/parts.rs",
            "use std::{fs, io, path::Path};\npub fn write(out: &str) -> io::Result<()> {\n    \
             fs::write(Path::new(out).join(\"made.txt\"), \"made\")\n}\n",
        ),
        ("app/build/note.txt", "a note\n"),
        ("app/data.txt", "forty-two\n"),
        ("app/src/lib.rs", &lib),
        ("app/src/bin/tool.rs", "fn main() {}\n"),
        ("app/tests/beside.rs", &beside),
        ("helper/Cargo.toml", &crate_of("helper")),
        ("helper/src/lib.rs", NAMED),
        ("second/Cargo.toml", &crate_of("second")),
        ("second/src/lib.rs", NAMED),
        ("third/Cargo.toml", &crate_of("third")),
        (
            "third/src/lib.rs",
            "#[cfg(feature = \"two\")]\npub fn two() -> u32 { 2 }\n",
        ),
        ("nowhere/Cargo.toml", &crate_of("nowhere")),
        ("nowhere/src/lib.rs", "compile_error!(\"not for this\");\n"),
    ]);
    is_as_under_cargo(dir.path(), "app", 7);
    // What only the script reads counts, too.
    fs::write(dir.path().join("app/data.txt"), "forty-three\n").unwrap();
    let changed = seqz(
        dir.path(),
        ["explore", "app", "--harness", "at_compile_time"],
    );
    assert_eq!(changed.code, Some(1), "{}", changed.shown());
    // The crate for other testers is built in the same way.
    let written = seqz(
        dir.path(),
        [
            "transform",
            "app",
            "--k",
            "0",
            "--harness",
            "cfgs",
            "-o",
            "out",
        ],
    );
    assert_eq!(written.code, Some(0), "{}", written.shown());
    let built = Command::new("cargo")
        .args(["build", "--offline"])
        .current_dir(dir.path().join("out"))
        .env("CARGO_TARGET_DIR", target_dir().join("of-generated-crates"))
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
}

const THING: &str = "
fn main() {
    assert_eq!(std::env::var(\"CARGO_MANIFEST_LINKS\").unwrap(), \"thing\");
    println!(\"cargo:answer=42\");
}
";

const LINKS: &str = "
use std::{env, fs, path::Path};

fn main() {
    assert_eq!(env::var(\"CARGO_MANIFEST_LINKS\").unwrap(), \"own\");
    println!(\"cargo:root=here\");
    println!(\"cargo:rustc-env=ANSWER={}\", env::var(\"DEP_THING_ANSWER\").unwrap());
    let out = env::var(\"OUT_DIR\").unwrap();
    fs::write(Path::new(&out).join(\"made.rs\"), \"pub fn made() {}\").unwrap();
}
";

/// Packages that link native libraries, and what their scripts say to those of their dependents; with one that is made.
#[test]
fn scripts_hear_of_what_is_linked() {
    let package = |name: &str, links: &str, more: &str| {
        format!(
            "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2021\"\nlinks = {links:?}\n{more}"
        )
    };
    let answers = "
#[test]
fn is_told() {
    two();
    assert_eq!((env!(\"ANSWER\"), thing_sys::thing()), (\"42\", 1));
}
";
    let depends = "[dependencies]\nthing-sys = { path = \"../thing-sys\" }\n";
    let lib = format!("{BESIDE}{answers}");
    let dir = program(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"app\", \"thing-sys\"]\nresolver = \"2\"\n",
        ),
        ("app/Cargo.toml", &package("app", "own", depends)),
        ("app/build.rs", LINKS),
        ("app/src/lib.rs", &lib),
        ("thing-sys/Cargo.toml", &package("thing-sys", "thing", "")),
        ("thing-sys/build.rs", THING),
        ("thing-sys/src/lib.rs", "pub fn thing() -> u32 { 1 }\n"),
    ]);
    is_as_under_cargo(dir.path(), "app", 1);
    // What is made when the crate is built is compiled as it is. It can't be followed, where a harness may use it.
    let made = "\npub mod made { include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\")); }\n";
    let uses = "
#[test]
fn uses_it() {
    made::made();
    two();
}
";
    fs::write(
        dir.path().join("app/src/lib.rs"),
        format!("{lib}{made}{uses}"),
    )
    .unwrap();
    let line = lib.lines().count() + 2;
    let explored = seqz(dir.path(), ["explore", "app", "--format", "json"]);
    assert_eq!(explored.code, Some(0), "{}", explored.shown());
    let report = explored.json();
    let harnesses = report["harnesses"].as_array().unwrap();
    let verdict = |name: &str| {
        let found = harnesses.iter().find(|it| it["name"] == name);
        found.unwrap()["verdict"].as_str().unwrap()
    };
    assert!(verdict("is_told").starts_with("exhausted"), "{report:#}");
    let said = format!(
        "not exhausted: not followed: code that `include!` takes from the build (app/src/lib.rs:{line})"
    );
    assert_eq!(verdict("uses_it"), said);
}

/// How tests and modules are declared in macros, in the edition that leaves most out.
const OLD: &str = r#"
#![doc = include_str!("../README.md")]
extern crate serde;
#[cfg(test)] extern crate serde_json;
use std::sync::{Arc, Mutex, RwLock};
type Action = Fn(&u32) -> Result<u32, ()> + Send + Sync;
pub trait Scale<R> { fn scale(self, R) -> u64; }
macro_rules! scale {
    ($t:ty, $r:ty) => {
        impl Scale<$r> for $t { fn scale(self, by: $r) -> u64 { self as u64 * by as u64 } }
    };
}
scale!(u64, u8);
scale!(u64, u16);
macro_rules! with_std { ($($i:item)*) => { $(#[cfg(not(feature = "no_std"))] $i)* } }
with_std! { mod counter; pub use counter::Counter; }
macro_rules! tests { ($($name:ident => $counter:expr;)*) => { $(mod $name {
    use std::sync::Arc;
    #[test]
    fn lost() {
        let counter = Arc::new($counter);
        let other = counter.clone();
        let thread = ::std::thread::spawn(move || other.add());
        counter.add();
        thread.join().unwrap();
        if stringify!($name) == "fails" { assert_eq!(counter.get(), 2) }
    }
})* } }
tests! { fails => ::Counter::default(); passes => ::Counter::default(); }
include!("more.rs");
#[derive(Default)]
pub struct Stats { hits: AtomicU64, names: Mutex<Vec<String>>, open: RwLock<Option<bool>>, host: Option<Arc<str>> }
use std::sync::atomic::*;
static FLAG: AtomicBool = ATOMIC_BOOL_INIT;
static BELOW: AtomicIsize = ATOMIC_ISIZE_INIT;
static ABOVE: [AtomicUsize; 2] = [ATOMIC_USIZE_INIT, ::std::sync::atomic::ATOMIC_USIZE_INIT];
static ONCE: std::sync::Once = std::sync::ONCE_INIT;
#[test]
fn of_deprecated_names() {
    let once = || ONCE.call_once(|| { FLAG.store(true, SeqCst); BELOW.fetch_sub(1, SeqCst); });
    let other = ::std::thread::spawn(once);
    once();
    ::std::thread::sleep_ms(1);
    assert_eq!(ABOVE[1].compare_and_swap(0, 3, SeqCst), 0);
    other.join().unwrap();
    assert_eq!((FLAG.load(SeqCst), BELOW.load(SeqCst), ABOVE[1].load(SeqCst)), (true, -1, 3));
}
fn act(action: &Action) -> Result<u32, ()> { let async = try!(action(&1)); Ok(async) }
#[test]
fn of_an_old_edition() {
    two();
    assert_eq!(act(&|n| Ok(n + 1)), Ok(2));
    assert_eq!(2u64.scale(3u8) + 2u64.scale(4u16), 14);
    assert_eq!(::std::thread::current().name(), Some("of_an_old_edition"));
    assert_eq!(::std::any::type_name::<Mutex<AtomicU64>>().matches("sync").count(), 2);
    assert!(!::std::any::type_name::<Stats>().contains("seqz"));
}
"#;

const SERIALIZED: &str = r#"
impl serde::Serialize for Stats {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (&self.hits, &self.names, &self.open, self.host.as_ref().map(|host| &**host)).serialize(to)
    }
}
#[test]
fn serialized_with_fails() {
    let stats = Arc::new(Stats::default());
    let theirs = stats.clone();
    let other = ::std::thread::spawn(move || {
        let hits = theirs.hits.load(SeqCst);
        theirs.hits.store(hits + 1, SeqCst);
        theirs.names.lock().unwrap().push("b".to_string());
    });
    let hits = stats.hits.load(SeqCst);
    stats.hits.store(hits + 1, SeqCst);
    other.join().unwrap();
    assert_eq!(serde_json::to_string(&*stats).unwrap(), "[2,[\"b\"],null,null]");
}
#[test]
fn read_back() {
    two();
    let (hits, names): (AtomicU64, Mutex<Vec<u8>>) = serde_json::from_str("[7,[1,2]]").unwrap();
    assert_eq!((hits.load(SeqCst), names.lock().unwrap().len()), (7, 2));
}
"#;

#[test]
fn what_compiles_under_cargo_compiles_here() {
    let lib = format!("{OLD}\n{SERIALIZED}");
    let counter = "
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
#[derive(Default)]
pub struct Counter(AtomicUsize);
impl Counter {
    pub fn add(&self) { let n = self.0.load(SeqCst); self.0.store(n + 1, SeqCst); }
    pub fn get(&self) -> usize { self.0.load(SeqCst) }
}
mod deeper;
";
    let starts = "#[test]\nfn starts() { ::std::thread::spawn(|| ()).join().unwrap(); }\n";
    let manifest = "[package]\nname = \"old\"\nversion = \"0.1.0\"\n\n[workspace]\n\n[dependencies]\nserde = \"1\"\n\n\
                    [dev-dependencies]\nserde_json = \"1\"\n";
    let dir = program(&[
        ("old/Cargo.toml", manifest),
        ("old/README.md", "# An old crate\n"),
        ("old/src/lib.rs", &lib),
        ("old/src/more.rs", BESIDE),
        ("old/src/counter.rs", counter),
        ("old/src/counter/deeper.rs", starts),
    ]);
    is_as_under_cargo(dir.path(), "old", 7);
    // A module's file by itself is a part of its crate.
    let listed = seqz(dir.path(), ["list", "old/src/counter/deeper.rs"]);
    assert!(
        listed.stdout.contains("counter::deeper::starts"),
        "{}",
        listed.shown()
    );
}

/// Handles of shared values are serialized, also where `unsafe` code has them counted.
const SHARED: &str = r#"
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak};
#[derive(serde::Serialize, serde::Deserialize, Default)]
pub struct Node { hits: AtomicU64, host: Option<Arc<str>>, up: Weak<u8>, parts: Vec<Arc<Mutex<u8>>> }
#[test]
fn serialized_fails() {
    let node = Arc::new(Node { host: Some("a".into()), parts: vec![Arc::default()], ..Node::default() });
    let theirs = node.clone();
    let other = std::thread::spawn(move || theirs.hits.store(theirs.hits.load(SeqCst) + 1, SeqCst));
    node.hits.store(node.hits.load(SeqCst) + 1, SeqCst);
    other.join().unwrap();
    let text = serde_json::to_string(&*node).unwrap();
    let back: Node = serde_json::from_str(&text).unwrap();
    assert_eq!(back.host.as_deref(), Some("a"));
    assert!(back.up.upgrade().is_none());
    assert_eq!(text, "{\"hits\":2,\"host\":\"a\",\"up\":null,\"parts\":[0]}");
}
#[test]
fn made_of_raw_memory() {
    let place = Box::into_raw(Box::new(3));
    assert_eq!(unsafe { *Box::from_raw(place) }, 3);
    std::thread::spawn(|| ()).join().unwrap();
}
"#;

#[test]
fn counted_handles_are_serialized() {
    let manifest = "[package]\nname = \"shared\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                    [dependencies]\nserde = { version = \"1\", features = [\"derive\", \"rc\"] }\nserde_json = \"1\"\n";
    let dir = program(&[
        ("shared/Cargo.toml", manifest),
        ("shared/src/lib.rs", SHARED),
    ]);
    is_as_under_cargo(dir.path(), "shared", 2);
}

/// Handles of objects of traits without `dyn`, which are counted, and variables that are called as crates are.
const BARE: &str = "
use std::any::Any;
use std::sync::{Arc, Mutex};
pub type Value = Arc<Any + Send + Sync>;
pub struct Slot { value: Mutex<Value>, core: Arc<Mutex<u32>> }
fn put(slot: &Slot, std: u32) { let value = Arc::new(std); *slot.value.lock().unwrap() = value; *slot.core.lock().unwrap() += 1; }
fn is_number(value: Arc<Any>) -> bool { value.is::<u32>() }
#[test]
fn the_last_one_stays() {
    let core = Arc::new(Mutex::new(0));
    let slot = Arc::new(Slot { value: Mutex::new(Arc::new(0u8)), core });
    let theirs = slot.clone();
    let alloc = ::std::thread::spawn(move || put(&theirs, 1));
    put(&slot, 2);
    alloc.join().unwrap();
    let core = slot.core.clone();
    assert_eq!((*core.lock().unwrap(), Arc::strong_count(&core)), (2, 2));
    let value = slot.value.lock().unwrap().clone();
    assert_eq!(Arc::strong_count(&value), 2);
    assert!(is_number(value));
}
";

#[test]
fn objects_of_traits_without_dyn() {
    let manifest =
        "[package]\nname = \"bare\"\nversion = \"0.1.0\"\nedition = \"2018\"\n\n[workspace]\n";
    let dir = program(&[("bare/Cargo.toml", manifest), ("bare/src/lib.rs", BARE)]);
    is_as_under_cargo(dir.path(), "bare", 1);
}
