//! The compilation profile of a program and of its runtime. The driver's `build.rs` includes this file, too: it has to
//! compile the libraries with the options that cargo uses when it builds a program.

/// The profile of [`RUNTIME_PACKAGES`]. The checks are for the user's code, not for the runtime, which is compiled once for
/// many programs, whatever their profiles are, and may take longer.
const RUNTIME: &str = "codegen-units = 1\ndebug-assertions = false\noverflow-checks = false\n";

/// The runtime and what it always stands on. All have one profile: one that follows the user's would have the runtime
/// compiled again for each of the user's profiles.
pub(super) const RUNTIME_PACKAGES: [&str; 3] =
    ["seqz-runtime", "seqz-feasibility", "seqz-vocabulary"];

/// The names of both profiles of a manifest.
const PROFILES: [&str; 2] = ["dev", "release"];

/// Returns both profiles of a manifest: optimized, and with the checks that the package's tests have. With one codegen
/// unit rustc takes about half of the processor time for a program of ordinary size, as much of the runtime is inlined
/// into each unit.
pub(crate) fn sections(debug_assertions: bool, overflow_checks: bool) -> String {
    let profile = format!(
        "opt-level = 3\ncodegen-units = 1\ndebug = \"line-tables-only\"\ndebug-assertions = {debug_assertions}\noverflow-checks = {overflow_checks}\npanic = \"unwind\"\n"
    );
    let own = PROFILES.map(|name| format!("[profile.{name}]\n{profile}\n"));
    own.into_iter()
        .chain(RUNTIME_PACKAGES.map(of_the_runtime))
        .collect()
}

/// Returns what both profiles of a manifest say of a package that the runtime is, or is linked with.
pub(crate) fn of_the_runtime(package: &str) -> String {
    PROFILES
        .map(|name| format!("[profile.{name}.package.{package}]\n{RUNTIME}\n"))
        .concat()
}
