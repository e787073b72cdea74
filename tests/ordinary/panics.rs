//! Panics that are expected, handled, or nobody's; what comes after them; and the result that the test itself has.

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

static COUNT: AtomicU32 = AtomicU32::new(0);

fn add(n: &AtomicU32) {
    let seen = n.load(SeqCst);
    n.store(seen + 1, SeqCst);
}

fn lose() {
    let t = thread::spawn(|| add(&COUNT));
    add(&COUNT);
    t.join().unwrap();
    assert_eq!(COUNT.load(SeqCst), 2, "lost");
}

#[test]
fn passes_with_a_panic_that_is_matched() {
    let t = thread::spawn(|| -> u32 {
        COUNT.fetch_add(1, SeqCst);
        panic!("on purpose")
    });
    COUNT.fetch_add(1, SeqCst);
    match t.join() {
        Ok(_) => unreachable!("never"),
        Err(e) => assert_eq!(*e.downcast_ref::<&str>().unwrap(), "on purpose", "never"),
    }
}

#[test]
fn passes_with_a_payload_of_its_own() {
    #[derive(Debug, PartialEq)]
    struct Job(u32);
    let t = thread::spawn(|| panic::panic_any(Job(COUNT.fetch_add(1, SeqCst))));
    COUNT.load(SeqCst);
    let job = t.join().unwrap_err().downcast::<Job>().unwrap();
    assert_eq!(*job, Job(0), "never");
}

#[test]
fn passes_with_a_panic_in_a_scope() {
    let caught = panic::catch_unwind(|| {
        thread::scope(|s| {
            s.spawn(|| {
                add(&COUNT);
                panic!("in a scope")
            });
        })
    });
    assert!(caught.is_err(), "never");
    assert_eq!(COUNT.load(SeqCst), 1, "never");
}

#[test]
#[should_panic(expected = "a scoped thread panicked")]
fn passes_with_what_a_scope_panics_with() {
    thread::scope(|s| {
        s.spawn(|| {
            add(&COUNT);
            panic!("in a scope")
        });
        COUNT.load(SeqCst);
    });
}

#[test]
#[should_panic]
fn passes_with_any_panic() {
    let t = thread::spawn(|| {
        add(&COUNT);
        panic!("one")
    });
    COUNT.load(SeqCst);
    t.join().unwrap();
}

#[test]
#[should_panic]
fn fails_where_no_panic_comes() {
    let t = thread::spawn(|| COUNT.store(1, SeqCst));
    let seen = COUNT.load(SeqCst);
    t.join().unwrap();
    assert_eq!(seen, 1);
}

#[test]
fn passes_with_what_is_resumed_and_caught() {
    let caught = panic::catch_unwind(|| {
        let t = thread::spawn(|| {
            add(&COUNT);
            panic!("first")
        });
        if let Err(e) = t.join() {
            panic::resume_unwind(e)
        }
    });
    assert_eq!(
        caught.unwrap_err().downcast_ref::<&str>(),
        Some(&"first"),
        "never"
    );
}

#[test]
fn fails_with_what_is_resumed() {
    let t = thread::spawn(|| {
        add(&COUNT);
        assert_eq!(COUNT.load(SeqCst), 9, "resumed")
    });
    COUNT.load(SeqCst);
    if let Err(e) = t.join() {
        panic::resume_unwind(e)
    }
}

#[test]
fn passes_with_a_code() -> ExitCode {
    let t = thread::spawn(|| COUNT.fetch_add(1, SeqCst));
    COUNT.fetch_add(1, SeqCst);
    t.join().unwrap();
    if COUNT.load(SeqCst) == 2 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[test]
fn fails_with_a_code() -> ExitCode {
    let t = thread::spawn(|| add(&COUNT));
    add(&COUNT);
    t.join().unwrap();
    if COUNT.load(SeqCst) == 2 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[test]
fn fails_with_a_boxed_error() -> Result<(), Box<dyn std::error::Error>> {
    let t = thread::spawn(|| add(&COUNT));
    add(&COUNT);
    t.join().unwrap();
    let n: u32 = format!(
        "{}{}",
        COUNT.load(SeqCst),
        if COUNT.load(SeqCst) == 1 { "x" } else { "" }
    )
    .parse()?;
    assert_eq!(n, 2, "never");
    Ok(())
}

#[test]
fn passes_with_a_question_mark() -> Result<(), String> {
    let t = thread::spawn(|| -> Result<u32, String> { Ok(COUNT.fetch_add(1, SeqCst)) });
    COUNT.load(SeqCst);
    let n = t.join().map_err(|_| "panicked".to_owned())??;
    if n == 0 { Ok(()) } else { Err("never".into()) }
}

#[test]
fn fails_after_a_handled_one_in_a_scope() {
    let _ = panic::catch_unwind(|| {
        thread::scope(|s| {
            s.spawn(|| panic!("handled"));
        })
    });
    lose();
}

#[test]
fn fails_after_a_caught_one() {
    let _ = panic::catch_unwind(|| panic!("handled"));
    lose();
}

#[test]
fn fails_in_the_thread_that_has_caught_one() {
    let t = thread::spawn(|| {
        let _ = panic::catch_unwind(|| panic!("handled"));
        add(&COUNT);
    });
    add(&COUNT);
    t.join().unwrap();
    assert_eq!(COUNT.load(SeqCst), 2, "lost");
}

#[test]
fn fails_after_two_handled_ones() {
    for _ in 0..2 {
        assert!(thread::spawn(|| panic!("handled")).join().is_err(), "never");
    }
    lose();
}

#[test]
fn fails_beside_a_handled_one() {
    let w = thread::spawn(|| {
        COUNT.fetch_add(1, SeqCst);
        panic!("handled")
    });
    let seen = COUNT.load(SeqCst);
    assert!(w.join().is_err(), "never");
    assert_eq!(seen, 0, "already counted");
}

#[test]
fn fails_in_a_drop_after_a_handled_one() {
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            if !thread::panicking() {
                assert_eq!(COUNT.load(SeqCst), 2, "lost");
            }
        }
    }
    let _ = thread::spawn(|| {
        add(&COUNT);
        panic!("handled")
    })
    .join();
    let _guard = Guard;
    let t = thread::spawn(|| {
        let n = COUNT.load(SeqCst);
        COUNT.store(n + 1, SeqCst)
    });
    COUNT.store(1, SeqCst);
    t.join().unwrap();
}

#[test]
fn deadlocks_after_a_caught_one() {
    static A: Mutex<()> = Mutex::new(());
    static B: Mutex<()> = Mutex::new(());
    let _ = panic::catch_unwind(|| panic!("handled"));
    let t = thread::spawn(|| {
        let _a = A.lock().unwrap();
        let _b = B.lock().unwrap();
    });
    {
        let _b = B.lock().unwrap();
        let _a = A.lock().unwrap();
    }
    t.join().unwrap();
}

#[test]
fn fails_with_the_one_that_is_resumed_first() {
    let a = thread::spawn(|| {
        COUNT.fetch_add(1, SeqCst);
        panic!("A")
    });
    let b = thread::spawn(|| {
        COUNT.fetch_add(1, SeqCst);
        panic!("B")
    });
    let (a, b) = (a.join(), b.join());
    if let Err(e) = b {
        panic::resume_unwind(e)
    }
    if let Err(e) = a {
        panic::resume_unwind(e)
    }
}

#[test]
fn fails_twice_whoever_is_first() {
    let t = thread::spawn(|| COUNT.store(1, SeqCst));
    let first = COUNT.load(SeqCst);
    t.join().unwrap();
    match first {
        0 => panic!("zero"),
        _ => panic!("one"),
    }
}

#[test]
fn fails_twice_beside_a_handled_one() {
    let t = thread::spawn(|| {
        COUNT.store(1, SeqCst);
        panic!("handled")
    });
    let first = COUNT.load(SeqCst);
    let _ = t.join();
    assert_ne!(first, 0, "zero");
    assert_ne!(first, 1, "one");
}

fn two<T>(make: T) -> (Arc<T>, Arc<T>) {
    let one = Arc::new(make);
    (one.clone(), one)
}

#[test]
fn passes_where_the_panic_is_expected() {
    let m = two(Mutex::new(0));
    let t = thread::spawn(move || {
        let _held = m.1.lock().unwrap();
        panic!("on purpose");
    });
    assert!(t.join().is_err());
    assert!(m.0.is_poisoned());
}

#[test]
#[should_panic(expected = "on purpose")]
fn passes_as_it_panics() {
    let n = two(AtomicU32::new(0));
    let t = thread::spawn(move || add(&n.1));
    t.join().unwrap();
    panic!("on purpose: {}", n.0.load(SeqCst));
}

#[test]
#[should_panic(expected = "on purpose")]
fn fails_with_another_panic() {
    let n = two(AtomicU32::new(0));
    let t = thread::spawn(move || add(&n.1));
    add(&n.0);
    t.join().unwrap();
    assert_eq!(n.0.load(SeqCst), 2, "lost");
    panic!("on purpose");
}

#[test]
fn passes_with_what_it_catches() {
    let n = two(AtomicU32::new(0));
    let t = thread::spawn(move || {
        let caught = std::panic::catch_unwind(|| panic!("caught"));
        n.1.fetch_add(1, SeqCst);
        caught.is_err()
    });
    n.0.fetch_add(1, SeqCst);
    assert!(t.join().unwrap());
}

#[test]
fn fails_with_its_result() -> Result<(), String> {
    let n = two(AtomicU32::new(0));
    let t = thread::spawn(move || add(&n.1));
    add(&n.0);
    t.join().map_err(|_| "panicked")?;
    if n.0.load(SeqCst) == 2 {
        Ok(())
    } else {
        Err("lost".into())
    }
}

#[test]
fn fails_after_one() {
    let n = two(AtomicU32::new(0));
    let _ = thread::spawn(|| panic!("handled")).join();
    let t = thread::spawn(move || add(&n.1));
    add(&n.0);
    t.join().unwrap();
    assert_eq!(n.0.load(SeqCst), 2, "lost");
}

#[test]
fn fails_with_what_a_poisoned_lock_holds() {
    let m = two(Mutex::new(0));
    let t = thread::spawn(move || {
        *m.1.lock().unwrap() = 1;
        panic!("handled");
    });
    let seen = *m.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    assert!(t.join().is_err());
    assert_eq!(seen, 1, "too early");
}

#[test]
fn deadlocks_after_one() {
    let (a, b) = (two(Mutex::new(0)), two(Mutex::new(0)));
    assert!(thread::spawn(|| panic!("handled")).join().is_err());
    let t = thread::spawn(move || {
        let _a = a.1.lock().unwrap();
        let _b = b.1.lock().unwrap();
    });
    {
        let _b = b.0.lock().unwrap();
        let _a = a.0.lock().unwrap();
    }
    t.join().unwrap();
}

#[test]
fn passes_with_two_of_them() {
    let n = two(AtomicU32::new(0));
    let a = thread::spawn(move || {
        n.1.fetch_add(1, SeqCst);
        panic!("handled");
    });
    let b = thread::spawn(move || {
        n.0.fetch_add(1, SeqCst);
        panic!("handled");
    });
    assert!(a.join().is_err() & b.join().is_err());
}

#[test]
fn passes_with_a_guard_that_sees_the_panic() {
    struct Sees;
    impl Drop for Sees {
        fn drop(&mut self) {
            if thread::panicking() {
                COUNT.fetch_add(1, SeqCst);
            }
        }
    }
    let t = thread::spawn(|| {
        let _sees = Sees;
        panic!("handled")
    });
    COUNT.load(SeqCst);
    let _ = t.join();
    drop(Sees);
    assert_eq!(COUNT.load(SeqCst), 1, "never");
}

// not followed: the panic hook: `panic::set_hook`
#[test]
fn passes_with_a_hook() {
    static HOOKED: AtomicBool = AtomicBool::new(false);
    panic::set_hook(Box::new(|_| HOOKED.store(true, SeqCst)));
    let t = thread::spawn(|| panic!("handled"));
    let _ = t.join();
    let _ = panic::take_hook();
    assert!(HOOKED.load(SeqCst), "never");
}

#[test]
fn passes_with_an_assert_unwind_safe() {
    let n = Arc::new(AtomicU32::new(0));
    let m = n.clone();
    let t = thread::spawn(move || {
        panic::catch_unwind(AssertUnwindSafe(|| {
            m.fetch_add(1, SeqCst);
            let all: Vec<u32> = vec![];
            all[m.load(SeqCst) as usize]
        }))
        .is_err()
    });
    n.load(SeqCst);
    assert!(t.join().unwrap(), "never");
}

// A thread that is to wait for its own end.

#[test]
fn passes_where_a_thread_joins_itself_and_catches_that() {
    let (give, own) = mpsc::channel::<thread::JoinHandle<()>>();
    let (tell, told) = mpsc::channel();
    let t = thread::spawn(move || {
        let own = own.recv().unwrap();
        let joined = panic::catch_unwind(AssertUnwindSafe(|| own.join()));
        tell.send(joined.is_err()).unwrap();
    });
    give.send(t).unwrap();
    assert!(told.recv().unwrap());
}

// What an assertion says is what the program has there.

fn comes(ready: impl Fn() -> bool) -> bool {
    while !ready() {
        thread::yield_now();
    }
    false
}

#[test]
#[should_panic(expected = "assertion failed: comes(|| { n.set(n.get() + 1); n.get() > std::cmp::max(1, 2) })")]
fn passes_with_the_text_of_a_closure_that_counts() {
    let t = thread::spawn(|| COUNT.load(SeqCst));
    t.join().unwrap();
    let n = std::cell::Cell::new(0);
    assert!(comes(|| { n.set(n.get() + 1); n.get() > std::cmp::max(1, 2) }));
}

#[test]
#[should_panic(expected = "assertion failed: std::thread::spawn(|| COUNT.load(SeqCst)).join().is_err()")]
fn passes_with_the_text_of_a_path() {
    assert!(std::thread::spawn(|| COUNT.load(SeqCst)).join().is_err());
}
