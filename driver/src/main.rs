//! The `seqz` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    seqz::cli::process()
}
