//! A flag that one thread sets and another one waits for, as in the crate's documentation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use event_listener::{Event, Listener};

#[test]
fn a_listener_is_notified() {
    let flag = Arc::new(AtomicBool::new(false));
    let event = Arc::new(Event::new());
    let (its_flag, its_event) = (flag.clone(), event.clone());
    let other = thread::spawn(move || {
        its_flag.store(true, Ordering::SeqCst);
        its_event.notify(usize::MAX);
    });
    loop {
        if flag.load(Ordering::SeqCst) {
            break;
        }
        let listener = event.listen();
        if flag.load(Ordering::SeqCst) {
            break;
        }
        listener.wait();
    }
    other.join().unwrap();
    assert!(flag.load(Ordering::SeqCst));
}
