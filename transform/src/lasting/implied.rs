//! Functions of the crate that are called without being named: implementations of std's traits, called by operators,
//! destructors, formatting, and by generic functions of std.
//!
//! What a turn does says which of them the turn may call: see [`Implied`]. A kind is harmless if all of the crate's
//! implementations of its traits leave nothing behind; an implementation in a macro can't be looked at, and is not
//! harmless.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{Function, names};
use crate::resolve::name;

/// A way of calling functions of the crate without naming them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Implied {
    /// The end of a value.
    Drop,
    /// A look through a smart pointer.
    Deref,
    /// A look through a smart pointer, to change the value behind it.
    DerefMut,
    /// Arithmetic, and indexing.
    Operator,
    /// A sign in front of a value.
    Negation,
    /// Arithmetic with an assignment.
    Assigning,
    /// Comparing and hashing values.
    Comparison,
    /// Cloning a value.
    Clone,
    /// Formatting a value as text.
    Format,
    /// Going through the values of an iterator.
    Iteration,
    /// Making a value of another value, or of nothing.
    Conversion,
}

use Implied::{Clone as Cloning, Comparison, Conversion, Drop as Dropping, Format, Iteration};

/// The calls that may happen where a reference is given for a reference to another type: as an argument, to a variable
/// with a type, as a field.
pub(super) const COERCION: &[Implied] = &[Implied::Deref, Implied::DerefMut];

impl Implied {
    /// All calls that a function of std may make whose work isn't known in detail.
    pub(super) const ANY: &[Self] = &[Dropping, Comparison, Cloning, Iteration, Conversion];

    /// Returns the way in which functions of a trait of std, or of a dependency, are called.
    pub(super) fn of_trait(of: &str) -> Self {
        match of {
            "Drop" => Self::Drop,
            "Deref" => Self::Deref,
            "DerefMut" | "IndexMut" | "AsMut" | "BorrowMut" => Self::DerefMut,
            "Index" | "Add" | "Sub" | "Mul" | "Div" | "Rem" | "BitAnd" | "BitOr" | "BitXor"
            | "Shl" | "Shr" => Self::Operator,
            "Neg" | "Not" => Self::Negation,
            "AddAssign" | "SubAssign" | "MulAssign" | "DivAssign" | "RemAssign"
            | "BitAndAssign" | "BitOrAssign" | "BitXorAssign" | "ShlAssign" | "ShrAssign" => {
                Self::Assigning
            }
            // The traits that collections use to look up values.
            "Eq" | "PartialEq" | "Ord" | "PartialOrd" | "Hash" | "Hasher" | "BuildHasher"
            | "Borrow" | "RangeBounds" => Self::Comparison,
            "Clone" => Self::Clone,
            "Display" | "Debug" | "LowerHex" | "UpperHex" | "Octal" | "Binary" | "LowerExp"
            | "UpperExp" | "Pointer" => Self::Format,
            "Iterator" | "DoubleEndedIterator" | "ExactSizeIterator" | "IntoIterator" => {
                Self::Iteration
            }
            _ => Self::Conversion,
        }
    }

    /// Whether traits whose names aren't known here are of this kind.
    pub(super) const fn is_of_any(self) -> bool {
        matches!(self, Self::Conversion)
    }

    /// Whether functions of this kind write to an argument that they get for writing.
    pub(super) const fn writes(self) -> bool {
        matches!(self, Self::Format)
    }

    /// Returns the calls that a known method of std may make, besides the functions that it is given.
    pub(super) fn of_method(method: &str) -> &'static [Self] {
        match method {
            _ if names::CALLS_NOTHING.contains(&method) => &[],
            _ if method.starts_with("is_") || super::turn::is_number_method(method) => &[],
            "all" | "any" | "count" | "find" | "find_map" | "fold" | "for_each" | "last"
            | "next" | "nth" | "position" => &[Iteration, Dropping],
            // The argument is made an iterator at once.
            "chain" | "zip" => &[Iteration],
            "binary_search" | "contains" | "contains_key" | "ends_with" | "get" | "split"
            | "starts_with" => &[Comparison],
            "cmp" | "eq" | "ge" | "gt" | "le" | "lt" | "max" | "max_by_key" | "min"
            | "min_by_key" | "ne" | "partial_cmp" => &[Comparison, Iteration],
            "clone" | "cloned" | "to_vec" => &[Cloning, Dropping],
            "to_string" => &[Format],
            "as_deref_mut" | "as_mut" | "back_mut" | "clear" | "dedup" | "drain" | "entry"
            | "first_mut" | "front_mut" | "get_mut" | "get_or_insert" | "get_or_insert_with"
            | "insert" | "iter_mut" | "last_mut" | "or_insert" | "or_insert_with" | "peek_mut"
            | "pop" | "pop_back" | "pop_first" | "pop_front" | "pop_last" | "push"
            | "push_back" | "push_front" | "push_str" | "remove" | "replace" | "retain"
            | "reverse" | "sort" | "split_off" | "swap" | "swap_remove" | "take" | "truncate"
            | "values_mut" => &[Dropping, Comparison],
            "parse" | "into" | "try_into" | "unwrap_or_default" => &[Conversion, Dropping],
            _ => Self::ANY,
        }
    }
}

/// The implementations of a crate.
#[derive(Debug, Default)]
pub(super) struct Implementations<'p> {
    pub(super) seen: HashMap<Implied, Vec<Function<'p>>>,
    /// The kinds that have implementations in macros.
    pub(super) unseen: HashSet<Implied>,
    /// Whether a macro implements traits whose names are given to it.
    pub(super) any_unseen: bool,
}

impl Implementations<'_> {
    /// Looks for implementations in a macro: in its definition, or in the arguments of a call.
    pub(super) fn read_macro(&mut self, tokens: TokenStream) {
        // The latest word since `impl`, without words in `<…>`; the word before a `for` is the trait.
        let mut open: Option<Option<String>> = None;
        let mut depth = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if ident == "impl" => {
                    open = Some(None);
                    depth = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
                TokenTree::Punct(punct) if punct.as_char() == '>' => depth -= 1,
                TokenTree::Ident(_) if depth > 0 => {}
                TokenTree::Ident(ident) if ident == "for" => {
                    if let Some(of) = open.take() {
                        match of {
                            Some(of) => drop(self.unseen.insert(Implied::of_trait(&of))),
                            None => self.any_unseen = true,
                        }
                    }
                }
                TokenTree::Ident(ident) => {
                    if let Some(of) = &mut open {
                        *of = Some(name(&ident));
                    }
                }
                // A variable of the macro may stand for any trait.
                TokenTree::Punct(punct) if punct.as_char() == '$' && open.is_some() => {
                    self.any_unseen = true;
                }
                TokenTree::Group(group) => {
                    if group.delimiter() == Delimiter::Brace {
                        open = None;
                    }
                    self.read_macro(group.stream());
                }
                _ => {}
            }
        }
    }
}
