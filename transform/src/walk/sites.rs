//! Names for the places where shared variables are accessed.
//!
//! The runtime knows a place by the [`std::panic::Location`] of the caller. For a method call that is the method's
//! name; for a function call, and for a dereference written or implied, it is the start of the expression.

use std::ops::Range;

use syn::{Expr, Member, Pat};

use super::exprs::single_name;
use super::{Walker, bytes};
use crate::map::Site;
use crate::resolve::name;

/// Methods through which a name still means the same variable.
const LOCKING: &[&str] = &["lock", "read", "write", "try_lock", "try_read", "try_write"];

/// The number of characters at which the text of an access is cut off; the line is there to be looked at.
const LONGEST_TEXT: usize = 120;

impl Walker<'_> {
    pub(super) fn note_site(&mut self, expr: &Expr) {
        match expr {
            Expr::MethodCall(call) => {
                self.site(bytes(&call.method).start, &call.receiver, bytes(expr));
                self.site(bytes(expr).start, &call.receiver, bytes(expr));
            }
            // `thread::park()` waits for nothing that has a name.
            Expr::Call(call) => {
                if let Some(named) = call.args.first() {
                    self.site(bytes(expr).start, named, bytes(expr));
                }
            }
            Expr::Unary(unary) => self.site(bytes(expr).start, &unary.expr, bytes(expr)),
            Expr::Reference(reference) => {
                self.site(bytes(expr).start, &reference.expr, bytes(expr))
            }
            Expr::Field(_) | Expr::Index(_) => self.site(bytes(expr).start, expr, bytes(expr)),
            _ => {}
        }
    }

    pub(super) fn site(&mut self, at: usize, of: &Expr, whole: Range<usize>) {
        let Some(name) = self.short_name(of) else {
            return;
        };
        self.named_site(at, name, whole);
    }

    pub(super) fn named_site(&mut self, at: usize, name: String, whole: Range<usize>) {
        let text = self
            .text(whole)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let cut = text.char_indices().nth(LONGEST_TEXT).map(|(at, _)| at);
        let text = cut.map_or(text.clone(), |at| format!("{}…", &text[..at]));
        let at = self.program.files[self.file].source.text.position(at);
        self.sites[self.file].push(Site { at, name, text });
    }

    /// Returns the name that a reader would give to the variable that an expression leads to: its last field, variable
    /// or static.
    pub(super) fn short_name(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Path(path) => {
                let last = name(&path.path.segments.last()?.ident);
                Some(self.guards.get(&last).cloned().unwrap_or(last))
            }
            Expr::Field(field) => match &field.member {
                Member::Named(member) => Some(match self.guard_at_root(&field.base) {
                    Some(guard) => guard,
                    None => name(member),
                }),
                Member::Unnamed(index) => match &*field.base {
                    Expr::Path(path) if path.path.is_ident("self") => {
                        let of = self.of_type.as_deref().unwrap_or("self");
                        Some(format!("{of}.{}", index.index))
                    }
                    base => self.short_name(base),
                },
            },
            Expr::MethodCall(call) => self.short_name(&call.receiver),
            Expr::Index(index) => self.short_name(&index.expr),
            Expr::Unary(unary) => self.short_name(&unary.expr),
            Expr::Reference(reference) => self.short_name(&reference.expr),
            Expr::RawAddr(raw) => self.short_name(&raw.expr),
            Expr::Paren(paren) => self.short_name(&paren.expr),
            Expr::Group(group) => self.short_name(&group.expr),
            Expr::Try(inner) => self.short_name(&inner.expr),
            Expr::Cast(cast) => self.short_name(&cast.expr),
            Expr::Call(call) => self.short_name(call.args.first().unwrap_or(&call.func)),
            Expr::Unsafe(inner) => match &inner.block.stmts[..] {
                [syn::Stmt::Expr(inner, None)] => self.short_name(inner),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the lock behind the guard that a chain of fields starts from.
    fn guard_at_root(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Path(path) => self.guards.get(&name(path.path.get_ident()?)).cloned(),
            Expr::Field(field) => self.guard_at_root(&field.base),
            Expr::Paren(paren) => self.guard_at_root(&paren.expr),
            _ => None,
        }
    }

    /// Returns the short name of the lock, if the expression takes a lock.
    pub(super) fn guard_name(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::MethodCall(call)
                if LOCKING.contains(&name(&call.method).as_str()) && call.args.is_empty() =>
            {
                self.short_name(&call.receiver)
            }
            Expr::MethodCall(call) => self.guard_name(&call.receiver),
            Expr::Try(inner) => self.guard_name(&inner.expr),
            Expr::Match(inner) => self.guard_name(&inner.expr),
            Expr::Paren(inner) => self.guard_name(&inner.expr),
            _ => None,
        }
    }

    /// Notes that a pattern's variable is a guard of the lock called `guard`.
    pub(super) fn note_guard(&mut self, pattern: &Pat, guard: Option<String>) {
        let Some(guard) = guard else { return };
        let variable = match pattern {
            Pat::TupleStruct(pattern) if pattern.elems.len() == 1 => single_name(&pattern.elems[0]),
            pattern => single_name(pattern),
        };
        if let Some(variable) = variable {
            self.guards.insert(variable, guard);
        }
    }
}
