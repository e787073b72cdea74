//! Serving a fuzzer's driver: what its bytes stand for, and bytes to begin with.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::connection::Connection;
use super::message::{
    ByteChoice, DecodeReply, DecodeRequest, Executing, SeedRequest, Seeds, Stopped,
};
use super::search::{finding, texts};
use crate::bound::Bound;
use crate::check::{Bounds, Search};
use crate::engine::{Bug, Ending, Limits, Machine, Remark, Solver};
use crate::fuzz::key;
use crate::harness::AnyHarness;
use crate::input::{ByteSource, Random};
use crate::p_hat::{run_bytes, split};
use crate::rounds::width;
use crate::vocabulary::{Pair, Role};

/// Runs the choice that the bytes stand for.
pub(super) fn decode(
    mut connection: Connection<DecodeRequest>,
    harness: &dyn AnyHarness,
    request: &DecodeRequest,
) -> io::Result<()> {
    let &ByteChoice {
        role,
        k,
        ref bytes,
        executions,
        ignore_detached_panics,
        ..
    } = &request.choice;
    let k = k as usize;
    let (_, inputs) = split(k, bytes);
    let bound = harness.bind_bytes(&mut ByteSource::new(inputs));
    let before = executing(role, &[], &bound);
    connection.send(DecodeReply::Executing(before.clone()))?;
    let limits = Limits {
        // What kills the worker must be the program, and not what it does in states that no interleaving reaches.
        run_on: 0,
        ignore_detached_panics,
        ..Limits::default()
    };
    let mut machine = Machine::new(limits, Solver::Grid);
    // The program may never come back: the driver knows of each choice before its read goes on.
    let shared = Arc::new(Mutex::new(connection));
    let line = Arc::clone(&shared);
    machine.announce(Box::new(move |pairs| {
        let now = Executing {
            pairs: pairs.to_vec(),
            ..before.clone()
        };
        let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
        // Where the driver is gone, the worker goes on all the same, and fails at the end.
        let _ = line.send(DecodeReply::Executing(now));
    }));
    let ending = run_bytes(&mut machine, harness, role, k, bytes);
    let mut connection = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let threads = machine.threads();
    if !threads.is_empty() {
        connection.send(DecodeReply::Threads(threads))?;
    }
    if let Ending::Unsupported(what) = ending {
        let Remark { message, place } = *what;
        return connection.stop(Stopped::Unsupported { message, place });
    }
    for (bug, _) in machine.bugs() {
        let smaller = smallest(bug, &bound, executions);
        let found = finding(smaller.as_ref().unwrap_or(bug), &bound, 1);
        connection.send(DecodeReply::Finding(Box::new(found)))?;
    }
    connection.send(DecodeReply::Done)
}

fn executing(role: Role, pairs: &[Pair], bound: &Bound) -> Executing {
    Executing {
        role,
        pairs: pairs.to_vec(),
        inputs: texts(bound),
    }
}

/// The number of events after which a look for something simpler than a known bug is given up, however few executions
/// these are: a second or two.
pub(super) const ENOUGH_EVENTS: u64 = 20_000_000;

/// The number of events of the machine's latest execution, about.
pub(super) fn events(machine: &Machine) -> u64 {
    let log = machine.log();
    (log.under_test.len() + log.interfering.len()) as u64
}

/// The same bug with the same inputs and fewer non-local reads, as few as are found in this number of executions.
fn smallest(bug: &Bug, bound: &Bound, executions: u64) -> Option<Bug> {
    let k_max = bug.pairs.len().checked_sub(1)?;
    let bounds = Bounds {
        k_max,
        executions,
        limits: Limits::default(),
    };
    let wanted = key(bug);
    let mut machine = Machine::new(bounds.limits, Solver::Grid);
    let mut search = Search::new(bound, bug.role, bounds);
    let same = |machine: &Machine| {
        let mut bugs = machine.bugs().iter();
        bugs.find(|(found, _)| key(found) == wanted)
            .map(|(found, _)| found.clone())
    };
    let mut spent = 0;
    while !search.finished() && spent < ENOUGH_EVENTS {
        let mut known = 0;
        let mut found = None;
        let level = search.next_level(&mut machine, &mut |_, machine| {
            spent += events(machine);
            if machine.bugs().len() > known {
                known = machine.bugs().len();
                found = same(machine);
            }
            found.is_none() && spent < ENOUGH_EVENTS
        });
        if found.is_some() {
            return found;
        }
        level.ok()?;
    }
    None
}

/// Makes bytes for each non-local read that T may have by itself, with the inputs that zeros stand for and some random ones:
/// what the logs of T and T' show, without anything learned by trial.
pub(super) fn seeds(
    mut connection: Connection<SeedRequest>,
    harness: &dyn AnyHarness,
    request: &SeedRequest,
) -> io::Result<()> {
    let &SeedRequest {
        role,
        k,
        limit,
        seed,
        ..
    } = request;
    let k = k as usize;
    let length = harness.widths().iter().sum();
    let mut random = Random::new(seed);
    let mut inputs: Vec<Vec<u8>> = vec![Vec::new()];
    if length > 0 {
        inputs.extend((0..INPUTS).map(|_| {
            (0..length)
                .map(|_| random.next().to_le_bytes()[0])
                .collect::<Vec<_>>()
        }));
    }
    let mut machine = Machine::new(Limits::default(), Solver::Grid);
    let mut strings = Vec::new();
    for inputs in &inputs {
        let mut seen = BTreeSet::new();
        let mut idle = 0;
        'gaps: for gap in (0..GAPS).take(if k == 0 { 1 } else { GAPS as usize }) {
            for pick in 0..if k == 0 { 1 } else { PICKS } {
                if strings.len() >= limit as usize || idle > IDLE {
                    break 'gaps;
                }
                let string = choice(k, gap, pick, inputs);
                let ending = run_bytes(&mut machine, harness, role, k, &string);
                if let Ending::Unsupported(what) = ending {
                    let Remark { message, place } = *what;
                    return connection.stop(Stopped::Unsupported { message, place });
                }
                // A choice that is not feasible is no execution, and an equal choice may have been made already.
                if ending != Ending::Infeasible && seen.insert(machine.pairs().to_vec()) {
                    strings.push(string);
                    idle = 0;
                } else {
                    idle += 1;
                }
            }
        }
    }
    if strings.is_empty() {
        strings.push(choice(k, 0, 0, &[]));
    }
    connection.send(Seeds {
        strings,
        longest: u32::try_from(width(harness, k)).unwrap_or(u32::MAX),
    })
}

/// The number of random inputs that there are seeds for.
const INPUTS: usize = 3;
/// The bounds up to which gaps are tried, and picks.
const GAPS: u8 = 64;
const PICKS: u8 = 8;
/// The number of choices in a row that may bring nothing new.
const IDLE: u32 = 256;

/// The bytes of one non-local read after this number of opportunities (`gap`), and no other one.
fn choice(k: usize, gap: u8, pick: u8, inputs: &[u8]) -> Vec<u8> {
    let mut string = vec![255; 2 * k];
    for pair in string.chunks_exact_mut(2) {
        pair[1] = 0;
    }
    if let [first, second, ..] = string.as_mut_slice() {
        *first = if gap < 8 { gap } else { gap + 120 };
        *second = pick;
    }
    string.extend_from_slice(inputs);
    string
}
