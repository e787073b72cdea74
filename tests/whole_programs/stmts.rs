//! Statements as source.

use super::{Access, Writer, cond, in_condition, operand};
use crate::program::{
    EMPTY, Form, HUNG_UP, Joining, LockKind, LockedForm, PANICKED, Parking, Pause, RETURNED,
    Receiving, Start, Stmt, Taking, UNSET, Waiting,
};

impl Writer<'_> {
    pub(super) fn all(&mut self, stmts: &[Stmt]) {
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
                wrapped,
                ref body,
                ref otherwise,
            } => {
                self.locked((lock, writes, wrapped), taking, body, otherwise);
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
                pause,
                how,
                form,
            } => {
                let call = self.access(how, cell, Access::Get, "");
                let place = self.cell(cell, "s");
                match form {
                    Form::While => {
                        line!(self, "while {} != {is} {{", in_condition(&call));
                        self.pause(pause);
                        line!(self, "}}");
                    }
                    Form::Loop => {
                        line!(self, "loop {{");
                        line!(self, "if {} == {is} {{", in_condition(&call));
                        line!(self, "break;");
                        line!(self, "}}");
                        self.pause(pause);
                        line!(self, "}}");
                    }
                    Form::Closure => {
                        line!(self, "{{");
                        line!(self, "let ready = || {place}.load(SeqCst) == {is};");
                        line!(self, "while !ready() {{");
                        self.pause(pause);
                        line!(self, "}}");
                        line!(self, "}}");
                    }
                    Form::Function => {
                        line!(self, "while !is(&{place}, {is}) {{");
                        self.pause(pause);
                        line!(self, "}}");
                    }
                    Form::Find => line!(
                        self,
                        "std::iter::repeat_with(|| {place}.load(SeqCst)).find(|it| *it == {is});"
                    ),
                }
            }
            Stmt::AwaitLocked {
                lock,
                is,
                pause,
                form,
            } => match form {
                LockedForm::While => {
                    line!(self, "while *s.l{lock}.lock().unwrap() != {is} {{");
                    self.pause(pause);
                    line!(self, "}}");
                }
                LockedForm::Loop => {
                    line!(self, "loop {{");
                    line!(self, "let held = s.l{lock}.lock().unwrap();");
                    line!(self, "if *held == {is} {{");
                    line!(self, "break;");
                    line!(self, "}}");
                    line!(self, "drop(held);");
                    self.pause(pause);
                    line!(self, "}}");
                }
                LockedForm::Try => {
                    line!(self, "loop {{");
                    line!(self, "if let Ok(held) = s.l{lock}.try_lock() {{");
                    line!(self, "if *held == {is} {{");
                    line!(self, "break;");
                    line!(self, "}}");
                    line!(self, "}}");
                    self.pause(pause);
                    line!(self, "}}");
                }
            },
            Stmt::Return { cond: when, tries } => {
                if tries {
                    line!(self, "unless({})?;", cond(when));
                } else {
                    line!(self, "if {} {{", cond(when));
                    let early = if super::returns(&self.program.bodies[self.thread], true) {
                        "Ok([r0, r1])"
                    } else {
                        "[r0, r1]"
                    };
                    line!(self, "return {early};");
                    line!(self, "}}");
                }
            }
            Stmt::Growing { lock, by, ref body } => {
                line!(self, "{{");
                line!(self, "let _grows = Grows(&s.l{lock}, {by});");
                self.all(body);
                line!(self, "}}");
            }
            Stmt::Upgrade { to, ref body } => {
                line!(self, "r{to} = if let Some(_strong) = weak.upgrade() {{");
                self.all(body);
                line!(self, "1");
                line!(self, "}} else {{");
                line!(self, "0");
                line!(self, "}};");
            }
            Stmt::Meet { to } => {
                line!(self, "r{to} = u32::from(s.meeting.wait().is_leader());");
            }
            Stmt::Init {
                to,
                value,
                ref body,
            } => {
                line!(self, "r{to} = *s.once.get_or_init(|| {{");
                self.all(body);
                line!(self, "{}", operand(value));
                line!(self, "}});");
            }
            Stmt::Peek { to } => {
                line!(self, "r{to} = s.once.get().copied().unwrap_or({UNSET});");
            }
            Stmt::Park(Parking::Once) => line!(self, "thread::park();"),
            Stmt::Park(Parking::Timeout) => {
                line!(self, "thread::park_timeout(Duration::from_millis(5));");
            }
            Stmt::Park(Parking::Until(cell, is)) => {
                let place = self.cell(cell, "s");
                line!(self, "while {place}.load(SeqCst) != {is} {{");
                line!(self, "thread::park();");
                line!(self, "}}");
            }
            Stmt::Unpark { thread: 0 } => line!(self, "s.test.unpark();"),
            Stmt::Unpark { thread } => line!(self, "t{thread}.thread().unpark();"),
            Stmt::Panic { site } => line!(self, "panic!(\"site {site}\");"),
            Stmt::Assert { cond: holds, site } => {
                line!(self, "assert!({}, \"site {site}\");", cond(holds));
            }
            Stmt::Catch {
                to,
                resumes,
                ref body,
            } => {
                line!(self, "let caught = catch_unwind(AssertUnwindSafe(|| {{");
                self.all(body);
                line!(self, "}}));");
                line!(self, "r{to} = u32::from(caught.is_err());");
                if resumes {
                    line!(self, "if let Err(panic) = caught {{");
                    line!(self, "resume_unwind(panic);");
                    line!(self, "}}");
                }
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
            Stmt::Join { thread, how } => {
                let joined = match how {
                    Joining::Unwrap => format!("t{thread}.join().unwrap()"),
                    Joining::Handle => {
                        format!("t{thread}.join().unwrap_or([{PANICKED}; {RETURNED}])")
                    }
                };
                if self.thread == 0 {
                    line!(self, "let v{thread} = {joined};");
                } else {
                    line!(self, "r1 = {joined}[0];");
                }
            }
            Stmt::Detach { thread } => line!(self, "drop(t{thread});"),
        }
    }

    fn spawn(&mut self, thread: usize) {
        let arguments = self.handed(thread, |name, _| format!(", {name}"));
        let program = self.program;
        // What a thread returns by `?` is what its handle gives.
        let given = if super::returns(&program.bodies[thread], true) {
            ".unwrap_or_else(|it| [it; 2])"
        } else {
            ""
        };
        let scope = match program.parent {
            Some(_) if program.start == Start::Scope => "scope, ",
            _ => "",
        };
        line!(self, "let t{thread} = {{");
        if self.program.token.is_some() {
            line!(self, "let token = Arc::clone(&token);");
        }
        if self.program.weak {
            line!(self, "let weak = Weak::clone(&weak);");
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
                line!(
                    self,
                    "scope.spawn(move || worker_{thread}({scope}s{arguments}){given})"
                );
            }
            Start::Spawn => {
                line!(self, "let s = Arc::clone(&s);");
                line!(
                    self,
                    "thread::spawn(move || worker_{thread}(&s{arguments}){given})"
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
                    "let work = move || worker_{thread}(&theirs{arguments}){given};"
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
        (lock, writes, wrapped): (usize, bool, bool),
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
                if wrapped {
                    line!(
                        self,
                        "let {keep}g{lock} = Held {{ guard: {take}.unwrap() }};"
                    );
                } else {
                    line!(self, "let {keep}g{lock} = {take}.unwrap();");
                }
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
