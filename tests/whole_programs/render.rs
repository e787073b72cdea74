//! Programs as source, in the many ways in which people write the same.

use std::fmt::Write as _;

use super::program::{Cond, Ending, Home, How, LOCALS, Operand, Program, RETURNED, Start, Stmt};

/// What stands at the top of the crate.
pub(crate) const HEAD: &str = "\
#![allow(unused, dead_code)]
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Barrier, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};
use std::thread::{self, Thread};
use std::time::Duration;

/// What is returned by whoever leaves by `?`.
const FAILED: u32 = 4;

pub fn peek(cell: &AtomicU32) -> u32 {
    cell.load(SeqCst)
}

pub fn poke(cell: &AtomicU32, value: u32) {
    cell.store(value, SeqCst);
}

pub fn bump(cell: &AtomicU32, by: u32) -> u32 {
    cell.fetch_add(by, SeqCst)
}

pub fn is(cell: &AtomicU32, value: u32) -> bool {
    cell.load(SeqCst) == value
}

pub fn unless(over: bool) -> Result<(), u32> {
    if over { Err(FAILED) } else { Ok(()) }
}

/// A guard in a struct.
pub struct Held<'a> {
    guard: MutexGuard<'a, u32>,
}

impl Deref for Held<'_> {
    type Target = u32;

    fn deref(&self) -> &u32 {
        &self.guard
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut u32 {
        &mut self.guard
    }
}

/// Adds to what the lock protects when it goes.
pub struct Grows<'a>(&'a Mutex<u32>, u32);

impl Drop for Grows<'_> {
    fn drop(&mut self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *held += self.1;
    }
}

/// Adds to the atomic when it goes.
pub struct Adds<'a>(&'a AtomicU32, u32);

/// What all threads share a handle of.
pub struct Token(&'static AtomicU32);

impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

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

#[path = "stmts.rs"]
mod stmts;

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
        if let Some(cell) = program.local {
            line!(self, "struct Flush(Cell<u32>);");
            line!(self, "impl Drop for Flush {{");
            line!(self, "fn drop(&mut self) {{");
            line!(self, "C{cell}.fetch_add(self.0.get(), SeqCst);");
            line!(self, "}}");
            line!(self, "}}");
            line!(self, "thread_local! {{");
            line!(
                self,
                "static FLUSH: Flush = const {{ Flush(Cell::new(0)) }};"
            );
            line!(self, "}}");
        }
        line!(self, "struct Shared {{");
        if program.condvar {
            line!(self, "cv: Condvar,");
        }
        for (cell, home) in program.cells.iter().enumerate() {
            if *home == Home::Field {
                line!(self, "c{cell}: AtomicU32,");
            }
        }
        for (lock, kind) in program.locks.iter().enumerate() {
            line!(self, "l{lock}: {kind:?}<u32>,");
        }
        if program.barrier.is_some() {
            line!(self, "meeting: Barrier,");
        }
        if program.once {
            line!(self, "once: OnceLock<u32>,");
        }
        if program.parks {
            line!(self, "test: Thread,");
        }
        line!(self, "}}");
        line!(self, "impl Shared {{");
        line!(self, "fn new() -> Self {{");
        line!(self, "Self {{");
        if program.condvar {
            line!(self, "cv: Condvar::new(),");
        }
        for (cell, home) in program.cells.iter().enumerate() {
            if *home == Home::Field {
                line!(self, "c{cell}: AtomicU32::new(0),");
            }
        }
        for (lock, kind) in program.locks.iter().enumerate() {
            line!(self, "l{lock}: {kind:?}::new(0),");
        }
        if let Some(size) = program.barrier {
            line!(self, "meeting: Barrier::new({size}),");
        }
        if program.once {
            line!(self, "once: OnceLock::new(),");
        }
        if program.parks {
            line!(self, "test: thread::current(),");
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
            let parameters = self.handed(thread, |name, ty| format!(", {name}: {ty}"));
            let (generics, s) = match program.start {
                _ if program.parent.is_none() => ("", "s: &Shared"),
                Start::Scope => (
                    "<'scope, 'env>",
                    "scope: &'scope thread::Scope<'scope, 'env>, s: &'scope Shared",
                ),
                Start::Spawn | Start::Builder => ("", "s: &Arc<Shared>"),
            };
            let body = &program.bodies[thread];
            let tries = returns(body, true);
            let returned = if tries {
                format!("Result<[u32; {RETURNED}], u32>")
            } else {
                format!("[u32; {RETURNED}]")
            };
            line!(
                self,
                "fn worker_{thread}{generics}({s}{parameters}) -> {returned} {{"
            );
            self.locals();
            self.all(body);
            line!(self, "{}", if tries { "Ok([r0, r1])" } else { "[r0, r1]" });
            line!(self, "}}");
        }
        self.thread = 0;
        self.test();
        line!(self, "}}");
    }

    /// What the thread is given beside the struct.
    fn handed(&self, thread: usize, show: impl Fn(&str, &str) -> String) -> String {
        let mut all = String::new();
        if self.program.token.is_some() {
            all += &show("token", "Arc<Token>");
        }
        if self.program.weak {
            all += &show("weak", "Weak<Token>");
        }
        if let Some(channel) = &self.program.channel {
            if channel.receiver == thread {
                all += &show("rx", "Receiver<u32>");
            }
            if channel.sends(thread) {
                let ty = match channel.bound {
                    Some(_) => "SyncSender<u32>",
                    None => "Sender<u32>",
                };
                all += &show("tx", ty);
            }
        }
        all
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
            line!(
                self,
                "{}",
                if program.expected {
                    "#[should_panic(expected = \"site\")]"
                } else {
                    "#[should_panic]"
                }
            );
        }
        line!(
            self,
            "fn case(){} {{",
            if program.returns {
                " -> Result<(), String>"
            } else {
                ""
            }
        );
        match program.start {
            Start::Scope => line!(self, "let s = &Shared::new();"),
            Start::Spawn | Start::Builder => line!(self, "let s = Arc::new(Shared::new());"),
        }
        self.locals();
        if program.start == Start::Scope {
            line!(self, "thread::scope(|scope| {{");
        }
        if let Some(cell) = program.token {
            line!(self, "let token = Arc::new(Token(&C{cell}));");
        }
        if program.weak {
            line!(self, "let weak = Arc::downgrade(&token);");
        }
        if let Some(channel) = &program.channel {
            match channel.bound {
                Some(bound) => line!(self, "let (tx, rx) = sync_channel::<u32>({bound});"),
                None => line!(self, "let (tx, rx) = channel::<u32>();"),
            }
            // It goes first.
            line!(self, "let tx = tx;");
        }
        self.all(&program.bodies[0]);
        self.tell();
        if program.returns {
            line!(self, "Ok(())");
        }
        if program.start == Start::Scope {
            line!(self, "{}", if program.returns { "})" } else { "});" });
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
                if program.returns {
                    line!(
                        self,
                        "{one:?} => return Err(\"outcome {number}\".to_owned()),"
                    );
                } else {
                    line!(self, "{one:?} => panic!(\"outcome {number}\"),");
                }
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

/// Whether the body returns early like this.
fn returns(body: &[Stmt], by_try: bool) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Return { tries, .. } => *tries == by_try,
        Stmt::Locked {
            body, otherwise, ..
        } => returns(body, by_try) || returns(otherwise, by_try),
        Stmt::If {
            then, otherwise, ..
        } => returns(then, by_try) || returns(otherwise, by_try),
        Stmt::Repeat { body, .. }
        | Stmt::Scoped { body, .. }
        | Stmt::Growing { body, .. }
        | Stmt::Upgrade { body, .. }
        | Stmt::Wait { body, .. } => returns(body, by_try),
        _ => false,
    })
}
