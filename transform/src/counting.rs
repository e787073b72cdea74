//! Whether a program can tell how many handles of a shared value there are, or which of its threads drops the last one.
//!
//! If a program can, its `Arc`s are counted: they are the runtime's, and each new handle and each end of a handle is an
//! event. If not, its `Arc`s stay std's and make no events. The decision goes by the words of the source and errs on
//! the side of counting: to count without need costs executions, and changes no result.

use std::collections::HashSet;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

use crate::load::Crate;
use crate::unsafe_code;

/// What a program can notice of the handles of shared values. All crates that share handles have to count them alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counting {
    pub(crate) handles: Handles,
    /// Whether a handle may have to coerce to a handle of a type without a size, or a method may be called on a handle.
    coerces: bool,
    /// Whether `unsafe` code accesses memory: it can tell when memory is given back.
    pub(crate) accesses_memory: bool,
    /// Whether there are handles at all.
    has_arc: bool,
    /// Whether a type may say of itself that a cell in it is none.
    pub(crate) hides_cells: bool,
    /// Whether this crate, whatever others do, has to be able to look into cells in constant functions.
    constant_cells: bool,
}

/// What a program can notice of handles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Handles {
    /// The program can notice nothing of handles.
    #[default]
    Plain,
    /// The program can notice the number of handles.
    Counted,
    /// The program can notice that number, and where the destructor of a shared value runs.
    Destructors,
}

impl Counting {
    pub(crate) fn of(program: &Crate) -> Self {
        let mut words = Words {
            bare_traits: matches!(program.package.edition.as_str(), "2015" | "2018"),
            ..Words::default()
        };
        for file in &program.files {
            match file.source.text.as_str().parse::<TokenStream>() {
                Ok(tokens) => {
                    let mut accesses = Vec::new();
                    unsafe_code::find(tokens.clone(), &mut accesses);
                    words.accesses_memory |= !accesses.is_empty();
                    words.read(tokens);
                }
                Err(_) => return Self::default(),
            }
        }
        words.counting()
    }

    /// Returns what two crates can notice together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            handles: self.handles.max(other.handles),
            coerces: self.coerces || other.coerces,
            accesses_memory: self.accesses_memory || other.accesses_memory,
            has_arc: self.has_arc || other.has_arc,
            hides_cells: self.hides_cells || other.hides_cells,
            constant_cells: false,
        }
        .with_memory()
    }

    /// Returns this for a crate whose constant functions look into cells, or don't.
    pub(crate) const fn with_constant_cells(self, constant_cells: bool) -> Self {
        Self {
            constant_cells,
            ..self
        }
    }

    /// Whether a handle that is the runtime's may have to coerce.
    pub(crate) fn coerces(self) -> bool {
        self.coerces && self.handles != Handles::Plain
    }

    /// Adds what is noticed of handles behind pointers: the last one to go gives back what pointers may lead to, after
    /// all that the others did.
    fn with_memory(self) -> Self {
        match self.accesses_memory && self.has_arc {
            true => Self {
                handles: self.handles.max(Handles::Counted),
                ..self
            },
            false => self,
        }
    }

    /// Returns the path in front of `std`, in the generated code.
    pub(crate) const fn root(self) -> &'static str {
        match (self.handles, self.constant_cells) {
            (Handles::Plain, false) => "seqz_runtime",
            (Handles::Plain, true) => "seqz_runtime::with_constant_cells",
            (Handles::Counted, false) => "seqz_runtime::counted::handles",
            (Handles::Counted, true) => "seqz_runtime::counted::handles::with_constant_cells",
            (Handles::Destructors, false) => "seqz_runtime::counted::destructors",
            (Handles::Destructors, true) => {
                "seqz_runtime::counted::destructors::with_constant_cells"
            }
        }
    }
}

/// Functions and types by which a program can learn a count, whatever value they are called on.
const ASKS: &[&str] = &[
    "Weak",
    "decrement_strong_count",
    "downgrade",
    "make_mut",
    "new_cyclic",
    "strong_count",
    "try_unwrap",
    "unwrap_or_clone",
    "upgrade",
    "weak_count",
];

/// Functions by which a program can learn a count, unless they are functions of one of [`OTHERS`].
const ASKS_OF_ARC: &[&str] = &["get_mut", "into_inner"];

/// Other types that have functions with the names in [`ASKS_OF_ARC`].
const OTHERS: &[&str] = &[
    "BTreeMap",
    "BufReader",
    "BufWriter",
    "Cell",
    "Cursor",
    "HashMap",
    "LazyLock",
    "Mutex",
    "OnceCell",
    "OnceLock",
    "Pin",
    "Rc",
    "RefCell",
    "RwLock",
    "UnsafeCell",
    "VecDeque",
];

/// Ends of channels, and functions that make them. When the last end on one side is dropped, the other side notices.
const ENDS: &[&str] = &[
    "Receiver",
    "Sender",
    "SyncSender",
    "channel",
    "sync_channel",
];

/// Types of std that handles often lead to; none of these is a trait.
const SIZED: &[&str] = &[
    "Barrier", "Box", "Condvar", "HashMap", "HashSet", "Mutex", "Option", "RefCell", "RwLock",
    "Self", "String", "Vec", "VecDeque", "bool", "i32", "i64", "u32", "u64", "u8", "usize",
];

/// What the words of a crate say.
#[derive(Debug, Default)]
struct Words {
    /// Whether the edition is one in which a trait object's type may be written without `dyn`.
    bare_traits: bool,
    /// The structs, enums and unions of the crate.
    sized: HashSet<String>,
    aliases: HashSet<String>,
    /// The types that handles lead to, by the last names of their paths.
    targets: HashSet<String>,
    has_arc: bool,
    accesses_memory: bool,
    hides_cells: bool,
    asks: bool,
    has_destructors: bool,
    coerces: bool,
    /// Definitions, fields, parameters, functions and variables: their names, and the words that describe each.
    definitions: Vec<(Vec<String>, HashSet<String>)>,
    /// The words in the arguments of `Arc`, as a type and as a function.
    shared: HashSet<String>,
}

impl Words {
    fn counting(&self) -> Counting {
        let mut ends: HashSet<&str> = ENDS.iter().copied().collect();
        // A name is that of a channel's end if its description has such a name.
        loop {
            let before = ends.len();
            for (names, said) in &self.definitions {
                if said.iter().any(|word| ends.contains(word.as_str())) {
                    ends.extend(names.iter().map(String::as_str));
                }
            }
            if ends.len() == before {
                break;
            }
        }
        let shares_ends = self.shared.iter().any(|word| ends.contains(word.as_str()));
        let handles = match self.has_arc {
            true if self.has_destructors || shares_ends => Handles::Destructors,
            true if self.asks => Handles::Counted,
            _ => Handles::Plain,
        };
        // A name that isn't known to be a type may be a trait.
        let may_be_trait = |target: &String| {
            let is_parameter = target.len() == 1 && !self.aliases.contains(target);
            let is_sized = is_parameter || target.starts_with("Atomic");
            !is_sized && !self.sized.contains(target) && !SIZED.contains(&target.as_str())
        };
        let bare = self.bare_traits && self.targets.iter().any(may_be_trait);
        Counting {
            handles,
            coerces: self.coerces || bare,
            accesses_memory: self.accesses_memory,
            has_arc: self.has_arc,
            hides_cells: self.hides_cells,
            constant_cells: false,
        }
        .with_memory()
    }

    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for at in 0..tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.read(group.stream()),
                TokenTree::Ident(word) => self.word(&word.to_string(), &tokens, at),
                _ => {}
            }
        }
    }

    fn word(&mut self, word: &str, tokens: &[TokenTree], at: usize) {
        let rest = &tokens[at + 1..];
        self.asks |= ASKS.contains(&word);
        match word {
            "Arc" => {
                self.has_arc = true;
                self.arguments(rest);
            }
            "Weak" => self.target(rest),
            "RefUnwindSafe" => self.hides_cells = true,
            "Drop" => self.has_destructors |= is_word(rest.first(), "for"),
            // A waker is made of a handle by a trait whose methods are called on a handle.
            "dyn" | "Wake" | "Waker" => self.coerces = true,
            "self" => self.coerces |= is_colon(rest),
            "let" | "struct" | "enum" | "type" | "fn" | "static" | "union" => {
                if let (Some(TokenTree::Ident(name)), "struct" | "enum" | "union") =
                    (rest.first(), word)
                {
                    self.sized.insert(name.to_string());
                }
                if let (Some(TokenTree::Ident(name)), "type") = (rest.first(), word) {
                    self.aliases.insert(name.to_string());
                }
                self.definition(rest);
            }
            _ if is_colon(rest) => {
                let said = words(until(&rest[1..], &[',', ';', '=']));
                self.definitions.push((vec![word.to_owned()], said));
            }
            _ if ASKS_OF_ARC.contains(&word) && at >= 2 && is_punct(tokens.get(at - 1), ':') => {
                let of_other = at.checked_sub(3).and_then(|owner| match &tokens[owner] {
                    TokenTree::Ident(owner) => Some(owner.to_string()),
                    _ => None,
                });
                let is_other = of_other.is_some_and(|owner| {
                    OTHERS.contains(&owner.as_str()) || owner.starts_with("Atomic")
                });
                self.asks |= !is_other;
            }
            _ => {}
        }
    }

    /// Reads what follows `Arc`: the type in it, or the value that it is made of.
    fn arguments(&mut self, rest: &[TokenTree]) {
        self.target(rest);
        self.coerces |= is_punct(rest.first(), '<')
            && matches!(rest.get(1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket);
        if is_punct(rest.first(), '<') {
            self.shared.extend(words(until(rest, &[';', '='])));
        } else if is_punct(rest.first(), ':') && !is_word(rest.get(2), "clone") {
            // A handle that is cloned was made at another place, of a value that is looked at there.
            let mut called = rest.iter().take_while(|token| {
                !matches!(token, TokenTree::Punct(punct) if matches!(punct.as_char(), ';' | ','))
            });
            let arguments = called.find_map(|token| match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                    Some(group.stream())
                }
                _ => None,
            });
            let arguments: Vec<TokenTree> = arguments.into_iter().flatten().collect();
            self.shared.extend(words(&arguments));
        }
    }

    /// Reads the type that a handle leads to. A type with another name may lead to anything.
    fn target(&mut self, rest: &[TokenTree]) {
        if is_word(rest.first(), "as") {
            self.targets.extend(rest.get(1).map(ToString::to_string));
        }
        if !is_punct(rest.first(), '<') {
            return;
        }
        let path = rest[1..].iter().take_while(|token| match token {
            TokenTree::Ident(_) => true,
            token => is_punct(Some(token), ':'),
        });
        let last = path.filter(|token| matches!(token, TokenTree::Ident(_)));
        self.targets.extend(last.last().map(ToString::to_string));
    }

    /// Reads what a keyword defines.
    fn definition(&mut self, rest: &[TokenTree]) {
        let end = rest.iter().position(|token| {
            is_punct(Some(token), ';')
                || matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
        });
        // A struct is described by its fields, a function not by its body.
        let is_function = !rest.iter().take(end.unwrap_or(0)).any(|token| is_punct(Some(token), '='))
            && rest
                .iter()
                .take(end.unwrap_or(0))
                .any(|token| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis));
        let length = match end {
            Some(end) if is_function => end,
            Some(end) => end + 1,
            None => rest.len(),
        };
        let rest = &rest[..length.min(rest.len())];
        let equals = rest.iter().position(|token| is_punct(Some(token), '='));
        let (names, said) = match equals {
            Some(equals) => (words(&rest[..equals]), words(&rest[equals..])),
            None => {
                let name: HashSet<String> = words(rest.get(..1).unwrap_or_default());
                (name, words(rest.get(1..).unwrap_or_default()))
            }
        };
        self.definitions.push((names.into_iter().collect(), said));
    }
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// Whether a single `:` comes next. A path that begins with `::` may follow the `:`.
fn is_colon(rest: &[TokenTree]) -> bool {
    matches!(rest.first(), Some(TokenTree::Punct(punct)) if punct.as_char() == ':' && punct.spacing() == Spacing::Alone)
        || is_punct(rest.first(), ':') && !is_punct(rest.get(1), ':')
}

fn is_word(token: Option<&TokenTree>, wanted: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(word)) if word == wanted)
}

/// Returns the tokens up to the first of these characters; the search does not enter groups.
fn until<'t>(tokens: &'t [TokenTree], ends: &[char]) -> &'t [TokenTree] {
    let end = tokens.iter().position(
        |token| matches!(token, TokenTree::Punct(punct) if ends.contains(&punct.as_char())),
    );
    &tokens[..end.unwrap_or(tokens.len())]
}

/// Returns all words in these tokens and in their groups.
fn words(tokens: &[TokenTree]) -> HashSet<String> {
    fn add(tokens: impl IntoIterator<Item = TokenTree>, words: &mut HashSet<String>) {
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    words.insert(word.to_string());
                }
                TokenTree::Group(group) => add(group.stream(), words),
                _ => {}
            }
        }
    }
    let mut found = HashSet::new();
    add(tokens.iter().cloned(), &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::{Counting, Handles, Words};

    fn of(text: &str) -> Counting {
        let mut words = Words::default();
        words.read(text.parse().unwrap());
        words.counting()
    }

    fn handles(text: &str) -> Handles {
        of(text).handles
    }

    #[test]
    fn who_only_shares_is_not_counted() {
        let text =
            "use std::sync::*; fn f() { let x = Arc::new(Mutex::new(5)); let y = Arc::clone(&x); }";
        assert_eq!(handles(text), Handles::Plain);
        let text = "use std::sync::Arc; fn f(x: Mutex<u32>) { x.get_mut(); Mutex::into_inner(x); AtomicU32::into_inner(y); }";
        assert_eq!(handles(text), Handles::Plain);
        assert_eq!(
            handles("fn f(x: Weak<u32>) {}"),
            Handles::Plain,
            "there is no `Arc`"
        );
    }

    #[test]
    fn who_asks_is_counted() {
        for asks in [
            "Arc::strong_count(&x)",
            "Arc::get_mut(&mut x)",
            "A::into_inner(x)",
            "<Arc<u32>>::into_inner(x)",
            "assert!(w.upgrade().is_none())",
            "assert_eq!(1, Arc::weak_count(&x))",
            "list.into_iter().map(Arc::try_unwrap)",
        ] {
            let text = format!("use std::sync::Arc as A; fn f() {{ {asks} }}");
            assert_eq!(handles(&text), Handles::Counted, "{asks}");
        }
    }

    #[test]
    fn destructors_count_where_others_may_see_them() {
        for text in [
            "use std::sync::Arc; struct D; impl Drop for D { fn drop(&mut self) {} }",
            "use std::sync::Arc; struct D<T>(T); impl<T> std::ops::Drop for D<T> { fn drop(&mut self) {} }",
            "fn f(x: Arc<Mutex<Receiver<u32>>>) {}",
            "fn f() { let (tx, rx) = mpsc::channel(); let rx = Arc::new(Mutex::new(rx)); }",
            "struct Pool { jobs: Sender<u32> } fn f(pool: Arc<Pool>) {}",
            "struct Pool { jobs: ::std::sync::mpsc::Sender<u32> } fn f(pool: Arc<Pool>) {}",
            "struct Pool { jobs: Sender<u32> } fn f() { let pool = Pool { jobs }; Arc::new(pool) }",
            "fn make() -> Sender<u32> { todo!() } fn f() { let it = make(); let it = Arc::new(it); }",
        ] {
            assert_eq!(handles(text), Handles::Destructors, "{text}");
        }
        let beside = "fn f() { let (tx, rx) = channel(); let busy = Arc::new(AtomicUsize::new(2)); \
                      let (busy, tx) = (Arc::clone(&busy), tx.clone()); }";
        assert_eq!(handles(beside), Handles::Plain);
    }

    #[test]
    fn who_looks_behind_pointers_sees_what_handles_give_back() {
        let accesses = "fn f(p: *const u32) { unsafe { *p } }";
        let shares = "fn g(x: Arc<u32>) {}";
        let of = |text: &str| {
            let mut words = Words {
                accesses_memory: text.contains("unsafe"),
                ..Words::default()
            };
            words.read(text.parse().unwrap());
            words.counting()
        };
        assert_eq!(of(accesses).handles, Handles::Plain);
        assert_eq!(of(shares).handles, Handles::Plain);
        assert_eq!(
            of(&format!("{accesses} {shares}")).handles,
            Handles::Counted
        );
        // In two crates, too.
        assert_eq!(of(accesses).and(of(shares)).handles, Handles::Counted);
        assert_eq!(of(shares).and(of(shares)).handles, Handles::Plain);
    }

    #[test]
    fn objects_of_traits_without_dyn_are_seen_where_there_may_be_any() {
        let coerces = |text: &str, bare_traits| {
            let mut words = Words {
                bare_traits,
                ..Words::default()
            };
            let text = format!("{text} fn g() {{ Arc::strong_count(&x) }}");
            words.read(text.parse().unwrap());
            words.counting().coerces()
        };
        for bare in [
            "type A = Arc<Any + Send + Sync>;",
            "fn f(x: Arc<any::Any>) {}",
            "struct S { f: Arc<Fn(u8) -> u8> }",
            "fn f(x: Weak<::a::Trait<u8>>) {}",
            "use std::sync::Arc as Handle;",
            "type A = Any + Send; fn f(x: Arc<A>) {}",
        ] {
            assert!(coerces(bare, true), "{bare}");
            assert!(!coerces(bare, false), "{bare}");
        }
        for other in [
            "struct S; fn f<T>(x: Arc<S>, y: Arc<T>, z: Arc<Mutex<Option<T>>>, a: Arc<sync::AtomicU8>) {}",
            "enum E {} union U {} fn f(x: Weak<m::E>, y: Arc<U>, z: Arc<(Mutex<bool>, Condvar)>) {}",
        ] {
            assert!(!coerces(other, true), "{other}");
        }
    }

    #[test]
    fn coercions_are_seen() {
        let asks = "Arc::strong_count(&x)";
        for text in [
            "fn f(x: Arc<dyn Trait>)",
            "fn f(self: Arc<Self>)",
            "fn f(self:&Arc<Self>)",
            "fn f(self: ::std::sync::Arc<Self>)",
            "fn f<W: Wake + Send + Sync + 'static>(x: Arc<W>)",
            "fn f(x: Arc<u8>) -> Waker",
            "fn f(x: Arc<[u8]>)",
        ] {
            assert!(of(&format!("{text} {{ {asks} }}")).coerces(), "{text}");
            assert!(!of(text).coerces(), "{text}");
        }
        assert!(!of(&format!("fn f(self, x: Arc<u32>) {{ self::g(); {asks} }}")).coerces());
    }
}
