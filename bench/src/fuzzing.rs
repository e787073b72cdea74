//! P̂₂ on bytes: in a plain loop and under libFuzzer, beside shuttle's random scheduler and beside no interference.
//!
//! The programs are those of `examples/fixed`, without a bug, so that no tool stops at one. libFuzzer's targets are built by
//! `seqz fuzz`, and run here as they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use seqz_runtime::engine::Ending;
use seqz_runtime::input::Random;
use seqz_runtime::{AnyHarness, Harness, Role, fuzz, p_hat_from_bytes};

use crate::clock::Clock;

#[allow(clippy::all, clippy::undocumented_unsafe_blocks, dead_code)]
mod programs {
    include!(concat!(env!("OUT_DIR"), "/examples.rs"));
}

use programs::{seqz, shuttle};

seqz_runtime::inputs! {
    /// No input.
    struct Nothing {}
}

/// How long each measurement takes, in how many parts, of which the best one counts.
const WINDOW: Duration = Duration::from_secs(4);
const PARTS: u32 = 8;
/// Calls of a target per part.
const CALLS: u64 = 20_000;

static BLUETOOTH: Harness<Nothing> =
    Harness::new("bluetooth", |_| seqz::bluetooth::stop_during_a_request()).without_unsafe_code();
static ACCOUNT: Harness<Nothing> =
    Harness::new("account", |_| seqz::account::transfer_during_a_withdrawal())
        .without_unsafe_code();
static STRINGBUFFER: Harness<Nothing> = Harness::new("stringbuffer", |_| {
    seqz::stringbuffer::append_while_the_source_shrinks();
})
.without_unsafe_code();

/// Its name, and what it is for seqz and for shuttle.
type Program = (&'static str, &'static Harness<Nothing>, fn());

/// Measures and prints. `seqz` is the command.
pub(crate) fn rates(command: &Path) -> ExitCode {
    println!(
        "Executions per second of processor time, the best of {PARTS} parts, one core, one run. P̂₂ on bytes: random ones \
         in a loop over\np_hat_from_bytes, and chosen by libFuzzer, without a sanitizer; k = 0 is the same target \
         without interference.\n"
    );
    println!(
        "{:<13} {:>12} {:>12} {:>12} {:>12} {:>12} {:>13} {:>14} {:>10}",
        "program",
        "in a loop",
        "libFuzzer",
        "k = 0",
        "shuttle",
        "P̂₂ / k = 0",
        "lF / shuttle",
        "loop / shuttle",
        "infeasible"
    );
    let programs: [Program; 3] = [
        (
            "bluetooth",
            &BLUETOOTH,
            shuttle::bluetooth::stop_during_a_request,
        ),
        (
            "account",
            &ACCOUNT,
            shuttle::account::transfer_during_a_withdrawal,
        ),
        (
            "stringbuffer",
            &STRINGBUFFER,
            shuttle::stringbuffer::append_while_the_source_shrinks,
        ),
    ];
    let dir = std::env::temp_dir().join(format!("seqz-bench-{}", std::process::id()));
    let mut code = ExitCode::SUCCESS;
    // Shuttle comes last: its panic hook writes about the unwinding that ends executions of seqz.
    let in_loops = programs.map(|(_, harness, _)| in_a_loop(harness));
    let by_shuttles = programs.map(|(_, _, program)| {
        best(|| {
            ::shuttle::check_random(program, 1_000);
            1_000
        })
    });
    for (at, (name, ..)) in programs.into_iter().enumerate() {
        let ((in_a_loop, share), by_shuttle) = (in_loops[at], by_shuttles[at]);
        let target = match target(command, name, &dir) {
            Ok(target) => target,
            Err(why) => {
                eprintln!("{name}: {why}");
                code = ExitCode::FAILURE;
                continue;
            }
        };
        let [by_fuzzer, without] = [2, 0].map(|k| by_fuzzer(&target, k));
        println!(
            "{name:<13} {in_a_loop:>12.0} {by_fuzzer:>12.0} {without:>12.0} {by_shuttle:>12.0} {:>12.2} {:>12.1}× {:>13.1}× {:>9.1} %",
            by_fuzzer / without,
            by_fuzzer / by_shuttle,
            in_a_loop / by_shuttle,
            100.0 * share,
        );
    }
    let _ = fs::remove_dir_all(dir);
    code
}

/// Executions per second on random bytes, and the share of those that no interleaving has.
fn in_a_loop(harness: &Harness<Nothing>) -> (f64, f64) {
    let mut random = Random::new(1);
    let (mut all, mut infeasible) = (0_u64, 0_u64);
    let rate = best(|| {
        for _ in 0..1_000 {
            let bytes = random.next().to_le_bytes();
            let outcome = p_hat_from_bytes::<2>(harness, Role::FIRST, &bytes[..6]);
            all += 1;
            infeasible += u64::from(outcome.ending == Ending::Infeasible);
        }
        1_000
    });
    #[allow(clippy::cast_precision_loss)]
    (rate, infeasible as f64 / all as f64)
}

/// Executions per second of processor time; `run` says how many it has made.
fn best(mut run: impl FnMut() -> u64) -> f64 {
    run(); // Warm.
    let mut best = 0.0_f64;
    for _ in 0..PARTS {
        let clock = Clock::start();
        let mut executions = 0;
        while clock.wall() < WINDOW / PARTS {
            executions += run();
        }
        #[allow(clippy::cast_precision_loss)]
        let rate = executions as f64 / clock.elapsed().as_secs_f64();
        best = best.max(rate);
    }
    best
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(name)
}

/// Has `seqz fuzz` build the target.
fn target(command: &Path, name: &str, dir: &Path) -> Result<PathBuf, String> {
    let output = Command::new(command)
        .args([
            "fuzz",
            "--max-executions",
            "1",
            "--time",
            "1",
            "--target-dir",
        ])
        .arg(dir)
        .arg(example(&format!("fixed/{name}.rs")))
        .output()
        .map_err(|error| format!("cannot run {}: {error}", command.display()))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let programs = fs::read_dir(dir.join("fuzz")).map_err(|error| error.to_string())?;
    programs
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            file.starts_with(&format!("{name}-"))
        })
        .map(|path| path.join("target"))
        .find(|path| path.is_file())
        .ok_or_else(|| "there is no target".to_owned())
}

/// Executions per second of the target's processor time.
fn by_fuzzer(target: &Path, k: usize) -> f64 {
    let counts = target.with_file_name("counts");
    // As many bytes as executions that are as many as a call may be.
    let longest = fuzz::ROUNDS * if k == 0 { 1 } else { 2 * k + 4 };
    let mut best = 0.0_f64;
    for part in 1..=PARTS {
        let before = of_children();
        let status = Command::new(target)
            .args([format!("-runs={CALLS}"), format!("-seed={part}")])
            .args([format!("-max_len={longest}"), "-len_control=0".to_owned()])
            .env(fuzz::K, k.to_string())
            .env(fuzz::COUNTS, &counts)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let seconds = of_children() - before;
        let text = fs::read_to_string(&counts).unwrap_or_default();
        let executions = text.split_whitespace().next().map(str::parse::<f64>);
        if let Some(Ok(executions)) = executions
            && status.is_ok_and(|status| status.success())
            && seconds > 0.0
        {
            best = best.max(executions / seconds);
        }
    }
    best
}

/// The processor time of all processes that this one has waited for, in seconds.
fn of_children() -> f64 {
    /// What `getconf CLK_TCK` says on every Linux.
    const TICKS: f64 = 100.0;
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which may hold anything, in parentheses: `cutime` and `cstime` are the 14th and 15th.
    let rest = text.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = rest
        .split_whitespace()
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    ticks / TICKS
}

/// Runs P̂₂ ten million times and prints how much memory that leaves behind.
pub(crate) fn memory() -> ExitCode {
    const EXECUTIONS: u64 = 10_000_000;
    let mut random = Random::new(1);
    let started = Instant::now();
    let mut run = |times: u64| {
        for _ in 0..times {
            let bytes = random.next().to_le_bytes();
            let _ = p_hat_from_bytes::<2>(&STRINGBUFFER, Role::FIRST, &bytes[..6]);
        }
    };
    run(EXECUTIONS / 100);
    let before = resident();
    run(EXECUTIONS);
    println!(
        "{EXECUTIONS} executions of P̂₂ in {:.0} s: {before} KiB resident before, {} KiB after",
        started.elapsed().as_secs_f64(),
        resident()
    );
    ExitCode::SUCCESS
}

/// In KiB.
fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// Runs P̂₂ of a program on random bytes so often, and nothing else: for profilers.
pub(crate) fn only(program: &str, times: u64) -> ExitCode {
    let all = [&BLUETOOTH, &ACCOUNT, &STRINGBUFFER];
    let Some(harness) = all
        .into_iter()
        .find(|harness| AnyHarness::name(*harness) == program)
    else {
        eprintln!("{program} is none of bluetooth, account and stringbuffer");
        return ExitCode::from(2);
    };
    let mut random = Random::new(1);
    for _ in 0..times {
        let bytes = random.next().to_le_bytes();
        let _ = p_hat_from_bytes::<2>(harness, Role::FIRST, &bytes[..6]);
    }
    ExitCode::SUCCESS
}
