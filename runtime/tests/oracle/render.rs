//! Programs as Rust-like text, for whoever has to debug a difference.

use std::fmt::{Display, Formatter, Result};

use crate::program::{Cond, Expr, Init, Joins, Lock, Program, Shape, Stmt, Test};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match *self {
            Self::Const(value) => write!(f, "{value}"),
            Self::Plus(local, 0) => write!(f, "r{local}"),
            Self::Plus(local, add) => write!(f, "r{local} + {add}"),
        }
    }
}

impl Display for Cond {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let sign = match self.test {
            Test::Equal => "==",
            Test::Differs => "!=",
            Test::Less => "<",
        };
        write!(f, "r{} {sign} {}", self.left, self.right)
    }
}

impl Display for Lock {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Mutex(m) => write!(f, "m{m}"),
            Self::Read(l) | Self::Write(l) => write!(f, "l{l}"),
        }
    }
}

/// The method that takes the lock.
fn method(lock: Lock) -> &'static str {
    match lock {
        Lock::Mutex(_) => "lock",
        Lock::Read(_) => "read",
        Lock::Write(_) => "write",
    }
}

/// The name of the lock's guard.
fn guard(lock: Lock) -> String {
    format!("{}_{lock}", method(lock))
}

fn block(f: &mut Formatter<'_>, list: &[Stmt], depth: usize) -> Result {
    list.iter().try_for_each(|stmt| statement(f, stmt, depth))
}

fn braces(
    f: &mut Formatter<'_>,
    head: &str,
    list: &[Stmt],
    otherwise: &[Stmt],
    depth: usize,
) -> Result {
    let pad = "    ".repeat(depth);
    writeln!(f, "{pad}{head}{{")?;
    block(f, list, depth + 1)?;
    if !otherwise.is_empty() {
        writeln!(f, "{pad}}} else {{")?;
        block(f, otherwise, depth + 1)?;
    }
    writeln!(f, "{pad}}}")
}

fn statement(f: &mut Formatter<'_>, stmt: &Stmt, depth: usize) -> Result {
    let pad = "    ".repeat(depth);
    match stmt {
        Stmt::Set { into, value } => writeln!(f, "{pad}r{into} = {value};"),
        Stmt::Load { atomic, into } => writeln!(f, "{pad}r{into} = a{atomic}.load();"),
        Stmt::Store { atomic, value } => writeln!(f, "{pad}a{atomic}.store({value});"),
        Stmt::FetchAdd {
            atomic,
            amount,
            into,
        } => writeln!(f, "{pad}r{into} = a{atomic}.fetch_add({amount});"),
        Stmt::CompareExchange {
            atomic,
            current,
            new,
            into,
        } => {
            writeln!(
                f,
                "{pad}r{into} = a{atomic}.compare_exchange({current}, {new}) /* either value */;"
            )
        }
        Stmt::Swap {
            atomic,
            value,
            into,
        } => writeln!(f, "{pad}r{into} = a{atomic}.swap({value});"),
        Stmt::Hold { lock, body } => {
            writeln!(f, "{pad}{{")?;
            writeln!(
                f,
                "{pad}    let mut {} = {lock}.{}();",
                guard(*lock),
                method(*lock)
            )?;
            block(f, body, depth + 1)?;
            writeln!(f, "{pad}}}")
        }
        Stmt::Try {
            lock,
            body,
            otherwise,
        } => {
            let head = format!(
                "if let Ok({}) = {lock}.try_{}() ",
                guard(*lock),
                method(*lock)
            );
            braces(f, &head, body, otherwise, depth)
        }
        Stmt::Get { lock, into } => writeln!(f, "{pad}r{into} = *{};", guard(*lock)),
        Stmt::Put { lock, value } => writeln!(f, "{pad}*{} = {value};", guard(*lock)),
        Stmt::If {
            cond,
            then,
            otherwise,
        } => braces(f, &format!("if {cond} "), then, otherwise, depth),
        Stmt::Repeat { times, body } => {
            braces(f, &format!("for _ in 0..{times} "), body, &[], depth)
        }
        Stmt::Assert { id, cond } => writeln!(f, "{pad}assert!({cond}); // #{id}"),
        Stmt::Return => writeln!(f, "{pad}return r0;"),
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let storage = if self.statics { "static" } else { "let" };
        if self.safe {
            writeln!(f, "// without `unsafe` code")?;
        }
        for (index, value) in self.atomics.iter().enumerate() {
            writeln!(f, "{storage} a{index} = AtomicU8::new({value});")?;
        }
        for (index, value) in self.mutexes.iter().enumerate() {
            writeln!(f, "{storage} m{index} = Mutex::new({value}u8);")?;
        }
        for (index, value) in self.rwlocks.iter().enumerate() {
            writeln!(f, "{storage} l{index} = RwLock::new({value}u8);")?;
        }
        for init in &self.init {
            match init {
                Init::Store(atomic, value) => writeln!(f, "a{atomic}.store({value});")?,
                Init::Put(lock, value) => writeln!(f, "*{lock}.{}() = {value};", method(*lock))?,
            }
        }
        let spawn = if self.scoped {
            "scope.spawn"
        } else {
            "thread::spawn"
        };
        let joined = |f: &mut Formatter<'_>, thread: char, local: usize| {
            writeln!(f, "r{local} = {thread}.join().unwrap();")
        };
        let last_joined = |f: &mut Formatter<'_>, thread: char, local: usize| {
            let Some(over) = &self.held_over_join else {
                return joined(f, thread, local);
            };
            let (lock, guard) = (over.lock, guard(over.lock));
            writeln!(f, "let mut {guard} = {lock}.{}();", method(lock))?;
            block(f, &over.before, 0)?;
            joined(f, thread, local)?;
            block(f, &over.after, 0)?;
            writeln!(f, "drop({guard});")
        };
        let thread = |f: &mut Formatter<'_>, name: char, body: &[Stmt]| {
            writeln!(f, "let {name} = {spawn}(|| {{")?;
            block(f, body, 1)?;
            writeln!(f, "    r0\n}});")
        };
        match &self.shape {
            Shape::Two {
                first,
                second,
                joins,
            } => {
                thread(f, 'a', first)?;
                thread(f, 'b', second)?;
                match joins {
                    Joins::Implicit => writeln!(f, "// the scope ends here")?,
                    Joins::FirstThenSecond(between) => {
                        joined(f, 'a', 0)?;
                        block(f, between, 0)?;
                        last_joined(f, 'b', 1)?;
                    }
                    Joins::SecondThenFirst(between) => {
                        joined(f, 'b', 1)?;
                        block(f, between, 0)?;
                        last_joined(f, 'a', 0)?;
                    }
                }
            }
            Shape::One { spawned, main } => {
                if let Some(start) = &self.held_from_start {
                    let (lock, guard) = (start.lock, guard(start.lock));
                    writeln!(f, "let mut {guard} = {lock}.{}();", method(lock))?;
                }
                thread(f, 'a', spawned)?;
                if let Some(start) = &self.held_from_start {
                    block(f, &start.under, 0)?;
                    writeln!(f, "drop({});", guard(start.lock))?;
                }
                block(f, main, 0)?;
                last_joined(f, 'a', 0)?;
            }
        }
        block(f, &self.after, 0)
    }
}
