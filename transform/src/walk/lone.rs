//! Calls outside of loops of what std lets happen without a reason: a wait that ends though no thread has woken it, and
//! a weak exchange that fails though it finds the expected value.
//!
//! A call in a loop is repeated, so its author has thought of these outcomes. Outside of loops they are worth trying. A
//! loop counts if it is around the call in the same function, [merely tries again](super::retries), and no loop whose
//! turns are counted is between them, such as a `for`: that repeats a fixed number of times, whatever the outcome. A loop
//! that the outcome ends does not try again.
//!
//! Some methods have such a call in a loop of their own, around a function that they are given: `wait_while`, `fetch_update`.
//! They count where one call more of that function may make a difference, wherever they are called.
//!
//! A call in the text of a macro has the place at which the macro is used, so all uses of macros are its places then.

use std::ops::Range;

use syn::{Expr, ExprCall, ExprMethodCall};

use super::ends::gives_up;
use super::retries::keeps_count;
use super::{Walker, bytes};
use crate::lasting::paces;
use crate::resolve::name;

/// An outcome that may happen without a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reasonless {
    /// A wait ends.
    Wait,
    /// A weak exchange fails.
    WeakExchange,
    /// The weak exchange in an update by a function fails.
    Update,
}

/// A call outside of loops that may have such an outcome.
#[derive(Clone, Debug)]
pub(crate) struct Lone {
    pub(crate) file: usize,
    pub(crate) what: Reasonless,
    /// The offset at which the runtime sees the call.
    pub(crate) at: usize,
    /// Whether it is in the text of a macro, and the runtime sees it where the macro is used.
    pub(crate) in_macro: bool,
    pub(crate) bytes: Range<usize>,
}

impl Walker<'_> {
    /// Runs `inside` as the visit of this loop.
    pub(super) fn in_loop(&mut self, looped: &Expr, inside: impl FnOnce(&mut Self)) {
        let text = self.program.files[self.file].source.text.as_str();
        if keeps_count(looped, &paces(looped, text)) || gives_up(looped) {
            return self.in_rounds(inside);
        }
        self.loops += 1;
        inside(self);
        self.loops -= 1;
    }

    /// Runs `inside` as the visit of a body whose turns are counted.
    pub(super) fn in_rounds(&mut self, inside: impl FnOnce(&mut Self)) {
        let around = std::mem::take(&mut self.loops);
        inside(self);
        self.loops = around;
    }

    /// Notes a method call that may be such a call. The receiver's type can't be seen here; the runtime will know it.
    /// But the method is not a condition variable's where the crate names no condition variable, nor where the argument
    /// is no guard.
    pub(super) fn lone_method(&mut self, expr: &ExprMethodCall) {
        let what = match (name(&expr.method).as_str(), expr.args.len()) {
            ("compare_exchange_weak", 4) => Reasonless::WeakExchange,
            ("wait", 1) | ("wait_timeout" | "wait_timeout_ms", 2)
                if self.has_condvars && !matches!(expr.args[0], Expr::Lit(_)) =>
            {
                Reasonless::Wait
            }
            (method, given) => {
                return self.lone_repeater(
                    (method, given),
                    expr.args.last(),
                    bytes(&expr.method).start,
                    bytes(expr),
                );
            }
        };
        self.lone(what, bytes(&expr.method).start, bytes(expr));
    }

    /// Notes a call of a method that calls the function it is given until something holds, if it may make a difference that
    /// it calls the function once more.
    fn lone_repeater(
        &mut self,
        of: (&str, usize),
        function: Option<&Expr>,
        at: usize,
        bytes: Range<usize>,
    ) {
        let what = match of {
            ("wait_while", 2) | ("wait_timeout_while", 3) if self.has_condvars => Reasonless::Wait,
            ("fetch_update" | "try_update" | "update", 3) => Reasonless::Update,
            _ => return,
        };
        if let Some(function) = function
            && self
                .lasting
                .differs_again(function, &self.around_function())
        {
            self.lone_anywhere(what, at, bytes);
        }
    }

    /// Notes a call of this item of std, if it is such a call.
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
            // The object is the first argument.
            Some(["sync", "Condvar", method] | ["sync", "atomic", _, method]) => {
                let of = (*method, expr.args.len().saturating_sub(1));
                return self.lone_repeater(of, expr.args.last(), bytes(expr).start, bytes(expr));
            }
            _ => return,
        };
        let Expr::Path(_) = &*expr.func else { return };
        self.lone(what, bytes(expr).start, bytes(expr));
    }

    fn lone(&mut self, what: Reasonless, at: usize, bytes: Range<usize>) {
        if self.loops == 0 {
            self.lone_anywhere(what, at, bytes);
        }
    }

    fn lone_anywhere(&mut self, what: Reasonless, at: usize, bytes: Range<usize>) {
        self.lone.push(Lone {
            file: self.file,
            what,
            at,
            in_macro: self.in_macro,
            bytes,
        });
    }

    /// Notes a call in code without a tree, where no loop around it can be seen.
    pub(super) fn lone_in_tokens(&mut self, function: &str, bytes: Range<usize>) {
        let what = match function {
            "compare_exchange_weak" => Reasonless::WeakExchange,
            "fetch_update" | "try_update" => Reasonless::Update,
            "park" | "park_timeout" | "park_timeout_ms" => Reasonless::Wait,
            "wait" | "wait_timeout" | "wait_timeout_ms" | "wait_while" | "wait_timeout_while"
                if self.has_condvars =>
            {
                Reasonless::Wait
            }
            _ => return,
        };
        self.lone_anywhere(what, bytes.start, bytes);
    }
}
