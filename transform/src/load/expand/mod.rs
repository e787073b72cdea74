//! Expands calls of the crate's own `macro_rules!` macros, as text.
//!
//! The generated crate keeps both the macros and the calls, and rustc expands them. Expansions are needed here only to
//! know which tests, modules, functions and types there are. So hygiene doesn't matter, and a call that is not
//! understood is no error: it stays as it is.

mod matching;
mod transcribe;

use std::collections::HashMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A `macro_rules!` macro.
#[derive(Clone, Debug)]
pub(super) struct Rules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    matcher: Vec<Matcher>,
    body: TokenStream,
}

/// A part of a rule's matcher.
#[derive(Clone, Debug)]
enum Matcher {
    /// Exactly this token.
    Token(TokenTree),
    Group(Delimiter, Vec<Matcher>),
    /// `$name:kind`.
    Variable(String, String),
    /// `$( … ) separator op`.
    Repeated(Repetition<Vec<Matcher>>),
}

/// A repetition.
#[derive(Clone, Debug)]
struct Repetition<T> {
    of: T,
    separator: Vec<TokenTree>,
    /// The operator: `*`, `+` or `?`.
    operator: char,
}

/// The value of a variable.
#[derive(Clone, Debug)]
enum Binding {
    One(TokenStream),
    /// The values in a repetition: one for each time.
    Each(Vec<Binding>),
}

type Bindings = HashMap<String, Binding>;

impl Rules {
    /// Reads the rules of a definition; `None` if one of them isn't understood.
    pub(super) fn of(definition: TokenStream) -> Option<Self> {
        let tokens: Vec<TokenTree> = definition.into_iter().collect();
        let mut rules = Vec::new();
        let mut rest = tokens.as_slice();
        while let [
            TokenTree::Group(matcher),
            equals,
            greater,
            TokenTree::Group(body),
            more @ ..,
        ] = rest
        {
            if !is_punct(equals, '=') || !is_punct(greater, '>') {
                return None;
            }
            rules.push(Rule {
                matcher: matching::matchers(matcher.stream())?,
                body: body.stream(),
            });
            rest = match more {
                [semicolon, more @ ..] if is_punct(semicolon, ';') => more,
                more => more,
            };
        }
        rest.is_empty().then_some(Self(rules))
    }

    /// Expands a call with these arguments.
    pub(super) fn expand(&self, arguments: &TokenStream) -> Option<TokenStream> {
        let arguments: Vec<TokenTree> = arguments.clone().into_iter().collect();
        self.0.iter().find_map(|rule| {
            let bindings = matching::matched(&rule.matcher, &arguments)?;
            transcribe::transcribed(rule.body.clone(), &bindings)
        })
    }
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// Reads the repetition that begins with the `(…)` after a `$`: its parts, its operator, and the number of tokens after
/// the group.
fn repetition(after: &[TokenTree]) -> Option<(Vec<TokenTree>, char, usize)> {
    let operator = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => Some(punct.as_char()).filter(|c| matches!(c, '*' | '+' | '?')),
        _ => None,
    };
    // A separator has up to three tokens, as `=>` has two.
    for length in 0..=3.min(after.len().checked_sub(1)?) {
        // In `$(…)+*`, the first operator could be the separator, but a second operator must follow then.
        if let Some(found) = operator(&after[length]) {
            if length == 0
                && matches!(after.get(1).and_then(operator), Some('*' | '+'))
                && is_joint(&after[0])
            {
                continue;
            }
            return Some((after[..length].to_vec(), found, length + 1));
        }
    }
    None
}

fn is_joint(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.spacing() == proc_macro2::Spacing::Joint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(definition: &str, arguments: &str) -> Option<String> {
        let rules = Rules::of(definition.parse().unwrap())?;
        let expanded = rules.expand(&arguments.parse().unwrap())?;
        Some(words(&expanded.to_string()))
    }

    /// Returns the words and operators of a text, without the white space between them.
    fn words(text: &str) -> String {
        text.replace("> =", ">~=").split_whitespace().collect()
    }

    #[track_caller]
    fn gives(definition: &str, arguments: &str, expected: &str) {
        assert_eq!(expanded(definition, arguments), Some(words(expected)));
    }

    #[test]
    fn fragments() {
        gives(
            "($n:ident) => { mod $n { fn t() {} } }",
            "first",
            "mod first { fn t() {} }",
        );
        gives(
            "($v:vis $t:ty, $e:expr, $l:lifetime, $p:path) => { $v static X: &$l $t = $e * 2; use $p; }",
            "pub(crate) Vec<u8>, 1 + 1, 'static, a::b",
            "pub(crate) static X: &'static Vec<u8> = (1 + 1) * 2; use a::b;",
        );
        gives("($v:vis $i:ident) => { $v fn $i() {} }", "f", "fn f() {}");
        gives(
            "($($t:tt)*) => { $($t)* }",
            "a => 'b :: c, { d }",
            "a => 'b :: c, { d }",
        );
        gives(
            "($l:literal $b:block $p:pat) => { $l $b $p }",
            "-1 { 2 } Some(_) | None",
            "-1 { 2 } Some(_) | None",
        );
        gives(
            "($m:meta, $s:stmt) => { #[$m] $s; }",
            "cfg(test), let x = 1",
            "#[cfg(test)] let x = 1;",
        );
        gives("() => { $crate::f() }", "", "crate::f()");
        assert_eq!(expanded("($i:ident) => {}", "1"), None);
        assert_eq!(expanded("(a) => {}", "a b"), None);
    }

    #[test]
    fn repetitions() {
        gives(
            "($($i:item)*) => { $(#[cfg(a)] $i)* }",
            "mod a; pub use a::B;",
            "#[cfg(a)] mod a; #[cfg(a)] pub use a::B;",
        );
        gives(
            "($($a:ident),+ $(,)?) => { $(fn $a() {})+ }",
            "x, y,",
            "fn x() {} fn y() {}",
        );
        gives(
            "($($k:ident => $($v:expr),*;)*) => { $($k: [$($v),*])* }",
            "a => 1, 2; b => ;",
            "a: [1, 2] b: []",
        );
        gives(
            "($t:ty: $($n:ident)*) => { $(fn $n(_: $t) {})* }",
            "u8: a b",
            "fn a(_: u8) {} fn b(_: u8) {}",
        );
        gives("($($a:ident)=>*) => { $($a)=>* }", "x=>y", "x=>y");
        gives(
            "($(#[$m:meta])* $n:ident) => { $(#[$m])* fn $n() {} }",
            "#[test] #[ignore = \"slow\"] t",
            "#[test] #[ignore = \"slow\"] fn t() {}",
        );
    }

    #[test]
    fn the_first_rule_that_fits() {
        let rules = "(@one $x:ident) => { one $x }; ($($x:ident)*) => { many $($x)* };";
        gives(rules, "@one a", "one a");
        gives(rules, "a b", "many a b");
        // A macro that is not understood is left alone.
        assert_eq!(expanded("($x:unheard_of) => {}", "a"), None);
        assert_eq!(expanded("() => { $($y)* }", ""), None);
    }
}
