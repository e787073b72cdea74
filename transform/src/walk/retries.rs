//! Whether a loop merely tries again: a turn that has come to nothing leaves nothing behind but what the next turn starts
//! from.
//!
//! A loop that counts its turns, or notes that one has failed, can end otherwise for a turn more: `while tries < 3 { tries
//! += 1; … }` gives up. So an outcome without a reason makes a difference there, as it does in a `for`. A number that only
//! says how long the loop pauses makes none. Values that are handed on are no note: `Err(now) => seen = now`.
//!
//! Nor does a loop merely try again that ends with a turn that has come to nothing, or panics there.

use std::collections::HashSet;

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, Macro, Pat, Stmt, UnOp};

use crate::lasting::{is_assignment, is_number_method};
use crate::resolve::{bound_names, name};

/// Whether a turn of this loop that has come to nothing leaves a note behind. `paces` are the variables that only say
/// how long the loop pauses.
pub(super) fn keeps_count(looped: &Expr, paces: &HashSet<String>) -> bool {
    let mut notes = Notes {
        paces,
        inside: HashSet::new(),
        found: false,
    };
    match looped {
        Expr::While(it) => {
            notes.visit_expr(&it.cond);
            visit::visit_block(&mut notes, &it.body);
        }
        Expr::Loop(it) => visit::visit_block(&mut notes, &it.body),
        _ => {}
    }
    notes.found
}

/// Whether a turn of this loop in which something has happened without a reason may be its last one: where a weak exchange
/// has failed, the loop is left, or the thread panics; or where a wait has ended, something is claimed.
pub(super) fn gives_up(looped: &Expr) -> bool {
    let body = match looped {
        Expr::While(it) => &it.body,
        Expr::Loop(it) => &it.body,
        _ => return false,
    };
    let mut found = Calls::default();
    found.visit_expr(looped);
    if !(found.weak || found.waits) {
        return false;
    }
    // There is no second turn.
    let is_once = leaves(body) || body.stmts.last().is_some_and(panics);
    let mut ends = GivesUp {
        claims: found.waits,
        found: is_once,
    };
    match looped {
        Expr::While(it) => {
            ends.visit_expr(&it.cond);
            visit::visit_block(&mut ends, body);
        }
        _ => visit::visit_block(&mut ends, body),
    }
    ends.found
}

/// Looks for calls that may have an outcome without a reason.
#[derive(Default)]
struct Calls {
    weak: bool,
    waits: bool,
}

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        match (name(&call.method).as_str(), call.args.len()) {
            ("compare_exchange_weak", 4) => self.weak = true,
            ("wait", 1) | ("wait_timeout" | "wait_timeout_ms", 2) => self.waits = true,
            _ => {}
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        match path
            .segments
            .last()
            .map(|last| name(&last.ident))
            .as_deref()
        {
            Some("compare_exchange_weak") => self.weak = true,
            Some("park" | "park_timeout" | "wait" | "wait_timeout") => self.waits = true,
            _ => {}
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.weak |= names_exchange(mac);
    }
}

/// Whether the text of a macro's call names a weak exchange.
fn names_exchange(mac: &Macro) -> bool {
    mac.tokens.to_string().contains("compare_exchange_weak")
}

/// Whether there is a weak exchange in this expression.
fn exchanges(expr: &Expr) -> bool {
    let mut calls = Calls::default();
    calls.visit_expr(expr);
    calls.weak
}

/// Whether what is said of an exchange, as `x.is_err()`, says that it has failed (`Some(true)`), or that it has not.
fn says_failed(cond: &Expr) -> Option<bool> {
    match cond {
        Expr::Unary(it) if matches!(it.op, UnOp::Not(_)) => says_failed(&it.expr).map(|it| !it),
        Expr::Paren(it) => says_failed(&it.expr),
        Expr::Binary(it) => says_failed(&it.left).or_else(|| says_failed(&it.right)),
        Expr::MethodCall(it) if exchanges(&it.receiver) => match name(&it.method).as_str() {
            "is_err" => Some(true),
            "is_ok" => Some(false),
            _ => None,
        },
        Expr::Let(it) if exchanges(&it.expr) => is_variant(&it.pat, "Err")
            .then_some(true)
            .or_else(|| is_variant(&it.pat, "Ok").then_some(false)),
        _ => None,
    }
}

fn is_variant(pat: &Pat, variant: &str) -> bool {
    match pat {
        Pat::TupleStruct(it) => it
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == variant),
        _ => false,
    }
}

/// Whether a branch ends by leaving the loop, or by a panic.
fn ends(branch: &Expr) -> bool {
    match branch {
        Expr::Return(_) | Expr::Break(_) => true,
        Expr::Block(it) => leaves(&it.block) || it.block.stmts.last().is_some_and(panics),
        Expr::Macro(it) => is_panic(&it.mac),
        _ => false,
    }
}

fn panics(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Macro(it) => is_panic(&it.mac),
        Stmt::Expr(Expr::Macro(it), _) => is_panic(&it.mac),
        _ => false,
    }
}

fn is_panic(mac: &Macro) -> bool {
    let last = mac.path.segments.last().map(|last| name(&last.ident));
    matches!(
        last.as_deref(),
        Some("panic" | "unreachable" | "todo" | "unimplemented")
    )
}

/// Looks for a turn that is the last one though it has come to nothing.
struct GivesUp {
    /// Whether any claim is one about a wait that has ended.
    claims: bool,
    found: bool,
}

impl<'ast> Visit<'ast> for GivesUp {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        self.found |= match expr {
            Expr::If(it) => match says_failed(&it.cond) {
                Some(true) => ends(&Expr::Block(syn::ExprBlock {
                    attrs: Vec::new(),
                    label: None,
                    block: it.then_branch.clone(),
                })),
                Some(false) => it
                    .else_branch
                    .as_ref()
                    .is_some_and(|(_, other)| ends(other)),
                None => false,
            },
            Expr::Match(it) if exchanges(&it.expr) => {
                let failed = it.arms.iter().filter(|arm| !is_variant(&arm.pat, "Ok"));
                failed.into_iter().any(|arm| ends(&arm.body))
            }
            Expr::MethodCall(it) => {
                matches!(name(&it.method).as_str(), "unwrap" | "expect") && exchanges(&it.receiver)
            }
            Expr::Try(it) => exchanges(&it.expr),
            // The loop ends with the exchange, whatever comes of it.
            Expr::Return(syn::ExprReturn { expr: Some(of), .. })
            | Expr::Break(syn::ExprBreak { expr: Some(of), .. }) => exchanges(of),
            _ => false,
        };
        visit::visit_expr(self, expr);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init
            && exchanges(&init.expr)
            && let Some((_, other)) = &init.diverge
        {
            self.found |= ends(other);
        }
        visit::visit_local(self, local);
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        let last = mac.path.segments.last().map(|last| name(&last.ident));
        let claims = is_panic(mac)
            || last
                .is_some_and(|last| last.starts_with("assert") || last.starts_with("debug_assert"));
        self.found |= claims && (self.claims || names_exchange(mac));
    }
}

/// Looks for what a turn leaves behind.
struct Notes<'a> {
    paces: &'a HashSet<String>,
    /// The variables that are made in the turn.
    inside: HashSet<String>,
    found: bool,
}

impl Notes<'_> {
    /// Whether this place outlives the turn, and is more than the length of a pause.
    fn outlives(&self, place: &Expr) -> bool {
        match place {
            Expr::Path(path) => path.path.get_ident().is_none_or(|only| {
                let only = name(only);
                !self.inside.contains(&only) && !self.paces.contains(&only)
            }),
            Expr::Field(it) => self.outlives(&it.base),
            Expr::Index(it) => self.outlives(&it.expr),
            Expr::Paren(it) => self.outlives(&it.expr),
            Expr::Reference(it) => self.outlives(&it.expr),
            // What a reference or a guard leads to is not the turn's own.
            Expr::Unary(it) => matches!(it.op, UnOp::Deref(_)),
            _ => true,
        }
    }

    /// Whether a value is a note by itself: it says that a turn has been, or is made from what was there before.
    fn is_note(value: &Expr) -> bool {
        match value {
            Expr::Lit(_) | Expr::Binary(_) => true,
            Expr::Unary(it) => Self::is_note(&it.expr),
            Expr::Paren(it) => Self::is_note(&it.expr),
            Expr::MethodCall(it) => is_number_method(&name(&it.method)),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Notes<'_> {
    fn visit_block(&mut self, block: &'ast Block) {
        // No turn follows the end of such a block.
        if !leaves(block) {
            visit::visit_block(self, block);
        }
    }

    fn visit_pat(&mut self, pat: &'ast Pat) {
        self.inside.extend(bound_names(pat).into_keys());
        visit::visit_pat(self, pat);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Binary(it) if is_assignment(&it.op) => self.found |= self.outlives(&it.left),
            Expr::Assign(it) if Self::is_note(&it.right) => self.found |= self.outlives(&it.left),
            Expr::MethodCall(it) if notes(it) => self.found |= self.outlives(&it.receiver),
            // What is returned, or broken off with, ends the loop.
            Expr::Return(_) | Expr::Break(_) => return,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

/// Whether a call of this method notes something in its object, or takes something out of it.
fn notes(call: &ExprMethodCall) -> bool {
    match name(&call.method).as_str() {
        "fetch_add" | "fetch_sub" | "push" | "push_back" | "push_front" | "push_str" | "insert"
        | "extend" => true,
        "pop" | "pop_back" | "pop_front" | "next" => call.args.is_empty(),
        _ => false,
    }
}

/// Whether a block ends by leaving the loop, on all ways through it.
fn leaves(block: &Block) -> bool {
    struct Continues(bool);
    impl<'ast> Visit<'ast> for Continues {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.0 |= matches!(expr, Expr::Continue(_));
            visit::visit_expr(self, expr);
        }
    }
    let last = match block.stmts.last() {
        Some(Stmt::Expr(last, _)) => last,
        _ => return false,
    };
    let mut continues = Continues(false);
    continues.visit_block(block);
    matches!(last, Expr::Return(_) | Expr::Break(_)) && !continues.0
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{gives_up, keeps_count};

    fn parsed(looped: &str) -> syn::Expr {
        syn::parse_str(looped).unwrap_or_else(|error| panic!("{looped}: {error}"))
    }

    fn counts(looped: &str) -> bool {
        let looped = parsed(looped);
        keeps_count(&looped, &HashSet::from(["pause".to_owned()])) || gives_up(&looped)
    }

    #[test]
    fn a_turn_that_has_come_to_nothing_may_be_the_last() {
        for looped in [
            "loop { if x.compare_exchange_weak(0, 1, o, o).is_err() { panic!() } break; }",
            "loop { if x.compare_exchange_weak(0, 1, o, o).is_ok() { f(); } break; }",
            "loop { if f() { if x.compare_exchange_weak(0, 1, o, o).is_ok() { return 1; } else { return 2; } } }",
            "loop { match x.compare_exchange_weak(0, 1, o, o) { Ok(_) => continue, Err(_) => return } }",
            "loop { match x.compare_exchange_weak(0, 1, o, o) { Ok(v) => v, Err(_) => unreachable!() }; }",
            "loop { let Ok(v) = x.compare_exchange_weak(0, 1, o, o) else { break }; f(v); }",
            "while f() { x.compare_exchange_weak(0, 1, o, o).unwrap(); }",
            "while f() { x.compare_exchange_weak(0, 1, o, o)?; }",
            "while f() { assert!(x.compare_exchange_weak(0, 1, o, o).is_ok()); }",
            "loop { let v = x.load(o); if v == 2 { return false; } return x.compare_exchange_weak(v, 1, o, o).is_ok(); }",
            "loop { if !x.compare_exchange_weak(0, 1, o, o).is_ok() { return; } }",
            "loop { if let Err(v) = x.compare_exchange_weak(0, 1, o, o) { return v; } }",
            "loop { queue = ready.wait(queue).unwrap(); break; }",
            "loop { queue = ready.wait(queue).unwrap(); assert!(!queue.is_empty()); if queue.len() > 1 { break; } }",
            "loop { thread::park(); if !x.load(o) { panic!() } }",
        ] {
            assert!(counts(looped), "{looped}");
        }
    }

    #[test]
    fn turns_are_counted_or_noted() {
        for looped in [
            "while tries < 3 && x.compare_exchange_weak(0, 1, o, o).is_err() { tries += 1; }",
            "loop { if x.compare_exchange_weak(0, 1, o, o).is_ok() { break; } tries = tries + 1; if tries == 3 { return; } }",
            "loop { match f() { Ok(_) => return, Err(_) => self.lost += 1 } }",
            "loop { match f() { Ok(_) => return, Err(_) => { failed = true; } } }",
            "while f().is_err() { *count.lock().unwrap() += 1; }",
            "while f().is_err() { LOST.fetch_add(1, o); }",
            "while f().is_err() { log.push(1); }",
            "while let Some(_) = jobs.next() { f(); }",
            "while left > 0 { if f().is_ok() { break; } left = left.saturating_sub(1); }",
            "loop { n += 1; if f().is_err() { continue; } break; }",
        ] {
            assert!(counts(looped), "{looped}");
        }
    }

    #[test]
    fn a_loop_merely_tries_again() {
        for looped in [
            "while x.compare_exchange_weak(0, 1, o, o).is_err() {}",
            "while let Err(now) = x.compare_exchange_weak(seen, seen + 1, o, o) { seen = now; }",
            "loop { match x.compare_exchange_weak(seen, seen + 1, o, o) { Ok(_) => break, Err(now) => seen = now } }",
            "loop { if f().is_ok() { done += 1; return done; } }",
            "loop { let mut next = x.load(o); next += 1; if x.compare_exchange_weak(next - 1, next, o, o).is_ok() { break next; } }",
            "loop { if f().is_ok() { break; } pause += 1; spin(pause); }",
            "while queue.is_empty() { queue = ready.wait(queue).unwrap(); }",
            "loop { let head = self.head.load(o); node.next = head; if self.head.compare_exchange_weak(head, node, o, o).is_ok() { return; } }",
        ] {
            assert!(!counts(looped), "{looped}");
        }
    }
}
