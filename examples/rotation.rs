//! A key store whose keys are changed while a request is served with the old one.
//!
//! Source: our own. The bug needs one input out of four thousand million and two non-local reads at once: a fuzzer's work.
//!
//! The bug: requests of the maintenance client may still use the old key while keys are being changed. Such a request sees
//! that they are, and takes the old key; but it may come so late that the old key has been wiped by then.
//!
//! Threads: the request meets the change of keys. Two reads of the request see its writes: `changing`, set before the old
//! key is wiped, and `old`, wiped. All other clients have no such bug, and neither has the maintenance client where no
//! change is under way or the request is quick: `seqz check` finds it when it is told the client's number (`--input
//! client=0xB0075EED`).

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
        if self.changing.load(Ordering::SeqCst) {
            let old = self.old.load(Ordering::SeqCst);
            assert!(old != 0, "a request is served without a key");
            return old;
        }
        self.new.load(Ordering::SeqCst)
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
