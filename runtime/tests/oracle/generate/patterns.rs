//! Programs of a certain make: what chance alone seldom gives.

use super::Writer;
use crate::program::{Cond, Expr, HeldFromStart, HeldOverJoin, Lock, Stmt, Test};

impl Writer<'_> {
    /// A lock to hold when the one thread is spawned, if there are any.
    pub(super) fn held_from_start(&mut self) -> Option<HeldFromStart> {
        let lock = self.free_lock()?;
        let mut under = Vec::new();
        // Without atomics, another lock would have to be at hand.
        if self.atomics > 0 && self.random.chance(80) {
            let size = self.random.below(2);
            self.held.push(lock);
            under.push(self.access());
            under.extend(self.body(size));
            self.held.pop();
        }
        Some(HeldFromStart { lock, under })
    }

    /// A lock to hold over the last join, if there are any.
    pub(super) fn held_over_join(&mut self) -> Option<HeldOverJoin> {
        let lock = self.free_lock()?;
        let sizes = (self.random.below(3), self.random.below(3));
        self.held.push(lock);
        let (before, after) = (self.body(sizes.0), self.body(sizes.1));
        self.held.pop();
        Some(HeldOverJoin {
            lock,
            before,
            after,
        })
    }

    /// Two threads of which one tells a story of two to four writes, and the other one fails if it sees them all.
    pub(super) fn story(&mut self) -> (Vec<Stmt>, Vec<Stmt>) {
        let length = [2, 2, 3, 3, 4][self.random.below(5)];
        let (mut told, mut seen) = (Vec::new(), Vec::new());
        for into in 0..length {
            let value = 1 + u8::from(self.random.chance(40));
            let written = Expr::Const(value);
            let lock = self.locks.iter().copied().find(|lock| lock.exclusive());
            let (write, read) = match lock {
                Some(lock) if self.atomics == 0 || self.random.chance(30) => (
                    Stmt::Hold {
                        lock,
                        body: vec![Stmt::Put {
                            lock,
                            value: written,
                        }],
                    },
                    Stmt::Hold {
                        lock,
                        body: vec![Stmt::Get { lock, into }],
                    },
                ),
                _ => {
                    let atomic = self.random.below(self.atomics);
                    (
                        Stmt::Store {
                            atomic,
                            value: written,
                        },
                        Stmt::Load { atomic, into },
                    )
                }
            };
            if self.random.chance(25) {
                told.extend(self.body(1));
            }
            told.push(write);
            let cond = Cond {
                left: into,
                test: Test::Equal,
                right: written,
            };
            seen.push((read, cond));
        }
        if self.random.chance(25) {
            seen.reverse();
        }
        let mut list = Vec::new();
        while let Some((read, mut cond)) = seen.pop() {
            let inner = if list.is_empty() {
                cond.test = Test::Differs;
                self.assertions += 1;
                Stmt::Assert {
                    id: self.assertions,
                    cond,
                }
            } else {
                Stmt::If {
                    cond,
                    then: list,
                    otherwise: Vec::new(),
                }
            };
            list = vec![read, inner];
            if self.random.chance(10) {
                let more = self.body(1);
                list.splice(0..0, more);
            }
        }
        (told, list)
    }

    /// Two threads that take the same two locks, nested in opposite orders.
    pub(super) fn crossing(&mut self) -> (Vec<Stmt>, Vec<Stmt>) {
        let mut pick = || self.locks[self.random.below(self.locks.len())];
        let (outer, inner) = (pick(), pick());
        let mut nest = |outer: Lock, inner: Lock| {
            let mut list = if self.random.chance(40) {
                self.body(1)
            } else {
                Vec::new()
            };
            self.held.push(outer);
            let mut body = self.body(1);
            let both = if outer.same_lock(inner) {
                self.body(1)
            } else {
                let inside = self.inside(inner, 1);
                vec![Stmt::Hold {
                    lock: inner,
                    body: inside,
                }]
            };
            self.held.pop();
            body.extend(both);
            list.push(Stmt::Hold { lock: outer, body });
            list
        };
        (nest(outer, inner), nest(inner, outer))
    }

    /// Gives the copy of a thread's code assertions of its own.
    pub(super) fn renumber(&mut self, list: &mut [Stmt]) {
        for stmt in list {
            match stmt {
                Stmt::Assert { id, .. } => {
                    self.assertions += 1;
                    *id = self.assertions;
                }
                Stmt::Hold { body, .. } | Stmt::Repeat { body, .. } => self.renumber(body),
                Stmt::Try {
                    body, otherwise, ..
                }
                | Stmt::If {
                    then: body,
                    otherwise,
                    ..
                } => {
                    self.renumber(body);
                    self.renumber(otherwise);
                }
                _ => {}
            }
        }
    }
}
