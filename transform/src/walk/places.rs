//! What the walk has to know of a `static mut` and of its use to choose the access: the value's type, the method's
//! receiver, the shape of the place.

use crate::traits::derives;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Type};

use super::Walker;
use super::observed::is_integer;
use crate::resolve::{Def, ItemId, ItemKind, Receiver, name};

/// Methods of std types that change the receiver.
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

/// Methods of std types that only read the receiver.
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
    /// Returns how a method takes its receiver: by the crate's own methods of that name, else by std's.
    pub(super) fn receiver_of(&self, method: &str) -> Option<Receiver> {
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

    /// Whether an expression has no events.
    pub(super) fn is_simple(&self, expr: &Expr) -> bool {
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

    pub(super) fn is_scalar(&self, item: ItemId) -> bool {
        self.static_type(item)
            .is_some_and(|ty| self.scalar_type(&ty))
    }

    pub(super) fn is_copy(&self, item: ItemId) -> bool {
        self.static_type(item).is_some_and(|ty| self.copy_type(&ty))
    }

    fn scalar_type(&self, ty: &Type) -> bool {
        let Type::Path(ty) = ty else { return false };
        match ty.path.get_ident().map(name) {
            Some(primitive) if is_primitive(&primitive) => self.type_def(&ty.path).is_none(),
            _ => match self.type_def(&ty.path) {
                Some(Def::Item(item)) => match &self.tables.items[item].kind {
                    // An alias is followed by its name; a primitive's alias is a path of one name that resolves to
                    // nothing.
                    ItemKind::Alias(target) => {
                        self.tables.alias(item).is_none() && self.scalar_type(&target.ty)
                    }
                    _ => false,
                },
                _ => false,
            },
        }
    }

    pub(super) fn is_integer_static(&self, item: ItemId) -> bool {
        self.static_type(item)
            .is_some_and(|ty| self.is_integer_type(&ty))
    }

    /// Whether a type is written as an integer type that atomics have, too.
    pub(super) fn is_integer_type(&self, ty: &Type) -> bool {
        let Type::Path(path) = ty else { return false };
        let ident = path.path.get_ident().map(name);
        ident.is_some_and(|ident| is_integer(&ident)) && self.scalar_type(ty)
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
}

/// Returns the expression that a chain of fields and indices starts from.
pub(super) fn root(expr: &Expr) -> &Expr {
    match expr {
        Expr::Field(field) => root(&field.base),
        Expr::Index(index) => root(&index.expr),
        Expr::Paren(paren) => root(&paren.expr),
        other => other,
    }
}

/// Whether the place is the whole variable rather than a part of it.
pub(super) fn is_whole(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(paren) => is_whole(&paren.expr),
        Expr::Field(_) | Expr::Index(_) => false,
        _ => true,
    }
}

pub(super) fn indices_of(place: &Expr) -> Vec<&Expr> {
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

pub(super) fn borrows_in_patterns(arms: &[syn::Arm]) -> bool {
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

/// Whether a method of std of this name changes what it is called on.
pub(super) fn changes(method: &str) -> bool {
    MUTATING.contains(&method)
}

/// Returns the operator of a compound assignment without its `=`.
pub(super) fn plain_operator(op: &BinOp) -> Option<&'static str> {
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
