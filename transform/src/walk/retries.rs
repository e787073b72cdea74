//! Whether a loop merely tries again: a turn that has come to nothing leaves nothing behind but what the next turn starts
//! from.
//!
//! A loop that counts its turns, or notes that one has failed, can end otherwise for a turn more: `while tries < 3 { tries
//! += 1; … }` gives up. So an outcome without a reason makes a difference there, as it does in a `for`. A number that only
//! says how long the loop pauses makes none. Values that are handed on are no note: `Err(now) => seen = now`.
//!
//! Nor does a loop merely try again that ends with a turn that has come to nothing: see [`super::ends`].

use std::collections::HashSet;

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, Pat, Stmt, UnOp};

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

    /// Notes that a call is given these arguments: it may write to what it can change.
    fn lend<'a>(&mut self, mut arguments: impl Iterator<Item = &'a Expr>) {
        self.found |= arguments.any(|argument| {
            matches!(argument, Expr::Reference(it) if it.mutability.is_some() && self.outlives(&it.expr))
        });
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
            // Some condition variables give a guard back in its place.
            Expr::MethodCall(it) if name(&it.method).starts_with("wait") => {}
            Expr::MethodCall(it) => self.lend(it.args.iter()),
            Expr::Call(it) => self.lend(it.args.iter()),
            // What is returned, or broken off with, ends the loop.
            Expr::Return(_) | Expr::Break(_) => return,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let last = mac.path.segments.last().map(|last| name(&last.ident));
        let last = last.unwrap_or_default();
        let is_claim = last.starts_with("assert") || last.starts_with("debug_assert");
        // Another macro may do anything.
        self.found |= !is_claim && !MACROS.contains(&last.as_str());
    }
}

/// Macros of std that leave nothing behind that a part of the program can see.
const MACROS: &[&str] = &[
    "cfg",
    "column",
    "concat",
    "dbg",
    "env",
    "eprint",
    "eprintln",
    "file",
    "format",
    "format_args",
    "line",
    "matches",
    "module_path",
    "panic",
    "print",
    "println",
    "stringify",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
];

/// Whether a call of this method notes something in its object, or takes something out of it.
fn notes(call: &ExprMethodCall) -> bool {
    match name(&call.method).as_str() {
        "fetch_add" | "fetch_sub" | "push" | "push_back" | "push_front" | "push_str" | "insert"
        | "extend" => true,
        "pop" | "pop_back" | "pop_front" | "next" | "notify_one" | "notify_all" | "unpark" => {
            call.args.is_empty()
        }
        "send" | "try_send" => call.args.len() == 1,
        "set" | "replace" | "store" => call.args.first().is_some_and(Notes::is_note),
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

    use super::super::ends::gives_up;
    use super::keeps_count;

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
            "loop { r = x.compare_exchange_weak(0, 1, o, o); if f() { break; } }",
            "loop { let _ = x.compare_exchange_weak(0, 1, o, o); if f() { break; } }",
            "loop { let r = x.compare_exchange_weak(0, 1, o, o); if f() { break r; } }",
            "loop { if f() { break; } r = x.compare_exchange_weak(0, 1, o, o); }",
            "while f() { ok = x.compare_exchange_weak(0, 1, o, o).is_ok(); }",
            "while f() { self.last = x.compare_exchange_weak(0, 1, o, o); }",
            "while f() { let r = x.compare_exchange_weak(0, 1, o, o); seen.set(r.is_ok()); }",
            "while f() { note(x.compare_exchange_weak(0, 1, o, o)); }",
            "while let Err(_) = x.compare_exchange_weak(0, 1, o, o) { if f() { return; } }",
            "while x.compare_exchange_weak(0, 1, o, o).is_err() && f() {}",
            "loop { if x.compare_exchange_weak(0, 1, o, o).is_ok() || f() { break; } }",
            "loop { match x.compare_exchange_weak(0, 1, o, o) { Ok(_) => break, Err(_) => f()? } }",
            "'a: loop { loop { match x.compare_exchange_weak(0, 1, o, o) { Ok(_) => break 'a, Err(_) => break 'a } } }",
            "loop { q = c.wait(q).unwrap(); if q.ready { break; } }",
            "loop { thread::park(); if f() { return; } }",
            "loop { (q, r) = c.wait_timeout(q, t).unwrap(); if f() { break; } }",
            "while !q.ready { (q, r) = c.wait_timeout(q, t).unwrap(); }",
            "while !q.ready { let r = c.wait_timeout(q, t).unwrap(); q = r.0; last = r.1; }",
            "while !q.ready { q = c.wait(q).unwrap(); if f() { break; } }",
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
            "while f().is_err() { bump!(lost); }",
            "while f().is_err() { last = mem::replace(&mut lost, last); }",
            "while f().is_err() { more(&mut tries); }",
            "while f().is_err() { LOST.store(true, o); }",
            "while f().is_err() { tx.send(1).unwrap(); }",
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
            "while queue.is_empty() { ready.wait(&mut queue); }",
            "loop { if let Some(x) = q.pop_front_of() { return x; } q = c.wait(q).unwrap(); }",
            "while !q.ready { q = c.wait(q)?; }",
            "while !q.ready { let (now, r) = c.wait_timeout(q, t).unwrap(); q = now; if r.timed_out() { break; } }",
            "while !q.ready && !late { let (now, r) = c.wait_timeout(q, t).unwrap(); q = now; late = r.timed_out(); }",
            "while f() && x.compare_exchange_weak(0, 1, o, o).is_err() {}",
            "while !done { done = x.compare_exchange_weak(0, 1, o, o).is_ok(); }",
            "loop { r = x.compare_exchange_weak(0, 1, o, o); if r.is_ok() { break; } }",
            "loop { node.next.store(head, o); if x.compare_exchange_weak(head, node, o, o).is_ok() { break; } println!(); }",
            "while x.compare_exchange_weak(0, 1, o, o).is_err() { spin(&mut pause); }",
            "loop { let r = x.compare_exchange_weak(0, 1, o, o); if r.is_ok() { break r; } }",
            "loop { if f() { return None; } let Ok(v) = x.compare_exchange_weak(0, 1, o, o) else { continue }; return Some(v); }",
            "loop { if f() { return None; } if x.compare_exchange_weak(0, 1, o, o).is_err() { continue; } break Some(1); }",
            "loop { if x.compare_exchange_weak(0, 1, o, o) == Ok(0) { f()?; return; } spin(); }",
            "while !matches!(x.compare_exchange_weak(0, 1, o, o), Ok(_)) {}",
            "while !set.load(o) { thread::park(); }",
            "loop { let head = self.head.load(o); node.next = head; if self.head.compare_exchange_weak(head, node, o, o).is_ok() { return; } }",
        ] {
            assert!(!counts(looped), "{looped}");
        }
    }
}
