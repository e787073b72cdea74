//! Functions that a crate declares, and that are not written in Rust: which of them a harness can't reach.
//!
//! An executable imports what any part of the crate calls. A function that only other parts of the crate call has no
//! state, as far as the harness goes.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Attribute, ForeignItem, ItemForeignMod, Lit, Meta};

use crate::load::Crate;

/// Functions of other languages that the crate's source declares.
#[derive(Default)]
pub(crate) struct Foreign {
    /// The function's name among the executable's imports, and the name in the source.
    functions: Vec<(String, String)>,
    /// Whether the executable may have code that is not in the crate's source, nor in std.
    others: bool,
}

impl Foreign {
    pub(crate) fn of(program: &Crate) -> Self {
        let mut found = Self {
            functions: Vec::new(),
            others: program.package.build_script.is_some()
                || !program.package.dependencies.sections.is_empty(),
        };
        for file in &program.files {
            found.visit_file(&file.tree);
        }
        found
    }

    /// Returns the functions that nothing mentions that has these names, by their names among the imports.
    pub(crate) fn unused(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let used = |import: &String| {
            let mut all = self.functions.iter();
            all.any(|(of, name)| of == import && names.contains(name))
        };
        let imports = self.functions.iter().map(|(import, _)| import);
        let unused = imports.filter(|import| !self.others && !used(import));
        unused.cloned().collect()
    }
}

impl<'ast> Visit<'ast> for Foreign {
    fn visit_item_foreign_mod(&mut self, item: &'ast ItemForeignMod) {
        // A library may call what the crate declares, too.
        self.others |= item.attrs.iter().any(|it| it.path().is_ident("link"));
        for item in &item.items {
            if let ForeignItem::Fn(item) = item {
                let name = item.sig.ident.to_string();
                let name = name.trim_start_matches("r#").to_owned();
                let import = item.attrs.iter().find_map(link_name);
                self.functions.push((import.unwrap_or(name.clone()), name));
            }
        }
        visit::visit_item_foreign_mod(self, item);
    }
}

/// Returns the name that `#[link_name = "…"]` gives.
fn link_name(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    let syn::Expr::Lit(value) = &meta.value else {
        return None;
    };
    match &value.lit {
        Lit::Str(name) if meta.path.is_ident("link_name") => Some(name.value()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unused(text: &str, names: &[&str]) -> Vec<String> {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let foreign = Foreign::of(&Crate::of_text(text));
        foreign.unused(&names).into_iter().collect()
    }

    #[test]
    fn what_nothing_names_is_not_used() {
        let text = r#"
            unsafe extern "C" {
                fn a();
                #[link_name = "other"]
                fn b();
            }
            fn in_a_body() { unsafe extern "C" { fn c(); } }
        "#;
        assert_eq!(unused(text, &["a"]), ["c", "other"]);
        assert_eq!(unused(text, &["b", "c"]), ["a"]);
        assert_eq!(unused(text, &["other"]), ["a", "c", "other"]);
    }

    #[test]
    fn a_function_by_two_names_is_used_by_each() {
        let text = r#"
            unsafe extern "C" { fn a(); }
            unsafe extern "C" { #[link_name = "a"] fn b(); }
        "#;
        assert_eq!(unused(text, &["b"]), [""; 0]);
        assert_eq!(unused(text, &[]), ["a"]);
    }

    #[test]
    fn a_library_may_use_all() {
        let text = r#"#[link(name = "z")] unsafe extern "C" { fn a(); }"#;
        assert_eq!(unused(text, &[]), [""; 0]);
    }
}
