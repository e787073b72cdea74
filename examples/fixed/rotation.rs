//! A key store whose keys are changed while a request is served: `../rotation.rs` with the bug taken out.
//!
//! `key` looks at the old key once, and takes it only if it has not been wiped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

/// The client that may use old keys.
const MAINTENANCE: u32 = 0xB007_5EED;

struct Keys {
    changing: AtomicBool,
    /// 0 where there is none.
    old: AtomicU32,
    new: AtomicU32,
}

impl Keys {
    /// The key for a request.
    fn key(&self, client: u32) -> u32 {
        if client != MAINTENANCE {
            return self.new.load(Ordering::SeqCst);
        }
        let old = self.old.load(Ordering::SeqCst);
        if self.changing.load(Ordering::SeqCst) && old != 0 {
            return old;
        }
        let key = self.new.load(Ordering::SeqCst);
        assert!(key != 0, "a request is served without a key");
        key
    }

    /// Makes the new key the only one.
    fn change(&self, key: u32) {
        self.changing.store(true, Ordering::SeqCst);
        self.new.store(key, Ordering::SeqCst);
        self.old.store(0, Ordering::SeqCst);
        self.changing.store(false, Ordering::SeqCst);
    }
}

/// Changes the keys while a request of `client` is served.
pub fn request_during_a_change(client: u32) {
    let keys = Arc::new(Keys {
        changing: AtomicBool::new(false),
        old: AtomicU32::new(17),
        new: AtomicU32::new(23),
    });
    let request = {
        let keys = Arc::clone(&keys);
        thread::spawn(move || keys.key(client))
    };
    let change = {
        let keys = Arc::clone(&keys);
        thread::spawn(move || keys.change(42))
    };
    assert!(request.join().unwrap() != 0);
    change.join().unwrap();
}
