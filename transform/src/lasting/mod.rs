//! What lasts: whether a turn of a loop leaves anything behind but events.
//!
//! A loop that waits looks at what other threads share, and does nothing else that is there after its turn: so turns that
//! saw nothing can be left out, and the runtime does that (`seqz_runtime::loops`). Which loops are such loops is decided here,
//! from the source alone, without types. **A loop qualifies** unless a turn that comes round again may
//! - assign to a variable that is declared outside of the loop, or borrow it mutably; take a mutable pattern of it;
//! - write through a reference, unless what it leads to is behind the guard of a lock, which is an event;
//! - call something that can't be seen into: a function that is not of the crate, nor known here to leave nothing behind
//!   ([`names`]); a function of the crate that doesn't qualify itself. Methods go by their names: all functions of the
//!   crate that have the name have to qualify;
//! - look at a clock or at files, use a macro that isn't known. Printing is let pass: nobody can read it.
//!
//! What leads out of the loop (a block that ends with `break` or `return`, or a panic) may do anything. The cells of
//! `std::cell` need no look: they are changed with methods that are not known.
//!
//! What happens without being named (operators, `Deref`, `Drop`, iterators) is what implementations of the crate do: if one
//! of those doesn't qualify, no loop of the crate does.

mod names;
mod turn;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{
    Block, Expr, FnArg, ImplItemFn, ItemFn, ItemImpl, ItemStatic, Pat, Signature, StaticMutability,
    TraitItemFn,
};

use crate::load::Crate;
use crate::resolve::{bound_names, name};
use turn::Turn;

/// A function of the crate.
#[derive(Clone, Copy)]
struct Function<'p> {
    signature: &'p Signature,
    body: &'p Block,
}

/// What is known of a function, whose `self` is behind a guard or isn't.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It is being looked at: whoever asks is called by it, and adds nothing new.
    UnderWay,
    Answer(bool),
}

/// The functions of a crate.
pub(crate) struct Lasting<'p> {
    functions: HashMap<String, Vec<Function<'p>>>,
    /// How many functions of each name there are, in macros too. `None` if a macro makes names up.
    names: Option<HashMap<String, usize>>,
    /// The names of its `static mut`s: each read and each write of one is an event.
    statics: HashSet<String>,
    /// The crate names a cell of `std::cell`.
    has_cells: bool,
    known: RefCell<HashMap<(usize, bool), Known>>,
    /// What happens without being named leaves nothing behind.
    implied: bool,
}

impl<'p> Lasting<'p> {
    pub(crate) fn new(program: &'p Crate) -> Self {
        let mut functions = Functions::default();
        let mut names = Some(HashMap::new());
        let mut has_cells = false;
        for file in &program.files {
            functions.visit_file(&file.tree);
            let tokens: Option<TokenStream> = file.source.text.as_str().parse().ok();
            match tokens {
                Some(tokens) => count(tokens, &mut names, &mut has_cells),
                None => names = None,
            }
        }
        let mut lasting = Self {
            functions: functions.by_name,
            statics: functions.statics,
            names,
            has_cells,
            known: RefCell::default(),
            implied: true,
        };
        lasting.implied = functions
            .implied
            .iter()
            .all(|&(function, writes)| lasting.qualifies(function, true, writes));
        lasting
    }

    /// Whether this loop qualifies, and there is a reason to look at its turns at all.
    pub(crate) fn is_waiting(&self, expr: &Expr) -> bool {
        self.implied && Turn::of_loop(self, expr)
    }

    /// Whether all functions of the crate with this name qualify. `None`: there are none.
    fn named(&self, name: &str, guarded: bool) -> Option<bool> {
        let seen = self.functions.get(name).map_or(&[][..], Vec::as_slice);
        let all = match &self.names {
            Some(names) => names.get(name).copied().unwrap_or(0),
            None => seen.len(),
        };
        if seen.is_empty() && all == 0 {
            return None;
        }
        // Those in macros can't be looked at.
        let qualify = seen.len() >= all
            && seen
                .iter()
                .all(|&function| self.qualifies(function, guarded, false));
        Some(qualify)
    }

    fn qualifies(&self, function: Function<'p>, guarded: bool, writes: bool) -> bool {
        let key = (std::ptr::from_ref(function.body).addr(), guarded);
        match self.known.borrow().get(&key) {
            Some(Known::UnderWay) => return true,
            Some(Known::Answer(answer)) => return *answer,
            None => {}
        }
        self.known.borrow_mut().insert(key, Known::UnderWay);
        let mut parameters = HashSet::new();
        for input in &function.signature.inputs {
            if let FnArg::Typed(input) = input {
                parameters.extend(names_in(&input.pat));
            }
        }
        let answer = Turn::of_function(self, function.body, parameters, guarded, writes);
        self.known.borrow_mut().insert(key, Known::Answer(answer));
        answer
    }
}

fn names_in(pattern: &Pat) -> HashSet<String> {
    bound_names(pattern).into_keys().collect()
}

/// Finds the functions of a crate, and those that are called without being named.
#[derive(Default)]
struct Functions<'p> {
    by_name: HashMap<String, Vec<Function<'p>>>,
    /// With whether they may write to a formatter.
    implied: Vec<(Function<'p>, bool)>,
    of_trait: Option<String>,
    statics: HashSet<String>,
}

impl<'p> Functions<'p> {
    fn add(&mut self, signature: &'p Signature, body: &'p Block) {
        let function = Function { signature, body };
        let name = name(&signature.ident);
        self.by_name.entry(name).or_default().push(function);
        match self.of_trait.as_deref() {
            Some("Display" | "Debug") => self.implied.push((function, true)),
            Some(of) if names::IMPLIED_TRAITS.contains(&of) => {
                self.implied.push((function, false));
            }
            _ => {}
        }
    }
}

impl<'p> Visit<'p> for Functions<'p> {
    fn visit_item_fn(&mut self, item: &'p ItemFn) {
        let of_trait = self.of_trait.take();
        self.add(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
        self.of_trait = of_trait;
    }

    fn visit_item_impl(&mut self, item: &'p ItemImpl) {
        let of = item.trait_.as_ref();
        let last = of.and_then(|(path, _)| path.segments.last());
        let outer = std::mem::replace(&mut self.of_trait, last.map(|last| name(&last.ident)));
        visit::visit_item_impl(self, item);
        self.of_trait = outer;
    }

    fn visit_item_static(&mut self, item: &'p ItemStatic) {
        if matches!(item.mutability, StaticMutability::Mut(_)) {
            self.statics.insert(name(&item.ident));
        }
        visit::visit_item_static(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'p ImplItemFn) {
        self.add(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'p TraitItemFn) {
        if let Some(body) = &item.default {
            self.add(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// Counts the functions that these tokens define with a body, by name.
fn count(tokens: TokenStream, names: &mut Option<HashMap<String, usize>>, has_cells: &mut bool) {
    let mut after_fn = false;
    // The function whose body or end is still to come.
    let mut open: Option<String> = None;
    for token in tokens {
        let is_name = std::mem::replace(&mut after_fn, false);
        match token {
            TokenTree::Ident(ident) if is_name => open = Some(name(&ident)),
            TokenTree::Ident(ident) => {
                after_fn = ident == "fn";
                *has_cells |= names::CELLS.iter().any(|cell| ident == cell);
            }
            TokenTree::Group(group) => {
                // `fn(…)` is a type.
                if is_name && group.delimiter() != Delimiter::Parenthesis {
                    *names = None;
                }
                if group.delimiter() == Delimiter::Brace
                    && let Some(name) = open.take()
                    && let Some(names) = names
                {
                    *names.entry(name).or_default() += 1;
                }
                count(group.stream(), names, has_cells);
            }
            TokenTree::Punct(punct) => {
                if is_name {
                    *names = None;
                }
                if punct.as_char() == ';' {
                    open = None;
                }
            }
            TokenTree::Literal(_) => {}
        }
    }
}
