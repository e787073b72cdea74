use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

/// A harness with an input: seqz calls it with every amount.
pub fn a_refund(amount: u8) {
    let till = AtomicU32::new(100);
    thread::scope(|scope| {
        scope.spawn(|| {
            if till.load(SeqCst) >= u32::from(amount) {
                let before = till.fetch_sub(u32::from(amount), SeqCst);
                assert!(before >= u32::from(amount), "the till is overdrawn");
            }
        });
        till.fetch_sub(10, SeqCst);
    });
}
