//! Dependencies are followed: what they share between threads has events, as in the program itself.

mod support;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{Run, program, seqz};

const HARNESSES: &str = include_str!("dependencies/harnesses.rs");

fn manifest(name: &str, edition: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"{edition}\"\n{more}")
}

/// A workspace with dependencies of all kinds: by their paths, and from a directory that stands for the registry.
fn workspace() -> tempfile::TempDir {
    let own = manifest(
        "user",
        "2021",
        "\n[workspace]\nmembers = [\"featured\"]\n\n[dependencies]\n\
         lock = { path = \"real-lock\", package = \"real-lock\" }\n\
         featured = { path = \"featured\", features = [\"counts\"] }\n\
         of2015 = { path = \"of2015\" }\nbare = { path = \"bare\" }\nunfit = { path = \"unfit\" }\n\
         waits = { path = \"waits\" }\nouter = { path = \"outer\" }\ntickets = \"0.1\"\nold-tickets = { package = \"tickets\", version = \"0.0.9\" }\n",
    );
    let ticket = |version: &str| manifest("tickets", "2021", "").replace("0.1.0", version);
    let checksum = "{\"files\":{},\"package\":null}";
    let vendored = "[source.crates-io]\nreplace-with = \"vendored\"\n\n[source.vendored]\ndirectory = \"vendor\"\n";
    program(&[
        ("Cargo.toml", &own),
        (".cargo/config.toml", vendored),
        ("src/lib.rs", HARNESSES),
        ("real-lock/Cargo.toml", &manifest("real-lock", "2021", "")),
        ("real-lock/src/lib.rs", include_str!("dependencies/lock.rs")),
        (
            "featured/Cargo.toml",
            &manifest(
                "featured",
                "2021",
                "\n[features]\ncounts = []\n\n[lib]\npath = \"code/root.rs\"\n",
            ),
        ),
        (
            "featured/code/root.rs",
            include_str!("dependencies/featured.rs"),
        ),
        (
            "featured/outside/name.rs",
            "pub const NAME: &str = include_str!(\"name.txt\");\n",
        ),
        ("featured/outside/name.txt", "of a file"),
        ("of2015/Cargo.toml", &manifest("of2015", "2015", "")),
        ("of2015/src/lib.rs", include_str!("dependencies/of2015.rs")),
        ("bare/Cargo.toml", &manifest("bare", "2018", "")),
        ("bare/src/lib.rs", include_str!("dependencies/bare.rs")),
        ("waits/Cargo.toml", &manifest("waits", "2021", "")),
        ("waits/src/lib.rs", include_str!("dependencies/waits.rs")),
        ("unfit/Cargo.toml", &manifest("unfit", "2021", "")),
        ("unfit/src/lib.rs", include_str!("dependencies/unfit.rs")),
        (
            "outer/Cargo.toml",
            &manifest(
                "outer",
                "2021",
                "\n[dependencies]\nlock = { path = \"../real-lock\", package = \"real-lock\" }\n",
            ),
        ),
        (
            "outer/src/lib.rs",
            "pub fn add(n: &lock::Lock<u32>) { n.with(|n| *n += 1) }\n",
        ),
        ("vendor/tickets/Cargo.toml", &ticket("0.1.0")),
        ("vendor/tickets/.cargo-checksum.json", checksum),
        (
            "vendor/tickets/src/lib.rs",
            include_str!("dependencies/tickets.rs"),
        ),
        ("vendor/tickets-0.0.9/Cargo.toml", &ticket("0.0.9")),
        ("vendor/tickets-0.0.9/.cargo-checksum.json", checksum),
        (
            "vendor/tickets-0.0.9/src/lib.rs",
            &include_str!("dependencies/tickets.rs").replace(
                "let ticket = self.next.fetch_add(1, SeqCst);",
                "let ticket = self.next.load(SeqCst);\n        self.next.store(ticket + 1, SeqCst);",
            ),
        ),
    ])
}

fn harnesses(run: &Run) -> BTreeMap<String, Value> {
    let document = run.json();
    let all = document["harnesses"].as_array().unwrap();
    all.iter()
        .map(|it| (it["name"].as_str().unwrap().to_owned(), it.clone()))
        .collect()
}

fn explore(dir: &Path, more: &[&str]) -> Run {
    let args = ["explore", "--format", "json"];
    seqz(dir, args.iter().chain(more))
}

#[test]
fn what_dependencies_share_is_searched_as_what_the_program_shares() {
    let dir = workspace();
    let run = explore(dir.path(), &[]);
    assert_eq!(run.code, Some(1), "{}", run.shown());
    let found = harnesses(&run);
    assert_eq!(found.len(), HARNESSES.matches("#[test]").count());
    let all_orders = harnesses(&explore(dir.path(), &["--strategy", "dfs"]));
    for (name, harness) in &found {
        let said = format!("{name} {harness:#}");
        let failures = harness["failures"].as_array().unwrap();
        assert_eq!(failures.is_empty(), !name.starts_with("bad_"), "{said}");
        let verdict = harness["verdict"].as_str().unwrap();
        if name.contains("unfit") {
            assert!(verdict.contains("not followed: crate `unfit`"), "{said}");
            continue;
        }
        assert_eq!(harness["not_followed"], Value::Array(Vec::new()), "{said}");
        assert!(verdict.starts_with("exhausted"), "{said}");
        let of_dfs = &all_orders[name];
        assert!(
            of_dfs["verdict"].as_str().unwrap().starts_with("exhausted"),
            "{of_dfs:#}"
        );
        let kinds = |harness: &Value| {
            let failures = harness["failures"].as_array().unwrap().iter();
            let kind = |it: &Value| (it["kind"].to_string(), it["site"]["line"].to_string());
            let mut kinds: Vec<_> = failures.map(kind).collect();
            kinds.sort();
            kinds
        };
        assert_eq!(kinds(harness), kinds(of_dfs), "{said}");
        let executions = |it: &Value| it["counts"]["executions"].as_u64().unwrap();
        assert!(executions(harness) > 1, "{said}");
        assert!(executions(harness) <= executions(of_dfs), "{said}");
    }
}

#[test]
fn a_trace_names_places_in_dependencies_and_can_be_replayed() {
    let dir = workspace();
    let run = explore(dir.path(), &["--harness", "bad_tickets"]);
    let found = harnesses(&run);
    let failure = &found["bad_tickets"]["failures"][0];
    let events = failure["schedule"].as_array().unwrap();
    let files: Vec<_> = events
        .iter()
        .filter_map(|event| event["site"]["file"].as_str())
        .collect();
    assert!(files.contains(&"tickets-0.0.9/src/lib.rs"), "{files:?}");
    let texts: Vec<_> = events
        .iter()
        .filter_map(|event| event["site"]["text"].as_str())
        .collect();
    assert!(
        texts.contains(&"let ticket = self.next.load(SeqCst);"),
        "{texts:?}"
    );
    let kept = dir.path().join(run.json()["findings"].as_str().unwrap());
    let file = kept.join("1.json");
    let again = seqz(dir.path(), [OsStr::new("replay"), file.as_os_str()]);
    assert_eq!(again.code, Some(1), "{}", again.shown());
    let said = seqz(dir.path(), ["explore", "--harness", "bad_tickets"]);
    let place = "tickets-0.0.9/src/lib.rs:15";
    assert!(said.stdout.contains(place), "{}", said.shown());
}

/// One test comes to a function that can't be run, the other one may and does not.
const LEFT_OUT: &str = "
#[cfg(test)]
mod tests {
    fn number(asks: bool) -> u64 {
        let handle = std::thread::spawn(|| ());
        let number = if asks { lock::number_of_system(&handle) } else { 0 };
        handle.join().unwrap();
        number
    }

    #[test]
    fn asks() {
        assert_ne!(number(true), 0);
    }

    #[test]
    fn does_not_ask() {
        assert_eq!(number(false), 0);
        assert_eq!(lock::Held::of(\"a text\").value(), \"a text\");
    }
}
";

#[test]
fn a_function_that_can_not_be_run_is_left_out_alone() {
    let own = manifest(
        "user",
        "2021",
        "\n[workspace]\n\n[dependencies]\nlock = { path = \"lock\" }\n",
    );
    let dir = program(&[
        ("Cargo.toml", &own),
        ("src/lib.rs", LEFT_OUT),
        ("lock/Cargo.toml", &manifest("lock", "2021", "")),
        ("lock/src/lib.rs", include_str!("dependencies/lock.rs")),
    ]);
    let found = harnesses(&explore(dir.path(), &[]));
    let asks = &found["tests::asks"]["status"];
    assert_eq!(asks["state"], "unsupported", "{asks:#}");
    let reason = asks["reason"].as_str().unwrap();
    assert!(reason.contains("as_pthread_t"), "{reason}");
    let line = include_str!("dependencies/lock.rs").lines().zip(1..);
    let mut line = line.filter(|(line, _)| line.contains("fn number_of_system"));
    assert_eq!(asks["site"]["line"], line.next().unwrap().1, "{asks:#}");
    let verdict = found["tests::does_not_ask"]["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("exhausted"), "{verdict}");
}

#[test]
fn who_is_followed_and_who_is_not_is_listed() {
    let dir = workspace();
    let run = seqz(dir.path(), ["list", "--format", "json"]);
    let document = run.json();
    let all = document["dependencies"].as_array().unwrap();
    let followed = |name: &str, version: &str| {
        let mut all = all.iter();
        let it = all.find(|it| it["name"] == name && it["version"] == version);
        it.unwrap_or_else(|| panic!("{name} {document:#}"))["followed"] == true
    };
    for name in [
        "real-lock",
        "featured",
        "of2015",
        "bare",
        "tickets",
        "outer",
    ] {
        assert!(followed(name, "0.1.0"), "{name}");
    }
    assert!(followed("tickets", "0.0.9"));
    assert!(!followed("unfit", "0.1.0"));
    let options = [
        "list",
        "--follow",
        "bare,tickets",
        "--not-followed",
        "tickets",
    ];
    let said = seqz(dir.path(), options).stdout;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("followed: bare 0.1.0"), "{said}");
    assert!(
        said.contains("not followed: crate `tickets` (an `AtomicUsize`"),
        "{said}"
    );
    // What is built as it is has no events, and promises nothing.
    let run = explore(
        dir.path(),
        &["--harness", "bad_feature", "--not-followed", "featured"],
    );
    let found = &harnesses(&run)["bad_feature"];
    assert_eq!(found["counts"]["executions"], 1, "{found:#}");
    let verdict = found["verdict"].as_str().unwrap();
    assert!(
        verdict.contains("crate `featured` (a `OnceLock`"),
        "{verdict}"
    );
    assert_eq!(run.code, Some(0), "{}", run.shown());
}

#[test]
fn a_name_of_no_dependency_is_refused() {
    let dir = workspace();
    for (command, option, name) in [
        ("explore", "--not-followed", "nosuch"),
        ("explore", "--follow", "ticket"),
        // The program's own name for it.
        ("list", "--follow", "bare,lock"),
        ("doctor", "--not-followed", "user"),
    ] {
        let run = seqz(dir.path(), [command, option, name]);
        assert_eq!(run.code, Some(2), "{option} {name}: {}", run.shown());
        let wanted = name.rsplit(',').next().unwrap();
        let said = format!("does not depend on a package `{wanted}`");
        assert!(run.stderr.contains(&said), "{}", run.shown());
        let all = "bare, featured, of2015, outer, real-lock, tickets, unfit, waits";
        let help = format!("there are: {all}");
        assert!(run.stderr.contains(&help), "{}", run.shown());
    }
    // Those that need not be followed are known, by either spelling.
    for name in ["real_lock", "real-lock", "unfit", "outer"] {
        let run = seqz(dir.path(), ["list", "--not-followed", name]);
        assert_eq!(run.code, Some(0), "{}", run.shown());
    }
    // A package of a workspace need not have what another one has.
    let run = seqz(dir.path(), ["list", "--workspace", "--follow", "bare"]);
    assert_eq!(run.code, Some(0), "{}", run.shown());
    let run = seqz(dir.path(), ["list", "--workspace", "--follow", "bear"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    let alone =
        support::package("#[test]\nfn alone() { std::thread::spawn(|| ()).join().unwrap(); }\n");
    let run = seqz(alone.path(), ["list", "--follow", "bare"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    assert!(run.stderr.contains("it depends on none"), "{}", run.shown());
}

/// A flag that is taken by an exchange that may fail without a reason.
const WEAK: &str = "
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

#[derive(Default)]
pub struct Flag(AtomicBool);

impl Flag {
    pub fn take(&self) -> bool {
        self.0.compare_exchange_weak(false, true, SeqCst, SeqCst).is_ok()
    }

    pub fn give(&self) {
        self.0.store(false, SeqCst);
    }
}
";

const TAKES: &str = "
#[test]
fn twice() {
    let (first, second) = (weak::Flag::default(), weak::Flag::default());
    std::thread::scope(|scope| {
        scope.spawn(|| first.take().then(|| first.give()));
        // That it finds no token is an event, too.
        assert!(second.take(), \"the second is free\");
        second.give();
        assert!(second.take(), \"it is free again\");
    });
}
";

#[test]
fn what_happens_without_a_reason_in_a_dependency_is_replayed() {
    let own = "\n[workspace]\n\n[dependencies]\nweak = { path = \"weak\" }\n";
    let dir = program(&[
        ("Cargo.toml", &manifest("takes", "2021", own)),
        ("src/lib.rs", TAKES),
        ("weak/Cargo.toml", &manifest("weak", "2021", "")),
        ("weak/src/lib.rs", WEAK),
    ]);
    let run = explore(dir.path(), &[]);
    assert_eq!(run.code, Some(1), "{}", run.shown());
    let found = harnesses(&run);
    let failures = found["twice"]["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 2, "{failures:#?}");
    let with_none = failures.iter().filter(|failure| {
        let mut events = failure["schedule"].as_array().unwrap().iter();
        events.any(|event| event["action"] == "failed_update")
    });
    assert!(with_none.count() > 0, "{failures:#?}");
    let kept = dir.path().join(run.json()["findings"].as_str().unwrap());
    for number in 1..=failures.len() {
        let file = kept.join(format!("{number}.json"));
        let again = seqz(dir.path(), [OsStr::new("replay"), file.as_os_str()]);
        let same = again.stdout.contains("as it did when it was found");
        assert!(same, "{}", again.shown());
    }
}

/// A crate that starts threads for its users.
const CREW: &str = "
pub struct Crew;

impl Crew {
    pub fn both(&self, first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
        std::thread::scope(|scope| {
            scope.spawn(first);
            second();
        });
    }

    pub fn size(&self) -> usize {
        2
    }
}

pub fn double(number: usize) -> usize {
    2 * number
}

#[macro_export]
macro_rules! counter {
    ($name:ident) => {
        pub mod $name {
            use core::sync::atomic::{AtomicU32, Ordering::SeqCst};
            static N: ::core::sync::atomic::AtomicU32 = AtomicU32::new(0);
            pub fn next() -> u32 {
                N.fetch_add(1, SeqCst)
            }
        }
    };
}
";

/// A crate that shares by a macro of another one alone, so that it is not followed.
const PLAIN: &str = "crew::counter!(tickets);\n";

/// Tests that start no thread themselves.
const CREWED: &str = "
#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    fn add(n: &AtomicU32) {
        n.store(n.load(SeqCst) + 1, SeqCst);
    }

    #[test]
    fn both_add() {
        let n = AtomicU32::new(0);
        crew::Crew.both(|| add(&n), || add(&n));
        assert_eq!(n.load(SeqCst), 2, \"an update is lost\");
    }

    #[test]
    fn one_adds() {
        let n = AtomicU32::new(0);
        crew::Crew.both(|| add(&n), || ());
        assert_eq!(n.load(SeqCst), 1);
    }

    #[test]
    fn both_draw() {
        crew::Crew.both(|| drop(plain::tickets::next()), || drop(plain::tickets::next()));
        assert_eq!(plain::tickets::next(), 2);
    }

    #[test]
    fn no_thread() {
        assert_eq!(crew::double(1), 2);
    }
}
";

#[test]
fn tests_for_which_a_dependency_starts_threads_are_harnesses() {
    let own = manifest(
        "crewed",
        "2021",
        "\n[workspace]\n\n[dependencies]\ncrew = { path = \"crew\" }\nplain = { path = \"plain\" }\n",
    );
    let dir = program(&[
        ("Cargo.toml", &own),
        ("src/lib.rs", CREWED),
        ("crew/Cargo.toml", &manifest("crew", "2021", "")),
        ("crew/src/lib.rs", CREW),
        (
            "plain/Cargo.toml",
            &manifest(
                "plain",
                "2021",
                "\n[dependencies]\ncrew = { path = \"../crew\" }\n",
            ),
        ),
        ("plain/src/lib.rs", PLAIN),
    ]);
    let found = harnesses(&explore(dir.path(), &[]));
    let names: Vec<_> = found.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["tests::both_add", "tests::both_draw", "tests::one_adds"]
    );
    // What a macro of a followed crate makes elsewhere finds the runtime, too.
    let counts = &found["tests::both_draw"]["counts"];
    assert_eq!(counts["executions"], 2, "{}", found["tests::both_draw"]);
    let failures = found["tests::both_add"]["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1);
    let message = failures[0]["message"].as_str().unwrap();
    assert!(message.contains("an update is lost"), "{message}");
    let verdict = found["tests::one_adds"]["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("exhausted"), "{verdict}");
    // Where the dependency is built as it is, its threads are the system's, and no harness.
    let run = seqz(dir.path(), ["explore", "--not-followed", "crew"]);
    assert_eq!(run.code, Some(2), "{}", run.shown());
    assert!(run.stderr.contains("no harness"), "{}", run.shown());
}

/// A crate that gives std's atomics a method, and has a counter.
const GIVES: &str = "
use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};

pub trait Look {
    fn look(&self) -> usize;
}

impl Look for AtomicUsize {
    fn look(&self) -> usize {
        self.load(SeqCst)
    }
}

#[derive(Default)]
pub struct Counter(AtomicUsize);

impl Counter {
    pub fn add(&self) {
        self.0.fetch_add(1, SeqCst);
    }

    pub fn get(&self) -> usize {
        self.0.look()
    }
}
";

/// A crate that calls the method on an atomic of std, and that no harness reaches.
const CALLS: &str = "
use core::sync::atomic::AtomicUsize;
use gives::Look;

pub fn look(n: &AtomicUsize) -> usize {
    n.look()
}
";

const COUNTS: &str = "
#[test]
fn both_count() {
    let counter = gives::Counter::default();
    std::thread::scope(|scope| {
        scope.spawn(|| counter.add());
        counter.add();
    });
    assert_eq!(counter.get(), 2);
}
";

#[test]
fn who_uses_a_copy_is_followed_where_it_would_not_compile() {
    let own = manifest(
        "counting",
        "2021",
        "\n[workspace]\n\n[dependencies]\ngives = \"0.1\"\n\n[dev-dependencies]\ncalls = \"0.1\"\n",
    );
    let uses = manifest("calls", "2021", "\n[dependencies]\ngives = \"0.1\"\n");
    let vendored = "[source.crates-io]\nreplace-with = \"vendored\"\n\n[source.vendored]\ndirectory = \"vendor\"\n";
    let checksum = "{\"files\":{},\"package\":null}";
    let explored = |calls: &str| {
        let dir = program(&[
            ("Cargo.toml", &own),
            (".cargo/config.toml", vendored),
            ("src/lib.rs", COUNTS),
            ("vendor/gives/Cargo.toml", &manifest("gives", "2021", "")),
            ("vendor/gives/.cargo-checksum.json", checksum),
            ("vendor/gives/src/lib.rs", GIVES),
            ("vendor/calls/Cargo.toml", &uses),
            ("vendor/calls/.cargo-checksum.json", checksum),
            ("vendor/calls/src/lib.rs", calls),
        ]);
        let run = explore(dir.path(), &[]);
        harnesses(&run)["both_count"].clone()
    };
    let found = explored(CALLS);
    let verdict = found["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("exhausted"), "{verdict}");
    assert_eq!(found["counts"]["executions"], 2, "{found:#}");
    // Where that is no help, what it uses is built as it is.
    let unfit = format!("{CALLS}{}", include_str!("dependencies/unfit.rs"));
    let found = explored(&unfit);
    let first = &found["not_followed"][0];
    assert_eq!(first["crate"], "gives", "{found:#}");
    let what = first["what"].as_str().unwrap();
    assert!(what.contains("crate `calls`"), "{what}");
}

/// It takes std's locks to be as large as they are, of which only rustc knows.
const NEVER_FITS: &str = "
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

pub fn count() -> usize {
    static N: AtomicUsize = AtomicUsize::new(0);
    N.fetch_add(1, SeqCst)
}

const fn size<T>() -> usize {
    std::mem::size_of::<T>()
}

const _: () = assert!(size::<std::sync::Mutex<u32>>() == 12);
";

#[test]
fn a_copy_that_does_not_compile_is_not_built_again() {
    let own = manifest(
        "asks",
        "2021",
        "\n[workspace]\n\n[dependencies]\nnever-fits = \"0.1\"\n",
    );
    let checksum = "{\"files\":{},\"package\":null}";
    let vendored = "[source.crates-io]\nreplace-with = \"vendored\"\n\n[source.vendored]\ndirectory = \"vendor\"\n";
    let test = "
#[test]
fn both_count() {
    std::thread::spawn(|| drop(never_fits::count())).join().unwrap();
}
";
    let dir = program(&[
        ("Cargo.toml", &own),
        (".cargo/config.toml", vendored),
        ("src/lib.rs", test),
        (
            "vendor/never-fits/Cargo.toml",
            &manifest("never-fits", "2021", ""),
        ),
        ("vendor/never-fits/.cargo-checksum.json", checksum),
        ("vendor/never-fits/src/lib.rs", NEVER_FITS),
    ]);
    let copies = || {
        let all = fs::read_dir(support::target_dir().join("followed"));
        let all = all.into_iter().flatten().map(|it| it.unwrap().path());
        all.filter(|it| it.to_string_lossy().contains("never-fits"))
            .collect::<Vec<_>>()
    };
    let said = |run: &Run| harnesses(run)["both_count"]["not_followed"].clone();
    copies()
        .iter()
        .for_each(|copy| fs::remove_dir_all(copy).unwrap());
    let first = explore(dir.path(), &[]);
    assert_eq!(said(&first)[0]["crate"], "never-fits", "{}", first.shown());
    let copy = copies();
    assert_eq!(copy.len(), 1);
    fs::remove_dir_all(&copy[0]).unwrap();
    let again = explore(dir.path(), &[]);
    assert_eq!(said(&again), said(&first));
    assert!(
        copies().is_empty(),
        "the copy was written for another build"
    );
    // Another source of the crate is another copy.
    let mended = &NEVER_FITS[..NEVER_FITS.find("const _").unwrap()];
    fs::write(dir.path().join("vendor/never-fits/src/lib.rs"), mended).unwrap();
    let mended = explore(dir.path(), &[]);
    let followed = mended.json()["harnesses"][0].clone();
    assert_eq!(
        said(&mended).as_array().map(Vec::len),
        Some(0),
        "{followed:#}"
    );
}

#[test]
fn what_cargo_can_not_find_is_told_by_list_too() {
    let own = manifest(
        "asks",
        "2021",
        "\n[workspace]\n\n[dependencies]\ntickets = \"=7.0.0\"\n",
    );
    let vendored = "[source.crates-io]\nreplace-with = \"vendored\"\n\n[source.vendored]\ndirectory = \"vendor\"\n";
    let dir = program(&[
        ("Cargo.toml", &own),
        (".cargo/config.toml", vendored),
        (
            "src/lib.rs",
            "#[test]\nfn waits() { std::thread::spawn(|| ()).join().unwrap(); }\n",
        ),
        (
            "vendor/tickets/Cargo.toml",
            &manifest("tickets", "2021", ""),
        ),
        (
            "vendor/tickets/.cargo-checksum.json",
            "{\"files\":{},\"package\":null}",
        ),
        ("vendor/tickets/src/lib.rs", ""),
    ]);
    for command in ["list", "explore"] {
        let run = seqz(dir.path(), [command]);
        assert_eq!(run.code, Some(2), "{}", run.shown());
        assert!(run.stderr.contains("=7.0.0"), "{}", run.shown());
    }
}
