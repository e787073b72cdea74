// `mpsc`.

use std::cell::Cell;
use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

use subject::sync::mpsc::{
    self, IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, Sender, SyncSender, TryIter, TryRecvError,
    TrySendError, channel, sync_channel,
};

struct Opaque;

fn unbounded() {
    let (sender, receiver): (Sender<u8>, Receiver<u8>) = channel();
    let (sender, receiver) = mpsc::channel::<u8>();
    let sent: Result<(), SendError<u8>> = sender.clone().send(1);
    let received: Result<u8, RecvError> = receiver.recv();
    let received: Result<u8, TryRecvError> = receiver.try_recv();
    let received: Result<u8, RecvTimeoutError> = receiver.recv_timeout(Duration::ZERO);
    let all: Iter<'_, u8> = receiver.iter();
    let all: TryIter<'_, u8> = receiver.try_iter();
    for message in &receiver {}
    let text = format!("{sender:?} {receiver:?}");
    let all: IntoIter<u8> = receiver.into_iter();
    let all: Vec<u8> = all.collect();
}

fn bounded() {
    let (sender, receiver): (SyncSender<Opaque>, Receiver<Opaque>) = sync_channel(0);
    let sent: Result<(), SendError<Opaque>> = sender.send(Opaque);
    match sender.clone().try_send(Opaque) {
        Ok(()) => {}
        Err(TrySendError::Full(Opaque)) | Err(TrySendError::Disconnected(Opaque)) => {}
    }
    let text = format!("{sender:?} {receiver:?}");
    for message in receiver {}
}

fn shown(iter: &Iter<'_, u8>, tried: &TryIter<'_, u8>, into: &IntoIter<u8>) -> String {
    format!("{iter:?} {tried:?} {into:?}")
}

fn errors(sent: SendError<u8>, tried: TrySendError<u8>, received: RecvError) {
    let SendError(message) = &sent;
    let all: [Box<dyn Error>; 3] = [Box::new(sent), Box::new(tried), Box::new(received)];
    let tried: TrySendError<u8> = SendError(1).into();
    let received: TryRecvError = RecvError.into();
    let limited: RecvTimeoutError = RecvError.into();
    let is = received == TryRecvError::Empty || limited == RecvTimeoutError::Timeout;
}

fn traits() {
    fn sent<T: Send>() {}
    fn synced<T: Sync>() {}
    fn unwinds<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe + Unpin>() {}
    crate::plain::<Sender<u8>>();
    crate::plain::<SyncSender<u8>>();
    sent::<Receiver<Cell<u8>>>();
    sent::<Sender<Cell<u8>>>();
    synced::<Sender<Cell<u8>>>();
    sent::<IntoIter<u8>>();
    unwinds::<Receiver<Rc<u8>>>();
    unwinds::<Sender<Rc<u8>>>();
    unwinds::<SyncSender<Rc<u8>>>();
    unwinds::<Iter<'static, u8>>();
    unwinds::<TryIter<'static, u8>>();
    unwinds::<IntoIter<u8>>();
}

lacks!(Receiver<u8>: Sync);
lacks!(Sender<Rc<u8>>: Send);
lacks!(SyncSender<Rc<u8>>: Send);
lacks!(Receiver<Rc<u8>>: Send);
lacks!(IntoIter<u8>: Sync);
lacks!(Iter<'static, u8>: Send);
lacks!(Receiver<u8>: Clone);
