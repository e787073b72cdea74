use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

use futures_channel::mpsc;

struct Message(Arc<AtomicUsize>);

impl Drop for Message {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn what_was_sent_is_received_or_dropped() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let message = Message(Arc::clone(&dropped));
    let (mut sender, receiver) = mpsc::channel(1);
    let sending = thread::spawn(move || {
        let sent = sender.try_send(message).is_ok();
        (sender, sent)
    });
    drop(receiver);
    let (_sender, sent) = sending.join().unwrap();
    assert!(!sent || dropped.load(Ordering::SeqCst) == 1, "a message is lost");
}
