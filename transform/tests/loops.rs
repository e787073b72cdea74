//! Which loops are marked as ones that wait.

use std::fmt::Write as _;
use std::fs;

use seqz_transform::{Mode, Options, Program};

/// The generated text of a program with this in it.
fn generated(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lib.rs");
    let head = "use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};\nuse std::sync::*;\nuse std::thread;\n\
                #[test]\nfn starts() { thread::spawn(|| ()).join().unwrap(); }\n";
    fs::write(&path, format!("{head}{text}")).unwrap();
    let program = Program::load(&path, Mode::Scheduled).unwrap();
    let generated = program.transform(&Options::default()).unwrap();
    generated.files[0].1.clone()
}

/// Whether the loop in this function is marked.
fn is_marked(body: &str) -> bool {
    let mut text = String::new();
    writeln!(
        text,
        "struct S {{ flag: AtomicBool, n: u32, m: Mutex<Vec<u32>>, c: std::cell::Cell<u32> }}\n\
         impl S {{\n\
         fn ready(&self) -> bool {{ let mut n = 0; n += 1; n > 0 && self.flag.load(SeqCst) }}\n\
         fn counted(&mut self) -> bool {{ self.n += 1; self.flag.load(SeqCst) }}\n\
         fn celled(&self) -> bool {{ self.c.set(1); self.flag.load(SeqCst) }}\n\
         fn even(&self, n: u32) -> bool {{ n == 0 || self.odd(n - 1) }}\n\
         fn odd(&self, n: u32) -> bool {{ n != 0 && self.even(n - 1) }}\n\
         }}\n\
         fn f(mut s: S, flag: &AtomicBool, x: &AtomicU32, m: &Mutex<Vec<u32>>, out: &mut u32, cv: &Condvar) {{\n\
         let mut count = 0; let _ = (&mut count, &mut s, &out, cv, x, m, flag);\n{body}\n}}"
    )
    .unwrap();
    generated(&text).contains("seqz_waits")
}

#[test]
fn loops_that_only_look_are_marked() {
    for body in [
        "while !flag.load(SeqCst) {}",
        "while !flag.load(SeqCst) { thread::yield_now(); std::hint::spin_loop() }",
        "'a: loop { if flag.load(SeqCst) { break 'a; } continue; }",
        "while x.compare_exchange(0, 1, SeqCst, SeqCst).is_err() {}",
        "while x.swap(1, SeqCst) == 1 {}",
        "loop { let v = m.lock().unwrap(); if v.len() > 1 { break; } }",
        "loop { if let Some(v) = m.lock().unwrap().pop() { *out = v; break; } }",
        "let v = loop { match m.try_lock() { Ok(mut g) if !g.is_empty() => break g.remove(0), _ => {} } }; *out = v;",
        "loop { let mut n = 0; for v in m.lock().unwrap().iter() { n += v; } if n > 3 { return; } }",
        "while !s.ready() { println!(\"waiting {}\", x.load(SeqCst)); }",
        "while !s.even(3) || !flag.load(SeqCst) {}",
        "let mut g = m.lock().unwrap(); while g.is_empty() { g = cv.wait_timeout(g, std::time::Duration::ZERO).unwrap().0; }",
        "while !flag.load(SeqCst) { if x.load(SeqCst) > 5 { count += 1; panic!(\"{count}\"); } }",
        "assert!({ while !flag.load(SeqCst) {} true });",
    ] {
        assert!(is_marked(body), "{body}");
    }
}

#[test]
fn loops_that_leave_something_behind_are_not() {
    for body in [
        "while !flag.load(SeqCst) { count += 1; }",
        "while !flag.load(SeqCst) { *out += 1; }",
        "while !flag.load(SeqCst) { s.n = 1; }",
        "while !s.counted() {}",
        "while !s.celled() {}",
        "while !flag.load(SeqCst) { let c = &mut count; *c += 1; }",
        "let mut tick = || count += 1; while !flag.load(SeqCst) { tick(); }",
        "let mut all = vec![1]; while !flag.load(SeqCst) { all.pop(); }",
        "let mut all = vec![1].into_iter(); while !flag.load(SeqCst) { all.next(); }",
        "let mut all = vec![1].into_iter(); while !flag.load(SeqCst) { all.any(|v| v == 1); }",
        "let t = std::time::Instant::now(); while !flag.load(SeqCst) { if t.elapsed().as_secs() > 1 { break; } }",
        "while !flag.load(SeqCst) { std::mem::swap(&mut count, out); }",
        "while !flag.load(SeqCst) { let _ = std::fs::read(\"x\"); }",
        "let mut last = 0; loop { let v = x.load(SeqCst); if v == last { break; } last = v; }",
        "loop { if flag.load(SeqCst) { count += 1; if count > 3 { break; } continue; } }",
        "let (mut a, mut b) = (0, 0); while !flag.load(SeqCst) { (a, b) = (b, a + 1); } let _ = (a, b);",
        "let o = Some(&mut count); if let Some(c) = o { while !flag.load(SeqCst) { *c += 1; } }",
        "for _ in 0..9 { if flag.load(SeqCst) { break; } }",
        "'a: loop { while flag.load(SeqCst) { count += 1; if x.load(SeqCst) == 9 { break; } } if x.load(SeqCst) > 0 { break 'a; } }",
    ] {
        let text = body.to_owned();
        assert!(!is_marked(&text), "{body}");
    }
}

#[test]
fn constants_and_macros_have_no_marks() {
    let text = "
const fn find(n: u32) -> u32 { loop { if n.wrapping_add(1) > 0 { return n; } } }
macro_rules! wait { ($flag:expr) => { while !$flag.load(SeqCst) {} } }
fn waits(flag: &AtomicBool) { wait!(flag); }
";
    assert!(!generated(text).contains("seqz_waits"));
}

#[test]
fn a_destructor_that_counts_takes_all_marks_away() {
    let waits = "fn waits(flag: &AtomicBool) { while !flag.load(SeqCst) {} }";
    assert!(generated(waits).contains("seqz_waits"));
    let counts = "struct D<'a>(&'a std::cell::Cell<u32>);\n\
                  impl Drop for D<'_> { fn drop(&mut self) { self.0.set(1); } }";
    assert!(!generated(&format!("{waits}\n{counts}")).contains("seqz_waits"));
}
