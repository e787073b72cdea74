//! Decides whether a turn of a loop leaves anything behind but events.
//!
//! A loop that waits reads what other threads share, and does nothing else that is still there after its turn: so turns
//! that saw nothing new can be left out, and the runtime does that (`seqz_runtime::loops`). This module decides which
//! loops are such loops, from the source alone, without types. **A loop qualifies** unless a turn that comes round
//! again may
//! - assign to a variable that is declared outside of the loop, or borrow such a variable mutably, or match it with a
//!   mutable pattern;
//! - write through a reference, unless the reference leads behind the guard of a lock, which is an event;
//! - call something that can't be seen into: a function that is neither of the crate nor known here to leave nothing
//!   behind ([`names`]); a function of the crate that doesn't qualify itself. Methods are known by their names: all
//!   functions of the crate that have the name have to qualify, but for those of its types where the object is known to
//!   be std's;
//! - use files, or a macro that isn't known. A turn may read a clock: time is one of the things that a loop waits for.
//!   A turn may print, too: no part of the program can read what is printed.
//!
//! Code that leads out of the loop (a block that ends with `break` or `return`, or a panic) may do anything. So may a
//! branch of an `if` or `match` in the turn itself, as it is known when the branch is taken: the branch tells the
//! runtime, and what follows is another run of the loop. The cells of `std::cell` need no special rule: they are
//! changed by methods that are not known.
//!
//! The function that a variable calls is known where the variable is a closure, or a parameter for which only closures
//! and functions are given that report themselves what they leave behind: see [`callables`].
//!
//! Calls without a name (operators, `Deref`, `Drop`, iterators, conversions by generic functions of std) are calls of
//! implementations of the crate. A turn qualifies only if all implementations qualify that it may call: see
//! [`implied`]. A function that is passed by its name is looked at like one that is called there. A value counts as
//! ended where it was made: code that makes a value (a call, a constructor, the name of a constant or of a unit struct)
//! needs the value's destructor to qualify, wherever the value goes. [`declared`] knows which names make values, and
//! which of these values have no destructor.

mod callables;
mod calls;
mod declared;
mod functions;
mod implied;
mod names;
mod pace;
mod returned;
mod turn;

use pace::Pacers;
pub(crate) use pace::paces;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use syn::visit::Visit;
use syn::{
    Block, Expr, ExprClosure, FnArg, Ident, Pat, ReturnType, Signature, Type, TypeReference,
};

use crate::load::Crate;
use crate::resolve::{bound_names, name};
use callables::Callables;
use functions::Functions;
use implied::{COERCION, Implied};
pub(crate) use turn::{Branch, is_assignment, is_number_method};
use turn::{Turn, Variable};

/// A function of the crate.
#[derive(Clone, Copy, Debug)]
struct Function<'p> {
    signature: &'p Signature,
    body: &'p Block,
    /// The type of the crate that the function belongs to, if the function is of no trait.
    owner: Option<&'p Ident>,
}

/// The way in which a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Called<'n> {
    /// By its name alone, so that it is no method.
    ByName,
    /// By a path, which may lead to any function of the name.
    ByPath,
    /// As a method.
    AsMethod,
    /// As a method of an object of std.
    OnObject,
    /// As a method of a value of the crate's type with this name, or a pointer of std to one. The type has such a method itself,
    /// which comes before those of other types that the value leads to.
    OnOwn(&'n str),
}

impl Called<'_> {
    fn may_be(self, function: &Function<'_>) -> bool {
        let is_method = function.signature.receiver().is_some();
        match self {
            Self::ByName => !is_method,
            Self::ByPath => true,
            Self::AsMethod => is_method,
            Self::OnObject => is_method && function.owner.is_none(),
            Self::OnOwn(of) => is_method && function.owner.is_none_or(|owner| owner == of),
        }
    }
}

/// What code may leave behind that qualifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Behind {
    /// Events, whatever they change: what waits for them sees that.
    Events,
    /// Nothing at all: it makes no difference whether the code runs once more.
    Nothing,
}

/// A question about the crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Question {
    /// Does the function with this body qualify? The flag says whether its `self` is behind a guard.
    Function(usize, bool, Behind),
    /// Do all functions qualify that are called in this implied way?
    Implied(Implied, Behind),
}

/// What is known of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// The question is being answered: the function that asks again is called by the one in question, and adds nothing
    /// new.
    UnderWay,
    Answer(bool),
}

/// The answers so far.
#[derive(Debug, Default)]
struct Answers {
    known: HashMap<Question, Known>,
    /// The number of questions that are being answered.
    depth: usize,
    /// The questions answered with yes since the outermost question was asked: these answers may depend on a yes to the
    /// outermost question.
    provisional: Vec<Question>,
}

/// The names that are declared around a loop.
#[derive(Debug, Default)]
pub(crate) struct Outside<'a> {
    /// The variables around the loop.
    pub(crate) variables: HashSet<&'a str>,
    /// The variables that are objects of std which threads share, or std's pointers to such an object.
    pub(crate) objects: HashSet<&'a str>,
    /// The name of the crate's type whose implementation the loop is in, if that is known.
    pub(crate) own: Option<String>,
    /// The variables that only say how long the loop pauses.
    pub(crate) paces: HashSet<String>,
    /// The variables that are called, and that stand only for functions which report themselves what they leave behind.
    pub(crate) callables: HashSet<String>,
    /// The variables that are objects of the crate which only say how long the loop pauses.
    pub(crate) pacers: HashSet<String>,
}

/// The parts of a closure that have to report that they leave something behind.
#[derive(Debug)]
pub(crate) enum Telling {
    /// No part: the closure leaves nothing behind, or no loop depends on it.
    Nothing,
    /// These branches, when they are taken; the list may be empty.
    Branches(Vec<Branch>),
    All,
}

/// The functions of a crate, and whether they leave anything behind.
pub(crate) struct Lasting<'p> {
    functions: Functions<'p>,
    callables: Callables,
    pacers: Pacers,
    answers: RefCell<Answers>,
}

impl<'p> Lasting<'p> {
    pub(crate) fn new(program: &'p Crate) -> Self {
        let functions = Functions::of(program);
        let mut lasting = Self {
            callables: Callables::of(program, &functions),
            functions,
            pacers: Pacers::default(),
            answers: RefCell::default(),
        };
        lasting.pacers = Pacers::of(program, &lasting);
        lasting
    }

    /// Returns the variables of the function with this body that are objects of the crate which only say how long loops
    /// pause.
    pub(crate) fn pacers(&self, body: &Block) -> HashSet<String> {
        self.pacers.of_body(body).cloned().unwrap_or_default()
    }

    /// Returns the variables of the function with this body that are called, and that stand only for functions which
    /// report themselves what they leave behind.
    pub(crate) fn callables(&self, body: &Block) -> HashSet<String> {
        self.callables.of_body(body).cloned().unwrap_or_default()
    }

    /// Returns the parts of this closure, in this file, that have to report that they leave something behind: a
    /// variable that is called may stand for the closure.
    pub(crate) fn tells_closure<'o>(
        &self,
        file: usize,
        closure: &ExprClosure,
        outside: impl FnOnce() -> Outside<'o>,
    ) -> Telling {
        if !self
            .callables
            .has_closure(file, callables::start_of(closure))
        {
            return Telling::Nothing;
        }
        match Turn::of_closure(self, closure, &outside()) {
            Some(branches) => Telling::Branches(branches),
            None => Telling::All,
        }
    }

    /// Whether this function has to report that it leaves something behind.
    pub(crate) fn tells_function(&self, name: &str, body: &Block) -> bool {
        let body = std::ptr::from_ref(body).addr();
        let functions = self.functions.by_name.get(name).into_iter().flatten();
        let mut functions = functions.filter(|it| std::ptr::from_ref(it.body).addr() == body);
        self.callables.has_function(name)
            && functions.any(|&function| !self.qualifies(function, (false, false), Behind::Events))
    }

    /// Returns, if this loop qualifies and there is a reason to look at its turns at all, the branches of a turn that
    /// leave something behind.
    pub(crate) fn waiting(&self, expr: &Expr, outside: &Outside<'_>) -> Option<Vec<Branch>> {
        Turn::of_loop(self, expr, outside)
    }

    /// Whether it may make a difference that this argument, which std calls, is called once more than it is without a
    /// reason: it leaves something behind, or events that change something.
    pub(crate) fn differs_again(&self, argument: &Expr, outside: &Outside<'_>) -> bool {
        match argument {
            Expr::Closure(closure) => !Turn::may_be_repeated(self, closure, outside),
            Expr::Paren(inner) => self.differs_again(&inner.expr, outside),
            Expr::Path(path) => {
                let segments = &path.path.segments;
                let last = segments.last().map(|last| name(&last.ident));
                let last = last.unwrap_or_default();
                let called = match segments.len() {
                    1 => Called::ByName,
                    _ => Called::ByPath,
                };
                let is_variable = segments.len() == 1 && outside.variables.contains(last.as_str());
                is_variable || self.named(&last, called, false, Behind::Nothing) != Some(true)
            }
            _ => true,
        }
    }

    /// Whether this name means std's item, where it is known as the name of an item of std, and no macro may make other
    /// variables of a given name.
    pub(crate) fn is_of_std(&self, name: &str) -> bool {
        let functions = &self.functions;
        functions.declared.is_of_std(name) && !functions.words.makes_variables
    }

    /// Whether this is the name of an object of std that threads share.
    pub(crate) fn is_object(name: &str) -> bool {
        names::OBJECTS.contains(&name)
    }

    /// Whether variables of this type are such objects, or std's pointers to such an object.
    pub(crate) fn is_of_object(&self, of: &Type) -> bool {
        self.functions.declared.is_object(of) && !self.functions.words.makes_variables
    }

    /// Whether all destructors of the crate are known.
    fn sees_destructors(&self) -> bool {
        let implied = &self.functions.implied;
        !implied.any_unseen && !implied.unseen.contains(&Implied::Drop)
    }

    fn is_static(&self, name: &str) -> bool {
        self.functions.statics.contains(name)
    }

    /// Returns the functions of the crate that are called by this name in this way. `None`: there are none, not even in
    /// macros.
    fn of_name(&self, name: &str, called: Called<'_>) -> Option<Vec<Function<'p>>> {
        let functions = &self.functions;
        let seen = functions.by_name.get(name).into_iter().flatten();
        let seen: Vec<_> = seen
            .filter(|function| called.may_be(function))
            .copied()
            .collect();
        (!seen.is_empty() || functions.has_unseen(name)).then_some(seen)
    }

    /// Whether the crate's types with this name have a method of this name themselves.
    fn has_method(&self, of: &str, method: &str) -> bool {
        let functions = self.functions.by_name.get(method).into_iter().flatten();
        let mut own = functions.filter(|it| it.owner.is_some_and(|owner| owner == of));
        own.any(|it| it.signature.receiver().is_some())
    }

    /// Whether all functions of the crate qualify that are called by this name in this way. `None`: there are none.
    fn named(&self, name: &str, called: Called<'_>, guarded: bool, behind: Behind) -> Option<bool> {
        let seen = self.of_name(name, called)?;
        // Functions in macros can't be looked at.
        let mut seen = seen.into_iter();
        Some(
            !self.functions.has_unseen(name)
                && seen.all(|function| self.qualifies(function, (guarded, false), behind)),
        )
    }

    /// Whether no function of the crate that is called in this implied way leaves anything behind.
    fn allows(&self, implied: Implied, behind: Behind) -> bool {
        let implementations = &self.functions.implied;
        if implementations.any_unseen || implementations.unseen.contains(&implied) {
            return false;
        }
        let Some(functions) = implementations.seen.get(&implied) else {
            return true;
        };
        self.answer(Question::Implied(implied, behind), || {
            let writes = implied.writes();
            let mut functions = functions.iter();
            functions.all(|&function| {
                // The result of the function ends somewhere, too.
                let quiet = self.functions.declared.gives_quietly(function.signature);
                self.qualifies(function, (true, writes), behind)
                    && (quiet || self.allows(Implied::Drop, behind))
            })
        })
    }

    fn qualifies(
        &self,
        function: Function<'p>,
        (guarded, writes): (bool, bool),
        behind: Behind,
    ) -> bool {
        let body = std::ptr::from_ref(function.body).addr();
        self.answer(Question::Function(body, guarded, behind), || {
            let mut parameters = HashMap::new();
            let callables = self.callables.of_body(function.body);
            for input in &function.signature.inputs {
                if let FnArg::Typed(input) = input {
                    parameters.extend(names_in(&input.pat).into_iter().map(|it| {
                        let is_callable = callables.is_some_and(|all| all.contains(&it));
                        let is_one = matches!(*input.pat, Pat::Ident(_));
                        let variable = if is_callable && behind == Behind::Events {
                            Variable::Closure
                        } else if is_one && self.is_of_object(&input.ty) {
                            Variable::Object
                        } else {
                            Variable::Other
                        };
                        (it, variable)
                    }));
                }
            }
            if let ReturnType::Type(_, of) = &function.signature.output
                && has_reference(of)
                && !COERCION.iter().all(|&implied| self.allows(implied, behind))
            {
                return false;
            }
            Turn::of_function(self, function, parameters, (guarded, writes), behind)
        })
    }

    fn answer(&self, question: Question, find: impl FnOnce() -> bool) -> bool {
        {
            let mut answers = self.answers.borrow_mut();
            match answers.known.get(&question) {
                Some(Known::UnderWay) => return true,
                Some(Known::Answer(answer)) => return *answer,
                None => {}
            }
            answers.known.insert(question, Known::UnderWay);
            answers.depth += 1;
        }
        let answer = find();
        let mut answers = self.answers.borrow_mut();
        answers.known.insert(question, Known::Answer(answer));
        answers.depth -= 1;
        if answer {
            answers.provisional.push(question);
        }
        if answers.depth == 0 {
            let provisional = std::mem::take(&mut answers.provisional);
            if !answer {
                for question in provisional {
                    answers.known.remove(&question);
                }
            }
        }
        answer
    }
}

/// Whether values of this type may be made of other references by coercion.
fn has_reference(of: &Type) -> bool {
    struct References(bool);
    impl Visit<'_> for References {
        fn visit_type_reference(&mut self, _: &TypeReference) {
            self.0 = true;
        }
    }
    let mut references = References(false);
    references.visit_type(of);
    references.0
}

fn names_in(pattern: &Pat) -> HashSet<String> {
    bound_names(pattern).into_keys().collect()
}
