//! Evaluates `cfg` predicates as far as that is possible without a build.
//!
//! Tests are part of the generated crate, so `test` holds. Predicates that only the build knows are left open, and
//! rustc decides them: no text is cut out because of this evaluation.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// What decides the user's `cfg` predicates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cfg {
    /// The features that are on.
    pub(crate) features: BTreeSet<String>,
    /// Whether no `cfg` is set but the target's: there is no build script, and there are no flags.
    pub(crate) closed: bool,
}

/// The predicate of an item of which it is not known whether it is compiled; no build sets it.
pub(crate) const UNSURE: &str = "seqz_unsure";

/// Returns the predicates that rustc sets for the target: `unix`, `target_os="linux"`. Empty if rustc can't be asked.
fn target() -> &'static BTreeSet<String> {
    static TARGET: OnceLock<BTreeSet<String>> = OnceLock::new();
    TARGET.get_or_init(|| {
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(rustc).args(["--print", "cfg"]).output();
        let text = output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
        text.unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    })
}

/// Whether flags for rustc may set a `cfg`: flags of the environment, and of cargo's configuration for a package in
/// this directory.
pub(crate) fn set_by_flags(dir: &Path) -> bool {
    let sets = |text: &str| text.contains("--cfg");
    let mut variables =
        env::vars_os().filter(|(name, _)| name.to_string_lossy().contains("RUSTFLAGS"));
    if variables.any(|(_, value)| sets(&value.to_string_lossy())) {
        return true;
    }
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let dirs = dir.ancestors().map(|dir| dir.join(".cargo")).chain(home);
    dirs.flat_map(|dir| [dir.join("config.toml"), dir.join("config")])
        .any(|file| fs::read_to_string(file).is_ok_and(|text| sets(&text)))
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

    /// Returns whether a predicate holds that is not among the target's; `None` if only rustc knows.
    fn unknown(&self) -> Option<bool> {
        self.closed.then_some(false)
    }

    /// Whether a predicate holds; `None` if only rustc knows.
    pub(crate) fn holds(&self, meta: &Meta) -> Option<bool> {
        match meta {
            Meta::Path(path) => match path.get_ident()?.to_string().as_str() {
                "test" | "debug_assertions" | "panic" | "true" => Some(true),
                "unix" => Some(cfg!(unix)),
                "windows" => Some(cfg!(windows)),
                "false" | "doc" | "doctest" | "miri" | "loom" | "shuttle" | "kani" | "fuzzing" => {
                    Some(false)
                }
                UNSURE => None,
                name if target().contains(name) => Some(true),
                _ => self.unknown(),
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
                    name if target().contains(&format!("{name}={value:?}")) => Some(true),
                    name if name.starts_with("target_") && !target().is_empty() => Some(false),
                    _ => self.unknown(),
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
            closed: false,
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

    #[test]
    fn the_target_is_rustcs() {
        assert_eq!(holds("target_has_atomic = \"8\""), Some(true));
        assert_eq!(holds("target_has_atomic = \"4096\""), Some(false));
        assert_eq!(holds("key = \"value\""), None);
        let closed = Cfg {
            closed: true,
            ..Cfg::default()
        };
        let of_nobody = syn::parse_str("of_nobody").unwrap();
        assert_eq!(closed.holds(&of_nobody), Some(false));
    }
}
