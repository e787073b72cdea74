//! A lock for many readers or one writer: `../readers_writers.rs` with the bug taken out.
//!
//! Readers are counted under a lock, which the first one keeps while it waits for the writer.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// How often a thread tries to take the lock before it gives up.
const PATIENCE: usize = 2;

#[derive(Default)]
struct Lock {
    readers: Mutex<u32>,
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
        let mut readers = self.readers.lock().unwrap();
        let may = *readers > 0 || self.take();
        if may {
            *readers += 1;
        }
        may
    }

    fn stop_reading(&self) {
        let mut readers = self.readers.lock().unwrap();
        *readers -= 1;
        if *readers == 0 {
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
