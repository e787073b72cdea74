//! Replays an interleaving over a log's semantics. Knows nothing of grids and timestamps: the replay runs the events
//! one by one and checks what each event finds.

use crate::log::{LockMode, Log, Object, Op, TEvent};
use crate::{Interleaving, Step};
use std::collections::HashMap;

/// Which event wrote the value that an object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    Initial,
    UnderTest(usize),
    Interfering(usize),
}

/// A lock block that a thread is in: the lock, its mode, and the index of the acquire.
type Block = (Object, LockMode, usize);

#[derive(Default)]
struct Replay {
    memory: HashMap<Object, Writer>,
    /// What T's next local read of the object has to find.
    expected_by_t: HashMap<Object, Writer>,
    expected_by_u: HashMap<Object, Writer>,
    held_by_t: Vec<Block>,
    held_by_u: Vec<Block>,
}

/// Checks that the interleaving has all of T and a prefix of T', each in program order, and that locks exclude each
/// other and every read sees what the log says it sees.
///
/// # Errors
/// The step at which the replay fails, and how it fails.
pub fn validate(log: &Log<'_>, interleaving: &Interleaving) -> Result<(), String> {
    let mut replay = Replay::default();
    let (mut t, mut u) = (0, 0);
    for (at, &step) in interleaving.0.iter().enumerate() {
        let outcome = match step {
            Step::UnderTest(index) if index as usize == t && t < log.under_test.len() => {
                t += 1;
                replay.under_test(log, t - 1, u)
            }
            Step::Interfering(index) if index as usize == u && u < log.interfering.len() => {
                u += 1;
                replay.interfering(log, u - 1)
            }
            _ => Err("is not the thread's next event".to_owned()),
        };
        outcome.map_err(|why| format!("step {at}, {step:?}: {why}"))?;
    }
    if t < log.under_test.len() {
        return Err(format!(
            "T ends after {t} of {} events",
            log.under_test.len()
        ));
    }
    Ok(())
}

impl Replay {
    fn under_test(&mut self, log: &Log<'_>, at: usize, done_by_u: usize) -> Result<(), String> {
        let TEvent { op, source } = log.under_test[at];
        match op {
            Op::Read(x) => self.read_by_t(log, x, source),
            Op::Write(x) => {
                no_source(source)?;
                self.write_by_t(x, at);
                Ok(())
            }
            Op::Update(x) => {
                self.read_by_t(log, x, source)?;
                self.write_by_t(x, at);
                Ok(())
            }
            Op::Acquire(lock, mode) => {
                no_source(source)?;
                excluded(&self.held_by_u, lock, mode)?;
                self.held_by_t.push((lock, mode, at));
                Ok(())
            }
            Op::Release(lock, mode) => {
                no_source(source)?;
                leave(&mut self.held_by_t, lock, mode)
            }
            Op::TryFail(lock, mode) => {
                let Some(source) = source else {
                    return Ok(());
                };
                let inside = self
                    .held_by_u
                    .iter()
                    .any(|&(l, m, a)| l == lock && m.excludes(mode) && a == source as usize);
                if inside {
                    Ok(())
                } else {
                    Err(format!(
                        "T' is not in the block opened by its event {source}"
                    ))
                }
            }
            Op::Join => {
                no_source(source)?;
                if done_by_u == log.interfering.len() {
                    Ok(())
                } else {
                    Err(format!("T' has done only {done_by_u} events"))
                }
            }
        }
    }

    fn read_by_t(&mut self, log: &Log<'_>, x: Object, source: Option<u32>) -> Result<(), String> {
        if let Some(source) = source {
            let paired = log.interfering.get(source as usize);
            if paired.and_then(|op| op.writes()) != Some(x) {
                return Err(format!("event {source} of T' does not write object {x}"));
            }
            self.expected_by_t
                .insert(x, Writer::Interfering(source as usize));
        }
        self.sees(x, &self.expected_by_t)
    }

    fn write_by_t(&mut self, x: Object, at: usize) {
        self.memory.insert(x, Writer::UnderTest(at));
        self.expected_by_t.insert(x, Writer::UnderTest(at));
    }

    fn interfering(&mut self, log: &Log<'_>, at: usize) -> Result<(), String> {
        let op = log.interfering[at];
        match op {
            Op::Read(x) => self.sees(x, &self.expected_by_u),
            Op::Write(x) => {
                self.write_by_u(x, at);
                Ok(())
            }
            Op::Update(x) => {
                self.sees(x, &self.expected_by_u)?;
                self.write_by_u(x, at);
                Ok(())
            }
            Op::Acquire(lock, mode) => {
                excluded(&self.held_by_t, lock, mode)?;
                self.held_by_u.push((lock, mode, at));
                Ok(())
            }
            Op::Release(lock, mode) => leave(&mut self.held_by_u, lock, mode),
            Op::TryFail(..) | Op::Join => Err("is an event that T' cannot have".to_owned()),
        }
    }

    fn write_by_u(&mut self, x: Object, at: usize) {
        self.memory.insert(x, Writer::Interfering(at));
        self.expected_by_u.insert(x, Writer::Interfering(at));
    }

    fn sees(&self, x: Object, expected: &HashMap<Object, Writer>) -> Result<(), String> {
        let expected = expected.get(&x).copied().unwrap_or(Writer::Initial);
        let found = self.memory.get(&x).copied().unwrap_or(Writer::Initial);
        if found == expected {
            Ok(())
        } else {
            Err(format!(
                "finds object {x} as written by {found:?}, not by {expected:?}"
            ))
        }
    }
}

fn no_source(source: Option<u32>) -> Result<(), String> {
    match source {
        None => Ok(()),
        Some(_) => Err("has a source, but reads nothing".to_owned()),
    }
}

fn excluded(held: &[Block], lock: Object, mode: LockMode) -> Result<(), String> {
    match held
        .iter()
        .find(|&&(l, m, _)| l == lock && m.excludes(mode))
    {
        None => Ok(()),
        Some((_, m, a)) => Err(format!(
            "the other thread holds lock {lock} ({m:?}) since its event {a}"
        )),
    }
}

fn leave(held: &mut Vec<Block>, lock: Object, mode: LockMode) -> Result<(), String> {
    let at = held
        .iter()
        .rposition(|&(l, m, _)| (l, m) == (lock, mode))
        .ok_or_else(|| format!("releases lock {lock} ({mode:?}) without holding it"))?;
    held.remove(at);
    Ok(())
}
