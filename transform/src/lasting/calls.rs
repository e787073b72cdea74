//! The calls in a turn: functions, methods, macros, and functions that the turn passes on by name.

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{Expr, ExprCall, ExprMethodCall, ExprPath, Macro, Pat, Token, UnOp};

use super::implied::{COERCION, Implied};
use super::turn::{Turn, Variable, is_number, is_number_method, is_ordering, is_panic_name};
use super::{Behind, Called, names};
use crate::resolve::{name, segment_names};

impl Turn<'_, '_> {
    /// Notes that the turn may call functions of the crate in these implied ways.
    pub(super) fn need(&mut self, implied: &[Implied]) {
        if !implied
            .iter()
            .all(|&implied| self.lasting.allows(implied, self.behind))
        {
            self.give_up();
        }
    }

    /// Notes a call of the crate's functions with this name, if there are any; returns whether there are.
    fn call_own(&mut self, name: &str, called: Called<'_>, guarded: bool) -> bool {
        let Some(qualifies) = self.lasting.named(name, called, guarded, self.behind) else {
            return false;
        };
        self.has_events = true;
        if !qualifies {
            self.give_up();
        }
        let functions_of = self.lasting.of_name(name, called).unwrap_or_default();
        let mut functions = functions_of.iter();
        let declared = self.declared();
        if !functions.all(|function| declared.gives_quietly(function.signature)) {
            self.need(&[Implied::Drop]);
        }
        let changes = |of: &&super::Function<'_>| {
            let receiver = of.signature.receiver();
            receiver.is_some_and(|receiver| receiver.mutability.is_some())
        };
        let as_method = !matches!(called, Called::ByName | Called::ByPath);
        if as_method && functions_of.iter().any(|of| changes(&of)) {
            self.need(&[Implied::DerefMut]);
        }
        true
    }

    pub(super) fn call(&mut self, call: &ExprCall) {
        self.give(call.args.iter());
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
            Expr::Unary(of) if matches!(of.op, UnOp::Deref(_)) => {
                match without_parentheses(&of.expr) {
                    // A variable that is known needs no code of the crate to lead to its value.
                    Expr::Path(path) if path.path.get_ident().is_some() => {
                        self.call_path(path, false);
                    }
                    _ => self.give_up(),
                }
            }
            _ => self.give_up(),
        }
    }

    /// Notes a call of the function that this path names, perhaps through a function of std that the function is passed
    /// to.
    fn call_path(&mut self, path: &ExprPath, with_guards: bool) {
        let mut segments = path.path.segments.iter().rev();
        let Some(last) = segments.next().map(|last| name(&last.ident)) else {
            return self.give_up();
        };
        let owner = segments.next().map(|owner| name(&owner.ident));
        if owner.is_none()
            && let Some(variable) = self.variable(&last)
        {
            // The closure's body has been looked at where it was written, unless the closure came from outside of the
            // turn.
            if variable != Variable::Closure {
                self.give_up();
            }
            return;
        }
        if owner.is_none() && self.outside.variables.contains(last.as_str()) {
            // The function that the variable stands for reports by itself if it leaves something behind.
            if self.outside.callables.contains(&last) && self.behind == Behind::Events {
                self.has_events = true;
            } else {
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
        let declared = self.declared();
        // This is the constructor of a tuple struct or of a variant: its arguments are looked at by themselves.
        if names::CONSTRUCTORS.contains(&last.as_str()) && declared.is_of_std(&last) {
            return;
        }
        if last == "Self" || declared.is_constructor(&last) {
            return self.make(&last);
        }
        // A path from std's root leads into std, whatever else its other names are in the crate.
        let from_root = path.path.segments.first().is_some_and(|first| {
            let first = name(&first.ident);
            matches!(first.as_str(), "std" | "core" | "alloc") && declared.is_of_std(&first)
        });
        if owner
            .as_deref()
            .is_some_and(|owner| !from_root && !declared.is_of_std(owner))
        {
            return self.give_up();
        }
        if owner.as_deref().is_some_and(is_number) {
            let known = names::PURE.contains(&last.as_str()) || is_number_method(&last);
            return self.need(match known {
                true => Implied::of_method(&last),
                false => Implied::ANY,
            });
        }
        let known = match &owner {
            Some(owner) => names::FUNCTIONS.contains(&(owner.as_str(), last.as_str())),
            None => names::BY_NAME.contains(&last.as_str()),
        };
        let changes = last.starts_with("park") || last == "try_unwrap";
        if !known || changes && self.behind == Behind::Nothing {
            return self.give_up();
        }
        self.has_events |= last.starts_with("park")
            || names::ASKS.contains(&last.as_str())
            || names::IDLES.contains(&last.as_str())
            // Or the call reads a clock.
            || owner.is_some() && last == "now";
        match last.as_str() {
            "drop" if with_guards => {}
            "drop" | "clone" | "from" | "default" | "new" => self.need(Implied::ANY),
            "max" | "min" => self.need(&[Implied::Comparison]),
            // This ends the value, if the handle is the last one.
            "try_unwrap" => self.need(&[Implied::Drop]),
            _ => {}
        }
    }

    /// Whether this call asks for the value behind the last handle, which changes nothing where there are other
    /// handles.
    fn asks_for_value(&self, call: &ExprCall) -> bool {
        let Expr::Path(path) = without_parentheses(&call.func) else {
            return false;
        };
        let segments = segment_names(&path.path);
        match segments.as_slice() {
            [.., owner, function] => {
                owner == "Arc"
                    && function == "get_mut"
                    && self.declared().is_of_std(owner)
                    && self.lasting.of_name(function, Called::ByPath).is_none()
            }
            _ => false,
        }
    }

    /// Looks at the arguments of a function that is called by its path.
    pub(super) fn arguments(&mut self, call: &ExprCall) {
        let of_handle = self.asks_for_value(call);
        for argument in &call.args {
            match argument {
                Expr::Reference(handle) if of_handle => self.visit_expr(&handle.expr),
                _ => self.visit_expr(argument),
            }
        }
    }

    /// Notes that the turn makes a value with this struct or variant. The parts of the value are looked at by
    /// themselves.
    pub(super) fn make(&mut self, maker: &str) {
        if !self.lasting.sees_destructors() || !self.declared().makes_quietly(maker) {
            self.need(&[Implied::Drop]);
        }
    }

    /// Notes that the turn gives these arguments to something that may take references to other types than theirs.
    fn give<'a>(&mut self, mut arguments: impl Iterator<Item = &'a Expr>) {
        if arguments.any(|it| !matches!(it, Expr::Lit(_) | Expr::Closure(_)) && !is_ordering(it)) {
            self.need(COERCION);
        }
    }

    /// Notes a path that is a value. If the path makes the value, as a constant does, the value ends in the turn.
    pub(super) fn name_value(&mut self, path: &ExprPath) {
        let mut segments = path.path.segments.iter().rev();
        let Some(last) = segments.next().map(|last| name(&last.ident)) else {
            return;
        };
        let owner = segments.next().map(|owner| name(&owner.ident));
        let variable =
            |it: &str| self.variable(it).is_some() || self.outside.variables.contains(it);
        if owner.is_none() && path.qself.is_none() && (last == "self" || variable(&last)) {
            return;
        }
        let declared = self.declared();
        let known = || match &owner {
            None => last == "None" || names::ORDERINGS.contains(&last.as_str()),
            Some(owner) => {
                declared.is_of_std(owner)
                    && (is_number(owner)
                        || names::WITH_CONSTANTS.contains(&owner.as_str())
                        || owner == "Option" && last == "None"
                        || owner == "Ordering")
            }
        };
        let is_function = || self.lasting.of_name(&last, Called::ByPath).is_some();
        let quiet = match declared.ends_quietly(&last) {
            Some(quiet) => quiet && self.lasting.sees_destructors(),
            None => known() || is_function(),
        };
        if !quiet {
            self.need(&[Implied::Drop]);
        }
    }

    /// Notes a path that is a value: if the path names a function of the crate, the code that gets the value may call
    /// the function.
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

    /// Notes that the turn passes this argument to a function that calls it.
    fn pass(&mut self, argument: &Expr) {
        match without_parentheses(argument) {
            Expr::Closure(_) | Expr::Lit(_) => {}
            Expr::Reference(reference) => self.pass(&reference.expr),
            Expr::Path(path) => {
                let segments = &path.path.segments;
                let method = segments.last().map(|last| name(&last.ident));
                let method = method.unwrap_or_default();
                let method = method.as_str();
                // A path like `Option::is_some` names a method that is known.
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

    /// Notes that the turn searches a slice or a string for this argument: for a value, or with a function.
    fn look_with(&mut self, argument: &Expr) {
        match without_parentheses(argument) {
            Expr::Lit(_) | Expr::Closure(_) | Expr::Array(_) | Expr::Binary(_) => {}
            Expr::Reference(reference) => self.look_with(&reference.expr),
            argument => {
                if self.root(argument) != Some(Variable::Owned) {
                    self.pass(argument);
                }
            }
        }
    }

    /// Whether the receiver is an iterator of std that is made for the call.
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
        if self.is_pacer(&call.receiver) {
            return;
        }
        let may_change = self.may_change(&call.receiver);
        let called = self.called_on(&call.receiver, method);
        if called != Called::OnObject {
            self.need(&[Implied::Deref]);
        }
        self.give(call.args.iter());
        if names::LOOK_WITH.contains(&method) {
            call.args
                .iter()
                .for_each(|argument| self.look_with(argument));
        }
        if self.call_own(method, called, may_change) {
            return;
        }
        let arguments = call.args.len();
        if let Some(&(_, first)) = names::TAKE_FUNCTIONS.iter().find(|(it, _)| *it == method) {
            let functions = call.args.iter().skip(first);
            functions.for_each(|argument| self.pass(argument));
        }
        if names::EVENTS.contains(&(method, arguments)) {
            self.has_events = true;
            if self.behind == Behind::Nothing && !names::LOOKS.contains(&method) {
                return self.give_up();
            }
            if names::RECEIVES.contains(&method) {
                self.need(&[Implied::Drop]);
            }
            return;
        }
        if (method, arguments) == names::SWAP && call.args.last().is_some_and(is_ordering) {
            self.has_events = true;
            if self.behind == Behind::Nothing {
                self.give_up();
            }
            return;
        }
        let advances =
            names::ADVANCE.contains(&method) && (may_change || self.is_made_here(&call.receiver));
        let changes = may_change
            && (names::CHANGES.contains(&method)
                || names::CHANGES_OF_CELLS.contains(&method)
                    && !self.lasting.functions.words.has_cells);
        if changes || advances {
            self.need(&[Implied::DerefMut]);
        }
        if changes {
        } else if !advances && !names::PURE.contains(&method) && !is_number_method(method) {
            return self.give_up();
        }
        // The call may be that of a `OnceLock`; or it reads a clock.
        self.has_events |= matches!((method, arguments), ("get" | "elapsed", 0));
        self.need(Implied::of_method(method));
    }

    pub(super) fn macro_call(&mut self, mac: &Macro) {
        let last = mac.path.segments.last().map(|last| name(&last.ident));
        let last = last.as_deref().unwrap_or_default();
        // A macro of the crate, or of a dependency, may hide std's macro.
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
                turn.visit_pat(&pattern);
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
            // The destination that these macros write to may be a type of the crate.
            "write" | "writeln" => &[Implied::Format, Implied::Conversion],
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
            // All elements but one are copies.
            self.need(&[Implied::Clone, Implied::Drop]);
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
pub(super) struct Argument(pub(super) Expr);

impl syn::parse::Parse for Argument {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(syn::Ident) && input.peek2(Token![=]) && !input.peek2(Token![==]) {
            input.parse::<syn::Ident>()?;
            input.parse::<Token![=]>()?;
        }
        input.parse().map(Self)
    }
}

/// Returns the expression in these parentheses.
pub(super) fn without_parentheses(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(expr) => without_parentheses(&expr.expr),
        Expr::Group(expr) => without_parentheses(&expr.expr),
        expr => expr,
    }
}
