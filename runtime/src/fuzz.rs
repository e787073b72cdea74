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
//! | `SEQZ_KNOWN` | bugs that are known, a [`key`] a line: the target goes on when it meets them |

use std::cell::RefCell;
use std::env;
use std::fmt;

use crate::engine::{Bug, BugKind, Ending, Limits, Machine, Solver};
use crate::harness::AnyHarness;
use crate::ids::Role;
use crate::p_hat::{outcome, run_bytes, split};

/// The environment variable that names the harness.
pub const HARNESS: &str = "SEQZ_HARNESS";
/// The environment variable that says which thread is under test.
pub const ROLE: &str = "SEQZ_ROLE";
/// The environment variable that says how many non-local reads there may be.
pub const K: &str = "SEQZ_K";
/// The environment variable with the known bugs.
pub const KNOWN: &str = "SEQZ_KNOWN";

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
        }
    }

    fn run(&mut self, bytes: &[u8]) -> Worth {
        let Self {
            harness,
            role,
            k,
            machine,
            ..
        } = self;
        let ending = run_bytes(machine, *harness, *role, *k, bytes);
        let before = std::mem::replace(&mut self.seen, machine.bugs().len());
        if machine.bugs()[before..]
            .iter()
            .any(|(bug, _)| !self.known.contains(&key(bug)))
        {
            let inputs = harness.bind_bytes(&mut split(*k, bytes).1).inputs;
            panic!("{}", outcome(machine, ending, inputs));
        }
        match ending {
            Ending::Infeasible | Ending::Assumed | Ending::Mispaired => Worth::Reject,
            Ending::Unsupported { .. } => panic!("{}", outcome(machine, ending, Vec::new())),
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

/// Runs P̂ₖ once, as [`p_hat_from_bytes`](crate::p_hat_from_bytes) does, in what is kept from one execution to the next.
///
/// # Panics
/// When a bug is met that is not known, and where the environment names what there isn't.
pub fn once(generated: Generated, bytes: &[u8]) -> Worth {
    TARGET.with_borrow_mut(|target| {
        target
            .get_or_insert_with(|| Target::new(generated))
            .run(bytes)
    })
}
