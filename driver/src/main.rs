//! The `seqz` command.

use std::process::ExitCode;
use std::thread;

/// The stack of the main thread, in bytes: sources are parsed and walked as deep as they are nested. Only the part that
/// is used costs memory.
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
        // There is no address space for this stack: a source that is not nested deeply needs little.
        Err(_) => seqz::cli::main(),
    };
    ExitCode::from(code)
}
