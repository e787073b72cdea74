//! Whether a constant function of a crate looks into an `UnsafeCell` through a `&mut`.
//!
//! The runtime's cells tell of that where they can, and a constant function can't tell of anything. So all cells of such a
//! crate are of another kind. The decision goes by the words of the source: a cell that tells too little costs a check, and one
//! that is no constant does not compile.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::load::Crate;

/// Whether a constant function of the crate may look into a cell.
pub(crate) fn are_in(program: &Crate) -> bool {
    let files = || {
        let files = program.files.iter();
        files.map(|file| file.source.text.as_str())
    };
    files().any(|text| text.contains("UnsafeCell"))
        && files().any(|text| text.contains("get_mut") && text.parse().is_ok_and(looks_into_cell))
}

/// Whether a constant function in these tokens has the word `get_mut` in its body.
fn looks_into_cell(tokens: TokenStream) -> bool {
    let mut is_constant = false;
    let mut in_function = false;
    for token in tokens {
        match token {
            TokenTree::Ident(word) => match word.to_string().as_str() {
                "const" => is_constant = true,
                "fn" => in_function = is_constant,
                // What may stand between the two.
                "unsafe" | "extern" | "async" => {}
                _ if !in_function => is_constant = false,
                _ => {}
            },
            TokenTree::Group(group) => {
                let is_body = group.delimiter() == Delimiter::Brace;
                if is_body && in_function && has_word(group.stream()) {
                    return true;
                }
                if looks_into_cell(group.stream()) {
                    return true;
                }
                if is_body {
                    (is_constant, in_function) = (false, false);
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                (is_constant, in_function) = (false, false);
            }
            _ => {}
        }
    }
    false
}

fn has_word(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "get_mut",
        TokenTree::Group(group) => has_word(group.stream()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::looks_into_cell;

    #[test]
    fn constant_functions_are_told_from_others() {
        for (text, expected) in [
            (
                "impl<T> S<T> { pub const fn f(&mut self) -> &mut T { self.0.get_mut() } }",
                true,
            ),
            (
                "const unsafe fn f<const N: usize>(s: &mut S) where S: Sized { if N > 0 { s.get_mut() } }",
                true,
            ),
            ("const extern \"C\" fn f(s: &mut S) { s.get_mut() }", true),
            (
                "fn f(s: &mut S) { s.get_mut() } const fn g() { f() }",
                false,
            ),
            ("const N: usize = 1; fn f(s: &mut S) { s.get_mut() }", false),
            (
                "impl S { const N: usize = 1; const fn f() {} fn get_mut(&mut self) {} }",
                false,
            ),
            (
                "const fn f() -> *const u8; fn g(p: *const u8) { s.get_mut() }",
                false,
            ),
        ] {
            assert_eq!(looks_into_cell(text.parse().unwrap()), expected, "{text}");
        }
    }
}
