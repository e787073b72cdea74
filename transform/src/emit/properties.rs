//! Tests that go with the generated crate: P̂ₖ as a property, over a corpus and for proptest. Each file has a test for
//! each harness and thread under test.

use std::path::PathBuf;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use toml::Table;

use super::code::{Part, file, tokens};
use super::manifest::{beside, profile_of_runtime};
use crate::harness::Harness;

/// Returns the files of these tests. `patch` is the `[patch]` section of each manifest.
///
/// # Errors
///
/// If a manifest can't be written as TOML.
pub(super) fn files(
    package: &str,
    library: &str,
    chosen: &[&Harness],
    patch: &Table,
) -> Result<[(PathBuf, String); 3], toml::ser::Error> {
    let tests = tests(chosen);
    Ok([
        ("tests/corpus.rs", corpus(library, &tests)),
        ("proptest/Cargo.toml", proptest_manifest(package, patch)?),
        ("proptest/tests/p_hat.rs", proptest(library, &tests)),
    ]
    .map(|(path, text)| (PathBuf::from(path), text)))
}

/// Returns a test for each harness and thread under test, which calls `no_choice_fails`.
fn tests(chosen: &[&Harness]) -> TokenStream {
    let names = super::p_hat::module_names(chosen);
    let tests = chosen.iter().zip(names).flat_map(|(harness, plain)| {
        let name = harness.info.name.clone();
        [("first", quote!(FIRST)), ("second", quote!(SECOND))].map(|(which, role)| {
            let test = format_ident!("{plain}_with_the_{which}_thread_under_test");
            quote! {
                #[test]
                fn #test() {
                    no_choice_fails(#name, Role::#role);
                }
            }
        })
    });
    quote!(#(#tests)*)
}

fn corpus(library: &str, tests: &TokenStream) -> String {
    let library = tokens(library);
    file(
        &[
            "Runs P̂ₖ on every file of the corpus and of what a fuzzer has found: `cargo test`.",
            "",
            "Harnesses have the names that they have, also where these are no names for functions.",
        ],
        &quote!(#![allow(non_snake_case)]),
        [Part::Items(quote! {
            use std::fs;
            use std::path::{Path, PathBuf};
            use seqz_runtime::{Property, Role};
            use #library::p_hat::FUZZED;

            /// The files below `dir`; none where there is no such directory.
            fn files(dir: &Path) -> Vec<PathBuf> {
                let Ok(entries) = fs::read_dir(dir) else {
                    return Vec::new();
                };
                let mut files = Vec::new();
                for path in entries.map(|entry| entry.unwrap().path()) {
                    if path.is_dir() {
                        files.extend(self::files(&path));
                    } else {
                        files.push(path);
                    }
                }
                files.sort();
                files
            }

            /// Runs the harness without interference first, with all inputs 0, and then by each file. Tests are run
            /// in the crate's directory.
            fn no_choice_fails(harness: &str, under_test: Role) {
                let mut property = Property::new(FUZZED, harness, under_test);
                let mut failing = Vec::new();
                if let Err(what) = property.holds(&[]) {
                    failing.push(format!("without interference, all inputs 0:\n{what}"));
                }
                for dir in ["fuzz/corpus", "fuzz/artifacts"] {
                    for path in files(Path::new(dir)) {
                        if let Err(what) = property.holds(&fs::read(&path).unwrap()) {
                            let alone = property.alone(&path);
                            failing.push(format!("{}:\n{what}alone: {alone}\n", path.display()));
                        }
                    }
                }
                println!("{}", property.counts());
                assert!(failing.is_empty(), "{}", failing.join("\n"));
            }

            #tests
        })],
    )
}

fn proptest_manifest(package: &str, patch: &Table) -> Result<String, toml::ser::Error> {
    let mut manifest = toml::toml! {
        [dev-dependencies]
        proptest = { version = "1", default-features = false, features = ["std"] }
        seqz-runtime = { path = "../runtime" }

        [profile.dev]
        debug = "line-tables-only"
    };
    profile_of_runtime(
        &mut manifest,
        "dev",
        &toml::toml! {
            opt-level = 1
            debug-assertions = false
            overflow-checks = false
        },
    );
    beside(
        "P̂ₖ for proptest. Not a part of the crate above, which needs nothing from a registry.\n\
         Quick to compile, with the checks that find bugs; not in the runtime, which has been tested.",
        &format!("{package}-proptest"),
        manifest,
        ("dev-dependencies", package),
        patch,
    )
}

fn proptest(library: &str, tests: &TokenStream) -> String {
    let library = tokens(library);
    file(
        &[
            "P̂ₖ under proptest: `cargo test`. What fails is shrunk to few and small bytes, which are few non-local reads.",
            "",
            "Each test runs 20,000 choices; the environment variable `PROPTEST_CASES` sets another number. Harnesses have",
            "the names that they have, also where these are no names for functions.",
        ],
        &quote!(#![allow(non_snake_case)]),
        [Part::Items(quote! {
            use std::cell::RefCell;
            use std::{env, fs};
            use proptest::prelude::*;
            use proptest::test_runner::{TestError, TestRunner};
            use seqz_runtime::{Property, Role};
            use #library::p_hat::FUZZED;

            fn no_choice_fails(harness: &str, under_test: Role) {
                let property = RefCell::new(Property::new(FUZZED, harness, under_test));
                let holds = |bytes: &[u8]| property.borrow_mut().holds(bytes);
                let mut config = ProptestConfig {
                    max_shrink_iters: 20_000,
                    failure_persistence: None,
                    ..ProptestConfig::default()
                };
                if env::var_os("PROPTEST_CASES").is_none() {
                    config.cases = 20_000;
                }
                let longest = property.borrow().longest();
                let result = TestRunner::new(config).run(
                    &prop::collection::vec(any::<u8>(), 0..=longest),
                    |bytes| holds(&bytes).map_err(TestCaseError::fail),
                );
                println!("{}", property.borrow().counts());
                match result {
                    Ok(()) => {}
                    Err(TestError::Abort(why)) => panic!("proptest gives up: {why}"),
                    Err(TestError::Fail(what, bytes)) => {
                        let name = format!("{harness}-{under_test:?}").replace(':', "_");
                        let file = env::temp_dir().join(name);
                        let alone = match fs::write(&file, &bytes) {
                            Ok(()) => property.borrow().alone(&file),
                            Err(why) => format!("{} can't be written: {why}", file.display()),
                        };
                        panic!(
                            "a choice fails, by the bytes {bytes:?}:\n{what}alone, in the directory above: {alone}\n"
                        );
                    }
                }
            }

            #tests
        })],
    )
}
