extern crate core;

use std::sync::{Arc, Mutex};
use std::sync::atomic::*;

pub mod jobs {
    use std::sync::mpsc::{channel, Receiver, Sender};
    use std::thread;

    pub type Job = Box<FnMut() -> u32 + Send>;

    pub fn worker() -> (Sender<Job>, Receiver<u32>) {
        let (to, jobs) = channel::<Job>();
        let (done, from) = channel();
        thread::spawn(move || for mut job in jobs { let _ = done.send(job()); });
        (to, from)
    }
}

pub fn shared() -> Arc<Mutex<Vec<u32>>> {
    let async = Vec::new();
    Arc::new(Mutex::new(async))
}

pub fn flag() -> ::std::sync::Arc<AtomicBool> {
    ::std::sync::Arc::new(ATOMIC_BOOL_INIT)
}

#[allow(deprecated)]
const ATOMIC_BOOL_INIT: AtomicBool = ::core::sync::atomic::AtomicBool::new(false);

/// Declares a crate of std's by itself.
pub mod declared {
    extern crate core;

    use self::core::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    pub struct Count(AtomicUsize);

    impl Count {
        pub fn next(&self) -> usize {
            let next = self.0.load(Ordering::SeqCst);
            self.0.store(next + 1, self::core::sync::atomic::Ordering::SeqCst);
            next
        }
    }
}

/// Reaches crates of std's through the root.
pub mod through {
    use super::core::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    pub struct Count(AtomicUsize, super::std::sync::Mutex<()>);

    impl Count {
        pub fn next(&self) -> usize {
            drop(self.1.lock());
            let next = self.0.load(Ordering::SeqCst);
            self.0.store(next + 1, super::std::sync::atomic::Ordering::SeqCst);
            next
        }
    }
}
