//! What of the crate's is called without being named: implementations of std's traits, by operators, destructors, formatting,
//! and by functions of std that are generic.
//!
//! Which of them a turn may come to is told by what it does: see [`Implied`]. A kind is fine if all of the crate's
//! implementations of its traits leave nothing behind; one in a macro can't be looked at, and is not fine.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{Function, names};
use crate::resolve::name;

/// What calls functions of the crate without naming them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Implied {
    /// The end of a value.
    Drop,
    /// Looking through a smart pointer.
    Deref,
    /// The same, to change what is behind it.
    DerefMut,
    /// Arithmetic, and indices.
    Operator,
    /// A sign in front of a value.
    Negation,
    /// Arithmetic with an assignment.
    Assigning,
    /// Whether two values are equal, which is the larger one, and hashes.
    Comparison,
    /// Copies.
    Clone,
    /// Making text.
    Format,
    /// Going through the values of an iterator.
    Iteration,
    /// Making a value of another one, or of nothing.
    Conversion,
}

use Implied::{Clone as Cloning, Comparison, Conversion, Drop as Dropping, Format, Iteration};

/// What may be called where a reference is given for another type's: as an argument, to a variable with a type, as a field.
pub(super) const COERCION: &[Implied] = &[Implied::Deref, Implied::DerefMut];

impl Implied {
    /// All that functions of std may come to whose work isn't known in detail.
    pub(super) const ANY: &[Self] = &[Dropping, Comparison, Cloning, Iteration, Conversion];

    /// What calls the functions of a trait of std, or of a dependency.
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
            // What collections look up by, and with.
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

    /// Its functions write to what they are given for that.
    pub(super) const fn writes(self) -> bool {
        matches!(self, Self::Format)
    }

    /// What a method of std that is known here may call, besides the functions that it is given.
    pub(super) fn of_method(method: &str) -> &'static [Self] {
        match method {
            _ if names::CALLS_NOTHING.contains(&method) => &[],
            _ if method.starts_with("is_") || super::turn::is_number_method(method) => &[],
            "all" | "any" | "count" | "find" | "find_map" | "fold" | "for_each" | "last"
            | "next" | "nth" | "position" => &[Iteration, Dropping],
            // What is given for it is made an iterator at once.
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
    /// Those with implementations in macros.
    pub(super) unseen: HashSet<Implied>,
    /// A macro implements traits of which it is given the name.
    pub(super) any_unseen: bool,
}

impl Implementations<'_> {
    /// Looks for implementations in a macro: in its definition, or in what it is called with.
    pub(super) fn read_macro(&mut self, tokens: TokenStream) {
        // The latest word since `impl` was seen, but for what stands in `<…>`; what comes before a `for` is the trait.
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
