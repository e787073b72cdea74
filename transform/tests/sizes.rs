//! Sizes of types that the runtime has its own version of are those of std, or are named.

use std::fs;
use std::path::Path;

use seqz_transform::{Mode, Options, Program};

/// What a program becomes, and what of its harnesses is not followed.
fn transformed(text: &str) -> (String, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("p.rs");
    fs::write(&file, text).unwrap();
    let program = Program::load(&file, Mode::Scheduled).unwrap();
    let harnesses = program.harnesses().iter();
    let hidden = harnesses.flat_map(|harness| harness.unfollowed.iter().map(|it| it.what.clone()));
    let hidden = hidden.collect();
    let generated = program.transform(&Options::default()).unwrap();
    let mut files = generated.files.into_iter();
    let (_, text) = files
        .find(|(path, _)| path == Path::new("src/lib.rs"))
        .unwrap();
    (text, hidden)
}

const HEAD: &str = "
use std::mem::{self, align_of};
use std::sync::{Arc, Mutex as Lock, atomic::*};
struct Own { _n: [AtomicU8; 2] }
struct Around(Option<Own>);
struct Behind(Arc<Own>, &'static Lock<u8>, Vec<AtomicU8>);
struct Plain(u8, Ordering);
#[test]
fn starts() {
    std::thread::spawn(|| ());
";

#[test]
fn of_a_type_of_std_it_is_std_that_is_measured() {
    let text = format!(
        "{HEAD} size_of::<AtomicU64>(); mem::size_of::<Option<Lock<AtomicBool>>>(); \
         std::mem::align_of::<::std::sync::RwLock<[u8; 3]>>(); align_of::<(u8, core::sync::atomic::AtomicI8)>(); \
         size_of::<Behind>(); size_of::<Plain>(); size_of::<(Box<Own>, &Lock<u8>)>(); size_of::<u64>(); let _: AtomicU64; }}"
    );
    let (text, hidden) = transformed(&text);
    for measured in [
        "size_of::<::std::sync::atomic::AtomicU64>()",
        "mem::size_of::<Option<::std::sync::Mutex<::std::sync::atomic::AtomicBool>>>()",
        "align_of::<::std::sync::RwLock<[u8; 3]>>()",
        "align_of::<(u8, ::std::sync::atomic::AtomicI8)>()",
        "size_of::<Behind>()",
        "let _: AtomicU64;",
    ] {
        assert!(text.contains(measured), "{measured} in {text}");
    }
    assert_eq!(hidden, [""; 0]);
}

#[test]
fn of_a_type_of_the_program_it_is_named() {
    for (measured, of) in [
        ("size_of::<Own>()", "Own"),
        ("mem::align_of::<[self::Around; 2]>()", "self::Around"),
        (
            "assert_eq!(std::mem::size_of::<Option<Around>>(), 8)",
            "Around",
        ),
    ] {
        let (text, hidden) = transformed(&format!("{HEAD} {measured}; }}"));
        let named = format!("the size of `{of}`, which is another one here");
        assert_eq!(hidden, [named], "{text}");
    }
}

#[test]
fn beside_unsafe_code_nothing_else_is_measured_than_what_is_there() {
    let text = format!("{HEAD} size_of::<Lock<u8>>(); unsafe {{}} }}");
    let (text, hidden) = transformed(&text);
    assert!(text.contains("size_of::<Lock<u8>>()"), "{text}");
    assert_eq!(
        hidden,
        ["the size of `std::sync::Mutex`, which is another one here"]
    );
}
