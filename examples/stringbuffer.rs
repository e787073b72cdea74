//! A string buffer whose every method is atomic, and an `append` of another buffer that is not.
//!
//! Source: `java.lang.StringBuffer.append(StringBuffer)`, the StringBuffer benchmark of Razavi, Farzan and Holzer (2012)
//! and of many others before it.
//!
//! The bug: `append` asks the other buffer for its length and then for so many characters. Each of the two holds the
//! other buffer's lock, but between them the buffer can shrink.
//!
//! Threads: `append` meets `set_length` on the buffer that is appended. One read of `append` sees its write.

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

    /// Copies the characters `begin..end` to the end of `target`.
    fn get_chars(&self, begin: usize, end: usize, target: &mut Vec<char>) {
        let value = self.value.lock().unwrap();
        target.extend_from_slice(&value[begin..end]);
    }

    fn append(&self, other: &Self) {
        let mut value = self.value.lock().unwrap();
        let length = other.length();
        other.get_chars(0, length, &mut value);
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
