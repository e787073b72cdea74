//! The walk over the crate: every rewriting is decided here, item by item in the order of the source.
//!
//! The tree is only read. What changes is recorded as [`Edits`] of the text, together with the sites of shared
//! accesses, the threads each function starts, and the errors for what can't be run.

mod attrs;
mod calls;
mod ends;
mod exprs;
mod followed;
mod lone;
mod loops;
mod macros;
mod made;
mod measured;
mod named;
mod observed;
mod outside;
mod paths;
mod places;
mod raw;
mod retries;
mod scopes;
mod shown;
mod sites;
mod statics;
mod tokens;
mod told;
mod unseen;
mod uses;
mod widen;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use syn::Item;
use syn::visit::Visit;

pub(crate) use calls::Facts;
pub use calls::SpawnSite;
pub(crate) use lone::Lone;
pub use lone::Reasonless;
pub(crate) use named::NamedType;

use crate::constant_cells;
use crate::counting::Counting;
use crate::edit::Edits;
use crate::error::Error;
use crate::extent::bytes;
use crate::lasting::Lasting;
use crate::load::Crate;
use crate::map::Site;
use crate::options::Mode;
use crate::resolve::{ItemId, ROOT, Rib, Tables, collect};
use crate::source::Place;

/// The result of the walk.
pub(crate) struct Analysis {
    pub(crate) tables: Tables,
    /// The edits of each file.
    pub(crate) edits: Vec<Edits>,
    /// The sites of each file.
    pub(crate) sites: Vec<Vec<Site>>,
    /// Code that can't be run.
    pub(crate) errors: Vec<Refused>,
    /// Code that can be run but not followed.
    pub(crate) unfollowed: Vec<Unfollowed>,
    /// Calls outside of loops that may end or fail without a reason.
    pub(crate) lone: Vec<Lone>,
    /// For each function, the facts that matter to harnesses.
    pub(crate) facts: HashMap<ItemId, Facts>,
    /// Types that are part of shared values: arguments of locks and of `static mut`.
    pub(crate) shared: Vec<SharedUse>,
    /// Types that the source names as those of shared values.
    pub(crate) named: BTreeSet<NamedType>,
    /// For each item of a block, the offset at which the block's text begins, unless it begins with attributes.
    pub(crate) blocks: HashMap<ItemId, usize>,
    /// What the program can notice of handles.
    pub(crate) counting: Counting,
}

/// Code that can't be run.
pub(crate) struct Refused {
    pub(crate) file: usize,
    pub(crate) error: Error,
    /// A key: one error is enough for all places with this key.
    pub(crate) once: Option<String>,
}

/// Code that can be run but not followed.
pub(crate) struct Unfollowed {
    pub(crate) file: usize,
    pub(crate) bytes: Range<usize>,
    pub(crate) what: String,
    /// Whether the code counts only beside other code of its kind that changes what it reads.
    pub(crate) reads: bool,
    /// Whether the code is an import, which tells less than a use of the import.
    pub(crate) import: bool,
    /// Whether threads may synchronize there unseen: if not, the code only accesses memory that they share, or the runtime
    /// sees when it runs.
    pub(crate) synchronizes: bool,
}

/// A type or an expression whose value is protected by a lock or held in a `static mut`.
pub(crate) struct SharedUse {
    /// The crate's type that it is an argument of, which may hold a lock; `None`: it is an argument of a lock itself.
    pub(crate) owner: Option<ItemId>,
    /// The crate's types in the type or expression.
    pub(crate) items: Vec<ItemId>,
}

/// Walks the whole crate for a run in this mode, in which this can be noticed of handles.
pub(crate) fn analyze(program: &Crate, mode: Mode, counting: Counting) -> Analysis {
    let tables = collect(program);
    let files = program.files.len();
    let counting = counting.with_constant_cells(constant_cells::are_in(program));
    let mut walker = Walker {
        program,
        mode,
        has_unsafe: program.has_unsafe(),
        has_condvars: program.names("Condvar"),
        counting,
        tables,
        file: 0,
        ribs: vec![Rib::Module(ROOT)],
        edits: vec![Edits::default(); files],
        sites: vec![Vec::new(); files],
        errors: Vec::new(),
        unfollowed: Vec::new(),
        lone: Vec::new(),
        loops: 0,
        importing: false,
        facts: HashMap::new(),
        functions: Vec::new(),
        macros: Vec::new(),
        unsure: 0,
        opaque: 0,
        closure_of_scope: false,
        guards: HashMap::new(),
        of_type: None,
        own_type: None,
        let_name: None,
        scopes: HashSet::new(),
        builders: HashSet::new(),
        objects: HashMap::new(),
        callables: HashSet::new(),
        pacers: HashSet::new(),
        shared: Vec::new(),
        named: BTreeSet::new(),
        blocks: HashMap::new(),
        function_names: observed::function_names(program),
        constant_names: observed::constant_names(program),
        marks: 0,
        unmarked: 0,
        lasting: Lasting::new(program),
        constant: 0,
        in_macro: false,
        phantom: 0,
        in_unsafe: false,
        uses: HashMap::new(),
        looks: false,
        looking_macros: shown::looking_macros(program),
    };
    let root = &program.files[0].tree;
    root.attrs
        .iter()
        .for_each(|attr| walker.visit_attribute(attr));
    walker.module_items(&root.items);
    for (number, root) in program.roots.iter().enumerate() {
        walker.file = root.files.start;
        walker.ribs = vec![Rib::Module(walker.tables.extra_roots[number])];
        let tree = &program.files[walker.file].tree;
        tree.attrs
            .iter()
            .for_each(|attr| walker.visit_attribute(attr));
        walker.module_items(&tree.items);
    }
    Analysis {
        tables: walker.tables,
        edits: walker.edits,
        lone: walker.lone,
        sites: walker.sites,
        errors: walker.errors,
        unfollowed: walker.unfollowed,
        facts: walker.facts,
        shared: walker.shared,
        named: walker.named,
        blocks: walker.blocks,
        counting: walker.counting,
    }
}

struct Walker<'p> {
    program: &'p Crate,
    mode: Mode,
    has_unsafe: bool,
    /// Whether a condition variable of std may be in the program.
    has_condvars: bool,
    counting: Counting,
    tables: Tables,
    /// The index of the file that is being walked.
    file: usize,
    ribs: Vec<Rib>,
    edits: Vec<Edits>,
    sites: Vec<Vec<Site>>,
    errors: Vec<Refused>,
    unfollowed: Vec<Unfollowed>,
    lone: Vec<Lone>,
    /// The number of loops around the current place, in the same function.
    loops: usize,
    /// Whether the current place is in an import.
    importing: bool,
    facts: HashMap<ItemId, Facts>,
    /// The functions around the current place, the innermost last.
    functions: Vec<ItemId>,
    /// `macro_rules!` macros in textual scope, the latest last.
    macros: Vec<(String, ItemId)>,
    /// The depth of code that may mean something else at its place, or not exist: rules of macros, and items under a
    /// `cfg` that only rustc can decide.
    unsure: usize,
    /// The depth of arguments of macros that may do anything with them.
    opaque: usize,
    /// Whether the next closure is the argument of `thread::scope`.
    closure_of_scope: bool,
    /// Variables that hold lock guards, each with the short name of its lock.
    guards: HashMap<String, String>,
    /// The likely name of a variable of the type whose implementation is walked.
    of_type: Option<String>,
    /// The type that `Self` means, if it is one of the crate's.
    own_type: Option<ItemId>,
    /// The variable that the current expression initializes.
    let_name: Option<String>,
    /// Variables that are scopes of `thread::scope`.
    scopes: HashSet<String>,
    /// Variables that are a `thread::Builder`.
    builders: HashSet<String>,
    /// The variables of this function so far, and for each whether all variables of the name are objects of std that
    /// threads share.
    objects: HashMap<String, bool>,
    /// The variables of this function that are called and for which the functions that they stand for are known.
    callables: HashSet<String>,
    /// The variables of this function that are objects of the crate which only say how long loops pause.
    pacers: HashSet<String>,
    shared: Vec<SharedUse>,
    named: BTreeSet<NamedType>,
    blocks: HashMap<ItemId, usize>,
    /// The names of the crate's functions; `None` if they can't be known.
    function_names: Option<HashSet<String>>,
    /// The names of the crate's `const fn`s.
    constant_names: HashSet<String>,
    /// The number of reads that have been marked.
    marks: usize,
    /// The depth of expressions in which no read is marked.
    unmarked: usize,
    lasting: Lasting<'p>,
    /// The depth of constants, and of code that a macro may put into a constant: no loop and no call is marked there.
    constant: usize,
    /// Whether the current place is in the text of a macro.
    in_macro: bool,
    /// How many `PhantomData` there are around a type.
    phantom: usize,
    /// Whether the current place is in `unsafe` code.
    in_unsafe: bool,
    /// How expressions are used that are going to be visited, by their bytes.
    uses: HashMap<(usize, usize), raw::Use>,
    /// Whether the current statement looks at where a value lies in memory.
    looks: bool,
    /// The names of the crate's macros that do.
    looking_macros: HashSet<String>,
}

impl Walker<'_> {
    fn edits(&mut self) -> &mut Edits {
        &mut self.edits[self.file]
    }

    fn place(&self, bytes: Range<usize>) -> Place {
        self.program.files[self.file].source.place(bytes)
    }

    fn text(&self, bytes: Range<usize>) -> &str {
        &self.program.files[self.file].source.text.as_str()[bytes]
    }

    fn refuse(&mut self, bytes: Range<usize>, what: impl Into<String>, reason: &str, help: &str) {
        self.refuse_once(None, bytes, what, reason, help);
    }

    fn refuse_once(
        &mut self,
        once: Option<String>,
        bytes: Range<usize>,
        what: impl Into<String>,
        reason: &str,
        help: &str,
    ) {
        let place = self.place(bytes);
        let error = Error::unsupported(place, what, reason, help);
        let file = self.file;
        self.errors.push(Refused { file, error, once });
    }

    /// Notes code that accesses memory and can be run but not followed.
    fn unfollowed(&mut self, bytes: Range<usize>, what: impl Into<String>) {
        let (file, what) = (self.file, what.into());
        self.unfollowed.push(Unfollowed {
            file,
            bytes,
            what,
            reads: false,
            import: false,
            synchronizes: false,
        });
    }

    fn module_items(&mut self, items: &[Item]) {
        let macros = self.macros.len();
        for item in items {
            self.visit_item(item);
        }
        self.macros.truncate(macros);
    }
}
