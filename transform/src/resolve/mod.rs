//! Name resolution: as much of Rust's as is needed to say what a path means.
//!
//! Modules, `use` trees with renames, groups and globs, re-exports, items in blocks, local variables, generic
//! parameters and type aliases are followed; names that macros define are not seen and resolve to nothing. The
//! rewriting does not rely on complete resolution: it changes the roots of paths only and leaves the rest to rustc. The
//! errors for unsupported items, the uses of `static mut`, and the search for harnesses do rely on the resolution.

mod collect;
mod items;
pub(crate) mod std_names;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

pub(crate) use collect::{
    attributes, bound_names, collect, declare_block, declare_impl, name, segment_names,
};
pub(crate) use items::{Function, ItemData, ItemId, ItemKind, Receiver};

/// Index of a module.
pub(crate) type ModId = usize;

/// The crate's root module.
pub(crate) const ROOT: ModId = 0;

/// A namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ns {
    /// Types, traits and modules.
    Type,
    /// Functions, statics, constants and variables.
    Value,
    /// Macros, by path.
    Macro,
}

/// The meaning of a name or path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Def {
    /// A module of the crate.
    Module(ModId),
    /// A path inside std; the crates core and alloc count as std.
    Std(Vec<String>),
    /// A path into another crate, its name first.
    Extern(Vec<String>),
    /// An item of the crate.
    Item(ItemId),
    /// Something associated with an item: a method, a constant, a variant.
    Associated(ItemId, String),
    /// A variable or a generic parameter.
    Local,
    /// Something that hides other meanings of the name but isn't understood.
    Unknown,
}

impl Def {
    /// Returns the path inside std, if the meaning is one.
    pub(crate) fn std(&self) -> Option<Vec<&str>> {
        match self {
            Def::Std(path) => Some(path.iter().map(String::as_str).collect()),
            _ => None,
        }
    }
}

/// The path of an import.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    pub(crate) segments: Vec<String>,
    /// Whether the path starts with `::`.
    pub(crate) leading: bool,
}

/// The declarations in a module or block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) items: HashMap<(Ns, String), Def>,
    /// The imports, by the name that each brings.
    pub(crate) imports: HashMap<String, Vec<Import>>,
    pub(crate) globs: Vec<Import>,
}

/// A module of the crate.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) parent: Option<ModId>,
    /// Whether the module was the root of a crate of its own.
    pub(crate) is_root: bool,
    pub(crate) names: Names,
}

/// One layer of what is in scope inside a function.
#[derive(Clone, Debug)]
pub(crate) enum Rib {
    /// A module; nothing outside it is in scope but crates and the prelude.
    Module(ModId),
    /// The items of a block.
    Block(Names),
    /// The start of an item: variables and generic parameters outside are not in scope inside.
    Item,
    /// Variables.
    Variables(HashSet<String>),
    /// Generic parameters: types and constants.
    Generics(HashSet<String>),
}

/// All that is known of the names in the crate.
pub(crate) struct Tables {
    pub(crate) modules: Vec<Module>,
    pub(crate) items: Vec<ItemData>,
    /// The modules of further roots, in the order of the crate's roots.
    pub(crate) extra_roots: Vec<ModId>,
    /// The items, by file and offset of their names.
    pub(crate) by_place: HashMap<(usize, usize), ItemId>,
    /// The modules, by file and offset of the names in their declarations.
    pub(crate) module_by_place: HashMap<(usize, usize), ModId>,
    /// Methods and associated functions by name.
    pub(crate) methods: HashMap<String, Vec<ItemId>>,
    /// Traits that are implemented for items, by the trait's last name.
    pub(crate) trait_impls: HashSet<(ItemId, String)>,
    /// Further names of crates: `extern crate std as foo`.
    pub(crate) crate_aliases: HashMap<String, Vec<String>>,
    /// The name under which tests and programs of the package know the crate.
    pub(crate) library: Option<String>,
    /// The names of the crates that the crate depends on.
    pub(crate) dependencies: HashSet<String>,
    pub(crate) edition_2015: bool,
    /// The questions that are being answered, by the address of the names in which they look.
    active: RefCell<HashSet<(usize, Ns, String)>>,
    /// How often a question was asked while it was being answered.
    circles: Cell<usize>,
    /// The answers of modules, once all modules are known: a name that comes through many imports is followed once.
    known: Option<RefCell<HashMap<Question, Option<Def>>>>,
}

/// A name that is looked up in a module.
type Question = (ModId, Ns, String);

impl Tables {
    /// Returns tables with nothing in them but the root module.
    pub(crate) fn new(dependencies: HashSet<String>, edition_2015: bool) -> Self {
        Tables {
            modules: vec![Module {
                name: String::new(),
                parent: None,
                is_root: true,
                names: Names::default(),
            }],
            items: Vec::new(),
            extra_roots: Vec::new(),
            by_place: HashMap::new(),
            module_by_place: HashMap::new(),
            methods: HashMap::new(),
            trait_impls: HashSet::new(),
            crate_aliases: HashMap::new(),
            library: None,
            dependencies,
            edition_2015,
            active: RefCell::default(),
            circles: Cell::new(0),
            known: None,
        }
    }

    /// All modules are known from here on.
    fn settle(&mut self) {
        self.known = Some(RefCell::default());
    }

    /// Returns the path of a module, `a::b`.
    pub(crate) fn module_path(&self, module: ModId) -> String {
        let mut names = Vec::new();
        let mut at = module;
        while let Some(parent) = self.modules[at].parent {
            names.push(self.modules[at].name.as_str());
            at = parent;
        }
        names.reverse();
        names.join("::")
    }

    /// Returns the root of the crate that a module was written for.
    pub(crate) fn crate_root(&self, module: ModId) -> ModId {
        let mut at = module;
        while !self.modules[at].is_root {
            at = self.modules[at].parent.unwrap_or(ROOT);
        }
        at
    }

    /// Returns the meaning of a path at a place with these ribs in scope, the innermost last.
    pub(crate) fn resolve(
        &self,
        ribs: &[Rib],
        leading: bool,
        segments: &[String],
        ns: Ns,
    ) -> Option<Def> {
        let (first, rest) = segments.split_first()?;
        let first_ns = if rest.is_empty() { ns } else { Ns::Type };
        let module = current_module(ribs);
        let mut def = if leading {
            self.absolute(module, first, first_ns)?
        } else {
            match first.as_str() {
                "crate" | "$crate" => Def::Module(self.crate_root(module)),
                "self" if !rest.is_empty() => Def::Module(module),
                "super" => Def::Module(self.modules[module].parent?),
                "Self" | "self" => return Some(Def::Unknown),
                name => self.lexical(ribs, name, first_ns)?,
            }
        };
        for (number, name) in rest.iter().enumerate() {
            let ns = if number + 1 == rest.len() {
                ns
            } else {
                Ns::Type
            };
            def = self.member(&def, name, ns)?;
        }
        Some(def)
    }

    /// Returns the meaning of an import's path.
    fn import(&self, ribs: &[Rib], import: &Import, ns: Ns) -> Option<Def> {
        let first = import.segments.first()?;
        let relative = matches!(first.as_str(), "crate" | "self" | "super");
        if self.edition_2015 && !relative {
            let root = [Rib::Module(self.crate_root(current_module(ribs)))];
            return self.resolve(&root, false, &import.segments, ns);
        }
        self.resolve(ribs, import.leading, &import.segments, ns)
    }

    /// Returns the meaning of a path in this module that starts with `::`.
    fn absolute(&self, module: ModId, name: &str, ns: Ns) -> Option<Def> {
        if self.edition_2015
            && let Some(def) = self.in_module(self.crate_root(module), name, ns)
        {
            return Some(def);
        }
        Some(
            self.crate_named(name)
                .unwrap_or_else(|| Def::Extern(vec![name.to_string()])),
        )
    }

    /// Looks a name up in the ribs, from the innermost outwards.
    fn lexical(&self, ribs: &[Rib], name: &str, ns: Ns) -> Option<Def> {
        let found = self.in_ribs(ribs, name, ns);
        if found.is_none() && ns == Ns::Type {
            self.crate_named(name)
        } else {
            found
        }
    }

    fn in_ribs(&self, ribs: &[Rib], name: &str, ns: Ns) -> Option<Def> {
        let mut inside_item = false;
        for (depth, rib) in ribs.iter().enumerate().rev() {
            let found = match rib {
                Rib::Item => {
                    inside_item = true;
                    continue;
                }
                Rib::Variables(_) | Rib::Generics(_) if inside_item => continue,
                Rib::Variables(names) => {
                    (ns == Ns::Value && names.contains(name)).then_some(Def::Local)
                }
                Rib::Generics(names) => {
                    (ns != Ns::Macro && names.contains(name)).then_some(Def::Local)
                }
                Rib::Block(names) => self.in_names(names, &ribs[..=depth], name, ns),
                Rib::Module(module) => return self.in_module(*module, name, ns),
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Returns the crate that a path's first segment names directly, not through an import: `std`, or the target of an
    /// alias.
    pub(crate) fn root_crate(
        &self,
        ribs: &[Rib],
        leading: bool,
        name: &str,
        in_use: bool,
    ) -> Option<Def> {
        let found = if leading || in_use && self.edition_2015 {
            if self.edition_2015 {
                self.in_module(self.crate_root(current_module(ribs)), name, Ns::Type)
            } else {
                None
            }
        } else {
            self.in_ribs(ribs, name, Ns::Type)
        };
        let named = self.crate_named(name);
        // `use std;` gives the crate its own name once more.
        if found.is_some() && found != named {
            None
        } else {
            named
        }
    }

    /// Whether the crate's root has another item with the name of the crate: then tests and programs, which are modules
    /// of the crate now, can't use the crate's name.
    pub(crate) fn library_is_hidden(&self) -> bool {
        let named = |library: &String| self.in_module(ROOT, library, Ns::Type);
        self.library
            .as_ref()
            .and_then(named)
            .is_some_and(|def| def != Def::Module(ROOT))
    }

    /// Returns the module that was the root of this place's crate, if a path that starts there with `name` has to be
    /// led to that module: in the first edition, imports and paths with `::` begin at the root.
    pub(crate) fn moved_root(&self, ribs: &[Rib], name: &str) -> Option<&str> {
        let root = self.crate_root(current_module(ribs));
        if !self.edition_2015 || root == ROOT || matches!(name, "crate" | "self" | "super") {
            return None;
        }
        let mut found = [Ns::Type, Ns::Value, Ns::Macro]
            .into_iter()
            .filter_map(|ns| self.in_module(root, name, ns));
        let of_a_crate = self.crate_named(name);
        found
            .any(|def| Some(&def) != of_a_crate.as_ref())
            .then(|| self.modules[root].name.as_str())
    }

    /// Returns the crate of that name.
    fn crate_named(&self, name: &str) -> Option<Def> {
        if self.library.as_deref() == Some(name) {
            return Some(Def::Module(ROOT));
        }
        if let Some(path) = self.crate_aliases.get(name) {
            return Some(crate_path(path));
        }
        let known = matches!(name, "std" | "core" | "alloc" | "seqz" | "seqz_runtime")
            || self.dependencies.contains(name)
            || crate::support::crate_refusal(name).is_some();
        known.then(|| crate_path(&[name.to_string()]))
    }

    /// Looks a name up in a module.
    pub(crate) fn in_module(&self, module: ModId, name: &str, ns: Ns) -> Option<Def> {
        let find = || {
            self.in_names(
                &self.modules[module].names,
                &[Rib::Module(module)],
                name,
                ns,
            )
        };
        let Some(known) = &self.known else {
            return find();
        };
        let question = (module, ns, name.to_string());
        if let Some(found) = known.borrow().get(&question) {
            return found.clone();
        }
        let is_first = self.active.borrow().is_empty();
        let circles = self.circles.get();
        let found = find();
        // What has led back to another question that is being answered may have one meaning too few.
        if is_first || self.circles.get() == circles {
            known.borrow_mut().insert(question, found.clone());
        }
        found
    }

    /// Looks a name up in a module or block; `None` if the same question is already being answered, as when an import
    /// starts with the name that it brings.
    fn in_names(&self, names: &Names, ribs: &[Rib], name: &str, ns: Ns) -> Option<Def> {
        let key = (std::ptr::from_ref(names).addr(), ns, name.to_string());
        if !self.active.borrow_mut().insert(key.clone()) {
            self.circles.set(self.circles.get() + 1);
            return None;
        }
        let found = self.find_in_names(names, ribs, name, ns);
        self.active.borrow_mut().remove(&key);
        found
    }

    fn find_in_names(&self, names: &Names, ribs: &[Rib], name: &str, ns: Ns) -> Option<Def> {
        if let Some(def) = names.items.get(&(ns, name.to_string())) {
            return Some(def.clone());
        }
        // An import does not resolve to itself: `use rand;` names the crate. In the first edition an import begins at
        // the root, where the name may mean another item.
        let outside = |import: &Import| {
            !self.edition_2015 && import.segments.len() == 1 && import.segments[0] == name
        };
        for import in names.imports.get(name).into_iter().flatten() {
            let def = if outside(import) {
                self.beyond(ribs, name, ns)
            } else {
                self.import(ribs, import, ns)
            };
            if let Some(def) = def
                && std_names::fits(&def, ns)
            {
                return Some(def);
            }
        }
        for import in &names.globs {
            match self.import(ribs, import, Ns::Type) {
                Some(Def::Module(module)) => {
                    if let Some(def) = self.in_module(module, name, ns) {
                        return Some(def);
                    }
                }
                Some(Def::Std(mut path)) if std_names::has(&path, name, ns) => {
                    path.push(name.to_string());
                    return Some(Def::Std(path));
                }
                _ => {}
            }
        }
        None
    }

    /// Looks a name up outside the innermost rib.
    fn beyond(&self, ribs: &[Rib], name: &str, ns: Ns) -> Option<Def> {
        let outer = &ribs[..ribs.len() - 1];
        let outer = if matches!(ribs.last(), Some(Rib::Module(_))) {
            &[]
        } else {
            outer
        };
        self.lexical(outer, name, ns)
    }

    /// Looks `name` up inside of `def`.
    fn member(&self, def: &Def, name: &str, ns: Ns) -> Option<Def> {
        Some(match def {
            Def::Module(module) if name == "super" => Def::Module(self.modules[*module].parent?),
            Def::Module(module) if name == "self" => Def::Module(*module),
            Def::Module(module) => self.in_module(*module, name, ns).or_else(|| {
                // In the first edition the root has `std` without a word.
                let is_root = self.modules[*module].is_root && ns == Ns::Type;
                (self.edition_2015 && is_root && name == "std").then(|| Def::Std(Vec::new()))
            })?,
            Def::Std(path) if name == "self" => Def::Std(path.clone()),
            Def::Std(path) => Def::Std(std_names::canonical(path, name)),
            Def::Extern(path) => {
                Def::Extern(path.iter().cloned().chain([name.to_string()]).collect())
            }
            Def::Item(item) => match self.alias(*item) {
                Some(target) => self.member(&target, name, ns)?,
                None => Def::Associated(*item, name.to_string()),
            },
            Def::Associated(..) | Def::Local | Def::Unknown => Def::Unknown,
        })
    }

    /// Returns what a type alias stands for, through aliases of aliases.
    pub(crate) fn alias(&self, item: ItemId) -> Option<Def> {
        let ItemKind::Alias(alias) = &self.items[item].kind else {
            return None;
        };
        let (leading, segments) = collect::path_of(&alias.ty)?;
        // An alias that is declared in a block may seem to stand for itself, as may several in a circle.
        let key = (std::ptr::from_ref(alias).addr(), Ns::Type, String::new());
        if !self.active.borrow_mut().insert(key.clone()) {
            self.circles.set(self.circles.get() + 1);
            return None;
        }
        let ribs = [Rib::Module(self.items[item].module)];
        let found = match self.resolve(&ribs, leading, &segments, Ns::Type) {
            Some(Def::Item(next)) if next == item => None,
            Some(Def::Item(next)) => {
                let circles = self.circles.get();
                let further = self.alias(next);
                let is_last = self.circles.get() == circles;
                further.or(is_last.then_some(Def::Item(next)))
            }
            def => def,
        };
        self.active.borrow_mut().remove(&key);
        found
    }
}

/// Returns the module that the innermost code belongs to.
pub(crate) fn current_module(ribs: &[Rib]) -> ModId {
    let module = |rib: &Rib| {
        if let Rib::Module(module) = rib {
            Some(*module)
        } else {
            None
        }
    };
    ribs.iter().rev().find_map(module).unwrap_or(ROOT)
}

fn crate_path(path: &[String]) -> Def {
    match path[0].as_str() {
        "std" | "core" | "alloc" => Def::Std(path[1..].to_vec()),
        _ => Def::Extern(path.to_vec()),
    }
}
