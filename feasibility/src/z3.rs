//! The encoding of the paper, section 4.2, for Z3: an integer timestamp per event, PO ∧ LV ∧ RW in difference logic.
//!
//! How far T' goes is left to the solver, with no use of the argument about prefixes in [`super`]: a time `end` follows
//! T's last event, and the events of T' from `end` on have not happened. The constraints between T's events and events
//! of T' that have not happened hold by themselves, as the latter are later than all of T. Three constraints remain: a
//! block that T leaves open reaches to `end`; a read of T' that has not happened requires nothing; and T joins all of
//! T' or none.

use crate::log::{LockMode, Log, Object, Op, TEvent};
use crate::{Feasibility, Interleaving, Step, Verdict};
use std::collections::HashMap;
use std::time::Duration;
use z3::ast::{Bool, Int};
use z3::{Params, SatResult, Solver};

/// Z3 with a new solver for difference logic per log.
#[derive(Clone, Debug, Default)]
pub struct Z3 {
    time_limit: Option<Duration>,
}

impl Z3 {
    /// Z3 without a time limit.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Z3 that gives up after this time, with [`Verdict::Unknown`].
    #[must_use]
    pub fn with_time_limit(limit: Duration) -> Self {
        Self {
            time_limit: Some(limit),
        }
    }
}

impl Z3 {
    /// Whether the log is feasible, with no interleaving; `None` if Z3 can't decide.
    #[must_use]
    pub fn feasible(&mut self, log: &Log<'_>) -> Option<bool> {
        let solver = self.solver()?;
        encode(log, &solver);
        match solver.check() {
            SatResult::Sat => Some(true),
            SatResult::Unsat => Some(false),
            SatResult::Unknown => None,
        }
    }

    fn solver(&self) -> Option<Solver> {
        let solver = Solver::new_for_logic("QF_IDL")?;
        if let Some(time) = self.time_limit {
            let mut params = Params::new();
            let milliseconds = time.as_millis().clamp(1, u128::from(u32::MAX)) as u32;
            params.set_u32("timeout", milliseconds);
            solver.set_params(&params);
        }
        Some(solver)
    }
}

impl Feasibility for Z3 {
    fn check(&mut self, log: &Log<'_>) -> Verdict {
        let Some(solver) = self.solver() else {
            return Verdict::Unknown("this Z3 has no solver for QF_IDL".to_owned());
        };
        let encoding = encode(log, &solver);
        match solver.check() {
            SatResult::Sat => match encoding.interleaving(&solver) {
                Some(interleaving) => Verdict::Feasible(interleaving),
                None => Verdict::Unknown("Z3 gives no model".to_owned()),
            },
            SatResult::Unsat => Verdict::Infeasible,
            SatResult::Unknown => Verdict::Unknown(
                solver
                    .get_reason_unknown()
                    .unwrap_or_else(|| "Z3 gives no reason".to_owned()),
            ),
        }
    }
}

/// Asserts all constraints on the log's interleavings.
fn encode(log: &Log<'_>, solver: &Solver) -> Encoding {
    let mut encoding = Encoding::new(log.interfering);
    let mut formula = Vec::new();
    encoding.order_of_u(&mut formula);
    // All reads of an x-live block of T but the last are covered by it.
    let mut blocks: HashMap<(Object, Start), usize> = HashMap::new();
    for (at, &event) in log.under_test.iter().enumerate() {
        if let Some(block) = encoding.event(event, &mut formula) {
            blocks.insert(block, at);
        }
    }
    for ((x, start), last) in blocks {
        encoding.undisturbed(x, start, last, &mut formula);
    }
    encoding.end(&mut formula);
    solver.assert(Bool::and(&formula));
    encoding
}

/// Z3 used incrementally: what T has done stays asserted, and a check adds one more event and takes it back.
#[derive(Debug)]
pub struct Z3Incremental {
    solver: Solver,
    encoding: Encoding,
    formula: Vec<Bool>,
}

impl Z3Incremental {
    /// A solver with no event of T, and this log of T'. The solver is Z3's for the logic, or its general incremental
    /// one if none is named.
    #[must_use]
    pub fn new(interfering: &[Op], logic: Option<&str>) -> Self {
        let solver = logic.and_then(Solver::new_for_logic).unwrap_or_default();
        // A first scope makes the solver incremental from its start.
        solver.push();
        let encoding = Encoding::new(interfering);
        let mut formula = Vec::new();
        encoding.order_of_u(&mut formula);
        formula.iter().for_each(|part| solver.assert(part));
        Self {
            solver,
            encoding,
            formula,
        }
    }

    /// T does one more event.
    pub fn push(&mut self, event: TEvent) {
        self.append(event);
        self.formula
            .iter()
            .for_each(|part| self.solver.assert(part));
    }

    /// Whether the log is feasible; `None` if Z3 can't decide.
    #[must_use]
    pub fn feasible(&mut self) -> Option<bool> {
        self.solver.push();
        self.formula.clear();
        let verdict = self.check();
        self.solver.pop(1);
        verdict
    }

    /// Whether the log would be feasible if T's next event were this one; `None` if Z3 can't decide.
    #[must_use]
    pub fn would_be_feasible(&mut self, event: TEvent) -> Option<bool> {
        let before = self.encoding.t.clone();
        self.solver.push();
        self.append(event);
        let verdict = self.check();
        self.solver.pop(1);
        self.encoding.t = before;
        verdict
    }

    fn append(&mut self, event: TEvent) {
        self.formula.clear();
        let at = self.encoding.t.times.len();
        if let Some((x, start)) = self.encoding.event(event, &mut self.formula) {
            self.encoding.undisturbed(x, start, at, &mut self.formula);
        }
    }

    fn check(&mut self) -> Option<bool> {
        self.encoding.end(&mut self.formula);
        self.formula
            .iter()
            .for_each(|part| self.solver.assert(part));
        match self.solver.check() {
            SatResult::Sat => Some(true),
            SatResult::Unsat => Some(false),
            SatResult::Unknown => None,
        }
    }
}

/// What an x-live block of T starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Start {
    /// The initial value.
    Initial,
    /// The write of T with this index.
    Own(usize),
    /// The write injected before this non-local read of T, for this write of T'.
    Injected(usize, usize),
}

/// A lock block: acquire and, if it is not left open, release.
#[derive(Clone, Copy, Debug)]
struct Block {
    lock: Object,
    mode: LockMode,
    acquire: usize,
    release: Option<usize>,
}

/// The formula under construction.
#[derive(Debug)]
struct Encoding {
    interfering: Vec<Op>,
    /// Timestamps of T'.
    times: Vec<Int>,
    end: Int,
    blocks: Vec<Block>,
    t: UnderTest,
}

/// The formula's state for the events of T so far.
#[derive(Clone, Debug, Default)]
struct UnderTest {
    times: Vec<Int>,
    live: HashMap<Object, Start>,
    written: HashMap<Object, usize>,
    open: Vec<Block>,
}

impl Encoding {
    fn new(interfering: &[Op]) -> Self {
        Self {
            interfering: interfering.to_vec(),
            times: (0..interfering.len())
                .map(|at| Int::new_const(format!("u{at}")))
                .collect(),
            end: Int::new_const("end"),
            blocks: blocks(interfering),
            t: UnderTest::default(),
        }
    }

    /// PO of T'.
    fn order_of_u(&self, formula: &mut Vec<Bool>) {
        for pair in self.times.windows(2) {
            formula.push(pair[0].lt(&pair[1]));
        }
    }

    /// Adds one more event of T. For a read, returns the x-live block that the read is in.
    fn event(&mut self, event: TEvent, formula: &mut Vec<Bool>) -> Option<(Object, Start)> {
        let at = self.t.times.len();
        let now = Int::new_const(format!("t{at}"));
        if let Some(before) = self.t.times.last() {
            formula.push(before.lt(&now));
        }
        self.t.times.push(now);
        match (event.op, event.source) {
            (Op::Read(x), source) => Some(self.read(x, at, source, formula)),
            (Op::Write(x), None) => {
                self.write(x, at, formula);
                None
            }
            (Op::Update(x), source) => {
                let block = self.read(x, at, source, formula);
                self.write(x, at, formula);
                Some(block)
            }
            (Op::Acquire(lock, mode), None) => {
                self.t.open.push(Block {
                    lock,
                    mode,
                    acquire: at,
                    release: None,
                });
                None
            }
            (Op::Release(lock, mode), None) => {
                let open = self
                    .t
                    .open
                    .iter()
                    .rposition(|block| (block.lock, block.mode) == (lock, mode));
                if let Some(open) = open {
                    let block = self.t.open.remove(open);
                    self.exclusion(&block, Some(at), formula);
                }
                None
            }
            (Op::TryFail(lock, mode), Some(source)) => {
                self.inside(lock, mode, at, source as usize, formula);
                None
            }
            (Op::TryFail(..), None) => None,
            (Op::Join, None) => {
                if let Some(last) = self.times.last() {
                    formula.push(last.lt(&self.t.times[at]));
                }
                None
            }
            (_, Some(_)) => {
                formula.push(Bool::from_bool(false));
                None
            }
        }
    }

    /// RW₂ for a non-local read, with T's own latest write kept before the paired write.
    fn read(
        &mut self,
        x: Object,
        at: usize,
        source: Option<u32>,
        formula: &mut Vec<Bool>,
    ) -> (Object, Start) {
        let Some(source) = source else {
            let start = self.t.live.get(&x).copied().unwrap_or(Start::Initial);
            return (x, start);
        };
        let source = source as usize;
        if self.interfering.get(source).and_then(|op| op.writes()) != Some(x) {
            formula.push(Bool::from_bool(false));
            return (x, Start::Initial);
        }
        formula.push(self.times[source].lt(&self.t.times[at]));
        if let Some(&own) = self.t.written.get(&x) {
            formula.push(self.t.times[own].lt(&self.times[source]));
        }
        let start = Start::Injected(at, source);
        self.t.live.insert(x, start);
        (x, start)
    }

    /// The x-live block of T from its start to this read: no write of T' in it.
    fn undisturbed(&self, x: Object, start: Start, read: usize, formula: &mut Vec<Bool>) {
        let after = |write: usize| self.t.times[read].lt(&self.times[write]);
        let mut writes = self.written_by_u(x);
        match start {
            Start::Initial => formula.extend(writes.map(after)),
            Start::Own(own) => {
                formula.extend(writes.map(|write| {
                    Bool::or(&[self.times[write].lt(&self.t.times[own]), after(write)])
                }))
            }
            Start::Injected(_, source) => {
                formula.extend(writes.find(|&write| write > source).map(after));
            }
        }
    }

    /// RW₁ for the x-live blocks of T': T's write is in none of them.
    fn write(&mut self, x: Object, at: usize, formula: &mut Vec<Bool>) {
        let now = &self.t.times[at];
        let mut latest = None;
        for (other, op) in self.interfering.iter().enumerate() {
            if op.reads() == Some(x) {
                let read = &self.times[other];
                let mut ways = vec![self.end.le(read), read.lt(now)];
                ways.extend(latest.map(|write: usize| now.lt(&self.times[write])));
                formula.push(Bool::or(&ways));
            }
            if op.writes() == Some(x) {
                latest = Some(other);
            }
        }
        self.t.live.insert(x, Start::Own(at));
        self.t.written.insert(x, at);
    }

    /// LV for a block of T that ends with its event `release`, or with `end`.
    fn exclusion(&self, block: &Block, release: Option<usize>, formula: &mut Vec<Bool>) {
        let mine = &self.t.times[block.acquire];
        for other in &self.blocks {
            if other.lock != block.lock || !other.mode.excludes(block.mode) {
                continue;
            }
            let theirs = &self.times[other.acquire];
            let first = match release {
                Some(release) => self.t.times[release].lt(theirs),
                None => self.end.le(theirs),
            };
            let second = other.release.map(|release| self.times[release].lt(mine));
            formula.push(Bool::or(
                &[Some(first), second]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>(),
            ));
        }
    }

    /// Asserts that T' is inside the block that its event `acquire` opens.
    fn inside(
        &self,
        lock: Object,
        mode: LockMode,
        at: usize,
        acquire: usize,
        formula: &mut Vec<Bool>,
    ) {
        let now = &self.t.times[at];
        let block = self.blocks.iter().find(|block| {
            (block.lock, block.acquire) == (lock, acquire) && block.mode.excludes(mode)
        });
        match block {
            None => formula.push(Bool::from_bool(false)),
            Some(block) => {
                formula.push(self.times[acquire].lt(now));
                formula.extend(block.release.map(|release| now.lt(&self.times[release])));
            }
        }
    }

    /// The constraints that hold as long as T has come no further.
    fn end(&self, formula: &mut Vec<Bool>) {
        if let Some(last) = self.t.times.last() {
            formula.push(last.lt(&self.end));
        }
        for block in &self.t.open {
            self.exclusion(block, None, formula);
        }
    }

    fn written_by_u(&self, x: Object) -> impl Iterator<Item = usize> {
        self.interfering
            .iter()
            .enumerate()
            .filter(move |(_, op)| op.writes() == Some(x))
            .map(|(at, _)| at)
    }

    /// The events in the order of the timestamps that Z3 found. Events of both threads at one time have no constraint
    /// between them.
    fn interleaving(&self, solver: &Solver) -> Option<Interleaving> {
        let model = solver.get_model()?;
        let time = |of: &Int| model.eval(of, true)?.as_i64();
        let end = time(&self.end)?;
        let mut steps = Vec::new();
        for (at, of) in self.t.times.iter().enumerate() {
            steps.push((time(of)?, Step::UnderTest(at as u32)));
        }
        for (at, of) in self.times.iter().enumerate() {
            let time = time(of)?;
            if time < end {
                steps.push((time, Step::Interfering(at as u32)));
            }
        }
        steps.sort_by_key(|&(time, _)| time);
        Some(Interleaving(
            steps.into_iter().map(|(_, step)| step).collect(),
        ))
    }
}

/// The lock blocks of T'.
fn blocks(ops: &[Op]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (at, &op) in ops.iter().enumerate() {
        match op {
            Op::Acquire(lock, mode) => blocks.push(Block {
                lock,
                mode,
                acquire: at,
                release: None,
            }),
            Op::Release(lock, mode) => {
                let open = blocks.iter_mut().rev().find(|block| {
                    block.release.is_none() && (block.lock, block.mode) == (lock, mode)
                });
                if let Some(block) = open {
                    block.release = Some(at);
                }
            }
            _ => {}
        }
    }
    blocks
}
