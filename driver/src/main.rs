//! The `seqz` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(seqz::cli::main())
}
