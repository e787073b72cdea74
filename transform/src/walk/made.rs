//! Types that the source does not write: the type of a value that a lock is made with, or that a function of the crate
//! is given.
//!
//! `Mutex::new((Vec::new(), false))` says of its value what is a vector in it, and not of what. So it may be of several types,
//! those that such an expression is mostly of, and all of them are registered: one that no lock has does nothing.

use proc_macro2::TokenStream;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, PathArguments, Token};

use super::Walker;
use super::named::NamedType;
use crate::resolve::{Def, Ns, current_module, name};

/// The usual types of an inferred element of a collection.
const ELEMENTS: &[&str] = &["i32", "u32", "u64", "usize", STRING, "&'static str"];

const STRING: &str = "::std::string::String";

/// Collections with one parameter, and where they are.
const COLLECTIONS: &[(&str, &str)] = &[
    ("BTreeSet", "::std::collections::BTreeSet"),
    ("HashSet", "::std::collections::HashSet"),
    ("Vec", "::std::vec::Vec"),
    ("VecDeque", "::std::collections::VecDeque"),
];

/// The largest number of types that are registered for one value.
const MOST: usize = 48;

impl Walker<'_> {
    /// Notes the types that such a value may have, if the runtime may not know them.
    pub(super) fn note_made(&mut self, value: &Expr) {
        if self.opaque > 0 || self.unsure > 0 || self.constant > 0 {
            return;
        }
        let module = current_module(&self.ribs);
        let types = self.may_be(value).filter(|types| types.len() <= MOST);
        // The runtime knows numbers, texts and the program's own types, and simple collections of these.
        let types = types.into_iter().flatten();
        let compound =
            types.filter(|text| text.starts_with(['(', '[']) || text.matches('<').count() > 1);
        let named = compound.map(|text| NamedType { module, text });
        self.named.extend(named);
    }

    /// Returns the types that this value may have.
    fn may_be(&self, value: &Expr) -> Option<Vec<String>> {
        let one = |text: &str| Some(vec![text.to_owned()]);
        match value {
            Expr::Paren(value) => self.may_be(&value.expr),
            Expr::Group(value) => self.may_be(&value.expr),
            Expr::Lit(lit) => match &lit.lit {
                Lit::Bool(_) => one("bool"),
                Lit::Char(_) => one("char"),
                Lit::Str(_) => one("&'static str"),
                Lit::Float(float) if float.suffix().is_empty() => one("f64"),
                Lit::Float(float) => one(float.suffix()),
                Lit::Int(int) if int.suffix().is_empty() => {
                    Some(["i32", "u32", "u64", "usize"].map(str::to_owned).into())
                }
                Lit::Int(int) => one(int.suffix()),
                _ => None,
            },
            Expr::Tuple(tuple) => {
                let mut all = vec![String::from("(")];
                for part in &tuple.elems {
                    let parts = self.may_be(part)?;
                    if all.len() * parts.len() > MOST {
                        return None;
                    }
                    let longer = |before: &String| {
                        let parts = parts.iter();
                        parts
                            .map(|part| format!("{before}{part}, "))
                            .collect::<Vec<_>>()
                    };
                    all = all.iter().flat_map(longer).collect();
                }
                all.iter_mut().for_each(|text| text.push(')'));
                Some(all)
            }
            Expr::Cast(cast) => {
                let mut text = String::new();
                self.write_type(&cast.ty, &mut text)?;
                Some(vec![text])
            }
            Expr::Path(path) if path.path.is_ident("None") => Some(of("Option", ELEMENTS)),
            Expr::Struct(made) => self.type_before(&made.path, made.path.segments.len()),
            Expr::Call(call) => {
                let Expr::Path(func) = &*call.func else {
                    return None;
                };
                let path = &func.path;
                if path.is_ident("Some") {
                    return Some(of("Option", &self.may_be(call.args.first()?)?));
                }
                let before = path.segments.len().checked_sub(2)?;
                let owner = path.segments.get(before)?;
                let only = name(&owner.ident);
                let made = name(&path.segments.last()?.ident);
                if !matches!(made.as_str(), "default" | "from" | "new" | "with_capacity") {
                    return None;
                }
                let bare = matches!(owner.arguments, PathArguments::None);
                let segments = path.segments.iter().take(before + 1);
                let segments: Vec<String> = segments.map(|it| name(&it.ident)).collect();
                let leading = path.leading_colon.is_some();
                let is_own = matches!(
                    self.resolve(leading, &segments, Ns::Type),
                    Some(Def::Item(_))
                );
                let collection = COLLECTIONS.iter().find(|(it, _)| *it == only);
                match collection {
                    _ if is_own => self.type_before(path, before + 1),
                    Some((_, at)) if bare && made != "from" => Some(of(at, ELEMENTS)),
                    None if only == "String" => one(STRING),
                    _ if !bare => self.type_before(path, before + 1),
                    _ => None,
                }
            }
            Expr::MethodCall(call) => {
                let makes_text = call.method == "to_string" || call.method == "to_owned";
                let of_text =
                    matches!(&*call.receiver, Expr::Lit(it) if matches!(it.lit, Lit::Str(_)));
                (makes_text && of_text).then(|| vec![STRING.to_owned()])
            }
            Expr::Macro(expr) if expr.mac.path.is_ident("format") => one(STRING),
            Expr::Macro(expr) if expr.mac.path.is_ident("vec") => {
                let first = first_of(&expr.mac.tokens);
                let elements = match first {
                    Some(first) => self.may_be(&first)?,
                    None if expr.mac.tokens.is_empty() => {
                        ELEMENTS.iter().map(|it| (*it).to_owned()).collect()
                    }
                    None => return None,
                };
                Some(of("::std::vec::Vec", &elements))
            }
            _ => None,
        }
    }

    /// Returns the type that the first segments of a path name.
    fn type_before(&self, path: &syn::Path, segments: usize) -> Option<Vec<String>> {
        let path = syn::Path {
            leading_colon: path.leading_colon,
            segments: path.segments.iter().take(segments).cloned().collect(),
        };
        let mut text = String::new();
        self.write_path(&path, &mut text)?;
        Some(vec![text])
    }
}

/// Returns the type with each of these as its argument.
fn of(ty: &str, arguments: &[impl AsRef<str>]) -> Vec<String> {
    let arguments = arguments.iter();
    arguments
        .map(|argument| format!("{ty}<{}>", argument.as_ref()))
        .collect()
}

/// Returns the first element of `vec![…]`.
fn first_of(tokens: &TokenStream) -> Option<Expr> {
    let repeated = |input: syn::parse::ParseStream<'_>| {
        let first: Expr = input.parse()?;
        input.parse::<Token![;]>()?;
        input.parse::<Expr>()?;
        Ok(first)
    };
    let listed = Punctuated::<Expr, Token![,]>::parse_terminated;
    repeated
        .parse2(tokens.clone())
        .ok()
        .or_else(|| listed.parse2(tokens.clone()).ok()?.into_iter().next())
}
