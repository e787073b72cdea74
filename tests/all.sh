#!/usr/bin/env bash
# All that has to hold before a change goes in: format, lints, docs, all tests with Z3, and the table of examples.
# Needs Rust with clippy and rustfmt, and libz3-dev.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

features=(--features seqz/z3,seqz-bench/z3,seqz-bench/peers,seqz-runtime/scheduler)

# A build of one commit once gains nothing from files for the next build, which fill gigabytes.
export CARGO_INCREMENTAL=0

say() { printf '\n== %s\n' "$*"; }

say "format"
cargo fmt --all --check
# The examples are programs of their own, outside of the workspace.
find examples -name '*.rs' -not -path '*/target/*' -print0 | xargs -0 rustfmt --edition 2024 --check

say "lints"
cargo clippy --quiet --workspace --all-targets "${features[@]}" -- -D warnings
cargo clippy --quiet --workspace --all-targets -- -D warnings

say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps --workspace --document-private-items "${features[@]}"

say "Miri"
# Whether the cells keep Rust's rules on references, under an interpreter that knows them.
if cargo +nightly miri --version >/dev/null 2>&1; then
    CARGO_TARGET_DIR=target/miri MIRIFLAGS=-Zmiri-disable-isolation \
        cargo +nightly miri test --quiet -p seqz-runtime --test cells
else
    echo "left out: cargo +nightly miri is not there (rustup component add miri rust-src --toolchain nightly)"
fi

say "tests"
# Findings stay until they are removed, and tests look for theirs by number.
rm -rf target/tmp/seqz-target/findings
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
cargo test --quiet --workspace "${features[@]}" --no-run

# Three runs beside each other keep two processors busy: one that fuzzes, for which programs wait for each other, one of
# tests that are one long test each, and one of all others.
fuzzing=(fuzz compare)
long=(whole_programs crates loops oracle examples)
mapfile -t others < <(
    for file in tests/*.rs */tests/*.rs */tests/*/main.rs; do
        name=${file%/main.rs}
        name=${name##*/}
        name=${name%.rs}
        [[ " ${fuzzing[*]} ${long[*]} " == *" $name "* ]] || echo "$name"
    done | sort -u
)
run() { cargo test --workspace "${features[@]}" --no-fail-fast "$@" 2>&1; }
code=0
run "${fuzzing[@]/#/--test=}" >"$logs/fuzzing" &
fuzzing_run=$!
run "${long[@]/#/--test=}" >"$logs/long" &
long_run=$!
run --lib --bins --examples "${others[@]/#/--test=}" | tee "$logs/others" || code=$?
wait "$long_run" || code=$?
wait "$fuzzing_run" || code=$?
cat "$logs/long" "$logs/fuzzing"
run --doc | tee "$logs/docs" || code=$?
# One line over all of the runner's summaries, of which the last one is of a crate without doc tests.
cat "$logs"/* | awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
     END { printf "%d passed, %d failed, %d skipped\n", passed, failed, ignored }'
exit "$code"
