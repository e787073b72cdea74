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
//! | `SEQZ_KNOWN` | bugs that are known, a [`key`] a line: the target goes on when it meets them |

use std::cell::RefCell;
use std::env;
use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use crate::engine::{Bug, BugKind, Ending, Limits, Machine, Solver};
use crate::harness::AnyHarness;
use crate::ids::Role;
use crate::p_hat::{Outcome, run_bytes, split};

/// The environment variable that names the harness.
pub const HARNESS: &str = "SEQZ_HARNESS";
/// The environment variable that says which thread is under test.
pub const ROLE: &str = "SEQZ_ROLE";
/// The environment variable that says how many non-local reads there may be.
pub const K: &str = "SEQZ_K";
/// The environment variable with the known bugs.
pub const KNOWN: &str = "SEQZ_KNOWN";

/// The environment variable with the file for counts.
pub const COUNTS: &str = "SEQZ_COUNTS";

/// What a target says of a bug on its standard error, before its [`key`].
pub const MET: &str = "seqz: a new bug: ";

/// What a crate was generated for.
#[derive(Clone, Copy)]
pub struct Generated {
    /// Its harnesses.
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
    /// They are an execution of the program.
    Keep,
    /// No interleaving has these non-local reads, or an assumption discards them.
    Reject,
}

/// What makes two bugs of a target one: the kind, the places, and whose bug it is.
#[must_use]
pub fn key(bug: &Bug) -> String {
    let kind = match bug.kind {
        BugKind::Panic => "panic",
        BugKind::Deadlock => "deadlock",
        BugKind::DataRace => "race",
    };
    let role = name(bug.role);
    let other = bug.other_place.as_ref();
    let other = other.map_or_else(String::new, |place| format!(" {place}"));
    format!("{role} {kind} {}{other}", bug.place)
}

/// A role as the environment has it.
#[must_use]
pub const fn name(role: Role) -> &'static str {
    match role {
        Role::First => "first",
        Role::Second => "second",
    }
}

/// A harness that is fuzzed.
struct Target {
    harness: &'static dyn AnyHarness,
    role: Role,
    k: usize,
    known: Vec<String>,
    machine: Machine,
    /// How many of the machine's bugs have been looked at.
    seen: usize,
    counts: Counts,
}

/// What has been executed, for whoever reads along.
#[derive(Default)]
struct Counts {
    file: Option<File>,
    executions: u64,
    infeasible: u64,
    failing: u64,
}

impl Counts {
    /// How many executions there are between two writings.
    const BATCH: u64 = 512;

    fn write(&self) {
        if let Some(file) = &self.file {
            let Self {
                executions,
                infeasible,
                failing,
                ..
            } = self;
            // Numbers that nobody can read are missing from a report, no more.
            let _ = file.write_all_at(
                format!("{executions:20} {infeasible:20} {failing:20}\n").as_bytes(),
                0,
            );
        }
    }
}

impl Target {
    fn new(generated: Generated) -> Self {
        let chosen = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
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
                first
            }
            Some(name) => {
                let mut all = generated.harnesses.iter();
                all.find(|harness| harness.name() == name)
                    .unwrap_or_else(|| {
                        panic!(
                            "{HARNESS}: there is no `{name}`, but {}",
                            names(generated.harnesses)
                        )
                    })
            }
        };
        let role = match chosen(ROLE).as_deref() {
            None => generated.role,
            Some("first") => Role::First,
            Some("second") => Role::Second,
            Some(other) => panic!("{ROLE}: `{other}` is neither `first` nor `second`"),
        };
        let k = chosen(K).map_or(generated.k, |k| {
            k.parse()
                .unwrap_or_else(|_| panic!("{K}: `{k}` is no number"))
        });
        let known = chosen(KNOWN).unwrap_or_default();
        Self {
            harness: *harness,
            role,
            k,
            known: known.lines().map(str::to_owned).collect(),
            machine: Machine::new(Limits::default(), Solver::Grid),
            seen: 0,
            counts: Counts {
                file: chosen(COUNTS).map(|path| {
                    File::create(&path).unwrap_or_else(|error| panic!("{COUNTS}: {path}: {error}"))
                }),
                ..Counts::default()
            },
        }
    }

    fn ending(&mut self, bytes: &[u8]) -> Ending {
        run_bytes(&mut self.machine, self.harness, self.role, self.k, bytes)
    }

    fn outcome(&self, ending: Ending, bug: Option<Bug>, bytes: &[u8]) -> Outcome {
        Outcome {
            ending,
            bug,
            pairs: self.machine.pairs().to_vec(),
            inputs: self.harness.bind_bytes(&mut split(self.k, bytes).1).inputs,
        }
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
                panic!("{}", self.outcome(ending, Some(bug.clone()), bytes));
            }
        }
        match ending {
            Ending::Infeasible | Ending::Assumed | Ending::Mispaired => Worth::Reject,
            Ending::Unsupported { .. } => panic!("{}", self.outcome(ending, None, bytes)),
            _ => Worth::Keep,
        }
    }
}

fn names(harnesses: &[&dyn AnyHarness]) -> String {
    let names: Vec<_> = harnesses.iter().map(|harness| harness.name()).collect();
    names.join(", ")
}

thread_local! {
    static TARGET: RefCell<Option<Target>> = const { RefCell::new(None) };
}

fn with_target<R>(generated: Generated, run: impl FnOnce(&mut Target) -> R) -> R {
    TARGET.with_borrow_mut(|target| run(target.get_or_insert_with(|| Target::new(generated))))
}

/// Runs P̂ₖ once, as [`p_hat_from_bytes`](crate::p_hat_from_bytes) does, in what is kept from one execution to the next.
///
/// # Panics
/// When a bug is met that is not known, and where the environment names what there isn't.
pub fn once(generated: Generated, bytes: &[u8]) -> Worth {
    with_target(generated, |target| target.worth(bytes))
}

/// Runs P̂ₖ once and says what happens, of bugs too.
///
/// # Panics
/// Where the environment names what there isn't.
#[must_use]
pub fn run(generated: Generated, bytes: &[u8]) -> Outcome {
    with_target(generated, |target| {
        target.machine.forget_bugs();
        target.seen = 0;
        let ending = target.ending(bytes);
        target.outcome(ending, target.machine.met().cloned(), bytes)
    })
}

/// What bytes stand for, and what happens then, in words.
///
/// # Panics
/// Where the environment names what there isn't.
#[must_use]
pub fn describe(generated: Generated, bytes: &[u8]) -> String {
    run(generated, bytes).to_string()
}

/// How many bytes can matter, but for gaps and picks that need more than one.
///
/// # Panics
/// Where the environment names what there isn't.
#[must_use]
pub fn longest(generated: Generated) -> usize {
    with_target(generated, |target| width(target.harness, target.k))
}

/// How many bytes the choices and the inputs of a harness take, and some more for long gaps.
pub(crate) fn width(harness: &dyn AnyHarness, k: usize) -> usize {
    2 * k + harness.widths().iter().sum::<usize>() + if k > 0 { 4 } else { 0 }
}
