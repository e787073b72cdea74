//! `seqz check`.

use super::{CheckArgs, SolverChoice, Verdict};
use crate::error::Error;
use crate::program::Program;
use crate::terminal::Terminal;

pub(super) fn run(args: &CheckArgs, _terminal: &Terminal) -> Result<Verdict, Error> {
    if args.solver != SolverChoice::Grid && !cfg!(feature = "z3") {
        return Err(Error::Option {
            message: "this seqz was built without Z3".into(),
            help:
                "build one with it: `cargo install --path driver --features z3` (needs libz3-dev)"
                    .into(),
        });
    }
    let _program = Program::load(&args.path)?;
    Ok(Verdict::Clean)
}
