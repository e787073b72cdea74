//! `cargo seqz`: the `seqz` command by the name under which cargo finds it.

use std::process::ExitCode;

fn main() -> ExitCode {
    seqz::cli::process()
}
