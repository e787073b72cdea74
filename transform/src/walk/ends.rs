//! Whether a loop may be left in a turn in which something has happened without a reason.
//!
//! A turn that comes to nothing and goes round could as well not have been: the thread would have come to the loop later.
//! But where a weak exchange has failed, or a wait has ended, and the loop is left in the same turn, or something is claimed
//! there, that turn can't be thought away. This follows a turn on all its ways, and knows on which of them an exchange has
//! succeeded, as far as a condition or a pattern says so.
//!
//! Nor can a turn be thought away whose outcome is kept in a variable from outside of the loop, if the loop may be left by a
//! way on which no exchange has succeeded.

use std::collections::{HashMap, HashSet};

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, Label, Local, Macro, Member, Pat, Stmt, UnOp};

use crate::resolve::{bound_names, name};

/// Whether a turn of this loop in which something has happened without a reason may be its last one, or may be told of after
/// the loop.
pub(super) fn gives_up(looped: &Expr) -> bool {
    let mut turn = Turn::default();
    // What a variable says of an earlier turn is known when the turn is followed again.
    turn.follow(looped);
    (turn.now, turn.found, turn.leaves_early) = Default::default();
    turn.follow(looped);
    turn.found || turn.keeps && turn.leaves_early
}

/// What is known where a turn has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Now {
    /// Nothing could have happened without a reason in this turn.
    #[default]
    Nothing,
    /// The exchange has succeeded.
    Succeeded,
    /// An exchange may have failed, or a wait ended, without a reason.
    MayHaveHappened,
    /// The turn goes no further on this way.
    Over,
}

impl Now {
    /// What is known after either of two ways.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Over, it) | (it, Self::Over) => it,
            (Self::MayHaveHappened, _) | (_, Self::MayHaveHappened) => Self::MayHaveHappened,
            (Self::Succeeded, Self::Succeeded) => Self::Succeeded,
            // One way has come to what it wanted, and the other one has not tried.
            _ => Self::Nothing,
        }
    }
}

/// What the value of an expression says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// It is an exchange's result.
    Exchange,
    /// It is the result of a wait with a limit: the guard, and whether the time was up.
    Wait,
    /// It is true where the exchange has succeeded.
    Success,
    /// It is true where the exchange has failed.
    Failure,
    /// It is true where the time was up, and then the wait has not ended without a reason.
    TimedOut,
}

/// What is known where a condition holds, and where it does not.
#[derive(Clone, Copy, Debug)]
struct Ways {
    holds: Now,
    fails: Now,
}

#[derive(Default)]
struct Turn {
    now: Now,
    /// What variables say of what has happened in this turn, or in an earlier one.
    says: HashMap<String, Says>,
    /// The variables that are made in the turn.
    inside: HashSet<String>,
    /// The inner loops and closures around the place, and the labels there.
    loops: u32,
    closures: u32,
    labels: Vec<String>,
    /// Whether an outcome is kept outside of the loop.
    keeps: bool,
    /// Whether the loop may be left where no exchange has succeeded in this turn.
    leaves_early: bool,
    found: bool,
}

impl Turn {
    fn follow(&mut self, looped: &Expr) {
        match looped {
            Expr::While(it) => {
                let ways = self.condition(&it.cond);
                self.leave(ways.fails);
                self.now = ways.holds;
                self.visit_block(&it.body);
            }
            Expr::Loop(it) => self.visit_block(&it.body),
            _ => {}
        }
    }

    /// Notes that the loop is left, if it is.
    fn leave(&mut self, now: Now) {
        match now {
            Now::MayHaveHappened => self.found = true,
            Now::Nothing => self.leaves_early = true,
            Now::Succeeded | Now::Over => {}
        }
    }

    fn happens(&mut self) {
        if self.now != Now::Over {
            self.now = Now::MayHaveHappened;
        }
    }

    /// Returns what the value of this expression says, if it says anything.
    fn says(&self, expr: &Expr) -> Option<Says> {
        match expr {
            Expr::Paren(it) => self.says(&it.expr),
            Expr::Group(it) => self.says(&it.expr),
            Expr::Reference(it) => self.says(&it.expr),
            Expr::Unary(it) if matches!(it.op, UnOp::Not(_)) => match self.says(&it.expr)? {
                Says::Success => Some(Says::Failure),
                Says::Failure => Some(Says::Success),
                _ => None,
            },
            Expr::Path(it) => self.says.get(&name(it.path.get_ident()?)).copied(),
            Expr::Call(it) => match &*it.func {
                Expr::Path(path) => of_call(&name(&path.path.segments.last()?.ident)),
                _ => None,
            },
            Expr::Field(it) => match (&it.member, self.says(&it.base)?) {
                // The guard says nothing of the wait.
                (Member::Unnamed(at), Says::Wait) => (at.index == 1).then_some(Says::Wait),
                _ => None,
            },
            Expr::MethodCall(it) => {
                let method = name(&it.method);
                if let Some(says) = of_method(&method, it.args.len()) {
                    return Some(says);
                }
                match (self.says(&it.receiver)?, method.as_str()) {
                    (Says::Exchange, "is_ok") => Some(Says::Success),
                    (Says::Exchange, "is_err") => Some(Says::Failure),
                    (Says::Wait, "timed_out") => Some(Says::TimedOut),
                    (
                        says @ (Says::Exchange | Says::Wait),
                        "unwrap" | "expect" | "map_err" | "as_ref" | "unwrap_or_else" | "clone",
                    ) => Some(says),
                    _ => None,
                }
            }
            Expr::Binary(it) => {
                let exchange = self.says(&it.left) == Some(Says::Exchange)
                    || self.says(&it.right) == Some(Says::Exchange);
                let is_ok = |of: &Expr| matches!(of, Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Ok")));
                let with_ok = is_ok(&it.left) || is_ok(&it.right);
                match it.op {
                    syn::BinOp::Eq(_) if exchange && with_ok => Some(Says::Success),
                    syn::BinOp::Ne(_) if exchange && with_ok => Some(Says::Failure),
                    _ => None,
                }
            }
            Expr::Let(it) => {
                (self.says(&it.expr)? == Says::Exchange).then_some(())?;
                match variant(&it.pat).as_deref() {
                    Some("Ok") => Some(Says::Success),
                    Some("Err") => Some(Says::Failure),
                    _ => None,
                }
            }
            Expr::Macro(it) if it.mac.path.is_ident("matches") => {
                let text = it.mac.tokens.to_string();
                let is_exchange = text.contains("compare_exchange_weak");
                let pattern = text.rsplit(',').find(|part| !part.trim().is_empty())?;
                match pattern.trim() {
                    part if is_exchange && part.starts_with("Ok") => Some(Says::Success),
                    part if is_exchange && part.starts_with("Err") => Some(Says::Failure),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Follows a condition, and returns what is known where it holds and where it does not.
    fn condition(&mut self, cond: &Expr) -> Ways {
        match cond {
            Expr::Paren(it) => return self.condition(&it.expr),
            Expr::Group(it) => return self.condition(&it.expr),
            Expr::Unary(it) if matches!(it.op, UnOp::Not(_)) => {
                let Ways { holds, fails } = self.condition(&it.expr);
                return Ways {
                    holds: fails,
                    fails: holds,
                };
            }
            Expr::Binary(it) => {
                // The right operand is come to where the left one holds, or where it does not.
                let is_and = match it.op {
                    syn::BinOp::And(_) => Some(true),
                    syn::BinOp::Or(_) => Some(false),
                    _ => None,
                };
                if let Some(is_and) = is_and {
                    let left = self.condition(&it.left);
                    self.now = if is_and { left.holds } else { left.fails };
                    let right = self.condition(&it.right);
                    return match is_and {
                        true => Ways {
                            holds: right.holds,
                            fails: left.fails.or(right.fails),
                        },
                        false => Ways {
                            holds: left.holds.or(right.holds),
                            fails: right.fails,
                        },
                    };
                }
            }
            _ => {}
        }
        self.visit_expr(cond);
        let now = self.now;
        let (holds, fails) = match self.says(cond) {
            Some(Says::Success) => (Now::Succeeded, now),
            Some(Says::Failure) => (now, Now::Succeeded),
            Some(Says::TimedOut) => (Now::Succeeded, now),
            _ => (now, now),
        };
        Ways { holds, fails }
    }

    /// Whether this place outlives the turn.
    fn outlives(&self, place: &Expr) -> bool {
        match place {
            Expr::Path(path) => path
                .path
                .get_ident()
                .is_none_or(|only| !self.inside.contains(&name(only))),
            Expr::Field(it) => self.outlives(&it.base),
            Expr::Index(it) => self.outlives(&it.expr),
            Expr::Paren(it) => self.outlives(&it.expr),
            Expr::Infer(_) => false,
            _ => true,
        }
    }

    /// Notes that a variable gets a value.
    fn give(&mut self, place: &Expr, says: Option<Says>) {
        if let (Expr::Tuple(places), Some(Says::Wait)) = (place, says) {
            if let Some(second) = places.elems.iter().nth(1) {
                self.give(second, says);
            }
            return;
        }
        if let Expr::Path(path) = place
            && let Some(only) = path.path.get_ident()
        {
            match says {
                Some(says) => self.says.insert(name(only), says),
                None => self.says.remove(&name(only)),
            };
        }
        // That the time was not up is what a variable says that was never asked.
        let tells = says.is_some_and(|says| says != Says::TimedOut);
        self.keeps |= tells && self.outlives(place);
    }

    fn bind(&mut self, pattern: &Pat, says: Option<Says>) {
        match (pattern, says) {
            (Pat::Type(it), _) => self.bind(&it.pat, says),
            (Pat::Ident(it), _) => {
                let variable = name(&it.ident);
                match says {
                    Some(says) => self.says.insert(variable.clone(), says),
                    None => self.says.remove(&variable),
                };
                self.inside.insert(variable);
            }
            (Pat::Tuple(it), Some(Says::Wait)) => {
                for (at, part) in it.elems.iter().enumerate() {
                    self.bind(part, (at == 1).then_some(Says::Wait));
                }
            }
            _ => {
                for variable in bound_names(pattern).into_keys() {
                    self.says.remove(&variable);
                    self.inside.insert(variable);
                }
            }
        }
    }

    /// Follows a way from what is known at its start, and returns what is known at its end.
    fn way(&mut self, start: Now, inside: impl FnOnce(&mut Self)) -> Now {
        self.now = start;
        inside(self);
        self.now
    }

    fn inner(&mut self, label: &Option<Label>, is_loop: bool, inside: impl FnOnce(&mut Self)) {
        if let Some(label) = label {
            self.labels.push(name(&label.name.ident));
        }
        self.loops += u32::from(is_loop);
        inside(self);
        self.loops -= u32::from(is_loop);
        if label.is_some() {
            self.labels.pop();
        }
    }

    fn macro_call(&mut self, mac: &Macro) {
        let last = mac.path.segments.last().map(|last| name(&last.ident));
        let last = last.as_deref().unwrap_or_default();
        let text = mac.tokens.to_string();
        if text.contains("compare_exchange_weak") {
            self.happens();
        }
        if is_panic(last) {
            self.claim();
            self.now = Now::Over;
        } else if last.starts_with("assert") || last.starts_with("debug_assert") {
            self.claim();
        } else if text
            .split_whitespace()
            .any(|word| matches!(word, "return" | "break" | "?"))
        {
            self.leave(self.now);
        }
    }

    /// Notes that the thread may panic here.
    fn claim(&mut self) {
        self.found |= self.now == Now::MayHaveHappened;
    }
}

impl<'ast> Visit<'ast> for Turn {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::If(it) => {
                let ways = self.condition(&it.cond);
                let then = self.way(ways.holds, |turn| turn.visit_block(&it.then_branch));
                let otherwise = self.way(ways.fails, |turn| {
                    if let Some((_, otherwise)) = &it.else_branch {
                        turn.visit_expr(otherwise);
                    }
                });
                self.now = then.or(otherwise);
            }
            Expr::Match(it) => {
                self.visit_expr(&it.expr);
                let says = self.says(&it.expr);
                let start = self.now;
                let mut end = Now::Over;
                for arm in &it.arms {
                    let succeeded = says == Some(Says::Exchange)
                        && variant(&arm.pat).as_deref() == Some("Ok")
                        || says == Some(Says::Success) && is_bool(&arm.pat, true)
                        || says == Some(Says::Failure) && is_bool(&arm.pat, false);
                    let at = if succeeded { Now::Succeeded } else { start };
                    self.bind(&arm.pat, None);
                    let after = self.way(at, |turn| {
                        if let Pat::Guard(guarded) = &arm.pat {
                            turn.visit_expr(&guarded.guard);
                        }
                        turn.visit_expr(&arm.body);
                    });
                    end = end.or(after);
                }
                self.now = end;
            }
            Expr::Let(it) => {
                self.visit_expr(&it.expr);
                self.bind(&it.pat, None);
            }
            Expr::Assign(it) => {
                self.visit_expr(&it.right);
                let says = self.says(&it.right);
                self.give(&it.left, says);
            }
            Expr::MethodCall(it) => {
                self.visit_expr(&it.receiver);
                self.arguments(it.args.iter());
                self.method(it);
            }
            Expr::Call(it) => {
                self.visit_expr(&it.func);
                // A constructor, and what ends its argument, tell nobody.
                let quiet = matches!(&*it.func, Expr::Path(path) if path.path.segments.last().is_some_and(
                    |last| matches!(name(&last.ident).as_str(), "Some" | "Ok" | "Err" | "drop")
                ));
                match quiet {
                    true => it
                        .args
                        .iter()
                        .for_each(|argument| self.visit_expr(argument)),
                    false => self.arguments(it.args.iter()),
                }
                if let Expr::Path(path) = &*it.func
                    && let Some(last) = path.path.segments.last()
                {
                    match name(&last.ident).as_str() {
                        "compare_exchange_weak" => self.happens(),
                        "park" | "park_timeout" | "park_timeout_ms" => self.happens(),
                        "wait" | "wait_timeout" | "wait_timeout_ms"
                            if path.path.segments.len() > 1 =>
                        {
                            self.happens();
                        }
                        _ => {}
                    }
                }
            }
            Expr::Try(it) => {
                self.visit_expr(&it.expr);
                // A wait fails where the lock is poisoned, whatever has ended it.
                let is_wait = self.says(&it.expr) == Some(Says::Wait) || is_wait(&it.expr);
                if self.closures == 0 && !is_wait {
                    self.leave(self.now);
                }
                if self.says(&it.expr) == Some(Says::Exchange) {
                    self.now = Now::Succeeded;
                }
            }
            Expr::Return(it) => {
                if let Some(of) = &it.expr {
                    self.visit_expr(of);
                }
                if self.closures == 0 {
                    self.leave(self.now);
                    self.now = Now::Over;
                }
            }
            Expr::Break(it) => {
                if let Some(of) = &it.expr {
                    self.visit_expr(of);
                }
                let is_own = match &it.label {
                    None => self.loops == 0,
                    Some(label) => !self.labels.contains(&name(&label.ident)),
                };
                if is_own && self.closures == 0 {
                    self.leave(self.now);
                }
                self.now = Now::Over;
            }
            Expr::Continue(_) => self.now = Now::Over,
            Expr::Block(it) => {
                self.inner(&it.label, false, |turn| turn.visit_block(&it.block));
                if it.label.is_some() && self.now == Now::Over {
                    self.now = Now::MayHaveHappened;
                }
            }
            // What happens in an inner loop is that loop's own.
            Expr::Loop(it) => {
                let before = self.now;
                self.inner(&it.label, true, |turn| turn.visit_block(&it.body));
                self.now = before;
            }
            Expr::While(it) => {
                let before = self.now;
                self.inner(&it.label, true, |turn| {
                    turn.visit_expr(&it.cond);
                    turn.visit_block(&it.body);
                });
                self.now = before;
            }
            Expr::ForLoop(it) => {
                self.visit_expr(&it.expr);
                let before = self.now;
                self.inner(&it.label, true, |turn| {
                    turn.bind(&it.pat, None);
                    turn.visit_block(&it.body);
                });
                self.now = before;
            }
            Expr::Closure(it) => {
                let (before, loops) = (self.now, std::mem::take(&mut self.loops));
                self.closures += 1;
                it.inputs.iter().for_each(|input| self.bind(input, None));
                self.visit_expr(&it.body);
                self.closures -= 1;
                self.loops = loops;
                let happened = self.now == Now::MayHaveHappened;
                self.now = if happened { self.now } else { before };
            }
            Expr::Macro(it) => self.macro_call(&it.mac),
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        match stmt {
            Stmt::Macro(it) => self.macro_call(&it.mac),
            _ => visit::visit_stmt(self, stmt),
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        block.stmts.iter().for_each(|stmt| self.visit_stmt(stmt));
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_local(&mut self, local: &'ast Local) {
        let Some(init) = &local.init else {
            return self.bind(&local.pat, None);
        };
        self.visit_expr(&init.expr);
        let says = self.says(&init.expr);
        if let Some((_, otherwise)) = &init.diverge {
            let start = self.now;
            let of_exchange = says == Some(Says::Exchange);
            let (fits, fails) = match variant(&local.pat).as_deref() {
                Some("Ok") if of_exchange => (Now::Succeeded, start),
                Some("Err") if of_exchange => (start, Now::Succeeded),
                _ => (start, start),
            };
            self.way(fails, |turn| turn.visit_expr(otherwise));
            self.now = fits;
            return self.bind(&local.pat, None);
        }
        self.bind(&local.pat, says);
    }
}

impl Turn {
    /// Looks at arguments: a function that is given an outcome may tell it.
    fn arguments<'a>(&mut self, arguments: impl Iterator<Item = &'a Expr>) {
        for argument in arguments {
            self.visit_expr(argument);
            let says = self.says(argument);
            self.keeps |= says.is_some_and(|says| says != Says::TimedOut);
        }
    }

    fn method(&mut self, call: &ExprMethodCall) {
        let method = name(&call.method);
        match (method.as_str(), call.args.len()) {
            ("compare_exchange_weak", 4) => self.happens(),
            ("wait", 1) | ("wait_timeout" | "wait_timeout_ms", 2) => self.happens(),
            ("unwrap" | "expect", _) if self.says(&call.receiver) == Some(Says::Exchange) => {
                self.claim();
                self.now = Now::Succeeded;
            }
            _ => {}
        }
    }
}

/// Whether this is a wait, or what is made of its result.
fn is_wait(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(it) => {
            matches!((name(&it.method).as_str(), it.args.len()), ("wait", 1))
                || is_wait(&it.receiver)
        }
        _ => false,
    }
}

fn of_call(function: &str) -> Option<Says> {
    match function {
        "compare_exchange_weak" => Some(Says::Exchange),
        "wait_timeout" | "wait_timeout_ms" => Some(Says::Wait),
        _ => None,
    }
}

fn of_method(method: &str, arguments: usize) -> Option<Says> {
    match (method, arguments) {
        ("compare_exchange_weak", 4) => Some(Says::Exchange),
        ("wait_timeout" | "wait_timeout_ms", 2) => Some(Says::Wait),
        _ => None,
    }
}

/// Returns the last name of a pattern such as `Err(now)`.
fn variant(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::TupleStruct(it) => it.path.segments.last().map(|last| name(&last.ident)),
        Pat::Paren(it) => variant(&it.pat),
        Pat::Guard(it) => variant(&it.pat),
        Pat::Reference(it) => variant(&it.pat),
        _ => None,
    }
}

fn is_bool(pattern: &Pat, value: bool) -> bool {
    matches!(pattern, Pat::Lit(it) if matches!(&it.lit, syn::Lit::Bool(it) if it.value == value))
}

fn is_panic(last: &str) -> bool {
    matches!(last, "panic" | "unreachable" | "todo" | "unimplemented")
}
