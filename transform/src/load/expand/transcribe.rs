//! Writes the body of a rule with the values of its variables.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

use super::{Binding, Bindings, is_punct, repetition};

/// Returns the body, or `None` where the body isn't understood.
pub(super) fn transcribed(body: TokenStream, bindings: &Bindings) -> Option<TokenStream> {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let mut text = TokenStream::new();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at..] {
            [dollar, TokenTree::Ident(name), ..] if is_punct(dollar, '$') => {
                match bindings.get(&name.to_string()) {
                    Some(Binding::One(found)) => text.extend(found.clone()),
                    Some(Binding::Each(_)) => return None,
                    None if name == "crate" => {
                        text.extend([TokenTree::from(Ident::new("crate", name.span()))]);
                    }
                    // The variable is of a macro that this macro defines.
                    None => text.extend(tokens[at..at + 2].iter().cloned()),
                }
                at += 2;
            }
            [dollar, TokenTree::Group(group), after @ ..]
                if is_punct(dollar, '$') && group.delimiter() == Delimiter::Parenthesis =>
            {
                let (separator, _, length) = repetition(after)?;
                for number in 0..times(&group.stream(), bindings)? {
                    if number > 0 {
                        text.extend(separator.iter().cloned());
                    }
                    text.extend(transcribed(group.stream(), &one(bindings, number))?);
                }
                at += 2 + length;
            }
            [dollar, TokenTree::Group(_), ..] if is_punct(dollar, '$') => return None,
            [TokenTree::Group(group), ..] => {
                let inside = transcribed(group.stream(), bindings)?;
                text.extend([TokenTree::Group(Group::new(group.delimiter(), inside))]);
                at += 1;
            }
            [token, ..] => {
                text.extend([token.clone()]);
                at += 1;
            }
            [] => break,
        }
    }
    Some(text)
}

/// Returns the number of times that a repetition with this content is written: as often as its variables were found.
fn times(inside: &TokenStream, bindings: &Bindings) -> Option<usize> {
    let mut found = None;
    let mut dollar = false;
    for token in inside.clone() {
        let count = match &token {
            TokenTree::Ident(name) if dollar => match bindings.get(&name.to_string()) {
                Some(Binding::Each(all)) => Some(all.len()),
                _ => None,
            },
            TokenTree::Group(group) => times(&group.stream(), bindings),
            _ => None,
        };
        found = found.or(count);
        dollar = is_punct(&token, '$');
    }
    found
}

/// Returns the values of the variables in one of these times.
fn one(bindings: &Bindings, number: usize) -> Bindings {
    let of = |binding: &Binding| match binding {
        Binding::One(_) => Some(binding.clone()),
        Binding::Each(all) => all.get(number).cloned(),
    };
    let found = bindings.iter();
    found
        .filter_map(|(name, binding)| Some((name.clone(), of(binding)?)))
        .collect()
}
