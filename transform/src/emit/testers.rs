//! What goes with the generated crate for those who run it: a directory for cargo-fuzz, a harness for proptest, and a plain
//! test over a corpus. All of them feed bytes to the same `p_hat_from_bytes`.

use std::path::PathBuf;

use crate::program::Options;

/// Where libFuzzer's bindings and what they need have to be, below the generated crate.
const VENDOR: &str = "fuzz/vendor";

/// The script that compiles what is not the program's without instrumentation.
pub(super) const WRAPPER: &str = "fuzz/rustc.sh";

/// Their files.
pub(super) fn files(package: &str, options: &Options) -> Vec<(PathBuf, String)> {
    let library = package.replace('-', "_");
    let k = options.k;
    [
        (".cargo/config.toml", config()),
        (WRAPPER, WRAPPER_TEXT.to_owned()),
        ("fuzz/Cargo.toml", fuzz_manifest(package)),
        ("fuzz/fuzz_targets/p_hat.rs", target(&library)),
        (
            "fuzz/.gitignore",
            "target\ncorpus\nartifacts\ncoverage\n".to_owned(),
        ),
        ("fuzz/README.md", readme(package, k)),
        ("tests/corpus.rs", corpus(&library)),
        ("proptest/Cargo.toml", proptest_manifest(package)),
        ("proptest/tests/p_hat.rs", proptest(&library)),
    ]
    .map(|(path, text)| (PathBuf::from(path), text))
    .into()
}

fn config() -> String {
    format!("# Written by seqz. See the script.\n[build]\nrustc-wrapper = {WRAPPER:?}\n")
}

const WRAPPER_TEXT: &str = r##"#!/bin/sh
# cargo runs this in the place of rustc: see .cargo/config.toml.
#
# cargo-fuzz has everything instrumented. What the fuzzer is to learn from is the program alone: the branches and
# comparisons of the runtime that it links would lead it astray, and take most of its time. So that is compiled as it is
# without a fuzzer. Anything else goes to rustc unchanged.
rustc=$1
shift
case " $* " in
    *" --crate-name seqz_runtime "* | *" --crate-name libfuzzer_sys "* | *" --crate-name arbitrary "*) ;;
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

fn fuzz_manifest(package: &str) -> String {
    format!(
        "# Written by seqz: P̂ₖ for cargo-fuzz. See README.md.

[package]
name = \"{package}-fuzz\"
version = \"0.0.0\"
edition = \"2024\"
publish = false

[package.metadata]
cargo-fuzz = true

[workspace]

[dependencies]
libfuzzer-sys = {{ path = {vendor:?} }}
{package} = {{ path = \"..\" }}
seqz-runtime = {{ path = \"../runtime\" }}

[[bin]]
name = \"p_hat\"
path = \"fuzz_targets/p_hat.rs\"
test = false
doc = false
bench = false

# The checks that find bugs are on; not in the runtime, which has been tested.
[profile.release]
debug = \"line-tables-only\"
debug-assertions = true
overflow-checks = true

[profile.release.package.seqz-runtime]
codegen-units = 1
debug-assertions = false
overflow-checks = false
",
        vendor = format!("{}/libfuzzer-sys", VENDOR.trim_start_matches("fuzz/")),
    )
}

fn target(library: &str) -> String {
    format!(
        "//! P̂ₖ under libFuzzer: `cargo +nightly fuzz run p_hat`.

#![no_main]

use std::fmt;

use libfuzzer_sys::arbitrary::{{Arbitrary, Result, Unstructured}};
use libfuzzer_sys::{{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate}};
use seqz_runtime::fuzz::{{self, Worth}};

use {library}::p_hat::FUZZED;

/// Inputs, `rds` and `wrts`, as the bytes that they are decoded from.
struct Choice<'a>(&'a [u8]);

impl<'a> Arbitrary<'a> for Choice<'a> {{
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {{
        bytes.bytes(bytes.len()).map(Self)
    }}

    fn arbitrary_take_rest(bytes: Unstructured<'a>) -> Result<Self> {{
        Ok(Self(bytes.take_rest()))
    }}
}}

/// What `cargo fuzz fmt` and a crash show: the choice, and what happens.
impl fmt::Debug for Choice<'_> {{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {{
        f.write_str(&fuzz::describe(FUZZED, self.0))
    }}
}}

fuzz_target!(|choice: Choice<'_>| -> Corpus {{
    match fuzz::once(FUZZED, choice.0) {{
        Worth::Keep => Corpus::Keep,
        Worth::Reject => Corpus::Reject,
    }}
}});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {{
    fuzz::mutate(FUZZED, data, (size, max_size), seed, |data| {{
        fuzzer_mutate(data, size, max_size)
    }})
}});
"
    )
}

fn corpus(library: &str) -> String {
    format!(
        "//! Runs P̂ₖ on every file of the corpus and of what a fuzzer has found: `cargo test`.

use std::fs;
use std::path::{{Path, PathBuf}};

use seqz_runtime::fuzz;
use {library}::p_hat::FUZZED;

/// The files below `dir`; none where there is no such directory.
fn files(dir: &Path) -> Vec<PathBuf> {{
    let Ok(entries) = fs::read_dir(dir) else {{
        return Vec::new();
    }};
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {{
        if path.is_dir() {{
            files.extend(self::files(&path));
        }} else {{
            files.push(path);
        }}
    }}
    files.sort();
    files
}}

#[test]
fn no_file_of_the_corpus_fails() {{
    let fuzzed = Path::new(env!(\"CARGO_MANIFEST_DIR\")).join(\"fuzz\");
    let mut failing = Vec::new();
    // The program without interference is always among them.
    for bytes in std::iter::once(Vec::new()).chain(
        [\"corpus\", \"artifacts\"]
            .iter()
            .flat_map(|dir| files(&fuzzed.join(dir)))
            .map(|path| fs::read(&path).unwrap()),
    ) {{
        let outcome = fuzz::run(FUZZED, &bytes);
        if outcome.is_bug() {{
            failing.push(format!(\"{{bytes:?}}\\n{{outcome}}\"));
        }}
    }}
    assert!(failing.is_empty(), \"{{}}\", failing.join(\"\\n\"));
}}
"
    )
}

fn proptest_manifest(package: &str) -> String {
    format!(
        "# Written by seqz: P̂ₖ for proptest. Not a part of the crate above, which needs nothing from a registry.

[package]
name = \"{package}-proptest\"
version = \"0.0.0\"
edition = \"2024\"
publish = false

[workspace]

[dev-dependencies]
proptest = {{ version = \"1\", default-features = false, features = [\"std\"] }}
{package} = {{ path = \"..\" }}
seqz-runtime = {{ path = \"../runtime\" }}

[profile.dev]
opt-level = 3

[profile.dev.package.seqz-runtime]
debug-assertions = false
overflow-checks = false
"
    )
}

fn proptest(library: &str) -> String {
    format!(
        "//! P̂ₖ under proptest: `cargo test`. What fails is shrunk to few and small bytes, which are few non-local reads.

use proptest::prelude::*;
use seqz_runtime::engine::Ending;
use seqz_runtime::fuzz;

use {library}::p_hat::FUZZED;

proptest! {{
    #![proptest_config(ProptestConfig {{
        cases: 20_000,
        max_shrink_iters: 20_000,
        max_global_rejects: u32::MAX,
        failure_persistence: None,
        ..ProptestConfig::default()
    }})]

    #[test]
    fn no_choice_fails(bytes in prop::collection::vec(any::<u8>(), 0..=fuzz::longest(FUZZED))) {{
        let outcome = fuzz::run(FUZZED, &bytes);
        prop_assume!(outcome.ending != Ending::Infeasible);
        prop_assert!(!outcome.is_bug(), \"{{}}\", outcome);
    }}
}}
"
    )
}

fn readme(package: &str, k: u32) -> String {
    format!(
        r#"# P̂ₖ for fuzzers and property testers

All of these feed bytes to `p_hat_from_bytes`, which decodes them to inputs and at most {k} non-local reads; its
documentation has the table. The same bytes mean the same to all of them.

The harness is the first one of the crate, unless the environment variable `SEQZ_HARNESS` names another one;
`SEQZ_ROLE=second` puts the other thread under test, and `SEQZ_K=3` allows more non-local reads.

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

in the directory above runs all of `fuzz/corpus` and `fuzz/artifacts`.

## proptest

    cd proptest && cargo test

takes proptest from crates.io, or from what cargo has of it.

## AFL++

    cargo install cargo-afl && cargo afl config --build
    cargo afl build --release
    mkdir -p in && printf '\0' > in/zero
    cargo afl fuzz -i in -o out target/release/{package} --bytes @@

Or, with AFL++ from the system's packages, without instrumentation, which is blind but needs nothing built for it:

    cargo build --release
    mkdir -p in && printf '\0' > in/zero
    afl-fuzz -n -i in -o out -- target/release/{package} --bytes @@

The binary aborts where it meets a bug. Without `@@` in the command line (`--bytes -`) it reads the bytes from its
standard input. libFuzzer's corpus serves as `in`, and what AFL++ finds as libFuzzer's corpus.
"#
    )
}
