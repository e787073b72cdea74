//! Crates as cargo lays them out: module files, workspaces, tests beside the library.

use std::fs;
use std::path::{Path, PathBuf};

use seqz_transform::{Choice, Error, Generated, Mode, Options, Program};

/// A directory with these files.
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

fn load(dir: &Path) -> Program {
    Program::load(dir, Mode::Sequential)
        .unwrap_or_else(|error| panic!("{error} {:?}", error.help()))
}

fn generate(program: &Program) -> Generated {
    program
        .transform(&Options::default())
        .unwrap_or_else(|error| panic!("{error} {:?}", error.help()))
}

fn text<'g>(generated: &'g Generated, path: &str) -> &'g str {
    let found = generated
        .files
        .iter()
        .find(|(file, _)| file == Path::new(path));
    &found
        .unwrap_or_else(|| panic!("no {path} in {:?}", paths(generated)))
        .1
}

fn paths(generated: &Generated) -> Vec<PathBuf> {
    generated
        .files
        .iter()
        .map(|(path, _)| path.clone())
        .collect()
}

fn names(program: &Program) -> Vec<&str> {
    program
        .harnesses()
        .iter()
        .map(|harness| harness.name.as_str())
        .collect()
}

#[test]
fn module_files_keep_their_places() {
    let dir = directory(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            "mod flat;\nmod nested;\nmod inline { mod inside; #[path = \"odd.rs\"] mod named; }\n\
             #[path = \"else/where.rs\"]\nmod moved;\n#[cfg(target_os = \"none\")]\nmod missing;\n#[cfg(never)]\nmod unknown;\n",
        ),
        ("src/flat.rs", "pub mod below;\n"),
        ("src/flat/below.rs", STARTS),
        ("src/nested/mod.rs", "mod r#fn;\n"),
        ("src/nested/fn.rs", STARTS),
        ("src/inline/inside.rs", STARTS),
        ("src/inline/odd.rs", STARTS),
        ("src/else/where.rs", "mod beside;\n"),
        ("src/else/beside.rs", STARTS),
    ]);
    let program = load(dir.path());
    let expected = [
        "flat::below::starts",
        "nested::fn::starts",
        "inline::inside::starts",
        "inline::named::starts",
        "moved::beside::starts",
    ];
    assert_eq!(names(&program), expected);
    let generated = generate(&program);
    for path in [
        "flat/below",
        "nested/fn",
        "inline/inside",
        "inline/odd",
        "else/beside",
    ] {
        assert!(
            text(&generated, &format!("src/{path}.rs"))
                .contains("::seqz_runtime::std::thread::spawn")
        );
    }
    // Modules on the way to a harness are opened, and a keyword stays one.
    assert!(text(&generated, "src/nested/mod.rs").contains("pub(crate) mod r#fn;"));
    assert!(
        text(&generated, "src/p_hat/nested_fn_starts.rs").contains("crate::nested::r#fn::starts()")
    );
    assert!(
        text(&generated, "src/lib.rs").contains("pub(crate) mod inline { pub(crate) mod inside;")
    );
    assert_eq!(
        text(&generated, "src/p_hat/mod.rs")
            .matches("::HARNESS,")
            .count(),
        5
    );
    let origin = generated.map.lookup("src/flat/below.rs", 3, 5).unwrap();
    assert!(origin.file.ends_with("src/flat/below.rs"));
}

#[test]
fn modules_from_elsewhere() {
    let dir = directory(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            "#[path = \"../shared/part.rs\"]\nmod part;\nmod own;\n",
        ),
        ("src/own.rs", "#[path = \"sub/../moved.rs\"]\nmod moved;\n"),
        ("src/moved.rs", STARTS),
        (
            "shared/part.rs",
            "mod beside;\n#[path = \"../src/moved.rs\"]\nmod back;\n",
        ),
        ("shared/beside.rs", STARTS),
    ]);
    let program = load(dir.path());
    assert_eq!(
        names(&program),
        [
            "part::beside::starts",
            "part::back::starts",
            "own::moved::starts"
        ]
    );
    let generated = generate(&program);
    let outside: String = dir
        .path()
        .components()
        .skip(1)
        .map(|part| part.as_os_str().to_str().unwrap())
        .collect::<Vec<_>>()
        .join("/");
    let root = text(&generated, "src/lib.rs");
    assert!(
        root.contains(&format!("#[path = \"outside/{outside}/shared/part.rs\"]")),
        "{root}"
    );
    let part = text(&generated, &format!("src/outside/{outside}/shared/part.rs"));
    let up = "../".repeat(outside.split('/').count() + 2);
    assert!(
        part.contains(&format!("#[path = \"{up}moved.rs\"]")),
        "{part}"
    );
    assert!(text(&generated, "src/own.rs").contains("sub/../moved.rs"));
}

#[test]
fn a_file_beside_its_modules() {
    let dir = directory(&[
        ("prog.rs", "mod part;\nfn main() { part::go() }\n"),
        ("part.rs", "pub fn go() { std::thread::spawn(|| ()); }\n"),
    ]);
    let program = load(&dir.path().join("prog.rs"));
    assert_eq!(names(&program), ["main", "part::go"]);
    let generated = generate(&program);
    assert_eq!(generated.package, "prog-p-hat");
    assert!(text(&generated, "src/main.rs").contains("prog::p_hat::FUZZED"));
    assert!(text(&generated, "Cargo.toml").contains("edition = \"2024\""));
}

#[test]
fn missing_and_circular_modules() {
    let dir = directory(&[
        ("a.rs", "mod gone;\n"),
        ("b.rs", "#[path = \"b.rs\"]\nmod again;\n"),
    ]);
    let error = Program::load(&dir.path().join("a.rs"), Mode::Sequential)
        .map(|_| ())
        .unwrap_err();
    assert!(
        matches!(&error, Error::MissingModule { name, tried, .. } if name == "gone" && tried.len() == 2),
        "{error}"
    );
    assert_eq!(error.place().unwrap().start.col, 5);
    let error = Program::load(&dir.path().join("b.rs"), Mode::Sequential)
        .map(|_| ())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "syntax error: module `again` contains itself"
    );
}

#[test]
fn workspaces_are_inherited_from() {
    let dir = directory(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"member\", \"helper\"]\n[workspace.package]\nedition = \"2018\"\n\
             [workspace.dependencies]\nhelper = { path = \"helper\", features = [\"a\"] }\nlibc = \"0.2\"\n",
        ),
        (
            "member/Cargo.toml",
            "[package]\nname = \"member\"\nversion = \"0.1.0\"\nedition.workspace = true\n\
             [features]\ndefault = [\"fast\"]\nfast = []\n\
             [dependencies]\nhelper = { workspace = true, features = [\"b\"] }\nlibc.workspace = true\n\
             [dev-dependencies]\nother = { path = \"../helper\", package = \"helper\" }\n",
        ),
        (
            "member/src/lib.rs",
            "#[cfg(feature = \"fast\")]\npub fn go() { std::thread::spawn(|| ()); }\n\
             #[cfg(not(feature = \"fast\"))]\npub fn go() { std::sync::mpsc::channel::<u8>(); }\n",
        ),
        ("helper/Cargo.toml", "[package]\nname = \"helper\"\n"),
    ]);
    let program = load(&dir.path().join("member"));
    let generated = generate(&program);
    let manifest: toml::Table = text(&generated, "Cargo.toml").parse().unwrap();
    assert_eq!(manifest["package"]["edition"].as_str(), Some("2018"));
    let dependencies = &manifest["dependencies"];
    assert_eq!(dependencies["libc"]["version"].as_str(), Some("0.2"));
    let helper = dir.path().join("helper").canonicalize().unwrap();
    assert_eq!(dependencies["helper"]["path"].as_str(), helper.to_str());
    assert_eq!(
        dependencies["helper"]["features"].as_array().unwrap().len(),
        2
    );
    assert_eq!(dependencies["other"]["path"].as_str(), helper.to_str());
    assert_eq!(
        dependencies["seqz-runtime"]["path"].as_str(),
        Some("runtime")
    );
    assert_eq!(manifest["features"]["default"][0].as_str(), Some("fast"));
    assert_eq!(
        manifest["profile"]["release"]["overflow-checks"].as_bool(),
        Some(true)
    );
    let error = Program::load(dir.path(), Mode::Sequential)
        .map(|_| ())
        .unwrap_err();
    assert!(
        error.to_string().contains("give a member: member, helper"),
        "{error}"
    );
}

#[test]
fn patches_are_those_of_the_workspace_wherever_the_crate_is_built() {
    let patch = "[patch.crates-io]\nlibc = { path = \"libc\" }\nserde = { git = \"https://example.org\" }\n";
    let member = "[package]\nname = \"member\"\nedition = \"2024\"\n";
    let go = "pub fn go() { std::thread::spawn(|| ()); }\n";
    let dir = directory(&[
        (
            "Cargo.toml",
            &format!("[workspace]\nmembers = [\"member\"]\n{patch}"),
        ),
        ("member/Cargo.toml", member),
        ("member/src/lib.rs", go),
        ("alone/Cargo.toml", &format!("{member}{patch}")),
        ("alone/src/lib.rs", go),
        ("libc/Cargo.toml", "[package]\nname = \"libc\"\n"),
        ("alone/libc/Cargo.toml", "[package]\nname = \"libc\"\n"),
    ]);
    for (package, libc) in [("member", "libc"), ("alone", "alone/libc")] {
        let generated = generate(&load(&dir.path().join(package)));
        let libc = dir.path().join(libc).canonicalize().unwrap();
        let testers = generated.testers.iter();
        let files = generated.files.iter().chain(testers);
        let manifests = files.filter(|(path, _)| path.ends_with("Cargo.toml"));
        let mut count = 0;
        for (path, text) in manifests {
            let manifest: toml::Table = text.parse().unwrap();
            let patch = &manifest["patch"]["crates-io"];
            assert_eq!(patch["libc"]["path"].as_str(), libc.to_str(), "{path:?}");
            assert_eq!(patch["serde"]["git"].as_str(), Some("https://example.org"));
            count += 1;
        }
        // The crate's own, that for cargo-fuzz, and that for proptest.
        assert_eq!(count, 3);
    }
}

#[test]
fn macros_that_a_test_has_everywhere_are_asked_for_at_the_root() {
    let test = |name: &str, attributes: &str| {
        format!(
            "{attributes} extern crate some_macros;\n#[macro_use] extern crate some_crate;\n{STARTS}fn {name}() {{}}\n"
        )
    };
    let (first, second) = (
        test("one", "#[macro_use]"),
        test("two", "#[cfg(unix)] #[macro_use(twice)]"),
    );
    let dir = directory(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            "#[macro_export]\nmacro_rules! one { () => { 1 }; }\n",
        ),
        ("tests/first.rs", &first),
        ("tests/second.rs", &second),
        ("tests/third.rs", &first),
    ]);
    let generated = generate(&load(dir.path()));
    let root = text(&generated, "src/lib.rs");
    for asked in [
        "# [macro_use] extern crate some_macros as seqz_macros_0;\n",
        "# [cfg (unix)] # [macro_use (twice)] extern crate some_macros as seqz_macros_1;\n",
    ] {
        assert_eq!(root.matches(asked).count(), 1, "{root}");
    }
    assert_eq!(root.matches("extern crate some_").count(), 2, "{root}");
    for moved in ["first", "second", "third"] {
        let moved = text(&generated, &format!("src/tests_{moved}/mod.rs"));
        assert!(
            !moved.contains("macro_use") && moved.contains("extern crate some_macros;"),
            "{moved}"
        );
    }
}

#[test]
fn tests_and_programs_beside_the_library() {
    let dir = directory(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            "pub mod inner;\n#[macro_export]\nmacro_rules! one { () => { $crate::inner::one() }; }\n",
        ),
        (
            "src/inner.rs",
            "pub fn one() -> u32 { crate::inner::two() - 1 }\nfn two() -> u32 { 2 }\n",
        ),
        (
            "src/main.rs",
            "fn main() { std::thread::spawn(|| some_crate::inner::one()).join().unwrap(); }\n",
        ),
        (
            "tests/first.rs",
            "mod common;\nuse some_crate::{inner, one};\nuse crate::common::help as assist;\n\
             pub(in crate::common) fn nothing() {}\n\
             #[test]\nfn first() { let t = std::thread::spawn(|| inner::one() + one!()); assist(); crate::common::help(); t.join().unwrap(); }\n",
        ),
        ("tests/common/mod.rs", "pub fn help() { super::helper() }\n"),
        (
            "tests/second.rs",
            "use std::sync::mpmc;\n#[test]\nfn second() { std::thread::spawn(|| ()); let _ = mpmc::channel::<u8>(); }\n",
        ),
        ("tests/third/main.rs", STARTS),
        (
            "examples/shown.rs",
            "fn main() { std::thread::spawn(|| ()); }\n",
        ),
    ]);
    let first = dir.path().join("tests/first.rs");
    fs::write(
        &first,
        fs::read_to_string(&first).unwrap() + "fn helper() {}\n",
    )
    .unwrap();
    let program = load(dir.path());
    assert_eq!(
        names(&program),
        [
            "tests_first::first",
            "tests_second::second",
            "tests_third::starts",
            "bin_main::main"
        ]
    );
    let generated = generate(&program);
    assert_eq!(
        generated.harnesses,
        [
            "tests_first::first",
            "tests_third::starts",
            "bin_main::main"
        ]
    );
    let root = text(&generated, "src/lib.rs");
    assert!(root.contains("extern crate self as some_crate;\npub mod tests_first;\npub mod tests_third;\npub mod bin_main;\n"));
    let moved = text(&generated, "src/tests_first/mod.rs");
    assert!(
        moved.contains("use crate::tests_first::common::help as assist;"),
        "{moved}"
    );
    assert!(moved.contains("pub(in crate::tests_first::common)"));
    assert!(moved.contains("crate::tests_first::common::help();"));
    assert!(text(&generated, "src/inner.rs").contains("crate::inner::two()"));
    assert!(paths(&generated).contains(&PathBuf::from("src/tests_first/common/mod.rs")));
    assert!(!paths(&generated).contains(&PathBuf::from("src/tests_second/mod.rs")));
    // What can't be run in one test file is an error for those who ask for it.
    let wanted = Options {
        chosen: Choice::One("second".into()),
        ..Options::default()
    };
    let error = program.transform(&wanted).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("`std::sync::mpmc` is not supported"),
        "{error}"
    );
    // One file by itself.
    assert_eq!(names(&load(&first)), ["tests_first::first"]);
    let example = load(&dir.path().join("examples/shown.rs"));
    assert_eq!(names(&example), ["example_shown::main"]);
    assert!(paths(&generate(&example)).contains(&PathBuf::from("src/example_shown/mod.rs")));
}

/// A test knows the crate by its name, and not what is private in it.
#[test]
fn a_crate_with_something_private_of_its_own_name() {
    for edition in ["2015", "2021"] {
        let manifest =
            format!("[package]\nname = \"mona\"\nversion = \"0.1.0\"\nedition = \"{edition}\"\n");
        let dir = directory(&[
            ("Cargo.toml", &manifest),
            (
                "src/lib.rs",
                "mod mona;\npub use mona::M;\n#[macro_export]\nmacro_rules! one { () => { 1 }; }\n",
            ),
            ("src/mona.rs", "pub struct M(pub u32);\n"),
            (
                "tests/t.rs",
                "extern crate mona;\nuse mona::M;\nuse mona::{self as by_name, one};\nmod help;\nuse help::two;\n\
                 #[test]\nfn starts() { let m = mona::M(mona::one!() + one!()); \
                 std::thread::spawn(move || two() + m.0).join().unwrap(); let by_name::M(_) = M(1); }\n",
            ),
            (
                "tests/help/mod.rs",
                "use mona;\nuse ::mona::one;\npub fn two() -> u32 { ::mona::M(2).0 + mona::M(one!()).0 }\n",
            ),
        ]);
        let generated = generate(&load(dir.path()));
        let root = text(&generated, "src/lib.rs");
        assert!(!root.contains("extern crate self"), "{root}");
        assert!(root.contains("pub use mona::M;"), "{root}");
        let test = text(&generated, "src/tests_t/mod.rs");
        let help = match edition {
            "2015" => "use tests_t::help::two;",
            _ => "use help::two;",
        };
        for written in [
            "use crate as mona;",
            "use crate::M;",
            "use crate::{self as by_name, one};",
            help,
            "crate::M(crate::one!() + one!())",
        ] {
            assert!(test.contains(written), "{written} in {test}");
        }
        let help = text(&generated, "src/tests_t/help/mod.rs");
        assert!(
            help.contains("use crate as mona;\nuse crate::one;"),
            "{help}"
        );
        assert!(help.contains("{ crate::M(2).0 + "), "{help}");
    }
}

/// As in a crate that is there for its tests: cargo runs them.
#[test]
fn an_empty_library_with_tests() {
    let dir = directory(&[
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", "//! Nothing.\n"),
        ("tests/t.rs", STARTS),
    ]);
    assert_eq!(names(&load(dir.path())), ["tests_t::starts"]);
    fs::write(dir.path().join("tests/t.rs"), "").unwrap();
    let error = Program::load(dir.path(), Mode::Sequential).err().unwrap();
    assert!(matches!(error, Error::Empty { .. }), "{error}");
}

/// In the first edition an import of one name is of the root's, or of a crate.
#[test]
fn imports_of_one_name_in_the_first_edition() {
    let dir = directory(&[
        (
            "Cargo.toml",
            "[package]\nname = \"some-crate\"\nversion = \"0.1.0\"\n",
        ),
        (
            "src/lib.rs",
            "use std::thread;\npub struct Pool;\nimpl Pool { pub fn start(&self) { thread::spawn(|| ()); } }\n\
             pub fn start() { Pool.start() }\nmod thread_of { pub fn start() {} }\n\
             mod one { use Pool; #[test] fn method() { Pool::start(&Pool) } }\n\
             mod two { use {start, thread, thread_of}; #[test] fn function() { start() } #[test] fn of_std() { thread::spawn(|| ()); } \
             #[test] fn none() { thread_of::start() } }\n\
             mod three { #[test] fn in_a_block() { use {std, start as go}; fn go() {} go(); { use start; start() } } }\n",
        ),
    ]);
    let expected = [
        "start",
        "one::method",
        "two::function",
        "two::of_std",
        "three::in_a_block",
    ];
    assert_eq!(names(&load(dir.path())), expected);
}

/// A crate with a method `spawn` of its own calls that of std's builders and scopes all the same.
#[test]
fn threads_started_beside_a_method_of_the_same_name() {
    let own = "use std::thread::{self, Builder, Scope};\n\
               pub struct Pool;\nimpl Pool { pub fn spawn(&self, f: impl FnOnce()) { f() } }\n";
    let started = |body: &str| {
        let text = format!("{own}{body}");
        let dir = directory(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &text)]);
        let program = load(dir.path());
        let sites = program.harnesses().iter().map(|it| it.spawn_sites.len());
        sites.collect::<Vec<_>>()
    };
    for starts in [
        "pub fn f() { Builder::new().name(String::new()).spawn(|| ()).unwrap(); }",
        "pub fn f() { let mut it = thread::Builder::new(); it = it.stack_size(9); it.spawn(|| ()).unwrap(); }",
        "pub fn f() { g(Builder::new()) }\nfn g(it: Builder) { it.spawn(|| ()).unwrap(); }",
        "pub fn f() { let it: Builder = g(); it.spawn(|| ()).unwrap(); }\nfn g() -> Builder { Builder::new() }",
        "pub fn f() { thread::scope(|it| { it.spawn(|| ()); }); }",
        "pub fn f() { thread::scope(g) }\nfn g<'s>(it: &'s Scope<'s, '_>) { it.spawn(|| ()); }",
    ] {
        assert_eq!(started(starts), [1], "{starts}");
    }
    for starts_none in [
        "pub fn f() { Pool.spawn(|| ()); }",
        "pub fn f() { let it = Builder::new(); drop(it); let it = Pool; it.spawn(|| ()); }",
    ] {
        assert_eq!(started(starts_none), [0; 0], "{starts_none}");
    }
}

/// In the first edition imports, and paths with `::`, begin at the root of their crate, which for a program is a module here.
#[test]
fn paths_of_the_first_edition_begin_at_their_own_root() {
    let dir = directory(&[
        (
            "Cargo.toml",
            "[package]\nname = \"some-crate\"\nversion = \"0.1.0\"\n",
        ),
        (
            "src/lib.rs",
            "#![no_std]\npub mod inner;\npub fn one() -> u32 { ::core::cmp::min(1, 2) }\n",
        ),
        (
            "src/inner.rs",
            "use core::{cmp, mem};\npub fn two() -> u32 { ::core::mem::drop(1); mem::drop(2); cmp::max(1, 2) }\n",
        ),
        (
            "src/bin/bench.rs",
            "extern crate some_crate;\nmod extra;\nuse extra::queue::Queue;\nuse some_crate::{inner, one};\nfn at_root() {}\n\
             fn main() { std::thread::spawn(|| Queue(one() + inner::two())); ::at_root(); }\n",
        ),
        (
            "src/bin/extra/mod.rs",
            "pub mod queue { pub struct Queue(pub u32); }\npub fn deep() { ::extra::queue::Queue(1); ::at_root() }\n\
             mod tests { use {at_root, std::cmp}; use extra::deep; }\n",
        ),
    ]);
    let generated = generate(&load(dir.path()));
    let main = text(&generated, "src/bin_bench/mod.rs");
    for written in [
        "use bin_bench::extra::queue::Queue;",
        "use some_crate::{inner, one};",
        "::bin_bench::at_root();",
    ] {
        assert!(main.contains(written), "{written} in {main}");
    }
    let extra = text(&generated, "src/bin_bench/extra/mod.rs");
    for written in [
        "{ ::bin_bench::extra::queue::Queue(1); ::bin_bench::at_root() }",
        "use {bin_bench::at_root, std::cmp};",
        "use bin_bench::extra::deep;",
    ] {
        assert!(extra.contains(written), "{written} in {extra}");
    }
    let inner = text(&generated, "src/inner.rs");
    assert!(
        inner.contains("use ::seqz_runtime::core::{cmp, mem};"),
        "{inner}"
    );
    assert!(
        inner.contains("::seqz_runtime::core::mem::drop(1)"),
        "{inner}"
    );
}

#[test]
fn what_is_no_program() {
    let dir = directory(&[
        ("empty.rs", "// nothing\n"),
        ("latin.rs", ""),
        ("broken.rs", "fn main() {\n    let é = (1;\n}\n"),
        ("wrong.rs", "fn main() { let x = ; }\n"),
        (
            "quiet.rs",
            "fn main() {}\nfn hidden() { std::thread::spawn(|| ()); }\n",
        ),
        (
            "taken.rs",
            "mod p_hat {}\nfn main() { std::thread::spawn(|| ()); }\n",
        ),
        ("notes.txt", ""),
        ("bad/Cargo.toml", "[package\n"),
        ("bare/Cargo.toml", "[package]\nname = \"bare\"\n"),
    ]);
    fs::write(dir.path().join("latin.rs"), b"fn main() { \"\xe4\"; }").unwrap();
    let error = |name: &str| {
        let path = dir.path().join(name);
        match Program::load(&path, Mode::Sequential) {
            Ok(program) => program.transform(&Options::default()).unwrap_err(),
            Err(error) => error,
        }
    };
    assert!(matches!(error("empty.rs"), Error::Empty { .. }));
    assert!(matches!(
        error("latin.rs"),
        Error::NotUtf8 { offset: 13, .. }
    ));
    assert!(matches!(error("broken.rs"), Error::Syntax { .. }));
    assert!(matches!(error("wrong.rs"), Error::Syntax { .. }));
    assert_eq!(error("wrong.rs").place().unwrap().start.line, 1);
    let quiet = error("quiet.rs");
    assert!(matches!(quiet, Error::NoHarness { .. }));
    assert!(
        quiet.help().unwrap().contains("`hidden` at "),
        "{:?}",
        quiet.help()
    );
    assert_eq!(error("taken.rs").place().unwrap().text(), "p_hat");
    assert!(matches!(error("notes.txt"), Error::NotACrate { .. }));
    assert!(matches!(error("bad"), Error::Manifest { .. }));
    assert!(matches!(error("bare"), Error::Manifest { .. }));
    assert!(matches!(error("nowhere.rs"), Error::Read { .. }));
    assert!(matches!(error("."), Error::NotACrate { .. }));
}

#[test]
fn harnesses_by_name() {
    let dir = directory(&[(
        "p.rs",
        "mod tests { #[test] fn increments() { std::thread::spawn(|| ()); } }\nfn main() { std::thread::spawn(|| ()); }\n",
    )]);
    let program = load(&dir.path().join("p.rs"));
    let named = |name: &str| {
        program.transform(&Options {
            chosen: Choice::One(name.into()),
            ..Options::default()
        })
    };
    assert_eq!(
        named("tests::increments").unwrap().harnesses,
        ["tests::increments"]
    );
    assert_eq!(
        named("increments").unwrap().harnesses,
        ["tests::increments"]
    );
    let error = named("incremnts").unwrap_err();
    assert_eq!(error.help().unwrap(), "did you mean `tests::increments`?");
    let error = named("zzz").unwrap_err();
    assert_eq!(
        error.help().unwrap(),
        "there are `tests::increments`, `main`"
    );
}

#[test]
fn a_wait_of_the_crates_own_is_no_condition_variables() {
    const OWN: &str = "pub struct Latch;\nimpl Latch { pub fn wait(&self, n: u32) -> u32 { n } }\n";
    let lone = |items: &str, then: &str| {
        let text = format!(
            "{OWN}{items}\n#[test]\nfn starts() {{ std::thread::spawn(|| ()).join().unwrap(); {then} }}\n"
        );
        let dir = directory(&[("lib.rs", &text)]);
        let program = Program::load(&dir.path().join("lib.rs"), Mode::Scheduled).unwrap();
        program.harnesses()[0].lone.len()
    };
    let waits =
        "let (m, c) = (Mutex::new(1), Condvar::new()); let g = m.lock().unwrap(); drop(c.wait(g));";
    for (items, then, wanted) in [
        ("", "let n = 1; Latch.wait(n);", 0),
        (
            "use std::sync::Mutex;",
            "let n = 1; Latch.wait(n); Mutex::new(1);",
            0,
        ),
        ("use std::sync::{Condvar, Mutex};", "Latch.wait(1);", 0),
        ("use std::sync::{Condvar, Mutex};", waits, 1),
        ("use std::sync::*;", waits, 1),
        (
            "struct S { c: std::sync::Condvar, m: std::sync::Mutex<u32> }\nimpl S { fn f(&self) { let g = self.m.lock().unwrap(); drop(self.c.wait(g)); } }",
            "S { c: Default::default(), m: Default::default() }.f();",
            1,
        ),
    ] {
        assert_eq!(lone(items, then), wanted, "{items} {then}");
    }
}

/// Types that may have no size are behind no lock, so that none of them has to be allowed there.
#[test]
fn parameters_behind_locks_have_a_size() {
    let dir = directory(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            "use std::sync::{Mutex, MutexGuard};\npub struct M<T: ?Sized>(Mutex<T>);\n\
             pub struct Of<T>(M<T>) where T: ?Sized + Send;\n\
             pub struct Boxed<T: ?Sized>(Mutex<Box<T>>, Box<T>);\n\
             pub struct Guard<'a, T: ?Sized + 'a>(MutexGuard<'a, T>);\n\
             impl<T: Send + ?Sized> M<T> { pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R { f(&mut self.0.lock().unwrap()) } }\n\
             pub fn all<T: ?Sized, U: ?Sized>(of: &Of<T>, other: &U) { let _ = (of, other); }\n\
             #[test] fn starts() { std::thread::spawn(|| ()).join().unwrap(); }\n",
        ),
    ]);
    let generated = generate(&load(dir.path()));
    let text = text(&generated, "src/lib.rs");
    for written in [
        "struct M<T: Sized>(",
        "where T: Sized + Send;",
        "struct Boxed<T: ?Sized>(",
        "struct Guard<'a, T: Sized + 'a + ::seqz_runtime::Copied>(",
        "impl<T: Send + Sized + ::seqz_runtime::Copied> M<T>",
        "fn all<T: Sized + ::seqz_runtime::Copied, U: ?Sized>(",
    ] {
        assert!(text.contains(written), "{written} in {text}");
    }
}

/// What can't be behind a lock of the runtime's is refused where it stands.
#[test]
fn values_without_a_size_behind_locks_are_refused() {
    for (named, unsized_) in [
        ("fn f(_: &Mutex<dyn Send>) {}", "dyn Send"),
        ("struct S(std::sync::Arc<RwLock<[u8]>>);", "[u8]"),
        (
            "struct M<T: ?Sized>(Mutex<T>);\nfn f() { let _: Option<&M<(str)>> = None; }",
            "str",
        ),
        (
            "impl Of for u8 { type Lock = Mutex<dyn Fn() + Send>; }\ntrait Of { type Lock: ?Sized; }",
            "dyn Fn() + Send",
        ),
    ] {
        let lib = format!("use std::sync::{{Mutex, RwLock}};\n{named}\n{STARTS}");
        let dir = directory(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &lib)]);
        let error = load(dir.path())
            .transform(&Options::default())
            .err()
            .unwrap();
        assert_eq!(error.place().unwrap().text(), unsized_);
        assert!(error.help().unwrap().contains("`Box`"), "{error}");
    }
    let boxed = format!("pub struct S(std::sync::Mutex<Box<dyn Send>>, Box<str>);\n{STARTS}");
    let dir = directory(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &boxed)]);
    generate(&load(dir.path()));
}

/// `Self` means the type of the implementation, and not every type that has a function of the name.
#[test]
fn threads_started_by_other_types_are_not_those_of_self() {
    let starts = "use std::thread::{self, JoinHandle};\n\
        pub struct Starter(JoinHandle<()>);\n\
        impl Starter { pub fn new() -> Self { Starter(thread::spawn(|| ())) }\n\
        pub fn go(&self) { thread::spawn(|| ()); } }\n\
        impl Default for Starter { fn default() -> Self { Self::new() } }\n";
    let started = |text: &str| {
        let text = format!("{starts}{text}");
        let dir = directory(&[("Cargo.toml", MANIFEST), ("src/lib.rs", &text)]);
        let program = load(dir.path());
        let sites = program.harnesses().iter().map(|it| it.spawn_sites.len());
        sites.sum::<usize>()
    };
    for starts_none in [
        "pub struct A; impl A { fn new() -> Self { A } fn both() -> Self { Self::new() } }\npub fn f() { A::both(); }",
        "#[derive(Default)] pub struct A(u32); impl A { fn new() -> Self { Self::default() } }\npub fn f() { A::new(); }",
        "pub struct A; impl A { fn go(&self) {} fn all(&self) { self.go() } }\npub fn f() { A.all(); }",
        "#[derive(Default)] pub struct A(B);\n#[derive(Default)] pub struct B(u8);\npub fn f() { A::default(); }",
    ] {
        assert_eq!(started(starts_none), 0, "{starts_none}");
    }
    for starts_one in [
        "#[derive(Default)] pub struct A(B);\n#[derive(Default)] pub struct B(Starter);\npub fn f() { A::default(); }",
        "pub struct A; impl A { fn all(&self) { self.go() } }\nimpl std::ops::Deref for A { type Target = Starter; \
         fn deref(&self) -> &Starter { todo!() } }\npub fn f() { A.all(); }",
        "pub fn f() { Starter::default(); }",
        "pub trait Go { fn run(&self) { self.go2() } fn go2(&self); }\nimpl Go for Starter { fn go2(&self) { self.go() } }\n\
         pub fn f(it: &Starter) { it.run() }",
    ] {
        assert_eq!(started(starts_one), 1, "{starts_one}");
    }
}

#[test]
fn the_lock_file_is_the_workspaces_own() {
    let package = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let alone = format!("{package}[workspace]\n");
    let code = "pub fn f() { std::thread::spawn(|| ()); }\n";
    let dir = directory(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"member\"]\nexclude = [\"out\"]\n",
        ),
        ("Cargo.lock", ""),
        ("member/Cargo.toml", package),
        ("member/src/lib.rs", code),
        ("out/Cargo.toml", package),
        ("out/src/lib.rs", code),
        ("alone/Cargo.toml", &alone),
        ("alone/src/lib.rs", code),
        ("locked/Cargo.toml", &alone),
        ("locked/Cargo.lock", ""),
        ("locked/src/lib.rs", code),
    ]);
    let dir = dir.path().canonicalize().unwrap();
    let lock_of = |member: &str| load(&dir.join(member)).lock_file();
    assert_eq!(lock_of("member"), Some(dir.join("Cargo.lock")));
    assert_eq!(lock_of("out"), None);
    assert_eq!(lock_of("alone"), None);
    assert_eq!(lock_of("locked"), Some(dir.join("locked/Cargo.lock")));
}
