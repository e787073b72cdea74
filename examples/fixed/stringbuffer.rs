//! A string buffer whose every method is atomic: `../stringbuffer.rs` with the bug taken out.
//!
//! `append` takes one copy of the other buffer, under one hold of its lock. It takes the copy before its own lock, so
//! that two buffers that are appended to each other do not block.

use std::sync::{Arc, Mutex};
use std::thread;

struct StringBuffer {
    value: Mutex<Vec<char>>,
}

impl StringBuffer {
    fn new(text: &str) -> Arc<Self> {
        Arc::new(Self {
            value: Mutex::new(text.chars().collect()),
        })
    }

    fn length(&self) -> usize {
        self.value.lock().unwrap().len()
    }

    /// Cuts the text to `length` characters, or fills it up with NUL.
    fn set_length(&self, length: usize) {
        self.value.lock().unwrap().resize(length, '\0');
    }

    fn append(&self, other: &Self) {
        let text = other.value.lock().unwrap().clone();
        self.value.lock().unwrap().extend_from_slice(&text);
    }
}

#[test]
fn append_while_the_source_shrinks() {
    let greeting = StringBuffer::new("hello, ");
    let name = StringBuffer::new("world");
    let appending = {
        let (greeting, name) = (Arc::clone(&greeting), Arc::clone(&name));
        thread::spawn(move || greeting.append(&name))
    };
    let cutting = {
        let name = Arc::clone(&name);
        thread::spawn(move || name.set_length(0))
    };
    appending.join().unwrap();
    cutting.join().unwrap();
    assert!(greeting.length() >= 7, "an append took text away");
}
