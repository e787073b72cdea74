#!/usr/bin/env bash
# All that has to hold before a change goes in: format, lints, docs, all tests with Z3, and the table of examples.
# Needs Rust with clippy and rustfmt, and libz3-dev.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

features=(--features seqz/z3,seqz-bench/z3,seqz-bench/peers,seqz-runtime/scheduler)

# A build of one commit once gains nothing from files for the next build, which fill gigabytes.
export CARGO_INCREMENTAL=0

say() { printf '\n== %s (after %s s)\n' "$*" "$SECONDS"; }

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

# A run per file of tests, three at a time, which keep two processors busy: programs that are fuzzed wait for each other, and
# some files are one long test. Those that take longest begin first, so that none of them is left to run alone at the end.
long=(fuzz whole_programs compare crates loops oracle examples as_cargo build)
mapfile -t others < <(
    for file in tests/*.rs */tests/*.rs */tests/*/main.rs; do
        name=${file%/main.rs}
        name=${name##*/}
        name=${name%.rs}
        [[ " ${long[*]} " == *" $name "* ]] || echo "$name"
    done | sort -u
)
run() { cargo test --workspace "${features[@]}" --no-fail-fast "$@" 2>&1; }
# Its output is shown whole when it has ended, not mixed with that of the runs beside it.
run_one() {
    local log=$logs/$1 code=0 begun=$SECONDS
    local which=(--test "$1") spent TIMEFORMAT='%U + %S'
    [ "$1" != units ] || which=(--lib --bins --examples)
    spent=$({ time run "${which[@]}" >"$log"; } 2>&1) || code=$?
    echo "$1 took $((SECONDS - begun)) s, $spent s of processors" >>"$log"
    flock "$logs/shown" cat "$log"
    return "$code"
}
export -f run run_one
export logs features_text="${features[*]}"
code=0
printf '%s\n' "${long[@]}" units "${others[@]}" |
    xargs -P 3 -I{} bash -c 'read -ra features <<<"$features_text"; run_one {} || exit 1' || code=1
run --doc | tee "$logs/docs" || code=$?
# One line over all of the runner's summaries, of which the last one is of a crate without doc tests.
find "$logs" -type f ! -name shown -exec cat {} + | awk '/^test result:/ { passed += $4; failed += $6; ignored += $8 }
     END { printf "%d passed, %d failed, %d skipped\n", passed, failed, ignored }'
exit "$code"
