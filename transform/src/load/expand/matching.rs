//! Matches a call's arguments with the variables of a rule.

use proc_macro2::{Delimiter, Punct, Spacing, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, Item, Meta, Pat, Path, Type, Visibility};

use super::{Binding, Bindings, Matcher, Repetition, is_punct, repetition};

/// Returns the parts of a matcher.
pub(super) fn matchers(tokens: TokenStream) -> Option<Vec<Matcher>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut matchers = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at..] {
            [dollar, TokenTree::Group(group), after @ ..]
                if is_punct(dollar, '$') && group.delimiter() == Delimiter::Parenthesis =>
            {
                let (separator, operator, length) = repetition(after)?;
                matchers.push(Matcher::Repeated(Repetition {
                    of: self::matchers(group.stream())?,
                    separator,
                    operator,
                }));
                at += 2 + length;
            }
            [
                dollar,
                TokenTree::Ident(name),
                colon,
                TokenTree::Ident(kind),
                ..,
            ] if is_punct(dollar, '$') && is_punct(colon, ':') => {
                matchers.push(Matcher::Variable(name.to_string(), kind.to_string()));
                at += 4;
            }
            [TokenTree::Group(group), ..] => {
                let inside = self::matchers(group.stream())?;
                matchers.push(Matcher::Group(group.delimiter(), inside));
                at += 1;
            }
            [token, ..] => {
                matchers.push(Matcher::Token(token.clone()));
                at += 1;
            }
            [] => break,
        }
    }
    Some(matchers)
}

/// Returns the values of the variables, if the rule accepts these tokens.
pub(super) fn matched(matchers: &[Matcher], tokens: &[TokenTree]) -> Option<Bindings> {
    let mut bindings = Bindings::new();
    let used = sequence(matchers, tokens, &mut bindings)?;
    (used == tokens.len()).then_some(bindings)
}

/// Matches from the first token on; returns the number of tokens that the match takes.
fn sequence(matchers: &[Matcher], tokens: &[TokenTree], bindings: &mut Bindings) -> Option<usize> {
    let mut at = 0;
    for matcher in matchers {
        let rest = &tokens[at..];
        at += match matcher {
            Matcher::Token(wanted) => usize::from(same(wanted, rest.first()?)).checked_sub(1)? + 1,
            Matcher::Group(delimiter, inside) => match rest.first()? {
                TokenTree::Group(group) if group.delimiter() == *delimiter => {
                    bindings.extend(matched(inside, &tokens_of(group.stream()))?);
                    1
                }
                _ => return None,
            },
            Matcher::Variable(name, kind) => {
                let (length, found) = fragment(kind, rest)?;
                bindings.insert(name.clone(), Binding::One(found));
                length
            }
            Matcher::Repeated(repeated) => repeat(repeated, rest, bindings)?,
        };
    }
    Some(at)
}

/// Matches a repetition as often as possible.
fn repeat(
    repeated: &Repetition<Vec<Matcher>>,
    tokens: &[TokenTree],
    bindings: &mut Bindings,
) -> Option<usize> {
    let mut names = Vec::new();
    variables(&repeated.of, &mut names);
    let mut each: Vec<Bindings> = Vec::new();
    let mut at = 0;
    loop {
        let mut next = at;
        if !each.is_empty() {
            if repeated.operator == '?' {
                break;
            }
            let separator = &repeated.separator;
            let rest = &tokens[next..];
            if rest.len() < separator.len() || !separator.iter().zip(rest).all(|(a, b)| same(a, b))
            {
                break;
            }
            next += separator.len();
        }
        let mut found = Bindings::new();
        match sequence(&repeated.of, &tokens[next..], &mut found) {
            Some(length) if next + length > at => at = next + length,
            _ => break,
        }
        each.push(found);
    }
    if repeated.operator == '+' && each.is_empty() {
        return None;
    }
    for name in names {
        let all = each.iter().filter_map(|found| found.get(&name).cloned());
        let all = all.collect();
        bindings.insert(name, Binding::Each(all));
    }
    Some(at)
}

fn variables(matchers: &[Matcher], names: &mut Vec<String>) {
    for matcher in matchers {
        match matcher {
            Matcher::Variable(name, _) => names.push(name.clone()),
            Matcher::Group(_, inside) => variables(inside, names),
            Matcher::Repeated(repeated) => variables(&repeated.of, names),
            Matcher::Token(_) => {}
        }
    }
}

fn same(a: &TokenTree, b: &TokenTree) -> bool {
    match (a, b) {
        (TokenTree::Punct(a), TokenTree::Punct(b)) => a.as_char() == b.as_char(),
        (TokenTree::Ident(a), TokenTree::Ident(b)) => a == b,
        (TokenTree::Literal(a), TokenTree::Literal(b)) => a.to_string() == b.to_string(),
        _ => false,
    }
}

fn tokens_of(stream: TokenStream) -> Vec<TokenTree> {
    stream.into_iter().collect()
}

/// Matches a fragment of this kind: returns its number of tokens, and the tokens that stand for the fragment.
fn fragment(kind: &str, tokens: &[TokenTree]) -> Option<(usize, TokenStream)> {
    let first = || tokens.first();
    let length = match kind {
        "tt" => tree(tokens)?,
        "ident" => match first()? {
            TokenTree::Ident(word) if word != "_" => 1,
            _ => return None,
        },
        "lifetime" => match tokens {
            [quote, TokenTree::Ident(_), ..] if is_punct(quote, '\'') => 2,
            _ => return None,
        },
        "literal" => match tokens {
            [TokenTree::Literal(_), ..] => 1,
            [minus, TokenTree::Literal(_), ..] if is_punct(minus, '-') => 2,
            [TokenTree::Ident(word), ..] if word == "true" || word == "false" => 1,
            _ => return None,
        },
        "block" => match first()? {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => 1,
            _ => return None,
        },
        "expr" | "expr_2021" => parsed::<Expr>(tokens, Expr::parse)?,
        "ty" => parsed::<Type>(tokens, Type::parse)?,
        "path" => parsed::<Path>(tokens, Path::parse)?,
        "item" => parsed::<Item>(tokens, Item::parse)?,
        "meta" => parsed::<Meta>(tokens, Meta::parse)?,
        "vis" => parsed::<Visibility>(tokens, Visibility::parse)?,
        "pat" => parsed::<Pat>(tokens, Pat::parse_multi_with_leading_vert)?,
        "pat_param" => parsed::<Pat>(tokens, Pat::parse_single)?,
        "stmt" => statement(tokens)?,
        _ => return None,
    };
    let mut found = tokens[..length].to_vec();
    // A token after the fragment is no part of its last operator.
    if let Some(TokenTree::Punct(last)) = found.last_mut() {
        *last = Punct::new(last.as_char(), Spacing::Alone);
    }
    let found: TokenStream = found.into_iter().collect();
    // An expression stays one expression, whatever tokens it is put next to.
    let found = if kind.starts_with("expr") && length > 1 {
        TokenTree::Group(proc_macro2::Group::new(Delimiter::Parenthesis, found)).into()
    } else {
        found
    };
    Some((length, found))
}

/// Returns the number of tokens of a token tree: an operator may have several characters.
fn tree(tokens: &[TokenTree]) -> Option<usize> {
    const OPERATORS: &[&str] = &[
        "<<=", ">>=", "...", "..=", "::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "+=",
        "-=", "*=", "/=", "%=", "^=", "&=", "|=", "<<", ">>", "..",
    ];
    if let [quote, TokenTree::Ident(_), ..] = tokens
        && is_punct(quote, '\'')
    {
        return Some(2);
    }
    let puncts: String = tokens
        .iter()
        .take(3)
        .map_while(|token| match token {
            TokenTree::Punct(punct) => Some(punct.as_char()),
            _ => None,
        })
        .collect();
    let operator = OPERATORS
        .iter()
        .find(|operator| puncts.starts_with(**operator));
    (!tokens.is_empty()).then(|| operator.map_or(1, |operator| operator.len()))
}

/// Returns the number of tokens of a syntax node.
fn parsed<T>(tokens: &[TokenTree], parse: fn(ParseStream<'_>) -> syn::Result<T>) -> Option<usize> {
    let stream: TokenStream = tokens.iter().cloned().collect();
    let rest = |input: ParseStream<'_>| {
        parse(input)?;
        let rest: TokenStream = input.parse()?;
        Ok(rest.into_iter().count())
    };
    let rest = rest.parse2(stream).ok()?;
    tokens.len().checked_sub(rest)
}

/// Returns the number of tokens of a statement without its semicolon.
fn statement(tokens: &[TokenTree]) -> Option<usize> {
    let is_let = matches!(tokens.first(), Some(TokenTree::Ident(word)) if word == "let");
    if is_let {
        let end = tokens.iter().position(|token| is_punct(token, ';'));
        return Some(end.unwrap_or(tokens.len()));
    }
    parsed::<Item>(tokens, Item::parse).or_else(|| parsed::<Expr>(tokens, Expr::parse))
}
