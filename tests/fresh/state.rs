//! Programs that change what outlives an execution, and are right if it doesn't.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

static N: AtomicU32 = AtomicU32::new(0);

/// Two executions at least.
fn two_threads() {
    let other = thread::spawn(|| N.fetch_add(1, SeqCst));
    N.fetch_add(1, SeqCst);
    other.join().unwrap();
}

#[test]
fn statics_of_a_dependency() {
    assert_eq!(helper::count(), 0);
    let mut ran = false;
    helper::once(|| ran = true);
    assert!(ran);
    assert!(helper::set("name"));
    assert_eq!(helper::add("one"), 1);
    assert_eq!(helper::first(), 1);
    two_threads();
}

#[test]
fn locals_of_a_dependency() {
    let seen = Arc::new(Mutex::new([0_u32; 2]));
    let theirs = seen.clone();
    let call = |who: usize, seen: &Mutex<[u32; 2]>| {
        let calls = helper::calls();
        let names = helper::names();
        let mut seen = seen.lock().unwrap();
        seen[who] += 1;
        assert_eq!(calls, seen[who], "calls of another thread");
        assert_eq!(names, 1 + seen[who] as usize, "names of another thread");
    };
    let other = thread::spawn(move || for _ in 0..2 { call(1, &theirs) });
    for _ in 0..2 { call(0, &seen) }
    other.join().unwrap();
}

#[test]
fn locals_of_a_dependency_are_destroyed() {
    let other = thread::spawn(helper::at_end);
    other.join().unwrap();
    assert_eq!(helper::count(), 100);
    helper::at_end();
    two_threads();
}

#[test]
fn variables() {
    assert!(std::env::var_os("SET_ONCE").is_none(), "set twice");
    assert!(std::env::var_os("PATH").is_some(), "removed twice");
    unsafe {
        std::env::set_var("SET_ONCE", "1");
        std::env::remove_var("PATH");
    }
    two_threads();
}

#[test]
fn directory() {
    assert_ne!(std::env::current_dir().unwrap(), std::path::Path::new("/"));
    std::env::set_current_dir("/").unwrap();
    two_threads();
}

#[test]
fn a_file_that_has_the_name_of_the_process() {
    let own = format!("file-{}", std::process::id());
    assert!(!std::fs::exists(&own).unwrap(), "the file of another process");
    std::fs::write(&own, "x").unwrap();
    assert_eq!(own, format!("file-{}", std::process::id()));
    two_threads();
    assert!(std::fs::exists(&own).unwrap(), "not the file of this process");
}

#[test]
fn plain_statics() {
    static mut COUNTS: [u32; 4] = [0; 4];
    unsafe {
        COUNTS[1] += 1;
        assert_eq!(COUNTS[1], 1);
    }
    two_threads();
    assert_eq!(N.load(SeqCst), 2);
}

unsafe extern "C" {
    fn rand() -> c_int;
    fn srand(seed: c_uint);
    fn setlocale(category: c_int, locale: *const c_char) -> *mut c_char;
    fn umask(mask: c_uint) -> c_uint;
}

#[test]
fn c_library() {
    unsafe {
        assert_eq!(rand(), 1_804_289_383);
        srand(7);
        assert_ne!(umask(0o77), 0o77);
        assert_eq!(CStr::from_ptr(setlocale(6, std::ptr::null())), c"C");
        setlocale(6, c"C.UTF-8".as_ptr());
    }
    two_threads();
}

/// The state is a fact of the execution, so that what depends on it in one execution does so in the same one alone.
#[test]
fn a_failure_of_the_first_execution() {
    let other = thread::spawn(|| N.store(1, SeqCst));
    let first = helper::count() == 0;
    assert!(!first || N.load(SeqCst) == 0, "seen by whoever comes late");
    other.join().unwrap();
}
