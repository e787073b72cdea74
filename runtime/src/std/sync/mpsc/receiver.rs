//! The receiving end.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use super::channel::{Channel, Patience, Received};
use super::{Iter, RecvError, RecvTimeoutError, TryIter, TryRecvError};
use crate::shared::Shadow;
use crate::vocabulary::Site;

/// `std::sync::mpsc::Receiver`.
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    _not_sync: PhantomData<Cell<()>>,
}

/// The threads of P̂ₖ see what each of them has received by the channel itself: each copy is the same receiver.
impl<T> Shadow for Receiver<T> {
    fn shadow(&self) -> Option<Self> {
        Some(Self::of(Arc::clone(&self.channel)))
    }

    unsafe fn initial(&self) -> Self {
        Self::of(Arc::clone(&self.channel))
    }

    fn is_copied() -> bool {
        true
    }
}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    pub(super) const fn of(channel: Arc<Channel<T>>) -> Self {
        Self {
            channel,
            _not_sync: PhantomData,
        }
    }

    /// See `std::sync::mpsc::Receiver::recv`.
    ///
    /// # Errors
    /// There is no message, and no sender.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_at(Location::caller())
    }

    pub(super) fn recv_at(&self, site: Site) -> Result<T, RecvError> {
        match self.channel.receive(Patience::Endless, site) {
            Received::Message(value) => Ok(value),
            Received::Empty | Received::Disconnected => Err(RecvError),
        }
    }

    /// See `std::sync::mpsc::Receiver::try_recv`.
    ///
    /// # Errors
    /// There is no message, and perhaps no sender.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.try_recv_at(Location::caller())
    }

    pub(super) fn try_recv_at(&self, site: Site) -> Result<T, TryRecvError> {
        match self.channel.receive(Patience::None, site) {
            Received::Message(value) => Ok(value),
            Received::Empty => Err(TryRecvError::Empty),
            Received::Disconnected => Err(TryRecvError::Disconnected),
        }
    }

    /// See `std::sync::mpsc::Receiver::recv_timeout`. It may end without a message at any moment; its time is
    /// over then.
    ///
    /// # Errors
    /// No message has come in time, or there is none, and no sender.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let patience = Patience::Limited(timeout);
        match self.channel.receive(patience, Location::caller()) {
            Received::Message(value) => Ok(value),
            Received::Empty => Err(RecvTimeoutError::Timeout),
            Received::Disconnected => Err(RecvTimeoutError::Disconnected),
        }
    }

    /// See `std::sync::mpsc::Receiver::iter`.
    #[track_caller]
    pub const fn iter(&self) -> Iter<'_, T> {
        Iter::of(self, Location::caller())
    }

    /// See `std::sync::mpsc::Receiver::try_iter`.
    #[track_caller]
    pub const fn try_iter(&self) -> TryIter<'_, T> {
        TryIter::of(self, Location::caller())
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.channel.remove_receiver(Location::caller());
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
