//! Looks at one loop, or at the body of one function.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{
    Arm, BinOp, Block, Expr, ExprClosure, ExprForLoop, ExprIf, ExprLet, ExprMacro, ExprWhile, Item,
    Label, Local, Macro, Member, Pat, ReturnType, Stmt, UnOp,
};

use super::declared::Declared;
use super::implied::{COERCION, Implied};
use super::returned::returned_guards;
use super::{Behind, Called, Function, Lasting, Outside, names, names_in};
use crate::resolve::name;

/// The kind of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    /// A guard of a lock, or a value that is reached through a guard.
    Guard,
    /// A value that no other part of the program has.
    Owned,
    /// A closure that is written in the turn, and that no other part of the program has.
    Closure,
    /// An object of std that threads share, or std's pointer to such an object.
    Object,
    /// Perhaps a reference to a value that is still there after the turn.
    Other,
}

/// A branch of a turn that leaves something behind, as a range of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Branch {
    /// The range between the braces of a block.
    Block(Range<usize>),
    /// The range of an arm without braces.
    Value(Range<usize>),
}

impl Branch {
    fn of_block(block: &Block) -> Self {
        let braces = block.brace_token.span;
        let (open, close) = (braces.open().byte_range(), braces.close().byte_range());
        Self::Block(open.end..close.start)
    }

    fn of_arm(body: &Expr) -> Self {
        match body {
            Expr::Block(block) => Self::of_block(&block.block),
            body => Self::Value(body.span().byte_range()),
        }
    }
}

/// The code that a visit looks at, which says where leaving a block leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    /// The turn of a loop: `break` and `return` lead out of the loop.
    Loop,
    /// The body of a function: the caller runs what comes after it.
    Function,
    /// The body of a closure, which reports itself what it leaves behind: its caller runs what comes after it.
    Closure,
}

pub(super) struct Turn<'l, 'p> {
    pub(super) lasting: &'l Lasting<'p>,
    around: Around,
    /// What may be left behind.
    pub(super) behind: Behind,
    /// The label of the loop that is looked at.
    label: Option<String>,
    /// Variables that begin and end within the turn.
    scopes: Vec<HashMap<String, Variable>>,
    /// The number of inner loops around the visit's place.
    loops: u32,
    /// The labels of the inner loops.
    labels: Vec<String>,
    closures: u32,
    /// Whether `self` is behind a guard.
    guarded: bool,
    /// Whether the function is meant to write to a formatter.
    pub(super) writes: bool,
    /// Variables from outside that are guards which the turn gives away and gets back.
    returned: HashSet<String>,
    /// The variables around the loop.
    pub(super) outside: &'l Outside<'l>,
    /// Whether there may be an event, or a read of a clock.
    pub(super) has_events: bool,
    /// The branches that leave something behind.
    branches: Vec<Branch>,
    /// The number of macros around the visit's place.
    macros: u32,
    qualifies: bool,
}

impl<'l, 'p> Turn<'l, 'p> {
    fn new(lasting: &'l Lasting<'p>, around: Around, outside: &'l Outside<'l>) -> Self {
        Self {
            lasting,
            around,
            behind: Behind::Events,
            label: None,
            scopes: vec![HashMap::new()],
            loops: 0,
            labels: Vec::new(),
            closures: 0,
            guarded: false,
            writes: false,
            returned: HashSet::new(),
            outside,
            has_events: false,
            branches: Vec::new(),
            macros: 0,
            qualifies: true,
        }
    }

    /// Returns, if this expression is a loop that qualifies, the branches of its turns that leave something behind.
    pub(super) fn of_loop(
        lasting: &'l Lasting<'p>,
        expr: &Expr,
        outside: &'l Outside<'l>,
    ) -> Option<Vec<Branch>> {
        let mut turn = Self::new(lasting, Around::Loop, outside);
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
            _ => return None,
        }
        (turn.qualifies && turn.has_events).then_some(turn.branches)
    }

    /// Returns the branches of this closure that leave something behind. `None`: the whole closure may.
    pub(super) fn of_closure(
        lasting: &'l Lasting<'p>,
        closure: &ExprClosure,
        outside: &'l Outside<'l>,
    ) -> Option<Vec<Branch>> {
        let mut turn = Turn::new(lasting, Around::Closure, outside);
        turn.visit_closure(closure);
        turn.qualifies.then_some(turn.branches)
    }

    /// Whether it makes no difference that this closure is called once more.
    pub(super) fn may_be_repeated(
        lasting: &'l Lasting<'p>,
        closure: &ExprClosure,
        outside: &'l Outside<'l>,
    ) -> bool {
        let mut turn = Turn::new(lasting, Around::Closure, outside);
        turn.behind = Behind::Nothing;
        turn.visit_closure(closure);
        turn.qualifies && turn.branches.is_empty()
    }

    /// Whether a call of a function with this body leaves nothing behind.
    pub(super) fn of_function(
        lasting: &'l Lasting<'p>,
        function: Function<'p>,
        parameters: HashMap<String, Variable>,
        (guarded, writes): (bool, bool),
        behind: Behind,
    ) -> bool {
        let outside = Outside {
            own: function.owner.map(name),
            ..Outside::default()
        };
        let mut turn = Turn::new(lasting, Around::Function, &outside);
        turn.behind = behind;
        turn.guarded = guarded;
        turn.writes = writes;
        turn.scopes.push(parameters);
        turn.visit_block(function.body);
        turn.qualifies
    }

    pub(super) fn give_up(&mut self) {
        self.qualifies = false;
    }

    /// Looks at a branch of the turn. A branch that leaves something behind reports that when it is taken, where it
    /// can.
    fn branch(&mut self, branch: Branch, inside: impl FnOnce(&mut Self)) {
        if !self.qualifies {
            return;
        }
        let has_events = self.has_events;
        inside(self);
        let is_own = self.around != Around::Function
            && (self.closures, self.loops, self.macros) == (0, 0, 0);
        if !self.qualifies && is_own {
            self.qualifies = true;
            self.has_events = has_events;
            self.branches.push(branch);
        }
    }

    pub(super) fn declared(&self) -> &'l Declared<'p> {
        &self.lasting.functions.declared
    }

    pub(super) fn within(&mut self, inside: impl FnOnce(&mut Self)) {
        self.scopes.push(HashMap::new());
        inside(self);
        self.scopes.pop();
    }

    pub(super) fn bind(&mut self, pattern: &Pat, variable: Variable) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(names_in(pattern).into_iter().map(|it| (it, variable)));
        }
    }

    pub(super) fn variable(&self, name: &str) -> Option<Variable> {
        let mut scopes = self.scopes.iter().rev();
        scopes.find_map(|scope| scope.get(name)).copied()
    }

    /// Returns the kind of the variable that a place or a value is part of. `None`: it is part of something from
    /// outside.
    pub(super) fn root(&self, expr: &Expr) -> Option<Variable> {
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
                // The value that an owned value leads to may belong to other code.
                match self.root(&expr.expr)? {
                    Variable::Guard => Some(Variable::Guard),
                    _ => Some(Variable::Other),
                }
            }
            Expr::MethodCall(call) => {
                let method = name(&call.method);
                if names::GUARDS.contains(&method.as_str())
                    && call.args.is_empty()
                    && self
                        .lasting
                        .of_name(&method, self.called_on(&call.receiver, &method))
                        .is_none()
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
                            && self.lasting.of_name(last, Called::ByPath).is_none()
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

    /// Whether this is an object of std that threads share, or std's pointer to such an object: its methods look
    /// through no type of the crate, and are methods of none.
    pub(super) fn is_object(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => match path.path.get_ident().map(name) {
                Some(only) => match self.variable(&only) {
                    Some(variable) => variable == Variable::Object,
                    None if self.outside.variables.contains(only.as_str()) => {
                        self.outside.objects.contains(only.as_str())
                    }
                    None => self.declared().is_static_object(&only),
                },
                None => path.path.segments.last().is_some_and(|last| {
                    path.qself.is_none() && self.declared().is_static_object(&name(&last.ident))
                }),
            },
            Expr::Field(field) => match &field.member {
                Member::Named(member) => {
                    let declared = self.declared();
                    let own = self.own_type(&field.base);
                    let types = own.and_then(|own| declared.field_of(own, &name(member)));
                    match types {
                        Some(types) => types.iter().all(|of| declared.is_object(of)),
                        None => declared.is_field_object(&name(member)),
                    }
                }
                Member::Unnamed(_) => false,
            },
            Expr::Paren(expr) => self.is_object(&expr.expr),
            Expr::Group(expr) => self.is_object(&expr.expr),
            _ => false,
        }
    }

    /// Whether this is an object around the loop that only says how long the loop pauses: its methods do nothing else.
    pub(super) fn is_pacer(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => path.path.get_ident().map(name).is_some_and(|only| {
                self.variable(&only).is_none() && self.outside.pacers.contains(&only)
            }),
            _ => false,
        }
    }

    /// Returns the name of the crate's type that this is a value of, or a pointer of std to one, if that is known.
    fn own_type(&self, expr: &Expr) -> Option<&'l str> {
        let declared = self.declared();
        match expr {
            Expr::Path(path) if path.path.is_ident("self") => {
                declared.type_named(self.outside.own.as_ref()?)
            }
            Expr::Field(field) => {
                let Member::Named(member) = &field.member else {
                    return None;
                };
                let types = declared.field_of(self.own_type(&field.base)?, &name(member))?;
                let mut owns = types.iter().map(|of| declared.own_type(of));
                let first = owns.next()??;
                owns.all(|own| own == Some(first)).then_some(first)
            }
            Expr::Paren(expr) => self.own_type(&expr.expr),
            Expr::Group(expr) => self.own_type(&expr.expr),
            Expr::Reference(expr) => self.own_type(&expr.expr),
            _ => None,
        }
    }

    /// Returns the way in which this method of this receiver is called.
    pub(super) fn called_on(&self, receiver: &Expr, method: &str) -> Called<'l> {
        if self.is_object(receiver) {
            return Called::OnObject;
        }
        let own = self.own_type(receiver);
        let own = own.filter(|own| self.lasting.has_method(own, method));
        own.map_or(Called::AsMethod, Called::OnOwn)
    }

    /// Whether this is a value of a type that is built into the language, whose operators are no implementations of the
    /// crate.
    fn is_primitive(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(_) => true,
            Expr::Paren(expr) => self.is_primitive(&expr.expr),
            Expr::Group(expr) => self.is_primitive(&expr.expr),
            Expr::Unary(expr) => {
                !matches!(expr.op, UnOp::Deref(_)) && self.is_primitive(&expr.expr)
            }
            Expr::Binary(expr) => match of_operator(&expr.op) {
                [] => !is_assignment(&expr.op),
                [Implied::Comparison] => true,
                _ => self.is_primitive(&expr.left) && self.is_primitive(&expr.right),
            },
            Expr::Cast(expr) => is_number_named(&expr.ty, self.declared()),
            Expr::MethodCall(call) => {
                let method = name(&call.method);
                let of_atomic = names::VALUES.contains(&(method.as_str(), call.args.len()))
                    && call.args.last().is_some_and(is_ordering)
                    && !self.lasting.functions.words.has_generic_atomics;
                let called = self.called_on(&call.receiver, &method);
                (of_atomic || names::TELLS.contains(&(method.as_str(), call.args.len())))
                    && self.lasting.of_name(&method, called).is_none()
            }
            _ => false,
        }
    }

    /// Whether the turn may write to this place: the place ends with the turn, or the write is an event.
    fn is_own(&self, place: &Expr) -> bool {
        match place {
            Expr::Path(path) => match path.path.get_ident() {
                Some(only) if only == "self" => false,
                Some(only) => {
                    let only = name(only);
                    self.variable(&only).is_some()
                        || self.returned.contains(&only)
                        || self.outside.paces.contains(&only)
                        || self.is_static(&only) && self.behind == Behind::Events
                }
                None => {
                    path.path
                        .segments
                        .last()
                        .is_some_and(|last| self.is_static(&name(&last.ident)))
                        && self.behind == Behind::Events
                }
            },
            Expr::Paren(expr) => self.is_own(&expr.expr),
            Expr::Group(expr) => self.is_own(&expr.expr),
            Expr::Tuple(expr) => expr.elems.iter().all(|place| self.is_own(place)),
            Expr::Array(expr) => expr.elems.iter().all(|place| self.is_own(place)),
            Expr::Infer(_) => true,
            _ => self.may_change(place),
        }
    }

    /// Whether the turn may change the value that this is a part of.
    pub(super) fn may_change(&self, expr: &Expr) -> bool {
        let by_events = self.behind == Behind::Events;
        if let Some(root) = self.static_root(expr) {
            return by_events && self.variable(&root).is_none();
        }
        match self.root(expr) {
            Some(Variable::Guard) => by_events,
            Some(Variable::Owned | Variable::Closure) => true,
            _ => false,
        }
    }

    fn is_static(&self, name: &str) -> bool {
        self.lasting.is_static(name)
    }

    /// Returns the `static mut` that a place is part of.
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

    /// Whether this is a guard that the turn gives away and gets back.
    fn is_returned(&self, place: &Expr) -> bool {
        match place {
            Expr::Path(path) => path
                .path
                .get_ident()
                .is_some_and(|only| self.returned.contains(&name(only))),
            Expr::Tuple(tuple) => tuple.elems.first().is_some_and(|it| self.is_returned(it)),
            _ => false,
        }
    }

    fn is_static_place(&self, place: &Expr) -> bool {
        self.static_root(place).is_some()
    }

    /// Whether this block ends with a statement that leads out of the loop, and never round.
    fn leaves(&self, block: &Block) -> bool {
        let last = match block.stmts.last() {
            Some(Stmt::Expr(expr, _)) => self.is_exit(expr),
            Some(Stmt::Macro(last)) => is_panic(&last.mac),
            _ => false,
        };
        last && !goes_round(block)
    }

    fn visit_closure(&mut self, expr: &ExprClosure) {
        self.within(|turn| {
            for input in &expr.inputs {
                turn.visit_pat(input);
                turn.bind(input, Variable::Other);
            }
            if !matches!(expr.output, ReturnType::Default) {
                turn.need(COERCION);
            }
            turn.visit_expr(&expr.body);
        });
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

    fn within_macro(&mut self, mac: &Macro) {
        self.macros += 1;
        self.macro_call(mac);
        self.macros -= 1;
    }

    /// Visits an inner loop, or a block with a label.
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
                if !matches!(
                    &*assign.left,
                    Expr::Path(_) | Expr::Tuple(_) | Expr::Infer(_)
                ) {
                    self.need(&[Implied::DerefMut]);
                }
                if !self.is_returned(&assign.left) {
                    self.need(&[Implied::Drop]);
                    self.need(COERCION);
                }
                self.has_events |= self.is_static_place(&assign.left);
                visit::visit_expr_assign(self, assign);
            }
            Expr::Binary(binary) => {
                if is_assignment(&binary.op) {
                    if !self.is_own(&binary.left) {
                        return self.give_up();
                    }
                    self.need(&[Implied::Assigning, Implied::DerefMut]);
                    self.has_events |= self.is_static_place(&binary.left);
                }
                if !(self.is_primitive(&binary.left) && self.is_primitive(&binary.right)) {
                    self.need(of_operator(&binary.op));
                }
                visit::visit_expr_binary(self, binary);
            }
            Expr::Reference(reference) => {
                if reference.mutability.is_some() {
                    if !self.is_own(&reference.expr) {
                        return self.give_up();
                    }
                    self.need(&[Implied::DerefMut]);
                }
                self.need(&[Implied::Deref]);
                visit::visit_expr_reference(self, reference);
            }
            Expr::Path(path) => {
                // The path may be a `static mut`, which makes an event.
                let last = path.path.segments.last();
                self.has_events |= last.is_some_and(|last| self.is_static(&name(&last.ident)));
                // Or the path is a function, which the code that gets it may call.
                self.name_function(path);
                self.name_value(path);
            }
            Expr::Unary(unary) => {
                match unary.op {
                    UnOp::Deref(_) => self.need(&[Implied::Deref]),
                    _ if self.is_primitive(&unary.expr) => {}
                    _ => self.need(&[Implied::Negation]),
                }
                visit::visit_expr_unary(self, unary);
            }
            Expr::Index(index) => {
                self.need(&[Implied::Operator, Implied::Deref]);
                visit::visit_expr_index(self, index);
            }
            Expr::Field(field) => {
                self.need(&[Implied::Deref]);
                visit::visit_expr_field(self, field);
            }
            Expr::Try(expr) => {
                self.need(&[Implied::Conversion]);
                visit::visit_expr_try(self, expr);
            }
            Expr::Struct(of) => {
                let last = of.path.segments.last();
                let last = last.map(|last| name(&last.ident));
                self.make(&last.unwrap_or_default());
                self.need(COERCION);
                visit::visit_expr_struct(self, of);
            }
            Expr::Call(call) => {
                self.call(call);
                self.arguments(call);
            }
            Expr::MethodCall(call) => {
                self.method_call(call);
                self.visit_expr(&call.receiver);
                call.args
                    .iter()
                    .for_each(|argument| self.visit_expr(argument));
            }
            Expr::Macro(ExprMacro { mac, .. }) => self.within_macro(mac),
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
            Stmt::Macro(stmt) => self.within_macro(&stmt.mac),
            _ => visit::visit_stmt(self, stmt),
        }
    }

    // An inner item is looked at where it is called.
    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_local(&mut self, local: &'ast Local) {
        let mut variable = Variable::Other;
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
            if let Some((_, otherwise)) = &init.diverge {
                self.visit_expr(otherwise);
            }
            variable = match &*init.expr {
                Expr::Closure(_) => Variable::Closure,
                expr => self.root(expr).unwrap_or(Variable::Other),
            };
        }
        self.visit_pat(&local.pat);
        if is_number_type(&local.pat) {
            variable = Variable::Owned;
        } else if matches!(local.pat, Pat::Type(_)) {
            self.need(COERCION);
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
            let then = &expr.then_branch;
            turn.branch(Branch::of_block(then), |turn| turn.visit_block(then));
        });
        let Some((_, otherwise)) = &expr.else_branch else {
            return;
        };
        if let Expr::Block(block) = &**otherwise {
            let branch = Branch::of_block(&block.block);
            self.branch(branch, |turn| turn.visit_expr(otherwise));
        } else {
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
        if !matches!(&*expr.expr, Expr::Range(_)) {
            self.need(&[Implied::Iteration]);
        }
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
                // A guard of an arm sees the variables that the pattern binds.
                turn.bind(pat, variable);
                turn.visit_pat(pat);
                turn.branch(Branch::of_arm(body), |turn| turn.visit_expr(body));
            });
        }
    }

    fn visit_expr_closure(&mut self, expr: &'ast ExprClosure) {
        self.closures += 1;
        let loops = std::mem::take(&mut self.loops);
        self.visit_closure(expr);
        self.loops = loops;
        self.closures -= 1;
    }
}

/// Whether some code in this block leads to another turn, of any loop.
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

fn is_panic(mac: &Macro) -> bool {
    let last = mac.path.segments.last();
    last.is_some_and(|last| is_panic_name(&name(&last.ident)))
}

pub(super) fn is_panic_name(name: &str) -> bool {
    names::PANICS.contains(&name)
}

pub(super) fn is_ordering(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| names::ORDERINGS.iter().any(|it| last.ident == it)),
        _ => false,
    }
}

pub(super) fn is_number(name: &str) -> bool {
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

/// Whether only numbers have a method of this name.
pub(crate) fn is_number_method(method: &str) -> bool {
    ["wrapping_", "checked_", "saturating_", "overflowing_"]
        .iter()
        .any(|prefix| method.starts_with(prefix))
}

/// Whether the result of a method of this name belongs to no other part of the program.
fn makes_values(method: &str) -> bool {
    matches!(
        method,
        "collect" | "to_owned" | "to_string" | "to_vec" | "load" | "len" | "count"
    )
}

fn is_number_named(of: &syn::Type, declared: &Declared<'_>) -> bool {
    match of {
        syn::Type::Path(path) => path.path.get_ident().is_some_and(|only| {
            let only = name(only);
            is_number(&only) && declared.is_of_std(&only)
        }),
        _ => false,
    }
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

/// Returns the implied calls of an operator that assigns nothing.
const fn of_operator(op: &BinOp) -> &'static [Implied] {
    match op {
        BinOp::And(_) | BinOp::Or(_) => &[],
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
            &[Implied::Comparison]
        }
        op if is_assignment(op) => &[],
        _ => &[Implied::Operator],
    }
}

/// Whether the operator assigns to its left operand.
pub(crate) const fn is_assignment(op: &BinOp) -> bool {
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
