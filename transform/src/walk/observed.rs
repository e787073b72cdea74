//! Reads of which the program uses less than the value: the value is compared with a constant, or dropped. Such reads
//! are marked for the runtime; `seqz_runtime::observe` says when a mark is believed.
//!
//! A mark goes around an operand that directly is a call of a method of atomics or a `static mut` of an integer type:
//! `x.load(o) as i64 > 3`, `-x.load(o) > 3` and `x.load(o) > y` are not marked. There are no other calls in the
//! operand, so a read in it can only be that of the method itself. If any function of the crate has the method's name,
//! the method may be the crate's own, and do more than read: then no read is marked.
//!
//! Of the macros, `assert!` and `debug_assert!` have a condition and no other values; an assertion that prints its
//! condition gets the text as the user wrote it. `assert_eq!` and `assert_ne!` are left alone: they put both values
//! into the message of their panic, where a thread that joins this thread can find them.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::{BinOp, Expr, Lit, Macro, Pat, Stmt, UnOp};

use super::exprs::expr_attributes;
use super::{Walker, bytes};
use crate::load::Crate;
use crate::resolve::{Def, ItemKind, Ns, ROOT, current_module, name};

/// The methods of atomics that read, with the number of their arguments. A method that makes several events is not
/// among them.
const READS: &[(&str, usize)] = &[
    ("load", 1),
    ("swap", 2),
    ("compare_and_swap", 3),
    ("fetch_add", 2),
    ("fetch_sub", 2),
    ("fetch_and", 2),
    ("fetch_nand", 2),
    ("fetch_or", 2),
    ("fetch_xor", 2),
    ("fetch_not", 1),
    ("fetch_max", 2),
    ("fetch_min", 2),
];

const EXCHANGES: &[(&str, usize)] = &[("compare_exchange", 4), ("compare_exchange_weak", 4)];

/// Returns the names of the crate's functions, including those in macros. `None` if a macro makes up names.
pub(super) fn function_names(program: &Crate) -> Option<HashSet<String>> {
    let mut names = HashSet::new();
    for file in &program.files {
        let tokens: TokenStream = file.source.text.as_str().parse().ok()?;
        collect(tokens, &mut names)?;
    }
    Some(names)
}

/// Returns the names of the crate's functions that are `const`.
pub(super) fn constant_names(program: &Crate) -> HashSet<String> {
    let mut names = HashSet::new();
    for file in &program.files {
        if let Ok(tokens) = file.source.text.as_str().parse() {
            collect_constants(tokens, &mut names);
        }
    }
    names
}

fn collect_constants(tokens: TokenStream, names: &mut HashSet<String>) {
    // `const`, perhaps `async`, `unsafe` and `extern "C"`, `fn`, and the name.
    let (mut is_const, mut is_fn) = (false, false);
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if is_const && is_fn => {
                names.insert(name(&ident));
                (is_const, is_fn) = (false, false);
            }
            TokenTree::Ident(ident) if ident == "const" => is_const = true,
            TokenTree::Ident(ident) if ident == "fn" => is_fn = is_const,
            TokenTree::Ident(ident)
                if ["async", "unsafe", "extern"].iter().any(|it| ident == it) => {}
            TokenTree::Literal(_) => {}
            TokenTree::Group(group) => {
                collect_constants(group.stream(), names);
                (is_const, is_fn) = (false, false);
            }
            _ => (is_const, is_fn) = (false, false),
        }
    }
}

fn collect(tokens: TokenStream, names: &mut HashSet<String>) -> Option<()> {
    let mut after_fn = false;
    for token in tokens {
        let is_name = std::mem::replace(&mut after_fn, false);
        match token {
            TokenTree::Ident(ident) if is_name => {
                names.insert(name(&ident));
            }
            TokenTree::Ident(ident) => after_fn = ident == "fn",
            TokenTree::Group(group) => {
                // `fn(…)` is a type.
                let parenthesis = group.delimiter() == proc_macro2::Delimiter::Parenthesis;
                if is_name && !parenthesis {
                    return None;
                }
                collect(group.stream(), names)?;
            }
            _ if is_name => return None,
            _ => {}
        }
    }
    Some(())
}

impl Walker<'_> {
    /// Marks the reads of an expression that tests their value. To be called before anything else in the expression is
    /// edited.
    pub(super) fn mark_tests(&mut self, expr: &Expr) {
        match expr {
            Expr::Binary(binary) => {
                let Some((function, flipped)) = comparison(&binary.op) else {
                    return;
                };
                if let Some(constant) = self.constant(&binary.right)
                    && self.is_read(&binary.left)
                {
                    self.mark(&binary.left, function, Some(&constant));
                } else if let Some(constant) = self.constant(&binary.left)
                    && self.is_read(&binary.right)
                {
                    self.mark(&binary.right, flipped, Some(&constant));
                }
            }
            Expr::MethodCall(call)
                if (call.method == "is_ok" || call.method == "is_err")
                    && call.args.is_empty()
                    && !self.is_own("is_ok")
                    && !self.is_own("is_err")
                    && self.is_call_of(&call.receiver, EXCHANGES) =>
            {
                self.mark(&call.receiver, "success", None);
            }
            _ => {}
        }
    }

    /// Marks a read whose value the statement drops.
    pub(super) fn mark_dropped(&mut self, stmt: &Stmt) {
        let dropped = match stmt {
            Stmt::Expr(expr, Some(_)) => expr,
            Stmt::Local(local) if matches!(local.pat, Pat::Wild(_)) => match &local.init {
                Some(init) if init.diverge.is_none() => &init.expr,
                _ => return,
            },
            _ => return,
        };
        if expr_attributes(dropped).is_empty()
            && (self.is_call_of(dropped, READS) || self.is_call_of(dropped, EXCHANGES))
        {
            self.mark(dropped, "dropped", None);
        }
    }

    /// Visits the condition of an assertion, which prints the condition if there is no message. The printed text is
    /// what the user wrote.
    pub(super) fn assertion(&mut self, condition: &Expr, mac: &Macro, trailing_comma: bool) {
        use syn::visit::Visit as _;

        let text = self.text(bytes(condition)).to_owned();
        if ["//", "/*", "$"].iter().any(|it| text.contains(it)) {
            // The text that rustc makes of comments is not guessed, nor the text that a macro fills in.
            self.unmarked += 1;
            self.visit_expr(condition);
            self.unmarked -= 1;
            return;
        }
        let (marks, edits) = (self.marks, self.edits().len());
        self.visit_expr(condition);
        // A constant is left as it is: what an assertion says in it must be known to the compiler.
        let is_edited = self.constant == 0 && self.edits().len() > edits;
        if is_edited || self.marks > marks {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let message = format!("assertion failed: {text}");
            let close = mac.delimiter.span().close().byte_range().start;
            let comma = if trailing_comma { " " } else { ", " };
            self.edits()
                .before(close, format!("{comma}\"{{}}\", {message:?}"));
        }
    }

    fn mark(&mut self, read: &Expr, function: &str, constant: Option<&str>) {
        if self.opaque > 0 || self.unmarked > 0 {
            return;
        }
        let range = bytes(read);
        // A part that a macro fills in may have calls of its own.
        if self.text(range.clone()).contains('$') {
            return;
        }
        self.marks += 1;
        let constant = constant.map_or_else(String::new, |constant| format!(", {constant}"));
        let end = format!("{constant}, ::seqz_runtime::observe::here())");
        self.edits()
            .before(range.start, format!("::seqz_runtime::observe::{function}("));
        self.edits().after(range.end, end, range.start);
    }

    fn is_own(&self, method: &str) -> bool {
        let names = self.function_names.as_ref();
        names.is_none_or(|names| names.contains(method))
    }

    /// Whether an operand is a read and nothing else.
    fn is_read(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(inner) => inner.attrs.is_empty() && self.is_read(&inner.expr),
            Expr::Path(_) => self
                .static_root(expr)
                .is_some_and(|item| self.is_integer_static(item)),
            _ => self.is_call_of(expr, READS),
        }
    }

    fn is_call_of(&self, expr: &Expr, methods: &[(&str, usize)]) -> bool {
        let Expr::MethodCall(call) = expr else {
            return false;
        };
        let method = name(&call.method);
        call.attrs.is_empty()
            && call.turbofish.is_none()
            && methods.contains(&(method.as_str(), call.args.len()))
            && !self.is_own(&method)
            && self.has_no_calls(&call.receiver)
            && call.args.iter().all(|arg| self.has_no_calls(arg))
    }

    /// Whether an expression calls nothing and reads no `static mut`; operators may be the program's own.
    fn has_no_calls(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(_) => true,
            Expr::Path(_) => self.static_root(expr).is_none(),
            Expr::Field(field) => self.has_no_calls(&field.base),
            Expr::Index(index) => self.has_no_calls(&index.expr) && self.has_no_calls(&index.index),
            Expr::Paren(inner) => self.has_no_calls(&inner.expr),
            Expr::Group(inner) => self.has_no_calls(&inner.expr),
            Expr::Unary(inner) => self.has_no_calls(&inner.expr),
            Expr::Reference(inner) => self.has_no_calls(&inner.expr),
            Expr::Cast(inner) => self.has_no_calls(&inner.expr),
            Expr::Binary(inner) => {
                self.has_no_calls(&inner.left) && self.has_no_calls(&inner.right)
            }
            _ => false,
        }
    }

    /// Returns the text of a constant of an integer type, as an `i128`.
    fn constant(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) if !matches!(number.suffix(), "f32" | "f64") => {
                    Some(number.base10_parse::<i128>().ok()?.to_string())
                }
                _ => None,
            },
            Expr::Paren(inner) => self.constant(&inner.expr),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Neg(_)) => match &*inner.expr {
                Expr::Lit(_) => Some(format!("-{}", self.constant(&inner.expr)?)),
                _ => None,
            },
            Expr::Path(path) if path.qself.is_none() && path.attrs.is_empty() => {
                self.constant_path(&path.path)
            }
            _ => None,
        }
    }

    fn constant_path(&self, path: &syn::Path) -> Option<String> {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|segment| name(&segment.ident))
            .collect();
        let leading = path.leading_colon.is_some();
        let text = || Some(format!("{} as i128", self.text(bytes(path))));
        let plain = path
            .segments
            .iter()
            .all(|segment| segment.arguments.is_none());
        if let [ty, "MAX" | "MIN"] = &segments.iter().map(String::as_str).collect::<Vec<_>>()[..]
            && is_integer(ty)
            && !leading
            && self.resolve(false, &segments[..1], Ns::Type).is_none()
        {
            return text();
        }
        if segments[0] == "crate" && self.tables.crate_root(current_module(&self.ribs)) != ROOT {
            return None;
        }
        match self.resolve(leading, &segments, Ns::Value)? {
            Def::Item(item) if plain => match &self.tables.items[item].kind {
                ItemKind::Const(item) if self.is_integer_type(&item.ty) => text(),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether the name is that of an integer type that atomics have.
pub(super) fn is_integer(name: &str) -> bool {
    matches!(
        name,
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize"
    )
}

/// Returns the mark of a comparison whose left operand is the read, and that of one whose right operand is.
fn comparison(op: &BinOp) -> Option<(&'static str, &'static str)> {
    Some(match op {
        BinOp::Eq(_) => ("eq", "eq"),
        BinOp::Ne(_) => ("ne", "ne"),
        BinOp::Lt(_) => ("lt", "gt"),
        BinOp::Le(_) => ("le", "ge"),
        BinOp::Gt(_) => ("gt", "lt"),
        BinOp::Ge(_) => ("ge", "le"),
        _ => return None,
    })
}
