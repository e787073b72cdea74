//! Running P̂ₖ once by hand: `rds`, `wrts` and the inputs from the command line.

use std::fs::File;
use std::io::{self, Read as _};
use std::process::ExitCode;

use crate::engine::{Ending, Limits, Machine, Solver};
use crate::fuzz::Generated;
use crate::harness::AnyHarness;
use crate::input::Spec;
use crate::p_hat::{self, Outcome};
use crate::rounds::{most, rounds, width};
use crate::vocabulary::{Pair, ReadId, Role, WriteId};

const HELP: &str = "\
Runs the sequential program once and says what happens.

Options:
  --harness NAME      which harness (needed if there are several, but for --bytes, which runs the first one)
  --under-test ROLE   which thread is T: `first` (default) or `second`, by creation
  --rds  N,N,…        the reads of T that see writes of T', by number from 0, in order
  --wrts N,N,…        the write of T' that each of them sees, by number from 0
  --input NAME=VALUE  the value of a parameter
  --bytes FILE        run what the file stands for, as fuzzers do, and abort at a bug; `-` is standard input
  --k N               with --bytes: how many non-local reads at most [default: what the crate is for]
  --list              the harnesses and their parameters

Exit status: 0 no bug, 1 a bug, 2 the command line is at fault; where the choice is no execution of the program:
3 no interleaving has these reads, 4 a write can't be paired with its read, 5 there is no such read; 6 the execution
was broken off, as the text says: an assumption, a bound, a wait, or what the sequential program can't express.
";

struct Options {
    harness: Option<String>,
    role: Option<Role>,
    rds: Vec<u32>,
    wrts: Vec<u32>,
    inputs: Vec<(String, String)>,
    bytes: Option<String>,
    k: Option<usize>,
}

/// Does what `arguments` say.
pub(super) fn run(generated: Generated, arguments: Vec<String>) -> ExitCode {
    let harnesses = generated.harnesses;
    if arguments
        .iter()
        .any(|argument| argument == "--help" || argument == "-h")
    {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "--list") {
        for harness in harnesses {
            let params: Vec<_> = harness
                .params()
                .iter()
                .map(|param| format!("{}: {}", param.name, param.ty))
                .collect();
            println!("{}({})", harness.name(), params.join(", "));
        }
        return ExitCode::SUCCESS;
    }
    let outcome = parse(arguments).and_then(|options| match &options.bytes {
        Some(file) => Ok((execute_bytes(generated, &options, file)?, true)),
        None => Ok((execute(harnesses, &options)?, false)),
    });
    match outcome {
        Ok((outcome, true)) if outcome.is_bug() => {
            eprintln!("{outcome}");
            // What fuzzers take for a bug is a signal.
            std::process::abort()
        }
        Ok((outcome, _)) => {
            println!("{outcome}");
            ExitCode::from(status(&outcome))
        }
        Err(message) => {
            eprintln!("{message}\nSee --help.");
            ExitCode::from(2)
        }
    }
}

/// The exit status that tells how an execution ended, see [`HELP`].
fn status(outcome: &Outcome) -> u8 {
    if outcome.is_bug() {
        return 1;
    }
    match outcome.ending {
        Ending::Passed | Ending::Bug => 0,
        Ending::Infeasible => 3,
        Ending::Mispaired => 4,
        Ending::NoSuchRead => 5,
        Ending::Unknown(_)
        | Ending::Assumed
        | Ending::StepBound
        | Ending::Waiting
        | Ending::Stuck
        | Ending::Unsupported(_) => 6,
    }
}

fn parse(arguments: Vec<String>) -> Result<Options, String> {
    let mut options = Options {
        harness: None,
        role: None,
        rds: Vec::new(),
        wrts: Vec::new(),
        inputs: Vec::new(),
        bytes: None,
        k: None,
    };
    let mut arguments = arguments.into_iter();
    while let Some(name) = arguments.next() {
        let (name, inline) = match name.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (name, None),
        };
        let mut value = || {
            inline
                .clone()
                .or_else(|| arguments.next())
                .ok_or_else(|| format!("{name} needs a value"))
        };
        match name.as_str() {
            "--harness" => options.harness = Some(value()?),
            "--under-test" => {
                let name = value()?;
                let role = Role::named(&name).ok_or_else(|| {
                    format!("`{name}` is neither `first` nor `second`, and so on")
                })?;
                options.role = Some(role);
            }
            "--bytes" => options.bytes = Some(value()?),
            "--k" => {
                let k = value()?;
                options.k = Some(k.parse().map_err(|_| format!("`{k}` is no number"))?);
            }
            "--rds" => options.rds = numbers(&value()?)?,
            "--wrts" => options.wrts = numbers(&value()?)?,
            "--input" => {
                let text = value()?;
                let (name, value) = text
                    .split_once('=')
                    .ok_or_else(|| format!("`{text}` is no NAME=VALUE"))?;
                options.inputs.push((name.to_owned(), value.to_owned()));
            }
            _ => return Err(format!("there is no option {name}")),
        }
    }
    if options.rds.len() != options.wrts.len() {
        return Err("--rds and --wrts need one number each per non-local read".to_owned());
    }
    if !options.rds.is_sorted_by(|a, b| a < b) {
        return Err("--rds must be in ascending order".to_owned());
    }
    Ok(options)
}

fn numbers(text: &str) -> Result<Vec<u32>, String> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    parts
        .map(|part| part.parse().map_err(|_| format!("`{part}` is no number")))
        .collect()
}

fn execute_bytes(generated: Generated, options: &Options, file: &str) -> Result<Outcome, String> {
    if !options.rds.is_empty() || !options.inputs.is_empty() {
        return Err("--bytes says what the inputs, reads and writes are".to_owned());
    }
    let mut bytes = Vec::new();
    let read = if file == "-" {
        io::stdin().read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|error| format!("{file}: {error}"))?;
    // A fuzzer would not see that it has to choose one: as fuzz targets do, the first one is run.
    let harness = match generated.harnesses {
        [first, ..] if options.harness.is_none() => *first,
        harnesses => chosen(harnesses, options)?,
    };
    let role = options.role.unwrap_or(generated.role);
    let k = options.k.unwrap_or(generated.k);
    let mut all = rounds(&bytes, width(harness, k), most(harness)).peekable();
    loop {
        let outcome = p_hat::run(harness, role, k, all.next().unwrap_or_default());
        if outcome.is_bug() || all.peek().is_none() {
            return Ok(outcome);
        }
    }
}

/// The harness of this name, or the only one.
fn chosen<'a>(
    harnesses: &'a [&'a dyn AnyHarness],
    options: &Options,
) -> Result<&'a dyn AnyHarness, String> {
    let names = || {
        harnesses
            .iter()
            .map(|harness| harness.name())
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (&options.harness, harnesses) {
        (Some(name), _) => harnesses
            .iter()
            .find(|harness| harness.name() == name)
            .copied()
            .ok_or_else(|| format!("there is no harness `{name}`; there is: {}", names())),
        (None, [harness]) => Ok(*harness),
        (None, _) => Err(format!("which harness? There is: {}", names())),
    }
}

fn execute(harnesses: &[&dyn AnyHarness], options: &Options) -> Result<Outcome, String> {
    let harness = chosen(harnesses, options)?;
    for (name, _) in &options.inputs {
        if !harness.params().iter().any(|param| param.name == name) {
            return Err(format!("`{}` has no parameter `{name}`", harness.name()));
        }
    }
    let specs: Vec<Spec> = harness
        .params()
        .iter()
        .map(|param| {
            let given = options.inputs.iter().find(|(name, _)| name == param.name);
            let (_, value) = given
                .ok_or_else(|| format!("--input {}=… ({}) is needed", param.name, param.ty))?;
            Ok(Spec::List(vec![value.clone()]))
        })
        .collect::<Result<_, String>>()?;
    let set = harness
        .bind(&specs, 1, 0)
        .map_err(|error| error.to_string())?;
    let bound = set.bound.into_iter().next().ok_or("there are no inputs")?;
    let pairs: Vec<Pair> = options
        .rds
        .iter()
        .zip(&options.wrts)
        .map(|(&read, &write)| (ReadId(read), WriteId(write)))
        .collect();
    let mut machine = Machine::new(Limits::default(), Solver::Grid);
    let ending = machine
        .run(options.role.unwrap_or(Role::FIRST), &pairs, false, &bound)
        .unwrap_or(Ending::Passed);
    Ok(Outcome {
        ending,
        bug: machine.met().cloned().map(Box::new),
        pairs: machine.pairs().into(),
        inputs: bound.inputs,
    })
}
