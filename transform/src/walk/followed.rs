//! Marks on calls of the crate's own functions, by which the runtime knows in which calls a thread is: see
//! `seqz_runtime::calls`. Calls are marked only in [`Mode::Followed`].
//!
//! A call counts as a call of the crate's own function by its name. A mark on another call does no harm, but a constant
//! can't have marks: so no call in a constant is marked, and no call of a name that a `const fn` has.

use syn::Expr;

use super::exprs::expr_attributes;
use super::{Walker, bytes};
use crate::options::Mode;
use crate::resolve::{Def, Ns, name};

impl Walker<'_> {
    /// Marks the expression if it is such a call. To be called before the parts of the expression are edited.
    pub(super) fn mark_call(&mut self, expr: &Expr) {
        if self.mode != Mode::Followed
            || self.opaque > 0
            || (self.constant > 0 && !self.in_macro)
            || !expr_attributes(expr).is_empty()
            || !self.is_followed(expr)
        {
            return;
        }
        let range = bytes(expr);
        // A part that a macro fills in may be anything.
        if self.text(range.clone()).contains('$') {
            return;
        }
        let start = "::seqz_runtime::calls::leave(::seqz_runtime::calls::enter(), ";
        self.edits().before(range.start, start);
        self.edits().after(range.end, ")", range.start);
    }

    fn is_followed(&self, expr: &Expr) -> bool {
        let Some(names) = &self.function_names else {
            return false;
        };
        let is_own = |called: &str| names.contains(called) && !self.constant_names.contains(called);
        match expr {
            Expr::MethodCall(call) => is_own(&name(&call.method)),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => {
                    let Some(last) = path.path.segments.last() else {
                        return false;
                    };
                    let called = name(&last.ident);
                    // The function is a closure in a variable.
                    let is_variable = path.path.segments.len() == 1
                        && matches!(
                            self.resolve(false, std::slice::from_ref(&called), Ns::Value),
                            Some(Def::Local)
                        );
                    is_variable || is_own(&called)
                }
                _ => false,
            },
            _ => false,
        }
    }
}
