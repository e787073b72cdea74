//! The channel on the scheduled machine.
//!
//! A channel is one object. Sending, receiving, and dropping an end are one step each. A thread that has to wait enters
//! the object's queue, and every step after which a thread might go on notifies all that are in the queue, to try
//! again. What a step tells its thread is in its event: whether the other end is there, whether there is room, which
//! message came.
//!
//! With a bound of 0 a message is handed over: a sender that finds the receiver waiting gives it to it at once; otherwise
//! it offers the message and waits until the receiver, which takes the offers in their order, has come for it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;

use super::{Patience, Received, Sent};
use crate::memory::outside;
use crate::scheduled::{Attempt, Handle, Waited, current};
use crate::shared::Spot;
use crate::vocabulary::{Awaited, Site, Transition};

const SENT: u64 = Transition::SENT;
const DISCONNECTED: u64 = Transition::DISCONNECTED;
const FULL: u64 = Transition::FULL;
// If the receiver sees a message, it sees the message's name.
const EMPTY: u64 = Transition::EMPTY;

/// A message.
struct Message<T> {
    /// The message's number: see [`Handle::new_message`].
    name: u64,
    /// Whether its sender waits for it to be taken.
    is_offer: bool,
    value: T,
}

/// The ends that are there. They are apart from the messages, since that an end goes may be told after the messages
/// have been dropped.
struct Ends {
    spot: Spot,
    /// The number of the execution in which the channel was made.
    generation: u32,
    senders: Cell<usize>,
    has_receiver: Cell<bool>,
}

// SAFETY: all threads of an execution run on one OS thread, executions one after the other.
unsafe impl Sync for Ends {}

struct Messages<T> {
    /// The messages that have not been received, in the order in which they will be.
    queue: VecDeque<Message<T>>,
    /// With a bound of 0: whether the receiver waits, and nothing has been given to it.
    is_open: bool,
    /// With a bound of 0: the names of the messages that have been taken from senders that wait.
    taken: Vec<u64>,
}

/// A channel.
pub(super) struct Channel<T> {
    ends: Arc<Ends>,
    bound: Option<usize>,
    messages: RefCell<Messages<T>>,
}

// SAFETY: all threads of an execution run on one OS thread. Messages go from thread to thread, and are not shared.
unsafe impl<T: Send> Sync for Channel<T> {}
// SAFETY: all threads of an execution run on one OS thread. Messages go from thread to thread, and are not shared.
unsafe impl<T: Send> Send for Channel<T> {}

impl Ends {
    /// Changes which ends are there: as an event, or without one outside of the channel's execution.
    /// `change` returns what that is to the channel, and what the thread sees of it: 0 if nothing.
    fn change(self: &Arc<Self>, site: Site, change: impl FnOnce(&Self) -> (Transition, u64)) {
        let of_this_execution =
            |machine: &Handle| machine.generation() == self.generation && !machine.is_ending();
        if let Some(machine) = current().filter(of_this_execution) {
            let ends = Arc::clone(self);
            let object = self.spot.of(machine);
            machine.change_for_all(object, site, move || change(&ends));
        } else {
            let _ = change(self);
        }
    }
}

impl<T> Channel<T> {
    pub(super) fn new(bound: Option<usize>) -> Self {
        Self {
            ends: Arc::new(Ends {
                spot: Spot::new(),
                generation: current().map_or(0, Handle::generation),
                senders: Cell::new(0),
                has_receiver: Cell::new(true),
            }),
            bound,
            messages: RefCell::new(Messages {
                queue: VecDeque::new(),
                is_open: false,
                taken: Vec::new(),
            }),
        }
    }

    /// Adds a message. The queue must not grow in the memory of the thread that happens to add to it.
    fn push(&self, message: Message<T>) {
        outside(|| self.messages.borrow_mut().queue.push_back(message));
    }

    /// Counts one more sender. No thread can tell: the sender is made from another sender, or with the channel.
    pub(super) fn add_sender(&self) {
        let senders = &self.ends.senders;
        senders.set(senders.get() + 1);
    }

    /// Counts one sender less.
    pub(super) fn remove_sender(&self, site: Site) {
        self.ends.change(site, |ends| {
            let left = ends.senders.get() - 1;
            ends.senders.set(left);
            (Transition::DropSender { last: left == 0 }, 0)
        });
    }

    /// The receiver goes, and with it the messages that it has not received.
    pub(super) fn remove_receiver(&self, site: Site) {
        // Messages that senders wait with are the senders'.
        let drops = self.bound != Some(0);
        // Of messages without destructors nobody can tell that they are dropped.
        let observes = drops && std::mem::needs_drop::<T>();
        self.ends.change(site, |ends| {
            ends.has_receiver.set(false);
            let left = if observes {
                let queue = &self.messages.borrow().queue;
                Transition::left_behind(queue.iter().map(|message| message.name))
            } else {
                0
            };
            (Transition::DropReceiver { observes }, left)
        });
        if drops {
            // The drop of a message is the program's code, which may come here again.
            let next = || self.messages.borrow_mut().queue.pop_front();
            while let Some(message) = next() {
                drop(message);
            }
        }
    }

    /// Sends a message, with or without waiting for room.
    pub(super) fn send(
        &self,
        machine: Handle,
        value: T,
        patience: Patience,
        site: Site,
    ) -> Sent<T> {
        let object = self.ends.spot.of(machine);
        let name = machine.new_message();
        let mut message = Some(Message {
            name,
            is_offer: false,
            value,
        });
        let (mut is_offered, mut has_waited) = (false, false);
        let bound = self
            .bound
            .map(|bound| u32::try_from(bound).unwrap_or(u32::MAX));
        loop {
            let transition = if is_offered {
                Transition::CheckOffer { name }
            } else {
                Transition::Send {
                    name,
                    bound,
                    patient: patience == Patience::Endless,
                }
            };
            let found = machine.attempt(object, site, transition, || {
                if is_offered {
                    return self.check_offer(name);
                }
                let outcome = self.try_send(&mut message);
                let waits = outcome == Attempt::Looked(FULL) && patience == Patience::Endless;
                if !waits {
                    return outcome;
                }
                if self.bound == Some(0)
                    && let Some(message) = message.take()
                {
                    is_offered = true;
                    self.push(Message {
                        is_offer: true,
                        ..message
                    });
                }
                Attempt::Waits
            });
            let found = match found {
                Some(found) => found,
                // No receiver comes for the message any more.
                None if machine.is_ending() => DISCONNECTED,
                None => {
                    machine.wake(object, Awaited::Room, false, site);
                    has_waited = true;
                    continue;
                }
            };
            if has_waited {
                machine.was_parked_inside(self.waited(), site);
            }
            if found == SENT {
                return Sent::Yes;
            }
            return match message.or_else(|| self.take_back(name)) {
                Some(message) if found == FULL => Sent::Full(message.value),
                Some(message) => Sent::Disconnected(message.value),
                None => Sent::Yes,
            };
        }
    }

    /// What others can tell of the wait of a thread that was notified.
    const fn waited(&self) -> Waited {
        match self.bound {
            // The other end can tell.
            Some(0) => Waited::Perhaps,
            _ => Waited::Unnoticed,
        }
    }

    fn try_send(&self, message: &mut Option<Message<T>>) -> Attempt {
        if !self.ends.has_receiver.get() {
            return Attempt::Looked(DISCONNECTED);
        }
        let has_room = match self.bound {
            None => true,
            Some(0) => std::mem::take(&mut self.messages.borrow_mut().is_open),
            Some(bound) => self.messages.borrow().queue.len() < bound,
        };
        if !has_room {
            return Attempt::Looked(FULL);
        }
        if let Some(message) = message.take() {
            self.push(message);
        }
        Attempt::DoneForAll(SENT)
    }

    /// With a bound of 0: whether the message that a thread offers has been taken.
    fn check_offer(&self, name: u64) -> Attempt {
        let taken = &mut self.messages.borrow_mut().taken;
        if let Some(at) = taken.iter().position(|&taken| taken == name) {
            taken.swap_remove(at);
            Attempt::Done(SENT)
        } else if self.ends.has_receiver.get() {
            Attempt::Waits
        } else {
            Attempt::Done(DISCONNECTED)
        }
    }

    /// Takes an offer back.
    fn take_back(&self, name: u64) -> Option<Message<T>> {
        let queue = &mut self.messages.borrow_mut().queue;
        let at = queue.iter().position(|message| message.name == name)?;
        queue.remove(at)
    }

    /// Receives a message, with or without waiting for one.
    pub(super) fn receive(&self, machine: Handle, patience: Patience, site: Site) -> Received<T> {
        let object = self.ends.spot.of(machine);
        let mut message = None;
        let mut has_waited = false;
        loop {
            let transition = Transition::Receive {
                patient: patience != Patience::None,
            };
            let found = machine.attempt(object, site, transition, || {
                let outcome = self.try_receive(&mut message);
                if outcome == Attempt::Looked(EMPTY) && patience != Patience::None {
                    self.messages.borrow_mut().is_open = true;
                    return Attempt::Waits;
                }
                outcome
            });
            let notified = match found {
                Some(_) => break,
                // No thread sends any more.
                None if machine.is_ending() => return Received::Disconnected,
                None => {
                    let timed = matches!(patience, Patience::Limited(_));
                    machine.wake(object, Awaited::Message, timed, site)
                }
            };
            if !notified {
                // Nothing has happened since the thread looked, so there is nothing to receive.
                self.messages.borrow_mut().is_open = false;
                machine.note_transition(Transition::GiveUp);
                machine.was_parked_inside(Waited::Perhaps, site);
                if let Patience::Limited(limit) = patience {
                    machine.run_out(limit, site);
                }
                return Received::Empty;
            }
            has_waited = true;
        }
        if has_waited {
            machine.was_parked_inside(self.waited(), site);
        }
        match message {
            Some(message) => Received::Message(message),
            None if self.ends.senders.get() == 0 => Received::Disconnected,
            None => Received::Empty,
        }
    }

    fn try_receive(&self, received: &mut Option<T>) -> Attempt {
        let messages = &mut *self.messages.borrow_mut();
        messages.is_open = false;
        match messages.queue.pop_front() {
            Some(message) => {
                let name = message.name;
                if message.is_offer {
                    outside(|| messages.taken.push(name));
                }
                *received = Some(message.value);
                if self.bound.is_some() {
                    Attempt::DoneForAll(name)
                } else {
                    Attempt::Done(name)
                }
            }
            None if self.ends.senders.get() == 0 => Attempt::Looked(DISCONNECTED),
            None => Attempt::Looked(EMPTY),
        }
    }
}
