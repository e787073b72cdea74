//! What macro calls stand for: tests and modules that the crate's macros make, items given to macros of other crates, and
//! files that are included.

use std::fs;
use std::path::Path;

use seqz_transform::{Mode, Options, Program};

fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

const MANIFEST: &str =
    "[package]\nname = \"some-crate\"\nversion = \"1.0.0\"\nedition = \"2021\"\n";

const STARTS: &str = "#[test]\nfn starts() {\n    std::thread::spawn(|| ()).join().unwrap();\n}\n";

/// The harnesses with their lines, and a generated file.
fn generated(dir: &Path, file: &str) -> (Vec<String>, String) {
    let program = Program::load(dir, Mode::Scheduled).unwrap();
    let harnesses = program.harnesses().iter();
    let names = harnesses.map(|harness| {
        let place = &harness.place;
        let file = place.file.file_name().unwrap().to_string_lossy();
        format!("{} {file}:{}", harness.name, place.start.line)
    });
    let generated = program.transform(&Options::default()).unwrap();
    let found = generated
        .files
        .iter()
        .find(|(path, _)| path == Path::new(file));
    let text = found.map_or_else(String::new, |(_, text)| text.clone());
    (names.collect(), text)
}

#[test]
fn crates_for_tests_alone_and_paths_from_all_crates_are_seen() {
    let lib = format!(
        "#[cfg(test)] extern crate first;\n#[cfg(test)] extern crate second as other;\n#[cfg(unix)] extern crate third;\n\
         macro_rules! local {{ ($($t:tt)+) => {{ ::std::thread_local! {{ $($t)+ }} }} }}\n\
         local! {{ static T: u32 = 1; }}\n\
         #[macro_export]\nmacro_rules! of_all {{ ($($t:tt)+) => {{ ::std::thread_local! {{ $($t)+ }} }} }}\n{STARTS}"
    );
    let dir = directory(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &lib)]);
    let (_, text) = generated(dir.path(), "src/lib.rs");
    assert!(!text.contains("cfg(test)"), "{text}");
    for kept in [
        "extern crate first;",
        "extern crate second as other;",
        "#[cfg(unix)] extern crate third;",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    let led = "=> { ::seqz_runtime::thread_local! {";
    assert_eq!(text.matches(led).count(), 2, "{text}");
}

#[test]
fn tests_that_macros_make_are_harnesses() {
    let lib = "\
macro_rules! made {
    ($($name:ident => $by:expr),* $(,)?) => { $(mod $name {
        #[cfg(test)]
        use std::sync::Mutex;
        #[test]
        #[ignore = \"or not\"]
        fn slow() { crate::go() }
        #[test]
        fn quick() { let _ = Mutex::new($by); crate::go() }
    })* };
}
fn go() { std::thread::spawn(|| ()); }
made! {
    one => 1,
    two => 1 + 1,
}
macro_rules! named { ($(#[$meta:meta])* $vis:vis fn $name:ident) => { $(#[$meta])* $vis fn $name() { go() } } }
named!(#[test] fn by_its_arguments);
named!(/** docs */ pub fn no_test);
macro_rules! nested { () => { mod deeper { named_again!(#[test] fn below); } } }
macro_rules! named_again { (#[test] fn $name:ident) => { #[test] fn $name() { crate::go() } } }
nested!();
mod apart {
    fn unused() { macro_rules! local { () => { mod inner { #[test] fn not_a_test() { crate::go() } } } } local!(); }
}
";
    let dir = directory(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)]);
    let (names, text) = generated(dir.path(), "src/lib.rs");
    let expected = [
        "one::slow lib.rs:13",
        "one::quick lib.rs:13",
        "two::slow lib.rs:13",
        "two::quick lib.rs:13",
        "by_its_arguments lib.rs:18",
        "no_test lib.rs:19",
        "deeper::below lib.rs:22",
    ];
    let mut sorted = (names, expected.map(str::to_string).to_vec());
    sorted.0.sort();
    sorted.1.sort();
    assert_eq!(sorted.0, sorted.1);
    assert!(text.contains("pub(crate) mod $name {"), "{text}");
    assert!(text.contains("pub(crate) fn quick()"), "{text}");
    assert!(
        text.contains("use ::seqz_runtime::std::sync::Mutex;"),
        "{text}"
    );
    assert!(!text.contains("#[test]\n"), "{text}");
}

#[test]
fn modules_in_macros_have_their_files() {
    let lib = "\
macro_rules! with_std { ($($i:item)*) => { $(#[cfg(not(feature = \"no_std\"))] $i)* }; }
with_std! { mod counter; pub use counter::Counter; }
cfg_if::cfg_if! {
    if #[cfg(windows)] { mod windows; }
    else if #[cfg(all(test, target_os = \"linux\"))] { mod linux; }
    else { mod other; }
}
unheard_of! { mod taken { mod deeper; } }
some_data! { a: 1, b: [2] }
";
    let dir = directory(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", lib),
        (
            "src/counter.rs",
            "pub struct Counter(std::sync::Mutex<u32>);\n#[cfg(test)]\nmod tests;\n",
        ),
        ("src/counter/tests.rs", STARTS),
        ("src/linux.rs", STARTS),
        ("src/taken/deeper.rs", STARTS),
    ]);
    let (names, text) = generated(dir.path(), "src/counter.rs");
    assert_eq!(
        names,
        [
            "counter::tests::starts tests.rs:2",
            "linux::starts linux.rs:2",
            "taken::deeper::starts deeper.rs:2",
        ]
    );
    assert!(
        text.contains("::seqz_runtime::std::sync::Mutex<u32>"),
        "{text}"
    );
    let (_, text) = generated(dir.path(), "src/lib.rs");
    assert!(text.contains("cfg(all(all(), target_os"), "{text}");
}

#[test]
fn included_files_are_read() {
    let dir = directory(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            "#![doc = include_str!(\"../README.md\")]\nmod a { include!(\"parts/items.rs\"); }\ninclude!(\"../shared.rs\");\n",
        ),
        (
            "src/parts/items.rs",
            "static N: std::sync::Mutex<u32> = std::sync::Mutex::new(0);\n#[test]\nfn included() { std::thread::spawn(|| N.lock().map(drop)); }\n",
        ),
        ("shared.rs", STARTS),
        ("README.md", "# Read me\n"),
    ]);
    let (names, lib) = generated(dir.path(), "src/lib.rs");
    assert_eq!(names, ["a::included items.rs:3", "starts shared.rs:2"]);
    assert!(lib.contains("include!(\"parts/items.rs\")"), "{lib}");
    assert!(
        lib.contains(&format!(
            "include_str!({:?})",
            dir.path().canonicalize().unwrap().join("README.md")
        )),
        "{lib}"
    );
    let (_, items) = generated(dir.path(), "src/parts/items.rs");
    assert!(
        items.contains("::seqz_runtime::std::sync::Mutex<u32>"),
        "{items}"
    );
}

#[test]
fn a_module_is_run_as_a_part_of_its_crate() {
    let dir = directory(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", &format!("pub mod read;\n{STARTS}")),
        ("src/read.rs", &format!("mod guard;\n{STARTS}")),
        ("src/read/guard.rs", STARTS),
        ("src/alone.rs", STARTS),
    ]);
    let (names, _) = generated(&dir.path().join("src/read.rs"), "src/lib.rs");
    assert_eq!(names, ["read::starts read.rs:3"]);
    // No module of the crate.
    let (names, _) = generated(&dir.path().join("src/alone.rs"), "src/lib.rs");
    assert_eq!(names, ["starts alone.rs:2"]);
}

const PLACES: &str = "use std::sync::Mutex;
#[test]
fn places() {
    std::thread::spawn(|| ()).join().unwrap();
    let told = (Mutex::new(0), file!(), column!());
    /* é */ assert_eq!(column!(), 24, \"{}\", std::file!());
}
macro_rules! here { () => { file!() } }
";

#[test]
fn places_are_told_as_rustc_tells_them() {
    let dir = directory(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"member\"]\n"),
        ("member/Cargo.toml", MANIFEST),
        ("member/src/lib.rs", "mod inner;\nfn f() { file!(); }"),
        ("member/src/inner.rs", PLACES),
        ("lone.rs", PLACES),
    ]);
    let (_, text) = generated(&dir.path().join("member"), "src/inner.rs");
    assert!(text.contains("\"member/src/inner.rs\", 41u32);"), "{text}");
    assert!(
        text.contains("!(24u32, 24, \"{}\", \"member/src/inner.rs\")"),
        "{text}"
    );
    // In the text of a macro it is the file of the call.
    assert!(text.contains("=> { file!() }"), "{text}");

    let lone = dir.path().join("lone.rs");
    let (_, text) = generated(&lone, "src/lib.rs");
    let name = format!("{:?}", lone.display().to_string());
    assert_eq!(text.matches(&name).count(), 3, "{text}");
}

#[test]
fn what_a_place_tells_when_it_is_asked_is_named() {
    let ask = "fn f() -> (u32, &'static str) { let it = std::panic::Location::caller(); (it.column(), it.file()) }\n";
    let own = "struct Table; impl Table { fn column(&self) {} } fn g(it: Table) { it.column() }\n";
    let called = |calls: &str| STARTS.replace("|| ()", &format!("|| drop({calls})"));
    for (text, named) in [
        (format!("{ask}{}", called("f()")), 2),
        (format!("{own}{}", called("g(Table)")), 0),
    ] {
        let dir = directory(&[("lone.rs", &text)]);
        let program = Program::load(&dir.path().join("lone.rs"), Mode::Scheduled).unwrap();
        let hidden = &program.harnesses()[0].unfollowed;
        assert_eq!(hidden.len(), named, "{hidden:?}");
    }
}
