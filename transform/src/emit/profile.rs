//! The compilation profile of a program and of its runtime. The driver's `build.rs` includes this file, too: it has to
//! compile the libraries with the options that cargo uses when it builds a program.

/// The profile of the runtime, and of the part of it that decides feasibility. The checks are for the user's code, not for
/// the runtime, which is compiled once for many programs and may take longer.
const RUNTIME: &str = "codegen-units = 1\ndebug-assertions = false\noverflow-checks = false\n";

/// Returns both profiles of a manifest: optimized, and with the checks that the package's tests have. With one codegen
/// unit rustc takes about half of the processor time for a program of ordinary size, as much of the runtime is inlined
/// into each unit.
pub(crate) fn sections(debug_assertions: bool, overflow_checks: bool) -> String {
    let profile = format!(
        "opt-level = 3\ncodegen-units = 1\ndebug = \"line-tables-only\"\ndebug-assertions = {debug_assertions}\noverflow-checks = {overflow_checks}\npanic = \"unwind\"\n"
    );
    ["dev", "release"]
        .map(|name| {
            format!(
                "[profile.{name}]\n{profile}\n[profile.{name}.package.seqz-runtime]\n{RUNTIME}\n[profile.{name}.package.seqz-feasibility]\n{RUNTIME}\n"
            )
        })
        .concat()
}
