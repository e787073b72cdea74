//! A mailbox: `../sync02.rs` with the bug taken out.
//!
//! Whoever has been woken looks again, and waits again if there is no letter.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Mailbox {
    letter: Mutex<Option<u32>>,
    brought: Condvar,
    taken: Condvar,
}

impl Mailbox {
    fn bring(&self, letter: u32) {
        let mut place = self.letter.lock().unwrap();
        while place.is_some() {
            place = self.taken.wait(place).unwrap();
        }
        *place = Some(letter);
        self.brought.notify_one();
    }

    fn take(&self) -> u32 {
        let mut place = self.letter.lock().unwrap();
        while place.is_none() {
            place = self.brought.wait(place).unwrap();
        }
        let letter = place.take();
        self.taken.notify_one();
        letter.expect("there is no letter")
    }
}

#[test]
fn a_letter_is_taken_by_another() {
    let mailbox = Arc::new(Mailbox::default());
    let readers = [(); 2].map(|()| {
        let mailbox = Arc::clone(&mailbox);
        thread::spawn(move || mailbox.take())
    });
    mailbox.bring(1);
    mailbox.bring(2);
    let letters = readers.map(|reader| reader.join().unwrap());
    assert_eq!(letters[0] + letters[1], 3, "each letter is taken once");
}
