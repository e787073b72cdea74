use std::thread;

use tokio::sync::oneshot;

#[test]
fn closing_while_a_value_is_sent() {
    let (sender, mut receiver) = oneshot::channel::<String>();
    let sending = thread::spawn(move || sender.send(String::from("sent")).is_ok());
    receiver.close();
    let received = receiver.try_recv().is_ok();
    let sent = sending.join().unwrap();
    assert_eq!(sent, received);
}
