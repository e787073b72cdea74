//! `static mut`: every access becomes an event.
//!
//! `static mut X: T = e` becomes a `StaticMut<T>`, and each use of `X` a call that reads or writes it. The order of
//! evaluation stays Rust's: the right side of an assignment and the arguments of a call come before the access.
//! A reference that could outlive its expression is refused, since accesses through it would go unseen.

use std::ops::Range;

use syn::visit::Visit;
use syn::{Expr, ExprAssign, ExprBinary, ExprMethodCall, ItemStatic, StaticMutability};

use super::places::{borrows_in_patterns, indices_of, is_whole, plain_operator, root};
use super::{Walker, bytes};
use crate::options::Mode;
use crate::resolve::{ItemId, Receiver, name};

impl Walker<'_> {
    pub(super) fn item_static(&mut self, item: &ItemStatic) {
        item.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        if let StaticMutability::Mut(token) = &item.mutability {
            // The space after `mut` goes as well.
            let mut keyword = bytes(token);
            keyword.end = bytes(&item.ident).start;
            self.edits().replace(keyword, "");
            let (ty, value) = (bytes(&*item.ty), bytes(&*item.expr));
            self.edits()
                .before(ty.start, "::seqz_runtime::cell::StaticMut<");
            self.edits().after(ty.end, ">", ty.start);
            self.edits()
                .before(value.start, "::seqz_runtime::cell::StaticMut::new(");
            self.edits().after(value.end, ")", value.start);
            let ty = &item.ty;
            self.note_shared(None, bytes(&**ty), |items| items.visit_type(ty));
            self.note_named(ty);
        }
        self.visit_type(&item.ty);
        self.visit_expr(&item.expr);
    }

    /// Returns the `static mut` that a place expression is, or is part of.
    pub(super) fn static_root(&self, expr: &Expr) -> Option<ItemId> {
        match root(expr) {
            Expr::Path(path) if path.qself.is_none() => self.static_mut_of(&path.path),
            _ => None,
        }
    }

    /// Handles an expression that accesses a `static mut`; returns false if the expression is no such access.
    pub(super) fn static_access(&mut self, expr: &Expr) -> bool {
        let (item, place): (ItemId, &Expr) = match expr {
            Expr::Assign(ExprAssign { left, .. }) => match self.static_root(left) {
                Some(item) => (item, left),
                None => return false,
            },
            Expr::Binary(ExprBinary { left, op, .. }) if plain_operator(op).is_some() => {
                match self.static_root(left) {
                    Some(item) => (item, left),
                    None => return false,
                }
            }
            Expr::MethodCall(call) => match self.static_root(&call.receiver) {
                Some(item) => (item, &call.receiver),
                None => return false,
            },
            Expr::Reference(reference) => match self.static_root(&reference.expr) {
                Some(item) => (item, &reference.expr),
                None => return false,
            },
            Expr::RawAddr(raw) => match self.static_root(&raw.expr) {
                Some(item) => (item, &raw.expr),
                None => return false,
            },
            Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => match self.static_root(expr) {
                Some(item) => (item, expr),
                None => return false,
            },
            Expr::Match(inner) if borrows_in_patterns(&inner.arms) => {
                match self.static_root(&inner.expr) {
                    Some(item) => {
                        self.refuse_reference(item, bytes(&*inner.expr));
                        return true;
                    }
                    None => return false,
                }
            }
            _ => return false,
        };
        let at = bytes(root(place));
        if self.opaque > 0 {
            self.refuse_static_in_macro(at);
            return true;
        }
        let variable = self.tables.items[item].name.clone();
        self.named_site(at.start, variable, bytes(expr));
        match expr {
            Expr::Assign(assign) => self.static_assign(item, assign),
            Expr::Binary(binary) => self.static_update(item, binary),
            Expr::MethodCall(call) => self.static_method(item, call),
            Expr::RawAddr(raw) => {
                let is_mut = matches!(raw.mutability, syn::PointerMutability::Mut(_));
                self.static_address(item, place, is_mut, bytes(expr));
            }
            Expr::Reference(_) => self.refuse_reference(item, bytes(expr)),
            _ => self.static_read(item, expr),
        }
        true
    }

    fn static_read(&mut self, item: ItemId, place: &Expr) {
        let at = bytes(root(place));
        if is_whole(place) && !self.is_copy(item) {
            // A place of the value's own type, to be matched, compared or borrowed.
            self.edits().before(at.start, "(*");
            self.edits().after(at.end, ".borrow())", at.start);
        } else {
            let read = if is_whole(place) {
                ".get()"
            } else {
                ".borrow()"
            };
            self.edits().after(at.end, read, at.start);
        }
        self.indices(place);
    }

    /// Returns the text that reads the whole variable.
    pub(super) fn read_of(&self, item: ItemId, path: &str) -> String {
        if self.is_copy(item) {
            format!("{path}.get()")
        } else {
            format!("*{path}.borrow()")
        }
    }

    fn static_assign(&mut self, item: ItemId, assign: &ExprAssign) {
        let at = bytes(root(&assign.left));
        let value = bytes(&*assign.right);
        if is_whole(&assign.left) {
            self.edits()
                .replace_as(at.end..value.start, ".set(", at.start);
            self.edits().after(value.end, ")", at.start);
        } else if self.simple_indices(item, &assign.left) {
            self.edits().after(at.end, ".borrow_mut()", at.start);
        } else {
            return;
        }
        self.visit_expr(&assign.right);
    }

    fn static_update(&mut self, item: ItemId, update: &ExprBinary) {
        let Some(operator) = plain_operator(&update.op) else {
            return;
        };
        let at = bytes(root(&update.left));
        let (place, value) = (bytes(&*update.left), bytes(&*update.right));
        if !self.simple_indices(item, &update.left) {
            return;
        }
        let path = self.text(at.clone()).to_string();
        let rest = self.text(at.end..place.end).to_string();
        let scalar = is_whole(&update.left) && self.is_scalar(item);
        if scalar && self.is_simple(&update.right) {
            self.edits().replace_as(
                at.end..value.start,
                format!(".set({path}.get() {operator} "),
                at.start,
            );
            self.edits().after(value.end, ")", at.start);
        } else {
            // The value comes first, as Rust evaluates it; then a read and a write.
            let access = if scalar {
                format!("{path}.set({path}.get() {operator} seqz_value)")
            } else if is_whole(&update.left) {
                format!("*{path}.borrow_mut() {operator}= seqz_value")
            } else {
                format!("{path}.borrow_mut(){rest} {operator}= seqz_value")
            };
            self.edits()
                .replace_as(place.start..value.start, "match (", at.start);
            self.edits().after(
                value.end,
                format!(") {{ seqz_value => {access} }}"),
                at.start,
            );
        }
        self.visit_expr(&update.right);
    }

    fn static_method(&mut self, item: ItemId, call: &ExprMethodCall) {
        let at = bytes(root(&call.receiver));
        let method = name(&call.method);
        let whole = is_whole(&call.receiver);
        let access = match self.receiver_of(&method) {
            _ if whole && self.is_scalar(item) => ".get()",
            Some(Receiver::Mutable) => ".borrow_mut()",
            Some(Receiver::Value) if whole && self.is_copy(item) => ".get()",
            Some(Receiver::Shared | Receiver::Value) => ".borrow()",
            _ if whole && self.is_copy(item) && !self.tables.methods.contains_key(&method) => {
                ".get()"
            }
            _ => {
                let what = format!(
                    "`{method}` on `static mut {}`",
                    self.tables.items[item].name
                );
                return self.refuse(
                    bytes(&call.method),
                    what,
                    "whether the method changes the value can't be told from here",
                    "read the value into a variable first, or use a `Mutex`",
                );
            }
        };
        if !self.simple_indices(item, &call.receiver) {
            return;
        }
        if call.args.iter().all(|arg| self.is_simple(arg)) {
            self.edits().after(at.end, access, at.start);
        } else {
            // The arguments come first, as Rust evaluates them.
            let receiver = bytes(&*call.receiver);
            let open = call.paren_token.span.open().byte_range();
            let close = call.paren_token.span.close().byte_range();
            let values: String = (0..call.args.len())
                .map(|number| format!("seqz_{number}, "))
                .collect();
            let comma = if call.args.trailing_punct() { "" } else { "," };
            let before = self.text(receiver.start..at.end).to_string();
            let after = self.text(at.end..open.start).to_string();
            self.edits()
                .replace_as(receiver.start..open.end, "match (", at.start);
            let body = format!("{comma}) {{ ({values}) => {before}{access}{after}({values}) }}");
            self.edits().replace_as(close, body, at.start);
        }
        call.args.iter().for_each(|arg| self.visit_expr(arg));
    }

    fn indices(&mut self, place: &Expr) {
        match place {
            Expr::Index(index) => {
                self.visit_expr(&index.index);
                self.indices(&index.expr);
            }
            Expr::Field(field) => self.indices(&field.base),
            Expr::Paren(paren) => self.indices(&paren.expr),
            _ => {}
        }
    }

    /// Whether no index in a place is an event of its own, which would come in the wrong order; such an index is
    /// refused.
    fn simple_indices(&mut self, item: ItemId, place: &Expr) -> bool {
        let Some(index) = indices_of(place)
            .into_iter()
            .find(|index| !self.is_simple(index))
        else {
            return true;
        };
        let range = bytes(index);
        let what = format!(
            "an index into `static mut {}` that is not just a variable",
            self.tables.items[item].name
        );
        let help = "put the index into a variable before the statement";
        self.refuse(
            range,
            what,
            "its own accesses would come after the one it belongs to",
            help,
        );
        false
    }

    /// Handles an expression that is a pointer to a place in a `static mut`. A pointer to the whole of it is handed out where
    /// threads run as threads; what is done through it is not followed.
    pub(super) fn static_address(
        &mut self,
        item: ItemId,
        place: &Expr,
        is_mut: bool,
        range: Range<usize>,
    ) {
        if self.mode == Mode::Sequential || !is_whole(place) {
            return self.refuse_address(item, range);
        }
        let at = bytes(root(place));
        let pointer = match is_mut {
            true => ".pointer()",
            false => ".pointer().cast_const()",
        };
        self.edits().replace(range.start..at.start, "");
        self.edits().replace(at.end..range.end, pointer);
        let what = format!("a pointer to `static mut {}`", self.tables.items[item].name);
        self.unfollowed(range, what);
    }

    fn refuse_address(&mut self, item: ItemId, range: Range<usize>) {
        let what = format!("a pointer to `static mut {}`", self.tables.items[item].name);
        let help = "read and write the variable itself, or use an atomic or a `Mutex`";
        self.refuse(
            range,
            what,
            "accesses through the pointer can't be seen",
            help,
        );
    }

    fn refuse_reference(&mut self, item: ItemId, range: Range<usize>) {
        let what = format!(
            "a reference to `static mut {}`",
            self.tables.items[item].name
        );
        let help = "read and write the variable itself, or use an atomic or a `Mutex`";
        self.refuse(
            range,
            what,
            "accesses through the reference can't be seen",
            help,
        );
    }
}
