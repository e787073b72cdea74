//! A harness: the program under test as a function of its inputs.

use std::cell::Cell;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::process::{ExitCode, Termination};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::bound::Bound;
use crate::ending::Verdict;
use crate::input::{ByteSource, Count, InputError, Inputs, Param, Random, Shape, Spec};
use crate::judge;
use crate::std::panic::catch_unwind;
use crate::values::Registry;

/// A harness of the program under test. Generated code has one `static` per harness.
pub struct Harness<I> {
    name: &'static str,
    init: fn(I),
    expects: Option<ShouldPanic>,
    safe: bool,
    values: &'static [Register],
}

/// What `#[should_panic]` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ShouldPanic {
    /// The text that the message has to contain, if any.
    with: Option<&'static str>,
}

/// Runs a harness, and reverses its result as `#[should_panic]` says.
fn judged(expects: Option<ShouldPanic>, run: impl FnOnce()) {
    let Some(expected) = expects else {
        return run();
    };
    let mut run = Some(run);
    should_panic(expected, &mut || {
        if let Some(run) = run.take() {
            run();
        }
    });
}

/// Runs a harness that should panic. This is no generic code, so that it is not compiled with each program.
fn should_panic(ShouldPanic { with }: ShouldPanic, run: &mut dyn FnMut()) {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(()) => verdict("the test should have panicked, and did not".to_owned()),
        Err(payload) if payload.is::<Verdict>() => std::panic::resume_unwind(payload),
        Err(payload) => {
            let Some(with) = with else { return };
            match judge::text(&*payload) {
                Some(message) if message.contains(with) => {}
                Some(message) => verdict(format!(
                    "the test should have panicked with {with:?} in its message, which is {message:?}"
                )),
                None => verdict(format!(
                    "the test should have panicked with {with:?} in its message, and what it panicked with is no text"
                )),
            }
        }
    }
}

fn verdict(message: String) -> ! {
    std::panic::resume_unwind(Box::new(Verdict(message)))
}

/// The harness, of the name `who`, has returned `value`: an `Err` and an exit code that is not 0 are failures.
pub fn returned<T: Termination>(who: &str, value: T) {
    let code = value.report();
    if code != ExitCode::SUCCESS {
        let digits: String = format!("{code:?}")
            .chars()
            .filter(char::is_ascii_digit)
            .collect();
        verdict(format!("the {who} ends with exit code {digits}"));
    }
}

/// The harness, of the name `who`, has returned a `Result`, whose error a report tells.
pub fn returned_result<T: Termination, E: fmt::Debug>(who: &str, value: Result<T, E>) {
    match value {
        Ok(value) => returned(who, value),
        Err(error) => verdict(format!("the {who} ends with Err({error:?})")),
    }
}

/// The harness is a program's `main`, for which `exit(0)` is a good end.
pub fn is_main() {
    if let Some(machine) = crate::scheduled::current() {
        return machine.is_main();
    }
    if let Some(handle) = crate::engine::current() {
        crate::engine::is_main(handle);
    }
}

/// Registers types of the program: see [`crate::values`].
pub type Register = fn(&mut Registry<'_>);

impl<I: Inputs> Harness<I> {
    /// The harness `name`, which `init` runs.
    #[must_use]
    pub const fn new(name: &'static str, init: fn(I)) -> Self {
        Self {
            name,
            init,
            expects: None,
            safe: false,
            values: &[],
        }
    }

    /// Makes it the harness of a test that passes if it panics, with a message that contains the given text, if any.
    #[must_use]
    pub const fn should_panic(self, with: Option<&'static str>) -> Self {
        Self {
            expects: Some(ShouldPanic { with }),
            ..self
        }
    }

    /// Makes it the harness of a program that has no `unsafe` code: see [`Bound::safe`].
    #[must_use]
    pub const fn without_unsafe_code(self) -> Self {
        Self { safe: true, ..self }
    }

    /// Makes it the harness of a program that has types of its own in shared values.
    #[must_use]
    pub const fn with_values(self, values: &'static [Register]) -> Self {
        Self { values, ..self }
    }

    /// The harness with these inputs.
    #[must_use]
    pub fn with(&self, inputs: I) -> Bound {
        self.register_values();
        bound(self.init, self.expects, self.safe, inputs)
    }
}

/// The inputs that a search goes through.
#[derive(Debug)]
pub struct InputSet {
    /// The harness once for each choice of inputs.
    pub bound: Vec<Bound>,
    /// Whether `bound` is a sample of more inputs.
    pub sampled: bool,
}

/// A function that runs a harness once, given the bytes that its inputs left.
pub type Run<'a> = dyn FnMut(&dyn Fn(), &[u8]) + 'a;

/// A harness, whatever its inputs are.
pub trait AnyHarness: Sync {
    /// The harness's path in the program.
    fn name(&self) -> &'static str;

    /// The harness's parameters.
    fn params(&self) -> &'static [Param];

    /// The harness with the inputs that `specs` allow, one spec per parameter; at most `limit`, chosen at random from
    /// `seed` where there are more.
    ///
    /// # Errors
    /// A spec does not fit its parameter.
    fn bind(&self, specs: &[Spec], limit: usize, seed: u64) -> Result<InputSet, InputError>;

    /// The number of bytes that each parameter takes in what [`AnyHarness::bind_bytes`] reads.
    fn widths(&self) -> Vec<usize>;

    /// What the bytes of each parameter stand for.
    fn shapes(&self) -> Vec<Shape>;

    /// The harness with the inputs that the first bytes stand for.
    fn bind_bytes(&self, bytes: &mut ByteSource<'_>) -> Bound;

    /// Calls `run` with the harness with the inputs that the first bytes stand for, and with the bytes that are left.
    /// Makes no text of the inputs.
    fn with_bytes(&self, bytes: &[u8], run: &mut Run<'_>);

    /// Whether the program has no `unsafe` code: see [`Bound::safe`].
    fn safe(&self) -> bool;

    /// The address of the harness's code: two harnesses with the same address do the same.
    fn entry(&self) -> usize;
}

fn bound<I: Inputs>(init: fn(I), expects: Option<ShouldPanic>, safe: bool, inputs: I) -> Bound {
    Bound {
        inputs: inputs.describe(),
        program: Box::new(move || judged(expects, || init(inputs.clone()))),
        safe,
    }
}

/// The number of each parameter's first values that are combined in all ways before a sample is drawn.
const FEW: u64 = 4;

/// Tells `build` which choices of inputs are run, each as the number of each parameter's value: all there are, or else
/// at most `limit`. Returns whether there are more. This is not generic over the inputs' types, so that it is not
/// compiled with each program.
fn choose(
    counts: &[Count],
    limit: usize,
    seed: u64,
    build: &mut dyn FnMut(&[u64]) -> Result<(), InputError>,
) -> Result<bool, InputError> {
    let mut sampled = counts.iter().any(|count| count.sampled);
    let total = counts
        .iter()
        .try_fold(1_u64, |total, count| total.checked_mul(count.values));
    let all = total.is_some_and(|total| total <= limit as u64);
    sampled |= !all;
    let runs = if all {
        total.unwrap_or(0)
    } else {
        limit as u64
    };
    let mut random = Random::new(seed);
    // A sample begins with all combinations of a few of the simplest values.
    let few = |count: &Count| count.values.min(FEW);
    let simple = counts.iter().map(few).try_fold(1, u64::checked_mul);
    let simple = simple.filter(|simple| *simple <= runs / 2).unwrap_or(0);
    for run in 0..runs {
        let mut rest = run;
        let mut digit = |values: u64| {
            let number = rest % values;
            rest /= values;
            number
        };
        let numbers: Vec<u64> = counts
            .iter()
            .map(|count| {
                if all {
                    digit(count.values)
                } else if run < simple {
                    digit(few(count))
                } else {
                    random.below(count.values)
                }
            })
            .collect();
        build(&numbers)?;
    }
    Ok(sampled)
}

impl<I: Inputs> AnyHarness for Harness<I> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn params(&self) -> &'static [Param] {
        I::PARAMS
    }

    fn bind(&self, specs: &[Spec], limit: usize, seed: u64) -> Result<InputSet, InputError> {
        let mut bound = Vec::new();
        let sampled = choose(&I::counts(specs)?, limit, seed, &mut |numbers| {
            bound.push(self.with(I::build(specs, numbers, seed)?));
            Ok(())
        })?;
        Ok(InputSet { bound, sampled })
    }

    fn widths(&self) -> Vec<usize> {
        I::widths()
    }

    fn shapes(&self) -> Vec<Shape> {
        I::shapes()
    }

    fn bind_bytes(&self, bytes: &mut ByteSource<'_>) -> Bound {
        self.with(I::decode(bytes))
    }

    fn with_bytes(&self, bytes: &[u8], run: &mut Run<'_>) {
        self.register_values();
        let mut source = ByteSource::new(bytes);
        let inputs = Cell::new(Some(I::decode(&mut source)));
        let program = || {
            let inputs = inputs.take();
            let inputs = inputs.unwrap_or_else(|| I::decode(&mut ByteSource::new(bytes)));
            judged(self.expects, || (self.init)(inputs));
        };
        run(&program, source.rest());
    }

    fn safe(&self) -> bool {
        self.safe
    }

    fn entry(&self) -> usize {
        self.init as usize
    }
}

impl<I> Harness<I> {
    /// Registers the program's types whose values can be hashed: all harnesses of a program have the same list.
    #[inline(always)]
    fn register_values(&self) {
        static REGISTERED: AtomicUsize = AtomicUsize::new(0);
        let address = self.values.as_ptr().addr();
        if !self.values.is_empty() && REGISTERED.load(Ordering::Relaxed) != address {
            register(self.values);
            REGISTERED.store(address, Ordering::Relaxed);
        }
    }
}

#[cold]
fn register(values: &[Register]) {
    for register in values {
        Registry::fill(register);
    }
}
