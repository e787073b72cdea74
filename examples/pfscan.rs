//! A scanner that looks for a word in many files at once.
//!
//! Source: pfscan of the predecessor-set paper, into which an order violation was put: the number of active workers is
//! set too late, and the main thread may hang. The files are in memory.
//!
//! The bug: the main thread starts the scanners and then stores how many are active, over what those that have already
//! ended have taken off.
//!
//! Threads: two scanners, and the main thread, which waits until none is active.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// A file's name and what is in it.
type File = (&'static str, &'static str);

const FILES: [File; 2] = [
    ("notes.txt", "buy milk\ncall the bank"),
    ("poem.txt", "the bank of the river"),
];

struct Scan {
    word: &'static str,
    files: Mutex<VecDeque<File>>,
    /// Names of files, and lines.
    found: Mutex<Vec<(&'static str, usize)>>,
    active: Mutex<i32>,
    ended: Condvar,
}

impl Scan {
    fn new(word: &'static str) -> Self {
        Self {
            word,
            files: Mutex::new(FILES.into()),
            found: Mutex::default(),
            active: Mutex::new(0),
            ended: Condvar::new(),
        }
    }

    /// Scans one file after the other.
    fn run(&self) {
        loop {
            let next = self.files.lock().unwrap().pop_front();
            let Some((name, text)) = next else {
                break;
            };
            let lines = (1..).zip(text.lines());
            let hits = lines.filter(|(_, line)| line.contains(self.word));
            let hits: Vec<_> = hits.map(|(number, _)| (name, number)).collect();
            self.found.lock().unwrap().extend(hits);
        }
        *self.active.lock().unwrap() -= 1;
        self.ended.notify_one();
    }

    fn start(self: &Arc<Self>) {
        let scan = Arc::clone(self);
        thread::spawn(move || scan.run());
    }

    fn activate(&self, scanners: i32) {
        *self.active.lock().unwrap() = scanners;
    }

    /// Waits until no scanner is active.
    fn wait(&self) {
        let mut active = self.active.lock().unwrap();
        while *active > 0 {
            active = self.ended.wait(active).unwrap();
        }
    }
}

#[test]
fn two_scanners() {
    let scan = Arc::new(Scan::new("bank"));
    for _ in 0..2 {
        scan.start();
    }
    scan.activate(2);
    scan.wait();
    let mut found = scan.found.lock().unwrap().clone();
    found.sort_unstable();
    assert_eq!(found, [("notes.txt", 2), ("poem.txt", 1)]);
}
