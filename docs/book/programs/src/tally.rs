#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::thread;

    #[test]
    fn three_clerks_count() {
        let sold = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| sold.fetch_add(1, SeqCst));
            }
        });
        assert_eq!(sold.load(SeqCst), 3);
    }
}
