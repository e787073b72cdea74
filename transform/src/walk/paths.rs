//! Paths: the root of a path is replaced by the runtime's std, and the item that the path leads to is looked at.

use std::ops::Range;

use syn::visit::Visit;
use syn::{Expr, ExprPath, Path, PathArguments};

use super::{SharedUse, Walker, bytes, unseen};
use crate::resolve::{Def, ItemId, ItemKind, Ns, ROOT, current_module, name};
use crate::support;

impl Walker<'_> {
    /// Handles a path and the generic arguments in it.
    pub(super) fn path(&mut self, path: &Path, ns: Ns) -> Option<Def> {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|segment| name(&segment.ident))
            .collect();
        let spans: Vec<Range<usize>> = path
            .segments
            .iter()
            .map(|segment| bytes(&segment.ident))
            .collect();
        let leading = path.leading_colon.is_some();
        if let (true, Some(last)) = (ns == Ns::Type && self.phantom > 0, segments.last())
            && self.is_of_locks(leading, &segments)
        {
            let range = self.start_of(&spans[0], leading)..spans[spans.len() - 1].end;
            self.edits().replace(range, format!("::std::sync::{last}"));
            for segment in &path.segments {
                self.visit_path_arguments(&segment.arguments);
            }
            return None;
        }
        if ns == Ns::Value && self.transmutes(leading, &segments) {
            let range = self.start_of(&spans[0], leading)..spans[spans.len() - 1].end;
            self.edits().replace(range, "::seqz_runtime::transmute");
        } else if ns == Ns::Value && self.accesses(leading, &segments) {
            let range = self.start_of(&spans[0], leading)..spans[spans.len() - 1].end;
            let function = format!("::seqz_runtime::raw::ptr::{}", segments[segments.len() - 1]);
            self.edits().replace(range, function);
        } else if self.through_modules(leading, &segments, &spans) {
            // The path is led to the runtime as a whole.
        } else if leading || segments.len() > 1 || segments[0] == "crate" {
            // A single name is a variable or an item, whatever the name is: a crate is neither a value nor a type.
            self.root(leading, &segments, spans[0].clone());
        }
        let def = self.check(leading, &segments, &spans, ns);
        let owner = match &def {
            Some(Def::Std(path)) if is_lock(path) => Some(None),
            Some(Def::Item(item) | Def::Associated(item, _)) => Some(Some(*item)),
            _ => None,
        };
        if let Some(owner) = owner {
            for segment in &path.segments {
                if let PathArguments::AngleBracketed(arguments) = &segment.arguments {
                    self.note_shared(owner, bytes(arguments), |items| {
                        items.visit_angle_bracketed_generic_arguments(arguments)
                    });
                    for argument in &arguments.args {
                        if let syn::GenericArgument::Type(ty) = argument {
                            self.note_named(ty);
                        }
                    }
                }
            }
        }
        if !self.measured(path, &segments, def.as_ref()) {
            for (segment, name) in path.segments.iter().zip(&segments) {
                let is_phantom = usize::from(name == "PhantomData");
                self.phantom += is_phantom;
                self.visit_path_arguments(&segment.arguments);
                self.phantom -= is_phantom;
            }
        }
        def
    }

    /// Whether a path leads to one of std's locks or guards. Where no value is of such a type, as in a `PhantomData`, std's
    /// own type is the right one: the runtime's types ask more of the types of values.
    fn is_of_locks(&self, leading: bool, segments: &[String]) -> bool {
        let tables = &self.tables;
        match tables.resolve(&self.ribs, leading, segments, Ns::Type) {
            Some(Def::Std(path)) => match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["sync", name] => name.ends_with("Guard") || matches!(name, "Mutex" | "RwLock"),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a path leads to `mem::transmute`. A constant is made of what rustc has, and can't have the runtime's.
    fn transmutes(&self, leading: bool, segments: &[String]) -> bool {
        let may_be = self.constant == 0 && segments.last().is_some_and(|it| it == "transmute");
        let resolve = || {
            let tables = &self.tables;
            tables.resolve(&self.ribs, leading, segments, Ns::Value)
        };
        match may_be.then(resolve).flatten() {
            Some(Def::Std(path)) => path == ["mem", "transmute"],
            _ => false,
        }
    }

    /// Puts the runtime's std in the place of a path's root crate, if the path could reach concurrency.
    pub(super) fn root(&mut self, leading: bool, segments: &[String], first: Range<usize>) {
        if !leading && matches!(segments[0].as_str(), "crate" | "$crate") {
            return self.crate_keyword(first);
        }
        if leading && self.moved_root(&segments[0], first.clone()) {
            return;
        }
        let Some(crate_) = self
            .tables
            .root_crate(&self.ribs, leading, &segments[0], false)
        else {
            return;
        };
        let within = segments.get(1).map(String::as_str);
        self.rewrite_root(
            leading,
            &segments[0],
            &crate_,
            first,
            within.is_none_or(support::overridden),
        );
    }

    /// Leads a path to the runtime that reaches one of std's crates through a module which declares the crate, as
    /// `self::core::sync` does beside `extern crate core`. Returns whether the path does.
    pub(super) fn through_modules(
        &mut self,
        leading: bool,
        segments: &[String],
        spans: &[Range<usize>],
    ) -> bool {
        let is_crate = |name: &String| matches!(name.as_str(), "std" | "core" | "alloc");
        // In an exported macro, the path is led through the macro's own crate.
        if is_crate(&segments[0]) || segments[0] == "$crate" {
            return false;
        }
        let behind = (1..segments.len()).find(|&at| {
            is_crate(&segments[at])
                && self.resolve(leading, &segments[..=at], Ns::Type) == Some(Def::Std(Vec::new()))
        });
        let Some(behind) = behind else {
            return false;
        };
        let path = self.start_of(&spans[0], leading)..spans[behind].end;
        let runtime = format!("::{}::{}", self.counting.root(), segments[behind]);
        self.edits().replace(path, runtime);
        true
    }

    /// Replaces `crate` in what was a crate of its own, and is a module now, by that module.
    pub(super) fn crate_keyword(&mut self, at: Range<usize>) {
        let root = self.tables.crate_root(current_module(&self.ribs));
        if root != ROOT {
            let module = format!("::{}", self.tables.modules[root].name);
            self.edits().after(at.end, module, at.start);
        }
    }

    /// Leads a path from the root of what was a crate of its own, as imports of the first edition are, to the module
    /// that the root is now. Returns whether the path is one.
    pub(super) fn moved_root(&mut self, written: &str, at: Range<usize>) -> bool {
        let Some(module) = self.tables.moved_root(&self.ribs, written) else {
            return false;
        };
        let module = format!("{module}::");
        self.edits().before(at.start, module);
        true
    }

    /// Returns the offset at which a path begins whose first segment is `at`: before its `::`, if there is one.
    pub(super) fn start_of(&self, at: &Range<usize>, leading: bool) -> usize {
        let before = self.text(0..at.start).trim_end();
        match before.strip_suffix("::") {
            Some(before) if leading => before.len(),
            _ => at.start,
        }
    }

    /// As [`Walker::root`], for a root that is known to be the crate `target`; `wanted` for std's concurrent parts.
    pub(super) fn rewrite_root(
        &mut self,
        leading: bool,
        written: &str,
        target: &Def,
        at: Range<usize>,
        wanted: bool,
    ) {
        let double_colon = if leading { "" } else { "::" };
        match target {
            Def::Module(ROOT) if self.tables.library_is_hidden() => {
                let path = self.start_of(&at, leading)..at.end;
                self.edits().replace(path, "crate");
            }
            Def::Std(path) if path.is_empty() && matches!(written, "std" | "core" | "alloc") => {
                // In the first edition only `std` is there without being declared.
                let wanted = wanted || self.tables.edition_2015 && written != "std";
                let root = format!("{double_colon}{}::", self.counting.root());
                self.edits()
                    .before(at.start, if wanted { &root } else { "" });
            }
            // An alias of the whole crate, which every module knows, must be written out.
            Def::Std(path) if path.is_empty() => {
                let std = format!("{double_colon}{}::std", self.counting.root());
                self.edits().replace(at, std);
            }
            Def::Extern(path) if path.len() == 1 && path[0] == "seqz" => {
                self.edits()
                    .replace(at, format!("{double_colon}seqz_runtime"));
            }
            _ => {}
        }
    }

    /// Resolves a path and reports what on the path can't be run.
    pub(super) fn check(
        &mut self,
        leading: bool,
        segments: &[String],
        spans: &[Range<usize>],
        ns: Ns,
    ) -> Option<Def> {
        let def = self.resolve(leading, segments, ns);
        match &def {
            Some(Def::Std(path)) => {
                self.outside(path, spans[spans.len() - 1].clone());
                if ns == Ns::Value {
                    self.note_looking(path);
                }
                if let Some(refused) =
                    (1..=path.len()).find(|length| self.refusal(&path[..*length]).is_some())
                {
                    // The last segments of the two paths are the same.
                    let behind = (path.len() - refused).min(segments.len() - 1);
                    self.refuse_std(&path[..refused], spans[segments.len() - 1 - behind].clone());
                }
            }
            Some(Def::Extern(path)) => self.refuse_crate(&path[0], spans[0].clone()),
            _ => {}
        }
        def
    }

    fn refusal(&self, path: &[String]) -> Option<support::Refusal> {
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        support::refusal(&parts, self.mode)
    }

    /// Reports a path inside std that can't be run, once.
    fn refuse_std(&mut self, path: &[String], span: Range<usize>) {
        let Some(refusal) = self.refusal(path) else {
            return;
        };
        let full = format!("std::{}", path.join("::"));
        let what = format!("`{full}`");
        self.refuse_once(Some(full), span, what, refusal.reason, refusal.help);
    }

    pub(super) fn refuse_crate(&mut self, crate_: &str, span: Range<usize>) {
        // The source of dependencies is looked at.
        if self.tables.dependencies.contains(crate_) {
            return;
        }
        let Some(refusal) = support::crate_refusal(crate_) else {
            return;
        };
        self.refuse_once(
            Some(crate_.to_string()),
            span,
            format!("crate `{crate_}`"),
            refusal.reason,
            refusal.help,
        );
    }

    /// Handles a path that is an expression.
    pub(super) fn value_path(&mut self, expr: &ExprPath) {
        expr.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        if let Some(qself) = &expr.qself {
            self.visit_type(&qself.ty);
        }
        let def = self.path(&expr.path, Ns::Value);
        self.note_use(expr, def.as_ref());
    }

    pub(super) fn type_def(&self, path: &Path) -> Option<Def> {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|segment| name(&segment.ident))
            .collect();
        self.resolve(path.leading_colon.is_some(), &segments, Ns::Type)
    }

    /// Returns the `static mut` that a path names.
    pub(super) fn static_mut_of(&self, path: &Path) -> Option<ItemId> {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|segment| name(&segment.ident))
            .collect();
        match self.resolve(path.leading_colon.is_some(), &segments, Ns::Value)? {
            Def::Item(item) if matches!(self.tables.items[item].kind, ItemKind::StaticMut(_)) => {
                Some(item)
            }
            _ => None,
        }
    }

    /// Notes the local types in an expression or type that becomes the value of a lock or of a `static mut`.
    pub(super) fn note_shared(
        &mut self,
        owner: Option<ItemId>,
        range: Range<usize>,
        visit: impl FnOnce(&mut LocalTypes<'_, '_>),
    ) {
        let mut found = LocalTypes {
            walker: self,
            items: Vec::new(),
            cell: None,
        };
        visit(&mut found);
        let (items, cell) = (found.items, found.cell);
        if owner.is_none() {
            self.check_protected(range, cell, &items);
        }
        if !items.is_empty() {
            self.shared.push(SharedUse { owner, items });
        }
    }
}

pub(super) fn is_lock(path: &[String]) -> bool {
    path.len() >= 2 && path[0] == "sync" && matches!(path[1].as_str(), "Mutex" | "RwLock")
}

/// Collects the local structs and enums that types, struct literals and constructor calls mention.
pub(super) struct LocalTypes<'w, 'p> {
    walker: &'w Walker<'p>,
    items: Vec<ItemId>,
    /// The name of a cell of std, if one is mentioned.
    cell: Option<String>,
}

impl<'ast> Visit<'ast> for LocalTypes<'_, '_> {
    fn visit_path(&mut self, path: &'ast Path) {
        for length in 1..=path.segments.len() {
            let prefix: Vec<String> = path
                .segments
                .iter()
                .take(length)
                .map(|segment| name(&segment.ident))
                .collect();
            let leading = path.leading_colon.is_some();
            match self.walker.resolve(leading, &prefix, Ns::Type) {
                Some(Def::Item(item)) if !self.items.contains(&item) => self.items.push(item),
                Some(Def::Std(path)) => self.cell = self.cell.take().or(unseen::cell(&path)),
                _ => {}
            }
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}

    fn visit_expr(&mut self, expr: &'ast Expr) {
        syn::visit::visit_expr(self, expr);
    }
}
