//! A server that sleeps until it is rung for: `../doorbell.rs` with the bug taken out.
//!
//! The server says that it sleeps before it looks for requests for the last time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, Thread};

#[derive(Default)]
struct Desk {
    requests: AtomicU32,
    sleeps: AtomicBool,
}

impl Desk {
    fn serve(&self) -> u32 {
        loop {
            self.sleeps.store(true, Ordering::SeqCst);
            let waiting = self.requests.swap(0, Ordering::SeqCst);
            if waiting > 0 {
                return waiting;
            }
            thread::park();
            self.sleeps.store(false, Ordering::SeqCst);
        }
    }

    fn ask(&self, server: &Thread) {
        self.requests.fetch_add(1, Ordering::SeqCst);
        if self.sleeps.load(Ordering::SeqCst) {
            server.unpark();
        }
    }
}

#[test]
fn a_request_comes() {
    let desk = Arc::new(Desk::default());
    let behind = Arc::clone(&desk);
    let server = thread::spawn(move || behind.serve());
    desk.ask(server.thread());
    assert_eq!(server.join().unwrap(), 1);
}
