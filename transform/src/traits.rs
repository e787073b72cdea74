//! The traits of the crate's own types.

use syn::Attribute;

use crate::resolve::{ItemId, Tables};

/// Whether an item has a trait, derived or implemented by hand.
pub(crate) fn implements(tables: &Tables, item: ItemId, attrs: &[Attribute], wanted: &str) -> bool {
    derives(attrs, wanted) || tables.trait_impls.contains(&(item, wanted.to_string()))
}

/// Whether an item derives a trait of that name.
pub(crate) fn derives(attrs: &[Attribute], wanted: &str) -> bool {
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
