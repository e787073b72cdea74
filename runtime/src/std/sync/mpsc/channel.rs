//! The channel, which both ends share, in either mode.

mod scheduled;
mod sequential;

use std::time::Duration;

use crate::running::{Running, running};
use crate::vocabulary::Site;

/// A channel.
pub(super) struct Channel<T> {
    scheduled: scheduled::Channel<T>,
    sequential: sequential::Channel<T>,
}

/// How an attempt to send ended.
pub(super) enum Sent<T> {
    Yes,
    Full(T),
    Disconnected(T),
}

/// How an attempt to receive ended.
pub(super) enum Received<T> {
    Message(T),
    Empty,
    Disconnected,
}

/// Whether, and how long, a thread waits where it can't go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    None,
    Limited(Duration),
    Endless,
}

const OUTSIDE: &str = "channels of a transformed program run under `seqz` only";

impl<T> Channel<T> {
    pub(super) fn new(bound: Option<usize>, site: Site) -> Self {
        if matches!(running(), Running::Nothing) {
            crate::running::refuse(OUTSIDE, site);
        }
        Self {
            scheduled: scheduled::Channel::new(bound),
            sequential: sequential::Channel::new(bound),
        }
    }

    /// Counts one more sender. No thread can tell: the sender is made from another sender, or with the channel.
    pub(super) fn add_sender(&self) {
        match running() {
            Running::Sequential(handle) => self.sequential.add_sender(handle),
            _ => self.scheduled.add_sender(),
        }
    }

    /// Counts one sender less.
    pub(super) fn remove_sender(&self, site: Site) {
        match running() {
            Running::Sequential(handle) => self.sequential.remove_sender(handle, site),
            _ => self.scheduled.remove_sender(site),
        }
    }

    /// The receiver goes, and with it the messages that it has not received.
    pub(super) fn remove_receiver(&self, site: Site) {
        match running() {
            Running::Sequential(handle) => self.sequential.remove_receiver(handle, site),
            _ => self.scheduled.remove_receiver(site),
        }
    }

    /// Sends a message, with or without waiting for room.
    pub(super) fn send(&self, value: T, patience: Patience, site: Site) -> Sent<T> {
        match running() {
            Running::Sequential(handle) => self.sequential.send(handle, value, patience, site),
            Running::Scheduled(machine) => self.scheduled.send(machine, value, patience, site),
            Running::Nothing => crate::running::refuse(OUTSIDE, site),
        }
    }

    /// Receives a message, with or without waiting for one. Where a time limit runs out, the thread's clock moves on.
    pub(super) fn receive(&self, patience: Patience, site: Site) -> Received<T> {
        match running() {
            Running::Sequential(handle) => self.sequential.receive(handle, patience, site),
            Running::Scheduled(machine) => self.scheduled.receive(machine, patience, site),
            Running::Nothing => crate::running::refuse(OUTSIDE, site),
        }
    }
}
