//! A harness's parameters as inputs of the sequential program.

use std::collections::HashSet;

use syn::spanned::Spanned;
use syn::{Attribute, Fields, FnArg, GenericArgument, Pat, PathArguments, Type};

use crate::error::Error;
use crate::load::Crate;
use crate::resolve::{Def, Function, ItemData, ItemId, ItemKind, ModId, Ns, Rib, Tables, name};

/// A parameter of a harness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The parameter's name.
    pub name: String,
    /// The parameter's type in the inputs: `String` for `&str`, `Vec<T>` for `&[T]`.
    pub ty: String,
}

/// An implementation of `Input`, which is written behind the definition of a local type.
#[derive(Clone, Debug)]
pub(crate) struct InputImpl {
    pub(crate) item: ItemId,
    /// The text of the macro call.
    pub(crate) text: String,
    /// The traits that have to be derived for the type.
    pub(crate) derives: Vec<&'static str>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Parameters {
    pub(super) params: Vec<Param>,
    pub(super) arguments: Vec<String>,
    pub(super) impls: Vec<InputImpl>,
}

/// The largest number of elements of a tuple that the runtime reads.
const LONGEST_TUPLE: usize = 4;

pub(super) fn parameters(
    tables: &Tables,
    program: &Crate,
    data: &ItemData,
    function: &Function,
) -> Result<Parameters, Error> {
    let mut reader = Reader {
        tables,
        program,
        file: data.file,
        module: data.module,
        impls: Vec::new(),
        seen: HashSet::new(),
        foreign: false,
    };
    let mut parameters = Parameters::default();
    for (number, input) in function.sig.inputs.iter().enumerate() {
        let FnArg::Typed(input) = input else { continue };
        let name = match &*input.pat {
            Pat::Ident(pattern) => name(&pattern.ident),
            _ => format!("input_{number}"),
        };
        // Fields are names in a macro call, where a keyword would need its `r#`.
        let field = if syn::parse_str::<syn::Ident>(&name).is_ok() {
            name.clone()
        } else {
            format!("r#{name}")
        };
        let (ty, argument) = reader.parameter(&input.ty, &format!("inputs.{field}"))?;
        parameters.params.push(Param { name: field, ty });
        parameters.arguments.push(argument);
    }
    parameters.impls = reader.impls;
    Ok(parameters)
}

/// A type of std whose values can be made from input.
#[derive(Clone, Copy, Debug)]
pub struct InputType {
    /// The module of std that the type is in.
    pub module: &'static str,
    /// The type's name.
    pub name: &'static str,
    /// The number of types in angle brackets, which are made from input as well.
    pub parameters: usize,
}

const fn of(module: &'static str, name: &'static str, parameters: usize) -> InputType {
    InputType {
        module,
        name,
        parameters,
    }
}

/// The types with names for which the runtime implements `Input`, beside those of the program.
pub const INPUT_TYPES: &[InputType] = &[
    of("primitive", "bool", 0),
    of("primitive", "char", 0),
    of("primitive", "f32", 0),
    of("primitive", "f64", 0),
    of("primitive", "u8", 0),
    of("primitive", "u16", 0),
    of("primitive", "u32", 0),
    of("primitive", "u64", 0),
    of("primitive", "u128", 0),
    of("primitive", "usize", 0),
    of("primitive", "i8", 0),
    of("primitive", "i16", 0),
    of("primitive", "i32", 0),
    of("primitive", "i64", 0),
    of("primitive", "i128", 0),
    of("primitive", "isize", 0),
    of("string", "String", 0),
    of("vec", "Vec", 1),
    of("option", "Option", 1),
];

struct Reader<'t> {
    tables: &'t Tables,
    program: &'t Crate,
    file: usize,
    module: ModId,
    impls: Vec<InputImpl>,
    seen: HashSet<ItemId>,
    /// Whether the type is written in the user's own module, where std's names may mean something else.
    foreign: bool,
}

impl Reader<'_> {
    /// Returns the field's type, and the argument that is made of the field.
    fn parameter(&mut self, ty: &Type, field: &str) -> Result<(String, String), Error> {
        let Type::Reference(reference) = ty else {
            return Ok((self.owned(ty)?, field.to_string()));
        };
        let borrow = if reference.mutability.is_some() {
            "&mut "
        } else {
            "&"
        };
        let owned = match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => self.std("string", "String"),
            Type::Slice(slice) => {
                format!("{}<{}>", self.std("vec", "Vec"), self.owned(&slice.elem)?)
            }
            other => self.owned(other)?,
        };
        Ok((owned, format!("{borrow}{field}")))
    }

    fn std(&self, module: &str, name: &str) -> String {
        if self.foreign {
            format!("::std::{module}::{name}")
        } else {
            name.to_string()
        }
    }

    /// Returns a type of the crate as written from the crate's root.
    fn owned(&mut self, ty: &Type) -> Result<String, Error> {
        match ty {
            Type::Paren(inner) => self.owned(&inner.elem),
            Type::Group(inner) => self.owned(&inner.elem),
            Type::Tuple(tuple) if tuple.elems.len() <= LONGEST_TUPLE => {
                let parts: Result<Vec<String>, Error> =
                    tuple.elems.iter().map(|part| self.owned(part)).collect();
                let parts = parts?;
                Ok(if parts.len() == 1 {
                    format!("({},)", parts[0])
                } else {
                    format!("({})", parts.join(", "))
                })
            }
            Type::Array(array) => {
                let Some(length) = self.length(&array.len) else {
                    let reason =
                        "its length is neither a number nor a constant of the crate that is one";
                    return Err(self.refuse(ty, reason));
                };
                let element = self.owned(&array.elem)?;
                Ok(format!("[{element}; {length}]"))
            }
            Type::Path(path) if path.qself.is_none() => self.path(ty, &path.path),
            Type::Reference(_) => Err(self.refuse(
                ty,
                "a reference inside of another type has nothing to point to",
            )),
            _ => Err(self.refuse(ty, "values of this type can't be made from input")),
        }
    }

    /// Returns the length of an array, if the source has it as a number, in the type or in a constant.
    fn length(&self, length: &syn::Expr) -> Option<String> {
        match length {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Int(number),
                ..
            }) => Some(number.base10_digits().to_string()),
            syn::Expr::Path(path) if path.qself.is_none() => {
                let segments = path.path.segments.iter();
                let segments: Vec<String> = segments.map(|segment| name(&segment.ident)).collect();
                let leading = path.path.leading_colon.is_some();
                let ribs = [Rib::Module(self.module)];
                let Def::Item(item) = self.tables.resolve(&ribs, leading, &segments, Ns::Value)?
                else {
                    return None;
                };
                match &self.tables.items[item].kind {
                    ItemKind::Const(item) => match &*item.expr {
                        syn::Expr::Lit(_) => self.length(&item.expr),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn path(&mut self, ty: &Type, path: &syn::Path) -> Result<String, Error> {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|segment| name(&segment.ident))
            .collect();
        let last = segments.last().cloned().unwrap_or_default();
        let def = self.tables.resolve(
            &[Rib::Module(self.module)],
            path.leading_colon.is_some(),
            &segments,
            Ns::Type,
        );
        let arguments = match path.segments.last().map(|segment| &segment.arguments) {
            Some(PathArguments::AngleBracketed(arguments)) => {
                let types: Vec<&Type> = arguments
                    .args
                    .iter()
                    .filter_map(|arg| {
                        if let GenericArgument::Type(ty) = arg {
                            Some(ty)
                        } else {
                            None
                        }
                    })
                    .collect();
                types
            }
            _ => Vec::new(),
        };
        if let Some(Def::Item(item)) = def {
            return self.local(ty, item, arguments.is_empty());
        }
        let known = INPUT_TYPES.iter().find(|known| {
            let is_meant = match &def {
                None => segments.len() == 1,
                Some(Def::Std(path)) => path.first().is_some_and(|it| it == known.module),
                _ => false,
            };
            is_meant && (last.as_str(), arguments.len()) == (known.name, known.parameters)
        });
        let Some(known) = known else {
            return Err(self.refuse(ty, "values of this type can't be made from input"));
        };
        let name = match known.module {
            "primitive" => known.name.to_owned(),
            module => self.std(module, known.name),
        };
        let of: Result<Vec<String>, Error> = arguments.iter().map(|of| self.owned(of)).collect();
        let of = of?;
        Ok(if of.is_empty() {
            name
        } else {
            format!("{name}<{}>", of.join(", "))
        })
    }

    /// Reads a struct, an enum or an alias of the crate.
    fn local(&mut self, ty: &Type, item: ItemId, plain: bool) -> Result<String, Error> {
        let data = &self.tables.items[item];
        let module = self.tables.module_path(data.module);
        let separator = if module.is_empty() { "" } else { "::" };
        let path = format!("crate::{module}{separator}{}", data.name);
        if !plain || data.in_block {
            return Err(self.refuse(ty, "values of generic types can't be made from input"));
        }
        let (variants, attrs, generic) = match &data.kind {
            ItemKind::Struct(item) => {
                let fields = vec![(
                    item.ident.to_string(),
                    "Self".to_string(),
                    item.fields.clone(),
                )];
                (fields, &item.attrs, !item.generics.params.is_empty())
            }
            ItemKind::Enum(item) => {
                let mut variants = Vec::new();
                for variant in &item.variants {
                    if self.compiled(data.file, &variant.attrs)? {
                        variants.push((
                            variant.ident.to_string(),
                            format!("Self::{}", variant.ident),
                            variant.fields.clone(),
                        ));
                    }
                }
                (variants, &item.attrs, !item.generics.params.is_empty())
            }
            ItemKind::Alias(target) => {
                let outer = (self.file, self.module);
                (self.file, self.module) = (data.file, data.module);
                let owned = self.owned(&std::rc::Rc::clone(target).ty);
                (self.file, self.module) = outer;
                return owned;
            }
            _ => return Err(self.refuse(ty, "values of this type can't be made from input")),
        };
        if generic {
            return Err(self.refuse(ty, "values of generic types can't be made from input"));
        }
        if variants.is_empty() {
            return Err(self.refuse(ty, "an enum without variants has no values"));
        }
        if !self.seen.insert(item) {
            return Ok(path);
        }
        let text = self.implementation(item, &variants)?;
        let lacks =
            |wanted: &&'static str| !crate::traits::implements(self.tables, item, attrs, wanted);
        let derives = ["Clone", "Debug"]
            .into_iter()
            .filter(|wanted| lacks(wanted))
            .collect();
        self.impls.push(InputImpl {
            item,
            text,
            derives,
        });
        Ok(path)
    }

    fn implementation(
        &mut self,
        item: ItemId,
        variants: &[(String, String, Fields)],
    ) -> Result<String, Error> {
        let data = &self.tables.items[item];
        let type_name = data.name.clone();
        let outer = (self.file, self.module);
        let foreign = std::mem::replace(&mut self.foreign, true);
        (self.file, self.module) = (data.file, data.module);
        let mut text = format!("::seqz_runtime::input!({type_name} {{ ");
        let mut result = Ok(());
        for (label, constructor, fields) in variants {
            let mut parts = Vec::new();
            let mut compiled = Vec::new();
            for field in fields {
                match self.compiled(self.file, &field.attrs) {
                    Ok(true) => compiled.push(field),
                    Ok(false) => {}
                    Err(error) => result = Err(error),
                }
            }
            for (number, field) in compiled.into_iter().enumerate() {
                let field_name = field
                    .ident
                    .as_ref()
                    .map_or_else(|| number.to_string(), ToString::to_string);
                match self.owned(&field.ty) {
                    Ok(ty) => parts.push(format!("{field_name}: {ty}")),
                    Err(error) => result = Err(error),
                }
            }
            text.push_str(&format!(
                "[{label:?} ({constructor}) {}] ",
                parts.join(", ")
            ));
        }
        text.push_str("});");
        (self.file, self.module) = outer;
        self.foreign = foreign;
        result.map(|()| text)
    }

    /// Whether a field or a variant with these attributes is compiled.
    fn compiled(&self, file: usize, attrs: &[Attribute]) -> Result<bool, Error> {
        self.program.cfg.active(attrs).ok_or_else(|| {
            let attr = attrs.iter().find(|attr| attr.path().is_ident("cfg"));
            let range = attr.map_or(0..0, |attr| attr.span().byte_range());
            Error::unsupported(
                self.program.files[file].source.place(range),
                "a condition on a part of a harness's input",
                "whether it holds is known when the program is compiled, and not before",
                "write a `#[test]` that makes the value",
            )
        })
    }

    fn text(&self, node: &impl Spanned) -> String {
        let range = node.span().byte_range();
        self.program.files[self.file].source.text.as_str()[range].to_string()
    }

    fn refuse(&self, ty: &Type, reason: &str) -> Error {
        let range = ty.span().byte_range();
        let place = self.program.files[self.file].source.place(range.clone());
        let text = self.text(ty);
        let what = if self.foreign {
            format!("a part of type `{text}` in a harness's input")
        } else {
            format!("a parameter of type `{text}`")
        };
        let help = "a harness's parameters are its inputs: use bool, numbers, char, String, &str, Vec, slices, Option, \
                    tuples of up to four, arrays, or structs and enums of these; or write a `#[test]` that makes the value";
        Error::unsupported(place, what, reason, help)
    }
}
