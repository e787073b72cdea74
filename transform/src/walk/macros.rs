//! Macros: the arguments of std's macros that hold expressions are read like other code, those of other macros as far
//! as their tokens tell.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{
    Attribute, Block, Expr, ExprLit, ItemMacro, Lit, LitStr, Macro, Pat, Stmt, Token, Type,
    Visibility,
};

use super::{Walker, bytes};
use crate::resolve::{Def, ItemId, Ns, name};
use crate::support;

/// For a known macro of std, returns the number of expressions before the format string.
fn leading_expressions(macro_: &str) -> Option<usize> {
    Some(match macro_ {
        "print" | "println" | "eprint" | "eprintln" | "format" | "format_args" | "panic"
        | "todo" | "unimplemented" | "unreachable" => 0,
        "assert" | "debug_assert" | "write" | "writeln" => 1,
        "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => 2,
        _ => return None,
    })
}

/// Further macros of the prelude.
const OTHERS: &[&str] = &[
    "cfg",
    "column",
    "compile_error",
    "concat",
    "dbg",
    "env",
    "file",
    "include",
    "include_bytes",
    "include_str",
    "line",
    "matches",
    "module_path",
    "option_env",
    "stringify",
    "thread_local",
    "vec",
];

/// An argument, possibly named as in `format!("{a}", a = 1)`.
struct Argument {
    name: Option<Ident>,
    expr: Expr,
}

impl Walker<'_> {
    /// Returns the name of std's macro that a path means.
    pub(super) fn std_macro(&self, leading: bool, segments: &[String]) -> Option<String> {
        let last = segments.last()?;
        if segments.len() == 1 && !leading {
            if self.macros.iter().any(|(name, _)| name == last) {
                return None;
            }
            return match self.resolve(false, segments, Ns::Macro) {
                Some(Def::Std(path)) => path.last().cloned(),
                Some(_) => None,
                None => {
                    let known =
                        leading_expressions(last).is_some() || OTHERS.contains(&last.as_str());
                    known.then(|| last.clone())
                }
            };
        }
        match self.resolve(leading, segments, Ns::Macro)? {
            Def::Std(path) => path.last().cloned(),
            _ => None,
        }
    }

    /// Returns the crate's own macro that a path means.
    pub(super) fn user_macro(&self, leading: bool, segments: &[String]) -> Option<ItemId> {
        if let [only] = segments
            && let Some((_, item)) = self.macros.iter().rev().find(|(name, _)| name == only)
        {
            return Some(*item);
        }
        match self.resolve(leading, segments, Ns::Macro)? {
            Def::Item(item) => Some(item),
            _ => None,
        }
    }

    pub(super) fn item_macro(&mut self, item: &ItemMacro) {
        item.attrs
            .iter()
            .for_each(|attr| self.visit_attribute(attr));
        match &item.ident {
            Some(ident) => self.macro_definition(ident, item.mac.tokens.clone()),
            None => {
                self.macro_call(&item.mac);
                let program = self.program;
                if let Some((part, items)) = program.part(self.file, item) {
                    self.widen(item.mac.tokens.clone());
                    let file = std::mem::replace(&mut self.file, part);
                    items.iter().for_each(|item| self.visit_item(item));
                    self.file = file;
                }
            }
        }
    }

    fn macro_definition(&mut self, ident: &Ident, rules: TokenStream) {
        let definition = range_of(&rules);
        self.macro_rules(ident, rules);
        if let (true, Some(definition)) = (self.program.package.is_dependency, definition) {
            let program = self.program;
            let text = program.files[self.file].source.text.as_str();
            self.edits().lead_through_crate(text, &definition);
        }
    }

    fn macro_rules(&mut self, ident: &Ident, rules: TokenStream) {
        let Some(item) = self.item_at(ident) else {
            return;
        };
        self.macros.push((name(ident), item));
        self.functions.push(item);
        self.unsure += 1;
        let outer = std::mem::replace(&mut self.in_macro, true);
        self.constant += 1;
        let mut after_arrow = false;
        let mut last = ' ';
        for token in rules {
            match token {
                TokenTree::Punct(punct) => {
                    after_arrow = last == '=' && punct.as_char() == '>';
                    last = punct.as_char();
                }
                TokenTree::Group(body) if after_arrow => {
                    after_arrow = false;
                    self.widen(body.stream());
                    match substituted(body.stream())
                        .and_then(|body| Block::parse_within.parse2(body).ok())
                    {
                        Some(stmts) => self.block(&Block {
                            brace_token: Default::default(),
                            stmts,
                        }),
                        None => self.tokens(body.stream()),
                    }
                }
                _ => {}
            }
        }
        self.unsure -= 1;
        self.constant -= 1;
        self.in_macro = outer;
        self.functions.pop();
    }

    pub(super) fn macro_call(&mut self, mac: &Macro) {
        let segments: Vec<String> = mac
            .path
            .segments
            .iter()
            .map(|segment| name(&segment.ident))
            .collect();
        let leading = mac.path.leading_colon.is_some();
        let Some(macro_) = self.std_macro(leading, &segments) else {
            if segments.len() > 1 && self.tables.library_is_hidden() {
                let first = bytes(&mac.path.segments[0].ident);
                let crate_ = self
                    .tables
                    .root_crate(&self.ribs, leading, &segments[0], false);
                if let Some(library @ Def::Module(_)) = crate_ {
                    self.rewrite_root(leading, &segments[0], &library, first, true);
                }
            }
            if let Some(item) = self.user_macro(leading, &segments) {
                self.note_calls(vec![item]);
                self.looks |= self.looking_macros.contains(&self.tables.items[item].name);
                // Accesses in the macro's own text are reported at the call.
                let (start, end) = (
                    bytes(&mac.path).start,
                    mac.delimiter.span().close().byte_range().end,
                );
                self.named_site(start, format!("{}!", segments.join("::")), start..end);
            } else if let Some(Def::Extern(path)) = self.resolve(leading, &segments, Ns::Macro) {
                self.refuse_crate(&path[0], bytes(&mac.path));
            }
            return self.opaque_arguments(mac.tokens.clone());
        };
        if support::OVERRIDDEN_MACROS.contains(&macro_.as_str()) {
            self.edits()
                .replace(bytes(&mac.path), format!("::seqz_runtime::{macro_}"));
        }
        let understood = match macro_.as_str() {
            "cfg" => {
                self.enable_test(mac.tokens.clone());
                Some(())
            }
            "column" => {
                self.column_macro(mac);
                Some(())
            }
            "file" => {
                self.file_macro(mac);
                Some(())
            }
            "matches" => self.matches_macro(mac),
            "vec" => self.vec_macro(mac),
            "dbg" => self.arguments(mac, usize::MAX),
            "thread_local" => self.thread_local_macro(mac),
            "addr_of" | "addr_of_mut" => {
                self.looks = true;
                self.address_macro(mac)
            }
            "include" if self.part_moved(mac) => Some(()),
            "include" if self.program.package.is_dependency => {
                self.unfollowed(bytes(&mac.path), crate::sharing::MADE);
                Some(())
            }
            "include" if is_made_by_the_build(mac) => {
                self.opaque_arguments(mac.tokens.clone());
                self.unfollowed(bytes(mac), "code that `include!` takes from the build");
                Some(())
            }
            "include" => {
                let help = "make the file a module, with `#[path = \"…\"] mod name;` where it needs another name";
                self.refuse(
                    bytes(&mac.path),
                    "`include!`",
                    "the code in the included file isn't seen",
                    help,
                );
                Some(())
            }
            "include_str" | "include_bytes" => {
                self.included_data(mac.tokens.clone());
                Some(())
            }
            "assert" | "debug_assert" => self.assert_macro(mac),
            other => leading_expressions(other).and_then(|leading| self.arguments(mac, leading)),
        };
        if understood.is_none() {
            self.opaque_arguments(mac.tokens.clone());
        }
    }

    /// Visits arguments that are expressions; the argument at `format` is a format string.
    fn arguments(&mut self, mac: &Macro, format: usize) -> Option<()> {
        let arguments = Punctuated::<Argument, Token![,]>::parse_terminated
            .parse2(mac.tokens.clone())
            .ok()?;
        if let Some(Argument {
            name: None,
            expr:
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }),
        }) = arguments.iter().nth(format)
        {
            self.note_format(&text.value());
            let named: Vec<String> = arguments
                .iter()
                .filter_map(|argument| argument.name.as_ref())
                .map(name)
                .collect();
            self.captures(text, &named, mac, arguments.trailing_punct());
        }
        arguments
            .iter()
            .for_each(|argument| self.visit_expr(&argument.expr));
        Some(())
    }

    fn assert_macro(&mut self, mac: &Macro) -> Option<()> {
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated
            .parse2(mac.tokens.clone())
            .ok();
        match arguments {
            Some(arguments) if arguments.len() == 1 => {
                self.assertion(&arguments[0], mac, arguments.trailing_punct());
                Some(())
            }
            _ => self.arguments(mac, 1),
        }
    }

    /// Turns a `static mut` that a format string captures into a named argument.
    fn captures(&mut self, text: &LitStr, named: &[String], mac: &Macro, trailing_comma: bool) {
        let mut comma = trailing_comma;
        for capture in captured_names(&text.value()) {
            let Ok(path) = syn::parse_str::<syn::Path>(&capture) else {
                continue;
            };
            let Some(item) = self.static_mut_of(&path) else {
                continue;
            };
            if named.contains(&capture) {
                continue;
            }
            let read = self.read_of(item, &capture);
            let comma = if std::mem::take(&mut comma) { "" } else { ", " };
            let close = mac.delimiter.span().close().byte_range().start;
            let at = bytes(text).start;
            self.edits()
                .before(close, format!("{comma}{capture} = {read}"));
            self.named_site(at, capture.clone(), bytes(&mac.path).start..close + 1);
        }
    }

    fn matches_macro(&mut self, mac: &Macro) -> Option<()> {
        let parse = |input: ParseStream<'_>| {
            let expr: Expr = input.parse()?;
            input.parse::<Token![,]>()?;
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            let guard = if input.parse::<Option<Token![if]>>()?.is_some() {
                Some(input.parse::<Expr>()?)
            } else {
                None
            };
            input.parse::<Option<Token![,]>>()?;
            Ok((expr, pattern, guard))
        };
        let (expr, pattern, guard) = parse.parse2(mac.tokens.clone()).ok()?;
        self.visit_expr(&expr);
        self.with_variables(|walker| {
            walker.bind(&pattern);
            walker.visit_pat(&pattern);
            if let Some(guard) = &guard {
                walker.visit_expr(guard);
            }
        });
        Some(())
    }

    fn vec_macro(&mut self, mac: &Macro) -> Option<()> {
        let repeat = |input: ParseStream<'_>| {
            let element: Expr = input.parse()?;
            input.parse::<Token![;]>()?;
            let length: Expr = input.parse()?;
            Ok([element, length])
        };
        match repeat.parse2(mac.tokens.clone()) {
            Ok(parts) => parts.iter().for_each(|part| self.visit_expr(part)),
            Err(_) => self.arguments(mac, usize::MAX)?,
        }
        Some(())
    }

    fn thread_local_macro(&mut self, mac: &Macro) -> Option<()> {
        let parse = |input: ParseStream<'_>| {
            let mut all: Vec<(Vec<Attribute>, Type, Expr)> = Vec::new();
            while !input.is_empty() {
                let attrs = input.call(Attribute::parse_outer)?;
                input.parse::<Visibility>()?;
                input.parse::<Token![static]>()?;
                input.call(Ident::parse_any)?;
                input.parse::<Token![:]>()?;
                let ty = input.parse()?;
                input.parse::<Token![=]>()?;
                all.push((attrs, ty, input.parse()?));
                if !input.is_empty() {
                    input.parse::<Token![;]>()?;
                }
            }
            Ok(all)
        };
        let all = parse.parse2(mac.tokens.clone()).ok()?;
        for (attrs, ty, expr) in &all {
            attrs.iter().for_each(|attr| self.visit_attribute(attr));
            self.visit_type(ty);
            self.visit_expr(expr);
        }
        Some(())
    }

    fn address_macro(&mut self, mac: &Macro) -> Option<()> {
        let place: Expr = syn::parse2(mac.tokens.clone()).ok()?;
        if let Some(item) = self.static_root(&place) {
            let range = bytes(&mac.path).start..mac.delimiter.span().close().byte_range().end;
            if self.opaque > 0 {
                self.refuse_static_in_macro(range);
                return Some(());
            }
            let is_mut = mac
                .path
                .segments
                .last()
                .is_some_and(|it| it.ident == "addr_of_mut");
            self.static_address(item, &place, is_mut, range);
        } else {
            self.used(&place, super::raw::Use::Untouched);
            self.visit_expr(&place);
        }
        Some(())
    }

    /// Handles the path of an included file that is part of the program; returns whether the path was changed to the
    /// file's path in the generated crate.
    fn part_moved(&mut self, mac: &Macro) -> bool {
        let Ok(path) = syn::parse2::<LitStr>(mac.tokens.clone()) else {
            return false;
        };
        let range = bytes(&path);
        let Some(moved) = self.program.paths.get(&(self.file, range.start)) else {
            return false;
        };
        let moved = format!("{moved:?}");
        self.edits().replace(range, moved);
        true
    }

    /// Makes a path relative to the user's file absolute, since the generated file is in another directory.
    pub(super) fn included_data(&mut self, arguments: TokenStream) {
        let Ok(path) = syn::parse2::<LitStr>(arguments) else {
            return;
        };
        // The package of a dependency is copied as a whole.
        if self.program.package.is_dependency {
            return;
        }
        let file = &self.program.files[self.file].source.path;
        let target = file.parent().unwrap_or(file).join(path.value());
        if let Ok(target) = target.canonicalize() {
            self.edits()
                .replace(bytes(&path), format!("{:?}", target.display().to_string()));
        }
    }

    /// Visits arguments of a macro that may do anything with them.
    fn opaque_arguments(&mut self, tokens: TokenStream) {
        self.opaque += 1;
        self.note_words(tokens.clone());
        let list = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone());
        match list {
            Ok(list) => list.iter().for_each(|expr| self.visit_expr(expr)),
            Err(_) => match Block::parse_within.parse2(tokens.clone()) {
                Ok(stmts) if !stmts.iter().any(|stmt| matches!(stmt, Stmt::Item(_))) => {
                    self.block(&Block {
                        brace_token: Default::default(),
                        stmts,
                    });
                }
                _ => self.tokens(tokens),
            },
        }
        self.opaque -= 1;
    }
}

impl syn::parse::Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let named =
            input.peek(syn::Ident::peek_any) && input.peek2(Token![=]) && !input.peek2(Token![==]);
        let name = if named {
            Some(input.call(Ident::parse_any)?)
        } else {
            None
        };
        if named {
            input.parse::<Token![=]>()?;
        }
        Ok(Argument {
            name,
            expr: input.parse()?,
        })
    }
}

/// Returns the body of a macro rule as plain code, with each `$name` as an identifier. `None` if the body has a
/// repetition.
fn substituted(body: TokenStream) -> Option<TokenStream> {
    let mut tokens = body.into_iter().peekable();
    let mut plain = Vec::new();
    while let Some(token) = tokens.next() {
        plain.push(match token {
            TokenTree::Punct(punct) if punct.as_char() == '$' => match tokens.next()? {
                TokenTree::Ident(ident) => {
                    let span = punct.span().join(ident.span()).unwrap_or(ident.span());
                    if ident == "crate" {
                        TokenTree::Ident(Ident::new("crate", span))
                    } else {
                        TokenTree::Ident(Ident::new(&format!("seqz_{}", ident.unraw()), span))
                    }
                }
                _ => return None,
            },
            TokenTree::Group(group) => {
                let mut inner =
                    proc_macro2::Group::new(group.delimiter(), substituted(group.stream())?);
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            other => other,
        });
    }
    Some(plain.into_iter().collect())
}

/// Returns what is between the braces of each argument of a format string: which one it is, and how it is printed.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find('{')? + 1..];
            if let Some(escaped) = rest.strip_prefix('{') {
                rest = escaped;
                continue;
            }
            let close = rest.find('}')?;
            let inside = &rest[..close];
            rest = &rest[close + 1..];
            return Some(inside);
        }
    })
}

/// Returns the variables that a format string captures, including those in widths and precisions.
fn captured_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |candidate: &str| {
        let starts = candidate
            .chars()
            .next()
            .is_some_and(|c| c.is_alphabetic() || c == '_');
        if starts
            && candidate.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !names.contains(&candidate.to_string())
        {
            names.push(candidate.to_string());
        }
    };
    for placeholder in placeholders(text) {
        let (argument, spec) = placeholder.split_once(':').unwrap_or((placeholder, ""));
        add(argument.trim());
        for (end, _) in spec.match_indices('$') {
            let start = spec[..end]
                .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
                .map_or(0, |at| at + 1);
            add(&spec[start..end]);
        }
    }
    names
}

/// Whether an `include!` takes a file whose path the build tells: what is in it can't be seen before.
fn is_made_by_the_build(mac: &Macro) -> bool {
    fn asks(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(word) => word == "env",
            TokenTree::Group(group) => asks(group.stream()),
            _ => false,
        })
    }
    asks(mac.tokens.clone())
}

/// Returns the range from the first of these tokens to the last one.
fn range_of(tokens: &TokenStream) -> Option<std::ops::Range<usize>> {
    let mut tokens = tokens.clone().into_iter();
    let first = tokens.next()?.span().byte_range();
    let last = tokens
        .last()
        .map_or(first.end, |it| it.span().byte_range().end);
    Some(first.start..last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures() {
        assert_eq!(
            captured_names("{X} {{no}} {Y:?} {:>WIDTH$.PREC$} {0} {} {X}"),
            ["X", "Y", "WIDTH", "PREC"]
        );
    }

    #[test]
    fn substitution_gives_up_on_repetitions() {
        let body = |text: &str| substituted(text.parse().unwrap()).map(|tokens| tokens.to_string());
        assert!(body("$x . lock ()").is_some());
        assert!(body("$($x),*").is_none());
    }
}
