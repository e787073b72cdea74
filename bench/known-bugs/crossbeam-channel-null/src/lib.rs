use std::thread;

use crossbeam_channel::unbounded;

#[test]
fn the_receiver_is_dropped_during_the_first_messages() {
    let (first, receiver) = unbounded();
    let second = first.clone();
    let sending = thread::spawn(move || {
        let _ = first.send(42);
    });
    let _ = second.send(43);
    drop(receiver);
    sending.join().unwrap();
}
