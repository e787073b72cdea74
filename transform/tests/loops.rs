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
    function(body).contains("seqz_waits")
}

/// Whether it is, and no branch of it leaves something behind.
fn only_waits(body: &str) -> bool {
    let text = function(body);
    text.contains("seqz_waits") && !text.contains(".lasts()")
}

/// What is generated of a function with this in it.
fn function(body: &str) -> String {
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
    generated(&text)
}

#[test]
fn a_path_from_the_root_of_std_leads_into_std() {
    let text = generated(
        "#[cfg(windows)] use other as atomic;\n\
         fn f(flag: &AtomicBool) { while !flag.load(SeqCst) { core::sync::atomic::spin_loop_hint() } }",
    );
    assert!(text.contains("seqz_waits"), "{text}");
}

#[test]
fn names_of_other_types_are_no_matter_where_a_type_is_known() {
    // A field, and functions with the names of all that the loop calls, that leave something behind.
    let beside = "struct Other { locked: u32, v: Vec<u32> }
        static LOG: Mutex<Vec<u32>> = Mutex::new(Vec::new());
        impl Other {
            fn compare_exchange(&self, _: bool, _: bool, _: Ordering, _: Ordering) -> Result<(), ()> {
                LOG.lock().unwrap().push(self.locked);
                Ok(())
            }
            fn try_it(&mut self) -> bool { self.v.push(1); true }
        }";
    let head = "use std::sync::atomic::Ordering;";
    let spins = "struct Spin { locked: AtomicBool }
        impl Spin {
            fn try_it(&self) -> bool {
                self.locked.compare_exchange(false, true, SeqCst, SeqCst).is_ok()
            }
        }";
    let marked = |text: &str| {
        generated(&format!("{head}\n{beside}\n{spins}\n{text}")).contains("seqz_waits")
    };
    for text in [
        "impl Spin { fn lock(&self) { while self.locked.compare_exchange(false, true, SeqCst, SeqCst).is_err() {} } }",
        "impl Spin { fn lock(&self) { while !self.try_it() {} } }",
        "struct Pool { lock: Spin } impl Pool { fn take(&self) { while !self.lock.try_it() {} } }",
        "struct Pool { lock: Arc<Spin> } impl Pool { fn take(&self) { loop { if self.lock.try_it() { break } } } }",
    ] {
        assert!(marked(text), "{text}");
    }
    for text in [
        "impl Other { fn take(&mut self) { while !self.try_it() {} } }",
        "struct Pool<T> { lock: T } impl Pool<Other> { fn take(&mut self) { while !self.lock.try_it() {} } }",
        "use other::Spin as Foreign; struct Pool { lock: Foreign } impl Pool { fn take(&self) { while !self.lock.try_it() {} } }",
        "mod inner { use other::Spin; struct Pool { lock: Spin } impl Pool { fn take(&self) { while !self.lock.try_it() {} } } }",
        "type Lock = Other; struct Pool { lock: Lock } impl Pool { fn take(&mut self) { while !self.lock.try_it() {} } }",
    ] {
        assert!(!marked(text), "{text}");
    }
}

#[test]
fn loops_that_only_look_are_marked() {
    for body in [
        "while !flag.load(SeqCst) {}",
        "while !flag.load(SeqCst) { thread::yield_now(); std::hint::spin_loop() }",
        "let p = std::sync::atomic::AtomicPtr::<u32>::default(); while p.load(SeqCst).is_null() {}",
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
        "let t = std::time::Instant::now(); while t.elapsed().as_secs() < 1 {}",
        "let t = std::time::Instant::now() + std::time::Duration::from_secs(1); while std::time::Instant::now() < t { thread::sleep(std::time::Duration::ZERO); }",
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
        "let mut all = vec![1]; while !flag.load(SeqCst) { all.pop(); }",
        "let mut all = vec![1].into_iter(); while !flag.load(SeqCst) { all.next(); }",
        "let mut all = vec![1].into_iter(); while !flag.load(SeqCst) { all.any(|v| v == 1); }",
        "while !flag.load(SeqCst) { std::mem::swap(&mut count, out); }",
        "while !flag.load(SeqCst) { let _ = std::fs::read(\"x\"); }",
        "let mut last = 0; loop { let v = x.load(SeqCst); if v == last { break; } last = v; }",
        "loop { if flag.load(SeqCst) { count += 1; } count += 1; }",
        "while !flag.load(SeqCst) { let mut tick = || if x.load(SeqCst) > 1 { count += 1 }; tick(); }",
        "while !flag.load(SeqCst) { for _ in 0..2 { if x.load(SeqCst) > 1 { count += 1 } } }",
        "while !flag.load(SeqCst) { match { count += 1; x.load(SeqCst) } { 0 => {} _ => thread::yield_now() } }",
        "loop { if { *out += 1; flag.load(SeqCst) } { break; } }",
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
fn a_branch_that_leaves_something_behind_says_so() {
    for (branches, body) in [
        (
            1,
            "loop { if flag.load(SeqCst) { count += 1; if count > 3 { break; } continue; } }",
        ),
        (
            1,
            "loop { match m.lock().unwrap().pop() { Some(v) => *out += v, None if flag.load(SeqCst) => break, None => thread::yield_now() } }",
        ),
        (
            1,
            "while !flag.load(SeqCst) { if let Some(v) = m.lock().unwrap().pop() { *out += v; } }",
        ),
        (
            2,
            "while !flag.load(SeqCst) { if x.load(SeqCst) > 1 { *out += 1 } else if x.load(SeqCst) > 2 {} else { count += 1; } }",
        ),
        (
            2,
            "while !flag.load(SeqCst) { match x.load(SeqCst) { 0 => (count, *out) = (1, 2), 1 => s.n += if flag.load(SeqCst) { 2 } else { 3 }, _ => {} } }",
        ),
        (
            1,
            "while !flag.load(SeqCst) { let v = if x.load(SeqCst) > 1 { s.counted(); 3 } else { 2 }; drop(v); }",
        ),
        (
            0,
            "while !flag.load(SeqCst) { if x.load(SeqCst) > 5 { thread::yield_now(); } }",
        ),
        (
            2,
            "loop { if x.load(SeqCst) == 1 { count += 1; while !flag.load(SeqCst) { if x.load(SeqCst) > 2 { count += 1 } } } }",
        ),
    ] {
        let text = format!(
            "struct S {{ n: u32 }} impl S {{ fn counted(&mut self) -> u32 {{ self.n += 1; self.n }} }}\n\
             fn f(mut s: S, flag: &AtomicBool, x: &AtomicU32, m: &Mutex<Vec<u32>>, out: &mut u32) {{\n\
             let mut count = 0; let _ = (&mut count, &mut s, &out, x, m, flag);\n{body}\n}}"
        );
        let text = generated(&text);
        assert!(text.contains("seqz_waits"), "{body}");
        assert_eq!(text.matches(".lasts();").count(), branches, "{text}");
    }
}

/// The words of a function that waits for what it is given, and of one that calls it.
fn waits_by(helper: &str, caller: &str) -> String {
    let text = generated(&format!(
        "static N: AtomicU32 = AtomicU32::new(0);\n\
         struct S {{ n: AtomicU32 }}\n\
         fn is_done() -> bool {{ N.load(SeqCst) > 0 }}\n\
         {helper}\n\
         fn calls(flag: &AtomicBool, s: &S, mut out: u32) {{ let _ = (&mut out, s, flag);\n{caller}\n}}"
    ));
    // The runtime's own paths are no matter.
    text.replace("::seqz_runtime::loops::", "")
}

#[test]
fn loops_that_wait_by_a_closure_are_marked() {
    let until = "fn until(f: impl Fn() -> bool) { while !f() { thread::yield_now(); } }";
    let method =
        "impl S { fn until(&self, f: impl Fn(u32) -> bool) { while !f(self.n.load(SeqCst)) {} } }";
    for (helper, caller) in [
        (until, "until(|| flag.load(SeqCst));"),
        (until, "until(&|| flag.load(SeqCst));"),
        (
            until,
            "until(move || s.n.load(SeqCst) > 3); assert!({ until(is_done); true });",
        ),
        (until, "let ready = || flag.load(SeqCst); until(ready);"),
        (
            "fn until<F>(mut f: F) where F: FnMut() -> bool { loop { if f() { return; } } }",
            "until(|| flag.load(SeqCst));",
        ),
        (
            "fn until(f: &dyn Fn() -> bool) { while !f() {} }",
            "until(&|| flag.load(SeqCst));",
        ),
        (
            "fn until(f: &mut dyn FnMut() -> bool) { while !(*f)() {} }",
            "until(&mut || flag.load(SeqCst));",
        ),
        (
            "fn until(f: Box<dyn Fn() -> bool>) { while !f() {} }",
            "until(Box::new(|| N.load(SeqCst) > 1)); until(Box::new(is_done));",
        ),
        (
            "fn until(f: fn() -> bool) { while !f() {} }",
            "until(is_done);",
        ),
        (method, "s.until(|n| n > 3);"),
        (method, "S::until(s, |n| n > 3);"),
        (
            "fn until(f: Box<dyn Fn() -> bool>) { inner(&*f) } fn inner(f: &dyn Fn() -> bool) { while !f() {} }",
            "until(Box::new(|| N.load(SeqCst) > 1));",
        ),
        (
            "fn until(f: impl Fn() -> bool) { inner(1, f) }\n\
             fn inner(_: u32, f: impl Fn() -> bool) { while !f() {} }",
            "until(is_done);",
        ),
        (
            "fn until(f: impl Fn() -> bool) { while !not(&f) {} }\n\
             fn not(f: impl Fn() -> bool) -> bool { !f() }",
            "until(|| !flag.load(SeqCst));",
        ),
        (
            "macro_rules! until { () => {} } fn until(f: impl Fn() -> bool) { while !f() {} }",
            "until!(); until(is_done);",
        ),
        ("", "let ready = || flag.load(SeqCst); while !ready() {}"),
    ] {
        let text = waits_by(helper, caller);
        assert!(text.contains("seqz_waits"), "{helper} {caller}");
        assert!(!text.contains("lasts()"), "{helper} {caller}");
    }
}

#[test]
fn what_leaves_something_behind_in_a_loop_that_calls_it_says_so() {
    let until = "fn until(mut f: impl FnMut() -> bool) { while !f() { thread::yield_now(); } }";
    for (helper, caller, told) in [
        (
            until,
            "until(|| { out += 1; flag.load(SeqCst) });",
            "|| { lasts(); out",
        ),
        (
            until,
            "until(|| { let n = out; out = n; out > 3 }); until(|| flag.load(SeqCst));",
            "|| { lasts(); let",
        ),
        (
            until,
            "let mut turns = 0..3; until(|| turns.next().is_none());",
            "|| { lasts(); turns.next().is_none() })",
        ),
        (
            "fn until(f: fn() -> bool) { while !f() {} } fn is_out() -> bool { std::fs::read(\"x\").is_ok() }",
            "until(is_out);",
            "fn is_out() -> bool { lasts();",
        ),
        (
            until,
            "until(|| { let n = s.n.load(SeqCst); if n > 3 { out += 1; } n > 4 });",
            "if n > 3 { lasts(); out += 1; }",
        ),
        (
            until,
            "until(|| match s.n.load(SeqCst) { 0 => false, n => { out += 1; n == 7 } });",
            "n => { lasts(); out += 1; n == 7 }",
        ),
        (
            "",
            "let mut tick = || out += 1; while !flag.load(SeqCst) { tick(); }",
            "|| { lasts(); out += 1 };",
        ),
    ] {
        let text = waits_by(helper, caller);
        assert!(text.contains("seqz_waits"), "{helper} {caller}");
        assert_eq!(text.matches("lasts()").count(), 1, "{helper} {caller}");
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn a_loop_that_calls_what_is_not_seen_is_not_marked() {
    let until = "fn until(f: impl Fn() -> bool) { while !f() {} }";
    let of_any = "fn until<T>(mut t: T, f: fn(&mut T) -> bool) { while !f(&mut t) {} }";
    for (helper, caller) in [
        (until, ""),
        (
            until,
            "fn made() -> impl Fn() -> bool { || true } until(made());",
        ),
        (
            until,
            "macro_rules! by { ($e:expr) => { until(|| $e) } } by!(true);",
        ),
        (
            until,
            "until(is_done); vec![|| true].into_iter().for_each(until);",
        ),
        (until, "use self::until as other; other(is_done);"),
        (
            until,
            "let f = if flag.load(SeqCst) { is_done } else { || true }; until(f);",
        ),
        (
            until,
            "let f = || true; { let f = std::thread::panicking; until(f); } until(f);",
        ),
        (of_any, "until(vec![1].into_iter(), Iterator::is_sorted);"),
        (of_any, "until(0..9, std::ops::Range::is_empty);"),
        (
            "fn until(mut f: fn() -> bool) { change(&mut f); while !f() {} } fn change(f: &mut fn() -> bool) {}",
            "until(is_done);",
        ),
        (
            "fn until(mut f: &dyn Fn() -> bool) { f = &std::thread::panicking; while !f() {} }",
            "until(&is_done);",
        ),
        (
            "fn until(f: impl Fn() -> bool) { let f = std::thread::panicking; while !f() {} }",
            "until(is_done);",
        ),
        (
            "fn until(f: impl Fn() -> bool) { fn f() -> bool { true } while !f() {} }",
            "until(is_done);",
        ),
        (
            "impl Extend<u32> for S { fn extend<T: IntoIterator<Item = u32>>(&mut self, t: T) {} }\n\
             impl Iterator for S { type Item = u32; fn next(&mut self) -> Option<u32> { None }\n\
             fn any<F: FnMut(u32) -> bool>(&mut self, mut f: F) -> bool { while f(1) {} true } }",
            "let mut s = S { n: AtomicU32::new(0) }; s.any(|n| n > 1);",
        ),
        (
            "struct W<F>(F); impl<F: Fn() -> bool> W<F> { fn until(&self) { while !(self.0)() {} } }",
            "W(is_done).until();",
        ),
    ] {
        let text = waits_by(helper, caller);
        assert!(!text.contains("seqz_waits"), "{helper} {caller}");
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

/// Whether the loop is marked that `fn waits(flag: &AtomicBool, n: &AtomicU32, m: &Mutex<Vec<Counts>>)` has, with no branch
/// that leaves something behind.
fn is_marked_beside(waits: &str, items: &str) -> bool {
    let text = generated(&format!(
        "thread_local! {{ static C: std::cell::Cell<u32> = const {{ std::cell::Cell::new(0) }}; }}\n\
         fn bump() {{ C.with(|c| c.set(c.get() + 1)); }}\n\
         fn give_up() -> u32 {{ bump(); 7 }}\n\
         fn calm() -> u32 {{ 7 }}\n\
         #[derive(Clone, Debug, PartialEq)]\nstruct Counts(u32);\n{items}\n\
         fn waits(flag: &AtomicBool, n: &AtomicU32, m: &Mutex<Vec<Counts>>, f: fn() -> u32, d: &dyn Fn() -> u32) {{\n\
         let held = || give_up(); let _ = (m, f, d, n, held);\n{waits}\n}}"
    ));
    text.contains("seqz_waits") && !text.contains(".lasts()")
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
    // Looking through a smart pointer may happen in the call of any method, but for those of what is known.
    let deref = "impl std::ops::Deref for Counts { type Target = u32; fn deref(&self) -> &u32 { bump(); &self.0 } }";
    assert!(is_marked_beside(plain, deref));
    let of_any = "while !{ flag }.load(SeqCst) {}";
    assert!(!is_marked_beside(of_any, deref));
    assert!(is_marked_beside(of_any, ""));
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
        "let mut a = Arc::new(1); while Arc::get_mut(&mut a).is_none() { thread::yield_now() }",
        "let mut a = Arc::new(1); loop { if let Some(n) = Arc::get_mut(&mut a) { *n += 1; break; } }",
        "let mut a = Arc::new(1); loop { match Arc::try_unwrap(a) { Ok(n) => break n, Err(back) => a = back } };",
        "let mut a = Arc::new(1); loop { a = match Arc::try_unwrap(a) { Ok(n) => break n, Err(back) => back }; };",
        "let mut a = Arc::new(1); loop { if let Err(back) = Arc::try_unwrap(a) { a = back; } else { break; } }",
        "let mut a = Arc::new(1); loop { let Err(back) = Arc::try_unwrap(a) else { break }; a = back; thread::yield_now(); }",
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

/// Whether the loop is marked that makes `turn` in each turn, beside these items and after this text of its function, where
/// each `EFFECT` leaves something behind, or nothing.
fn is_marked_with(effect: bool, items: &str, before: &str, turn: &str) -> bool {
    let with = |text: &str| text.replace("EFFECT", if effect { "bump();" } else { "" });
    let body = format!(
        "{}\nwhile !flag.load(SeqCst) {{ {} }}",
        with(before),
        with(turn)
    );
    is_marked_beside(&body, &with(items))
}

/// All of these matter if there is an effect in them, and only then.
fn only_with_effect(items: &str, before: &str, turns: &[&str]) {
    for turn in turns {
        assert!(
            !is_marked_with(true, items, before, turn),
            "{items}\n{before}\n{turn}"
        );
        assert!(
            is_marked_with(false, items, before, turn),
            "without: {items}\n{before}\n{turn}"
        );
    }
}

#[test]
fn values_that_a_name_makes_end() {
    let items = "
struct U; impl Drop for U { fn drop(&mut self) { EFFECT } }
enum En { A, B(u32) } impl Drop for En { fn drop(&mut self) { EFFECT } }
struct W { u: U } const C: W = W { u: U }; const c: U = U;
impl W { const OWN: U = U; }
trait Tr { const K: W; const D: U = U; } impl Tr for u8 { const K: W = W { u: U }; }
const OC: Option<U> = Some(U); type Alias = U; use En::B as Renamed;
fn make() -> U { U } const fn constant() -> U { U } fn pair() -> (u32, W) { (1, C) }
macro_rules! declares { ($n:ident) => { struct Inner; impl Drop for Inner { fn drop(&mut self) {} } const $n: W = C; } }
";
    // What macros declare isn't looked at.
    let seen = items.split("macro_rules!").next().unwrap();
    let turns = [
        "U;",
        "let _l = U;",
        "let _l = En::A;",
        "let _l = C;",
        "C;",
        "let _l = c;",
        "let _l = W::OWN;",
        "let _l = <u8 as Tr>::K;",
        "let _l = <u8 as Tr>::D;",
        "let _ = OC.is_some();",
        "let _ = &OC;",
        "let _ = [U, U];",
        "let _ = [C.u];",
        "let _ = [const { U }; 2];",
        "let _ = [OC; 0];",
        "let _l = Some(U);",
        "let _l = (1, U);",
        "let _l = const { U };",
        "let _l = W { u: U };",
        "let _l = En::B(1);",
        "let _l = Box::new(U);",
        "let _l = vec![U];",
        "let _l = dbg!(1, c);",
        "let _l = if n.load(SeqCst) > 0 { Some(c) } else { None };",
        "let _l = match n.load(SeqCst) { 0 => None, _ => Some(C) };",
        "let l = || U; l();",
        "let _l = Some(1).map(|_| C);",
        "Some(1).map(En::B);",
        "None.unwrap_or_else(make);",
        "None.unwrap_or(c);",
        "let _l = true.then_some(C);",
        "let _l = const { constant() };",
        "let W { u: _u } = C;",
        "let (_, _w) = pair();",
        "let mut l = None; l = Some(c); let _ = l;",
        "let Some(_l) = OC else { continue; };",
        "matches!(OC, Some(_));",
        "for _u in [U] {}",
    ];
    only_with_effect(seen, "", &turns);
    // In the function itself.
    let local = "struct L; impl Drop for L { fn drop(&mut self) { EFFECT } } const LC: L = L; enum LE { A } impl Drop for LE { fn drop(&mut self) { EFFECT } }";
    only_with_effect("", local, &["L;", "let _l = LC;", "let _l = LE::A;"]);
    // A macro may declare any of these, which can't be looked at.
    let unseen = format!("{items} declares!(FROM_MACRO);");
    for turn in ["FROM_MACRO;", "Inner;", "Renamed(1);", "None.unwrap_or(U);"] {
        assert!(!is_marked_with(true, &unseen, "", turn), "{turn}");
    }
}

#[test]
fn values_without_a_destructor_end_quietly() {
    let items = "
struct U; impl Drop for U { fn drop(&mut self) { EFFECT } }
struct Plain; struct Pair(u32, Plain); enum State { Idle, Busy(u32) } struct Both { state: State, of: Option<Box<Pair>> }
const LIMIT: u32 = 3; const START: Both = Both { state: State::Idle, of: None }; static SEEN: AtomicU32 = AtomicU32::new(0);
trait Sized2 { const SIZE: usize; } impl Sized2 for u8 { const SIZE: usize = 1; }
fn pair() -> Pair { Pair(1, Plain) } fn state() -> Result<State, Both> { Ok(State::Busy(1)) }
";
    for turn in [
        "if n.load(SeqCst) > LIMIT { break; }",
        "let _ = Plain;",
        "let _ = Pair(1, Plain);",
        "let _ = State::Idle;",
        "let _ = Some(State::Busy(1));",
        "let _ = START;",
        "let _ = <u8 as Sized2>::SIZE;",
        "let _ = SEEN.load(SeqCst);",
        "let _ = u32::MAX;",
        "let _ = std::time::Duration::ZERO;",
        "let _: Option<u32> = None;",
        "let _ = Both { state: State::Idle, of: None };",
        "pair();",
        "if let Ok(State::Idle) = state() { break; }",
        "let x = LIMIT; let y = x; let _ = y;",
    ] {
        assert!(is_marked_with(true, items, "", turn), "{turn}");
    }
}

#[test]
fn names_may_be_functions() {
    let items = "static CALL: fn() -> u32 = give_up; const FP: &[fn() -> u32] = &[give_up]; struct Tab { f: fn() -> u32 } impl Tab { const F: fn() -> u32 = give_up; } const TAB: Tab = Tab { f: give_up };";
    for turn in [
        "CALL();",
        "(CALL)();",
        "for f in FP { f(); }",
        "FP[0]();",
        "(TAB.f)();",
        "Tab::F();",
        "None.unwrap_or_else(CALL);",
        "None.unwrap_or_else(Tab::F);",
    ] {
        assert!(!is_marked_with(true, items, "", turn), "{turn}");
    }
    // Variables hide functions of the crate, and of std.
    for (before, turn) in [
        ("let calm: fn() -> u32 = || give_up();", "calm();"),
        ("let sleep: fn() -> u32 = || give_up();", "sleep();"),
        ("let drop: fn(u32) -> u32 = |_| give_up();", "drop(1);"),
        ("let calm = || give_up();", "None.unwrap_or_else(calm);"),
        ("let Tick: fn() -> u32 = || give_up();", "Tick();"),
        ("let is = |_: char| give_up() > 1;", "\"abc\".contains(is);"),
        (
            "let is = |_: char| give_up() > 1;",
            "\"abc\".split(&is).count();",
        ),
        (
            "let is = |_: char| give_up() > 1;",
            "\"abc\".starts_with(is);",
        ),
    ] {
        let before = format!("use std::thread::sleep; {before}");
        assert!(!is_marked_with(true, "", &before, turn), "{before} {turn}");
    }
    for turn in [
        "calm();",
        "thread::yield_now();",
        "\"abc\".contains('a');",
        "\"abc\".contains(&['a']);",
    ] {
        assert!(is_marked_with(true, "", "", turn), "{turn}");
    }
}

#[test]
fn an_object_that_only_paces_is_no_matter() {
    let marked = |of: &str, before: &str, turn: &str, after: &str| {
        let text = generated(&format!(
            "use std::cell::Cell;\n{of}\nfn f(flag: &AtomicBool) {{ {before} while !flag.load(SeqCst) {{ {turn} }} {after} }}"
        ));
        text.contains("seqz_waits") && !text.contains("lasts()")
    };
    let plain = "struct Backoff { step: u32 } impl Backoff {\n\
        fn new() -> Self { Self { step: 0 } }\n\
        fn reset(&mut self) { self.step = 0; }\n\
        }\n\
        struct Other; impl Other { fn new() -> Arc<Self> { Arc::new(Other) } fn snooze(&self) { std::fs::read(\"x\").ok(); } }\n\
        impl Backoff {\n\
        fn step(&self) -> u32 { self.step }\n\
        fn snooze(&mut self) { if self.step < 6 { for _ in 0..1 << self.step { std::hint::spin_loop(); } self.step += 1; } else { thread::yield_now(); } }\n\
        }";
    let celled = "const LIMIT: u32 = 6; #[derive(Default)] struct Backoff { step: Cell<u32> } impl Backoff {\n\
        const YIELDS: u32 = 10;\n\
        fn new() -> Backoff { Backoff { step: Cell::new(0) } }\n\
        fn snooze(&self) {\n\
            if self.step.get() <= LIMIT { for _ in 0..1 << self.step.get().min(LIMIT) { std::hint::spin_loop(); } } else { thread::yield_now(); }\n\
            if self.step.get() <= Self::YIELDS { self.step.set(self.step.get() + 1); }\n\
        } }";
    let made = "let mut backoff = Backoff::new();";
    for (of, before, turn, after) in [
        (plain, made, "backoff.snooze();", ""),
        (plain, made, "backoff.snooze()", "backoff.reset();"),
        (
            plain,
            "let mut backoff = Backoff { step: 0 };",
            "backoff.snooze()",
            "",
        ),
        (
            celled,
            "let backoff = Backoff::new();",
            "backoff.snooze();",
            "",
        ),
        (
            celled,
            "let backoff = Backoff::default();",
            "backoff.snooze();",
            "",
        ),
    ] {
        assert!(
            marked(of, before, turn, after),
            "{of} {before} {turn} {after}"
        );
    }
    for (before, turn, after) in [
        // Something depends on it.
        (
            made,
            "backoff.snooze(); if backoff.step() > 5 { break; }",
            "",
        ),
        (made, "backoff.snooze();", "assert!(backoff.step() < 5);"),
        (made, "backoff.snooze();", "assert!(backoff.step < 5);"),
        (made, "backoff.snooze(); use_it(&mut backoff);", ""),
        (
            "let mut backoff = Backoff::new(); let other = &mut backoff;",
            "other.snooze();",
            "",
        ),
        (
            "let mut backoff = Backoff { step: 31 };",
            "backoff.snooze();",
            "",
        ),
    ] {
        assert!(
            !marked(plain, before, turn, after),
            "{before} {turn} {after}"
        );
    }
    for (snooze, right) in [
        (
            "if self.step < 6 { self.step += 1; } thread::yield_now();",
            true,
        ),
        ("self.step += 1;", true),
        ("self.step *= 2;", false),
        ("self.step += 1; assert!(self.step < 100);", false),
        ("self.step += 1; for _ in 0..1 << self.step {}", false),
        (
            "self.step += 1; COUNT.fetch_add(1, SeqCst); std::fs::read(\"x\").ok();",
            false,
        ),
        ("self.step += 1; println!(\"{}\", self.step);", false),
        ("let all = self; all.step += 1;", false),
        ("self.more();", false),
        (
            "if self.step < 6 { self.step += 1; return; } thread::yield_now();",
            false,
        ),
    ] {
        let of = format!(
            "static COUNT: AtomicU32 = AtomicU32::new(0); struct Backoff {{ step: u32 }} impl Backoff {{ \
             fn new() -> Self {{ Self {{ step: 0 }} }} fn more(&mut self) {{ self.step += 1; }} fn snooze(&mut self) {{ {snooze} }} }}"
        );
        assert_eq!(
            marked(&of, made, "backoff.snooze();", ""),
            right,
            "{snooze}"
        );
    }
    let dropped =
        format!("{plain} impl Drop for Backoff {{ fn drop(&mut self) {{ println!(\"over\"); }} }}");
    assert!(!marked(&dropped, made, "backoff.snooze();", ""));
}

/// Methods of the crate's that have the names of std's, and leave something behind.
const NAMESAKES: &str = "
struct Counter(u32);
impl Counter {
    fn try_lock(&mut self) -> bool { self.0 += 1; true }
    fn lock(&mut self) -> bool { self.0 += 1; true }
    fn load(&mut self, _: u32) -> u32 { self.0 += 1; self.0 }
    fn try_recv(&mut self) -> u32 { self.0 += 1; self.0 }
}
struct Shared { ready: AtomicBool, list: Arc<Mutex<Vec<u32>>>, counter: Mutex<Counter>, own: Counter }
static READY: AtomicBool = AtomicBool::new(false);
static LIST: Mutex<Vec<u32>> = Mutex::new(Vec::new());
";

#[test]
fn objects_of_std_have_no_methods_of_the_crates_types() {
    for body in [
        "fn f(flag: &AtomicBool) { while !flag.load(SeqCst) {} }",
        "fn f(flag: Arc<AtomicBool>) { while !flag.load(SeqCst) {} }",
        "fn f(list: &Mutex<Vec<u32>>) { loop { if let Ok(list) = list.try_lock() { if !list.is_empty() { break; } } } }",
        "fn f() { let list = Arc::new(Mutex::new(vec![1])); let other = list.clone(); while other.lock().unwrap().is_empty() {} }",
        "fn f() { let list: Box<Mutex<Vec<u32>>> = Box::default(); while list.lock().unwrap().is_empty() {} }",
        "fn f() { while !READY.load(SeqCst) && LIST.lock().unwrap().is_empty() {} }",
        "impl Shared { fn f(&self) { while !self.ready.load(SeqCst) {} } }",
        "impl Shared { fn f(&self) { while !self.is_ready() {} } fn is_ready(&self) -> bool { self.list.try_lock().is_ok() } }",
        "fn f(shared: &Shared) { while !is_set(&shared.ready) {} } fn is_set(flag: &AtomicBool) -> bool { flag.load(SeqCst) }",
    ] {
        let text = generated(&format!("{NAMESAKES}{body}"));
        assert!(text.contains("seqz_waits"), "{body}");
    }
    for body in [
        "fn f(counter: &mut Counter) { while counter.load(1) < 3 {} }",
        "fn f(flag: &AtomicBool, counter: &mut Counter) { let flag = counter; while flag.load(1) < 3 {} }",
        "fn f(shared: &mut Shared) { while shared.own.load(1) < 3 {} }",
        "struct Other { ready: Counter } fn f(of: &mut Other) { while of.ready.load(1) < 3 {} }",
        "macro_rules! other { () => { struct Other { ready: Counter } } } other!(); fn f(of: &mut Other) { while of.ready.load(1) < 3 {} }",
        "mod m { pub struct AtomicBool(pub super::Counter); } fn f(flag: &mut m::AtomicBool) { while flag.0.load(1) < 3 {} }",
        "trait Try { fn load(self, n: u32) -> u32; } impl Try for &AtomicBool { fn load(self, n: u32) -> u32 { println!(\"{n}\"); std::fs::read(\"x\").map_or(n, |_| 3) } }\n\
         fn f(flag: &AtomicBool) { while flag.load(1) < 3 {} }",
    ] {
        let text = generated(&format!("{NAMESAKES}{body}"));
        assert!(!text.contains("seqz_waits"), "{body}");
    }
}

#[test]
fn copies_are_made_without_being_named() {
    let items = "struct Cl; impl Clone for Cl { fn clone(&self) -> Self { EFFECT Cl } }";
    only_with_effect(
        items,
        "let x = Cl; let v = vec![Cl]; let _ = (&x, &v);",
        &[
            "let _y = vec![Cl; 2];",
            "let _y = vec![Some(Cl); 2];",
            "let _y = v.to_vec();",
            "let _y = v.first().cloned();",
            "let _y = v.clone();",
            "let _y = v.to_owned();",
        ],
    );
    let derived = format!("{items} #[derive(Clone)] struct Derived(Cl);");
    only_with_effect(&derived, "", &["let _y = vec![Derived(Cl); 2];"]);
    assert!(is_marked_with(true, items, "", "let _y = [0; 2];"));
    assert!(is_marked_with(true, items, "", "let _y = vec![1, 2];"));
}

#[test]
fn references_are_made_others_without_a_sign() {
    let items = "
struct D(Vec<u32>);
impl std::ops::Deref for D { type Target = Vec<u32>; fn deref(&self) -> &Vec<u32> { EFFECT &self.0 } }
fn of(_: &Vec<u32>) -> u32 { 1 } struct R<'a> { r: &'a Vec<u32> } fn give(d: &D) -> &Vec<u32> { d }
";
    let before = "let d = D(vec![1]); let r = &d; let _ = r;";
    only_with_effect(
        items,
        before,
        &[
            "let _ = d[0];",
            "let _ = d.len();",
            "let _ = d.0;",
            "of(&d);",
            "of(r);",
            "let _x: &Vec<u32> = r;",
            "let _ = R { r };",
            "let x = || -> &Vec<u32> { r }; let _ = x();",
            "give(r);",
        ],
    );
    let items = "
struct D(std::vec::IntoIter<u32>); impl std::ops::Deref for D { type Target = std::vec::IntoIter<u32>; fn deref(&self) -> &std::vec::IntoIter<u32> { &self.0 } }
impl std::ops::DerefMut for D { fn deref_mut(&mut self) -> &mut std::vec::IntoIter<u32> { EFFECT &mut self.0 } }
struct In; impl In { fn touch(&mut self) {} } struct E(In);
impl std::ops::Deref for E { type Target = In; fn deref(&self) -> &In { &self.0 } }
impl std::ops::DerefMut for E { fn deref_mut(&mut self) -> &mut In { EFFECT &mut self.0 } }
fn with(_: &mut In) {}
fn ds() -> &'static Mutex<D> { panic!() } fn es() -> &'static Mutex<E> { panic!() }
";
    only_with_effect(
        items,
        "",
        &[
            "ds().lock().unwrap().next();",
            "es().lock().unwrap().touch();",
            "let mut g = es().lock().unwrap(); with(&mut g);",
        ],
    );
}

#[test]
fn what_operators_and_iterators_give_ends() {
    let items = "
struct U; impl Drop for U { fn drop(&mut self) { EFFECT } }
#[derive(Clone, Copy)] struct M;
impl std::ops::Add for M { type Output = U; fn add(self, _: M) -> U { U } }
impl std::ops::Neg for M { type Output = U; fn neg(self) -> U { U } }
impl std::ops::Not for M { type Output = U; fn not(self) -> U { U } }
impl Iterator for M { type Item = U; fn next(&mut self) -> Option<U> { None } }
impl From<M> for U { fn from(_: M) -> U { U } }
fn fails() -> Result<(), M> { Ok(()) }
";
    only_with_effect(
        items,
        "let m2 = M; let _ = m2;",
        &[
            "let _ = m2 + m2;",
            "let _ = -m2;",
            "let _ = !m2;",
            "for _ in m2 {}",
            "let _: U = m2.into();",
            "let f = || { fails()?; Ok::<(), U>(()) }; let _ = f();",
            "let _ = (0..1).zip(m2).count();",
        ],
    );
}

#[test]
fn what_else_calls_without_a_name() {
    for (items, before, turn) in [
        (
            "struct I; impl IntoIterator for I { type Item = u32; type IntoIter = std::vec::IntoIter<u32>; fn into_iter(self) -> std::vec::IntoIter<u32> { EFFECT vec![1].into_iter() } }",
            "",
            "let _ = [1u32].into_iter().zip(I);",
        ),
        (
            "#[derive(PartialEq, Eq, Hash, Clone)] struct K(String); impl std::borrow::Borrow<str> for K { fn borrow(&self) -> &str { EFFECT &self.0 } }",
            "let map: Mutex<std::collections::HashMap<K, u32>> = Mutex::default();",
            "let _ = map.lock().unwrap().contains_key(\"a\");",
        ),
        (
            "struct Sink; impl std::fmt::Write for Sink { fn write_str(&mut self, _: &str) -> std::fmt::Result { EFFECT Ok(()) } }
             struct Shown; impl std::fmt::Display for Shown { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { let mut s = Sink; write!(s, \"x\") } }",
            "",
            "let _ = format!(\"{}\", Shown);",
        ),
        (
            "struct V; impl std::fmt::Display for V { fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { EFFECT Ok(()) } }",
            "let v = V;",
            "let _ = format!(\"{v}\");",
        ),
        (
            "struct N(u32); impl From<N> for u32 { fn from(n: N) -> u32 { EFFECT n.0 } }",
            "",
            "let _ = u32::try_from(N(1));",
        ),
        (
            "struct A(u32); impl std::ops::AddAssign<u32> for A { fn add_assign(&mut self, _: u32) { EFFECT } }",
            "",
            "let mut a = A(1); a += 1;",
        ),
        (
            "struct P(u32); impl PartialEq<u32> for P { fn eq(&self, o: &u32) -> bool { EFFECT self.0 == *o } }",
            "let p = P(1);",
            "if let 1 = n.load(SeqCst) { continue; } let _ = p == 1;",
        ),
        (
            "struct P(u32); impl PartialEq for P { fn eq(&self, o: &P) -> bool { EFFECT self.0 == o.0 } }",
            "let p = P(1);",
            "match n.load(SeqCst) { 1 if [P(1)] == [P(2)] => {} _ => {} }",
        ),
        (
            "#[derive(Clone)] struct S { a: u32, b: u32 } impl Default for S { fn default() -> S { EFFECT S { a: 1, b: 1 } } }",
            "",
            "let _ = S { a: 1, ..Default::default() };",
        ),
    ] {
        only_with_effect(items, before, &[turn]);
    }
}

#[test]
fn operators_of_primitive_values_are_nobodys() {
    let items = "
struct Op(bool); impl std::ops::Not for Op { type Output = bool; fn not(self) -> bool { bump(); !self.0 } }
struct Pe(u32); impl PartialEq<u32> for Pe { fn eq(&self, o: &u32) -> bool { bump(); self.0 == *o } }
impl PartialEq<Pe> for u32 { fn eq(&self, o: &Pe) -> bool { bump(); *self == o.0 } }
impl std::ops::Add<u32> for Pe { type Output = u32; fn add(self, o: u32) -> u32 { bump(); self.0 + o } }
";
    for waits in [
        "while !flag.load(SeqCst) {}",
        "while n.load(SeqCst) != 1 {}",
        "while n.load(SeqCst) + 1 < n.fetch_or(0, SeqCst) * 2 {}",
        "while !(n.load(SeqCst) == 1 || !flag.swap(true, SeqCst)) {}",
        "while !m.lock().unwrap().is_empty() {}",
        "while m.lock().unwrap().len() as u32 != n.load(SeqCst) {}",
    ] {
        assert!(is_marked_beside(waits, items), "{waits}");
    }
    for counts in [
        "while !Op(flag.load(SeqCst)) {}",
        "while Pe(n.load(SeqCst)) != 1 {}",
        "while 1 != Pe(n.load(SeqCst)) {}",
        "while Pe(n.load(SeqCst)) + 1 != 1 {}",
        "let p = Pe(1); while n.load(SeqCst) == p {}",
    ] {
        assert!(!is_marked_beside(counts, items), "{counts}");
    }
    // A method of the crate's own may give anything.
    let own = format!("{items} impl Counts {{ fn is_empty(&self) -> Op {{ Op(true) }} }}");
    assert!(!is_marked_beside(
        "while !m.lock().unwrap()[0].is_empty() {}",
        &own
    ));
}

#[test]
fn an_atomic_of_std_is_looked_at_through_nothing_of_the_crates() {
    let items = "
struct R<'a>(&'a AtomicBool); impl std::ops::Deref for R<'_> { type Target = AtomicBool; fn deref(&self) -> &AtomicBool { bump(); self.0 } }
";
    let loops = "while !a.load(SeqCst) {}";
    for before in [
        "let a = AtomicBool::new(false);",
        "let a = Arc::new(AtomicBool::new(false));",
        "let of = Arc::new(AtomicBool::new(false)); let a = of.clone();",
        "let of = Arc::new(AtomicBool::new(false)); let a = Arc::clone(&of);",
    ] {
        assert!(
            is_marked_beside(&format!("{before} {loops}"), items),
            "{before}"
        );
        let apart = format!("{before} thread::scope(|s| {{ s.spawn(|| {{ {loops} }}); }});");
        assert!(is_marked_beside(&apart, items), "{apart}");
    }
    for before in [
        "let a = R(flag);",
        "let a = AtomicBool::new(false); let a = R(&a);",
        "let a = R(flag); { let a = AtomicBool::new(false); let _ = a; }",
        "let a = Box::new(R(flag));",
        "let of = R(flag); let a = &of;",
        "let r = R(flag); let a = AtomicBool::new(false); let f = |a: R<'_>| { while !a.load(SeqCst) {} }; f(r);",
    ] {
        let text = match before.contains("while") {
            true => before.to_owned(),
            false => format!("{before} {loops}"),
        };
        assert!(!is_marked_beside(&text, items), "{text}");
    }
    // A macro may make other variables with this name.
    for makes in [
        "let $n = R($f);",
        "let mut $n = R($f);",
        "let ($n, _) = (R($f), 1);",
        "let Some($n) = Some(R($f)) else { return };",
    ] {
        let hides = format!("{items} macro_rules! hide {{ ($n:ident, $f:expr) => {{ {makes} }} }}");
        let hidden = format!("let a = AtomicBool::new(false); hide!(a, flag); {loops}");
        assert!(!is_marked_beside(&hidden, &hides), "{makes}");
    }
}

#[test]
fn how_long_a_loop_pauses_is_no_matter() {
    const SPIN: &str = "std::hint::spin_loop()";
    let marked = |before: &str, turn: &str, after: &str| {
        let turn = turn.replace("SPIN", SPIN);
        let body = format!("{before} while !flag.load(SeqCst) {{ {turn} }} {after}");
        (only_waits(&body), body)
    };
    for (before, turn) in [
        (
            "let mut i = 0;",
            "for _ in 0..1 << i { SPIN; } if i < 6 { i += 1; }",
        ),
        (
            "let mut i = 0u32;",
            "if i < 3 { for _ in 0..1 << i { SPIN } } else { thread::sleep(std::time::Duration::from_micros(i as u64)); } i += 1;",
        ),
        (
            "let mut spins: usize = 1;",
            "for _ in 0..spins { SPIN } if spins <= 64 { spins *= 2 }",
        ),
        (
            "let mut n = 1;",
            "for _ in 0..n { SPIN; } n = (n * 2).min(1024);",
        ),
        (
            "let mut n = 1;",
            "thread::sleep(std::time::Duration::from_millis(n)); n = n.saturating_mul(2);",
        ),
        (
            "let mut i = 0;",
            "let spins = 1 << i.min(6); for _ in 0..spins { SPIN; } if i < 10 { i += 1 } else { thread::yield_now() }",
        ),
        (
            "let mut d = std::time::Duration::from_millis(1);",
            "thread::sleep(d); d = d.saturating_mul(2);",
        ),
    ] {
        let (is, body) = marked(before, turn, "");
        assert!(is, "{body}");
        let other = format!("{{ let mut i = 7; i += 1; println!(\"{{i}}\"); }} {before}");
        let (is, body) = marked(&other, turn, "");
        assert!(is, "{body}");
    }
    const BACKOFF: &str = "for _ in 0..1 << i { SPIN; } if i < 6 { i += 1; }";
    for (before, turn, after) in [
        // It is looked at afterwards, or before.
        ("let mut i = 0;", BACKOFF, "assert!(i < 5);"),
        ("let mut i = 0;", BACKOFF, "println!(\"{i}\");"),
        ("let mut i = 0; let p = &raw mut i;", BACKOFF, "let _ = p;"),
        ("let mut i = 0; let f = || i;", BACKOFF, ""),
        // Something else depends on it.
        (
            "let mut i = 0;",
            "if i < 6 { i += 1; } if i == 4 { break; }",
            "",
        ),
        (
            "let mut i = 0;",
            "if i < 6 { i += 1; } else { x.store(1, SeqCst); }",
            "",
        ),
        (
            "let mut i = 0;",
            "if i < 6 { i += 1; } else { panic!(); }",
            "",
        ),
        ("let mut i = 0;", "i += 1; assert!(i < 100);", ""),
        (
            "let mut i = 0;",
            "for n in 0..i { x.store(n, SeqCst); } if i < 6 { i += 1; }",
            "",
        ),
        (
            "let mut i = 0;",
            "println!(\"{i}\"); if i < 6 { i += 1; }",
            "",
        ),
        (
            "let mut i = 0; let mut n = 0;",
            "if i < 6 { i += 1; } n = i;",
            "assert!(n < 3);",
        ),
        ("let mut i = 0;", "while i < x.load(SeqCst) { i += 1; }", ""),
        // It comes to an end of its own.
        ("let mut i = 0;", "for _ in 0..1 << i { SPIN; } i += 1;", ""),
        ("let mut i = 1;", "for _ in 0..i { SPIN; } i *= 2;", ""),
        ("let mut i = 0u8;", "for _ in 0..i { SPIN; } i += 1;", ""),
        ("let mut i: u8 = 0;", "for _ in 0..i { SPIN; } i += 1;", ""),
        (
            "let mut i = 0;",
            "for _ in 0..1 << i { SPIN; } if i < 40 { i += 1; }",
            "",
        ),
        ("let mut i = 5;", "i -= 1; for _ in 0..i { SPIN; }", ""),
        ("let mut i = 5;", "for _ in 0..10 / i { SPIN; } i = 0;", ""),
        // It is somebody else's.
        ("", "for _ in 0..s.n { SPIN; } if s.n < 6 { s.n += 1; }", ""),
        (
            "",
            "for _ in 0..*out { SPIN; } if *out < 6 { *out += 1; }",
            "",
        ),
    ] {
        let (is, body) = marked(before, turn, after);
        assert!(!is, "{body}");
    }
}
