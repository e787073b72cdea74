//! The plain interpreter: every interleaving of a program's two lines, by state, without any reduction.
//!
//! It knows nothing of seqz's engine, log or feasibility. What it takes over are the definitions, which are these.
//!
//! # Events
//! Interleaving points are the events: an atomic access, an acquire, the read of the protected value right after it,
//! the write of it right before the release if the guard was written through, the release, the join. A
//! read-modify-write is one event that reads and writes; a failed compare-exchange is a read. Whatever else a thread
//! does is local and happens with the event before it, but for a failure, which is a step of its own: a thread that is
//! about to fail has not failed yet, and the other one may still go on.
//!
//! # Traces that count for a role
//! T' is T'-sequential: each of its reads sees T's writes never, only its own and the initial values (what main's
//! stores before the spawns left is initial). No `try_lock` of its fails because T is in the block, either: that would be
//! an observation of T as well.
//!
//! k is the number of T's observations of T': reads (of atomics, of protected values when a guard is taken, the read
//! half of updates, those after the join too) that see a write of T', and failed `try_lock`s because T' was in the
//! block. A `try_lock` that fails because the thread itself holds the lock is no event at all. That a lock
//! could be taken is no observation.
//!
//! # Failures
//! A failing trace ends at the failure; T' may be anywhere then, also inside a block. Found are, for a role,
//! - an assertion that fails in T. One that fails in T' ends the trace and doesn't count for this role: T' being
//!   T'-sequential, it is the other role's with k = 0. T can't join a T' that is about to fail, nor take a lock that it
//!   holds then;
//! - [`Failure::Relock`] in T: it takes a lock in a mode that excludes what it holds itself. In T', as before;
//! - [`Failure::Deadlock`]: neither can go on, and both wait for each other: T for a lock that T' holds, or in the join
//!   for T'; T' for a lock that T holds, or, being main with a guard in hand, in its join for T. The k is that of the
//!   trace up to there.
//!
//! T' waiting for itself (a relock) is no deadlock with T: that T' has failed.
//!
//! Beside failures, the interpreter keeps how T can end for EVERY choice of non-local reads, with the pairs (n-th
//! observation of T, m-th write or acquire of T'), so that more can be compared than failures: see [`Behaviours`].

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::compile::{FRAMES, Lines, Object, Op, Role, compile};
use crate::program::{Cond, Expr, LOCALS, Local, Program};

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Failure {
    /// The assertion with this id failed in T.
    Assertion(u32),
    /// T took a lock that it held.
    Relock,
    /// T and T' wait for each other.
    Deadlock,
}

/// How T ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum End {
    /// At the end of its code, the join and what follows included.
    Passed,
    /// In a failure.
    Failed(Failure),
}

/// T's non-local reads: its n-th observation (a read, an update or an attempted `try_lock`, from 0) and the m-th
/// write, update or acquire of T' (from 0) that it saw.
pub(crate) type Pairs = Vec<(u32, u32)>;

/// All that can happen in a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Behaviours {
    /// How T can end, by its non-local reads.
    pub(crate) ends: BTreeMap<Pairs, BTreeSet<End>>,
    /// An interleaving for each failure at its smallest k.
    pub(crate) traces: BTreeMap<Failure, (usize, Vec<String>)>,
    /// How many states were visited.
    pub(crate) states: usize,
}

impl Behaviours {
    /// Each failure with its smallest k.
    pub(crate) fn findings(&self) -> BTreeMap<Failure, usize> {
        self.traces
            .iter()
            .map(|(failure, (k, _))| (*failure, *k))
            .collect()
    }
}

/// Explores the program in the role.
pub(crate) fn interpret(program: &Program, role: Role) -> Behaviours {
    let lines = compile(program, role);
    let mut search = Search {
        lines: &lines,
        seen: HashSet::new(),
        path: Vec::new(),
        found: Behaviours::default(),
    };
    let mut start = State {
        at: [0, 0],
        locals: [0; LOCALS * FRAMES],
        cells: lines
            .initial
            .iter()
            .map(|&value| Cell {
                value,
                writer: Writer::Initial,
            })
            .collect(),
        held: [Vec::new(), Vec::new()],
        observations: 0,
        writes: 0,
        pairs: Vec::new(),
    };
    for line in [T, U] {
        start.settle(&lines, line);
    }
    search.visit(start);
    search.found.states = search.seen.len();
    search.found
}

/// The line of T.
const T: usize = 0;
/// The line of T'.
const U: usize = 1;

/// Who wrote a value last.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Writer {
    Initial,
    UnderTest,
    /// T', in that write.
    Interfering(u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Cell {
    value: u8,
    writer: Writer,
}

/// A guard.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Held {
    object: Object,
    exclusive: bool,
    value: u8,
    written: bool,
    /// Which of the line's writes and acquires took it; kept for T' only.
    acquire: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    at: [usize; 2],
    locals: [u8; LOCALS * FRAMES],
    cells: Vec<Cell>,
    held: [Vec<Held>; 2],
    observations: u32,
    writes: u32,
    pairs: Pairs,
}

/// What a line's next step does.
enum Step {
    /// It goes on, to this state.
    To(Box<State>),
    /// It waits for a lock, for the other line's end, or has ended.
    Waits,
    /// It fails.
    Fails(Failure),
    /// T' would observe T: no trace that counts.
    NotSequential,
}

struct Search<'a> {
    lines: &'a Lines,
    seen: HashSet<State>,
    path: Vec<String>,
    found: Behaviours,
}

impl Search<'_> {
    fn visit(&mut self, state: State) {
        if !self.seen.insert(state.clone()) {
            return;
        }
        let (t, u) = (state.step(self.lines, T), state.step(self.lines, U));
        if state.ended(self.lines, T) {
            self.end(&state, End::Passed);
        }
        if let Step::Fails(failure) = t {
            self.end(&state, End::Failed(failure));
            return;
        }
        if matches!((&t, &u), (Step::Waits, Step::Waits)) && state.wait_for_each_other(self.lines) {
            self.end(&state, End::Failed(Failure::Deadlock));
        }
        for (line, step) in [(T, t), (U, u)] {
            if let Step::To(next) = step {
                let name = ["T ", "T'"][line];
                self.path.push(format!(
                    "{name} {:?}",
                    self.lines.code[line][state.at[line]]
                ));
                self.visit(*next);
                self.path.pop();
            }
        }
    }

    fn end(&mut self, state: &State, end: End) {
        self.found
            .ends
            .entry(state.pairs.clone())
            .or_default()
            .insert(end);
        if let End::Failed(failure) = end {
            let k = state.pairs.len();
            if self
                .found
                .traces
                .get(&failure)
                .is_none_or(|(least, _)| k < *least)
            {
                self.found.traces.insert(failure, (k, self.path.clone()));
            }
        }
    }
}

impl State {
    fn ended(&self, lines: &Lines, line: usize) -> bool {
        lines.code[line][self.at[line]] == Op::End
    }

    /// The lock that the line is about to take, and how.
    fn wants(&self, lines: &Lines, line: usize) -> Option<(Object, bool)> {
        match lines.code[line][self.at[line]] {
            Op::Acquire { object, exclusive } => Some((object, exclusive)),
            _ => None,
        }
    }

    /// The line's guard that keeps the lock from being taken so.
    fn obstacle(&self, line: usize, object: Object, exclusive: bool) -> Option<&Held> {
        self.held[line]
            .iter()
            .find(|held| held.object == object && (exclusive || held.exclusive))
    }

    /// Given that neither can go on: whether each waits for the other.
    fn wait_for_each_other(&self, lines: &Lines) -> bool {
        let blocked = |line: usize, by: usize| {
            self.wants(lines, line)
                .is_some_and(|(object, exclusive)| self.obstacle(by, object, exclusive).is_some())
        };
        let t = blocked(T, U) || lines.code[T][self.at[T]] == Op::Join;
        // The end of T' with a guard in hand is main's join of T.
        let u = blocked(U, T) || (self.ended(lines, U) && !self.held[U].is_empty());
        // T in the join of a T' that has ended is not waiting, so that both at their joins can't get here.
        t && u
    }

    fn eval(&self, expr: Expr) -> u8 {
        match expr {
            Expr::Const(value) => value,
            Expr::Plus(local, add) => self.locals[local].wrapping_add(add),
        }
    }

    fn holds(&self, cond: Cond) -> bool {
        cond.test
            .holds(self.locals[cond.left], self.eval(cond.right))
    }

    /// Runs the line's local operations up to its next event, its end, or an assertion that fails.
    fn settle(&mut self, lines: &Lines, line: usize) {
        loop {
            let mut next = self.at[line] + 1;
            match lines.code[line][self.at[line]] {
                Op::Set { into, value } => self.locals[into] = self.eval(value),
                Op::Get { object, into } => self.locals[into] = self.guard(line, object).value,
                Op::Put { object, value } => {
                    let value = self.eval(value);
                    let guard = self.guard(line, object);
                    guard.value = value;
                    guard.written = true;
                }
                Op::Leave { object } if !self.guard(line, object).written => {}
                Op::Jump(to) => next = to,
                Op::Unless(cond, to) => {
                    if !self.holds(cond) {
                        next = to;
                    }
                }
                Op::TryAcquire {
                    object,
                    exclusive,
                    otherwise,
                } if self.obstacle(line, object, exclusive).is_some() => {
                    next = otherwise;
                }
                Op::Assert { cond, .. } if self.holds(cond) => {}
                _ => return,
            }
            self.at[line] = next;
        }
    }

    fn guard(&mut self, line: usize, object: Object) -> &mut Held {
        self.held[line]
            .iter_mut()
            .rev()
            .find(|held| held.object == object)
            .expect("valid programs use held guards only")
    }

    /// Observes who wrote the object. `None`: T' would see T.
    fn observe(&mut self, line: usize, object: Object) -> Option<u8> {
        let Cell { value, writer } = self.cells[object];
        if line == T {
            if let Writer::Interfering(write) = writer {
                self.pairs.push((self.observations, write));
            }
            self.observations += 1;
        } else if writer == Writer::UnderTest {
            return None;
        }
        Some(value)
    }

    fn write(&mut self, line: usize, object: Object, value: u8) {
        let writer = if line == T {
            Writer::UnderTest
        } else {
            self.writes += 1;
            Writer::Interfering(self.writes - 1)
        };
        self.cells[object] = Cell { value, writer };
    }

    /// Observes the object's value into a local; `None` as with [`Self::observe`].
    fn read(&mut self, line: usize, object: Object, into: Local) -> Option<u8> {
        let value = self.observe(line, object)?;
        self.locals[into] = value;
        Some(value)
    }

    fn take(&mut self, line: usize, object: Object, exclusive: bool) {
        let acquire = self.writes;
        if line == U {
            self.writes += 1;
        }
        self.held[line].push(Held {
            object,
            exclusive,
            value: 0,
            written: false,
            acquire,
        });
    }

    /// The line's next step.
    fn step(&self, lines: &Lines, line: usize) -> Step {
        let other = 1 - line;
        let op = lines.code[line][self.at[line]];
        match op {
            Op::Assert { id, .. } => return Step::Fails(Failure::Assertion(id)),
            Op::End => return Step::Waits,
            Op::Join if !self.ended(lines, other) => return Step::Waits,
            Op::Acquire { object, exclusive } => {
                if self.obstacle(line, object, exclusive).is_some() {
                    return Step::Fails(Failure::Relock);
                }
                if self.obstacle(other, object, exclusive).is_some() {
                    return Step::Waits;
                }
            }
            _ => {}
        }
        let mut next = self.clone();
        next.at[line] += 1;
        if next.perform(line, op).is_none() {
            return Step::NotSequential;
        }
        next.settle(lines, line);
        Step::To(Box::new(next))
    }

    /// Does an event that is possible; `None` as with [`Self::observe`].
    fn perform(&mut self, line: usize, op: Op) -> Option<()> {
        let other = 1 - line;
        match op {
            Op::Load { object, into } => {
                self.read(line, object, into)?;
            }
            Op::Store { object, value } => self.write(line, object, self.eval(value)),
            Op::FetchAdd {
                object,
                amount,
                into,
            } => {
                let old = self.read(line, object, into)?;
                self.write(line, object, old.wrapping_add(amount));
            }
            Op::CompareExchange {
                object,
                current,
                new,
                into,
            } => {
                // `new` is an argument: evaluated before the result is assigned.
                let new = self.eval(new);
                if self.read(line, object, into)? == current {
                    self.write(line, object, new);
                }
            }
            Op::Swap {
                object,
                value,
                into,
            } => {
                let value = self.eval(value);
                self.read(line, object, into)?;
                self.write(line, object, value);
            }
            Op::Acquire { object, exclusive } => self.take(line, object, exclusive),
            Op::TryAcquire {
                object,
                exclusive,
                otherwise,
            } => {
                let attempt = self.observations;
                if line == T {
                    self.observations += 1;
                }
                if let Some(held) = self.obstacle(other, object, exclusive) {
                    if line == U {
                        return None;
                    }
                    self.pairs.push((attempt, held.acquire));
                    self.at[line] = otherwise;
                } else {
                    self.take(line, object, exclusive);
                }
            }
            Op::Enter { object } => {
                let value = self.observe(line, object)?;
                self.guard(line, object).value = value;
            }
            Op::Leave { object } => {
                let value = self.guard(line, object).value;
                self.write(line, object, value);
            }
            Op::Release {
                object,
                taken_by_other,
            } => {
                let held = &mut self.held[if taken_by_other { other } else { line }];
                let at = held
                    .iter()
                    .rposition(|held| held.object == object)
                    .expect("a release follows its acquire");
                held.remove(at);
            }
            Op::Join => {}
            Op::Set { .. }
            | Op::Get { .. }
            | Op::Put { .. }
            | Op::Jump(_)
            | Op::Unless(..)
            | Op::Assert { .. }
            | Op::End => {
                unreachable!("{op:?} is no event")
            }
        }
        Some(())
    }
}
