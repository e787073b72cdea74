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
code=0
cargo test --quiet --workspace "${features[@]}" --no-run
# The tests that fuzz use one processor at a time. They run beside the others.
cargo test --workspace "${features[@]}" --no-fail-fast --test 'fuz*' >"$logs/fuzz" 2>&1 &
fuzz=$!
cargo test --workspace "${features[@]}" --no-fail-fast --lib --bins --examples \
    --test '[!f]*' --test 'f[!u]*' 2>&1 | tee "$logs/others" || code=$?
wait "$fuzz" || code=$?
cat "$logs/fuzz"
cargo test --workspace "${features[@]}" --no-fail-fast --doc 2>&1 | tee "$logs/docs" || code=$?
# One line over all of the runner's summaries, of which the last one is of a crate without doc tests.
cat "$logs"/* | awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
     END { printf "%d passed, %d failed, %d skipped\n", passed, failed, ignored }'
exit "$code"
