//! Programs as source, in the many ways in which people write the same.

use std::fmt::Write as _;

use super::program::{
    Cond, Ending, Home, How, Joining, LOCALS, LockKind, Operand, PANICKED, Pause, Program,
    RETURNED, Start, Stmt, Taking,
};

/// What stands at the top of the crate.
pub(crate) const HEAD: &str = "\
#![allow(unused, dead_code)]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

pub fn peek(cell: &AtomicU32) -> u32 {
    cell.load(SeqCst)
}

pub fn poke(cell: &AtomicU32, value: u32) {
    cell.store(value, SeqCst);
}

pub fn bump(cell: &AtomicU32, by: u32) -> u32 {
    cell.fetch_add(by, SeqCst)
}

/// Adds to the atomic when it goes.
pub struct Adds<'a>(&'a AtomicU32, u32);

impl Drop for Adds<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(self.1, SeqCst);
    }
}
";

/// The program as a module.
pub(crate) fn render(program: &Program) -> String {
    let mut out = Writer {
        program,
        out: String::new(),
        depth: 0,
        thread: 0,
    };
    out.module();
    out.out
}

/// The name of the test.
pub(crate) fn name(program: &Program) -> String {
    format!("p{}::case", program.number)
}

struct Writer<'a> {
    program: &'a Program,
    out: String,
    depth: usize,
    thread: usize,
}

macro_rules! line {
    ($self:ident, $($format:tt)*) => {
        $self.line(&format!($($format)*))
    };
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        if text.starts_with('}') {
            self.depth -= 1;
        }
        let _ = writeln!(self.out, "{:1$}{text}", "", 4 * self.depth);
        if text.ends_with('{') {
            self.depth += 1;
        }
    }

    fn module(&mut self) {
        let program = self.program;
        line!(self, "mod p{} {{", program.number);
        line!(self, "use super::*;");
        for (cell, home) in program.cells.iter().enumerate() {
            if *home == Home::Static {
                line!(self, "static C{cell}: AtomicU32 = AtomicU32::new(0);");
            }
        }
        line!(self, "struct Shared {{");
        for (cell, home) in program.cells.iter().enumerate() {
            if *home == Home::Field {
                line!(self, "c{cell}: AtomicU32,");
            }
        }
        for (lock, kind) in program.locks.iter().enumerate() {
            line!(self, "l{lock}: {kind:?}<u32>,");
        }
        line!(self, "}}");
        line!(self, "impl Shared {{");
        line!(self, "fn new() -> Self {{");
        line!(self, "Self {{");
        for (cell, home) in program.cells.iter().enumerate() {
            if *home == Home::Field {
                line!(self, "c{cell}: AtomicU32::new(0),");
            }
        }
        for (lock, kind) in program.locks.iter().enumerate() {
            line!(self, "l{lock}: {kind:?}::new(0),");
        }
        line!(self, "}}");
        line!(self, "}}");
        for cell in 0..program.cells.len() {
            let place = self.cell(cell, "self");
            line!(self, "fn get_c{cell}(&self) -> u32 {{");
            line!(self, "{place}.load(SeqCst)");
            line!(self, "}}");
            line!(self, "fn set_c{cell}(&self, value: u32) {{");
            line!(self, "{place}.store(value, SeqCst);");
            line!(self, "}}");
            line!(self, "fn add_c{cell}(&self, by: u32) -> u32 {{");
            line!(self, "{place}.fetch_add(by, SeqCst)");
            line!(self, "}}");
        }
        line!(self, "}}");
        for thread in 1..program.bodies.len() {
            self.thread = thread;
            line!(
                self,
                "fn worker_{thread}(s: &Shared) -> [u32; {RETURNED}] {{"
            );
            self.locals();
            self.all(&program.bodies[thread]);
            line!(self, "[r0, r1]");
            line!(self, "}}");
        }
        self.thread = 0;
        self.test();
        line!(self, "}}");
    }

    fn locals(&mut self) {
        for local in 0..LOCALS {
            line!(self, "let mut r{local} = 0u32;");
        }
    }

    fn test(&mut self) {
        let program = self.program;
        line!(self, "#[test]");
        if program.should_panic {
            line!(self, "#[should_panic]");
        }
        line!(self, "fn case() {{");
        match program.start {
            Start::Scope => line!(self, "let s = &Shared::new();"),
            Start::Spawn | Start::Builder => line!(self, "let s = Arc::new(Shared::new());"),
        }
        self.locals();
        if program.start == Start::Scope {
            line!(self, "thread::scope(|scope| {{");
        }
        self.all(&program.bodies[0]);
        self.tell();
        if program.start == Start::Scope {
            line!(self, "}});");
        }
        line!(self, "}}");
    }

    fn tell(&mut self) {
        let program = self.program;
        let mut seen = Vec::new();
        for stmt in &program.bodies[0] {
            if let Stmt::Join { thread, .. } = stmt {
                seen.extend((0..RETURNED).map(|at| format!("v{thread}[{at}]")));
            }
        }
        for cell in 0..program.cells.len() {
            seen.push(format!("{}.load(SeqCst)", self.cell(cell, "s")));
        }
        seen.extend((0..RETURNED).map(|at| format!("r{at}")));
        let seen = seen.join(", ");
        let (all, told) = match &program.ending {
            Ending::Quiet => {
                line!(self, "let seen = [{seen}];");
                return;
            }
            Ending::TellAll(all) => (all, None),
            Ending::TellOne(all, told) => (all, Some(*told)),
        };
        line!(self, "match [{seen}] {{");
        for (number, one) in all.iter().enumerate() {
            if told.is_none_or(|told| told == number) {
                line!(self, "{one:?} => panic!(\"outcome {number}\"),");
            } else {
                line!(self, "{one:?} => {{}}");
            }
        }
        line!(self, "seen => panic!(\"unknown outcome {{seen:?}}\"),");
        line!(self, "}}");
    }

    fn cell(&self, cell: usize, of: &str) -> String {
        match self.program.cells[cell] {
            Home::Field => format!("{of}.c{cell}"),
            Home::Static => format!("C{cell}"),
        }
    }

    /// A call of one of the three things that are done with an atomic in many ways.
    fn access(&self, how: How, cell: usize, what: Access, value: &str) -> String {
        let place = self.cell(cell, "s");
        let (method, function, std, types) = match what {
            Access::Get => ("get", "peek", "load", "fn(&AtomicU32) -> u32"),
            Access::Set => ("set", "poke", "store", "fn(&AtomicU32, u32)"),
            Access::Add => ("add", "bump", "fetch_add", "fn(&AtomicU32, u32) -> u32"),
        };
        let (first, later) = if value.is_empty() {
            (String::new(), String::new())
        } else {
            (format!("{value}, "), format!(", {value}"))
        };
        match how {
            How::Plain => format!("{place}.{std}({first}SeqCst)"),
            How::Method => format!("s.{method}_c{cell}({value})"),
            How::Function => format!("{function}(&{place}{later})"),
            How::Pointer => format!("{{ let f: {types} = {function}; f(&{place}{later}) }}"),
            How::Closure => format!("{{ let f = || {place}.{std}({first}SeqCst); f() }}"),
        }
    }

    fn all(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.one(stmt);
        }
    }

    fn one(&mut self, stmt: &Stmt) {
        match *stmt {
            Stmt::Load { to, cell, how } => {
                let call = self.access(how, cell, Access::Get, "");
                line!(self, "r{to} = {call};");
            }
            Stmt::Store { cell, value, how } => {
                let call = self.access(how, cell, Access::Set, &operand(value));
                line!(self, "{call};");
            }
            Stmt::Add { to, cell, by, how } => {
                let call = self.access(how, cell, Access::Add, &by.to_string());
                match to {
                    Some(to) => line!(self, "r{to} = {call};"),
                    None => line!(self, "{call};"),
                }
            }
            Stmt::Swap { to, cell, value } => {
                let place = self.cell(cell, "s");
                line!(self, "r{to} = {place}.swap({}, SeqCst);", operand(value));
            }
            Stmt::Exchange {
                to,
                cell,
                from,
                new,
            } => {
                let place = self.cell(cell, "s");
                line!(
                    self,
                    "r{to} = match {place}.compare_exchange({from}, {new}, SeqCst, SeqCst) {{"
                );
                line!(self, "Ok(_) => 7,");
                line!(self, "Err(other) => other,");
                line!(self, "}};");
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
            Stmt::Get { to, lock } => line!(self, "r{to} = *g{lock};"),
            Stmt::Put { lock, value } => line!(self, "*g{lock} = {};", operand(value)),
            Stmt::Grow { lock, by } => line!(self, "*g{lock} += {by};"),
            Stmt::If {
                cond: when,
                ref then,
                ref otherwise,
            } => {
                line!(self, "if {} {{", cond(when));
                self.all(then);
                self.otherwise(otherwise);
            }
            Stmt::Repeat { times, ref body } => {
                line!(self, "for _ in 0..{times} {{");
                self.all(body);
                line!(self, "}}");
            }
            Stmt::Poll {
                to,
                cell,
                is,
                tries,
                how,
            } => {
                let call = self.access(how, cell, Access::Get, "");
                line!(self, "r{to} = 0;");
                line!(self, "for _ in 0..{tries} {{");
                line!(self, "if {} == {is} {{", in_condition(&call));
                line!(self, "r{to} = 1;");
                line!(self, "break;");
                line!(self, "}}");
                line!(self, "}}");
            }
            Stmt::Await {
                cell,
                is,
                pause: between,
                how,
            } => {
                let call = self.access(how, cell, Access::Get, "");
                line!(self, "while {} != {is} {{", in_condition(&call));
                self.pause(between);
                line!(self, "}}");
            }
            Stmt::Panic { site } => line!(self, "panic!(\"site {site}\");"),
            Stmt::Assert { cond: holds, site } => {
                line!(self, "assert!({}, \"site {site}\");", cond(holds));
            }
            Stmt::Catch { to, ref body } => {
                line!(self, "let caught = catch_unwind(AssertUnwindSafe(|| {{");
                self.all(body);
                line!(self, "}}));");
                line!(self, "r{to} = u32::from(caught.is_err());");
            }
            Stmt::Scoped { cell, by, ref body } => {
                let place = self.cell(cell, "s");
                line!(self, "{{");
                line!(self, "let _adds = Adds(&{place}, {by});");
                self.all(body);
                line!(self, "}}");
            }
            Stmt::Spawn { thread } => match self.program.start {
                Start::Scope => {
                    line!(self, "let t{thread} = scope.spawn(|| worker_{thread}(s));");
                }
                Start::Spawn => {
                    line!(self, "let t{thread} = {{");
                    line!(self, "let s = Arc::clone(&s);");
                    line!(self, "thread::spawn(move || worker_{thread}(&s))");
                    line!(self, "}};");
                }
                Start::Builder => {
                    line!(self, "let theirs = s.clone();");
                    line!(
                        self,
                        "let named = thread::Builder::new().name(\"w{thread}\".into());"
                    );
                    line!(
                        self,
                        "let t{thread} = named.spawn(move || worker_{thread}(&theirs)).unwrap();"
                    );
                }
            },
            Stmt::Join { thread, how } => match how {
                Joining::Unwrap => line!(self, "let v{thread} = t{thread}.join().unwrap();"),
                Joining::Handle => line!(
                    self,
                    "let v{thread} = t{thread}.join().unwrap_or([{PANICKED}; {RETURNED}]);"
                ),
            },
            Stmt::Detach { thread } => line!(self, "drop(t{thread});"),
        }
    }

    fn pause(&mut self, pause: Pause) {
        match pause {
            Pause::Nothing => {}
            Pause::Hint => line!(self, "std::hint::spin_loop();"),
            Pause::Yield => line!(self, "thread::yield_now();"),
            Pause::Sleep => line!(self, "thread::sleep(Duration::from_millis(1));"),
        }
    }

    fn otherwise(&mut self, stmts: &[Stmt]) {
        if !stmts.is_empty() {
            line!(self, "}} else {{");
            self.all(stmts);
        }
        line!(self, "}}");
    }

    fn locked(
        &mut self,
        lock: usize,
        writes: bool,
        taking: Taking,
        body: &[Stmt],
        otherwise: &[Stmt],
    ) {
        let method = match (self.program.locks[lock], writes) {
            (LockKind::Mutex, _) => "lock",
            (LockKind::RwLock, false) => "read",
            (LockKind::RwLock, true) => "write",
        };
        let keep = if writes { "mut " } else { "" };
        let take = format!("s.l{lock}.{method}()");
        match taking {
            Taking::Unwrap => {
                line!(self, "{{");
                line!(self, "let {keep}g{lock} = {take}.unwrap();");
            }
            Taking::Ignore => {
                line!(self, "{{");
                line!(
                    self,
                    "let {keep}g{lock} = {take}.unwrap_or_else(PoisonError::into_inner);"
                );
            }
            Taking::IfOk => line!(self, "if let Ok({keep}g{lock}) = {take} {{"),
            Taking::Try => line!(
                self,
                "if let Ok({keep}g{lock}) = s.l{lock}.try_{method}() {{"
            ),
        }
        self.all(body);
        self.otherwise(otherwise);
    }
}

#[derive(Clone, Copy)]
enum Access {
    Get,
    Set,
    Add,
}

/// A block can't begin a condition's left side.
fn in_condition(call: &str) -> String {
    if call.starts_with('{') {
        format!("({call})")
    } else {
        call.to_owned()
    }
}

fn operand(operand: Operand) -> String {
    match operand {
        Operand::Const(value) => value.to_string(),
        Operand::Of(local) => format!("r{local}"),
        Operand::Plus(local, by) => format!("r{local} + {by}"),
    }
}

fn cond(cond: Cond) -> String {
    match cond {
        Cond::Is(local, value) => format!("r{local} == {value}"),
        Cond::Not(local, value) => format!("r{local} != {value}"),
        Cond::AtLeast(local, value) => format!("r{local} >= {value}"),
    }
}
