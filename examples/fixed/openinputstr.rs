//! A stream, its channel and their cache: `../openinputstr.rs` with the bug taken out.
//!
//! `evict` takes the lock of the channel before that of the cache, so that there is an order of all three.

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
        self.cache.use_from(&self.channel);
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
