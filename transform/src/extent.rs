//! Where the text of a syntax node begins and ends.
//!
//! The parser's own answer prints the node to tokens, which takes as long as the node is large: of a chain of calls, where each
//! call is a part of the next one, the square of that. Here the first and the last token are looked for instead.

use std::ops::Range;

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{Attribute, Block, Expr, Label, Lifetime, Path, PathArguments, RangeLimits};

/// Returns the bytes of a syntax node.
pub(crate) fn bytes(node: &impl Extent) -> Range<usize> {
    let (first, last) = node.ends();
    first.byte_range().start..last.byte_range().end
}

/// A syntax node with a text.
pub(crate) trait Extent {
    /// The spans of the first and of the last token.
    fn ends(&self) -> (Span, Span);
}

impl<T: Extent + ?Sized> Extent for &T {
    fn ends(&self) -> (Span, Span) {
        (**self).ends()
    }
}

impl Extent for Ident {
    fn ends(&self) -> (Span, Span) {
        (self.span(), self.span())
    }
}

impl Extent for Block {
    fn ends(&self) -> (Span, Span) {
        let braces = self.brace_token.span;
        (braces.open(), braces.close())
    }
}

impl Extent for Path {
    fn ends(&self) -> (Span, Span) {
        let (Some(first), Some(last)) = (self.segments.first(), self.segments.last()) else {
            return printed(self);
        };
        let end = match &last.arguments {
            PathArguments::None => last.ident.span(),
            PathArguments::AngleBracketed(arguments) => arguments.gt_token.spans[0],
            PathArguments::Parenthesized(_) => printed(last).1,
        };
        let colon = self.leading_colon.map(|colon| colon.spans[0]);
        (colon.unwrap_or_else(|| first.ident.span()), end)
    }
}

impl Extent for Expr {
    fn ends(&self) -> (Span, Span) {
        (first(self), last(self))
    }
}

/// Nodes that are small, or that no larger node of the kind is made of.
macro_rules! printed {
    ($($node:ty),* $(,)?) => {$(
        impl Extent for $node {
            fn ends(&self) -> (Span, Span) {
                printed(self)
            }
        }
    )*};
}

printed! {
    Attribute, Label, Lifetime, syn::ExprClosure, syn::ImplItemFn, syn::Item, syn::ItemFn, syn::ItemMacro, syn::ItemStatic,
    syn::Lit, syn::LitStr, syn::Local, syn::Macro, syn::Pat, syn::Stmt, syn::Type, syn::TypePath, syn::GenericArgument,
    syn::UseTree, syn::ItemUse, syn::PathSegment, syn::AngleBracketedGenericArguments, syn::Member, syn::ExprMacro,
    syn::Token![;], syn::Token![extern], syn::Token![while], syn::Token![loop], syn::Token![mut], syn::Token![static],
    syn::Token![for], syn::BinOp, syn::ItemImpl, syn::Visibility, syn::Signature, syn::FnArg, syn::ReturnType,
    syn::Token![=], syn::Token![unsafe], syn::ExprPath, syn::ExprLit, syn::ItemMod, proc_macro2::TokenTree, proc_macro2::Group, proc_macro2::TokenStream,
    proc_macro2::Literal,
}

impl Extent for syn::ExprMethodCall {
    fn ends(&self) -> (Span, Span) {
        let start = self.attrs.first().map(|attr| attr.pound_token.spans[0]);
        let start = start.unwrap_or_else(|| first(&self.receiver));
        (start, self.paren_token.span.close())
    }
}

impl Extent for syn::ExprCall {
    fn ends(&self) -> (Span, Span) {
        let start = self.attrs.first().map(|attr| attr.pound_token.spans[0]);
        let start = start.unwrap_or_else(|| first(&self.func));
        (start, self.paren_token.span.close())
    }
}

/// The ends of a node by its tokens.
fn printed(node: &impl Spanned) -> (Span, Span) {
    let span = node.span();
    (span, span)
}

fn first(expr: &Expr) -> Span {
    let mut expr = expr;
    loop {
        if let Some(attr) = attrs(expr).first() {
            return attr.pound_token.spans[0];
        }
        expr = match expr {
            Expr::Assign(it) => &it.left,
            Expr::Await(it) => &it.base,
            Expr::Binary(it) => &it.left,
            Expr::Call(it) => &it.func,
            Expr::Cast(it) => &it.expr,
            Expr::Field(it) => &it.base,
            Expr::Index(it) => &it.expr,
            Expr::MethodCall(it) => &it.receiver,
            Expr::Try(it) => &it.expr,
            Expr::Range(it) => match (&it.start, &it.limits) {
                (Some(start), _) => start,
                (None, RangeLimits::HalfOpen(dots)) => return dots.spans[0],
                (None, RangeLimits::Closed(dots)) => return dots.spans[0],
            },
            Expr::Array(it) => return it.bracket_token.span.open(),
            Expr::Async(it) => return it.async_token.span,
            Expr::Block(it) => {
                return labelled(it.label.as_ref(), it.block.brace_token.span.open());
            }
            Expr::ForLoop(it) => return labelled(it.label.as_ref(), it.for_token.span),
            Expr::Loop(it) => return labelled(it.label.as_ref(), it.loop_token.span),
            Expr::While(it) => return labelled(it.label.as_ref(), it.while_token.span),
            Expr::Break(it) => return it.break_token.span,
            Expr::Continue(it) => return it.continue_token.span,
            Expr::If(it) => return it.if_token.span,
            Expr::Let(it) => return it.let_token.span,
            Expr::Lit(it) => return it.lit.span(),
            Expr::Macro(it) => return it.mac.path.ends().0,
            Expr::Match(it) => return it.match_token.span,
            Expr::Paren(it) => return it.paren_token.span.open(),
            Expr::Path(it) => {
                return match &it.qself {
                    Some(own) => own.lt_token.spans[0],
                    None => it.path.ends().0,
                };
            }
            Expr::RawAddr(it) => return it.and_token.spans[0],
            Expr::Reference(it) => return it.and_token.spans[0],
            Expr::Repeat(it) => return it.bracket_token.span.open(),
            Expr::Return(it) => return it.return_token.span,
            Expr::Struct(it) if it.qself.is_none() => return it.path.ends().0,
            Expr::Tuple(it) => return it.paren_token.span.open(),
            Expr::Unary(it) => return it.op.span(),
            Expr::Unsafe(it) => return it.unsafe_token.span,
            other => return printed(other).0,
        };
    }
}

fn labelled(label: Option<&Label>, otherwise: Span) -> Span {
    label.map_or(otherwise, |label| label.name.apostrophe)
}

fn last(expr: &Expr) -> Span {
    let mut expr = expr;
    loop {
        expr = match expr {
            Expr::Assign(it) => &it.right,
            Expr::Binary(it) => &it.right,
            Expr::Closure(it) => &it.body,
            Expr::Let(it) => &it.expr,
            Expr::RawAddr(it) => &it.expr,
            Expr::Reference(it) => &it.expr,
            Expr::Unary(it) => &it.expr,
            Expr::If(it) => match &it.else_branch {
                Some((_, branch)) => branch,
                None => return it.then_branch.brace_token.span.close(),
            },
            Expr::Break(it) => match &it.expr {
                Some(value) => value,
                None => return printed(it).1,
            },
            Expr::Return(it) => match &it.expr {
                Some(value) => value,
                None => return it.return_token.span,
            },
            Expr::Range(it) => match &it.end {
                Some(end) => end,
                None => return printed(it).1,
            },
            Expr::Array(it) => return it.bracket_token.span.close(),
            Expr::Async(it) => return it.block.brace_token.span.close(),
            Expr::Await(it) => return it.await_token.span,
            Expr::Block(it) => return it.block.brace_token.span.close(),
            Expr::Call(it) => return it.paren_token.span.close(),
            Expr::Cast(it) => return printed(&it.ty).1,
            Expr::Field(it) => return printed(&it.member).1,
            Expr::ForLoop(it) => return it.body.brace_token.span.close(),
            Expr::Index(it) => return it.bracket_token.span.close(),
            Expr::Lit(it) => return it.lit.span(),
            Expr::Loop(it) => return it.body.brace_token.span.close(),
            Expr::Macro(it) => return it.mac.delimiter.span().close(),
            Expr::Match(it) => return it.brace_token.span.close(),
            Expr::MethodCall(it) => return it.paren_token.span.close(),
            Expr::Paren(it) => return it.paren_token.span.close(),
            Expr::Path(it) => return it.path.ends().1,
            Expr::Repeat(it) => return it.bracket_token.span.close(),
            Expr::Struct(it) => return it.brace_token.span.close(),
            Expr::Try(it) => return it.question_token.spans[0],
            Expr::Tuple(it) => return it.paren_token.span.close(),
            Expr::Unsafe(it) => return it.block.brace_token.span.close(),
            Expr::While(it) => return it.body.brace_token.span.close(),
            other => return printed(other).1,
        };
    }
}

/// The attributes of an expression of a kind that [`first`] looks into.
fn attrs(expr: &Expr) -> &[Attribute] {
    match expr {
        Expr::Array(it) => &it.attrs,
        Expr::Assign(it) => &it.attrs,
        Expr::Async(it) => &it.attrs,
        Expr::Await(it) => &it.attrs,
        Expr::Binary(it) => &it.attrs,
        Expr::Block(it) => &it.attrs,
        Expr::Break(it) => &it.attrs,
        Expr::Call(it) => &it.attrs,
        Expr::Cast(it) => &it.attrs,
        Expr::Continue(it) => &it.attrs,
        Expr::Field(it) => &it.attrs,
        Expr::ForLoop(it) => &it.attrs,
        Expr::If(it) => &it.attrs,
        Expr::Index(it) => &it.attrs,
        Expr::Let(it) => &it.attrs,
        Expr::Lit(it) => &it.attrs,
        Expr::Loop(it) => &it.attrs,
        Expr::Macro(it) => &it.attrs,
        Expr::Match(it) => &it.attrs,
        Expr::MethodCall(it) => &it.attrs,
        Expr::Paren(it) => &it.attrs,
        Expr::Path(it) => &it.attrs,
        Expr::Range(it) => &it.attrs,
        Expr::RawAddr(it) => &it.attrs,
        Expr::Reference(it) => &it.attrs,
        Expr::Repeat(it) => &it.attrs,
        Expr::Return(it) => &it.attrs,
        Expr::Struct(it) => &it.attrs,
        Expr::Try(it) => &it.attrs,
        Expr::Tuple(it) => &it.attrs,
        Expr::Unary(it) => &it.attrs,
        Expr::Unsafe(it) => &it.attrs,
        Expr::While(it) => &it.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use syn::visit::Visit;

    use super::*;

    /// Every kind of expression, with and without attributes.
    const TEXT: &str = r#"
        fn f() {
            let x = a.b(1).c::<u8>(2)?.d.0[3](4) as Vec<u8> + [1, 2][0] * -(5 - *&6) << !7;
            #[one] #[two] a.b();
            (#[one] a.b()).c();
            'a: for i in 0..10 { break 'a; }
            'b: loop { break 'b 1 + 2 }
            'c: while let Some(x) = y.z() { continue 'c }
            let y = if a { 1 } else if b { 2 } else { 3 } ;
            let z = if let A = b && c { d };
            match a { B => c.d(), E | F if g => {} _ => unsafe { h() } }
            x = y = z..=w;
            x = ..;
            x = a..;
            x += ..b;
            let c = move |a: u8, b| -> u8 { a + b };
            let c = |a| a.b + 1;
            let s = ::a::S { b: 1, c, ..d }.e;
            let s = S::<u8> { b };
            let q = <A as B>::c + <A>::D::<u8>;
            let r = &raw const x.y; let r = &raw mut x; let r = &mut x[1];
            let f = async move { a.await };
            vec![1, 2].len(); m!{}.n(); o::p!(1);
            let b = 'd: { break 'd };
            return;
            let t = (1, "two", 3.5).0.1;
            let t = [0; 4].len() as u8 as ::std::primitive::u16 ;
            let c = const { 1 };
            || return a.b;
        }
    "#;

    struct All(usize);

    impl<'ast> Visit<'ast> for All {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            let range = expr.span().byte_range();
            assert_eq!(bytes(expr), range, "{}", &TEXT[range.clone()]);
            self.0 += 1;
            syn::visit::visit_expr(self, expr);
        }

        fn visit_path(&mut self, path: &'ast Path) {
            assert_eq!(bytes(path), path.span().byte_range());
            syn::visit::visit_path(self, path);
        }
    }

    #[test]
    fn the_ends_are_those_of_the_tokens() {
        let file = syn::parse_file(TEXT).unwrap();
        let mut all = All(0);
        all.visit_file(&file);
        assert!(all.0 > 100, "{}", all.0);
    }
}
