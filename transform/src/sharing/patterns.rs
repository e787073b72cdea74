//! Finds what a dependency's code could share between threads, or between executions, in its tokens, including those of
//! its macros.

use std::collections::HashMap;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use serde::{Deserialize, Serialize};

use super::tokens::{body, end_of_item, flatten, is_item, is_punct, is_word, line_of, until, word};
use crate::unsafe_code;

/// Something that could be shared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shared {
    /// A description, as in "a `Mutex`".
    pub what: String,
    /// The path of the file, relative to the package.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The text of the line.
    pub text: String,
    /// The rank, the most telling first.
    pub rank: u32,
    /// Whether the item does not tell apart threads that share a thread of the system.
    pub distorts: bool,
    /// The name, where the item is only declared here; it has these effects in code that mentions the name.
    pub declares: Option<String>,
    /// Whether the item is one of std's that has events where the package is followed.
    pub has_events: bool,
}

impl Shared {
    /// Whether the item gives threads memory that they share, and nothing by which they could order their accesses.
    #[must_use]
    pub fn only_accesses(&self) -> bool {
        let is_cell = matches!(self.what.as_str(), "an `UnsafeCell`" | "a `SyncUnsafeCell`");
        is_cell || self.what.starts_with("an `unsafe impl ") || unsafe_code::is_access(&self.what)
    }
}

/// Types of std through which threads share.
const TYPES: &[(&str, &str)] = &[
    ("Arc", "an `Arc`"),
    ("Barrier", "a `Barrier`"),
    ("Condvar", "a `Condvar`"),
    ("LazyLock", "a `LazyLock`"),
    ("Mutex", "a `Mutex`"),
    ("Once", "a `Once`"),
    ("OnceLock", "a `OnceLock`"),
    ("RwLock", "a `RwLock`"),
    ("mpsc", "a channel"),
    ("mpmc", "a channel"),
    ("UnsafeCell", "an `UnsafeCell`"),
    ("SyncUnsafeCell", "a `SyncUnsafeCell`"),
];

const ATOMICS: &[&str] = &[
    "AtomicBool",
    "AtomicI8",
    "AtomicI16",
    "AtomicI32",
    "AtomicI64",
    "AtomicI128",
    "AtomicIsize",
    "AtomicPtr",
    "AtomicU8",
    "AtomicU16",
    "AtomicU32",
    "AtomicU64",
    "AtomicU128",
    "AtomicUsize",
];

/// Words that tell one thread of the system from another.
const IDENTITIES: &[&str] = &[
    "ReentrantLock",
    "ReentrantMutex",
    "RawReentrantMutex",
    "ThreadId",
    "gettid",
    "pthread_self",
    "const_reentrant_mutex",
    "SYS_gettid",
];

/// Whether a word tells one thread of the system from another.
pub(crate) fn is_identity(word: &str) -> bool {
    IDENTITIES.contains(&word)
}

/// The words before a name that is declared.
const DECLARING: &[&str] = &[
    "fn", "struct", "enum", "union", "type", "trait", "const", "mod",
];

/// Returns the description of such a type, if the word names one.
fn shared_type(word: &str) -> Option<String> {
    if ATOMICS.contains(&word) {
        return Some(format!("an `{word}`"));
    }
    let known = TYPES.iter().find(|(name, _)| *name == word);
    known.map(|(_, what)| (*what).to_owned())
}

/// What was found in the files of one package.
#[derive(Default)]
pub(super) struct Finder {
    pub(super) found: Vec<Shared>,
    /// For each of the package's `macro_rules!`, whether its body declares something that could hold a shared value.
    macros: HashMap<String, bool>,
    /// Macro calls between items that mention shared types: the macro's name, and the item that would be found.
    pending: Vec<(String, Shared)>,
    /// Shared types that a module re-exports, with the private modules around.
    passed_on: Vec<(Vec<String>, Shared)>,
    /// Modules that are re-exported as a whole.
    opened: Vec<String>,
    file: String,
    lines: Vec<String>,
    /// The types in this file that tell threads apart.
    declared: Vec<String>,
    /// Whether the visit is in the body of a function that tells threads apart itself: such a function is judged where
    /// it is called.
    defines: bool,
}

impl Finder {
    /// Looks through a file, which has only the tokens that are compiled. `private` is the module's path, as far as it
    /// is private.
    pub(super) fn file(&mut self, name: &str, text: &str, tokens: TokenStream, private: &[String]) {
        self.file = name.to_owned();
        self.lines = text.lines().map(str::to_owned).collect();
        self.declared.clear();
        declared(tokens.clone(), &mut self.declared);
        let mut hidden = Vec::new();
        unsafe_code::find(tokens.clone(), &mut hidden);
        for (at, what) in hidden {
            let line = text.as_bytes()[..at.min(text.len())]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            self.add_at(line as u32 + 1, what.to_owned(), 6, false);
        }
        self.items(tokens, private);
    }

    /// Looks through the code that a procedural macro generates: the arguments of `quote!` and similar macros.
    pub(super) fn quoted(&mut self, name: &str, text: &str, tokens: TokenStream) {
        self.file = name.to_owned();
        self.lines = text.lines().map(str::to_owned).collect();
        self.quotes(tokens);
    }

    fn quotes(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            let TokenTree::Group(group) = token else {
                continue;
            };
            let quoting = at >= 2
                && is_punct(&tokens, at - 1, '!')
                && matches!(&tokens[at - 2], TokenTree::Ident(it) if it.to_string().contains("quote"));
            if quoting {
                self.code(group.stream());
            } else {
                self.quotes(group.stream());
            }
        }
    }

    /// Returns all that was found, once all files have been looked through.
    pub(super) fn finish(mut self) -> Vec<Shared> {
        for (macro_, shared) in std::mem::take(&mut self.pending) {
            if self.macros.get(&macro_).copied().unwrap_or(true) {
                self.found.push(shared);
            }
        }
        for (private, shared) in std::mem::take(&mut self.passed_on) {
            if private.iter().all(|module| self.opened.contains(module)) {
                self.found.push(shared);
            }
        }
        self.found.sort_by_key(|shared| shared.rank);
        self.found
    }

    fn shared(&self, line: u32, what: String, rank: u32, distorts: bool) -> Shared {
        let text = self.lines.get(line as usize - 1);
        Shared {
            has_events: has_events(&what),
            what,
            file: self.file.clone(),
            line,
            text: text.map_or_else(String::new, |text| text.trim().to_owned()),
            rank,
            distorts,
            declares: None,
        }
    }

    fn add_at(&mut self, line: u32, what: String, rank: u32, distorts: bool) {
        // One item of a kind is enough for a package.
        let known = |it: &Shared| it.what == what && it.distorts == distorts;
        if !self.found.iter().any(known) {
            let shared = self.shared(line, what, rank, distorts);
            self.found.push(shared);
        }
    }

    fn add(&mut self, span: Span, what: impl Into<String>, rank: u32) {
        self.add_at(line_of(span), what.into(), rank, false);
    }

    fn add_distorting(&mut self, span: Span, what: impl Into<String>, rank: u32) {
        self.add_at(line_of(span), what.into(), rank, true);
    }

    /// Handles a word by which threads are told apart: the word is used, or only declared, as in a library that other
    /// code calls.
    fn identity(&mut self, tokens: &[TokenTree], at: usize, word: &str, span: Span) {
        let what = format!("`{word}`");
        if at >= 1 && DECLARING.iter().any(|it| is_word(tokens, at - 1, it)) {
            let known = |it: &Shared| it.declares.as_deref() == Some(word);
            if !self.found.iter().any(known) {
                let shared = self.shared(line_of(span), what, 4, false);
                self.found.push(Shared {
                    declares: Some(word.to_owned()),
                    ..shared
                });
            }
            return;
        }
        let of_declaration = if word.starts_with(char::is_lowercase) || word.starts_with("SYS_") {
            // `macro!(name)` is about the name, and does not call it.
            self.defines || tokens.len() == 1
        } else {
            self.declared.iter().any(|declared| declared == word)
        };
        if !of_declaration {
            self.add_distorting(span, what, 4);
        }
    }

    /// Looks through the items of a module.
    fn items(&mut self, tokens: TokenStream, private: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if is_punct(&tokens, at, '#') {
                // As in `#[…]` or `#![…]`.
                let group = at + 1 + usize::from(is_punct(&tokens, at + 1, '!'));
                if let Some(TokenTree::Group(attribute)) = tokens.get(group) {
                    self.code(attribute.stream());
                }
                at = group + 1;
                continue;
            }
            let word = word(&tokens, at);
            match word.as_deref() {
                Some("use") => {
                    let end = until(&tokens, at, ';');
                    let public = at >= 1 && is_word(&tokens, at - 1, "pub");
                    if public {
                        self.import(&tokens[at + 1..end.min(tokens.len())], private);
                    }
                    at = end + 1;
                }
                Some("impl") => {
                    let end = body(&tokens, at);
                    self.implementation(&tokens, at, end, private);
                    at = end + 1;
                }
                Some("mod") if matches!(tokens.get(at + 2), Some(TokenTree::Group(_))) => {
                    let name = self::word(&tokens, at + 1).unwrap_or_default();
                    let mut around = private.to_vec();
                    if !(at >= 1 && is_word(&tokens, at - 1, "pub")) {
                        around.push(name);
                    }
                    if let Some(TokenTree::Group(group)) = tokens.get(at + 2) {
                        self.items(group.stream(), &around);
                    }
                    at += 3;
                }
                Some("macro_rules") if is_punct(&tokens, at + 1, '!') => {
                    let name = self::word(&tokens, at + 2).unwrap_or_default();
                    if let Some(TokenTree::Group(body)) = tokens.get(at + 3) {
                        self.macros.insert(name, declares(body.stream()));
                        self.code(body.stream());
                    }
                    at += 4;
                }
                Some(name)
                    if is_punct(&tokens, at + 1, '!')
                        && matches!(tokens.get(at + 2), Some(TokenTree::Group(_))) =>
                {
                    let name = name.to_owned();
                    if let Some(TokenTree::Group(group)) = tokens.get(at + 2) {
                        self.invocation(&name, tokens[at].span(), group);
                    }
                    at += 3;
                }
                _ => {
                    // One item, from here to its end.
                    let end = end_of_item(&tokens, at);
                    let item: TokenStream = tokens[at..end].iter().cloned().collect();
                    self.code(item);
                    at = end.max(at + 1);
                }
            }
        }
    }

    /// `impl … for Mutex<T>` is for code that has a lock, and does not show that any code has one.
    fn implementation(&mut self, tokens: &[TokenTree], at: usize, end: usize, private: &[String]) {
        let header = &tokens[at..end.min(tokens.len())];
        let is_unsafe = at >= 1 && is_word(tokens, at - 1, "unsafe");
        let negative = header.windows(2).any(|pair| {
            is_punct(pair, 0, '!')
                && matches!(&pair[1], TokenTree::Ident(it) if it == "Send" || it == "Sync")
        });
        let promise = header.iter().find_map(|token| match token {
            TokenTree::Ident(it) if it == "Send" || it == "Sync" => Some(it.clone()),
            _ => None,
        });
        if let Some(promise) = promise.filter(|_| is_unsafe && !negative) {
            self.add(promise.span(), format!("an `unsafe impl {promise}`"), 3);
        }
        let for_ = header
            .iter()
            .rposition(|token| matches!(token, TokenTree::Ident(it) if it == "for"));
        let of_type = for_.map_or(&header[..0], |at| &header[at + 1..]);
        let mut of_shared = false;
        for token in of_type {
            match token {
                TokenTree::Ident(it) => of_shared = shared_type(&it.to_string()).is_some(),
                TokenTree::Punct(it) if it.as_char() == '<' => break,
                _ => {}
            }
        }
        if of_shared {
            return;
        }
        self.code(header.iter().cloned().collect());
        if let Some(TokenTree::Group(group)) = tokens.get(end) {
            let _ = private;
            self.code(group.stream());
        }
    }

    /// Looks at a macro call between items. What the macro makes of a type that it gets depends on what the macro
    /// declares.
    fn invocation(&mut self, name: &str, span: Span, group: &proc_macro2::Group) {
        if matches!(name, "thread_local" | "__thread_local_inner") {
            return self.add(span, "a thread-local", 4);
        }
        let before = self.found.len();
        let known = std::mem::take(&mut self.found);
        self.code(group.stream());
        let inside = std::mem::replace(&mut self.found, known);
        let mut declares = false;
        look_for_declarations(group.stream(), &mut declares);
        for shared in inside {
            if shared_name(&shared.what) && !declares {
                self.pending.push((name.to_owned(), shared));
            } else if !self.found.iter().any(|it| it.what == shared.what) {
                self.found.push(shared);
            }
        }
        debug_assert!(self.found.len() >= before);
    }

    /// Looks at a `pub use`, without these two words.
    fn import(&mut self, tree: &[TokenTree], private: &[String]) {
        let mut words = Vec::new();
        flatten(tree, &mut words);
        if let [.., (module, _), (star, _)] = &words[..]
            && star == "*"
        {
            self.opened.push(module.clone());
        }
        let of_std = words
            .first()
            .is_some_and(|(first, _)| matches!(first.as_str(), "std" | "core" | "alloc"));
        for (word, span) in words.iter().filter(|_| of_std) {
            if let Some(what) = shared_type(word) {
                let shared = self.shared(line_of(*span), what, 1, false);
                self.passed_on.push((private.to_vec(), shared));
            }
        }
    }

    /// Looks through any code.
    fn code(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.code(group.stream()),
                TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    if word == "use" && at + 1 < tokens.len() {
                        at = until(&tokens, at, ';') + 1;
                        continue;
                    }
                    if word == "impl"
                        && matches!(tokens.get(body(&tokens, at)), Some(TokenTree::Group(_)))
                        && is_item(&tokens, at)
                    {
                        let end = body(&tokens, at);
                        self.implementation(&tokens, at, end, &[]);
                        at = end + 1;
                        continue;
                    }
                    if word == "fn" && defines(&tokens, at) {
                        let end = body(&tokens, at);
                        self.word(&tokens, at + 1, &tokens[at + 1].to_string(), ident.span());
                        let before = std::mem::replace(&mut self.defines, true);
                        self.code(tokens[at + 2..=end].iter().cloned().collect());
                        self.defines = before;
                        at = end + 1;
                        continue;
                    }
                    self.word(&tokens, at, &word, ident.span());
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn word(&mut self, tokens: &[TokenTree], at: usize, word: &str, span: Span) {
        let path_goes_on = is_punct(tokens, at + 1, ':') && is_punct(tokens, at + 2, ':');
        let next = if path_goes_on {
            self::word(tokens, at + 3)
        } else {
            None
        };
        let of = |module: &str| {
            at >= 3
                && is_punct(tokens, at - 1, ':')
                && is_punct(tokens, at - 2, ':')
                && is_word(tokens, at - 3, module)
        };
        if let Some(what) = shared_type(word) {
            // `Once` and other words are names of other things, too: of iterators, or of items that the crate declares.
            let declared = ["mod", "struct", "enum", "trait", "fn"];
            let other = word == "Once" && of("iter")
                || at >= 1 && declared.iter().any(|it| is_word(tokens, at - 1, it));
            let rank = match word {
                "Arc" => 5,
                "UnsafeCell" | "SyncUnsafeCell" => 2,
                word if word.starts_with("Atomic") => 1,
                _ => 0,
            };
            if !other {
                self.add(span, what, rank);
            }
            return;
        }
        if is_identity(word) {
            return self.identity(tokens, at, word, span);
        }
        let next = next.as_deref();
        match (word, next) {
            ("static", _) if is_word(tokens, at + 1, "mut") => {
                // One without a value is another language's, as libc declares `environ`.
                let end = until(tokens, at, ';');
                if (at..end).any(|at| is_punct(tokens, at, '=')) {
                    self.add(span, "a `static mut`", 2);
                } else {
                    self.add(span, "what is not written in Rust", 6);
                }
            }
            ("thread_local", _) => self.add(span, "a thread-local", 4),
            ("thread", Some(name @ ("spawn" | "Builder" | "scope"))) => {
                self.add_distorting(span, format!("a thread of its own, by `thread::{name}`"), 0);
            }
            ("thread", Some(name @ ("current" | "park" | "park_timeout"))) => {
                self.add_distorting(span, format!("`thread::{name}`"), 4);
            }
            ("thread", Some(name @ ("sleep" | "yield_now" | "panicking")))
                if name != "panicking" =>
            {
                self.add(span, format!("`thread::{name}`"), 7);
            }
            ("spin_loop" | "spin_loop_hint", _) => self.add(span, "a loop that waits", 5),
            ("extern", _) => {
                let block = match (tokens.get(at + 1), tokens.get(at + 2)) {
                    (Some(TokenTree::Group(block)), _) => Some(block),
                    (Some(TokenTree::Literal(_)), Some(TokenTree::Group(block))) => Some(block),
                    _ => None,
                };
                let declares = |block: &proc_macro2::Group| {
                    let mut words = block.stream().into_iter();
                    block.delimiter() == Delimiter::Brace
                        && words.any(
                            |it| matches!(it, TokenTree::Ident(it) if it == "fn" || it == "static"),
                        )
                };
                if block.is_some_and(declares) {
                    self.add(span, "what is not written in Rust", 6);
                }
            }
            ("asm" | "global_asm" | "naked_asm", _) if is_punct(tokens, at + 1, '!') => {
                self.add(span, "assembly", 6);
            }
            ("link_section", _) => self.add(span, "a section of its own", 6),
            ("fs", Some(name))
                if !name.starts_with("read")
                    && !name.starts_with(char::is_uppercase)
                    && !matches!(
                        name,
                        "metadata" | "symlink_metadata" | "canonicalize" | "exists"
                    ) =>
            {
                self.add(span, format!("a file: `fs::{name}`"), 7);
            }
            ("File", Some(name)) if name.starts_with("create") || name == "options" => {
                self.add(span, format!("a file: `File::{name}`"), 7);
            }
            ("OpenOptions", _) => self.add(span, "a file: `OpenOptions`", 7),
            (
                "TcpStream" | "TcpListener" | "UdpSocket" | "UnixStream" | "UnixListener"
                | "UnixDatagram",
                Some(_),
            ) => {
                self.add(span, format!("a socket: `{word}`"), 7);
            }
            ("Command", Some("new"))
                if of("process") || self.lines.iter().any(|line| line.contains("std::process")) =>
            {
                self.add(span, "another process", 7);
            }
            ("env", Some(name @ ("set_var" | "remove_var" | "set_current_dir"))) => {
                self.add(span, format!("the environment: `env::{name}`"), 7);
            }
            ("Instant" | "SystemTime", Some("now")) => {
                self.add(span, format!("the clock: `{word}::now`"), 8)
            }
            ("stdin", _) if of("io") => self.add(span, "standard input", 8),
            _ => {}
        }
    }
}

/// Whether `fn` defines a function here that tells threads apart.
fn defines(tokens: &[TokenTree], at: usize) -> bool {
    let name = word(tokens, at + 1);
    let end = body(tokens, at);
    name.is_some_and(|name| is_identity(&name))
        && end < tokens.len()
        && end < until(tokens, at, ';')
}

/// Collects the types that tell threads apart and are declared in these tokens, unless an item there keeps one of them:
/// a static, or a field of another type. Items that belong to such a type, such as its guards, are named after it.
fn declared(tokens: TokenStream, found: &mut Vec<String>) {
    let mut kept = Vec::new();
    declarations(tokens, found, &mut kept);
    found.retain(|name| !kept.contains(name));
}

fn declarations(tokens: TokenStream, found: &mut Vec<String>, kept: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for at in 0..tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => declarations(group.stream(), found, kept),
            TokenTree::Ident(keyword) => {
                let Some(name) = word(&tokens, at + 1) else {
                    continue;
                };
                let is_type = matches!(
                    keyword.to_string().as_str(),
                    "struct" | "enum" | "union" | "type"
                );
                if is_type && is_identity(&name) {
                    found.push(name);
                } else if is_type && !name.contains("Reentrant") || keyword == "static" {
                    let end = end_of_item(&tokens, at);
                    words(&tokens[at..end], kept);
                }
            }
            _ => {}
        }
    }
}

/// Collects the words in these tokens that tell threads apart.
fn words(tokens: &[TokenTree], found: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) if is_identity(&word.to_string()) => {
                found.push(word.to_string());
            }
            TokenTree::Group(group) => {
                words(&group.stream().into_iter().collect::<Vec<_>>(), found);
            }
            _ => {}
        }
    }
}

/// Whether an item with this description has events where its package is followed.
fn has_events(what: &str) -> bool {
    let of_threads = ["a thread", "`thread::", "`ThreadId`"];
    shared_name(what)
        || of_threads.iter().any(|start| what.starts_with(start))
        || matches!(what, "a channel" | "a `static mut`" | "a loop that waits")
}

/// Whether the item that was found is a type, by its name.
fn shared_name(what: &str) -> bool {
    let name = what.split('`').nth(1).unwrap_or_default();
    shared_type(name).is_some()
}

/// Whether a macro's body declares something that could hold a value of a type that the macro gets.
fn declares(body: TokenStream) -> bool {
    let mut found = false;
    look_for_declarations(body, &mut found);
    found
}

fn look_for_declarations(tokens: TokenStream, found: &mut bool) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => {
                *found |= matches!(
                    word.to_string().as_str(),
                    "static" | "struct" | "enum" | "union" | "type" | "thread_local"
                );
            }
            TokenTree::Group(group) => look_for_declarations(group.stream(), found),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
