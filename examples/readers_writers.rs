//! A lock for many readers or one writer, made from a count and a flag.
//!
//! Source: Courtois, Heymans, Parnas, *Concurrent Control with "Readers" and "Writers"* (1971), without the semaphore
//! around the count.
//!
//! The bug: the first reader takes the lock on behalf of all. A second one that comes while the first still waits for
//! the writer sees a count of 1 and goes in.
//!
//! Threads: two readers and a writer. With one reader less there is no bug.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

/// How often a thread tries to take the lock before it gives up.
const PATIENCE: usize = 2;

#[derive(Default)]
struct Lock {
    readers: AtomicU32,
    taken: AtomicBool,
}

impl Lock {
    fn take(&self) -> bool {
        for _ in 0..PATIENCE {
            if !self.taken.swap(true, Ordering::SeqCst) {
                return true;
            }
            thread::yield_now();
        }
        false
    }

    fn release(&self) {
        self.taken.store(false, Ordering::SeqCst);
    }

    fn start_reading(&self) -> bool {
        if self.readers.fetch_add(1, Ordering::SeqCst) > 0 || self.take() {
            return true;
        }
        self.readers.fetch_sub(1, Ordering::SeqCst);
        false
    }

    fn stop_reading(&self) {
        if self.readers.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.release();
        }
    }
}

#[derive(Default)]
struct Pair {
    lock: Lock,
    one: AtomicU32,
    two: AtomicU32,
}

impl Pair {
    fn read(&self) {
        if self.lock.start_reading() {
            let one = self.one.load(Ordering::SeqCst);
            let two = self.two.load(Ordering::SeqCst);
            assert_eq!(one, two, "half of a write was read");
            self.lock.stop_reading();
        }
    }

    fn write(&self, value: u32) {
        if self.lock.take() {
            self.one.store(value, Ordering::SeqCst);
            self.two.store(value, Ordering::SeqCst);
            self.lock.release();
        }
    }
}

#[test]
fn two_readers_and_a_writer() {
    let pair = Arc::new(Pair::default());
    let readers = [(); 2].map(|()| {
        let pair = Arc::clone(&pair);
        thread::spawn(move || pair.read())
    });
    let writer = {
        let pair = Arc::clone(&pair);
        thread::spawn(move || pair.write(1))
    };
    for reader in readers {
        reader.join().unwrap();
    }
    writer.join().unwrap();
}
