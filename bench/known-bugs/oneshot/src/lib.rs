use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::thread;

#[test]
fn the_receiver_is_dropped_while_it_is_woken() {
    let (sender, mut receiver) = oneshot::channel::<u32>();
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(Pin::new(&mut receiver).poll(&mut context), Poll::Pending));
    let sending = thread::spawn(move || {
        let _ = sender.send(1);
    });
    drop(receiver);
    sending.join().unwrap();
}
