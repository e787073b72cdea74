//! Positions: from every token of the generated text back to the user's.

use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use seqz_transform::{Generated, Mode, Options, Program};

fn input(name: &str) -> (Program, Generated) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/inputs")
        .join(name);
    let program = Program::load(&path, Mode::Sequential).unwrap();
    let generated = program.transform(&Options::default()).unwrap();
    (program, generated)
}

/// Every token with its place; groups by their brackets' insides.
fn tokens(stream: TokenStream, all: &mut Vec<TokenTree>) {
    for token in stream {
        if let TokenTree::Group(group) = &token {
            tokens(group.stream(), all);
        } else {
            all.push(token);
        }
    }
}

/// The text of a file from a position on, columns in characters.
fn text_at(text: &str, line: u32, col: u32) -> &str {
    let line_text = text.lines().nth(line as usize - 1).unwrap();
    let at = line_text
        .char_indices()
        .nth(col as usize - 1)
        .map_or(line_text.len(), |(at, _)| at);
    &line_text[at..]
}

#[test]
fn tokens_map_to_themselves() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
    for entry in std::fs::read_dir(directory).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let (program, generated) = input(&name);
        let source = program.source(program.root()).unwrap();
        let text = generated.files[0]
            .1
            .strip_suffix("\npub mod p_hat;\n")
            .unwrap();
        let mut all = Vec::new();
        tokens(text.parse().unwrap(), &mut all);
        let mut copied = 0;
        for token in &all {
            // The `'` of a lifetime and the parts of `::` are tokens, and a doc comment is several at one place.
            let start = token.span().start();
            let (line, col) = (start.line as u32, start.column as u32 + 1);
            let origin = generated.map.lookup("src/lib.rs", line, col).unwrap();
            assert_eq!(origin.line, line, "{name}: lines are kept");
            let written = text_at(text, line, col);
            let original = text_at(source, origin.line, origin.col);
            if let TokenTree::Ident(ident) = token
                && original.starts_with(&ident.to_string())
            {
                assert!(written.starts_with(&ident.to_string()));
                copied += 1;
            }
            assert!(
                !original.is_empty() && !original.starts_with(' '),
                "{name}:{line}:{col} leads to a token"
            );
        }
        assert!(copied > 50, "{name}");
        // And backwards: every identifier of the original that is not replaced is reached.
        let mut originals = Vec::new();
        tokens(source.parse().unwrap(), &mut originals);
        let reached: std::collections::HashSet<(u32, u32)> = all
            .iter()
            .filter_map(|token| {
                let start = token.span().start();
                let origin = generated.map.lookup(
                    "src/lib.rs",
                    start.line as u32,
                    start.column as u32 + 1,
                )?;
                Some((origin.line, origin.col))
            })
            .collect();
        let missed = originals
            .iter()
            .filter(|token| matches!(token, TokenTree::Ident(_)))
            .filter(|token| {
                let start = token.span().start();
                !reached.contains(&(start.line as u32, start.column as u32 + 1))
            })
            .map(ToString::to_string)
            .collect::<std::collections::BTreeSet<_>>();
        let replaced = [
            "mut",
            "test",
            "std",
            "Arc",
            "strong_count",
            "try_unwrap",
            "crate",
            "extern",
            "as",
            "stdlib",
            "should_panic",
            "ignore",
            "no_std",
            "super",
            "in",
            "cfg",
            "LEVEL",
            "COUNT",
            "FLAG",
            "GRID",
            "ORIGIN",
            "LOG",
            "PAIR",
            "lines",
            "push",
            "y",
            "inner",
            "i",
            "DEPTH",
            "seqz",
            "Number",
            "sync",
            "println",
            "i",
        ];
        let unexpected: Vec<_> = missed
            .iter()
            .filter(|word| !replaced.contains(&word.as_str()))
            .collect();
        assert!(unexpected.is_empty(), "{name}: {unexpected:?}");
    }
}

/// The generated position of the `n`-th occurrence of some text.
fn find(text: &str, what: &str, offset: usize) -> (u32, u32) {
    let at = text.find(what).unwrap_or_else(|| panic!("no {what}")) + offset;
    let before = &text[..at];
    let line = before.matches('\n').count() as u32 + 1;
    let col = before.rsplit('\n').next().unwrap().chars().count() as u32 + 1;
    (line, col)
}

#[test]
fn sites_have_names() {
    let (_, generated) = input("positions.rs");
    let text = &generated.files[0].1;
    let site = |what: &str, offset: usize| {
        let (line, col) = find(text, what, offset);
        let origin = generated
            .map
            .lookup("/tmp/out/src/lib.rs", line, col)
            .unwrap();
        (
            origin.name.unwrap_or_default(),
            origin.text.unwrap_or_default(),
            origin.line,
            origin.col,
        )
    };
    // A method's name is where #[track_caller] sees the call, whatever stands before it.
    let (name, text, line, col) = site("b.größe.fetch_add", 10);
    assert_eq!(
        (name.as_str(), text.as_str()),
        ("größe", "b.größe.fetch_add(1, Ordering::SeqCst)")
    );
    assert_eq!((line, col), (11, 59));
    assert_eq!(site("b.inner.lock()", 8).0, "inner");
    // A dereference of a guard has the lock's name.
    assert_eq!(site("guard.push(1)", 0).0, "inner");
    assert_eq!(site("*a.inner.lock()", 0).0, "inner");
    // A `static mut`: both generated accesses lead to the one in the source.
    assert_eq!(site("ÜBER.set(", 6), site("ÜBER.get() + 1", 6));
    assert_eq!(site("ÜBER.get() + 1", 6).0, "ÜBER");
    // Comments and line breaks between the receiver and the name.
    assert_eq!(site("store(3", 0).0, "größe");
    assert_eq!(site("store(3", 0).2, 14);
}

#[test]
fn the_runtime_is_not_the_program() {
    let (_, generated) = input("positions.rs");
    assert!(generated.map.lookup("src/lib.rs", 3, 1).is_some());
    assert!(
        generated
            .map
            .lookup("somewhere/p-hat/src/lib.rs", 3, 1)
            .is_some()
    );
    assert!(generated.map.lookup("runtime/src/lib.rs", 3, 1).is_none());
    assert!(generated.map.lookup("src/p_hat.rs", 3, 1).is_none());
    assert!(generated.map.lookup("src/lib.rs", 9999, 1).is_none());
}
