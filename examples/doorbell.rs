//! A server that sleeps while nothing is to be done, and is rung for by whoever brings a request.
//!
//! Source: the documentation of `std::thread::park`: a token is kept for a thread that is not asleep yet, so that nothing is
//! missed, provided that one rings after each request and looks after each ring.
//!
//! The bug: whoever brings a request rings only if the server has said that it sleeps, to spare the call. The server says so
//! after it has looked for requests, and a request that comes in between rings for nobody.
//!
//! Threads: the server and a client.

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
            let waiting = self.requests.swap(0, Ordering::SeqCst);
            if waiting > 0 {
                return waiting;
            }
            self.sleeps.store(true, Ordering::SeqCst);
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
