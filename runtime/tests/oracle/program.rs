//! Two-thread programs over shared bytes: a tree small enough that every interleaving can be walked.
//!
//! A program has atomics, mutexes and read-write locks, each protecting or being one `u8`. Its main thread does some
//! initial stores, then either spawns two threads and joins them, or spawns one and goes on beside it. What follows
//! the joins is [`Program::after`].

use std::ops::Not;

/// A local variable of the thread that names it. Every thread has [`LOCALS`] of them, all 0 at its start.
pub(crate) type Local = usize;

/// Locals per thread. Local 0 is what the thread returns.
pub(crate) const LOCALS: usize = 4;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    /// A constant.
    Const(u8),
    /// A local plus a constant, wrapping around.
    Plus(Local, u8),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Test {
    /// `==`
    Equal,
    /// `!=`
    Differs,
    /// `<`
    Less,
}

impl Test {
    /// The outcome on two values.
    pub(crate) fn holds(self, left: u8, right: u8) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Differs => left != right,
            Self::Less => left < right,
        }
    }
}

/// A condition on locals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cond {
    /// The left side.
    pub(crate) left: Local,
    /// The comparison.
    pub(crate) test: Test,
    /// The right side.
    pub(crate) right: Expr,
}

/// A lock and how it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lock {
    /// `mutex.lock()`
    Mutex(usize),
    /// `rwlock.read()`
    Read(usize),
    /// `rwlock.write()`
    Write(usize),
}

impl Lock {
    /// Whether its guard lets the value be written.
    pub(crate) fn exclusive(self) -> bool {
        matches!(self, Self::Read(_)).not()
    }

    /// Whether both name the same lock, however it is taken.
    pub(crate) fn same_lock(self, other: Self) -> bool {
        match (self, other) {
            (Self::Mutex(a), Self::Mutex(b)) => a == b,
            (Self::Mutex(_), _) | (_, Self::Mutex(_)) => false,
            (Self::Read(a) | Self::Write(a), Self::Read(b) | Self::Write(b)) => a == b,
        }
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stmt {
    /// `into = value`, of locals only.
    Set { into: Local, value: Expr },
    /// `into = atomic.load()`
    Load { atomic: usize, into: Local },
    /// `atomic.store(value)`
    Store { atomic: usize, value: Expr },
    /// `into = atomic.fetch_add(amount)`
    FetchAdd {
        atomic: usize,
        amount: u8,
        into: Local,
    },
    /// `into = match atomic.compare_exchange(current, new) { Ok(v) | Err(v) => v }`
    CompareExchange {
        atomic: usize,
        current: u8,
        new: Expr,
        into: Local,
    },
    /// `into = atomic.swap(value)`
    Swap {
        atomic: usize,
        value: Expr,
        into: Local,
    },
    /// `{ let guard = lock.lock(); body }`
    Hold { lock: Lock, body: Vec<Stmt> },
    /// `if let Ok(guard) = lock.try_lock() { body } else { otherwise }`, the guard being dropped before the else.
    Try {
        lock: Lock,
        body: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// `into = *guard`, inside the block of `lock`.
    Get { lock: Lock, into: Local },
    /// `*guard = value`, inside the block of `lock`.
    Put { lock: Lock, value: Expr },
    /// `if cond { then } else { otherwise }`
    If {
        cond: Cond,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// `for _ in 0..times { body }`
    Repeat { times: u8, body: Vec<Stmt> },
    /// `assert!(cond)`; the id is the assertion's name in the results.
    Assert { id: u32, cond: Cond },
    /// Leaves the thread's code, dropping the guards that it holds, innermost first.
    Return,
}

/// What runs side by side.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// Main spawns two threads and joins both.
    Two {
        /// The thread that is spawned first.
        first: Vec<Stmt>,
        /// The thread that is spawned second.
        second: Vec<Stmt>,
        /// How main joins them.
        joins: Joins,
    },
    /// Main spawns one thread, goes on beside it, and joins it.
    One {
        /// The spawned thread.
        spawned: Vec<Stmt>,
        /// What main does meanwhile. Its first statement always does a shared access, so that there are two lines.
        main: Vec<Stmt>,
    },
}

/// A lock that main takes before it spawns its one thread, and gives back before it does the rest beside that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HeldFromStart {
    /// The lock.
    pub(crate) lock: Lock,
    /// What main does under it after the spawn. If that is anything, it begins with a shared access: until then main has
    /// nobody beside it.
    pub(crate) under: Vec<Stmt>,
}

/// A lock that main holds over its last join.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HeldOverJoin {
    /// The lock, which main takes just before.
    pub(crate) lock: Lock,
    /// What main does under it before the join.
    pub(crate) before: Vec<Stmt>,
    /// What main does under it after the join.
    pub(crate) after: Vec<Stmt>,
}

/// How main joins two threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Joins {
    /// The end of a `thread::scope` does it.
    Implicit,
    /// The first, then some of main's own statements, then the second.
    FirstThenSecond(Vec<Stmt>),
    /// The second, then some of main's own statements, then the first.
    SecondThenFirst(Vec<Stmt>),
}

/// A value that main gives to a shared object before it spawns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Init {
    /// `atomic.store(value)`
    Store(usize, u8),
    /// `*lock.lock() = value`
    Put(Lock, u8),
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Program {
    /// The atomics, by the values they are made with.
    pub(crate) atomics: Vec<u8>,
    /// The mutexes, by the values they are made with.
    pub(crate) mutexes: Vec<u8>,
    /// The read-write locks, by the values they are made with.
    pub(crate) rwlocks: Vec<u8>,
    /// Whether the shared objects are made once and for all, as statics are, or by main in every run.
    pub(crate) statics: bool,
    /// Whether the engine is told that the program has no `unsafe` code: then executions may run on after they have
    /// turned out to be infeasible.
    pub(crate) safe: bool,
    /// Whether the threads are those of a `thread::scope`.
    pub(crate) scoped: bool,
    /// What main does before it spawns.
    pub(crate) init: Vec<Init>,
    /// What runs side by side.
    pub(crate) shape: Shape,
    /// A lock that is held when the one thread is spawned.
    pub(crate) held_from_start: Option<HeldFromStart>,
    /// A lock that is held over the last join.
    pub(crate) held_over_join: Option<HeldOverJoin>,
    /// What main does after the joins. Joined threads' results are in its locals 0 (first or only) and 1 (second),
    /// save with [`Joins::Implicit`].
    pub(crate) after: Vec<Stmt>,
}

impl Program {
    /// The lists of statements at the top: the threads', and main's own.
    pub(crate) fn lists(&self) -> Vec<&[Stmt]> {
        let mut lists: Vec<&[Stmt]> = match &self.shape {
            Shape::Two {
                first,
                second,
                joins,
            } => match joins {
                Joins::Implicit => vec![first, second],
                Joins::FirstThenSecond(between) | Joins::SecondThenFirst(between) => {
                    vec![first, second, between]
                }
            },
            Shape::One { spawned, main, .. } => vec![spawned, main],
        };
        if let Some(start) = &self.held_from_start {
            lists.push(&start.under);
        }
        if let Some(over) = &self.held_over_join {
            lists.extend([&over.before[..], &over.after]);
        }
        lists.push(&self.after);
        lists
    }

    /// As [`Self::lists`], to change them.
    pub(crate) fn lists_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        let mut lists: Vec<&mut Vec<Stmt>> = match &mut self.shape {
            Shape::Two {
                first,
                second,
                joins,
            } => match joins {
                Joins::Implicit => vec![first, second],
                Joins::FirstThenSecond(between) | Joins::SecondThenFirst(between) => {
                    vec![first, second, between]
                }
            },
            Shape::One { spawned, main, .. } => vec![spawned, main],
        };
        if let Some(start) = &mut self.held_from_start {
            lists.push(&mut start.under);
        }
        if let Some(over) = &mut self.held_over_join {
            lists.extend([&mut over.before, &mut over.after]);
        }
        lists.push(&mut self.after);
        lists
    }

    /// Whether the program means something: guards are used inside their blocks only, read guards never written, no
    /// read-write lock read twice at once by a thread (std leaves open whether that blocks), main never returns
    /// before its last join, a scope's end is the only implicit join, and main does a shared access beside the one thread.
    pub(crate) fn is_valid(&self) -> bool {
        let shape = match &self.shape {
            Shape::Two { joins, .. } => match joins {
                Joins::Implicit => self.scoped && self.held_over_join.is_none(),
                Joins::FirstThenSecond(between) | Joins::SecondThenFirst(between) => {
                    !returns(between)
                }
            },
            Shape::One { main, .. } => !returns(main) && main.first().is_some_and(accesses),
        };
        let over = self.held_over_join.as_ref().is_none_or(|over| {
            [&over.before, &over.after]
                .into_iter()
                .all(|list| !returns(list) && guards_are_right(list, &mut vec![over.lock]))
        });
        let start = self.held_from_start.as_ref().is_none_or(|start| {
            matches!(self.shape, Shape::One { .. })
                && !returns(&start.under)
                && start.under.first().is_none_or(accesses)
                && guards_are_right(&start.under, &mut vec![start.lock])
        });
        let without = Self {
            held_from_start: None,
            held_over_join: None,
            ..self.clone()
        };
        let lists = without.lists();
        shape
            && over
            && start
            && lists
                .into_iter()
                .all(|list| guards_are_right(list, &mut Vec::new()))
    }
}

/// Takes the assertions out that `keep` doesn't want.
pub(crate) fn retain_assertions(list: &mut Vec<Stmt>, keep: &impl Fn(u32) -> bool) {
    list.retain(|stmt| !matches!(stmt, Stmt::Assert { id, .. } if !keep(*id)));
    for stmt in list {
        match stmt {
            Stmt::Hold { body, .. } | Stmt::Repeat { body, .. } => retain_assertions(body, keep),
            Stmt::Try {
                body, otherwise, ..
            }
            | Stmt::If {
                then: body,
                otherwise,
                ..
            } => {
                retain_assertions(body, keep);
                retain_assertions(otherwise, keep);
            }
            _ => {}
        }
    }
}

/// Whether the statement does a shared access whatever the values are.
pub(crate) fn accesses(stmt: &Stmt) -> bool {
    matches!(
        stmt,
        Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::FetchAdd { .. }
            | Stmt::CompareExchange { .. }
            | Stmt::Swap { .. }
            | Stmt::Hold { .. }
    )
}

/// The lists inside a statement.
pub(crate) fn inner(stmt: &Stmt) -> Vec<&[Stmt]> {
    match stmt {
        Stmt::Hold { body, .. } | Stmt::Repeat { body, .. } => vec![body],
        Stmt::Try {
            body, otherwise, ..
        }
        | Stmt::If {
            then: body,
            otherwise,
            ..
        } => vec![body, otherwise],
        _ => Vec::new(),
    }
}

fn returns(list: &[Stmt]) -> bool {
    list.iter()
        .any(|stmt| matches!(stmt, Stmt::Return) || inner(stmt).into_iter().any(returns))
}

fn guards_are_right(list: &[Stmt], held: &mut Vec<Lock>) -> bool {
    list.iter().all(|stmt| match stmt {
        Stmt::Get { lock, .. } => held.contains(lock),
        Stmt::Put { lock, .. } => lock.exclusive() && held.contains(lock),
        Stmt::Hold { lock, body } | Stmt::Try { lock, body, .. } => {
            if !lock.exclusive() && held.contains(lock) {
                return false;
            }
            held.push(*lock);
            let right = guards_are_right(body, held);
            held.pop();
            right && !matches!(stmt, Stmt::Try { otherwise, .. } if !guards_are_right(otherwise, held))
        }
        _ => inner(stmt).into_iter().all(|list| guards_are_right(list, held)),
    })
}
