//! Marks on statements that look at where a value lies in memory: a copy of the value lies elsewhere, or in another way. The
//! runtime knows of which values there are copies: `seqz_runtime::addresses`.
//!
//! A mark is a statement before the one that looks, so that nothing in that one is changed. It may come too early, or be for nothing
//! where the statement looks in one branch only, which costs no more than a promise. Where a macro of the crate looks, the statement
//! that calls it is marked. A constant can't be marked, and is the same for all copies.

use std::collections::{HashMap, HashSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit;
use syn::{Expr, Local, Pat, Stmt, Type};

use super::macros::placeholders;
use super::{Walker, bytes};
use crate::load::Crate;
use crate::resolve::name;

/// The statement by which the program reports that it looks.
const MARK: &str = "::seqz_runtime::addresses::shown(); ";

/// Methods of std, and functions of its types, whose results tell where their receivers lie, or in which way.
const METHODS: &[&str] = &[
    "as_mut_ptr",
    "as_mut_ptr_range",
    "as_mut_slices",
    "as_non_null",
    "as_ptr",
    "as_ptr_range",
    "as_slices",
    "element_offset",
    "subslice_range",
    "substr_range",
];

/// Functions of `std::ptr` that do.
const FUNCTIONS: &[&str] = &["addr_eq", "eq", "from_mut", "from_ref", "hash"];

/// Functions whose results are pointers, and tell nothing of a value that has a copy.
const TELL_NOTHING: &[&str] = &["dangling", "dangling_mut", "into_raw", "null", "null_mut"];

impl Walker<'_> {
    /// Visits a statement, and marks it where it looks.
    pub(super) fn statement(&mut self, stmt: &Stmt) {
        let may_mark = self.constant == 0
            && self.opaque == 0
            && !self.in_macro
            && !matches!(stmt, Stmt::Item(_));
        if !may_mark {
            return visit::visit_stmt(self, stmt);
        }
        let start = bytes(stmt).start;
        let mark = self.edits().reserve(start);
        let outer = std::mem::replace(&mut self.looks, false);
        visit::visit_stmt(self, stmt);
        if std::mem::replace(&mut self.looks, outer) {
            self.edits().fill(mark, MARK);
        }
    }

    /// Notes whether an expression looks. Its parts are to be visited.
    pub(super) fn note_look(&mut self, expr: &Expr) {
        match expr {
            Expr::MethodCall(call) if METHODS.contains(&name(&call.method).as_str()) => {
                self.looks = true;
            }
            Expr::Cast(cast) if matches!(*cast.ty, Type::Ptr(_)) && !tells_nothing(&cast.expr) => {
                self.looks = true;
            }
            Expr::RawAddr(_) => self.looks = true,
            _ => {}
        }
    }

    /// Notes whether a variable takes a reference as a pointer.
    pub(super) fn note_pointer(&mut self, local: &Local) {
        let init = local.init.as_ref();
        if let Pat::Type(pattern) = &local.pat
            && matches!(*pattern.ty, Type::Ptr(_))
            && init.is_some_and(|init| !tells_nothing(&init.expr))
        {
            self.looks = true;
        }
    }

    /// Notes whether a path into std is that of a function that looks.
    pub(super) fn note_looking(&mut self, path: &[String]) {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        self.looks |= match path[..] {
            ["ptr", function] => FUNCTIONS.contains(&function),
            ["ptr", "NonNull", function] => function.starts_with("from"),
            // All copies of a handle lead to one place.
            ["sync", "Arc" | "Weak", _] => false,
            [.., function] => METHODS.contains(&function),
            [] => false,
        };
    }

    /// Notes whether a format string prints an address.
    pub(super) fn note_format(&mut self, text: &str) {
        self.looks |= prints_address(text);
    }

    /// Notes whether words that may mean anything look.
    pub(super) fn note_words(&mut self, tokens: TokenStream) {
        self.looks |= look(tokens);
    }
}

/// The names of the crate's macros that look, by themselves or by other macros.
pub(super) fn looking_macros(program: &Crate) -> HashSet<String> {
    let mut all = HashMap::new();
    for file in &program.files {
        if let Ok(tokens) = file.source.text.as_str().parse() {
            collect(tokens, &mut all);
        }
    }
    let mut looking = HashSet::new();
    loop {
        let calls = |text: &TokenStream| has_word(text.clone(), &|word| looking.contains(word));
        let more = all
            .iter()
            .filter(|(_, text)| look((*text).clone()) || calls(text));
        let more: HashSet<String> = more.map(|(name, _)| name.clone()).collect();
        if more.len() == looking.len() {
            return looking;
        }
        looking = more;
    }
}

/// Adds the texts of these macros, by name.
fn collect(tokens: TokenStream, all: &mut HashMap<String, TokenStream>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for four in tokens.windows(4) {
        if let [
            TokenTree::Ident(rules),
            TokenTree::Punct(_),
            TokenTree::Ident(of),
            TokenTree::Group(text),
        ] = four
            && rules == "macro_rules"
        {
            all.entry(name(of)).or_default().extend(text.stream());
        }
    }
    for token in tokens {
        if let TokenTree::Group(group) = token {
            collect(group.stream(), all);
        }
    }
}

fn has_word(tokens: TokenStream, is: &impl Fn(&str) -> bool) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => is(&name(&word)),
        TokenTree::Group(group) => has_word(group.stream(), is),
        _ => false,
    })
}

/// Whether these words, of which is not known what they mean, may be code that looks.
fn look(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let word = |at: usize| match tokens.get(at) {
        Some(TokenTree::Ident(word)) => name(word),
        _ => String::new(),
    };
    let is_sign =
        |at: usize, sign| matches!(&tokens[at], TokenTree::Punct(it) if it.as_char() == sign);
    (0..tokens.len()).any(|at| match &tokens[at] {
        TokenTree::Ident(_) => {
            let last = word(at);
            let of_ptr = at > 2 && word(at - 3) == "ptr" && is_sign(at - 1, ':');
            METHODS.contains(&last.as_str())
                || of_ptr && FUNCTIONS.contains(&last.as_str())
                || matches!(last.as_str(), "addr_of" | "addr_of_mut")
        }
        TokenTree::Punct(_) => {
            let to = matches!(word(at + 1).as_str(), "const" | "mut");
            is_sign(at, '*') && to && at > 0 && word(at - 1) == "as"
                || is_sign(at, '&') && word(at + 1) == "raw"
        }
        TokenTree::Group(group) => look(group.stream()),
        TokenTree::Literal(text) => prints_address(&text.to_string()),
    })
}

/// Whether an expression makes a pointer that tells nothing of a value that has a copy.
fn tells_nothing(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Paren(inner) => tells_nothing(&inner.expr),
        Expr::Cast(cast) => tells_nothing(&cast.expr),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => {
                let last = path.path.segments.last().map(|it| name(&it.ident));
                last.is_some_and(|last| TELL_NOTHING.contains(&last.as_str()))
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether an argument of a format string is printed as a pointer.
fn prints_address(text: &str) -> bool {
    placeholders(text).any(|placeholder| {
        let how = placeholder.split_once(':').map(|(_, how)| how.trim_end());
        how.is_some_and(|how| how.ends_with('p'))
    })
}

#[cfg(test)]
mod tests {
    use super::prints_address;

    #[test]
    fn words_look() {
        let looks = |text: &str| super::look(text.parse().unwrap());
        for text in [
            "$x.as_ptr()",
            "{ ptr::eq($a, $b) }",
            "&*$x as *const _",
            "(&raw mut $x)",
            "f(\"{:p}\")",
        ] {
            assert!(looks(text), "{text}");
        }
        for text in ["$x.eq($y)", "2 * mut_", "*const_", "&$raw", "\"{:?}\""] {
            assert!(!looks(text), "{text}");
        }
    }

    #[test]
    fn addresses_are_printed_by_one_format() {
        for text in ["{:p}", "a {b} {x:#p}", "{{{0:018p}}}"] {
            assert!(prints_address(text), "{text}");
        }
        for text in ["p", "{p}", "{{:p}}", "{:?} :p", "{:x}", "{"] {
            assert!(!prints_address(text), "{text}");
        }
    }
}
