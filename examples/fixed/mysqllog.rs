//! A database's log of changes: `../mysqllog.rs` with the bug taken out.
//!
//! `rotate` closes the log and opens a new one in one critical section.

use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone, Default)]
struct Log {
    open: bool,
    file: u32,
    entries: Vec<(u32, &'static str)>,
}

#[derive(Default)]
struct Database {
    log: Mutex<Log>,
}

impl Database {
    fn open(&self) {
        let mut log = self.log.lock().unwrap();
        log.file += 1;
        log.open = true;
    }

    fn rotate(&self) {
        let mut log = self.log.lock().unwrap();
        log.open = false;
        log.file += 1;
        log.open = true;
    }

    fn change(&self, statement: &'static str) {
        let mut log = self.log.lock().unwrap();
        if log.open {
            let file = log.file;
            log.entries.push((file, statement));
        }
    }
}

#[test]
fn change_during_a_rotation() {
    let database = Arc::new(Database::default());
    database.open();
    let client = {
        let database = Arc::clone(&database);
        thread::spawn(move || database.change("INSERT"))
    };
    let rotating = {
        let database = Arc::clone(&database);
        thread::spawn(move || database.rotate())
    };
    client.join().unwrap();
    rotating.join().unwrap();
    let entries = database.log.lock().unwrap().entries.len();
    assert_eq!(entries, 1, "a change is not in the log");
}
