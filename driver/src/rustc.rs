//! What rustc says of itself.

use std::env;
use std::process::Command;

/// rustc can't be run, or says nothing that could be believed.
pub(crate) struct Silent {
    /// What happened.
    pub(crate) message: String,
    /// What rustc printed of it, or else what it is needed for.
    pub(crate) output: String,
}

/// Returns what rustc prints when it is run with these arguments.
///
/// # Errors
/// When it can't be run, or fails.
pub(crate) fn says(arguments: &[&str]) -> Result<String, Silent> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let silent = |why: &dyn std::fmt::Display, output: String| Silent {
        message: format!("cannot run `{}`: {why}", rustc.display()),
        output,
    };
    let output = Command::new(&rustc).args(arguments).output();
    let output = output.map_err(|error| {
        let needed = "seqz builds the transformed program with cargo and rustc";
        silent(&error, needed.into())
    })?;
    // What a failed run printed tells no compiler from another.
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(silent(&output.status, said.into_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
