//! Types that the source names as what a lock protects or a `static mut` holds, written so that the text means the same
//! anywhere in the type's module: the program registers these types, see `seqz_runtime::values`.
//!
//! A type that means something else outside of its function (a parameter, an item of a block) is left out, and so is a
//! type whose meaning is not seen at once.

use syn::{GenericArgument, PathArguments, Type};

use super::Walker;
use crate::resolve::{Def, ModId, Ns, ROOT, Rib, current_module, name};

/// The types that the runtime knows anyway, and names that are no type of a value.
const KNOWN: &[&str] = &[
    "()", "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "str", "u8",
    "u16", "u32", "u64", "u128", "usize", "String",
];

/// A type that is named as a shared value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NamedType {
    /// The module in which the text has this meaning.
    pub(crate) module: ModId,
    /// The text of the type in the generated program.
    pub(crate) text: String,
}

impl Walker<'_> {
    /// Notes a type of shared values.
    pub(super) fn note_named(&mut self, ty: &Type) {
        // An argument that is a constant looks like a type.
        let is_constant = matches!(ty, Type::Path(path) if self.is_constant(&path.path));
        if self.opaque > 0 || self.unsure > 0 || is_constant {
            return;
        }
        let mut text = String::new();
        if self.write_type(ty, &mut text).is_some() && !KNOWN.contains(&text.as_str()) {
            let module = current_module(&self.ribs);
            self.named.insert(NamedType { module, text });
        }
    }

    pub(super) fn write_type(&self, ty: &Type, text: &mut String) -> Option<()> {
        match ty {
            Type::Paren(inner) => self.write_type(&inner.elem, text),
            Type::Group(inner) => self.write_type(&inner.elem, text),
            Type::Tuple(tuple) => {
                text.push('(');
                for part in &tuple.elems {
                    self.write_type(part, text)?;
                    text.push_str(", ");
                }
                *text = text.trim_end().to_owned();
                text.push(')');
                Some(())
            }
            Type::Array(array) => {
                let syn::Expr::Lit(length) = &array.len else {
                    return None;
                };
                text.push('[');
                self.write_type(&array.elem, text)?;
                text.push_str("; ");
                text.push_str(self.text(super::bytes(length)));
                text.push(']');
                Some(())
            }
            Type::Reference(reference) if reference.mutability.is_none() => {
                let lifetime = reference.lifetime.as_ref();
                if lifetime.is_some_and(|lifetime| lifetime.ident != "static") {
                    return None;
                }
                text.push_str("&'static ");
                self.write_type(&reference.elem, text)
            }
            Type::Path(path) if path.qself.is_none() => self.write_path(&path.path, text),
            _ => None,
        }
    }

    /// Whether a path where a type may stand has a meaning as a value alone.
    fn is_constant(&self, path: &syn::Path) -> bool {
        let segments: Vec<String> = path.segments.iter().map(|it| name(&it.ident)).collect();
        let leading = path.leading_colon.is_some();
        let means = |ns| self.resolve(leading, &segments, ns).is_some();
        !means(Ns::Type) && means(Ns::Value)
    }

    pub(super) fn write_path(&self, path: &syn::Path, text: &mut String) -> Option<()> {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|segment| name(&segment.ident))
            .collect();
        let leading = path.leading_colon.is_some();
        let module = current_module(&self.ribs);
        let ns = match self.is_constant(path) {
            true => Ns::Value,
            false => Ns::Type,
        };
        let here = self.resolve(leading, &segments, ns);
        let there = self
            .tables
            .resolve(&[Rib::Module(module)], leading, &segments, ns);
        let first = segments.first()?;
        let changed = first == "crate" && self.tables.crate_root(module) != ROOT;
        if here != there || changed || matches!(here, Some(Def::Unknown | Def::Local)) {
            return None;
        }
        let of_std = matches!(here, Some(Def::Std(_)));
        if of_std && matches!(first.as_str(), "std" | "core" | "alloc") {
            text.push_str(&format!("::{}", self.counting.root()));
        }
        for (number, segment) in path.segments.iter().enumerate() {
            let has_root = leading || of_std && text.ends_with(self.counting.root());
            if number > 0 || has_root {
                text.push_str("::");
            }
            text.push_str(&segment.ident.to_string());
            match &segment.arguments {
                PathArguments::None => {}
                PathArguments::AngleBracketed(arguments) => {
                    text.push('<');
                    for (number, argument) in arguments.args.iter().enumerate() {
                        if number > 0 {
                            text.push_str(", ");
                        }
                        match argument {
                            GenericArgument::Type(ty) => self.write_type(ty, text)?,
                            GenericArgument::Lifetime(lifetime) if lifetime.ident == "static" => {
                                text.push_str("'static");
                            }
                            GenericArgument::Const(syn::Expr::Lit(value)) => {
                                text.push_str(self.text(super::bytes(value)));
                            }
                            _ => return None,
                        }
                    }
                    text.push('>');
                }
                _ => return None,
            }
        }
        Some(())
    }
}
