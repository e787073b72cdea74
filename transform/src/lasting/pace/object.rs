//! Variables of a type of the crate that only say how long a loop pauses.
//!
//! ```text
//! let mut backoff = Backoff::new();
//! while !flag.load(o) { backoff.snooze() }
//! ```
//!
//! That is so where the function mentions such a variable only to call methods that give nothing, and where these
//! methods, one after the other in a loop, with the fields as the loop's variables, make a loop that only waits: see
//! [`super`].

use std::collections::{HashMap, HashSet};

use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, Fields, ItemStruct, Local, ReturnType, Signature, Type};

use super::single;
use crate::lasting::functions::Functions;
use crate::lasting::turn::is_number;
use crate::lasting::{Lasting, Outside};
use crate::load::Crate;
use crate::resolve::{name, segment_names};

/// Types of other crates that only pause, and their methods that give nothing.
const OF_OTHERS: &[(&str, &str, &[&str])] =
    &[("crossbeam_utils", "Backoff", &["reset", "snooze", "spin"])];

/// Returns the variable that stands for a field.
fn variable(field: &str) -> String {
    format!("seqz_field_{field}")
}

/// For each function, by the place of its body, the variables that are such objects.
#[derive(Debug, Default)]
pub(in crate::lasting) struct Pacers(HashMap<usize, HashSet<String>>);

impl Pacers {
    pub(in crate::lasting) fn of_body(&self, body: &Block) -> Option<&HashSet<String>> {
        self.0.get(&std::ptr::from_ref(body).addr())
    }

    /// Looks for such variables in a crate whose functions are known otherwise.
    pub(in crate::lasting) fn of(program: &Crate, lasting: &Lasting<'_>) -> Self {
        let mut found = Found {
            functions: &lasting.functions,
            bodies: Vec::new(),
            around: None,
            of_type: None,
            structs: HashMap::new(),
            first: HashMap::new(),
            dependencies: program.package.dependencies.names().collect(),
            numbers: HashMap::new(),
        };
        for file in &program.files {
            found.visit_file(&file.tree);
        }
        let mut all = Self::default();
        for body in &found.bodies {
            for (object, of) in &body.made {
                if found.only_paces(body, object, of, lasting) {
                    let pacers = all.0.entry(body.at).or_default();
                    pacers.insert(object.clone());
                }
            }
        }
        all
    }
}

/// A function.
#[derive(Debug, Default)]
struct Body {
    at: usize,
    /// Variables that are made as a value of a type of the crate, and the name of the type.
    made: HashMap<String, String>,
    /// The methods that are called on each variable.
    called: HashMap<String, Vec<String>>,
    /// The number of times that each word is in the function.
    words: HashMap<String, usize>,
}

/// What was found in a crate.
struct Found<'f, 'p> {
    functions: &'f Functions<'p>,
    bodies: Vec<Body>,
    around: Option<usize>,
    /// The type whose implementation is looked at.
    of_type: Option<String>,
    /// The fields of structs that hold nothing but numbers. `None`: there are several structs of the name, or the
    /// struct has other fields.
    structs: HashMap<String, Option<Vec<String>>>,
    /// For each type, the fields and their values when a value of the type is made. `None`: not all of these values are
    /// known.
    first: HashMap<String, Option<Vec<(String, String)>>>,
    /// The names of the crates that the crate depends on.
    dependencies: HashSet<String>,
    /// Constants that are numbers. `None`: there are several constants of the name.
    numbers: HashMap<String, Option<Literal>>,
}

impl Found<'_, '_> {
    fn only_paces(&self, body: &Body, object: &str, of: &str, lasting: &Lasting<'_>) -> bool {
        let called = body.called.get(object).map_or(&[][..], Vec::as_slice);
        // The variable is mentioned in its declaration, and in the calls.
        let is_seen = body.words.get(object) == Some(&(called.len() + 1));
        let declared = &self.functions.declared;
        if !declared.is_type(of) {
            let methods = self.of_another_crate(of);
            return is_seen
                && methods.is_some_and(|all| called.iter().all(|it| all.contains(&&**it)));
        }
        let Some(Some(fields)) = self.structs.get(of) else {
            return false;
        };
        if !is_seen || called.is_empty() || !declared.has_no_destructor(of) {
            return false;
        }
        let first = match self.first.get(of) {
            Some(Some(first)) => first.clone(),
            Some(None) => return false,
            // The value is made by `Default` alone.
            None => fields.iter().map(|it| (it.clone(), "0".into())).collect(),
        };
        let methods: HashSet<_> = called.iter().collect();
        let bodies: Option<Vec<_>> = methods.iter().map(|it| self.of_fields(of, it)).collect();
        bodies.is_some_and(|bodies| only_waits(&first, &bodies.concat(), lasting))
    }

    /// Returns the methods by which a type of another crate pauses, if it is one of those that do no more.
    fn of_another_crate(&self, of: &str) -> Option<&'static [&'static str]> {
        let mut known = OF_OTHERS.iter();
        let (_, _, methods) =
            known.find(|(package, name, _)| *name == of && self.dependencies.contains(*package))?;
        Some(methods)
    }

    /// Returns the bodies of all methods of the type that have this name, with variables in the place of the fields. A
    /// method of a trait may be called in the place of a method of the type.
    fn of_fields(&self, of: &str, method: &str) -> Option<Vec<TokenStream>> {
        let functions = self.functions;
        let all = functions.by_name.get(method)?.iter();
        let all: Vec<_> = all
            .filter(|it| it.owner.is_none_or(|owner| owner == of))
            .collect();
        let gives_nothing = |signature: &Signature| matches!(signature.output, ReturnType::Default);
        let fits = all.iter().all(|it| {
            it.owner.is_some() && it.signature.inputs.len() == 1 && gives_nothing(it.signature)
        });
        if all.is_empty() || !fits || functions.has_unseen(method) {
            return None;
        }
        let mut bodies = all.iter();
        bodies.try_fold(Vec::new(), |mut bodies, it| {
            bodies.push(self.without_self(it.body.to_token_stream())?);
            Some(bodies)
        })
    }

    fn without_self(&self, tokens: TokenStream) -> Option<TokenStream> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut text = TokenStream::new();
        let is_point = |at: usize, point: char| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == point);
        let ident = |at: usize| match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => Some(name(ident)),
            _ => None,
        };
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Ident(word) if word == "self" => {
                    if !is_point(at + 1, '.') {
                        return None;
                    }
                    let field = Ident::new(&variable(&ident(at + 2)?), Span::call_site());
                    at += 3;
                    text.extend(quote!(#field));
                    // The value in a cell.
                    if let (true, Some(method), Some(TokenTree::Group(argument))) =
                        (is_point(at, '.'), ident(at + 1), tokens.get(at + 2))
                    {
                        match (method.as_str(), argument.stream().is_empty()) {
                            ("get", true) => at += 3,
                            ("set", false) => {
                                let value = self.without_self(argument.stream())?;
                                text.extend(quote!(= #value));
                                at += 3;
                            }
                            _ => {}
                        }
                    }
                    continue;
                }
                TokenTree::Ident(word)
                    if word == "Self" && is_point(at + 1, ':') && is_point(at + 2, ':') =>
                {
                    let number = self.numbers.get(&ident(at + 3)?)?.clone()?;
                    text.extend(quote!(#number));
                    at += 4;
                    continue;
                }
                // Code that leads out of a method leads round the loop.
                TokenTree::Ident(word) if word == "return" => return None,
                TokenTree::Ident(word) => match self.numbers.get(&name(word)) {
                    Some(number) => {
                        let number = number.clone()?;
                        text.extend(quote!(#number));
                    }
                    None => word.to_tokens(&mut text),
                },
                TokenTree::Group(group) => {
                    let inside = self.without_self(group.stream())?;
                    let group = Group::new(group.delimiter(), inside);
                    group.to_tokens(&mut text);
                }
                token => token.to_tokens(&mut text),
            }
            at += 1;
        }
        Some(text)
    }

    /// Returns the type of the crate that this expression makes a value of.
    fn makes(&self, init: &Expr) -> Option<String> {
        let declared = &self.functions.declared;
        let of = match init {
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else {
                    return None;
                };
                let segments = segment_names(&path.path);
                let [.., of, function] = segments.as_slice() else {
                    return None;
                };
                if function == "new" && !declared.is_type(of) {
                    return self.of_another_crate(of).map(|_| of.clone());
                }
                let all = self.functions.by_name.get(function).into_iter().flatten();
                let mut all = all
                    .filter(|it| it.owner.is_none_or(|owner| owner == of))
                    .peekable();
                let gives_it = match all.peek() {
                    Some(_) => all.all(|it| gives(it.signature, of)),
                    None => function == "default",
                };
                (gives_it && !self.functions.has_unseen(function)).then(|| of.clone())?
            }
            Expr::Struct(made) => name(&made.path.segments.last()?.ident),
            _ => return None,
        };
        declared.is_type(&of).then_some(of)
    }
}

/// Whether the function gives a value of this type, by the type's name or as `Self`.
fn gives(signature: &Signature, of: &str) -> bool {
    match &signature.output {
        ReturnType::Type(_, given) => match &**given {
            Type::Path(path) => path
                .path
                .get_ident()
                .is_some_and(|it| it == "Self" || it == of),
            _ => false,
        },
        ReturnType::Default => false,
    }
}

/// Whether a loop that runs these bodies in each turn, on such variables, is a loop that only waits.
fn only_waits(first: &[(String, String)], bodies: &[TokenStream], lasting: &Lasting<'_>) -> bool {
    let mut text = String::from("{");
    for (field, value) in first {
        text.push_str(&format!("let mut {} = {value};", variable(field)));
    }
    let bodies = bodies.iter().map(ToString::to_string);
    let bodies = bodies.collect::<Vec<_>>().join("\n");
    text.push_str(&format!("loop {{ seqz_flag.load(SeqCst); {bodies} }} }}"));
    let Ok(block) = syn::parse_str::<Block>(&text) else {
        return false;
    };
    let Some(syn::Stmt::Expr(looped, _)) = block.stmts.last() else {
        return false;
    };
    let fields: HashSet<String> = first.iter().map(|(field, _)| variable(field)).collect();
    let mut variables: HashSet<&str> = fields.iter().map(String::as_str).collect();
    variables.insert("seqz_flag");
    let outside = Outside {
        variables,
        objects: HashSet::from(["seqz_flag"]),
        paces: super::paces(looped, &text),
        ..Outside::default()
    };
    let branches = lasting.waiting(looped, &outside);
    branches.is_some_and(|branches| branches.is_empty())
}

impl<'ast> Visit<'ast> for Found<'_, '_> {
    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        let is_plain = |of: &Type| {
            let of = match of {
                Type::Path(path) => path.path.segments.last(),
                _ => None,
            };
            of.is_some_and(|of| match (&of.arguments, of.ident.to_string().as_str()) {
                (syn::PathArguments::None, only) => is_number(only),
                (syn::PathArguments::AngleBracketed(given), "Cell") => {
                    is_number(&given.args.to_token_stream().to_string())
                }
                _ => false,
            })
        };
        let fields = match &item.fields {
            Fields::Named(fields) if fields.named.iter().all(|it| is_plain(&it.ty)) => {
                let names = fields.named.iter().filter_map(|it| it.ident.as_ref());
                Some(names.map(name).collect())
            }
            _ => None,
        };
        let known = self.structs.entry(name(&item.ident));
        known.and_modify(|it| *it = None).or_insert(fields);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = match &*item.self_ty {
            Type::Path(path) => path.path.segments.last().map(|it| name(&it.ident)),
            _ => None,
        };
        let outer = std::mem::replace(&mut self.of_type, of);
        visit::visit_item_impl(self, item);
        self.of_type = outer;
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.number(&item.ident, &item.expr);
        visit::visit_item_const(self, item);
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.number(&item.ident, &item.expr);
        visit::visit_impl_item_const(self, item);
    }

    fn visit_block(&mut self, block: &'ast Block) {
        // The outermost block is a function's body.
        let is_body = self.around.is_none();
        if is_body {
            let mut body = Body {
                at: std::ptr::from_ref(block).addr(),
                ..Body::default()
            };
            count(block.to_token_stream(), &mut body.words);
            self.bodies.push(body);
            self.around = Some(self.bodies.len() - 1);
        }
        visit::visit_block(self, block);
        if is_body {
            self.around = None;
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let outer = self.around.take();
        visit::visit_item_fn(self, item);
        self.around = outer;
    }

    fn visit_local(&mut self, local: &'ast Local) {
        let made = local.init.as_ref().and_then(|init| self.makes(&init.expr));
        if let (Some(object), Some(of), Some(at)) = (single(&local.pat), made, self.around) {
            self.bodies[at].made.insert(object, of);
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if let (Expr::Path(path), Some(at)) = (&*call.receiver, self.around)
            && let Some(only) = path.path.get_ident()
        {
            let called = self.bodies[at].called.entry(name(only)).or_default();
            called.push(name(&call.method));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_struct(&mut self, made: &'ast syn::ExprStruct) {
        let last = made.path.segments.last().map(|it| name(&it.ident));
        let of = match last.as_deref() {
            Some("Self") => self.of_type.clone(),
            _ => last,
        };
        let fields: Option<Vec<_>> = made
            .fields
            .iter()
            .map(|field| {
                let syn::Member::Named(ident) = &field.member else {
                    return None;
                };
                Some((name(ident), first_number(&field.expr)?))
            })
            .collect();
        if let Some(of) = of {
            let fields = fields.filter(|_| made.rest.is_none());
            match self.first.get_mut(&of) {
                Some(known) => {
                    if *known != fields {
                        *known = None;
                    }
                }
                None => drop(self.first.insert(of, fields)),
            }
        }
        visit::visit_expr_struct(self, made);
    }
}

impl Found<'_, '_> {
    fn number(&mut self, ident: &Ident, value: &Expr) {
        let number = match value {
            Expr::Lit(lit) => match &lit.lit {
                syn::Lit::Int(int) => Some(int.token()),
                _ => None,
            },
            _ => None,
        };
        let known = self.numbers.entry(name(ident));
        known.and_modify(|it| *it = None).or_insert(number);
    }
}

/// Returns the number that a field is made as, perhaps in a cell.
fn first_number(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(lit) => Some(lit.to_token_stream().to_string()),
        Expr::Call(call) => {
            let func = call.func.to_token_stream().to_string().replace(' ', "");
            let is_cell = matches!(func.as_str(), "Cell::new" | "std::cell::Cell::new");
            let value = call.args.first().filter(|_| is_cell)?;
            first_number(value)
        }
        _ => None,
    }
}

fn count(tokens: TokenStream, words: &mut HashMap<String, usize>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => *words.entry(name(&ident)).or_default() += 1,
            TokenTree::Group(group) => count(group.stream(), words),
            TokenTree::Punct(_) => {}
            // `println!("{backoff}")`
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let named = text.split(|it: char| !it.is_alphanumeric() && it != '_');
                named.for_each(|it| *words.entry(it.to_owned()).or_default() += 1);
            }
        }
    }
}
