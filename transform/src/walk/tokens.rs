//! Code without a tree: macro bodies and the arguments of macros that don't parse. Paths are found token by token.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::Attribute;
use syn::parse::Parser;

use super::Walker;
use crate::resolve::{Def, ItemKind, Ns, name};
use crate::support;

/// Words that a separate path can follow.
const KEYWORDS: &[&str] = &[
    "as", "break", "const", "dyn", "else", "for", "if", "impl", "in", "let", "match", "move",
    "mut", "ref", "return", "static", "unsafe", "use", "where", "while",
];

/// A run of `a::b::c` in a token stream.
struct TokenPath {
    leading: bool,
    segments: Vec<String>,
    spans: Vec<Range<usize>>,
}

impl Walker<'_> {
    /// Rewrites what can be recognized without a tree.
    pub(super) fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(hash) if hash.as_char() == '#' => {
                    if let Some(TokenTree::Group(group)) = tokens.get(at + 1)
                        && let [attr] = &attributes(&tokens[at..at + 2])[..]
                    {
                        self.attribute(attr);
                        self.tokens(group.stream());
                        at += 1;
                    }
                    at += 1;
                }
                TokenTree::Group(group) => {
                    self.tokens(group.stream());
                    at += 1;
                }
                _ => match path_at(&tokens, at) {
                    Some((path, end)) => {
                        self.token_path(&path, &tokens, at, end);
                        at = end;
                    }
                    None => at += 1,
                },
            }
        }
    }

    fn token_path(&mut self, path: &TokenPath, tokens: &[TokenTree], start: usize, end: usize) {
        let punct = |at: Option<usize>, wanted: char| {
            at.and_then(|at| tokens.get(at)).is_some_and(
                |token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted),
            )
        };
        let before = start.checked_sub(1);
        if let Some(TokenTree::Group(group)) = tokens.get(end)
            && group.delimiter() == Delimiter::Parenthesis
        {
            let last = path.segments.len() - 1;
            // Where the object is the first argument, the runtime sees the path's start.
            let start = path.spans[0].start;
            self.lone_in_tokens(&path.segments[last], start..path.spans[last].end);
        }
        if path.segments[0] == "$crate" {
            self.crate_keyword(path.spans[0].clone());
            let def = self.resolve(false, &path.segments, Ns::Value);
            return self.token_use(path, def);
        }
        if punct(before, '.') || punct(before, '$') || punct(before, '\'') {
            let call = matches!(tokens.get(end), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
            if punct(before, '.')
                && call
                && matches!(path.segments[0].as_str(), "spawn" | "spawn_scoped")
            {
                self.note_spawn(path.spans[0].start, false, None);
            }
            return;
        }
        if punct(Some(end), '!') && !punct(Some(end + 1), '=') {
            self.token_macro(path);
            if let (Some(TokenTree::Group(arguments)), "include_str" | "include_bytes") = (
                tokens.get(end + 1),
                path.segments[path.segments.len() - 1].as_str(),
            ) {
                self.included_data(arguments.stream());
            }
            return;
        }
        // `use std::{sync, thread}` has its further segments in a group; a complete path says more.
        let group = punct(Some(end), ':') && punct(Some(end + 1), ':');
        let single = path.segments.len() == 1;
        if single && !path.leading && !group {
            self.token_name(path);
            return;
        }
        self.root(path.leading, &path.segments, path.spans[0].clone());
        let def = self.check(path.leading, &path.segments, &path.spans, Ns::Value);
        self.token_use(path, def);
    }

    fn token_use(&mut self, path: &TokenPath, def: Option<Def>) {
        match def {
            Some(Def::Std(target)) => {
                let target: Vec<&str> = target.iter().map(String::as_str).collect();
                if let ["thread", "spawn"] = target[..] {
                    self.note_spawn(path.spans[0].start, false, None);
                }
            }
            Some(Def::Item(item)) => {
                if let ItemKind::StaticMut(_) = self.tables.items[item].kind {
                    self.refuse_static_in_macro(path.spans[0].clone());
                }
                self.note_calls(vec![item]);
            }
            _ => {}
        }
    }

    fn token_name(&mut self, path: &TokenPath) {
        match self.resolve(false, &path.segments, Ns::Value) {
            Some(def @ Def::Item(_)) => self.token_use(path, Some(def)),
            Some(Def::Std(_)) => {
                let def = self.check(false, &path.segments, &path.spans, Ns::Value);
                self.token_use(path, def);
            }
            _ => {}
        }
    }

    fn token_macro(&mut self, path: &TokenPath) {
        let range = path.spans[0].start..path.spans[path.spans.len() - 1].end;
        if let Some(macro_) = self.std_macro(path.leading, &path.segments) {
            if support::OVERRIDDEN_MACROS.contains(&macro_.as_str()) {
                // The `::` before the path stays.
                let leading = if path.leading { "" } else { "::" };
                let runtime = format!("{leading}seqz_runtime::{macro_}");
                self.edits().replace(range, runtime);
            }
        } else if let Some(item) = self.user_macro(path.leading, &path.segments) {
            self.note_calls(vec![item]);
        }
    }

    pub(super) fn refuse_static_in_macro(&mut self, range: Range<usize>) {
        let what = format!("`static mut {}` in a macro", self.text(range.clone()));
        self.refuse(
            range,
            what,
            "what the macro does with it can't be told from here, so its accesses could go unseen",
            "write the access outside of the macro, or use an atomic or a `Mutex`",
        );
    }
}

/// Returns the attributes that these tokens are.
fn attributes(tokens: &[TokenTree]) -> Vec<Attribute> {
    let stream: TokenStream = tokens.iter().cloned().collect();
    Attribute::parse_outer.parse2(stream).unwrap_or_default()
}

/// Returns the path that starts at a token, and the index after the path.
fn path_at(tokens: &[TokenTree], start: usize) -> Option<(TokenPath, usize)> {
    let colons = |at: usize| {
        matches!(
            (tokens.get(at), tokens.get(at + 1)),
            (Some(TokenTree::Punct(a)), Some(TokenTree::Punct(b))) if a.as_char() == ':' && b.as_char() == ':'
        )
    };
    let mut at = start;
    let leading = colons(at);
    let mut path = TokenPath {
        leading,
        segments: Vec::new(),
        spans: Vec::new(),
    };
    if leading {
        // `<T>::name` and `$crate::name` continue the tokens before.
        let attached = start
            .checked_sub(1)
            .is_some_and(|before| match &tokens[before] {
                TokenTree::Punct(punct) => punct.as_char() == '>',
                TokenTree::Ident(ident) => !KEYWORDS.contains(&ident.to_string().as_str()),
                TokenTree::Group(_) => true,
                TokenTree::Literal(_) => false,
            });
        if attached {
            return None;
        }
        at += 2;
    }
    let dollar = start.checked_sub(1).is_some_and(
        |before| matches!(&tokens[before], TokenTree::Punct(punct) if punct.as_char() == '$'),
    );
    while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
        let segment = name(ident);
        let crate_ = dollar && path.segments.is_empty() && segment == "crate";
        path.segments
            .push(if crate_ { "$crate".into() } else { segment });
        path.spans.push(ident.span().byte_range());
        at += 1;
        if colons(at) && matches!(tokens.get(at + 2), Some(TokenTree::Ident(_))) {
            at += 2;
        } else {
            break;
        }
    }
    (!path.segments.is_empty()).then_some((path, at))
}
