//! Random programs, small enough to be exhausted, and apt to fail.
//!
//! Values are few (0 to 3) and variables too, so that a read often meets what the other thread wrote; assertions follow
//! reads; tests on what was read guard further reads, which is what makes a failure need more than one of them.

mod patterns;

use crate::program::{Cond, Expr, Init, Joins, LOCALS, Local, Lock, Program, Shape, Stmt, Test};
use crate::random::Random;

/// A random program.
pub(crate) fn generate(random: &mut Random) -> Program {
    let flavour = random.below(100);
    let (atomics, mutexes, rwlocks) = match flavour {
        0..35 => (1 + random.below(3), 0, 0),
        35..55 => (0, 1 + random.below(2), random.below(2)),
        55..65 => (1, 0, 1),
        _ => (1 + random.below(2), 1 + random.below(2), random.below(2)),
    };
    let mut bytes = |count: usize| -> Vec<u8> {
        (0..count)
            .map(|_| if random.chance(70) { 0 } else { random.byte() })
            .collect()
    };
    let (atomics, mutexes, rwlocks) = (bytes(atomics), bytes(mutexes), bytes(rwlocks));
    let mut writer = Writer {
        atomics: atomics.len(),
        locks: (0..mutexes.len())
            .map(Lock::Mutex)
            .chain((0..rwlocks.len()).flat_map(|l| [Lock::Read(l), Lock::Write(l)]))
            .collect(),
        random,
        held: Vec::new(),
        assertions: 0,
        may_return: true,
    };
    let init = (0..writer.random.below(3)).map(|_| writer.init()).collect();
    let first_size = 3 + writer.random.below(4);
    let second_size = 3 + writer.random.below(4);
    let (first, second) = match writer.random.below(100) {
        0..25 => writer.story(),
        75..90 if !writer.locks.is_empty() => writer.crossing(),
        25..45 => {
            let first = writer.body(first_size);
            let mut twin = first.clone();
            writer.renumber(&mut twin);
            (first, twin)
        }
        _ => (writer.body(first_size), writer.body(second_size)),
    };
    let (first, second) = if writer.random.chance(50) {
        (first, second)
    } else {
        (second, first)
    };
    writer.may_return = false;
    let mut scoped = writer.random.chance(30);
    let shape = if writer.random.chance(65) {
        let mut between = Vec::new();
        if writer.random.chance(25) {
            let size = 1 + writer.random.below(2);
            between = writer.body(size);
        }
        let joins = match writer.random.below(4) {
            0 => {
                scoped = true;
                Joins::Implicit
            }
            1 => Joins::SecondThenFirst(between),
            _ => Joins::FirstThenSecond(between),
        };
        Shape::Two {
            first,
            second,
            joins,
        }
    } else {
        let size = 1 + writer.random.below(4);
        let mut main = vec![writer.access()];
        main.extend(writer.body(size));
        Shape::One {
            spawned: second,
            main,
        }
    };
    let held_from_start = if matches!(shape, Shape::One { .. }) && writer.random.chance(15) {
        writer.held_from_start()
    } else {
        None
    };
    let implicit = matches!(
        shape,
        Shape::Two {
            joins: Joins::Implicit,
            ..
        }
    );
    let held_over_join = if !implicit && writer.random.chance(12) {
        writer.held_over_join()
    } else {
        None
    };
    writer.may_return = true;
    let mut after = Vec::new();
    if writer.random.chance(60) {
        let size = 1 + writer.random.below(3);
        after = writer.body(size);
    }
    let statics = writer.random.chance(30);
    let safe = writer.random.chance(50);
    let program = Program {
        atomics,
        mutexes,
        rwlocks,
        statics,
        held_from_start,
        held_over_join,
        safe,
        scoped,
        init,
        shape,
        after,
    };
    debug_assert!(
        program.is_valid(),
        "the generator made nonsense:\n{program}"
    );
    program
}

/// Writes statements.
struct Writer<'a> {
    atomics: usize,
    locks: Vec<Lock>,
    random: &'a mut Random,
    held: Vec<Lock>,
    assertions: u32,
    may_return: bool,
}

impl Writer<'_> {
    fn init(&mut self) -> Init {
        let value = self.random.byte();
        if self.atomics > 0 && (self.locks.is_empty() || self.random.chance(50)) {
            return Init::Store(self.random.below(self.atomics), value);
        }
        let lock = self.locks[self.random.below(self.locks.len())];
        Init::Put(
            if let Lock::Read(l) = lock {
                Lock::Write(l)
            } else {
                lock
            },
            value,
        )
    }

    fn local(&mut self) -> Local {
        self.random.below(LOCALS)
    }

    fn expr(&mut self) -> Expr {
        if self.random.chance(60) {
            Expr::Const(self.random.byte())
        } else {
            Expr::Plus(self.local(), u8::from(self.random.chance(70)))
        }
    }

    /// A condition on that local, or on any.
    fn cond(&mut self, local: Option<Local>) -> Cond {
        let left = local.unwrap_or_else(|| self.random.below(LOCALS));
        let test = [
            Test::Equal,
            Test::Equal,
            Test::Differs,
            Test::Differs,
            Test::Less,
        ][self.random.below(5)];
        let right = if self.random.chance(80) {
            Expr::Const(self.random.byte())
        } else {
            Expr::Plus(self.local(), 0)
        };
        Cond { left, test, right }
    }

    /// An assertion that mostly holds: a value is met or not, often one that only some interleavings give.
    fn assertion(&mut self, local: Option<Local>) -> Stmt {
        let mut cond = self.cond(local);
        if self.random.chance(60) {
            cond.test = Test::Differs;
        }
        self.assertions += 1;
        Stmt::Assert {
            id: self.assertions,
            cond,
        }
    }

    /// Statements of about that many shared accesses.
    fn body(&mut self, size: usize) -> Vec<Stmt> {
        let mut list = Vec::new();
        let mut left = size;
        while left > 0 {
            let (stmt, read, cost) = self.statement(left);
            list.push(stmt);
            left = left.saturating_sub(cost);
            if read.is_some() && self.random.chance(35) {
                list.push(self.assertion(read));
            }
            if read.is_some() && left > 0 && self.random.chance(25) {
                let inside = 1 + self.random.below(left);
                list.push(self.branch(read, inside));
                left -= inside;
            }
        }
        list
    }

    fn branch(&mut self, read: Option<Local>, size: usize) -> Stmt {
        let cond = self.cond(read);
        let then = if self.may_return && self.random.chance(10) {
            vec![Stmt::Return]
        } else {
            self.body(size)
        };
        let otherwise = if self.random.chance(25) {
            self.body(1)
        } else {
            Vec::new()
        };
        Stmt::If {
            cond,
            then,
            otherwise,
        }
    }

    /// An atomic access or a lock block.
    fn access(&mut self) -> Stmt {
        let lock = self.free_lock();
        match lock {
            Some(lock) if self.atomics == 0 || self.random.chance(50) => {
                let body = self.inside(lock, 2);
                Stmt::Hold { lock, body }
            }
            _ => self.atomic().0,
        }
    }

    /// A statement, the local that it read into, and its size.
    fn statement(&mut self, left: usize) -> (Stmt, Option<Local>, usize) {
        match self.random.below(100) {
            0..4 => {
                let into = self.local();
                let value = self.expr();
                (Stmt::Set { into, value }, None, 0)
            }
            4..7 => (self.assertion(None), None, 0),
            7..11 if left >= 2 => {
                let body = self.body(left / 2);
                (Stmt::Repeat { times: 2, body }, None, left)
            }
            11..14 => (self.branch(None, left), None, left),
            14..45 if !self.held.is_empty() => self.guarded(),
            _ => match self.free_lock() {
                Some(lock) if self.atomics == 0 || self.random.chance(45) => {
                    let size = left.min(1 + self.random.below(3));
                    let body = self.inside(lock, size);
                    if self.random.chance(25) {
                        let otherwise = if self.random.chance(60) {
                            self.body(1)
                        } else {
                            Vec::new()
                        };
                        (
                            Stmt::Try {
                                lock,
                                body,
                                otherwise,
                            },
                            None,
                            size + 1,
                        )
                    } else {
                        (Stmt::Hold { lock, body }, None, size + 1)
                    }
                }
                _ if self.atomics > 0 => {
                    let (stmt, read) = self.atomic();
                    (stmt, read, 1)
                }
                _ if !self.held.is_empty() => self.guarded(),
                _ => (self.assertion(None), None, 1),
            },
        }
    }

    /// A lock to take: one that isn't held, at most two at once, and rarely one that is.
    fn free_lock(&mut self) -> Option<Lock> {
        if self.locks.is_empty() {
            return None;
        }
        let lock = self.locks[self.random.below(self.locks.len())];
        if self.held.iter().any(|held| held.same_lock(lock)) {
            let twice_read = !lock.exclusive() && self.held.contains(&lock);
            return (!twice_read && self.random.chance(8)).then_some(lock);
        }
        (self.held.len() < 2).then_some(lock)
    }

    /// The inside of a lock's block.
    fn inside(&mut self, lock: Lock, size: usize) -> Vec<Stmt> {
        self.held.push(lock);
        let mut list = self.body(size);
        self.held.pop();
        if list.is_empty() || self.random.chance(30) {
            let into = self.local();
            list.push(Stmt::Get { lock, into });
        }
        list
    }

    /// An access to the value of a lock that is held.
    fn guarded(&mut self) -> (Stmt, Option<Local>, usize) {
        let lock = self.held[self.random.below(self.held.len())];
        if lock.exclusive() && self.random.chance(50) {
            (
                Stmt::Put {
                    lock,
                    value: self.expr(),
                },
                None,
                1,
            )
        } else {
            let into = self.local();
            (Stmt::Get { lock, into }, Some(into), 1)
        }
    }

    /// An access to an atomic, and the local that it read into.
    fn atomic(&mut self) -> (Stmt, Option<Local>) {
        let atomic = self.random.below(self.atomics);
        let into = self.local();
        let stmt = match self.random.below(20) {
            0..8 => Stmt::Load { atomic, into },
            8..15 => {
                return (
                    Stmt::Store {
                        atomic,
                        value: self.expr(),
                    },
                    None,
                );
            }
            15..17 => Stmt::FetchAdd {
                atomic,
                amount: 1 + u8::from(self.random.chance(20)),
                into,
            },
            17..19 => Stmt::CompareExchange {
                atomic,
                current: self.random.byte(),
                new: self.expr(),
                into,
            },
            _ => Stmt::Swap {
                atomic,
                value: self.expr(),
                into,
            },
        };
        (stmt, Some(into))
    }
}
