//! What a turn calls: functions, methods, macros, and what it passes to them by name.

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{Expr, ExprCall, ExprMethodCall, ExprPath, Macro, Pat, Token};

use super::implied::Implied;
use super::turn::{Turn, Variable, is_number, is_number_method, is_ordering, is_panic_name};
use super::{Called, names, results};
use crate::resolve::name;

impl Turn<'_, '_> {
    /// It may come to functions of the crate that are called so.
    pub(super) fn need(&mut self, implied: &[Implied]) {
        if !implied.iter().all(|&implied| self.lasting.allows(implied)) {
            self.give_up();
        }
    }

    /// It calls functions of the crate with this name, if there are any; whether there are.
    fn call_own(&mut self, name: &str, called: Called, guarded: bool) -> bool {
        let Some(qualifies) = self.lasting.named(name, called, guarded) else {
            return false;
        };
        self.has_events = true;
        if !qualifies {
            self.give_up();
        }
        let functions = self.lasting.of_name(name, called).unwrap_or_default();
        let mut functions = functions.iter();
        if !functions.all(|function| results::ends_quietly(function.signature)) {
            self.need(&[Implied::Drop]);
        }
        true
    }

    pub(super) fn call(&mut self, call: &ExprCall) {
        match without_parentheses(&call.func) {
            Expr::Path(path) => {
                let gives_guards_back = call.args.iter().all(|argument| {
                    matches!(argument, Expr::Path(path) if path.path.get_ident().is_some_and(
                        |only| self.variable(&name(only)) == Some(Variable::Guard)
                    ))
                });
                self.call_path(path, gives_guards_back);
            }
            // A closure that is written here is looked at.
            closure @ Expr::Closure(_) => self.visit_expr(closure),
            _ => self.give_up(),
        }
    }

    /// It calls what this path names, perhaps through a function of std that it is passed to.
    fn call_path(&mut self, path: &ExprPath, with_guards: bool) {
        let mut segments = path.path.segments.iter().rev();
        let Some(last) = segments.next().map(|last| name(&last.ident)) else {
            return self.give_up();
        };
        let owner = segments.next().map(|owner| name(&owner.ident));
        if owner.is_none()
            && let Some(variable) = self.variable(&last)
        {
            // Its body has been looked at where it was written, unless it came from elsewhere.
            if variable != Variable::Closure {
                self.give_up();
            }
            return;
        }
        let called = match owner {
            None => Called::ByName,
            Some(_) => Called::ByPath,
        };
        if self.call_own(&last, called, false) {
            return;
        }
        // The constructor of a tuple struct or of a variant.
        if last.starts_with(char::is_uppercase) {
            if !matches!(last.as_str(), "Some" | "Ok" | "Err") {
                self.need(&[Implied::Drop]);
            }
            return;
        }
        if owner.as_deref().is_some_and(is_number) {
            return;
        }
        let known = match &owner {
            Some(owner) => names::FUNCTIONS.contains(&(owner.as_str(), last.as_str())),
            None => names::BY_NAME.contains(&last.as_str()),
        };
        if !known {
            return self.give_up();
        }
        self.has_events |= last.starts_with("park")
            || names::ASKS.contains(&last.as_str())
            || names::IDLES.contains(&last.as_str());
        match last.as_str() {
            "drop" if with_guards => {}
            "drop" | "clone" | "from" | "default" | "new" => self.need(Implied::ANY),
            "max" | "min" => self.need(&[Implied::Comparison]),
            _ => {}
        }
    }

    /// A path is a value here: if it names a function of the crate, whoever gets it may call it.
    pub(super) fn name_function(&mut self, path: &ExprPath) {
        let segments = &path.path.segments;
        let Some(last) = segments.last().map(|last| name(&last.ident)) else {
            return;
        };
        if segments.len() > 1 {
            self.call_own(&last, Called::ByPath, false);
        } else if self.variable(&last).is_none() {
            self.call_own(&last, Called::ByName, false);
        }
    }

    /// It passes this to a function that calls it.
    fn pass(&mut self, argument: &Expr) {
        match without_parentheses(argument) {
            Expr::Closure(_) | Expr::Lit(_) => {}
            Expr::Reference(reference) => self.pass(&reference.expr),
            Expr::Path(path) => {
                let segments = &path.path.segments;
                let method = segments.last().map(|last| name(&last.ident));
                let method = method.unwrap_or_default();
                let method = method.as_str();
                // `Option::is_some`: a method that is known.
                let is_method = segments.len() > 1
                    && self.lasting.of_name(method, Called::ByPath).is_none()
                    && (names::PURE.contains(&method) || is_number_method(method));
                if is_method {
                    self.need(Implied::of_method(method));
                } else {
                    self.call_path(path, false);
                }
            }
            _ => self.give_up(),
        }
    }

    /// Whether this is an iterator that is made for the call, by std.
    fn is_made_here(&self, receiver: &Expr) -> bool {
        let of_std = |name: &str| self.lasting.of_name(name, Called::ByPath).is_none();
        match without_parentheses(receiver) {
            Expr::MethodCall(call) => of_std(&name(&call.method)),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => {
                    let last = path.path.segments.last();
                    last.is_some_and(|last| of_std(&name(&last.ident)))
                }
                _ => false,
            },
            Expr::Range(_) => true,
            _ => false,
        }
    }

    pub(super) fn method_call(&mut self, call: &ExprMethodCall) {
        let method = name(&call.method);
        let method = method.as_str();
        let may_change = self.may_change(&call.receiver);
        self.need(&[Implied::Deref]);
        if self.call_own(method, Called::AsMethod, may_change) {
            return;
        }
        let arguments = call.args.len();
        if let Some(&(_, first)) = names::TAKE_FUNCTIONS.iter().find(|(it, _)| *it == method) {
            let functions = call.args.iter().skip(first);
            functions.for_each(|argument| self.pass(argument));
        }
        if names::EVENTS.contains(&(method, arguments)) {
            self.has_events = true;
            if names::RECEIVES.contains(&method) {
                self.need(&[Implied::Drop]);
            }
            return;
        }
        if (method, arguments) == names::SWAP && call.args.last().is_some_and(is_ordering) {
            self.has_events = true;
            return;
        }
        let advances =
            names::ADVANCE.contains(&method) && (may_change || self.is_made_here(&call.receiver));
        let changes = may_change
            && (names::CHANGES.contains(&method)
                || names::CHANGES_OF_CELLS.contains(&method)
                    && !self.lasting.functions.words.has_cells);
        if changes {
            self.need(&[Implied::DerefMut]);
        } else if !advances && !names::PURE.contains(&method) && !is_number_method(method) {
            return self.give_up();
        }
        // It may be that of a `OnceLock`.
        self.has_events |= (method, arguments) == ("get", 0);
        self.need(Implied::of_method(method));
    }

    pub(super) fn macro_call(&mut self, mac: &Macro) {
        let last = mac.path.segments.last().map(|last| name(&last.ident));
        let last = last.as_deref().unwrap_or_default();
        // One of the crate's own, or of a dependency, may hide std's.
        if self.lasting.functions.words.macros.contains(last) {
            return self.give_up();
        }
        if is_panic_name(last) || names::CONSTANT_MACROS.contains(&last) {
            return;
        }
        if last == "matches" {
            let parse = |input: syn::parse::ParseStream<'_>| {
                let expr: Expr = input.parse()?;
                input.parse::<Token![,]>()?;
                let pattern = Pat::parse_multi_with_leading_vert(input)?;
                let guard = match input.parse::<Option<Token![if]>>()? {
                    Some(_) => Some(input.parse::<Expr>()?),
                    None => None,
                };
                input.parse::<Option<Token![,]>>()?;
                Ok((expr, pattern, guard))
            };
            let Ok((expr, pattern, guard)) = parse.parse2(mac.tokens.clone()) else {
                return self.give_up();
            };
            self.visit_expr(&expr);
            return self.within(|turn| {
                turn.bind(&pattern, Variable::Other);
                if let Some(guard) = &guard {
                    turn.visit_expr(guard);
                }
            });
        }
        let writes = self.writes && matches!(last, "write" | "writeln");
        if !writes && !names::MACROS.contains(&last) {
            return self.give_up();
        }
        let of_values = match last {
            "vec" => &[][..],
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => {
                &[Implied::Comparison]
            }
            "assert" | "debug_assert" => &[],
            _ => &[Implied::Format],
        };
        self.need(of_values);
        let repeat = |input: syn::parse::ParseStream<'_>| {
            let element: Expr = input.parse()?;
            input.parse::<Token![;]>()?;
            Ok([element, input.parse()?])
        };
        if last == "vec"
            && let Ok(parts) = repeat.parse2(mac.tokens.clone())
        {
            return parts.iter().for_each(|part| self.visit_expr(part));
        }
        let arguments = |input: syn::parse::ParseStream<'_>| {
            Punctuated::<Argument, Token![,]>::parse_terminated(input)
        };
        match arguments.parse2(mac.tokens.clone()) {
            Ok(arguments) => arguments
                .iter()
                .for_each(|argument| self.visit_expr(&argument.0)),
            Err(_) => self.give_up(),
        }
    }
}

/// An argument, possibly named as in `format!("{a}", a = 1)`.
struct Argument(Expr);

impl syn::parse::Parse for Argument {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(syn::Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
            input.parse::<syn::Ident>()?;
            input.parse::<Token![=]>()?;
        }
        input.parse().map(Self)
    }
}

/// What is in these parentheses.
fn without_parentheses(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(expr) => without_parentheses(&expr.expr),
        Expr::Group(expr) => without_parentheses(&expr.expr),
        expr => expr,
    }
}
