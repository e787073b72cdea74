//! P̂ₖ as one function: a choice of inputs, reads and writes in, what happens out.

use std::cell::RefCell;
use std::fmt;

use crate::engine::{Bug, Ending, Limits, Machine, Solver};
use crate::harness::{AnyHarness, Harness};
use crate::ids::{Pair, ReadId, Role, WriteId};
use crate::input::{ByteSource, Inputs};

/// What one execution of P̂ₖ came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// The bug that it met, with its proof.
    pub bug: Option<Bug>,
    /// The non-local reads that it had.
    pub pairs: Vec<Pair>,
    /// The inputs, as text.
    pub inputs: Vec<(&'static str, String)>,
}

impl Outcome {
    /// Whether a bug was met.
    #[must_use]
    pub const fn is_bug(&self) -> bool {
        self.bug.is_some()
    }

    /// Panics when a bug was met, as sequential testers expect it.
    ///
    /// # Panics
    /// When a bug was met.
    pub fn expect_no_bug(&self) {
        assert!(self.bug.is_none(), "{self}");
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.inputs {
            writeln!(f, "input {name} = {value}")?;
        }
        for (read, write) in &self.pairs {
            writeln!(f, "read {read} of T sees write {write} of T'")?;
        }
        if let Some(bug) = &self.bug {
            return bug.fmt(f);
        }
        match &self.ending {
            Ending::Passed => f.write_str("passed: no bug"),
            Ending::Bug => f.write_str("a bug"),
            Ending::Infeasible => f.write_str(
                "infeasible: no interleaving of the two threads has these non-local reads",
            ),
            Ending::Unknown(why) => write!(f, "undecided: {why}"),
            Ending::Mispaired => {
                f.write_str("mispaired: there is no such read, or the write is of another variable")
            }
            Ending::Assumed => f.write_str("discarded: an assumption does not hold"),
            Ending::StepBound => f.write_str("cut: the step bound was passed"),
            Ending::Waiting => {
                f.write_str("cut: the thread under test waits for something in a loop")
            }
            Ending::Stuck => f.write_str("cut: the thread under test waits for ever"),
            Ending::Unsupported {
                message,
                place: Some(place),
            } => write!(f, "unsupported: {message} (at {place})"),
            Ending::Unsupported {
                message,
                place: None,
            } => write!(f, "unsupported: {message}"),
        }
    }
}

thread_local! {
    static MACHINE: RefCell<Option<Machine>> = const { RefCell::new(None) };
}

fn with_machine<R>(run: impl FnOnce(&mut Machine) -> R) -> R {
    MACHINE.with_borrow_mut(|machine| {
        let machine = machine.get_or_insert_with(|| Machine::new(Limits::default(), Solver::Grid));
        machine.forget();
        machine.forget_bugs();
        run(machine)
    })
}

fn outcome(machine: &Machine, ending: Ending, inputs: Vec<(&'static str, String)>) -> Outcome {
    Outcome {
        ending,
        bug: machine.met().cloned(),
        pairs: machine.pairs().to_vec(),
        inputs,
    }
}

/// Runs P̂ₖ once: `harness` with `inputs`, T reading write `wrts[i]` of T' at its read `rds[i]`, all other reads local.
///
/// # Panics
/// If the two arrays differ in length.
pub fn p_hat<I: Inputs>(
    harness: &Harness<I>,
    role: Role,
    inputs: I,
    rds: &[ReadId],
    wrts: &[WriteId],
) -> Outcome {
    assert_eq!(
        rds.len(),
        wrts.len(),
        "rds and wrts have one entry per non-local read"
    );
    let pairs: Vec<Pair> = rds.iter().copied().zip(wrts.iter().copied()).collect();
    let bound = harness.with(inputs);
    with_machine(|machine| {
        let run = machine.run(role, &pairs, false, &bound);
        let ending = run.unwrap_or(Ending::Passed);
        outcome(machine, ending, bound.inputs)
    })
}

/// Runs P̂ₖ once, with inputs and non-local reads decoded from `bytes`.
///
/// The inputs come first, each in as many bytes as its type needs (little endian; lists with a length byte). Then, for each
/// of at most `K` non-local reads, one byte modulo 32 for how many reads that could be non-local are passed over, and one
/// byte that picks among the writes that the read could see; the first feasible one from there on is taken. Missing bytes
/// are 0. So nearly every byte string is a valid choice, and changing one byte changes one choice.
pub fn p_hat_from_bytes<const K: usize>(
    harness: &dyn AnyHarness,
    role: Role,
    bytes: &[u8],
) -> Outcome {
    let mut source = ByteSource::new(bytes);
    let bound = harness.bind_bytes(&mut source);
    with_machine(|machine| {
        let run = machine.run_bytes(role, K, source.rest(), &bound);
        let ending = run.unwrap_or(Ending::Passed);
        outcome(machine, ending, bound.inputs)
    })
}
