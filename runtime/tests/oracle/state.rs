//! A state between two events of an interleaving, and the steps out of it. What the steps mean is told in
//! [`crate::interpret`].

use crate::compile::{FRAMES, Lines, Object, Op};
use crate::interpret::{Failure, Pairs};
use crate::program::{Cond, Expr, LOCALS, Local};

/// The line of T.
pub(crate) const T: usize = 0;
/// The line of T'.
pub(crate) const U: usize = 1;

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
    /// The thread panics, and has marked the lock as poisoned.
    poisons: bool,
}

/// Where both lines are, and what they see.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// Where each line is in its code: at an event, at its end, or about to fail.
    pub(crate) at: [usize; 2],
    locals: [u8; LOCALS * FRAMES],
    cells: Vec<Cell>,
    held: [Vec<Held>; 2],
    observations: u32,
    writes: u32,
    /// The locks that T' held at its end: T's since the join.
    inherited: Vec<Object>,
    /// The locks that T' has poisoned.
    poisoned: Vec<Object>,
    /// T holds a guard of a poisoned lock, which it gives back before it goes on there.
    gives_back: Option<(Object, usize)>,
    /// T has unwrapped a poisoned lock, which is the end of it.
    pub(crate) has_unwrapped: bool,
    /// By object: the write of T' that T saw last, if T has written nothing to it since.
    seen: Vec<Option<u32>>,
    /// T's non-local reads so far.
    pub(crate) pairs: Pairs,
}

/// What a line's next step does.
pub(crate) enum Step {
    /// It goes on, to this state.
    To(Box<State>),
    /// It waits for a lock, for the other line's end, or has ended.
    Waits,
    /// It fails.
    Fails(Failure),
    /// T' would observe T: no trace that counts.
    NotSequential,
}

impl State {
    /// Both lines at their first events.
    pub(crate) fn new(lines: &Lines) -> Self {
        let mut start = Self {
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
            inherited: Vec::new(),
            poisoned: Vec::new(),
            gives_back: None,
            has_unwrapped: false,
            seen: vec![None; lines.initial.len()],
            pairs: Vec::new(),
        };
        for line in [T, U] {
            if let Some((object, exclusive)) = lines.held[line] {
                start.take(line, object, exclusive);
                start.guard(line, object).value = lines.initial[object];
            }
        }
        for line in [T, U] {
            start.settle(lines, line);
        }
        start
    }

    pub(crate) fn ended(&self, lines: &Lines, line: usize) -> bool {
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
    pub(crate) fn wait_for_each_other(&self, lines: &Lines) -> bool {
        let blocked = |line: usize, by: usize| {
            self.wants(lines, line)
                .is_some_and(|(object, exclusive)| self.obstacle(by, object, exclusive).is_some())
        };
        let t = blocked(T, U) || lines.code[T][self.at[T]] == Op::Join;
        // The end of T' with a guard in hand is main's join of T.
        let u = blocked(U, T) || (self.ended(lines, U) && !self.held[U].is_empty());
        if self.has_unwrapped || self.gives_back.is_some() {
            return false;
        }
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

    /// Whether T's next event takes or gives back a lock that T' held at its end. The engine doesn't log those: T is
    /// alone then.
    pub(crate) fn next_is_unlogged(&self, lines: &Lines) -> bool {
        match lines.code[T][self.at[T]] {
            Op::Acquire { object, .. } | Op::TryAcquire { object, .. } | Op::Release { object } => {
                self.inherited.contains(&object)
            }
            _ => false,
        }
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
                // A guard given back with the value that it was taken with has only read.
                Op::Leave { object } if !self.changes(line, object) => {}
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

    /// Whether the object gets another value when the line's guard of it is given back.
    fn changes(&mut self, line: usize, object: Object) -> bool {
        let Held { written, value, .. } = *self.guard(line, object);
        written && value != self.cells[object].value
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
            if let Writer::Interfering(write) = writer
                && self.seen[object].replace(write) != Some(write)
            {
                self.pairs.push((self.observations, write));
            }
            self.observations += 1;
        } else if writer == Writer::UnderTest {
            return None;
        }
        Some(value)
    }

    /// Writes the object in the step that has observed it as `old`. What leaves it as it was is a read.
    fn update(&mut self, line: usize, object: Object, (old, value): (u8, u8)) {
        if value != old {
            self.write(line, object, value);
        }
    }

    fn write(&mut self, line: usize, object: Object, value: u8) {
        let writer = if line == T {
            self.seen[object] = None;
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
            poisons: false,
        });
    }

    /// The line's next step.
    pub(crate) fn step(&self, lines: &Lines, line: usize) -> Step {
        let other = 1 - line;
        let op = lines.code[line][self.at[line]];
        if line == T && self.has_unwrapped {
            return Step::Waits;
        }
        if line == T
            && let Some((object, otherwise)) = self.gives_back
        {
            let mut next = self.clone();
            next.perform(T, Op::Release { object });
            next.gives_back = None;
            next.at[T] = otherwise;
            next.settle(lines, T);
            return Step::To(Box::new(next));
        }
        match op {
            Op::Assert { .. } if line == U => return self.unwind(),
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
        if let Op::Enter { object } = op
            && line == T
            && next.poisoned.contains(&object)
        {
            match lines.code[T][self.at[T] - 1] {
                Op::TryAcquire { otherwise, .. } => next.gives_back = Some((object, otherwise)),
                _ => next.has_unwrapped = true,
            }
            return Step::To(Box::new(next));
        }
        next.settle(lines, line);
        Step::To(Box::new(next))
    }

    /// T' has failed and gives its guards back, the latest first.
    fn unwind(&self) -> Step {
        let Some(&held) = self.held[U].last() else {
            return Step::Waits;
        };
        let mut next = self.clone();
        if held.exclusive && !held.poisons {
            next.write(U, held.object, held.value);
            next.poisoned.push(held.object);
            if let Some(held) = next.held[U].last_mut() {
                held.poisons = true;
            }
        } else {
            next.held[U].pop();
        }
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
                self.update(line, object, (old, old.wrapping_add(amount)));
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
                    self.update(line, object, (current, new));
                }
            }
            Op::Swap {
                object,
                value,
                into,
            } => {
                let value = self.eval(value);
                let old = self.read(line, object, into)?;
                self.update(line, object, (old, value));
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
            Op::Release { object } => {
                let mut held = self.held[line].iter();
                let at = held.rposition(|held| held.object == object);
                self.held[line].remove(at.expect("a release follows its acquire"));
            }
            Op::Join => {
                let inherited = std::mem::take(&mut self.held[other]);
                self.inherited
                    .extend(inherited.iter().map(|held| held.object));
                self.held[line].extend(inherited);
            }
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
