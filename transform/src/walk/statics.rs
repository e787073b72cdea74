//! `static mut`: every access becomes an event.
//!
//! `static mut X: T = e` becomes a `StaticMut<T>`, and each use of `X` a call that reads or writes it. The order of
//! evaluation stays Rust's: the right side of an assignment and the arguments of a call come before the access.
//! A reference that could outlive its expression is refused, since accesses through it would go unseen.

use std::ops::Range;

use syn::visit::{self, Visit};
use syn::{
    BinOp, Expr, ExprAssign, ExprBinary, ExprMethodCall, ItemStatic, StaticMutability, Type,
};

use super::{Walker, bytes};
use crate::resolve::{Def, ItemId, ItemKind, Receiver, name};

/// Methods of std types that change what they are called on.
const MUTATING: &[&str] = &[
    "append",
    "as_deref_mut",
    "as_mut",
    "as_mut_slice",
    "clear",
    "clone_from",
    "clone_from_slice",
    "copy_from_slice",
    "dedup",
    "drain",
    "entry",
    "extend",
    "extend_from_slice",
    "fill",
    "first_mut",
    "get_mut",
    "get_or_insert",
    "get_or_insert_with",
    "insert",
    "insert_str",
    "iter_mut",
    "last_mut",
    "next",
    "pop",
    "pop_back",
    "pop_first",
    "pop_front",
    "pop_last",
    "push",
    "push_back",
    "push_front",
    "push_str",
    "remove",
    "replace",
    "reserve",
    "resize",
    "retain",
    "reverse",
    "rotate_left",
    "rotate_right",
    "sort",
    "sort_by",
    "sort_by_key",
    "sort_unstable",
    "split_off",
    "swap",
    "swap_remove",
    "take",
    "truncate",
    "values_mut",
    "write",
    "write_all",
    "write_fmt",
    "write_str",
];

/// Methods of std types that only look at what they are called on.
const READING: &[&str] = &[
    "abs",
    "as_bytes",
    "as_deref",
    "as_ref",
    "as_slice",
    "as_str",
    "binary_search",
    "bytes",
    "capacity",
    "chars",
    "chunks",
    "clone",
    "cmp",
    "contains",
    "contains_key",
    "count_ones",
    "ends_with",
    "eq",
    "find",
    "first",
    "fmt",
    "ge",
    "get",
    "gt",
    "hash",
    "is_empty",
    "is_err",
    "is_none",
    "is_ok",
    "is_some",
    "iter",
    "keys",
    "last",
    "le",
    "len",
    "lines",
    "lt",
    "max",
    "min",
    "ne",
    "partial_cmp",
    "peek",
    "pow",
    "rem_euclid",
    "split",
    "starts_with",
    "to_owned",
    "to_string",
    "to_vec",
    "trim",
    "values",
    "windows",
];

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
            self.note_shared(None, |items| items.visit_type(ty));
        }
        self.visit_type(&item.ty);
        self.visit_expr(&item.expr);
    }

    /// The `static mut` that a place expression is or is part of.
    pub(super) fn static_root(&self, expr: &Expr) -> Option<ItemId> {
        match root(expr) {
            Expr::Path(path) if path.qself.is_none() => self.static_mut_of(&path.path),
            _ => None,
        }
    }

    /// Handles an expression that accesses a `static mut`; false if it is none.
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
            Expr::RawAddr(_) => self.refuse_address(item, bytes(expr)),
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

    /// Text that reads the whole variable.
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
            // The value first, as Rust evaluates it; then a read and a write.
            let access = if scalar {
                format!("{path}.set({path}.get() {operator} value)")
            } else if is_whole(&update.left) {
                format!("*{path}.borrow_mut() {operator}= value")
            } else {
                format!("{path}.borrow_mut(){rest} {operator}= value")
            };
            self.edits()
                .replace_as(place.start..value.start, "match (", at.start);
            self.edits()
                .after(value.end, format!(") {{ value => {access} }}"), at.start);
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
            // The arguments first, as Rust evaluates them.
            let receiver = bytes(&*call.receiver);
            let open = call.paren_token.span.open().byte_range();
            let close = call.paren_token.span.close().byte_range();
            let values: String = (0..call.args.len())
                .map(|number| format!("value_{number}, "))
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

    /// How a method takes its receiver: by the crate's own methods of that name, else by what std's do.
    fn receiver_of(&self, method: &str) -> Option<Receiver> {
        if let Some(own) = self.tables.methods.get(method) {
            let mut kinds = own
                .iter()
                .filter_map(|id| match self.tables.items[*id].kind {
                    ItemKind::Method(_, receiver) => Some(receiver),
                    _ => None,
                });
            let first = kinds.next()?;
            return kinds.all(|kind| kind == first).then_some(first);
        }
        let arithmetic = [
            "wrapping_",
            "checked_",
            "saturating_",
            "overflowing_",
            "leading_",
            "trailing_",
        ];
        if MUTATING.contains(&method) {
            Some(Receiver::Mutable)
        } else if READING.contains(&method)
            || arithmetic.iter().any(|prefix| method.starts_with(prefix))
        {
            Some(Receiver::Shared)
        } else {
            None
        }
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

    /// Whether no index in a place is an event of its own, which would come in the wrong order; refused otherwise.
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

    /// An expression without events.
    fn is_simple(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(_) | Expr::Closure(_) => true,
            Expr::Path(_) => self.static_root(expr).is_none(),
            Expr::Paren(inner) => self.is_simple(&inner.expr),
            Expr::Cast(inner) => {
                self.is_simple(&inner.expr) && matches!(*inner.expr, Expr::Lit(_) | Expr::Path(_))
            }
            Expr::Unary(inner) => {
                matches!((&inner.op, &*inner.expr), (syn::UnOp::Neg(_), Expr::Lit(_)))
            }
            _ => false,
        }
    }

    fn static_type(&self, item: ItemId) -> Option<std::rc::Rc<Type>> {
        match &self.tables.items[item].kind {
            ItemKind::StaticMut(ty) => Some(std::rc::Rc::clone(ty)),
            _ => None,
        }
    }

    fn is_scalar(&self, item: ItemId) -> bool {
        self.static_type(item)
            .is_some_and(|ty| self.scalar_type(&ty))
    }

    fn is_copy(&self, item: ItemId) -> bool {
        self.static_type(item).is_some_and(|ty| self.copy_type(&ty))
    }

    fn scalar_type(&self, ty: &Type) -> bool {
        let Type::Path(ty) = ty else { return false };
        match ty.path.get_ident().map(name) {
            Some(primitive) if is_primitive(&primitive) => self.type_def(&ty.path).is_none(),
            _ => match self.type_def(&ty.path) {
                Some(Def::Item(item)) => match &self.tables.items[item].kind {
                    // Followed by name; a primitive's alias is a path of one name that resolves to nothing.
                    ItemKind::Alias(target) => {
                        self.tables.alias(item).is_none() && self.scalar_type(target)
                    }
                    _ => false,
                },
                _ => false,
            },
        }
    }

    /// Whether values of the type are certainly `Copy`.
    fn copy_type(&self, ty: &Type) -> bool {
        match ty {
            Type::Path(path) => {
                if self.scalar_type(ty) {
                    return true;
                }
                let last = path
                    .path
                    .segments
                    .last()
                    .map(|segment| name(&segment.ident))
                    .unwrap_or_default();
                match self.type_def(&path.path) {
                    None if last == "Option" => match &path.path.segments[path.path.segments.len() - 1].arguments {
                        syn::PathArguments::AngleBracketed(arguments) => arguments
                            .args
                            .iter()
                            .all(|arg| matches!(arg, syn::GenericArgument::Type(ty) if self.copy_type(ty))),
                        _ => false,
                    },
                    Some(Def::Item(item)) => match &self.tables.items[item].kind {
                        ItemKind::Struct(item) => derives(&item.attrs, "Copy"),
                        ItemKind::Enum(item) => derives(&item.attrs, "Copy"),
                        _ => false,
                    },
                    _ => false,
                }
            }
            Type::Array(array) => self.copy_type(&array.elem),
            Type::Tuple(tuple) => tuple.elems.iter().all(|ty| self.copy_type(ty)),
            Type::Reference(reference) => reference.mutability.is_none(),
            Type::Ptr(_) | Type::FnPtr(_) | Type::Never(_) => true,
            Type::Paren(paren) => self.copy_type(&paren.elem),
            _ => false,
        }
    }

    pub(super) fn refuse_address(&mut self, item: ItemId, range: Range<usize>) {
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

/// The expression that a chain of fields and indices starts from.
fn root(expr: &Expr) -> &Expr {
    match expr {
        Expr::Field(field) => root(&field.base),
        Expr::Index(index) => root(&index.expr),
        Expr::Paren(paren) => root(&paren.expr),
        other => other,
    }
}

/// The whole variable rather than a part of it.
fn is_whole(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(paren) => is_whole(&paren.expr),
        Expr::Field(_) | Expr::Index(_) => false,
        _ => true,
    }
}

fn indices_of(place: &Expr) -> Vec<&Expr> {
    match place {
        Expr::Index(index) => {
            let mut all = indices_of(&index.expr);
            all.push(&index.index);
            all
        }
        Expr::Field(field) => indices_of(&field.base),
        Expr::Paren(paren) => indices_of(&paren.expr),
        _ => Vec::new(),
    }
}

fn borrows_in_patterns(arms: &[syn::Arm]) -> bool {
    struct Borrows(bool);
    impl<'ast> Visit<'ast> for Borrows {
        fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
            self.0 |= pattern.by_ref.is_some() && pattern.mutability.is_some();
            visit::visit_pat_ident(self, pattern);
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut borrows = Borrows(false);
    arms.iter().for_each(|arm| borrows.visit_pat(&arm.pat));
    borrows.0
}

/// The operator of a compound assignment without its `=`.
fn plain_operator(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::AddAssign(_) => "+",
        BinOp::SubAssign(_) => "-",
        BinOp::MulAssign(_) => "*",
        BinOp::DivAssign(_) => "/",
        BinOp::RemAssign(_) => "%",
        BinOp::BitXorAssign(_) => "^",
        BinOp::BitAndAssign(_) => "&",
        BinOp::BitOrAssign(_) => "|",
        BinOp::ShlAssign(_) => "<<",
        BinOp::ShrAssign(_) => ">>",
        _ => return None,
    })
}

fn is_primitive(name: &str) -> bool {
    matches!(
        name,
        "bool"
            | "char"
            | "u8"
            | "u16"
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
    )
}

/// Whether an item derives a trait of that name.
pub(crate) fn derives(attrs: &[syn::Attribute], wanted: &str) -> bool {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident("derive"))
        .any(|attr| {
            let parse = syn::punctuated::Punctuated::<syn::Path, syn::Token![,]>::parse_terminated;
            attr.parse_args_with(parse).is_ok_and(|list| {
                list.iter().any(|path| {
                    path.segments
                        .last()
                        .is_some_and(|last| last.ident == wanted)
                })
            })
        })
}
