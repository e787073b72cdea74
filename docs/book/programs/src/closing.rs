#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::thread;

    #[test]
    fn three_clerks_close_the_sale() {
        let closed = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| closed.store(true, SeqCst));
            }
        });
        assert!(closed.load(SeqCst));
    }
}
