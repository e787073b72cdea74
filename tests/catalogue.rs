//! The table of what one thread can learn of another: that its page and its tests are there, and that a program which learns
//! all of it is run so by the binary.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use seqz_transform::catalogue;
use support::{Run, package, seqz};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_page_is_up_to_date() {
    let kept = repository().join("docs/events.md");
    let page = catalogue::page();
    if std::env::var_os("SEQZ_UPDATE").is_some() {
        fs::write(&kept, &page).unwrap();
    }
    assert!(
        fs::read_to_string(kept).is_ok_and(|kept| kept == page),
        "make docs/events.md again: SEQZ_UPDATE=1 cargo test -p seqz --test catalogue"
    );
}

#[test]
fn every_test_that_it_names_exists() {
    for entry in catalogue::entries() {
        for test in entry.tests {
            let (file, function) = test.rsplit_once("::").unwrap();
            let text = fs::read_to_string(repository().join(file));
            let text = text.unwrap_or_else(|error| panic!("{file}: {error}"));
            let is_test = text
                .split("#[test]")
                .skip(1)
                .any(|after| after.trim_start().starts_with(&format!("fn {function}()")));
            assert!(is_test, "{test}");
        }
    }
}

/// A row is of no use where the runtime has no item of its name, which the program would then have from std.
#[test]
fn the_runtime_has_every_item_with_an_event() {
    let mut seen = 0;
    for entry in catalogue::entries().filter(|entry| entry.scheduled.is_event()) {
        let file = match entry.module {
            "sync" => "sync/mod.rs",
            "sync::atomic" => "sync/atomic.rs",
            "sync::mpsc" => "sync/mpsc.rs",
            "thread" => "thread.rs",
            _ => continue,
        };
        let text = fs::read_to_string(repository().join("runtime/src/std").join(file)).unwrap();
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
        let words: Vec<&str> = text.split(|c| !is_of_word(c)).collect();
        for item in entry.items {
            seen += 1;
            let name = item.split("::").next().unwrap();
            assert!(
                words.contains(&name),
                "{}::{name} is not in {file}",
                entry.module
            );
        }
    }
    assert!(seen > 60, "{seen}");
}

/// What the transformation takes for an input, the runtime makes, and the other way round.
#[test]
fn inputs_are_of_the_types_that_the_runtime_makes() {
    let of_runtime = ["scalar.rs", "compound.rs"]
        .map(|file| fs::read_to_string(repository().join("runtime/src/input").join(file)).unwrap());
    let mut made: Vec<&str> = Vec::new();
    for line in of_runtime.iter().flat_map(|text| text.lines()) {
        let line = line.trim();
        // `impl<V: Input> Input for Vec<V> {`, or a line of a macro: `u16 Some(65_536);`.
        let name = match line.split_once(" Input for ") {
            Some((_, of)) => of,
            None if line.ends_with(';') && line.starts_with(['u', 'i', 'f']) => line,
            None => continue,
        };
        let end = name
            .find(|c: char| !c.is_alphanumeric())
            .unwrap_or(name.len());
        let is_type =
            name.starts_with(char::is_uppercase) || name[1..].starts_with(|c: char| c.is_numeric());
        if is_type || matches!(&name[..end], "bool" | "char" | "usize" | "isize") {
            made.push(&name[..end]);
        }
    }
    made.sort_unstable();
    let mut taken: Vec<&str> = seqz_transform::INPUT_TYPES
        .iter()
        .map(|it| it.name)
        .collect();
    taken.sort_unstable();
    assert_eq!(made, taken);
}

const PROGRAM: &str = "
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

#[test]
fn asks_for_poison() {
    let lock = Arc::new(Mutex::new(0_u32));
    let other = Arc::clone(&lock);
    let thread = thread::spawn(move || {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _guard = other.lock().unwrap();
            panic!(\"caught\");
        }));
    });
    let poisoned = lock.is_poisoned();
    thread.join().unwrap();
    assert!(lock.is_poisoned(), \"the flag is lost\");
    if poisoned {
        panic!(\"it is poisoned\");
    }
    panic!(\"it is clean\");
}

struct Flush(Arc<AtomicU32>);

impl Drop for Flush {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        assert!(FLUSH.try_with(|_| ()).is_err(), \"it is there still\");
    }
}

thread_local! {
    static FLUSH: RefCell<Option<Flush>> = const { RefCell::new(None) };
}

#[test]
fn flushes_before_the_join() {
    let total = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&total);
    let thread = thread::spawn(move || FLUSH.with_borrow_mut(|flush| *flush = Some(Flush(other))));
    thread.join().unwrap();
    assert_eq!(total.load(SeqCst), 1, \"it is not flushed\");
}

#[test]
fn flushes_at_some_time() {
    let total = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&total);
    let thread = thread::spawn(move || FLUSH.with_borrow_mut(|flush| *flush = Some(Flush(other))));
    let seen = total.load(SeqCst);
    thread.join().unwrap();
    assert_ne!(seen, 0, \"it is to be flushed\");
    assert_ne!(seen, 1, \"it is flushed already\");
}

#[test]
fn asks_for_the_end() {
    let thread = thread::spawn(|| ());
    let finished = thread.is_finished();
    thread.join().unwrap();
    assert!(finished, \"it runs\");
    assert!(!finished, \"it has finished\");
}

#[test]
fn reads_twice() {
    let lock = Arc::new(RwLock::new(0_u32));
    let other = Arc::clone(&lock);
    let thread = thread::spawn(move || *other.write().unwrap() += 1);
    let first = lock.read().unwrap();
    let second = lock.read().unwrap();
    assert_eq!(*first, *second, \"it is written while it is read\");
    drop((first, second));
    thread.join().unwrap();
}
";

/// Says all of this, and nothing of what can't be.
fn says(run: &Run, all: &[&str]) {
    assert_eq!(run.code, Some(1), "{}", run.shown());
    for one in all {
        assert!(run.stdout.contains(one), "{one}\n{}", run.shown());
    }
    let wrong = [
        "the flag is lost",
        "it is there still",
        "it is not flushed",
        "it is written while it is read",
    ];
    // Sources are shown with the failures: what counts is the line that names one.
    let named = run
        .stdout
        .lines()
        .filter(|line| line.contains("panic") || line.contains("bug:"));
    let named: Vec<_> = named.filter(|line| !line.contains('|')).collect();
    assert!(
        !named
            .iter()
            .any(|line| wrong.iter().any(|one| line.contains(one))),
        "{named:#?}"
    );
}

#[test]
fn what_can_be_learned_is_explored_and_checked() {
    let dir = package(PROGRAM);
    let all = [
        "it is poisoned",
        "it is clean",
        "it is to be flushed",
        "it is flushed already",
        "it runs",
        "it has finished",
    ];
    let run = seqz(dir.path(), ["explore"]);
    says(&run, &all);
    assert!(run.stdout.contains("one waits to read"), "{}", run.shown());
    let run = seqz(dir.path(), ["check"]);
    says(&run, &all);
    assert!(
        run.stdout.contains("to read a second time"),
        "{}",
        run.shown()
    );
}
