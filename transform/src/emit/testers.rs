//! Files that go with the generated crate for users who run it: a directory for cargo-fuzz, and the tests of
//! [`super::properties`]. All of them give bytes to the same `p_hat_from_bytes`.

use std::path::PathBuf;

use quote::quote;
use toml::Table;

use super::code::{Part, file, tokens};
use super::literals::Literals;
use super::manifest::{beside, profile_of_runtime};
use crate::harness::Harness;
use crate::options::Options;

/// The configuration of cargo in the crate.
pub(super) const CONFIG: &str = ".cargo/config.toml";
/// The script that compiles dependencies without instrumentation.
pub(super) const WRAPPER: &str = "fuzz/rustc.sh";

/// Returns the files.
///
/// # Errors
///
/// If a manifest can't be written as TOML.
pub(super) fn files(
    package: &str,
    library: &str,
    chosen: &[&Harness],
    patch: &Table,
    options: &Options,
    coercions: &str,
    literals: &Literals,
) -> Result<Vec<(PathBuf, String)>, toml::ser::Error> {
    let k = options.k;
    let files = [
        (CONFIG, config(coercions)),
        (WRAPPER, WRAPPER_TEXT.to_owned()),
        ("fuzz/Cargo.toml", fuzz_manifest(package, patch)?),
        ("fuzz/fuzz_targets/p_hat.rs", target(library)),
        ("fuzz/fuzz_targets/literals.rs", literals.text()),
        (
            "fuzz/.gitignore",
            "target\ncorpus\nartifacts\ncoverage\n".to_owned(),
        ),
        ("fuzz/README.md", readme(package, k)),
    ]
    .map(|(path, text)| (PathBuf::from(path), text));
    let properties = super::properties::files(package, library, chosen, patch)?;
    Ok(files.into_iter().chain(properties).collect())
}

fn config(coercions: &str) -> String {
    format!("# Written by seqz. See the script.\n[build]\nrustc-wrapper = {WRAPPER:?}\n{coercions}")
}

const WRAPPER_TEXT: &str = r##"#!/bin/sh
# cargo runs this in the place of rustc: see .cargo/config.toml.
#
# cargo-fuzz has everything instrumented. What the fuzzer is to learn from is the program alone: the branches and
# comparisons of the runtime that it links would lead it astray, and take most of its time. So that is compiled as it is
# without a fuzzer. Where the program compares texts or slices, that is to be a call, which the fuzzer sees, and from which it
# learns what they are compared with; the compiler would make loads and comparisons of it after those have been
# instrumented. Nor is it to compare several numbers at once, which is not instrumented at all. The linker puts functions of the runtime before those that are called for comparisons (--wrap), so that the
# runtime sees the operands, too, and makes inputs of them. Anything else goes to rustc unchanged.
rustc=$1
shift
instrumented=false
case " $* " in
    *" -Cpasses=sancov"*) instrumented=true ;;
esac
case " $* " in
    *" --crate-name seqz_runtime "*)
        if [ $instrumented = true ] && [ "$(uname)" = Linux ]; then
            set -- "$@" --cfg=seqz_comparisons
        fi
        ;;
    *" --crate-name p_hat "*)
        if [ $instrumented = true ] && [ "$(uname)" = Linux ]; then
            for width in 1 2 4 8; do
                set -- "$@" "-Clink-arg=-Wl,--wrap=__sanitizer_cov_trace_cmp$width" \
                    "-Clink-arg=-Wl,--wrap=__sanitizer_cov_trace_const_cmp$width"
            done
            set -- "$@" -Clink-arg=-Wl,--wrap=memcmp -Clink-arg=-Wl,--wrap=bcmp
        fi
        ;;
esac
case " $* " in
    *" --crate-name seqz_vocabulary "* | *" --crate-name seqz_feasibility "* | *" --crate-name seqz_runtime "* | *" --crate-name libfuzzer_sys "* | *" --crate-name arbitrary "*) ;;
    *" -Cpasses=sancov"*) exec "$rustc" "$@" -Cllvm-args=-max-loads-per-memcmp=0 -Cno-vectorize-slp -Cno-vectorize-loops ;;
    *) exec "$rustc" "$@" ;;
esac
for argument do
    shift
    case $argument in
        -Cpasses=sancov* | -Cllvm-args=-sanitizer-coverage* | -Cdebug-assertions) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec "$rustc" "$@"
"##;

fn fuzz_manifest(package: &str, patch: &Table) -> Result<String, toml::ser::Error> {
    let mut manifest = toml::toml! {
        [package.metadata]
        cargo-fuzz = true

        [dependencies]
        libfuzzer-sys = { path = "vendor/libfuzzer-sys" }
        seqz-runtime = { path = "../runtime" }

        [[bin]]
        name = "p_hat"
        path = "fuzz_targets/p_hat.rs"
        test = false
        doc = false
        bench = false

        [profile.release]
        debug = "line-tables-only"
        debug-assertions = true
        overflow-checks = true
    };
    profile_of_runtime(
        &mut manifest,
        "release",
        &toml::toml! {
            codegen-units = 1
            debug-assertions = false
            overflow-checks = false
        },
    );
    beside(
        "P̂ₖ for cargo-fuzz. See README.md.\n\
         The checks that find bugs are on; not in the runtime, which has been tested.",
        &format!("{package}-fuzz"),
        manifest,
        ("dependencies", package),
        patch,
    )
}

fn target(library: &str) -> String {
    let library = tokens(library);
    file(
        &["P̂ₖ under libFuzzer: `cargo +nightly fuzz run p_hat`."],
        &quote!(#![no_main]),
        [
            Part::Items(quote! {
                mod literals;

                use std::fmt;
                use libfuzzer_sys::arbitrary::{Arbitrary, Result, Unstructured};
                use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};
                use seqz_runtime::fuzz::{self, Worth};
                use #library::p_hat::FUZZED;

                /// Inputs, `rds` and `wrts`, as the bytes that they are decoded from.
                struct Choice<'a>(&'a [u8]);

                impl<'a> Arbitrary<'a> for Choice<'a> {
                    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
                        bytes.bytes(bytes.len()).map(Self)
                    }

                    fn arbitrary_take_rest(bytes: Unstructured<'a>) -> Result<Self> {
                        Ok(Self(bytes.take_rest()))
                    }
                }

                /// What `cargo fuzz fmt` and a crash show: the choice, and what happens.
                impl fmt::Debug for Choice<'_> {
                    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(&fuzz::describe(FUZZED, self.0))
                    }
                }
            }),
            Part::Call(
                "fuzz_target",
                quote!(|choice: Choice<'_>| -> Corpus {
                    match fuzz::once(FUZZED, choice.0) {
                        Worth::Keep => Corpus::Keep,
                        Worth::Reject => Corpus::Reject,
                    }
                }),
            ),
            Part::Call(
                "fuzz_mutator",
                quote!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
                    fuzz::mutate(
                        FUZZED,
                        literals::LITERALS,
                        data,
                        (size, max_size),
                        seed,
                        |data| fuzzer_mutate(data, size, max_size),
                    )
                }),
            ),
        ],
    )
}

fn readme(package: &str, k: u32) -> String {
    format!(
        r#"# P̂ₖ for fuzzers and property testers

All of these feed bytes to `p_hat_from_bytes`, which decodes them to inputs and at most {k} non-local reads; its
documentation has the table. The same bytes mean the same to all of them.

Fuzzers run the first harness of the crate, unless the environment variable `SEQZ_HARNESS` names another one;
`SEQZ_ROLE=second` puts the other thread under test. `cargo test` runs all harnesses with each thread under test.
`SEQZ_K=3` allows more non-local reads everywhere.

## cargo-fuzz

    cargo install cargo-fuzz          # once; and a nightly toolchain
    cargo +nightly fuzz run p_hat -s none

in the directory above. Everything is here, so it works offline; libFuzzer is compiled by the system's C++ compiler.
`-s none`: code without `unsafe` needs no sanitizer, and is faster without; leave it away where there is
`unsafe` code. `-- -use_value_profile=1` is worth its price where inputs are compared to something. `cargo +nightly fuzz
fmt p_hat FILE` says what a file means. The runtime is compiled without instrumentation (`rustc.sh`), so that coverage is
the program's alone.

## Over a corpus

    cargo test

in the directory above runs all of `fuzz/corpus` and `fuzz/artifacts`, and says of a file that fails how to run it alone.

## proptest

    cd proptest && cargo test

takes proptest from crates.io, or from what cargo has of it. Each test runs 20,000 choices; `PROPTEST_CASES=1000000 cargo
test` runs more. Inputs are random, so that it is for bugs that many of them show: a magic number is for the fuzzers.

## AFL++

    cargo install cargo-afl           # once; it builds AFL++ for the Rust that is there
    cargo afl build --release
    mkdir -p in && printf '\0' > in/zero
    cargo afl fuzz -i in -o out target/release/{package} --bytes @@

After an update of Rust, `cargo afl config --build` builds AFL++ anew. If `cargo afl fuzz` does not start because of the
system's settings, it says which; `cargo afl system-config` sets them.

Or, with AFL++ from the system's packages, without instrumentation, which is blind but needs nothing built for it:

    cargo build --release
    mkdir -p in && printf '\0' > in/zero
    afl-fuzz -n -i in -o out -- target/release/{package} --bytes @@

The binary aborts where it meets a bug, and says before that what it is: `target/release/{package} --bytes FILE` with a
file of `out/default/crashes` tells the inputs, the non-local reads, and an interleaving. Without `@@` in the command line
(`--bytes -`) it reads the bytes from its standard input. It runs the first harness, as the fuzz target does, unless
`--harness NAME`, `--under-test second` and `--k N` say something else. libFuzzer's corpus serves as `in`, and what AFL++
finds as libFuzzer's corpus.
"#
    )
}
