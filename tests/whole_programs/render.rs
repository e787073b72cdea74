//! Programs as source, in the many ways in which people write the same.

use std::fmt::Write as _;

use super::program::{
    Cond, EMPTY, Ending, HUNG_UP, Home, How, Joining, LOCALS, LockKind, Operand, PANICKED, Pause,
    Program, RETURNED, Receiving, Start, Stmt, Taking, Waiting,
};

/// What stands at the top of the crate.
pub(crate) const HEAD: &str = "\
#![allow(unused, dead_code)]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::cell::Cell;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
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
            line!(
                self,
                "fn worker_{thread}(s: &Shared{parameters}) -> [u32; {RETURNED}] {{"
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

    /// What the thread is given beside the struct.
    fn handed(&self, thread: usize, show: impl Fn(&str, &str) -> String) -> String {
        let mut all = String::new();
        if self.program.token.is_some() {
            all += &show("token", "Arc<Token>");
        }
        if let Some(channel) = &self.program.channel {
            if channel.receiver == thread {
                all += &show("rx", "Receiver<u32>");
            }
            if channel.sends(thread) {
                all += &show("tx", "Sender<u32>");
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
        if let Some(cell) = program.token {
            line!(self, "let token = Arc::new(Token(&C{cell}));");
        }
        if program.channel.is_some() {
            line!(self, "let (tx, rx) = channel::<u32>();");
            // It goes first.
            line!(self, "let tx = tx;");
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
            Stmt::CountTokens { to } => {
                line!(
                    self,
                    "r{to} = u32::try_from(Arc::strong_count(&token)).unwrap();"
                );
            }
            Stmt::DropToken => line!(self, "drop(token);"),
            Stmt::UnwrapToken { to, tries: false } => {
                line!(self, "r{to} = u32::from(Arc::into_inner(token).is_some());");
            }
            Stmt::UnwrapToken { to, tries: true } => {
                line!(self, "r{to} = match Arc::try_unwrap(token) {{");
                line!(self, "Ok(_) => 1,");
                line!(self, "Err(_) => 0,");
                line!(self, "}};");
            }
            Stmt::Send { to, value } => {
                line!(
                    self,
                    "r{to} = u32::from(tx.send({}).is_ok());",
                    operand(value)
                );
            }
            Stmt::Receive { to, how } => self.receive(to, how),
            Stmt::DropSender => line!(self, "drop(tx);"),
            Stmt::Touch { by } => {
                line!(
                    self,
                    "FLUSH.with(|flush| flush.0.set(flush.0.get() + {by}));"
                );
            }
            Stmt::Wait { is, how, ref body } => {
                line!(self, "{{");
                line!(self, "let mut g0 = s.l0.lock().unwrap();");
                match how {
                    Waiting::While => {
                        line!(
                            self,
                            "let mut g0 = s.cv.wait_while(g0, |it| *it != {is}).unwrap();"
                        );
                    }
                    Waiting::Loop => {
                        line!(self, "while *g0 != {is} {{");
                        line!(self, "g0 = s.cv.wait(g0).unwrap();");
                        line!(self, "}}");
                    }
                    Waiting::Once => {
                        line!(self, "if *g0 != {is} {{");
                        line!(self, "g0 = s.cv.wait(g0).unwrap();");
                        line!(self, "}}");
                    }
                    Waiting::Timeout => {
                        line!(self, "if *g0 != {is} {{");
                        line!(self, "let limit = Duration::from_millis(5);");
                        line!(self, "g0 = s.cv.wait_timeout(g0, limit).unwrap().0;");
                        line!(self, "}}");
                    }
                }
                self.all(body);
                line!(self, "}}");
            }
            Stmt::Notify { all: true } => line!(self, "s.cv.notify_all();"),
            Stmt::Notify { all: false } => line!(self, "s.cv.notify_one();"),
            Stmt::Finished { to, thread } => {
                line!(self, "r{to} = u32::from(t{thread}.is_finished());");
            }
            Stmt::AwaitFinished {
                thread,
                pause: between,
            } => {
                line!(self, "while !t{thread}.is_finished() {{");
                self.pause(between);
                line!(self, "}}");
            }
            Stmt::Spawn { thread } => self.spawn(thread),
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

    fn spawn(&mut self, thread: usize) {
        let arguments = self.handed(thread, |name, _| format!(", {name}"));
        line!(self, "let t{thread} = {{");
        if self.program.token.is_some() {
            line!(self, "let token = Arc::clone(&token);");
        }
        if self
            .program
            .channel
            .as_ref()
            .is_some_and(|it| it.sends(thread))
        {
            line!(self, "let tx = tx.clone();");
        }
        match self.program.start {
            Start::Scope => {
                line!(self, "scope.spawn(move || worker_{thread}(s{arguments}))");
            }
            Start::Spawn => {
                line!(self, "let s = Arc::clone(&s);");
                line!(
                    self,
                    "thread::spawn(move || worker_{thread}(&s{arguments}))"
                );
            }
            Start::Builder => {
                line!(self, "let theirs = s.clone();");
                line!(
                    self,
                    "let named = thread::Builder::new().name(\"w{thread}\".into());"
                );
                line!(
                    self,
                    "let work = move || worker_{thread}(&theirs{arguments});"
                );
                line!(self, "named.spawn(work).unwrap()");
            }
        }
        line!(self, "}};");
    }

    fn receive(&mut self, to: u8, how: Receiving) {
        match how {
            Receiving::Recv => line!(self, "r{to} = rx.recv().unwrap_or({HUNG_UP});"),
            Receiving::Try => {
                line!(self, "r{to} = match rx.try_recv() {{");
                line!(self, "Ok(value) => value,");
                line!(self, "Err(TryRecvError::Empty) => {EMPTY},");
                line!(self, "Err(TryRecvError::Disconnected) => {HUNG_UP},");
                line!(self, "}};");
            }
            Receiving::Timeout => {
                line!(
                    self,
                    "r{to} = match rx.recv_timeout(Duration::from_millis(5)) {{"
                );
                line!(self, "Ok(value) => value,");
                line!(self, "Err(RecvTimeoutError::Timeout) => {EMPTY},");
                line!(self, "Err(RecvTimeoutError::Disconnected) => {HUNG_UP},");
                line!(self, "}};");
            }
            Receiving::Polls(pause) => {
                line!(self, "r{to} = loop {{");
                line!(self, "match rx.try_recv() {{");
                line!(self, "Ok(value) => break value,");
                line!(self, "Err(TryRecvError::Disconnected) => break {HUNG_UP},");
                line!(self, "Err(TryRecvError::Empty) => {{}}");
                line!(self, "}}");
                self.pause(pause);
                line!(self, "}};");
            }
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
