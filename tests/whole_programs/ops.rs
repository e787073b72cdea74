//! Bodies as lists of operations, each of which is one step of its thread or, if others can't see it, none.

use super::program::{
    Cond, EMPTY, Joining, LOCALS, Local, Operand, Program, Receiving, Start, Stmt, Taking, Value,
    Waiting,
};

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
    /// `to` is how many handles there are.
    CountTokens {
        to: Local,
    },
    /// Ends a handle, and enters the scope of the destructor if it was the last; [`SCRATCH`] is whether it was.
    DropToken,
    /// The same, if it is the last one.
    TakeToken,
    Send {
        to: Local,
        value: Operand,
    },
    /// `empty` is what `to` is if nothing is there; `None` to wait.
    Receive {
        to: Local,
        empty: Option<Value>,
    },
    DropSender,
    DropReceiver,
    Touch {
        by: Value,
    },
    /// Gives the first lock back, and waits to be notified.
    Sleep,
    /// Takes it again, once notified or, perhaps, once the time is up.
    Wake {
        timed: bool,
    },
    Notify {
        all: bool,
    },
    Finished {
        to: Local,
        thread: usize,
    },
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
                | Self::Touch { .. }
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
            }
            lowering.ends(program, thread, body);
            if thread == 0 && program.start == Start::Scope {
                lowering.ops.push(Op::ScopeEnd);
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

    /// What is dropped at the end of the body.
    fn ends(&mut self, program: &Program, thread: usize, body: &[Stmt]) {
        let has = |what: fn(&Stmt) -> bool| body.iter().any(what);
        if let Some(channel) = &program.channel {
            if channel.sends(thread) && !has(|it| matches!(it, Stmt::DropSender)) {
                self.add(Op::DropSender);
            }
            if channel.receiver == thread {
                self.add(Op::DropReceiver);
            }
        }
        if program.token.is_some()
            && !has(|it| matches!(it, Stmt::DropToken | Stmt::UnwrapToken { .. }))
        {
            self.drop_token();
        }
    }

    fn drop_token(&mut self) {
        self.add(Op::DropToken);
        let unless = self.add(Op::Unless(Cond::Is(SCRATCH, 1), 0));
        self.add(Op::Leave);
        self.land(unless);
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
            Stmt::CountTokens { to } => {
                self.add(Op::CountTokens { to });
            }
            Stmt::DropToken => self.drop_token(),
            Stmt::UnwrapToken { to, tries } => {
                self.add(Op::Set { to, value: 0 });
                self.add(if tries { Op::TakeToken } else { Op::DropToken });
                let unless = self.add(Op::Unless(Cond::Is(SCRATCH, 1), 0));
                self.add(Op::Set { to, value: 1 });
                self.add(Op::Leave);
                let over = self.add(Op::Jump(0));
                self.land(unless);
                if tries {
                    self.drop_token();
                }
                self.land(over);
            }
            Stmt::Send { to, value } => {
                self.add(Op::Send { to, value });
            }
            Stmt::Receive { to, how } => {
                let again = self.here();
                let empty = (how != Receiving::Recv).then_some(EMPTY);
                self.add(Op::Receive { to, empty });
                if let Receiving::Polls(_) = how {
                    self.add(Op::Unless(Cond::Not(to, EMPTY), again));
                }
            }
            Stmt::DropSender => {
                self.add(Op::DropSender);
            }
            Stmt::Touch { by } => {
                self.add(Op::Touch { by });
            }
            Stmt::Wait { is, how, ref body } => {
                self.add(Op::Take(Take {
                    lock: 0,
                    exclusive: true,
                    busy: None,
                    poisoned: None,
                }));
                let again = self.here();
                self.add(Op::Get {
                    to: SCRATCH,
                    lock: 0,
                });
                let unless = self.add(Op::Unless(Cond::Not(SCRATCH, is), 0));
                self.add(Op::Sleep);
                let timed = how == Waiting::Timeout;
                self.add(Op::Wake { timed });
                if matches!(how, Waiting::While | Waiting::Loop) {
                    self.add(Op::Jump(again));
                }
                self.land(unless);
                self.all(body);
                self.add(Op::Leave);
            }
            Stmt::Notify { all } => {
                self.add(Op::Notify { all });
            }
            Stmt::Finished { to, thread } => {
                self.add(Op::Finished { to, thread });
            }
            Stmt::AwaitFinished { thread, .. } => {
                let again = self.here();
                self.add(Op::Finished {
                    to: SCRATCH,
                    thread,
                });
                self.add(Op::Unless(Cond::Is(SCRATCH, 1), again));
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
