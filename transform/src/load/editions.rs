//! Syntax of older editions that the parser doesn't know: trait objects without `dyn`, parameters without a name, words
//! that have become keywords, ranges with three dots.
//!
//! Where parsing stops, the tokens are changed to what a later edition writes, with the places of the old tokens, and
//! parsed again. The text itself stays as it is: rustc knows its edition, and refuses syntax that the edition doesn't
//! have.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// The largest number of changes to one file.
const MOST: usize = 10_000;

/// Parses a file that is not of the latest edition's syntax, and returns the latest edition that the file can be of.
/// `error` is the error that stopped the parser.
pub(super) fn parse(
    text: &str,
    error: syn::Error,
) -> Result<(syn::File, &'static str), syn::Error> {
    let Ok(tokens) = text.parse::<TokenStream>() else {
        return Err(error);
    };
    let mut error = match mended(text, tokens.clone(), error) {
        Err(error) if needs_names(&tokens) => error,
        parsed => return parsed,
    };
    // `if async { … }` begins with a block in a later edition, so the parser finds an error behind it only.
    let tokens = names_of_2015(tokens);
    let first = error.clone();
    error = match syn::parse2(tokens.clone()) {
        Ok(file) => return Ok((file, "2015")),
        Err(error) => error,
    };
    let parsed = mended(text, tokens, error);
    parsed.map(|(file, _)| (file, "2015")).map_err(|_| first)
}

/// Whether a word is a keyword of later editions only.
fn is_name_of_2015(word: &Ident) -> bool {
    ["async", "await", "try"].iter().any(|it| word == it)
}

fn needs_names(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(word) => is_name_of_2015(&word),
        TokenTree::Group(group) => needs_names(&group.stream()),
        _ => false,
    })
}

/// Returns the tokens, with all words that are names in the first edition written as names.
fn names_of_2015(tokens: TokenStream) -> TokenStream {
    let renamed = |token| match token {
        TokenTree::Ident(word) if is_name_of_2015(&word) => {
            TokenTree::Ident(Ident::new_raw(&word.to_string(), word.span()))
        }
        TokenTree::Group(group) => {
            let mut new = Group::new(group.delimiter(), names_of_2015(group.stream()));
            new.set_span(group.span());
            TokenTree::Group(new)
        }
        token => token,
    };
    tokens.into_iter().map(renamed).collect()
}

/// Parses tokens, changing them as often as needed.
fn mended(
    text: &str,
    tokens: TokenStream,
    error: syn::Error,
) -> Result<(syn::File, &'static str), syn::Error> {
    if let Some(parsed) = mended_by_items(text, &tokens) {
        return Ok(parsed);
    }
    let mut is_2015 = false;
    let file = mended_part(text, tokens, error, &mut is_2015)?;
    Ok((file, edition(is_2015)))
}

const fn edition(is_2015: bool) -> &'static str {
    if is_2015 { "2015" } else { "2018" }
}

/// The number of semicolons and blocks that one item may have outside of brackets.
const PARTS: usize = 16;

/// Parses tokens item by item: after a change, no more than the item is parsed again. `None` where it can't be seen what the
/// items are.
fn mended_by_items(text: &str, tokens: &TokenStream) -> Option<(syn::File, &'static str)> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut whole: syn::File = syn::parse2(TokenStream::new()).ok()?;
    let mut is_2015 = false;
    let mut start = 0;
    while start < tokens.len() {
        let mut end = start;
        let parsed = (0..PARTS).find_map(|_| {
            end += tokens.get(end..)?.iter().position(may_end_item)? + 1;
            let part: TokenStream = tokens[start..end].iter().cloned().collect();
            match syn::parse2(part.clone()) {
                Ok(file) => Some(file),
                Err(error) => mended_part(text, part, error, &mut is_2015).ok(),
            }
        });
        let parsed: syn::File = parsed?;
        whole.attrs.extend(parsed.attrs);
        whole.items.extend(parsed.items);
        start = end;
    }
    Some((whole, edition(is_2015)))
}

fn may_end_item(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => is(token, ';'),
    }
}

/// Parses tokens, changing them as often as needed. Notes whether they are of the first edition.
fn mended_part(
    text: &str,
    mut tokens: TokenStream,
    mut error: syn::Error,
    is_2015: &mut bool,
) -> Result<syn::File, syn::Error> {
    let mut needs = false;
    let mut last = None;
    for _ in 0..MOST {
        let at = error.span().byte_range().start;
        // Two changes at one place may be needed, but not three.
        if last == Some((at, true)) {
            return Err(error);
        }
        last = Some((at, matches!(last, Some((before, _)) if before == at)));
        let Some(changed) = changed(tokens.clone(), at, false) else {
            return Err(error);
        };
        // Trait objects without `dyn` and three dots are no errors in 2018; every other change means that the file is
        // of 2015.
        needs |= needs_2015(text, at);
        tokens = changed;
        match syn::parse2(tokens.clone()) {
            Ok(file) => {
                *is_2015 |= needs;
                return Ok(file);
            }
            Err(next) => error = next,
        }
    }
    Err(error)
}

/// Whether the syntax at an offset was right in the first edition only: a keyword as a name, a parameter without a
/// name.
fn needs_2015(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let word = rest
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .next()
        .unwrap_or_default();
    matches!(word, "try" | "async" | "await" | "dyn") || rest.starts_with([',', ')'])
}

/// Returns the tokens, changed at the offset at which they can't be parsed.
fn changed(tokens: TokenStream, at: usize, in_parameters: bool) -> Option<TokenStream> {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let starts = |token: &TokenTree| token.span().byte_range().start;
    if let Some(index) = tokens.iter().position(|token| starts(token) == at)
        && change(&mut tokens, index, in_parameters).is_some()
    {
        return Some(tokens.into_iter().collect());
    }
    for index in 0..tokens.len() {
        let TokenTree::Group(group) = &tokens[index] else {
            continue;
        };
        let range = group.span().byte_range();
        if !range.contains(&at) {
            continue;
        }
        let parameters =
            group.delimiter() == Delimiter::Parenthesis && is_function(&tokens[..index]);
        let close = group.span_close().byte_range().start;
        let inside = if at == close || at == range.start {
            // A missing token is reported at the end of its group, or anywhere.
            let mut inside: Vec<TokenTree> = group.stream().into_iter().collect();
            let length = inside.len();
            change(&mut inside, length, parameters)?;
            inside.into_iter().collect()
        } else {
            changed(group.stream(), at, parameters)?
        };
        let mut new = Group::new(group.delimiter(), inside);
        new.set_span(group.span());
        tokens[index] = TokenTree::Group(new);
        return Some(tokens.into_iter().collect());
    }
    None
}

/// Changes the tokens before the token that doesn't fit, or that token itself.
fn change(tokens: &mut Vec<TokenTree>, index: usize, in_parameters: bool) -> Option<()> {
    match tokens.get(index) {
        Some(TokenTree::Ident(word))
            if matches!(
                word.to_string().as_str(),
                "try" | "async" | "await" | "dyn" | "gen"
            ) =>
        {
            tokens[index] = TokenTree::Ident(Ident::new_raw(&word.to_string(), word.span()));
            Some(())
        }
        Some(TokenTree::Punct(dot)) if is_for_all(tokens, index) => {
            let any = Ident::new("_", dot.span());
            tokens.splice(index..index + 2, [TokenTree::Ident(any)]);
            Some(())
        }
        Some(TokenTree::Punct(dot)) if dot.as_char() == '.' => {
            let dots = tokens[..index]
                .iter()
                .rev()
                .take_while(|token| is(token, '.'))
                .count();
            let third = index + 2 - dots.min(2);
            if !tokens.get(third).is_some_and(|token| is(token, '.')) {
                return None;
            }
            let mut equals = Punct::new('=', Spacing::Alone);
            equals.set_span(tokens[third].span());
            tokens[third] = TokenTree::Punct(equals);
            Some(())
        }
        Some(TokenTree::Punct(plus)) if plus.as_char() == '+' => insert_dyn(tokens, index),
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            let called = index
                .checked_sub(1)
                .map(|before| tokens[before].to_string());
            matches!(called.as_deref(), Some("Fn" | "FnMut" | "FnOnce"))
                .then(|| insert_dyn(tokens, index))
                .flatten()
        }
        Some(TokenTree::Ident(word)) if word == "for" => insert(tokens, index, "dyn"),
        _ if in_parameters => {
            let start = parameter(&tokens[..index]);
            let colon = tokens[start..index]
                .iter()
                .any(|token| is(token, ':') && !is_joint(token));
            if colon || start == index {
                return None;
            }
            let span = tokens[start].span();
            let mut colon = Punct::new(':', Spacing::Alone);
            colon.set_span(span);
            tokens.insert(start, TokenTree::Punct(colon));
            tokens.insert(start, TokenTree::Ident(Ident::new("_", span)));
            Some(())
        }
        _ => None,
    }
}

/// Whether the two dots of `impl Trait for .. {}` begin here: what auto traits once were, which rustc still reads where a `cfg`
/// leaves it out.
fn is_for_all(tokens: &[TokenTree], index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|before| tokens.get(before));
    matches!(before, Some(TokenTree::Ident(word)) if word == "for")
        && tokens[index..]
            .iter()
            .take(2)
            .filter(|it| is(it, '.'))
            .count()
            == 2
        && tokens.get(index + 2).is_some_and(may_end_item)
}

/// Inserts `dyn` before the path that ends before a token, unless `dyn` is there.
fn insert_dyn(tokens: &mut Vec<TokenTree>, end: usize) -> Option<()> {
    let mut start = end;
    let mut depth = 0;
    while let Some(before) = start.checked_sub(1) {
        let token = &tokens[before];
        let belongs = match token {
            _ if is(token, '>') => {
                depth += 1;
                true
            }
            _ if is(token, '<') && depth > 0 => {
                depth -= 1;
                true
            }
            _ if depth > 0 => true,
            TokenTree::Ident(word) => word != "dyn" && word != "impl",
            _ => is(token, ':'),
        };
        if !belongs || depth == 0 && start < end && follows(token, &tokens[start]) {
            break;
        }
        start = before;
    }
    (start < end)
        .then(|| insert(tokens, start, "dyn"))
        .flatten()
}

/// Whether two neighbouring tokens are not of one path.
fn follows(before: &TokenTree, after: &TokenTree) -> bool {
    matches!((before, after), (TokenTree::Ident(_), TokenTree::Ident(_)))
}

fn insert(tokens: &mut Vec<TokenTree>, at: usize, word: &str) -> Option<()> {
    let is_there = at
        .checked_sub(1)
        .is_some_and(|before| tokens[before].to_string() == word);
    let span: Span = tokens[at].span();
    (!is_there).then(|| tokens.insert(at, TokenTree::Ident(Ident::new(word, span))))
}

/// Returns the index at which the parameter begins that these tokens end with.
fn parameter(tokens: &[TokenTree]) -> usize {
    let mut depth = 0_i32;
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        let arrow = at > 0 && is(&tokens[at - 1], '-');
        match token {
            _ if is(token, '<') => depth += 1,
            _ if is(token, '>') && !arrow => depth -= 1,
            _ if is(token, ',') && depth == 0 => start = at + 1,
            _ => {}
        }
    }
    start
}

/// Whether the parameters of a function come after these tokens.
fn is_function(before: &[TokenTree]) -> bool {
    let mut words = before.iter().rev().take(64);
    words.any(|token| matches!(token, TokenTree::Ident(word) if word == "fn"))
}

fn is(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn is_joint(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<(syn::File, &'static str), syn::Error> {
        let file = syn::parse_file(text).map(|file| (file, "2024"));
        file.or_else(|error| parse(text, error))
    }

    #[test]
    fn what_older_editions_write() {
        for text in [
            "type Action = Fn(&u32) + Send + Sync;",
            "type Boxed = Box<Fn(u32) -> u32 + Send>;",
            "type Paths = Vec<Box<::std::ops::FnMut(&str) + 'static>>;",
            "struct S { f: Box<FnOnce() + Send>, g: Box<Error + Send + Sync>, h: Arc<a::B<u8> + Send> }",
            "impl Trait + Send { fn f(&self) {} }",
            "fn f(x: &(Trait + Send), y: &mut Fn(u8)) -> Box<Trait + 'static> { x }",
            "trait T { fn f(u32, &str); fn g(&self, Vec<u8>, u8) -> u8; fn h(Box<Fn(u8) + Send>); }",
            "fn f() -> Result<(), E> { try!(g()); Ok(try!(h(1, 2))) }",
            "fn f() { let async = 1; let dyn = async + 1; g(dyn); }",
            "fn f(async: bool, try: bool) -> u8 { if async { 1 } else if try { 2 } else { 3 } }",
            "fn f(try: u8) -> u8 { match try { 0 => { while await { try() } 1 } _ => 2 } }",
            "fn f(async: &S, b: Box<Fn(u8) + Send>) { for x in async { if async { g(x); } } async.await(1...2); }",
            "fn f(c: u8) -> bool { match c { b'a'...b'z' => true, 0...9 => false, _ => false } }",
            "unsafe trait T {} #[cfg(feature = \"nightly\")] unsafe impl T for .. {} unsafe impl T for u8 {}",
            "type Long = Box<for<'a> Fn(&'a u8) -> &'a u8 + Send>;",
        ] {
            assert!(
                parsed(text).is_ok(),
                "{text}: {:?}",
                parsed(text)
                    .err()
                    .map(|e| (e.to_string(), e.span().byte_range()))
            );
        }
    }

    /// Items are found whatever is in them, and the second edition's words in one of them make no other edition of the next.
    #[test]
    fn items_are_parsed_one_by_one() {
        let text = "#![allow(unused)] use a::b; const A: S = S {}; static B: Box<Fn(u8) + Send> = { c };
            fn f<T>(x: Box<Fn(T) + Send>) -> [u8; { 1 }] where A<{ N }>: B { g(x); }
            m! { a b } n!(c); struct U; struct V(Box<Fn() + Send>); extern { fn h(x: u8); } impl U { fn g(u8, Box<Fn() + Send>); }";
        let (file, edition) = parsed(text).unwrap();
        assert_eq!((file.items.len(), edition), (10, "2015"));
        assert_eq!(file.attrs.len(), 1);
        let many = "fn f(x: Box<Fn(u8) + Send>) { g::<Box<Fn() + Send>>(x); }\n".repeat(3000);
        assert_eq!(parsed(&many).unwrap().0.items.len(), 3000);
    }

    #[test]
    fn which_edition_it_is() {
        let edition = |text| parsed(text).ok().map(|(_, edition)| edition);
        assert_eq!(edition("type A = Box<Fn(u8) + Send>;"), Some("2018"));
        assert_eq!(edition("fn f() { let async = 1; }"), Some("2015"));
        assert_eq!(
            edition("fn f(async: bool) -> u8 { if async { 1 } else { 2 } }"),
            Some("2015")
        );
    }

    #[test]
    fn what_is_wrong_stays_wrong() {
        for text in [
            "fn f( {",
            "fn f() { let = 1; }",
            "struct S { a b }",
            "fn f() { 1 + }",
            "type A = + Send;",
            "fn f() { for .. {} }",
            "fn f() { if async { 1 } else }",
            "fn f() { async { let = 1; } }",
        ] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}
