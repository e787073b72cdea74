//! Ratios between seqz and the tools beside it, each measured in one run on one machine.

#[cfg_attr(not(any(feature = "peers", feature = "z3")), allow(dead_code))]
mod clock;
mod crates;
#[cfg(feature = "z3")]
mod feasibility;
#[cfg(feature = "peers")]
mod first_bugs;
#[cfg(feature = "peers")]
mod fuzzing;
#[cfg(any(feature = "peers", feature = "z3"))]
mod growth;
#[cfg(feature = "peers")]
mod known_bugs;
#[cfg(feature = "z3")]
mod orders;
#[cfg(feature = "peers")]
mod peers;
#[cfg(feature = "peers")]
mod programs;
#[cfg(feature = "peers")]
mod schedules;
mod sweep;

use std::process::ExitCode;

/// What generated workers have. Outside of executions of seqz it is the system's, so that the others have that.
#[cfg(feature = "peers")]
#[global_allocator]
static ALLOCATOR: seqz_runtime::memory::arena::Allocator = seqz_runtime::memory::arena::Allocator;

const USAGE: &str = "\
usage: seqz-bench feasibility [LOGS]   (needs --features z3)
       seqz-bench orders [QUERIES]     (needs --features z3)
       seqz-bench growth [PART]        (needs --features z3 or peers; the rows whose names have this in them)
       seqz-bench peers                (needs --features peers)
       seqz-bench schedules            (needs --features peers)
       seqz-bench fuzzing SEQZ         (needs --features peers; SEQZ is the command, with all that `seqz fuzz` needs)
       seqz-bench first-bugs SEQZ [EXAMPLE…]   (all examples, if none is named)
       seqz-bench crates [--only NAME,…] [--quick] [--time SECONDS] [--seqz COMMAND] [--write]   (published crates as they are)
       seqz-bench known-bugs SEQZ [--only NAME,…] [--time SECONDS]   (needs --features peers, and the registry)
       seqz-bench memory
       seqz-bench sweep [DIR…]         (the transformation, over the packages in these directories or in cargo's registry)
       seqz-bench loop PROGRAM TIMES   (P̂₂ on random bytes, for profilers)
       seqz-bench search PROGRAM STRATEGY TIMES   (so many executions in scheduled mode, for profilers; needs --features peers)";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        #[cfg(feature = "z3")]
        Some("feasibility") => {
            let logs = arguments.next().and_then(|logs| logs.parse().ok());
            feasibility::run(logs.unwrap_or(240))
        }
        #[cfg(feature = "z3")]
        Some("orders") => {
            let queries = arguments.next().and_then(|queries| queries.parse().ok());
            orders::run(queries.unwrap_or(200))
        }
        #[cfg(any(feature = "peers", feature = "z3"))]
        Some("growth") => growth::run(&arguments.next().unwrap_or_default()),
        #[cfg(feature = "peers")]
        Some("peers") => peers::run(),
        #[cfg(feature = "peers")]
        Some("fuzzing") => match arguments.next() {
            Some(seqz) => fuzzing::rates(seqz.as_ref()),
            None => usage(),
        },
        #[cfg(feature = "peers")]
        Some("first-bugs") => match arguments.next() {
            Some(seqz) => first_bugs::run(seqz.as_ref(), &arguments.collect::<Vec<_>>()),
            None => usage(),
        },
        Some("sweep") => sweep::run(&arguments.collect::<Vec<_>>()),
        Some("sweep-one") => match arguments.next() {
            Some(package) => sweep::one(package.as_ref()),
            None => usage(),
        },
        Some("crates") => crates::run(arguments),
        #[cfg(feature = "peers")]
        Some("known-bugs") => known_bugs::run(arguments).unwrap_or_else(usage),
        #[cfg(feature = "peers")]
        Some("memory") => fuzzing::memory(),
        #[cfg(feature = "peers")]
        Some("loop") => match (
            arguments.next(),
            arguments.next().map(|times| times.parse()),
        ) {
            (Some(program), Some(Ok(times))) => fuzzing::only(&program, times),
            _ => usage(),
        },
        #[cfg(feature = "peers")]
        Some("schedules") => schedules::run(),
        #[cfg(feature = "peers")]
        Some("search") => match (
            arguments.next(),
            arguments.next(),
            arguments.next().map(|times| times.parse()),
        ) {
            (Some(program), Some(strategy), Some(Ok(times))) => {
                schedules::only(&program, &strategy, times)
            }
            _ => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}
