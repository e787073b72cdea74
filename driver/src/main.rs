//! The `seqz` command.

use std::process::ExitCode;
use std::thread;

/// Bytes of stack: sources are parsed and walked as deep as they are nested. Only what is used of it costs memory.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    if let Some(code) = seqz::compiled::serve() {
        return ExitCode::from(code);
    }
    let main = thread::Builder::new()
        .stack_size(STACK)
        .spawn(seqz::cli::main);
    let code = match main.map(thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        // No address space: what is not nested deeply needs little.
        Err(_) => seqz::cli::main(),
    };
    ExitCode::from(code)
}
