//! What can be said of `cfg` predicates without building.
//!
//! Tests are part of the generated crate, so `test` holds. Predicates that only the build knows are left open, and
//! rustc decides them: nothing is cut out of the text on the strength of this evaluation.

use std::collections::BTreeSet;

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// The features of the user's crate that are on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cfg {
    pub(crate) features: BTreeSet<String>,
}

impl Cfg {
    /// Whether an item with these attributes is compiled; `None` if only rustc knows.
    pub(crate) fn active(&self, attrs: &[Attribute]) -> Option<bool> {
        let mut all = Some(true);
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("cfg")) {
            let value = attr
                .parse_args::<Meta>()
                .ok()
                .and_then(|meta| self.holds(&meta));
            match value {
                Some(false) => return Some(false),
                None => all = None,
                Some(true) => {}
            }
        }
        all
    }

    /// Whether the item is certainly left out.
    pub(crate) fn off(&self, attrs: &[Attribute]) -> bool {
        self.active(attrs) == Some(false)
    }

    fn holds(&self, meta: &Meta) -> Option<bool> {
        match meta {
            Meta::Path(path) => match path.get_ident()?.to_string().as_str() {
                "test" | "debug_assertions" | "panic" | "true" => Some(true),
                "unix" => Some(cfg!(unix)),
                "windows" => Some(cfg!(windows)),
                "false" | "doc" | "doctest" | "miri" | "loom" | "shuttle" | "kani" | "fuzzing" => {
                    Some(false)
                }
                _ => None,
            },
            Meta::NameValue(pair) => {
                let Expr::Lit(ExprLit {
                    lit: Lit::Str(value),
                    ..
                }) = &pair.value
                else {
                    return None;
                };
                let value = value.value();
                match pair.path.get_ident()?.to_string().as_str() {
                    "feature" => Some(self.features.contains(&value)),
                    "target_os" => Some(value == std::env::consts::OS),
                    "target_arch" => Some(value == std::env::consts::ARCH),
                    "target_family" => Some(value == std::env::consts::FAMILY),
                    "target_pointer_width" => Some(value == usize::BITS.to_string()),
                    "panic" => Some(value == "unwind"),
                    _ => None,
                }
            }
            Meta::List(list) => {
                let parts = list
                    .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
                    .ok()?;
                let values = parts.iter().map(|part| self.holds(part));
                match list.path.get_ident()?.to_string().as_str() {
                    "not" => values.last()?.map(|value| !value),
                    "all" => fold(values, false),
                    "any" => fold(values, true),
                    _ => None,
                }
            }
        }
    }
}

/// Three-valued conjunction (`decisive` false) or disjunction (`decisive` true).
fn fold(mut values: impl Iterator<Item = Option<bool>>, decisive: bool) -> Option<bool> {
    values
        .try_fold(Some(!decisive), |all, value| match value {
            Some(value) if value == decisive => Err(decisive),
            None => Ok(None),
            Some(_) => Ok(all),
        })
        .unwrap_or_else(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> Option<bool> {
        let cfg = Cfg {
            features: BTreeSet::from(["fast".to_string()]),
        };
        cfg.holds(&syn::parse_str(text).unwrap())
    }

    #[test]
    fn three_valued() {
        assert_eq!(holds("test"), Some(true));
        assert_eq!(holds("not(test)"), Some(false));
        assert_eq!(holds("any(loom, feature = \"fast\")"), Some(true));
        assert_eq!(holds("all(test, special)"), None);
        assert_eq!(holds("any(test, special)"), Some(true));
        assert_eq!(holds("all(special, miri)"), Some(false));
        assert_eq!(holds("feature = \"slow\""), Some(false));
        assert_eq!(holds("all()"), Some(true));
        assert_eq!(holds("any()"), Some(false));
    }
}
