//! Calls outside of loops of what std lets happen without a reason: a wait that ends though nobody has woken it, and a weak
//! exchange that fails though it finds what it expects.
//!
//! Who calls in a loop looks again, and has thought of it. Outside of loops it is worth trying. A loop counts if it is
//! around the call in the same function, and no `for` is between them: that comes round so many times, whatever has come of it.

use std::ops::Range;

use syn::{Expr, ExprCall, ExprMethodCall};

use super::{Walker, bytes};
use crate::resolve::name;

/// What happens without a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reasonless {
    /// A wait ends.
    Wait,
    /// A weak exchange fails.
    WeakExchange,
}

/// A call outside of loops of what may do so.
#[derive(Clone, Debug)]
pub(crate) struct Lone {
    pub(crate) file: usize,
    pub(crate) what: Reasonless,
    /// Where the runtime sees it.
    pub(crate) at: usize,
    pub(crate) bytes: Range<usize>,
}

impl Walker<'_> {
    /// Runs `inside` a loop.
    pub(super) fn in_loop(&mut self, inside: impl FnOnce(&mut Self)) {
        self.loops += 1;
        inside(self);
        self.loops -= 1;
    }

    /// Runs `inside` a `for`.
    pub(super) fn in_rounds(&mut self, inside: impl FnOnce(&mut Self)) {
        let around = std::mem::take(&mut self.loops);
        inside(self);
        self.loops = around;
    }

    /// Notes a method call, if it is one of these. Whose method it is can't be seen: the runtime will know. But it is not a condition
    /// variable's where the crate names none, nor where what is given is no guard.
    pub(super) fn lone_method(&mut self, expr: &ExprMethodCall) {
        let what = match (name(&expr.method).as_str(), expr.args.len()) {
            ("compare_exchange_weak", 4) => Reasonless::WeakExchange,
            ("wait", 1) | ("wait_timeout" | "wait_timeout_ms", 2)
                if self.has_condvars && !matches!(expr.args[0], Expr::Lit(_)) =>
            {
                Reasonless::Wait
            }
            _ => return,
        };
        self.lone(what, bytes(&expr.method).start, bytes(expr));
    }

    /// Notes a call of this item of std, if it is one of these.
    pub(super) fn lone_call(&mut self, expr: &ExprCall, path: Option<&[&str]>) {
        let what = match path {
            Some(["thread", "park" | "park_timeout" | "park_timeout_ms"]) => Reasonless::Wait,
            Some(
                [
                    "sync",
                    "Condvar",
                    "wait" | "wait_timeout" | "wait_timeout_ms",
                ],
            ) => Reasonless::Wait,
            Some(["sync", "atomic", _, "compare_exchange_weak"]) => Reasonless::WeakExchange,
            _ => return,
        };
        let Expr::Path(_) = &*expr.func else { return };
        self.lone(what, bytes(expr).start, bytes(expr));
    }

    fn lone(&mut self, what: Reasonless, at: usize, bytes: Range<usize>) {
        if self.loops == 0 {
            let file = self.file;
            self.lone.push(Lone {
                file,
                what,
                at,
                bytes,
            });
        }
    }
}
