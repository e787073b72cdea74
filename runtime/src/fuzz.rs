//! What a fuzz target runs: P̂ₖ on bytes, over and over in one process.
//!
//! A target is one harness with one thread under test and one k: those that it was generated for, or those that the
//! environment names.
//!
//! | variable | what it says |
//! |---|---|
//! | `SEQZ_HARNESS` | the harness's name |
//! | `SEQZ_ROLE` | which thread is under test: `first` or `second` |
//! | `SEQZ_K` | how many non-local reads at most |
//! | `SEQZ_COUNTS` | a file to write counts to: executions, infeasible ones, and ones that meet a known bug |
//! | `SEQZ_MOST` | how many executions to make: the process ends after them |
//! | `SEQZ_FOR` | for how many milliseconds: the process ends after them |
//! | `SEQZ_KNOWN` | bugs that are known, a [`key`] a line: the target goes on when it meets them |
//!
//! [`Property`](crate::Property) is for tests that name harness and thread under test themselves.

// Only its hooks record comparisons.
#[cfg_attr(not(seqz_comparisons), allow(dead_code))]
mod comparisons;
#[cfg(seqz_comparisons)]
mod hooks;
pub(crate) mod inputs;
mod literals;
mod mutation;
pub(crate) mod shrink;

use std::cell::RefCell;
use std::env;
use std::ffi::c_int;
use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use crate::engine::{Bug, Ending, Limits, Machine, Solver};
use crate::harness::AnyHarness;
use crate::input::ByteSource;
use crate::p_hat::{Outcome, run_bytes, split};
use crate::rounds::{EVENTS, most, width};
pub use crate::rounds::{ROUNDS, rounds, width_without_inputs};
use crate::vocabulary::{BugKind, Role};
use inputs::Mutator;
pub use literals::Literal;

/// The environment variable that names the harness.
pub const HARNESS: &str = "SEQZ_HARNESS";
/// The environment variable that says which thread is under test.
pub const ROLE: &str = "SEQZ_ROLE";
/// The environment variable that says the most non-local reads.
pub const K: &str = "SEQZ_K";
/// The environment variable with the known bugs.
pub const KNOWN: &str = "SEQZ_KNOWN";
/// The environment variable that says that panics of threads which no thread joins are no bugs.
pub const IGNORE_DETACHED_PANICS: &str = "SEQZ_IGNORE_DETACHED_PANICS";

/// The environment variable that says the number of executions to make.
pub const MOST: &str = "SEQZ_MOST";
/// The environment variable that says for how many milliseconds to go on.
pub const FOR: &str = "SEQZ_FOR";

/// The environment variable with the file for counts.
pub const COUNTS: &str = "SEQZ_COUNTS";

/// What a target says of a bug on its standard error, before its [`key`].
pub const MET: &str = "seqz: a new bug: ";

/// What a target says after the bug's key, before the bytes of that single execution, in hexadecimal digits.
pub const BY: &str = "seqz: by the bytes ";

/// Bytes as [`BY`] has them.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What [`hex`] has made of bytes.
#[must_use]
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok())
        .collect()
}

/// What a crate was generated for.
#[derive(Clone, Copy)]
pub struct Generated {
    /// The crate's harnesses.
    pub harnesses: &'static [&'static dyn AnyHarness],
    /// The thread under test.
    pub role: Role,
    /// The number of non-local reads.
    pub k: usize,
}

impl fmt::Debug for Generated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generated")
            .field("role", &self.role)
            .field("k", &self.k)
            .finish_non_exhaustive()
    }
}

/// Whether a fuzzer has a use for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worth {
    /// The bytes are an execution of the program.
    Keep,
    /// No interleaving has these non-local reads, or an assumption discards them.
    Reject,
}

/// The text by which two bugs of a target are one: the kind, the places, and which thread is T.
#[must_use]
pub fn key(bug: &Bug) -> String {
    let kind = match bug.kind {
        BugKind::Panic => "panic",
        BugKind::Deadlock => "deadlock",
        BugKind::DataRace => "race",
        BugKind::Detached => "detached",
        BugKind::Result => "result",
        BugKind::Exit => "exit",
        BugKind::Abort => "abort",
    };
    let role = name(bug.role);
    let other = bug.other_place.as_ref();
    let other = other.map_or_else(String::new, |place| format!(" {place}"));
    format!("{role} {kind} {}{other}", bug.place)
}

/// A role as the environment has it.
#[must_use]
pub fn name(role: Role) -> &'static str {
    role.name()
}

/// A harness that is fuzzed.
pub(crate) struct Target {
    harness: &'static dyn AnyHarness,
    role: Role,
    k: usize,
    /// The number of bytes that an execution takes.
    width: usize,
    known: Vec<String>,
    machine: Machine,
    /// The number of the machine's bugs that have been looked at.
    seen: usize,
    counts: Counts,
    /// What changes the harness's inputs, if the harness has any.
    mutator: Option<Mutator>,
    /// The number of executions to make; `until` is the time at which to stop.
    most: Option<u64>,
    until: Option<Instant>,
}

/// What has been executed, written to a file for the driver.
#[derive(Default)]
struct Counts {
    file: Option<File>,
    executions: u64,
    infeasible: u64,
    failing: u64,
}

impl Counts {
    /// The number of executions between two writings of the file.
    const BATCH: u64 = 512;

    fn write(&self) {
        if let Some(file) = &self.file {
            let Self {
                executions,
                infeasible,
                failing,
                ..
            } = self;
            // If the numbers can't be written, only a report lacks them.
            let _ = file.write_all_at(
                format!("{executions:20} {infeasible:20} {failing:20}\n").as_bytes(),
                0,
            );
        }
    }
}

impl Target {
    /// The target that the environment names, or that the crate was generated for.
    fn new(generated: Generated) -> Self {
        let harness = match chosen(HARNESS) {
            None => {
                let first = generated.harnesses.first();
                let first = first.unwrap_or_else(|| panic!("the crate has no harness"));
                if generated.harnesses.len() > 1 {
                    eprintln!(
                        "seqz: `{}` is fuzzed; {HARNESS} names another one of {}",
                        first.name(),
                        names(generated.harnesses)
                    );
                }
                *first
            }
            Some(name) => named(generated.harnesses, &name)
                .unwrap_or_else(|message| panic!("{HARNESS}: {message}")),
        };
        let role = match chosen(ROLE).as_deref() {
            None => generated.role,
            Some(name) => Role::named(name).unwrap_or_else(|| {
                panic!("{ROLE}: `{name}` is neither `first` nor `second`, and so on")
            }),
        };
        Self::with(harness, role, generated.k)
    }

    /// The target of this harness, with this thread under test.
    pub(crate) fn of(generated: Generated, harness: &str, role: Role) -> Self {
        let harness = named(generated.harnesses, harness);
        let harness = harness.unwrap_or_else(|message| panic!("{message}"));
        Self::with(harness, role, generated.k)
    }

    fn with(harness: &'static dyn AnyHarness, role: Role, k: usize) -> Self {
        let k = chosen(K).map_or(k, |k| {
            k.parse()
                .unwrap_or_else(|_| panic!("{K}: `{k}` is no number"))
        });
        let known = chosen(KNOWN).unwrap_or_default();
        let number = |name| {
            chosen(name).map(|text| {
                text.parse::<u64>()
                    .unwrap_or_else(|_| panic!("{name}: `{text}` is no number"))
            })
        };
        let time = number(FOR).map(Duration::from_millis);
        Self {
            harness,
            role,
            k,
            width: width(harness, k),
            known: known.lines().map(str::to_owned).collect(),
            machine: Machine::new(
                Limits {
                    ignore_detached_panics: chosen(IGNORE_DETACHED_PANICS).is_some(),
                    ..Limits::default()
                },
                Solver::Grid,
            ),
            seen: 0,
            mutator: Mutator::of(harness, k),
            counts: Counts {
                file: chosen(COUNTS).map(|path| {
                    File::create(&path).unwrap_or_else(|error| panic!("{COUNTS}: {path}: {error}"))
                }),
                ..Counts::default()
            },
            most: number(MOST),
            until: time.and_then(|time| Instant::now().checked_add(time)),
        }
    }

    /// The number of bytes of a round that can matter, except for gaps and picks that need more than one byte.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// The harness, the thread under test, and the most non-local reads.
    pub(crate) fn what(&self) -> (&'static str, Role, usize) {
        (self.harness.name(), self.role, self.k)
    }

    /// Runs P̂ₖ for each round of the bytes up to the first bug, known or not, and returns what happens.
    pub(crate) fn run(&mut self, bytes: &[u8]) -> Outcome {
        let mut all = rounds(bytes, self.width, most(self.harness)).peekable();
        loop {
            let round = all.next().unwrap_or_default();
            self.machine.forget_bugs();
            self.seen = 0;
            let ending = self.ending(round);
            let outcome = self.outcome(ending, self.machine.met().cloned().map(Box::new), round);
            if outcome.is_bug() || all.peek().is_none() {
                return outcome;
            }
        }
    }

    fn ending(&mut self, bytes: &[u8]) -> Ending {
        run_bytes(&mut self.machine, self.harness, self.role, self.k, bytes)
    }

    fn outcome(&self, ending: Ending, bug: Option<Box<Bug>>, bytes: &[u8]) -> Outcome {
        let mut inputs = ByteSource::new(split(self.k, bytes).1);
        Outcome {
            ending,
            bug,
            pairs: self.machine.pairs().into(),
            inputs: self.harness.bind_bytes(&mut inputs).inputs,
        }
    }

    /// Ends the process if it has made the executions that it is to make.
    fn stop_after_most(&self) {
        if self.most.is_some_and(|most| self.counts.executions >= most) {
            self.stop();
        }
    }

    /// Ends the process if its time is over.
    fn stop_in_time(&self) {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            self.stop();
        }
    }

    fn stop(&self) -> ! {
        unsafe extern "C" {
            fn _exit(code: c_int) -> !;
        }
        self.counts.write();
        // SAFETY: the function takes any number and does not return. `exit` would end the process, too, but libFuzzer
        // takes that for a crash.
        unsafe { _exit(0) }
    }

    fn worth(&mut self, bytes: &[u8]) -> Worth {
        let ending = self.ending(bytes);
        let counts = &mut self.counts;
        counts.executions += 1;
        counts.failing += u64::from(self.machine.met_bug_of_t());
        counts.infeasible +=
            u64::from(ending == Ending::Infeasible && !self.machine.met_bug_of_t());
        if counts.executions % Counts::BATCH == 1 {
            counts.write();
        }
        let bugs = self.machine.bugs();
        let before = std::mem::replace(&mut self.seen, bugs.len());
        for (bug, _) in &bugs[before..] {
            let key = key(bug);
            if !self.known.contains(&key) {
                self.counts.write();
                eprintln!("{MET}{key}");
                eprintln!("{BY}{}", hex(bytes));
                panic!(
                    "{}",
                    self.outcome(ending, Some(Box::new(bug.clone())), bytes)
                );
            }
        }
        match ending {
            Ending::Infeasible | Ending::Assumed | Ending::Mispaired | Ending::NoSuchRead => {
                Worth::Reject
            }
            Ending::Unsupported(_) => panic!("{}", self.outcome(ending, None, bytes)),
            _ => Worth::Keep,
        }
    }
}

/// What an environment variable says, if anything.
fn chosen(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The harness of this name, or a message with the harnesses that there are.
fn named(
    harnesses: &'static [&'static dyn AnyHarness],
    name: &str,
) -> Result<&'static dyn AnyHarness, String> {
    let found = harnesses.iter().find(|harness| harness.name() == name);
    found.copied().ok_or_else(|| {
        format!(
            "there is no harness `{name}`; there is: {}",
            names(harnesses)
        )
    })
}

fn names(harnesses: &[&dyn AnyHarness]) -> String {
    let names: Vec<_> = harnesses.iter().map(|harness| harness.name()).collect();
    names.join(", ")
}

thread_local! {
    static TARGET: RefCell<Option<Target>> = const { RefCell::new(None) };
}

fn with_target<R>(generated: Generated, run: impl FnOnce(&mut Target) -> R) -> R {
    TARGET.with_borrow_mut(|target| {
        run(target.get_or_insert_with(|| {
            crate::overflow::prepare();
            Target::new(generated)
        }))
    })
}

/// Runs P̂ₖ, as [`p_hat_from_bytes`](crate::p_hat_from_bytes) does, once for each round of the bytes, in what is kept from one
/// execution to the next.
///
/// # Panics
/// When a bug is met that is not known, and where the environment names what does not exist.
pub fn once(generated: Generated, bytes: &[u8]) -> Worth {
    with_target(generated, |target| {
        let mut worth = Worth::Reject;
        let mut events = 0;
        for round in rounds(bytes, target.width, most(target.harness)) {
            let found = match target.mutator.take() {
                Some(mut mutator) => {
                    let found = mutator.watch(round, || target.worth(round));
                    target.mutator = Some(mutator);
                    found
                }
                None => target.worth(round),
            };
            if found == Worth::Keep {
                worth = Worth::Keep;
            }
            target.stop_after_most();
            let log = target.machine.log();
            events += log.under_test.len() + log.interfering.len();
            if events > EVENTS {
                break;
            }
        }
        target.stop_in_time();
        worth
    })
}

/// Makes new bytes out of the first `size` ones of `data`, at most `most` of them. Returns their number. `literals` are those
/// of the program's source, and `by_fuzzer` is libFuzzer's own mutation.
///
/// # Panics
/// Where the environment names what there isn't.
pub fn mutate(
    generated: Generated,
    literals: &'static [Literal],
    data: &mut [u8],
    (size, most): (usize, usize),
    seed: u32,
    by_fuzzer: impl FnOnce(&mut [u8]) -> usize,
) -> usize {
    let made = with_target(generated, |target| {
        let width = target.width;
        if most < width.max(1) {
            return None;
        }
        match &mut target.mutator {
            None => Some(crate::rounds::mutate(
                data,
                (size, most),
                (width, target.k),
                seed,
            )),
            Some(mutator) => mutator.mutate(literals, data, size, seed),
        }
    });
    made.unwrap_or_else(|| by_fuzzer(data))
}

/// What the bytes stand for, up to the first round with a bug, and what happens then, in words.
///
/// # Panics
/// Where the environment names what there isn't.
#[must_use]
pub fn describe(generated: Generated, bytes: &[u8]) -> String {
    with_target(generated, |target| target.run(bytes).to_string())
}
