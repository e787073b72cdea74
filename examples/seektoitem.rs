//! A play list in which one seeks to an item while others are taken out.
//!
//! Source: seektoitem of the predecessor-set paper, an atomicity violation extracted from Mozilla or MySQL. Of the
//! program itself the paper says nothing.
//!
//! The bug: `seek` holds the item's number against the length of the list, and reads the item in a second critical
//! section.
//!
//! Threads: one that seeks meets one that takes an item out. One read of the former sees a write of the latter.

use std::sync::{Arc, Mutex};
use std::thread;

struct PlayList {
    items: Mutex<Vec<&'static str>>,
}

impl PlayList {
    fn len(&self) -> usize {
        self.items.lock().unwrap().len()
    }

    /// The item with this number, or the last one.
    fn seek(&self, number: usize) -> &'static str {
        let last = self.len() - 1;
        self.items.lock().unwrap()[number.min(last)]
    }

    fn remove(&self, number: usize) {
        self.items.lock().unwrap().remove(number);
    }
}

#[test]
fn seek_while_an_item_is_removed() {
    let list = Arc::new(PlayList {
        items: Mutex::new(vec!["prelude", "fugue"]),
    });
    let seeking = {
        let list = Arc::clone(&list);
        thread::spawn(move || list.seek(5))
    };
    let removing = {
        let list = Arc::clone(&list);
        thread::spawn(move || list.remove(0))
    };
    assert_eq!(seeking.join().unwrap(), "fugue");
    removing.join().unwrap();
}
