use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};
use std::sync::Arc;
use std::thread;
#[test]
fn swap() {
    let p = Arc::new(AtomicPtr::new(Box::into_raw(Box::new(1u32))));
    let q = p.clone();
    let t = thread::spawn(move || {
        let old = q.swap(Box::into_raw(Box::new(2)), SeqCst);
        unsafe { drop(Box::from_raw(old)) };
    });
    let v = unsafe { *p.load(SeqCst) };
    assert!(v == 1 || v == 2);
    t.join().unwrap();
}
