//! The visitor itself: it gives each node to the module that handles it.

use syn::visit::{self, Visit};
use syn::{
    Arm, Attribute, Block, Expr, ExprClosure, ExprForLoop, ExprIf, ExprLet, ExprRepeat, ExprWhile,
    Field, FieldValue, GenericArgument, ImplItem, ImplItemFn, Item, ItemFn, ItemImpl, ItemUse,
    Local, Macro, Path, Stmt, TraitItem, TraitItemFn, TypeArray, UseTree, Variant, Visibility,
};

use super::{Walker, bytes};
use crate::resolve::{Ns, Rib, attributes};

impl<'ast> Visit<'ast> for Walker<'_> {
    fn visit_attribute(&mut self, attr: &'ast Attribute) {
        self.attribute(attr);
    }

    fn visit_item(&mut self, item: &'ast Item) {
        if self.program.cfg.off(attributes(item)) {
            self.cfg_attributes(attributes(item));
            return;
        }
        if matches!(item, Item::Const(_) | Item::Static(_)) {
            return self.in_constant(|walker| {
                walker.with_rib(Rib::Item, |walker| walker.item(item));
            });
        }
        self.with_rib(Rib::Item, |walker| walker.item(item));
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        item.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        self.visit_visibility(&item.vis);
        self.use_item(item);
    }

    fn visit_use_tree(&mut self, _: &'ast UseTree) {}

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        item.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        self.visit_visibility(&item.vis);
        self.function(&item.sig, Some(&item.block));
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let around = std::mem::replace(&mut self.of_type, variable_of(&item.self_ty));
        let own = self.own_type_of(&item.self_ty);
        let outer = std::mem::replace(&mut self.own_type, own);
        self.implementation(item);
        self.own_type = outer;
        self.of_type = around;
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attrs = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            ImplItem::Verbatim(tokens) => return self.tokens(tokens.clone()),
            _ => return,
        };
        if self.program.cfg.off(attrs) {
            return self.cfg_attributes(attrs);
        }
        if matches!(item, ImplItem::Const(_)) {
            return self.in_constant(|walker| visit::visit_impl_item(walker, item));
        }
        visit::visit_impl_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        item.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        self.visit_visibility(&item.vis);
        self.function(&item.sig, Some(&item.block));
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attrs = match item {
            TraitItem::Const(item) => &item.attrs,
            TraitItem::Fn(item) => &item.attrs,
            TraitItem::Type(item) => &item.attrs,
            TraitItem::Macro(item) => &item.attrs,
            TraitItem::Verbatim(tokens) => return self.tokens(tokens.clone()),
            _ => return,
        };
        if self.program.cfg.off(attrs) {
            return self.cfg_attributes(attrs);
        }
        if matches!(item, TraitItem::Const(_)) {
            return self.in_constant(|walker| visit::visit_trait_item(walker, item));
        }
        visit::visit_trait_item(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        item.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        self.function(&item.sig, item.default.as_ref());
    }

    fn visit_visibility(&mut self, visibility: &'ast Visibility) {
        if let Visibility::Restricted(restricted) = visibility
            && restricted.in_token.is_some()
            && let Some(first) = restricted
                .path
                .segments
                .first()
                .filter(|first| first.ident == "crate")
        {
            self.crate_keyword(bytes(&first.ident));
        }
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if self.program.cfg.off(&field.attrs) {
            return self.cfg_attributes(&field.attrs);
        }
        visit::visit_field(self, field);
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        if self.program.cfg.off(&variant.attrs) {
            return self.cfg_attributes(&variant.attrs);
        }
        self.in_constant(|walker| visit::visit_variant(walker, variant));
    }

    fn visit_type_array(&mut self, array: &'ast TypeArray) {
        self.in_constant(|walker| visit::visit_type_array(walker, array));
    }

    fn visit_expr_repeat(&mut self, expr: &'ast ExprRepeat) {
        expr.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        self.visit_expr(&expr.expr);
        self.in_constant(|walker| walker.visit_expr(&expr.len));
    }

    fn visit_generic_argument(&mut self, argument: &'ast GenericArgument) {
        self.in_constant(|walker| visit::visit_generic_argument(walker, argument));
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.block(block);
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        let attrs: &[Attribute] = match stmt {
            Stmt::Local(local) => &local.attrs,
            Stmt::Macro(item) => &item.attrs,
            Stmt::Expr(expr, _) => expr_attributes(expr),
            Stmt::Item(_) => &[],
        };
        if self.program.cfg.off(attrs) {
            return self.cfg_attributes(attrs);
        }
        self.mark_dropped(stmt);
        self.statement(stmt);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        local
            .attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        self.visit_pat(&local.pat);
        self.note_pointer(local);
        let mut guard = None;
        // `let _ = X` doesn't read `X`.
        let init = local.init.as_ref().filter(|init| {
            !(matches!(local.pat, syn::Pat::Wild(_)) && self.static_root(&init.expr).is_some())
        });
        if let Some(init) = init {
            self.note_initial(&local.pat, &init.expr);
            let outer = std::mem::replace(&mut self.let_name, single_name(&local.pat));
            self.visit_expr(&init.expr);
            self.let_name = outer;
            if let Some((_, diverge)) = &init.diverge {
                self.visit_expr(diverge);
            }
            guard = self.guard_name(&init.expr);
        }
        let object = self.new_object(local);
        let builder = init.is_some_and(|init| self.is_builder(&init.expr));
        self.bind(&local.pat);
        self.builders
            .extend(single_name(&local.pat).filter(|_| builder));
        if let syn::Pat::Type(pattern) = &local.pat {
            self.note_starter(&pattern.pat, &pattern.ty);
        }
        self.objects.extend(object.map(|name| (name, true)));
        self.note_guard(&local.pat, guard);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        if self.program.cfg.off(expr_attributes(expr)) {
            return self.cfg_attributes(expr_attributes(expr));
        }
        self.mark_call(expr);
        self.mark_tests(expr);
        self.note_site(expr);
        self.mark_loop(expr);
        if self.static_access(expr) {
            return;
        }
        if let Expr::Call(call) = expr {
            self.tell_of_given(call);
        }
        self.note_uses(expr);
        self.note_look(expr);
        self.tell_of_access(expr);
        match expr {
            Expr::Path(expr) => self.value_path(expr),
            Expr::Call(expr) => self.call(expr),
            Expr::MethodCall(expr) => self.method_call(expr),
            Expr::Verbatim(tokens) => self.tokens(tokens.clone()),
            Expr::Loop(_) | Expr::While(_) => {
                self.in_loop(expr, |walker| visit::visit_expr(walker, expr));
            }
            Expr::Const(_) => self.in_constant(|walker| visit::visit_expr(walker, expr)),
            Expr::Unsafe(_) => {
                let outer = std::mem::replace(&mut self.in_unsafe, true);
                visit::visit_expr(self, expr);
                self.in_unsafe = outer;
            }
            expr => visit::visit_expr(self, expr),
        }
    }

    fn visit_expr_let(&mut self, expr: &'ast ExprLet) {
        self.visit_expr(&expr.expr);
        self.visit_pat(&expr.pat);
        let guard = self.guard_name(&expr.expr);
        self.bind(&expr.pat);
        self.note_guard(&expr.pat, guard);
    }

    fn visit_expr_if(&mut self, expr: &'ast ExprIf) {
        expr.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        self.with_variables(|walker| {
            walker.visit_expr(&expr.cond);
            walker.visit_block(&expr.then_branch);
        });
        if let Some((_, otherwise)) = &expr.else_branch {
            self.visit_expr(otherwise);
        }
    }

    fn visit_expr_while(&mut self, expr: &'ast ExprWhile) {
        expr.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        self.with_variables(|walker| {
            walker.visit_expr(&expr.cond);
            walker.visit_block(&expr.body);
        });
    }

    fn visit_expr_for_loop(&mut self, expr: &'ast ExprForLoop) {
        expr.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        self.visit_expr(&expr.expr);
        self.in_rounds(|walker| {
            walker.with_variables(|walker| {
                walker.visit_pat(&expr.pat);
                walker.bind(&expr.pat);
                walker.visit_block(&expr.body);
            });
        });
    }

    fn visit_expr_closure(&mut self, expr: &'ast ExprClosure) {
        let scope = std::mem::take(&mut self.closure_of_scope);
        let outer = self.let_name.take();
        self.tell_of_closure(expr);
        self.with_variables(|walker| {
            for input in &expr.inputs {
                walker.visit_pat(input);
                walker.bind(input);
                walker.scopes.extend(single_name(input).filter(|_| scope));
            }
            walker.visit_return_type(&expr.output);
            walker.visit_expr(&expr.body);
        });
        self.let_name = outer;
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        if self.program.cfg.off(&arm.attrs) {
            return self.cfg_attributes(&arm.attrs);
        }
        arm.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.with_variables(|walker| {
            // The guard is part of the arm and sees the variables that the pattern binds.
            walker.bind(&arm.pat);
            walker.visit_pat(&arm.pat);
            walker.used(&arm.body, super::raw::Use::Value);
            walker.visit_expr(&arm.body);
        });
    }

    fn visit_field_value(&mut self, value: &'ast FieldValue) {
        if self.program.cfg.off(&value.attrs) {
            return self.cfg_attributes(&value.attrs);
        }
        if value.colon_token.is_none()
            && let Expr::Path(path) = &value.expr
            && self.static_mut_of(&path.path).is_some()
        {
            // `S { X }` has to become `S { X: X.get() }`.
            let range = bytes(&value.expr);
            let label = format!("{}: ", self.text(range.clone()));
            self.edits().before(range.start, label);
        }
        visit::visit_field_value(self, value);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.path(path, Ns::Type);
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.macro_call(mac);
    }
}

impl Walker<'_> {
    fn item(&mut self, item: &Item) {
        let unsure = self.program.cfg.active(attributes(item)) != Some(true);
        self.unsure += usize::from(unsure);
        self.certain_item(item);
        self.unsure -= usize::from(unsure);
    }

    fn certain_item(&mut self, item: &Item) {
        match item {
            Item::Mod(item) => self.module(item),
            Item::ExternCrate(item) => self.extern_crate(item),
            Item::Macro(item) => self.item_macro(item),
            Item::Static(item) => self.item_static(item),
            Item::Struct(item) => {
                self.with_generics(&item.generics, |walker| {
                    visit::visit_item_struct(walker, item)
                });
            }
            Item::Enum(item) => self.with_generics(&item.generics, |walker| {
                visit::visit_item_enum(walker, item)
            }),
            Item::Union(item) => self.with_generics(&item.generics, |walker| {
                visit::visit_item_union(walker, item)
            }),
            Item::Trait(item) => self.with_generics(&item.generics, |walker| {
                visit::visit_item_trait(walker, item)
            }),
            Item::Type(item) => self.with_generics(&item.generics, |walker| {
                visit::visit_item_type(walker, item)
            }),
            Item::Verbatim(tokens) => self.tokens(tokens.clone()),
            item => visit::visit_item(self, item),
        }
    }
}

/// Returns the attributes of an expression that is a statement or an element.
pub(super) fn expr_attributes(expr: &Expr) -> &[Attribute] {
    match expr {
        Expr::Assign(expr) => &expr.attrs,
        Expr::Block(expr) => &expr.attrs,
        Expr::Call(expr) => &expr.attrs,
        Expr::ForLoop(expr) => &expr.attrs,
        Expr::If(expr) => &expr.attrs,
        Expr::Loop(expr) => &expr.attrs,
        Expr::Macro(expr) => &expr.attrs,
        Expr::Match(expr) => &expr.attrs,
        Expr::MethodCall(expr) => &expr.attrs,
        Expr::Unsafe(expr) => &expr.attrs,
        Expr::While(expr) => &expr.attrs,
        Expr::Lit(expr) => &expr.attrs,
        Expr::Path(expr) => &expr.attrs,
        Expr::Tuple(expr) => &expr.attrs,
        _ => &[],
    }
}

/// Returns the variable of a pattern that consists of one.
pub(super) fn single_name(pattern: &syn::Pat) -> Option<String> {
    match pattern {
        syn::Pat::Ident(pattern) => Some(crate::resolve::name(&pattern.ident)),
        syn::Pat::Type(pattern) => single_name(&pattern.pat),
        _ => None,
    }
}

/// Returns the likely name of a variable of this type: the type's name in small letters, with underscores between its
/// words.
fn variable_of(ty: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = ty else {
        return None;
    };
    let name = crate::resolve::name(&path.path.segments.last()?.ident);
    let mut variable = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !variable.is_empty() {
            variable.push('_');
        }
        variable.extend(c.to_lowercase());
    }
    Some(variable)
}
