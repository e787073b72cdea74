//! Whether the end of what a function gives back is nothing that the program does.

use syn::{GenericArgument, PathArguments, ReturnType, Signature, Type};

use super::names;
use crate::resolve::name;

/// Whether values of this function's result have no destructor of the crate's, by its type.
pub(super) fn ends_quietly(signature: &Signature) -> bool {
    match &signature.output {
        ReturnType::Default => true,
        ReturnType::Type(_, of) => is_quiet(of),
    }
}

fn is_quiet(of: &Type) -> bool {
    match of {
        Type::Reference(_) | Type::Ptr(_) | Type::Never(_) => true,
        Type::Tuple(of) => of.elems.iter().all(is_quiet),
        Type::Array(of) => is_quiet(&of.elem),
        Type::Paren(of) => is_quiet(&of.elem),
        Type::Group(of) => is_quiet(&of.elem),
        Type::Path(of) => {
            let Some(last) = of.path.segments.last() else {
                return false;
            };
            let only = name(&last.ident);
            if names::QUIET.contains(&only.as_str()) || super::turn::is_number(&only) {
                return true;
            }
            names::AROUND.contains(&only.as_str())
                && match &last.arguments {
                    PathArguments::AngleBracketed(given) => {
                        given.args.iter().all(|argument| match argument {
                            GenericArgument::Type(of) => is_quiet(of),
                            _ => true,
                        })
                    }
                    _ => false,
                }
        }
        _ => false,
    }
}
