//! Looking at one loop, or at the body of one function.

use std::collections::{HashMap, HashSet};

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Arm, BinOp, Block, Expr, ExprCall, ExprClosure, ExprForLoop, ExprIf, ExprLet, ExprMacro,
    ExprMethodCall, ExprWhile, Item, Label, Local, Macro, Member, Pat, Stmt, Token, UnOp,
};

use super::{Lasting, names, names_in};
use crate::resolve::name;

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    /// A guard of a lock, or something that is reached through one.
    Guard,
    /// A value that nobody else has.
    Owned,
    /// Perhaps a reference to something that is there after the turn.
    Other,
}

/// A place where a block may lead that is no way round again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    /// The turn of a loop that is looked at: `break` and `return` lead out of it.
    Loop,
    /// The body of a function: what comes after it is somebody else's.
    Function,
}

pub(super) struct Turn<'l, 'p> {
    lasting: &'l Lasting<'p>,
    around: Around,
    /// The label of the loop that is looked at.
    label: Option<String>,
    /// Variables that begin and end within the turn.
    scopes: Vec<HashMap<String, Variable>>,
    /// How many loops inside of the one that is looked at are around.
    loops: u32,
    /// Their labels.
    labels: Vec<String>,
    closures: u32,
    /// `self` is behind a guard.
    guarded: bool,
    /// Writing to a formatter is what it is for.
    writes: bool,
    /// Variables from outside that are guards which the turn gives away and gets back.
    returned: HashSet<String>,
    /// There may be an event.
    has_events: bool,
    qualifies: bool,
}

impl<'l, 'p> Turn<'l, 'p> {
    fn new(lasting: &'l Lasting<'p>, around: Around) -> Self {
        Self {
            lasting,
            around,
            label: None,
            scopes: vec![HashMap::new()],
            loops: 0,
            labels: Vec::new(),
            closures: 0,
            guarded: false,
            writes: false,
            returned: HashSet::new(),
            has_events: false,
            qualifies: true,
        }
    }

    /// Whether this expression is a loop that qualifies.
    pub(super) fn of_loop(lasting: &'l Lasting<'p>, expr: &Expr) -> bool {
        let mut turn = Self::new(lasting, Around::Loop);
        let label = |label: &Option<Label>| label.as_ref().map(|it| it.name.ident.to_string());
        match expr {
            Expr::Loop(expr) => {
                turn.label = label(&expr.label);
                turn.returned = returned_guards(&expr.body);
                turn.visit_block(&expr.body);
            }
            Expr::While(expr) => {
                turn.label = label(&expr.label);
                turn.returned = returned_guards(&expr.body);
                turn.scopes.push(HashMap::new());
                turn.visit_expr(&expr.cond);
                turn.visit_block(&expr.body);
            }
            _ => return false,
        }
        turn.qualifies && turn.has_events
    }

    /// Whether a call of a function with this body leaves nothing behind.
    pub(super) fn of_function(
        lasting: &'l Lasting<'p>,
        body: &Block,
        parameters: HashSet<String>,
        guarded: bool,
        writes: bool,
    ) -> bool {
        let mut turn = Self::new(lasting, Around::Function);
        turn.guarded = guarded;
        turn.writes = writes;
        let parameters = parameters.into_iter().map(|it| (it, Variable::Other));
        turn.scopes.push(parameters.collect());
        turn.visit_block(body);
        turn.qualifies
    }

    fn give_up(&mut self) {
        self.qualifies = false;
    }

    fn within(&mut self, inside: impl FnOnce(&mut Self)) {
        self.scopes.push(HashMap::new());
        inside(self);
        self.scopes.pop();
    }

    fn bind(&mut self, pattern: &Pat, variable: Variable) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(names_in(pattern).into_iter().map(|it| (it, variable)));
        }
    }

    fn variable(&self, name: &str) -> Option<Variable> {
        let mut scopes = self.scopes.iter().rev();
        scopes.find_map(|scope| scope.get(name)).copied()
    }

    /// What a place or a value is part of. `None`: of something from outside.
    fn root(&self, expr: &Expr) -> Option<Variable> {
        match expr {
            Expr::Path(path) => {
                let only = path.path.get_ident()?;
                if only == "self" {
                    return self.guarded.then_some(Variable::Guard);
                }
                self.variable(&name(only))
            }
            Expr::Field(expr) => self.root(&expr.base),
            Expr::Index(expr) => self.root(&expr.expr),
            Expr::Paren(expr) => self.root(&expr.expr),
            Expr::Group(expr) => self.root(&expr.expr),
            Expr::Try(expr) => self.root(&expr.expr),
            Expr::Reference(expr) => self.root(&expr.expr),
            Expr::Unary(expr) if matches!(expr.op, UnOp::Deref(_)) => {
                // What an owned value leads to may be somebody else's.
                match self.root(&expr.expr)? {
                    Variable::Guard => Some(Variable::Guard),
                    _ => Some(Variable::Other),
                }
            }
            Expr::MethodCall(call) => {
                let method = name(&call.method);
                if names::GUARDS.contains(&method.as_str())
                    && call.args.is_empty()
                    && self.lasting.named(&method, false).is_none()
                {
                    return Some(Variable::Guard);
                }
                match self.root(&call.receiver) {
                    Some(Variable::Guard) => Some(Variable::Guard),
                    _ if makes_values(&method) => Some(Variable::Owned),
                    _ => Some(Variable::Other),
                }
            }
            Expr::Call(call) => Some(match &*call.func {
                Expr::Path(path) => {
                    let last = path.path.segments.last().map(|last| name(&last.ident));
                    let makes = last.as_deref().is_some_and(|last| {
                        matches!(last, "new" | "with_capacity" | "default")
                            && self.lasting.named(last, false).is_none()
                    });
                    if makes {
                        Variable::Owned
                    } else {
                        Variable::Other
                    }
                }
                _ => Variable::Other,
            }),
            Expr::Lit(_) | Expr::Array(_) | Expr::Repeat(_) | Expr::Binary(_) => {
                Some(Variable::Owned)
            }
            Expr::Macro(expr) => Some(if expr.mac.path.is_ident("vec") {
                Variable::Owned
            } else {
                Variable::Other
            }),
            _ => Some(Variable::Other),
        }
    }

    /// Whether it may be written to: it goes away with the turn, or is an event.
    fn is_own(&self, place: &Expr) -> bool {
        match place {
            Expr::Path(path) => match path.path.get_ident() {
                Some(only) if only == "self" => false,
                Some(only) => {
                    let only = name(only);
                    self.variable(&only).is_some()
                        || self.returned.contains(&only)
                        || self.is_static(&only)
                }
                None => path
                    .path
                    .segments
                    .last()
                    .is_some_and(|last| self.is_static(&name(&last.ident))),
            },
            Expr::Paren(expr) => self.is_own(&expr.expr),
            Expr::Group(expr) => self.is_own(&expr.expr),
            Expr::Tuple(expr) => expr.elems.iter().all(|place| self.is_own(place)),
            Expr::Array(expr) => expr.elems.iter().all(|place| self.is_own(place)),
            Expr::Infer(_) => true,
            _ => self.may_change(place),
        }
    }

    /// Whether what this is a part of may be changed.
    fn may_change(&self, expr: &Expr) -> bool {
        if let Some(root) = self.static_root(expr) {
            return self.variable(&root).is_none();
        }
        matches!(self.root(expr), Some(Variable::Guard | Variable::Owned))
    }

    fn is_static(&self, name: &str) -> bool {
        self.lasting.statics.contains(name)
    }

    /// The `static mut` that a place is part of.
    fn static_root(&self, place: &Expr) -> Option<String> {
        match place {
            Expr::Path(path) => {
                let last = name(&path.path.segments.last()?.ident);
                self.is_static(&last).then_some(last)
            }
            Expr::Field(expr) => self.static_root(&expr.base),
            Expr::Index(expr) => self.static_root(&expr.expr),
            Expr::Paren(expr) => self.static_root(&expr.expr),
            _ => None,
        }
    }

    fn is_static_place(&self, place: &Expr) -> bool {
        self.static_root(place).is_some()
    }

    /// Whether this block ends with something that leads out of the loop, and never round.
    fn leaves(&self, block: &Block) -> bool {
        let last = match block.stmts.last() {
            Some(Stmt::Expr(expr, _)) => self.is_exit(expr),
            Some(Stmt::Macro(last)) => is_panic(&last.mac),
            _ => false,
        };
        last && !goes_round(block)
    }

    fn is_exit(&self, expr: &Expr) -> bool {
        if let Expr::Macro(expr) = expr {
            return is_panic(&expr.mac);
        }
        if self.around != Around::Loop || self.closures > 0 {
            return false;
        }
        match expr {
            Expr::Return(_) => true,
            Expr::Break(expr) => match &expr.label {
                None => self.loops == 0,
                Some(label) => {
                    let label = label.ident.to_string();
                    !self.labels.contains(&label)
                }
            },
            Expr::Block(expr) => expr.label.is_none() && self.leaves(&expr.block),
            Expr::Unsafe(expr) => self.leaves(&expr.block),
            _ => false,
        }
    }

    /// A loop inside, or a block with a label.
    fn inside(&mut self, label: &Option<Label>, is_loop: bool, inside: impl FnOnce(&mut Self)) {
        if let Some(label) = label {
            self.labels.push(label.name.ident.to_string());
        }
        self.loops += u32::from(is_loop);
        self.within(inside);
        self.loops -= u32::from(is_loop);
        if label.is_some() {
            self.labels.pop();
        }
    }

    fn call(&mut self, call: &ExprCall) {
        let path = match &*call.func {
            Expr::Path(path) => path,
            // A closure that is written here is looked at.
            Expr::Paren(_) | Expr::Closure(_) => return self.visit_expr(&call.func),
            _ => return self.give_up(),
        };
        let mut segments = path.path.segments.iter().rev();
        let Some(last) = segments.next().map(|last| name(&last.ident)) else {
            return self.give_up();
        };
        let owner = segments.next().map(|owner| name(&owner.ident));
        let is_local = owner.is_none() && self.variable(&last).is_some();
        if is_local {
            // Its body has been looked at where it was written, unless it came from elsewhere.
            if self.variable(&last) != Some(Variable::Owned) {
                self.give_up();
            }
            return;
        }
        if let Some(qualifies) = self.lasting.named(&last, false) {
            self.has_events = true;
            if !qualifies {
                self.give_up();
            }
            return;
        }
        let known = match &owner {
            Some(owner) => names::FUNCTIONS.contains(&(owner.as_str(), last.as_str())),
            None => names::BY_NAME.contains(&last.as_str()),
        };
        let is_number = owner.as_deref().is_some_and(is_number);
        // The constructor of a tuple struct or of a variant.
        let constructs = last.starts_with(char::is_uppercase);
        self.has_events |= last.starts_with("park");
        if !known && !constructs && !is_number {
            self.give_up();
        }
    }

    fn method_call(&mut self, call: &ExprMethodCall) {
        let method = name(&call.method);
        let method = method.as_str();
        let may_change = self.may_change(&call.receiver);
        if let Some(qualifies) = self.lasting.named(method, may_change) {
            self.has_events = true;
            if !qualifies {
                self.give_up();
            }
            return;
        }
        let arguments = call.args.len();
        if names::EVENTS.contains(&(method, arguments)) {
            self.has_events = true;
            return;
        }
        if (method, arguments) == names::SWAP && call.args.last().is_some_and(is_ordering) {
            self.has_events = true;
            return;
        }
        let is_made_here = matches!(
            &*call.receiver,
            Expr::MethodCall(_) | Expr::Call(_) | Expr::Paren(_)
        );
        let fine = names::PURE.contains(&method)
            || is_number_method(method)
            || names::ADVANCE.contains(&method) && (is_made_here || may_change)
            || names::CHANGES.contains(&method) && may_change
            || names::CHANGES_OF_CELLS.contains(&method) && may_change && !self.lasting.has_cells;
        if !fine {
            self.give_up();
        }
    }

    fn macro_call(&mut self, mac: &Macro) {
        let last = mac.path.segments.last().map(|last| name(&last.ident));
        let last = last.as_deref().unwrap_or_default();
        if self.lasting.named(last, false).is_some() {
            return self.give_up();
        }
        if names::PANICS.contains(&last) || names::CONSTANT_MACROS.contains(&last) {
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

impl<'ast> Visit<'ast> for Turn<'_, '_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if !self.qualifies {
            return;
        }
        match expr {
            Expr::Return(_) | Expr::Break(_) if self.is_exit(expr) => {}
            Expr::Block(block) if self.is_exit(expr) => {
                let _ = block;
            }
            Expr::Block(block) => self.inside(&block.label, false, |turn| {
                turn.visit_block(&block.block);
            }),
            Expr::Assign(assign) => {
                if !self.is_own(&assign.left) {
                    return self.give_up();
                }
                self.has_events |= self.is_static_place(&assign.left);
                visit::visit_expr_assign(self, assign);
            }
            Expr::Binary(binary) => {
                if is_assignment(&binary.op) {
                    if !self.is_own(&binary.left) {
                        return self.give_up();
                    }
                    self.has_events |= self.is_static_place(&binary.left);
                }
                visit::visit_expr_binary(self, binary);
            }
            Expr::Reference(reference) => {
                if reference.mutability.is_some() && !self.is_own(&reference.expr) {
                    return self.give_up();
                }
                visit::visit_expr_reference(self, reference);
            }
            Expr::Path(path) => {
                // It may be a `static mut`, which makes an event.
                let last = path.path.segments.last();
                self.has_events |= last.is_some_and(|last| self.is_static(&name(&last.ident)));
            }
            Expr::Call(call) => {
                self.call(call);
                call.args
                    .iter()
                    .for_each(|argument| self.visit_expr(argument));
            }
            Expr::MethodCall(call) => {
                self.method_call(call);
                self.visit_expr(&call.receiver);
                call.args
                    .iter()
                    .for_each(|argument| self.visit_expr(argument));
            }
            Expr::Macro(ExprMacro { mac, .. }) => self.macro_call(mac),
            Expr::Loop(expr) => {
                self.inside(&expr.label, true, |turn| turn.visit_block(&expr.body));
            }
            Expr::Async(_)
            | Expr::Await(_)
            | Expr::Yield(_)
            | Expr::TryBlock(_)
            | Expr::RawAddr(_)
            | Expr::Verbatim(_) => self.give_up(),
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        if self.leaves(block) {
            return;
        }
        self.within(|turn| block.stmts.iter().for_each(|stmt| turn.visit_stmt(stmt)));
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        match stmt {
            Stmt::Macro(stmt) => self.macro_call(&stmt.mac),
            _ => visit::visit_stmt(self, stmt),
        }
    }

    // What it does is looked at where it is called.
    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_local(&mut self, local: &'ast Local) {
        let mut variable = Variable::Other;
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
            if let Some((_, otherwise)) = &init.diverge {
                self.visit_expr(otherwise);
            }
            variable = match &*init.expr {
                Expr::Closure(_) => Variable::Owned,
                expr => self.root(expr).unwrap_or(Variable::Other),
            };
        }
        self.visit_pat(&local.pat);
        if is_number_type(&local.pat) {
            variable = Variable::Owned;
        }
        self.bind(&local.pat, variable);
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        if let Pat::Ident(ident) = pattern
            && ident.by_ref.is_some()
            && ident.mutability.is_some()
        {
            return self.give_up();
        }
        visit::visit_pat(self, pattern);
    }

    fn visit_expr_let(&mut self, expr: &'ast ExprLet) {
        self.visit_expr(&expr.expr);
        self.visit_pat(&expr.pat);
        let variable = self.root(&expr.expr).unwrap_or(Variable::Other);
        self.bind(&expr.pat, variable);
    }

    fn visit_expr_if(&mut self, expr: &'ast ExprIf) {
        self.within(|turn| {
            turn.visit_expr(&expr.cond);
            turn.visit_block(&expr.then_branch);
        });
        if let Some((_, otherwise)) = &expr.else_branch {
            self.visit_expr(otherwise);
        }
    }

    fn visit_expr_while(&mut self, expr: &'ast ExprWhile) {
        self.inside(&expr.label, true, |turn| {
            turn.visit_expr(&expr.cond);
            turn.visit_block(&expr.body);
        });
    }

    fn visit_expr_for_loop(&mut self, expr: &'ast ExprForLoop) {
        self.visit_expr(&expr.expr);
        let variable = self.root(&expr.expr).unwrap_or(Variable::Other);
        self.inside(&expr.label, true, |turn| {
            turn.visit_pat(&expr.pat);
            turn.bind(&expr.pat, variable);
            turn.visit_block(&expr.body);
        });
    }

    fn visit_expr_match(&mut self, expr: &'ast syn::ExprMatch) {
        self.visit_expr(&expr.expr);
        let variable = self.root(&expr.expr).unwrap_or(Variable::Other);
        for Arm { pat, body, .. } in &expr.arms {
            self.within(|turn| {
                turn.visit_pat(pat);
                turn.bind(pat, variable);
                turn.visit_expr(body);
            });
        }
    }

    fn visit_expr_closure(&mut self, expr: &'ast ExprClosure) {
        self.closures += 1;
        let loops = std::mem::take(&mut self.loops);
        self.within(|turn| {
            for input in &expr.inputs {
                turn.visit_pat(input);
                turn.bind(input, Variable::Other);
            }
            turn.visit_expr(&expr.body);
        });
        self.loops = loops;
        self.closures -= 1;
    }
}

/// Whether something in here leads to another turn, of whichever loop.
fn goes_round(block: &Block) -> bool {
    struct Continues(bool);
    impl<'ast> Visit<'ast> for Continues {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.0 |= matches!(expr, Expr::Continue(_));
            visit::visit_expr(self, expr);
        }
        fn visit_item(&mut self, _: &'ast Item) {}
        fn visit_macro(&mut self, mac: &'ast Macro) {
            let text = mac.tokens.to_string();
            self.0 |= text.contains("continue");
        }
    }
    let mut continues = Continues(false);
    continues.visit_block(block);
    continues.0
}

/// Variables that the loop gives to a wait with a time limit, and that get its result: the same guard again.
fn returned_guards(body: &Block) -> HashSet<String> {
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

fn is_panic(mac: &Macro) -> bool {
    let last = mac.path.segments.last();
    last.is_some_and(|last| names::PANICS.contains(&name(&last.ident).as_str()))
}

fn is_ordering(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| names::ORDERINGS.iter().any(|it| last.ident == it)),
        _ => false,
    }
}

fn is_number(name: &str) -> bool {
    matches!(
        name,
        "u8" | "u16"
            | "u32"
            | "u64"
            | "u128"
            | "usize"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "i128"
            | "isize"
            | "f32"
            | "f64"
            | "bool"
            | "char"
    )
}

/// Methods that only numbers have.
fn is_number_method(method: &str) -> bool {
    ["wrapping_", "checked_", "saturating_", "overflowing_"]
        .iter()
        .any(|prefix| method.starts_with(prefix))
}

/// Methods whose result is nobody else's.
fn makes_values(method: &str) -> bool {
    matches!(
        method,
        "collect" | "to_owned" | "to_string" | "to_vec" | "load" | "len" | "count"
    )
}

fn is_number_type(pattern: &Pat) -> bool {
    match pattern {
        Pat::Type(pattern) => match &*pattern.ty {
            syn::Type::Path(path) => path
                .path
                .get_ident()
                .is_some_and(|only| is_number(&only.to_string())),
            _ => false,
        },
        _ => false,
    }
}

const fn is_assignment(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}
