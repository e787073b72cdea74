//! What events do to objects that threads wait at and that have more state than a queue: barriers, parking places,
//! channels.

use crate::hash::mix;

/// What an event does to an object that threads wait at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transition {
    /// Comes to a barrier. Outcome: [`Self::WAITS`], or 1 for the thread that comes last.
    Arrive {
        /// The number of threads that the barrier waits for.
        size: u64,
    },
    /// Parks the object's thread. Outcome: [`Self::WAITS`], or 1 if the thread has been unparked before.
    Park,
    /// The object's thread has waited for something else, which has come: if the thread has been unparked before or
    /// meanwhile, that unpark is used up. Outcome: 1 in both cases.
    UseUp,
    /// Unparks the object's thread, after the queue has been notified.
    Unpark,
    /// Sends a message. Outcome: [`Self::WAITS`], [`Self::SENT`], [`Self::FULL`] or [`Self::DISCONNECTED`].
    Send {
        /// The message's name, different from the names of all other messages of the execution and from the outcomes that
        /// aren't messages.
        name: u64,
        /// The channel's capacity, in messages. 0: a message is handed over to a receiver that waits. `None`: unbounded.
        bound: Option<u32>,
        /// Whether the sender waits for room. With a bound of 0, such a sender leaves an offer.
        patient: bool,
    },
    /// Looks whether the offered message has been taken. Outcome: [`Self::WAITS`], [`Self::SENT`] or
    /// [`Self::DISCONNECTED`].
    CheckOffer {
        /// The message's name.
        name: u64,
    },
    /// Receives. Outcome: [`Self::WAITS`], [`Self::EMPTY`], [`Self::DISCONNECTED`] or the message's name.
    Receive {
        /// Whether the receiver waits for a message.
        patient: bool,
    },
    /// The time is up for a receiver that waited.
    GiveUp,
    /// A sender is dropped. The executor says whether this sender is the last one, since no event says how many senders
    /// there are.
    DropSender {
        /// Whether this sender was the last one.
        last: bool,
    },
    /// The receiver is dropped, and with it the messages that it has not received. Outcome: [which](Self::left_behind) these
    /// are if the thread sees that, and 0 if not.
    DropReceiver {
        /// Whether the thread sees which messages were left: they have destructors, which it runs.
        observes: bool,
    },
}

impl Transition {
    /// The outcome of an attempt that has to wait.
    pub const WAITS: u64 = 0;
    /// The outcome of an attempt at a channel whose other end is gone.
    pub const DISCONNECTED: u64 = 1;
    /// The outcome of sending a message.
    pub const SENT: u64 = 2;
    /// The outcome of sending without waiting where there is no room.
    pub const FULL: u64 = 3;
    /// The outcome of receiving without waiting where there is no message.
    pub const EMPTY: u64 = 4;

    /// Whether its thread sees what comes of it.
    #[must_use]
    pub const fn observes(self) -> bool {
        matches!(
            self,
            Self::Arrive { .. }
                | Self::Park
                | Self::UseUp
                | Self::Send { .. }
                | Self::CheckOffer { .. }
                | Self::Receive { .. }
                | Self::DropReceiver { observes: true }
        )
    }

    /// The outcome of dropping a receiver with these messages left, in their order.
    #[must_use]
    pub fn left_behind(messages: impl Iterator<Item = u64>) -> u64 {
        // No outcome of anything else, and no name of a message.
        messages.fold(1 << 62, mix) & !(1 << 63) | 1 << 62
    }

    /// All that can come of it, but for messages.
    #[must_use]
    pub fn outcomes(self) -> Vec<u64> {
        let without_waiting = |outcome, patient| if patient { Self::WAITS } else { outcome };
        match self {
            Self::Arrive { .. } | Self::Park => vec![Self::WAITS, 1],
            Self::Send { bound: None, .. } => vec![Self::SENT, Self::DISCONNECTED],
            Self::Send { patient, .. } => {
                let full = without_waiting(Self::FULL, patient);
                vec![full, Self::SENT, Self::DISCONNECTED]
            }
            Self::UseUp => vec![1],
            Self::CheckOffer { .. } => vec![Self::WAITS, Self::SENT, Self::DISCONNECTED],
            Self::Receive { patient } => {
                let empty = without_waiting(Self::EMPTY, patient);
                vec![empty, Self::DISCONNECTED]
            }
            Self::Unpark | Self::GiveUp | Self::DropSender { .. } | Self::DropReceiver { .. } => {
                Vec::new()
            }
        }
    }

    /// The message that it puts into a channel if this comes of it.
    #[must_use]
    pub const fn message(self, outcome: u64) -> Option<u64> {
        match (self, outcome) {
            (Self::Send { name, .. }, Self::SENT)
            | (
                Self::Send {
                    name,
                    bound: Some(0),
                    ..
                },
                Self::WAITS,
            ) => Some(name),
            _ => None,
        }
    }

    /// Three words that it can be [made from](Self::from_words).
    #[must_use]
    pub fn to_words(self) -> [u64; 3] {
        match self {
            Self::Arrive { size } => [0, size, 0],
            Self::Park => [1, 0, 0],
            Self::Unpark => [2, 0, 0],
            Self::Send {
                name,
                bound,
                patient,
            } => {
                let bound = bound.map_or(0, |bound| 1 + u64::from(bound));
                [3, name, bound << 1 | u64::from(patient)]
            }
            Self::CheckOffer { name } => [4, name, 0],
            Self::Receive { patient } => [5, u64::from(patient), 0],
            Self::GiveUp => [6, 0, 0],
            Self::DropSender { last } => [7, u64::from(last), 0],
            Self::DropReceiver { observes } => [8, u64::from(observes), 0],
            Self::UseUp => [9, 0, 0],
        }
    }

    /// What these words were made of.
    #[must_use]
    pub fn from_words([what, one, other]: [u64; 3]) -> Option<Self> {
        Some(match what {
            0 => Self::Arrive { size: one },
            1 => Self::Park,
            2 => Self::Unpark,
            3 => Self::Send {
                name: one,
                bound: (other >> 1)
                    .checked_sub(1)
                    .and_then(|bound| u32::try_from(bound).ok()),
                patient: other & 1 != 0,
            },
            4 => Self::CheckOffer { name: one },
            5 => Self::Receive { patient: one != 0 },
            6 => Self::GiveUp,
            7 => Self::DropSender { last: one != 0 },
            8 => Self::DropReceiver { observes: one != 0 },
            9 => Self::UseUp,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_transition() {
        let sends = [None, Some(0), Some(u32::MAX)].map(|bound| Transition::Send {
            name: 1 << 63,
            bound,
            patient: bound.is_none(),
        });
        let others = [
            Transition::Arrive { size: 3 },
            Transition::Park,
            Transition::UseUp,
            Transition::Unpark,
            Transition::CheckOffer { name: 77 },
            Transition::Receive { patient: true },
            Transition::Receive { patient: false },
            Transition::GiveUp,
            Transition::DropSender { last: true },
            Transition::DropSender { last: false },
            Transition::DropReceiver { observes: true },
            Transition::DropReceiver { observes: false },
        ];
        for transition in sends.into_iter().chain(others) {
            assert_eq!(
                Transition::from_words(transition.to_words()),
                Some(transition)
            );
        }
    }
}
