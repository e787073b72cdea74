//! What `{:?}` shows of what threads share.

use std::sync::Arc;

use seqz_runtime::std::sync::{Mutex, RwLock};
use seqz_runtime::std::thread;

use super::{Note, all, check, set};

#[test]
fn a_mutex_is_shown_as_it_is() {
    let program = |note: Note<'_>| {
        let mutex = Arc::new(Mutex::new(0));
        let other = Arc::clone(&mutex);
        let thread = thread::spawn(move || *other.lock().unwrap() = 1);
        note(format!("{mutex:?}"));
        thread.join().unwrap();
        let own = mutex.lock();
        note(format!("{mutex:?}"));
        drop(own);
    };
    let seen = [
        "Mutex { data: 0, poisoned: false, .. }",
        "Mutex { data: 1, poisoned: false, .. }",
        "Mutex { data: <locked>, poisoned: false, .. }",
    ];
    assert_eq!(all(program), set(&seen));
}

#[test]
fn a_lock_that_is_read_can_be_shown() {
    let program = |note: Note<'_>| {
        let lock = Arc::new(RwLock::new(vec![1]));
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || drop(other.write()));
        let own = lock.try_read();
        let is_read = own.is_ok();
        note(format!("{is_read} {lock:?}"));
        drop(own);
        thread.join().unwrap();
    };
    let seen = [
        "false RwLock { data: <locked>, poisoned: false, .. }",
        "false RwLock { data: [1], poisoned: false, .. }",
        "true RwLock { data: [1], poisoned: false, .. }",
    ];
    assert_eq!(all(program), set(&seen));
}

#[test]
fn poison_is_shown() {
    let program = |note: Note<'_>| {
        let locks = Arc::new((Mutex::new(0), RwLock::new(0)));
        let other = Arc::clone(&locks);
        let thread = thread::spawn(move || {
            let _guards = (other.0.lock(), other.1.write());
            panic!("poison");
        });
        assert!(thread.join().is_err());
        note(format!("{locks:?}"));
    };
    let seen = "(Mutex { data: 0, poisoned: true, .. }, RwLock { data: 0, poisoned: true, .. })";
    assert_eq!(all(program), set(&[seen]));
}

#[test]
fn the_sequential_program_shows_the_same() {
    let seen = [
        ("Mutex { data: 0, poisoned: false, .. }", 0),
        ("Mutex { data: 1, poisoned: false, .. }", 1),
        ("Mutex { data: <locked>, poisoned: false, .. }", 1),
    ];
    let found = check(&set(&seen.map(|(text, _)| text)), || {
        let mutex = Arc::new(Mutex::new(0));
        let other = Arc::clone(&mutex);
        let thread = thread::spawn(move || *other.lock().unwrap() = 1);
        let shown = format!("{mutex:?}");
        thread.join().unwrap();
        shown
    });
    assert_eq!(found, seen.map(|(text, k)| (text.to_owned(), k)).into());
}

#[test]
fn threads_are_shown_as_by_std() {
    let program = |note: Note<'_>| {
        let thread = thread::Builder::new().name("one".to_owned());
        let thread = thread
            .spawn(|| format!("{:?}", thread::current().id()))
            .unwrap();
        note(format!("{:?}", thread.thread()));
        note(thread.join().unwrap());
    };
    let seen = [
        "Thread { id: ThreadId(2), name: Some(\"one\"), .. }",
        "ThreadId(2)",
    ];
    assert_eq!(all(program), set(&seen));
}
