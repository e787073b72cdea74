//! Accesses of `unsafe` code to memory: beside each one that the source shows, a call tells the runtime of it.
//!
//! Types are not known here, and need not be: an access through a reference is as true as one through a raw pointer. An
//! access is a *place* that begins with a dereference, `(*pointer).field[index]`, and whether it is read or written goes
//! by what stands around it. The text is edited so that the place stays a place, with the same type, and that what can
//! be moved out of it still can:
//!
//! - a pointer that an expression computes is bound once: `*(match f() { p => { reads(&raw const *p); p } })`;
//! - a pointer in a variable is named twice, in front of the value or in front of the place.
//!
//! Only the scheduled machine checks accesses, so nothing is edited for the sequential program.

use std::ops::Range;

use syn::{BinOp, Block, Expr, ExprCall, ExprMethodCall, Lit, Pat, Stmt, UnOp};

use super::exprs::single_name;
use super::places::{changes, plain_operator};
use super::{Walker, bytes};
use crate::options::Mode;
use crate::resolve::{Def, Ns, name};
use crate::unsafe_code::OF_PTR;

/// The variable to which a computed pointer is bound.
const BOUND: &str = "seqz_pointer";

/// Methods of pointers that give a reference to what is behind them.
const BORROWING: &[&str] = &["as_ref", "as_ref_unchecked"];

/// Methods of pointers that read what is behind them.
const READING: &[&str] = &["read", "read_unaligned", "read_volatile"];

/// Methods of pointers that write what is behind them, or give a reference that can, with their numbers of arguments.
const WRITING: &[(&str, usize)] = &[
    ("as_mut", 0),
    ("as_mut_unchecked", 0),
    ("drop_in_place", 0),
    ("replace", 1),
    ("write", 1),
    ("write_unaligned", 1),
    ("write_volatile", 1),
];

/// How an expression is used by what stands around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Its value is taken: copied, or moved.
    Value,
    /// It is written, or borrowed so that it can be.
    Written,
    /// It is not accessed here: only its address is taken, or the access is told of elsewhere.
    Untouched,
}

/// What is told of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Reads,
    Writes,
    /// A reference is made, through which the place may be read, as far as it can't change.
    Borrows,
}

/// A place that begins with a dereference.
struct Dereferenced {
    /// The text of the place before and after the pointer.
    around: (String, String),
    /// The text of what the first index is taken of, before and after the pointer.
    container: Option<(String, String)>,
    /// The type of the runtime that tells of a reference to the place.
    borrowed: &'static str,
}

impl Walker<'_> {
    /// Whether accesses are told of here.
    fn tells_of_accesses(&self) -> bool {
        self.in_unsafe
            && self.mode != Mode::Sequential
            && self.opaque == 0
            && self.constant == 0
            && !self.in_macro
    }

    /// Notes how the parts of this expression are used.
    pub(super) fn note_uses(&mut self, expr: &Expr) {
        if !self.tells_of_accesses() {
            return;
        }
        match expr {
            Expr::Call(call) => {
                // What is called may be moved out of a box, which must be seen to be one: it is told of in front of the call.
                self.used(&call.func, Use::Untouched);
                call.args.iter().for_each(|arg| self.used(arg, Use::Value));
            }
            Expr::MethodCall(call) => {
                call.args.iter().for_each(|arg| self.used(arg, Use::Value));
            }
            Expr::Return(it) => it.expr.iter().for_each(|it| self.used(it, Use::Value)),
            Expr::Break(it) => it.expr.iter().for_each(|it| self.used(it, Use::Value)),
            Expr::Struct(it) => {
                for field in &it.fields {
                    self.used(&field.expr, Use::Value);
                }
            }
            Expr::Tuple(it) => it.elems.iter().for_each(|it| self.used(it, Use::Value)),
            Expr::Array(it) => it.elems.iter().for_each(|it| self.used(it, Use::Value)),
            Expr::Closure(it) => self.used(&it.body, Use::Value),
            Expr::Assign(it) => {
                self.used(&it.left, Use::Written);
                self.used(&it.right, Use::Value);
            }
            Expr::Binary(it) if is_assigning(&it.op) => self.used(&it.left, Use::Written),
            Expr::Reference(it) if it.mutability.is_some() => self.used(&it.expr, Use::Written),
            Expr::RawAddr(it) => self.used(&it.expr, Use::Untouched),
            Expr::Match(it) => {
                let patterns = it.arms.iter().map(|arm| &arm.pat);
                self.note_matched(&it.expr, patterns);
            }
            Expr::Let(it) => self.note_matched(&it.expr, std::iter::once(&*it.pat)),
            _ => {}
        }
    }

    /// Notes that an expression is matched against patterns: what these move out of it may be moved, so it is left as it
    /// is.
    fn note_matched<'p>(&mut self, expr: &Expr, mut patterns: impl Iterator<Item = &'p Pat>) {
        let pointer = dereferenced(expr).map(|(pointer, _)| pointer);
        if pointer.is_some_and(|pointer| self.is_named(pointer)) && patterns.any(takes) {
            self.used(expr, Use::Untouched);
        }
    }

    /// Notes how the initial value of a variable is used.
    pub(super) fn note_initial(&mut self, pattern: &Pat, value: &Expr) {
        if !self.tells_of_accesses() {
        } else if matches!(pattern, Pat::Wild(_)) {
            self.used(value, Use::Untouched);
        } else if single_name(pattern).is_some() && !takes_by_reference(pattern) {
            self.used(value, Use::Value);
        } else {
            self.note_matched(value, std::iter::once(pattern));
        }
    }

    /// Notes that the value of a block's last expression is taken.
    pub(super) fn note_last(&mut self, block: &Block) {
        if let Some(Stmt::Expr(last, None)) = block.stmts.last() {
            self.used(last, Use::Value);
        }
    }

    /// Notes how an expression is used that is going to be visited.
    pub(super) fn used(&mut self, expr: &Expr, how: Use) {
        if self.tells_of_accesses() && dereferenced(expr).is_some() {
            let at = bytes(expr);
            self.uses.insert((at.start, at.end), how);
        }
    }

    /// Tells the runtime of the access that this expression is, if it is one. Only its text is edited; its parts are to
    /// be visited.
    pub(super) fn tell_of_access(&mut self, expr: &Expr) {
        if !self.tells_of_accesses() {
            return;
        }
        match expr {
            Expr::MethodCall(call) => {
                self.tell_of_receiver(call);
                return self.tell_of_pointer(call);
            }
            Expr::Call(call) => {
                self.tell_of_called(call);
                return self.tell_of_owner(call);
            }
            _ => {}
        }
        let Some((pointer, _)) = dereferenced(expr) else {
            return;
        };
        // Parts of the place are places, too.
        self.skip_parts(expr);
        let whole = bytes(expr);
        let how = self.uses.remove(&(whole.start, whole.end));
        if how == Some(Use::Untouched) {
            return;
        }
        let Some(place) = self.place_of(expr) else {
            return;
        };
        let access = match how {
            Some(Use::Written) => Access::Writes,
            Some(Use::Value) => Access::Reads,
            _ => Access::Borrows,
        };
        let at = bytes(pointer);
        if self.is_named(pointer) {
            let told = place.told(access, self.text(at.clone()));
            if how == Some(Use::Value) {
                // The value of a block is lent anew where it is a reference, as it is without the block.
                self.edits().before(whole.start, format!("{{ {told}; "));
                self.edits().after(whole.end, " }", whole.start);
            } else {
                self.edits()
                    .before(at.start, format!("(*({told}, (&raw const "));
                self.edits().after(at.end, ").cast_mut()).1)", at.start);
            }
        } else if is_computed(pointer) {
            let told = place.told(access, BOUND);
            self.edits().before(at.start, "(match ");
            let end = format!(" {{ {BOUND} => {{ {told}; {BOUND} }} }})");
            self.edits().after(at.end, end, at.start);
        }
    }

    /// Tells of the access to what a method is called on. Where a variable has the pointer, that is done in front of the
    /// call: the method may take the place itself.
    fn tell_of_receiver(&mut self, call: &ExprMethodCall) {
        let Some((pointer, _)) = dereferenced(&call.receiver) else {
            return;
        };
        let writes = changes(&name(&call.method));
        if self.is_named(pointer)
            && let Some(place) = self.place_of(&call.receiver)
        {
            let access = if writes {
                Access::Writes
            } else {
                Access::Borrows
            };
            let told = place.told(access, self.text(bytes(pointer)));
            let (start, end) = (bytes(call).start, bytes(call).end);
            self.edits().before(start, format!("({told}, "));
            self.edits().after(end, ").1", start);
            self.used(&call.receiver, Use::Untouched);
        } else if writes {
            self.used(&call.receiver, Use::Written);
        }
    }

    /// Tells of the access that a method makes behind the pointer that it is called on, if it is called on one.
    fn tell_of_pointer(&mut self, call: &ExprMethodCall) {
        let (method, arguments) = (name(&call.method), call.args.len());
        let verb = if arguments == 0 && READING.contains(&method.as_str()) {
            "reads"
        } else if arguments == 0 && BORROWING.contains(&method.as_str()) {
            "borrows"
        } else if WRITING.contains(&(method.as_str(), arguments)) {
            "writes"
        } else {
            return;
        };
        let told = |pointer: &str| format!("::seqz_runtime::raw::Receiver(&{pointer}).{verb}()");
        let receiver = bytes(&*call.receiver);
        let text = self.text(receiver.clone());
        if text.contains('$') || text.contains("//") {
            return;
        }
        if self.is_named(&call.receiver) {
            let told = told(text);
            match call.args.first() {
                // The access comes after the argument.
                Some(argument) => {
                    let argument = bytes(argument);
                    self.edits().before(argument.start, "(");
                    let end = format!(", {told}).0");
                    self.edits().after(argument.end, end, argument.start);
                }
                None => {
                    let whole = bytes(call);
                    self.edits().before(whole.start, format!("({told}, "));
                    self.edits().after(whole.end, ").1", whole.start);
                }
            }
        } else if is_computed(&call.receiver) && call.args.iter().all(|it| self.is_plain(it)) {
            self.edits().before(receiver.start, "(match ");
            let end = format!(" {{ {BOUND} => {{ {}; {BOUND} }} }})", told(BOUND));
            self.edits().after(receiver.end, end, receiver.start);
        }
    }

    /// Tells of the access to what is called, where a variable has the pointer to it.
    fn tell_of_called(&mut self, call: &ExprCall) {
        let Some((pointer, _)) = dereferenced(&call.func) else {
            return;
        };
        let place = self.place_of(&call.func);
        if let Some(place) = place.filter(|_| self.is_named(pointer)) {
            let whole = bytes(call);
            let told = place.told(Access::Borrows, self.text(bytes(pointer)));
            self.edits().before(whole.start, format!("({told}, "));
            self.edits().after(whole.end, ").1", whole.start);
        }
    }

    /// Tells that a box takes over what is behind a pointer.
    fn tell_of_owner(&mut self, call: &ExprCall) {
        if let ("from_raw", Some(argument)) = (self.function_of_box(call), call.args.first()) {
            let argument = bytes(argument);
            self.edits()
                .before(argument.start, "::seqz_runtime::raw::owns(");
            self.edits().after(argument.end, ")", argument.start);
        }
    }

    /// Tells that a box gives up what it has: what it did before is not seen.
    pub(super) fn tell_of_given(&mut self, call: &ExprCall) {
        let checks = self.has_unsafe && self.mode != Mode::Sequential && self.opaque == 0;
        if !checks || self.constant > 0 || self.in_macro {
            return;
        }
        let function = match self.function_of_box(call) {
            "into_raw" => "owns",
            "leak" => "gives",
            _ => return,
        };
        let whole = bytes(call);
        let start = format!("::seqz_runtime::raw::{function}(");
        self.edits().before(whole.start, start);
        self.edits().after(whole.end, ")", whole.start);
    }

    /// Returns the function of std's `Box` that is called; an empty text for all other functions.
    fn function_of_box(&self, call: &ExprCall) -> &'static str {
        let Expr::Path(path) = &*call.func else {
            return "";
        };
        let segments: Vec<String> = path
            .path
            .segments
            .iter()
            .map(|it| name(&it.ident))
            .collect();
        let [.., owner, function] = &segments[..] else {
            return "";
        };
        let leading = path.path.leading_colon.is_some();
        let owner_path = &segments[..segments.len() - 1];
        let is_own = matches!(
            self.resolve(leading, owner_path, Ns::Type),
            Some(Def::Item(_) | Def::Associated(..) | Def::Local)
        );
        let known = ["from_raw", "into_raw", "leak"].into_iter();
        let mut known = known.filter(|known| owner == "Box" && !is_own && known == function);
        known.next().unwrap_or_default()
    }

    /// Whether a path leads to a function of std that accesses what is behind its arguments: the runtime has one of the
    /// same name that tells of that.
    pub(super) fn accesses(&self, leading: bool, segments: &[String]) -> bool {
        if self.constant > 0 || self.mode == Mode::Sequential || self.in_macro {
            return false;
        }
        let is_known =
            |last: &String| OF_PTR.contains(&last.as_str()) || last.starts_with("from_raw_parts");
        if !segments.last().is_some_and(is_known) {
            return false;
        }
        let Some(Def::Std(path)) = self
            .tables
            .resolve(&self.ribs, leading, segments, Ns::Value)
        else {
            return false;
        };
        match &path[..] {
            [module, function] if module == "ptr" => OF_PTR.contains(&function.as_str()),
            [module, function] if module == "slice" => {
                matches!(function.as_str(), "from_raw_parts" | "from_raw_parts_mut")
            }
            _ => false,
        }
    }

    /// Notes that the places inside of a place are no accesses of their own.
    fn skip_parts(&mut self, expr: &Expr) {
        let inner = match expr {
            Expr::Paren(it) => &*it.expr,
            Expr::Group(it) => &*it.expr,
            Expr::Field(it) => &*it.base,
            Expr::Index(it) => &*it.expr,
            _ => return,
        };
        self.used(inner, Use::Untouched);
    }

    /// Returns the texts of a place, if they mean the same wherever they stand.
    fn place_of(&self, expr: &Expr) -> Option<Dereferenced> {
        let (pointer, indexed) = dereferenced(expr)?;
        let around = |whole: Range<usize>| {
            let at = bytes(pointer);
            let text = |range: Range<usize>| self.text(range).to_owned();
            (text(whole.start..at.start), text(at.end..whole.end))
        };
        let text = self.text(bytes(expr));
        // Parts that a macro fills in may be anything, and a comment in the middle of a line would swallow its rest.
        let is_simple =
            self.has_simple_indices(expr) && !text.contains('$') && !text.contains("//");
        is_simple.then(|| Dereferenced {
            around: around(bytes(expr)),
            container: indexed.map(|indexed| around(bytes(indexed))),
            // Where types hide their cells, only their names tell.
            borrowed: if self.counting.hides_cells {
                "OpenPlace"
            } else {
                "Place"
            },
        })
    }

    fn has_simple_indices(&self, place: &Expr) -> bool {
        match place {
            Expr::Paren(it) => self.has_simple_indices(&it.expr),
            Expr::Group(it) => self.has_simple_indices(&it.expr),
            Expr::Field(it) => self.has_simple_indices(&it.base),
            Expr::Index(it) => self.is_plain(&it.index) && self.has_simple_indices(&it.expr),
            _ => true,
        }
    }

    /// Whether an expression is a number that is the same wherever it is computed.
    fn is_plain(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(it) => matches!(it.lit, Lit::Int(_)),
            Expr::Paren(it) => self.is_plain(&it.expr),
            Expr::Cast(it) => self.is_plain(&it.expr),
            Expr::Binary(it) => {
                !is_assigning(&it.op) && self.is_plain(&it.left) && self.is_plain(&it.right)
            }
            expr => self.is_named(expr),
        }
    }

    /// Whether an expression names a variable, or a field of one.
    fn is_named(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(it) => it.path.get_ident().is_some_and(|ident| {
                let ident = name(ident);
                let segments = std::slice::from_ref(&ident);
                ident == "self"
                    || matches!(self.resolve(false, segments, Ns::Value), Some(Def::Local))
            }),
            Expr::Field(it) => self.is_named(&it.base),
            Expr::Paren(it) => self.is_named(&it.expr),
            Expr::Group(it) => self.is_named(&it.expr),
            Expr::Unary(it) => matches!(it.op, UnOp::Deref(_)) && self.is_named(&it.expr),
            Expr::Index(it) => self.is_plain(&it.index) && self.is_named(&it.expr),
            _ => false,
        }
    }
}

impl Dereferenced {
    /// Returns the call that tells of the access through this pointer.
    fn told(&self, access: Access, pointer: &str) -> String {
        let named =
            |(before, after): &(String, String)| format!("&raw const {before}{pointer}{after}");
        let place = named(&self.around);
        let container = self.container.as_ref().map(named);
        let borrowed = self.borrowed;
        match (access, container) {
            (Access::Borrows, None) => {
                format!("::seqz_runtime::raw::{borrowed}({place}).borrows()")
            }
            (Access::Borrows, Some(container)) => {
                format!("::seqz_runtime::raw::{borrowed}({place}).borrows_of({container})")
            }
            (access, container) => {
                let verb = if access == Access::Writes {
                    "writes"
                } else {
                    "reads"
                };
                match container {
                    None => format!("::seqz_runtime::raw::{verb}({place})"),
                    Some(container) => {
                        format!("::seqz_runtime::raw::{verb}_element({container}, {place})")
                    }
                }
            }
        }
    }
}

/// Returns the pointer behind which an expression is a place, and the innermost thing that is indexed on the way.
fn dereferenced(expr: &Expr) -> Option<(&Expr, Option<&Expr>)> {
    match expr {
        Expr::Paren(it) => dereferenced(&it.expr),
        Expr::Group(it) => dereferenced(&it.expr),
        Expr::Field(it) => dereferenced(&it.base),
        Expr::Index(it) => {
            let (pointer, indexed) = dereferenced(&it.expr)?;
            Some((pointer, indexed.or(Some(&it.expr))))
        }
        Expr::Unary(it) if matches!(it.op, UnOp::Deref(_)) => Some((&it.expr, None)),
        _ => None,
    }
}

/// Whether an expression computes a new value.
fn is_computed(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(it) => is_computed(&it.expr),
        Expr::Group(it) => is_computed(&it.expr),
        Expr::Call(_) | Expr::MethodCall(_) | Expr::Cast(_) | Expr::Try(_) => true,
        _ => false,
    }
}

fn is_assigning(op: &BinOp) -> bool {
    plain_operator(op).is_some()
}

/// Whether a pattern may move something out of what it is matched against.
fn takes(pattern: &Pat) -> bool {
    struct Taking(bool);
    impl<'ast> syn::visit::Visit<'ast> for Taking {
        fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
            self.0 |= pattern.by_ref.is_none();
        }
    }
    let mut taking = Taking(false);
    syn::visit::Visit::visit_pat(&mut taking, pattern);
    taking.0
}

/// Whether the pattern is a variable that is a reference to what it is matched against.
fn takes_by_reference(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(pattern) => pattern.by_ref.is_some() || pattern.subpat.is_some(),
        Pat::Type(pattern) => takes_by_reference(&pattern.pat),
        _ => false,
    }
}
