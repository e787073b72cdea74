//! A journal that is written out by whoever gets its lock, and left alone by whoever does not.
//!
//! Source: our own. A failed `try_lock` is a look at the other thread like any read.
//!
//! The bug: `close` takes a failed `try_lock` for a sign that another thread is writing the journal out already. But the
//! holder may as well be in `append`. `close_shared` makes the same mistake with `try_write` and a reader.
//!
//! Threads: `close` meets `append`, `close_shared` meets `len`. One look of the closing thread, the failed attempt, sees
//! the other one inside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

#[derive(Default)]
struct Journal {
    entries: Mutex<Vec<u32>>,
    written: AtomicBool,
}

impl Journal {
    fn append(&self, entry: u32) {
        self.entries.lock().unwrap().push(entry);
    }

    fn close(&self) {
        if let Ok(mut entries) = self.entries.try_lock() {
            entries.clear();
            self.written.store(true, Ordering::SeqCst);
        }
        assert!(
            self.written.load(Ordering::SeqCst),
            "the journal is closed, but not written"
        );
    }
}

#[derive(Default)]
struct SharedJournal {
    entries: RwLock<Vec<u32>>,
    written: AtomicBool,
}

impl SharedJournal {
    fn len(&self) -> usize {
        self.entries.read().unwrap().len()
    }

    fn close_shared(&self) {
        if let Ok(mut entries) = self.entries.try_write() {
            entries.clear();
            self.written.store(true, Ordering::SeqCst);
        }
        assert!(
            self.written.load(Ordering::SeqCst),
            "the shared journal is closed, but not written"
        );
    }
}

#[test]
fn close_during_an_append() {
    let journal = Arc::new(Journal::default());
    let appending = {
        let journal = Arc::clone(&journal);
        thread::spawn(move || journal.append(1))
    };
    let closing = {
        let journal = Arc::clone(&journal);
        thread::spawn(move || journal.close())
    };
    appending.join().unwrap();
    closing.join().unwrap();
}

#[test]
fn close_during_a_read() {
    let journal = Arc::new(SharedJournal::default());
    let reading = {
        let journal = Arc::clone(&journal);
        thread::spawn(move || journal.len())
    };
    let closing = {
        let journal = Arc::clone(&journal);
        thread::spawn(move || journal.close_shared())
    };
    reading.join().unwrap();
    closing.join().unwrap();
}
