//! `std::sync::mpsc`.

mod channel;
mod iter;
mod receiver;
mod sender;

pub use ::std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use sender::{Sender, SyncSender};

use std::panic::Location;
use std::sync::Arc;

use channel::Channel;

/// See `std::sync::mpsc::channel`.
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(None, Location::caller()));
    (Sender::of(&channel), Receiver::of(channel))
}

/// See `std::sync::mpsc::sync_channel`.
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::new(Some(bound), Location::caller()));
    (SyncSender::of(&channel), Receiver::of(channel))
}
