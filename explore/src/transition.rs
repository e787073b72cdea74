//! The standing of objects that threads wait at and that have more state than a [queue](crate::waiting): barriers, parking
//! places, channels.
//!
//! The outcome of an attempt at such an object, and the object's standing after the attempt, are functions of the object's
//! standing before. An executor that tells the [`Transition`] of each such event lets a search over values compute the
//! outcomes of the same attempts in another order.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

pub use seqz_vocabulary::Transition;

use crate::hash::Mixer;
use crate::waiting::Queue;

/// The state of an object beside its queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Standing {
    /// For a barrier: the number of threads that have come in the current round.
    come: u64,
    /// For a parking place: whether the thread has been unparked while it was not parked.
    is_unparked: bool,
    /// For a channel: the messages to be received, in order, each as its name and whether its sender waits.
    messages: VecDeque<(u64, bool)>,
    /// For a channel: whether a receiver waits to which no message has been given.
    is_open: bool,
    /// For a channel: the names of the messages taken from senders that wait.
    taken: Vec<u64>,
    /// For a channel: the number of senders dropped.
    gone: u64,
    has_no_receiver: bool,
}

impl Standing {
    /// Changes the standing, and returns the outcome. `senders`: the number of a channel's senders, if all of them are ever
    /// dropped.
    pub fn change(&mut self, by: Transition, senders: Option<u64>, queue: &Queue) -> u64 {
        match by {
            Transition::Arrive { size } => {
                self.come += 1;
                let is_last = self.come >= size;
                if is_last {
                    self.come = 0;
                }
                u64::from(is_last)
            }
            Transition::Park => u64::from(std::mem::take(&mut self.is_unparked)),
            Transition::UseUp => {
                self.is_unparked = false;
                1
            }
            Transition::Unpark => {
                self.is_unparked |= queue.waiters().next().is_none();
                0
            }
            Transition::Send {
                name,
                bound,
                patient,
            } => self.send(name, bound, patient),
            Transition::CheckOffer { name } => {
                if let Some(at) = self.taken.iter().position(|&taken| taken == name) {
                    self.taken.remove(at);
                    Transition::SENT
                } else if self.has_no_receiver {
                    Transition::DISCONNECTED
                } else {
                    Transition::WAITS
                }
            }
            Transition::Receive { patient } => self.receive(patient, senders),
            Transition::GiveUp => {
                self.is_open = false;
                0
            }
            Transition::DropSender { .. } => {
                self.gone += 1;
                0
            }
            Transition::DropReceiver { observes } => {
                self.has_no_receiver = true;
                let names = self.messages.iter().map(|&(name, _)| name);
                if observes {
                    Transition::left_behind(names)
                } else {
                    0
                }
            }
        }
    }

    fn send(&mut self, name: u64, bound: Option<u32>, patient: bool) -> u64 {
        if self.has_no_receiver {
            return Transition::DISCONNECTED;
        }
        let has_room = match bound {
            None => true,
            Some(0) => std::mem::take(&mut self.is_open),
            Some(bound) => self.messages.len() < bound as usize,
        };
        if has_room {
            self.messages.push_back((name, false));
            Transition::SENT
        } else if patient {
            if bound == Some(0) {
                self.messages.push_back((name, true));
            }
            Transition::WAITS
        } else {
            Transition::FULL
        }
    }

    fn receive(&mut self, patient: bool, senders: Option<u64>) -> u64 {
        self.is_open = false;
        match self.messages.pop_front() {
            Some((name, is_offer)) => {
                if is_offer {
                    self.taken.push(name);
                }
                name
            }
            None if senders == Some(self.gone) => Transition::DISCONNECTED,
            None if patient => {
                self.is_open = true;
                Transition::WAITS
            }
            None => Transition::EMPTY,
        }
    }

    /// Returns the outcome that this transition would have.
    #[must_use]
    pub fn outcome(&self, of: Transition, senders: Option<u64>, queue: &Queue) -> u64 {
        match of {
            // What is asked most, without a copy.
            Transition::Receive { .. } if !self.messages.is_empty() => {
                self.messages.front().map_or(0, |&(name, _)| name)
            }
            _ => self.clone().change(of, senders, queue),
        }
    }

    /// Returns a hash of the standing.
    #[must_use]
    pub fn print(&self) -> u64 {
        let mut hasher = Mixer::default();
        self.hash(&mut hasher);
        hasher.finish()
    }
}
