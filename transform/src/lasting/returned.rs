//! Guards and handles that a turn gives away and gets back.

use std::collections::HashSet;

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, Local, Member, Pat};

use super::names_in;
use crate::resolve::name;

/// Returns the variables that the loop gives to a wait with a time limit, and that get the result of the wait, which is
/// the same guard. Also the variables that the loop gives to `Arc::try_unwrap`, which gives back a handle that is not
/// the last one.
pub(super) fn returned_guards(body: &Block) -> HashSet<String> {
    #[derive(Default)]
    struct Guards {
        given: HashSet<String>,
        results: HashSet<String>,
        assigned: Vec<(String, bool)>,
    }
    fn waits(expr: &Expr) -> Option<&ExprMethodCall> {
        match expr {
            Expr::MethodCall(call) if call.method == "wait_timeout" || call.method == "wait" => {
                (!call.args.is_empty()).then_some(call)
            }
            Expr::MethodCall(call) => waits(&call.receiver),
            Expr::Field(expr) => waits(&expr.base),
            Expr::Try(expr) => waits(&expr.expr),
            Expr::Paren(expr) => waits(&expr.expr),
            _ => None,
        }
    }
    fn single(expr: &Expr) -> Option<String> {
        match expr {
            Expr::Path(path) => path.path.get_ident().map(name),
            _ => None,
        }
    }
    /// Returns the handle that is given to `Arc::try_unwrap`.
    fn unwraps(expr: &Expr) -> Option<String> {
        let Expr::Call(call) = expr else { return None };
        let Expr::Path(path) = &*call.func else {
            return None;
        };
        let mut segments = path.path.segments.iter().rev();
        let is_it = segments.next().is_some_and(|it| it.ident == "try_unwrap")
            && segments.next().is_some_and(|it| it.ident == "Arc");
        is_it.then(|| call.args.first().and_then(single)).flatten()
    }
    /// Returns the handle that `match Arc::try_unwrap(handle) { Ok(value) => break value, Err(handle) => handle }`
    /// gives back.
    fn gives_back(expr: &Expr) -> Option<String> {
        let Expr::Match(of) = expr else { return None };
        let handle = unwraps(&of.expr)?;
        let fits = of.arms.iter().all(|arm| {
            let given = given_back(&arm.pat);
            matches!(&*arm.body, Expr::Break(_) | Expr::Return(_))
                || given.is_some() && single(&arm.body) == given
        });
        fits.then_some(handle)
    }
    /// Returns the variable of `Err(variable)`.
    fn given_back(pattern: &Pat) -> Option<String> {
        let Pat::TupleStruct(of) = pattern else {
            return None;
        };
        let is_error = of.path.segments.last().is_some_and(|it| it.ident == "Err");
        match of.elems.first() {
            Some(Pat::Ident(ident)) if is_error && ident.by_ref.is_none() => {
                Some(name(&ident.ident))
            }
            _ => None,
        }
    }
    impl Guards {
        fn unwrapped(&mut self, value: &Expr, pattern: &Pat) {
            if let Some(handle) = unwraps(value) {
                self.given.insert(handle);
                self.results.extend(given_back(pattern));
            }
        }
    }
    impl<'ast> Visit<'ast> for Guards {
        fn visit_expr_let(&mut self, expr: &'ast syn::ExprLet) {
            self.unwrapped(&expr.expr, &expr.pat);
            visit::visit_expr_let(self, expr);
        }
        fn visit_expr_match(&mut self, expr: &'ast syn::ExprMatch) {
            for arm in &expr.arms {
                self.unwrapped(&expr.expr, &arm.pat);
            }
            visit::visit_expr_match(self, expr);
        }
        fn visit_local(&mut self, local: &'ast Local) {
            if let Some(init) = &local.init {
                self.unwrapped(&init.expr, &local.pat);
            }
            if let Some(init) = &local.init
                && waits(&init.expr).is_some()
                && let Pat::Tuple(tuple) = &local.pat
                && let Some(first) = tuple.elems.first()
            {
                self.results.extend(names_in(first));
            }
            visit::visit_local(self, local);
        }
        fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
            let first = match &*assign.left {
                Expr::Tuple(tuple) => tuple.elems.first().and_then(single),
                place => single(place),
            };
            if let Some(place) = first {
                let is_first = match &*assign.right {
                    Expr::Field(field) => {
                        matches!(&field.member, Member::Unnamed(index) if index.index == 0)
                    }
                    _ => true,
                };
                let of_wait = is_first && waits(&assign.right).is_some();
                let of_result = single(&assign.right).is_some_and(|it| self.results.contains(&it))
                    || gives_back(&assign.right).is_some_and(|handle| {
                        self.given.insert(handle.clone());
                        handle == place
                    });
                self.assigned.push((place, of_wait || of_result));
            }
            visit::visit_expr_assign(self, assign);
        }
        fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
            if waits(&Expr::MethodCall(call.clone())).is_some() {
                self.given.extend(call.args.first().and_then(single));
            }
            visit::visit_expr_method_call(self, call);
        }
    }
    let mut guards = Guards::default();
    guards.visit_block(body);
    let Guards {
        mut given,
        assigned,
        ..
    } = guards;
    given.retain(|variable| {
        let mut of_it = assigned.iter().filter(|(place, _)| place == variable);
        of_it.clone().next().is_some() && of_it.all(|(_, returned)| *returned)
    });
    given
}
