//! `std::sync::mpsc`, on the scheduled machine.
//!
//! A channel is one object. Sending, receiving, and dropping an end are one step each. A thread that has to wait enters
//! the object's queue, and every step after which a thread might go on notifies all that are in the queue, to try
//! again. What a step tells its thread is in its event: whether the other end is there, whether there is room, which
//! message came.

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
