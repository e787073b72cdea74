//! An input stream, the channel that it is opened from, and the cache that both know.
//!
//! Source: openinputstr of the predecessor-set paper, a deadlock extracted from Mozilla. Of the program itself the paper
//! says nothing.
//!
//! The bug: each of three operations holds one lock and needs another, and together they make a circle. No two of them
//! do.
//!
//! Threads: one for each operation.

use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

/// Something with a lock, and how often it was used.
#[derive(Default)]
struct Part(Mutex<u32>);

impl Part {
    fn lock(&self) -> MutexGuard<'_, u32> {
        self.0.lock().unwrap()
    }

    /// Uses this part from another one, which stays locked.
    fn use_from(&self, other: &Self) {
        let mut outer = other.lock();
        *self.lock() += 1;
        *outer += 1;
    }
}

#[derive(Default)]
struct Network {
    channel: Part,
    stream: Part,
    cache: Part,
}

impl Network {
    fn open(&self) {
        self.stream.use_from(&self.channel);
    }

    fn read(&self) {
        self.cache.use_from(&self.stream);
    }

    fn evict(&self) {
        self.channel.use_from(&self.cache);
    }
}

#[test]
fn open_read_and_evict() {
    let network = Arc::new(Network::default());
    let threads = [Network::open, Network::read, Network::evict].map(|operation| {
        let network = Arc::clone(&network);
        thread::spawn(move || operation(&network))
    });
    for thread in threads {
        thread.join().unwrap();
    }
}
