//! Bodies as lists of operations, each of which is one step of its thread or, if others can't see it, none.

use super::program::{Cond, Joining, LOCALS, Local, Operand, Program, Start, Stmt, Taking, Value};

/// A place in the list.
pub(crate) type Place = u16;

/// Where a thread panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Site {
    /// A statement of the program.
    Own(u16),
    /// It unwraps a poisoned lock.
    Poison,
    /// It unwraps the result of this thread.
    Result(u8),
    /// A scoped thread has panicked that it has not joined.
    Scope,
    /// It tells what it has seen.
    Outcome(u16),
    /// It has seen what it can't.
    Unknown,
}

/// How the lock is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Take {
    pub(crate) lock: usize,
    pub(crate) exclusive: bool,
    /// Where to go on if it can't be had now; `None` to wait.
    pub(crate) busy: Option<Place>,
    /// Where to go on with a poisoned one; `None` to panic.
    pub(crate) poisoned: Option<Place>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Load {
        to: Local,
        cell: usize,
    },
    Store {
        cell: usize,
        value: Operand,
    },
    Add {
        to: Option<Local>,
        cell: usize,
        by: Value,
    },
    Swap {
        to: Local,
        cell: usize,
        value: Operand,
    },
    Exchange {
        to: Local,
        cell: usize,
        from: Value,
        new: Value,
    },
    Take(Take),
    Get {
        to: Local,
        lock: usize,
    },
    Put {
        lock: usize,
        value: Operand,
    },
    Grow {
        lock: usize,
        by: Value,
    },
    /// Leaves the innermost scope: what it holds is given back.
    Leave,
    /// Enters a scope whose end adds to the atomic.
    Enter {
        cell: usize,
        by: Value,
    },
    /// Enters a scope that panics don't leave.
    Catch {
        to: Local,
        at: Place,
    },
    /// Leaves it.
    Caught {
        to: Local,
    },
    Set {
        to: Local,
        value: Value,
    },
    Jump(Place),
    Unless(Cond, Place),
    Panic(u16),
    Spawn(usize),
    Join(usize, Joining),
    Detach(usize),
    /// The test looks at the atomic.
    Look(usize),
    /// The test tells what it has seen.
    Tell,
    /// All threads are waited for.
    ScopeEnd,
    End,
}

impl Op {
    /// Whether others may see it, or see when it is done.
    pub(crate) fn is_seen(self) -> bool {
        !matches!(
            self,
            Self::Get { .. }
                | Self::Put { .. }
                | Self::Grow { .. }
                | Self::Enter { .. }
                | Self::Catch { .. }
                | Self::Caught { .. }
                | Self::Set { .. }
                | Self::Jump(_)
                | Self::Unless(..)
                | Self::Panic(_)
                | Self::Detach(_)
                | Self::Tell
        )
    }
}

/// A variable for what the program has none for.
pub(crate) const SCRATCH: Local = LOCALS as Local;

/// The threads of a program.
pub(crate) fn lower(program: &Program) -> Vec<Vec<Op>> {
    let bodies = program.bodies.iter().enumerate();
    bodies
        .map(|(thread, body)| {
            let mut lowering = Lowering { ops: Vec::new() };
            lowering.all(body);
            if thread == 0 {
                lowering.looks(program);
                lowering.ops.push(Op::Tell);
                if program.start == Start::Scope {
                    lowering.ops.push(Op::ScopeEnd);
                }
            }
            lowering.ops.push(Op::End);
            lowering.ops
        })
        .collect()
}

struct Lowering {
    ops: Vec<Op>,
}

impl Lowering {
    fn here(&self) -> Place {
        Place::try_from(self.ops.len()).expect("a small program")
    }

    fn add(&mut self, op: Op) -> usize {
        self.ops.push(op);
        self.ops.len() - 1
    }

    /// The jump at `at` is to come here.
    fn land(&mut self, at: usize) {
        let here = self.here();
        match &mut self.ops[at] {
            Op::Jump(to) | Op::Unless(_, to) | Op::Catch { at: to, .. } => *to = here,
            Op::Take(take) => {
                if take.busy.is_some() {
                    take.busy = Some(here);
                }
            }
            other => unreachable!("{other:?} does not jump"),
        }
    }

    fn all(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.one(stmt);
        }
    }

    /// What the test reads in the end.
    fn looks(&mut self, program: &Program) {
        for cell in 0..program.cells.len() {
            self.add(Op::Look(cell));
        }
    }

    fn one(&mut self, stmt: &Stmt) {
        match *stmt {
            Stmt::Load { to, cell, .. } => {
                self.add(Op::Load { to, cell });
            }
            Stmt::Store { cell, value, .. } => {
                self.add(Op::Store { cell, value });
            }
            Stmt::Add { to, cell, by, .. } => {
                self.add(Op::Add { to, cell, by });
            }
            Stmt::Swap { to, cell, value } => {
                self.add(Op::Swap { to, cell, value });
            }
            Stmt::Exchange {
                to,
                cell,
                from,
                new,
            } => {
                self.add(Op::Exchange {
                    to,
                    cell,
                    from,
                    new,
                });
            }
            Stmt::Locked {
                lock,
                writes,
                taking,
                ref body,
                ref otherwise,
            } => {
                self.locked(lock, writes, taking, body, otherwise);
            }
            Stmt::Get { to, lock } => {
                self.add(Op::Get { to, lock });
            }
            Stmt::Put { lock, value } => {
                self.add(Op::Put { lock, value });
            }
            Stmt::Grow { lock, by } => {
                self.add(Op::Grow { lock, by });
            }
            Stmt::If {
                cond,
                ref then,
                ref otherwise,
            } => {
                let unless = self.add(Op::Unless(cond, 0));
                self.all(then);
                let jump = self.add(Op::Jump(0));
                self.land(unless);
                self.all(otherwise);
                self.land(jump);
            }
            Stmt::Repeat { times, ref body } => {
                for _ in 0..times {
                    self.all(body);
                }
            }
            Stmt::Poll {
                to,
                cell,
                is,
                tries,
                ..
            } => {
                self.add(Op::Set { to, value: 0 });
                let mut over = Vec::new();
                for _ in 0..tries {
                    self.add(Op::Load { to: SCRATCH, cell });
                    let unless = self.add(Op::Unless(Cond::Is(SCRATCH, is), 0));
                    self.add(Op::Set { to, value: 1 });
                    over.push(self.add(Op::Jump(0)));
                    self.land(unless);
                }
                for jump in over {
                    self.land(jump);
                }
            }
            Stmt::Await { cell, is, .. } => {
                let again = self.here();
                self.add(Op::Load { to: SCRATCH, cell });
                self.add(Op::Unless(Cond::Is(SCRATCH, is), again));
            }
            Stmt::Panic { site } => {
                self.add(Op::Panic(site));
            }
            Stmt::Assert { cond, site } => {
                let unless = self.add(Op::Unless(cond, 0));
                let jump = self.add(Op::Jump(0));
                self.land(unless);
                self.add(Op::Panic(site));
                self.land(jump);
            }
            Stmt::Catch { to, ref body } => {
                let catch = self.add(Op::Catch { to, at: 0 });
                self.all(body);
                self.add(Op::Caught { to });
                self.land(catch);
            }
            Stmt::Scoped { cell, by, ref body } => {
                self.add(Op::Enter { cell, by });
                self.all(body);
                self.add(Op::Leave);
            }
            Stmt::Spawn { thread } => {
                self.add(Op::Spawn(thread));
            }
            Stmt::Join { thread, how } => {
                self.add(Op::Join(thread, how));
            }
            Stmt::Detach { thread } => {
                self.add(Op::Detach(thread));
            }
        }
    }

    fn locked(
        &mut self,
        lock: usize,
        writes: bool,
        taking: Taking,
        body: &[Stmt],
        otherwise: &[Stmt],
    ) {
        let at = self.add(Op::Take(Take {
            lock,
            exclusive: writes,
            busy: (taking == Taking::Try).then_some(0),
            poisoned: None,
        }));
        self.all(body);
        self.add(Op::Leave);
        match taking {
            Taking::Unwrap => {}
            Taking::Ignore => self.poisoned(at, Place::try_from(at + 1).expect("a small program")),
            Taking::IfOk | Taking::Try => {
                let over = self.add(Op::Jump(0));
                let poisoned = self.here();
                self.poisoned(at, poisoned);
                self.add(Op::Leave);
                self.land(at);
                self.all(otherwise);
                self.land(over);
            }
        }
    }

    fn poisoned(&mut self, at: usize, to: Place) {
        if let Op::Take(take) = &mut self.ops[at] {
            take.poisoned = Some(to);
        }
    }
}
