//! Variables that only say how long a loop pauses.
//!
//! ```text
//! let mut step = 0;
//! while !flag.load(o) {
//!     for _ in 0..1 << step { hint::spin_loop() }
//!     if step < 6 { step += 1 }
//! }
//! ```
//!
//! A turn that waits changes such a variable, and nothing but the length of the next pauses depends on the variable:
//! its value does not tell the program how often the loop has read. That holds where each mention of the variable in
//! its scope is one of these: its declaration; an assignment of numbers to another such variable; the length of a
//! pause; a condition on which nothing but pauses and such assignments depend.
//!
//! The variable must not fail either, as a number does that grows beyond its type: it is kept below a bound, or grows
//! by so small steps that no execution reaches the end of the type.

mod growth;
mod object;
mod scope;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::str::FromStr as _;

pub(super) use object::Pacers;

use growth::{SMALL, Step, step};
use proc_macro2::TokenStream;
use scope::{Declared, mentions, scope};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, ExprForLoop, ExprIf, Lit, Local, Pat, Stmt, UnOp};

use super::turn::{is_assignment, is_number_method};
use crate::resolve::name;

/// Returns the variables around this loop that are nothing but paces. `text` is the text of the loop's file.
pub(crate) fn paces(looped: &Expr, text: &str) -> HashSet<String> {
    let body = match looped {
        Expr::While(it) => &it.body,
        Expr::Loop(it) => &it.body,
        _ => return HashSet::new(),
    };
    let mut assigned = Assigned::default();
    assigned.visit_block(body);
    if assigned.0.is_empty() {
        return HashSet::new();
    }
    let (Ok(tokens), range) = (TokenStream::from_str(text), looped.span().byte_range()) else {
        return HashSet::new();
    };
    let mut paces: HashSet<String> = assigned.0;
    paces.extend(Assigned::locals(body));
    // A variable that depends on one that is no pace is no pace.
    loop {
        let mut found = Found::in_loop(looped, &paces);
        found.scopes(&tokens, &range);
        let left: HashSet<_> = paces
            .iter()
            .filter(|it| found.is_pace(it))
            .cloned()
            .collect();
        if left.len() == paces.len() {
            return paces;
        }
        paces = left;
    }
}

/// The variables that are assigned to.
#[derive(Default)]
struct Assigned(HashSet<String>);

impl Assigned {
    /// Returns the variables that are made of numbers in the loop.
    fn locals(body: &Block) -> HashSet<String> {
        struct Locals(HashSet<String>);
        impl<'ast> Visit<'ast> for Locals {
            fn visit_local(&mut self, local: &'ast Local) {
                if local
                    .init
                    .as_ref()
                    .is_some_and(|init| is_number(&init.expr))
                {
                    self.0.extend(single(&local.pat));
                }
                visit::visit_local(self, local);
            }
        }
        let mut locals = Locals(HashSet::new());
        locals.visit_block(body);
        locals.0
    }
}

impl<'ast> Visit<'ast> for Assigned {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Assign(assign) => self.0.extend(variable(&assign.left)),
            Expr::Binary(binary) if is_assignment(&binary.op) => {
                self.0.extend(variable(&binary.left));
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

/// What was found about the variables that may be paces.
struct Found<'p> {
    paces: &'p HashSet<String>,
    /// The number of mentions of each variable that are allowed for a pace.
    good: HashMap<String, usize>,
    /// The number of all mentions of each variable in its scope.
    all: HashMap<String, usize>,
    /// The bounds that hold at the visit's place: each variable and the largest value that it may have.
    bounds: Vec<(String, u64)>,
    bad: HashSet<String>,
    /// The largest value that each variable may get by an assignment; `None`: not known.
    grown: Vec<(String, Option<u64>)>,
    /// Variables by which something is shifted, with the largest value that each may have there; `None`: not known.
    shifted: Vec<(String, Option<u64>)>,
}

impl<'p> Found<'p> {
    fn in_loop(looped: &Expr, paces: &'p HashSet<String>) -> Self {
        let mut found = Found {
            paces,
            good: HashMap::new(),
            all: HashMap::new(),
            bounds: Vec::new(),
            bad: HashSet::new(),
            grown: Vec::new(),
            shifted: Vec::new(),
        };
        found.visit_expr(looped);
        found
    }

    fn is_pace(&self, variable: &String) -> bool {
        let good = self.good.get(variable).copied().unwrap_or(0);
        let all = self.all.get(variable);
        !self.bad.contains(variable)
            && all.is_some_and(|all| *all == good)
            && self.shifts_fit(variable)
    }

    /// Whether shifts by this variable are by less than the number of bits of a number.
    fn shifts_fit(&self, variable: &String) -> bool {
        let grown = self.grown.iter().filter(|(it, _)| it == variable);
        let most = grown
            .map(|(_, most)| *most)
            .reduce(|one, other| Some(one?.max(other?)));
        let mut shifted = self.shifted.iter().filter(|(it, _)| it == variable);
        let fits = |most: Option<u64>| most.is_some_and(|most| most < 31);
        shifted.all(|(_, here)| fits(*here) || fits(most.flatten()))
    }

    /// Counts the mentions of each variable in its scope: the innermost block around or in the loop that declares the
    /// variable.
    fn scopes(&mut self, tokens: &TokenStream, looped: &Range<usize>) {
        for variable in self.paces {
            let Some((scope, declared, first)) = scope(tokens, looped, variable) else {
                continue;
            };
            self.all
                .insert(variable.clone(), mentions(&scope, variable));
            // Variables declared in the loop have been seen already.
            if declared == Declared::Around {
                *self.good.entry(variable.clone()).or_default() += 1;
                self.grown.push((variable.clone(), first));
            }
        }
    }

    /// Accepts all mentions in this expression.
    fn accept(&mut self, expr: &Expr) {
        let mut mentioned = Mentioned(Vec::new());
        mentioned.visit_expr(expr);
        for variable in mentioned.0 {
            *self.good.entry(variable).or_default() += 1;
        }
    }

    fn is_mine(&self, variable: &str) -> bool {
        self.paces.contains(variable)
    }

    fn mentions_mine(&self, expr: &Expr) -> bool {
        let mut mentioned = Mentioned(Vec::new());
        mentioned.visit_expr(expr);
        mentioned.0.iter().any(|it| self.is_mine(it))
    }

    /// Whether the block only pauses.
    fn only_pauses(&self, block: &Block) -> bool {
        block.stmts.iter().all(|stmt| match stmt {
            Stmt::Expr(expr, _) => self.is_pause(expr),
            Stmt::Local(local) => self.is_own_number(local),
            _ => false,
        })
    }

    fn is_own_number(&self, local: &Local) -> bool {
        let is_mine = single(&local.pat).is_some_and(|it| self.is_mine(&it));
        let init = local.init.as_ref();
        is_mine && init.is_some_and(|init| init.diverge.is_none() && is_number(&init.expr))
    }

    fn is_pause(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Assign(assign) => {
                variable(&assign.left).is_some_and(|it| self.is_mine(&it))
                    && is_number(&assign.right)
            }
            Expr::Binary(binary) if is_assignment(&binary.op) => {
                variable(&binary.left).is_some_and(|it| self.is_mine(&it))
                    && is_number(&binary.right)
            }
            Expr::Call(call) => match called(&call.func).as_deref() {
                Some("spin_loop" | "spin_loop_hint" | "yield_now") => call.args.is_empty(),
                Some("sleep" | "sleep_ms") => call.args.iter().all(is_number),
                _ => false,
            },
            Expr::ForLoop(of) => is_range(&of.expr) && self.only_pauses(&of.body),
            Expr::If(of) => {
                is_number(&of.cond)
                    && self.only_pauses(&of.then_branch)
                    && of
                        .else_branch
                        .as_ref()
                        .is_none_or(|(_, it)| self.is_pause(it))
            }
            Expr::Block(of) => of.label.is_none() && self.only_pauses(&of.block),
            Expr::Paren(of) => self.is_pause(&of.expr),
            _ => false,
        }
    }

    /// Looks at a new value of a variable: by which steps the variable may grow, and how far.
    fn grows(&mut self, variable: &str, value: &Expr) {
        let known = self.bounds.iter().rev().find(|(it, _)| it == variable);
        let bound = known.map(|(_, bound)| *bound);
        let most = match value {
            // The value is cut to a bound, and must not go beyond its type before.
            Expr::MethodCall(call) if call.method == "min" => {
                let least = call.args.first().and_then(number);
                let fits = match without_parentheses(&call.receiver) {
                    Expr::MethodCall(inner) => is_number_method(&name(&inner.method)),
                    Expr::Binary(sum) => step(&sum.op, &sum.left, &sum.right, variable)
                        .is_some_and(|step| least.is_some() && step.from(least).is_some()),
                    _ => false,
                };
                fits.then_some(least)
            }
            Expr::MethodCall(call) => {
                let method = name(&call.method);
                let never_fails =
                    method.starts_with("saturating_") || method.starts_with("wrapping_");
                never_fails.then_some(None)
            }
            Expr::Binary(sum) => {
                step(&sum.op, &sum.left, &sum.right, variable).and_then(|step| step.from(bound))
            }
            Expr::Lit(_) => Some(number(value)),
            _ => None,
        };
        self.becomes(variable, most);
    }

    /// Notes the largest value that a variable may get; `None`: the value may go beyond its type.
    fn becomes(&mut self, variable: &str, most: Option<Option<u64>>) {
        match most {
            Some(most) => self.grown.push((variable.to_owned(), most)),
            None => drop(self.bad.insert(variable.to_owned())),
        }
    }

    /// Looks for operations that may fail in a number that is made of variables.
    fn look_for_failures(&mut self, expr: &Expr) {
        struct Failures<'f, 'p>(&'f mut Found<'p>);
        impl<'ast> Visit<'ast> for Failures<'_, '_> {
            fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
                let found = &mut *self.0;
                let mentioned = |expr: &Expr| {
                    let mut mentioned = Mentioned(Vec::new());
                    mentioned.visit_expr(expr);
                    mentioned.0
                };
                let by = without_parentheses(&binary.right);
                match binary.op {
                    BinOp::Shl(_) | BinOp::Shr(_) => {
                        let cut = match by {
                            Expr::MethodCall(call) if call.method == "min" => {
                                call.args.first().and_then(number)
                            }
                            _ => None,
                        };
                        let plain = matches!(by, Expr::Path(_) | Expr::Cast(_)) || cut.is_some();
                        for variable in mentioned(by) {
                            let mut bounds = found.bounds.iter().rev();
                            let bound = bounds
                                .find(|(it, _)| *it == variable)
                                .map(|(_, most)| *most);
                            if plain {
                                found.shifted.push((variable, cut.or(bound)));
                            } else {
                                found.bad.insert(variable);
                            }
                        }
                        found.bad.extend(mentioned(&binary.left));
                    }
                    BinOp::Add(_) | BinOp::Mul(_) => {
                        let is_small = |expr: &Expr| number(expr).is_some_and(|it| it <= SMALL);
                        if !is_small(&binary.left) && !is_small(&binary.right) {
                            found.bad.extend(mentioned(&Expr::Binary(binary.clone())));
                        }
                    }
                    BinOp::Sub(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                        let divides = !matches!(binary.op, BinOp::Sub(_))
                            && number(by).is_some_and(|it| it > 0);
                        if !divides {
                            found.bad.extend(mentioned(&Expr::Binary(binary.clone())));
                        }
                    }
                    _ => {}
                }
                visit::visit_expr_binary(self, binary);
            }
            fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
                if matches!(unary.op, UnOp::Neg(_)) {
                    let mut mentioned = Mentioned(Vec::new());
                    mentioned.visit_expr(&unary.expr);
                    self.0.bad.extend(mentioned.0);
                }
                visit::visit_expr_unary(self, unary);
            }
        }
        Failures(self).visit_expr(expr);
    }
}

impl<'ast> Visit<'ast> for Found<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Assign(assign) if self.is_pause(expr) => {
                self.accept(&assign.left);
                self.accept(&assign.right);
                self.look_for_failures(&assign.right);
                let variable = variable(&assign.left).unwrap_or_default();
                self.grows(&variable, without_parentheses(&assign.right));
            }
            Expr::Binary(binary) if is_assignment(&binary.op) && self.is_pause(expr) => {
                self.accept(&binary.left);
                self.accept(&binary.right);
                let variable = variable(&binary.left).unwrap_or_default();
                let known = self.bounds.iter().rev().find(|(it, _)| *it == variable);
                let bound = known.map(|(_, bound)| *bound);
                let step = Step::of(&binary.op, number(&binary.right));
                self.becomes(&variable, step.and_then(|step| step.from(bound)));
            }
            Expr::Call(call) if self.is_pause(expr) => {
                for argument in &call.args {
                    self.accept(argument);
                    self.look_for_failures(argument);
                }
            }
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_local(&mut self, local: &'ast Local) {
        if self.is_own_number(local)
            && let (Some(variable), Some(init)) = (single(&local.pat), &local.init)
        {
            *self.good.entry(variable).or_default() += 1;
            self.accept(&init.expr);
            self.look_for_failures(&init.expr);
            return;
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_for_loop(&mut self, of: &'ast ExprForLoop) {
        if self.mentions_mine(&of.expr) && is_range(&of.expr) && self.only_pauses(&of.body) {
            self.accept(&of.expr);
            self.look_for_failures(&of.expr);
            self.visit_block(&of.body);
            return;
        }
        visit::visit_expr_for_loop(self, of);
    }

    fn visit_expr_if(&mut self, of: &'ast ExprIf) {
        let is_about = self.mentions_mine(&of.cond);
        if is_about && self.is_pause(&Expr::If(of.clone())) {
            self.accept(&of.cond);
            self.look_for_failures(&of.cond);
            let bound = bound(&of.cond);
            self.bounds.extend(bound.clone());
            self.visit_block(&of.then_branch);
            self.bounds
                .truncate(self.bounds.len() - usize::from(bound.is_some()));
            if let Some((_, otherwise)) = &of.else_branch {
                self.visit_expr(otherwise);
            }
            return;
        }
        visit::visit_expr_if(self, of);
    }
}

/// Returns the bound that a condition sets: a variable, and the largest value that it may have.
fn bound(cond: &Expr) -> Option<(String, u64)> {
    let Expr::Binary(of) = without_parentheses(cond) else {
        return None;
    };
    match of.op {
        BinOp::Lt(_) | BinOp::Le(_) => Some((variable(&of.left)?, number(&of.right)?)),
        BinOp::Gt(_) | BinOp::Ge(_) => Some((variable(&of.right)?, number(&of.left)?)),
        _ => None,
    }
}

fn number(expr: &Expr) -> Option<u64> {
    match without_parentheses(expr) {
        Expr::Lit(of) => match &of.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the expression is made of numbers, variables and lengths of time, and calls nothing else.
fn is_number(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(of) => matches!(of.lit, Lit::Int(_) | Lit::Float(_) | Lit::Bool(_)),
        Expr::Path(of) => of.qself.is_none(),
        Expr::Paren(of) => is_number(&of.expr),
        Expr::Group(of) => is_number(&of.expr),
        Expr::Cast(of) => is_number(&of.expr),
        Expr::Unary(of) => !matches!(of.op, UnOp::Deref(_)) && is_number(&of.expr),
        Expr::Binary(of) => !is_assignment(&of.op) && is_number(&of.left) && is_number(&of.right),
        Expr::MethodCall(of) => {
            let method = name(&of.method);
            (matches!(method.as_str(), "min" | "max") || is_number_method(&method))
                && is_number(&of.receiver)
                && of.args.iter().all(is_number)
        }
        Expr::Call(of) => {
            let of_time = match &*of.func {
                Expr::Path(path) => {
                    let mut segments = path.path.segments.iter().rev();
                    let last = segments.next().map(|it| name(&it.ident));
                    let is_maker = last.is_some_and(|last| last.starts_with("from_"));
                    is_maker && segments.next().is_some_and(|it| it.ident == "Duration")
                }
                _ => false,
            };
            of_time && of.args.iter().all(is_number)
        }
        _ => false,
    }
}

fn is_range(expr: &Expr) -> bool {
    match without_parentheses(expr) {
        Expr::Range(of) => {
            let ends = of.start.iter().chain(&of.end);
            of.end.is_some() && ends.map(|it| &**it).all(is_number)
        }
        _ => false,
    }
}

fn without_parentheses(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(of) => without_parentheses(&of.expr),
        Expr::Group(of) => without_parentheses(&of.expr),
        _ => expr,
    }
}

fn variable(expr: &Expr) -> Option<String> {
    match without_parentheses(expr) {
        Expr::Path(path) => path.path.get_ident().map(name),
        _ => None,
    }
}

fn single(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
            Some(name(&ident.ident))
        }
        _ => None,
    }
}

fn called(function: &Expr) -> Option<String> {
    match function {
        Expr::Path(path) => path.path.segments.last().map(|last| name(&last.ident)),
        _ => None,
    }
}

/// The variables that are named, once for each mention.
struct Mentioned(Vec<String>);

impl<'ast> Visit<'ast> for Mentioned {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if let Expr::Path(path) = expr {
            self.0.extend(path.path.get_ident().map(name));
        }
        visit::visit_expr(self, expr);
    }
}
