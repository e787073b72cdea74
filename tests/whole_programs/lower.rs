//! Statements as operations.

use super::ops::{Op, Place, SCRATCH, Take};
use super::program::{
    Cond, EMPTY, FAILED, LockedForm, Parking, Program, RETURNED, Receiving, Start, Stmt, Taking,
    Waiting,
};

/// The threads of a program.
pub(crate) fn lower(program: &Program) -> Vec<Vec<Op>> {
    let bodies = program.bodies.iter().enumerate();
    bodies
        .map(|(thread, body)| {
            let mut lowering = Lowering {
                ops: Vec::new(),
                open: Vec::new(),
                returns: Vec::new(),
                hands_over: program
                    .channel
                    .as_ref()
                    .is_some_and(|it| it.bound == Some(0)),
            };
            lowering.all(body);
            if thread == 0 {
                lowering.looks(program);
                lowering.ops.push(Op::Tell);
            }
            lowering.ends(program, thread, body);
            let returns = std::mem::take(&mut lowering.returns);
            if !returns.is_empty() {
                let over = lowering.add(Op::Jump(0));
                for jump in returns {
                    lowering.land(jump);
                }
                // Whoever returns early has everything still.
                lowering.ends(program, thread, &[]);
                lowering.land(over);
            }
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
    /// The scopes that are open where the next operation goes.
    open: Vec<Open>,
    /// The jumps of those who return early.
    returns: Vec<usize>,
    /// Whoever sends waits until the message is taken.
    hands_over: bool,
}

/// How a scope is left.
#[derive(Clone, Copy)]
enum Open {
    Plain,
    /// It is a handle of the token.
    Token,
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
            Op::Jump(to)
            | Op::Unless(_, to)
            | Op::Upgrade(to)
            | Op::Catch { at: to, .. }
            | Op::Begin { over: to, .. } => *to = here,
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

    fn inside(&mut self, open: Open, body: &[Stmt]) {
        self.open.push(open);
        self.all(body);
        self.open.pop();
    }

    fn leave(&mut self, open: Open) {
        match open {
            Open::Plain => {
                self.add(Op::Leave);
            }
            Open::Token => self.drop_token(),
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
                wrapped: _,
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
            Stmt::AwaitLocked { lock, is, form, .. } => {
                let again = self.here();
                let tries = (form == LockedForm::Try).then_some(again);
                let at = self.add(Op::Take(Take {
                    lock,
                    exclusive: true,
                    busy: tries,
                    poisoned: None,
                }));
                self.add(Op::Get { to: SCRATCH, lock });
                self.add(Op::Leave);
                self.add(Op::Unless(Cond::Is(SCRATCH, is), again));
                if tries.is_some() {
                    let over = self.add(Op::Jump(0));
                    let poisoned = self.here();
                    self.poisoned(at, poisoned);
                    self.add(Op::Leave);
                    self.add(Op::Jump(again));
                    self.land(over);
                }
            }
            Stmt::Return { cond, tries } => {
                let unless = self.add(Op::Unless(cond, 0));
                if tries {
                    for to in 0..RETURNED {
                        let to = u8::try_from(to).expect("few variables");
                        self.add(Op::Set { to, value: FAILED });
                    }
                }
                for open in self.open.clone().into_iter().rev() {
                    self.leave(open);
                }
                let jump = self.add(Op::Jump(0));
                self.returns.push(jump);
                self.land(unless);
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
            Stmt::Catch {
                to,
                resumes,
                ref body,
            } => {
                let catch = self.add(Op::Catch { to, at: 0 });
                self.all(body);
                self.add(Op::Caught { to });
                self.land(catch);
                if resumes {
                    self.add(Op::Resume { of: to });
                }
            }
            Stmt::Scoped { cell, by, ref body } => {
                self.add(Op::Enter { cell, by });
                self.inside(Open::Plain, body);
                self.add(Op::Leave);
            }
            Stmt::Growing { lock, by, ref body } => {
                self.add(Op::EnterGrowing { lock, by });
                self.inside(Open::Plain, body);
                self.add(Op::Leave);
            }
            Stmt::Upgrade { to, ref body } => {
                let upgrade = self.add(Op::Upgrade(0));
                self.inside(Open::Token, body);
                self.drop_token();
                self.add(Op::Set { to, value: 1 });
                let over = self.add(Op::Jump(0));
                self.land(upgrade);
                self.add(Op::Set { to, value: 0 });
                self.land(over);
            }
            Stmt::Meet { to } => {
                self.add(Op::Arrive { to });
                self.add(Op::Pass);
            }
            Stmt::Init {
                to,
                value,
                ref body,
            } => {
                let begin = self.add(Op::Begin { to, over: 0 });
                self.all(body);
                self.add(Op::Finish { to, value });
                self.land(begin);
            }
            Stmt::Peek { to } => {
                self.add(Op::Peek { to });
            }
            Stmt::Park(Parking::Until(cell, is)) => {
                let again = self.here();
                self.add(Op::Load { to: SCRATCH, cell });
                let unless = self.add(Op::Unless(Cond::Not(SCRATCH, is), 0));
                self.add(Op::Park { timed: false });
                self.add(Op::Jump(again));
                self.land(unless);
            }
            Stmt::Park(how) => {
                let timed = how == Parking::Timeout;
                self.add(Op::Park { timed });
            }
            Stmt::Unpark { thread } => {
                self.add(Op::Unpark(thread));
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
                if self.hands_over {
                    self.add(Op::Taken { to });
                }
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
                self.inside(Open::Plain, body);
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
        self.inside(Open::Plain, body);
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
