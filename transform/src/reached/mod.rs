//! The parts of a crate that a harness can reach: the code that may run when the harness runs.
//!
//! Reaching goes by names: a part of the crate is reached if a reached part mentions its name, in whatever sense. That
//! needs no types, sees through macros, closures and trait objects, and errs on one side only: a part that is left out
//! can't run. A method needs its type to be mentioned, too, and the implementation of a trait for a type is reached
//! with the type, as destructors and operators have no name where they are called.

mod nodes;
mod words;

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use nodes::{Gate, Node};

use crate::load::Crate;
use crate::sharing::is_identity;

/// The parts of a crate, ready to be asked.
#[derive(Default)]
pub(crate) struct Parts {
    nodes: Vec<Node>,
    /// For each file, the further root that the file belongs to; `None`: the crate's own root. Roots don't see each
    /// other.
    roots: Vec<Option<usize>>,
}

/// The parts that are reached from one place.
pub(crate) struct Reached {
    root: Option<usize>,
    nodes: Vec<bool>,
    /// The first segments of the paths in the reached parts.
    roots: BTreeSet<String>,
    /// The names in the reached parts by which threads of the system are told apart.
    identities: BTreeSet<String>,
    /// All names in the reached parts.
    names: BTreeSet<String>,
}

impl Parts {
    /// All parts of the crate.
    pub(crate) fn of(program: &Crate) -> Self {
        let root = |file: usize| {
            let mut roots = program.roots.iter();
            roots.position(|root| root.files.contains(&file))
        };
        Self {
            nodes: nodes::collect(program),
            roots: (0..program.files.len()).map(root).collect(),
        }
    }

    /// Returns what can be reached from the function whose name is at this place.
    pub(crate) fn from(&self, file: usize, at: usize) -> Reached {
        let start = self.around(file, at).into_iter().collect();
        self.reach(self.roots[file], start, HashSet::new())
    }

    /// Returns what can be reached from code of other crates that mentions these names.
    pub(crate) fn reached_by(&self, names: &BTreeSet<String>) -> Reached {
        let names = names.iter().map(String::as_str).collect();
        self.reach(None, Vec::new(), names)
    }

    /// Returns all names that the parts mention.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let nodes = self.nodes.iter();
        nodes.flat_map(|node| node.mentions.names.iter().map(String::as_str))
    }

    /// Returns what can be reached from these parts, and from code that mentions these names.
    fn reach<'a>(
        &'a self,
        root: Option<usize>,
        mut open: Vec<usize>,
        mut names: HashSet<&'a str>,
    ) -> Reached {
        let sees = |node: &Node| self.roots[node.file].is_none() || self.roots[node.file] == root;
        let mut reached = vec![false; self.nodes.len()];
        let mut roots = BTreeSet::new();
        let mut modules: HashSet<&str> = HashSet::new();
        loop {
            while let Some(number) = open.pop() {
                if std::mem::replace(&mut reached[number], true) {
                    continue;
                }
                let node = &self.nodes[number];
                names.extend(node.mentions.names.iter().map(String::as_str));
                roots.extend(node.mentions.roots.iter().cloned());
                let mut module = node.module.as_str();
                // An import says nothing of its module: a mention of `Arc` anywhere reaches all imports of `Arc`.
                if !node.import && !matches!(node.gate, Gate::Below | Gate::Always) {
                    while modules.insert(module) {
                        let Some((above, _)) = module.rsplit_once("::") else {
                            break;
                        };
                        module = above;
                    }
                }
            }
            let is = |about: &BTreeSet<String>| {
                about.is_empty() || about.iter().any(|name| names.contains(name.as_str()))
            };
            for (number, node) in self.nodes.iter().enumerate() {
                if reached[number] || !sees(node) {
                    continue;
                }
                let now = match &node.gate {
                    // Items of a module of tests are named in the module, or together with the module.
                    Gate::Named(any) => {
                        any.iter().any(|name| names.contains(name.as_str()))
                            && node.tests.as_ref().is_none_or(|(module, name)| {
                                names.contains(name.as_str()) || modules.contains(module.as_str())
                            })
                    }
                    Gate::Method(name, about) => names.contains(name.as_str()) && is(about),
                    Gate::About(about) => is(about),
                    Gate::Below => modules.contains(node.module.as_str()),
                    Gate::Within(name) => {
                        names.contains(name.as_str()) || modules.contains(node.module.as_str())
                    }
                    Gate::Always => true,
                };
                if now {
                    open.push(number);
                }
            }
            if open.is_empty() {
                break;
            }
        }
        let identities = names.iter().filter(|name| is_identity(name));
        Reached {
            root,
            nodes: reached,
            roots,
            identities: identities.map(|name| (*name).to_owned()).collect(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// Returns what `unsafe` code does out of sight: file, offset, and description.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        self.nodes.iter().flat_map(|node| {
            let hidden = node.hidden.iter();
            hidden.map(|(at, what)| (node.file, *at, what.as_str()))
        })
    }

    /// Whether the code at an offset is reached; code in no part always is.
    pub(crate) fn is_reached(&self, reached: &Reached, file: usize, at: usize) -> bool {
        let seen = self.roots[file].is_none() || self.roots[file] == reached.root;
        let number = self.around(file, at);
        seen && number.is_none_or(|number| reached.nodes[number])
    }

    /// Returns the body of the innermost function around an offset; `None` outside of functions.
    pub(crate) fn body(&self, file: usize, at: usize) -> Option<Range<usize>> {
        let node = &self.nodes[self.around(file, at)?];
        node.body.clone().filter(|body| body.contains(&at))
    }

    /// Returns the innermost part around an offset.
    fn around(&self, file: usize, at: usize) -> Option<usize> {
        let inside = self.nodes.iter().enumerate();
        inside
            .filter(|(_, node)| node.file == file && node.range.contains(&at))
            .min_by_key(|(_, node)| node.range.len())
            .map(|(number, _)| number)
    }
}

impl Reached {
    /// Returns the first segments of the paths in the reached parts; names of crates are among them.
    pub(crate) fn roots(&self) -> &BTreeSet<String> {
        &self.roots
    }

    /// Returns the names in the reached parts by which threads of the system are told apart, if a dependency declares
    /// them.
    pub(crate) fn identities(&self) -> &BTreeSet<String> {
        &self.identities
    }

    /// Returns all names in the reached parts, and those that they were reached by.
    pub(crate) fn names(&self) -> &BTreeSet<String> {
        &self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the markers in the text that are reached from `t`; a marker is a string literal.
    fn reached(text: &str) -> String {
        let program = Crate::of_text(text);
        let parts = Parts::of(&program);
        let at = text.find("fn t()").unwrap() + 3;
        let reached = parts.from(0, at);
        let markers = text.match_indices('"').step_by(2);
        markers
            .filter(|(at, _)| parts.is_reached(&reached, 0, *at))
            .map(|(at, _)| text[at + 1..].split('"').next().unwrap().to_owned() + " ")
            .collect()
    }

    #[test]
    fn what_is_called_is_reached_by_whatever_way() {
        let text = r#"
            fn t() { a(); m!(c); let f = by_value; f(); S.used(); println!("{STATIC}"); }
            fn a() { "a"; b() }
            fn b() { "b"; }
            fn c() { "c"; }
            fn by_value() { "v"; }
            fn never() { "no"; }
            macro_rules! m { ($x:ident) => { $x(); in_macro() } }
            fn in_macro() { "m"; }
            struct S;
            impl S { fn used(&self) { "used"; } fn unused(&self) { "no"; } }
            impl Drop for S { fn drop(&mut self) { "drop"; } }
            struct Other;
            impl Other { fn used(&self) { "no"; } }
            impl Drop for Other { fn drop(&mut self) { "no"; } }
            static STATIC: &str = "static";
            static OTHER: &str = "no";
        "#;
        assert_eq!(reached(text), "{STATIC} a b c v m used drop static ");
    }

    #[test]
    fn what_tests_declare_for_themselves_is_reached_from_there_alone() {
        let text = r#"
            fn t() { S.clone(); shared(); }
            fn shared() { "s"; }
            struct S;
            impl Clone for S { fn clone(&self) -> Self { "c"; S } }
            #[cfg(test)]
            mod tests {
                fn clone() { "no"; }
                pub fn shared() { "no"; }
            }
        "#;
        assert_eq!(reached(text), "s c ");
        let within = text.replace("fn t()", "fn u()");
        let within = within.replace("fn clone() {", "fn t() { clone() } fn clone() {");
        assert_eq!(reached(&within), "no ");
        let named = text.replace("shared(); }", "tests::shared(); }");
        assert_eq!(reached(&named), "s c no no ");
    }

    #[test]
    fn a_macro_that_is_exported_once_more_is_reached_by_its_name() {
        let text = r#"
            fn t() { plain(); }
            fn plain() { "p"; }
            mod m { macro_rules! note { () => { crate::noted() } } pub(crate) use note; }
            pub(crate) use m::note;
            fn noted() { "n"; }
        "#;
        assert_eq!(reached(text), "p ");
        assert_eq!(
            reached(&text.replace("t() { plain(); }", "t() { note!(); }")),
            "n "
        );
    }

    #[test]
    fn an_import_does_not_reach_its_module() {
        let text = r#"
            use std::sync::Arc;
            fn t() { let _ = Arc::new(used::f()); }
            mod unused { use std::sync::Arc; use outside::Mutex; struct Zork { c: Arc<Mutex<u64>> } }
            mod used { use outside::Mutex; pub fn f() {} }
        "#;
        let parts = Parts::of(&Crate::of_text(text));
        let reached = parts.from(0, text.find("fn t()").unwrap() + 3);
        let imports: Vec<_> = text
            .match_indices("use outside")
            .map(|(at, _)| parts.is_reached(&reached, 0, at))
            .collect();
        assert_eq!(imports, [false, true]);
    }

    #[test]
    fn a_name_of_an_import_is_reached_without_the_others() {
        let text = r#"
            use std::sync::{Arc, Mutex, atomic::{AtomicPtr, AtomicBool as Flag}};
            use inner::{made as make, never, deep::{self, other}};
            fn t() { let _ = (Arc::new(Flag::new(true)), make()); deep::f(); }
            mod inner {
                pub fn made() { "made"; }
                pub fn never() { "no"; }
                pub mod deep { pub fn f() { "f"; } pub fn other() { "no"; } }
            }
        "#;
        assert_eq!(reached(text), "made f ");
        let parts = Parts::of(&Crate::of_text(text));
        let from_t = parts.from(0, text.find("fn t()").unwrap() + 3);
        let is_reached = |name| parts.is_reached(&from_t, 0, text.find(name).unwrap());
        let names = [
            "Arc,",
            "AtomicBool as",
            "made as",
            "Mutex",
            "AtomicPtr",
            "never,",
        ];
        assert_eq!(
            names.map(is_reached),
            [true, true, true, false, false, false]
        );
    }

    #[test]
    fn renames_aliases_and_blanket_implementations_are_followed() {
        let text = r#"
            fn t() { renamed(); let x: Alias = make(); 1.blanket(); }
            use inner::original as renamed;
            mod inner { pub fn original() { "o"; } pub fn other() { "no"; } pub struct Real; impl Drop for Real { fn drop(&mut self) { "d"; } } }
            type Alias = inner::Real;
            fn make() -> Alias { "mk"; inner::Real }
            trait Blanket { fn blanket(&self); }
            impl<T> Blanket for T { fn blanket(&self) { "bl"; } }
            trait Never { fn never_called(&self) { "no"; } }
            #[no_mangle] fn exported() { "ex"; }
            thread_local! { static USED: u32 = { "no"; 1 }; }
        "#;
        assert_eq!(reached(text), "o d mk bl ex ");
    }

    #[test]
    fn each_name_of_an_import_is_reached_by_itself() {
        let text = "
            use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::{self, SeqCst as S}};
            fn t() { AtomicUsize::new(0).load(S); }
        ";
        let program = Crate::of_text(text);
        let parts = Parts::of(&program);
        let at = |name: &str| text.find(name).unwrap();
        let reached = parts.from(0, at("fn t()") + 3);
        let is = |name| parts.is_reached(&reached, 0, at(name));
        assert_eq!(
            ["AtomicPtr", "AtomicUsize", "self", "SeqCst", "use"].map(is),
            [false, true, false, true, true]
        );
    }
}
