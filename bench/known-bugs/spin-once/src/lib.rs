#[test]
fn once() {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::Arc;
    let once: Arc<(spin::Once<u32>, AtomicUsize)> = Arc::new((spin::Once::new(), AtomicUsize::new(0)));
    let other = Arc::clone(&once);
    let thread = std::thread::spawn(move || {
        *other.0.call_once(|| { other.1.fetch_add(1, SeqCst); 1 })
    });
    once.0.call_once(|| { once.1.fetch_add(1, SeqCst); 2 });
    thread.join().unwrap();
    assert_eq!(once.1.load(SeqCst), 1);
}
