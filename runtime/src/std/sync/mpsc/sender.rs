//! The sending ends.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use super::channel::{Channel, Patience, Sent};
use super::{SendError, TrySendError};

/// A sending end, of either kind.
struct End<T>(Arc<Channel<T>>);

impl<T> End<T> {
    fn of(channel: &Arc<Channel<T>>) -> Self {
        channel.add_sender();
        Self(Arc::clone(channel))
    }

    #[track_caller]
    fn send(&self, value: T) -> Result<(), SendError<T>> {
        match self.0.send(value, Patience::Endless, Location::caller()) {
            Sent::Yes => Ok(()),
            Sent::Full(value) | Sent::Disconnected(value) => Err(SendError(value)),
        }
    }
}

impl<T> Drop for End<T> {
    #[track_caller]
    fn drop(&mut self) {
        self.0.remove_sender(Location::caller());
    }
}

/// `std::sync::mpsc::Sender`.
pub struct Sender<T>(End<T>);

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}

impl<T> Sender<T> {
    pub(super) fn of(channel: &Arc<Channel<T>>) -> Self {
        Self(End::of(channel))
    }

    /// See `std::sync::mpsc::Sender::send`.
    ///
    /// # Errors
    /// The receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.send(value)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self::of(&self.0.0)
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// `std::sync::mpsc::SyncSender`.
pub struct SyncSender<T>(End<T>);

impl<T> UnwindSafe for SyncSender<T> {}
impl<T> RefUnwindSafe for SyncSender<T> {}

impl<T> SyncSender<T> {
    pub(super) fn of(channel: &Arc<Channel<T>>) -> Self {
        Self(End::of(channel))
    }

    /// See `std::sync::mpsc::SyncSender::send`.
    ///
    /// # Errors
    /// The receiver is gone.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.send(value)
    }

    /// See `std::sync::mpsc::SyncSender::try_send`.
    ///
    /// # Errors
    /// There is no room, or the receiver is gone.
    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        match self.0.0.send(value, Patience::None, Location::caller()) {
            Sent::Yes => Ok(()),
            Sent::Full(value) => Err(TrySendError::Full(value)),
            Sent::Disconnected(value) => Err(TrySendError::Disconnected(value)),
        }
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        Self::of(&self.0.0)
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}
