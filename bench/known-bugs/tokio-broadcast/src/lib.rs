use std::thread;

use tokio::sync::broadcast;

#[test]
fn sending_over_what_is_being_read() {
    let (sender, mut receiver) = broadcast::channel::<u32>(2);
    sender.send(1).unwrap();
    let sending = thread::spawn(move || {
        let _ = sender.send(2);
        let _ = sender.send(3);
    });
    let _ = receiver.try_recv();
    sending.join().unwrap();
}
