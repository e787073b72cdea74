//! Variables that are called, and the functions that may be behind them.
//!
//! ```text
//! fn wait_until(ready: impl Fn() -> bool) { while !ready() { thread::yield_now() } }
//! ```
//!
//! The effects of a turn of this loop are the effects of `ready`. So the places are looked for at which a value is
//! given for `ready`: if **all** calls of the function are seen, and each gives a closure that is written there, or a
//! function of the crate by its name, or a variable that is known in the same way, the loop may wait. Closures and
//! functions of these that leave something behind report it when they are run (see `seqz_runtime::loops::lasts`), which
//! costs the loop no more than the turns in which they were run.
//!
//! Functions are known by their names here, too. A call may be overlooked in a macro, in a function that is passed by
//! its name, in a method of a trait that other code calls: if the name of the function stands at any place that is not
//! known as a call of it, nothing is known of its parameters.

use std::collections::{HashMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{
    Block, Expr, ExprCall, ExprClosure, ExprMethodCall, FnArg, ImplItemFn, ItemFn, ItemImpl,
    ItemMod, Local, Macro, Member, Pat, Signature, Token, TraitItemFn, Type, UseTree,
};

use super::calls::{Argument, without_parentheses};
use super::functions::Functions;
use super::names;
use crate::load::Crate;
use crate::resolve::{name, segment_names};

/// The place of a closure: the index of its file, and the offset at which it begins.
type Place = (usize, usize);

/// An argument that is given for a parameter.
#[derive(Clone, Debug)]
enum Given {
    Closure(Place),
    /// A variable of the function with this index, or a function of the crate.
    Named(Option<usize>, String),
    /// A function, by the last two names of its path.
    Path(String, String),
    Unknown,
}

/// A call of a function of the crate.
#[derive(Debug)]
struct Call {
    as_method: bool,
    arguments: Vec<Given>,
}

/// A function of the crate.
#[derive(Debug, Default)]
struct Body {
    /// The offset of the function's body.
    at: usize,
    is_method: bool,
    /// Whether the function implements a trait of another crate, which may call it.
    is_of_others: bool,
    /// The parameters without `self`: the variable of each, and whether another function can take the place of the one
    /// in it.
    parameters: Vec<Option<(String, bool)>>,
    /// The number of declarations of each variable.
    bound: HashMap<String, usize>,
    /// Variables that are closures from their declaration on.
    closures: HashMap<String, Place>,
    /// Variables that may be changed.
    changed: HashSet<String>,
    /// Whether a pattern borrows something mutably.
    borrows: bool,
    /// The number of mentions of each name, macros included; `seen` has the number of those that were understood.
    mentioned: HashMap<String, usize>,
    seen: HashMap<String, usize>,
    /// Variables that are called.
    called: HashSet<String>,
}

/// The variables of a crate that are called.
#[derive(Debug, Default)]
pub(super) struct Callables {
    /// For each function, by the place of its body: the variables that stand only for closures and functions that were
    /// seen.
    known: HashMap<usize, HashSet<String>>,
    /// The closures that such a variable may stand for.
    closures: HashSet<Place>,
    /// The names of the functions that such a variable may stand for.
    functions: HashSet<String>,
}

impl Callables {
    pub(super) fn of(program: &Crate, functions: &Functions<'_>) -> Self {
        let mut all = Collected {
            functions,
            file: 0,
            around: None,
            traits: HashSet::new(),
            is_of_others: false,
            bodies: Vec::new(),
            calls: HashMap::new(),
            mentioned: HashMap::new(),
            seen: HashMap::new(),
            modules: HashSet::new(),
            imported: HashSet::new(),
            imports_all: false,
        };
        // Other crates may give a library's functions anything.
        if program.package.is_dependency {
            return Self::default();
        }
        for file in &program.files {
            Declared(&mut all).visit_file(&file.tree);
        }
        for (number, file) in program.files.iter().enumerate() {
            all.file = number;
            all.visit_file(&file.tree);
            let Ok(tokens) = file.source.text.as_str().parse::<TokenStream>() else {
                return Self::default();
            };
            count(tokens, &mut all.mentioned);
        }
        if functions.words.makes_variables {
            return Self::default();
        }
        all.callables()
    }

    /// Returns the variables of the function with this body whose calls may be let pass.
    pub(super) fn of_body(&self, body: &Block) -> Option<&HashSet<String>> {
        self.known.get(&std::ptr::from_ref(body).addr())
    }

    /// Whether such a variable may stand for the closure that begins at this place of this file.
    pub(super) fn has_closure(&self, file: usize, at: usize) -> bool {
        self.closures.contains(&(file, at))
    }

    /// Whether such a variable may stand for a function with this name.
    pub(super) fn has_function(&self, name: &str) -> bool {
        self.functions.contains(name)
    }
}

/// Counts the names in these tokens, without those of macros.
fn count(tokens: TokenStream, words: &mut HashMap<String, usize>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(ident) => {
                let mark = tokens
                    .next_if(|next| matches!(next, TokenTree::Punct(it) if it.as_char() == '!'));
                let of_macro = match tokens.peek() {
                    Some(TokenTree::Group(_)) => true,
                    // For example `macro_rules! until`.
                    Some(TokenTree::Ident(_)) if ident == "macro_rules" => {
                        tokens.next();
                        true
                    }
                    _ => false,
                };
                if mark.is_none() || !of_macro {
                    *words.entry(name(&ident)).or_default() += 1;
                }
            }
            TokenTree::Group(group) => count(group.stream(), words),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Finds the items that have a name of their own.
struct Declared<'c, 'f>(&'c mut Collected<'f>);

impl<'ast> Visit<'ast> for Declared<'_, '_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.0.modules.insert(name(&item.ident));
        visit::visit_item_mod(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.0.traits.insert(name(&item.ident));
        visit::visit_item_trait(self, item);
    }
}

/// What was found in the crate.
struct Collected<'f> {
    functions: &'f Functions<'f>,
    file: usize,
    /// The index of the function that is looked at.
    around: Option<usize>,
    traits: HashSet<String>,
    is_of_others: bool,
    bodies: Vec<Body>,
    calls: HashMap<String, Vec<Call>>,
    mentioned: HashMap<String, usize>,
    seen: HashMap<String, usize>,
    modules: HashSet<String>,
    /// The names that are imported from other crates.
    imported: HashSet<String>,
    imports_all: bool,
}

/// Whether a parameter has been looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looked {
    UnderWay,
    At(bool),
}

/// The arguments that may be given for parameters.
#[derive(Default)]
struct Flow {
    looked: HashMap<(String, usize), Looked>,
    closures: HashSet<Place>,
    functions: HashSet<String>,
}

impl Collected<'_> {
    fn callables(&self) -> Callables {
        let mut all = Callables::default();
        for body in &self.bodies {
            for variable in &body.called {
                let mut flow = Flow::default();
                if self.is_known(body, variable, &mut flow) {
                    all.closures.extend(flow.closures);
                    all.functions.extend(flow.functions);
                    let known = all.known.entry(body.at).or_default();
                    known.insert(variable.clone());
                }
            }
        }
        all
    }

    /// Whether all values are known that this variable of the function may stand for.
    fn is_known(&self, body: &Body, variable: &str, flow: &mut Flow) -> bool {
        if body.bound.get(variable) != Some(&1) {
            return false;
        }
        if let Some(&closure) = body.closures.get(variable) {
            flow.closures.insert(closure);
            return true;
        }
        let of = |parameter: &Option<(String, bool)>| {
            parameter.as_ref().is_some_and(|(it, _)| it == variable)
        };
        let Some(number) = body.parameters.iter().position(of) else {
            return false;
        };
        let Some(function) = self.name_of(body) else {
            return false;
        };
        self.is_given(&function, number, flow)
    }

    fn name_of(&self, body: &Body) -> Option<String> {
        let mut all = self.functions.by_name.iter();
        let (name, _) = all.find(|(_, functions)| {
            let mut functions = functions.iter();
            functions.any(|it| std::ptr::from_ref(it.body).addr() == body.at)
        })?;
        Some(name.clone())
    }

    /// Returns the functions of this name.
    fn bodies_of<'s>(&'s self, function: &str) -> impl Iterator<Item = &'s Body> {
        let functions = self.functions.by_name.get(function);
        let places: HashSet<usize> = functions
            .into_iter()
            .flatten()
            .map(|it| std::ptr::from_ref(it.body).addr())
            .collect();
        let bodies = self.bodies.iter();
        bodies.filter(move |body| places.contains(&body.at))
    }

    /// Whether all arguments are known that may be given for this parameter of all functions with this name.
    fn is_given(&self, function: &str, number: usize, flow: &mut Flow) -> bool {
        let key = (function.to_owned(), number);
        match flow.looked.get(&key) {
            Some(Looked::UnderWay) => return true,
            Some(Looked::At(known)) => return *known,
            None => {}
        }
        flow.looked.insert(key.clone(), Looked::UnderWay);
        let known = self.is_given_anew(function, number, flow);
        flow.looked.insert(key, Looked::At(known));
        known
    }

    fn is_given_anew(&self, function: &str, number: usize, flow: &mut Flow) -> bool {
        let words = &self.functions.words;
        let seen = self.seen.get(function).copied().unwrap_or(0);
        let all = self.mentioned.get(function).copied().unwrap_or(0);
        if seen != all || words.functions_named(function).is_none() {
            return false;
        }
        let stays = |body: &Body| {
            let Some(Some((variable, is_place))) = body.parameters.get(number) else {
                // This is another function of the name, which has no such parameter.
                return true;
            };
            let seen = body.seen.get(variable).copied().unwrap_or(0);
            let all = body.mentioned.get(variable).copied().unwrap_or(0);
            let is_changed = body.borrows || body.changed.contains(variable) || seen != all;
            !(*is_place && is_changed)
        };
        let bodies: Vec<_> = self.bodies_of(function).collect();
        if !bodies.iter().all(|body| !body.is_of_others && stays(body)) {
            return false;
        }
        let has_methods = bodies.iter().any(|body| body.is_method);
        // The callers of a function of which no call is seen are not known.
        let calls = self.calls.get(function).map_or(&[][..], Vec::as_slice);
        !calls.is_empty()
            && calls.iter().all(|call| {
                // In `S::wait(&s, f)`, `self` is among the arguments.
                let first = usize::from(has_methods && !call.as_method);
                (number..=number + first).all(|at| match call.arguments.get(at) {
                    Some(given) if at == number + first || first == 0 => {
                        self.is_known_given(given, flow)
                    }
                    // The call is of a function without `self` that has the same name.
                    Some(given) => {
                        bodies.iter().all(|body| body.is_method) || self.is_known_given(given, flow)
                    }
                    None => true,
                })
            })
    }

    fn is_known_given(&self, given: &Given, flow: &mut Flow) -> bool {
        match given {
            Given::Closure(place) => {
                flow.closures.insert(*place);
                true
            }
            Given::Named(around, variable) => {
                let body = around.and_then(|it| self.bodies.get(it));
                if let Some(body) = body.filter(|body| body.bound.contains_key(variable)) {
                    return self.is_known(body, variable, flow);
                }
                let elsewhere = self.imports_all || self.imported.contains(variable);
                !elsewhere && self.is_function(variable, flow)
            }
            Given::Path(owner, function) => {
                let declared = &self.functions.declared;
                let is_of_crate = matches!(owner.as_str(), "Self" | "self" | "super" | "crate")
                    || self.modules.contains(owner)
                    || declared.is_type(owner)
                    || self.traits.contains(owner);
                let is_of_std = names::AROUND.contains(&owner.as_str())
                    || names::QUIET.contains(&owner.as_str());
                is_of_crate && !is_of_std && self.is_function(function, flow)
            }
            Given::Unknown => false,
        }
    }

    /// Whether this is the name of functions of the crate, and of nothing else.
    fn is_function(&self, function: &str, flow: &mut Flow) -> bool {
        let functions = self.functions;
        let Some(all) = functions.by_name.get(function) else {
            return false;
        };
        let can_say = all.iter().all(|it| it.signature.constness.is_none());
        if !can_say || functions.has_unseen(function) {
            return false;
        }
        flow.functions.insert(function.to_owned());
        true
    }

    fn body(&mut self) -> Option<&mut Body> {
        self.around.and_then(|at| self.bodies.get_mut(at))
    }

    fn see(&mut self, name: String) {
        *self.seen.entry(name).or_default() += 1;
    }

    fn bind(&mut self, pattern: &Pat) {
        struct Bound<'b>(&'b mut HashMap<String, usize>);
        impl<'ast> Visit<'ast> for Bound<'_> {
            fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
                *self.0.entry(name(&pattern.ident)).or_default() += 1;
                visit::visit_pat_ident(self, pattern);
            }
            fn visit_expr(&mut self, _: &'ast Expr) {}
        }
        if let Some(body) = self.body() {
            Bound(&mut body.bound).visit_pat(pattern);
        }
    }

    fn function(&mut self, signature: &Signature, block: &Block, inside: impl FnOnce(&mut Self)) {
        let mut body = Body {
            at: std::ptr::from_ref(block).addr(),
            is_method: signature.receiver().is_some(),
            is_of_others: self.is_of_others,
            ..Body::default()
        };
        for input in &signature.inputs {
            let FnArg::Typed(input) = input else {
                continue;
            };
            body.parameters.push(match &*input.pat {
                Pat::Ident(pattern) if pattern.by_ref.is_none() => {
                    Some((name(&pattern.ident), is_place_of_functions(&input.ty)))
                }
                _ => None,
            });
        }
        count(quote::ToTokens::to_token_stream(block), &mut body.mentioned);
        let of_others = std::mem::take(&mut self.is_of_others);
        self.bodies.push(body);
        let outer = self.around.replace(self.bodies.len() - 1);
        for input in &signature.inputs {
            if let FnArg::Typed(input) = input {
                self.bind(&input.pat);
            }
        }
        inside(self);
        self.around = outer;
        self.is_of_others = of_others;
    }

    /// Notes a mention of a variable that leaves the variable as it is.
    fn see_variable(&mut self, variable: &str) {
        if let Some(body) = self.body() {
            *body.seen.entry(variable.to_owned()).or_default() += 1;
        }
    }

    fn change(&mut self, place: &Expr) {
        let root = match without_parentheses(place) {
            Expr::Path(path) => path.path.get_ident().map(name),
            Expr::Unary(place) => return self.change(&place.expr),
            _ => None,
        };
        if let (Some(root), Some(body)) = (root, self.body()) {
            body.changed.insert(root);
        }
    }

    fn given(&self, argument: &Expr) -> Given {
        match without_parentheses(argument) {
            Expr::Closure(closure) if closure.asyncness.is_none() => {
                Given::Closure((self.file, start_of(closure)))
            }
            Expr::Reference(of) => self.given(&of.expr),
            // The value that such a variable leads to is known in the same way.
            Expr::Unary(of) if matches!(of.op, syn::UnOp::Deref(_)) => self.given(&of.expr),
            Expr::Call(call) => match (&*call.func, call.args.first()) {
                (Expr::Path(path), Some(inner)) if self.is_box(path) => self.given(inner),
                _ => Given::Unknown,
            },
            Expr::Path(path) if path.qself.is_none() => {
                let mut segments = path.path.segments.iter().rev().map(|it| name(&it.ident));
                match (segments.next(), segments.next()) {
                    (Some(only), None) => Given::Named(self.around, only),
                    (Some(last), Some(owner)) => Given::Path(owner, last),
                    (None, _) => Given::Unknown,
                }
            }
            _ => Given::Unknown,
        }
    }

    /// Whether this is `Box::new` of std, or the constructor of another pointer.
    fn is_box(&self, path: &syn::ExprPath) -> bool {
        let segments = segment_names(&path.path);
        match segments.as_slice() {
            [owner, new] => {
                ["Arc", "Box", "Rc"].contains(&owner.as_str())
                    && new == "new"
                    && self.functions.declared.is_of_std(owner)
            }
            _ => false,
        }
    }

    fn note_call<'e>(
        &mut self,
        function: String,
        as_method: bool,
        arguments: impl Iterator<Item = &'e Expr>,
    ) {
        if !self.functions.by_name.contains_key(&function) {
            return;
        }
        let arguments = arguments.map(|argument| self.given(argument)).collect();
        self.calls.entry(function).or_default().push(Call {
            as_method,
            arguments,
        });
    }
}

/// Returns the offset at which a closure begins.
pub(crate) fn start_of(closure: &ExprClosure) -> usize {
    closure.span().byte_range().start
}

/// Whether another function can be put into a variable of this type.
fn is_place_of_functions(of: &Type) -> bool {
    struct Places(bool);
    impl<'ast> Visit<'ast> for Places {
        fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {
            self.0 = true;
        }
        fn visit_type_trait_object(&mut self, _: &'ast syn::TypeTraitObject) {
            self.0 = true;
        }
    }
    let mut places = Places(false);
    places.visit_type(of);
    places.0
}

impl<'ast> Visit<'ast> for Collected<'_> {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        if pattern.by_ref.is_some()
            && pattern.mutability.is_some()
            && let Some(body) = self.body()
        {
            body.borrows = true;
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.see(name(&item.sig.ident));
        // The variable hides a parameter of the same name.
        if let Some(body) = self.body() {
            *body.bound.entry(name(&item.sig.ident)).or_default() += 1;
        }
        self.function(&item.sig, &item.block, |all| {
            visit::visit_block(all, &item.block);
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.see(name(&item.sig.ident));
        self.function(&item.sig, &item.block, |all| {
            visit::visit_block(all, &item.block);
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.see(name(&item.sig.ident));
        if let Some(block) = &item.default {
            self.function(&item.sig, block, |all| visit::visit_block(all, block));
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let of = item.trait_.as_ref();
        let of = of.and_then(|(path, _)| path.segments.last());
        let is_of_others = of.is_some_and(|last| !self.traits.contains(&name(&last.ident)));
        let outer = std::mem::replace(&mut self.is_of_others, is_of_others);
        visit::visit_item_impl(self, item);
        self.is_of_others = outer;
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.see(name(&item.ident));
        visit::visit_item_mod(self, item);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let Some(ident) = &field.ident {
            self.see(name(ident));
        }
        visit::visit_field(self, field);
    }

    fn visit_member(&mut self, member: &'ast Member) {
        if let Member::Named(ident) = member {
            self.see(name(ident));
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let first = match &item.tree {
            UseTree::Path(path) => name(&path.ident),
            _ => String::new(),
        };
        let of_crate =
            matches!(first.as_str(), "crate" | "self" | "super") || self.modules.contains(&first);
        let of_std = matches!(first.as_str(), "std" | "core" | "alloc") && !of_crate;
        self.import(&item.tree, of_crate, of_std);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        // The names before the last one are a type or a module.
        let before = path.segments.iter().rev().skip(1);
        before.for_each(|segment| self.see(name(&segment.ident)));
        visit::visit_path(self, path);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        self.bind(&local.pat);
        if let Some(init) = &local.init
            && let Pat::Ident(pattern) = &local.pat
            && let Expr::Closure(closure) = &*init.expr
            && closure.asyncness.is_none()
        {
            let place = (self.file, start_of(closure));
            let variable = name(&pattern.ident);
            if let Some(body) = self.body() {
                body.closures.insert(variable, place);
            }
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_let(&mut self, expr: &'ast syn::ExprLet) {
        self.bind(&expr.pat);
        visit::visit_expr_let(self, expr);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.bind(&arm.pat);
        visit::visit_arm(self, arm);
    }

    fn visit_expr_for_loop(&mut self, expr: &'ast syn::ExprForLoop) {
        self.bind(&expr.pat);
        visit::visit_expr_for_loop(self, expr);
    }

    fn visit_expr_closure(&mut self, expr: &'ast ExprClosure) {
        expr.inputs.iter().for_each(|input| self.bind(input));
        visit::visit_expr_closure(self, expr);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Path(path) => {
                if let Some(only) = path.path.get_ident() {
                    self.see_variable(&name(only));
                }
            }
            Expr::Reference(of) if of.mutability.is_some() => self.change(&of.expr),
            Expr::RawAddr(of) => self.change(&of.expr),
            Expr::Assign(assign) => self.change(&assign.left),
            Expr::MethodCall(call) => self.change(&call.receiver),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        let called = match without_parentheses(&call.func) {
            Expr::Unary(of) if matches!(of.op, syn::UnOp::Deref(_)) => {
                without_parentheses(&of.expr)
            }
            called => called,
        };
        if let Expr::Path(path) = called {
            if let Some(only) = path.path.get_ident() {
                let only = name(only);
                if let Some(body) = self.body() {
                    body.called.insert(only);
                }
            }
            if let Some(last) = path.path.segments.last() {
                let function = name(&last.ident);
                self.see(function.clone());
                self.note_call(function, false, call.args.iter());
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let function = name(&call.method);
        self.see(function.clone());
        self.note_call(function, true, call.args.iter());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        let last = mac.path.segments.last().map(|last| name(&last.ident));
        let last = last.unwrap_or_default();
        let is_own = self.functions.words.macros.contains(&last);
        if is_own || !names::MACROS.contains(&last.as_str()) {
            return;
        }
        let arguments = |input: syn::parse::ParseStream<'_>| {
            Punctuated::<Argument, Token![,]>::parse_terminated(input)
        };
        if let Ok(arguments) = arguments.parse2(mac.tokens.clone()) {
            arguments
                .iter()
                .for_each(|argument| self.visit_expr(&argument.0));
        }
    }
}

impl Collected<'_> {
    fn import(&mut self, tree: &UseTree, of_crate: bool, of_std: bool) {
        match tree {
            UseTree::Path(path) => {
                self.see(name(&path.ident));
                self.import(&path.tree, of_crate, of_std);
            }
            UseTree::Name(only) => {
                let only = name(&only.ident);
                if !of_crate {
                    self.imported.insert(only.clone());
                }
                self.see(only);
            }
            // A renamed import is called by another name.
            UseTree::Rename(renamed) => drop(self.imported.insert(name(&renamed.rename))),
            UseTree::Glob(_) => self.imports_all |= !of_crate && !of_std,
            UseTree::Group(group) => {
                group
                    .items
                    .iter()
                    .for_each(|tree| self.import(tree, of_crate, of_std));
            }
        }
    }
}
