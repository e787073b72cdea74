//! A database's log of changes, which is closed and opened again while the database is used.
//!
//! Source: mysqllog of the predecessor-set paper, an atomicity violation extracted from MySQL. Of the program itself the
//! paper says nothing.
//!
//! The bug: `rotate` closes the log and opens a new one in two critical sections. A change that comes in between finds no
//! log that is open, and is not logged.
//!
//! Threads: one that changes a row meets one that rotates the log. Two reads of the former see writes of the latter: that
//! the log is closed, and what is in it at the end.

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

    fn close(&self) {
        self.log.lock().unwrap().open = false;
    }

    fn rotate(&self) {
        self.close();
        self.open();
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
