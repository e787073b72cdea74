//! From a program and a role to the code of its two lines, as the interpreter steps through them.
//!
//! A *line* is what runs as one of the two concurrent parties: a thread and whatever main does on that thread's behalf.
//! - What main does between two joins continues the line of the thread that it has joined already: nothing else can
//!   run before it, and the other thread goes on beside it.
//! - What main does after both joins continues the line of T, in both roles, behind [`Op::Join`]: all of T' comes
//!   before it. So the reads there count, and so do the failures.
//! - With one spawned thread, main up to the join is a line of its own (the first one).
//! - Main may hold a lock when it spawns its one thread. Its line begins inside of that block then: when the guard was
//!   taken it read an initial value, which is no event. Where main is T', the acquire still counts among those that a
//!   failed `try_lock` of T can be paired with.
//! - Main may wait in its last join with a guard in hand. Where that makes main T', the guard goes over to T with the
//!   join: it's main that goes on.
//!
//! A line's code is flat: events, which are the steps that can be interleaved, and local operations between them.

use crate::program::{Cond, Expr, Init, Joins, LOCALS, Local, Lock, Program, Shape, Stmt};

/// Which party is T, the thread under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Role {
    /// The first by order of creation, main being before the spawned.
    First,
    /// The second.
    Second,
}

impl Role {
    /// Both.
    pub(crate) const ALL: [Self; 2] = [Self::First, Self::Second];
}

/// A shared object: atomics first, then mutexes, then read-write locks.
pub(crate) type Object = usize;

/// An instruction. Locals are numbered through all frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Event: read.
    Load { object: Object, into: Local },
    /// Event: write.
    Store { object: Object, value: Expr },
    /// Event: update.
    FetchAdd {
        object: Object,
        amount: u8,
        into: Local,
    },
    /// Event: update if it succeeds, read if it fails.
    CompareExchange {
        object: Object,
        current: u8,
        new: Expr,
        into: Local,
    },
    /// Event: update.
    Swap {
        object: Object,
        value: Expr,
        into: Local,
    },
    /// Event: takes the lock.
    Acquire { object: Object, exclusive: bool },
    /// Event: takes the lock, or fails and goes to `otherwise`.
    TryAcquire {
        object: Object,
        exclusive: bool,
        otherwise: usize,
    },
    /// Event after an acquire: reads the protected value into the guard.
    Enter { object: Object },
    /// Event before a release if the guard was written: writes the protected value.
    Leave { object: Object },
    /// Event: gives the lock back.
    Release { object: Object },
    /// Event of T: T' has ended. Guards that T' holds at its end are T's: main took them before it joined T.
    Join,
    /// Local: assigns.
    Set { into: Local, value: Expr },
    /// Local: reads through a guard.
    Get { object: Object, into: Local },
    /// Local: writes through a guard.
    Put { object: Object, value: Expr },
    /// Local: goes elsewhere.
    Jump(usize),
    /// Local: goes elsewhere if the condition is false.
    Unless(Cond, usize),
    /// Local if it holds; otherwise a step of its own that ends the trace.
    Assert { id: u32, cond: Cond },
    /// The line has ended.
    End,
}

/// Both lines of a program in a role, and the shared values that they start from.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    /// The code of T and of T'.
    pub(crate) code: [Vec<Op>; 2],
    /// The initial values by object: what main's own stores before the spawns leave.
    pub(crate) initial: Vec<u8>,
    /// A lock that T or T' holds from the start, and whether exclusively.
    pub(crate) held: [Option<(Object, bool)>; 2],
}

/// Frames of locals: main's, then those of the spawned threads.
pub(crate) const FRAMES: usize = 3;

/// Compiles the program for the role.
pub(crate) fn compile(program: &Program, role: Role) -> Lines {
    let objects = Objects {
        atomics: program.atomics.len(),
        mutexes: program.mutexes.len(),
    };
    let line = || Line {
        objects,
        code: Vec::new(),
        frame: 0,
    };
    let (mut first, mut second) = (line(), line());
    let mut results = Vec::new();
    match &program.shape {
        Shape::Two {
            first: a,
            second: b,
            joins,
        } => {
            first.body(1, a);
            second.body(2, b);
            match joins {
                Joins::Implicit => {}
                Joins::FirstThenSecond(between) => {
                    first.result(0, 1);
                    first.body(0, between);
                    results.push((1, 2));
                }
                Joins::SecondThenFirst(between) => {
                    second.result(1, 2);
                    second.body(0, between);
                    results.push((0, 1));
                }
            }
        }
        Shape::One { spawned, main } => {
            if let Some(start) = &program.held_from_start {
                first.body(0, &start.under);
                first.give(start.lock);
            }
            first.body(0, main);
            second.body(1, spawned);
            results.push((0, 1));
        }
    }
    if let Some(over) = &program.held_over_join {
        let mains = match &program.shape {
            Shape::Two {
                joins: Joins::SecondThenFirst(_),
                ..
            } => &mut second,
            _ => &mut first,
        };
        mains.take(over.lock);
        mains.body(0, &over.before);
    }
    let (mut under_test, mut interfering) = match role {
        Role::First => (first, second),
        Role::Second => (second, first),
    };
    interfering.code.push(Op::End);
    under_test.code.push(Op::Join);
    for (into, frame) in results {
        under_test.result(into, frame);
    }
    if let Some(over) = &program.held_over_join {
        under_test.body(0, &over.after);
        under_test.give(over.lock);
    }
    under_test.body(0, &program.after);
    under_test.code.push(Op::End);

    let start = program.held_from_start.as_ref();
    let start = start.map(|start| (objects.of(start.lock), start.lock.exclusive()));
    let held = match role {
        Role::First => [start, None],
        Role::Second => [None, start],
    };
    let mut initial = [
        &program.atomics[..],
        &program.mutexes[..],
        &program.rwlocks[..],
    ]
    .concat();
    for init in &program.init {
        match *init {
            Init::Store(atomic, value) => initial[atomic] = value,
            Init::Put(lock, value) => initial[objects.of(lock)] = value,
        }
    }
    Lines {
        code: [under_test.code, interfering.code],
        initial,
        held,
    }
}

/// How statements' own numbers become object numbers.
#[derive(Clone, Copy)]
struct Objects {
    atomics: usize,
    mutexes: usize,
}

impl Objects {
    fn of(self, lock: Lock) -> Object {
        match lock {
            Lock::Mutex(m) => self.atomics + m,
            Lock::Read(l) | Lock::Write(l) => self.atomics + self.mutexes + l,
        }
    }
}

/// The code of one line, while it grows.
struct Line {
    objects: Objects,
    code: Vec<Op>,
    frame: usize,
}

/// What a `return` has to undo and where it is.
#[derive(Default)]
struct Body {
    held: Vec<Lock>,
    returns: Vec<usize>,
}

impl Line {
    /// Appends the code of a whole thread, or of main's next stretch, whose locals are in that frame.
    fn body(&mut self, frame: usize, list: &[Stmt]) {
        self.frame = frame;
        let mut body = Body::default();
        self.list(list, &mut body);
        let end = self.code.len();
        for at in body.returns {
            self.code[at] = Op::Jump(end);
        }
    }

    /// Main's local gets what the thread of that frame returned.
    fn result(&mut self, into: Local, frame: usize) {
        self.code.push(Op::Set {
            into,
            value: Expr::Plus(frame * LOCALS, 0),
        });
    }

    fn local(&self, local: Local) -> Local {
        self.frame * LOCALS + local
    }

    fn value(&self, expr: Expr) -> Expr {
        match expr {
            Expr::Const(_) => expr,
            Expr::Plus(local, add) => Expr::Plus(self.local(local), add),
        }
    }

    fn cond(&self, cond: Cond) -> Cond {
        Cond {
            left: self.local(cond.left),
            test: cond.test,
            right: self.value(cond.right),
        }
    }

    /// Puts a placeholder, whose place is returned.
    fn hole(&mut self) -> usize {
        self.code.push(Op::Jump(usize::MAX));
        self.code.len() - 1
    }

    fn take(&mut self, lock: Lock) {
        let object = self.objects.of(lock);
        self.code.push(Op::Acquire {
            object,
            exclusive: lock.exclusive(),
        });
        self.code.push(Op::Enter { object });
    }

    fn give(&mut self, lock: Lock) {
        let object = self.objects.of(lock);
        self.code.push(Op::Leave { object });
        self.code.push(Op::Release { object });
    }

    fn list(&mut self, list: &[Stmt], body: &mut Body) {
        for stmt in list {
            self.statement(stmt, body);
        }
    }

    fn statement(&mut self, stmt: &Stmt, body: &mut Body) {
        match stmt {
            Stmt::Set { into, value } => self.code.push(Op::Set {
                into: self.local(*into),
                value: self.value(*value),
            }),
            Stmt::Load { atomic, into } => self.code.push(Op::Load {
                object: *atomic,
                into: self.local(*into),
            }),
            Stmt::Store { atomic, value } => {
                self.code.push(Op::Store {
                    object: *atomic,
                    value: self.value(*value),
                });
            }
            Stmt::FetchAdd {
                atomic,
                amount,
                into,
            } => {
                self.code.push(Op::FetchAdd {
                    object: *atomic,
                    amount: *amount,
                    into: self.local(*into),
                });
            }
            Stmt::CompareExchange {
                atomic,
                current,
                new,
                into,
            } => self.code.push(Op::CompareExchange {
                object: *atomic,
                current: *current,
                new: self.value(*new),
                into: self.local(*into),
            }),
            Stmt::Swap {
                atomic,
                value,
                into,
            } => {
                self.code.push(Op::Swap {
                    object: *atomic,
                    value: self.value(*value),
                    into: self.local(*into),
                });
            }
            Stmt::Hold { lock, body: list } => {
                self.take(*lock);
                body.held.push(*lock);
                self.list(list, body);
                body.held.pop();
                self.give(*lock);
            }
            Stmt::Try {
                lock,
                body: list,
                otherwise,
            } => {
                let object = self.objects.of(*lock);
                let attempt = self.hole();
                self.code.push(Op::Enter { object });
                body.held.push(*lock);
                self.list(list, body);
                body.held.pop();
                self.give(*lock);
                let over = self.hole();
                self.code[attempt] = Op::TryAcquire {
                    object,
                    exclusive: lock.exclusive(),
                    otherwise: self.code.len(),
                };
                self.list(otherwise, body);
                self.code[over] = Op::Jump(self.code.len());
            }
            Stmt::Get { lock, into } => {
                self.code.push(Op::Get {
                    object: self.objects.of(*lock),
                    into: self.local(*into),
                });
            }
            Stmt::Put { lock, value } => {
                self.code.push(Op::Put {
                    object: self.objects.of(*lock),
                    value: self.value(*value),
                });
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                let test = self.hole();
                self.list(then, body);
                let over = self.hole();
                self.code[test] = Op::Unless(self.cond(*cond), self.code.len());
                self.list(otherwise, body);
                self.code[over] = Op::Jump(self.code.len());
            }
            Stmt::Repeat { times, body: list } => {
                for _ in 0..*times {
                    self.list(list, body);
                }
            }
            Stmt::Assert { id, cond } => self.code.push(Op::Assert {
                id: *id,
                cond: self.cond(*cond),
            }),
            Stmt::Return => {
                for index in (0..body.held.len()).rev() {
                    self.give(body.held[index]);
                }
                let hole = self.hole();
                body.returns.push(hole);
            }
        }
    }
}
