//! What `unsafe` code does with memory without an event: it accesses memory behind pointers, and changes types.
//!
//! This module looks at tokens, not trees, so that it sees code in macros as well. What it finds may be harmless, such
//! as memory that only one thread knows; the source can't show that.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Memory behind a pointer.
const POINTER: &str = "memory behind a raw pointer";
/// A value whose type or lifetime is changed.
const TRANSMUTE: &str = "a `transmute`";

/// Assembly that may be given the address of an object.
const GIVEN: &str = "assembly that is given values";

/// Whether what code of this description does may be another thing under seqz: objects that threads share are larger than std's,
/// and their values lie elsewhere in them.
pub(crate) fn distorts(description: &str) -> bool {
    description == GIVEN
}

/// Whether the operands of assembly have any that the instructions are given.
fn takes_values(operands: &TokenTree) -> bool {
    let TokenTree::Group(operands) = operands else {
        return false;
    };
    let mut tokens = operands.stream().into_iter();
    tokens.any(|token| {
        let TokenTree::Ident(word) = token else {
            return false;
        };
        let word = word.to_string();
        matches!(word.as_str(), "in" | "inout" | "inlateout" | "sym")
    })
}

/// Whether code of this description accesses memory and does nothing else.
pub(crate) fn is_access(description: &str) -> bool {
    [POINTER, TRANSMUTE].contains(&description)
}

/// Functions that use a pointer as what it points to.
const FUNCTIONS: &[&str] = &[
    "decrement_strong_count",
    "from_ptr",
    "from_raw",
    "from_raw_in",
    "from_raw_parts",
    "from_raw_parts_in",
    "from_raw_parts_mut",
    "increment_strong_count",
];

/// Functions of `std::ptr` that read or write.
pub(crate) const OF_PTR: &[&str] = &[
    "copy",
    "copy_nonoverlapping",
    "drop_in_place",
    "read",
    "read_unaligned",
    "read_volatile",
    "replace",
    "swap",
    "swap_nonoverlapping",
    "write",
    "write_bytes",
    "write_unaligned",
    "write_volatile",
];

/// Methods of pointers that read or write, with their numbers of arguments.
const METHODS: &[(&str, usize)] = &[
    ("as_mut", 0),
    ("as_mut_unchecked", 0),
    ("as_ref", 0),
    ("as_ref_unchecked", 0),
    ("copy_from", 2),
    ("copy_from_nonoverlapping", 2),
    ("copy_to", 2),
    ("copy_to_nonoverlapping", 2),
    ("drop_in_place", 0),
    ("read", 0),
    ("read_unaligned", 0),
    ("read_volatile", 0),
    ("replace", 1),
    ("swap", 1),
    ("write", 1),
    ("write_bytes", 2),
    ("write_unaligned", 1),
    ("write_volatile", 1),
];

/// Methods whose results are references or guards, which may be dereferenced.
const REFERENCES: &[&str] = &[
    "borrow",
    "borrow_mut",
    "deref",
    "deref_mut",
    "get_unchecked",
    "get_unchecked_mut",
    "lock",
];

/// Looks for `unsafe` blocks anywhere in the tokens, and through them: description and offset of each finding.
pub(crate) fn find(tokens: TokenStream, found: &mut Vec<(usize, &'static str)>) {
    let (mut after_unsafe, mut function) = (false, false);
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                if after_unsafe || function {
                    inside(group.stream(), found);
                } else {
                    find(group.stream(), found);
                }
                (after_unsafe, function) = (false, false);
            }
            TokenTree::Group(group) => {
                find(group.stream(), found);
                after_unsafe = false;
            }
            TokenTree::Ident(ident) => {
                // As in `unsafe extern "C" fn f() { … }`.
                function |= after_unsafe && ident == "fn";
                after_unsafe = ident == "unsafe" || after_unsafe && ident == "extern";
            }
            TokenTree::Literal(_) => {}
            TokenTree::Punct(punct) => {
                function &= punct.as_char() != ';';
                after_unsafe = false;
            }
        }
    }
}

/// Looks through `unsafe` code.
pub(crate) fn inside(tokens: TokenStream, found: &mut Vec<(usize, &'static str)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let offset = token.span().byte_range().start;
        match token {
            TokenTree::Group(group) => inside(group.stream(), found),
            TokenTree::Punct(star) if star.as_char() == '*' && is_dereference(&tokens, at) => {
                found.push((offset, POINTER));
            }
            TokenTree::Ident(ident) => {
                let word = ident.to_string();
                let of_path = at >= 2 && punct(&tokens, at - 1, ':') && punct(&tokens, at - 2, ':');
                if matches!(word.as_str(), "transmute" | "transmute_copy") {
                    found.push((offset, TRANSMUTE));
                } else if of_path && FUNCTIONS.contains(&word.as_str())
                    || of_path
                        && is_word(&tokens, at.wrapping_sub(3), "ptr")
                        && OF_PTR.contains(&word.as_str())
                    || at >= 1
                        && punct(&tokens, at - 1, '.')
                        && is_pointer_method(&tokens, at, &word)
                {
                    found.push((offset, POINTER));
                } else if matches!(word.as_str(), "asm" | "global_asm" | "naked_asm")
                    && punct(&tokens, at + 1, '!')
                {
                    let takes = word == "naked_asm" || tokens.get(at + 2).is_some_and(takes_values);
                    found.push((offset, if takes { GIVEN } else { "assembly" }));
                }
            }
            _ => {}
        }
    }
}

/// Whether a star stands before an operand that may be a pointer.
fn is_dereference(tokens: &[TokenTree], at: usize) -> bool {
    let first = match at.checked_sub(1).map(|before| &tokens[before]) {
        None => true,
        Some(TokenTree::Ident(word)) => {
            let word = word.to_string();
            matches!(
                word.as_str(),
                "break"
                    | "else"
                    | "if"
                    | "in"
                    | "match"
                    | "mut"
                    | "ref"
                    | "return"
                    | "while"
                    | "yield"
                    | "move"
                    | "unsafe"
            )
        }
        Some(TokenTree::Punct(before)) => {
            !matches!(before.as_char(), '?' | '\'') && before.as_char() != '>'
                || before.as_char() == '>' && after_arrow(tokens, at)
        }
        // A block may end a statement, and the next statement begins with a star.
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        Some(TokenTree::Literal(_)) => false,
    };
    // `*const T` and `*mut T` are types.
    let is_type = is_word(tokens, at + 1, "const") || is_word(tokens, at + 1, "mut");
    // `a *= b`.
    let assigns = matches!(&tokens[at], TokenTree::Punct(star) if star.spacing() == Spacing::Joint)
        && punct(tokens, at + 1, '=');
    first && !is_type && !assigns && !gives_a_reference(&tokens[at + 1..])
}

/// Whether `=>`, `>=` or `>` stands before as an operator: `>` closes generic arguments, too, and then no operand
/// follows.
fn after_arrow(tokens: &[TokenTree], at: usize) -> bool {
    match at.checked_sub(2).map(|before| &tokens[before]) {
        Some(TokenTree::Punct(before)) => matches!(before.as_char(), '=' | '-'),
        Some(_) => true,
        None => false,
    }
}

/// Whether the operand that begins here is the result of a method that gives a reference.
fn gives_a_reference(tokens: &[TokenTree]) -> bool {
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) => {
                let called = at >= 1
                    && punct(tokens, at - 1, '.')
                    && matches!(tokens.get(at + 1), Some(TokenTree::Group(_)));
                if called && REFERENCES.contains(&word.to_string().as_str()) {
                    return true;
                }
            }
            TokenTree::Punct(punct) if !matches!(punct.as_char(), '.' | ':' | '?') => return false,
            _ => {}
        }
    }
    false
}

fn is_pointer_method(tokens: &[TokenTree], at: usize, word: &str) -> bool {
    let Some(TokenTree::Group(arguments)) = tokens.get(at + 1) else {
        return false;
    };
    if arguments.delimiter() != Delimiter::Parenthesis {
        return false;
    }
    let mut commas = 0;
    let mut any = false;
    let mut last = false;
    for token in arguments.stream() {
        last = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
        commas += usize::from(last);
        any = true;
    }
    let count = if any { commas + usize::from(!last) } else { 0 };
    // The `read` is that of a lock if its result is used in this way.
    let of_lock = word == "read"
        && (punct(tokens, at + 2, '?')
            || punct(tokens, at + 2, '.')
                && ["unwrap", "expect", "unwrap_or_else", "is_ok", "is_err"]
                    .iter()
                    .any(|next| is_word(tokens, at + 3, next)));
    METHODS.contains(&(word, count)) && !of_lock
}

fn punct(tokens: &[TokenTree], at: usize, wanted: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn is_word(tokens: &[TokenTree], at: usize, wanted: &str) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Ident(word)) if word == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        let mut found = Vec::new();
        find(text.parse().unwrap(), &mut found);
        found.len()
    }

    #[test]
    fn what_goes_behind_a_pointer_is_found() {
        for text in [
            "unsafe { *(p as *mut u32) += 1 }",
            "unsafe { let v = *p; }",
            "let r: &'static mut u32 = unsafe { std::mem::transmute(&mut n) };",
            "unsafe { &mut *p }",
            "unsafe { f(); if x { } *p = 1; }",
            "unsafe { Arc::from_raw(p) }",
            "unsafe { std::ptr::read(p) }",
            "unsafe { p.write(3) }",
            "unsafe { p.as_ref() }",
            "m!(unsafe { return *p })",
            "unsafe { slice::from_raw_parts(p, 3) }",
            "unsafe { match x { A => *p, _ => 0 } }",
            "unsafe { a > *p }",
            "unsafe { asm!(\"\") }",
            "unsafe fn f<T>(p: *const T) -> T { *p }",
            "pub unsafe extern \"C\" fn f(p: *const u8) { *p; }",
        ] {
            assert_eq!(found(text), 1, "{text}");
        }
    }

    #[test]
    fn what_does_not_is_left_alone() {
        for text in [
            "*p = 1",
            "unsafe { COUNT += 1 }",
            "unsafe { a * b }",
            "unsafe { f(x) * 2; v[1] * 3; 4 * c; a *= b; }",
            "unsafe { *v.get_unchecked(3) }",
            "unsafe { *M.lock().unwrap() += 1 }",
            "unsafe { let x: *const u8 = f(); L.read().unwrap(); }",
            "unsafe { String::from_utf8_unchecked(v) }",
            "unsafe { a.write(1, 2); x.swap(1, SeqCst) }",
        ] {
            assert_eq!(found(text), 0, "{text}");
        }
    }
}
