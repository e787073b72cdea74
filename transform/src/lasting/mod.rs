//! What lasts: whether a turn of a loop leaves anything behind but events.
//!
//! A loop that waits looks at what other threads share, and does nothing else that is there after its turn: so turns that
//! saw nothing can be left out, and the runtime does that (`seqz_runtime::loops`). Which loops are such loops is decided here,
//! from the source alone, without types. **A loop qualifies** unless a turn that comes round again may
//! - assign to a variable that is declared outside of the loop, or borrow it mutably; take a mutable pattern of it;
//! - write through a reference, unless what it leads to is behind the guard of a lock, which is an event;
//! - call something that can't be seen into: a function that is not of the crate, nor known here to leave nothing behind
//!   ([`names`]); a function of the crate that doesn't qualify itself. Methods go by their names: all functions of the
//!   crate that have the name have to qualify, but for those of its types where the object is known as std's;
//! - look at files, use a macro that isn't known. A clock may be looked at: time is one of the things that it waits for. Printing is let pass: nobody can read it.
//!
//! What leads out of the loop (a block that ends with `break` or `return`, or a panic) may do anything. So may a branch of
//! an `if` or `match` of the turn's own, as that is known when it is taken: it is told to the runtime there, and what follows
//! is another run of the loop. The cells of `std::cell` need no look: they are changed with methods that are not known.
//!
//! What a variable calls is known where it is a closure or a parameter for which only such are given that say themselves
//! what they leave behind: see [`callables`].
//!
//! What happens without being named (operators, `Deref`, `Drop`, iterators, conversions by generic functions of std) is what
//! implementations of the crate do. A turn qualifies only if those qualify that it may come to: see [`implied`]. A function
//! that is passed by its name is looked at like one that is called there. Values end where they were made, as far as this is
//! concerned: what makes one (a call, a constructor, the name of a constant or of a unit struct) needs its destructor to
//! qualify, wherever it goes from there. [`declared`] knows which names make values, and which of those have no destructor.

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
use crate::resolve::bound_names;
use callables::Callables;
use functions::Functions;
use implied::{COERCION, Implied};
pub(crate) use turn::Branch;
use turn::{Turn, Variable};

/// A function of the crate.
#[derive(Clone, Copy, Debug)]
struct Function<'p> {
    signature: &'p Signature,
    body: &'p Block,
    /// The type of the crate's that it is one of, if it is of no trait.
    owner: Option<&'p Ident>,
}

/// How a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Called {
    /// By its name alone: it is no method.
    ByName,
    /// By a path, which may lead to any.
    ByPath,
    /// As a method.
    AsMethod,
    /// As a method of an object of std's.
    OnObject,
}

impl Called {
    fn may_be(self, function: &Function<'_>) -> bool {
        let is_method = function.signature.receiver().is_some();
        match self {
            Self::ByName => !is_method,
            Self::ByPath => true,
            Self::AsMethod => is_method,
            Self::OnObject => is_method && function.owner.is_none(),
        }
    }
}

/// What can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Question {
    /// Does the function with this body qualify, whose `self` is behind a guard or isn't?
    Function(usize, bool),
    /// Do all functions qualify that are called so?
    Implied(Implied),
}

/// What is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// It is being looked at: whoever asks is called by it, and adds nothing new.
    UnderWay,
    Answer(bool),
}

/// Answers so far.
#[derive(Debug, Default)]
struct Answers {
    known: HashMap<Question, Known>,
    /// How many questions are under way.
    depth: usize,
    /// What was answered with yes since the outermost of them was asked: that may stand on that being answered so, too.
    provisional: Vec<Question>,
}

/// What is around a loop.
#[derive(Debug, Default)]
pub(crate) struct Outside<'a> {
    /// The variables.
    pub(crate) variables: HashSet<&'a str>,
    /// Those of them that are objects of std which threads share, or pointers of std's to one.
    pub(crate) objects: HashSet<&'a str>,
    /// Those that only say how long the loop pauses.
    pub(crate) paces: HashSet<String>,
    /// Those that are called, and behind which only functions are that say themselves what they leave behind.
    pub(crate) callables: HashSet<String>,
    /// Those that are objects of the crate's which only say how long the loop pauses.
    pub(crate) pacers: HashSet<String>,
}

/// What of a closure is to say that it leaves something behind.
#[derive(Debug)]
pub(crate) enum Telling {
    /// It leaves nothing behind, or nobody asks.
    Nothing,
    /// These branches of it, when they are taken; there may be none.
    Branches(Vec<Branch>),
    All,
}

/// The functions of a crate.
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

    /// The variables of the function with this body that are objects of the crate's, and only say how long loops pause.
    pub(crate) fn pacers(&self, body: &Block) -> HashSet<String> {
        self.pacers.of_body(body).cloned().unwrap_or_default()
    }

    /// The variables of the function with this body that are called, and behind which only functions are that say
    /// themselves what they leave behind.
    pub(crate) fn callables(&self, body: &Block) -> HashSet<String> {
        self.callables.of_body(body).cloned().unwrap_or_default()
    }

    /// What is to say that this closure, in this file, leaves something behind: it may be behind such a variable.
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

    /// Whether this function is to say so.
    pub(crate) fn tells_function(&self, name: &str, body: &Block) -> bool {
        let body = std::ptr::from_ref(body).addr();
        let functions = self.functions.by_name.get(name).into_iter().flatten();
        let mut functions = functions.filter(|it| std::ptr::from_ref(it.body).addr() == body);
        self.callables.has_function(name)
            && functions.any(|&function| !self.qualifies(function, false, false))
    }

    /// If this loop qualifies, and there is a reason to look at its turns at all: the branches of a turn that leave something
    /// behind.
    pub(crate) fn waiting(&self, expr: &Expr, outside: &Outside<'_>) -> Option<Vec<Branch>> {
        Turn::of_loop(self, expr, outside)
    }

    /// Whether this name is std's, where it is known as one of std's, and no macro may make other variables of a given name.
    pub(crate) fn is_of_std(&self, name: &str) -> bool {
        let functions = &self.functions;
        functions.declared.is_of_std(name) && !functions.words.makes_variables
    }

    /// Whether this is the name of an object of std that threads share.
    pub(crate) fn is_object(name: &str) -> bool {
        names::OBJECTS.contains(&name)
    }

    /// Whether variables of this type are such objects, or pointers of std's to one.
    pub(crate) fn is_of_object(&self, of: &Type) -> bool {
        self.functions.declared.is_object(of) && !self.functions.words.makes_variables
    }

    /// Whether all destructors of the crate's are known that there are.
    fn sees_destructors(&self) -> bool {
        let implied = &self.functions.implied;
        !implied.any_unseen && !implied.unseen.contains(&Implied::Drop)
    }

    fn is_static(&self, name: &str) -> bool {
        self.functions.statics.contains(name)
    }

    /// The functions of the crate that are called so. `None`: there are none, not even in macros.
    fn of_name(&self, name: &str, called: Called) -> Option<Vec<Function<'p>>> {
        let functions = &self.functions;
        let seen = functions.by_name.get(name).into_iter().flatten();
        let seen: Vec<_> = seen
            .filter(|function| called.may_be(function))
            .copied()
            .collect();
        (!seen.is_empty() || functions.has_unseen(name)).then_some(seen)
    }

    /// Whether all functions of the crate qualify that are called so. `None`: there are none.
    fn named(&self, name: &str, called: Called, guarded: bool) -> Option<bool> {
        let seen = self.of_name(name, called)?;
        // Those in macros can't be looked at.
        let mut seen = seen.into_iter();
        Some(
            !self.functions.has_unseen(name)
                && seen.all(|function| self.qualifies(function, guarded, false)),
        )
    }

    /// Whether no function of the crate that is called so leaves anything behind.
    fn allows(&self, implied: Implied) -> bool {
        let implementations = &self.functions.implied;
        if implementations.any_unseen || implementations.unseen.contains(&implied) {
            return false;
        }
        let Some(functions) = implementations.seen.get(&implied) else {
            return true;
        };
        self.answer(Question::Implied(implied), || {
            let writes = implied.writes();
            let mut functions = functions.iter();
            functions.all(|&function| {
                // What it gives ends somewhere, too.
                let quiet = self.functions.declared.gives_quietly(function.signature);
                self.qualifies(function, true, writes) && (quiet || self.allows(Implied::Drop))
            })
        })
    }

    fn qualifies(&self, function: Function<'p>, guarded: bool, writes: bool) -> bool {
        let body = std::ptr::from_ref(function.body).addr();
        self.answer(Question::Function(body, guarded), || {
            let mut parameters = HashMap::new();
            let callables = self.callables.of_body(function.body);
            for input in &function.signature.inputs {
                if let FnArg::Typed(input) = input {
                    parameters.extend(names_in(&input.pat).into_iter().map(|it| {
                        let is_callable = callables.is_some_and(|all| all.contains(&it));
                        let is_one = matches!(*input.pat, Pat::Ident(_));
                        let variable = if is_callable {
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
                && !COERCION.iter().all(|&implied| self.allows(implied))
            {
                return false;
            }
            Turn::of_function(self, function.body, parameters, guarded, writes)
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

/// Whether values of this type may be made of other references, without a sign of it.
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
