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
        "let t = std::time::Instant::now(); while !flag.load(SeqCst) { if t.elapsed().as_secs() > 1 { break; } }",
        "let t = std::time::Instant::now() + std::time::Duration::from_secs(1); while !flag.load(SeqCst) { assert!(std::time::Instant::now() < t); }",
        "let t = std::time::SystemTime::now(); while !flag.load(SeqCst) && t.elapsed().unwrap().as_secs() < 3 { thread::yield_now(); }",
        "let t = std::time::Instant::now(); while !flag.load(SeqCst) { if std::time::Instant::now().checked_duration_since(t).is_some_and(|d| d.as_millis() > 9) { return; } }",
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

/// Whether the loop is marked that `fn waits(flag: &AtomicBool, n: &AtomicU32, m: &Mutex<Vec<Counts>>)` has.
fn is_marked_beside(waits: &str, items: &str) -> bool {
    generated(&format!(
        "thread_local! {{ static C: std::cell::Cell<u32> = const {{ std::cell::Cell::new(0) }}; }}\n\
         fn bump() {{ C.with(|c| c.set(c.get() + 1)); }}\n\
         fn give_up() -> u32 {{ bump(); 7 }}\n\
         fn calm() -> u32 {{ 7 }}\n\
         #[derive(Clone, Debug, PartialEq)]\nstruct Counts(u32);\n{items}\n\
         fn waits(flag: &AtomicBool, n: &AtomicU32, m: &Mutex<Vec<Counts>>, f: fn() -> u32, d: &dyn Fn() -> u32) {{\n\
         let held = || give_up(); let _ = (m, f, d, n, held);\n{waits}\n}}"
    ))
    .contains("seqz_waits")
}

#[test]
fn functions_that_are_passed_on_are_looked_at() {
    for (body, right) in [
        (
            "while !flag.load(SeqCst) { None.unwrap_or_else(give_up); }",
            false,
        ),
        (
            "while !flag.load(SeqCst) { None.unwrap_or_else(calm); }",
            true,
        ),
        (
            "while !flag.load(SeqCst) { None.unwrap_or_else(f); }",
            false,
        ),
        (
            "while !flag.load(SeqCst) { None.unwrap_or_else(&d); }",
            false,
        ),
        (
            "while !flag.load(SeqCst) { None.unwrap_or_else(held); }",
            false,
        ),
        (
            "while !flag.load(SeqCst) { None.unwrap_or_else(|| 7); }",
            true,
        ),
        (
            "while !flag.load(SeqCst) { None.unwrap_or_else(|| give_up()); }",
            false,
        ),
        (
            "while !flag.load(SeqCst) { flag.load(SeqCst).then(give_up); }",
            false,
        ),
        (
            "while !flag.load(SeqCst) { Some(1).map_or_else(give_up, |v| v); }",
            false,
        ),
        (
            "while !flag.load(SeqCst) { [1].iter().fold(0, |a, v| a + v + give_up()); }",
            false,
        ),
        ("while !flag.load(SeqCst) { f(); }", false),
        ("while !flag.load(SeqCst) { (f)(); }", false),
        ("while !flag.load(SeqCst) { d(); }", false),
        ("while !flag.load(SeqCst) { let g = give_up; g(); }", false),
        ("while !flag.load(SeqCst) { let g = || 7; g(); }", true),
        (
            "while !flag.load(SeqCst) { let g = || give_up(); g(); }",
            false,
        ),
        (
            "while !flag.load(SeqCst) { for g in [give_up] { g(); } }",
            false,
        ),
        ("while !flag.load(SeqCst) { for g in [f] { g(); } }", false),
        (
            "while n.fetch_update(SeqCst, SeqCst, |v| (v > 9).then_some(v)).is_err() {}",
            true,
        ),
        (
            "while n.fetch_update(SeqCst, SeqCst, |v| { bump(); (v > 9).then_some(v) }).is_err() {}",
            false,
        ),
        (
            "while m.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {}",
            true,
        ),
        ("while m.lock().map_or(0, |v| v.len()) == 0 {}", true),
        (
            "while !n.load(SeqCst).checked_sub(1).is_some_and(u32::is_power_of_two) {}",
            true,
        ),
        // Its body is looked at although the two call each other.
        ("while !flag.load(SeqCst) { ping(3); }", false),
        ("while !flag.load(SeqCst) { pong(3); }", false),
    ] {
        let items =
            "fn ping(n: u32) { pong(n); bump(); } fn pong(n: u32) { if n > 0 { ping(n - 1); } }";
        assert_eq!(is_marked_beside(body, items), right, "{body}");
    }
    let hidden = "macro_rules! vec { ($e:expr) => { give_up() } }";
    assert!(!is_marked_beside(
        "while !flag.load(SeqCst) { vec![1]; }",
        hidden
    ));
    assert!(is_marked_beside(
        "while !flag.load(SeqCst) { vec![1]; }",
        ""
    ));
}

#[test]
fn what_std_calls_of_the_crate_matters_where_it_may_be_called() {
    let plain = "while !flag.load(SeqCst) {}";
    for (of, function, reaches) in [
        (
            "std::str::FromStr",
            "type Err = (); fn from_str(_: &str) -> Result<Self, ()> { bump(); Err(()) }",
            "let _ = \"7\".parse::<Counts>();",
        ),
        (
            "FromIterator<u32>",
            "fn from_iter<I: IntoIterator<Item = u32>>(_: I) -> Self { bump(); Counts(1) }",
            "let _: Counts = [1].into_iter().collect();",
        ),
        (
            "TryFrom<u32>",
            "type Error = (); fn try_from(_: u32) -> Result<Self, ()> { bump(); Err(()) }",
            "let _: Result<Counts, ()> = 7.try_into();",
        ),
        (
            "From<u32>",
            "fn from(_: u32) -> Self { bump(); Counts(1) }",
            "let _: Counts = 7.into();",
        ),
        (
            "Default",
            "fn default() -> Self { bump(); Counts(1) }",
            "let _: Counts = None.unwrap_or_default();",
        ),
        (
            "std::fmt::Display",
            "fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { bump(); Ok(()) }",
            "let _ = format!(\"{}\", m.lock().unwrap()[0]);",
        ),
        (
            "std::fmt::Display",
            "fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { bump(); Ok(()) }",
            "let _ = m.lock().unwrap()[0].to_string();",
        ),
        (
            "Iterator",
            "type Item = u32; fn next(&mut self) -> Option<u32> { bump(); None }",
            "for _ in m.lock().unwrap()[0].clone() {}",
        ),
        (
            "PartialOrd",
            "fn partial_cmp(&self, _: &Self) -> Option<std::cmp::Ordering> { bump(); None }",
            "let g = m.lock().unwrap(); if g[0] < g[1] { continue; }",
        ),
        (
            "std::ops::Add",
            "type Output = Self; fn add(self, _: Self) -> Self { bump(); self }",
            "let g = m.lock().unwrap(); let _ = g[0].clone() + g[1].clone();",
        ),
        (
            "std::ops::Index<u32>",
            "type Output = u32; fn index(&self, _: u32) -> &u32 { bump(); &self.0 }",
            "let _ = m.lock().unwrap()[0][1];",
        ),
        (
            "Drop",
            "fn drop(&mut self) { bump(); }",
            "let _ = m.lock().unwrap().pop();",
        ),
        (
            "Drop",
            "fn drop(&mut self) { bump(); }",
            "let _ = Counts(1);",
        ),
        (
            "Drop",
            "fn drop(&mut self) { bump(); }",
            "let _ = m.lock().unwrap().first().cloned();",
        ),
        ("Drop", "fn drop(&mut self) { bump(); }", "make();"),
        (
            "Drop",
            "fn drop(&mut self) { bump(); }",
            "Some(7).map(Counts);",
        ),
    ] {
        let items =
            format!("impl {of} for Counts {{ {function} }}\nfn make() -> Counts {{ Counts(1) }}");
        assert!(is_marked_beside(plain, &items), "{of}");
        let reaching = format!("while !flag.load(SeqCst) {{ {reaches} }}");
        assert!(!is_marked_beside(&reaching, &items), "{of}: {reaches}");
        // A macro's implementation can't be looked at.
        let in_macro = format!(
            "macro_rules! imp {{ ($c:ident) => {{ impl {of} for $c {{ {function} }} }} }}\nimp!(Counts);\nfn make() -> Counts {{ Counts(1) }}"
        );
        assert!(
            !is_marked_beside(&reaching, &in_macro),
            "{of} in a macro: {reaches}"
        );
    }
    // Looking through a smart pointer may happen in any method's call.
    let deref = "impl std::ops::Deref for Counts { type Target = u32; fn deref(&self) -> &u32 { bump(); &self.0 } }";
    assert!(!is_marked_beside(plain, deref));
}

#[test]
fn a_destructor_matters_where_values_end() {
    let drops = "impl Drop for Counts { fn drop(&mut self) { bump(); } }";
    for body in [
        "while !flag.load(SeqCst) { thread::yield_now(); }",
        "while n.compare_exchange(0, 1, SeqCst, SeqCst).is_err() {}",
        "while m.lock().unwrap().is_empty() { thread::sleep(std::time::Duration::from_millis(1)); }",
        "loop { let g = m.lock().unwrap(); if g.len() > 1 { break; } drop(g); }",
        "loop { if let Ok(g) = m.try_lock() { if g.first().is_some() { break; } } }",
        "while calm() > n.load(SeqCst) {}",
        "loop { if let Some(v) = flag.load(SeqCst).then_some(1) { let _ = Counts(v); break; } }",
    ] {
        assert!(is_marked_beside(body, drops), "{body}");
    }
}

#[test]
fn what_asks_for_handles_may_wait() {
    for body in [
        "let a = Arc::new(1); while Arc::strong_count(&a) > 1 {}",
        "let a = Arc::new(1); while Arc::weak_count(&a) > 1 {}",
        "let a = Arc::new(1); let w = Arc::downgrade(&a); while w.upgrade().is_some() {}",
        "let o: OnceLock<u32> = OnceLock::new(); while o.get().is_none() {}",
        "while !m.is_poisoned() {}",
        "let t = thread::spawn(|| ()); while !t.is_finished() {}",
        "let (_, r) = mpsc::channel::<u32>(); while r.try_iter().next().is_none() {}",
        "let (_, r) = mpsc::channel::<u32>(); loop { for v in r.try_iter() { if v > 3 { return; } } }",
    ] {
        assert!(is_marked_beside(body, ""), "{body}");
    }
}
