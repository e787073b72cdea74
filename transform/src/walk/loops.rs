//! Marks on loops that wait, for the runtime: see `seqz_runtime::loops`. [`lasting`](crate::lasting) says which loops
//! wait.
//!
//! `while c { … }` is written as what it stands for, `loop { if c { … } else { break } }`: so that a mark has a place at the
//! head of each turn, and what the condition borrows lives as long as before.

use std::collections::HashSet;

use syn::{Attribute, Block, Expr, ExprClosure, Label, Local, Pat, PatType, Signature};

use super::exprs::single_name;
use super::{Walker, bytes};
use crate::lasting::{Branch, Lasting, Outside, Telling, paces};
use crate::resolve::{Rib, name};

/// The name of the variable that stands for a run of a loop.
const WAITS: &str = "seqz_waits";

/// The statement by which a turn of this loop reports that it leaves something behind.
const OWN_LASTS: &str = "seqz_waits.lasts();";

/// The statement by which a function that is called by a variable reports that it leaves something behind.
const LASTS: &str = "::seqz_runtime::loops::lasts();";

impl Walker<'_> {
    /// Marks a loop, if the loop waits. To be called before anything else in the loop is edited.
    pub(super) fn mark_loop(&mut self, expr: &Expr) {
        let (attrs, label) = match expr {
            Expr::While(expr) => (&expr.attrs, &expr.label),
            Expr::Loop(expr) => (&expr.attrs, &expr.label),
            _ => return,
        };
        let is_inner = |attr: &Attribute| matches!(attr.style, syn::AttrStyle::Inner(_));
        if self.constant > 0 || attrs.iter().any(is_inner) {
            return;
        }
        let Some(branches) = self.lasting.waiting(expr, &self.around_loop(expr)) else {
            return;
        };
        match expr {
            Expr::While(expr) => {
                let keyword = bytes(&expr.while_token);
                let start = begin(label, keyword.start);
                let end = bytes(&expr.body).end;
                self.open(start);
                self.edits()
                    .replace(keyword.clone(), format!("loop {{ {WAITS}.turn(); if"));
                self.edits().after(end, " else { break } } }", end - 1);
            }
            Expr::Loop(expr) => {
                let keyword = bytes(&expr.loop_token);
                let start = begin(label, keyword.start);
                let body = expr.body.brace_token.span;
                let inside = body.open().byte_range().end;
                let end = body.close().byte_range().end;
                self.open(start);
                self.edits()
                    .after(inside, format!(" {WAITS}.turn();"), inside - 1);
                self.edits().after(end, " }", end - 1);
            }
            _ => {}
        }
        self.tell(branches, OWN_LASTS);
    }

    /// Returns the variable that this statement makes, if it is an object of std that threads share, perhaps behind a
    /// smart pointer of std, and no other variable of the function has its name.
    pub(super) fn new_object(&self, local: &Local) -> Option<String> {
        let variable = single_name(&local.pat)?;
        let init = &local.init.as_ref()?.expr;
        let is_new = !self.objects.contains_key(&variable) && !self.in_macro;
        let is_said = || match &local.pat {
            Pat::Type(said) => self.lasting.is_of_object(&said.ty),
            _ => false,
        };
        (is_new && (self.makes_object(init) || is_said())).then_some(variable)
    }

    /// Returns the variable of a parameter that is such an object.
    pub(super) fn object_parameter(&self, parameter: &PatType) -> Option<String> {
        let variable = single_name(&parameter.pat)?;
        let is_one = !self.in_macro && self.lasting.is_of_object(&parameter.ty);
        is_one.then_some(variable)
    }

    fn makes_object(&self, expr: &Expr) -> bool {
        let is_known = |expr: &Expr| {
            let only = match expr {
                Expr::Path(path) => path.path.get_ident().map(name),
                _ => None,
            };
            only.is_some_and(|only| self.objects.get(&only) == Some(&true))
        };
        match expr {
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else {
                    return false;
                };
                let mut segments = path.path.segments.iter().rev().map(|it| name(&it.ident));
                let (Some(function), Some(owner)) = (segments.next(), segments.next()) else {
                    return false;
                };
                if !self.lasting.is_of_std(&owner) || path.qself.is_some() {
                    return false;
                }
                match (owner.as_str(), function.as_str(), call.args.first()) {
                    ("Arc" | "Rc" | "Box", "new", Some(inner)) => {
                        is_known(inner) || self.makes_object(inner)
                    }
                    ("Arc" | "Rc", "clone", Some(Expr::Reference(of))) => is_known(&of.expr),
                    (_, "new", _) => Lasting::is_object(&owner),
                    _ => false,
                }
            }
            Expr::MethodCall(call) => call.method == "clone" && is_known(&call.receiver),
            _ => false,
        }
    }

    /// Returns the variables that are objects of std which threads share, or pointers to such an object.
    fn objects(&self) -> HashSet<&str> {
        let objects = self.objects.iter().filter(|(_, is_one)| **is_one);
        objects.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the names in scope that mean no items: the names of variables and generic parameters.
    fn variables(&self) -> HashSet<&str> {
        let ribs = self.ribs.iter().rev();
        let inner = ribs.take_while(|rib| !matches!(rib, Rib::Item | Rib::Module(_)));
        let names = inner.filter_map(|rib| match rib {
            Rib::Variables(names) | Rib::Generics(names) => Some(names),
            _ => None,
        });
        names.flatten().map(String::as_str).collect()
    }

    /// Returns the name of the crate's type whose implementation this is.
    fn own_name(&self) -> Option<String> {
        let own = &self.tables.items[self.own_type?];
        (!self.in_macro).then(|| own.name.clone())
    }

    fn around_loop(&self, looped: &Expr) -> Outside<'_> {
        Outside {
            variables: self.variables(),
            objects: self.objects(),
            own: self.own_name(),
            paces: paces(looped, self.program.files[self.file].source.text.as_str()),
            callables: self.callables.clone(),
            pacers: self.pacers.clone(),
        }
    }

    /// Returns the names that are declared around a closure.
    pub(super) fn around_function(&self) -> Outside<'_> {
        Outside {
            variables: self.variables(),
            objects: self.objects(),
            own: self.own_name(),
            paces: HashSet::new(),
            callables: self.callables.clone(),
            pacers: HashSet::new(),
        }
    }

    /// Makes a closure report that it leaves something behind, if it has to. To be called where the closure is written.
    pub(super) fn tell_of_closure(&mut self, closure: &ExprClosure) {
        let outside = || self.around_function();
        match self.lasting.tells_closure(self.file, closure, outside) {
            Telling::Nothing => return,
            Telling::Branches(branches) => return self.tell(branches, LASTS),
            Telling::All => {}
        }
        match &*closure.body {
            Expr::Block(body) if body.label.is_none() => self.tell_within(&body.block),
            body => {
                let range = bytes(body);
                self.edits().before(range.start, format!("{{ {LASTS} "));
                self.edits().after(range.end, " }", range.end - 1);
            }
        }
    }

    /// Makes a function report that it leaves something behind, if it has to.
    pub(super) fn tell_of_function(&mut self, signature: &Signature, body: &Block) {
        if self.lasting.tells_function(&name(&signature.ident), body) {
            self.tell_within(body);
        }
    }

    fn tell_within(&mut self, body: &Block) {
        let at = body.brace_token.span.open().byte_range().end;
        self.edits().after(at, format!(" {LASTS}"), at - 1);
    }

    /// Makes these branches of a marked loop, or of a function that it calls, report that they leave something behind.
    fn tell(&mut self, branches: Vec<Branch>, lasts: &str) {
        // An outer branch comes after the inner ones, and has to be edited before them.
        for branch in branches.into_iter().rev() {
            match branch {
                Branch::Block(inside) => {
                    let at = inside.start;
                    let text = format!(" {lasts}");
                    self.edits().after(at, text, at - 1);
                }
                // A temporary borrow of an arm ends with the arm, with braces or without.
                Branch::Value(value) => {
                    self.edits().before(value.start, format!("{{ {lasts} "));
                    self.edits().after(value.end, " }", value.end - 1);
                }
            }
        }
    }

    fn open(&mut self, start: usize) {
        let text = format!("{{ let mut {WAITS} = ::seqz_runtime::loops::Loop::new(); ");
        self.edits().before(start, text);
    }

    /// Runs `inside` for a constant, where neither loops nor calls are marked.
    pub(super) fn in_constant(&mut self, inside: impl FnOnce(&mut Self)) {
        self.constant += 1;
        inside(self);
        self.constant -= 1;
    }
}

fn begin(label: &Option<Label>, keyword: usize) -> usize {
    label.as_ref().map_or(keyword, |label| bytes(label).start)
}
