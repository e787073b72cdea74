//! A directory of names in stripes, with a lock for each stripe.
//!
//! Source: folklore; locks by hash, as the paper on the lazy happens-before relation has them among its benchmarks: names
//! that have nothing to do with each other share a lock.
//!
//! The bug: `rename` takes the entry out under the lock of the one stripe, and puts it in under that of the other one. In
//! between there is neither name.
//!
//! Threads: one that renames, one that looks for both names, and one that adds names in the same stripes.

use std::sync::{Arc, Mutex};
use std::thread;

const STRIPES: usize = 2;

/// The names in a stripe, and what they stand for.
type Stripe = Mutex<Vec<(&'static str, u32)>>;

#[derive(Default)]
struct Directory {
    stripes: [Stripe; STRIPES],
}

impl Directory {
    fn stripe(&self, name: &str) -> &Stripe {
        let sum: usize = name.bytes().map(usize::from).sum();
        &self.stripes[sum % STRIPES]
    }

    fn add(&self, name: &'static str, value: u32) {
        self.stripe(name).lock().unwrap().push((name, value));
    }

    fn find(&self, name: &str) -> Option<u32> {
        let entries = self.stripe(name).lock().unwrap();
        let entry = entries.iter().find(|entry| entry.0 == name)?;
        Some(entry.1)
    }

    fn remove(&self, name: &str) -> Option<u32> {
        let mut entries = self.stripe(name).lock().unwrap();
        let at = entries.iter().position(|entry| entry.0 == name)?;
        Some(entries.swap_remove(at).1)
    }

    fn rename(&self, from: &str, to: &'static str) {
        if let Some(value) = self.remove(from) {
            self.add(to, value);
        }
    }
}

#[test]
fn rename_and_find() {
    let directory = Arc::new(Directory::default());
    directory.add("old", 7);
    let renaming = {
        let directory = Arc::clone(&directory);
        thread::spawn(move || directory.rename("old", "new"))
    };
    let finding = {
        let directory = Arc::clone(&directory);
        thread::spawn(move || directory.find("old").or_else(|| directory.find("new")))
    };
    let adding = {
        let directory = Arc::clone(&directory);
        thread::spawn(move || {
            directory.add("one", 1);
            directory.add("two", 2);
        })
    };
    renaming.join().unwrap();
    adding.join().unwrap();
    assert_eq!(finding.join().unwrap(), Some(7), "the entry has no name");
}
