//! P̂ₖ as one function: takes a choice of inputs, reads and writes, and returns what happens.

use std::cell::Cell;
use std::fmt;

use crate::bound::Bound;
use crate::engine::{Bug, ByBytes, Ending, Limits, Machine, Solver};
use crate::harness::{AnyHarness, Harness};
use crate::input::{ByteSource, Inputs};
use crate::pairs::Pairs;
use crate::vocabulary::{Pair, ReadId, Role, WriteId};

/// The result of one execution of P̂ₖ.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How the execution ended.
    pub ending: Ending,
    /// The bug that the execution met, with its proof.
    pub bug: Option<Box<Bug>>,
    /// The non-local reads of the execution.
    pub pairs: Pairs,
    /// The inputs: name, and value as text.
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
            Ending::Unknown(why) => write!(f, "undecided: {}", why.message),
            Ending::Mispaired => {
                f.write_str("mispaired: there is no such write, or it is of another variable")
            }
            Ending::NoSuchRead => {
                f.write_str("no such read: the thread under test does not come to it")
            }
            Ending::Assumed => f.write_str("discarded: an assumption does not hold"),
            Ending::StepBound => f.write_str("cut: the step bound was passed"),
            Ending::Waiting => {
                f.write_str("cut: the thread under test waits for something in a loop")
            }
            Ending::Stuck => f.write_str("cut: the thread under test waits for ever"),
            Ending::Unsupported(what) => {
                write!(f, "unsupported: {}", what.message)?;
                match &what.place {
                    Some(place) => write!(f, " (at {place})"),
                    None => Ok(()),
                }
            }
        }
    }
}

thread_local! {
    /// A machine of this OS thread's past executions, kept for its memory.
    static MACHINE: Cell<Option<Box<Machine>>> = const { Cell::new(None) };
}

/// A machine that knows of no earlier execution. Given back to [`MACHINE`] when dropped.
struct Borrowed(Option<Box<Machine>>);

impl Borrowed {
    fn new() -> Self {
        Self(MACHINE.take())
    }

    fn machine(&mut self) -> &mut Machine {
        let machine = self
            .0
            .get_or_insert_with(|| Box::new(Machine::new(Limits::default(), Solver::Grid)));
        machine.forget();
        machine.forget_bugs();
        machine
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        MACHINE.set(self.0.take());
    }
}

pub(crate) fn outcome(
    machine: &Machine,
    ending: Ending,
    inputs: Vec<(&'static str, String)>,
) -> Outcome {
    Outcome {
        ending,
        bug: machine.met().cloned().map(Box::new),
        pairs: machine.pairs().into(),
        inputs,
    }
}

/// Runs P̂ₖ once: `harness` with `inputs`, T reading write `wrts[i]` of T' at its read `rds[i]`, all other reads local.
///
/// ```
/// use std::sync::Arc;
///
/// use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use seqz_runtime::std::thread;
/// use seqz_runtime::{Harness, ReadId, Role, WriteId, p_hat};
///
/// seqz_runtime::inputs! {
///     /// The program has no inputs.
///     pub struct Inputs {}
/// }
///
/// fn init(_: Inputs) {
///     let x = Arc::new(AtomicU32::new(0));
///     let (under_test, interfering) = (Arc::clone(&x), x);
///     let under_test = thread::spawn(move || assert_ne!(under_test.load(SeqCst), 7, "seven"));
///     let interfering = thread::spawn(move || interfering.store(7, SeqCst));
///     under_test.join().unwrap();
///     interfering.join().unwrap();
/// }
///
/// static HARNESS: Harness<Inputs> = Harness::new("sees_seven", init);
///
/// // All reads of T see what T wrote itself, or the initial value.
/// assert!(!p_hat(&HARNESS, Role::FIRST, Inputs {}, &[], &[]).is_bug());
///
/// // Read 0 of T sees write 0 of T'.
/// let outcome = p_hat(&HARNESS, Role::FIRST, Inputs {}, &[ReadId(0)], &[WriteId(0)]);
/// assert!(outcome.is_bug());
/// assert!(outcome.to_string().contains("seven"), "{outcome}");
/// ```
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
    let pairs = paired(rds, wrts);
    once(role, &pairs, harness.with(inputs))
}

/// The non-local reads with the writes that they see.
fn paired(rds: &[ReadId], wrts: &[WriteId]) -> Vec<Pair> {
    assert_eq!(
        rds.len(),
        wrts.len(),
        "rds and wrts have one entry per non-local read"
    );
    rds.iter().copied().zip(wrts.iter().copied()).collect()
}

/// Runs P̂ₖ once. This is not generic over the inputs' types, so that it is not compiled with each program.
fn once(role: Role, pairs: &[Pair], bound: Bound) -> Outcome {
    let mut borrowed = Borrowed::new();
    let machine = borrowed.machine();
    let run = machine.run(role, pairs, false, &bound);
    outcome(machine, run.unwrap_or(Ending::Passed), bound.inputs)
}

/// Runs P̂ₖ once, with inputs and at most `K` non-local reads decoded from `bytes`.
///
/// | bytes | what they say |
/// |---|---|
/// | 2i, for i < K | how many opportunities pass before the non-local read number i: see below |
/// | 2i + 1 | which write it sees: a number modulo that of the writes in question, the latest being 0 |
/// | from 2K | the inputs, each at a fixed place: numbers in little endian, a list's length before its elements |
/// | what is left | parts of numbers that are too large for a byte |
///
/// An opportunity is a read of something that T' wrote and that T has not seen. The byte for a gap counts modulo 8
/// below 128; up to 253 it is 120 more than the gap; 254 says that the gap is 134 and as much more as the next of the
/// bytes that are left say; 255 that there is no further non-local read. Where no interleaving allows a write to be
/// seen, the next write that can be seen is taken. A read that can't be local, after the reads before it, takes the
/// next choice at once. Missing bytes are 0, a missing gap is 255: so the empty string is the program with inputs of
/// zeros and without interference. Where T turns out to have needed a non-local read that it has passed over, the
/// program is run again with this read.
///
/// Nearly every byte string is a valid choice, changing a byte changes one choice, and every feasible choice of inputs, reads
/// and writes has its bytes, up to the longest texts and lists: 32 bytes, 16 elements. What bytes stand for depends on nothing
/// but the program.
pub fn p_hat_from_bytes<const K: usize>(
    harness: &dyn AnyHarness,
    role: Role,
    bytes: &[u8],
) -> Outcome {
    run(harness, role, K, bytes)
}

/// Does what [`p_hat_from_bytes`] does, for a k that is not known at compile time.
pub(crate) fn run(harness: &dyn AnyHarness, role: Role, k: usize, bytes: &[u8]) -> Outcome {
    let mut borrowed = Borrowed::new();
    let machine = borrowed.machine();
    let ending = run_bytes(machine, harness, role, k, bytes);
    let inputs = match harness.params() {
        [] => Vec::new(),
        _ => {
            harness
                .bind_bytes(&mut ByteSource::new(split(k, bytes).1))
                .inputs
        }
    };
    outcome(machine, ending, inputs)
}

/// The bytes of the choices, and the bytes of the inputs with all later bytes.
pub(crate) fn split(k: usize, bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.len().min(2 * k))
}

/// Runs P̂ₖ once on a given machine, with the choices that [`p_hat_from_bytes`] makes of the bytes.
pub(crate) fn run_bytes(
    machine: &mut Machine,
    harness: &dyn AnyHarness,
    role: Role,
    k: usize,
    bytes: &[u8],
) -> Ending {
    machine.forget();
    let (choices, inputs) = split(k, bytes);
    let mut ending = Ending::Passed;
    harness.with_bytes(inputs, &mut |program, extension| {
        let run = machine.run_bytes(&ByBytes {
            role,
            k,
            choices,
            extension,
            program,
            safe: harness.safe(),
            same: Some((harness.entry(), &inputs[..inputs.len() - extension.len()])),
        });
        // That a program does not do the same thing twice shows where bytes have to be run twice. Such an execution
        // shows nothing.
        ending = run.unwrap_or(Ending::Infeasible);
    });
    ending
}
