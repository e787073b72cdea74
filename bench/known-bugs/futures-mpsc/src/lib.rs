use std::thread;

use futures::sync::mpsc;
use futures::{Future, Sink};

#[test]
fn a_sender_waits_for_room() {
    let (sender, receiver) = mpsc::channel::<u32>(0);
    let sending = thread::spawn(move || {
        // The channel has room for one message of each sender.
        if let Ok(sender) = sender.send(1).wait() {
            let _ = sender.send(2).wait();
        }
    });
    drop(receiver);
    sending.join().unwrap();
}
