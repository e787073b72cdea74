//! Guards that a turn gives away and gets back.

use std::collections::HashSet;

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, Local, Member, Pat};

use super::names_in;
use crate::resolve::name;

/// Variables that the loop gives to a wait with a time limit, and that get its result: the same guard again.
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
    impl<'ast> Visit<'ast> for Guards {
        fn visit_local(&mut self, local: &'ast Local) {
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
                let of_result = single(&assign.right).is_some_and(|it| self.results.contains(&it));
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
