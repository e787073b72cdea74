//! Small programs to check, and the checking of them.

use serde_json::Value;

use super::{Package, Run, package, seqz};

pub const HEAD: &str = "
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
";

/// A test function of two threads, `a` and `b`, over `x` and `y`.
pub fn two_threads(name: &str, a: &str, b: &str, after: &str) -> String {
    format!(
        "
#[test]
pub fn {name}() {{
    let x = Arc::new(AtomicU32::new(0));
    let y = Arc::new(AtomicU32::new(0));
    let (x2, y2) = (Arc::clone(&x), Arc::clone(&y));
    let a = thread::spawn(move || {{
        let _ = (&x2, &y2);
        {a}
    }});
    let (x3, y3) = (Arc::clone(&x), Arc::clone(&y));
    let b = thread::spawn(move || {{
        let _ = (&x3, &y3);
        {b}
    }});
    a.join().unwrap();
    b.join().unwrap();
    {after}
}}
"
    )
}

pub fn lost_update() -> String {
    let add = |x: &str| format!("let seen = {x}.load(SeqCst); {x}.store(seen + 1, SeqCst);");
    two_threads(
        "lost_update",
        &add("x2"),
        &add("x3"),
        "assert_eq!(x.load(SeqCst), 2);",
    )
}

/// Reads 7 only if the other thread has written it.
pub fn sees_seven(name: &str, then: &str) -> String {
    two_threads(
        name,
        &format!("if x2.load(SeqCst) == 7 {{ {then} }}"),
        "x3.store(7, SeqCst);",
        "",
    )
}

pub fn check(source: &str, args: &[&str]) -> (Package, Run) {
    let dir = package(&format!("{HEAD}{source}"));
    let run = seqz(dir.path(), ["check"].iter().chain(args));
    (dir, run)
}

pub fn check_json(source: &str, args: &[&str]) -> (i32, Value) {
    let args: Vec<_> = ["--format", "json"].iter().chain(args).copied().collect();
    let (_dir, run) = check(source, &args);
    (run.code.unwrap_or(-1), run.json())
}
