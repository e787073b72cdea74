//! A journal that is written out when it is closed: `../try_lock.rs` with the bug taken out.
//!
//! Whoever closes a journal waits for its lock.

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
        self.entries.lock().unwrap().clear();
        self.written.store(true, Ordering::SeqCst);
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
        self.entries.write().unwrap().clear();
        self.written.store(true, Ordering::SeqCst);
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
