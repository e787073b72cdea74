//! A lock that serves in the order of tickets.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

#[derive(Default)]
pub struct Tickets {
    next: AtomicUsize,
    served: AtomicUsize,
}

impl Tickets {
    pub fn with<R>(&self, inside: impl FnOnce() -> R) -> R {
        let ticket = self.next.fetch_add(1, SeqCst);
        while self.served.load(SeqCst) != ticket {
            std::hint::spin_loop();
        }
        let result = inside();
        self.served.store(ticket + 1, SeqCst);
        result
    }
}
