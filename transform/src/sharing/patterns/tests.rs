//! What is found in small texts.

use super::*;

fn found(text: &str) -> Vec<String> {
    let mut finder = Finder::default();
    finder.file("src/lib.rs", text, text.parse().unwrap(), &[]);
    let found = finder.finish();
    found
        .into_iter()
        .map(|it| {
            format!(
                "{}{} {}",
                match (it.distorts, &it.declares) {
                    (true, _) => "!",
                    (_, Some(_)) => "declares ",
                    _ => "",
                },
                it.what,
                it.line
            )
        })
        .collect()
}

#[test]
fn what_can_share_is_found() {
    for (text, wanted) in [
        ("use std::sync::Mutex;\nstruct S(Mutex<()>);", "a `Mutex` 2"),
        (
            "static N: std::sync::atomic::AtomicUsize = f();",
            "an `AtomicUsize` 1",
        ),
        ("\n\nstatic mut X: u8 = 0;", "a `static mut` 3"),
        (
            "extern \"C\" {\n pub static mut environ: *mut u8; }",
            "what is not written in Rust 1",
        ),
        ("unsafe impl<T> Send for S<T> {}", "an `unsafe impl Send` 1"),
        ("thread_local! { static A: u8 = 1; }", "a thread-local 1"),
        (
            "fn f() { std::thread::spawn(g); }",
            "!a thread of its own, by `thread::spawn` 1",
        ),
        (
            "extern \"C\" { fn getpid() -> i32; }",
            "what is not written in Rust 1",
        ),
        (
            "fn f(p: *const u8) -> u8 {\n unsafe { *p } }",
            "memory behind a raw pointer 2",
        ),
        ("pub use std::sync::RwLock;", "a `RwLock` 1"),
        (
            "mod m { pub use std::sync::RwLock; } pub use m::*;",
            "a `RwLock` 1",
        ),
        (
            "macro_rules! m { () => { std::sync::Mutex::new(()) } }",
            "a `Mutex` 1",
        ),
        (
            "macro_rules! g { ($t:ty) => { static X: $t = f(); } } g!(Mutex<u8>);",
            "a `Mutex` 1",
        ),
        (
            "pub fn f() -> impl Fn() { let m = OnceLock::new(); }",
            "a `OnceLock` 1",
        ),
        (
            "fn f() { loop { std::hint::spin_loop() } }",
            "a loop that waits 1",
        ),
        ("fn f() { std::fs::write(a, b) }", "a file: `fs::write` 1"),
        (
            "fn f() { std::env::set_var(a, b) }",
            "the environment: `env::set_var` 1",
        ),
        (
            "lazy_static! { static ref A: Mutex<u8> = f(); }",
            "a `Mutex` 1",
        ),
        (
            "fn f() { impl S { fn g() { Condvar::new(); } } }",
            "a `Condvar` 1",
        ),
    ] {
        assert_eq!(found(text), [wanted], "{text}");
    }
}

#[test]
fn what_can_not_is_left_alone() {
    for text in [
        "use std::sync::{Mutex, Arc};",
        "#[cfg(a)] macro_rules! m { ($t:ident) => { impl D for $t {} } } #[cfg(a)] m! { AtomicBool }",
        "impl<T: S> Serialize for Mutex<T> { fn f(&self) { self.lock(); Mutex::new(1); } }",
        "impl<'de> D<'de> for std::sync::Arc<T> { fn f() { Arc::new(1) } }",
        "macro_rules! fwd { ($t:ty, $f:expr) => { impl D for $t { fn f() { $f } } } } fwd!(Mutex<T>, Mutex::new);",
        "mod lib { pub use std::sync::Mutex; }",
        "pub extern \"C\" fn f() {}",
        "impl !Send for X {}",
        "fn f() { std::fs::read(a); unsafe { x.get_unchecked(1) }; iter::Once; }",
        "#[derive(Clone)] pub struct S<T> { a: Vec<T>, b: Cell<u8> }",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn of_a_procedural_macro_what_it_puts_out_counts() {
    let text = "static CACHE: Mutex<u8> = f(); fn g() { quote! { static A: ::std::sync::OnceLock<u8> = h(); } }";
    let mut finder = Finder::default();
    finder.quoted("src/lib.rs", text, text.parse().unwrap());
    let found: Vec<_> = finder.finish().into_iter().map(|it| it.what).collect();
    assert_eq!(found, ["a `OnceLock`"]);
}

#[test]
fn what_tells_threads_apart_has_to_be_used() {
    for (text, wanted) in [
        (
            "extern \"C\" { fn pthread_self() -> u64; }",
            vec!["declares `pthread_self` 1", "what is not written in Rust 1"],
        ),
        (
            "extern \"C\" { fn gettid() -> i32; }\npub fn id() -> i32 { unsafe { gettid() } }",
            vec![
                "declares `gettid` 1",
                "!`gettid` 2",
                "what is not written in Rust 1",
            ],
        ),
        (
            "pub fn gettid() -> Pid { backend::gettid() }",
            vec!["declares `gettid` 1"],
        ),
        (
            "pub const SYS_gettid: i64 = 186;",
            vec!["declares `SYS_gettid` 1"],
        ),
        (
            "fn id() -> i64 { unsafe { libc::syscall(libc::SYS_gettid) } }",
            vec!["!`SYS_gettid` 1"],
        ),
        (
            "pub struct ReentrantMutex<T> { data: T }\nimpl<T> ReentrantMutex<T> { fn new() {} }\n\
             pub struct ReentrantMutexGuard<'a, T> { of: &'a ReentrantMutex<T> }",
            vec!["declares `ReentrantMutex` 1"],
        ),
        (
            "pub type ReentrantMutex<T> = lock_api::ReentrantMutex<Raw, T>;",
            vec!["declares `ReentrantMutex` 1"],
        ),
        (
            "struct ReentrantMutex<T> { data: T }\npub struct Queue { of: ReentrantMutex<u8> }",
            vec!["declares `ReentrantMutex` 1", "!`ReentrantMutex` 2"],
        ),
        (
            "struct ReentrantMutex<T> { data: T }\nstatic ONE: ReentrantMutex<u8> = f();",
            vec!["declares `ReentrantMutex` 1", "!`ReentrantMutex` 2"],
        ),
        (
            "use parking_lot::ReentrantMutex;\nfn f() { ReentrantMutex::new(1); }",
            vec!["!`ReentrantMutex` 2"],
        ),
    ] {
        assert_eq!(found(text), wanted, "{text}");
    }
}
