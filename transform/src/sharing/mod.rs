//! Decides whether a dependency can share anything between threads, by all of its source that is compiled.
//!
//! A dependency is compiled as it is, so what its code shares makes no events. A dependency is harmless only if nothing
//! in it lets threads, or executions, learn of each other.

mod cfg;
mod patterns;
mod tokens;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

pub use cfg::Cfgs;
use patterns::Finder;
pub use patterns::Shared;
pub(crate) use patterns::is_identity;

/// The description of code that a build script writes.
pub const MADE: &str = "code that is made when it is built";

/// The source of a package, as cargo knows it.
#[derive(Clone, Debug)]
pub struct Source {
    /// The directory of the package's manifest.
    pub dir: PathBuf,
    /// The path of the root file of the package's library.
    pub root: PathBuf,
    /// Whether the package is a procedural macro: then only the code that it generates counts.
    pub proc_macro: bool,
    /// The path of the root file of the package's build script, if there is one.
    pub build_script: Option<PathBuf>,
}

/// Looks through a package. Returns what the package could share, the most telling item first; empty: it can't share
/// anything.
pub fn look_through(source: &Source, cfgs: &Cfgs) -> Vec<Shared> {
    // The parser's memory of places is freed with this thread.
    let looked = std::thread::scope(|scope| scope.spawn(|| Look::new(source, cfgs).all()).join());
    looked.unwrap_or_else(|_| vec![unseen("code that can't be read", &source.root)])
}

/// Returns an item without a line.
fn unseen(what: &str, file: &Path) -> Shared {
    Shared {
        what: what.to_owned(),
        file: file.display().to_string(),
        line: 1,
        text: String::new(),
        rank: 9,
        distorts: false,
        declares: None,
        has_events: false,
    }
}

struct Look<'s> {
    source: &'s Source,
    cfgs: &'s Cfgs,
    finder: Finder,
    seen: HashSet<PathBuf>,
    missing: Vec<Shared>,
}

impl<'s> Look<'s> {
    fn new(source: &'s Source, cfgs: &'s Cfgs) -> Self {
        Self {
            source,
            cfgs,
            finder: Finder::default(),
            seen: HashSet::new(),
            missing: Vec::new(),
        }
    }

    fn all(mut self) -> Vec<Shared> {
        let root = self.source.root.clone();
        let dir = root.parent().map(Path::to_path_buf).unwrap_or_default();
        self.file(&root, &dir, &[]);
        let mut found = self.finder.finish();
        found.extend(self.missing);
        found
    }

    /// Looks through a file; `children` is the directory that has the files of its modules.
    fn file(&mut self, path: &Path, children: &Path, private: &[String]) {
        if !self.seen.insert(path.to_path_buf()) {
            return;
        }
        let name = path.strip_prefix(&self.source.dir).unwrap_or(path);
        let tokens = fs::read_to_string(path)
            .ok()
            .and_then(|text| Some((text.parse::<TokenStream>().ok()?, text)));
        let Some((tokens, text)) = tokens else {
            self.missing.push(unseen("code that can't be read", name));
            return;
        };
        let tokens = self.cfgs.active(tokens);
        let shown = name.display().to_string();
        if self.source.proc_macro {
            self.finder.quoted(&shown, &text, tokens.clone());
        } else {
            self.finder.file(&shown, &text, tokens.clone(), private);
        }
        self.modules(path, children, tokens, private);
    }

    /// Looks through the files of `mod name;` and of `include!`, wherever these are.
    fn modules(&mut self, file: &Path, children: &Path, tokens: TokenStream, private: &[String]) {
        let beside = file.parent().map(Path::to_path_buf).unwrap_or_default();
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let punct = |at: usize, wanted: char| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == wanted);
        let mut path = None;
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "mod" => {
                    let Some(TokenTree::Ident(name)) = tokens.get(at + 1) else {
                        continue;
                    };
                    let name = name.to_string();
                    let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
                    let public =
                        at >= 1 && matches!(&tokens[at - 1], TokenTree::Ident(it) if it == "pub");
                    let mut around = private.to_vec();
                    if !public {
                        around.push(name.clone());
                    }
                    let given: Option<String> = path.take();
                    if punct(at + 2, ';') {
                        self.module(&beside, children, &name, given, &around);
                    } else if let Some(TokenTree::Group(body)) = tokens.get(at + 2) {
                        let children =
                            given.map_or_else(|| children.join(&name), |path| beside.join(path));
                        self.modules(file, &children, body.stream(), &around);
                    }
                }
                TokenTree::Ident(word) if word == "include" && punct(at + 1, '!') => {
                    if let Some(TokenTree::Group(arguments)) = tokens.get(at + 2) {
                        self.included(&beside, children, arguments.stream(), private);
                    }
                }
                TokenTree::Group(group)
                    if group.delimiter() == Delimiter::Bracket
                        && punct(at.wrapping_sub(1), '#') =>
                {
                    path = self.path_attribute(group.stream()).or(path);
                }
                // The tokens of an inline module have been visited already.
                TokenTree::Group(group) if group.delimiter() != Delimiter::Bracket => {
                    let of_module =
                        at >= 2 && matches!(&tokens[at - 2], TokenTree::Ident(it) if it == "mod");
                    if !of_module {
                        self.modules(file, children, group.stream(), private);
                    }
                }
                _ => {}
            }
        }
    }

    fn module(
        &mut self,
        beside: &Path,
        children: &Path,
        name: &str,
        given: Option<String>,
        private: &[String],
    ) {
        // A macro's declarations are looked for where the macro is called, mostly in the root.
        let top = self.source.root.parent().map(Path::to_path_buf);
        let top = top.unwrap_or_default();
        if let Some(path) = given {
            for path in [beside.join(&path), top.join(&path)] {
                if path.is_file() {
                    let dir = path.parent().map(Path::to_path_buf).unwrap_or_default();
                    return self.file(&path, &dir, private);
                }
            }
        }
        for dir in [children, &top] {
            for path in [
                dir.join(format!("{name}.rs")),
                dir.join(name).join("mod.rs"),
            ] {
                if path.is_file() {
                    return self.file(&path, &dir.join(name), private);
                }
            }
        }
        self.missing
            .push(unseen("code that can't be found", Path::new(name)));
    }

    fn included(
        &mut self,
        beside: &Path,
        children: &Path,
        arguments: TokenStream,
        private: &[String],
    ) {
        let text = arguments.to_string();
        let mut tokens = arguments.into_iter();
        match (tokens.next(), tokens.next()) {
            (Some(TokenTree::Literal(path)), None) => {
                let path = path.to_string();
                self.file(&beside.join(path.trim_matches('"')), children, private);
            }
            // The code that the macro generates has been looked at.
            _ if self.source.proc_macro => {}
            _ if text.contains("OUT_DIR") && self.writes_nothing_shared() => {}
            _ => {
                self.missing.push(unseen(MADE, Path::new("build.rs")));
            }
        }
    }

    /// Whether no string in the build script, which makes code of its strings, has a word by which something could be
    /// shared.
    fn writes_nothing_shared(&self) -> bool {
        let text = self
            .source
            .build_script
            .as_ref()
            .and_then(|path| fs::read_to_string(path).ok());
        let Some(tokens) = text.and_then(|text| text.parse::<TokenStream>().ok()) else {
            return false;
        };
        fn clean(tokens: TokenStream) -> bool {
            tokens.into_iter().all(|token| match token {
                TokenTree::Group(group) => clean(group.stream()),
                TokenTree::Literal(literal) => {
                    let literal = literal.to_string();
                    let words = [
                        "sync", "Atomic", "Cell", "static", "unsafe", "thread", "extern", "Mutex",
                        "Lock", "include",
                    ];
                    !words.iter().any(|word| literal.contains(word))
                }
                _ => true,
            })
        }
        clean(tokens)
    }

    /// Returns the file that `#[path = "…"]` names, or `#[cfg_attr(…, path = "…")]` where its predicate holds.
    fn path_attribute(&self, attribute: TokenStream) -> Option<String> {
        let tokens: Vec<TokenTree> = attribute.into_iter().collect();
        match &tokens[..] {
            [
                TokenTree::Ident(name),
                TokenTree::Punct(_),
                TokenTree::Literal(path),
            ] if name == "path" => Some(path.to_string().trim_matches('"').to_owned()),
            [TokenTree::Ident(name), TokenTree::Group(arguments)] if name == "cfg_attr" => {
                let arguments: Vec<TokenTree> = arguments.stream().into_iter().collect();
                let comma = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
                let mut parts = arguments.split(comma);
                let holds = self.cfgs.holds(parts.next()?) != Some(false);
                let mut attributes = parts.filter(|_| holds);
                attributes.find_map(|part| self.path_attribute(part.iter().cloned().collect()))
            }
            _ => None,
        }
    }
}
