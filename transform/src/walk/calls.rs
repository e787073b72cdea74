//! Which functions call which, and which start threads: the facts for the search for harnesses.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::visit::Visit;
use syn::{Expr, ExprCall, ExprLit, ExprMethodCall, ExprPath, Lit, Pat, Type};

use super::exprs::single_name;
use super::paths::is_lock;
use super::{Walker, bytes};
use crate::resolve::{Def, ItemId, ItemKind, name};
use crate::support;
use crate::traits::derives;

/// A place at which a thread is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnSite {
    /// The path of the user's file.
    pub file: std::path::PathBuf,
    /// The line of the call.
    pub line: u32,
    /// Whether the thread belongs to a `thread::scope`.
    pub scoped: bool,
    /// The name given through `thread::Builder`, or else the name of the variable that holds the handle.
    pub name: Option<String>,
}

/// The facts about a function that matter to harnesses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) calls: Vec<ItemId>,
    pub(crate) spawns: Vec<SpawnSite>,
}

impl Walker<'_> {
    fn facts(&mut self) -> Option<&mut Facts> {
        let function = *self.functions.last()?;
        Some(self.facts.entry(function).or_default())
    }

    /// Notes that a path was used as a value: called, or passed on to be called.
    pub(super) fn note_use(&mut self, expr: &ExprPath, def: Option<&Def>) {
        match def.and_then(Def::std).as_deref() {
            Some(["thread", "spawn"] | ["thread", "Builder", "spawn"]) => {
                self.note_spawn(bytes(expr).start, false, None);
            }
            Some(["thread", "Scope", "spawn"] | ["thread", "Builder", "spawn_scoped"]) => {
                self.note_spawn(bytes(expr).start, true, None);
            }
            _ => {}
        }
        let called = match def {
            Some(Def::Item(item)) => vec![*item],
            Some(Def::Associated(owner, method)) if method == "default" => {
                self.methods_of(method, Some(*owner))
            }
            Some(Def::Associated(owner, method)) => self.methods(method, Some(*owner)),
            // As in `Self::method`.
            Some(Def::Unknown) => {
                let segments = &expr.path.segments;
                let method = segments.last().map(|segment| name(&segment.ident));
                let is_own = segments.len() == 2 && segments[0].ident == "Self";
                let owner = self.own_type.filter(|_| is_own);
                method.map_or_else(Vec::new, |method| self.methods_of(&method, owner))
            }
            _ => return,
        };
        self.note_calls(called);
    }

    pub(super) fn note_calls(&mut self, called: Vec<ItemId>) {
        if let Some(facts) = self.facts() {
            facts.calls.extend(called);
        }
    }

    fn methods(&self, method: &str, owner: Option<ItemId>) -> Vec<ItemId> {
        let all = self
            .tables
            .methods
            .get(method)
            .map_or(&[][..], Vec::as_slice);
        let fits = |id: &&ItemId| match &self.tables.items[**id].kind {
            ItemKind::Method(of, _) => owner.is_none() || *of == owner || of.is_none(),
            _ => false,
        };
        all.iter().filter(fits).copied().collect()
    }

    /// Returns the methods of that name which the type `owner` has, if its type is known and has any itself; else those that a
    /// derived one calls; else all of that name.
    fn methods_of(&self, method: &str, owner: Option<ItemId>) -> Vec<ItemId> {
        let Some(owner) = owner else {
            return self.methods(method, None);
        };
        let own = self.methods(method, Some(owner));
        let is_own = |it: &ItemId| matches!(self.tables.items[*it].kind, ItemKind::Method(Some(of), _) if of == owner);
        if own.iter().any(is_own) {
            return own;
        }
        if method == "default" && self.derives_default(owner) {
            let mut seen = HashSet::new();
            return self.derived_defaults(owner, &mut seen);
        }
        self.methods(method, None)
    }

    fn derives_default(&self, owner: ItemId) -> bool {
        let attrs = match &self.tables.items[owner].kind {
            ItemKind::Struct(item) => &item.attrs,
            ItemKind::Enum(item) => &item.attrs,
            _ => return false,
        };
        derives(attrs, "Default")
    }

    /// Returns the `default`s that a derived `Default` may call: those of the types that the definition names.
    fn derived_defaults(&self, owner: ItemId, seen: &mut HashSet<ItemId>) -> Vec<ItemId> {
        if !seen.insert(owner) {
            return Vec::new();
        }
        let definition = match &self.tables.items[owner].kind {
            ItemKind::Struct(item) => item.fields.to_token_stream(),
            ItemKind::Enum(item) => item.variants.to_token_stream(),
            _ => return Vec::new(),
        };
        let mut words = HashSet::new();
        idents(definition, &mut words);
        let items = self.tables.items.iter().enumerate();
        let named = items.filter(|(_, item)| words.contains(&item.name));
        let mut all = Vec::new();
        for (item, data) in named {
            match &data.kind {
                ItemKind::Struct(_) | ItemKind::Enum(_) if self.derives_default(item) => {
                    all.extend(self.derived_defaults(item, seen));
                }
                ItemKind::Struct(_) | ItemKind::Enum(_) | ItemKind::Other => {
                    all.extend(self.methods("default", Some(item)));
                }
                // What the name stands for is not looked up.
                ItemKind::Alias(_) => return self.methods("default", None),
                _ => {}
            }
        }
        all
    }

    /// Returns the crate's type that an implementation is for.
    pub(super) fn own_type_of(&self, ty: &Type) -> Option<ItemId> {
        let Type::Path(path) = ty else {
            return None;
        };
        match self.type_def(&path.path)? {
            Def::Item(item) => match self.tables.items[item].kind {
                ItemKind::Struct(_) | ItemKind::Enum(_) => Some(item),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the type of the expression, where it is `self`.
    fn receiver(&self, expr: &Expr) -> Option<ItemId> {
        match expr {
            Expr::Path(path) if path.path.is_ident("self") => self.own_type,
            Expr::Paren(inner) => self.receiver(&inner.expr),
            Expr::Reference(inner) => self.receiver(&inner.expr),
            _ => None,
        }
    }

    pub(super) fn note_spawn(&mut self, at: usize, scoped: bool, name: Option<String>) {
        let source = &self.program.files[self.file].source;
        let site = SpawnSite {
            file: source.path.clone(),
            line: source.text.position(at).line,
            scoped,
            name: name.or_else(|| self.let_name.clone()),
        };
        if let Some(facts) = self.facts() {
            facts.spawns.push(site);
        }
    }

    pub(super) fn call(&mut self, expr: &ExprCall) {
        expr.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        let def = match &*expr.func {
            Expr::Path(func) if func.qself.is_none() => {
                let segments: Vec<String> = func
                    .path
                    .segments
                    .iter()
                    .map(|segment| name(&segment.ident))
                    .collect();
                self.resolve(
                    func.path.leading_colon.is_some(),
                    &segments,
                    crate::resolve::Ns::Value,
                )
            }
            _ => None,
        };
        self.lone_call(expr, def.as_ref().and_then(Def::std).as_deref());
        self.visit_expr(&expr.func);
        let owner = match def.as_ref() {
            Some(Def::Std(path)) if is_lock(path) && path.len() == 3 && path[2] == "new" => {
                Some(None)
            }
            Some(Def::Associated(owner, _)) => Some(Some(*owner)),
            _ => None,
        };
        if let Some(owner) = owner {
            let args = &expr.args;
            self.note_shared(owner, bytes(expr), |items| {
                args.iter().for_each(|arg| items.visit_expr(arg))
            });
        }
        // A function of the crate may put its argument behind a lock.
        if owner.is_some() || matches!(def, Some(Def::Item(_))) {
            expr.args.iter().for_each(|arg| self.note_made(arg));
        }
        self.closure_of_scope =
            def.as_ref().and_then(Def::std).as_deref() == Some(&["thread", "scope"]);
        expr.args.iter().for_each(|arg| self.visit_expr(arg));
        self.closure_of_scope = false;
    }

    pub(super) fn method_call(&mut self, expr: &ExprMethodCall) {
        expr.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        self.lone_method(expr);
        let method = name(&expr.method);
        let own = self.tables.methods.contains_key(&method);
        self.note_told(expr, own);
        let refusal = support::method_refusal(&method, expr.args.len());
        if let Some(refusal) = refusal.filter(|_| !own) {
            self.refuse_once(
                Some(format!(".{method}")),
                bytes(&expr.method),
                format!("`{method}`"),
                refusal.reason,
                refusal.help,
            );
        }
        let scoped = matches!(&*expr.receiver, Expr::Path(path)
            if path.path.get_ident().is_some_and(|ident| self.scopes.contains(&name(ident))));
        // The crate may have a method of that name, and still call the method of a thread's builder or scope.
        let own = own && !scoped && !self.is_builder(&expr.receiver);
        match (method.as_str(), expr.args.len()) {
            ("spawn", 1) if !own => {
                self.note_spawn(
                    bytes(&expr.method).start,
                    scoped,
                    thread_name(&expr.receiver),
                );
            }
            ("spawn_scoped", 2) if !own => {
                self.note_spawn(bytes(&expr.method).start, true, thread_name(&expr.receiver));
            }
            _ if own => {
                let called = self.methods_of(&method, self.receiver(&expr.receiver));
                self.note_calls(called);
            }
            _ => {}
        }
        self.visit_expr(&expr.receiver);
        if let Some(turbofish) = &expr.turbofish {
            self.visit_angle_bracketed_generic_arguments(turbofish);
        }
        expr.args.iter().for_each(|arg| self.visit_expr(arg));
    }

    /// Notes a variable of type `&thread::Scope` or `thread::Builder`.
    pub(super) fn note_starter(&mut self, pattern: &Pat, ty: &Type) {
        let ty = match ty {
            Type::Reference(reference) => &*reference.elem,
            ty => ty,
        };
        let Type::Path(path) = ty else {
            return;
        };
        let def = self.type_def(&path.path);
        match def.as_ref().and_then(Def::std).as_deref() {
            Some(["thread", "Scope"]) => self.scopes.extend(single_name(pattern)),
            Some(["thread", "Builder"]) => self.builders.extend(single_name(pattern)),
            _ => {}
        }
    }

    /// Whether an expression is visibly a `thread::Builder`.
    pub(super) fn is_builder(&self, expr: &Expr) -> bool {
        let of_std = |path: &syn::Path, wanted: &[&str]| {
            let segments: Vec<String> = path.segments.iter().map(|it| name(&it.ident)).collect();
            let leading = path.leading_colon.is_some();
            let def = self.resolve(leading, &segments, crate::resolve::Ns::Value);
            def.as_ref().and_then(Def::std).as_deref() == Some(wanted)
        };
        match expr {
            Expr::Paren(inner) => self.is_builder(&inner.expr),
            Expr::Path(path) => {
                let variable = path.path.get_ident();
                variable.is_some_and(|it| self.builders.contains(&name(it)))
            }
            Expr::Call(call) => {
                matches!(&*call.func, Expr::Path(path) if of_std(&path.path, &["thread", "Builder", "new"]))
            }
            Expr::MethodCall(call) => {
                matches!(
                    name(&call.method).as_str(),
                    "name" | "stack_size" | "no_hooks"
                ) && self.is_builder(&call.receiver)
            }
            _ => false,
        }
    }
}

/// Adds all words of a definition.
fn idents(tokens: TokenStream, words: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => drop(words.insert(name(&word))),
            TokenTree::Group(group) => idents(group.stream(), words),
            _ => {}
        }
    }
}

/// Returns the argument of `.name("…")` in a chain on a `thread::Builder`.
fn thread_name(expr: &Expr) -> Option<String> {
    let Expr::MethodCall(call) = expr else {
        return None;
    };
    if call.method == "name" {
        let mut arg = call.args.first()?;
        loop {
            match arg {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => return Some(text.value()),
                Expr::MethodCall(call) => arg = &call.receiver,
                Expr::Call(call) => arg = call.args.first()?,
                _ => return None,
            }
        }
    }
    thread_name(&call.receiver)
}
