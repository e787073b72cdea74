//! The faces of std's items: whatever compiles with std's items compiles with those that seqz puts in their place.
//!
//! Each file in `tests/faces` uses all that is stable in a module of std 1.95: methods, traits, what is `const`, what is `Send`.
//! It is compiled here with std, so that it asks for nothing that std hasn't, and then as a user's crate by seqz.

#![allow(
    dead_code,
    deprecated,
    unused_variables,
    unused_imports,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "the files are there to be compiled"
)]

mod support;

use std::collections::BTreeMap;
use std::path::PathBuf;

use support::{MANIFEST, program, seqz};

/// Fails to compile if a type lacks a trait that a type may have without saying so, or can't be shared.
fn plain<T: Send + Sync + Unpin + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}

macro_rules! lacks {
    ($ty:ty: $($bound:tt)+) => {
        const _: fn() = || {
            trait Either<A> {
                fn it() {}
            }
            impl<T: ?Sized> Either<()> for T {}
            struct Has;
            impl<T: ?Sized + $($bound)+> Either<Has> for T {}
            <$ty as Either<_>>::it();
        };
    };
}

macro_rules! faces {
    ($($file:ident $path:literal),* $(,)?) => {
        use ::std as subject;

        $(
            mod $file {
                use super::subject;
                include!($path);
            }
        )*

        const FILES: &[(&str, &str)] = &[$((stringify!($file), include_str!($path))),*];
    };
}

faces! {
    locks "faces/locks.rs", once "faces/once.rs", channels "faces/channels.rs", atomics "faces/atomics.rs",
    threads "faces/threads.rs", locals "faces/locals.rs", handles "faces/handles.rs", coercions "faces/coercions.rs",
    cells "faces/cells.rs",
}

const ROOT: &str = "\
#![allow(dead_code, deprecated, unused)]

fn plain<T: Send + Sync + Unpin + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}

macro_rules! lacks {
    ($ty:ty: $($bound:tt)+) => {
        const _: fn() = || {
            trait Either<A> {
                fn it() {}
            }
            impl<T: ?Sized> Either<()> for T {}
            struct Has;
            impl<T: ?Sized + $($bound)+> Either<Has> for T {}
            <$ty as Either<_>>::it();
        };
    };
}

#[test]
fn two_threads() {
    let shared = std::sync::Arc::new(std::sync::Mutex::new(0));
    let other = shared.clone();
    let thread = std::thread::spawn(move || *other.lock().unwrap() += 1);
    *shared.lock().unwrap() += 1;
    thread.join().unwrap();
    assert_eq!(*shared.lock().unwrap(), 2);
}
";

/// The crate of all files, with this at the end of its root.
fn all_files(more: &str) -> Vec<(PathBuf, String)> {
    let modules: String = FILES
        .iter()
        .map(|(name, _)| format!("mod {name};\n"))
        .collect();
    let files = FILES.iter().map(|(name, text)| {
        let text = text.replace("subject::", "std::");
        (PathBuf::from(format!("src/{name}.rs")), text)
    });
    let root = format!("{ROOT}\n{modules}\n{more}");
    files
        .chain([
            (PathBuf::from("Cargo.toml"), MANIFEST.to_owned()),
            (PathBuf::from("src/lib.rs"), root),
        ])
        .collect()
}

/// Explores the crate of all files, which has to be built and run for that: its harnesses' verdicts by name. What is reached by
/// its name may be code that is not followed, so that nothing is promised.
fn verdicts(more: &str) -> BTreeMap<String, String> {
    let files = all_files(more);
    let files = files
        .iter()
        .map(|(path, text)| (path.to_str().unwrap(), text.as_str()));
    let directory = program(&files.collect::<Vec<_>>());
    let run = seqz(directory.path(), ["explore", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{}", run.shown());
    let document = run.json();
    let harnesses = document["harnesses"].as_array().unwrap();
    let said = |of: &serde_json::Value, what: &str| of[what].as_str().unwrap().to_owned();
    let all = harnesses.iter();
    all.map(|it| (said(it, "name"), said(it, "verdict")))
        .collect()
}

#[test]
fn what_compiles_with_std_compiles_under_seqz() {
    let all = verdicts("");
    assert!(all.contains_key("two_threads"), "{all:?}");
}

/// Where a program asks for counts, handles are the runtime's as well.
#[test]
fn counted_handles_have_the_same_face() {
    let counted = "
#[test]
fn counts() {
    let shared = std::sync::Arc::new(1);
    let other = shared.clone();
    std::thread::spawn(move || drop(other)).join().unwrap();
    assert_eq!(std::sync::Arc::strong_count(&shared), 1);
}
";
    let all = verdicts(counted);
    assert!(all.contains_key("counts"), "{all:?}");
}
