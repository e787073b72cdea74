use std::thread;

use futures::sync::oneshot;
use futures::Future;

#[test]
fn closing_while_a_value_is_sent() {
    let (sender, mut receiver) = oneshot::channel::<u32>();
    let sending = thread::spawn(move || {
        let _ = sender.send(1);
    });
    receiver.close();
    let _ = futures::executor::spawn(futures::future::lazy(|| Ok::<_, ()>(())));
    let mut task = futures::executor::spawn(receiver);
    let _ = task.poll_future_notify(&std::sync::Arc::new(Quiet), 0);
    sending.join().unwrap();
}

struct Quiet;

impl futures::executor::Notify for Quiet {
    fn notify(&self, _id: usize) {}
}
