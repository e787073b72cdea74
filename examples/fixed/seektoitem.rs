//! A play list: `../seektoitem.rs` with the bug taken out.
//!
//! `seek` holds the lock from the length to the item.

use std::sync::{Arc, Mutex};
use std::thread;

struct PlayList {
    items: Mutex<Vec<&'static str>>,
}

impl PlayList {
    /// The item with this number, or the last one.
    fn seek(&self, number: usize) -> &'static str {
        let items = self.items.lock().unwrap();
        items[number.min(items.len() - 1)]
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
